"""How many patches to hide: encoders trained at several rates, judged alike.

``python -m cloze.lessons.the_real_ones.rates`` trains an encoder of patches at each rate and from
several seeds, and writes to rates.json what each pays above the floor at every rate, and how well
it names the shape in a picture from a few labels. It goes on where it stopped (nine minutes on an
idle core).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import torch

from cloze.encoder import Encoder
from cloze.evaluation import Repeated
from cloze.heads import MaskedLM
from cloze.lessons.the_real_ones.patches import shapes_of, world_of_pictures
from cloze.masking import seeded
from cloze.objectives import masked
from cloze.teaching import measurements
from cloze.training import EVEN, TrainingRun, fit
from cloze.use.finetuning import FineTuning, accuracy, answers, finetune
from cloze.use.heads import TextClassifier
from cloze.use.vectors import LinearProbe, embed
from cloze.world import Corruption, World

RESULTS = Path(__file__).with_suffix(".json")
RATES = (0.15, 0.4, 0.6, 0.75, 0.9)
UNTRAINED = 0.0
"""The rate of an encoder that was never trained."""
SEEDS = 3
STEPS = 600
QUESTIONS = 60
"""Pictures that are asked about, spread over all."""
LABELS = 50
DRAWS = 5
"""So often labelled pictures are drawn for each encoder."""
HIDDEN = masked("patches", mask_share=1.0, random_share=0.0)
"""Patches are hidden, and never replaced by others."""


def only_hidden(rate: float) -> Corruption:
    """Return the corruption that hides at a rate and replaces nothing."""
    return Corruption(rate, mask_share=1.0, random_share=0.0)


def trained(pictures: World, rate: float, seed: int, steps: int = STEPS) -> MaskedLM:
    """Train an encoder at a rate; at ``UNTRAINED`` leave it as it was born."""
    torch.manual_seed(seed)
    model = MaskedLM(pictures.config(), pictures.vocabulary)
    if rate != UNTRAINED:
        recipe = replace(
            EVEN,
            steps=steps,
            batch_size=64,
            length=pictures.max_len,
            mask_prob=rate,
            evaluations=0,
            seed=seed,
        )
        for _ in fit(TrainingRun(model, pictures, recipe, HIDDEN), progress=False):
            pass
    return model.eval()


def above(pictures: World, model: MaskedLM, rate: float) -> float:
    """Return what a model pays above the floor where patches are hidden at a rate, in nats."""
    corruption = only_hidden(rate)
    questions = pictures.questions(QUESTIONS, corruption, seed=1)
    return pictures.excess(model, questions, corruption=corruption).nats


def shapes_named(pictures: World, encoder: Encoder) -> dict[str, float]:
    """Return how often the shape is named rightly, after ``LABELS`` labels, in all other pictures.

    "frozen" by a linear reader of the mean state, "fine-tuned" by a classifier that may change the
    encoder; both learn from the same labels, drawn ``DRAWS`` times.
    """
    input_ids, shapes = pictures.input_ids, shapes_of(pictures)
    vectors = embed(encoder, input_ids)
    right: dict[str, list[float]] = {"frozen": [], "fine-tuned": []}
    for draw in range(DRAWS):
        known, others = torch.randperm(len(shapes), generator=seeded(draw)).tensor_split([LABELS])
        said = LinearProbe(vectors[known], shapes[known])(vectors[others])
        right["frozen"].append(accuracy(said, shapes[others]))
        torch.manual_seed(draw)
        model = TextClassifier(encoder, pictures.vocabulary, int(shapes.max()) + 1)
        how = FineTuning(epochs=15, batch_size=8, learning_rate=0.003, seed=draw)
        finetune(model, input_ids[known], shapes[known], how)
        said = answers(model, input_ids[others]).argmax(-1)
        right["fine-tuned"].append(accuracy(said, shapes[others]))
    return {way: sum(shares) / DRAWS for way, shares in right.items()}


def measured(pictures: World, steps: int, rate: float, seed: int) -> dict[str, float]:
    """Train one encoder and judge it."""
    model = trained(pictures, rate, seed, steps)
    paid = {}
    if rate != UNTRAINED:
        paid = {f"above at {asked}": above(pictures, model, asked) for asked in RATES}
    found = {**paid, **shapes_named(pictures, model.encoder)}
    return {name: round(value, 4) for name, value in found.items()}


@cache
def results() -> dict[str, Any]:
    """Return what was measured: "runs", what was scored by rate and seed."""
    return measurements.read(RESULTS)


def scores(what: str) -> dict[float, Repeated]:
    """Return by rate of training what the encoders of all seeds scored.

    Args:
        what: "above at 0.15" and so on, "frozen" or "fine-tuned".
    """
    return {
        float(rate): Repeated.of(found[what] for found in by_seed.values())
        for rate, by_seed in results()["runs"].items()
        if all(what in found for found in by_seed.values())
    }


def main(path: Path = RESULTS, seeds: int = SEEDS, steps: int = STEPS) -> None:
    """Do every run that the file does not hold yet, and write it after each."""
    pictures = world_of_pictures()
    made = measurements.made_by(
        __spec__.name, world_sha256=pictures.sha256, steps=steps, labels=LABELS
    )
    runs = product((UNTRAINED, *RATES), range(seeds))
    measurements.measure(path, made, "runs", runs, partial(measured, pictures, steps))


if __name__ == "__main__":
    main()
