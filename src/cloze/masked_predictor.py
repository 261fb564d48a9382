"""Masked language models as what widgets ask (:mod:`cloze.predictor`): tensors stay in here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from cloze.arguments import of_type, shown
from cloze.baselines import letter_frequencies
from cloze.corpus import Corpus
from cloze.encoder import Direction
from cloze.heads import MaskedLM
from cloze.prediction import (
    Comparison,
    Prediction,
    attention_from,
    joint,
    leaning,
    mask_positions,
    predict,
    shipped_models,
    surprise,
)
from cloze.predictor import Answer, Baseline, Predictor, Symbols
from cloze.vocabulary import GAP, MASK, VOCABULARY, Vocabulary, frame, read_line, read_words
from cloze.world import BERT, Corruption, World


class ModelSymbols(Symbols, Protocol):
    """Symbols that a model reads as ids."""

    @property
    def before(self) -> int:
        """How many special symbols the model reads before the line."""

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return what the model reads, shape ``(before + length + …,)``; ``[MASK]`` for ``GAP``."""


class Characters:
    """The 28 characters as :class:`~cloze.predictor.Symbols`."""

    known = VOCABULARY.symbols[: VOCABULARY.n_ordinary]
    size = len(VOCABULARY)
    unit = "character"
    before = 0

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Normalise a line and cut it into characters."""
        input_ids, note = read_line(text, max_len)
        return tuple(VOCABULARY.decode(input_ids, gap=GAP)), note

    def read_symbol(self, typed: object) -> str:
        """Read a character; capitals become small."""
        lower = typed.lower() if isinstance(typed, str) else ""
        if lower not in self.known:
            raise ValueError(f"A gap holds one letter, a space or a newline, not {shown(typed)}.")
        return lower

    def write(self, line: Sequence[str]) -> str:
        """Put the characters together."""
        return "".join(line)

    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of what stands between spaces and newlines."""
        return [range(*match.span()) for match in re.finditer(r"\S+", "".join(line))]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of a line, shape ``(length,)``."""
        return VOCABULARY.encode("".join(line).replace(GAP, MASK))


CHARACTERS = Characters()


@dataclass(frozen=True)
class Words:
    """The words of a small world; a line stands between ``[BEGIN]`` and ``[END]``."""

    vocabulary: Vocabulary
    unit = "word"
    before = 1

    @property
    def known(self) -> tuple[str, ...]:
        """Every word of the world."""
        return tuple(self.vocabulary.ordinary)

    @property
    def size(self) -> int:
        """|V|, special symbols included."""
        return len(self.vocabulary)

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Cut a line into words; capitals become small and punctuation goes without saying."""
        return read_words(text, self.vocabulary, max_len), ""

    def read_symbol(self, typed: object) -> str:
        """Read a word; capitals become small."""
        words = read_words(typed, self.vocabulary, 1) if isinstance(typed, str) else (GAP,)
        if words == (GAP,):
            raise ValueError(f"A gap holds one word of this world, not {shown(typed)}.")
        return words[0]

    def write(self, line: Sequence[str]) -> str:
        """Put spaces between the words."""
        return " ".join(line)

    def words(self, line: Sequence[str]) -> list[range]:
        """Return each position by itself."""
        return [range(i, i + 1) for i in range(len(line))]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of ``[BEGIN]``, the line and ``[END]``, shape ``(length + 2,)``."""
        return frame(line, self.vocabulary)


def symbols_of(vocabulary: Vocabulary) -> ModelSymbols:
    """Return the symbols of a vocabulary as widgets show them."""
    return Words(vocabulary) if vocabulary.separator else CHARACTERS


class MaskedPredictor(Predictor):
    """A masked language model.

    Args:
        model: the model.
        name: who guesses; by default the direction it reads in.
        baseline: what it is judged against (:func:`unigram`).
    """

    symbols: ModelSymbols = CHARACTERS

    def __init__(self, model: MaskedLM, name: str = "", baseline: Baseline | None = None) -> None:
        self.model = model
        self.symbols = symbols_of(model.vocabulary)
        self.name = name or model.config.direction
        self.baseline = baseline
        self.max_len = model.config.max_len - 2 * self.symbols.before
        self.n_layers, self.n_heads = model.config.n_layers, model.config.n_heads

    def predict(self, line: Sequence[str], gaps: Sequence[int]) -> Answer:
        """Guess all gaps from one look at the line."""
        input_ids, read = self._read(line, gaps)
        found = predict(self.model, input_ids, read)
        costs = [None if math.isnan(cost) else cost for cost in found.costs.tolist()]
        positions = tuple(at - self.symbols.before for at in found.positions)
        return Answer(positions, found.probabilities.tolist(), costs)

    def joint(
        self, line: Sequence[str], gaps: Sequence[int], first: int, second: int
    ) -> Sequence[Sequence[float]]:
        """Guess two gaps together, every symbol that the first may hold in one batch."""
        masked, before = self._masked(line, gaps), self.symbols.before
        return joint(self.model, masked, first + before, second + before).tolist()

    def surprise(self, line: Sequence[str]) -> Sequence[float]:
        """Return what each symbol costs when it alone is hidden, from one batch."""
        return surprise(self.model, self.symbols.input_ids(line)).tolist()

    def leaning(self, line: Sequence[str], gaps: Sequence[int], position: int) -> Sequence[float]:
        """Return what it costs an answer to hide each symbol as well, from one batch."""
        input_ids, read = self._read(line, gaps)
        before = self.symbols.before
        costs = leaning(self.model, input_ids, read, position + before)
        return costs[before : before + len(line)].tolist()

    def attention(
        self, line: Sequence[str], gaps: Sequence[int], position: int, layer: int, head: int
    ) -> Sequence[float]:
        """Return where a head looks from a position; what it gives to special symbols is left out.

        The rest is scaled to sum to 1.
        """
        masked, before = self._masked(line, gaps), self.symbols.before
        weights = attention_from(self.model, masked, position + before, layer, head)
        if before:
            weights = weights[before : before + len(line)]
            weights = weights / weights.sum().clamp(min=1e-9)
        return weights.tolist()

    def _read(self, line: Sequence[str], gaps: Sequence[int]) -> tuple[Tensor, list[int]]:
        """Return the ids that the model reads, and where the gaps are among them."""
        return self.symbols.input_ids(line), [at + self.symbols.before for at in gaps]

    def _masked(self, line: Sequence[str], gaps: Sequence[int]) -> Tensor:
        return mask_positions(*self._read(line, gaps), self.model.vocabulary)


class TruthPredictor(Predictor):
    """The exact truth of a small world.

    Args:
        world: whose sentences may have been corrupted.
        direction: what it sees.
        corruption: how they may have been: a word that it reads need not be the true one.
    """

    symbols: Words

    def __init__(
        self, world: World, direction: Direction = "both", corruption: Corruption = BERT
    ) -> None:
        self.world, self.direction, self.corruption = world, direction, corruption
        self.name = "truth"
        self.symbols = Words(world.vocabulary)
        self.max_len = world.max_len - 2
        self.baseline = world_unigram(world)

    def predict(self, line: Sequence[str], gaps: Sequence[int]) -> Answer:
        """Say how probable each word is at every gap, given all other symbols of the line."""
        input_ids = self.symbols.input_ids(line)[None]
        selected = torch.zeros_like(input_ids, dtype=torch.bool)
        selected[0, [at + 1 for at in gaps]] = True
        masked = input_ids.masked_fill(selected, self.world.vocabulary.mask_id)
        found = self.world.truth(masked, selected, self.direction, self.corruption).tolist()
        ids = self.world.vocabulary.ids
        costs = [
            None if line[at] == GAP else abs(math.log(p)) if (p := row[ids[line[at]]]) else math.inf
            for at, row in zip(gaps, found, strict=True)
        ]
        return Answer(tuple(gaps), found, costs)

    def joint(
        self, line: Sequence[str], gaps: Sequence[int], first: int, second: int
    ) -> Sequence[Sequence[float]]:
        """Say how probable each pair of words is at two gaps: exactly, not by the chain rule."""
        input_ids = self.symbols.input_ids(line)
        input_ids[[at + 1 for at in gaps]] = self.world.vocabulary.mask_id
        return self.world.joint(input_ids, first + 1, second + 1, self.corruption).tolist()


def unigram(corpus: Corpus | None = None) -> Baseline:
    """Return how frequent characters are in the training pieces, by default the shipped ones."""
    text = "the shipped corpus" if corpus is None else "your corpus"
    return Baseline(letter_frequencies(corpus).tolist(), text)


def world_unigram(world: World) -> Baseline:
    """Return how frequent words are in a small world."""
    return Baseline(world.frequencies.tolist(), "this world")


def predictors_of(model: object, corpus: Corpus | None = None) -> dict[str, Predictor]:
    """Return predictors by name, the one that sees most last: it is the one the words speak of.

    Args:
        model: a ``MaskedLM`` or a :class:`~cloze.predictor.Predictor`, or several of either by
            name; None is the shipped encoder and its twins.
        corpus: what the models have learned from, for their baseline. For the shipped ones it is
            known; without it, a model of somebody's own has none.

    Raises:
        ValueError: it is none of these, or they do not read the same symbols.
    """
    if corpus is not None:
        of_type(corpus, Corpus, "corpus")
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


def comparison(line: Sequence[str], answers: Mapping[str, Answer]) -> Comparison:
    """Return answers on one line of characters as :func:`~cloze.prediction.compare` gives them."""
    return Comparison(
        CHARACTERS.input_ids(line),
        {
            name: Prediction(
                answer.positions,
                torch.tensor(answer.probabilities).reshape(-1, len(CHARACTERS.known)),
                torch.tensor([math.nan if cost is None else cost for cost in answer.costs]),
            )
            for name, answer in answers.items()
        },
    )
