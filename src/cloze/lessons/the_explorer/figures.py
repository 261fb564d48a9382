"""The figures of this lesson, from plain data."""

from collections.abc import Mapping
from typing import Any

from cloze.teaching.charts import READERS, grouped_bars
from cloze.teaching.figures import Drawn, listed_by_group, new_figure, picture
from cloze.teaching.palette import GREY


@picture
def costs_by_kind(
    readers: Mapping[str, Mapping[str, float]], baselines: Mapping[str, Mapping[str, float]]
) -> Drawn:
    """Draw what left, right and both pay for each kind of character; the baselines as lines.

    Args:
        readers: by reader and kind, mean cost in nats.
        baselines: the same for at most two baselines.
    """
    figure, axes = new_figure(7.2, 3.8)
    kinds = [*readers["both"]]
    lengths = {name: [*costs.values()] for name, costs in readers.items()}
    for bars in grouped_bars(axes.bar, lengths, [READERS[name] for name in readers]):
        axes.bar_label(bars, fmt="%.2f", fontsize=9, padding=2)
    for (name, costs), style in zip(baselines.items(), ("-", (0, (4, 3))), strict=False):
        starts, ends = ([x + side for x in range(len(kinds))] for side in (-0.45, 0.45))
        look: Any = {"color": GREY, "linestyle": style, "linewidth": 1.5, "zorder": 0}
        axes.hlines([*costs.values()], starts, ends, label=name, **look)
    axes.set(xticks=range(len(kinds)), xticklabels=kinds, ylabel="nats per character")
    axes.tick_params(axis="x", length=0)
    figure.legend(loc="outside upper left", ncols=len(readers) + len(baselines))
    paid = {**readers, **baselines}
    rows = listed_by_group({k: {name: paid[name][k] for name in paid} for k in kinds})
    return figure, f"Mean cost in nats by kind of character, lines for the baselines. {rows}."
