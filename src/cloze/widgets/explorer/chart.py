"""What everybody guesses at one gap, as one picture: candidates down the middle, bars to the sides.

The left reader's bars grow to the left and the right reader's to the right; whoever else is asked
stands beside them, in the order of asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from cloze.vocabulary import counted, visible
from cloze.widgets.explorer.answers import Answers, largest
from cloze.widgets.explorer.room import ROOM, bet, cost, who
from cloze.widgets.view import button, element, in_bits, in_nats, spoken

LEAST = 0.005
"""A probability below this is written 0.00."""
UNIGRAM = "unigram"
TITLES = {
    "left": "from the left",
    "right": "from the right",
    "both": "from both sides",
    UNIGRAM: "without looking",
}


def title(name: str) -> str:
    """Return how a reader is called."""
    return TITLES.get(name, name)


def candidates(answers: Answers, k: int) -> list[int]:
    """Return what may stand at the focus: the ``k`` that anybody finds likeliest, and the truth.

    They come in the order of the last reader, likeliest first; what nobody expects is left out. The
    room expects what it has named.
    """
    state = answers.asked
    every = [answer[state.focus].tolist() for answer in answers.by_name.values()]
    hands = state.hands.get(state.focus, {})
    named = [hands.get(symbol, 0) / (sum(hands.values()) or 1) for symbol in state.symbols.known]
    most = [max(said) for said in zip(*every, named, strict=True)]
    shown = {i for i in largest(most, k) if most[i] >= LEAST}
    truth = state.known_truth(state.focus)
    if truth is not None:
        shown.add(state.symbols.known.index(truth))
    return sorted(shown, key=lambda i: (-every[-1][i], i))


def baseline_cost(answers: Answers, at: int) -> float | None:
    """Return −log P of the truth in nats for whoever knows frequencies only; None if unknown."""
    truth = answers.asked.known_truth(at)
    if answers.baseline is None or truth is None:
        return None
    return answers.baseline.cost(answers.asked.symbols.known.index(truth))


def bar(probability: float) -> Markup:
    """Write a bar and its number."""
    return element(
        "div",
        element("span", class_="bar", style=f"--p: {probability:.2f}"),
        element("span", f"{probability:.2f}", class_="number"),
        class_="track" if probability >= LEAST else "track none",
    )


class Column(NamedTuple):
    """What one of those who guess says of one gap."""

    name: str
    called: str
    said: Sequence[float]
    """The probability of each symbol."""
    paid: float | None
    """−log P of the truth in nats; None when it is not known."""

    def head(self) -> Markup:
        """Write its heading: whose it is, and what the truth costs."""
        paid = None
        if self.paid is not None:
            bits = element("span", f"= {in_bits(self.paid)} bits", class_="bits")
            paid = element("span", f"costs {in_nats(self.paid)} nats ", bits, class_="number")
        return element("th", element("b", self.called), " ", paid, scope="col", class_=self.name)


def columns(answers: Answers, *, baseline: bool) -> list[Column]:
    """Return who guesses at the focus: the left wing, the right wing, the others beside them."""
    state = answers.asked
    at, known = state.focus, state.symbols.known
    found = [
        Column(name, title(name), answer[at].tolist(), answer.cost(at))
        for name, answer in answers.by_name.items()
    ]
    if hands := state.hands.get(at):
        paid = cost(hands, known, state.known_truth(at))
        found.append(Column(ROOM, who(sum(hands.values())), bet(hands, known), paid))
    if baseline and answers.baseline:
        frequencies = answers.baseline.probabilities
        found.append(Column(UNIGRAM, title(UNIGRAM), frequencies, baseline_cost(answers, at)))
    wings = {"left": 0, "right": 2}
    return sorted(found, key=lambda column: wings.get(column.name, 3))


def chart(answers: Answers, k: int, *, baseline: bool = True, live: bool = True) -> Markup:
    """Write the guesses at the focus, which is an open gap.

    Args:
        answers: the answers.
        k: how many candidates; the truth is added, and what is left for all others.
        baseline: whether frequencies stand beside the readers, if they are known.
        live: makes each candidate a button that fills the gap with it.
    """
    state = answers.asked
    at, known = state.focus, state.symbols.known
    asked = columns(answers, baseline=baseline)
    middle = sum(column.name == "left" for column in asked)

    def row(tag_first: Markup, cells: list[Markup], **attributes: object) -> Markup:
        return element("tr", *cells[:middle], tag_first, *cells[middle:], **attributes)

    def cells(values: list[float]) -> list[Markup]:
        return [
            element("td", bar(p), class_=column.name)
            for column, p in zip(asked, values, strict=True)
        ]

    unit = element("span", state.symbols.unit, class_="spoken")
    rows = []
    shown = candidates(answers, k)
    for i in shown:
        is_truth = known[i] == state.known_truth(at)
        label: object = element("span", visible(known[i]), class_="candidate")
        if live:
            said = f"fill position {at} with {spoken(known[i])}{', the truth' * is_truth}"
            label = button(
                visible(known[i]),
                "fill",
                class_="candidate",
                data_with_at=at,
                data_with_symbol=known[i],
                aria_label=said,
            )
        tick = element("span", "✓", class_="tick", title="the truth") if is_truth else None
        rows.append(
            row(
                element("th", label, tick, scope="row"),
                cells([column.said[i] for column in asked]),
                class_="truth" if is_truth else None,
                data_key=known[i],
            )
        )
    left_over = len(known) - len(shown)
    if left_over:
        rest = [sum(p for i, p in enumerate(each.said) if i not in shown) for each in asked]
        label = element("span", counted(left_over, "other"), class_="quiet")
        rows.append(
            row(element("th", label, scope="row"), cells(rest), class_="rest", data_key="rest of")
        )
    return element(
        "table",
        element("caption", f"What is at position {at}?", class_="spoken"),
        element(
            "thead",
            row(
                element("th", unit, scope="col", class_="middle"),
                [column.head() for column in asked],
            ),
        ),
        element("tbody", *rows),
        class_="chart",
    )
