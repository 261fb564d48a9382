"""The explorer as a picture that stays: what it shows, without anything to click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from cloze.explorer.answers import LEAST, TITLES, Data, Question, chart, largest
from cloze.explorer.tally import read
from cloze.prediction.predictors import Comparison
from cloze.vocabulary import GAP, counted, visible
from cloze.widgets.markup import alive, element, in_bits, in_nats, join, still_style

LEAST_CHANGE = 0.05
"""The least change, in nats, that is written beneath a position or in words."""
DARKEST = 1.5
"""The change, in nats, that is shaded darkest."""


@dataclass(frozen=True, repr=False)
class Picture:
    """What was guessed at one gap of one line; it is stored with the notebook."""

    question: Question
    predictions: Comparison
    """The same in numbers, as ``MaskExplorer.predictions`` has it."""
    occlusion: Sequence[float] | None
    """What it costs the last answer at the selected gap to hide each symbol as well, in nats; None
    while truth and guesses are kept back."""
    alone: Mapping[str, object] | None = None
    """What an explorer without Python begins with to show the same; None where none could."""

    def __repr__(self) -> str:
        return repr(self.predictions)

    def _repr_html_(self) -> str:
        wide = any(len(symbol) > 1 for symbol in self.predictions.symbols.known)
        if self.occlusion is None:
            shown = [element("p", "What is hidden there?")]
        else:
            depends = self._in_words(self.occlusion)
            shown = [self._chart(), element("p", depends, class_="quiet")]
        picture = element(
            "div",
            self._line(wide),
            *shown,
            class_="cloze still" + " words" * wide,
            **alive("MaskExplorer", self.alone),
        )
        return f"<style>{still_style()}</style>{picture}"

    def _line(self, wide: bool) -> Markup:
        """Write the line, broken only between words."""
        question, symbols = self.question, self.predictions.symbols
        # Each part begins with a word and ends with the space after it.
        starts = [word.start for word in symbols.words(question.truth)[1:]]
        parts = zip([0, *starts], [*starts, len(question.truth)], strict=True)
        words = (join(map(self._letter, range(*part))) for part in parts)
        boxes = (element("span", word, class_="word") for word in words)
        spaced = (part for box in boxes for part in (box, " " * wide))
        gapped = [GAP if i in question.open else symbol for i, symbol in enumerate(question.held)]
        label = f"The line, {GAP} for a gap: {symbols.write(gapped)}"
        return element("div", *spaced, role="img", aria_label=label, class_="line")

    def _letter(self, at: int) -> Markup:
        question = self.question
        classes, below, style = ["letter"], "", None
        if at in question.masked:
            filled = question.filled.get(at)
            classes.append("filled" if filled else "masked")
            shown = visible(filled) if filled else "?"
            below = visible(question.known_truth(at) or "") if self.occlusion else ""
        else:
            shown = visible(question.truth[at])
            classes += ["space"] * question.truth[at].isspace()
        if self.occlusion and at not in question.open:
            amount = self.occlusion[at]
            classes.append("heat occlusion")
            style = f"--heat: {_heat(amount)}%"
            if abs(amount) >= LEAST_CHANGE:
                below = f"{amount:.1f}".replace("inf", "∞") if amount >= 0.1 else ""
        # Where styles are not trusted, the bare line is left.
        glyphs = [element("span", shown), element("small", data_below=below)]
        return element("span", *glyphs, class_=" ".join(classes), style=style)

    def _chart(self) -> Markup:
        """Write the table of guesses: candidates down the middle, bars to the sides."""
        table = chart(self.question, self.predictions)
        assert table, "a picture is of an open gap"
        columns, rest = table["columns"], table["rest"]
        middle = sum(column["name"] == "left" for column in columns)

        def row(first: Markup, cells: list[Markup], **attributes: object) -> Markup:
            return element("tr", *cells[:middle], first, *cells[middle:], **attributes)

        def bars(label: Sequence[Markup], p: Sequence[float], **attributes: object) -> Markup:
            pairs = zip(columns, p, strict=True)
            cells = [element("td", _bar(each), class_=column["name"]) for column, each in pairs]
            return row(element("th", *label, scope="row"), cells, **attributes)

        rows = []
        for each in table["rows"]:
            label = [element("span", visible(each["symbol"]), class_="candidate")]
            label += [element("span", "✓", class_="tick", title="the truth")] * each["truth"]
            name = "truth" if each["truth"] else None
            rows.append(bars(label, each["p"], class_=name, data_key=each["symbol"]))
        if rest["n"]:
            label = [element("span", counted(rest["n"], "other"), class_="quiet")]
            rows.append(bars(label, rest["p"], class_="rest", data_key="rest of"))
        unit = element("span", self.predictions.symbols.unit, class_="spoken")
        middle_head = element("th", unit, scope="col", class_="middle")
        return element(
            "table",
            element("caption", f"What is at position {self.question.focus}?", class_="spoken"),
            element("thead", row(middle_head, [*map(_head, columns)])),
            element("tbody", *rows),
            class_="chart",
        )

    def _in_words(self, costs: Sequence[float]) -> str:
        """Say what the last answer at the selected gap depends on, and what misleads it."""
        question = self.question
        unit = self.predictions.symbols.unit
        top = largest([abs(cost) for cost in costs], 3)
        top = [i for i in top if abs(costs[i]) >= LEAST_CHANGE]
        *_, name = self.predictions
        title = TITLES.get(name, name)
        reader = title[:1].upper() + title[1:]
        what = "costs" if question.known_truth(question.focus) else "changes the answer by"
        nothing = f"{reader}: the answer does not depend on any single {unit}"
        if not top:
            return f"{nothing}; hiding one more {what} less than {LEAST_CHANGE} nats."
        shaded = any(map(_heat, costs))
        if shaded and all(costs[i] < 0 for i in top):  # what is seen is named, too
            top = [*top[:2], *largest(costs, 1)]
        listed = ", ".join(f"{visible(question.held[i])} at {i} {_signed(costs[i])}" for i in top)
        if all(costs[i] < 0 for i in top):
            return f"{nothing}; hiding one more even helps, in nats: {listed}."
        depends = "on what is shaded" if shaded else f"little on any single {unit}"
        return f"{reader}: the answer depends {depends}. Hiding one more {what}, in nats: {listed}."


def _heat(amount: float) -> int:
    """Return how dark an amount is, in percent: in tens, so that no picture changes for nothing."""
    return 10 * round(10 * min(max(amount / DARKEST, 0), 1))


def _signed(amount: float) -> str:
    return f"{amount:+.2f}".replace("-", "−").replace("inf", "∞")


def _bar(probability: float) -> Markup:
    """Write a bar and its number."""
    return element(
        "div",
        element("span", class_="bar", style=f"--p: {probability:.2f}"),
        element("span", f"{probability:.2f}", class_="number"),
        class_="track" if probability >= LEAST else "track none",
    )


def _head(column: Data) -> Markup:
    """Write the heading of a column: whose it is, and what the truth costs."""
    paid, costs = read(column["cost"]), None
    if paid is not None:
        bits = element("span", f"= {in_bits(paid)} bits", class_="bits")
        costs = element("span", f"costs {in_nats(paid)} nats ", bits, class_="number")
    return element(
        "th", element("b", column["title"]), " ", costs, scope="col", class_=column["name"]
    )
