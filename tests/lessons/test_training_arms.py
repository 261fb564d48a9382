"""The models that the commands of notebook 04 train, and one question of notebook 02's."""

from __future__ import annotations

import pytest
import torch

from cloze.heads import MaskedLM
from cloze.lessons.training import plateau, results
from cloze.masking import IGNORE, MaskedBatch
from cloze.prediction.answers import distribution
from cloze.vocabulary import VOCABULARY
from measured.the_mask import seen
from measured.training import parts


def test_learned_positions_take_the_place_of_rotary_ones() -> None:
    ids = torch.tensor([[1, 2, 3]])
    model, other = plateau.placed(), plateau.placed()
    other.load_state_dict(model.state_dict())
    assert isinstance(other.encoder.embedding, plateau.Placed)
    torch.nn.init.zeros_(other.encoder.embedding.places.weight)
    swapped = torch.tensor([[1, 3, 2]])
    assert torch.allclose(other(ids)[0, 0], other(swapped)[0, 0], atol=1e-5)
    assert not torch.allclose(model(ids)[0, 0], model(swapped)[0, 0], atol=1e-2)
    selected = torch.tensor([[True, False, True]])
    assert torch.allclose(model.logits_at(ids, selected), model(ids)[selected], atol=1e-5)


def test_the_parts_have_the_parameters_that_the_file_says() -> None:
    counted = {
        name: sum(p.numel() for p in make().parameters()) for name, make in parts.MODELS.items()
    }
    assert counted == {name: n for name, (n, _) in results.parts().items()}


def test_beliefs_are_the_means_at_each_kind_of_position() -> None:
    torch.manual_seed(0)
    model = MaskedLM().eval()
    originals = VOCABULARY.encode("abcdef")[None]
    inputs, labels = originals.clone(), torch.full_like(originals, IGNORE)
    labels[0, :4] = originals[0, :4]
    inputs[0, 0], inputs[0, 1] = VOCABULARY.mask_id, 20  # hidden, random; 2 and 3 are kept
    p = distribution(model, inputs[0])
    a, b, c, d = originals[0, :4].tolist()
    kept = (p[2, c] + p[3, d]).item() / 2
    got = seen.beliefs(model, originals, MaskedBatch(inputs, labels))
    wanted = {"[MASK]": p[0, a].item(), "random": p[1, b].item(), "kept": kept}
    assert got == pytest.approx(wanted)
