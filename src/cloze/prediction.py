"""Prediction: what trained models answer: guesses from the left, the right and both sides.

A line and a set of masked positions go in; for every masked position each model gives a
distribution, and −log p of the truth is what it pays. Filling gaps, scoring a text and the joint
guess at two gaps are built from that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from cloze import arguments
from cloze.checkpoint import CHECKPOINTS, load_model
from cloze.encoder import DIRECTIONS, Direction
from cloze.generation import unmask
from cloze.heads import CausalLM, MaskedLM
from cloze.loss import to_bits
from cloze.vocabulary import (
    GAP,
    VOCABULARY,
    TextError,
    Vocabulary,
    frame,
    read_line,
    read_words,
    visible,
)

Within = Literal["alone", "left to right"]
WITHIN: tuple[Within, ...] = get_args(Within)


class Guess(NamedTuple):
    """A symbol and the probability that the model gives it."""

    character: str
    probability: float


@dataclass(frozen=True)
class Filled:
    """A line with its gaps filled."""

    typed: str
    """The line as the model read it, ``_`` for a gap."""
    text: str
    """The line with every gap filled."""
    guesses: dict[int, list[Guess]]
    """By position of a gap, the best guesses at the moment it was filled, best first."""
    note: str
    """What normalising changed in the line, "" if nothing."""

    def __repr__(self) -> str:
        rows = [self.typed, self.text]
        for position, guesses in sorted(self.guesses.items()):
            shown = ", ".join(f"{visible(g.character)} {g.probability:.2f}" for g in guesses)
            rows.append(f"  position {position}: {shown}")
        if self.note:
            rows.append(f"  ({self.note})")
        return "\n".join(rows)


def shipped_model(direction: Direction = "both") -> MaskedLM:
    """Load a model that ships with the series, once.

    Args:
        direction: "both" for the encoder; "left" and "right" for its one-sided twins. All three
            have the same size and saw the same text with the same gaps for as many steps; a twin's
            attention reaches only its own position and what is on its side.
    """
    arguments.one_of(direction, DIRECTIONS, "direction")
    return _load_once("masked" if direction == "both" else direction)


def shipped_world_model(direction: Direction = "both") -> MaskedLM:
    """Load a model of the small world that ships with the series, once: the encoder or a twin."""
    arguments.one_of(direction, DIRECTIONS, "direction")
    return _load_once("world" if direction == "both" else f"world_{direction}")


@lru_cache(maxsize=2 * len(DIRECTIONS))
def _load_once(name: str) -> MaskedLM:
    return load_model(CHECKPOINTS / f"{name}.safetensors")


def shipped_models() -> dict[str, MaskedLM]:
    """Load the shipped encoder and its twins: ``{"left": …, "right": …, "both": …}``."""
    return {direction: shipped_model(direction) for direction in DIRECTIONS}


def _line(model: MaskedLM, input_ids: Tensor) -> Tensor:
    """Return a line if the model knows its symbols, and all of this module."""
    known = arguments.model(model).config.vocab_size
    return arguments.token_ids(input_ids, known, dim=1)


def _of_characters(model: MaskedLM) -> MaskedLM:
    """Return a model that reads lines of characters."""
    if arguments.model(model).vocabulary.separator:
        raise ValueError(
            "This model reads words, not characters; ask it by MaskedPredictor(model), as the "
            "explorer does."
        )
    return arguments.model(model, len(VOCABULARY))


@torch.no_grad()
def distribution(model: MaskedLM, input_ids: Tensor) -> Tensor:
    """Return P(x_i | x̃) at every position of one line.

    Special symbols are never an answer: their probability, which training has made tiny, is
    removed and the rest scaled to sum to 1.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.

    Returns:
        Shape ``(length, n_ordinary)``.

    Raises:
        ValueError: no model, no line of ids, or a longer one than the model reads.
    """
    _line(model, input_ids)
    logits = model(input_ids[None])[0]
    return logits[:, : model.vocabulary.n_ordinary].softmax(dim=-1)


def top_k(probabilities: Tensor, k: int = 3, vocabulary: Vocabulary = VOCABULARY) -> list[Guess]:
    """Return the ``k`` likeliest symbols of a distribution of shape ``(n_ordinary,)``.

    Raises:
        ValueError: ``k`` is below 1, or there is no such distribution.
    """
    k = arguments.whole_number(k, 1, None, "k, the number of guesses to keep,")
    n = vocabulary.n_ordinary
    arguments.of_type(probabilities, Tensor, "A distribution")
    if probabilities.shape != (n,) or not probabilities.isfinite().all():
        raise ValueError(
            f"A distribution holds a probability for each of the {n} symbols, shape ({n},), "
            f"not {arguments.shown(probabilities)}."
        )
    best = probabilities.topk(min(k, len(probabilities)))
    return [
        Guess(vocabulary.symbols[i], p)
        for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def fill(line: str, model: MaskedLM | None = None, *, k: int = 3, at_once: bool = False) -> Filled:
    """Fill the gaps of a line.

    Args:
        line: text with ``_`` or ``[MASK]`` for every missing character.
        model: by default the one that ships with the series.
        k: how many guesses to keep for each gap.
        at_once: True fills all gaps from one look at the line, each without knowing what is put
            into the others. False (the default) fills the gap the model is surest of, looks again
            at the line with that gap closed, and goes on.

    Raises:
        TextError: the line is empty, too long, or has no gap.
        ValueError: ``k`` is below 1.
    """
    model = shipped_model() if model is None else arguments.model(model)
    vocabulary = arguments.model(model, len(model.vocabulary)).vocabulary
    if isinstance(model, CausalLM):
        raise ValueError(
            "A causal model would fill a gap from its left side alone; call fill_by_bayes(line, "
            "model) of cloze.causal, which scores the whole line with each filling."
        )
    k = arguments.whole_number(k, 1, None, "k, the number of guesses to keep,")
    arguments.of_type(at_once, bool, "at_once")
    if vocabulary.separator:
        words = read_words(line, vocabulary, model.config.max_len - 2)
        input_ids, note = frame(words, vocabulary), ""
    else:
        input_ids, note = read_line(line, model.config.max_len)
    shown = slice(1, -1) if vocabulary.separator else slice(None)  # no [BEGIN] and no [END]
    typed = vocabulary.decode(input_ids[shown], gap=GAP)
    guesses: dict[int, list[Guess]] = {}
    looks = 1 if at_once else None
    for step in unmask(model, input_ids[None], "easiest first", looks, temperature=0.0):
        positions = step.filled[0].nonzero().flatten().tolist()
        for position, probabilities in zip(positions, step.probabilities, strict=True):
            guesses[position - (shown.start or 0)] = top_k(probabilities, k, vocabulary)
        input_ids = step.lines[0]
    return Filled(typed, vocabulary.decode(input_ids[shown]), guesses, note)


def mask_positions(
    input_ids: Tensor, positions: Iterable[int], vocabulary: Vocabulary = VOCABULARY
) -> Tensor:
    """Return a copy of a line ``(length,)`` with ``[MASK]`` at the given positions.

    Raises:
        ValueError: a position lies outside the line.
    """
    masked = arguments.token_ids(input_ids, dim=1).clone()
    masked[arguments.positions(positions, len(input_ids))] = vocabulary.mask_id
    return masked


@dataclass(frozen=True, eq=False)
class Prediction:
    """What one model answers at the masked positions of one line."""

    positions: tuple[int, ...]
    """The masked positions, ascending."""
    probabilities: Tensor
    """P(x_i | x̃), shape ``(|M|, n_ordinary)``."""
    costs: Tensor
    """−log P of the truth in nats, shape ``(|M|,)``; NaN where no truth is known."""

    def __getitem__(self, position: int) -> Tensor:
        """Return the distribution at a masked position, shape ``(n_ordinary,)``."""
        return self.probabilities[self._row(position)]

    def cost(self, position: int) -> float | None:
        """Return −log P of the truth at a masked position in nats; None when it is not known."""
        cost = float(self.costs[self._row(position)])
        return None if math.isnan(cost) else cost

    def _row(self, position: int) -> int:
        position = arguments.whole_number(position, 0, None, "A masked position")
        if position not in self.positions:
            masked = ", ".join(map(str, self.positions)) or "none"
            raise ValueError(f"Position {position} is not masked; what is masked: {masked}.")
        return self.positions.index(position)

    @property
    def known_costs(self) -> list[float]:
        """−log P of the truth in nats, where it is known."""
        return [cost for cost in self.costs.tolist() if not math.isnan(cost)]

    @property
    def loss(self) -> float | None:
        """L / |M|: the mean cost of the known truths in nats; None when there is none."""
        costs = self.known_costs
        return sum(costs) / len(costs) if costs else None


@torch.no_grad()
def predict(model: MaskedLM, input_ids: Tensor, masked: Iterable[int]) -> Prediction:
    """Mask positions of a line and let a model guess them, all from one look.

    Args:
        model: any model.
        input_ids: the line as it is in truth, shape ``(length,)``; ``[MASK]`` where even the truth
            is a gap.
        masked: the positions to hide. Real gaps are always among them.

    Raises:
        ValueError: a position lies outside the line, or the model cannot read the line.
    """
    _line(model, input_ids)
    n, mask_id = model.vocabulary.n_ordinary, model.vocabulary.mask_id
    hidden = mask_positions(input_ids, masked, model.vocabulary) == mask_id
    positions = tuple(hidden.nonzero().flatten().tolist())
    if not positions:
        return Prediction((), torch.empty(0, n), torch.empty(0))
    corrupted = input_ids.masked_fill(hidden, mask_id)
    log_probs = model.logits_at(corrupted[None], hidden[None])[:, :n].log_softmax(dim=-1)
    truth = input_ids[hidden]
    known = truth < n
    costs = -log_probs.gather(1, truth.where(known, 0)[:, None]).squeeze(1)
    return Prediction(positions, log_probs.exp(), costs.where(known, torch.nan))


@dataclass(frozen=True, eq=False)
class Comparison:
    """What several models answer on exactly the same line with the same gaps."""

    input_ids: Tensor
    """The line in truth, shape ``(length,)``."""
    predictions: Mapping[str, Prediction]
    """By the model's name: "left", "right", "both"."""

    def __getitem__(self, name: str) -> Prediction:
        """Return what one of the models answers."""
        return self.predictions[arguments.one_of(name, self.predictions, "A model that was asked")]

    @property
    def positions(self) -> tuple[int, ...]:
        """The masked positions, ascending."""
        return next(iter(self.predictions.values())).positions

    def __repr__(self) -> str:
        typed = VOCABULARY.decode(mask_positions(self.input_ids, self.positions), gap=GAP)
        rows = [typed.replace("\n", visible("\n"))]
        truth = VOCABULARY.decode(self.input_ids, gap=GAP)
        width = max(len(name) for name in self.predictions)
        for position in self.positions:
            known = truth[position] != GAP
            said = f", in truth {visible(truth[position])}" if known else ""
            rows.append(f"position {position}{said}")
            for name, prediction in self.predictions.items():
                guesses = top_k(prediction[position])
                shown = ", ".join(f"{visible(g.character)} {g.probability:.2f}" for g in guesses)
                cost = prediction.cost(position)
                paid = "" if cost is None else f"   cost {cost:.2f} nats = {to_bits(cost):.2f} bits"
                rows.append(f"  {name:{width}}  {shown}{paid}")
        losses = [
            f"{name} {prediction.loss:.2f}"
            for name, prediction in self.predictions.items()
            if prediction.loss is not None
        ]
        if losses:
            rows.append(f"mean cost in nats: {', '.join(losses)}")
        return "\n".join(rows)


