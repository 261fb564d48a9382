"""Figures from plain data. Every one has a text twin, which a notebook prints beside it."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.text import visible

INK = "#1f2933"
BLUE, ORANGE, GREEN, RED, VIOLET, GREY = (
    "#2563a8",
    "#c2570c",
    "#2f7d4f",
    "#b3261e",
    "#6d4ba0",
    "#6b7280",
)
"""Each has a contrast of at least 4.5 : 1 on white."""

STYLE: Any = {
    "figure.figsize": (7.2, 3.2),
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.size": 11,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "savefig.bbox": "tight",
}


@contextmanager
def series_style() -> Iterator[None]:
    """Draw in the style of the series inside the block."""
    with plt.rc_context(STYLE):
        yield
        interactive = plt.isinteractive()
    # The first figure of a notebook starts the inline backend, which switches this on; leaving the
    # context would switch it off again, and only that first figure would ever be shown.
    plt.rcParams["interactive"] = interactive


def new_figure(width: float = 7.2, height: float = 3.2) -> tuple[Figure, Axes]:
    """Make an empty figure in the style of the series."""
    with series_style():
        figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return figure, axes


def price_lines(axes: Axes, losses: Mapping[str, float]) -> None:
    """Draw the prices of the baselines as labelled horizontal lines (nats)."""
    for name, nats in losses.items():
        axes.axhline(nats, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate(
            f"{name} {nats:.2f}",
            (1, nats),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            color=INK,
            fontsize=9,
        )


def loss_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    baselines: Mapping[str, float],
    x_label: str = "seconds of training",
) -> Figure:
    """Draw loss curves, each a row of points (x, nats), above the lines of the baselines."""
    figure, axes = new_figure()
    price_lines(axes, baselines)
    for (name, points), colour in zip(
        curves.items(), (BLUE, ORANGE, GREEN, VIOLET, RED), strict=False
    ):
        xs, ys = zip(*points, strict=True) if points else ((), ())
        axes.plot(
            xs, ys, color=colour, marker="o" if len(xs) < 30 else "", markersize=4, label=name
        )
    axes.set(xlabel=x_label, ylabel="loss in nats", ylim=(0, None))
    figure.legend(loc="outside upper left", ncols=len(curves), frameon=False)
    return figure


def probability_table(
    rows: Sequence[str],
    columns: Sequence[str],
    probabilities: Sequence[Sequence[float]],
    true_columns: Sequence[int],
    marked_rows: Sequence[int],
) -> Figure:
    """Draw one distribution a row as shaded numbers.

    Args:
        rows: the label of each position.
        columns: the characters.
        probabilities: shape ``(len(rows), len(columns))``.
        true_columns: by row, the column that is right; it gets a frame where the row is marked.
        marked_rows: the rows that enter the loss; their labels are bold.
    """
    figure, axes = new_figure(7.2, 0.7 + 0.42 * len(rows))
    axes.imshow(probabilities, cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
    for i, row in enumerate(probabilities):
        for j, p in enumerate(row):
            axes.text(j, i, f"{p:.2f}", ha="center", va="center", color="w" if p > 0.6 else INK)
    for i in marked_rows:
        corner = (true_columns[i] - 0.46, i - 0.44)
        axes.add_patch(Rectangle(corner, 0.92, 0.88, fill=False, edgecolor=ORANGE, linewidth=2.5))
    axes.set_xticks(range(len(columns)), [visible(c) for c in columns])
    axes.set_yticks(range(len(rows)), rows)
    for i in marked_rows:
        axes.get_yticklabels()[i].set_fontweight("bold")
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)
    return figure


def price_of_probability(points: Sequence[float]) -> Figure:
    """Draw −log P over P in nats, and mark what some probabilities cost."""
    figure, axes = new_figure(7.2, 3.4)
    ps = [0.004 + 0.996 * k / 400 for k in range(401)]
    axes.plot(ps, [-math.log(p) for p in ps], color=BLUE, linewidth=2)
    for p in points:
        axes.plot(p, -math.log(p), marker="o", color=ORANGE, markersize=7, clip_on=False)
        axes.annotate(
            f"P = {p:g} costs {abs(math.log(p)):.2f}",
            (p, -math.log(p)),
            xytext=(10, 8) if p < 0.9 else (-6, 14),
            textcoords="offset points",
            ha="left" if p < 0.9 else "right",
        )
    axes.set(
        xlabel="P, the probability given to the right character",
        ylabel="−log P in nats",
        xlim=(0, 1),
        ylim=(0, 5.5),
    )
    return figure


def price_bars(prices: Mapping[str, float]) -> Figure:
    """Draw losses in nats as horizontal bars, the first at the top."""
    figure, axes = new_figure(7.2, 0.7 + 0.5 * len(prices))
    names = list(prices)
    axes.barh(names, list(prices.values()), color=BLUE, height=0.6)
    for i, nats in enumerate(prices.values()):
        axes.annotate(
            f"{nats:.2f}", (nats, i), xytext=(4, 0), textcoords="offset points", va="center"
        )
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.1)
    axes.set(xlabel="mean loss in nats per selected character")
    return figure


class Strip:
    """A line of characters as a coloured strip, with a text twin in two rows.

    Args:
        text: the characters.
        notes: by position, a short sign shown below the character (and in the text twin), so that
            colour is never the only sign.
        colours: by position, a background colour.
    """

    def __init__(
        self,
        text: Sequence[str],
        notes: Mapping[int, str] | None = None,
        colours: Mapping[int, str] | None = None,
    ) -> None:
        self.text = [visible(character) for character in text]
        self.notes = dict(notes or {})
        self.colours = dict(colours or {})

    def __repr__(self) -> str:
        widths = [max(len(c), len(self.notes.get(i, ""))) for i, c in enumerate(self.text)]
        rows = [self.text, [self.notes.get(i, "") for i in range(len(self.text))]]
        return "\n".join(
            " ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ).rstrip()

    def _repr_html_(self) -> str:
        cells = []
        for i, character in enumerate(self.text):
            colour = self.colours.get(i)
            look = f"background:{colour};color:#fff;" if colour else ""
            cells.append(
                '<span style="display:inline-block;min-width:1.3em;text-align:center;'
                f"margin:1px;padding:2px 1px;border:1px solid #8886;border-radius:3px;{look}"
                f'font-family:monospace;line-height:1.2">{html.escape(character)}<br>'
                f"<small>{html.escape(self.notes.get(i, '')) or '&nbsp;'}</small></span>"
            )
        return f'<div role="img" aria-label="{html.escape(repr(self))}">{"".join(cells)}</div>'


FATES = {"M": BLUE, "R": ORANGE, "K": GREEN}
"""Colours of what becomes of a selected character: [MASK], a random one, kept."""


def fate_strip(symbols: Sequence[str], fates: Mapping[int, str]) -> Strip:
    """Show a corrupted line with M, R or K below each selected position, in their colours."""
    return Strip(symbols, fates, {i: FATES[sign] for i, sign in fates.items()})


def deviations(rows: Mapping[str, Mapping[str, float]], bound: float = 5) -> Figure:
    """Draw how far counts lie from what was expected, in standard deviations.

    Args:
        rows: by name of a counted function, the deviation of each share.
        bound: where chance stops being an excuse.
    """
    figure, axes = new_figure(7.2, 3.0)
    shares = list(next(iter(rows.values())))
    axes.axvspan(-bound, bound, color="#e5e7eb", zorder=0)
    axes.axvline(0, color=GREY, linewidth=1)
    styles = zip(rows.items(), (BLUE, GREEN, RED, VIOLET), "oDs^", strict=False)
    for n, ((name, values), colour, marker) in enumerate(styles):
        shift = 0.2 * (n - (len(rows) - 1) / 2)
        axes.plot(
            [values[share] for share in shares],
            [row + shift for row in range(len(shares))],
            marker,
            color=colour,
            markersize=7,
            label=name,
        )
    axes.set(
        yticks=range(len(shares)),
        yticklabels=shares,
        ylim=(len(shares) - 0.5, -0.5),
        xlabel=f"standard deviations from 80/10/10 (grey: chance, up to {bound:g})",
    )
    figure.legend(loc="outside upper left", ncols=len(rows), frameon=False)
    return figure


def masking_rates(
    rates: Sequence[float],
    targets: Sequence[float],
    losses: Sequence[float],
    baselines: Mapping[str, float],
) -> Figure:
    """Draw what a rate of selection gives (questions) beside what it takes (context).

    Args:
        rates: ``mask_prob`` values.
        targets: predicted positions per 1000 characters.
        losses: held-out loss of one model at each rate, nats.
        baselines: prices to draw as lines, nats.
    """
    with series_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.2), layout="constrained")
    ticks = range(len(rates))
    names = [f"{rate:g}" for rate in rates]
    left.bar(ticks, targets, color=BLUE, width=0.7)
    left.bar_label(left.containers[0], fmt="%.0f", fontsize=9, padding=2)
    left.set_ylim(0, 1.15 * max(targets))
    left.set_title("given: questions per 1000 characters", fontsize=11)
    price_lines(right, baselines)
    right.plot(ticks, losses, "o-", color=RED)
    for x, loss in zip(ticks, losses, strict=True):
        right.annotate(
            f"{loss:.2f}", (x, loss), (6, -12), textcoords="offset points", fontsize=9, color=INK
        )
    right.set_title("taken: price of one answer, nats", fontsize=11)
    right.set(ylim=(0, 3.4), xlim=(-0.4, len(rates) - 0.4))
    for axes in (left, right):
        axes.set(xticks=ticks, xticklabels=names, xlabel="mask_prob")
    return figure


def beliefs(rows: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the mean probability of the original and of the shown character, by kind of position."""
    figure, axes = new_figure(7.2, 2.9)
    for shift, which, colour, name in (
        (-0.2, 0, GREEN, "the original character"),
        (0.2, 1, ORANGE, "the character it is shown"),
    ):
        bars = axes.bar(
            [x + shift for x in range(len(rows))],
            [pair[which] for pair in rows.values()],
            width=0.38,
            color=colour,
            hatch="" if which == 0 else "//",
            edgecolor="white",
            label=name,
        )
        axes.bar_label(bars, fmt="%.2f", fontsize=9, padding=2)
    axes.set(xticks=range(len(rows)), xticklabels=list(rows), ylim=(0, 1.1), ylabel="mean P")
    figure.legend(loc="outside upper left", ncols=2, frameon=False)
    return figure


