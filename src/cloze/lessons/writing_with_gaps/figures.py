"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from torch import Tensor

from cloze.evaluation import Repeated
from cloze.teaching.figures import (
    baseline_lines,
    empty_figure,
    new_figure,
    picture,
)
from cloze.teaching.palette import BLUE, GREY, ORANGE, PAPER, SHADE, VIOLET

STYLES = {
    "masked": (BLUE, "--", "o"),
    "diffusion": (VIOLET, "-", "s"),
    "causal": (ORANGE, "-", "D"),
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
    described = []
    for name, costs in curves.items():
        colour, line, _ = STYLES[name]
        mean = sum(costs) / len(costs)
        label = f"{name}, mean {mean:.2f}"
        axes.plot(range(1, len(costs) + 1), costs, line, color=colour, label=label)
        axes.axhline(mean, color=colour, linewidth=1, linestyle=line)
        described.append(f"{name} from {costs[0]:.2f} to {costs[-1]:.2f}, on average {mean:.2f}")
    baseline_lines(axes, {"unigram": unigram})
    axes.set(xlabel="characters hidden", ylabel="nats per hidden character", ylim=(0, None))
    axes.legend(loc="lower right")
    return figure, (
        f"Curves rise to the line of the unigram at {unigram:.2f} nats: {'; '.join(described)}."
    )


@picture
def repeated(costs: Mapping[str, Mapping[int, Repeated]]) -> tuple[Figure, str]:
    """Draw what unseen text costs over how often the training text has been read.

    Args:
        costs: by training and number of epochs, nats per character over the seeds.
    """
    figure, axes = new_figure(7.2, 3.6)
    texts = []
    for name, by_epoch in costs.items():
        colour, line, marker = STYLES[name]
        means, spreads = zip(*by_epoch.values(), strict=True)
        label = name if name == "causal" else f"{name} (bound)"
        axes.errorbar(
            [*by_epoch],
            means,
            spreads,
            linestyle=line,
            marker=marker,
            markersize=4,
            color=colour,
            label=label,
        )
        texts.append(f"{label} {', '.join(f'{mean:.2f}' for mean in means)}")
    epochs = [*next(iter(costs.values()))]
    axes.set(xscale="log", xlabel="times that the text was read", ylabel="nats per character")
    axes.set_xticks(epochs, [str(epoch) for epoch in epochs])
    axes.minorticks_off()
    axes.legend()
    return figure, (
        f"Curves over readings of the text: after {', '.join(map(str, epochs))}, unseen text costs "
        f"{'; '.join(texts)} nats per character."
    )


@picture
def policies(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> tuple[Figure, str]:
    """Draw the share of valid sentences and KL(truth ‖ sampler) of every policy.

    Args:
        found: by model and policy: ``valid``, the share, and ``kl``, nats or None.
    """
    figure = empty_figure(7.2, 3.6)
    left, right = figure.subplots(1, 2, sharey=True)
    names = list(next(iter(found.values())))
    height = 0.8 / len(found)
    for n, (model, rows) in enumerate(found.items()):
        at = [i + height * (n - (len(found) - 1) / 2) for i in range(len(names))]
        colour = STYLES[model][0]
        for axes, column in ((left, "valid"), (right, "kl")):
            lengths = [rows[name][column] or 0.0 for name in names]
            axes.barh(at, lengths, 0.9 * height, color=colour, label=model)
    left.set(xlabel="valid sentences", xlim=(0, 1), yticks=range(len(names)), yticklabels=names)
    right.set(xlabel="KL(truth ‖ sampler), nats (log scale above 1)", xscale="symlog")
    left.invert_yaxis()
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=SHADE)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    described = "; ".join(
        f"{model}: "
        + ", ".join(
            f"{name} {row['valid']:.2f}" + ("" if row["kl"] is None else f" and {row['kl']:.2f}")
            for name, row in rows.items()
        )
        for model, rows in found.items()
    )
    return figure, f"Bars of the share of valid sentences and of KL in nats. {described}."


@picture
def passes(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> tuple[Figure, str]:
    """Draw cost and real words over the number of forward passes.

    Args:
        found: by policy and number of passes: ``nats`` per character, and ``real``, the share.
    """
    figure = empty_figure(7.2, 3.2)
    left, right = figure.subplots(1, 2, sharex=True)
    for name, rows in found.items():
        colour, line, marker = STYLES[name]
        for axes, column in ((left, "nats"), (right, "real")):
            axes.plot(
                [int(n) for n in rows],
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
    left.set_xticks([int(n) for n in ticks], ticks)
    left.minorticks_off()
    left.legend()
    described = "; ".join(
        f"{name}, real words by passes: "
        + ", ".join(f"{n}: {row['real']:.0%}" for n, row in rows.items())
        for name, rows in found.items()
    )
    return figure, f"Cost falls and real words rise with the number of forward passes. {described}."


@picture
def states(costs: Tensor, text: str) -> tuple[Figure, str]:
    """Draw every state of a short text on its way from gaps to letters, and what each step costs.

    Args:
        costs: by hidden set (bit i for position i) and position, what the symbol there costs, nats.
        text: the symbols, at most three of them.
    """
    n = len(text)
    figure, axes = new_figure(7.2, 3.4)
    columns: dict[int, list[int]] = {k: [] for k in range(n + 1)}
    for hidden in range(2**n):
        columns[hidden.bit_count()].append(hidden)
    places = {
        hidden: (n - k, row - (len(column) - 1) / 2)
        for k, column in columns.items()
        for row, hidden in enumerate(sorted(column))
    }
    steps = []
    for hidden, (x, y) in places.items():
        shown = "".join("_" if hidden >> i & 1 else text[i] for i in range(n))
        box = {"boxstyle": "round", "facecolor": PAPER, "edgecolor": BLUE}
        axes.text(x, y, shown, ha="center", va="center", family="monospace", bbox=box, zorder=3)
        for i in (i for i in range(n) if hidden >> i & 1):
            end = places[hidden - 2**i]
            nats = costs[hidden, i].item()
            axes.plot([x, end[0]], [y, end[1]], color=GREY, linewidth=1, zorder=1)
            at = (x + 0.36 * (end[0] - x), y + 0.36 * (end[1] - y))
            label = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
            axes.text(*at, f"{nats:.2f}", ha="center", va="center", fontsize=9, bbox=label)
            steps.append(f"{shown} {text[i]} {nats:.2f}")
    axes.set(xlim=(-0.3, n + 0.3), ylim=(-1.4, 1.4))
    axes.axis("off")
    return figure, (
        f"All {2**n} states of {text!r}, from only gaps to the whole text, and lines for the steps "
        f"between them with their costs in nats: {', '.join(steps)}."
    )
