"""The exercises of notebook 13."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
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
    mistakes=Mistakes(__name__, "most_frequent_pair"),
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


check_mask_whole_words = Exercise(
    solution=mask_whole_words,
    wants=_pieces,
    probes=pieces_and_words,
    solved="No piece of a hidden word is left to give it away.",
    direction="Count words at every piece that does not begin with ##, and hide by that number.",
    mistakes=Mistakes(__name__, "mask_whole_words"),
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
    mistakes=Mistakes(__name__, "attention_bytes"),
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
    mistakes=Mistakes(__name__, "mutation_score"),
)
