"""The exercises of notebook 05."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from cloze.prediction.answers import top_k
from cloze.prediction.predictors import MaskedPredictor, compare
from cloze.prediction.shipped import shipped_model
from cloze.reading import read_line
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, number
from cloze.teaching.texts import words_met
from cloze.vocabulary import GAP, VOCABULARY, counted, normalise, visible

# ── 5.1 ──────────────────────────────────────────────────────────────────────────────────────────

SHOWN = (
    "the cat sat",
    "she asked a question about the weather",
    "the cat slept on the chair",
    "we had fun at the party",
)
"""Lines of the notebook and of its exercise; a finding should be the learner's own."""

RARE = 30
"""How often the models met a word, at least, if they know it well."""

FORM = 'Hand in a line and a position with a comma between them: ("the line in full", 4).'


def finding(value: Any) -> tuple[str, int]:
    """Read a line, as it was typed, and a position."""
    if not (isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], str)):
        raise Symptom(FORM)
    line, position = value
    if isinstance(position, bool) or not hasattr(position, "__index__"):
        raise Symptom(
            f"Your position is {position!r}; it must be one whole number, counted from 0 at the "
            "beginning of the line."
        )
    return line, int(position)


def _marked(text: str, at: int) -> str:
    return f"{text[:at]}[{text[at]}]{text[at + 1 :]}".replace("\n", visible("\n"))


def _judge_finding(answer: Any) -> str:
    line, at = finding(answer)
    if not normalise(line, keep=GAP).text.strip():
        raise Symptom(
            "Your line holds no letters: the model reads a to z and spaces, and everything else is "
            f"dropped. {FORM}"
        )
    input_ids, _ = read_line(line)
    text = VOCABULARY.decode(input_ids, gap=GAP)
    if GAP in text or "[" in line:
        raise Symptom(
            "Write the line in full, without a gap or brackets; the position says what is hidden."
        )
    if text in SHOWN:
        raise Symptom(f"The line {text!r} is the notebook's; find one of your own.")
    if at < 0:
        raise Symptom(
            f"Your position is {at}; count from the beginning of the line, whose first character "
            "has position 0."
        )
    if at >= len(text):
        raise Symptom(
            f"{text!r} has the positions 0 to {len(text) - 1}, and {at} is not one of them."
        )
    answers = compare(text, [at])
    p = {name: math.exp(-(answers[name].cost(at) or 0.0)) for name in answers}
    shown = ", ".join(f"{name} {p[name]:.2f}" for name in ("left", "right", "both"))
    shown = f"{_marked(text, at)}: {shown}."
    if p["left"] < 0.1 and p["right"] >= 0.5 and p["both"] >= 0.9:
        return shown
    _misplaced(line, text, at)
    raise Symptom(f"{shown} {_why_not_found(text, at, p)}")


def _misplaced(line: str, text: str, at: int) -> None:
    """Tell if another position is likely to be meant."""
    typed = line[at : at + 1]
    meant = len(normalise(line[:at] + "x", keep=GAP).text) - 1
    if typed and meant < len(text) and meant != at:
        raise Symptom(
            f"The model reads your line as {text!r}, because accents, signs and double spaces are "
            f"simplified, so position {at} is {_marked(text, at)}. The {typed!r} that has "
            f"position {at} in what you typed has position {meant} there: {_marked(text, meant)}."
        )


def _why_not_found(text: str, at: int, p: Mapping[str, float]) -> str:
    """Say which of the three conditions fails, and where to look."""
    if at == len(text) - 1:
        return (
            "There is nothing to the right of your gap, so the right side cannot know it: choose a "
            "letter that has the rest of its word after it."
        )
    if text[at].isspace():
        return (
            "Your position is that of a space. The right side sees that a word begins, but not "
            "where another ended. Try the first letter of a word."
        )
    if p["left"] >= 0.1:
        begins = not text[:at] or text[at - 1].isspace()
        advice = "Put another word before it" if begins else "Try the first letter of a word"
        return (
            f"The left side gives {p['left']:.2f} and must give less than 0.10: what comes before "
            f"your gap already suggests the letter. {advice}."
        )
    side, reader, least = (
        ("right", "The right side", 0.5) if p["right"] < 0.5 else ("both", "The encoder", 0.9)
    )
    guesses = top_k(compare(text, [at])[side][at], 2)
    rival, given = next((letter, q) for letter, q in guesses if letter != text[at])
    word = next(m[0] for m in re.finditer(r"\S+", text) if m.end() > at)
    met = words_met()[word]
    advice = "Try another place in the word, or another word."
    if met < RARE:
        advice = (
            f"And how well do the models know {word!r}? They met it {counted(met, 'time')} in "
            "training. Try an everyday word."
        )
    return (
        f"{reader} gives {p[side]:.2f} and needs {least:.2f}, and {visible(rival)} gets "
        f"{given:.2f}. Would that fit as well? {advice}"
    )


