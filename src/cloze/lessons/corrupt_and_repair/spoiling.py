"""A line to spoil: what is read, what is to be written, and how long both are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
from markupsafe import Markup

from cloze.border import Probability, checked, whole_number
from cloze.lessons.corrupt_and_repair.corruptions import CORRUPTIONS, SENTINELS, with_sentinels
from cloze.masking import seeded
from cloze.vocabulary import MASK, TextError, Vocabulary, counted
from cloze.widgets.view import View, button, element, form, join, status, style

MOST_WORDS = 40
SHARES = (0.15, 0.3, 0.5)
STOP = "."
STRANGERS = ("river", "umbrella", "seven", "under", "slowly", "coffee")
"""Words that may be put in the place of others, besides those of the line."""
WHOLE = ("sentence permutation", "document rotation")
"""Corruptions of a whole text, of which there is no share."""
LOST = {
    "token masking": "You see where words are missing, and how many.",
    "token deletion": "You do not see where a word is missing, or even that one is.",
    "token replacement": "You do not see which words are wrong; any of them might be.",
    "text infilling": "You see where something is missing, but not how much; it may be nothing.",
    "sentence permutation": "All the words are there, but the order of the sentences is lost.",
    "document rotation": "All the words are there, but you do not see where the text begins.",
    "sentinels": "You see where something is missing, but not how much; only that is written.",
}
"""What each corruption takes away."""


class Spoilt(NamedTuple):
    """A line of words, spoilt."""

    original: tuple[str, ...]
    read: tuple[str, ...]
    written: tuple[str, ...]

    def __str__(self) -> str:
        rows = {"original": self.original, "is read": self.read, "is written": self.written}
        return "\n".join(
            f"{name:<10} {len(words):>3}  {' '.join(words)}" for name, words in rows.items()
        )


def words_of(line: str) -> tuple[str, ...]:
    """Take a typed line apart into words and full stops; one at the end is left out.

    Raises:
        TextError: it has no word, or too many.
    """
    typed = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*|[.!?]", line)
    words = [STOP if word in ".!?" else word for word in typed]
    while words and words[-1] == STOP:
        words.pop()
    if not words:
        raise TextError("The line is empty, so there is nothing to spoil; type some words.")
    if len(words) > MOST_WORDS:
        raise TextError(
            f"The line has {counted(len(words), 'word')}, full stops included, and at most "
            f"{MOST_WORDS} are spoilt here; shorten it."
        )
    return tuple(words)


@checked
def spoil(
    line: str, corruption: str, share: Probability = 0.15, generator: torch.Generator | None = None
) -> Spoilt:
    """Spoil a typed line by one of ``CORRUPTIONS``, word by word.

    Args:
        line: words, with full stops between sentences.
        corruption: its name.
        share: how much is corrupted, where that has a meaning.
        generator: the source of chance.

    Raises:
        ValueError: there is no such corruption or share.
        TextError: the line has no word, or too many.
    """
    if corruption not in CORRUPTIONS:
        raise ValueError(f"corruption is one of {', '.join(CORRUPTIONS)}, not {corruption!r}.")
    words = words_of(line)
    vocabulary = with_sentinels(
        Vocabulary(tuple(dict.fromkeys([*words, *STRANGERS, STOP])), (MASK,)),
        max(SENTINELS, len(words) + 2),
    )
    given: dict[str, object] = {} if corruption in WHOLE else {"share": share}
    if corruption == "sentence permutation":
        given = {"separator": STOP}
    if corruption in ("text infilling", "sentinels"):
        given["mean_length"] = min(3.0, len(words))
    if corruption.startswith("token"):
        given = {"rate": share}
    inputs, target = CORRUPTIONS[corruption](
        torch.tensor([vocabulary.ids[word] for word in words]),
        **given,
        vocabulary=vocabulary,
        generator=generator,
    )
    read, written = (
        tuple(vocabulary.symbols[i] for i in part.tolist()) for part in (inputs, target)
    )
    return Spoilt(words, read, written)


class LineSpoiler(View):
    """Type a line, choose a corruption, and see what is read and what is to be written.

    Args:
        line: the words to begin with.
        corruption: the corruption to begin with.
        seed: of the source of chance.

    Raises:
        TextError: the line has no word, or too many.
        ValueError: no such corruption or seed.
    """

    _css = style(__file__)

    def __init__(self, line: str, corruption: str = "sentinels", seed: int = 0) -> None:
        self.generator = seeded(seed)
        self.draws = 0
        self._draw(line, corruption, SHARES[0])
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        original, read, written = map(len, self.spoilt)
        return (
            f"LineSpoiler({self.corruption}: {counted(original, 'word')}, {read} read, "
            f"{written} written)"
        )

    def do_spoil(self, line: object = None) -> None:
        """Spoil the line anew, or the one that was typed."""
        self._draw(self.line if line is None else str(line), self.corruption, self.share)

    def do_choose(self, value: object) -> None:
        """Choose a corruption."""
        self._draw(self.line, str(value), self.share)

    def do_share(self, percent: object) -> None:
        """Choose how much is corrupted."""
        whole = whole_number(percent, 0, 100, "The share in per cent")
        self._draw(self.line, self.corruption, whole / 100)

    def _draw(self, line: str, corruption: str, share: float) -> None:
        """Draw, and keep the choices only if they can be drawn."""
        self.spoilt = spoil(line, corruption, share, self.generator)
        self.line, self.corruption, self.share = line, corruption, share
        self.draws += 1

    @property
    def announcement(self) -> str:
        """What a screen reader says of the last draw."""
        original, read, written = self.spoilt
        alone = corruption_needs_more(self.corruption, original)
        return (
            f"Draw {self.draws}, {self.corruption}: {counted(len(original), 'symbol')} became "
            f"{len(read)} to read and {len(written)} to write. {alone or LOST[self.corruption]}"
        )

    def markup(self) -> Markup:
        """Write the form, the choices and the three lines."""
        kinds = [
            element(
                "label",
                element(
                    "input",
                    type="radio",
                    name="corruption",
                    value=name,
                    data_do="choose",
                    checked=name == self.corruption,
                ),
                name,
            )
            for name in CORRUPTIONS
        ]
        shares = [
            button(
                f"{share:.0%}",
                "share",
                data_with_percent=round(100 * share),
                aria_pressed=share == self.share,
                aria_disabled=self.corruption in WHOLE or None,
            )
            for share in SHARES
        ]
        typed = element(
            "label", "Your line", element("input", name="line", value=self.line, size=50)
        )
        go = element("button", "Spoil it", type="submit")
        return join(
            [
                form("spoil", typed, go, class_="row"),
                element("div", *kinds, role="radiogroup", aria_label="Corruption", class_="row"),
                element("div", "corrupted: ", *shares, class_="row"),
                *self._lines(),
                status(self.announcement),
            ]
        )

    def still(self) -> Markup:
        """Write the three lines, for where nothing runs."""
        return element("div", *self._lines(), class_="cloze still")

    def _lines(self) -> list[Markup]:
        names = ("The original", "What is read", "What is to be written")
        original = set(self.spoilt.original)
        return [
            element(
                "div",
                element("p", f"{name}: {counted(len(words), 'symbol')}", class_="quiet"),
                element(
                    "div",
                    # With spaces between them, for where there is no style sheet.
                    Markup(" ").join(
                        element("span", word, class_=_look(word, original)) for word in words
                    ),
                    role="img",
                    aria_label=f"{name}: {' '.join(words) or 'nothing'}",
                    class_="spoilt",
                ),
            )
            for name, words in zip(names, self.spoilt, strict=True)
        ]


def corruption_needs_more(corruption: str, words: Sequence[str]) -> str:
    """Say why a corruption could do nothing to a line, or ""."""
    if corruption == "sentence permutation" and STOP not in words:
        return (
            "There is only one sentence, so no order can be lost; "
            "put a full stop between sentences."
        )
    return ""


def _look(word: str, original: set[str]) -> str:
    """Return the class of a word: a sign for a gap, a stranger, or as it was."""
    if word == MASK or word.startswith("<extra_id_"):
        return "word sign"
    return "word" if word in original else "word stranger"
