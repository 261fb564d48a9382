"""Every benchmark runs in its quick mode and refuses bad arguments with a usage line."""

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from benchmarks import (
    cost,
    environments,
    latency,
    mutants,
    operations,
    page,
    recipe,
    scale,
    throughput,
)
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.teaching.exercise import Exercise
from cloze.teaching.results import number
from cloze.vocabulary import VOCABULARY
from web.browser import NO_CHROMIUM, chromium

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("main", "said"),
    [
        (recipe.main, r"\nordinary heads .* [\d.]+\n"),
        (throughput.main, r"\ntraining, the default recipe .*\n(.*\n)*.*between them"),
        (cost.main, r"\n16 .*\n32 .*\n64 (.*\n)+1 .*\n2 .*"),
        (scale.main, r"\n +1 .*\n +2 .*\n"),
    ],
)
def test_a_quick_run_prints_its_table(
    main: Callable[[list[str]], object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--quick", "--only", "ordinary heads"] if main is recipe.main else ["--quick"])
    assert re.search(said, capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.skipif(not chromium(), reason=NO_CHROMIUM)
def test_latency_quick(capsys: pytest.CaptureFixture[str]) -> None:
    latency.main(["--quick"])
    said = capsys.readouterr().out
    rows = [line for line in said.splitlines() if line.startswith("run.py lab")]
    for line, widget in zip(rows, sorted([*latency.WIDGETS] * 2), strict=True):
        assert line.startswith(f"run.py lab    {widget}")
    assert re.search(r"00_start_here: \d+ s under nbval, at most \d{3} MB", said)


@pytest.mark.slow
@pytest.mark.skipif(not chromium(), reason=NO_CHROMIUM)
def test_page_quick(capsys: pytest.CaptureFixture[str]) -> None:
    page.main(["--quick"])
    _, _, title, *rows, trained, clicked = capsys.readouterr().out.splitlines()
    assert title.split()[-4:] == ["median", "95%", "least", "busy"]
    assert re.search(r"page \d+ ms, torch \d+ ms, .+ characters/s, 0\.\d\d of torch$", trained)
    assert re.match(r"a click: \d+ ms, while it trains \d+ ms, ", clicked)
    times = {line[:50].strip(): [float(number) for number in line[50:].split()] for line in rows}
    assert len(times) == 14
    assert all(0 < least <= median <= p95 for median, p95, least, *_ in times.values())


@pytest.mark.slow
@pytest.mark.skipif(not chromium(), reason=NO_CHROMIUM)
def test_inside_quick(capsys: pytest.CaptureFixture[str]) -> None:
    page.main(["inside", "--quick"])
    said = capsys.readouterr().out
    changes = re.findall(r"\n(?:another gap|off and back|swapped and back), \d\d .*", said)
    assert len(changes) == 12  # three for each line, at both speeds
    for *_, median, p95, busy in map(str.split, changes):
        assert 0 < float(median) <= float(p95)
        assert float(busy) > 0
    assert said.count("kept a frame for more than 50 ms: ") == 4


@pytest.mark.slow
def test_classroom_quick() -> None:
    # In a process of its own: the kernels' clients leave event loops open in every thread.
    command = [sys.executable, "-m", "benchmarks.classroom", "--quick"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    _, _, *rows, limits = said.splitlines()
    assert [line.split()[:2] for line in rows] == [["1", "none"], ["2", "none"], ["2", "one"]]
    for line in rows:
        _, clicks, unanswered, median, p95, worst, *_ = map(float, line.split()[2:])
        assert clicks >= 1
        assert unanswered == 0
        assert 0 < median <= p95 <= worst
    assert "is used up first" in limits


@pytest.mark.slow
@pytest.mark.parametrize("name", ["textbook", "bert", "modernbert_adamw"])
def test_other_peoples_models_have_our_size_and_learn(name: str) -> None:
    if name != "textbook":
        pytest.importorskip("transformers")
    model = importlib.import_module(f"benchmarks.recipes.{name}").Model()
    size = sum(p.numel() for p in MaskedLM().parameters())
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(size, rel=0.1)
    input_ids = torch.full((2, 8), VOCABULARY.mask_id)
    selected = torch.eye(2, 8, dtype=torch.bool)
    logits = model.logits_at(input_ids, selected)
    torch.testing.assert_close(model(input_ids)[selected], logits)
    logits.sum().backward()
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)


def test_what_is_counted_is_what_the_textbook_counts() -> None:
    config = EncoderConfig(max_len=32, n_layers=3)
    model = MaskedLM(config)
    ids = torch.zeros(2, 32, dtype=torch.int64)
    linear, quadratic = operations.by_formula(config, 32)
    head = 2 * 32 * config.d_model * config.vocab_size
    forward = 2 * (linear + quadratic + head)
    with torch.no_grad():
        assert operations.executed(lambda: model(ids)) == forward
    everything = operations.executed(lambda: model(ids).sum().backward())
    # Backward takes two products for each of forward's, and attention computes its scores again.
    assert everything == 3 * forward + quadratic


@pytest.mark.slow
@pytest.mark.parametrize("name", environments.ENVIRONMENTS)
def test_environments_quick(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert environments.main([name, "--only", "00_"]) == 0
    assert re.search(r"\n\| 00_start_here \| \d+ \|  \|\n\nPython 3", capsys.readouterr().out)


def at_least(values: list[float], least: float) -> int:
    """Count the values that are not below a bound."""
    return sum(value >= least for value in values)


@pytest.mark.parametrize(
    ("values", "survives"), [([1.0, 3.0, 4.0], True), ([1.0, 2.0, 3.0, 4.0], False)]
)
def test_a_mutant_that_no_probe_tells_apart_is_found(values: list[float], survives: bool) -> None:
    exercise = Exercise(at_least, number, "Counted.", probes=lambda _: [(values, 2.0)])
    left = mutants.survivors(exercise, seeds=[0, 1])
    assert any("value > least" in source for source in left) == survives
    assert not any("value <= least" in source for source in left)
