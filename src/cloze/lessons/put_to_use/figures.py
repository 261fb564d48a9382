"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence

from cloze.teaching.charts import DASHED, READERS, first_at_the_top, grouped_bars, log_ticks, note
from cloze.teaching.figures import Drawn, listed, listed_by_group, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK

LOOKS = {
    "pretrained": (BLUE, "-", "o"),
    "frozen": (INK, ":", "D"),
    "from scratch": (GREY, "--", "s"),
    "words": (BLUE, "-", "o"),
    "letters": (INK, ":", "D"),
    "untrained": (GREY, "--", "s"),
    "counted words": (GREY, "-.", "^"),
}
"""Of what an encoder knows before, or of what is read: colour, line and sign."""
Scores = Mapping[str, Mapping[int, Sequence[float]]]
"""By start and number of labels a mean, a spread, and what else may follow."""


@picture
def over_labels(
    tasks: Mapping[str, Scores], chance: float | None = None, score: str = "share right"
) -> Drawn:
    """Draw how many are right over the number of labels, a panel per task.

    Args:
        tasks: by task what was scored.
        chance: what guessing gives, drawn as a line.
        score: what the axis is called.
    """
    figure, row = panels([*tasks], sharey=True)
    for axes, scores in zip(row, tasks.values(), strict=True):
        for start, by_labels in scores.items():
            colour, line, sign = LOOKS[start]
            means, spreads = ([score[k] for score in by_labels.values()] for k in (0, 1))
            axes.errorbar([*by_labels], means, spreads, color=colour, fmt="none", capsize=3)
            axes.plot([*by_labels], means, line, color=colour, marker=sign, label=start)
        log_ticks(axes, [*by_labels])
        axes.set(xlabel="labelled lines")
        if chance is None:
            axes.set_ylim(0, 1)
        else:
            axes.axhline(chance, **DASHED)
    row[0].set(ylabel=score)
    figure.legend(*row[-1].get_legend_handles_labels(), loc="outside upper right", ncols=len(LOOKS))
    named = {f"{task}, {start}": tasks[task][start] for task in tasks for start in tasks[task]}
    described = listed_by_group(named, "{1[0]:.2f} with {0}")
    return figure, f"Lines of the {score} over the number of labels. {described}."


@picture
def surprise_along(
    symbols: Sequence[str], costs: Mapping[str, Sequence[float]], shares: Sequence[float]
) -> Drawn:
    """Draw what each symbol of a line costs readers of one side and of both.

    Args:
        symbols: the line.
        costs: by reader, nats for each symbol.
        shares: P(the fault is here), written above the symbols where it is worth it.
    """
    figure, axes = new_figure(7.2, 3.4)
    grouped_bars(axes.bar, {name: costs[name] for name in READERS}, READERS.values())
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
def shares_found(shares: Mapping[str, float], best: float) -> Drawn:
    """Draw the share of faults that each way finds, and the most that any can."""
    figure, axes = new_figure(7.2, 0.8 + 0.42 * len(shares))
    axes.barh([*shares], [*shares.values()], color=GREEN, height=0.6)
    for at, share in enumerate(shares.values()):
        axes.annotate(f"{share:.2f}", (1.02, at), va="center")
    axes.axvline(best, color=GREY, linestyle=(0, (4, 3)))
    top = ("data", "axes fraction")
    note(axes, f"at best {best:.2f}", (best, 1), (0, 2), xycoords=top, ha="center")
    axes.set(xlim=(0, 1.12), xlabel="share of faults found")
    first_at_the_top(axes)
    return figure, f"Bars of the share of faults found: {listed(shares)}; at best {best:.2f}."
