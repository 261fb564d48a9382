"""Causal models: the probability of a text by the chain rule, writing, and filling gaps by Bayes.

A causal model gives P(x_i | x_<i), and the product over all positions is P(x), the probability of
the text. From that any question about gaps can be answered exactly, for
P(filling | the rest) = P(line with the filling) / Σ P(line with each filling): a line to score for
every filling, where a masked model looks once.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.arguments import (
    Count,
    Line,
    Lines,
    Positions,
    between,
    checked,
    known_symbols,
    positions,
)
from cloze.fast import Past
from cloze.heads import LINES_AT_ONCE, CausalLM, log_probs_at
from cloze.prediction.answers import top_k
from cloze.prediction.generation import draw
from cloze.prediction.lines import Filled
from cloze.prediction.predictors import Predictor
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import symbols_of
from cloze.reading import read_line
from cloze.vocabulary import GAP, VOCABULARY, TextError

MOST_FILLINGS = 100_000
"""The most fillings that are scored for one line: some minutes of work."""
MOST_GAPS = 2
"""The most gaps of a line that a widget fills: more would take too long."""


def _of_characters(model: CausalLM | None) -> CausalLM:
    """Return a causal model that reads text, by default the shipped one."""
    model = model or shipped_model("causal")
    if model.vocabulary != VOCABULARY:
        raise ValueError(
            "This model reads the words of a small world, not text; ask it by log_probs and "
            "log_posterior, with the ids that World.encode makes."
        )
    return model


# The chain rule


@checked
@torch.no_grad()
def log_probs(model: CausalLM, input_ids: Lines) -> Tensor:
    """Return log P(x_i = c | x_<i) for every position i of some lines and every symbol c.

    Args:
        model: a causal model.
        input_ids: shape ``(batch, length)``.

    Returns:
        Shape ``(batch, length, |V|)``; −∞ for symbols such as ``[MASK]``, which no text holds.
    """
    known_symbols(input_ids, len(model.vocabulary))
    return model(input_ids).log_softmax(dim=-1)


@checked
def text_costs(text: str, model: CausalLM | None = None) -> Tensor:
    """Return −log P(x_i | x_<i) of every character of a text: their sum is −log P(text).

    Args:
        text: characters of the series, at most ``max_len``.
        model: by default the one that ships with the series.

    Returns:
        Costs in nats, shape ``(length,)``.

    Raises:
        TextError: the text is empty, too long, or has a character that the model does not know.
    """
    model = _of_characters(model)
    input_ids = _read(text)
    if not 1 <= len(input_ids) <= model.config.max_len:
        raise TextError(
            f"A text to score has 1 to {model.config.max_len} characters, not {len(input_ids)}."
        )
    costs = -log_probs(model, input_ids[None])[0]
    return costs.gather(1, input_ids[:, None]).squeeze(1)


def _read(text: str) -> Tensor:
    """Return the ids of a text as it stands, with its spaces at both ends."""
    input_ids = VOCABULARY.encode(text)
    if (input_ids == VOCABULARY.mask_id).any():
        raise TextError("A causal model reads text without gaps; fill them first, or cut it there.")
    return input_ids


# Writing


@checked
def next_distribution(text: str, model: CausalLM | None = None) -> Tensor:
    """Return P(next character | text), shape ``(n_ordinary,)``.

    Longer texts are cut to their last ``max_len`` characters.

    Args:
        text: characters of the series; "" asks for the first character of a text.
        model: by default the one that ships with the series.

    Raises:
        TextError: the text has gaps, or a character that the model does not know.
    """
    return _next(_of_characters(model), _read(text))


def _next(model: CausalLM, input_ids: Tensor) -> Tensor:
    before = input_ids[max(0, len(input_ids) + 1 - model.config.max_len) :]
    line = torch.cat([before, before.new_zeros(1)])[None]  # the last symbol is never read
    last = torch.zeros_like(line, dtype=torch.bool)
    last[0, -1] = True
    return log_probs_at(model, line, last)[0].exp()


@checked
def generate(
    text: str = "",
    length: Annotated[int, between(0, 10_000)] = 100,
    *,
    temperature: float = 1.0,
    model: CausalLM | None = None,
    generator: torch.Generator | None = None,
) -> str:
    """Write on, one character after the other, each drawn from what the model says comes next.

    Args:
        text: the beginning; characters of the series.
        length: how many characters to add.
        temperature: see :func:`~cloze.prediction.generation.draw`.
        model: by default the one that ships with the series.
        generator: the source of chance; the same state gives the same text.

    Raises:
        TextError: the text has gaps, or a character that the model does not know.
        ValueError: ``length`` is not from 0 to 10 000, or ``temperature`` is below 0.
    """
    model, input_ids = _of_characters(model), _read(text)
    for _ in range(length):
        drawn = draw(_next(model, input_ids), temperature, generator)
        input_ids = torch.cat([input_ids, drawn[None]])
    return VOCABULARY.decode(input_ids)


# Gaps


@checked
@torch.no_grad()
def log_posterior(model: CausalLM, input_ids: Line, gaps: Positions) -> Tensor:
    """Return log P(filling of the gaps | the rest of the line), by Bayes' rule over all fillings.

    Every filling's line is scored by the chain rule. What lies before a gap is the same for all
    that is put into it, so it is read once.

    Args:
        model: a causal model.
        input_ids: the line, shape ``(length,)``; what it holds at the gaps does not matter.
        gaps: one position or several.

    Returns:
        Shape ``(n_ordinary, …, n_ordinary)``, a dimension per gap from left to right.

    Raises:
        ValueError: no gap, one that is not in the line, or more fillings than ``MOST_FILLINGS``.
    """
    line, known = known_symbols(input_ids, len(model.vocabulary)), model.vocabulary.n_ordinary
    places = sorted(set(positions(gaps, len(line))))
    if not places:
        raise ValueError("There is no gap to fill; give at least one position.")
    if known ** len(places) > MOST_FILLINGS:
        raise ValueError(
            f"{len(places)} gaps can be filled in {known}^{len(places)} = "
            f"{known ** len(places):,} ways, and each is a line to score; that is more than "
            f"{MOST_FILLINGS:,}, ask about fewer gaps at once."
        )
    stretches = [line[at + 1 : end] for at, end in zip(places, [*places[1:], None], strict=True)]
    before = torch.cat([line.new_full((1,), model.vocabulary.mask_id), line[: places[0]]])
    logits, past = model.extend(before[None])
    scores = _scores(model, logits[:, -1].log_softmax(dim=-1)[:, :known], past, stretches)
    return scores.flatten().log_softmax(dim=0).view([known] * len(places))


def _scores(model: CausalLM, first: Tensor, past: Past, stretches: list[Tensor]) -> Tensor:
    """Return log P of every filling of the gaps that are left and of what stands between them.

    Args:
        model: a causal model.
        first: log P of each symbol in the next gap, shape ``(batch, known)``.
        past: what lies before that gap, read by the model.
        stretches: for each gap that is left, the symbols from it to the next, or to the end.

    Returns:
        Shape ``(batch, known ** gaps left)``.
    """
    known = first.shape[1]
    after, *later = stretches
    if not later and not len(after):
        return first
    size = max(1, LINES_AT_ONCE // known)
    if len(first) > size:
        parts = [slice(at, at + size) for at in range(0, len(first), size)]
        return torch.cat(
            [
                _scores(model, first[part], tuple((k[part], v[part]) for k, v in past), stretches)
                for part in parts
            ]
        )
    candidates = torch.arange(known).repeat(len(first))[:, None]
    read = torch.cat([candidates, after.expand(len(candidates), -1)], dim=1)
    if not later:
        read = read[:, :-1]  # what comes after the last one is not needed
    logits, past = model.extend(
        read, tuple((k.repeat_interleave(known, 0), v.repeat_interleave(known, 0)) for k, v in past)
    )
    following = logits.log_softmax(dim=-1)
    truth = after.expand(len(candidates), -1)[..., None]
    total = first.flatten() + following[:, : len(after)].gather(2, truth).sum(dim=(1, 2))
    if not later:
        return total.view(len(first), known)
    rest = _scores(model, following[:, -1, :known], past, later)
    return (total[:, None] + rest).view(len(first), -1)


def _log_marginals(posterior: Tensor) -> Tensor:
    rows = (posterior.movedim(gap, 0) for gap in range(posterior.dim()))
    return torch.stack([row.reshape(len(row), -1).logsumexp(dim=1) for row in rows])


class ByBayes:
    """A causal model that answers at gaps as a masked model does: a language model of its own.

    Args:
        model: the model; it scores the line with everything that may stand in its gaps.
        right: False answers each gap from what is left of it and reads no further, not even that a
            sentence ends.
    """

    def __init__(self, model: CausalLM, *, right: bool = True) -> None:
        self.model, self.right = model, right
        self.vocabulary = model.vocabulary

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return log P at selected gaps of ``(lines, length)``: ``(|M|, |V|)``.

        Raises:
            ValueError: a line has more gaps than ``MOST_GAPS``.
        """
        hidden = selected | (input_ids == self.vocabulary.mask_id)
        rows = [
            self._at(line, gaps.nonzero().flatten().tolist())[here[gaps]]
            for line, gaps, here in zip(input_ids, hidden, selected, strict=True)
        ]
        special = len(self.vocabulary) - self.vocabulary.n_ordinary
        return F.pad(torch.cat(rows), (0, special), value=float("-inf"))

    def _at(self, line: Tensor, gaps: list[int]) -> Tensor:
        """Return log P at all gaps of a line, shape ``(gaps, n_ordinary)``."""
        if len(gaps) > MOST_GAPS:
            n, unit = self.vocabulary.n_ordinary, symbols_of(self.vocabulary).unit
            raise ValueError(
                f"By Bayes' rule {len(gaps)} gaps are {n}^{len(gaps)} = {n ** len(gaps):,} lines "
                f"to score; mask at most {MOST_GAPS} {unit}s here."
            )
        if self.right:
            return _log_marginals(log_posterior(self.model, line, gaps))
        up_to = [
            log_posterior(self.model, line[: at + 1], gaps[:k]) for k, at in enumerate(gaps, 1)
        ]
        return torch.stack([_log_marginals(posterior)[-1] for posterior in up_to])


