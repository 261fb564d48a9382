"""The map of the series: the whole way from a text to a training step, in one picture."""

import math
from typing import Any

from cloze.prediction.answers import top_k
from cloze.prediction.predictors import MaskedPredictor, listed
from cloze.prediction.shipped import shipped_model
from cloze.teaching.charts import arrow, box
from cloze.teaching.figures import Drawn, new_figure, picture
from cloze.teaching.palette import BLUE, GREY
from cloze.vocabulary import VOCABULARY

TEXT, GAP = "red fox", 2

PLACES: dict[str, tuple[float, float, float, float]] = {
    "text": (0, 2.0, 2.0, 1.5),
    "ids": (2.5, 2.0, 3.3, 1.5),
    "mask": (6.3, 2.0, 2.0, 1.5),
    "parameters": (8.8, -0.45, 7.6, 4.8),
    "embedding": (9.1, 1.7, 2.4, 2.1),
    "layers": (12.0, 1.7, 4.2, 2.1),
    "logits": (12.9, 0, 2.2, 1.35),
    "P": (5.7, 0, 2.6, 1.35),
    "−log P": (3.2, 0, 2.0, 1.35),
    "gradient": (-0.1, 0, 2.8, 1.35),
}
"""Where the box of each stage begins, its width and its height."""

WAY = (
    ((2.0, 2.75), (2.5, 2.75)),
    ((5.8, 2.75), (6.3, 2.75)),
    ((8.3, 2.75), (9.1, 2.75)),
    ((11.5, 2.75), (12.0, 2.75)),
    ((14.0, 1.7), (14.0, 1.35)),
    ((12.9, 0.65), (8.3, 0.65)),
    ((5.7, 0.65), (5.2, 0.65)),
    ((3.2, 0.65), (2.7, 0.65)),
    ((1.4, -0.3), (8.8, -0.3)),
)
"""From where to where the arrows go. The last one closes the circle: a step of training."""


@picture
def the_map(*lit: str) -> Drawn:
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
    figure, axes = new_figure(7.8, 2.35)
    for stage, (x, y, across, up) in PLACES.items():
        look: Any = {"linewidth": 1}
        if stage in lit:
            look = {"linewidth": 2.6, "edgecolor": BLUE, "facecolor": f"{BLUE}2e"}
        if stage == "parameters":
            look["linestyle"] = "--"
        box(axes, (x, y), across, up, boxstyle="round,pad=0,rounding_size=0.2", **look)
        title = f"{parameters} parameters" if stage == "parameters" else stage
        middle, line = x + across / 2, written.get(stage, "")
        axes.text(middle, y + up - 0.08, title, ha="center", va="top", weight="bold")
        axes.text(middle, y + (up - 0.45) / 2, line, ha="center", va="center", linespacing=1.1)
    for i in range(model.config.n_layers):
        left = PLACES["layers"][0] + 0.1 + 2.05 * i
        box(axes, (left, 1.8), 1.95, 1.45)
        lines = f"{i + 1}: attention\nfeed-forward\n{len(TEXT)} × {width}"
        axes.text(left + 0.97, 2.52, lines, ha="center", va="center", fontsize=8.5)
    for start, end in WAY:
        colour = BLUE if end == WAY[-1][1] else GREY
        arrow(axes, start, end, color=colour, linewidth=1.6, shrinkA=2, shrinkB=2)
    axes.plot([1.4, 1.4], [0, -0.3], color=BLUE, linewidth=1.6)  # from the gradient to that arrow
    axes.set(xlim=(-0.2, 16.5), ylim=(-0.5, 4.4))
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
