"""Fast: what is computed in fewer steps equals what the encoder computes, gradients included."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import nn

from cloze.encoder import DIRECTIONS, Direction, EncoderConfig, Layer
from cloze.heads import MaskedLM

SMALL = EncoderConfig(vocab_size=20, max_len=20, d_model=16, n_heads=2, d_ff=24)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def random_ids(batch: int, length: int) -> torch.Tensor:
    return torch.randint(SMALL.vocab_size, (batch, length))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("length", [9, 14])
def test_what_is_done_once_per_symbol_has_the_gradients_of_every_place(
    direction: Direction, length: int
) -> None:
    """Two lines of 9 are fewer places than there are symbols, and two of 14 are more."""
    looked_up = MaskedLM(replace(SMALL, direction=direction)).double()
    with torch.no_grad():
        for parameter in looked_up.parameters():  # norms and biases that matter
            parameter.add_(0.1 * torch.randn_like(parameter))
    everywhere = deepcopy(looked_up)
    ids, selected = random_ids(2, length), torch.rand(2, length) < 0.5
    normed: list[torch.Tensor] = []
    first = looked_up.get_submodule("encoder.layers.0.attention_norm")
    first.register_forward_hook(lambda _, __, output: normed.append(output))
    fast, slow = looked_up.logits_at(ids, selected), everywhere(ids)[selected]
    torch.testing.assert_close(fast, slow)
    assert [len(n.flatten(0, -2)) for n in normed] == [min(20, ids.numel())]
    for logits in (fast, slow):
        logits.square().sum().backward()  # type: ignore[no-untyped-call]
    for one, other in zip(looked_up.parameters(), everywhere.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


@torch.no_grad()
def test_a_part_of_somebodys_own_is_asked_itself() -> None:
    class Last(Layer):
        def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
            return super().forward(x, mask).flip(-1)

    class Placed(nn.Embedding):
        def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - torch's name
            return super().forward(input) + torch.arange(input.shape[-1])[:, None]

    ids, selected = random_ids(4, 20), torch.rand(4, 20) < 0.3
    for name, part in (
        ("layers.1", Last(SMALL)),
        ("embedding", Placed(SMALL.vocab_size, SMALL.d_model)),
    ):
        model = MaskedLM(SMALL)
        before = model.logits_at(ids, selected)
        model.encoder.set_submodule(name, part)
        after = model.logits_at(ids, selected)
        assert not torch.allclose(before, after, atol=0.1)
        torch.testing.assert_close(after, model(ids)[selected])
