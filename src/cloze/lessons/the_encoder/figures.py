"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import empty_figure, fading, listed, picture
from cloze.teaching.palette import BLUE, ORANGE
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
