"""One line, hidden as you choose: what is asked, and what that costs the shipped model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from markupsafe import Markup
from torch import Tensor

from cloze.border import Line, Whole, checked
from cloze.heads import MaskedLM
from cloze.lessons.what_to_hide.choices import (
    RATES,
    SHAPES,
    SHARES,
    Shape,
    Shares,
    percent,
)
from cloze.masking import IGNORE, seeded
from cloze.prediction import shipped_model
from cloze.vocabulary import VOCABULARY, TextError, counted, read_line, visible
from cloze.widgets.view import (
    View,
    button,
    element,
    form,
    in_nats,
    join,
    select,
    status,
    style,
    table_of,
)

FATES = {"M": "masked", "R": "random", "K": "kept"}


class Asked(NamedTuple):
    """What is read of a line, what is asked of it, and what the answers cost."""

    inputs: Tensor
    """The ids that are read, shape ``(length,)``."""
    costs: dict[int, float]
    """By position that is asked about, −log P of the true character, in nats."""
    fates: dict[int, str]
    """By the same positions, what became of the character: M, R or K."""

    @property
    def total(self) -> float:
        """What all answers cost together, in nats."""
        return sum(self.costs.values())

    @property
    def mean(self) -> float:
        """What an answer costs on average, in nats."""
        return self.total / len(self.costs)

    def of(self, fate: str) -> list[float]:
        """Return the costs where something became of a symbol."""
        return [self.costs[i] for i, own in self.fates.items() if own == fate]


@checked
@torch.no_grad()
def asked(
    line: Line,
    rate: float = 0.15,
    shape: Shape = "characters",
    shares: Shares = "80/10/10",
    seed: Whole = 0,
    model: MaskedLM | None = None,
) -> Asked:
    """Hide a part of a line and ask a model about it.

    Args:
        line: its ids, shape ``(length,)``.
        rate: the rate of selection.
        shape: one of ``SHAPES``.
        shares: one of ``SHARES``.
        seed: of the source of chance.
        model: the model that is asked; by default the encoder that ships with the series.

    Raises:
        ValueError: there is no such shape, or there are no such shares.
    """
    mask = SHAPES[shape]
    hide, swap = SHARES[shares]
    model = shipped_model() if model is None else model
    inputs, labels = mask(
        line[None],
        rate,
        mask_share=hide,
        random_share=swap,
        vocabulary=model.vocabulary,
        generator=seeded(seed),
    )
    # The same numbers with [MASK] for the random ones too: one may be the original by chance.
    either = mask(
        line[None],
        rate,
        mask_share=hide + swap,
        random_share=0.0,
        vocabulary=model.vocabulary,
        generator=seeded(seed),
    ).inputs
    selected = labels != IGNORE
    logits = model.logits_at(inputs, selected)[:, : model.vocabulary.n_ordinary]
    costs = -logits.log_softmax(-1).gather(1, labels[selected][:, None]).squeeze(1)
    at = selected[0].nonzero().flatten().tolist()
    hidden = model.vocabulary.mask_id
    fates = {
        i: "M" if inputs[0, i] == hidden else "R" if either[0, i] == hidden else "K" for i in at
    }
    return Asked(inputs[0], dict(zip(at, costs.tolist(), strict=True)), fates)


class Hiding(View):
    """Choose how much of a line is hidden, in which shape and by what, and draw again.

    Args:
        line: the line, without gaps.
        rate: the rate of selection at first.
        shape: the shape at first, one of ``SHAPES``.
        shares: the shares at first, one of ``SHARES``.
        seed: of the first draw.

    Raises:
        TextError: the line is empty, too long or has gaps.
        ValueError: something else cannot be chosen.
    """

    _css = style(__file__)

    @checked
    def __init__(
        self,
        line: str,
        rate: float = 0.15,
        shape: Shape = "characters",
        shares: Shares = "80/10/10",
        seed: Whole = 0,
    ) -> None:
        self.draws, self.seed = 0, seed
        self.shape, self.shares = shape, shares
        self._take(line)
        self.do_rate(percent(rate))
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        now = self.asked
        return (
            f"Hiding({percent(self.rate)} in {self.shape}, {self.shares}: {len(now.costs)} of "
            f"{len(self.line)} asked, {in_nats(now.mean)} nats each)"
        )

    @property
    def asked(self) -> Asked:
        """What is read, asked and paid as things stand."""
        return asked(self.line, self.rate, self.shape, self.shares, self.seed + self.draws)

    def do_line(self, text: object) -> None:
        """Take another line."""
        self._take(str(text))

    def _take(self, text: str) -> None:
        line, note = read_line(text, gaps=False)
        if (line == VOCABULARY.mask_id).any():
            raise TextError(
                "The line already has a gap; type it without gaps, because they are drawn here."
            )
        self.line, self.note = line, note

    def do_rate(self, value: object) -> None:
        """Choose how much is selected."""
        rates = {percent(rate): rate for rate in RATES}
        if str(value) not in rates:
            raise ValueError(f"The rate is one of {', '.join(rates)}, not {value}.")
        self.rate = rates[str(value)]

    @checked
    def do_shape(self, value: Shape) -> None:
        """Choose what goes together."""
        self.shape = value

    @checked
    def do_shares(self, value: Shares) -> None:
        """Choose what becomes of the selected ones."""
        self.shares = value

    def do_draw(self) -> None:
        """Draw again."""
        self.draws += 1

    def do_restart(self) -> None:
        """Go back to the first draw."""
        self.draws = 0

    def markup(self) -> Markup:
        """Write the choices, the line as it is read, and what the answers cost."""
        now = self.asked
        return join(
            [
                self._form(),
                element(
                    "div",
                    _select("Rate", "rate", [percent(r) for r in RATES], percent(self.rate)),
                    _select("Shape", "shape", SHAPES, self.shape),
                    _select("Masked/random/kept", "shares", SHARES, self.shares),
                    button("Draw again", "draw"),
                    button("First draw", "restart", aria_disabled=not self.draws or None),
                    class_="row",
                ),
                self._strip(now),
                element(
                    "p",
                    "Below each character: M masked, R random, K kept, then its cost in nats",
                    class_="quiet",
                ),
                _table(now),
                status(self._in_words(now)),
            ]
        )

    def _form(self) -> Markup:
        field = element(
            "input",
            type="text",
            name="text",
            size=40,
            autocomplete="off",
            value=VOCABULARY.decode(self.line),
        )
        label = element("label", "Your line", field)
        return form("line", label, element("button", "Use it", type="submit"), class_="row")

    def _strip(self, now: Asked) -> Markup:
        cells = []
        for i, symbol in enumerate(VOCABULARY.symbols[k] for k in now.inputs.tolist()):
            fate = now.fates.get(i)
            below = f"{now.costs[i]:.1f}" if fate else "\N{NO-BREAK SPACE}"
            sign = element("small", fate or "\N{NO-BREAK SPACE}")
            look = f"hidden fate-{fate}" if fate else "hidden"
            cells.append(
                element("span", visible(symbol), sign, element("small", below), class_=look)
            )
        text = VOCABULARY.decode(now.inputs, gap="▒")
        return element("div", *cells, role="img", aria_label=f"The model reads: {text}")

    def _in_words(self, now: Asked) -> str:
        fates = ", ".join(f"{len(now.of(fate))} {name}" for fate, name in FATES.items())
        said = [
            f"Draw {self.draws + 1}: {len(now.costs)} of {counted(len(self.line), 'character')} "
            f"are asked about ({fates}).",
            f"An answer costs {in_nats(now.mean)} nats on average, all answers together "
            f"{in_nats(now.total)}.",
            f"({self.note}.)" if self.note else "",
        ]
        return " ".join(filter(None, said))


def _select(label: str, do: str, names: Iterable[str], chosen: str) -> Markup:
    return select(label, do, {name: name for name in names}, chosen)


def _table(now: Asked) -> Markup:
    """Write what the answers cost, by what became of the character, and all of them."""
    rows = [(f"{fate} {name}", now.of(fate)) for fate, name in FATES.items()]
    rows.append(("all", list(now.costs.values())))
    heads = ("it became", "questions", "nats per question", "total")
    body = [
        element(
            "tr",
            element("th", name, scope="row"),
            *(
                element("td", cell, class_="number")
                for cell in (
                    len(costs),
                    in_nats(sum(costs) / len(costs)) if costs else "–",
                    in_nats(sum(costs)),
                )
            ),
            class_="both" if name == "all" else None,
        )
        for name, costs in rows
    ]
    table = table_of(heads, body, "costs")
    return element("div", table, class_="scroll")
