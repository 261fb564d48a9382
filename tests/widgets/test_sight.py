"""Who may look where: what a widget shows is what moves a model's output."""

import pytest
import torch

from cloze.encoder import Direction, EncoderConfig
from cloze.heads import MaskedLM
from cloze.vocabulary import VOCABULARY
from cloze.widgets.sight import Sight

TEXT = "the red fox"


@torch.no_grad()
@pytest.mark.parametrize(
    ("name", "direction"), [("encoder", "both"), ("causal twin", "left"), ("right twin", "right")]
)
def test_a_position_sees_what_moves_its_output(name: str, direction: Direction) -> None:
    torch.manual_seed(0)
    config = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, direction=direction)
    model = MaskedLM(config).eval()
    line = VOCABULARY.encode(TEXT)
    changed = line.repeat(len(line), 1)
    changed.diagonal().add_(1).remainder_(VOCABULARY.n_ordinary)  # one symbol in each copy
    moved = (model(changed) - model(line[None])).abs().amax(-1) > 1e-6  # (changed, position)
    rows = ["".join("01"[moves] for moves in column) for column in moved.T.tolist()]
    assert Sight(TEXT).masks[name] == rows


@pytest.mark.parametrize("prefix", [-1, 12])
def test_a_prefix_longer_than_the_line_is_refused(prefix: int) -> None:
    with pytest.raises(ValueError, match="A prefix is a whole number from 0 to 11, not"):
        Sight("the red fox", readers={"prefix": prefix})
