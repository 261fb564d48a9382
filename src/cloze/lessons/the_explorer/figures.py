"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from cloze.teaching.figures import listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREY, ORANGE, PAPER, VIOLET


@picture
def costs_by_kind(
    readers: Mapping[str, Mapping[str, float]], baselines: Mapping[str, Mapping[str, float]]
) -> tuple[Figure, str]:
    """Draw what left, right and both pay for each kind of character; the baselines as lines.

    Args:
        readers: by reader and kind, mean cost in nats.
        baselines: the same for at most two baselines.
    """
    figure, axes = new_figure(7.2, 3.8)
    kinds = list(next(iter(readers.values())))
    width = 0.8 / len(readers)
    looks = zip(readers.items(), (ORANGE, VIOLET, BLUE), ("//", "\\\\", ""), strict=True)
    for n, ((name, costs), colour, hatch) in enumerate(looks):
        bars = axes.bar(
            [x + width * (n - (len(readers) - 1) / 2) for x in range(len(kinds))],
            [costs[kind] for kind in kinds],
            width=width,
            color=colour,
            hatch=hatch,
            edgecolor=PAPER,
            label=name,
        )
        axes.bar_label(bars, fmt="%.2f", fontsize=9, padding=2)
    for (name, costs), style in zip(baselines.items(), ("-", (0, (4, 3))), strict=False):
        for x, kind in enumerate(kinds):
            axes.plot(
                [x - 0.45, x + 0.45],
                [costs[kind]] * 2,
                color=GREY,
                linestyle=style,
                linewidth=1.5,
                zorder=0,
                label=name if x == 0 else None,
            )
    axes.set(xticks=range(len(kinds)), xticklabels=kinds, ylabel="nats per character")
    axes.tick_params(axis="x", length=0)
    figure.legend(loc="outside upper left", ncols=len(readers) + len(baselines))
    paid = {**readers, **baselines}
    rows = "; ".join(f"{k}: {listed({name: paid[name][k] for name in paid})}" for k in kinds)
    return figure, f"Mean cost in nats by kind of character, lines for the baselines. {rows}."
