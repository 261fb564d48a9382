"""What notebook 04 says of its live training, held to the numbers that it printed."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "04_training.ipynb"
NUMBER = r"≈? ?(-?\d+(?:\.\d+)?)"


@cache
def printed() -> str:
    """Read all that the cells of the notebook print, and what its figures say."""
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    said = (
        output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs
    )
    return "\n".join(said)


def numbers(*words: str) -> list[float]:
    """Find the only place where these words are printed, and the number after each of them."""
    [found] = re.findall(
        r"[^\n]*?".join(re.escape(part) + r"\s*" + NUMBER for part in words), printed()
    )
    return [float(number) for number in ([found] if isinstance(found, str) else found)]


def test_the_parrot_recites() -> None:
    [own] = numbers("the parrot on its own text")
    [other] = numbers("the parrot on held-out text")
    assert own < 0.2
    assert other > math.log(29)
    assert "the model: a cup of kea" in printed()


def test_one_step_helps_and_the_loop_learns_the_text() -> None:
    before, after = numbers("the same batch:", "nats before the step,")
    assert after < before == pytest.approx(math.log(29), abs=0.25)
    first, last = numbers("one batch per step: from", "to")
    assert first == before
    assert last < 0.5


def test_the_curve_crosses_all_baselines_in_a_seventh_of_the_run() -> None:
    curve = (
        printed().partition("held-out loss as training goes on:")[2].partition("Loss in nats")[0]
    )
    found = re.findall(r"after +(\d+) steps ≈ (\S+)", curve)
    by_step = {int(step): float(nats) for step, nats in found}
    uniform, unigram, _, both = (
        numbers(name)[0]
        for name in ("\nuniform", "\nunigram", "\nleft bigram", "\nboth neighbours")
    )
    assert by_step[20] < uniform
    assert by_step[20] == pytest.approx(unigram, abs=0.1)
    assert by_step[1250] < by_step[176] < both


def test_equal_masks_make_equal_losses() -> None:
    [held_out] = numbers("held-out, 30% selected")
    [training] = numbers("training, 30% selected")
    assert held_out == pytest.approx(training, abs=0.1)


def test_the_plateau_is_a_reader_of_its_own_position() -> None:
    own, around = numbers("own position only", "with both neighbours")
    assert around < own
    stuck = re.findall(r"stuck: from ≈ \S+ to ≈ (\d\.\d\d)", printed())
    assert float(stuck[0]) == pytest.approx(own, abs=0.1)
