"""Masks drawn again and again: a line changes each time, and the shares close in on 80/10/10."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from markupsafe import Markup
from torch import Tensor

from cloze.border import Ids, Probability, Whole, checked, whole_number
from cloze.masking import mask_tokens
from cloze.vocabulary import VOCABULARY, read_line, visible
from cloze.widgets.view import View, button, element, status, style, table_of

MASKED, RANDOM, KEPT = "M", "R", "K"
"""What becomes of a selected position: ``[MASK]``, a random character, itself."""
PROMISED = {MASKED: 0.8, RANDOM: 0.1, KEPT: 0.1}
"""The share of the selected positions that each fate should meet."""
NAMES = {MASKED: "masked", RANDOM: "random", KEPT: "kept"}


class Draw(NamedTuple):
    """Some lines, masked."""

    inputs: Tensor
    """What the model reads, ``(lines, length)``."""
    fates: dict[str, Tensor]
    """By fate, where it happened: boolean, ``(lines, length)``."""

    @property
    def counts(self) -> dict[str, int]:
        """How many positions met each fate."""
        return {fate: int(where.sum()) for fate, where in self.fates.items()}


@checked
def draw_masks(input_ids: Ids, generator: torch.Generator, mask_prob: Probability = 0.15) -> Draw:
    """Mask lines of shape ``(lines, length)`` with ``mask_tokens``, and tell the fates apart.

    A random character may be the original by chance, and then nothing that the model reads shows
    that it was swapped. So the same numbers are used a second time, with ``[MASK]`` for the swapped
    ones as well: what is hidden only then is random.
    """
    again = generator.clone_state()
    inputs, labels = mask_tokens(input_ids, mask_prob, generator=generator)
    either = PROMISED[MASKED] + PROMISED[RANDOM]
    corrupted = mask_tokens(
        input_ids, mask_prob, mask_share=either, random_share=0, generator=again
    ).inputs
    selected = labels >= 0
    masked = selected & (inputs == VOCABULARY.mask_id)
    random = selected & (corrupted == VOCABULARY.mask_id) & ~masked
    return Draw(inputs, {MASKED: masked, RANDOM: random, KEPT: selected & ~masked & ~random})


class Closeness(NamedTuple):
    """How close one count is to what was promised."""

    fate: str
    n: int
    share: float
    promised: float
    margin: float
    """Two standard errors: 19 counts in 20 lie within them."""

    @property
    def inside(self) -> bool:
        """Whether the share lies within the margin."""
        return abs(self.share - self.promised) <= self.margin

    def __str__(self) -> str:
        return (
            f"{NAMES[self.fate]:<6} {self.share:6.1%} (promised {self.promised:.0%} "
            f"± {self.margin:.1%}: {'inside' if self.inside else 'outside'})"
        )


def closeness(counts: dict[str, int]) -> list[Closeness]:
    """Compare counts by fate with 80/10/10; nothing counted, nothing compared."""
    n = sum(counts.values())
    if not n:
        return []
    return [
        Closeness(fate, counts[fate], counts[fate] / n, p, 2 * math.sqrt(p * (1 - p) / n))
        for fate, p in PROMISED.items()
    ]


class MaskDraws(View):
    """Draw masks for one line, once, ten or a thousand times.

    Args:
        line: the line to mask.
        seed: of the source of chance.

    Raises:
        TextError: the line is empty or too long.
        ValueError: no such seed.
    """

    _css = style(__file__)

    @checked
    def __init__(self, line: str, seed: Whole = 0) -> None:
        self.input_ids, _ = read_line(line)
        self.seed = seed
        self.do_restart()
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {NAMES[fate]}" for fate, n in self.counts.items())
        return f"MaskDraws({self.draws} draw{'s' * (self.draws != 1)}: {counts})"

    def do_restart(self) -> None:
        """Forget all draws; the next ones will be the first ones again."""
        self.generator = torch.Generator().manual_seed(self.seed)
        self.draws = 0
        self.counts = dict.fromkeys(PROMISED, 0)
        """How many positions met each fate so far."""
        self.last: Draw | None = None
        self.announcement = "Nothing has been drawn yet."

    def do_draw(self, times: object) -> None:
        """Mask the line a number of times and count."""
        n = whole_number(times, 1, 10_000, "The number of draws")
        draw = draw_masks(self.input_ids.repeat(n, 1), self.generator)
        self.counts = {fate: self.counts[fate] + k for fate, k in draw.counts.items()}
        self.draws += n
        self.last = Draw(draw.inputs[-1:], {fate: at[-1:] for fate, at in draw.fates.items()})
        own = self.last.counts
        words = ", ".join(f"{k} {NAMES[fate]}" for fate, k in own.items())
        shares = ", ".join(f"{row.share:.1%} {NAMES[row.fate]}" for row in closeness(self.counts))
        self.announcement = (
            f"Draw {self.draws}: {sum(own.values())} of {len(self.input_ids)} selected ({words}). "
            f"All draws: {shares}."
        )

    def markup(self) -> Markup:
        """Write the last draw, the buttons and the counts."""
        labels = {1: "Draw once", 10: "10 times", 1000: "1000 times"}
        buttons = [button(text, "draw", data_with_times=n) for n, text in labels.items()]
        buttons.append(button("Start over", "restart", aria_disabled=not self.draws or None))
        return Markup("").join(
            [
                self._strip(),
                element("p", "M masked, R random, K kept", class_="quiet"),
                element("div", *buttons, class_="row"),
                self._table(),
                status(self.announcement),
            ]
        )

    def _strip(self) -> Markup:
        shown = (self.last.inputs[0] if self.last else self.input_ids).tolist()
        where = self.last.fates if self.last else {}
        cells = []
        for i, symbol in enumerate(VOCABULARY.symbols[k] for k in shown):
            fate = next((fate for fate, at in where.items() if at[0, i]), None)
            look = f"cell fate-{fate}" if fate else "cell"
            sign = element("small", fate or "\N{NO-BREAK SPACE}")
            cells.append(element("span", visible(symbol), sign, class_=look))
        text = VOCABULARY.decode(shown, gap="▒")
        return element(
            "div", *cells, role="img", aria_label=f"The model reads: {text}", class_="drawn"
        )

    def _table(self) -> Markup:
        heads = ("fate", "count", "share", "promised ± 2 standard errors", "0 to 100%", "verdict")
        rows = map(_in_table, closeness(self.counts)) if self.draws else map(_promise, PROMISED)
        table = table_of(heads, rows, "draws")
        return element("div", table, class_="scroll")


def _promise(fate: str) -> Markup:
    """Write the row of a fate before anything is drawn."""
    return _row(fate, "0", "–", f"{PROMISED[fate]:.0%}", _track(), "–")


def _in_table(row: Closeness) -> Markup:
    low, high = max(0.0, row.promised - row.margin), min(1.0, row.promised + row.margin)
    band = f"left: {100 * low:.2f}%; width: {100 * (high - low):.2f}%"
    track = _track(
        element("span", class_="band", style=band),
        element("span", class_="dot", style=f"left: {100 * row.share:.2f}%"),
    )
    promised = f"{row.promised:.0%} ± {row.margin:.1%}"
    verdict = "inside" if row.inside else "outside"
    return _row(row.fate, f"{row.n:,}", f"{row.share:.1%}", promised, track, verdict)


def _track(*marks: Markup) -> Markup:
    return element("span", *marks, class_="track", aria_hidden=True)


def _row(fate: str, *cells: object) -> Markup:
    name = element("th", f"{fate} {NAMES[fate]}", scope="row")
    return element("tr", name, *(element("td", cell, class_="number") for cell in cells))
