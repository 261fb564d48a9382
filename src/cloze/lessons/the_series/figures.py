"""The map of the series: the whole way from a text to a training step, in one picture."""

import math
from typing import Any, Literal

from cloze.prediction.answers import top_k
from cloze.prediction.predictors import MaskedPredictor, listed
from cloze.prediction.shipped import shipped_model
from cloze.teaching.charts import arrow, box
from cloze.teaching.figures import Drawn, new_figure, picture
from cloze.teaching.palette import BLUE, GREY
from cloze.vocabulary import VOCABULARY

Stage = Literal[
    "text", "ids", "mask", "embedding", "layers", "logits", "P", "−log P", "gradient", "parameters"
]

TEXT, GAP = "red fox", 2

PLACES: dict[str, tuple[float, float, float, float]] = {
    "text": (0, 6.7, 2.6, 1.5),
    "ids": (3.3, 6.7, 3.3, 1.5),
    "mask": (7.3, 6.7, 2.7, 1.5),
    "parameters": (-0.2, 2.2, 10.4, 3.8),
    "embedding": (7.55, 2.5, 2.35, 2.5),
    "layers": (2.45, 2.5, 4.55, 2.5),
    "logits": (0.1, 2.5, 1.8, 2.5),
    "P": (0, 0, 2.6, 1.5),
    "−log P": (3.3, 0, 2.9, 1.5),
    "gradient": (6.9, 0, 3.1, 1.5),
}
"""Where the box of each stage begins, its width and its height."""

WAY = (
    ((2.6, 7.45), (3.3, 7.45)),
    ((6.6, 7.45), (7.3, 7.45)),
    ((8.7, 6.7), (8.7, 5.0)),
    ((7.55, 3.75), (7.0, 3.75)),
    ((2.45, 3.75), (1.9, 3.75)),
    ((1.0, 2.5), (1.0, 1.5)),
    ((2.6, 0.75), (3.3, 0.75)),
    ((6.2, 0.75), (6.9, 0.75)),
    ((8.4, 1.5), (8.4, 2.2)),
)
"""From where to where the arrows go. The last one closes the circle: a step of training."""


@picture
def the_map(*lit: Stage) -> Drawn:
    """Draw the whole way of one line through the shipped encoder, with its numbers.

    Args:
        lit: the stages to light, those which a notebook is about.
    """
    model = shipped_model()
    width, symbols = model.config.d_model, model.config.vocab_size
    answer = MaskedPredictor(model).predict(TEXT, [GAP]).probabilities[0]
    best = top_k(answer, 3)
    cost = -math.log(answer[VOCABULARY.encode(TEXT)[GAP]].item())
    ids = " ".join(str(i) for i in VOCABULARY.encode(TEXT).tolist())
    parameters = f"{sum(p.numel() for p in model.parameters()):,}"
    first, *others = (f"{guess.character} {guess.probability:.2f}" for guess in best)
    written = {
        "text": TEXT,
        "ids": ids,
        "mask": f"{TEXT[:GAP]}▒{TEXT[GAP + 1 :]}",
        "embedding": f"{len(TEXT)} × {width}",
        "logits": f"{len(TEXT)} × {symbols}",
        "P": f"{first}\n{'  '.join(others)}",
        "−log P": f"{TEXT[GAP]} costs\n{cost:.2f} nats",
        "gradient": "which way does\nit cost less?",
    }
    figure, axes = new_figure(5.4, 4.3)
    for stage, (x, y, across, up) in PLACES.items():
        look: Any = {"linewidth": 1}
        if stage in lit:
            look = {"linewidth": 2.6, "edgecolor": BLUE, "facecolor": f"{BLUE}2e"}
        if stage == "parameters":
            look["linestyle"] = "--"
        box(axes, (x, y), across, up, boxstyle="round,pad=0,rounding_size=0.2", **look)
        title = f"{parameters} parameters" if stage == "parameters" else stage
        middle, line = x + across / 2, written.get(stage, "")
        axes.text(middle, y + up - 0.2, title, ha="center", va="top", weight="bold")
        axes.text(middle, y + (up - 0.45) / 2, line, ha="center", va="center", linespacing=1.25)
    for i in range(model.config.n_layers):
        right = PLACES["layers"][0] + 4.4 - 2.15 * i
        box(axes, (right - 2.05, 2.65), 2.0, 1.6)
        lines = f"{i + 1}: attention\nfeed-forward\n{len(TEXT)} × {width}"
        axes.text(right - 1.05, 3.45, lines, ha="center", va="center", fontsize=9, linespacing=1.4)
    for start, end in WAY:
        colour = BLUE if end == WAY[-1][1] else GREY
        arrow(axes, start, end, color=colour, linewidth=1.6, shrinkA=2, shrinkB=2)
    axes.set(xlim=(-0.3, 10.3), ylim=(-0.1, 8.3))
    axes.axis("off")
    here = f" This notebook is about: {', '.join(lit)}." if lit else ""
    return figure, (
        f"Map of the way from a text to a training step. The text {TEXT!r} becomes ids ({ids}). "
        f"The mask hides the letter at {GAP}. The embedding turns each of the {len(TEXT)} symbols "
        f"into {width} numbers. {model.config.n_layers} layers, each with attention and a "
        f"feed-forward network, compute {len(TEXT)} × {width} new ones. The head gives "
        f"{len(TEXT)} × {symbols} logits, and softmax probabilities P: {listed(best)}. The right "
        f"letter costs −log P = {cost:.2f} nats. The gradient says for each of the {parameters} "
        f"parameters which way this cost falls, and in training each one takes a small step.{here}"
    )
