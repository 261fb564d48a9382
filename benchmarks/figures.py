"""The figures of the benchmarks, from plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import new_figure, series_style
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, VIOLET


def races(curves: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw held-out loss in nats against seconds of training, the seconds on a logarithmic axis.

    Names that are alike up to a comma share a colour; the first colour's lines are thicker.
    """
    figure, axes = new_figure(10.4, 4.4)
    drawn: Counter[str] = Counter()
    with series_style():
        for name, points in curves.items():
            kind = name.partition(",")[0]
            line = ("-", "--", "-.", ":")[drawn[kind] % 4]
            drawn[kind] += 1
            number = list(drawn).index(kind)
            colour, width = (BLUE, ORANGE, GREEN, VIOLET)[number % 4], 1.6 if number else 2.6
            seconds, nats = zip(*((s, n) for s, n in points if s > 0), strict=True)
            axes.plot(seconds, nats, label=name, color=colour, linestyle=line, linewidth=width)
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 60, 600], ["1 second", "10 seconds", "1 minute", "10 minutes"])
        # Room beside the longest curve for what baseline_lines writes there.
        axes.set_xlim(right=8 * max(s for points in curves.values() for s, _ in points))
        axes.set_xlabel("training, one thread")
        axes.set_ylabel("held-out loss (nats)")
        axes.set_ylim(0.6, 3.6)
        axes.legend(loc="lower left", bbox_to_anchor=(1, 0))
    return figure


def cost_growth(
    lengths: Sequence[int],
    measured: Sequence[float],
    linear: Sequence[float],
    quadratic: Sequence[float],
) -> Figure:
    """Draw milliseconds per line against its length, beside what the products alone would take."""
    figure, axes = new_figure(7.2, 4.2)
    with series_style():
        axes.plot(lengths, measured, color=BLUE, marker="o", markersize=5, label="measured")
        axes.plot(
            lengths,
            linear,
            color=GREY,
            linestyle="--",
            linewidth=1.5,
            label="matrices of the layers, as fast as a large product (linear)",
        )
        axes.plot(
            lengths,
            quadratic,
            color=ORANGE,
            linestyle="-.",
            linewidth=1.5,
            label="attention, as fast as a large product (quadratic)",
        )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.set(xlabel="length of the line in characters", ylabel="milliseconds a line")
        axes.legend(loc="upper left", fontsize=9)
    return figure
