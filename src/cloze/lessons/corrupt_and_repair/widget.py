"""A line to spoil: what is read, what is to be written, and how long both are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.lessons.corrupt_and_repair.corruptions import CORRUPTIONS, SHARE
from cloze.lessons.corrupt_and_repair.spoiling import Spoilt, spoil
from cloze.masking import seeded
from cloze.vocabulary import counted
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program


class LineSpoiler(Widget):
    """Type a line, choose a corruption, and see what is read and what is to be written.

    Args:
        line: the words to begin with.
        corruption: the corruption to begin with.
        seed: of the source of chance.

    Raises:
        TextError: the line has no word, or too many.
        ValueError: no such corruption or seed.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    line = traitlets.Unicode().tag(sync=True)
    corruption = traitlets.Unicode().tag(sync=True)
    share = traitlets.Float().tag(sync=True)
    draws = traitlets.Int(1).tag(sync=True)
    spoilt = traitlets.Instance(Spoilt).tag(sync=True)
    corruptions: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    """By the name of each corruption, what it loses and whether there is a share to choose."""

    def __init__(self, line: str, corruption: str = "sentinels", seed: int = 0) -> None:
        self.generator = seeded(seed)
        spoilt = spoil(line, corruption, SHARE, self.generator)
        super().__init__(
            line=line,
            corruption=corruption,
            share=SHARE,
            spoilt=spoilt,
            corruptions={
                name: {"loses": each.loses, "has_share": each.has_share}
                for name, each in CORRUPTIONS.items()
            },
        )

    def __repr__(self) -> str:
        original, read, written = map(len, self.spoilt)
        return (
            f"LineSpoiler({self.corruption}: {counted(original, 'word')}, {read} read, "
            f"{written} written)"
        )

    def answer_spoil(self, **chosen: Any) -> None:
        """Spoil the line anew: another line, or by another corruption or share."""
        now = {"line": self.line, "corruption": self.corruption, "share": self.share, **chosen}
        spoilt = spoil(**now, generator=self.generator)
        with self.hold_sync():
            self.set_trait("spoilt", spoilt)
            for name, value in now.items():
                self.set_trait(name, value)
            self.draws += 1

    def alone(self) -> None:
        """Return nothing: it is spoilt in Python."""

    def still(self) -> Markup:
        """Write the three lines, for where nothing runs."""
        names = ("The original", "What is read", "What is to be written")
        known = set(self.spoilt.original)
        rows = (
            element(
                "p",
                f"{name}, {counted(len(words), 'symbol')}: ",
                Markup(" ").join(word if word in known else element("b", word) for word in words),
            )
            for name, words in zip(names, self.spoilt, strict=True)
        )
        return element("div", *rows, class_="cloze still")
