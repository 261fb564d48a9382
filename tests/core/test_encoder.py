"""The encoder: its size, what may look at what, and its attention against torch's."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from cloze.encoder import (
    DIRECTIONS,
    Attention,
    Direction,
    Encoder,
    EncoderConfig,
    Layer,
    attention_mask,
    neighbour_offsets,
    rotary_angles,
    rotate,
)
from cloze.heads import MaskedLM
from cloze.ledger import parameter_ledger

CONFIG = EncoderConfig()

each_direction = pytest.mark.parametrize("direction", DIRECTIONS)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def random_ids(batch: int = 2, length: int = 12) -> Tensor:
    return torch.randint(CONFIG.vocab_size, (batch, length))


def first_attention(config: EncoderConfig) -> Attention:
    layer = Encoder(config).layers[0]
    assert isinstance(layer, Layer)
    return layer.attention


def randomise_biases(module: nn.Module) -> None:
    """Give norms and biases values that matter, so that a test would see them go wrong."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))


# ── Size ──


def test_the_ledger_counts_what_torch_counts() -> None:
    ledger = parameter_ledger(CONFIG.vocab_size, CONFIG.d_model, CONFIG.n_layers, CONFIG.d_ff)
    assert sum(ledger.values()) == sum(p.numel() for p in MaskedLM().parameters())


# ── What may look at what ──


@each_direction
@torch.no_grad()
def test_a_change_moves_what_may_see_it_and_nothing_else(direction: Direction) -> None:
    changed = 5
    encoder = Encoder(replace(CONFIG, direction=direction))
    randomise_biases(encoder)
    a = random_ids(1)
    b = a.clone()
    b[0, changed] = (a[0, changed] + 1) % CONFIG.vocab_size
    moved = (encoder(a) - encoder(b))[0].norm(dim=-1)
    allowed = attention_mask(12, direction)
    sees = torch.ones(12, dtype=torch.bool) if allowed is None else allowed[:, changed]
    assert (moved[sees] > 1e-4).all()
    assert (moved[~sees] < 1e-5).all()


def test_attention_mask() -> None:
    assert attention_mask(3, "both") is None
    left, right = attention_mask(3, "left"), attention_mask(3, "right")
    assert left is not None
    assert right is not None
    assert left.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert torch.equal(right, left.T)


@each_direction
@torch.no_grad()
def test_padding_changes_nothing(direction: Direction) -> None:
    encoder = Encoder(replace(CONFIG, direction=direction))
    randomise_biases(encoder)
    ids = random_ids(3, 10)
    padding = torch.zeros(3, 10, dtype=torch.bool)
    padding[0, :4] = True  # rotary positions: what counts is distance, not the place in the line
    padding[1, 7:] = True
    padding[2] = True
    states = encoder(ids, padding)
    assert states.isfinite().all()
    torch.testing.assert_close(states[:1, 4:], encoder(ids[:1, 4:]), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(states[1:2, :7], encoder(ids[1:2, :7]), atol=1e-5, rtol=1e-4)


# ── Attention ──


@each_direction
@torch.no_grad()
def test_it_equals_torchs_own_attention(direction: Direction) -> None:
    """Without positions and with the same weights, it is nn.MultiheadAttention."""
    config = replace(CONFIG, direction=direction, neighbour_focus=0)
    ours = first_attention(config)
    randomise_biases(ours)
    ours.angles.zero_()
    theirs = nn.MultiheadAttention(config.d_model, config.n_heads, batch_first=True)
    projections = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
    theirs.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())

    x, mask = torch.randn(3, 11, config.d_model), attention_mask(11, direction)
    forbidden = None if mask is None else ~mask
    expected, weights = theirs(x, x, x, attn_mask=forbidden, average_attn_weights=False)
    torch.testing.assert_close(ours(x, mask), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(ours.weights(x, mask), weights, atol=1e-5, rtol=1e-4)


@each_direction
def test_it_runs_on_whatever_device_it_is_on(direction: Direction) -> None:
    encoder = Encoder(replace(CONFIG, direction=direction)).to("meta")
    ids = random_ids().to("meta")
    assert encoder(ids, ids == 0).is_meta


# ── Positions ──


def test_rotating_by_hand() -> None:
    x = torch.tensor([[1.0, 0.0, 0.0, 2.0]])
    turned = rotate(x, torch.tensor([[math.pi / 2, math.pi / 6]]))
    expected = torch.tensor([[0.0, 1.0, -1.0, math.sqrt(3)]])
    torch.testing.assert_close(turned, expected, atol=1e-6, rtol=1e-6)
    rates = torch.tensor([1.0, 100**-0.25, 100**-0.5, 100**-0.75])
    angles = torch.outer(torch.arange(3.0), rates)
    torch.testing.assert_close(rotary_angles(3, 8, 100.0), angles)


# ── Heads that start out looking at their neighbours ──


@each_direction
@torch.no_grad()
def test_heads_peak_at_their_neighbours_before_training(direction: Direction) -> None:
    config = replace(CONFIG, direction=direction)
    begin = {"both": [-1, 1, -2, 2], "left": [-1, -2, -3, -4], "right": [1, 2, 3, 4]}
    assert neighbour_offsets(config)[:4] == begin[direction]
    weights = Encoder(config).attention_weights(random_ids(32, config.max_len))
    for layer in weights.mean(dim=1):
        for head, offset in zip(layer, neighbour_offsets(config), strict=True):
            means = {d: head.diagonal(d).mean().item() for d in range(-12, 13)}
            assert max(means, key=means.__getitem__) == offset
            assert means[offset] > 10 / config.max_len


# ── Symbols, selected positions, determinism ──


@torch.no_grad()
def test_added_symbols_leave_the_old_ones_as_they_were() -> None:
    encoder = Encoder(CONFIG)
    randomise_biases(encoder)
    ids = random_ids()
    before = encoder(ids)
    wider = encoder.add_symbols(3)
    assert torch.equal(wider(ids), before)
    new = ids.clone()
    new[:, 4] = CONFIG.vocab_size + 2
    assert wider(new).isfinite().all()


def test_what_an_encoder_cannot_read_is_refused() -> None:
    encoder = Encoder(CONFIG)
    with pytest.raises(ValueError, match=r"65 symbols.*max_len = 64"):
        encoder(random_ids(1, 65))
    with pytest.raises(ValueError, match=r"\(batch, length\), not \(5,\).*input_ids\[None\]"):
        encoder(torch.arange(5))
    with pytest.raises(ValueError, match=r"multiple of 2 · n_heads = 12.*not 16"):
        EncoderConfig(d_model=16, n_heads=6)
