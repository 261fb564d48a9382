"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

from cloze.teaching.charts import named_bars
from cloze.teaching.figures import Drawn, listed_by_group, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, SHADE
from cloze.vocabulary import counted

COLOURS = {
    "left side": ORANGE,
    "masked": BLUE,
    "causal, Bayes": GREEN,
    "truth": GREY,
}
"""The colour of each way to answer. The names beside them carry the meaning."""


@picture
def learning(curves: Mapping[str, Sequence[tuple[int, float]]]) -> Drawn:
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
def answers(probabilities: Mapping[str, Mapping[str, float]]) -> Drawn:
    """Draw what each way puts into one gap: one panel per way, the same candidates in each.

    Args:
        probabilities: by way, the probability of each candidate shown.
    """
    figure, row = panels([*probabilities], 7.2, 2.6, sharex=True, sharey=True)
    for axes, (way, shares) in zip(row, probabilities.items(), strict=True):
        named_bars(axes, shares, COLOURS[way], 0.65, padding=2, fontsize=9)
        axes.set(xlim=(0, 1.35), xticks=[0, 1])
    figure.supxlabel("probability", fontsize=11)
    described = listed_by_group(probabilities)
    return figure, f"Bars of what each reader puts into the gap. {described}."


@picture
def by_gaps(paid: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Drawn:
    """Draw, over the number of gaps, what the truth costs and how long an answer takes.

    Args:
        paid: by number of gaps and by way, "nats", "error" and "milliseconds".
    """
    figure, (left, right) = panels(("", ""), 7.2, 3.4)
    gaps = [*map(int, paid)]
    for way, sign in {"left side": "^", "masked": "o", "causal, Bayes": "D"}.items():
        look: Any = {"marker": sign, "color": COLOURS[way], "label": way}
        nats, errors, times = (
            [ways[way][name] for ways in paid.values()]
            for name in ("nats", "error", "milliseconds")
        )
        left.errorbar(gaps, nats, errors, capsize=3, **look)
        right.plot(gaps, times, **look)
    for axes in (left, right):
        axes.set(xlabel="gaps in the line", xticks=gaps)
        axes.grid(axis="y", color=SHADE)
    left.set(ylabel="cost of the true filling, nats", ylim=(0, None))
    left.legend()
    right.set(ylabel="milliseconds per line", yscale="log")
    described = "; ".join(
        f"{counted(int(n), 'gap')}: "
        + ", ".join(
            f"{way} {values['nats']:.2f} nats in {values['milliseconds']:.1f} ms"
            for way, values in ways.items()
        )
        for n, ways in paid.items()
    )
    return figure, f"Lines of the cost of the true filling and of the time it takes. {described}."