def coverage_curves(
    epochs: Sequence[int],
    measured: Mapping[str, Sequence[float]],
    formulas: Mapping[str, Sequence[float]],
) -> Figure:
    """Draw the share of positions selected at least once: measured as dots, formulas as lines."""
    figure, axes = new_figure()
    styles = list(zip((RED, ORANGE, BLUE, VIOLET), "s^oD", strict=True))
    for (name, shares), (colour, marker) in zip(measured.items(), styles, strict=False):
        axes.plot(epochs, formulas[name], color=colour, linewidth=1)
        axes.plot(epochs, shares, marker, color=colour, markersize=5)
        axes.annotate(
            f"{name} {100 * shares[-1]:.1f} %",
            (epochs[-1], shares[-1]),
            (8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
        )
    axes.set(
        xlabel="epochs",
        ylabel="selected at least once",
        ylim=(0, 1.05),
        yticks=[0, 0.5, 1],
        yticklabels=["0 %", "50 %", "100 %"],
    )
    return figure


def attention_maps(maps: Mapping[str, Sequence[Sequence[float]]], symbols: Sequence[str]) -> Figure:
    """Draw attention weights side by side: who looks (rows) at whom (columns).

    Args:
        maps: by title, weights of shape ``(length, length)``; a weight of exactly 0 is crossed out.
        symbols: the characters of the line.
    """
    n = len(symbols)
    with series_style():
        figure, row = plt.subplots(
            1, len(maps), figsize=(7.2, 3.3), layout="constrained", squeeze=False
        )
    for axes, (title, weights) in zip(row[0], maps.items(), strict=True):
        axes.imshow(weights, cmap="Blues", vmin=0, vmax=1.25)
        for i, j in ((i, j) for i in range(n) for j in range(n)):
            p = float(weights[i][j])
            sign = f"{p:.2f}" if p else "×"
            colour = GREY if not p else "w" if p > 0.6 else INK
            axes.text(j, i, sign, ha="center", va="center", color=colour)
        names = [visible(symbol) for symbol in symbols]
        axes.set(xticks=range(n), xticklabels=names, yticks=range(n), yticklabels=names)
        axes.set(xlabel="is looked at (key)", ylabel="looks (query)")
        axes.set_title(title)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


def position_products(products: Sequence[Sequence[float]]) -> Figure:
    """Draw the product of a turned query and a turned key over their positions.

    Args:
        products: shape ``(positions of the query, positions of the key)``.
    """
    figure, axes = new_figure(5.2, 3.9)
    limit = max(abs(float(p)) for row in products for p in row)
    image = axes.imshow(products, cmap="RdBu_r", vmin=-limit, vmax=limit)
    axes.set(xlabel="position of the key", ylabel="position of the query")
    figure.colorbar(image, ax=axes, label="query · key")
    return figure


def head_offsets(
    heads: Mapping[str, Sequence[Sequence[float]]],
    offsets: Sequence[int],
    born: Sequence[int],
) -> Figure:
    """Draw how much each head looks how many places away; frames mark the places in ``born``.

    Args:
        heads: by title, mean attention of shape ``(n_heads, len(offsets))``.
        offsets: places away, negative to the left.
        born: by head, the place framed.
    """
    with series_style():
        figure, row = plt.subplots(
            1, len(heads), figsize=(7.2, 3.5), layout="constrained", squeeze=False, sharey=True
        )
    top = max(float(p) for matrix in heads.values() for line in matrix for p in line)
    for axes, (title, matrix) in zip(row[0], heads.items(), strict=True):
        image = axes.imshow(matrix, cmap="Blues", vmin=0, vmax=top, aspect="auto")
        for head, place in enumerate(born):
            corner = (offsets.index(place) - 0.5, head - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=ORANGE, linewidth=1.8))
        shown = [k for k, place in enumerate(offsets) if place % 2 == 0]
        axes.set(
            xticks=shown,
            xticklabels=[f"{offsets[k]:+d}" if offsets[k] else "0" for k in shown],
            yticks=range(len(born)),
            xlabel="places away",
        )
        axes.set_title(title)
    row[0][0].set_ylabel("head")
    figure.colorbar(image, ax=list(row[0]), label="mean attention")
    return figure


