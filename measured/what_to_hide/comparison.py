"""Models that differ in nothing but what was hidden from them.

``python -m measured.what_to_hide.comparison`` trains them one after the other (about half an hour
on an idle core).
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import torch
from torch import Tensor

from cloze.corpus import Corpus, sample_windows
from cloze.evaluation import area_under_curve, held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES
from cloze.lessons.what_to_hide.results import RATE
from cloze.lessons.what_to_hide.typos import planted
from cloze.masking import MaskedBatch, StaticMasks, held_out_batch, mask_tokens, seeded
from cloze.objectives import MASKED, Objective, masked
from cloze.prediction.answers import visible_costs
from cloze.training import EVEN, Recipe, TrainingRun
from cloze.world import Corruption, World
from measured.shared import SEEDS, ResultsFile, trained

COPIES = {"static": 1, "ten copies": 10, "dynamic": 0}
"""How often a text is masked beforehand; 0 for a new mask every time."""
FEW_RATE = 0.15
"""The rate at which the small text is masked: BERT's."""
EVERY = 3
"""Every third held-out window serves for all questions but the series' own."""
STEPS = {"English": 250, "little": 150, "world": 300}
SENTENCES = 1000
"""How many sentences of the small world are asked about at each rate."""

Paid = dict[str, float]
"""What one trained model pays, by question."""


def prepared(text: Tensor, rate: float, copies: int, seed: int) -> Objective:
    """Make an objective that masks a text ``(characters,)`` before training begins.

    Windows are still drawn at random places; each is read from one of the masked copies.
    """
    masks = StaticMasks(text, rate, copies=copies, seed=seed)
    places = torch.arange(len(text))

    def ask(windows: Tensor, _: float, chance: torch.Generator, __: object) -> MaskedBatch:
        n, length = windows.shape
        at = sample_windows(places, n, length, chance)
        inputs, labels = masks.epoch(int(torch.randint(copies, (), generator=chance)))
        return MaskedBatch(inputs[at], labels[at])

    return replace(MASKED, name=f"masked {copies} times", ask=ask)


def training_loss(run: TrainingRun) -> float:
    """Return the mean loss of the last fifty steps in nats."""
    return fmean(record.loss for record in run.history[-50:])


def judged(model: MaskedLM, corpus: Corpus, rate: float) -> Paid:
    """Measure a model of English on every kind of question.

    "held-out" is the series' own loss, 15% of single characters. "own rate" is the same at another
    rate, "gaps only" with nothing but ``[MASK]``, "words" and "spans" at whole words and spans;
    "typos found" is the area under the curve of finding planted typos by the cost of each visible
    character.
    """
    windows = corpus.held_out_windows()
    some = windows[::EVERY]
    asked: dict[str, MaskedBatch] = {
        shape: mask(some, generator=seeded(0)) for shape, mask in SHAPES.items()
    }
    asked |= {
        "own rate": mask_tokens(some, rate, generator=seeded(0)),
        "gaps only": mask_tokens(some, mask_share=1.0, random_share=0.0, generator=seeded(0)),
    }
    read, typos = planted(some)
    return {
        "held-out": held_out_loss(model, held_out_batch(windows)),
        **{name: held_out_loss(model, batch) for name, batch in asked.items()},
        "typos found": area_under_curve(visible_costs(model, read), typos),
    }


def rounded(paid: Paid) -> Paid:
    return {question: round(nats, 5) for question, nats in paid.items()}


def main() -> None:
    corpus, world = Corpus.load(), World.load()

    def recipe(text: str, rate: float, seed: int) -> Recipe:
        return replace(EVEN, steps=STEPS[text], mask_prob=rate, seed=seed)

    def in_english(part: str, name: str, seed: int) -> Paid:
        rate, objective = ways[part][name]
        run = trained(corpus, recipe("English", rate, seed), objective)
        return rounded({"training": training_loss(run), **judged(run.model, corpus, rate)})

    def on_little(_: str, how: str, seed: int) -> Paid:
        little = replace(corpus, train=corpus.train[:1])
        copies = COPIES[how]
        objective = prepared(little.train_ids, FEW_RATE, copies, seed) if copies else MASKED
        run = trained(little, recipe("little", FEW_RATE, seed), objective)
        held_out = held_out_batch(little.held_out_windows())
        return rounded(
            {"training": training_loss(run), "held-out": held_out_loss(run.model, held_out)}
        )

    def in_world(_: str, name: str, seed: int) -> Paid:
        rate = ways["rates"][name][0]
        run = trained(world, recipe("world", rate, seed))
        paid = {"training": training_loss(run)}
        for question, at in {"at 15%": 0.15, "own rate": rate}.items():
            corruption = Corruption(at)
            asked = world.questions(SENTENCES, corruption)
            paid[f"floor, {question}"] = world.floor(asked, corruption=corruption).nats
            paid[f"above, {question}"] = world.excess(run.model, asked, corruption=corruption).nats
        return rounded(paid)

    ways: dict[str, dict[str, tuple[float, Objective]]] = {
        "rates": {f"{rate:.0%}": (rate, MASKED) for rate in RATES},
        "shares": {n: (RATE, masked(n, mask_tokens, *each)) for n, each in SHARES.items()},
        "shapes": {name: (RATE, masked(name, mask)) for name, mask in SHAPES.items()},
    }
    del ways["shares"]["80/10/10"], ways["shapes"]["characters"]  # those at 30%
    measurements = ResultsFile(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        world_sha256=world.sha256,
        steps=STEPS,
        seeds=SEEDS,
    )
    measurements.measure("runs", in_world, ["world"], ways["rates"], SEEDS)
    for part, names in ways.items():
        measurements.measure("runs", in_english, [part], names, SEEDS)
    measurements.measure("runs", on_little, ["copies"], COPIES, SEEDS)


if __name__ == "__main__":
    main()
