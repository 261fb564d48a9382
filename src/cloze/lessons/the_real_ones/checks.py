"""The exercises of notebook 13."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, Symptom, kind_of, number

# ── 13.1 ─────────────────────────────────────────────────────────────────────────────────────────

Words = Mapping[tuple[str, ...], int]
"""Words cut into pieces, with how often each is there."""
Pair = tuple[str, str]


def counted_pairs(words: Words) -> dict[Pair, int]:
    """Count each pair of neighbouring pieces, as often as its word is there."""
    counts: dict[Pair, int] = {}
    for pieces, n in words.items():
        for pair in pairwise(pieces):
            counts[pair] = counts.get(pair, 0) + n
    return counts


def most_frequent_pair(words: Words) -> Pair:
    """Return the pair of neighbouring pieces that is there most often."""
    counts = counted_pairs(words)
    return max(counts, key=counts.__getitem__)


def pieces_of_words(chance: random.Random) -> list[Probe]:
    """Make words over few pieces, in which one pair leads and no other is level with it."""
    probes: list[Probe] = []
    while len(probes) < 20:
        letters = chance.sample("abcdefghijklmnopqrstuvwxyz", 4)
        words = {
            tuple(chance.choices(letters, k=chance.randint(3, 6))): chance.randint(8, 24)
            for _ in range(7)
        }
        first, second = sorted(counted_pairs(words).values(), reverse=True)[:2]
        if first > second:
            probes.append((words,))
    return probes


def _leading(count: Callable[[Words], Mapping[Pair, float]]) -> Callable[[Words], Pair]:
    def pair(words: Words) -> Pair:
        counts = count(words)
        return max(counts, key=counts.__getitem__)

    return pair


def _summed(
    words: Words, weigh: Callable[[tuple[str, ...], int], Mapping[Pair, float]]
) -> dict[Pair, float]:
    counts: dict[Pair, float] = {}
    for pieces, n in words.items():
        for pair, times in weigh(pieces, n).items():
            counts[pair] = counts.get(pair, 0) + times
    return counts


def _pair(value: object) -> Pair:
    if isinstance(value, str):
        raise Symptom("You return a text; return the two pieces apart, as a tuple.")
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Symptom(f"Your answer is {kind_of(value)}; what is asked for is a pair of pieces.")
    if not all(isinstance(piece, str) for piece in value):
        raise Symptom("A pair is made of two pieces, which are texts; leave the count out.")
    return value[0], value[1]


check_most_frequent_pair = Exercise(
    solution=most_frequent_pair,
    wants=_pair,
    probes=pieces_of_words,
    solved="This pair is merged first; then the pairs are counted again.",
    direction="Add up, for every pair of neighbours, how often the words are there that have it.",
    mistakes={
        "You count in how many words a pair stands, but a word that is there 30 times counts 30 "
        "times.": _leading(
            lambda words: _summed(words, lambda pieces, n: dict.fromkeys(pairwise(pieces), 1))
        ),
        "You count the places of a pair in the list, but not how often each word is there: add n, "
        "not 1.": _leading(
            lambda words: _summed(
                words,
                lambda pieces, n: {
                    pair: sum(p == pair for p in pairwise(pieces)) for pair in pairwise(pieces)
                },
            )
        ),
        "You put the words into one row, so that the last piece of one and the first of the next "
        "count as a pair; go through each word for itself.": _leading(
            lambda words: Counter(
                pairwise(piece for pieces, n in words.items() for piece in pieces * n)
            )
        ),
        "That is the pair that is there least often.": _leading(
            lambda words: {pair: -n for pair, n in counted_pairs(words).items()}
        ),
        "You look at the first two pieces of every word only; go through all neighbours.": _leading(
            lambda words: _summed(words, lambda pieces, n: {(pieces[0], pieces[1]): n})
        ),
        "You look at the last two pieces of every word only; go through all neighbours.": _leading(
            lambda words: _summed(words, lambda pieces, n: {(pieces[-2], pieces[-1]): n})
        ),
        "The two pieces are the wrong way round: the left one comes first.": (
            lambda words: most_frequent_pair(words)[::-1]
        ),
        "You take the first two pieces of the most frequent word; count the pairs of all.": (
            lambda words: max(words, key=words.__getitem__)[:2]
        ),
        "You overwrite a count each time its pair is met again; add to it.": _leading(
            lambda words: {pair: n for pieces, n in words.items() for pair in pairwise(pieces)}
        ),
        "A pair may stand in a word more than once; count it each time.": _leading(
            lambda words: _summed(words, lambda pieces, n: dict.fromkeys(pairwise(pieces), n))
        ),
        "You leave out the last pair of every word.": _leading(
            lambda words: _summed(words, lambda pieces, n: counted_pairs({pieces[:-1]: n}))
        ),
        "You leave out the first pair of every word.": _leading(
            lambda words: _summed(words, lambda pieces, n: counted_pairs({pieces[1:]: n}))
        ),
        "You take every second pair; a piece has a neighbour on either side, so pairs overlap.": (
            _leading(
                lambda words: _summed(
                    words,
                    lambda pieces, n: {
                        pair: n * times for pair, times in Counter([*pairwise(pieces)][::2]).items()
                    },
                )
            )
        ),
        "max() of a dictionary compares its keys, and you return the pair that is last in the "
        "alphabet; say key=counts.get.": lambda words: max(counted_pairs(words)),
        "You return the first pair of the first word: is the `return` inside the loop?": (
            lambda words: next(iter(words))[:2]
        ),
    },
)

# ── 13.2 ─────────────────────────────────────────────────────────────────────────────────────────


def mask_whole_words(pieces: Sequence[str], chosen: Sequence[int]) -> list[str]:
    """Hide every piece of the chosen words; ``##`` goes on with the word before."""
    hidden, word = [], -1
    for piece in pieces:
        word += not piece.startswith("##")
        hidden.append("[MASK]" if word in chosen else piece)
    return hidden


