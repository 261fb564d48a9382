"""The figures of this lesson, from plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.teaching.figures import empty_figure, fading, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREY, ORANGE, RED, SHADE, VIOLET
from cloze.vocabulary import visible


@picture
def attention_maps(
    maps: Mapping[str, Sequence[Sequence[float]]], symbols: Sequence[str]
) -> tuple[Figure, str]:
    """Draw attention weights side by side: who looks (rows) at whom (columns).

    Args:
        maps: by title, weights of shape ``(length, length)``; a weight of exactly 0 is crossed out.
        symbols: the characters of the line.
    """
    n = len(symbols)
    figure = empty_figure(7.2, 3.3)
    row = figure.subplots(1, len(maps), squeeze=False)[0]
    for axes, (title, weights) in zip(row, maps.items(), strict=True):
        axes.imshow(weights, cmap=fading(BLUE), vmin=0, vmax=1.45)
        for i, j in ((i, j) for i in range(n) for j in range(n)):
            p = float(weights[i][j])
            sign = f"{p:.2f}" if p else "×"
            axes.text(j, i, sign, ha="center", va="center")
        names = [visible(symbol) for symbol in symbols]
        axes.set(xticks=range(n), xticklabels=names, yticks=range(n), yticklabels=names)
        axes.set(xlabel="is looked at (key)", ylabel="looks (query)")
        axes.set_title(title)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    rows = "; ".join(
        f"{title}: "
        + ", ".join(
            f"{name} looks at " + listed(dict(zip(names, map(float, line), strict=True)))
            for name, line in zip(names, weights, strict=True)
        )
        for title, weights in maps.items()
    )
    return figure, f"Tables of who looks at whom, one beside the other. {rows}."


@picture
def position_products(products: Sequence[Sequence[float]]) -> tuple[Figure, str]:
    """Draw the product of a turned query and a turned key over their positions.

    Args:
        products: shape ``(positions of the query, positions of the key)``.
    """
    figure, axes = new_figure(5.2, 3.9)
    limit = max(abs(float(p)) for row in products for p in row)
    image = axes.imshow(
        products, cmap=fading(BLUE, RED), interpolation="none", vmin=-limit, vmax=limit
    )
    axes.set(xlabel="position of the key", ylabel="position of the query")
    figure.colorbar(image, ax=axes, label="query · key")
    n = len(products)
    stripes = [
        [float(products[i][i + d]) for i in range(n) if 0 <= i + d < n] for d in range(1 - n, n)
    ]
    uneven = max(max(stripe) - min(stripe) for stripe in stripes)
    text = (
        f"A square of {n} × {n} products of query and key, between {-limit:.2f} and {limit:.2f}: "
    )
    return figure, f"{text}stripes along the diagonal, each the same all along to {uneven:.2f}."


@picture
def head_offsets(
    heads: Mapping[str, Sequence[Sequence[float]]],
    offsets: Sequence[int],
    born: Sequence[int],
) -> tuple[Figure, str]:
    """Draw how much each head looks how many places away; frames mark the places in ``born``.

    Args:
        heads: by title, mean attention of shape ``(n_heads, len(offsets))``.
        offsets: places away, negative to the left.
        born: by head, the place framed.
    """
    figure = empty_figure(7.2, 3.5)
    row = figure.subplots(1, len(heads), squeeze=False, sharey=True)[0]
    top = max(float(p) for matrix in heads.values() for line in matrix for p in line)
    for axes, (title, matrix) in zip(row, heads.items(), strict=True):
        image = axes.imshow(matrix, cmap=fading(BLUE), vmin=0, vmax=top, aspect="auto")
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
    row[0].set_ylabel("head")
    figure.colorbar(image, ax=list(row), label="mean attention")
    shares = {
        title: [float(matrix[head][offsets.index(place)]) for head, place in enumerate(born)]
        for title, matrix in heads.items()
    }
    framed = "; ".join(f"{title}: {min(p):.2f} to {max(p):.2f}" for title, p in shares.items())
    text = f"Mean attention of {len(born)} heads by places away. In the framed places "
    return figure, f"{text}({', '.join(f'{place:+d}' for place in born)}) lie, {framed}."


@picture
def bias_arrows(
    query: Sequence[float], keys: Sequence[Sequence[float]], scores: Sequence[float], at: int
) -> tuple[Figure, str]:
    """Draw a turned query and the turned keys of one pair as arrows, and each score below.

    Args:
        query: the pair of numbers of the one that looks, shape ``(2,)``.
        keys: by position, the same pair of the key, shape ``(length, 2)``.
        scores: by position, the score of all pairs together.
        at: the position that looks, marked on the axis.
    """
    figure = empty_figure(7.2, 3.4)
    above, below = figure.subplots(2, 1, sharex=True)
    arrow: Any = {"units": "xy", "angles": "xy", "scale_units": "xy", "scale": 1}
    for place, key in enumerate(keys):
        for (x, y), colour, width, wide in ((query, ORANGE, 0.1, 2.6), (key, BLUE, 0.04, 5)):
            tip = 0.46 / math.hypot(x, y)
            head = {"headwidth": wide, "headlength": wide, "headaxislength": wide}
            above.quiver(place, 0, tip * x, tip * y, color=colour, width=width, **head, **arrow)
    above.set(aspect="equal", ylim=(-0.5, 0.5), yticks=[])
    above.set_title("one pair: the query (thick) and the key at each position (thin)")
    above.spines[:].set_visible(False)
    below.bar(range(len(scores)), scores, color=BLUE, width=0.5)
    below.set_title("their score, all pairs together")
    below.set(xlabel="position of the key", xticks=range(len(scores)))
    below.get_xticklabels()[at].set(fontweight="bold")
    for axes in (above, below):
        axes.tick_params(axis="x", length=0)
    bars = ", ".join(f"{place}: {score:.1f}" for place, score in enumerate(scores))
    text = "Arrows of the query and of the key at each position: the more they point the same way, "
    return figure, f"{text}the higher the bar of the score below. By position of the key, {bars}."


@picture
def what_moves(
    symbols: Sequence[str], moved: Mapping[str, Sequence[float]], changed: int
) -> tuple[Figure, str]:
    """Draw how far the hidden state of each position moves when one character is changed.

    Args:
        symbols: the line.
        moved: by model, the distance at each position.
        changed: the position of the changed character.
    """
    figure = empty_figure(7.2, 0.6 + 1.5 * len(moved))
    column = figure.subplots(len(moved), 1, squeeze=False, sharex=True, sharey=True)
    for (axes,), (name, distances) in zip(column, moved.items(), strict=True):
        colours = [ORANGE if i == changed else BLUE for i in range(len(symbols))]
        axes.bar(range(len(symbols)), distances, color=colours, width=0.75)
        for i, distance in enumerate(distances):
            if not round(distance, 4):
                axes.text(i, 0, "0", ha="center", va="bottom", fontsize=9)
        axes.set_title(name)
        axes.set(ylabel="moved by")
        axes.tick_params(axis="x", length=0)
    axes.set_xticks(range(len(symbols)), [visible(symbol) for symbol in symbols])
    axes.get_xticklabels()[changed].set(fontweight="bold")
    far = "; ".join(
        f"{name}: up to {max(d[:changed]):.2f} left of it, {d[changed]:.2f} at it, "
        f"up to {max(d[changed + 1 :]):.2f} right of it"
        for name, d in moved.items()
    )
    return figure, f"Bars of how far each position moves when the orange one is changed. {far}."


@picture
def gap_attention(
    symbols: Sequence[str], layers: Mapping[str, Sequence[Sequence[float]]], gap: int
) -> tuple[Figure, str]:
    """Draw where one position looks, a row per head, a panel per layer.

    Args:
        symbols: the line.
        layers: by title, weights of shape ``(n_heads, length)``.
        gap: the position that looks.
    """
    figure = empty_figure(7.2, 2.6 * len(layers))
    column = figure.subplots(len(layers), 1, squeeze=False)
    for (axes,), (title, weights) in zip(column, layers.items(), strict=True):
        image = axes.imshow(weights, cmap=fading(BLUE), vmin=0, vmax=1, aspect="auto")
        axes.axvline(gap - 0.5, color=ORANGE, linewidth=1.5)
        axes.axvline(gap + 0.5, color=ORANGE, linewidth=1.5)
        axes.set_xticks(range(len(symbols)), [visible(symbol) for symbol in symbols])
        axes.set(yticks=range(len(weights)), ylabel="head")
        axes.set_title(title)
        axes.tick_params(length=0)
    figure.colorbar(image, ax=[axes for (axes,) in column], label="attention of the gap")
    most = "; ".join(
        f"{title}: "
        + ", ".join(f"{max(range(len(row)), key=row.__getitem__) - gap:+d}" for row in weights)
        for title, weights in layers.items()
    )
    return figure, f"Where the gap looks, a row per head. Each looks most at the place: {most}."


@picture
def looked_and_mattered(
    symbols: Sequence[str], attention: Sequence[float], effect: Sequence[float], gap: int
) -> tuple[Figure, str]:
    """Draw the attention that a gap pays to each character above what that character is worth.

    Args:
        symbols: the line.
        attention: shares that sum to 1.
        effect: by position, how much dearer the truth gets (nats) when that character is hidden.
        gap: the position that looks.
    """
    figure = empty_figure(7.2, 3.8)
    above, below = figure.subplots(2, 1, sharex=True)
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
    near = [i for i in range(max(0, gap - 3), min(len(symbols), gap + 4)) if i != gap]
    looked, cost = (
        ", ".join(f"{i - gap:+d} {visible(symbols[i])} {values[i]:.2f}" for i in near)
        for values in (attention, effect)
    )
    text = (
        "Bars of what the gap looks at above bars of what hiding it costs in nats. Near the gap, "
    )
    return figure, f"{text}attention is {looked}; the cost is {cost}."
