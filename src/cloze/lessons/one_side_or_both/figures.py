"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

from cloze.teaching.charts import named_bars
from cloze.teaching.figures import Drawn, listed_by_group, new_figure, panels, picture
from cloze.teaching.palette import BLUE, INK, ORANGE, RED, SHADE
from cloze.vocabulary import counted, visible

COLOURS = {"left side": ORANGE, "masked": BLUE, "causal, Bayes": INK}
"""The colour of each way to answer. The names beside them carry the meaning."""


@picture
def what_moves(symbols: Sequence[str], moved: Mapping[str, Sequence[float]], changed: int) -> Drawn:
    """Draw how far the hidden state of each position moves when one character is changed.

    Args:
        symbols: the line.
        moved: by model, the distance at each position.
        changed: the position of the changed character.
    """
    grid = {"nrows": len(moved), "ncols": 1, "sharex": True, "sharey": True}
    figure, column = panels([*moved], 7.2, 0.6 + 1.5 * len(moved), **grid)
    colours = [RED if i == changed else BLUE for i in range(len(symbols))]
    for axes, distances in zip(column, moved.values(), strict=True):
        axes.bar(range(len(symbols)), distances, color=colours, width=0.75)
        for i, distance in enumerate(distances):
            if not round(distance, 4):
                axes.text(i, 0, "0", ha="center", va="bottom", fontsize=9)
        axes.set(ylabel="moved by")
        axes.tick_params(axis="x", length=0)
    axes.set_xticks(range(len(symbols)), [visible(symbol) for symbol in symbols])
    axes.get_xticklabels()[changed].set(fontweight="bold")
    far = "; ".join(
        f"{name}: up to {max(d[:changed]):.2f} left of it, {d[changed]:.2f} at it, "
        f"up to {max(d[changed + 1 :]):.2f} right of it"
        for name, d in moved.items()
    )
    return figure, f"Bars of how far each position moves when the red one is changed. {far}."


@picture
def learning(curves: Mapping[str, Sequence[tuple[int, float]]]) -> Drawn:
    """Draw what a single gap costs while two models learn.

    Args:
        curves: by objective, characters read and nats.
    """
    figure, axes = new_figure()
    looks = {"masked": (BLUE, "o-"), "causal": (ORANGE, "s--")}
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
    form = "{0} {1[nats]:.2f} nats in {1[milliseconds]:.1f} ms"
    described = listed_by_group({counted(int(n), "gap"): ways for n, ways in paid.items()}, form)
    return figure, f"Lines of the cost of the true filling and of the time it takes. {described}."
