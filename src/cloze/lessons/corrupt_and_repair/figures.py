"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.teaching.figures import empty_figure, listed, named_bars, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE


@picture
def lost(nats: Mapping[str, float], entropy: float) -> tuple[Figure, str]:
    """Draw what each corruption leaves open, in nats, beside the entropy of a sentence."""
    figure, axes = new_figure(7.2, 0.8 + 0.42 * len(nats))
    named_bars(axes, nats, BLUE)
    axes.set(xlabel="H(original | what is read), nats", xlim=(0, 1.25 * max(nats.values())))
    return figure, (
        f"Bars of what is still open about the original in nats: {listed(nats)}; before anything "
        f"is read it is {entropy:.2f}."
    )


@picture
def stacks(read: Sequence[str], written: Sequence[str]) -> tuple[Figure, str]:
    """Draw which position sees which, and with which weights: two stacks beside one.

    Args:
        read: the symbols of the spoilt line.
        written: those that are written.
    """
    names = [*read, *written]
    n, prefix = len(names), len(read)
    figure = empty_figure(7.2, 4.2)
    row = figure.subplots(1, 2)
    titles = ("encoder and decoder", "one stack, prefix mask")
    counts: dict[str, int] = {}
    for axes, title in zip(row, titles, strict=True):
        for i in range(n):
            for j in range(n):
                if j >= prefix and j > i:
                    axes.plot(j, i, "x", color=GREY, markersize=3, markeredgewidth=0.8)
                    continue
                part = "encoder" if i < prefix else "cross" if j < prefix else "decoder"
                counts[part] = counts.get(part, 0) + (axes is row[0])
                shared = title == titles[1]
                colour = BLUE if shared else {"encoder": BLUE, "cross": ORANGE}.get(part, GREEN)
                axes.add_patch(Rectangle((j - 0.45, i - 0.45), 0.9, 0.9, color=colour))
        axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        axes.set_xticks(range(n), names, rotation=90, fontsize=8)
        axes.set_yticks(range(n), names, fontsize=8)
        axes.set(xlabel="position that is seen", ylabel="position that sees")
        axes.set_title(title)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure, (
        f"Two squares of {n} by {n} positions, {prefix} read and {n - prefix} written, with the "
        f"same places filled. With two stacks {counts['encoder']} of them are the encoder's, "
        f"{counts['cross']} the decoder's for what was read (cross-attention) and "
        f"{counts['decoder']} the decoder's for what it has written, each with weights of its own; "
        f"with one stack all {sum(counts.values())} have the same weights."
    )


@picture
def beside_truth(pairs: Sequence[tuple[float, float]]) -> tuple[Figure, str]:
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