class CausalPredictor(Predictor):
    """A causal model under a widget: gaps filled by Bayes' rule, or from the left side alone.

    Args:
        model: the model.
        right: False answers each gap from what is left of it and reads no further.
    """

    def __init__(self, model: CausalLM, *, right: bool = True) -> None:
        symbols = symbols_of(model.vocabulary)
        longest = model.config.max_len - 2 * symbols.framed
        name = "causal, Bayes" if right else "left side"
        super().__init__(ByBayes(model, right=right), symbols, longest, name)


@checked
def fill_by_bayes(line: str, model: CausalLM | None = None, *, k: Count = 3) -> Filled:
    """Fill the gaps of a line with what makes the whole line likeliest.

    Args:
        line: text with ``_`` or ``[MASK]`` for every missing character, at most three of them.
        model: by default the one that ships with the series.
        k: how many guesses to keep for each gap.

    Raises:
        TextError: the line is empty, too long, or has no gap.
        ValueError: the gaps can be filled in too many ways.
    """
    model = _of_characters(model)
    input_ids, note = read_line(line, model.config.max_len)
    gaps = (input_ids == VOCABULARY.mask_id).nonzero().flatten()
    if not len(gaps):
        raise TextError("The line has no gap; put a _ wherever a character is missing.")
    posterior = log_posterior(model, input_ids, gaps.tolist())
    typed = VOCABULARY.decode(input_ids, gap=GAP)
    input_ids[gaps] = torch.stack(torch.unravel_index(posterior.argmax(), posterior.shape))
    guesses = {
        at: top_k(probabilities, k)
        for at, probabilities in zip(gaps.tolist(), _log_marginals(posterior).exp(), strict=True)
    }
    return Filled(typed, VOCABULARY.decode(input_ids), guesses, note)