def parameter_shares(models: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw where the parameters of each model sit, as shares of its total."""
    figure, axes = new_figure(7.2, 0.9 + 0.55 * len(models))
    parts = list(next(iter(models.values())))
    left = dict.fromkeys(models, 0.0)
    hatches = ("", "//", "..", "xx", "")
    for part, colour, hatch in zip(parts, (BLUE, ORANGE, GREEN, GREY), hatches, strict=False):
        shares = {name: counts[part] / sum(counts.values()) for name, counts in models.items()}
        axes.barh(
            list(models),
            list(shares.values()),
            left=list(left.values()),
            color=colour,
            edgecolor="white",
            hatch=hatch,
            height=0.6,
            label=part,
        )
        for i, (name, share) in enumerate(shares.items()):
            if share > 0.06:
                axes.text(
                    left[name] + share / 2,
                    i,
                    f"{share:.0%}",
                    ha="center",
                    va="center",
                    color=INK,
                    fontsize=10,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
                )
            left[name] += share
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0 %", "50 %", "100 %"])
    figure.legend(loc="outside upper left", ncols=len(parts), frameon=False)
    return figure


def what_moves(
    symbols: Sequence[str], moved: Mapping[str, Sequence[float]], changed: int
) -> Figure:
    """Draw how far the hidden state of each position moves when one character is changed.

    Args:
        symbols: the line.
        moved: by model, the distance at each position.
        changed: the position of the changed character.
    """
    with series_style():
        figure, column = plt.subplots(
            len(moved),
            1,
            figsize=(7.2, 0.6 + 1.5 * len(moved)),
            layout="constrained",
            squeeze=False,
            sharex=True,
            sharey=True,
        )
    for (axes,), (name, distances) in zip(column, moved.items(), strict=True):
        colours = [ORANGE if i == changed else BLUE for i in range(len(symbols))]
        axes.bar(range(len(symbols)), distances, color=colours, width=0.75)
        for i, distance in enumerate(distances):
            if not round(distance, 4):
                axes.text(i, 0, "0", ha="center", va="bottom", color=GREY, fontsize=9)
        axes.set_title(name)
        axes.set(ylabel="moved by")
        axes.tick_params(axis="x", length=0)
    axes.set_xticks(range(len(symbols)), [visible(symbol) for symbol in symbols])
    axes.get_xticklabels()[changed].set(color=ORANGE, fontweight="bold")
    return figure


def gap_attention(
    symbols: Sequence[str], layers: Mapping[str, Sequence[Sequence[float]]], gap: int
) -> Figure:
    """Draw where one position looks, a row a head, a panel a layer.

    Args:
        symbols: the line.
        layers: by title, weights of shape ``(n_heads, length)``.
        gap: the position that looks.
    """
    with series_style():
        figure, column = plt.subplots(
            len(layers), 1, figsize=(7.2, 2.6 * len(layers)), layout="constrained", squeeze=False
        )
    for (axes,), (title, weights) in zip(column, layers.items(), strict=True):
        image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.axvline(gap - 0.5, color=ORANGE, linewidth=1.5)
        axes.axvline(gap + 0.5, color=ORANGE, linewidth=1.5)
        axes.set_xticks(range(len(symbols)), [visible(symbol) for symbol in symbols])
        axes.set(yticks=range(len(weights)), ylabel="head")
        axes.set_title(title)
        axes.tick_params(length=0)
    figure.colorbar(image, ax=[axes for (axes,) in column], label="attention of the gap")
    return figure


def looked_and_mattered(
    symbols: Sequence[str], attention: Sequence[float], effect: Sequence[float], gap: int
) -> Figure:
    """Draw the attention that a gap pays to each character above what that character is worth.

    Args:
        symbols: the line.
        attention: shares that sum to 1.
        effect: by position, how much dearer the truth gets (nats) when that character is hidden.
        gap: the position that looks.
    """
    with series_style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(7.2, 3.8), layout="constrained", sharex=True
        )
    above.bar(range(len(symbols)), attention, color=BLUE, width=0.75)
    above.set_title("attention of the gap, mean of all heads")
    above.set(ylabel="share")
    below.bar(range(len(symbols)), effect, color=VIOLET, width=0.75)
    below.axhline(0, color=GREY, linewidth=1)
    below.set_title("what hiding the character costs at the gap")
    below.set(ylabel="nats")
    below.set_xticks(range(len(symbols)), [visible(symbol) for symbol in symbols])
    for axes in (above, below):
        axes.tick_params(axis="x", length=0)
        axes.axvspan(gap - 0.5, gap + 0.5, color="#e5e7eb", zorder=0)
    return figure


def gradient_bars(text: Sequence[str], sizes: Sequence[float], labelled: str) -> Figure:
    """Draw how strongly the loss pulls at each position's answer: a bar where it pulls at all.

    Args:
        text: the characters as the model reads them.
        sizes: the length of the gradient at each position.
        labelled: what the bars are, for the vertical axis.
    """
    figure, axes = new_figure(9.6, 2.4)
    axes.bar(range(len(text)), sizes, color=BLUE, width=0.8)
    axes.set(ylabel=labelled, xlim=(-0.7, len(text) - 0.3))
    axes.set_xticks(range(len(text)), [visible(c) for c in text], family="monospace")
    axes.tick_params(axis="x", length=0, labelsize=10)
    return figure


def races(curves: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw held-out loss in nats against seconds of training, the seconds on a logarithmic axis.

    Names that are alike up to a comma share a colour; the first colour's lines are thicker.
    """
    figure, axes = new_figure(10.4, 4.4)
    drawn: Counter[str] = Counter()
    with series_style():
        for name, points in curves.items():
            kind = name.partition(",")[0]
            line = ("-", "--", "-.", ":")[drawn[kind] % 4]
            drawn[kind] += 1
            number = list(drawn).index(kind)
            colour, width = (BLUE, ORANGE, GREEN, VIOLET)[number % 4], 1.6 if number else 2.6
            seconds, nats = zip(*((s, n) for s, n in points if s > 0), strict=True)
            axes.plot(seconds, nats, label=name, color=colour, linestyle=line, linewidth=width)
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 60, 600], ["1 second", "10 seconds", "1 minute", "10 minutes"])
        # Room beside the longest curve for what price_lines writes there.
        axes.set_xlim(right=8 * max(s for points in curves.values() for s, _ in points))
        axes.set_xlabel("training, one thread")
        axes.set_ylabel("held-out loss (nats)")
        axes.set_ylim(0.6, 3.6)
        axes.legend(loc="lower left", bbox_to_anchor=(1, 0))
    return figure


