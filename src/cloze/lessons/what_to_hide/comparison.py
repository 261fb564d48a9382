"""Models that differ in nothing but what was hidden from them, each trained with three seeds.

``python -m cloze.lessons.what_to_hide.comparison`` trains them one after the other and writes what
they pay to comparison.json (about half an hour of one core). The file is written
after each run, and a run that is in it is not done again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from cloze.corpus import Corpus, sample_windows
from cloze.evaluation import Repeated, area_under_curve, held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES
from cloze.lessons.what_to_hide.shapes import mask_spans, mask_words
from cloze.lessons.what_to_hide.typos import planted
from cloze.masking import (
    MaskedBatch,
    StaticMasks,
    held_out_batch,
    mask_tokens,
    seeded,
)
from cloze.objectives import MASKED, Objective, masked
from cloze.prediction.answers import visible_costs
from cloze.teaching import measurements
from cloze.training import EVEN, Recipe, TrainingRun, fit
from cloze.world import Corruption, World

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
RATE = 0.3
"""The rate of everything that is not about rates: the recipe's."""
COPIES = {"static": 1, "ten copies": 10, "dynamic": 0}
"""How often a text is masked beforehand; 0 for anew every time."""
FEW_RATE = 0.15
"""The rate at which the small text is masked: BERT's."""
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
    source: Corpus | World, recipe: Recipe, objective: Objective = MASKED
) -> tuple[MaskedLM, float]:
    """Train a model, and return it with the mean loss of its last fifty steps in nats."""
    torch.manual_seed(recipe.seed)
    model = (
        MaskedLM(source.config(), source.vocabulary) if isinstance(source, World) else MaskedLM()
    )
    run = TrainingRun(model, source, replace(recipe, evaluations=0), objective)
    for _ in fit(run):
        pass
    return model.eval(), fmean(record.loss for record in run.history[-50:])


@dataclass(frozen=True)
class Plan:
    """What is trained on, and how long."""

    corpus: Corpus
    world: World
    english: Recipe = ENGLISH
    few: Recipe = FEW
    small: Recipe = WORLD
    sentences: int = SENTENCES

    def arms(self) -> dict[tuple[str, str], Callable[[int], Paid]]:
        """Return every way to train, by part and name: from the seed to what the model pays."""
        measured: dict[tuple[str, str], Callable[[int], Paid]] = {}
        for rate in RATES:
            measured["world", f"{rate:.0%}"] = partial(self._in_the_world, rate)
            measured["rates", f"{rate:.0%}"] = partial(self._in_english, MASKED, rate)
        for name, shares in SHARES.items():
            if name != "80/10/10":  # that is 30% above
                other = masked(name, mask_tokens, *shares)
                measured["shares", name] = partial(self._in_english, other, RATE)
        for shape, mask in SHAPES.items():
            if shape != "characters":  # that is 30% above, too
                measured["shapes", shape] = partial(self._in_english, masked(shape, mask), RATE)
        for how, copies in COPIES.items():
            measured["copies", how] = partial(self._on_little, copies)
        return measured

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

    def _in_the_world(self, rate: float, seed: int) -> Paid:
        recipe = replace(self.small, mask_prob=rate, seed=seed, length=self.world.max_len)
        model, loss = trained(self.world, recipe)
        paid = {"training": loss}
        for name, at in {"at 15%": 0.15, "own rate": rate}.items():
            corruption = Corruption(at)
            asked = self.world.questions(self.sentences, corruption)
            paid[f"floor, {name}"] = self.world.floor(asked, corruption=corruption).nats
            paid[f"above, {name}"] = self.world.excess(model, asked, corruption=corruption).nats
        return paid

    def provenance(self) -> dict[str, Any]:
        """Return what it takes to repeat this."""
        recipes = {"English": self.english, "little": self.few, "world": self.small}
        return measurements.made_by(
            __spec__.name,
            corpus_sha256=self.corpus.sha256,
            world_sha256=self.world.sha256,
            steps={text: recipe.steps for text, recipe in recipes.items()},
            seeds=list(SEEDS),
        )


class Results:
    """What was measured, by part and name of the arm and by question."""

    def __init__(self, path: Path = RESULTS) -> None:
        self.written = measurements.read(path)

    def runs(self, part: str, name: str) -> list[Paid]:
        """Return what the models of an arm pay, one per seed."""
        if (part, name) in (("shares", "80/10/10"), ("shapes", "characters")):
            part, name = "rates", f"{RATE:.0%}"
        return list(self.written["runs"][part][name].values())

    def of(self, part: str, name: str, question: str) -> Repeated:
        """Return the mean over the seeds of what an arm pays, and how far they are apart."""
        return Repeated.of(paid[question] for paid in self.runs(part, name))


def main(path: Path = RESULTS, plan: Plan | None = None) -> None:
    """Do every run that is not in the file yet, and write it down with what repeats it."""
    plan = plan or Plan(Corpus.load(), World.load())
    arms = plan.arms()

    def one(part: str, name: str, seed: int) -> Paid:
        paid = arms[part, name](seed)
        return {question: round(nats, 5) for question, nats in paid.items()}

    runs = ((*arm, seed) for seed in SEEDS for arm in arms)
    measurements.measure(path, plan.provenance(), "runs", runs, one)


if __name__ == "__main__":
    main()
