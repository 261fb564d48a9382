"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.teaching.figures import DASHED, empty_figure, listed, named_bars, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, VIOLET

LOOKS = {
    "masked": (BLUE, "-", "o"),
    "masked 15 %": (VIOLET, "-.", "D"),
    "replaced": (ORANGE, "--", "s"),
    "replaced, asked at 15 %": (GREEN, ":", "^"),
}
"""Of each way to train; the names beside them are the signs that count."""


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
    """Draw who looks at whom, and with which weights: two stacks beside one.

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
        axes.set(xlabel="is looked at", ylabel="looks")
        axes.set_title(title)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure, (
        f"Two squares of {n} by {n} positions, {prefix} read and {n - prefix} written, with the "
        f"same places filled. With two stacks {counts['encoder']} looks are the encoder's, "
        f"{counts['cross']} the decoder's at what was read (cross-attention) and "
        f"{counts['decoder']} the decoder's at what it has written, each with weights of its own; "
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


@picture
def losses(
    curves: Mapping[str, Mapping[str, Sequence[Sequence[tuple[float, float]]]]],
) -> tuple[Figure, str]:
    """Draw held-out losses over seconds of one core, a panel per question, a line per seed.

    Args:
        curves: by the question that is asked and by way of training, of each seed (seconds, nats).
    """
    figure = empty_figure(7.2, 3.0)
    row = figure.subplots(1, len(curves), squeeze=False)[0]
    said = []
    for axes, (question, ways) in zip(row, curves.items(), strict=True):
        for name, seeds in ways.items():
            colour, line, marker = LOOKS[name]
            for k, points in enumerate(seeds):
                axes.plot(
                    [x for x, _ in points],
                    [y for _, y in points],
                    line,
                    color=colour,
                    marker=marker,
                    markersize=4,
                    linewidth=1.2,
                    label=name if k == 0 else None,
                )
            ends = [points[-1][1] for points in seeds]
            said.append(f"{name} ({question}) ends at {min(ends):.3f} to {max(ends):.3f} nats")
        axes.set(xlabel="seconds of one core", ylim=(0, None))
        axes.set_title(question)
        axes.legend(fontsize=9)
    row[0].set(ylabel="held-out loss, nats")
    return figure, f"Falling curves over seconds, a line per seed: {'; '.join(said)}."


@picture
def worth(
    curves: Mapping[str, Mapping[str, Sequence[tuple[float, float, float, float]]]],
    references: Mapping[str, Mapping[str, float]],
) -> tuple[Figure, str]:
    """Draw what frozen vectors are worth over seconds of training, a panel per task.

    Args:
        curves: by task and way of training, seconds, and over seeds the mean, lowest and highest
            accuracy.
        references: by task, accuracies without training, drawn as lines.
    """
    figure = empty_figure(7.2, 3.6)
    row = figure.subplots(1, len(curves), squeeze=False, sharey=True)[0]
    said = []
    for axes, (task, ways) in zip(row, curves.items(), strict=True):
        for accuracy in references[task].values():
            axes.axhline(accuracy, **DASHED)
        # Below all curves, for the lines may be as good as each other and run through them.
        dashed = ", ".join(f"{name} {accuracy:.2f}" for name, accuracy in references[task].items())
        axes.text(0.98, 0.02, f"dashed: {dashed}", transform=axes.transAxes, ha="right", fontsize=8)
        for place, (name, points) in enumerate(ways.items()):
            colour, line, marker = LOOKS[name]
            x, y, low, high = ([point[k] for point in points] for k in range(4))
            x = [seconds + 0.25 * place for seconds in x]  # so that the bars stand apart
            axes.errorbar(
                x,
                y,
                [
                    [m - a for m, a in zip(y, low, strict=True)],
                    [b - m for m, b in zip(y, high, strict=True)],
                ],
                color=colour,
                linestyle=line,
                marker=marker,
                markersize=4,
                label=name,
            )
            said.append(f"{task}, {name}: {y[-1]:.2f} ({low[-1]:.2f} to {high[-1]:.2f})")
        axes.set(xlabel="seconds of one core", ylim=(0.4, 1.02))
        axes.set_title(task)
    row[0].set(ylabel="accuracy of a linear probe")
    row[-1].legend(fontsize=8, loc="lower right", bbox_to_anchor=(1, 0.08))
    return figure, f"Accuracy over seconds of training, at the end: {'; '.join(said)}."