def costs_by_kind(
    readers: Mapping[str, Mapping[str, float]], baselines: Mapping[str, Mapping[str, float]]
) -> Figure:
    """Draw what left, right and both pay for each kind of character; the baselines as lines.

    Args:
        readers: by reader and kind, mean cost in nats.
        baselines: the same for at most two baselines.
    """
    figure, axes = new_figure(7.2, 3.8)
    kinds = list(next(iter(readers.values())))
    width = 0.8 / len(readers)
    looks = zip(readers.items(), (ORANGE, VIOLET, BLUE), ("//", "\\\\", ""), strict=True)
    for n, ((name, costs), colour, hatch) in enumerate(looks):
        bars = axes.bar(
            [x + width * (n - (len(readers) - 1) / 2) for x in range(len(kinds))],
            [costs[kind] for kind in kinds],
            width=width,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            label=name,
        )
        axes.bar_label(bars, fmt="%.2f", fontsize=9, padding=2)
    for (name, costs), style in zip(baselines.items(), ("-", (0, (4, 3))), strict=False):
        for x, kind in enumerate(kinds):
            axes.plot(
                [x - 0.45, x + 0.45],
                [costs[kind]] * 2,
                color=GREY,
                linestyle=style,
                linewidth=1.5,
                zorder=0,
                label=name if x == 0 else None,
            )
    axes.set(xticks=range(len(kinds)), xticklabels=kinds, ylabel="nats a character")
    axes.tick_params(axis="x", length=0)
    figure.legend(loc="outside upper left", ncols=len(readers) + len(baselines), frameon=False)
    return figure


