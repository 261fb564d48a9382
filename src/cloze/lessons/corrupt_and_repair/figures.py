"""The figures of this lesson, from plain data."""

import itertools
from collections.abc import Mapping, Sequence

from matplotlib.patches import Rectangle

from cloze.teaching.charts import named_bars, named_cells
from cloze.teaching.figures import Drawn, listed, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREY, ORANGE


@picture
def lost(nats: Mapping[str, float], entropy: float) -> Drawn:
    """Draw what each corruption leaves open, in nats, beside the entropy of a sentence."""
    figure, axes = new_figure(7.2, 0.8 + 0.42 * len(nats))
    named_bars(axes, nats, BLUE)
    axes.set(xlabel="H(original | what is read), nats", xlim=(0, 1.25 * max(nats.values())))
    return figure, (
        f"Bars of what is still open about the original in nats: {listed(nats)}; before anything "
        f"is read it is {entropy:.2f}."
    )


@picture
def stacks(read: Sequence[str], written: Sequence[str]) -> Drawn:
    """Draw which position sees which, and with which weights: two stacks beside one.

    Args:
        read: the symbols of the spoilt line.
        written: those that are written.
    """
    names = [*read, *written]
    n, prefix = len(names), len(read)
    figure, row = panels(("encoder and decoder", "one stack, prefix mask"), 7.2, 4.2)
    colours = {"encoder": BLUE, "cross": GREY, "decoder": ORANGE}
    counts = dict.fromkeys(colours, 0)
    for i, j in itertools.product(range(n), repeat=2):
        if j >= prefix and j > i:
            for axes in row:
                axes.plot(j, i, "x", color=GREY, markersize=3, markeredgewidth=0.8)
        else:
            part = "encoder" if i < prefix else "cross" if j < prefix else "decoder"
            counts[part] += 1
            for axes, colour in zip(row, (colours[part], BLUE), strict=True):
                axes.add_patch(Rectangle((j - 0.45, i - 0.45), 0.9, 0.9, color=colour))
    for axes in row:
        axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        named_cells(axes, names, names, fontsize=8)
        axes.tick_params(axis="x", rotation=90)
        axes.set(xlabel="position that is seen", ylabel="position that sees")
    return figure, (
        f"Two squares of {n} by {n} positions, {prefix} read and {n - prefix} written, with the "
        f"same places filled. With two stacks {counts['encoder']} of them are the encoder's, "
        f"{counts['cross']} the decoder's for what was read (cross-attention) and "
        f"{counts['decoder']} the decoder's for what it has written, each with weights of its own; "
        f"with one stack all {sum(counts.values())} have the same weights."
    )


@picture
def beside_truth(pairs: Sequence[tuple[float, float]]) -> Drawn:
    """Draw P(target | input) by the model over the truth's, a dot per possible target."""
    figure, axes = new_figure(4.6, 3.8)
    axes.plot((0, 1), (0, 1), color=GREY, linewidth=1)
    axes.plot([p for p, _ in pairs], [q for _, q in pairs], "o", color=BLUE, markersize=4)
    axes.set(xlabel="P(target | input), truth", ylabel="P(target | input), model")
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02))
    near = sum(abs(p - q) < 0.1 for p, q in pairs) / len(pairs)
    return figure, (
        f"Dots along the diagonal, one per possible target: {near:.0%} of {len(pairs)} have a "
        "probability by the model within 0.1 of the truth."
    )
