"""The exercises of notebook 09."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, Symptom, number, wrong_kind

# ── 9.1 ──────────────────────────────────────────────────────────────────────────────────────────

Words = Sequence[str]
VARIOUS = ("the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "tree")
Spans = Sequence[tuple[int, int]]


def take_out(words: Words, spans: Spans) -> tuple[list[str], list[str]]:
    """Return what is read and what is to be written when spans are taken out in T5's way."""
    return _taken_out(words, spans)


def _name(i: int) -> str:
    return f"<extra_id_{i}>"


def _taken_out(
    words: Words,
    spans: Spans,
    *,
    name: Callable[[int], str] = _name,
    in_input: Callable[[int, int], int] = lambda i, size: 1,
    in_target: bool = True,
    closing: bool = True,
    end: int = 0,
) -> tuple[list[str], list[str]]:
    """Take spans out, rightly or with a known mistake."""
    inputs: list[str] = []
    target: list[str] = []
    done = 0
    for i, (start, stop) in enumerate(spans):
        inputs += [*words[done:start], *[name(i)] * in_input(i, stop - start)]
        target += [*[name(i)] * in_target, *words[start : stop + end]]
        done = stop + end
    inputs += words[done:]
    return inputs, target + [name(len(spans))] * closing


def pair_of_lists(value: Any) -> tuple[list[str], list[str]]:
    """Read two lists of words: what is read and what is written."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise wrong_kind(value, "two lists of words, input and target, with a comma between them")
    for name, part in zip(("input", "target"), value, strict=True):
        if isinstance(part, str):
            raise Symptom(f"Your {name} is a text; return a list of words, without joining them.")
        if not isinstance(part, list | tuple) or not all(isinstance(word, str) for word in part):
            raise Symptom(
                f"Your {name} is not a list of words alone: += adds the words of a slice, "
                "append would put the slice in as one entry."
            )
    return [*value[0]], [*value[1]]


def lines_with_spans(chance: random.Random) -> list[Probe]:
    """Make lines and spans in them, some at an end, some lines with one word twice."""
    line = ["thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
    short = ["thank", "you", "for", "inviting", "me"]  # short enough to be shown whole
    probes: list[Probe] = [(short, [(1, 2), (3, 4)]), (short, [(0, 2)])]
    probes += [(line, [(2, 4), (8, 9)]), (line, [(0, 1), (7, 10)])]
    for gaps in (1, 2, 3, 3):
        words = [chance.choice(VARIOUS) for _ in line]
        words += ["the", "end"]
        cuts = sorted(chance.sample(range(len(words)), 2 * gaps))
        spans = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
        spans[0] = (spans[0][0], max(spans[0][1], spans[0][0] + 1))
        probes.append((words, spans))
    words = line[:6]
    probes.append((words, [(0, 2), (3, 6)]))
    return probes


check_take_out = Exercise(
    solution=take_out,
    wants=pair_of_lists,
    probes=lines_with_spans,
    solved="One sentinel stands for the whole gap in the input, and announces what was there in "
    "the target; whoever has both can put the line together again.",
    direction="In the input each span becomes one sentinel; the target is the sentinel and then "
    "the words of its span, for each in turn, and one more sentinel at the end.",
    mistakes=Mistakes(__name__, "take_out"),
)
"""Mark ``take_out(words, spans)``: input and target with sentinels, as two lists of words."""

# ── 9.2 ──────────────────────────────────────────────────────────────────────────────────────────

Sentences = Mapping[str, float]


def still_open(world: Sentences) -> float:
    """Return H(sentence | the sentence with one word deleted), in nats."""
    joint = _joint(world)
    return -sum(
        p * math.log(p / sum(originals.values()))
        for originals in joint.values()
        for p in originals.values()
    )


def _joint(
    world: Sentences,
    share: Callable[[float, int], float] = lambda p, n: p / n,
    mark: str = "",
    *,
    add: bool = True,
    cut: Callable[[list[str], int], list[str]] = lambda words, i: [*words[:i], *words[i + 1 :]],
) -> dict[str, dict[str, float]]:
    """Return P(sentence, what is read), by what is read and sentence."""
    joint: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for sentence, p in world.items():
        words = sentence.split()
        for i in range(len(words)):
            read = " ".join([*words[:i], mark, *words[i + 1 :]] if mark else cut(words, i))
            joint[read][sentence] = share(p, len(words)) + add * joint[read][sentence]
    return joint


def tiny_worlds(chance: random.Random) -> list[Probe]:
    """Make worlds in which a deletion can be told, and others in which it cannot."""
    probes: list[Probe] = [
        ({"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25},),
        ({"a b": 0.5, "b a": 0.25, "a a": 0.25},),
        ({"no no": 0.6, "no yes no": 0.4},),
        ({"no yes no": 0.4, "no yes maybe": 0.35, "yes no": 0.25},),
    ]
    for _ in range(3):
        sentences = [
            f"{who} {verb}{end}"
            for who in ("anna", "tom", "the cat")
            for verb in ("sleeps", "eats", "eats eats")
            for end in ("", " now")
        ]
        odds = [chance.uniform(0.1, 1) for _ in sentences]
        probes.append(({s: o / sum(odds) for s, o in zip(sentences, odds, strict=True)},))
    return probes


check_still_open = Exercise(
    solution=still_open,
    wants=number,
    probes=tiny_worlds,
    solved="That is what no model can repair: no model pays less for the original.",
    direction="For every sentence and every word of it, add p / (number of words) to what is then "
    "read; −Σ p log (p / the sum of all that is read alike).",
    mistakes=Mistakes(__name__, "still_open"),
)
"""Mark ``still_open(world)``: the entropy of a sentence of which one word was deleted, in nats."""

# ── 9.3 ──────────────────────────────────────────────────────────────────────────────────────────


def detection_loss(says: Sequence[float], original: Words, read: Words) -> float:
    """Return the mean cost of "was it replaced?" over ALL positions, in nats."""
    return _mean(_costs(says, original, read))


def _costs(says: Sequence[float], original: Words, read: Words) -> list[float]:
    return [-math.log(p if a != b else 1 - p) for p, a, b in zip(says, original, read, strict=True)]


def _mean(costs: Sequence[float]) -> float:
    return sum(costs) / len(costs)


def refilled_lines(chance: random.Random) -> list[Probe]:
    """Make lines, some of whose words were replaced, and what a discriminator says of each."""
    probes: list[Probe] = [([0.5, 0.1, 0.9], ["the", "cat", "sat"], ["the", "cat", "ran"])]
    for length in (4, 5, 7, 8):
        original = [chance.choice(["a", "b", "c", "d"]) for _ in range(length)]
        read = [w if chance.random() < 0.5 else chance.choice(["a", "b", "x"]) for w in original]
        # One word is right, one is new, and one stands elsewhere in the original.
        original[:3], read[:3] = ["a", "b", "c"], ["a", "z", "b"]
        probes.append(([chance.uniform(0.05, 0.95) for _ in original], original, read))
    return probes


check_detection_loss = Exercise(
    solution=detection_loss,
    wants=number,
    probes=refilled_lines,
    solved="Every position teaches something, whether it was replaced or not; and where the "
    "generator drew the original word, nothing was replaced.",
    direction="At each position the answer costs −log p if the word was replaced and −log (1 − p) "
    "if it was not; take the mean over all positions.",
    mistakes=Mistakes(__name__, "detection_loss"),
)
"""Mark ``detection_loss(says, original, read)``: ELECTRA's question, at every position."""

