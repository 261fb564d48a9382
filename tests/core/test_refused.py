"""What would be answered wrongly, or in the words of another library, is refused in a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from cloze.corpus import Corpus
from cloze.evaluation import Repeated, held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.writing_with_gaps.diffusion import random_order_cost
from cloze.masking import IGNORE, MaskedBatch
from cloze.prediction.answers import top_k
from cloze.use.vectors import Pairs

IDS = torch.zeros(2, 3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: MaskedLM(vocabulary=-0.5), "vocabulary is of type Vocabulary"),  # type: ignore[arg-type]
        (
            lambda: held_out_loss(MaskedLM(), MaskedBatch(IDS, IDS.new_full((2, 3), IGNORE))),
            "No position is selected",
        ),
        (lambda: top_k(torch.full((28,), math.nan)), "of numbers from 0 to 1"),
        (lambda: Repeated.of([1.0, math.nan]), "finite numbers"),
        (lambda: Pairs(Corpus.load()).sample(3, 64), "of at least 1 and even, not 3"),
        (lambda: random_order_cost(torch.full((4, 2), -1.0)), "of numbers of at least 0"),
    ],
)
def test_it_is_refused(ask: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ask()