def compare(
    line: str, masked: Iterable[int], models: Mapping[str, MaskedLM] | None = None
) -> Comparison:
    """Let several models guess the same gaps of the same line.

    Args:
        line: the true line; ``_`` marks a gap whose truth is not known.
        masked: the positions to hide besides.
        models: by name; by default the shipped encoder and its one-sided twins.

    Raises:
        TextError: the line is empty or too long.
        ValueError: a position lies outside the line, or there is no model.
    """
    models = shipped_models() if models is None else arguments.models(models)
    for model in models.values():
        _of_characters(model)
    input_ids, _ = read_line(line, min(model.config.max_len for model in models.values()))
    masked = arguments.positions(masked, len(input_ids))
    return Comparison(
        input_ids, {name: predict(model, input_ids, masked) for name, model in models.items()}
    )


@torch.no_grad()
def joint(model: MaskedLM, input_ids: Tensor, first: int, second: int) -> Tensor:
    """Guess two gaps together: P(a, b | x̃) = P(a | x̃) · P(b | x̃ with a filled in).

    ``predict`` guesses every gap without knowing what the others hold; the product of its two
    distributions is what the joint guess would be if the gaps had nothing to do with each other.
    Filling the second gap first need not give the same table: nothing in training makes the two
    agree.

    Args:
        model: any model.
        input_ids: shape ``(length,)``, with whatever other gaps it has.
        first: the position of a.
        second: the position of b.

    Returns:
        Shape ``(n_ordinary, n_ordinary)``, row a, column b.

    Raises:
        ValueError: the two are one, or one lies outside the line.
    """
    _line(model, input_ids)
    first, second = arguments.positions([first, second], len(input_ids))
    if first == second:
        raise ValueError(f"A joint guess is about two gaps, and both of these are at {first}.")
    n = model.vocabulary.n_ordinary
    masked = mask_positions(input_ids, [first, second], model.vocabulary)
    filled = masked.repeat(n, 1)  # one row for each character that the first gap may hold
    filled[:, first] = torch.arange(n)
    selected = torch.zeros_like(filled, dtype=torch.bool)
    selected[:, second] = True
    given_first = model.logits_at(filled, selected)[:, :n].softmax(dim=-1)
    return distribution(model, masked)[first][:, None] * given_first


