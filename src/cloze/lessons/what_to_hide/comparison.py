"""Models that differ in nothing but what was hidden from them, each trained with three seeds.

``python -m cloze.lessons.what_to_hide.comparison`` trains them one after the other and writes what
they pay to comparison.json (about half an hour of one core). The file is written
after each run, and a run that is in it is not done again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.corpus import Corpus, sample_windows
from cloze.evaluation import Repeated, area_under_curve, held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES, percent
from cloze.lessons.what_to_hide.typos import planted
from cloze.masking import (
    IGNORE,
    MaskedBatch,
    StaticMasks,
    corrupt,
    held_out_batch,
    mask_spans,
    mask_tokens,
    mask_words,
    ordinary,
    seeded,
)
from cloze.objectives import MASKED, Objective, masked
from cloze.prediction import visible_costs
from cloze.teaching import measurements
from cloze.training import EVEN, Recipe, TrainingRun, fit
from cloze.vocabulary import Vocabulary
from cloze.world import Corruption, World

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
RATE = 0.3
"""The rate of everything that is not about rates: the recipe's."""
COPIES = {"static": 1, "ten copies": 10, "dynamic": 0}
"""How often a text is masked beforehand; 0 for anew every time."""
FEW_RATE = 0.15
"""The rate at which the small text is masked: BERT's."""
APART = (0.15, 0.4)
"""The rates that corruption and prediction have when they are set apart."""
EVERY = 3
"""Of the held-out windows each third is asked everything that is not the series' own loss."""
ENGLISH, FEW = (replace(EVEN, steps=steps) for steps in (250, 150))
WORLD = replace(EVEN, steps=300, batch_size=64)
SENTENCES = 1000
"""How many sentences of the small world are asked about at each rate."""

Paid = dict[str, float]
"""What one trained model pays, by question."""


def small_text(corpus: Corpus) -> Corpus:
    """Return a corpus that trains on a single piece, the first."""
    return replace(corpus, train=corpus.train[:1])


def prepared(text: Tensor, rate: float, copies: int, seed: int = 0) -> Objective:
    """Make an objective that masks a text ``(characters,)`` so many times before training begins.

    Windows are still drawn at random places; each is read as one of the copies has it.
    """
    masks = StaticMasks(text, rate, copies=copies, seed=seed)
    places = torch.arange(len(text))

    def ask(windows: Tensor, _: float, chance: torch.Generator, __: object) -> MaskedBatch:
        n, length = windows.shape
        at = sample_windows(places, n, length, chance)
        inputs, labels = masks.epoch(int(torch.randint(copies, (), generator=chance)))
        return MaskedBatch(inputs[at], labels[at])

    return replace(MASKED, name=f"masked {copies} times", ask=ask)


def apart(hidden: float, asked: float) -> Objective:
    """Make an objective that hides at one rate and asks at another (Wettig et al. 2023).

    Of what is hidden, only a part is asked. For more, the text is read several times, with other
    symbols hidden each time. Whatever the rates, a seed draws the same windows and numbers.
    """

    def ask(
        windows: Tensor, _: float, chance: torch.Generator, vocabulary: Vocabulary
    ) -> MaskedBatch:
        own = seeded(int(torch.randint(2**31, (), generator=chance)))
        numbers = torch.rand(windows.shape, generator=own)
        numbers = numbers.masked_fill(~ordinary(windows, vocabulary), 2.0)
        readings = []
        for k in range(math.ceil(asked / hidden)):
            selected = (numbers >= k * hidden) & (numbers < (k + 1) * hidden)
            inputs, labels = corrupt(windows, selected, vocabulary=vocabulary, generator=own)
            readings.append((inputs, labels.masked_fill(numbers >= asked, IGNORE)))
        inputs, labels = map(torch.cat, zip(*readings, strict=True))
        return MaskedBatch(inputs, labels)

    return replace(MASKED, name=f"{percent(hidden)} hidden, {percent(asked)} asked", ask=ask)


def judged(model: MaskedLM, corpus: Corpus, rate: float) -> Paid:
    """Ask a model of English everything that is asked about one, at single characters and others.

    "held-out" is the series' own loss, 15% of single characters. "own rate" is the same at another
    rate, "gaps only" with nothing but ``[MASK]``, "words" and "spans" at whole words and spans;
    "typos found" is the area under the curve of finding planted typos by what a single look makes
    of the characters that it sees.
    """
    windows = corpus.held_out_windows()
    some = windows[::EVERY]
    asked = {
        "own rate": mask_tokens(some, rate, generator=seeded(0)),
        "gaps only": mask_tokens(some, mask_share=1.0, random_share=0.0, generator=seeded(0)),
        "characters": mask_tokens(some, generator=seeded(0)),
        "words": mask_words(some, generator=seeded(0)),
        "spans": mask_spans(some, generator=seeded(0)),
    }
    read, typos = planted(some)
    return {
        "held-out": held_out_loss(model, held_out_batch(windows)),
        **{name: held_out_loss(model, batch) for name, batch in asked.items()},
        "typos found": area_under_curve(visible_costs(model, read), typos),
    }


