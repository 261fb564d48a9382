"""The exercises of notebook 05."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from cloze.prediction import compare
from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, Symptom, anything, number, tensor
from cloze.vocabulary import GAP, VOCABULARY, TextError, counted, normalise, read_line, visible

Function = Callable[..., Any]

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
    return {name: math.exp(-(answers[name].cost(at) or 0.0)) for name in answers}


def _is_found(p: dict[str, float]) -> bool:
    return p["left"] < 0.1 and p["right"] >= 0.5 and p["both"] >= 0.9


def _marked(text: str, at: int) -> str:
    return f"{text[:at]}[{text[at]}]{text[at + 1 :]}".replace("\n", visible("\n"))


def _judge_finding(answer: Any) -> str:
    line, at = finding(answer)
    if not normalise(line, keep=GAP).text.strip():
        raise Symptom(
            "Your line holds no letters: the model reads a to z and spaces, and everything else is "
            f"dropped. {FORM}"
        )
    try:
        input_ids, _ = read_line(line)
    except TextError as error:
        raise Symptom(str(error)) from None
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
        raise Symptom(f"{text!r} has the positions 0 to {len(text) - 1}, and {at} is none of them.")
    p = _given_by(text, at)
    if not _is_found(p):
        _misplaced(line, text, at)
        _not_found(text, at, p)
    return _shown(text, at, p)


def _shown(text: str, at: int, p: dict[str, float]) -> str:
    """Say what each model gives the truth."""
    return (
        f"{_marked(text, at)}: left {p['left']:.2f}, right {p['right']:.2f}, both {p['both']:.2f}."
    )


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
    seen = _shown(text, at, p)
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
    solved="A model that reads from left to right could not have known.",
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
        "Your line holds no letters": ("12 345", 0),
        "the model reads 64": ("he sat up very straight in his chair " * 2, 10),
        "without a gap": ("he sat up _ery straight in his chair", 10),
        "or brackets": ("he sat up [v]ery straight in his chair", 10),
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


# ── 5.2 ──────────────────────────────────────────────────────────────────────────────────────────


def hide_right(input_ids: Tensor, position: int) -> Tensor:
    """Return a copy of a line, ``(length,)``, with ``[MASK]`` right of a position."""
    hidden = input_ids.clone()
    hidden[position + 1 :] = VOCABULARY.mask_id
    return hidden


def lines_and_positions(chance: random.Random) -> list[Probe]:
    """Make lines of several lengths, with positions in the middle and at both ends."""

    def line(length: int) -> Tensor:
        return torch.tensor(chance.sample(range(2, 26), length))

    middle = chance.randrange(4, 7)
    return [(line(6), 2), (line(10), middle), (line(7), 6), (line(8), 0), (line(9), 4)]


def _hiding(chosen: Callable[[Tensor, int], Tensor], value: Any = VOCABULARY.mask_id) -> Function:
    """Hide other places than those right of the position, or hide them otherwise."""
    return lambda input_ids, position: input_ids.masked_fill(
        chosen(torch.arange(len(input_ids)), position), value
    )


def _from(start: Callable[[int, int], int], value: Any = VOCABULARY.mask_id) -> Function:
    """Hide from another index on, of position and length, as a slice does."""

    def hide(input_ids: Tensor, position: int) -> Tensor:
        hidden = input_ids.clone()
        hidden[start(position, len(input_ids)) :] = value
        return hidden

    return hide


def _append(input_ids: Tensor, *end: int) -> Tensor:
    return torch.cat([input_ids, torch.tensor(end)])


def _only_next(input_ids: Tensor, position: int) -> Tensor:
    hidden = input_ids.clone()
    hidden[position + 1] = VOCABULARY.mask_id
    return hidden


check_hide_right = Exercise(
    solution=hide_right,
    wants=tensor(torch.long),
    probes=lines_and_positions,
    parts=lambda input_ids, position: {
        "what is left of the position": torch.arange(len(input_ids)) < position,
        "the position itself": torch.arange(len(input_ids)) == position,
        "its right neighbour": torch.arange(len(input_ids)) == position + 1,
        "what is further to the right": torch.arange(len(input_ids)) > position + 1,
    },
    solved="Now the encoder sees no more than the left twin does.",
    direction="In a clone of the line, everything from position + 1 on becomes VOCABULARY.mask_id.",
    mistakes={
        "You return the line as it was: does the result get lost? masked_fill, for one, changes "
        "nothing by itself; it returns a copy.": lambda input_ids, position: input_ids,
        "You hide the position itself, too; begin one further to the right, at position + 1.": (
            _hiding(lambda i, at: i >= at)
        ),
        "The first neighbour on the right is still to be seen; begin at position + 1.": (
            _hiding(lambda i, at: i > at + 1)
        ),
        "You hide the left neighbour and the position itself, too; begin at position + 1.": (
            _from(lambda at, length: max(at - 1, 0))
        ),
        "You hide the left side; the right one begins at position + 1.": (
            _hiding(lambda i, at: i < at)
        ),
        "You hide the left side, and the position itself; the right one begins at position + 1.": (
            _hiding(lambda i, at: i <= at)
        ),
        "You hide both sides; the left one stays.": _hiding(lambda i, at: i != at),
        "You hide the position alone; hide everything to the right of it.": (
            _hiding(lambda i, at: i == at)
        ),
        "You hide everything; what is left of the position, and itself, stays.": (
            _hiding(lambda i, at: i >= 0)
        ),
        "You hide one neighbour; hide everything to the right. Is a `return` or `break` inside a "
        "loop?": _hiding(lambda i, at: i == at + 1),
        "You write to one place, position + 1, which the last position does not even have; a slice "
        "with a colon, [position + 1:], is everything to the right.": _only_next,
        "You hide the two neighbours; the left side stays, and all of the right one is hidden.": (
            _hiding(lambda i, at: abs(i - at) == 1)
        ),
        "You hide from position 3 on, as in the hint; here it is position + 1.": (
            _from(lambda at, length: 3)
        ),
        "You hide from position 2 on, whatever `position` is; begin at position + 1.": (
            _from(lambda at, length: 2)
        ),
        "You hide as many at the end as `position` says; hide from position + 1 on.": (
            _from(lambda at, length: length - at)
        ),
        "A minus before an index counts from the end; hide from position + 1 on.": (
            _from(lambda at, length: -at)
        ),
        "With the last position you hide everything: nothing stands right of it, and [-0:] is the "
        "whole line. Count from the left, [position + 1:].": (
            _from(lambda at, length: at + 1 if at + 1 < length else 0)
        ),
        "With the last position you hide that position; nothing stands right of it, so nothing "
        "changes.": _from(lambda at, length: min(at + 1, length - 1)),
        "The last character stays to be seen: [position + 1:-1] ends before it.": (
            _hiding(lambda i, at: (i > at) & (i < len(i) - 1))
        ),
        "You hide the position itself, too, and the last character stays to be seen: [position + "
        "1:], with nothing after the colon.": _hiding(lambda i, at: (i >= at) & (i < len(i) - 1)),
        "You hide two neighbours; hide everything to the right.": (
            _hiding(lambda i, at: (i == at + 1) | (i == at + 2))
        ),
        "Your left side has become 0; where nothing is hidden, the ids of the line stay.": (
            lambda input_ids, position: (
                (torch.arange(len(input_ids)) > position) * VOCABULARY.mask_id
            )
        ),
        "You add the id of [MASK] to the ids; put it in their place.": (
            lambda input_ids, position: (
                input_ids + (torch.arange(len(input_ids)) > position) * VOCABULARY.mask_id
            )
        ),
        "You repeat the character at the position; hide with VOCABULARY.mask_id.": (
            lambda input_ids, position: _hiding(lambda i, at: i > at, input_ids[position])(
                input_ids, position
            )
        ),
        "Your loop goes beyond the end of the line: range(position + 1, len(input_ids)) does "
        "not.": lambda input_ids, position: input_ids[len(input_ids)],
        "You compare the ids with the position; compare places, torch.arange(len(input_ids)) > "
        "position.": lambda input_ids, position: input_ids.masked_fill(
            input_ids > position, VOCABULARY.mask_id
        ),
        "You compare the ids with that at the position; compare places, "
        "torch.arange(len(input_ids)) > position.": lambda input_ids, position: (
            input_ids.masked_fill(input_ids > input_ids[position], VOCABULARY.mask_id)
        ),
        **{
            f"You hide with {value}; the id of [MASK] is VOCABULARY.mask_id.": (
                _hiding(lambda i, at: i > at, value)
            )
            for value in (0, 1, 26, 27, 29, 103, -1)
        },
        "You hide with -100, which is what labels hold where nothing is asked; an input holds the "
        "id of [MASK], VOCABULARY.mask_id.": _hiding(lambda i, at: i > at, -100),
        "'[MASK]' is a text, and the line holds ids; that of [MASK] is VOCABULARY.mask_id.": (
            _hiding(lambda i, at: i > at, "[MASK]")
        ),
        "You put the text '[MASK]' into a tensor of ids; its id is VOCABULARY.mask_id.": (
            _from(lambda at, length: at + 1, "[MASK]")
        ),
        "You cut off the right side; hide it: the line keeps its length.": (
            lambda input_ids, position: input_ids[: position + 1]
        ),
        "You cut off the right side and the position; hide what is right of it: the line keeps its "
        "length.": lambda input_ids, position: input_ids[:position],
        "You return the right side alone; return the whole line, with [MASK] there.": (
            lambda input_ids, position: input_ids[position + 1 :]
        ),
        "You return the right side alone, as [MASK]; return the whole line, the left side with "
        "it.": lambda input_ids, position: hide_right(input_ids, position)[position + 1 :],
        "You put one [MASK] in place of the right side; it needs one for every character.": (
            lambda input_ids, position: _append(input_ids[: position + 1], VOCABULARY.mask_id)
        ),
        "Your line is one too short: the right side has len(input_ids) - position - 1 places.": (
            lambda input_ids, position: hide_right(input_ids, position)[:-1]
        ),
        "Your line is one too long: the right side has len(input_ids) - position - 1 places.": (
            lambda input_ids, position: _append(hide_right(input_ids, position), VOCABULARY.mask_id)
        ),
        "You return which places are hidden; return the line with [MASK] there.": (
            lambda input_ids, position: torch.arange(len(input_ids)) > position
        ),
        "You return the places that are hidden; return the line with [MASK] there.": (
            lambda input_ids, position: torch.arange(position + 1, len(input_ids))
        ),
        "You return text; return the ids.": lambda input_ids, position: VOCABULARY.decode(
            hide_right(input_ids, position)
        ),
        "Your places have the length 64 of the notebook's windows; take that of the line, "
        "len(input_ids).": lambda input_ids, position: input_ids.masked_fill(
            torch.arange(64) > position, VOCABULARY.mask_id
        ),
    },
)
"""Mark ``hide_right(input_ids, position)``: ``[MASK]`` at every position right of one."""


# ── 5.3 ──────────────────────────────────────────────────────────────────────────────────────────

Frequencies = Mapping[str, float]


def bet_price(letter: str, sure: float, truth: str, frequencies: Frequencies) -> float:
    """Return what a bet costs in bits: −log₂ of the probability that the truth got from it."""
    return -math.log2(_probability(letter, sure, truth, frequencies))


def _probability(letter: str, sure: float, truth: str, frequencies: Frequencies) -> float:
    if letter == truth:
        return sure
    return (1 - sure) * frequencies[truth] / (1 - frequencies[letter])


def bets(chance: random.Random) -> list[Probe]:
    """Make bets that are right and wrong, with frequencies that are drawn apart from the first."""
    probes: list[Probe] = []
    frequencies = {"e": 0.4, "t": 0.3, "a": 0.2, "q": 0.1}
    sure = 0.8
    for _ in range(3):
        letter, *_, truth = frequencies
        probes += [(letter, sure, letter, frequencies), (letter, sure, truth, frequencies)]
        letters = chance.sample("abcdehinorst", chance.randint(5, 8))
        counts = [chance.randint(1, 30) for _ in letters]
        frequencies = {c: n / sum(counts) for c, n in zip(letters, counts, strict=True)}
        sure = chance.choice([0.1, 0.25, 0.35, 0.6, 0.7, 0.9])
    # Less sure of a letter than it is frequent.
    less = [(letter, 0.2, truth, rest) for letter, _, truth, rest in probes[:2]]
    letter, _, truth, rest = probes[1]
    return [*probes, *less, (letter, 0.999, truth, rest)]  # dear, but not infinitely dear


def _paid(cost: Callable[[float], float]) -> Function:
    """Pay another price for the probability."""
    return lambda *bet: cost(_probability(*bet))


def _hit(price: Callable[[float, float], float]) -> Function:
    """Pay another price if the letter is the truth, of sureness and the letter's frequency."""

    def pay(letter: str, sure: float, truth: str, frequencies: Frequencies) -> float:
        if letter == truth:
            return price(sure, frequencies[letter])
        return bet_price(letter, sure, truth, frequencies)

    return pay