def attention_from(
    model: MaskedLM, input_ids: Tensor, position: int, layer: int, head: int
) -> Tensor:
    """Return where one head looks from one position: weights that sum to 1, shape ``(length,)``.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.
        position: where the head looks from.
        layer: from 0.
        head: from 0.

    Raises:
        ValueError: there is no such position, layer or head.
    """
    _line(model, input_ids)
    (position,) = arguments.positions([position], len(input_ids))
    layer = arguments.whole_number(layer, 0, model.config.n_layers - 1, "A layer of this model")
    head = arguments.whole_number(head, 0, model.config.n_heads - 1, "A head of this model")
    return model.encoder.attention(input_ids[None])[layer, 0, head, position]


def score(text: str, model: MaskedLM | None = None, *, within_words: Within = "alone") -> Tensor:
    """Return −log P of every character of a line with that character masked.

    High values are surprises: a typo, a rare word, a name.

    Args:
        text: one line without gaps, at most ``max_len`` characters after normalising.
        model: by default the one that ships with the series.
        within_words: "alone" masks nothing else; "left to right" masks the rest of the word as
            well, so that a letter is not given away by those after it.

    Returns:
        Costs in nats, shape ``(length,)``.

    Raises:
        TextError: the line is empty, too long, or has gaps.

    Source: Salazar et al. 2020, Masked Language Model Scoring (pseudo-log-likelihood); Kauf and
    Ivanova 2023, A Better Way to Do Masked Language Model Scoring (within words from the left).
    """
    arguments.one_of(within_words, WITHIN, "within_words")
    model = shipped_model() if model is None else _of_characters(model)
    input_ids, _ = read_line(text, model.config.max_len)
    if (input_ids == VOCABULARY.mask_id).any():
        raise TextError("A text to score has no gaps; fill or remove them first.")
    if within_words == "alone":
        return surprise(model, input_ids)
    return surprise(model, input_ids, _rest_of_word(input_ids))


