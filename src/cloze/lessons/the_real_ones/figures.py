"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cloze.teaching.charts import fading, first_at_the_top
from cloze.teaching.figures import Drawn, listed, listed_by_group, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREY, INK, PAPER, SHADE


@picture
def costs(rows: Sequence[tuple[int, float, float, float]]) -> Drawn:
    """Draw log|V| and the unigram over |V|, per symbol and per character.

    Args:
        rows: |V|, log|V|, the unigram's cost per symbol in nats, characters per symbol.
    """
    figure, (left, right) = panels(("per symbol", "per character"))
    sizes, logs, unigrams, lengths = np.transpose(rows)
    for axes, per in ((left, 1), (right, lengths)):
        axes.plot(sizes, logs / per, "o--", color=GREY, label="log|V|")
        axes.plot(sizes, unigrams / per, "s-", color=BLUE, label="unigram")
        axes.set(xscale="log", xlabel="|V|", ylim=(0, None))
    left.set(ylabel="nats")
    left.legend()
    described = "; ".join(
        f"|V| = {size}: {log:.2f} and {unigram:.2f} per symbol, {log / long:.2f} and "
        f"{unigram / long:.2f} per character"
        for size, log, unigram, long in rows
    )
    return figure, f"Two curves, log|V| and the unigram in nats. {described}."


@picture
def parameters(parts: Mapping[str, tuple[int, int]]) -> Drawn:
    """Draw how many parameters each encoder has in its layers and outside of them."""
    figure, axes = new_figure(7.2, 0.8 + 0.36 * len(parts))
    millions = {name: np.divide(both, 1e6) for name, both in parts.items()}
    inside, outside = np.transpose([*millions.values()])
    axes.barh([*parts], inside, color=BLUE, height=0.65, label="layers")
    look: Any = {"color": GREY, "hatch": "//", "edgecolor": PAPER, "height": 0.65}
    ends = axes.barh([*parts], outside, left=inside, label="embeddings and the rest", **look)
    axes.bar_label(ends, [f"{both:.0f}" for both in inside + outside], padding=4)
    axes.set(xlabel="millions of parameters", xlim=(0, 1.12 * max(inside + outside)))
    first_at_the_top(axes)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    described = listed(millions, "{0} {1[0]:.0f} + {1[1]:.0f}")
    return figure, f"Bars of millions of parameters, in layers + outside of them: {described}."


@picture
def floors(shares: Mapping[str, Mapping[float, float]]) -> Drawn:
    """Draw what a hidden symbol costs the best reader, as a share of the unigram, by rate."""
    figure, axes = new_figure(6.4, 3.2)
    looks = ((BLUE, "o-"), (INK, "s--"))
    for (name, curve), (colour, line) in zip(shares.items(), looks, strict=True):
        axes.plot([*curve], [*curve.values()], line, color=colour, label=name)
    axes.set(xlabel="share of symbols hidden", ylabel="floor / unigram", ylim=(0, 1), xlim=(0, 1))
    axes.legend()
    described = listed_by_group(shares, "{1:.2f} at {0:.0%}")
    text = "Curves of the floor as a share of the unigram's cost, by what is hidden."
    return figure, f"{text} {described}."


@picture
def pictures(titled: Mapping[str, Sequence[Sequence[float]]], text: str) -> Drawn:
    """Draw pictures side by side; a pixel that is no number is hidden.

    Args:
        titled: by title, pixels from 0 to 1, or NaN.
        text: what there is to see.
    """
    figure, row = panels([""] * len(titled), 7.2, 2.2)
    for axes, (title, pixels) in zip(row, titled.items(), strict=True):
        shades = np.nan_to_num(pixels, nan=-1 / 3)
        axes.imshow(shades, cmap=fading(GREY, BLUE), vmin=-1, vmax=1)
        for edge in range(0, len(pixels) + 1, 4):
            axes.axhline(edge - 0.5, color=SHADE, linewidth=0.8)
            axes.axvline(edge - 0.5, color=SHADE, linewidth=0.8)
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=9)
        axes.spines[:].set_visible(False)
    return figure, text
