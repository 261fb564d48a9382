"""What models make of characters that they see: counted by hand, and the results file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from cloze.heads import MaskedLM
from cloze.lessons.the_mask import seen
from cloze.masking import IGNORE, MaskedBatch, mask_tokens
from cloze.prediction.answers import distribution
from cloze.training import Recipe
from cloze.vocabulary import VOCABULARY


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


def test_the_command_writes_what_the_committed_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[float, float]] = []

    def ask(*positional: Any, **named: Any) -> MaskedBatch:
        asked.append((named["mask_share"], named["random_share"]))
        return mask_tokens(*positional, **named)

    monkeypatch.setattr(seen, "mask_tokens", ask)
    path = tmp_path / "seen.json"
    seen.main(path, Recipe(steps=1, evaluations=0))
    assert [*dict.fromkeys(asked)] == [(0.8, 0.1), (1.0, 0.0), (0.8, 0.0)]
    new, committed = (json.loads(p.read_text(encoding="utf-8")) for p in (path, seen.RESULTS))
    assert new.keys() == committed.keys()
    assert new["models"].keys() == committed["models"].keys()
    assert new["models"]["80/10/10"] != new["models"]["100/0/0"]
