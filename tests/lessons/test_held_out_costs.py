"""What left, right and both pay for all held-out pieces, by kind of character."""

import pytest

from cloze.baselines import baseline_losses
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.the_explorer.held_out_costs import KINDS, held_out_costs, kinds_of
from cloze.masking import held_out_batch
from cloze.vocabulary import VOCABULARY


def test_every_character_has_its_kind() -> None:
    found = [KINDS[i][0] for i in kinds_of(VOCABULARY.encode(" the cat\nwas i\n")).tolist()]
    assert "".join(found) == "sfmlsfmlnfmlsfn"


def test_means_are_the_held_out_losses_of_the_series() -> None:
    corpus = Corpus.load()
    few = Corpus(corpus.train[:3], corpus.held_out[:2])
    model = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16)).eval()
    costs, held_out = held_out_costs(few, {"small": model}), held_out_batch(few.held_out_windows())
    assert costs.mean("small") == pytest.approx(held_out_loss(model, held_out), abs=1e-5)
    baselines = baseline_losses(few, held_out)
    for name in ("unigram", "both neighbours"):
        assert costs.mean(name) == pytest.approx(baselines[name], abs=1e-5)
