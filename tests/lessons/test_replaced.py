"""Replaced token detection: what the generator puts in, what is asked, what it costs."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from cloze.encoder import EncoderConfig
from cloze.lessons.corrupt_and_repair import objective_replaced
from cloze.lessons.corrupt_and_repair.objective_replaced import (
    MasksAndDraws,
    ReplacedLM,
    detection_loss,
    electra_loss,
    hide_for_two,
    refilled,
)
from cloze.masking import seeded
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary

SHAPE = EncoderConfig(d_model=32, n_heads=4, d_ff=48)


def model(seed: int = 0) -> ReplacedLM:
    torch.manual_seed(seed)
    return ReplacedLM(SHAPE)


def batch(n: int = 3, seed: int = 0) -> MasksAndDraws:
    windows = torch.randint(28, (n, 16), generator=seeded(seed))
    return hide_for_two(windows, 0.3, seeded(seed), VOCABULARY)


def test_masks_are_filled_as_often_as_the_generator_says() -> None:
    one = model().eval()
    n = 20_000
    windows = torch.randint(28, (1, 8), generator=seeded(1)).repeat(n, 1)
    inputs = windows.clone()
    inputs[:, 3] = VOCABULARY.mask_id
    labels = torch.full_like(windows, -100)
    labels[:, 3] = windows[:, 3]
    drawn = MasksAndDraws(inputs, labels, torch.rand(windows.shape, generator=seeded(2)))
    with torch.no_grad():
        read = refilled(one, drawn)
        said = one.generator(inputs[:1])[0, 3, :28].softmax(0)
    assert torch.equal(read[:, [0, 1, 2, 4, 5, 6, 7]], windows[:, [0, 1, 2, 4, 5, 6, 7]])
    shares = torch.bincount(read[:, 3], minlength=28) / n
    assert (shares - said).abs().max() < 5 * math.sqrt(0.25 / n)
    assert int(read.max()) < 28


def test_the_loss_is_electra_s() -> None:
    both, asked = model(), batch()
    read = refilled(both, asked)
    logits = both.generator(asked.inputs)[asked.selected]
    guesses = F.cross_entropy(logits, asked.labels[asked.selected])
    truth = (read != asked.original).float()
    everywhere = F.binary_cross_entropy_with_logits(both(read), truth)
    at_masks = F.binary_cross_entropy_with_logits(both(read)[asked.selected], truth[asked.selected])
    assert truth.sum() > 0
    loss = electra_loss(both, asked)
    assert loss.item() == pytest.approx((guesses + 50 * everywhere).item(), rel=1e-5)
    loss = electra_loss(both, asked, everywhere=False)
    assert loss.item() == pytest.approx((guesses + 50 * at_masks).item(), rel=1e-5)
    assert detection_loss(both, asked) == pytest.approx(everywhere.item(), rel=1e-5)


def test_no_gradient_flows_from_the_discriminator_to_the_generator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both, asked = model(), batch()
    gradients = []
    for weight in (0.0, 50.0):
        both.zero_grad()
        monkeypatch.setattr(objective_replaced, "WEIGHT", weight)
        electra_loss(both, asked).backward()  # type: ignore[no-untyped-call]
        gradients.append(
            [p.grad.clone() for p in both.generator.parameters() if p.grad is not None]
        )
    assert all(map(torch.equal, *gradients))


def test_frames_are_not_asked_about() -> None:
    words = Vocabulary(("a", "b", "c"), (MASK, BEGIN, END, PAD))
    torch.manual_seed(0)
    both = ReplacedLM(EncoderConfig(vocab_size=len(words), d_model=16, n_heads=2, d_ff=24), words)
    short = torch.tensor([[words.ids[s] for s in (BEGIN, "a", "b", END)]])
    padded = torch.cat([short, torch.full((1, 3), words.ids[PAD])], dim=1)
    losses = []
    for window in (short, padded):
        labels = torch.full_like(window, -100)
        labels[0, 1] = window[0, 1]
        inputs = window.masked_fill(labels >= 0, words.mask_id)
        losses.append(
            electra_loss(both, MasksAndDraws(inputs, labels, torch.full(window.shape, 0.4)))
        )
    assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-5)
