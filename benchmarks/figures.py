"""The picture of the records, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib import rc_context
from matplotlib.figure import Figure

from cloze.teaching.figures import STYLE, panels
from cloze.teaching.palette import BLUE, GREEN, ORANGE


def records(results: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Figure:
    """Draw what recipes reached in the race: a row per recipe, a dot per seed.

    Args:
        results: by recipe and track, the minutes to 1.3 or 0.9 nats or the nats after a minute.
    """
    with rc_context(STYLE):
        size = (10.4, 1.2 + 0.3 * len(results))
        figure, (times, losses) = panels(("", ""), *size, sharey=True, width_ratios=(3, 2))
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
