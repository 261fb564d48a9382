"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence

from cloze.teaching.charts import baseline_lines, note
from cloze.teaching.figures import Drawn, Strip, listed, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, RED

FATES = {"M": BLUE, "R": RED, "K": GREEN}
"""Colours of what becomes of a selected character: [MASK], a random one, kept."""


def fate_strip(symbols: Sequence[str], fates: Mapping[int, str]) -> Strip:
    """Show a corrupted line with M, R or K below each selected position, in their colours."""
    return Strip(symbols, fates, {i: FATES[sign] for i, sign in fates.items()})


@picture
def masking_rates(
    rates: Sequence[float],
    targets: Sequence[float],
    losses: Sequence[float],
    baselines: Mapping[str, float],
) -> Drawn:
    """Draw what a higher rate gives (questions) beside what it takes (clues).

    Args:
        rates: ``mask_prob`` values.
        targets: predicted positions per 1000 characters.
        losses: held-out loss of one model at each rate, nats.
        baselines: losses that no rate changes, to draw as lines, nats.
    """
    titles = ("questions per 1000 characters", "cost of one answer, in nats")
    figure, (left, right) = panels(titles)
    names = [f"{rate:g}" for rate in rates]
    bars = left.bar(rates, targets, color=BLUE, width=0.1)
    left.bar_label(bars, fmt="%.0f", fontsize=9, padding=2)
    left.set_ylim(0, 1.15 * max(targets))
    baseline_lines(right, baselines)
    right.plot(rates, losses, "o-", color=BLUE)
    note(right, "model", (rates[0], losses[0]), (-8, 10))
    for point in zip(rates, losses, strict=True):
        note(right, f"{point[1]:.2f}", point, (6, -12), fontsize=9)
    right.set(ylim=(0, 3.4), xlim=(-0.08, 0.95))
    for axes in (left, right):
        axes.set(xticks=rates, xticklabels=names, xlabel="mask_prob")
    text = "Two panels over mask_prob: the questions that 1000 characters give, and what one answer"
    rows = "; ".join(
        f"{name}: {count:.0f} questions, model {loss:.2f}"
        for name, count, loss in zip(names, targets, losses, strict=True)
    )
    return figure, f"{text} costs in nats. {rows}. Lines: {listed(baselines)}."


@picture
def coverage_curves(
    epochs: Sequence[int],
    measured: Mapping[str, Sequence[float]],
    formulas: Mapping[str, Sequence[float]],
) -> Drawn:
    """Draw the share of positions selected at least once: measured as dots, formulas as lines."""
    figure, axes = new_figure()
    styles = list(zip((GREY, INK, BLUE), "s^o", strict=True))
    for (name, shares), (colour, marker) in zip(measured.items(), styles, strict=False):
        axes.plot(epochs, formulas[name], color=colour, linewidth=1)
        axes.plot(epochs, shares, marker, color=colour, markersize=5)
        end = (epochs[-1], shares[-1])
        note(axes, f"{name} {end[1]:.1%}", end, (8, 0), va="center", annotation_clip=False)
    axes.set(xlabel="epochs", ylabel="selected at least once", ylim=(0, 1.05))
    axes.set(yticks=[0, 0.5, 1], yticklabels=["0%", "50%", "100%"])
    last = listed({name: shares[-1] for name, shares in measured.items()})
    return figure, (
        "Share of positions selected at least once, measured as dots on the lines of the "
        f"formulas. After {epochs[-1]} epochs: {last}."
    )
