"""Whole lines: all gaps filled, and every symbol scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from cloze.arguments import Count, checked
from cloze.heads import CausalLM, MaskedLM
from cloze.prediction.answers import Guess, surprise, top_k
from cloze.prediction.generation import unmask
from cloze.prediction.predictors import MaskedPredictor, listed
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import GAP, TextError


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
        guessed = [f"  position {at}: {listed(self.guesses[at])}" for at in sorted(self.guesses)]
        note = [f"  ({self.note})"] if self.note else []
        return "\n".join([self.typed, self.text, *guessed, *note])


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
            "model) of cloze.prediction.causal, which scores the whole line with each filling."
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
    text = symbols.write([symbols.known[i] for i in inside.tolist()])
    return Filled(symbols.write(read), text, guesses, note)


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
    also = torch.zeros(len(input_ids), len(input_ids), dtype=torch.bool)
    if within_words == "left to right":
        for word in symbols.words(line):
            for at in word:
                rest = slice(at + 1 + symbols.framed, word.stop + symbols.framed)
                also[at + symbols.framed, rest] = True
    return surprise(predictor.model, input_ids, also)