def trained(
    source: Corpus | World, recipe: Recipe, objective: Objective = MASKED, *, progress: bool = True
) -> tuple[MaskedLM, float]:
    """Train a model, and return it with the mean loss of its last fifty steps in nats."""
    torch.manual_seed(recipe.seed)
    model = (
        MaskedLM(source.config(), source.vocabulary) if isinstance(source, World) else MaskedLM()
    )
    run = TrainingRun(model, source, replace(recipe, evaluations=0), objective)
    for _ in fit(run, progress=progress):
        pass
    return model.eval(), fmean(record.loss for record in run.history[-50:])


class Arm(NamedTuple):
    """One way to train, of which there is a run per seed."""

    part: str
    name: str
    run: Callable[[int], Paid]
    """From the seed to what the model pays."""


@dataclass(frozen=True)
class Plan:
    """What is trained on, and how long."""

    corpus: Corpus
    world: World
    english: Recipe = ENGLISH
    few: Recipe = FEW
    small: Recipe = WORLD
    sentences: int = SENTENCES

    def arms(self) -> Iterator[Arm]:
        """Yield every way to train."""
        for rate in RATES:
            yield Arm("world", percent(rate), partial(self._in_the_world, rate, MASKED))
        for rate in RATES:
            yield Arm("rates", percent(rate), partial(self._in_english, MASKED, rate))
        for name, shares in SHARES.items():
            if name != "80/10/10":  # that is 30% above
                other = masked(name, mask_tokens, *shares)
                yield Arm("shares", name, partial(self._in_english, other, RATE))
        for shape, mask in SHAPES.items():
            if shape != "characters":  # that is 30% above, too
                yield Arm("shapes", shape, partial(self._in_english, masked(shape, mask), RATE))
        for how, copies in COPIES.items():
            yield Arm("copies", how, partial(self._on_little, copies))
        for objective, hidden in ((apart(h, a), h) for h in APART for a in APART):
            yield Arm("apart", objective.name, partial(self._in_the_world, hidden, objective))

    def _in_english(self, objective: Objective, rate: float, seed: int) -> Paid:
        recipe = replace(self.english, mask_prob=rate, seed=seed)
        model, loss = trained(self.corpus, recipe, objective)
        return {"training": loss, **judged(model, self.corpus, rate)}

    def _on_little(self, copies: int, seed: int) -> Paid:
        few = small_text(self.corpus)
        text = few.train_ids
        objective = prepared(text, FEW_RATE, copies, seed) if copies else MASKED
        recipe = replace(self.few, mask_prob=FEW_RATE, seed=seed)
        model, loss = trained(few, recipe, objective)
        return {
            "training": loss,
            "held-out": held_out_loss(model, held_out_batch(few.held_out_windows())),
        }

    def _in_the_world(self, rate: float, objective: Objective, seed: int) -> Paid:
        recipe = replace(self.small, mask_prob=rate, seed=seed, length=self.world.max_len)
        model, loss = trained(self.world, recipe, objective)
        paid = {"training": loss}
        for name, at in {"at 15%": 0.15, "own rate": rate}.items():
            corruption = Corruption(at)
            asked = self.world.questions(self.sentences, corruption)
            paid[f"floor, {name}"] = self.world.floor(asked, corruption=corruption).nats
            paid[f"above, {name}"] = self.world.excess(model, asked, corruption=corruption).nats
        return paid

    def provenance(self) -> dict[str, Any]:
        """Return what it takes to repeat this."""
        steps = {
            "English": self.english.steps,
            "little": self.few.steps,
            "world": self.small.steps,
        }
        return measurements.made_by(
            __spec__.name,
            corpus_sha256=self.corpus.sha256,
            world_sha256=self.world.sha256,
            steps=steps,
            seeds=list(SEEDS),
        )


class Results:
    """What was measured, by part and name of the arm and by question."""

    def __init__(self, path: Path = RESULTS) -> None:
        self.written = measurements.read(path)

    def runs(self, part: str, name: str) -> list[Paid]:
        """Return what the models of an arm pay, one per seed."""
        if (part, name) in (("shares", "80/10/10"), ("shapes", "characters")):
            part, name = "rates", percent(RATE)
        return list(self.written["runs"][part][name].values())

    def of(self, part: str, name: str, question: str) -> Repeated:
        """Return the mean over the seeds of what an arm pays, and how far they are apart."""
        return Repeated.of(paid[question] for paid in self.runs(part, name))


def main(path: Path = RESULTS, plan: Plan | None = None) -> None:
    """Do every run that is not in the file yet, and write it down with what repeats it."""
    plan = plan or Plan(Corpus.load(), World.load())
    arms = {(arm.part, arm.name): arm for arm in plan.arms()}

    def one(part: str, name: str, seed: int) -> Paid:
        paid = arms[part, name].run(seed)
        return {question: round(nats, 5) for question, nats in paid.items()}

    runs = ((*arm, seed) for seed in SEEDS for arm in arms)
    measurements.measure(path, plan.provenance(), "runs", runs, one)


if __name__ == "__main__":
    main()
