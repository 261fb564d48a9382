"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cloze.teaching.charts import first_at_the_top, named_bars, shaded_table
from cloze.teaching.figures import Drawn, listed, listed_by_group, new_figure, picture
from cloze.teaching.palette import BLUE, GREY, INK, PAPER, RED

WAYS = {"near": (BLUE, ""), "straight": (GREY, "//"), "relay": (INK, "..")}
"""By the way that a word's influence takes, colour and hatching."""
SHOWN = {
    "umbrella by raining": "sledge/umbrella by snowing/raining at +6",
    "raining by umbrella": "snowing/raining by sledge/umbrella at -6",
    "bad by liked": "bad/good by liked/hated at +3",
    "bad by not": "good/bad by not/very at -1",
    "took by umbrella": "took/wore by umbrella/boots at +3",
    "bark by dogs": "barks/bark by dog/dogs at -6",
    "bank by river": "bank/boat by river/sea at +7",
}
"""By its name in the picture, a rule of the world."""


@picture
def ladder(costs: Mapping[str, Mapping[str, float]], rungs: Sequence[str], title: str) -> Drawn:
    """Draw what the truth costs at each rung, for several readers of the rungs."""
    figure, axes = new_figure(7.2, 3.0)
    named = {reader: dict(zip(rungs, c.values(), strict=True)) for reader, c in costs.items()}
    for (reader, nats), colour, sign in zip(named.items(), (BLUE, INK), "os", strict=True):
        axes.plot([*nats], [*nats.values()], sign + "-", color=colour, label=reader)
    axes.set(ylabel="nats", ylim=(0, None), title=title)
    axes.legend(fontsize=9)
    text = "Lines of the cost of the truth after each part."
    return figure, f"{text} {listed_by_group(named)} nats."


@picture
def added(logits: Mapping[str, float], title: str) -> Drawn:
    """Draw what each part adds to a difference of two logits, as bars to either side."""
    figure, axes = new_figure(7.2, 0.5 + 0.27 * len(logits))
    colours = [BLUE if value >= 0 else RED for value in logits.values()]
    named_bars(axes, logits, colours)
    axes.axvline(0, color=INK, linewidth=1)
    axes.margins(x=0.15)
    axes.set(xlabel="logits", title=title)
    return figure, f"Bars, {title}: {listed(logits)}."


NAMES = {
    "embed": "embedding",
    "result": "head",
    "bias": "output bias",
    "mlp_out": "feed-forward",
    "rest": "last biases",
}


def named(key: Any) -> str:
    """Name a part as the notebook does: ``("result", 0, 1)`` is head 1.2."""
    part, where = (key, ()) if isinstance(key, str) else (key[0], key[1:])
    return f"{NAMES[part]} {'.'.join(str(n + 1) for n in where)}".strip()


def heads(values: Mapping[str, float], title: str) -> Any:
    """Draw a number for each head, which is named as in ``1.2``: a row for each layer."""
    layers = {name[0]: [v for n, v in values.items() if n[0] == name[0]] for name in values}
    columns = [str(h + 1) for h in range(len(layers["1"]))]
    return table([*layers.values()], [f"layer {n}" for n in layers], columns, title, "head")


@picture
def table(
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    across: str = "",
) -> Drawn:
    """Draw numbers in a table, shaded by their size."""
    figure, axes = new_figure(7.2, 0.9 + 0.36 * len(rows))
    largest = max(abs(value) for row in values for value in row)
    shaded_table(axes, values, rows, columns, 1.6 * largest, fontsize=9)
    axes.set(title=title, xlabel=across, aspect="auto")
    named = [dict(zip(columns, row, strict=True)) for row in values]
    described = listed_by_group(dict(zip(rows, named, strict=True)))
    return figure, f"A table, {title}. {described}."


@picture
def ways(rules: Mapping[str, Mapping[str, float]]) -> Drawn:
    """Draw for some rules which share of a word's influence takes which way, bars end to end."""
    shares = {name: {way: rules[rule][way] for way in WAYS} for name, rule in SHOWN.items()}
    figure, axes = new_figure(7.2, 0.9 + 0.3 * len(shares))
    left = np.zeros(len(shares))
    for way, (colour, hatch) in WAYS.items():
        look: Any = {"color": colour, "hatch": hatch, "edgecolor": PAPER, "label": way}
        widths = [max(each[way], 0.0) for each in shares.values()]
        axes.barh([*shares], widths, left=left, **look)
        left += widths
    first_at_the_top(axes)
    axes.set(xlabel="share of the effect")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize=9)
    text = "Bars of the share of the effect that takes each way."
    return figure, f"{text} {listed_by_group(shares)}."
