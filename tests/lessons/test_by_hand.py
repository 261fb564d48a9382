"""The gradient by hand is autograd's, step by step."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from cloze.encoder import rotary_angles, rotate
from cloze.heads import MaskedLM
from cloze.lessons.training import by_hand
from cloze.lessons.training.checks import logit_gradient
from cloze.masking import IGNORE
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY

RANDOM = torch.Generator().manual_seed(0)


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=RANDOM, dtype=torch.float64)


def test_attention_goes_back_as_autograd_does() -> None:
    heads = [drawn(3, 5, 4).requires_grad_() for _ in range(3)]
    d_gathered = drawn(3, 5, 4)
    gathered = F.scaled_dot_product_attention(heads[0], heads[1], heads[2])
    expected = torch.autograd.grad(gathered, heads, d_gathered)
    q, k, v = (head.detach().numpy() for head in heads)
    _, weights = by_hand.attend(q, k, v)
    found = by_hand.attend_back(q, k, v, weights, d_gathered.numpy())
    for own, by_torch in zip(found, expected, strict=True):
        assert np.allclose(own, by_torch.numpy(), atol=1e-10)


def test_a_norm_goes_back_as_autograd_does() -> None:
    x, d_y = drawn(6, 8).requires_grad_(), drawn(6, 8)
    scale, shift = drawn(8), drawn(8)
    [expected] = torch.autograd.grad(F.layer_norm(x, (8,), scale, shift), x, d_y)
    p = {"n.weight": scale.numpy(), "n.bias": shift.numpy()}
    _, hat, deviation = by_hand.norm(p, "n", x.detach().numpy())
    found = by_hand.norm_back(p, "n", hat, deviation, d_y.numpy(), {})
    assert np.allclose(found, expected.numpy(), atol=1e-10)


def test_what_is_turned_back_stands_as_before() -> None:
    config = shipped_model().config
    x = drawn(config.n_heads, 7, config.d_head)
    turned = by_hand.turn(x.numpy(), config)
    angles = rotary_angles(7, config.d_head, config.rotary_base).double()
    assert np.allclose(turned, rotate(x, angles).numpy(), atol=1e-6)
    assert np.allclose(by_hand.turn(turned, config, -1), x.numpy(), atol=1e-10)


@pytest.mark.parametrize("line", ["the red f[MASK]x ran a[MASK]ay", "[MASK]", "aa[MASK]a"])
def test_every_gradient_of_the_shipped_model_is_autograd_s(line: str) -> None:
    model: MaskedLM = deepcopy(shipped_model()).requires_grad_(True)
    ids = VOCABULARY.encode(line)
    labels = torch.where(ids == VOCABULARY.mask_id, VOCABULARY.ids["o"], IGNORE)
    names, own = zip(*model.named_parameters(), strict=True)
    expected = torch.autograd.grad(F.cross_entropy(model(ids[None])[0], labels), own)
    p = by_hand.parameters_of(model)
    logits, trace = by_hand.forward(p, model.config, ids.tolist())
    d_logits = logit_gradient(torch.from_numpy(logits), labels).numpy()
    gradients = by_hand.backward(p, model.config, ids.tolist(), trace, d_logits)
    for name, by_torch in zip(names, expected, strict=True):
        assert np.allclose(gradients[name], by_torch.numpy(), atol=1e-5), name