def cost_growth(
    lengths: Sequence[int],
    measured: Sequence[float],
    linear: Sequence[float],
    quadratic: Sequence[float],
) -> Figure:
    """Draw milliseconds a line against its length, beside what the products alone would take."""
    figure, axes = new_figure(7.2, 4.2)
    with series_style():
        axes.plot(lengths, measured, color=BLUE, marker="o", markersize=5, label="measured")
        axes.plot(
            lengths,
            linear,
            color=GREY,
            linestyle="--",
            linewidth=1.5,
            label="matrices of the layers, as fast as a large product (linear)",
        )
        axes.plot(
            lengths,
            quadratic,
            color=ORANGE,
            linestyle="-.",
            linewidth=1.5,
            label="attention, as fast as a large product (quadratic)",
        )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.set(xlabel="length of the line in characters", ylabel="milliseconds a line")
        axes.legend(loc="upper left", fontsize=9)
    return figure


def scaling_curves(curves: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw held-out loss against training compute, a curve a model size.

    Args:
        curves: by size, points of operations and nats. Each point is a training of its own; the
            lowest of all sizes at the same operations gets a ring.
    """
    figure, axes = new_figure(7.2, 4.2)
    colours = (GREY, VIOLET, BLUE, GREEN, ORANGE, RED)
    with series_style():
        for (name, points), colour, marker in zip(curves.items(), colours, "ovs^D*", strict=False):
            operations, nats = zip(*points, strict=True) if points else ((), ())
            axes.plot(operations, nats, color=colour, marker=marker, markersize=6, label=name)
        budgets = sorted({x for points in curves.values() for x, _ in points})
        for column in budgets:
            lowest = min(y for points in curves.values() for x, y in points if x == column)
            axes.plot(
                column, lowest, "o", markersize=15, fillstyle="none", color=INK, markeredgewidth=1.5
            )
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(budgets, [f"{x / 1e12:g}" for x in budgets])
        axes.set(xlabel="TFLOP spent on training", ylabel="held-out loss (nats)")
        handles, labels = axes.get_legend_handles_labels()
        labels = [f"{label} parameters" if n == 0 else label for n, label in enumerate(labels)]
        figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), fontsize=9)
    return figure
