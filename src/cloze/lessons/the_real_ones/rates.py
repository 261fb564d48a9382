"""How many patches to hide: encoders trained at several rates, judged alike.

``python -m cloze.lessons.the_real_ones.rates`` trains an encoder of patches at each rate and from
several seeds, once with as many pictures as the others and once with as many questions, and writes
to rates.json what each pays above the floor and how well it names the shape in a picture from a few
labels. It goes on where it stopped (25 minutes on an idle core).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from cloze.encoder import Encoder
from cloze.evaluation import Repeated
from cloze.heads import MaskedLM
from cloze.lessons.the_real_ones.patches import shapes_of, world_of_pictures
from cloze.masking import MaskedBatch, mask_tokens, seeded
from cloze.objectives import masked
from cloze.teaching import measurements
from cloze.training import EVEN, TrainingRun, fit
from cloze.use.finetuning import FineTuning, accuracy, answers, finetune
from cloze.use.heads import TextClassifier
from cloze.use.vectors import LinearProbe, embed
from cloze.world import Corruption, World

RESULTS = Path(__file__).with_suffix(".json")
RATES = (0.15, 0.4, 0.6, 0.75, 0.9)
ASKED = (0.15, 0.75)
"""The rates at which every encoder is asked."""
UNTRAINED = 0.0
"""The rate of an encoder that was never trained."""
SEEDS = 3
STEPS = 600
SAME = 0.6
"""The rate at which ``STEPS`` steps ask as many questions as all the others do, where those are
alike."""
Alike = Literal["as many pictures", "as many questions"]
"""What is the same for encoders that are trained at different rates."""
LABELS = 50
DRAWS = 5
"""So often labelled pictures are drawn for each encoder."""
HIDDEN = masked("patches", mask_share=1.0, random_share=0.0)
"""Patches are hidden, and never replaced by others."""


def only_hidden(rate: float) -> Corruption:
    """Return the corruption that hides at a rate and replaces nothing."""
    return Corruption(rate, mask_share=1.0, random_share=0.0)


def steps_at(rate: float, alike: Alike, steps: int = STEPS) -> int:
    """Return how long to train at a rate; a step asks in proportion to the rate."""
    if rate == UNTRAINED:
        return 0
    return steps if alike == "as many pictures" else round(steps * SAME / rate)


def trained(
    pictures: World, rate: float, steps: int, seed: int, neighbour_focus: float | None = None
) -> MaskedLM:
    """Train an encoder at a rate for so many steps; after 0 it is as it was born.

    Args:
        pictures: what to train on.
        rate: the share of patches that are hidden.
        steps: of 64 pictures each.
        seed: of the weights, the pictures and what is hidden.
        neighbour_focus: how sharply heads look at neighbours when they are born; None for what is
            usual in the series.
    """
    torch.manual_seed(seed)
    config = pictures.config()
    if neighbour_focus is not None:
        config = replace(config, neighbour_focus=neighbour_focus)
    model = MaskedLM(config, pictures.vocabulary)
    if steps:
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


def questions(pictures: World, rate: float) -> MaskedBatch:
    """Hide patches at a rate in every picture, once, always the same."""
    return mask_tokens(
        pictures.input_ids,
        **only_hidden(rate)._asdict(),
        vocabulary=pictures.vocabulary,
        at_least_one=False,
        generator=seeded(1),
    )


def above(pictures: World, model: MaskedLM, rate: float) -> float:
    """Return what a model pays above the floor where patches are hidden at a rate, in nats."""
    asked = questions(pictures, rate)
    return pictures.excess(model, asked, corruption=only_hidden(rate)).nats


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


def measured(pictures: World, rate: float, steps: int, seed: int) -> dict[str, float]:
    """Train one encoder and judge it."""
    model = trained(pictures, rate, steps, seed)
    paid = {f"above at {asked}": above(pictures, model, asked) for asked in ASKED if steps}
    found = {**paid, **shapes_named(pictures, model.encoder)}
    return {name: round(value, 4) for name, value in found.items()}


def judged_without_hint(pictures: World, steps: int, seed: int) -> float:
    """Train an encoder at 75% whose heads are not born looking at neighbours, and judge it."""
    return round(above(pictures, trained(pictures, 0.75, steps, seed, 0.0), 0.75), 4)


@cache
def results() -> dict[str, Any]:
    """Return what was measured: "runs" by rate, steps and seed, and those "without hint"."""
    return measurements.read(RESULTS)


def scores(what: str) -> dict[Alike, dict[float, Repeated]]:
    """Return what the encoders of all seeds scored, by what is alike and by rate of training.

    Args:
        what: "above at 0.15", "above at 0.75", "frozen" or "fine-tuned".
    """
    found: dict[Alike, dict[float, Repeated]] = {}
    for alike in get_args(Alike):
        found[alike] = {}
        for rate, by_steps in results()["runs"].items():
            by_seed = by_steps[str(steps_at(float(rate), alike))].values()
            if all(what in run for run in by_seed):
                found[alike][float(rate)] = Repeated.of(run[what] for run in by_seed)
    return found


def without_hint() -> Repeated:
    """Return what encoders pay at 75% whose heads are not born looking at neighbours, in nats."""
    [by_seed] = results()["without hint"].values()
    return Repeated.of(by_seed.values())


def main(path: Path = RESULTS, seeds: int = SEEDS, steps: int = STEPS) -> None:
    """Do every run that the file does not hold yet, and write it after each."""
    pictures = world_of_pictures()
    made = measurements.made_by(
        __spec__.name, world_sha256=pictures.sha256, steps=steps, labels=LABELS
    )
    for seed in range(seeds):
        runs = [
            (rate, steps_at(rate, alike, steps), seed)
            for rate in (UNTRAINED, *RATES)
            for alike in get_args(Alike)
        ]
        measurements.measure(path, made, "runs", runs, partial(measured, pictures))
        blind = partial(judged_without_hint, pictures)
        measurements.measure(path, made, "without hint", [(steps, seed)], blind)


if __name__ == "__main__":
    main()
