"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.teaching.figures import DASHED, empty_figure, listed, named_bars, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, SHADE, VIOLET
from cloze.vocabulary import visible

COLOURS = {
    "left side": ORANGE,
    "masked": BLUE,
    "masked, in turn": VIOLET,
    "causal, Bayes": GREEN,
    "truth": GREY,
}
"""Of each way to answer; the names beside them are the signs that count."""


@picture
def masks(
    looks: Mapping[str, Sequence[Sequence[bool]]], symbols: Sequence[str]
) -> tuple[Figure, str]:
    """Draw who (row) may look at whom (column), a panel per reader; what may not is crossed out.

    Args:
        looks: by reader, booleans of shape ``(length, length)``.
        symbols: the characters of the line.
    """
    names = [visible(symbol) for symbol in symbols]
    n = len(names)
    figure = empty_figure(7.2, 2.9)
    row = figure.subplots(1, len(looks), squeeze=False)[0]
    for axes, (title, look) in zip(row, looks.items(), strict=True):
        for i, line in enumerate(look):
            for j, sees in enumerate(line):
                if sees:
                    axes.add_patch(Rectangle((j - 0.45, i - 0.45), 0.9, 0.9, color=BLUE))
                else:
                    axes.plot(j, i, "x", color=GREY, markersize=4, markeredgewidth=1)
        axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        axes.set(xticks=range(n), xticklabels=names, xlabel="is looked at")
        axes.set(yticks=range(n), yticklabels=names, ylabel="looks")
        axes.set_title(title)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    counts = "; ".join(
        f"{title}: {', '.join(str(sum(line)) for line in look)}" for title, look in looks.items()
    )
    return figure, f"How many positions each of {n} sees, from the first to the last. {counts}."


@picture
def learning(curves: Mapping[str, Sequence[tuple[int, int, float]]]) -> tuple[Figure, str]:
    """Draw what a single gap costs while two models learn, over text read and questions answered.

    Args:
        curves: by objective, characters read, questions answered, nats.
    """
    figure = empty_figure(7.2, 3.2)
    left, right = figure.subplots(1, 2, sharey=True)
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
    ends = "; ".join(
        f"{name} from {curve[0][2]:.2f} to {curve[-1][2]:.2f} nats after {curve[-1][0]:,} "
        f"characters and {curve[-1][1]:,} questions"
        for name, curve in curves.items()
    )
    return figure, f"Two curves fall over characters read and over questions answered: {ends}."


@picture
def sums(totals: Mapping[str, float]) -> tuple[Figure, str]:
    """Draw what the probabilities of all strings of one length sum to, beside the line at 1."""
    figure, axes = new_figure(6.2, 0.9 + 0.5 * len(totals))
    named_bars(axes, totals, [GREEN, BLUE][: len(totals)], decimals=3)
    axes.axvline(1, **DASHED)
    axes.set(xlabel="sum over all strings", xlim=(0, 1.2 * max(*totals.values(), 1.0)))
    return figure, f"Bars of a sum over all strings, beside a line at 1: {listed(totals)}."


@picture
def against_truth(truth: Sequence[float], model: Sequence[float]) -> tuple[Figure, str]:
    """Draw −log P of every sentence of a world by the model over the truth's, in nats."""
    figure, axes = new_figure(4.6, 3.6)
    ends = (min(truth), max(truth))
    axes.plot(ends, ends, color=GREY, linewidth=1)
    axes.plot(truth, model, ".", color=GREEN, markersize=3)
    axes.set(xlabel="−log P(sentence), truth", ylabel="−log P(sentence), model")
    near = sum(abs(a - b) < 0.5 for a, b in zip(truth, model, strict=True)) / len(truth)
    return figure, (
        f"Dots along the diagonal, one per sentence: {near:.0%} of {len(truth)} sentences cost the "
        "model within half a nat of the truth."
    )


@picture
def per_step(steps: Sequence[tuple[int, float, float, float]]) -> tuple[Figure, str]:
    """Draw the KL to the truth after true beginnings and after the model's own.

    Args:
        steps: words so far, KL after true beginnings, KL after the model's, what is possible.
    """
    figure, axes = new_figure()
    words = [step[0] for step in steps]
    sides = ((1, ORANGE, "after true beginnings"), (2, BLUE, "after its own, still possible"))
    for column, colour, name in sides:
        at = [w + 0.4 * (column - 1.5) for w in words]
        axes.bar(at, [step[column] for step in steps], 0.36, color=colour, label=name)
    axes.set(xlabel="words so far", ylabel="KL(truth ‖ model), nats", xticks=words)
    axes.legend()
    means = {name: sum(step[c] for step in steps) / len(steps) for c, _, name in sides}
    said = ", ".join(f"{mean:.4f} {name}" for name, mean in means.items())
    return figure, f"Pairs of bars of the same height at every step; on average {said}."


@picture
def answers(probabilities: Mapping[str, Mapping[str, float]]) -> tuple[Figure, str]:
    """Draw what each way puts into one gap: a panel per way, the same candidates in each.

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
    said = "; ".join(f"{way}: {listed(shares)}" for way, shares in probabilities.items())
    return figure, f"Bars of what each reader puts into the gap. {said}."


@picture
def cost_and_time(
    paid: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> tuple[Figure, str]:
    """Draw the cost of the truth over the time that the answer takes, a panel per budget.

    Args:
        paid: by title and by way, "nats", "error" and "milliseconds".
    """
    figure = empty_figure(7.2, 3.2)
    row = figure.subplots(1, len(paid), squeeze=False, sharex=True, sharey=True)[0]
    for axes, (title, ways) in zip(row, paid.items(), strict=True):
        for name, values in ways.items():
            x, y = values["milliseconds"], values["nats"]
            axes.errorbar(x, y, values["error"], fmt="o", color=COLOURS[name], capsize=3)
            axes.annotate(
                name, (x, y), (0, 10), textcoords="offset points", ha="center", fontsize=9
            )
        axes.set(xscale="log", xlabel="milliseconds per line")
        axes.margins(x=0.4)
        axes.set_title(title)
        axes.grid(axis="y", color=SHADE)
    most = max(values["nats"] for ways in paid.values() for values in ways.values())
    row[0].set(ylabel="cost of the truth, nats", ylim=(0, 1.3 * most))
    said = "; ".join(
        f"{title}: "
        + ", ".join(
            f"{name} {values['nats']:.2f} nats in {values['milliseconds']:.1f} ms"
            for name, values in ways.items()
        )
        for title, ways in paid.items()
    )
    return figure, f"Dots of the cost of the truth over the time that an answer takes. {said}."
