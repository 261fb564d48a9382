"""How much of a picture to hide in training: what models pay above the floor, on every question.

``python -m cloze.lessons.the_real_ones.hidden_shares`` trains the encoder on the small world of
pictures with 15, 50 and 75% of the patches hidden, three seeds each, asks every model all three
kinds of question, and writes what it pays above the floor to hidden_shares.json (four minutes on an
idle core).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import torch

from cloze.evaluation import Repeated, held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.the_real_ones.patches import world_of_pictures
from cloze.objectives import masked
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit
from cloze.world import Corruption

RESULTS = Path(__file__).with_suffix(".json")
SHARES = (0.15, 0.5, 0.75)
SEEDS = (0, 1, 2)
STEPS = 300
QUESTIONS = 600
"""Pictures of every kind of question."""


def results() -> dict[str, dict[str, Repeated]]:
    """Return the nats per patch above the floor, by share hidden in training and question."""
    runs = measurements.read(RESULTS)["runs"]
    return {
        trained: {
            asked: Repeated.of(found[asked] for found in by_seed.values())
            for asked in map(str, SHARES)
        }
        for trained, by_seed in runs.items()
    }


def main(path: Path = RESULTS, steps: int = STEPS) -> None:
    """Train and ask every model that the file does not hold yet."""
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

    def run(share: float, seed: int) -> dict[str, float]:
        torch.manual_seed(seed)
        config = replace(pictures.config(), neighbour_focus=0)
        recipe = Recipe(
            steps=steps,
            batch_size=64,
            length=pictures.max_len,
            mask_prob=share,
            evaluations=0,
            seed=seed,
        )
        training = TrainingRun(MaskedLM(config, pictures.vocabulary), pictures, recipe, objective)
        for _ in fit(training, progress=False):
            pass
        model = training.model.eval()
        return {
            str(asked): round(held_out_loss(model, questions[asked]) - floors[asked], 4)
            for asked in SHARES
        }

    made = measurements.made_by(__spec__.name, steps=steps, questions=QUESTIONS)
    measurements.measure(path, made, "runs", product(SHARES, SEEDS), run)


if __name__ == "__main__":
    main()
