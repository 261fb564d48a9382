"""Masked language models as what widgets ask (:mod:`cloze.predictor`): tensors stay in here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from cloze.arguments import of_type, shown
from cloze.baselines import letter_frequencies
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.prediction import (
    Comparison,
    Prediction,
    attention_from,
    joint,
    mask_positions,
    predict,
    score,
    shipped_models,
)
from cloze.predictor import Answer, Baseline, Predictor
from cloze.vocabulary import GAP, MASK, VOCABULARY, read_line


class Characters:
    """The 28 characters as :class:`~cloze.predictor.Symbols`."""

    known = VOCABULARY.symbols[: VOCABULARY.n_ordinary]
    size = len(VOCABULARY)
    unit = "character"

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


CHARACTERS = Characters()


def input_ids_of(line: Sequence[str]) -> Tensor:
    """Return the ids of a line of characters, shape ``(length,)``; ``[MASK]`` for ``GAP``."""
    return VOCABULARY.encode("".join(line).replace(GAP, MASK))


class MaskedPredictor(Predictor):
    """A masked language model.

    Args:
        model: the model.
        name: who guesses; by default the direction it reads in.
        baseline: what it is judged against (:func:`unigram`).
    """

    symbols = CHARACTERS

    def __init__(self, model: MaskedLM, name: str = "", baseline: Baseline | None = None) -> None:
        self.model = model
        self.name = name or model.config.direction
        self.baseline = baseline
        self.max_len = model.config.max_len
        self.n_layers, self.n_heads = model.config.n_layers, model.config.n_heads

    def predict(self, line: Sequence[str], gaps: Sequence[int]) -> Answer:
        """Guess all gaps from one look at the line."""
        found = predict(self.model, input_ids_of(line), gaps)
        costs = [None if math.isnan(cost) else cost for cost in found.costs.tolist()]
        return Answer(found.positions, found.probabilities.tolist(), costs)

    def joint(
        self, line: Sequence[str], gaps: Sequence[int], first: int, second: int
    ) -> Sequence[Sequence[float]]:
        """Guess two gaps together, all 28 characters of the first in one batch."""
        masked = mask_positions(input_ids_of(line), gaps)
        return joint(self.model, masked, first, second).tolist()

    def surprise(self, line: Sequence[str]) -> Sequence[float]:
        """Return what each character costs when it alone is hidden, from one batch."""
        return score("".join(line), self.model).tolist()

    def attention(
        self, line: Sequence[str], gaps: Sequence[int], position: int, layer: int, head: int
    ) -> Sequence[float]:
        """Return where a head looks from a position."""
        masked = mask_positions(input_ids_of(line), gaps)
        return attention_from(self.model, masked, position, layer, head).tolist()


def unigram(corpus: Corpus | None = None) -> Baseline:
    """Return how frequent characters are in the training pieces, by default the shipped ones."""
    text = "the shipped corpus" if corpus is None else "your corpus"
    return Baseline(letter_frequencies(corpus).tolist(), text)


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
        input_ids_of(line),
        {
            name: Prediction(
                answer.positions,
                torch.tensor(answer.probabilities).reshape(-1, len(CHARACTERS.known)),
                torch.tensor([math.nan if cost is None else cost for cost in answer.costs]),
            )
            for name, answer in answers.items()
        },
    )
