"""The exercises of notebook 13."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

from cloze.corpus import Corpus
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, in_short, kind_of, numbers
from cloze.teaching.texts import two_texts, world
from cloze.tokenizer import (
    START,
    Pair,
    Tokenizer,
    merge,
    pair_counts,
    shown,
    word_counts,
)
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
    facts = (
        f"Merge {k} is {is_first}, which occurs {counted(counts[pair], 'time')}; {should} occurs "
    )
    if counts[pair] > counts[wanted]:
        facts += f"{counted(counts[wanted], 'time')}."
    else:
        facts += "as often, and in a tie the pair whose first piece is older is merged."
    advice = {
        ("h", "e"): "Every *the* also contains *he*: add a word with *th* but without *he*.",
        (START, "t"): "Every word that begins with *t* has this pair. Put *th* inside other words.",
        (START, "th"): "Add a word that has *the* inside it, but does not begin with *th*.",
    }.get(pair, f"Make {should} more frequent, or leave out words with {is_first}.")
    raise Symptom(f"{facts} {advice}")


check_three_merges = Exercise(
    solution="the the bath other",
    minutes=10,
    solved="Only the counts decide, and not what a piece means.",
    judge=_judge_merges,
)

# ── 13.2 ─────────────────────────────────────────────────────────────────────────────────────────

FEWEST = 5
"""Pieces that the misspelt word has to fall into."""
FORM = 'Hand in a word and its misspelling, with a comma between them: ("garden", "gurden").'


@cache
def four_thousand() -> Tokenizer:
    """Train the notebook's tokenizer of 4,000 pieces."""
    return Tokenizer.train(" ".join(piece.text for piece in Corpus.load().train), vocab_size=4000)


def _judge_typo(answer: Any) -> str:
    word, typo = two_texts(answer, FORM)
    for one in (word, typo):
        if not re.fullmatch("[a-z]+", one):
            raise Symptom(f"{in_short(one)} is not one word of small letters. {FORM}")
    places = [i for i, (a, b) in enumerate(zip(word, typo, strict=False)) if a != b]
    if len(word) != len(typo) or len(places) != 1:
        raise Symptom(
            f"From {word!r} to {typo!r} it takes more than one other letter, or none. Replace "
            "exactly one letter of your word."
        )
    whole, cut = (shown(four_thousand().pieces(text)) for text in answer)
    if len(whole) > 1:
        raise Symptom(
            f"{word!r} is cut into {' '.join(whole)}, even without a typo. Take a word that is "
            "frequent enough to be one piece."
        )
    facts = f"{word!r} is one piece, and {typo!r} is cut into {' '.join(cut)}: {len(cut)}."
    if len(cut) < FEWEST:
        raise Symptom(
            f"{facts} It takes at least {FEWEST}. Which of these pieces is the longest, and which "
            "letter would break it?"
        )
    return facts


check_one_typo = Exercise(
    solution=("customer", "cuqtomer"),
    minutes=8,
    solved="You see one wrong letter. The model sees pieces that it has hardly ever met together.",
    judge=_judge_typo,
)

# ── 13.3 ─────────────────────────────────────────────────────────────────────────────────────────

Part = tuple[float, float, float]
"""Of some positions: the largest score m, Σ e^(score − m), and Σ e^(score − m) · value."""


def merged(a: Part, b: Part) -> Part:
    """Return the three numbers of two parts of a line together."""
    m = max(a[0], b[0])
    of_a, of_b = math.exp(a[0] - m), math.exp(b[0] - m)
    return m, of_a * a[1] + of_b * b[1], of_a * a[2] + of_b * b[2]


def two_parts(chance: Chance) -> Probes:
    """Make parts, with the larger score in either, some so large that e^score is not a number."""

    def part(around: float) -> Part:
        scores = [around + chance.randint(-16, 16) / 8 for _ in range(4)]  # exact in float32
        weights = [math.exp(score - max(scores)) for score in scores]
        return max(scores), sum(weights), sum(w * chance.uniform(-1, 3) for w in weights)

    for here, there in ((2, 0), (0, 1), (1, 1), (-3, 0), (900, 899), (-800, -799)):
        yield part(here), part(there)
    yield (1.5, 1.25, -2.0), (1.5, 2.0, 0.75)


check_merged = Exercise(
    solution=merged,
    minutes=15,
    wants=numbers("m", "s", "v"),
    probes=two_parts,
    solved="Three numbers are enough for a line of any length, so the table of weights is never "
    "needed.",
    direction="m is the larger of both. Multiply the other two numbers of each part by "
    "e^(its own m − the common m), and add.",
)

# ── 13.4 ─────────────────────────────────────────────────────────────────────────────────────────

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
HARMFUL = -1.0
"""Nats that each of the two mutations may score at most."""


class Mutations(NamedTuple):
    """Two mutations of a protein: what each scores alone, and what both score together."""

    wild_type: str
    mutant: str
    alone: tuple[float, float]
    both: float


def proteins(value: Any) -> dict[str, float]:
    """Read a family: proteins of the same length with their probabilities."""
    read = world(value)
    family = dict(zip(read.sentences, read.probabilities.tolist(), strict=True))
    for protein in family:
        if strange := sorted({*protein} - {*AMINO_ACIDS}):
            raise Symptom(
                f"{strange[0]!r} in {protein!r} is not an amino acid. There are twenty: "
                f"{AMINO_ACIDS}."
            )
    if len({len(protein) for protein in family}) > 1:
        raise Symptom("Give all proteins the same length, because a mutation only changes letters.")
    return family


def harmless_together(family: Mapping[str, float]) -> list[Mutations]:
    """Find all pairs of mutations, of the rarer protein, that make it no less probable together."""
    pairs = []
    for one, other in permutations(family, 2):
        places = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        single = [one[:i] + other[i] + one[i + 1 :] for i in places]
        known = all(family.get(protein) for protein in (one, other, *single))
        if len(places) == 2 and known and family[other] >= family[one]:
            first, second, both = (math.log(family[p] / family[one]) for p in (*single, other))
            pairs.append(Mutations(one, other, (first, second), both))
    return pairs


def _judge_two_wrongs(answer: Any) -> str:
    pairs = harmless_together(proteins(answer))
    if not pairs:
        raise Symptom(
            "No four of your proteins belong together: a wild type, two that each differ from it "
            "in one place, and the one that differs in both. All four need a probability above 0."
        )
    best = min(pairs, key=lambda pair: max(pair.alone))
    facts = (
        f"From {best.wild_type} to {best.mutant}, the two mutations score {best.alone[0]:.2f} and "
        f"{best.alone[1]:.2f} alone, which adds up to {sum(best.alone):.2f}, and both at once "
        f"score {best.both:.2f}."
    )
    if max(best.alone) > HARMFUL:
        raise Symptom(
            f"{facts} Each of them has to score {HARMFUL:.0f} or less alone. Make the proteins "
            "with only one of them rarer."
        )
    return facts


check_two_wrongs = Exercise(
    solution={"KVD": 0.4, "DVK": 0.4, "KVK": 0.1, "DVD": 0.1},
    minutes=12,
    solved="Each score is taken while the other place still has its old letter. What two places "
    "decide together, the sum of two scores cannot know.",
    judge=_judge_two_wrongs,
)
