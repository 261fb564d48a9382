"""Reads what learners write in words: a world, two texts, a line with a gap and its letter."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from cloze.corpus import Corpus
from cloze.reading import read_line
from cloze.teaching.results import Symptom, in_short, is_number, kind_of, unwrapped
from cloze.vocabulary import GAP, VOCABULARY, counted, normalise
from cloze.world import World


def world(value: Any) -> World:
    """Read a world: a dictionary of sentences with their probabilities."""
    if not isinstance(value, dict):
        raise Symptom(
            f"You hand in {kind_of(value)}; a world is a dictionary of sentences with their "
            'probabilities, {"the dog barks": 0.5, …}.'
        )
    for sentence, p in value.items():
        if not isinstance(sentence, str):
            raise Symptom(f"{in_short(sentence)} should be a text in quotes.")
        if not is_number(unwrapped(p)) or not 0 <= p <= 1:
            raise Symptom(f"{sentence!r} has {in_short(p)}, not a probability from 0 to 1.")
    return World({sentence: float(p) for sentence, p in value.items()})


def two_texts(value: Any, form: str) -> list[str]:
    """Read two texts; ``form`` is the sentence that says how they are handed in."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Symptom(f"You hand in {kind_of(value)}. {form}")
    for text in value:
        if not isinstance(text, str):
            raise Symptom(f"One of the two is {kind_of(text)}. {form}")
    return [*value]


def two_lines(value: Any, form: str) -> list[str]:
    """Read two lines without a gap."""
    lines = [normalise(line).text.strip() for line in two_texts(value, form)]
    for line in lines:
        read_line(line, gaps=False)
    return lines


@cache
def words_met() -> Counter[str]:
    """Count the words of the text that the models were trained on."""
    return Counter(word for piece in Corpus.load().train for word in piece.text.split())


def line_with_gap(typed: str, letter: str, form: str) -> tuple[str, int]:
    """Read a line with one gap and the letter in it: the line in full, and where the gap is."""
    if len(letter) != 1 or letter not in VOCABULARY.ordinary:
        raise Symptom(f"Your gap needs one small letter, not {letter!r}. {form}")
    line = VOCABULARY.decode(read_line(typed)[0], gap=GAP)
    if line.count(GAP) != 1:
        raise Symptom(
            f"Your line has {counted(line.count(GAP), 'gap')}: replace exactly one letter by _ "
            "and leave all the others visible."
        )
    return line.replace(GAP, letter), line.index(GAP)
