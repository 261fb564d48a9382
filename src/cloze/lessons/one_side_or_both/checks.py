"""The exercises of notebook 07."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from cloze.causal import log_posterior, shipped_causal
from cloze.corpus import Corpus
from cloze.prediction import predict, shipped_model, top_k
from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, Symptom, anything, kind_of, number, tensor
from cloze.vocabulary import GAP, VOCABULARY, TextError, counted, read_line, visible

# ── 7.1 ──────────────────────────────────────────────────────────────────────────────────────────

Next = Mapping[str, Mapping[str, float]]
"""By what stands there already, the probability of each next word."""


def chain_cost(P: Next, words: Sequence[str]) -> float:
    """Add up −log P(word | all words before it) over the words of a sentence, in nats."""
    return -sum(math.log(P[" ".join(words[:i])][word]) for i, word in enumerate(words))


def sentences(chance: random.Random) -> list[Probe]:
    """Make sentences, some with a word twice, and what may come next after many beginnings."""
    probes: list[Probe] = []
    for length in (3, 4, 1, 5, 3):
        words = [chance.choice(["dog", "cat", "barks", "sleeps", "here"]) for _ in range(length)]
        if length > 3:
            words[-1] = words[0]
        beginnings = [" ".join(words[:i]) for i in range(length + 1)]
        table = {}
        for beginning in dict.fromkeys([*beginnings, *words]):
            odds = {word: chance.uniform(0.1, 1) for word in dict.fromkeys([*words, "owl"])}
            table[beginning] = {word: p / sum(odds.values()) for word, p in odds.items()}
        probes.append((table, words))
    return probes


check_chain_cost = Exercise(
    solution=chain_cost,
    wants=number,
    probes=sentences,
    solved="The costs add because the probabilities multiply: that is the chain rule.",
    direction="Add up −math.log of P[the words before, joined by spaces][the word] for every word.",
    mistakes=Mistakes(__name__, "chain_cost"),
)

# ── 7.2 ──────────────────────────────────────────────────────────────────────────────────────────


def one_place_late(windows: Tensor, first: int) -> Tensor:
    """Move every line to the right by one place, behind the id ``first``; the last id falls out."""
    late = windows.roll(1, dims=1)
    late[:, 0] = first
    return late


def windows_to_move(chance: random.Random) -> list[Probe]:
    """Make windows of ids of several shapes, and the id that comes first."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    return [
        (torch.randint(28, shape, generator=source), first)
        for shape, first in (((2, 6), 28), ((1, 9), 28), ((3, 5), 0), ((4, 4), 28))
    ]


check_one_place_late = Exercise(
    solution=one_place_late,
    wants=tensor(torch.long),
    probes=windows_to_move,
    solved="At place i stands what came before x_i, so x_i can be asked about and is not seen.",
    direction="Put a column of `first` in front of windows[:, :-1].",
    mistakes=Mistakes(__name__, "one_place_late"),
)

# ── 7.3 ──────────────────────────────────────────────────────────────────────────────────────────

FORM = 'Hand in a line with one gap, and the letter in it: ("the c_t sat on the mat", "a").'


@cache
def words_of_training() -> frozenset[str]:
    """Return all words of the text that both models were trained on."""
    return frozenset(VOCABULARY.decode(Corpus.load().train_ids).split())


def line_and_letter(value: Any) -> tuple[str, int, int]:
    """Read a line with a gap and the letter in it: the line in full, the gap, the letter's id."""
    kinds = [type(part) for part in value] if isinstance(value, tuple | list) else []
    if kinds == [str, int]:
        raise Symptom(f"With the line you hand in {value[1]}; the letter itself is needed. {FORM}")
    if kinds != [str, str]:
        raise Symptom(f"You hand in {kind_of(value)}. {FORM}")
    typed, letter = value
    if not re.fullmatch("[a-z]", letter):
        raise Symptom(f"What belongs into your gap is one small letter, and not {letter!r}. {FORM}")
    try:
        line = VOCABULARY.decode(read_line(typed)[0], gap=GAP)
    except TextError as error:
        raise Symptom(str(error)) from None
    if line.count(GAP) != 1:
        raise Symptom(
            f"Your line has {counted(line.count(GAP), 'gap')}: put one _ in the place of one "
            "letter, and leave all others in sight."
        )
    text = line.replace(GAP, letter)
    for word in text.split():
        if word not in words_of_training():
            raise Symptom(
                f"With your letter the line has the word {word!r}, which is nowhere in the text "
                "that both models were trained on. Take words that they have met."
            )
    return text, line.index(GAP), VOCABULARY.ids[letter]