def _missed(price: Callable[[float, float, float], float]) -> Function:
    """Pay another price if the letter is not the truth.

    It is a function of 1 − sure, the frequency of the truth and that of the letter.
    """

    def pay(letter: str, sure: float, truth: str, frequencies: Frequencies) -> float:
        if letter == truth:
            return -math.log2(sure)
        return price(1 - sure, frequencies[truth], frequencies[letter])

    return pay


def _miss(share: Callable[[float, float, float], float]) -> Function:
    """Give another share to a truth that was not bet on."""
    return _missed(lambda *given: -math.log2(share(*given)))


check_bet_price = Exercise(
    solution=bet_price,
    wants=number,
    probes=bets,
    parts=lambda letter, sure, truth, frequencies: {
        f"a {'right' if letter == truth else 'wrong'} guess": ...
    },
    solved="Sure and right is cheap, sure and wrong is dear, and nothing costs infinity.",
    direction="The truth got `sure` if it is the letter; if not, its share of 1 - sure: "
    "frequencies[truth] of the 1 - frequencies[letter] that the others have. The price is −log2.",
    mistakes={
        "The cost is negative: did you forget the minus?": _paid(math.log2),
        "That is in nats; in bits it is −log2.": _paid(lambda p: -math.log(p)),
        "That is in nats, and negative; in bits it is −log2.": _paid(math.log),
        "You used the logarithm to the base 10; bits need math.log2.": (
            _paid(lambda p: -math.log10(p))
        ),
        "That is the probability that the truth got; its price is −log2 of it.": _paid(float),
        "You convert a probability as if it were a cost: to_bits turns nats into bits, so it wants "
        "−math.log of the probability.": _paid(lambda p: p / math.log(2)),
        "That is minus the probability that the truth got; its price is −log2 of it.": (
            _paid(lambda p: -p)
        ),
        "That is 1 minus the probability of the truth; its price is −log2 of the probability.": (
            _paid(lambda p: 1 - p)
        ),
        "That is 1 divided by the probability of the truth; its price is the log2 of that.": (
            _paid(lambda p: 1 / p)
        ),
        "That is −P log2 P; the price is −log2 P alone, for the truth is known.": (
            _paid(lambda p: -p * math.log2(p))
        ),
        "That is −log2(1 − P), the price of being wrong; the truth costs −log2 P.": (
            _paid(lambda p: -math.log2(1 - p))
        ),
        "That is what the bet costs on average if the guesser is as sure as that; the truth is "
        "known, so pay −log2 of what it got.": (
            lambda letter, sure, truth, frequencies: (
                -sure * math.log2(sure)
                - (1 - sure)
                * math.log2((1 - sure) * frequencies[truth] / (1 - frequencies[letter]))
            )
        ),
        "You took the squared error; the price is −log2 of the probability of the truth.": (
            _paid(lambda p: (1 - p) ** 2)
        ),
        "A right guess is free only for someone who was 100 % sure; it costs −log2(sure).": (
            _hit(lambda sure, f: 0)
        ),
        "For a right guess you pay for the letter's frequency; the guesser gave it `sure`.": (
            _hit(lambda sure, f: -math.log2(f))
        ),
        "For a right guess you took what is left over, 1 - sure; the truth is the letter that was "
        "bet on, and got `sure`.": _hit(lambda sure, f: -math.log2(1 - sure)),
        "For a right guess you return the probability; its price is −log2(sure).": (
            _hit(lambda sure, f: sure)
        ),
        "For a right guess the minus is missing: −log2(sure).": (
            _hit(lambda sure, f: math.log2(sure))
        ),
        "For a right guess you pay in nats; in bits it is −log2(sure).": (
            _hit(lambda sure, f: -math.log(sure))
        ),
        "For a right guess you multiply by the letter's frequency; the guesser gave it `sure`.": (
            _hit(lambda sure, f: -math.log2(sure * f))
        ),
        "For a right guess the letter gets its share of the rest as well; the rest is for the "
        "*other* characters.": _hit(lambda sure, f: -math.log2(sure + (1 - sure) * f)),
        "The letter gets its share of the rest as well, and so the others too little: the rest is "
        "for the *other* characters, whose frequencies sum to 1 − frequencies[letter].": (
            lambda letter, sure, truth, frequencies: (
                -math.log2(sure * (letter == truth) + (1 - sure) * frequencies[truth])
            )
        ),
        "For a wrong guess the minus is missing.": lambda *bet: (
            bet_price(*bet) * (1 if bet[0] == bet[2] else -1)
        ),
        "For a wrong guess you pay in nats; in bits it is −log2.": lambda *bet: (
            bet_price(*bet) * (1 if bet[0] == bet[2] else math.log(2))
        ),
        "For a wrong guess you return the probability; its price is −log2 of it.": (
            lambda *bet: bet_price(*bet) if bet[0] == bet[2] else _probability(*bet)
        ),
        "A wrong guess costs much, but not infinitely much: the truth was left a share of the "
        "rest.": _missed(lambda rest, truth, letter: math.inf),
        "A wrong guess is free in your count; the truth was left a share of the rest, and costs "
        "−log2 of it.": _missed(lambda rest, truth, letter: 0),
        "A wrong guess always costs 1 in your count; it costs −log2 of the truth's share of the "
        "rest.": _missed(lambda rest, truth, letter: 1),
        "You pay as if every guess were right; if the letter is not the truth, the truth has only "
        "its share of the rest.": _miss(lambda rest, truth, letter: 1 - rest),
        "You pay as if every guess were wrong; if the letter is the truth, it got `sure`.": (
            lambda letter, sure, truth, frequencies: (
                -math.log2((1 - sure) * frequencies[truth] / (1 - frequencies[letter]))
            )
        ),
        "The two cases are exchanged: `sure` is for letter == truth.": (
            lambda letter, sure, truth, frequencies: (
                -math.log2(
                    sure
                    if letter != truth
                    else (1 - sure) * frequencies[truth] / (1 - frequencies[letter])
                )
            )
        ),
        "For a wrong guess you give the truth all of the rest; the other characters have their "
        "shares in it.": _miss(lambda rest, truth, letter: rest),
        "For a wrong guess your probabilities sum to less than 1, for the frequencies of the "
        "others sum to 1 − frequencies[letter]: divide by it.": (
            _miss(lambda rest, truth, letter: rest * truth)
        ),
        "For a wrong guess you multiply by 1 − frequencies[letter]; divide by it.": (
            _miss(lambda rest, truth, letter: rest * truth * (1 - letter))
        ),
        "For a wrong guess you divide by 1 − the frequency of the truth; the one left out is the "
        "letter bet on.": _miss(lambda rest, truth, letter: rest * truth / (1 - truth)),
        "For a wrong guess you divide by 1 + frequencies[letter]; the others sum to 1 − "
        "frequencies[letter].": _miss(lambda rest, truth, letter: rest * truth / (1 + letter)),
        "For a wrong guess you leave out letter and truth; the truth has its share, too: divide by "
        "1 − frequencies[letter].": (
            _miss(lambda rest, truth, letter: rest * truth / (1 - letter - truth))
        ),
        "For a wrong guess you divide by the letter's frequency; the others sum to 1 − "
        "frequencies[letter].": _miss(lambda rest, truth, letter: rest * truth / letter),
        "For a wrong guess you took the letter's frequency for the truth's share; it is "
        "frequencies[truth].": _miss(lambda rest, truth, letter: rest * letter / (1 - letter)),
        "For a wrong guess you took the letter's frequency; the truth has frequencies[truth] of "
        "the 1 − frequencies[letter] that the others have.": (
            _miss(lambda rest, truth, letter: rest * letter)
        ),
        "For a wrong guess letter and truth are exchanged: frequencies[truth] / (1 − "
        "frequencies[letter]).": _miss(lambda rest, truth, letter: rest * letter / (1 - truth)),
        "For a wrong guess the truth's frequency is missing: its share is frequencies[truth] of "
        "the 1 − frequencies[letter] that the others have.": (
            _miss(lambda rest, truth, letter: rest / (1 - letter))
        ),
        "For a wrong guess 1 - sure is missing: what you share out is not all, but what the "
        "guesser left over.": _miss(lambda rest, truth, letter: truth / (1 - letter)),
        "For a wrong guess that is the price without looking, of the truth's frequency alone; how "
        "sure the guesser was does not show.": _miss(lambda rest, truth, letter: truth),
        "For a wrong guess that is the price of the letter's frequency; the truth got a share of "
        "1 - sure.": _miss(lambda rest, truth, letter: letter),
        "For a wrong guess you share out `sure`; what is left over is 1 - sure.": (
            _miss(lambda rest, truth, letter: (1 - rest) * truth / (1 - letter))
        ),
        "For a wrong guess you share out `sure`, and to all; what is left over is 1 - sure, for "
        "the others, who sum to 1 − frequencies[letter].": (
            _miss(lambda rest, truth, letter: (1 - rest) * truth)
        ),
        "For a wrong guess you divide first and then subtract: 1 - frequencies[letter] needs "
        "brackets.": _miss(lambda rest, truth, letter: rest * truth / 1 - letter),
        "For a wrong guess you multiply before you subtract: 1 - sure needs brackets.": (
            _miss(lambda rest, truth, letter: 1 - (1 - rest) * truth / (1 - letter))
        ),
        "For a wrong guess you subtract the frequency from the rest; the truth has a share of the "
        "rest, so multiply.": _miss(lambda rest, truth, letter: rest - truth),
        "For a wrong guess you divide by the truth's frequency; multiply by it.": (
            _miss(lambda rest, truth, letter: rest / (1 - letter) / truth)
        ),
        "For a wrong guess your fraction is upside down: frequencies[truth] / (1 − "
        "frequencies[letter]).": _miss(lambda rest, truth, letter: rest * (1 - letter) / truth),
        "For a wrong guess the logarithm ends too early: it is that of the whole product, so its "
        "bracket closes at the end.": (
            _missed(lambda rest, truth, letter: -math.log2(rest) * truth / (1 - letter))
        ),
        "For a wrong guess the logarithm ends before the division: its bracket closes at the "
        "end.": _missed(lambda rest, truth, letter: -math.log2(rest * truth) / (1 - letter)),
        "For a wrong guess you multiply the price of 1 - sure by the frequency, outside the "
        "logarithm, and the frequencies of the others sum to 1 − frequencies[letter].": (
            _missed(lambda rest, truth, letter: -math.log2(rest) * truth)
        ),
        "For a wrong guess you weigh prices with frequencies; the price is −log2 of the truth's "
        "share.": _missed(lambda rest, truth, letter: -truth * math.log2(truth)),
        "For a wrong guess the minus stands before one logarithm only (brackets around the sum), "
        "or you divide by frequencies[truth] where you should multiply.": (
            _missed(lambda rest, truth, letter: -math.log2(rest) + math.log2(truth))
        ),
        "For a wrong guess you return what was left over, 1 - sure; the price is −log2 of the "
        "truth's share of it.": _missed(lambda rest, truth, letter: rest),
        "For a wrong guess you share the rest evenly; share it by frequency.": (
            lambda letter, sure, truth, frequencies: (
                -math.log2(sure if letter == truth else (1 - sure) / (len(frequencies) - 1))
            )
        ),
        "For a wrong guess you share the rest evenly, and with the letter itself; share it by "
        "frequency, among the others.": (
            lambda letter, sure, truth, frequencies: (
                -math.log2(sure if letter == truth else (1 - sure) / len(frequencies))
            )
        ),
        "You divide `sure` by 100; it is a share already, 0.8 for 80 %.": (
            lambda letter, sure, *rest: bet_price(letter, sure / 100, *rest)
        ),
        "You multiply `sure` by 100; it is a share, and stays one.": (
            lambda letter, sure, *rest: bet_price(letter, sure * 100, *rest)
        ),
        "You take `sure` for per cent in what is left over, 100 - sure; it is a share: 1 - sure.": (
            _miss(lambda rest, truth, letter: (99 + rest) * truth / (1 - letter))
        ),
        "You return the price beside something else; return the price alone.": (
            lambda *bet: (_probability(*bet), bet_price(*bet))
        ),
        "You return the price beside something else; return the price, and nothing with it.": (
            lambda *bet: (bet_price(*bet), _probability(*bet))
        ),
    },
)
"""Mark ``bet_price(letter, sure, truth, frequencies)``: what a bet costs, in bits."""
