"""How much to hide in training: the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from cloze.lessons.training import mask_rates
from cloze.teaching.measurements import read


def test_the_command_writes_what_the_committed_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mask_rates, "STEPS", (2,))
    path = tmp_path / "mask_rates.json"
    mask_rates.main(path)
    new, committed = read(path), read(mask_rates.RESULTS)
    assert new["command"] == committed["command"]
    assert new["runs"].keys() == committed["runs"].keys()
    assert len({losses["2"] for losses in new["runs"].values()}) == len(mask_rates.RATES)
