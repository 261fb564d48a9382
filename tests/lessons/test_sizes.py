"""What operations are best spent on: the command, and what its file shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cloze.lessons.training import sizes


def test_what_the_notebook_says_of_rates_and_sizes() -> None:
    by_size, by_rate = sizes.results()
    for tflop in by_size:
        assert min(by_rate, key=lambda rate: by_rate[rate][tflop]) == 0.3
    best = [min(points, key=lambda point: point[1]) for points in by_size.values()]
    assert best[0][0] <= best[1][0] < best[2][0]
    assert by_rate[0.3][max(by_size)] - best[2][1] == pytest.approx(0.02, abs=0.005)


def test_the_command_trains_every_size_and_rate_on_equal_operations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, by_rate = sizes.results()
    monkeypatch.setattr(sizes, "SHAPES", ((64, 2), (128, 2)))
    monkeypatch.setattr(sizes, "SHARES", (2 / 1250,))
    path = tmp_path / "sizes.json"
    sizes.main(path)
    new = json.loads(path.read_text(encoding="utf-8"))["runs"]
    [small], [usual] = new["64"]["2"]["0.3"].values(), new["128"]["2"]["0.3"].values()
    assert usual["steps"] == 2
    assert small["steps"] == 8
    assert new["128"]["2"].keys() == {str(rate) for rate in by_rate}
    assert small["parameters"] < usual["parameters"]
