"""What left, right and both pay for all held-out pieces, by kind of character."""

import pytest
import torch

from cloze.baselines import baseline_losses
from cloze.corpus import Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.the_explorer.held_out_costs import (
    KINDS,
    HeldOutCosts,
    held_out_costs,
    kinds_of,
)
from cloze.masking import held_out_batch
from cloze.vocabulary import VOCABULARY

CORPUS = Corpus.load()
torch.manual_seed(0)
SMALL = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16)).eval()
FEW = Corpus(CORPUS.train[:3], CORPUS.held_out[:2])


@pytest.fixture(scope="module")
def costs() -> HeldOutCosts:
    return held_out_costs(FEW, {"small": SMALL, "again": SMALL})


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("the cat\nwas i", "fml" + "s" + "fml" + "n" + "fml" + "s" + "f"),
        (" a b ", "sfsfs"),
        ("\nab\n", "nfln"),
    ],
)
def test_every_character_has_its_kind(text: str, kinds: str) -> None:
    signs = {"s": "space", "f": "first letter", "m": "middle letter", "l": "last letter"}
    signs["n"] = "new line"
    found = [KINDS[i] for i in kinds_of(VOCABULARY.encode(text)).tolist()]
    assert found == [signs[sign] for sign in kinds]


def test_means_are_the_held_out_losses_of_the_series(costs: HeldOutCosts) -> None:
    held_out = held_out_batch(FEW.held_out_windows())
    assert costs.mean("small") == pytest.approx(held_out_loss(SMALL, held_out), abs=1e-5)
    baselines = baseline_losses(FEW, held_out)
    for name in ("unigram", "both neighbours"):
        assert costs.mean(name) == pytest.approx(baselines[name], abs=1e-5)


def test_kinds_make_up_the_whole(costs: HeldOutCosts) -> None:
    assert sum(costs.count(kind) for kind in KINDS) == costs.count()
    total = sum(
        costs.count(kind) * costs.mean("small", kind) for kind in KINDS if costs.count(kind)
    )
    assert total / costs.count() == pytest.approx(costs.mean("small"), abs=1e-5)
    assert costs.by_kind("space")["small"] == {"space": costs.mean("small", "space")}


def test_kinds_are_told_before_the_pieces_are_cut() -> None:
    """A window that begins inside a word begins with a middle letter."""
    piece = Piece("a", "abc" * 60)
    costs = held_out_costs(Corpus((piece,), (piece,)), {"small": SMALL})
    first_of_piece = 1
    assert costs.count("first letter") <= first_of_piece
    assert costs.count("middle letter") >= costs.count() - first_of_piece
