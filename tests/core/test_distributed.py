"""Training in two processes: the same steps as one process takes, stopped together, written once.

``torchrun`` runs this file itself as the script of both processes (see ``main`` below).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed

from cloze import __main__ as command_line
from cloze.checkpoint import load_model
from cloze.corpus import DATA, Corpus
from cloze.distributed import Team
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.interrupts import held_signals
from cloze.training import Recipe, TrainingRun, fit

RECIPE = Recipe(steps=6, batch_size=5, length=32, evaluations=2)  # 5 lines: shares of 3 and 2
SCARCE = replace(RECIPE, mask_prob=0.0)  # one position in the whole batch
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (distributed.is_available() and distributed.is_gloo_available()),
        reason="this torch comes without gloo, over which the processes speak",
    ),
]


def new_run(recipe: Recipe = RECIPE, seed: int = 0) -> TrainingRun:
    torch.manual_seed(seed)
    config = EncoderConfig(d_model=16, n_heads=2, n_layers=2, d_ff=24)
    return Team().share_out(
        TrainingRun(MaskedLM(config), Corpus.from_file(DATA / "sample.txt"), recipe)
    )


def gradients(run: TrainingRun) -> dict[str, Tensor]:
    """Take one step and return the gradients it was taken with."""
    run.train_step()
    return {name: p.grad.clone() for name, p in run.model.named_parameters() if p.grad is not None}


def finished(run: TrainingRun) -> dict[str, Any]:
    records = [(r.step, r.loss, r.held_out) for r in fit(run, progress=False)]
    return {"parameters": run.model.state_dict(), "records": records}


def interrupted(team: Team) -> TrainingRun:
    """Let the second process alone be interrupted in its loop, and return where this one stops."""
    run = new_run()
    with suppress(KeyboardInterrupt), held_signals() as pressed:
        for record in fit(run, stop=lambda: team.highest(pressed()) > 0, progress=False):
            if record.step == 2 and not team.leads:
                signal.raise_signal(signal.SIGINT)
    return run


def main(folder: Path) -> None:
    """Do in each of two processes what the tests ask about, and save it."""
    team, run = Team(), new_run()
    results: dict[str, Any] = {
        # The leader's model counts, whatever the others began with.
        "gradients": gradients(new_run(seed=int(os.environ["RANK"]))),
        "scarce": gradients(new_run(SCARCE)),
        "finished": finished(run),
    }
    stopped = interrupted(team)
    results["stopped"] = stopped.step
    if team.leads:
        stopped.save(folder / "run")
    team.highest(0)  # wait until the leader has written
    loaded = TrainingRun.load(folder / "run", stopped.corpus)
    results["resumed"] = finished(team.share_out(loaded))
    torch.save(results, folder / f"results{team.rank}")
    distributed.destroy_process_group()


def torchrun(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    result = subprocess.run(
        [*launcher, *words], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each of two processes got."""
    folder = tmp_path_factory.mktemp("both")
    torchrun(__file__, str(folder), cwd=folder)
    return [torch.load(folder / f"results{rank}") for rank in (0, 1)]


def assert_close(ours: dict[str, Tensor], theirs: dict[str, Tensor], tolerance: float) -> None:
    assert ours.keys() == theirs.keys()
    assert max((ours[name] - theirs[name]).abs().max().item() for name in ours) < tolerance


@pytest.mark.parametrize(("name", "recipe"), [("gradients", RECIPE), ("scarce", SCARCE)])
def test_the_gradients_are_those_of_one_process(
    both: list[dict[str, Any]], name: str, recipe: Recipe
) -> None:
    expected = gradients(new_run(recipe))
    assert max(g.abs().max().item() for g in expected.values()) > 0.01
    for results in both:
        assert_close(results[name], expected, 1e-5)


@pytest.mark.parametrize("name", ["finished", "resumed"])
def test_a_finished_run_is_that_of_one_process(both: list[dict[str, Any]], name: str) -> None:
    expected = finished(new_run())
    for results in both:
        assert_close(results[name]["parameters"], expected["parameters"], 1e-4)
        there = results[name]["records"]
        for (step, loss, held_out), record in zip(
            there, expected["records"][-len(there) :], strict=True
        ):
            assert (step, loss) == (record[0], pytest.approx(record[1], abs=1e-4))
            assert held_out == (record[2] and pytest.approx(record[2], abs=1e-4))
    one, other = (results[name]["parameters"] for results in both)
    assert all(torch.equal(one[key], other[key]) for key in one)  # not only close


def test_all_stop_when_one_is_stopped(both: list[dict[str, Any]]) -> None:
    assert [results["stopped"] for results in both] == [2, 2]


def test_the_command_line_writes_one_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["-m", "cloze", "train", "m.safetensors", "--steps=2", f"--corpus={DATA}/sample.txt"]
    said = torchrun(*words, cwd=tmp_path).stdout.splitlines()
    # Older gloos print what they connect to.
    assert [line.split()[1] for line in said if line.startswith("step")] == ["1", "2"]
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]
    two = load_model(tmp_path / "m.safetensors")
    monkeypatch.chdir(tmp_path)
    assert command_line.main(words[2:]) == 0
    one = load_model(tmp_path / "m.safetensors")
    assert_close(two.state_dict(), one.state_dict(), 1e-4)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
