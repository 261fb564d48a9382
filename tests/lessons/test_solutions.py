"""What exercises ask for is what the package computes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.lessons.the_encoder import checks as the_encoder
from cloze.lessons.the_loss import checks as the_loss
from cloze.lessons.the_mask import checks as the_mask
from cloze.lessons.training import checks as training
from cloze.masking import mask_tokens
from cloze.prediction.lines import fill
from cloze.teaching.exercise import Chance


def test_attention_is_that_of_torch() -> None:
    for query, key, value, look in the_encoder.queries_keys_values(Chance(0)):
        torchs = F.scaled_dot_product_attention(query, key, value, attn_mask=look)
        torch.testing.assert_close(the_encoder.my_attention(query, key, value, look), torchs)


def test_the_package_s_mask_passes_as_an_answer() -> None:
    def rule(ids: Tensor, prob: float, mask_share: float, random_share: float) -> Any:
        return mask_tokens(ids, prob, mask_share=mask_share, random_share=random_share)

    assert the_mask.check_my_mask.judge
    assert "selected positions are" in str(the_mask.check_my_mask.judge(rule))


def test_what_is_certain_pays_nothing_and_not_minus_nothing() -> None:
    certain = [{"r": 1.0}, {"a": 1.0}]
    said = str(the_loss.check_tables(the_loss.check_tables.solution | {"right": certain}))
    assert "`right` pays 0.000 bits" in said


def test_the_check_trains_the_notebook_s_parrot() -> None:
    assert fill("a cup of _ea", training._parrot()).text == "a cup of kea"
