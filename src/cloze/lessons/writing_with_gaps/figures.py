"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from cloze.teaching.charts import baseline_lines, first_at_the_top, log_ticks
from cloze.teaching.figures import Drawn, listed, listed_by_group, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, ORANGE, PAPER, SHADE

STYLES = {
    "masked": (BLUE, "--", "o"),
    "diffusion": (INK, "-", "s"),
    "causal": (ORANGE, "-", "D"),
    "exact": (GREEN, "-", "D"),
    "random order": (INK, "-", "s"),
    "mask-predict": (GREY, "--", "o"),
}
"""Of models and policies: colour, line and marker, for colour alone says nothing to some."""


@picture
def heights(curves: Mapping[str, Sequence[float]], unigram: float) -> Drawn:
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
def policies(measured: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]) -> Drawn:
    """Draw the share of valid sentences and KL(truth ‖ sampler) of every policy, a dot per seed.

    Args:
        measured: by model, seed and policy: ``valid``, the share, and ``kl``, nats or None.
    """
    figure, (left, right) = panels(("", ""), 7.2, 3.6, sharey=True)
    names = [*next(iter(measured["exact"].values()))]
    described = []
    for shift, (model, runs) in zip((-0.2, 0, 0.2), measured.items(), strict=False):
        colour, _, marker = STYLES[model]
        look: Any = {"color": colour, "markersize": 5, "label": model}
        said = dict.fromkeys(names, "")
        for axes, column in ((left, "valid"), (right, "kl")):
            dots = [
                (run[name][column], row + shift)
                for row, name in enumerate(names)
                for run in runs.values()
                if run[name][column] is not None
            ]
            axes.plot(*zip(*dots, strict=True), marker, **look)
            for value, at in dots:
                said[names[round(at)]] += f" {value:.2f}"
        described.append(f"{model}: {listed(said, '{0}{1}')}")
    for axes in (left, right):
        axes.grid(axis="x", color=SHADE)
        first_at_the_top(axes)
    left.set(xlabel="valid sentences", xlim=(-0.03, 1.03), yticks=range(len(names)))
    left.set_yticklabels(names)
    right.set(xlabel="KL(truth ‖ sampler), nats (log scale above 1)", xscale="symlog")
    right.set(xlim=(-0.2, 50))
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    text = "Dots, one per seed: the shares of valid sentences, then KL in nats where it is known."
    return figure, f"{text} {'; '.join(described)}."


@picture
def passes(measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Drawn:
    """Draw cost and real words over the number of forward passes.

    Args:
        measured: by policy and number of passes: ``nats`` per character, and ``real``, the share.
    """
    figure, (left, right) = panels(("", ""), sharex=True)
    for name, rows in measured.items():
        colour, line, marker = STYLES[name]
        for axes, column in ((left, "nats"), (right, "real")):
            values = [row[column] for row in rows.values()]
            look: Any = {"markersize": 4, "color": colour, "label": name}
            axes.plot([*map(int, rows)], values, marker + line, **look)
    log_ticks(left, [*map(int, rows)])
    left.set(ylabel="nats per character", xlabel="forward passes")
    right.set(ylabel="real words", ylim=(0, 1), xlabel="forward passes")
    left.legend()
    named = {f"{name}, real words by passes": rows for name, rows in measured.items()}
    text = "Cost falls and real words rise with the number of forward passes."
    return figure, f"{text} {listed_by_group(named, '{0}: {1[real]:.0%}')}."


@picture
def states(costs: Tensor, text: str) -> Drawn:
    """Draw every state of a short text on its way from gaps to letters, and what each step costs.

    Args:
        costs: by hidden set (bit i for position i) and position, what the symbol there costs, nats.
        text: the symbols, at most three of them.
    """
    n = len(text)
    figure, axes = new_figure(7.2, 3.4)
    places = {}
    for k in range(n + 1):
        column = [hidden for hidden in range(2**n) if hidden.bit_count() == k]
        for row, hidden in enumerate(column):
            places[hidden] = (n - k, row - (len(column) - 1) / 2)
    steps = []
    for hidden, (x, y) in places.items():
        state = "".join("_" if hidden >> i & 1 else text[i] for i in range(n))
        box = {"boxstyle": "round", "facecolor": PAPER, "edgecolor": BLUE}
        axes.text(x, y, state, ha="center", va="center", family="monospace", bbox=box, zorder=3)
        for i in (i for i in range(n) if hidden >> i & 1):
            end = places[hidden - 2**i]
            nats = costs[hidden, i].item()
            axes.plot([x, end[0]], [y, end[1]], color=GREY, linewidth=1, zorder=1)
            at = (x + 0.36 * (end[0] - x), y + 0.36 * (end[1] - y))
            label = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
            axes.text(*at, f"{nats:.2f}", ha="center", va="center", fontsize=9, bbox=label)
            steps.append(f"{state} {text[i]} {nats:.2f}")
    axes.set(xlim=(-0.3, n + 0.3), ylim=(-1.4, 1.4))
    axes.axis("off")
    return figure, (
        f"All {2**n} states of {text!r}, from only gaps to the whole text, and lines for the steps "
        f"between them with their costs in nats: {', '.join(steps)}."
    )
