"""The exercises of notebook 09."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloze.teaching.exercise import Exercise
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


def _one_per_word(words: Words, spans: Spans) -> tuple[list[str], list[str]]:
    """Give each word that is missing a sentinel of its own."""
    return _taken_out(words, [(i, i + 1) for start, stop in spans for i in range(start, stop)])


def _in_one_copy(words: Words, spans: Spans) -> tuple[list[str], list[str]]:
    """Cut the spans out of one copy from left to right, though the places behind a cut move."""
    inputs, (_, target) = [*words], _taken_out(words, spans)
    for i, (start, end) in enumerate(spans):
        inputs[start:end] = [_name(i)]
    return inputs, target


def _without_the_rest(words: Words, spans: Spans) -> tuple[list[str], list[str]]:
    """Forget what stands behind the last span."""
    inputs, target = _taken_out(words, spans)
    return inputs[: inputs.index(_name(len(spans) - 1)) + 1], target


def _words_again(words: Words, spans: Spans) -> tuple[list[str], list[str]]:
    """Go on from where each span starts instead of where it ends."""
    inputs: list[str] = []
    done = 0
    for i, (start, _) in enumerate(spans):
        inputs += [*words[done:start], _name(i)]
        done = start
    return [*inputs, *words[done:]], _taken_out(words, spans)[1]


def _sentinels_behind(words: Words, spans: Spans) -> tuple[list[str], list[str]]:
    """Write each sentinel behind the words of its span."""
    inputs, _ = _taken_out(words, spans)
    return inputs, [w for i, (a, b) in enumerate(spans) for w in (*words[a:b], _name(i))]


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
    mistakes={
        "The target has to end with one more sentinel: without it the writer never says that it "
        "is done.": lambda words, spans: _taken_out(words, spans, closing=False),
        "All your gaps have the same name; number the sentinels, or nobody can tell which gap is "
        "being filled.": lambda words, spans: _taken_out(words, spans, name=lambda i: _name(0)),
        "You put a sentinel in the place of every single word; a span becomes one sentinel, "
        "however long it is.": _one_per_word,
        "Your input repeats the sentinel for every missing word, which says how many there are; a "
        "span becomes one.": lambda words, spans: _taken_out(
            words, spans, in_input=lambda i, size: size
        ),
        "Your input has no sentinels: that is deletion, and nobody sees where something is "
        "missing.": lambda words, spans: _taken_out(words, spans, in_input=lambda i, size: 0),
        "Your target lists the words without their sentinels, so nobody can tell into which gap "
        "they go.": lambda words, spans: _taken_out(words, spans, in_target=False),
        "Your target has neither sentinels between the spans nor one at the end.": (
            lambda words, spans: _taken_out(words, spans, in_target=False, closing=False)
        ),
        "A span (start, end) ends before `end`, as slices do; you take one word too many.": (
            lambda words, spans: _taken_out(words, spans, end=1)
        ),
        "Only the first span is taken out; go through all of them.": (
            lambda words, spans: _taken_out(words, spans[:1])
        ),
        "Your input ends with the last sentinel; add the words behind the last span.": (
            _without_the_rest
        ),
        "You replace the spans in one list from left to right, but each replacement moves all that "
        "stands behind it; go from the last span to the first, or build a new list.": _in_one_copy,
        "Your input still holds the words that are taken out, behind their sentinel; go on from "
        "where the span ends.": _words_again,
        "In your target the words come first and then their sentinel; the sentinel announces what "
        "follows it.": _sentinels_behind,
        "Your target ends with the last gap's sentinel once more; it ends with the next one, which "
        "no gap has.": lambda words, spans: (
            _taken_out(words, spans)[0],
            [*_taken_out(words, spans, closing=False)[1], _name(len(spans) - 1)],
        ),
        "Your input ends with the closing sentinel, too; only the target has it.": (
            lambda words, spans: (
                [*_taken_out(words, spans)[0], _name(len(spans))],
                _taken_out(words, spans)[1],
            )
        ),
        "Your input has [MASK] in its gaps, which all look alike; each gap has a sentinel of its "
        "own name.": lambda words, spans: (
            _taken_out(words, spans, name=lambda i: "[MASK]")[0],
            _taken_out(words, spans)[1],
        ),
        "Your sentinels begin with 1; the first is <extra_id_0>.": (
            lambda words, spans: _taken_out(words, spans, name=lambda i: _name(i + 1))
        ),
        "You return the target first; the input comes first.": (
            lambda words, spans: _taken_out(words, spans)[::-1]
        ),
        "Your target is the whole line, as BART's; T5's holds only what was taken out.": (
            lambda words, spans: (_taken_out(words, spans)[0], [*words])
        ),
    },
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


def _open(joint: Mapping[str, Mapping[str, float]]) -> float:
    return -sum(
        p * math.log(p / sum(originals.values()))
        for originals in joint.values()
        for p in originals.values()
    )


def _first_alike(words: list[str], i: int) -> list[str]:
    """Remove a word by its name, which removes the first that is called so."""
    left = [*words]
    left.remove(words[i])
    return left


def _cut_from_text(words: list[str], i: int) -> list[str]:
    """Remove a word from the text by replace, with what it leaves behind."""
    return " ".join(words).replace(words[i], "").split(" ")


def _letters(world: Sentences) -> dict[str, dict[str, float]]:
    """Return P(sentence, the sentence with one LETTER deleted)."""
    return _joint({" ".join(s.replace(" ", "_")): p for s, p in world.items()})


def _unweighted(world: Sentences) -> float:
    """Average the entropies over what can be read, however often it is."""
    joint = _joint(world)
    each = [
        -sum(
            p / sum(originals.values()) * math.log(p / sum(originals.values()))
            for p in originals.values()
        )
        for originals in joint.values()
    ]
    return sum(each) / len(each)


def _backwards(world: Sentences) -> float:
    """Return H(what is read | sentence)."""
    joint = _joint(world)
    return -sum(
        p * math.log(p / world[sentence])
        for originals in joint.values()
        for sentence, p in originals.items()
    )


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
    mistakes={
        "That is the entropy of the sentences before anything is deleted; divide each joint "
        "probability by the sum over all originals that look alike.": (
            lambda world: -sum(p * math.log(p) for p in world.values())
        ),
        "That is the joint entropy of original and what is read: inside the logarithm, divide by "
        "the probability of what is read.": lambda world: (
            -sum(
                p * math.log(p) for originals in _joint(world).values() for p in originals.values()
            )
        ),
        "That is how uncertain what is READ is when the original is known; asked for is the other "
        "way round.": _backwards,
        "You count each deletion with the full p of its sentence: each of n words is deleted with "
        "probability 1/n.": lambda world: _open(_joint(world, share=lambda p, n: p)),
        "You average over all that can be read as if it were equally likely; weigh each by how "
        "often it is read.": _unweighted,
        "A sentence may become the same line by two deletions, and the second overwrites the "
        "first: add them (+=).": lambda world: _open(_joint(world, add=False)),
        "You leave a mark where the word was; deleted, it leaves none, so the words are joined "
        "without it.": lambda world: _open(_joint(world, mark="_")),
        "You remove a word by its name, and of two that are called alike the first is removed each "
        "time; leave out the word at position i.": lambda world: _open(
            _joint(world, cut=_first_alike)
        ),
        "You cut the word out of the text with replace, which finds it in other places, too, and "
        "leaves two spaces; split the sentence and leave out the word at position i.": (
            lambda world: _open(_joint(world, cut=_cut_from_text))
        ),
        "You delete letters; what is deleted is a word, so take the sentence apart with split().": (
            lambda world: _open(_letters(world))
        ),
        "You divide by 3 for every sentence, but not all have three words.": (
            lambda world: _open(_joint(world, share=lambda p, n: p / 3))
        ),
        "You add up the entropies of all that can be read; weigh each by how often it is read.": (
            lambda world: _unweighted(world) * len(_joint(world))
        ),
        "That is the entropy of what is READ; asked for is what is still open about the original "
        "when it has been read.": lambda world: (
            -sum(
                sum(originals.values()) * math.log(sum(originals.values()))
                for originals in _joint(world).values()
            )
        ),
        "That is how often something is open; asked for is how much, −Σ p log (p / the sum of its "
        "row).": lambda world: sum(
            sum(originals.values()) for originals in _joint(world).values() if len(originals) > 1
        ),
        "Your probabilities are rounded to three digits, and a second deletion overwrites the "
        "first, as in the cell above; add in full (+=).": lambda world: _open(
            _joint(world, share=lambda p, n: round(p / n, 3), add=False)
        ),
        "Your probabilities are rounded to three digits, as those in the cell above are to be "
        "shown; add them in full.": lambda world: _open(
            _joint(world, share=lambda p, n: round(p / n, 3))
        ),
        "You weigh sentences alike; one that is said more often counts more.": (
            lambda world: _open(_joint({s: 1 / len(world) for s in world}))
        ),
    },
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


def _where(keep: Callable[[bool], bool]) -> Callable[..., float]:
    """Average over the positions that were replaced, or not."""
    return lambda says, original, read: _mean(
        [
            cost
            for cost, a, b in zip(_costs(says, original, read), original, read, strict=True)
            if keep(a != b)
        ]
    )


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
    mistakes={
        "You ask only where something was replaced; the discriminator is asked everywhere.": (
            _where(lambda replaced: replaced)
        ),
        "You ask only where nothing was replaced; the discriminator is asked everywhere.": (
            _where(lambda replaced: not replaced)
        ),
        "You look whether the word stands anywhere in the original; compare position by position, "
        "original[i] with read[i].": lambda says, original, read: _mean(
            [-math.log(1 - p if w in original else p) for p, w in zip(says, read, strict=True)]
        ),
        "You look whether the original word stands anywhere in what is read; compare position by "
        "position, original[i] with read[i].": lambda says, original, read: _mean(
            [-math.log(1 - p if w in read else p) for p, w in zip(says, original, strict=True)]
        ),
        "You take the mean over the replaced words and the mean over the others, and then theirs; "
        "every position counts alike.": lambda says, original, read: (
            (
                _where(lambda replaced: replaced)(says, original, read)
                + _where(lambda replaced: not replaced)(says, original, read)
            )
            / 2
        ),
        "At every position you add up the costs of both answers; only that of the true one is "
        "paid, −log p where the word was replaced and −log (1 − p) where not.": (
            lambda says, original, read: _mean([-math.log(p) - math.log(1 - p) for p in says])
        ),
        "That is the probability of all answers together; asked for is the mean of −log.": (
            lambda says, original, read: math.exp(-sum(_costs(says, original, read)))
        ),
        "You took −log of the mean; take the mean of the costs, −log at each position.": (
            lambda says, original, read: (
                -math.log(_mean([math.exp(-cost) for cost in _costs(says, original, read)]))
            )
        ),
        "You divided by the number of replaced words; the mean is over all positions.": (
            lambda says, original, read: (
                sum(_costs(says, original, read))
                / sum(a != b for a, b in zip(original, read, strict=True))
            )
        ),
        "That is the mean squared distance from 0 or 1; the cost of an answer is −log of what was "
        "said of the truth.": lambda says, original, read: _mean(
            [(p - (a != b)) ** 2 for p, a, b in zip(says, original, read, strict=True)]
        ),
        "One of your two logarithms lacks its minus: the costs are −log p and −log (1 − p).": (
            lambda says, original, read: _mean(
                [
                    -math.log(p) if a != b else math.log(1 - p)
                    for p, a, b in zip(says, original, read, strict=True)
                ]
            )
        ),
        "1 + log p is not −log (1 − p): subtract inside the logarithm.": (
            lambda says, original, read: _mean(
                [
                    -math.log(p) if a != b else 1 + math.log(p)
                    for p, a, b in zip(says, original, read, strict=True)
                ]
            )
        ),
        "That is the share of wrong answers, not what they cost: take −log of what was said of the "
        "truth.": lambda says, original, read: _mean(
            [float((p > 0.5) != (a != b)) for p, a, b in zip(says, original, read, strict=True)]
        ),
        "You added up the costs; asked for is their mean.": (
            lambda says, original, read: sum(_costs(says, original, read))
        ),
        "You have it the wrong way round: `says` is the probability that the word WAS replaced, so "
        "a true word costs −log (1 − p).": (
            lambda says, original, read: detection_loss([1 - p for p in says], original, read)
        ),
        "You take −log p everywhere; where the word is the original one, the right answer is 'not "
        "replaced', 1 − p.": lambda says, original, read: _mean([-math.log(p) for p in says]),
        "You take −log (1 − p) everywhere; where the word was replaced, the right answer has "
        "probability p.": lambda says, original, read: _mean([-math.log(1 - p) for p in says]),
        "You add up the costs of the replaced words and divide by all positions; the true words "
        "cost something, too, −log (1 − p).": lambda says, original, read: (
            sum(-math.log(p) for p, a, b in zip(says, original, read, strict=True) if a != b)
            / len(says)
        ),
        "That is the share of right answers, not what they cost: take −log of what was said of the "
        "truth.": lambda says, original, read: _mean(
            [float((p > 0.5) == (a != b)) for p, a, b in zip(says, original, read, strict=True)]
        ),
        "That is the mean distance from 0 or 1; the cost of an answer is −log of what was said of "
        "the truth.": lambda says, original, read: _mean(
            [abs(p - (a != b)) for p, a, b in zip(says, original, read, strict=True)]
        ),
    },
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
    mistakes={
        "Where the generator draws the true word again, nothing was replaced: of all that it "
        "draws, rate · q, only the share 1 − p counts as replaced.": (
            lambda p, q, rate: rate * q / (rate * q + (1 - rate) * p)
        ),
        "You forget that the word may have been masked and drawn again, rate · p · q; it stands "
        "there as the true one.": lambda p, q, rate: (
            rate * (1 - p) * q / (rate * (1 - p) * q + (1 - rate) * p)
        ),
        "That is how often such a replacement happens; divide it by how often this word stands "
        "here, for whatever reason.": lambda p, q, rate: rate * (1 - p) * q,
        "You divided by the two ways in which the word is the true one, which gives odds; divide "
        "by all three ways.": lambda p, q, rate: (
            rate * (1 - p) * q / ((1 - rate) * p + rate * p * q)
        ),
        "That is the probability that it was NOT replaced.": (
            lambda p, q, rate: 1 - suspicion(p, q, rate)
        ),
        "You have p and q the wrong way round: p is the truth's, q the generator's.": (
            lambda p, q, rate: suspicion(q, p, rate)
        ),
        "You leave the rate out; most positions were never masked.": (
            lambda p, q, rate: suspicion(p, q, 0.5)
        ),
        "That would be right if every position were masked; most were not, and then the word is "
        "the true one.": lambda p, q, rate: 1 - p,
        "You leave the rate out, and that the generator may draw the true word; most positions "
        "were never masked.": lambda p, q, rate: q / (p + q),
        "That leaves out how readily the generator draws this word.": lambda p, q, rate: (
            rate * (1 - p) / (rate * (1 - p) + (1 - rate) * p)
        ),
        "That is right only if the generator knows the truth, q = p.": (
            lambda p, q, rate: rate * (1 - p)
        ),
        "That it was never masked has the probability 1 − rate, and then the word is the true one: "
        "(1 − rate) · p.": lambda p, q, rate: (
            rate * (1 - p) * q / (rate * (1 - p) * q + rate * p * q + (1 - rate))
        ),
    },
)
"""Mark ``suspicion(p, q, rate)``: what the best discriminator says of one word."""