def _rest_of_word(input_ids: Tensor) -> Tensor:
    """Return for each character (row) what follows it in its word, ``(length, length)``."""
    apart = torch.isin(input_ids, torch.tensor([VOCABULARY.ids[c] for c in " \n"]))
    word = apart.cumsum(0)
    return ((word[:, None] == word) & ~apart[:, None] & ~apart).triu(diagonal=1)


@torch.no_grad()
def surprise(model: MaskedLM, input_ids: Tensor, besides: Tensor | None = None) -> Tensor:
    """Return −log P of each ordinary symbol of a line ``(length,)`` when it is masked.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.
        besides: what is masked together with each symbol (row): boolean, ``(length, length)``; by
            default nothing.

    Returns:
        Costs in nats, shape ``(ordinary symbols of the line,)``.
    """
    n, mask_id = model.vocabulary.n_ordinary, model.vocabulary.mask_id
    (at,) = (_line(model, input_ids) < n).nonzero(as_tuple=True)
    each_alone = input_ids.repeat(len(at), 1)  # one masked position per row
    own = torch.zeros_like(each_alone, dtype=torch.bool)
    own[torch.arange(len(at)), at] = True
    hidden = own if besides is None else own | besides[at]
    logits = model.logits_at(each_alone.masked_fill(hidden, mask_id), own)
    log_probs = logits[:, :n].log_softmax(dim=-1)
    return -log_probs.gather(1, input_ids[at, None]).squeeze(1)


