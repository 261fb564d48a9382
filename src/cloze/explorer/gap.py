"""The gap: five lines in large letters, and who can say what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from cloze.arguments import checked
from cloze.explorer.answers import Data
from cloze.explorer.widget import Example, MaskExplorer
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import GAP
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program

LINES = {
    "it takes both sides": Example("they put on their coats", "i"),
    "one side is enough": Example("she asked a question about the weather", "q"),
    "neither side knows": Example("the cat slept on the chair", "c"),
}
"""What is played first; each line makes another point."""
WORD_LINES = {
    "the model knows the word": Example("once upon a time there was a king", "time"),
    "the model does not": Example("fish live in water and birds in trees", "water"),
}
"""What is played then, with the encoder that reads words. Each word is one piece."""


class Gap(MaskExplorer):
    """Type the missing letter: the readers bet, too, and a sentence says what happened.

    It is the explorer in another dress, with one gap a line and nothing to set: three lines of
    letters, then two of words. The encoder that reads words is loaded when it is asked.

    Args:
        present: large type, for a lecture hall.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    @checked
    def __init__(self, *, present: bool = False) -> None:
        super().__init__(examples=LINES, guess_first="once", tools=False, present=present)
        letters = [each | {"symbols": self.symbols} for each in self.examples]
        self.examples = [*letters, *map(self._of_words, WORD_LINES)]

    def _of_words(self, name: str) -> Data:
        line, word = WORD_LINES[name]
        truth = line.split(" ")
        return {
            "name": name,
            "truth": truth,
            "words": [[at, at + 1] for at in range(len(truth))],
            "masked": [truth.index(word)],
            "symbols": {**self.symbols, "unit": "piece", "known": None, "wide": True},
        }

    def __repr__(self) -> str:
        return f"Gap({self._first()!r}, {len(self.examples)} lines)"

    def _first(self) -> str:
        """Return the first line, as it is asked."""
        truth, [at] = self.examples[0]["truth"], self.examples[0]["masked"]
        return "".join([*truth[:at], GAP, *truth[at + 1 :]])

    def still(self) -> Markup:
        """Write the first line with its gap."""
        return element("div", element("p", self._first(), class_="large"), class_="cloze still")

    def alone(self) -> dict[str, object] | None:
        """Return the whole state, for a page that has the same models."""
        words = {name: example._asdict() for name, example in WORD_LINES.items()}
        return {**(Widget.alone(self) or {}), "of_words": words}

    def answer_guesses(self, **sent: Any) -> Data:
        """Return what is guessed, by the encoder that reads the line's symbols."""
        if any(len(symbol) > 1 for symbol in sent["truth"]):
            words = MaskExplorer(shipped_model("words"), " ".join(sent["truth"]))
            return words.answer_guesses(**sent)
        return super().answer_guesses(**sent)