def pieces_and_words(chance: random.Random) -> list[Probe]:
    """Make lines of pieces, and numbers of words in them."""
    stems, more = ["un", "the", "walk", "re", "cat", "play"], ["##able", "##ed", "##ing", "##s"]
    probes: list[Probe] = []
    for n in (4, 5, 6, 5):
        pieces: list[str] = []
        for word in range(n):
            pieces.append(chance.choice(stems))
            pieces += chance.sample(more, 2 if word in (1, n - 2) else chance.randint(0, 1))
        probes.append((pieces, sorted(chance.sample(range(n), 2))))
    probes.append((["un", "##believ", "##able", "but", "true"], [0]))
    probes.append((["so", "un", "##believ", "##able"], [1]))
    return probes


def _pieces(value: object) -> list[str]:
    if isinstance(value, str):
        raise Symptom("You return a text; return the list of pieces.")
    if not isinstance(value, list | tuple):
        raise Symptom(f"Your answer is {kind_of(value)}; what is asked for is a list of pieces.")
    for piece in value:
        if not isinstance(piece, str):
            raise Symptom(
                f"In your list stands {kind_of(piece)}; every piece is a text, and a hidden one is "
                'written "[MASK]".'
            )
    return list(value)


def _numbered(pieces: Sequence[str]) -> list[int]:
    number, numbers = -1, []
    for piece in pieces:
        number += not piece.startswith("##")
        numbers.append(number)
    return numbers


