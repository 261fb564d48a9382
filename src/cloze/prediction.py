"""Prediction: what a model answers about the gaps of a line, whatever kind of model it is.

A line and its gaps go in; out comes an :class:`Answer`: for every gap a distribution, and −log P of
the truth, which is what the model pays. Two gaps together, the surprise of every symbol, what an
answer depends on, filling and scoring follow from that. Each is a function of a model and a line of
ids; a :class:`Predictor` asks the same about lines of characters or words, as widgets do.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from cloze.baselines import letter_frequencies
from cloze.border import (
    Choice,
    Count,
    Line,
    Lines,
    Positions,
    Together,
    checked,
    known_symbols,
    positions,
    shown,
    whole_number,
)
from cloze.checkpoint import shipped
from cloze.corpus import Corpus
from cloze.encoder import DIRECTIONS, Direction
from cloze.generation import unmask
from cloze.heads import CausalLM, MaskedLM, Model
from cloze.loss import cost, to_bits
from cloze.vocabulary import (
    GAP,
    MASK,
    VOCABULARY,
    TextError,
    Vocabulary,
    frame,
    read_line,
    read_words,
    visible,
)
from cloze.world import BERT, Corruption, Truth, World

LINES_AT_ONCE = 64
"""How many lines a model reads in one batch."""


# The models that ship with the series


@checked
def shipped_model(direction: Direction = "both") -> MaskedLM:
    """Load a model that ships with the series, once.

    Args:
        direction: "both" for the encoder; "left" and "right" for its one-sided twins. All three
            have the same size and saw the same text with the same gaps for as many steps; a twin's
            attention reaches only its own position and what is on its side.
    """
    return shipped("masked" if direction == "both" else direction)


@checked
def shipped_world_model(direction: Direction = "both") -> MaskedLM:
    """Load a model of the small world that ships with the series, once: the encoder or a twin."""
    return shipped("world" if direction == "both" else f"world_{direction}")


def shipped_models() -> dict[str, MaskedLM]:
    """Load the shipped encoder and its twins: ``{"left": …, "right": …, "both": …}``."""
    return {direction: shipped_model(direction) for direction in DIRECTIONS}


# One answer


class Guess(NamedTuple):
    """A symbol and the probability that the model gives it."""

    character: str
    probability: float


@checked
def top_k(
    probabilities: Tensor, k: Count = 3, known: Sequence[str] = VOCABULARY.ordinary
) -> list[Guess]:
    """Return the ``k`` likeliest symbols of a distribution.

    Args:
        probabilities: shape ``(n_ordinary,)``.
        k: how many.
        known: the symbols, in the order of the probabilities.

    Raises:
        ValueError: ``k`` is below 1, or there is not one probability for each symbol.
    """
    if probabilities.shape != (len(known),):
        raise ValueError(
            f"A distribution holds a probability for each of the {len(known)} symbols, shape "
            f"({len(known)},), not {shown(probabilities)}."
        )
    best = probabilities.topk(min(k, len(known)))
    return [
        Guess(known[i], p) for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Answer:
    """What one model answers at the gaps of one line."""

    positions: tuple[int, ...]
    """The gaps, ascending."""
    probabilities: Tensor
    """P(x_i | x̃), shape ``(|M|, n_ordinary)``."""
    costs: Tensor
    """−log P of the truth in nats, shape ``(|M|,)``: infinite where it is ruled out, NaN where it
    is not known."""

    def __getitem__(self, position: int) -> Tensor:
        """Return the distribution at a gap, shape ``(n_ordinary,)``."""
        return self.probabilities[self._row(position)]

    def cost(self, position: int) -> float | None:
        """Return −log P of the truth at a gap in nats; None when it is not known."""
        cost = float(self.costs[self._row(position)])
        return None if math.isnan(cost) else cost

    def _row(self, position: int) -> int:
        position = whole_number(position, 0, None, "A masked position")
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


# A model and a line of ids


@checked
def mask_positions(
    input_ids: Line, masked: Positions, vocabulary: Vocabulary = VOCABULARY
) -> Tensor:
    """Return a copy of a line ``(length,)`` with ``[MASK]`` at the given positions.

    Raises:
        ValueError: a position lies outside the line.
    """
    hidden = known_symbols(input_ids, len(vocabulary)).clone()
    hidden[positions(masked, len(input_ids))] = vocabulary.mask_id
    return hidden


@torch.no_grad()
def _log_probs(model: Model, lines: Tensor, asked: Tensor) -> Tensor:
    """Return log P of every ordinary symbol where it is asked for, shape ``(|M|, n_ordinary)``.

    Special symbols are never an answer: their probability, which training has made tiny, is removed
    and the rest scaled to sum to 1.
    """
    n = model.vocabulary.n_ordinary
    if not asked.any():
        return torch.empty(0, n)
    return model.logits_at(lines, asked)[:, :n].log_softmax(dim=-1)


@checked
@torch.no_grad()
def distribution(model: Model, input_ids: Line) -> Tensor:
    """Return P(x_i | x̃) at every position of one line, special symbols left out.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.

    Returns:
        Shape ``(length, n_ordinary)``.

    Raises:
        ValueError: no model, no line of ids, or a longer one than the model reads.
    """
    known_symbols(input_ids, len(model.vocabulary))
    everywhere = torch.ones_like(input_ids, dtype=torch.bool)
    logits = model.logits_at(input_ids[None], everywhere[None])
    return logits[:, : model.vocabulary.n_ordinary].softmax(dim=-1)


@checked
@torch.no_grad()
def visible_costs(model: MaskedLM, lines: Lines) -> Tensor:
    """Return −log P of every symbol of ordinary lines ``(n, length)``, none of which is hidden.

    A high cost says that the model doubts what it reads.

    Returns:
        Costs in nats, shape ``(n, length)``.

    Raises:
        ValueError: no model, or no such lines.
    """
    n = model.vocabulary.n_ordinary
    known_symbols(lines, n)
    parts = torch.split(lines, LINES_AT_ONCE)
    said = torch.cat([model(part)[..., :n].log_softmax(dim=-1) for part in parts])
    return -said.gather(-1, lines[..., None]).squeeze(-1)


@checked
def predict(model: Model, input_ids: Line, masked: Positions) -> Answer:
    """Mask positions of a line and let a model guess them, all from one look.

    Args:
        model: any model.
        input_ids: the line as it is in truth, shape ``(length,)``; ``[MASK]`` where even the truth
            is a gap.
        masked: the positions to hide. Real gaps are always among them.

    Raises:
        ValueError: a position lies outside the line, or the model cannot read the line.
    """
    hidden = mask_positions(input_ids, masked, model.vocabulary)
    gaps = hidden == model.vocabulary.mask_id
    said = _log_probs(model, hidden[None], gaps[None])
    truth = input_ids[gaps]
    known = truth < model.vocabulary.n_ordinary
    costs = 0.0 - said.gather(1, truth.where(known, 0)[:, None]).squeeze(1)  # never −0
    return Answer(
        tuple(gaps.nonzero().flatten().tolist()), said.exp(), costs.where(known, torch.nan)
    )


@checked
def joint(
    model: Model, input_ids: Line, first: int, second: int, *, likely: Choice | None = None
) -> Tensor:
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
        likely: the ids that a may be; by default every ordinary one. The model reads the line once
            for each.

    Returns:
        Row a, column b: shape ``(n_ordinary, n_ordinary)``, or ``(likely, n_ordinary)``.

    Raises:
        ValueError: the two are one, or one lies outside the line.
    """
    first, second = positions([first, second], len(input_ids))
    if first == second:
        raise ValueError(f"A joint guess is about two gaps, and both of these are at {first}.")
    held = torch.arange(model.vocabulary.n_ordinary) if likely is None else likely
    masked = mask_positions(input_ids, [first, second], model.vocabulary)
    filled = masked.repeat(len(held), 1)  # one row for each symbol that the first gap may hold
    filled[:, first] = held
    given_first = _log_probs(model, filled, _only(filled, second)).exp()
    return _log_probs(model, masked[None], _only(masked[None], first)).exp().T[held] * given_first


