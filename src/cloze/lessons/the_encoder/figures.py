"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.patches import Circle

from cloze.encoder import rotate
from cloze.teaching.charts import arrow, box, shaded_table
from cloze.teaching.figures import Drawn, listed, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREY, INK
from cloze.vocabulary import visible


@picture
def attention_maps(maps: Mapping[str, Sequence[Sequence[float]]], symbols: Sequence[str]) -> Drawn:
    """Draw attention weights side by side: who looks (rows) at whom (columns).

    Args:
        maps: by title, weights of shape ``(length, length)``; a weight of exactly 0 is crossed out.
        symbols: the characters of the line.
    """
    figure, row = panels([*maps], 7.2, 3.3)
    names = [visible(symbol) for symbol in symbols]
    described = []
    for axes, (title, weights) in zip(row, maps.items(), strict=True):
        shaded_table(axes, weights, names, names, write=lambda p: f"{p:.2f}" if p else "×")
        axes.set(xlabel="is looked at (key)", ylabel="looks (query)")
        rows = zip(names, weights, strict=True)
        looks = [f"{name} looks at {listed(dict(zip(names, p, strict=True)))}" for name, p in rows]
        described.append(f"{title}: {', '.join(looks)}")
    return figure, f"Attention weights, one table for each model. {'; '.join(described)}."


Hand = tuple[float, float]


@picture
def clock_hands(query: Hand, key: Hand, places: Sequence[tuple[int, int]], angle: float) -> Drawn:
    """Draw a query and a key as the hands of a clock, turned by their positions.

    Args:
        query: the arrow of the query at position 0.
        key: the arrow of the key at position 0.
        places: for each clock, the positions of query and key.
        angle: by how much an arrow turns from one position to the next, in radians.
    """
    figure, row = panels([""] * len(places), 7.2, 2.3)
    products = []
    for axes, (i, j) in zip(row, places, strict=True):
        angles = torch.tensor([[i * angle], [j * angle]])
        q, k = rotate(torch.tensor([query, key]), angles).tolist()
        products.append(f"query at {i}, key at {j}: {q[0] * k[0] + q[1] * k[1]:+.3f}")
        axes.add_patch(Circle((0, 0), 1.35, fill=False, edgecolor=GREY))
        for name, end, colour in (("q", q, BLUE), ("k", k, INK)):
            arrow(axes, (0, 0), end, color=colour, linewidth=2, shrinkB=2)
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
def blocks(shapes: Mapping[str, Sequence[int]], layers: int) -> Drawn:
    """Draw a pre-norm encoder as blocks, with the shapes of what the notebook computes in them.

    Args:
        shapes: by the notebook's names, the shapes.
        layers: how many layers there are.
    """
    figure, axes = new_figure(5.4, 5.2)
    n, parts = len(BLOCKS), []
    for row, (block, name, inside) in enumerate(BLOCKS):
        y, width = n - row, 0.7 if block == "+" else 2.4
        ground = f"{BLUE}2e" if inside else "none"
        box(axes, (2.2 - width / 2, y - 0.3), width, 0.6, facecolor=ground)
        axes.text(2.2, y, block, ha="center", va="center")
        shape = f"{name} ({', '.join(map(str, shapes[name]))})" if name else ""
        axes.text(4.4, y, shape, va="center", fontsize=10)
        parts.append(f"{block}, with {shape}" if shape else block)
        if row:
            arrow(axes, (2.2, y + 0.7), (2.2, y + 0.3), color=GREY)
    for top in (8.5, 5.5):  # the residual connections go around a norm and what follows it
        axes.plot([2.2, 0.7, 0.7], [top + 1, top + 1, top - 1.5], color=INK)
        arrow(axes, (0.7, top - 1.5), (1.85, top - 1.5), color=INK, linewidth=2)
    axes.text(0.5, 6.5, f"a layer, {layers} times", rotation=90, ha="right", va="center")
    axes.set(xlim=(0, 8), ylim=(0.5, n + 0.5))
    axes.axis("off")
    return figure, (
        f"The encoder as blocks, from top to bottom: {'; '.join(parts)}. The six blocks from the "
        f"first norm to the second + are a layer, and there are {layers} of them. Before each norm "
        "in a layer, a residual connection leads around it to the next +."
    )