check_mask_whole_words = Exercise(
    solution=mask_whole_words,
    wants=_pieces,
    probes=pieces_and_words,
    solved="No piece of a hidden word is left to give it away.",
    direction="Count words at every piece that does not begin with ##, and hide by that number.",
    mistakes={
        "You hide pieces by their own number; `chosen` numbers words, and ## goes on with one.": (
            lambda pieces, chosen: [
                "[MASK]" if i in chosen else piece for i, piece in enumerate(pieces)
            ]
        ),
        "You hide only the first piece of a chosen word; hide those that go on with it, too.": (
            lambda pieces, chosen: [
                "[MASK]" if n in chosen and not piece.startswith("##") else piece
                for piece, n in zip(pieces, _numbered(pieces), strict=True)
            ]
        ),
        "You hide only the pieces that go on with a chosen word, and its first one stays.": (
            lambda pieces, chosen: [
                "[MASK]" if n in chosen and piece.startswith("##") else piece
                for piece, n in zip(pieces, _numbered(pieces), strict=True)
            ]
        ),
        "You hide all words but the chosen ones.": (
            lambda pieces, chosen: [
                piece if n in chosen else "[MASK]"
                for piece, n in zip(pieces, _numbered(pieces), strict=True)
            ]
        ),
        "Your words are numbered from 1; `chosen` numbers them from 0.": (
            lambda pieces, chosen: [
                "[MASK]" if n + 1 in chosen else piece
                for piece, n in zip(pieces, _numbered(pieces), strict=True)
            ]
        ),
        "You write one [MASK] for a whole word; here every piece has a [MASK] of its own.": (
            lambda pieces, chosen: [
                "[MASK]" if n in chosen else piece
                for piece, n in zip(pieces, _numbered(pieces), strict=True)
                if n not in chosen or not piece.startswith("##")
            ]
        ),
        "You leave the hidden pieces out; put [MASK] in their places.": (
            lambda pieces, chosen: [
                piece for piece, n in zip(pieces, _numbered(pieces), strict=True) if n not in chosen
            ]
        ),
        "You hide the first chosen word only.": (
            lambda pieces, chosen: mask_whole_words(pieces, chosen[:1])
        ),
        "You hide nothing: `chosen` is a list, so ask whether the number is `in` it.": (
            lambda pieces, chosen: list(pieces)
        ),
        "You hide every piece that begins with ##, also where its word is not chosen.": (
            lambda pieces, chosen: [
                "[MASK]" if piece.startswith("##") else hidden
                for piece, hidden in zip(pieces, mask_whole_words(pieces, chosen), strict=True)
            ]
        ),
        "You look before you count, so the first piece of a word has another number than the rest: "
        "count first.": (
            lambda pieces, chosen: [
                "[MASK]" if n - (not piece.startswith("##")) in chosen else piece
                for piece, n in zip(pieces, _numbered(pieces), strict=True)
            ]
        ),
        "You count from 0 and look before you count, so only the first piece of a word has its "
        "number: begin with −1 and count first.": (
            lambda pieces, chosen: [
                "[MASK]" if n + piece.startswith("##") in chosen else piece
                for piece, n in zip(pieces, _numbered(pieces), strict=True)
            ]
        ),
        "You count at the pieces that begin with ##; a word begins at those that do not.": (
            lambda pieces, chosen: [
                "[MASK]" if n in chosen else piece
                for i, piece in enumerate(pieces)
                for n in [sum(before.startswith("##") for before in pieces[: i + 1]) - 1]
            ]
        ),
        "You write [MASK] in front of a hidden piece; write it in its place.": (
            lambda pieces, chosen: [
                written
                for piece, hidden in zip(pieces, mask_whole_words(pieces, chosen), strict=True)
                for written in dict.fromkeys((hidden, piece))
            ]
        ),
        "What is hidden is written as [MASK], not as ##[MASK].": (
            lambda pieces, chosen: [
                f"##{hidden}" if hidden == "[MASK]" and piece.startswith("##") else hidden
                for piece, hidden in zip(pieces, mask_whole_words(pieces, chosen), strict=True)
            ]
        ),
    },
)

# ── 13.3 ─────────────────────────────────────────────────────────────────────────────────────────


def attention_bytes(batch: int, n_heads: int, length: int) -> int:
    """Return the bytes of all attention weights of one layer, four bytes a number."""
    return 4 * batch * n_heads * length * length


