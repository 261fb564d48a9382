"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import (
    baseline_lines,
    empty_figure,
    new_figure,
    picture,
)
from cloze.teaching.palette import BLUE, GREY, ORANGE, SHADE, VIOLET

STYLES = {
    "masked": (BLUE, "--", "o"),
    "diffusion": (VIOLET, "-", "s"),
    "exact": (GREY, "-", "D"),
    "random order": (VIOLET, "-", "s"),
    "mask-predict": (ORANGE, "--", "o"),
}
"""Of models and policies: colour, line and marker, for colour alone says nothing to some."""


@picture
def heights(curves: Mapping[str, Sequence[float]], unigram: float) -> tuple[Figure, str]:
    """Draw what a hidden character costs over how many are hidden, and the mean height.

    Args:
        curves: by model, nats when 1, 2, … n are hidden.
        unigram: what the frequencies of characters alone would pay.
    """
    figure, axes = new_figure(7.2, 3.6)
    said = []
    for name, costs in curves.items():
        colour, line, _ = STYLES[name]
        mean = sum(costs) / len(costs)
        label = f"{name}, mean {mean:.2f}"
        axes.plot(range(1, len(costs) + 1), costs, line, color=colour, label=label)
        axes.axhline(mean, color=colour, linewidth=1, linestyle=line)
        said.append(f"{name} from {costs[0]:.2f} to {costs[-1]:.2f}, on average {mean:.2f}")
    baseline_lines(axes, {"unigram": unigram})
    axes.set(xlabel="characters hidden", ylabel="nats per hidden character", ylim=(0, None))
    axes.legend(loc="lower right")
    return figure, (
        f"Curves rise to the line of the unigram at {unigram:.2f} nats: {'; '.join(said)}."
    )


@picture
def policies(found: Mapping[str, Mapping[str, tuple[float, float | None]]]) -> tuple[Figure, str]:
    """Draw the share of valid sentences and KL(truth ‖ sampler) of every policy.

    Args:
        found: by model and policy: the share, and nats where they are known.
    """
    figure = empty_figure(7.2, 3.6)
    left, right = figure.subplots(1, 2, sharey=True)
    names = list(next(iter(found.values())))
    height = 0.8 / len(found)
    for n, (model, rows) in enumerate(found.items()):
        at = [i + height * (n - (len(found) - 1) / 2) for i in range(len(names))]
        colour = STYLES[model][0]
        for axes, column in ((left, 0), (right, 1)):
            known = [
                (y, x)
                for y, name in zip(at, names, strict=True)
                if (x := rows[name][column]) is not None
            ]
            axes.barh(*zip(*known, strict=True), 0.9 * height, color=colour, label=model)
    left.set(xlabel="valid sentences", xlim=(0, 1), yticks=range(len(names)), yticklabels=names)
    right.set(xlabel="KL(truth ‖ sampler), nats", xscale="symlog")
    left.invert_yaxis()
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=SHADE)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    said = "; ".join(
        f"{model}: "
        + ", ".join(
            f"{name} {v:.2f}" + ("" if kl is None else f" and {kl:.2f}")
            for name, (v, kl) in rows.items()
        )
        for model, rows in found.items()
    )
    return figure, f"Bars of the share of valid sentences and of KL in nats. {said}."


@picture
def passes(found: Mapping[str, Mapping[int, tuple[float, float]]]) -> tuple[Figure, str]:
    """Draw cost and real words over the number of forward passes.

    Args:
        found: by policy and number of passes: nats per character, and the share of real words.
    """
    figure = empty_figure(7.2, 3.2)
    left, right = figure.subplots(1, 2, sharex=True)
    for name, rows in found.items():
        colour, line, marker = STYLES[name]
        for axes, column in ((left, 0), (right, 1)):
            axes.plot(
                list(rows),
                [row[column] for row in rows.values()],
                line,
                marker=marker,
                markersize=4,
                color=colour,
                label=name,
            )
    left.set(xscale="log", ylabel="nats per character", xlabel="forward passes")
    right.set(ylabel="real words", ylim=(0, 1), xlabel="forward passes")
    ticks = list(next(iter(found.values())))
    left.set_xticks(ticks, [str(n) for n in ticks])
    left.minorticks_off()
    left.legend()
    said = "; ".join(
        f"{name}, real words: "
        + ", ".join(f"{n} {'pass' if n == 1 else 'passes'} {row[1]:.0%}" for n, row in rows.items())
        for name, rows in found.items()
    )
    return figure, f"Cost falls and real words rise with the number of forward passes. {said}."
