"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from cloze.teaching.figures import new_figure, series_style
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, ORANGE, SHADE, VIOLET
from cloze.vocabulary import visible

COLOURS = {
    "left side": ORANGE,
    "masked": BLUE,
    "masked, in turn": VIOLET,
    "causal, Bayes": GREEN,
    "truth": GREY,
}
"""Of each way to answer; the names beside the bars are the signs that count."""


def masks(looks: Mapping[str, Sequence[Sequence[bool]]], symbols: Sequence[str]) -> Figure:
    """Draw who (row) may look at whom (column), a panel per reader; what may not is crossed out.

    Args:
        looks: by reader, booleans of shape ``(length, length)``.
        symbols: the characters of the line.
    """
    names = [visible(symbol) for symbol in symbols]
    with series_style():
        figure, row = plt.subplots(
            1, len(looks), figsize=(7.2, 2.9), layout="constrained", squeeze=False
        )
    for axes, (title, look) in zip(row[0], looks.items(), strict=True):
        axes.imshow([[0.35 if sees else 0 for sees in line] for line in look], cmap="Blues", vmax=1)
        for i, line in enumerate(look):
            for j, sees in enumerate(line):
                sign, colour = ("●", BLUE) if sees else ("×", GREY)
                axes.text(j, i, sign, ha="center", va="center", color=colour, fontsize=9)
        axes.set(xticks=range(len(names)), xticklabels=names, xlabel="is looked at")
        axes.set(yticks=range(len(names)), yticklabels=names, ylabel="looks")
        axes.set_title(title)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


def learning(curves: Mapping[str, Sequence[tuple[int, int, float]]]) -> Figure:
    """Draw what a single gap costs while two models learn, over text read and questions answered.

    Args:
        curves: by objective, characters read, questions answered, nats.
    """
    with series_style():
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(7.2, 3.2), layout="constrained", sharey=True
        )
    looks = {"masked": (BLUE, "-", "o"), "causal": (GREEN, "--", "s")}
    for axes, column, what in ((left, 0, "characters read"), (right, 1, "questions answered")):
        for name, curve in curves.items():
            colour, line, marker = looks[name]
            places = [point[column] for point in curve]
            nats = [point[2] for point in curve]
            axes.plot(places, nats, line, marker=marker, markersize=4, color=colour, label=name)
        axes.set(xscale="log", xlabel=what)
    left.set(ylabel="a single gap, nats", ylim=(0, None))
    left.legend()
    return figure


def sums(totals: Mapping[str, float]) -> Figure:
    """Draw what the probabilities of all strings of one length sum to, beside the line at 1."""
    figure, axes = new_figure(6.2, 0.8 + 0.5 * len(totals))
    names = list(totals)
    bars = axes.barh(names, list(totals.values()), color=[GREEN, BLUE][: len(names)], height=0.6)
    axes.bar_label(bars, fmt="%.3f", padding=4)
    axes.axvline(1, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    axes.set(xlabel="sum over all strings", xlim=(0, 1.2 * max(*totals.values(), 1.0)))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    return figure


def against_truth(truth: Sequence[float], model: Sequence[float]) -> Figure:
    """Draw −log P of every sentence of a world by the model over the truth's, in nats."""
    figure, axes = new_figure(4.6, 3.6)
    ends = (min(truth), max(truth))
    axes.plot(ends, ends, color=GREY, linewidth=1)
    axes.plot(truth, model, ".", color=GREEN, markersize=3)
    axes.set(xlabel="−log P(sentence), truth", ylabel="−log P(sentence), model")
    return figure


def per_step(steps: Sequence[tuple[int, float, float, float]]) -> Figure:
    """Draw the KL to the truth after true beginnings and after the model's own.

    Args:
        steps: words so far, KL after true beginnings, KL after the model's, what is possible.
    """
    figure, axes = new_figure()
    words = [step[0] for step in steps]
    for shift, column, colour, name in (
        (-0.2, 1, ORANGE, "after true beginnings"),
        (0.2, 2, BLUE, "after its own, still possible"),
    ):
        heights = [step[column] for step in steps]
        hatch = "//" if column == 2 else None
        axes.bar(
            [w + shift for w in words], heights, 0.4, color=colour, label=name, hatch=hatch,
            edgecolor="white",
        )  # fmt: skip
    axes.set(xlabel="words so far", ylabel="KL(truth ‖ model), nats", xticks=words)
    axes.legend()
    return figure


def answers(probabilities: Mapping[str, Mapping[str, float]], truth: str = "") -> Figure:
    """Draw what each way puts into one gap: a panel per way, the likeliest answers as bars.

    Args:
        probabilities: by way, the probability of each candidate shown.
        truth: the candidate that stood there, set in bold.
    """
    with series_style():
        figure, row = plt.subplots(
            1,
            len(probabilities),
            figsize=(7.2, 2.8),
            layout="constrained",
            squeeze=False,
            sharex=True,
            sharey=True,
        )
    for axes, (way, shares) in zip(row[0], probabilities.items(), strict=True):
        names = [visible(name) for name in shares]
        bars = axes.barh(names, list(shares.values()), color=COLOURS.get(way, BLUE), height=0.65)
        axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=9)
        axes.set(xlim=(0, 1.3), xticks=[0, 1])
        axes.set_title(way)
        axes.tick_params(axis="y", length=0)
        for label in axes.get_yticklabels():
            if label.get_text() == visible(truth):
                label.set_fontweight("bold")
    row[0][0].invert_yaxis()
    figure.supxlabel("probability", fontsize=11, color=INK)
    return figure


def cost_and_time(paid: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Figure:
    """Draw the cost of the truth per gap over the time that the answer takes, a panel per budget.

    Args:
        paid: by title and by way, "nats", "error" and "milliseconds".
    """
    with series_style():
        figure, row = plt.subplots(
            1, len(paid), figsize=(7.2, 3.2), layout="constrained", squeeze=False, sharey=True
        )
    for axes, (title, ways) in zip(row[0], paid.items(), strict=True):
        for name, values in ways.items():
            x, y = values["milliseconds"], values["nats"]
            axes.errorbar(x, y, values["error"], fmt="o", color=COLOURS[name], capsize=3)
            axes.annotate(
                name, (x, y), (0, 8), textcoords="offset points", ha="center", fontsize=9,
                color=COLOURS[name],
            )  # fmt: skip
        axes.set(xscale="log", xlabel="milliseconds a line")
        axes.margins(x=0.35)
        axes.set_title(title)
        axes.grid(axis="y", color=SHADE)
    row[0][0].set(ylabel="cost of the truth, nats", ylim=(0, None))
    return figure
