"""How much to hide in training: the command, and what its file shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from cloze.lessons.training import mask_rates
from cloze.teaching.measurements import read


def test_30_percent_is_best_after_every_number_of_steps() -> None:
    by_rate = mask_rates.results()
    for steps in mask_rates.STEPS:
        assert min(by_rate, key=lambda rate: by_rate[rate][steps]) == 0.3


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
