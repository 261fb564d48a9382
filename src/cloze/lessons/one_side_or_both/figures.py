"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import empty_figure, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, SHADE
from cloze.vocabulary import counted, visible

COLOURS = {
    "left side": ORANGE,
    "masked": BLUE,
    "causal, Bayes": GREEN,
    "truth": GREY,
}
"""The colour of each way to answer. The names beside them carry the meaning."""


@picture
def learning(curves: Mapping[str, Sequence[tuple[int, float]]]) -> tuple[Figure, str]:
    """Draw what a single gap costs while two models learn.

    Args:
        curves: by objective, characters read and nats.
    """
    figure, axes = new_figure()
    looks = {"masked": (BLUE, "o-"), "causal": (GREEN, "s--")}
    for name, curve in curves.items():
        colour, line = looks[name]
        axes.plot(*zip(*curve, strict=True), line, markersize=4, color=colour, label=name)
    axes.set(xscale="log", xlabel="characters read", ylabel="a single gap, nats", ylim=(0, None))
    axes.legend()
    ends = "; ".join(
        f"{name} from {curve[0][1]:.2f} to {curve[-1][1]:.2f} nats"
        for name, curve in curves.items()
    )
    return figure, f"Two curves fall over the characters read: {ends}."


@picture
def answers(probabilities: Mapping[str, Mapping[str, float]]) -> tuple[Figure, str]:
    """Draw what each way puts into one gap: one panel per way, the same candidates in each.

    Args:
        probabilities: by way, the probability of each candidate shown.
    """
    figure = empty_figure(7.2, 2.6)
    row = figure.subplots(1, len(probabilities), squeeze=False, sharex=True, sharey=True)[0]
    for axes, (way, shares) in zip(row, probabilities.items(), strict=True):
        names = [visible(name) for name in shares]
        bars = axes.barh(names, list(shares.values()), color=COLOURS[way], height=0.65)
        axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=9)
        axes.set(xlim=(0, 1.35), xticks=[0, 1])
        axes.set_title(way)
        axes.tick_params(axis="y", length=0)
    row[0].invert_yaxis()
    figure.supxlabel("probability", fontsize=11)
    described = "; ".join(f"{way}: {listed(shares)}" for way, shares in probabilities.items())
    return figure, f"Bars of what each reader puts into the gap. {described}."


@picture
def by_gaps(paid: Mapping[str, Mapping[str, Mapping[str, float]]]) -> tuple[Figure, str]:
    """Draw, over the number of gaps, what the truth costs and how long an answer takes.

    Args:
        paid: by number of gaps and by way, "nats", "error" and "milliseconds".
    """
    figure = empty_figure(7.2, 3.4)
    left, right = figure.subplots(1, 2)
    signs = {"left side": "^", "masked": "o", "causal, Bayes": "D"}
    for way, sign in signs.items():
        found = {int(gaps): ways[way] for gaps, ways in paid.items()}
        look = {"marker": sign, "color": COLOURS[way], "label": way}
        nats, errors, times = (
            [values[name] for values in found.values()]
            for name in ("nats", "error", "milliseconds")
        )
        left.errorbar(list(found), nats, errors, capsize=3, **look)
        right.plot(list(found), times, **look)
    for axes in (left, right):
        axes.set(xlabel="gaps in the line", xticks=[int(gaps) for gaps in paid])
        axes.grid(axis="y", color=SHADE)
    left.set(ylabel="cost of the true filling, nats", ylim=(0, None))
    left.legend()
    right.set(ylabel="milliseconds per line", yscale="log")
    described = "; ".join(
        f"{counted(int(gaps), 'gap')}: "
        + ", ".join(
            f"{way} {values['nats']:.2f} nats in {values['milliseconds']:.1f} ms"
            for way, values in ways.items()
        )
        for gaps, ways in paid.items()
    )
    return figure, f"Lines of the cost of the true filling and of the time it takes. {described}."
