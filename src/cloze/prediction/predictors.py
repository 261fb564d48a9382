"""Predictors: a model and the symbols of its lines, and several of them on the same line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from markupsafe import escape
from torch import Tensor, nn

from cloze.arguments import Positions, positions, shown
from cloze.baselines import letter_frequencies
from cloze.corpus import Corpus
from cloze.encoder import Direction
from cloze.heads import CausalLM, MaskedLM, Model
from cloze.loss import cost
from cloze.prediction.answers import (
    Answer,
    Guess,
    joint,
    mask_positions,
    occlusion,
    predict,
    surprise,
    top_k,
)
from cloze.prediction.shipped import shipped_models
from cloze.prediction.symbols import Symbols, Words, symbols_of
from cloze.vocabulary import GAP, visible
from cloze.world import BERT, Corruption, Truth, World

Pairs = list[tuple[tuple[str, str], float]]
"""Two symbols and a probability, likeliest first."""


@dataclass(frozen=True)
class Baseline:
    """A guess without looking at the line: how frequent each symbol is in some text."""

    probabilities: Sequence[float]
    """In the order of ``Symbols.known``."""
    text: str
    """Which text, in words that follow "in"."""

    def cost(self, symbol: int) -> float:
        """Return −log P of a symbol, given by its place, in nats; infinite if it never occurred."""
        return cost(self.probabilities[symbol])


def unigram(corpus: Corpus | None = None) -> Baseline:
    """Return how frequent characters are in the training pieces, by default the shipped ones."""
    text = "the shipped corpus" if corpus is None else "your corpus"
    return Baseline(letter_frequencies(corpus).tolist(), text)


def world_unigram(world: World) -> Baseline:
    """Return how frequent words are in a small world."""
    return Baseline(world.frequencies.tolist(), "this world")


@dataclass(frozen=True)
class Opened:
    """A model as :mod:`cloze.inside` runs it, and a line as it reads it."""

    module: nn.Module
    input_ids: Tensor
    """Shape ``(1, length)``."""
    before: int
    """How many special symbols it reads before the line."""
    order: Tensor
    """Which of its logits are those of ``Symbols.known``."""

    def log_probs(self, logits: Tensor) -> Tensor:
        """Return log P of the known symbols, ``(…, n_known)``, from logits ``(…, |V|)``."""
        return logits[..., self.order].log_softmax(dim=-1)


class Predictor:
    """A model that fills gaps, and the symbols of its lines.

    Lines hold ``GAP`` where the truth is unknown; gaps are the positions to hide, among them
    every ``GAP``.

    Args:
        model: any model.
        symbols: what its lines are made of.
        max_len: the most symbols of a line.
        name: "left", "right", "both" or another name.
        baseline: what it is compared with; None if the text that it has learned from is unknown.
    """

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
        answer = predict(self.model, *self._read(line, gaps))
        places = tuple(at - self.symbols.framed for at in answer.positions)
        return Answer(places, answer.probabilities, answer.costs)

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

    def opened(
        self,
        line: Sequence[str],  # noqa: ARG002
        gaps: Iterable[int],  # noqa: ARG002
    ) -> Opened | None:
        """Return the model and what it reads, to look inside; None if there is nothing to see."""
        return None

    def _read(self, line: Sequence[str], gaps: Iterable[int]) -> tuple[Tensor, list[int]]:
        """Return the ids that the model reads, and where the gaps are among them."""
        return self.symbols.input_ids(line), [at + self.symbols.framed for at in gaps]

    def _masked(self, line: Sequence[str], gaps: Iterable[int]) -> Tensor:
        return mask_positions(*self._read(line, gaps), self.model.vocabulary)


class MaskedPredictor(Predictor):
    """A masked language model.

    Args:
        model: the model.
        name: by default the direction it reads in.
        baseline: what it is compared with (:func:`unigram`).
    """

    model: MaskedLM

    def __init__(self, model: MaskedLM, name: str = "", baseline: Baseline | None = None) -> None:
        symbols, config = symbols_of(model.vocabulary), model.config
        max_len = config.max_len - 2 * symbols.framed
        super().__init__(model, symbols, max_len, name or config.direction, baseline)

    def opened(self, line: Sequence[str], gaps: Iterable[int]) -> Opened | None:
        """Return the model and what it reads, to look inside; None for a causal model.

        That one reads its line a place late, so its positions are not those of the line.
        """
        if isinstance(self.model, CausalLM):
            return None
        ids = self._masked(line, gaps)[None]  # (1, length)
        ordinary = torch.arange(self.model.vocabulary.n_ordinary)
        return Opened(self.model, ids, self.symbols.framed, ordinary)


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


def predictors_of(model: Any, corpus: Corpus | None = None) -> dict[str, Predictor]:
    """Return predictors by name; the last one sees most, and widgets describe its answers.

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
    by_name: dict[str, Predictor] = {}
    for name, each in named.items():
        if isinstance(each, MaskedLM):
            known = corpus or any(each is own for own in shipped.values())
            each = MaskedPredictor(each, str(name), unigram(corpus) if known else None)
        if isinstance(each, Predictor):
            by_name[str(name) or each.name] = each
    if not by_name or len(by_name) < len(named):
        kind = type(model).__name__
        raise ValueError(
            f"model is a MaskedLM or a Predictor, or several by name, not this {kind}."
        )
    symbols = next(iter(by_name.values())).symbols
    if any(each.symbols != symbols for each in by_name.values()):
        raise ValueError("Only what reads the same symbols can be compared; show them apart.")
    return by_name


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

    def _repr_html_(self) -> str:
        names = ("position", "model", "guesses", "cost of the truth in nats")
        rows = ["".join(f'<th scope="col">{name}</th>' for name in names)]
        for position in self.positions:
            for name, answer in self.items():
                paid = answer.cost(position)
                best = listed(top_k(answer[position], known=self.symbols.known))
                cells = (position, name, best, "" if paid is None else f"{paid:.2f}")
                rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def __repr__(self) -> str:
        typed = (GAP if i in self.positions else symbol for i, symbol in enumerate(self.line))
        rows = [self.symbols.write(list(typed)).replace("\n", visible("\n"))]
        width = max(len(name) for name in self)
        for position in self.positions:
            truth = self.line[position]
            known = "" if truth == GAP else f", in truth {visible(truth)}"
            rows.append(f"position {position}{known}")
            for name, answer in self.items():
                cost = answer.cost(position)
                paid = "" if cost is None else f"   cost {cost:.2f} nats"
                best = listed(top_k(answer[position], known=self.symbols.known))
                rows.append(f"  {name:{width}}  {best}{paid}")
        losses = [
            f"{name} {answer.loss:.2f}" for name, answer in self.items() if answer.loss is not None
        ]
        if losses:
            rows.append(f"mean cost in nats: {', '.join(losses)}")
        return "\n".join(rows)


def listed(guesses: Iterable[Guess]) -> str:
    """Write guesses in one line: each symbol with its probability."""
    return ", ".join(f"{visible(guess.character)} {guess.probability:.2f}" for guess in guesses)


def compare(
    line: str, masked: Positions, models: Mapping[str, MaskedLM | Predictor] | None = None
) -> Comparison:
    """Let several models guess the same gaps of the same line.

    Args:
        line: the true line; ``_`` marks a gap whose truth is not known.
        masked: more positions to hide.
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
