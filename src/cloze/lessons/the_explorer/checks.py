"""The exercises of notebook 05."""

from __future__ import annotations

import math
from typing import Any

from cloze.checks import check_bet_price, check_hide_right
from cloze.prediction import compare
from cloze.teaching.exercise import Exercise, Symptom, anything, number
from cloze.vocabulary import GAP, VOCABULARY, TextError, counted, normalise, read_line, visible

__all__ = ["check_bet_price", "check_hide_right", "check_right_finding"]

# ── 5.1 ──────────────────────────────────────────────────────────────────────────────────────────

SHOWN = (
    "the cat sat",
    "she asked a question about the weather",
    "the cat slept on the chair",
    "we had fun at the party",
)
"""Lines of the notebook and of its exercise; a finding should be the learner's own."""

FORM = 'Hand in a line and a position with a comma between them: ("the line in full", 4).'


def finding(value: Any) -> tuple[str, int]:
    """Read a line, as it was typed, and a position."""
    if isinstance(value, str):
        raise Symptom(f"You hand in a text without a position. {FORM}")
    if not isinstance(value, tuple | list):
        raise Symptom(f"You hand in an object of type {type(value).__name__}. {FORM}")
    if len(value) != 2:
        raise Symptom(f"You hand in {counted(len(value), 'thing')} instead of two. {FORM}")
    line, position = value
    if isinstance(position, str) and not isinstance(line, str):
        raise Symptom(f"The line comes first and the position second. {FORM}")
    if not isinstance(line, str):
        raise Symptom(
            f"Your line is of type {type(line).__name__}; write it as text, in quotes. {FORM}"
        )
    try:
        at = number(position)
    except Symptom:
        kind = type(position).__name__
        raise Symptom(
            f"Your position is of type {kind}; give one whole number, without quotes, counted from "
            "0 at the beginning of the line."
        ) from None
    if not hasattr(position, "__index__"):
        raise Symptom(
            f"Your position is {position}; a position is a whole number without a point, counted "
            "from 0 at the beginning of the line."
        )
    return line, int(at)


def _given_by(text: str, at: int) -> dict[str, float]:
    """Return the probability that each model gives the truth at a position."""
    answers = compare(text, [at])
    return {name: math.exp(-(answers[name].cost(at) or 0.0)) for name in answers.predictions}


def _is_found(p: dict[str, float]) -> bool:
    return p["left"] < 0.1 and p["right"] >= 0.5 and p["both"] >= 0.9


def _marked(text: str, at: int) -> str:
    return f"{text[:at]}[{text[at]}]{text[at + 1 :]}".replace("\n", visible("\n"))


def _judge_finding(answer: Any) -> None:
    line, at = finding(answer)
    try:
        input_ids, _ = read_line(line)
    except TextError as error:
        raise Symptom(str(error)) from None
    text = VOCABULARY.decode(input_ids, gap=GAP)
    if GAP in text:
        raise Symptom("Write the line in full, without a gap; the position says what is hidden.")
    if text in SHOWN:
        raise Symptom(f"The line {text!r} is the notebook's; find one of your own.")
    if at < 0:
        raise Symptom(
            f"Your position is {at}; count from the beginning of the line, whose first character "
            "has position 0."
        )
    if at >= len(text):
        raise Symptom(f"{text!r} has the positions 0 to {len(text) - 1}, and {at} is none of them.")
    p = _given_by(text, at)
    if not _is_found(p):
        _misplaced(line, text, at)
        _not_found(text, at, p)


def _misplaced(line: str, text: str, at: int) -> None:
    """Tell if another position is likely to be meant."""
    typed = line[at : at + 1]
    meant = len(normalise(line[:at] + "x", keep=GAP).text) - 1
    if typed and meant < len(text) and meant != at:
        raise Symptom(
            f"The model reads your line as {text!r}, for accents, signs and double spaces are "
            f"reduced, so position {at} is {_marked(text, at)}. The {typed!r} that has "
            f"position {at} in what you typed has position {meant} there: {_marked(text, meant)}."
        )
    for near, advice in (
        (at - 1, "do you count from 1?"),
        (at + 1, "is your position one too small?"),
    ):
        if 0 <= near < len(text) and _is_found(_given_by(text, near)):
            raise Symptom(
                f"Position {at} is {_marked(text, at)}, beside a gap that would do: {advice} The "
                "first character of the line has position 0."
            )


def _not_found(text: str, at: int, p: dict[str, float]) -> None:
    """Tell which of the three conditions fails."""
    seen = (
        f"{_marked(text, at)}: left {p['left']:.2f}, right {p['right']:.2f}, both {p['both']:.2f}."
    )
    if at == len(text) - 1:
        raise Symptom(
            f"{seen} Nothing stands to the right of your gap, so the right side cannot know it: "
            "choose a letter with the rest of its word behind it."
        )
    if text[at].isspace():
        raise Symptom(
            f"{seen} Your position is that of a space; the right side sees that a word begins, but "
            "not where another ended. Try the first letter of a word."
        )
    if p["left"] >= 0.1:
        raise Symptom(
            f"{seen} The left side is not surprised enough, it must give less than 0.10: what "
            "comes before your gap already suggests the letter. Try the first letter of a word."
        )
    if p["right"] < 0.5:
        raise Symptom(
            f"{seen} The right side does not find it either, it must give 0.50 or more: what "
            "follows your gap fits other letters as well. Try a word in which no other letter "
            "could stand there."
        )
    raise Symptom(
        f"{seen} With both sides the model should be sure, 0.90 or more. Try a longer or more "
        "common word, in a line of plain English with its spaces."
    )


check_right_finding = Exercise(
    solution=("it seemed a silly question to ask", 18),
    wants=anything,
    solved="Less than 0.1 from the left, 0.5 or more from the right, 0.9 or more from both: a "
    "model that reads from left to right could not have known.",
    judge=_judge_finding,
    mistakes={
        "a text without a position": "he sat up very straight in his chair",
        "an object of type dict": {"he sat up very straight in his chair": 10},
        "3 things instead of two": ("he sat up very straight in his chair", 10, "v"),
        "The line comes first": (10, "he sat up very straight in his chair"),
        "Your line is of type Tensor": (VOCABULARY.encode("he sat up very straight"), 10),
        "Your position is of type bool": ("very straight in his chair", False),
        "Your position is of type str": ("he sat up very straight in his chair", "10"),
        "Your position is of type list": ("he sat up very straight in his chair", [10]),
        "Your position is 10.0": ("he sat up very straight in his chair", 10.0),
        "Your position is -26": ("he sat up very straight in his chair", -26),
        "0 to 35, and 40": ("he sat up very straight in his chair", 40),
        "The line is empty": ("", 0),
        "the model reads 64": ("he sat up very straight in his chair " * 2, 10),
        "without a gap": ("he sat up _ery straight in his chair", 10),
        "'the cat sat' is the notebook's": ("the cat sat", 4),
        "about the weather' is the notebook's": ("She asked a question about the weather.", 12),
        "position 11 is he sat up v[e]ry straight in his chair. The": (
            "he, sat up very straight in his chair",
            11,
        ),
        "do you count from 1?": ("he sat up very straight in his chair", 11),
        "is your position one too small?": ("he sat up very straight in his chair", 9),
        "Nothing stands to the right": ("v", 0),
        "Your position is that of a space": ("he sat in the kitchen", 9),
        "not surprised enough": ("he said nothing about the letter", 14),
        "fits other letters": ("the cat slept on the sofa", 4),
        "With both sides the model should be sure": ("he asked the teacher a question", 0),
    },
)
"""Mark a line and a position that only the right side can fill."""
