"""What keeps training off the plateau: the command, and what its file shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from cloze.lessons.training import plateau


def test_the_command_writes_what_the_committed_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plateau, "SEEDS", (0,))
    monkeypatch.setattr(plateau, "MOMENTS", (1,))
    path = tmp_path / "plateau.json"
    plateau.main(path)
    new, committed = (json.loads(p.read_text(encoding="utf-8")) for p in (path, plateau.RESULTS))
    assert new.keys() == committed.keys()
    assert new["arms"].keys() == committed["arms"].keys()
    after_one = [curve["0"]["1"] for curve in new["arms"].values()]
    assert len(set(after_one)) == len(plateau.ARMS)


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
