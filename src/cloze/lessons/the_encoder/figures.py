"""The figures of this lesson, from plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.teaching.figures import new_figure, series_style
from cloze.teaching.palette import BLUE, GREY, INK, ORANGE, SHADE, VIOLET
from cloze.vocabulary import visible


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


def bias_arrows(
    query: Sequence[float], keys: Sequence[Sequence[float]], scores: Sequence[float], at: int
) -> Figure:
    """Draw a turned query and the turned keys of one pair as arrows, and each score below.

    Args:
        query: the pair of numbers of the one that looks, shape ``(2,)``.
        keys: by position, the same pair of the key, shape ``(length, 2)``.
        scores: by position, the score of all pairs together.
        at: the position that looks, marked on the axis.
    """
    with series_style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(7.2, 3.4), layout="constrained", sharex=True
        )
    looks: Any = {"angles": "xy", "scale_units": "xy", "scale": 1, "headaxislength": 3}
    for place, key in enumerate(keys):
        for (x, y), colour, width, wide in ((query, ORANGE, 0.013, 2), (key, BLUE, 0.005, 4)):
            tip = 0.46 / math.hypot(x, y)
            shape = {"color": colour, "width": width, "headwidth": wide, "headlength": 3}
            above.quiver(place, 0, tip * x, tip * y, **shape, **looks)
    above.set(aspect="equal", ylim=(-0.5, 0.5), yticks=[])
    above.set_title("one pair: the query (thick) and the key at each position (thin)")
    above.spines[:].set_visible(False)
    below.bar(range(len(scores)), scores, color=BLUE, width=0.5)
    below.set_title("their score, all pairs together")
    below.set(xlabel="position of the key", xticks=range(len(scores)))
    below.get_xticklabels()[at].set(color=ORANGE, fontweight="bold")
    for axes in (above, below):
        axes.tick_params(axis="x", length=0)
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
    """Draw where one position looks, a row per head, a panel per layer.

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
        axes.axvspan(gap - 0.5, gap + 0.5, color=SHADE, zorder=0)
    return figure