check_right_finding = Exercise(
    solution=("it seemed a silly question to ask", 18),
    minutes=10,
    solved="A model that reads from left to right could not have known.",
    judge=_judge_finding,
)
"""Mark a line and a position that only the right side can fill."""


# ── 5.3 ──────────────────────────────────────────────────────────────────────────────────────────

Frequencies = Mapping[str, float]


def bet_price(letter: str, sure: float, truth: str, frequencies: Frequencies) -> float:
    """Return what a bet costs in nats: −log of the probability that the truth got from it."""
    others = (1 - sure) * frequencies[truth] / (1 - frequencies[letter])
    return -math.log(sure if letter == truth else others)


def bets(chance: Chance) -> Probes:
    """Make bets that are right and wrong, with frequencies that are drawn apart from the first."""
    frequencies = first = {"e": 0.4, "t": 0.3, "a": 0.2, "q": 0.1}
    sure = 0.8
    for _ in range(3):
        letter, *_, truth = frequencies
        yield letter, sure, letter, frequencies
        yield letter, sure, truth, frequencies
        letters = chance.sample("abcdehinorst", chance.randint(5, 8))
        counts = [chance.randint(1, 30) for _ in letters]
        frequencies = {c: n / sum(counts) for c, n in zip(letters, counts, strict=True)}
        sure = chance.choice([0.1, 0.25, 0.35, 0.6, 0.7, 0.9])
    yield "e", 0.2, "e", first  # less sure of a letter than it is frequent
    yield "e", 0.2, "q", first
    yield "e", 0.999, "q", first  # expensive, but finite
    yield "e", 0.5, "t", {"e": 0.5, "t": 0.5}


check_bet_price = Exercise(
    solution=bet_price,
    minutes=8,
    wants=number,
    probes=bets,
    solved="Being sure and right is cheap, being sure and wrong is expensive, and no bet costs "
    "infinity.",
    direction="The truth got `sure` if it is the letter; if not, its share of 1 - sure: "
    "frequencies[truth] of the 1 - frequencies[letter] that the others have. The "
    "cost is −log of it.",
)
"""Mark ``bet_price(letter, sure, truth, frequencies)``: what a bet costs, in nats."""


# ── 5.2 ──────────────────────────────────────────────────────────────────────────────────────────

TRIED = "sailed to the _ _ of america"
TWO_GAPS = 'Hand in one sentence in quotes with two gaps beside each other, such as "… _ _ …".'
LIKELIEST = 2000
"""Among how many pairs filled in together the best pair of two separate guesses is looked for."""


def _judge_apart(answer: Any) -> str:
    if not isinstance(answer, str):
        raise Symptom(TWO_GAPS)
    words = MaskedPredictor(shipped_model("words"))
    line, _ = words.symbols.read(answer, words.max_len)
    gaps = [i for i, piece in enumerate(line) if piece == GAP]
    if len(gaps) != 2:
        raise Symptom(f"Your sentence has {counted(len(gaps), 'gap')}. {TWO_GAPS}")
    if between := line[gaps[0] + 1 : gaps[1]]:
        raise Symptom(f"Your gaps are not beside each other: {between[0]!r} is between. {TWO_GAPS}")
    if len(line) < 6:
        raise Symptom("Write at least four words around the gaps, so that something can be known.")
    if TRIED in words.symbols.write(line):
        raise Symptom("This is the notebook's sentence; find one of your own.")
    first_gap, second_gap = gaps
    apart, together = words.pairs(line, gaps, first_gap, second_gap, LIKELIEST)
    (separate, _), (best, p) = apart[0], together[0]
    first, second = " ".join(separate), " ".join(best)
    if separate == best:
        raise Symptom(
            f"Both ways find {first!r}. Which two words would you know at once to belong "
            "together, although each could go with something else?"
        )
    other = dict(together).get(separate, 0.0)
    shown = f"Apart {first!r}, together {second!r}"
    if 2 * other > p:
        raise Symptom(
            f"{shown}. But filled in together, {first!r} gets {other:.3f} and {second!r} {p:.3f}, "
            "which is less than twice as much. Try a sentence in which the two words need each "
            "other more."
        )
    return f"{shown}."


check_apart = Exercise(
    solution="He came home at _ _ in the evening.",
    minutes=8,
    solved="Each gap was guessed as if nobody knew what the other one holds.",
    judge=_judge_apart,
)
"""Mark a sentence whose two gaps are filled in another way apart than together."""
