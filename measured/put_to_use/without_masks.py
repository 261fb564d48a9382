"""Does it matter that ``[MASK]`` is never seen after pretraining? 80/10/10 beside 100/0/0.

``python -m measured.put_to_use.without_masks`` pretrains the encoder in the small world with each
rule, and fine-tunes it on a task whose lines have no ``[MASK]``, ten draws for each number of
labels (four minutes on an idle core).
"""

from __future__ import annotations

import torch

from cloze.lessons.put_to_use.tasks import Task, shuffled
from cloze.masking import mask_tokens
from cloze.objectives import masked
from cloze.tasks.finetuning import FineTuning, accuracy, answers, finetune
from cloze.tasks.heads import TextClassifier
from cloze.training import Recipe
from cloze.vocabulary import PAD
from cloze.world import World
from measured.shared import SEEDS, ResultsFile, trained

RULES = {"80/10/10": (0.8, 0.1), "100/0/0": (1.0, 0.0)}
"""The shares of selected words that are hidden and that are swapped, by name."""
LABELS = (4, 8, 16)
DRAWS = 10
STEPS = 800


def opinions(world: World) -> Task:
    """Label the sentences of notebook 11, cut before the verb that gives the label away.

    No line has a ``[MASK]``: *on monday anna said that the big film was not bad*.
    """
    lines = {s.split(" and ")[0]: int("liked" in s) for s in world.sentences if " said that " in s}
    ids = [world.encode(line) for line in sorted(lines)]
    labels = torch.tensor([lines[line] for line in sorted(lines)])
    return shuffled(ids, labels, world.vocabulary.ids[PAD])


def main() -> None:
    world = World.load()
    task = opinions(world)

    def shares_right(rule: str, seed: int) -> dict[int, float]:
        objective = masked(rule, mask_tokens, *RULES[rule])
        encoder = trained(world, Recipe(steps=STEPS, seed=seed), objective).model.encoder
        measured = {}
        for n in LABELS:
            shares = []
            for draw in range(DRAWS):
                learned, unseen = task.reordered(draw).split(n)
                torch.manual_seed(draw)
                model = TextClassifier(encoder, world.vocabulary, 2)
                finetune(model, *learned, FineTuning(50, 8, 0.003, seed=draw))
                guesses = answers(model, unseen.input_ids).argmax(-1)
                shares.append(accuracy(guesses, unseen.labels))
            measured[n] = round(sum(shares) / len(shares), 4)
        return measured

    measurements = ResultsFile(__spec__.name, steps=STEPS, world_sha256=world.sha256)
    measurements.measure("runs", shares_right, RULES, SEEDS)


if __name__ == "__main__":
    main()
