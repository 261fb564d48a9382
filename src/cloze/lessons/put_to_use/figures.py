"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import DASHED, empty_figure, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, PAPER, VIOLET

LOOKS = {
    "pretrained": (BLUE, "-", "o"),
    "frozen": (VIOLET, ":", "D"),
    "from scratch": (ORANGE, "--", "s"),
}
"""Of what an encoder knows before: colour, line and sign."""
Scores = Mapping[str, Mapping[int, Sequence[float]]]
"""By start and number of labels a mean, a spread, and what else may follow."""


@picture
def over_labels(panels: Mapping[str, Scores], chance: float | None = None) -> tuple[Figure, str]:
    """Draw how many are right over the number of labels, a panel per task.

    Args:
        panels: by task what was scored.
        chance: what guessing gives, drawn as a line.
    """
    figure = empty_figure(7.2, 3.2)
    row = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (title, scores) in zip(row, panels.items(), strict=True):
        for start, by_labels in scores.items():
            colour, line, sign = LOOKS[start]
            means, spreads = ([score[k] for score in by_labels.values()] for k in (0, 1))
            axes.errorbar([*by_labels], means, spreads, color=colour, fmt="none", capsize=3)
            axes.plot([*by_labels], means, line, color=colour, marker=sign, label=start)
        labels = sorted({n for by_labels in scores.values() for n in by_labels})
        axes.set(xscale="log", xlabel="labelled lines", title=title)
        axes.set_xticks(labels, [str(n) for n in labels])
        axes.minorticks_off()
        if chance is None:
            axes.set_ylim(0, 1)
        else:
            axes.axhline(chance, **DASHED)
    row[0].set(ylabel="share right")
    figure.legend(*row[-1].get_legend_handles_labels(), loc="outside upper right", ncols=len(LOOKS))
    described = "; ".join(
        f"{title}, {start}: "
        + ", ".join(f"{score[0]:.2f} with {n}" for n, score in by_labels.items())
        for title, scores in panels.items()
        for start, by_labels in scores.items()
    )
    return figure, f"Lines of the share right over the number of labels. {described}."


READERS = {"left": (ORANGE, "//"), "both": (BLUE, ""), "right": (VIOLET, "\\\\")}
"""From left to right: colour and hatch of each reader's bars."""


@picture
def surprise_along(
    symbols: Sequence[str], costs: Mapping[str, Sequence[float]], shares: Sequence[float]
) -> tuple[Figure, str]:
    """Draw what each symbol of a line costs readers of one side and of both.

    Args:
        symbols: the line.
        costs: by reader, nats for each symbol.
        shares: P(the fault is here), written above the symbols where it is worth it.
    """
    figure, axes = new_figure(7.2, 3.4)
    for k, (name, (colour, hatch)) in enumerate(READERS.items()):
        places = [i + 0.28 * (k - 1) for i in range(len(symbols))]
        axes.bar(places, costs[name], 0.28, color=colour, hatch=hatch, edgecolor=PAPER, label=name)
    top = max(max(nats) for nats in costs.values())
    for at, share in enumerate(shares):
        if share >= 0.01:
            axes.annotate(f"{share:.2f}", (at, 1.08 * top), ha="center")
    axes.set(ylabel="surprise, nats", ylim=(0, 1.2 * top))
    axes.set_xticks(range(len(symbols)), symbols)
    figure.legend(loc="outside upper left", ncols=3)
    peaks = "; ".join(
        f"{name} most at "
        + " and ".join(s for s, c in zip(symbols, nats, strict=True) if c > max(nats) - 0.05)
        + f" ({max(nats):.1f})"
        for name, nats in costs.items()
    )
    where = ", ".join(
        f"{share:.2f} at {s}" for s, share in zip(symbols, shares, strict=True) if share >= 0.01
    )
    return figure, f"Bars of surprise in nats along the program: {peaks}. P(fault): {where}."


@picture
def shares_found(found: Mapping[str, float], best: float) -> tuple[Figure, str]:
    """Draw the share of faults that each way finds, and the most that any can."""
    figure, axes = new_figure(7.2, 0.8 + 0.42 * len(found))
    axes.barh([*found], [*found.values()], color=GREEN, height=0.6)
    for at, share in enumerate(found.values()):
        axes.annotate(f"{share:.2f}", (1.02, at), va="center")
    axes.axvline(best, color=GREY, linestyle=(0, (4, 3)))
    axes.annotate(
        f"at best {best:.2f}", (best, 1), xycoords=("data", "axes fraction"),
        xytext=(0, 2), textcoords="offset points", ha="center",
    )  # fmt: skip
    axes.set(xlim=(0, 1.12), xlabel="share of faults found")
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    described = ", ".join(f"{way} {share:.2f}" for way, share in found.items())
    return figure, f"Bars of the share of faults found: {described}; at best {best:.2f}."
