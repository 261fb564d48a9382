"""The explorer as a picture that stays: what it shows, without anything to click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from cloze.prediction import Comparison
from cloze.vocabulary import GAP, counted, visible
from cloze.widgets.explorer.answers import Data, Question, largest, read
from cloze.widgets.explorer.tally import ROOM, bet, cost, who
from cloze.widgets.markup import alive, element, in_bits, in_nats, join, still_style

SHOWN = 5
"""How many candidates; the truth is added, and what is left for all others."""
LEAST = 0.005
"""A probability below this is written 0.00."""
LEAST_CHANGE = 0.05
"""The least change, in nats, that is written beneath a position or in words."""
DARKEST = 1.5
"""The change, in nats, that is shaded darkest."""
TITLES = {"left": "from the left", "right": "from the right", "both": "from both sides"}
WINGS = {"left": 0, "right": 2}
"""Whose bars grow to the left of the candidates, and whose to the right; all others beside them."""


@dataclass(frozen=True, repr=False)
class Picture:
    """What was guessed at one gap of one line; it is stored with the notebook."""

    question: Question
    predictions: Comparison
    """The same in numbers, as ``MaskExplorer.predictions`` has it."""
    answer: Data
    """The same as the browser is told it, by :func:`~cloze.widgets.explorer.answers.guesses`."""
    occlusion: Sequence[float]
    """What it costs the last answer at the focus to hide each symbol as well, in nats."""
    alone: Mapping[str, object] | None = None
    """What an explorer without Python begins with to show the same; None where none could."""

    def __repr__(self) -> str:
        return repr(self.predictions)

    def _repr_html_(self) -> str:
        wide = any(len(symbol) > 1 for symbol in self.predictions.symbols.known)
        picture = element(
            "div",
            self._line(wide),
            self._chart(),
            element("p", self._in_words(), class_="quiet"),
            class_="cloze still" + " words" * wide,
            **alive("MaskExplorer", self.alone),
        )
        return f"<style>{still_style()}</style>{picture}"

    # ── the line ─────────────────────────────────────────────────────────────────────────────────

    def _line(self, wide: bool) -> Markup:
        """Write the line, broken only between words."""
        asked, symbols = self.question, self.predictions.symbols
        # Each part begins with a word and ends with the space behind it.
        starts = [word.start for word in symbols.words(asked.truth)[1:]]
        parts = zip([0, *starts], [*starts, len(asked.truth)], strict=True)
        words = (join(map(self._letter, range(*part))) for part in parts)
        boxes = (element("span", word, class_="word") for word in words)
        gapped = [GAP if i in asked.open else symbol for i, symbol in enumerate(asked.held)]
        spaced = (part for box in boxes for part in (box, " " * wide))
        said = f"The line, {GAP} for a gap: {symbols.write(gapped)}"
        return element("div", *spaced, role="img", aria_label=said, class_="line")

    def _letter(self, at: int) -> Markup:
        asked, amount = self.question, self.occlusion[at]
        filled, truth = asked.filled.get(at), asked.known_truth(at)
        classes, below, style = ["letter"], "", None
        if at in asked.masked:
            classes.append("filled" if filled else "masked")
            shown = visible(filled) if filled else "?"
            below = visible(truth) if truth else ""
        else:
            shown = visible(asked.truth[at])
            classes += ["space"] * asked.truth[at].isspace()
        if at not in asked.open:
            classes.append("heat occlusion")
            style = f"--heat: {_heat(amount)}%"
            if abs(amount) >= LEAST_CHANGE:
                below = f"{amount:.1f}".replace("inf", "∞") if amount >= 0.1 else ""
        # Where styles are not trusted, the bare line is left.
        glyphs = [element("span", shown), element("small", data_below=below)]
        return element("span", *glyphs, class_=" ".join(classes), style=style)

    # ── the chart ────────────────────────────────────────────────────────────────────────────────

    def _columns(self) -> list[tuple[str, str, list[float], float | None]]:
        """Return who guesses: name, what they are called, what they say, what they have paid."""
        asked, n = self.question, len(self.predictions.symbols.known)
        at, symbols = asked.focus, self.answer["symbols"]
        found = [
            (r["name"], TITLES.get(r["name"], r["name"]), r["p"], read(r["costs"][at]))
            for r in self.answer["readers"]
        ]
        if hands := asked.hands.get(at):
            truth = asked.known_truth(at)
            paid = None if truth is None else cost(hands, truth, n)
            said = [bet(hands, symbol, n) for symbol in symbols]
            found.append((ROOM, who(sum(hands.values())), said, paid))
        return sorted(found, key=lambda column: WINGS.get(column[0], 3))

    def _candidates(self) -> list[int]:
        """Return what may stand at the focus: what anybody finds likeliest, and the truth."""
        asked, symbols = self.question, self.answer["symbols"]
        every = [reader["p"] for reader in self.answer["readers"]]
        hands = asked.hands.get(asked.focus, {})
        named = [hands.get(symbol, 0) / (sum(hands.values()) or 1) for symbol in symbols]
        most = [max(said) for said in zip(*every, named, strict=True)]
        shown = {i for i in largest(most, SHOWN) if most[i] >= LEAST}
        if truth := asked.known_truth(asked.focus):
            shown.add(symbols.index(truth))
        return sorted(shown, key=lambda i: (-every[-1][i], i))

    def _chart(self) -> Markup:
        """Write the guesses at the focus: candidates down the middle, bars to the sides."""
        asked, symbols = self.question, self.answer["symbols"]
        columns, shown = self._columns(), self._candidates()
        middle = sum(name == "left" for name, *_ in columns)

        def row(first: Markup, cells: list[Markup], **attributes: object) -> Markup:
            return element("tr", *cells[:middle], first, *cells[middle:], **attributes)

        def bars(values: list[float]) -> list[Markup]:
            pairs = zip(columns, values, strict=True)
            return [element("td", _bar(p), class_=name) for (name, *_), p in pairs]

        rows = []
        for i in shown:
            is_truth = symbols[i] == asked.known_truth(asked.focus)
            tick = element("span", "✓", class_="tick", title="the truth") if is_truth else None
            label = element("span", visible(symbols[i]), class_="candidate")
            rows.append(
                row(
                    element("th", label, tick, scope="row"),
                    bars([said[i] for *_, said, _ in columns]),
                    class_="truth" if is_truth else None,
                    data_key=symbols[i],
                )
            )
        if left_over := len(self.predictions.symbols.known) - len(shown):
            label = element("span", counted(left_over, "other"), class_="quiet")
            rest = [max(0.0, 1 - sum(said[i] for i in shown)) for *_, said, _ in columns]
            first = element("th", label, scope="row")
            rows.append(row(first, bars(rest), class_="rest", data_key="rest of"))
        unit = element("span", self.predictions.symbols.unit, class_="spoken")
        heads = [_head(name, called, paid) for name, called, _, paid in columns]
        return element(
            "table",
            element("caption", f"What is at position {asked.focus}?", class_="spoken"),
            element("thead", row(element("th", unit, scope="col", class_="middle"), heads)),
            element("tbody", *rows),
            class_="chart",
        )

    # ── the sentence ─────────────────────────────────────────────────────────────────────────────

    def _in_words(self) -> str:
        """Say what the last answer at the focus depends on, and what misleads it."""
        costs, asked = self.occlusion, self.question
        unit = self.predictions.symbols.unit
        top = largest([abs(cost) for cost in costs], 3)
        top = [i for i in top if abs(costs[i]) >= LEAST_CHANGE]
        *_, name = self.predictions
        title = TITLES.get(name, name)
        teller = title[:1].upper() + title[1:]
        what = "costs" if asked.known_truth(asked.focus) else "changes the answer by"
        nothing = f"{teller}: the answer does not depend on any single {unit}"
        if not top:
            return f"{nothing}; hiding one more {what} less than {LEAST_CHANGE} nats."
        shaded = any(map(_heat, costs))
        if shaded and all(costs[i] < 0 for i in top):  # what is seen is named, too
            top = [*top[:2], *largest(costs, 1)]
        listed = ", ".join(f"{visible(asked.held[i])} at {i} {_signed(costs[i])}" for i in top)
        if all(costs[i] < 0 for i in top):
            return f"{nothing}; hiding one more even helps, in nats: {listed}."
        shades_tell = f"{teller}: the answer depends on what is shaded"
        little = f"{teller}: the answer depends little on any single {unit}"
        return f"{shades_tell if shaded else little}. Hiding one more {what}, in nats: {listed}."


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


def _head(name: str, called: str, paid: float | None) -> Markup:
    """Write the heading of a column: whose it is, and what the truth costs."""
    costs = None
    if paid is not None:
        bits = element("span", f"= {in_bits(paid)} bits", class_="bits")
        costs = element("span", f"costs {in_nats(paid)} nats ", bits, class_="number")
    return element("th", element("b", called), " ", costs, scope="col", class_=name)
