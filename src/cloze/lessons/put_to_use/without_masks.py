"""Does it matter that ``[MASK]`` is never seen after pretraining? 80/10/10 beside 100/0/0.

``python -m cloze.lessons.put_to_use.without_masks`` pretrains the encoder in the small world with
each rule, three seeds, fine-tunes it on a task whose lines have no ``[MASK]``, ten draws for each
number of labels, and writes the shares of right answers to without_masks.json (four minutes on an
idle core).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import torch

from cloze.encoder import Encoder
from cloze.evaluation import Repeated
from cloze.heads import MaskedLM
from cloze.lessons.put_to_use.tasks import Task, shuffled
from cloze.masking import mask_tokens
from cloze.objectives import masked
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit
from cloze.use.finetuning import FineTuning, accuracy, answers, finetune
from cloze.use.heads import TextClassifier
from cloze.vocabulary import PAD
from cloze.world import World

RESULTS = Path(__file__).with_suffix(".json")
RULES = {"80/10/10": (0.8, 0.1), "100/0/0": (1.0, 0.0)}
"""By name, the shares of selected words that are hidden and that are swapped."""
LABELS = (4, 8, 16)
SEEDS = (0, 1, 2)
DRAWS = 10
STEPS = 800


def opinions(world: World) -> Task:
    """Say whether it will be liked: the sentences of notebook 11, cut before the verb that tells.

    No line has a ``[MASK]``: *on monday anna said that the big film was not bad*.
    """
    lines = {s.split(" and ")[0]: int("liked" in s) for s in world.sentences if " said that " in s}
    ids = [world.encode(line) for line in sorted(lines)]
    labels = torch.tensor([lines[line] for line in sorted(lines)])
    return shuffled(ids, labels, world.vocabulary.ids[PAD])


def pretrained(rule: str, seed: int, steps: int) -> Encoder:
    """Pretrain with a rule."""
    world = World.load()
    torch.manual_seed(seed)
    recipe = Recipe(steps=steps, batch_size=64, length=world.max_len, evaluations=0, seed=seed)
    model = MaskedLM(world.config(), world.vocabulary)
    run = TrainingRun(model, world, recipe, masked(rule, mask_tokens, *RULES[rule]))
    for _ in fit(run, progress=False):
        pass
    return run.model.encoder


def shares_right(
    rule: str, seed: int, steps: int = STEPS, draws: int = DRAWS
) -> Mapping[str, float]:
    """Fine-tune one encoder with each number of labels: the mean share right over the draws."""
    world, encoder = World.load(), pretrained(rule, seed, steps)
    task, measured = opinions(world), {}
    for n in LABELS:
        shares = []
        for draw in range(draws):
            learned, unseen = task.reordered(draw).split(n)
            torch.manual_seed(draw)
            model = TextClassifier(encoder, world.vocabulary, 2)
            finetune(model, *learned, FineTuning(50, 8, 0.003, seed=draw))
            said = answers(model, unseen.input_ids).argmax(-1)
            shares.append(accuracy(said, unseen.labels))
        measured[str(n)] = round(sum(shares) / len(shares), 4)
    return measured


def results() -> dict[str, dict[int, Repeated]]:
    """Return the shares right by rule and number of labels, over the seeds."""
    runs = measurements.read(RESULTS)["runs"]
    return {
        rule: {n: Repeated.of(found[str(n)] for found in by_seed.values()) for n in LABELS}
        for rule, by_seed in runs.items()
    }


def main(path: Path = RESULTS, steps: int = STEPS, draws: int = DRAWS) -> None:
    """Measure what the file does not hold yet."""

    def run(rule: str, seed: int) -> Mapping[str, float]:
        return shares_right(rule, seed, steps, draws)

    made = measurements.made_by(__spec__.name, steps=steps, world_sha256=World.load().sha256)
    measurements.measure(path, made, "runs", product(RULES, SEEDS), run)


if __name__ == "__main__":
    main()
