"""The exercises of notebook 08."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.prediction.shipped import shipped_model
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, kind_of, number, positions
from cloze.vocabulary import GAP, VOCABULARY

# ── 8.1 ──────────────────────────────────────────────────────────────────────────────────────────

Scores = Sequence[float]


def area(typos: Scores, clean: Scores) -> float:
    """Return the share of pairs in which the typo has the higher score, ties counted half."""
    return sum((a > b) + 0.5 * (a == b) for a in typos for b in clean) / (len(typos) * len(clean))


def surprises(chance: Chance) -> Probes:
    """Make lists of scores of different lengths, with ties."""
    # The second, where the first typo wins one pair of five, tells it from the list as a whole.
    yield [5.0, 1.0], [0.5, 1.0, 3.0]
    yield [2.0, 3.5, 0.25], [1.0, 3.0, 2.5, 4.0, 3.75]
    yield from (([2.0], [2.0]), ([0.5, 1.0], [2.0, 3.0]), ([1.0, 1.0], [1.0, 0.0]))
    for typos, clean in ((4, 7), (3, 9), (6, 5), (5, 8)):
        one = [chance.choice([1.0, 2.0, 3.0, 4.0, chance.uniform(0, 6)]) for _ in range(typos)]
        other = [chance.choice([0.0, 1.0, 2.0, 3.0, chance.uniform(0, 4)]) for _ in range(clean)]
        yield [*one, 2.0], [*other, 2.0]


check_area = Exercise(
    solution=area,
    minutes=10,
    wants=number,
    probes=surprises,
    solved="That is the area under the curve. At 1 every typo scores higher than every clean "
    "character, ½ is chance, and you never had to choose a threshold.",
    direction="Compare every typo with every clean character, and divide by the number of pairs.",
)

# ── 8.2 ──────────────────────────────────────────────────────────────────────────────────────────


def whole_words(text: str, chosen: set[int]) -> set[int]:
    """Return the positions of all words that contain a chosen character."""
    words = [set(range(*word.span())) for word in re.finditer("[^ ]+", text)]
    return set().union(*(word for word in words if word & chosen))


def places(value: Any) -> list[int]:
    """Read positions; in a list, a position may occur more than once."""
    return positions([*dict.fromkeys(value)] if isinstance(value, list | tuple) else value)


def lines(chance: Chance) -> Probes:
    """Make lines in which words repeat, and one with spaces in front, and choose characters."""
    yield from (
        ("rain fell on an umbrella", {20}),
        ("the cat and the hat", {13}),
        ("a cat", {0}),
        ("one two three", {3, 9}),
        ("there it is", {1, 7}),
        ("we were here", set()),
        ("he saw the sea", {7, 8, 13}),
        (" hers is  the other", {2, 12, 15}),
        ("other the rain", {6}),
    )
    yield from ((text, {*range(len(text))}) for text in ("hello", "  ", ""))
    words = ["the", "umbrella", "a", "rain", "he", "there", "other"]
    for _ in range(4):
        text = " ".join(chance.choice(words) for _ in range(chance.randint(4, 7)))
        yield text, set(chance.sample(range(len(text)), 4))


check_whole_words = Exercise(
    solution=whole_words,
    minutes=15,
    wants=places,
    probes=lines,
    solved="Choose one letter, and the whole word is gone.",
    direction="Go through the words with their positions; if one of a word's positions is chosen, "
    "take all of them.",
)

# ── 8.3 ──────────────────────────────────────────────────────────────────────────────────────────

LINE = "she took her umbrella because it was raining"
HIDDEN = round(0.15 * len(LINE))


def costs_of_hiding(hidden: Tensor) -> Tensor:
    """Return what all gaps of the line cost together, for each row of places, ``(n, length)``."""
    line = VOCABULARY.encode(LINE)
    with torch.no_grad():
        logits = shipped_model()(line.masked_fill(hidden, VOCABULARY.mask_id))
    each = logits.log_softmax(-1).gather(2, line.expand(hidden.shape)[..., None])[..., 0]
    return -(each * hidden).sum(1)


def by_chance_and_in_spans() -> tuple[Tensor, Tensor]:
    """Return the costs of places drawn at random, and of all spans of as many characters."""
    n = len(LINE)
    drawn = torch.rand(200, n, generator=torch.Generator().manual_seed(0)).argsort(1) < HIDDEN
    starts = torch.arange(n - HIDDEN + 1)[:, None]
    spans = (torch.arange(n) >= starts) & (torch.arange(n) < starts + HIDDEN)
    return costs_of_hiding(drawn), costs_of_hiding(spans)


def hidden_places(value: Any) -> Tensor:
    """Read the line with gaps as a row of places, ``(1, length)``."""
    if not isinstance(value, str):
        raise Symptom(
            f"You hand in {kind_of(value)}; hand in the line in quotes, with _ for each hidden "
            "character."
        )
    if len(value) != len(LINE):
        raise Symptom(
            f"Your line has {len(value)} characters and the original {len(LINE)}: write one _ for "
            "each hidden character (spaces count), and leave the others where they are."
        )
    for own, true in zip(value, LINE, strict=True):
        if own not in (GAP, true):
            raise Symptom(
                f"Your line has {own!r} where the original has {true!r}. Write _ for what you "
                "hide, and leave the rest as it is."
            )
    if value.count(GAP) != HIDDEN:
        raise Symptom(
            f"You hide {value.count(GAP)} characters; hide exactly {HIDDEN}, which is 15% "
            "of the line."
        )
    return torch.tensor([[own == GAP for own in value]])


def _judge_hardest_gaps(answer: Any) -> str:
    paid = costs_of_hiding(hidden_places(answer)).item()
    chance, spans = by_chance_and_in_spans()
    average, most = chance.mean().item(), spans.max().item()
    advice, apart = "Hide neighbours together.", ""
    if 2 * GAP not in answer:
        apart = "No two of your gaps are neighbours, so the letters beside each gap give it away. "
    if paid <= average:
        raise Symptom(
            f"Your gaps cost {paid:.1f} nats, no more than chance ({average:.1f} on average). "
            f"{apart}{advice}"
        )
    if paid <= most:
        raise Symptom(
            f"Your gaps cost {paid:.1f} nats. That beats chance ({average:.1f}), but not the most "
            f"expensive span of {HIDDEN} ({most:.1f}). "
            f"{apart and apart + advice + ' '}Leave visible what helps the model least."
        )
    return (
        f"Your gaps cost {paid:.1f} nats. Random ones cost {average:.1f} on average, and the most "
        f"expensive span {most:.1f}."
    )


check_hardest_gaps = Exercise(
    solution="she took her ______l_ because it was raining",
    minutes=12,
    solved="The worst gaps are close together, and what stays visible between them hardly helps.",
    judge=_judge_hardest_gaps,
)
"""Mark a line of which 15% are hidden, so that it costs more than chance and any span."""
