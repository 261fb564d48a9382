"""How much of a picture to hide in training: what models pay above the floor, on every question.

``python -m measured.the_real_ones.hidden_shares`` trains the encoder on the small world of pictures
with 15, 50 and 75% of the patches hidden, and asks every model all three kinds of question (four
minutes on an idle core).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.the_real_ones.patches import world_of_pictures
from cloze.objectives import masked
from cloze.training import Recipe
from cloze.world import Corruption
from measured.shared import SEEDS, ResultsFile, trained

SHARES = (0.15, 0.5, 0.75)
STEPS = 300
QUESTIONS = 600
"""Pictures of every kind of question."""


def main() -> None:
    pictures = world_of_pictures()
    hiding = {share: Corruption(share, mask_share=1.0, random_share=0.0) for share in SHARES}
    questions = {
        share: pictures.questions(QUESTIONS, corruption, seed=1)
        for share, corruption in hiding.items()
    }
    floors = {
        share: pictures.floor(questions[share], corruption=hiding[share]).nats for share in SHARES
    }
    objective = masked("patches", mask_share=1.0, random_share=0.0)
    config = replace(pictures.config(), neighbour_focus=0)

    def above_floor(share: float, seed: int) -> dict[float, float]:
        recipe = Recipe(steps=STEPS, mask_prob=share, seed=seed)
        model = trained(
            pictures, recipe, objective, partial(MaskedLM, config, pictures.vocabulary)
        ).model
        return {
            asked: round(held_out_loss(model, questions[asked]) - floors[asked], 4)
            for asked in SHARES
        }

    measurements = ResultsFile(__spec__.name, steps=STEPS, questions=QUESTIONS)
    measurements.measure("runs", above_floor, SHARES, SEEDS)


if __name__ == "__main__":
    main()