@torch.no_grad()
def disbelief(model: MaskedLM, lines: Tensor) -> Tensor:
    """Return −log P of every symbol of ordinary lines ``(n, length)`` from one look that sees it.

    Returns:
        Costs in nats, shape ``(n, length)``.

    Raises:
        ValueError: no model, or no such lines.
    """
    n = arguments.model(model).vocabulary.n_ordinary
    arguments.token_ids(lines, n, dim=2)
    said = torch.cat([model(part)[..., :n].log_softmax(-1) for part in torch.split(lines, 64)])
    return -said.gather(-1, lines[..., None]).squeeze(-1)


@torch.no_grad()
def leaning(model: MaskedLM, input_ids: Tensor, masked: Iterable[int], position: int) -> Tensor:
    """Return what it costs the answer at a masked position to hide each symbol as well.

    Args:
        model: any model.
        input_ids: the line as it is in truth, shape ``(length,)``; ``[MASK]`` where even the truth
            is a gap.
        masked: the positions that are hidden. Real gaps are always among them.
        position: one of them.

    Returns:
        In nats, shape ``(length,)``: the rise of −log P of the truth, below 0 where the symbol
        misled. If the truth is not known, the divergence of the answer from the one without the
        symbol. 0 at what is hidden or special.

    Raises:
        ValueError: a position lies outside the line, or the one asked about is not masked.
    """
    _line(model, input_ids)
    n, mask_id = model.vocabulary.n_ordinary, model.vocabulary.mask_id
    hidden = mask_positions(input_ids, masked, model.vocabulary)
    (position,) = arguments.positions([position], len(input_ids))
    if hidden[position] != mask_id:
        raise ValueError(f"Position {position} is not masked, so nothing is guessed there.")
    # Row i hides i besides; where i is hidden anyway, or special, it is the line itself.
    each = hidden.repeat(len(hidden), 1)
    each.diagonal()[hidden < n] = mask_id
    own = torch.zeros_like(each, dtype=torch.bool)
    own[:, position] = True
    after = model.logits_at(each, own)[:, :n].log_softmax(dim=-1)
    before, truth = after[position], input_ids[position]
    if truth < n:
        return before[truth] - after[:, truth]
    return (before.exp() * (before - after)).sum(dim=-1)
