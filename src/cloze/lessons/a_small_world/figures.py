"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from cloze.lessons.a_small_world.calibration import Bin
from cloze.teaching.charts import READERS, first_at_the_top, note
from cloze.teaching.figures import Drawn, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, PAPER, SHADE


@picture
def twins(rows: Mapping[str, tuple[float, float]], row: float = 0.5) -> Drawn:
    """Draw for each reader its floor and, on top of it, what it pays above; rows in inches."""
    figure, axes = new_figure(7.2, 0.7 + row * len(rows))
    names = [*rows]
    floors, above = zip(*rows.values(), strict=True)
    colours, hatches = zip(*(READERS[name] for name in names), strict=True)
    axes.barh(names, floors, color=colours, hatch=hatches, edgecolor=PAPER, height=0.6)
    ends = axes.barh(names, above, left=floors, color=INK, height=0.6)
    labels = [f"{floor:.3f} + {more:.3f}" for floor, more in rows.values()]
    axes.bar_label(ends, labels, padding=4)
    first_at_the_top(axes)
    axes.margins(x=0.2)
    axes.set(xlabel="floor, and what the model pays above it, in nats")
    bars = listed(rows, "{0} {1[0]:.3f} + {1[1]:.3f}")
    return figure, f"Bars of the floor in nats, and at their ends what is paid above it: {bars}."


@picture
def down_to_the_floor(steps: Sequence[int], losses: Sequence[float], floor: float) -> Drawn:
    """Draw held-out loss by step, and the floor that it comes down to; what is above 1 is cut.

    Args:
        steps: when the loss was measured.
        losses: held-out, nats.
        floor: what the best reader pays on average, nats.
    """
    figure, axes = new_figure()
    axes.plot(steps, losses, color=BLUE, marker="o", label="held-out loss")
    axes.axhline(floor, color=GREEN, linestyle=(0, (4, 3)), label="floor")
    axes.axhspan(0, floor, color=SHADE, linewidth=0)
    middle, below = ("axes fraction", "data"), "on average, no model pays less"
    axes.annotate(below, (0.5, floor / 2), xycoords=middle, ha="center")
    axes.set(xlabel="step", ylabel="nats per hidden word", ylim=(0, 1), xlim=(0, None))
    axes.legend()
    ends = f"from ≈ {losses[0]:.2f} to ≈ {losses[-1]:.2f}" if losses else "not measured yet"
    return figure, f"Held-out loss in nats by step: {ends}. A line for the floor, {floor:.3f}."


@picture
def cost_of_belief(truth: float, beliefs: Sequence[float]) -> Drawn:
    """Draw what a gap with two possible words costs, by what the model believes of the first.

    Args:
        truth: the true probability of the first word.
        beliefs: probabilities that a model might give it; for each, the excess is drawn.
    """

    def loss(q: Any) -> Any:
        return -truth * np.log(q) - (1 - truth) * np.log(1 - q)

    figure, axes = new_figure(7.2, 2.8)
    q = np.linspace(0.02, 0.98, 200)
    floor = float(loss(truth))
    axes.plot(q, loss(q), color=BLUE)
    axes.axhline(floor, color=GREEN, linestyle=(0, (4, 3)))
    note(axes, f"floor {floor:.3f}", (0.02, floor), (0, -14))
    costs = []
    for belief in beliefs:
        excess = float(loss(belief)) - floor
        axes.plot([belief] * 2, [floor, floor + excess], "o-", color=INK, markersize=4)
        note(axes, f"KL {excess:.3f}", (belief, floor + excess), (-8, 4), ha="right")
        costs.append(f"believing {belief:g} costs {excess:.3f} more")
    axes.set(xlabel="what the model gives the first word", ylabel="nats", ylim=(0.4, 1.7))
    return figure, (
        f"The average cost over what the model believes, lowest at the truth, {truth:g}, with "
        f"{floor:.3f} nats; {', '.join(costs)}."
    )


@picture
def truth_against(true: Sequence[float], given: Sequence[float], bins: Sequence[Bin]) -> Drawn:
    """Draw each true probability against the one that was given, and how often it came true.

    Args:
        true: by answer.
        given: by answer.
        bins: what was given on average, and the share that came true.
    """
    figure, axes = new_figure(5.2, 4.8)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    # Most of thousands of dots would hide each other: to hundredths, each is drawn once.
    dots = {(round(x, 2), round(y, 2)) for x, y in zip(given, true, strict=True)}
    axes.plot(*zip(*sorted(dots), strict=True), ".", color=BLUE, markersize=3, label="exact truth")
    means, shares, n = np.transpose(bins)
    errors = (shares * (1 - shares) / n) ** 0.5
    look: Any = {"fmt": "D", "color": INK, "markeredgecolor": INK, "ecolor": INK}
    axes.errorbar(means, shares, 2 * errors, **look, label="share right, ± 2 errors")
    axes.set(xlabel="probability that the model gives", ylabel="true probability")
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02))
    axes.legend(loc="upper left")
    by_answer = dict(zip(means, np.transpose([shares, errors]), strict=True))
    came = listed(by_answer, "{1[0]:.2f} ± {1[1]:.2f} for {0:.2f}")
    text = "Dots along the diagonal, truth against answer. Share right, by answer:"
    return figure, f"{text} {came}."


@picture
def two_clouds(groups: Mapping[str, Tensor]) -> Drawn:
    """Draw two groups of points ``(n, 2)``, each with a colour and a sign of its own."""
    figure, axes = new_figure(6.4, 3.6)
    for (name, points), colour, sign in zip(groups.items(), (BLUE, INK), "os", strict=True):
        axes.plot(*points.T, sign, color=colour, markersize=5, label=name)
    axes.set(xlabel="first principal axis", ylabel="second")
    figure.legend(loc="outside upper left", ncols=len(groups))
    means = {f"{name} (n = {len(points)})": points[:, 0].mean() for name, points in groups.items()}
    described = listed(means, "{} around {:.1f}")
    return figure, f"Vectors in the plane in which they differ most; first axis: {described}."