# ── 9.4 ──────────────────────────────────────────────────────────────────────────────────────────


def suspicion(p: float, q: float, rate: float) -> float:
    """Return P(it was replaced | the word that is read), for the best of all discriminators."""
    replaced = rate * (1 - p) * q
    return replaced / (replaced + rate * p * q + (1 - rate) * p)


def generators(chance: random.Random) -> list[Probe]:
    """Make words that fit more and less, of generators that draw them more and less often."""
    probes: list[Probe] = [(0.6, 0.6, 0.15), (0.1, 0.8, 0.15)]
    ranges = ((0.1, 0.9), (0.1, 0.9), (0.1, 0.4))
    probes += [tuple(chance.uniform(*ends) for ends in ranges) for _ in range(4)]
    return probes


check_suspicion = Exercise(
    solution=suspicion,
    wants=number,
    probes=generators,
    solved="No discriminator can do better. With q = p it is rate · (1 − p): when the generator "
    "knows as much as can be known, what it wrote is never likelier than the rate.",
    direction="Weigh the three ways in which this word can come to stand here: never masked; "
    "masked, and drawn again; masked, and drawn in the place of another. Only in the last was it "
    "replaced.",
    mistakes=Mistakes(__name__, "suspicion"),
)
"""Mark ``suspicion(p, q, rate)``: what the best discriminator says of one word."""