def _judge_only_bayes(answer: Any) -> str:
    text, gap, letter = line_and_letter(answer)
    line = VOCABULARY.encode(text)
    bayes = log_posterior(shipped_causal(), line, [gap]).exp()
    look = predict(shipped_model(), line, [gap])[gap]
    seen = f"{text[:gap]}[{text[gap]}]{text[gap + 1 :]}. "
    for way, p in (("Bayes' rule", bayes), ("One look of the masked model", look)):
        [best] = top_k(p, 1)
        own = f", and {text[gap]!r} {p[letter]:.2f}" * (best.character != text[gap])
        seen += f"{way}: {visible(best.character)!r} {best.probability:.2f}{own}. "
    if bayes.argmax() != letter:
        found = visible(VOCABULARY.symbols[int(bayes.argmax())])
        if bayes.argmax() != look.argmax():
            raise Symptom(
                f"{seen}Your letter is not the one that Bayes' rule finds. Hand in the letter that "
                f"really belongs there. Only if that is not {found!r}, look for another line."
            )
        raise Symptom(
            f"{seen}Both fill your gap with {found!r}. Look for another line, in which what comes "
            "after the gap rules out the other candidates."
        )
    if look.argmax() == letter:
        raise Symptom(
            f"{seen}The masked model fills it rightly, too: try a letter whose neighbours allow "
            "several, while the words around it allow one."
        )
    return seen.rstrip()


check_only_bayes = Exercise(
    solution=("it was a cold and _ark night", "d"),
    wants=anything,
    solved="Bayes' rule has tried every candidate to the end of the line.",
    judge=_judge_only_bayes,
    mistakes=Mistakes(__name__, "only_bayes"),
)
"""Mark a line and a letter that Bayes' rule finds and the masked model does not."""

# ── 7.4 ──────────────────────────────────────────────────────────────────────────────────────────


def posterior(costs: Mapping[str, float]) -> dict[str, float]:
    """Return P(candidate | the rest of the line) from the cost of the line with each candidate."""
    least = min(costs.values())
    weights = {candidate: math.exp(least - cost) for candidate, cost in costs.items()}
    total = sum(weights.values())
    return {candidate: weight / total for candidate, weight in weights.items()}


def lines_scored(chance: random.Random) -> list[Probe]:
    """Make costs of short lines, by what stands in their gap."""
    return [
        ({c: round(base + chance.uniform(0, 4), 3) for c in chance.sample("abcdeo", n)},)
        for base, n in ((20, 3), (12, 4), (3, 2), (30, 5), (8, 3))
    ]


def probabilities_by_name(value: object) -> dict[str, float]:
    """Read a dict of probabilities."""
    if not isinstance(value, dict):
        raise Symptom(
            f"Your answer is {kind_of(value)}; what is asked for is a dict with the probability of "
            "each candidate: {candidate: probability, …}."
        )
    return {str(key): number(p) for key, p in value.items()}


check_posterior = Exercise(
    solution=posterior,
    wants=probabilities_by_name,
    probes=lines_scored,
    solved="Each line's probability, divided by the sum over all candidates: Bayes' rule.",
    direction="P(line) is e^−cost; divide each by the sum of all of them.",
    limits={
        "With long lines it fails, though: e^−800 is 0 as a float, and all shares come out as 0/0. "
        "Subtract the least cost from all of them first; that divides out.": (
            {"a": 800.0, "b": 801.0},
        ),
    },
    mistakes=Mistakes(__name__, "posterior"),
)
