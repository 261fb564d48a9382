"""The figures of this lesson, from plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import empty_figure, fading, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, PAPER, SHADE


@picture
def costs(rows: Sequence[tuple[int, float, float, float]]) -> tuple[Figure, str]:
    """Draw log|V| and the unigram over |V|, per symbol and per character.

    Args:
        rows: |V|, log|V|, the unigram's cost per symbol in nats, characters per symbol.
    """
    figure = empty_figure(7.2, 3.2)
    left, right = figure.subplots(1, 2)
    sizes = [size for size, *_ in rows]
    for axes, per, title in ((left, False, "per symbol"), (right, True, "per character")):
        for k, (colour, line, marker, name) in enumerate(
            ((GREY, "--", "o", "log|V|"), (BLUE, "-", "s", "unigram"))
        ):
            nats = [row[1 + k] / (row[3] if per else 1) for row in rows]
            axes.plot(sizes, nats, line, marker=marker, color=colour, label=name)
        axes.set(xscale="log", xlabel="|V|", ylim=(0, None))
        axes.set_title(title)
    left.set(ylabel="nats")
    left.legend()
    described = "; ".join(
        f"|V| = {size}: {log:.2f} and {unigram:.2f} per symbol, {log / long:.2f} and "
        f"{unigram / long:.2f} per character"
        for size, log, unigram, long in rows
    )
    return figure, f"Two curves, log|V| and the unigram in nats. {described}."


@picture
def parameters(parts: Mapping[str, tuple[int, int]]) -> tuple[Figure, str]:
    """Draw how many parameters each encoder has in its layers and outside of them."""
    figure, axes = new_figure(7.2, 0.8 + 0.36 * len(parts))
    names = list(parts)
    inside = [within / 1e6 for within, _ in parts.values()]
    outside = [beyond / 1e6 for _, beyond in parts.values()]
    axes.barh(names, inside, color=BLUE, height=0.65, label="layers")
    axes.barh(
        names,
        outside,
        left=inside,
        color=ORANGE,
        hatch="//",
        edgecolor=PAPER,
        height=0.65,
        label="embeddings and the rest",
    )
    for i, (a, b) in enumerate(zip(inside, outside, strict=True)):
        axes.annotate(f"{a + b:.0f}", (a + b, i), (4, 0), textcoords="offset points", va="center")
    most = max(a + b for a, b in zip(inside, outside, strict=True))
    axes.set(xlabel="millions of parameters", xlim=(0, 1.12 * most))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    described = ", ".join(
        f"{name} {a:.0f} + {b:.0f}" for name, a, b in zip(names, inside, outside, strict=True)
    )
    return figure, f"Bars of millions of parameters, in layers + outside of them: {described}."


@picture
def floors(shares: Mapping[str, Mapping[float, float]]) -> tuple[Figure, str]:
    """Draw what a hidden symbol costs the best reader, as a share of the unigram, by rate."""
    figure, axes = new_figure(6.4, 3.2)
    looks = ((BLUE, "o", "-"), (GREEN, "s", "--"))
    for (name, curve), (colour, marker, line) in zip(shares.items(), looks, strict=True):
        axes.plot(list(curve), list(curve.values()), line, marker=marker, color=colour, label=name)
    axes.set(xlabel="share of symbols hidden", ylabel="floor / unigram", ylim=(0, 1), xlim=(0, 1))
    axes.legend()
    described = "; ".join(
        f"{name}: " + ", ".join(f"{share:.2f} at {rate:.0%}" for rate, share in curve.items())
        for name, curve in shares.items()
    )
    return (
        figure,
        f"Curves of the floor as a share of the unigram's cost, by what is hidden. {described}.",
    )


@picture
def pictures(panels: Mapping[str, Sequence[Sequence[float]]], text: str) -> tuple[Figure, str]:
    """Draw pictures side by side; a pixel that is no number is hidden.

    Args:
        panels: by title, pixels from 0 to 1, or NaN.
        text: what there is to see.
    """
    figure = empty_figure(7.2, 2.2)
    row = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, pixels) in zip(row, panels.items(), strict=True):
        side = len(pixels)
        hidden = [[float(math.isnan(value)) for value in line] for line in pixels]
        ink = [[0.0 if math.isnan(value) else value for value in line] for line in pixels]
        axes.imshow(hidden, cmap=fading(GREY), vmin=0, vmax=3)
        axes.imshow(ink, cmap=fading(BLUE), vmin=0, vmax=1)
        for edge in range(0, side + 1, 4):
            axes.axhline(edge - 0.5, color=SHADE, linewidth=0.8)
            axes.axvline(edge - 0.5, color=SHADE, linewidth=0.8)
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=9)
        axes.spines[:].set_visible(False)
    return figure, text
