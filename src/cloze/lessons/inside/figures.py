"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cloze.teaching.figures import fading, listed, named_bars, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, ORANGE

WAYS = {"near": BLUE, "straight": ORANGE, "relay": GREEN}
"""By the way that a word's influence takes, its colour."""
HATCHES = ("", "//", "..")
SHOWN = {
    "umbrella by raining": "sledge/umbrella by snowing/raining at +6",
    "raining by umbrella": "snowing/raining by sledge/umbrella at -6",
    "bad by liked": "bad/good by liked/hated at +3",
    "bad by not": "good/bad by not/very at -1",
    "took by umbrella": "took/wore by umbrella/boots at +3",
    "bark by dogs": "barks/bark by dog/dogs at -6",
    "bank by river": "bank/boat by river/sea at +7",
}
"""By its name in the picture, a rule of the world."""


@picture
def ladder(
    costs: Mapping[str, Mapping[str, float]], rungs: Sequence[str], title: str
) -> tuple[Figure, str]:
    """Draw what the truth costs at each rung, for several readers of the rungs."""
    figure, axes = new_figure(7.2, 3.0)
    named = {reader: dict(zip(rungs, c.values(), strict=True)) for reader, c in costs.items()}
    for (reader, nats), colour, sign in zip(named.items(), (BLUE, ORANGE), "os", strict=True):
        axes.plot([*nats], [*nats.values()], sign + "-", color=colour, label=reader)
    axes.set(ylabel="nats", ylim=(0, None), title=title)
    axes.legend(fontsize=9)
    described = "; ".join(f"{reader}: {listed(nats)}" for reader, nats in named.items())
    return figure, f"Lines of the cost of the truth after each part. {described} nats."


@picture
def added(logits: Mapping[str, float], title: str) -> tuple[Figure, str]:
    """Draw what each part adds to a difference of two logits, as bars to either side."""
    figure, axes = new_figure(7.2, 0.5 + 0.27 * len(logits))
    colours = [BLUE if value >= 0 else ORANGE for value in logits.values()]
    named_bars(axes, logits, colours)
    axes.axvline(0, color=INK, linewidth=1)
    axes.margins(x=0.15)
    axes.set(xlabel="logits", title=title)
    return figure, f"Bars, {title}: {listed(logits)}."


NAMES = {
    "embed": "embedding",
    "result": "head",
    "bias": "output bias",
    "mlp_out": "feed-forward",
    "rest": "last biases",
}


def named(key: Any) -> str:
    """Name a part as the notebook does: ``("result", 0, 1)`` is head 1.2."""
    part, where = (key, ()) if isinstance(key, str) else (key[0], key[1:])
    return f"{NAMES[part]} {'.'.join(str(n + 1) for n in where)}".strip()


def heads(values: Mapping[str, float], title: str) -> Any:
    """Draw a number for each head: a row for each layer."""
    layers = sorted({name.partition(".")[0] for name in values})
    rows = [[value for name, value in values.items() if name.startswith(f"{n}.")] for n in layers]
    columns = [str(h + 1) for h in range(len(rows[0]))]
    return table(rows, [f"layer {n}" for n in layers], columns, title, "head")


@picture
def table(
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    across: str = "",
) -> tuple[Figure, str]:
    """Draw numbers in a table, shaded by their size."""
    figure, axes = new_figure(7.2, 0.9 + 0.36 * len(rows))
    numbers = np.array(values)
    size = max(abs(numbers).max(), 1e-9)
    axes.imshow(
        numbers, cmap=fading(ORANGE, BLUE), vmin=-1.6 * size, vmax=1.6 * size, aspect="auto"
    )
    for (i, j), number in np.ndenumerate(numbers):
        axes.text(j, i, f"{number:.2f}", ha="center", va="center", fontsize=9, color=INK)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(title=title, xlabel=across)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    described = "; ".join(
        f"{row}: {listed(dict(zip(columns, each, strict=True)))}"
        for row, each in zip(rows, values, strict=True)
    )
    return figure, f"A table, {title}. {described}."


@picture
def ways(rules: Mapping[str, Mapping[str, float]]) -> tuple[Figure, str]:
    """Draw for some rules which share of a word's influence takes which way, bars end to end."""
    shares = {name: rules[rule] for name, rule in SHOWN.items()}
    figure, axes = new_figure(7.2, 0.9 + 0.3 * len(shares))
    left = np.zeros(len(shares))
    for (way, colour), hatch in zip(WAYS.items(), HATCHES, strict=True):
        widths = np.array([max(each[way], 0.0) for each in shares.values()])
        axes.barh(
            [*shares], widths, left=left, color=colour, hatch=hatch, edgecolor=GREY, label=way
        )
        left += widths
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="share of the effect")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize=9)
    described = "; ".join(
        f"{rule}: {listed({way: each[way] for way in WAYS})}" for rule, each in shares.items()
    )
    return figure, f"Bars of the share of the effect that takes each way. {described}."


@picture
def beside(told: Mapping[str, tuple[float, float]], across: str, up: str) -> tuple[Figure, str]:
    """Draw each head as a point: what its inside tells, and what it is worth.

    Named are those in the upper half; the others lie too close together.
    """
    figure, axes = new_figure(7.2, 3.4)
    for layer, colour, sign in (("1", BLUE, "o"), ("2", ORANGE, "s")):
        own = {name: point for name, point in told.items() if name.startswith(layer)}
        xs, ys = zip(*own.values(), strict=True)
        axes.plot(xs, ys, sign, color=colour, label=f"layer {layer}")
    middle = sorted(y for _, y in told.values())[len(told) // 2]
    for name, (x, y) in told.items():
        if y > middle:
            side = (-22, -9) if name == "2.1" else (7, -4)
            axes.annotate(name, (x, y), side, textcoords="offset points", fontsize=9)
    axes.legend(fontsize=9, loc="upper left")
    axes.set(xlabel=across, ylabel=up)
    described = ", ".join(f"{name} ({x:.2f}, {y:.3f})" for name, (x, y) in told.items())
    return figure, f"A point for each head, {across} across and {up} up: {described}."
