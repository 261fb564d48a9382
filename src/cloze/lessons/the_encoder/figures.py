"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from cloze.encoder import rotate
from cloze.teaching.figures import empty_figure, fading, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREY, ORANGE
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
    return figure, f"Attention weights, one table for each model. {rows}."


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


Arrow = tuple[float, float]


def _turned(arrow: Arrow, angle: float) -> Arrow:
    x, y = rotate(torch.tensor([arrow]), torch.tensor([[angle]]))[0].tolist()
    return x, y


@picture
def clock_hands(
    query: Arrow, key: Arrow, places: Sequence[tuple[int, int]], angle: float
) -> tuple[Figure, str]:
    """Draw a query and a key as the hands of a clock, turned by their positions.

    Args:
        query: the arrow of the query at position 0.
        key: the arrow of the key at position 0.
        places: for each clock, the positions of query and key.
        angle: by how much an arrow turns from one position to the next, in radians.
    """
    figure = empty_figure(7.2, 2.3)
    row = figure.subplots(1, len(places), squeeze=False)[0]
    products = []
    for axes, (i, j) in zip(row, places, strict=True):
        q, k = _turned(query, i * angle), _turned(key, j * angle)
        products.append(f"query at {i}, key at {j}: {q[0] * k[0] + q[1] * k[1]:+.3f}")
        axes.add_patch(Circle((0, 0), 1.35, fill=False, edgecolor=GREY))
        for name, end, colour in (("q", q, BLUE), ("k", k, ORANGE)):
            hand = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0}
            axes.annotate("", end, (0, 0), arrowprops=hand)
            axes.text(1.2 * end[0], 1.2 * end[1], name, ha="center", va="center", weight="bold")
        axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
        axes.set_title(products[-1].replace(", ", ",\n"), fontsize=10)
        axes.axis("off")
    return figure, f"Query and key as clock hands, with their dot products. {'; '.join(products)}."


BLOCKS = (
    ("embedding", "x", 0),
    ("norm", "", 1),
    ("attention", "head_weights", 1),
    ("+", "", 1),
    ("norm", "", 1),
    ("feed-forward", "hidden", 1),
    ("+", "", 1),
    ("norm", "hidden states", 0),
    ("head", "logits", 0),
    ("softmax", "P", 0),
)
"""From top to bottom: a block, what the notebook calls its result, and whether it is in a layer."""


@picture
def blocks(shapes: Mapping[str, Sequence[int]], layers: int) -> tuple[Figure, str]:
    """Draw a pre-norm encoder as blocks, with the shapes of what the notebook computes in them.

    Args:
        shapes: by the notebook's names, the shapes.
        layers: how many layers there are.
    """
    figure, axes = new_figure(5.4, 5.2)
    n, said = len(BLOCKS), []
    for row, (block, name, inside) in enumerate(BLOCKS):
        y, width = n - row, 0.7 if block == "+" else 2.4
        look: Any = {"facecolor": f"{BLUE}2e" if inside else "none", "edgecolor": GREY}
        place = (2.2 - width / 2, y - 0.3)
        axes.add_patch(FancyBboxPatch(place, width, 0.6, boxstyle="round,pad=0", **look))
        axes.text(2.2, y, block, ha="center", va="center")
        shape = f"{name} ({', '.join(map(str, shapes[name]))})" if name else ""
        axes.text(4.4, y, shape, va="center", fontsize=10)
        said.append(f"{block}, with {shape}" if shape else block)
        if row:
            down = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (2.2, y + 0.3), (2.2, y + 0.7), arrowprops=down)
    for top in (8.5, 5.5):  # the residual connections go around a norm and what follows it
        axes.plot([2.2, 0.7, 0.7], [top + 1, top + 1, top - 1.5], color=ORANGE)
        around = {"arrowstyle": "-|>", "color": ORANGE, "shrinkA": 0, "shrinkB": 0, "linewidth": 2}
        axes.annotate("", (1.85, top - 1.5), (0.7, top - 1.5), arrowprops=around)
    axes.text(0.5, 6.5, f"a layer, {layers} times", rotation=90, ha="right", va="center")
    axes.set(xlim=(0, 8), ylim=(0.5, n + 0.5))
    axes.axis("off")
    return figure, (
        f"The encoder as blocks, from top to bottom: {'; '.join(said)}. The six blocks from the "
        f"first norm to the second + are a layer, and there are {layers} of them. Before each norm "
        "in a layer, a residual connection leads around it to the next +."
    )
