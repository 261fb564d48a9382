"""The gradient by hand is autograd's, step by step."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import torch
from torch.nn import functional as F

from cloze.heads import MaskedLM
from cloze.lessons.training import by_hand
from cloze.lessons.training.checks import logit_gradient
from cloze.masking import IGNORE
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY


def test_every_gradient_of_the_shipped_model_is_autograd_s() -> None:
    model: MaskedLM = deepcopy(shipped_model()).requires_grad_(True)
    ids = VOCABULARY.encode("the red f[MASK]x ran a[MASK]ay")
    labels = torch.where(ids == VOCABULARY.mask_id, VOCABULARY.ids["o"], IGNORE)
    names, own = zip(*model.named_parameters(), strict=True)
    expected = torch.autograd.grad(F.cross_entropy(model(ids[None])[0], labels), own)
    p = by_hand.parameters_of(model)
    logits, trace = by_hand.forward(p, model.config, ids.tolist())
    d_logits = logit_gradient(torch.from_numpy(logits), labels).numpy()
    gradients = by_hand.backward(p, model.config, ids.tolist(), trace, d_logits)
    for name, by_torch in zip(names, expected, strict=True):
        assert np.allclose(gradients[name], by_torch.numpy(), atol=1e-5), name
