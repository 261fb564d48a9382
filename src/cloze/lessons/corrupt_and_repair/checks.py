"""The exercises of notebook 09."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from cloze.lessons.corrupt_and_repair import exact
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, number, wrong_kind
from cloze.teaching.texts import world
from cloze.vocabulary import counted

# ── 9.1 ──────────────────────────────────────────────────────────────────────────────────────────

Words = Sequence[str]
VERBS = ("sleeps", "eats", "eats eats", "sleeps now")
VARIOUS = ("the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "tree")
Spans = Sequence[tuple[int, int]]


def take_out(words: Words, spans: Spans) -> tuple[list[str], list[str]]:
    """Return what is read and what is to be written when spans are taken out in T5's way."""
    inputs: list[str] = []
    target: list[str] = []
    done = 0
    for i, (start, end) in enumerate(spans):
        inputs += [*words[done:start], f"<extra_id_{i}>"]
        target += [f"<extra_id_{i}>", *words[start:end]]
        done = end
    return [*inputs, *words[done:]], [*target, f"<extra_id_{len(spans)}>"]


def pair_of_lists(value: Any) -> tuple[list[str], list[str]]:
    """Read two lists of words: what is read and what is written."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise wrong_kind(value, "two lists of words, input and target, with a comma between them")
    for name, part in zip(("input", "target"), value, strict=True):
        if isinstance(part, str):
            raise Symptom(f"Your {name} is a string; return a list of words, without joining them.")
        if not isinstance(part, list | tuple) or not all(isinstance(word, str) for word in part):
            raise Symptom(
                f"Your {name} should hold only words: += adds the words of a slice one by one, "
                "while append adds the whole slice as one entry."
            )
        if "<" in part:
            raise Symptom(
                f"In your {name} a sentinel has fallen apart into single letters. Put square "
                'brackets around it: [f"<extra_id_{i}>"].'
            )
    return [*value[0]], [*value[1]]


def lines_with_spans(chance: Chance) -> Probes:
    """Make lines and spans in them, some at an end, some lines with one word twice."""
    line = ["thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
    short = ["thank", "you", "for", "inviting", "me"]  # short enough to be shown whole
    yield short, [(1, 2), (3, 4)]
    yield short, [(0, 2)]
    yield line, [(2, 4), (4, 5), (8, 9)]
    yield line, [(0, 1), (7, 10)]
    for gaps in (1, 2, 3, 3):
        words = [chance.choice(VARIOUS) for _ in line]
        words += ["the", "end"]
        cuts = sorted(chance.sample(range(len(words)), 2 * gaps))
        spans = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
        spans[0] = (spans[0][0], max(spans[0][1], spans[0][0] + 1))
        yield words, spans
    yield line[:6], [(0, 2), (3, 6)]
    yield line[:3], [(0, 3)]


check_take_out = Exercise(
    solution=take_out,
    minutes=12,
    wants=pair_of_lists,
    probes=lines_with_spans,
    solved="In the input one sentinel marks the whole gap, and in the target it announces what "
    "was there. With both you can put the line together again.",
    direction="In the input, one sentinel replaces each span. In the target, each sentinel is "
    "followed by the words of its span, and one more sentinel ends it.",
    limits={
        "But it fails if there are no spans: the last sentinel has the number len(spans), even "
        "if that is 0.": (["thank", "you"], []),
    },
)

# ── 9.2 ──────────────────────────────────────────────────────────────────────────────────────────

Table = Mapping[str, Mapping[str, float]]
"""By the line that is left: each original with the probability of the two together."""


def still_open(table: Table) -> float:
    """Return the conditional entropy of the original, given the line that is left, in nats."""
    nats = 0.0
    for row in table.values():
        total = sum(row.values())
        for p in row.values():
            nats -= p * math.log(p / total)
    return nats


def originals_of(world: Mapping[str, float]) -> Table:
    """Delete each word of each sentence, all words of a sentence with the same probability."""
    table: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for sentence, p in world.items():
        words = sentence.split()
        for i in range(len(words)):
            table[" ".join([*words[:i], *words[i + 1 :]])][sentence] += p / len(words)
    return {left: dict(row) for left, row in table.items()}


def tables(chance: Chance) -> Probes:
    """Make tables of worlds in which a deletion can be told, and of others in which it cannot."""
    worlds = [
        {"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25},
        {"a b": 0.5, "b a": 0.25, "a a": 0.25},
        {"so we may": 0.2, "so we may be": 0.5, "we maybe so": 0.3},
        {"nothing else is said": 1.0},
    ]
    for _ in range(3):
        sentences = [f"{who} {verb}" for who in ("anna", "tom", "the cat") for verb in VERBS]
        odds = [chance.uniform(0.1, 1) for _ in sentences]
        worlds.append({s: o / sum(odds) for s, o in zip(sentences, odds, strict=True)})
    return [(originals_of(world),) for world in worlds]


check_still_open = Exercise(
    solution=still_open,
    minutes=12,
    wants=number,
    probes=tables,
    solved="This is what nobody can repair: on average, no model can pay less for the original.",
    direction="Return −Σ p · log(p / the sum of its row), over all entries of all rows.",
)

# ── 9.3 ──────────────────────────────────────────────────────────────────────────────────────────

ENOUGH = 0.3
"""Nats that a deletion is to leave open."""


def _judge_open_world(answer: Any) -> str:
    own = world(answer)
    for sentence in own.sentences:
        if len(sentence.split()) < 3:
            raise Symptom(f"Every sentence needs at least three words; {sentence!r} has fewer.")
    if not 2 <= len(own.sentences) <= 4:
        raise Symptom(
            f"Your world has {counted(len(own.sentences), 'sentence')}; the exercise asks for two "
            "to four."
        )
    masked = exact.lost(own, exact.masked(own.vocabulary.mask_id, 1))
    deleted = exact.lost(own, exact.deleted(1))
    facts = f"Masking a word leaves {masked:.3f} nats open, deleting one leaves {deleted:.3f}."
    lengths = [len(sentence.split()) for sentence in own.sentences]
    if masked > 1e-9:
        raise Symptom(
            f"{facts} Two of your sentences differ in a single word, and the mask may hide exactly "
            "that one: make them differ in at least two places."
        )
    if deleted < 1e-9 and len(set(lengths)) == len(lengths):
        raise Symptom(
            f"{facts} Each sentence loses one word, so sentences of different lengths stay "
            "different: at least two of yours must have the same number of words."
        )
    if deleted < 1e-9:
        raise Symptom(
            f"{facts} No two of your sentences become the same line when each loses a word: two "
            "must agree in all words but one, in the same order."
        )
    if deleted < ENOUGH:
        raise Symptom(
            f"{facts} That is the right direction, but you need {ENOUGH}: more of the deletions "
            "must leave a line with two possible originals, best of all equally likely ones. Short "
            "sentences help."
        )
    return facts


check_open_world = Exercise(
    solution={"only he smiled": 0.5, "he only smiled": 0.5},
    minutes=12,
    solved="A mask keeps the place of what is missing, and a deletion does not.",
    judge=_judge_open_world,
)

# ── 9.4 ──────────────────────────────────────────────────────────────────────────────────────────


def suspicion(p: float, q: float, rate: float) -> float:
    """Return P(it was replaced | the word that is read), for the best of all discriminators."""
    replaced = rate * (1 - p) * q
    return replaced / (replaced + rate * p * q + (1 - rate) * p)


def generators(chance: Chance) -> Probes:
    """Make words that fit more and less, of generators that draw them more and less often."""
    yield from ((0.6, 0.6, 0.15), (0.1, 0.8, 0.15), (0.0, 0.4, 0.15), (0.5, 0.5, 0.5))
    for _ in range(4):
        yield chance.uniform(0.1, 0.9), chance.uniform(0.1, 0.9), chance.uniform(0.1, 0.4)


check_suspicion = Exercise(
    solution=suspicion,
    minutes=12,
    wants=number,
    probes=generators,
    solved="No discriminator can do better. With q = p it is rate · (1 − p): if the generator "
    "is perfect, no word is ever more suspicious than `rate`.",
    direction="This word can have got here in three ways: never masked; masked, and written again; "
    "masked, and written in place of another word. Divide the probability of the last by the sum "
    "of all three.",
)
