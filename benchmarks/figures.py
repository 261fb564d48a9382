"""The figures of the benchmarks, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import empty_figure, new_figure, series_style
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE


def records(results: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Figure:
    """Draw what recipes reached in the race: a row per recipe, a dot per seed.

    Args:
        results: by recipe and track, the minutes to 1.3 or 0.9 nats or the nats after a minute.
    """
    figure = empty_figure(10.4, 1.2 + 0.3 * len(results))
    with series_style():
        times, losses = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        for axes, track, colour, marker in (
            (times, "1.3", BLUE, "o"),
            (times, "0.9", ORANGE, "D"),
            (losses, "minute", GREEN, "o"),
        ):
            dots = [
                (result, row)
                for row, tracks in enumerate(results.values())
                for result in tracks.get(track, ())
                if result is not None
            ]
            x, y = zip(*dots, strict=True) if dots else ((), ())
            axes.scatter(x, y, color=colour, marker=marker, s=26, label=f"to {track} nats")
        times.set_yticks(range(len(results)), [name.replace("_", " ") for name in results])
        times.invert_yaxis()
        times.set_xscale("log")
        times.set_xlabel("minutes of the default recipe")
        times.xaxis.set_major_formatter(lambda minutes, _: f"{minutes:g}")
        losses.set_xlabel("nats after a minute")
        figure.legend(*times.get_legend_handles_labels(), loc="outside upper left", ncols=2)
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