def _only(lines: Tensor, at: int | Tensor) -> Tensor:
    """Ask about one position of each line: the same in all, or one for each."""
    asked = torch.zeros_like(lines, dtype=torch.bool)
    asked[torch.arange(len(lines)), at] = True
    return asked


@checked
def surprise(model: Model, input_ids: Line, besides: Together | None = None) -> Tensor:
    """Return −log P of each ordinary symbol of a line ``(length,)`` when it is masked.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.
        besides: what is masked together with each symbol (row): boolean, ``(length, length)``; by
            default nothing.

    Returns:
        Costs in nats, shape ``(ordinary symbols of the line,)``.
    """
    vocabulary = model.vocabulary
    at = (known_symbols(input_ids, len(vocabulary)) < vocabulary.n_ordinary).nonzero().flatten()
    each_alone = input_ids.repeat(len(at), 1)  # one masked position per row
    own = _only(each_alone, at)
    hidden = own if besides is None else own | besides[at]
    said = _log_probs(model, each_alone.masked_fill(hidden, vocabulary.mask_id), own)
    return -said.gather(1, input_ids[at, None]).squeeze(1)


@checked
def occlusion(model: Model, input_ids: Line, masked: Positions, position: int) -> Tensor:
    """Return how the answer at a gap changes when each other symbol is hidden as well.

    Args:
        model: any model.
        input_ids: the line as it is in truth, shape ``(length,)``; ``[MASK]`` where even the truth
            is a gap.
        masked: the positions that are hidden. Real gaps are always among them.
        position: one of them.

    Returns:
        In nats, shape ``(length,)``: the rise of −log P of the truth, below 0 where the symbol
        misled. If the truth is unknown or ruled out, the divergence of the answer from the one
        without the symbol. 0 at what is hidden or special.

    Raises:
        ValueError: a position lies outside the line, or the one asked about is not masked.

    Source: Zeiler and Fergus 2014, Visualizing and Understanding Convolutional Networks (for words
    Li et al. 2016, Understanding Neural Networks through Representation Erasure).
    """
    n, mask_id = model.vocabulary.n_ordinary, model.vocabulary.mask_id
    hidden = mask_positions(input_ids, masked, model.vocabulary)
    (position,) = positions([position], len(input_ids))
    if hidden[position] != mask_id:
        raise ValueError(f"Position {position} is not masked, so nothing is guessed there.")
    # Row i hides i besides; where i is hidden anyway, or special, it is the line itself.
    each = hidden.repeat(len(hidden), 1)
    each.diagonal()[hidden < n] = mask_id
    after = _log_probs(model, each, _only(each, position))
    before, truth = after[position], input_ids[position]
    if truth < n and before[truth].isfinite():
        return before[truth] - after[:, truth]
    p = before.exp()
    return torch.where(p > 0, p * (before - after), 0.0).sum(dim=-1)