check_attention_bytes = Exercise(
    solution=attention_bytes,
    wants=number,
    probes=lambda chance: [
        (chance.randint(2, 9), chance.choice([3, 5, 7, 12]), chance.randint(20, 900))
        for _ in range(12)
    ],
    solved="Twice the length is four times the memory.",
    direction="One weight per pair of positions, in every head and every line; four bytes each.",
    mistakes={
        "That is the number of weights; each takes four bytes.": (
            lambda batch, n_heads, length: batch * n_heads * length**2
        ),
        "Every position looks at every position: the length counts twice, as a square.": (
            lambda batch, n_heads, length: 4 * batch * n_heads * length
        ),
        "Every head has weights of its own: multiply by n_heads.": (
            lambda batch, n_heads, length: 4 * batch * length**2
        ),
        "Every line of the batch has weights of its own: multiply by batch.": (
            lambda batch, n_heads, length: 4 * n_heads * length**2
        ),
        "^ is no power in Python, it compares bits; write length ** 2.": (
            lambda batch, n_heads, length: 4 * batch * n_heads * length ^ 2
        ),
        "^ is no power in Python, even in brackets; write length ** 2.": (
            lambda batch, n_heads, length: 4 * batch * n_heads * (length ^ 2)
        ),
        "Twice the length is not its square; write length ** 2.": (
            lambda batch, n_heads, length: 8 * batch * n_heads * length
        ),
        "Queries, keys and values have no square each; a head has one table of weights.": (
            lambda batch, n_heads, length: 12 * batch * n_heads * length**2
        ),
        "You count eight bytes for a number; these are of four (float32).": (
            lambda batch, n_heads, length: 8 * batch * n_heads * length**2
        ),
        "You count two bytes for a number; these are of four (float32).": (
            lambda batch, n_heads, length: 2 * batch * n_heads * length**2
        ),
        "That is in bits; a byte is eight of them.": (
            lambda batch, n_heads, length: 32 * batch * n_heads * length**2
        ),
        "That counts each pair once; who looks and who is looked at are two different things, so "
        "there are length · length pairs.": (
            lambda batch, n_heads, length: 2 * batch * n_heads * length * (length + 1)
        ),
    },
)

# ── 13.4 ─────────────────────────────────────────────────────────────────────────────────────────


def mutation_score(P: Mapping[str, float], wild_type: str, mutant: str) -> float:
    """Return log P(mutant) − log P(wild type) at a masked place, in nats."""
    return math.log(P[mutant]) - math.log(P[wild_type])


def places(chance: random.Random) -> list[Probe]:
    """Make distributions over amino acids, and two of them, either as the mutant of the other."""
    probes: list[Probe] = []
    for _ in range(3):
        letters = chance.sample("ACDEFGHIKLMNPQRSTVWY", 5)
        odds = [chance.uniform(0.05, 1) for _ in letters]
        shares = {letter: odd / sum(odds) for letter, odd in zip(letters, odds, strict=True)}
        one, other = chance.sample(letters, 2)
        probes += [(shares, one, other), (shares, other, one)]
    return probes


check_mutation_score = Exercise(
    solution=mutation_score,
    wants=number,
    probes=places,
    solved="Below 0 the model finds the change less likely than what nature has there.",
    direction="log P[mutant] − log P[wild_type], with math.log.",
    mistakes={
        "It is the other way round: log P(mutant) − log P(wild type).": (
            lambda P, wild_type, mutant: -mutation_score(P, wild_type, mutant)
        ),
        "You subtract the probabilities; subtract their logarithms.": (
            lambda P, wild_type, mutant: P[mutant] - P[wild_type]
        ),
        "That is the ratio of the two; its logarithm is asked for.": (
            lambda P, wild_type, mutant: P[mutant] / P[wild_type]
        ),
        "That is right in bits; here it is in nats, so use math.log.": (
            lambda P, wild_type, mutant: mutation_score(P, wild_type, mutant) / math.log(2)
        ),
        "That is the ratio of the two, and the wrong way round: take the logarithm of P(mutant) / "
        "P(wild type).": lambda P, wild_type, mutant: P[wild_type] / P[mutant],
        "You divide the logarithms; subtract that of the wild type.": (
            lambda P, wild_type, mutant: math.log(P[mutant]) / math.log(P[wild_type])
        ),
        "A score has a sign, which says whether the change is likelier or not; leave out abs().": (
            lambda P, wild_type, mutant: abs(mutation_score(P, wild_type, mutant))
        ),
        "You add the logarithms; subtract that of the wild type.": (
            lambda P, wild_type, mutant: math.log(P[mutant]) + math.log(P[wild_type])
        ),
        "That is the mutant alone; compare it with the wild type.": (
            lambda P, wild_type, mutant: math.log(P[mutant])
        ),
        "That is what the mutant costs; compare it with what the wild type costs.": (
            lambda P, wild_type, mutant: -math.log(P[mutant])
        ),
        "That is the logarithm of a difference; take the difference of the logarithms.": (
            lambda P, wild_type, mutant: math.log(abs(P[mutant] - P[wild_type]))
        ),
        "That is to the base of ten; here it is in nats, so use math.log.": (
            lambda P, wild_type, mutant: mutation_score(P, wild_type, mutant) / math.log(10)
        ),
    },
)
