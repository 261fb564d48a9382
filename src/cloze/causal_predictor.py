"""Causal models as what widgets ask: gaps filled by Bayes' rule, or from the left side alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from cloze.causal import log_posterior, marginals
from cloze.heads import CausalLM
from cloze.masked_predictor import MaskedPredictor
from cloze.predictor import Answer, Baseline
from cloze.vocabulary import GAP

MOST_GAPS = 2
"""More would take longer than anybody waits for a click."""


class CausalPredictor(MaskedPredictor):
    """A causal model, which scores the line with everything that may stand in its gaps.

    Args:
        model: the model.
        name: who guesses.
        baseline: what it is judged against.
        right: False answers each gap from what is left of it and reads no further.
    """

    model: CausalLM

    def __init__(
        self,
        model: CausalLM,
        name: str = "",
        baseline: Baseline | None = None,
        *,
        right: bool = True,
    ) -> None:
        super().__init__(model, name or ("causal, Bayes" if right else "left side"), baseline)
        self.right = right
        self.n_layers = self.n_heads = 0  # there is no one look whose attention could be shown

    def predict(self, line: Sequence[str], gaps: Sequence[int]) -> Answer:
        """Say what each gap may hold, whatever the others do.

        Raises:
            ValueError: there are more gaps than ``MOST_GAPS``.
        """
        if not gaps:
            return Answer((), [], [])
        rows = self._marginals(line, gaps)
        known = {symbol: i for i, symbol in enumerate(self.symbols.known)}
        costs = [
            None if line[at] == GAP else abs(math.log(max(row[known[line[at]]], 1e-45)))
            for at, row in zip(gaps, rows, strict=True)
        ]
        return Answer(tuple(gaps), rows, costs)

    def joint(
        self,
        line: Sequence[str],
        gaps: Sequence[int],
        first: int,  # noqa: ARG002 - the other of the two
        second: int,
    ) -> Sequence[Sequence[float]]:
        """Say what two gaps hold together, of which there may be no others."""
        cut = line if self.right else line[: second + 1]
        return self._posterior(cut, [at for at in gaps if at < len(cut)]).exp().tolist()

    def surprise(self, line: Sequence[str]) -> Sequence[float]:
        """Return −log P of each symbol when it alone is hidden, in nats."""
        if not self.right:
            return super().surprise(line)  # one look: hidden or not, the model never sees it
        return [self.predict(line, [at]).known_costs[0] for at in range(len(line))]

    def _marginals(self, line: Sequence[str], gaps: Sequence[int]) -> list[list[float]]:
        if self.right:
            return marginals(self._posterior(line, gaps)).tolist()
        return [
            marginals(self._posterior(line[: at + 1], gaps[: k + 1]))[k].tolist()
            for k, at in enumerate(gaps)
        ]

    def _posterior(self, line: Sequence[str], gaps: Sequence[int]) -> Tensor:
        if len(gaps) > MOST_GAPS:
            n = len(self.symbols.known)
            raise ValueError(
                f"By Bayes' rule {len(gaps)} gaps are {n}^{len(gaps)} = {n ** len(gaps):,} lines "
                f"to score; mask at most {MOST_GAPS} {self.symbols.unit}s here."
            )
        input_ids, places = self._read(line, gaps)
        if not self.right:  # nothing is read behind the last gap, not even that a sentence ends
            input_ids = input_ids[: places[-1] + 1]
        with torch.no_grad():
            return log_posterior(self.model, input_ids, places)
