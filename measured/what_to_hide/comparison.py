"""Models that differ in nothing but what was hidden from them.

``python -m measured.what_to_hide.comparison`` trains them one after the other (about 40 minutes on
an idle core).
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from statistics import fmean
from string import ascii_lowercase

import torch
from torch import Tensor

from cloze.corpus import Corpus, sample_windows, windows
from cloze.evaluation import answers, held_out_loss
from cloze.heads import MaskedLM, Model
from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES
from cloze.lessons.what_to_hide.results import RATE
from cloze.lessons.what_to_hide.typos import planted
from cloze.masking import MaskedBatch, StaticMasks, held_out_batch, mask_tokens, seeded
from cloze.objectives import MASKED, Objective, masked
from cloze.prediction.answers import visible_costs
from cloze.prediction.shipped import shipped_model
from cloze.training import EVEN, Recipe, TrainingRun
from cloze.vocabulary import VOCABULARY
from cloze.world import Corruption, World
from measured.shared import SEEDS, ResultsFile, area_under_curve, trained

COPIES = {"static": 1, "ten copies": 10, "dynamic": 0}
"""How often a text is masked beforehand; 0 for a new mask every time."""
FEW_RATE = 0.15
"""The rate at which the small text is masked: BERT's."""
EVERY = 3
"""Every third held-out window serves for all questions but the series' own."""
STEPS = {"English": 250, "little": 150, "world": 300}
SENTENCES = 1000
"""How many sentences of the small world are asked about at each rate."""
KINDS = ("random letter", "neighbouring key", "two letters swapped", "letter missing")
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
MISTYPED = 0.1
"""The share of the words of four letters and more that get a typo."""
CLOSER = {
    "80/10/10": MASKED,
    "100/0/0": masked("100/0/0", mask_tokens, *SHARES["100/0/0"]),
    "words": masked("words", SHAPES["words"]),
}
"""The models that are asked about real typos, and about what they answer."""

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


def mistyped(word: str, kind: str, chance: Random) -> str:
    """Make one typo; the result may be the word itself, as when the two l of *sell* are swapped."""
    at = chance.randrange(len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    row = next(row for row in KEYBOARD if letter in row)
    key = row.index(letter)
    return {
        "random letter": before + chance.choice(ascii_lowercase) + after,
        "neighbouring key": before + chance.choice(row[max(0, key - 1) : key + 2]) + after,
        "two letters swapped": before + after[0] + letter + after[1:],
        "letter missing": before + after,
    }[kind]


def mistyped_words_found(model: Model, text: str, kind: str) -> float:
    """Return the area under the curve of finding the words with a typo.

    A word counts what its most expensive character costs, the space after it included: after
    *umbrell*, it is the space that surprises.
    """
    chance, original = Random(0), text.split()  # noqa: S311
    words = [*original]
    for i, word in enumerate(original):
        if len(word) > 3 and chance.random() < MISTYPED:
            while words[i] == word:
                words[i] = mistyped(word, kind, chance)
    read = "".join(f"{word} " for word in words)
    costs = visible_costs(model, windows(VOCABULARY.encode(read + 64 * " "), 64)).flatten()
    each = torch.split(costs[: len(read)], [len(word) + 1 for word in words])
    wrong = torch.tensor([a != b for a, b in zip(words, original, strict=True)])
    return area_under_curve(torch.stack([cost.max() for cost in each]), wrong)


def spaces_answered(model: Model, batch: MaskedBatch) -> float:
    """Return the share of the letters asked about for which a space seems likeliest to a model."""
    space = VOCABULARY.encode(" ")
    best = [logits[labels != space].argmax(1) for logits, labels in answers(model, batch)]
    return float((torch.cat(best) == space).double().mean())


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

    def closer(_: str, name: str, seed: int) -> Paid:
        model: Model = shipped_model()
        if name in CLOSER:
            model = trained(corpus, recipe("English", RATE, seed), CLOSER[name]).model
        text = " ".join(piece.text for piece in corpus.held_out)
        found = {kind: mistyped_words_found(model, text, kind) for kind in KINDS}
        spaces = spaces_answered(model, held_out_batch(corpus.held_out_windows()))
        return rounded({**found, "letters answered with a space": spaces})

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
    measurements.measure("runs", closer, ["closer"], CLOSER, SEEDS)
    measurements.measure("runs", closer, ["closer"], ["shipped"], (0,))


if __name__ == "__main__":
    main()
