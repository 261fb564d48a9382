"""The exercises of notebook 13."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cloze.lessons.the_real_ones.tokenizer import (
    START,
    Pair,
    Tokenizer,
    merge,
    pair_counts,
    word_counts,
)
from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, Symptom, anything, kind_of, number
from cloze.vocabulary import counted

# ── 13.1 ─────────────────────────────────────────────────────────────────────────────────────────

WANTED = (("t", "h"), ("th", "e"), (START, "the"))
MOST_WORDS = 5


def _judge_merges(answer: Any) -> str:
    """Train on the learner's text, and say where its merges leave the way."""
    if not isinstance(answer, str):
        raise Symptom(f"You hand in {kind_of(answer)}; hand in a text, in quotes.")
    cut: dict[tuple[str, ...], int] = word_counts(answer)
    if not cut:
        raise Symptom("There is no word in your text.")
    if (n := len(answer.split())) > MOST_WORDS:
        raise Symptom(f"Your text has {n} words; at most {MOST_WORDS} are allowed.")
    if "the" not in answer.split():
        raise Symptom("The last merge makes the word *the*: it has to be in your text, as a word.")
    merges = Tokenizer.train(answer, vocab_size=len(set(START + answer)) + 4).merges
    for k, (pair, wanted) in enumerate(zip(merges, WANTED, strict=False)):
        if pair != wanted:
            _off_the_way(k + 1, pair_counts(cut), pair, wanted)
        cut = {merge(pieces, pair): n for pieces, n in cut.items()}
    return f"{', '.join('+'.join(pair) for pair in WANTED)}."


def _off_the_way(k: int, counts: Counter[Pair], pair: Pair, wanted: Pair) -> None:
    """Say how often both pairs occur, and which words would change that."""
    is_first, should = "+".join(pair), "+".join(wanted)
    seen = (
        f"Merge {k} is {is_first}, which occurs {counted(counts[pair], 'time')}; {should} occurs "
    )
    if counts[pair] > counts[wanted]:
        seen += f"{counted(counts[wanted], 'time')}."
    else:
        seen += "as often, and in a tie the pair whose first piece is older is merged."
    advice = {
        ("h", "e"): "Every *the* also contains *he*: add a word with *th* but without *he*.",
        (
            START,
            "t",
        ): "Every word that begins with *t* has this pair. Put *th* inside other words.",
        (START, "th"): "Add a word that has *the* inside it, but does not begin with *th*.",
    }.get(pair, f"Make {should} more frequent, or leave out words with {is_first}.")
    raise Symptom(f"{seen} {advice}")


check_three_merges = Exercise(
    solution="the the bath other",
    wants=anything,
    solved="Only the counts decide, and not what a piece means.",
    judge=_judge_merges,
    mistakes=Mistakes(__name__, "three_merges"),
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
    probes.append((["no", "#", "no", "##n", "##e", "##s", "c#"], [2]))
    return probes


def _pieces(value: object) -> list[str]:
    if isinstance(value, str):
        raise Symptom("You return a text; return the list of pieces.")
    if not isinstance(value, list | tuple):
        raise Symptom(f"Your answer is {kind_of(value)}; return a list of pieces.")
    for piece in value:
        if not isinstance(piece, str):
            raise Symptom(
                f"Your list contains {kind_of(piece)}; every piece is a text, and a hidden one is "
                '"[MASK]".'
            )
    return list(value)


check_mask_whole_words = Exercise(
    solution=mask_whole_words,
    wants=_pieces,
    probes=pieces_and_words,
    solved="No piece of a hidden word is left to give it away.",
    direction="A piece that does not begin with ## begins a new word: count these, and hide every "
    "piece whose word number is in `chosen`.",
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
    solved="Twice the length takes four times the memory.",
    direction="There is one weight for every pair of positions, in every head and every line, and "
    "each takes four bytes.",
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
    solved="A score below 0 says: the model finds the new letter less likely than the wild type.",
    direction="Take math.log of both probabilities, then subtract the wild type's from the "
    "mutant's.",
    mistakes=Mistakes(__name__, "mutation_score"),
)