@checked
def attention_from(
    model: MaskedLM, input_ids: Line, position: int, layer: int, head: int
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
    known_symbols(input_ids, len(model.vocabulary))
    (position,) = positions([position], len(input_ids))
    layer = whole_number(layer, 0, model.config.n_layers - 1, "A layer of this model")
    head = whole_number(head, 0, model.config.n_heads - 1, "A head of this model")
    return model.encoder.attention(input_ids[None])[layer, 0, head, position]


# Characters and words


@dataclass(frozen=True)
class Symbols(ABC):
    """What lines are made of, how text becomes a line, and how a line is written again.

    Where not even the line knows the truth, ``GAP`` stands in it.
    """

    vocabulary: Vocabulary
    unit: ClassVar[str]
    """What one of them is called, such as "character"."""
    framed: ClassVar[int]
    """How many special symbols the model reads on either side of the line."""

    @cached_property
    def known(self) -> tuple[str, ...]:
        """What may stand in a gap, in the order of the probabilities."""
        return tuple(self.vocabulary.ordinary)

    @abstractmethod
    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Read a line as a learner types it.

        Returns:
            The line, and a sentence on what reading changed ("" if nothing).

        Raises:
            ValueError: nothing usable is left, it is too long, or it has an unknown symbol.
        """

    @abstractmethod
    def read_symbol(self, typed: object) -> str:
        """Read what somebody puts into a gap; capitals become small.

        Raises:
            ValueError: it is not one of ``known``.
        """

    def write(self, line: Sequence[str]) -> str:
        """Write a line as text."""
        return self.vocabulary.separator.join(line)

    @abstractmethod
    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of each word: what is masked as one, and not broken across rows."""

    @abstractmethod
    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return what the model reads, with ``[MASK]`` for ``GAP``: the line and its frame."""


class Characters(Symbols):
    """The 28 characters."""

    unit = "character"
    framed = 0

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Normalise a line and cut it into characters."""
        input_ids, note = read_line(text, max_len)
        return tuple(self.vocabulary.decode(input_ids, gap=GAP)), note

    def read_symbol(self, typed: object) -> str:
        """Read a character; capitals become small."""
        lower = typed.lower() if isinstance(typed, str) else ""
        if lower not in self.known:
            raise ValueError(f"A gap holds one letter, a space or a newline, not {shown(typed)}.")
        return lower

    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of what stands between spaces and newlines."""
        return [range(*match.span()) for match in re.finditer(r"\S+", "".join(line))]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of a line, shape ``(length,)``."""
        return self.vocabulary.encode("".join(line).replace(GAP, MASK))


class Words(Symbols):
    """The words of a small world; a line stands between ``[BEGIN]`` and ``[END]``."""

    unit = "word"
    framed = 1

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Cut a line into words; capitals become small and punctuation goes without saying."""
        return read_words(text, self.vocabulary, max_len), ""

    def read_symbol(self, typed: object) -> str:
        """Read a word; capitals become small."""
        words = read_words(typed, self.vocabulary, 1) if isinstance(typed, str) else (GAP,)
        if words == (GAP,):
            raise ValueError(f"A gap holds one word of this world, not {shown(typed)}.")
        return words[0]

    def words(self, line: Sequence[str]) -> list[range]:
        """Return each position by itself."""
        return [range(i, i + 1) for i in range(len(line))]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of ``[BEGIN]``, the line and ``[END]``, shape ``(length + 2,)``."""
        return frame(line, self.vocabulary)


CHARACTERS = Characters(VOCABULARY)


def symbols_of(vocabulary: Vocabulary) -> Symbols:
    """Return what the lines of a vocabulary are made of."""
    return Words(vocabulary) if vocabulary.separator else CHARACTERS


# Predictors: a model and a line of symbols

Pairs = list[tuple[tuple[str, str], float]]
"""Two symbols and a probability, likeliest first."""


@dataclass(frozen=True)
class Baseline:
    """What one knows without looking at the line: how frequent each symbol is in some text."""

    probabilities: Sequence[float]
    """In the order of ``Symbols.known``."""
    text: str
    """Which text, in words that follow "in"."""

    def cost(self, symbol: int) -> float:
        """Return −log P of a symbol, given by its place, in nats; infinite if it never occurred."""
        return cost(self.probabilities[symbol])


@checked
def unigram(corpus: Corpus | None = None) -> Baseline:
    """Return how frequent characters are in the training pieces, by default the shipped ones."""
    text = "the shipped corpus" if corpus is None else "your corpus"
    return Baseline(letter_frequencies(corpus).tolist(), text)


@checked
def world_unigram(world: World) -> Baseline:
    """Return how frequent words are in a small world."""
    return Baseline(world.frequencies.tolist(), "this world")


class Predictor:
    """Whatever guesses what stands in the gaps of a line: a model, and the symbols of its lines.

    Lines hold ``GAP`` where nobody knows the truth; gaps are the positions to hide, among them
    every ``GAP``.

    Args:
        model: what is asked.
        symbols: what its lines are made of.
        max_len: the most symbols of a line.
        name: who guesses: "left", "right", "both" or another name.
        baseline: what it is judged against; None when nobody knows which text it has learned from.
    """

    n_layers: int = 0
    n_heads: int = 0
    tried_first: int = 256
    """How many symbols at the first of two gaps are tried to find the likeliest pairs."""

    def __init__(
        self,
        model: Model,
        symbols: Symbols,
        max_len: int,
        name: str,
        baseline: Baseline | None = None,
    ) -> None:
        self.model, self.symbols, self.max_len = model, symbols, max_len
        self.name, self.baseline = name, baseline

    def predict(self, line: Sequence[str], gaps: Iterable[int]) -> Answer:
        """Guess all gaps from one look at the line, each without knowing what the others hold."""
        found = predict(self.model, *self._read(line, gaps))
        places = tuple(at - self.symbols.framed for at in found.positions)
        return Answer(places, found.probabilities, found.costs)

    def joint(self, line: Sequence[str], gaps: Iterable[int], first: int, second: int) -> Tensor:
        """Guess two of the gaps together (:func:`joint`): row a, column b."""
        return self._joint(self._masked(line, gaps), first, second)

    def _joint(
        self, masked: Tensor, first: int, second: int, likely: Tensor | None = None
    ) -> Tensor:
        framed = self.symbols.framed
        return joint(self.model, masked, first + framed, second + framed, likely=likely)

    def pairs(
        self, line: Sequence[str], gaps: Iterable[int], first: int, second: int, k: int = 5
    ) -> tuple[Pairs, Pairs]:
        """Return the likeliest pairs at two of the gaps: guessed apart, and together.

        Only the ``tried_first`` likeliest symbols are tried at the first gap, because the model
        reads the line once for each. That is all characters, and all words of a small world.
        """
        gaps = [*gaps]
        answer = self.predict(line, gaps)
        likely = answer[first].topk(min(self.tried_first, len(answer[first]))).indices
        tables = (
            torch.outer(answer[first][likely].double(), answer[second].double()),
            self._joint(self._masked(line, gaps), first, second, likely),
        )
        apart, together = (self._best(table, likely.tolist(), k) for table in tables)
        return apart, together

    def _best(self, table: Tensor, rows: Sequence[int], k: int) -> Pairs:
        known = self.symbols.known
        best = table.flatten().topk(min(k, table.numel()))
        places = (divmod(i, len(known)) for i in best.indices.tolist())
        pairs = ((known[rows[a]], known[b]) for a, b in places)
        return [*zip(pairs, best.values.tolist(), strict=True)]

    def surprise(self, line: Sequence[str]) -> Tensor:
        """Return −log P of each symbol of a line without gaps when it alone is hidden, in nats."""
        return surprise(self.model, self.symbols.input_ids(line))

    def occlusion(self, line: Sequence[str], gaps: Iterable[int], position: int) -> Tensor:
        """Return how the answer at a gap changes when each symbol is hidden too, in nats."""
        framed = self.symbols.framed
        changes = occlusion(self.model, *self._read(line, gaps), position + framed)
        return changes[framed : framed + len(line)]

    def attention(self, line: Sequence[str], gaps: Iterable[int], position: int) -> Tensor:
        """Return where each head looks from a position, ``(n_layers, n_heads, len(line))``.

        The weights of a head sum to 1.
        """
        raise NotImplementedError

    def _read(self, line: Sequence[str], gaps: Iterable[int]) -> tuple[Tensor, list[int]]:
        """Return the ids that the model reads, and where the gaps are among them."""
        return self.symbols.input_ids(line), [at + self.symbols.framed for at in gaps]

    def _masked(self, line: Sequence[str], gaps: Iterable[int]) -> Tensor:
        return mask_positions(*self._read(line, gaps), self.model.vocabulary)


class MaskedPredictor(Predictor):
    """A masked language model.

    Args:
        model: the model.
        name: who guesses; by default the direction it reads in.
        baseline: what it is judged against (:func:`unigram`).
    """

    model: MaskedLM

    def __init__(self, model: MaskedLM, name: str = "", baseline: Baseline | None = None) -> None:
        symbols, config = symbols_of(model.vocabulary), model.config
        max_len = config.max_len - 2 * symbols.framed
        super().__init__(model, symbols, max_len, name or config.direction, baseline)
        self.n_layers, self.n_heads = config.n_layers, config.n_heads

    @torch.no_grad()
    def attention(self, line: Sequence[str], gaps: Iterable[int], position: int) -> Tensor:
        """Return where each head looks from a position; special symbols are left out.

        The rest is scaled to sum to 1.
        """
        framed, masked = self.symbols.framed, self._masked(line, gaps)
        weights = self.model.encoder.attention(masked[None])[:, 0, :, position + framed]
        inside = weights[..., framed : framed + len(line)]
        return inside / inside.sum(-1, keepdim=True).clamp(min=1e-9) if framed else inside


class TruthPredictor(Predictor):
    """The exact truth of a small world.

    Args:
        world: whose sentences may have been corrupted.
        direction: what it sees.
        corruption: how they may have been: a word that it reads need not be the true one.
    """

    model: Truth

    def __init__(
        self, world: World, direction: Direction = "both", corruption: Corruption = BERT
    ) -> None:
        super().__init__(
            Truth(world, direction, corruption),
            Words(world.vocabulary),
            world.max_len - 2,
            "truth",
            world_unigram(world),
        )

    def _joint(
        self, masked: Tensor, first: int, second: int, likely: Tensor | None = None
    ) -> Tensor:
        """Say how probable each pair of words is at two gaps: exactly, not by the chain rule."""
        truth, framed = self.model, self.symbols.framed
        table = truth.world.joint(masked, first + framed, second + framed, truth.corruption)
        return table if likely is None else table[likely]


@checked
def predictors_of(model: Any, corpus: Corpus | None = None) -> dict[str, Predictor]:
    """Return predictors by name, the one that sees most last: it is the one the words speak of.

    Args:
        model: a ``MaskedLM`` or a :class:`Predictor`, or several of either by name; None is the
            shipped encoder and its twins.
        corpus: what the models have learned from, for their baseline. For the shipped ones it is
            known; without it, a model of somebody's own has none.

    Raises:
        ValueError: it is none of these, or they do not read the same symbols.
    """
    shipped = shipped_models()
    named = shipped if model is None else model if isinstance(model, Mapping) else {"": model}
    found: dict[str, Predictor] = {}
    for name, each in named.items():
        if isinstance(each, MaskedLM):
            known = corpus or any(each is own for own in shipped.values())
            each = MaskedPredictor(each, str(name), unigram(corpus) if known else None)
        if isinstance(each, Predictor):
            found[str(name) or each.name] = each
    if not found or len(found) < len(named):
        kind = type(model).__name__
        raise ValueError(
            f"model is a MaskedLM or a Predictor, or several by name, not this {kind}."
        )
    symbols = next(iter(found.values())).symbols
    if any(each.symbols != symbols for each in found.values()):
        raise ValueError("Only what reads the same symbols can be compared; show them apart.")
    return found


class Comparison(dict[str, Answer]):
    """What several models answer on exactly the same line with the same gaps, by name.

    Args:
        symbols: what the line is made of.
        line: the line in truth, ``GAP`` where nobody knows it.
        answers: by the model's name: "left", "right", "both".
    """

    def __init__(
        self, symbols: Symbols, line: Sequence[str], answers: Mapping[str, Answer]
    ) -> None:
        super().__init__(answers)
        self.symbols, self.line = symbols, line

    def __missing__(self, name: object) -> Answer:
        raise ValueError(f"A model that was asked is one of {', '.join(self)}, not {shown(name)}.")

    @property
    def positions(self) -> tuple[int, ...]:
        """The gaps, ascending."""
        return next(iter(self.values())).positions

    def __repr__(self) -> str:
        typed = (GAP if i in self.positions else symbol for i, symbol in enumerate(self.line))
        rows = [self.symbols.write(list(typed)).replace("\n", visible("\n"))]
        width = max(len(name) for name in self)
        for position in self.positions:
            truth = self.line[position]
            rows.append(f"position {position}{f', in truth {visible(truth)}' * (truth != GAP)}")
            for name, answer in self.items():
                cost = answer.cost(position)
                paid = "" if cost is None else f"   cost {cost:.2f} nats = {to_bits(cost):.2f} bits"
                best = _listed(top_k(answer[position], known=self.symbols.known))
                rows.append(f"  {name:{width}}  {best}{paid}")
        losses = [
            f"{name} {answer.loss:.2f}" for name, answer in self.items() if answer.loss is not None
        ]
        if losses:
            rows.append(f"mean cost in nats: {', '.join(losses)}")
        return "\n".join(rows)


def _listed(guesses: Iterable[Guess]) -> str:
    return ", ".join(f"{visible(guess.character)} {guess.probability:.2f}" for guess in guesses)


@checked
def compare(
    line: str,
    masked: Positions,
    models: Mapping[str, MaskedLM | Predictor] | None = None,
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
    predictors = predictors_of(models)
    symbols = next(iter(predictors.values())).symbols
    read, _ = symbols.read(line, min(each.max_len for each in predictors.values()))
    gaps = positions(masked, len(read))
    answers = {name: each.predict(read, gaps) for name, each in predictors.items()}
    return Comparison(symbols, read, answers)


# Whole lines


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
        guessed = [f"  position {at}: {_listed(self.guesses[at])}" for at in sorted(self.guesses)]
        return "\n".join([self.typed, self.text, *guessed, *[f"  ({self.note})"] * bool(self.note)])


@checked
def fill(
    line: str, model: MaskedLM | None = None, *, k: Count = 3, at_once: bool = False
) -> Filled:
    """Fill the gaps of a line.

    Args:
        line: text with ``_`` or ``[MASK]`` for every missing character or word.
        model: by default the one that ships with the series.
        k: how many guesses to keep for each gap.
        at_once: True fills all gaps from one look at the line, each without knowing what is put
            into the others. False (the default) fills the gap the model is surest of, looks again
            at the line with that gap closed, and goes on.

    Raises:
        TextError: the line is empty, too long, or has no gap.
        ValueError: ``k`` is below 1.
    """
    model = model or shipped_model()
    if isinstance(model, CausalLM):
        raise ValueError(
            "A causal model would fill a gap from its left side alone; call fill_by_bayes(line, "
            "model) of cloze.causal, which scores the whole line with each filling."
        )
    predictor = MaskedPredictor(model)
    symbols = predictor.symbols
    read, note = symbols.read(line, predictor.max_len)
    input_ids = symbols.input_ids(read)
    guesses: dict[int, list[Guess]] = {}
    looks = 1 if at_once else None
    for step in unmask(model, input_ids[None], "easiest first", looks, temperature=0.0):
        places = step.filled[0].nonzero().flatten().tolist()
        for at, probabilities in zip(places, step.probabilities, strict=True):
            guesses[at - symbols.framed] = top_k(probabilities, k, symbols.known)
        input_ids = step.lines[0]
    inside = input_ids[symbols.framed : symbols.framed + len(read)]
    return Filled(symbols.write(read), model.vocabulary.decode(inside), guesses, note)


@checked
def score(
    text: str,
    model: MaskedLM | None = None,
    *,
    within_words: Literal["alone", "left to right"] = "alone",
) -> Tensor:
    """Return −log P of every symbol of a line with that symbol masked.

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
    predictor = MaskedPredictor(model or shipped_model())
    symbols = predictor.symbols
    line, _ = symbols.read(text, predictor.max_len)
    if GAP in line:
        raise TextError("A text to score has no gaps; fill or remove them first.")
    input_ids = symbols.input_ids(line)
    besides = torch.zeros(len(input_ids), len(input_ids), dtype=torch.bool)
    if within_words == "left to right":
        for word in symbols.words(line):
            for at in word:
                rest = slice(at + 1 + symbols.framed, word.stop + symbols.framed)
                besides[at + symbols.framed, rest] = True
    return surprise(predictor.model, input_ids, besides)
