"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence

from cloze.teaching.charts import baseline_lines, note
from cloze.teaching.figures import Drawn, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREY, INK


@picture
def loss_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    baselines: Mapping[str, float],
    across: str,
    *,
    logarithmic: bool = False,
) -> Drawn:
    """Draw loss curves, each a row of points (x, nats), above the lines of the baselines."""
    figure, axes = new_figure()
    baseline_lines(axes, baselines)
    for (name, points), colour in zip(curves.items(), (BLUE, GREY), strict=False):
        xs, ys = zip(*points, strict=True) if points else ((), ())
        marker = "o" if len(xs) < 30 else ""
        axes.plot(xs, ys, color=colour, marker=marker, markersize=4, label=name)
    axes.set(xlabel=across, ylabel="loss in nats", ylim=(0, None))
    if logarithmic:
        axes.set_xscale("log")
    figure.legend(loc="outside upper left", ncols=len(curves))
    ends = "; ".join(
        f"{name}: from ≈ {points[0][1]:.2f} to ≈ {points[-1][1]:.2f}" if points else f"{name}: none"
        for name, points in curves.items()
    )
    return figure, f"Loss in nats over {across}. {ends}. Lines: {listed(baselines)}."


@picture
def one_step(losses: Mapping[float, float], slope: float, taken: float) -> Drawn:
    """Draw the loss after steps of several lengths, with the slope that the gradient gives.

    Args:
        losses: by learning rate, the loss of the same batch after one step, nats; 0 is before it.
        slope: how the loss begins to change with the learning rate, nats.
        taken: the learning rate of the step that was taken.
    """
    figure, axes = new_figure()
    rates = sorted(losses)
    axes.plot(rates, [losses[rate] for rate in rates], color=BLUE, marker="o", markersize=4)
    bottom = min(losses.values()) - 0.4
    end = (bottom - losses[0]) / slope
    axes.plot([0, end], [losses[0], bottom], color=INK, linestyle="--")
    note(axes, "gradient", (end, bottom), (6, 4))
    arrow = {"arrowstyle": "-|>", "color": GREY}
    note(axes, "our step", (taken, losses[taken]), (12, 28), arrowprops=arrow)
    axes.set(xlabel="learning rate", ylabel="loss in nats", xlim=(0, None))
    after = listed({rate: losses[rate] for rate in rates}, "{:g} ≈ {:.2f}")
    return figure, (
        f"Loss in nats of one batch after a step with each learning rate: {after}. A dashed line "
        "shows the slope that the gradient gives: the curve follows it at first, then leaves it."
    )
