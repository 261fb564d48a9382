"""A line to spoil: what is read, what is to be written, and how long both are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.lessons.corrupt_and_repair.corruptions import CORRUPTIONS
from cloze.lessons.corrupt_and_repair.spoiling import SHARE, Spoilt, spoil
from cloze.masking import seeded
from cloze.vocabulary import counted
from cloze.widgets.markup import element, still_lines
from cloze.widgets.widget import Widget, program


class LineSpoiler(Widget):
    """Type a line, choose a corruption, and see what is read and what is to be written.

    Args:
        line: the words to begin with.

    Raises:
        TextError: the line has no word, or too many.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    line = traitlets.Unicode().tag(sync=True)
    corruption = traitlets.Unicode("sentinels").tag(sync=True)
    share = traitlets.Float(SHARE).tag(sync=True)
    draws = traitlets.Int(1).tag(sync=True)
    spoilt = traitlets.Instance(Spoilt).tag(sync=True)
    corruptions: traitlets.Dict[str, Any] = traitlets.Dict(
        default_value={
            name: {"loses": each.loses, "has_share": each.has_share}
            for name, each in CORRUPTIONS.items()
        }
    ).tag(sync=True)
    """By the name of each corruption, what it loses and whether there is a share to choose."""

    def __init__(self, line: str) -> None:
        self.generator = seeded(0)
        spoilt = spoil(line, self.corruption, self.share, self.generator)
        super().__init__(line=line, spoilt=spoilt)

    def __repr__(self) -> str:
        original, read, written = map(len, self.spoilt)
        return (
            f"LineSpoiler({self.corruption}: {counted(original, 'word')}, {read} read, "
            f"{written} written)"
        )

    def answer_spoil(self, **chosen: Any) -> None:
        """Spoil the line again, or another line, or by another corruption or share."""
        now = {"line": self.line, "corruption": self.corruption, "share": self.share, **chosen}
        spoilt = spoil(**now, generator=self.generator)
        self.change(**now, spoilt=spoilt, draws=self.draws + 1)

    def alone(self) -> None:
        """Return nothing: it is spoilt in Python."""

    def still(self) -> Markup:
        names = ("The original", "What is read", "What is to be written")
        original = set(self.spoilt.original)
        lines = (
            Markup(" ").join(word if word in original else element("b", word) for word in words)
            for words in self.spoilt
        )
        return still_lines(
            *(
                Markup("{}, {}: {}").format(name, counted(len(words), "symbol"), line)
                for name, words, line in zip(names, self.spoilt, lines, strict=True)
            )
        )
