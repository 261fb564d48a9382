"""The live curve: what it draws, says and does when it is clicked."""

import re
import time
from collections.abc import Callable

import pytest

from cloze.corpus import Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.training import Recipe, Record, TrainingRun
from cloze.widgets.curve import BOTTOM, HEIGHT, RIGHT, WIDTH, TrainingCurve, curve_svg, status_line

PIECE = Piece("a", "the quick brown fox jumps over the lazy dog " * 4)


@pytest.fixture
def run() -> TrainingRun:
    config = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=32)
    recipe = Recipe(steps=12, batch_size=2, length=32, evaluations=2)
    return TrainingRun(MaskedLM(config), Corpus((PIECE,), (PIECE,)), recipe)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_train_runs_to_the_end_and_says_so(
    run: TrainingRun, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Record] = []
    curve = TrainingCurve(run, {"uniform": 3.37}, on_record=seen.append)
    assert repr(curve) == "TrainingCurve(step 0 of 12)"
    assert curve.action == "Start"
    curve.train()
    assert seen == run.history
    assert curve.action == "Finished"
    assert "finished: step 12 of 12" in curve.announcement
    assert curve.html.count(status_line(run)) == 3  # beside the picture, in its name, and spoken
    assert capsys.readouterr().out == "Finished: all 12 steps are done.\n"


def test_stop_keeps_everything_and_train_goes_on(
    run: TrainingRun, capsys: pytest.CaptureFixture[str]
) -> None:
    curve = TrainingCurve(run)
    curve.on_record = lambda record: curve.stop() if record.step == 5 else None
    curve.train()
    assert run.step == len(run.history) == 5
    assert curve.action == "Resume"
    assert "Nothing is lost" in capsys.readouterr().out
    curve.train()
    assert run.finished


def test_interrupting_the_kernel_does_the_same(
    run: TrainingRun, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(record: Record) -> None:
        if record.step == 5:
            raise KeyboardInterrupt

    curve = TrainingCurve(run, on_record=interrupt)
    curve.train()
    assert run.step == 5
    assert curve.action == "Resume"
    assert "Stopped after step 5 of 12" in capsys.readouterr().out


def test_clicks_start_stop_and_resume_on_another_thread(run: TrainingRun) -> None:
    curve = TrainingCurve(run)
    curve.on_record = lambda _: time.sleep(0.02)
    curve.act("start")
    wait_until(lambda: run.step >= 2)
    curve.act("start")  # a second start changes nothing
    with pytest.raises(RuntimeError, match="training already"):
        curve.train()
    curve.act("stop")
    wait_until(lambda: curve.action == "Resume")
    assert not run.finished
    curve.act("resume")
    wait_until(lambda: curve.action == "Finished")
    assert [record.step for record in run.history] == list(range(1, 13))


def test_a_failure_on_the_thread_is_shown(run: TrainingRun) -> None:
    def fail(_: Record) -> None:
        raise ValueError("the disk is full")

    curve = TrainingCurve(run, on_record=fail)
    curve.act("start")
    wait_until(lambda: "Training failed: ValueError: the disk is full" in curve.html)
    assert curve.action == "Resume"


def test_the_picture_holds_every_number_and_no_markup_from_names() -> None:
    history = [
        Record(n, n * 64, n * 0.1, 3 / n, 2.0 / n if n == 10 else None) for n in range(1, 11)
    ]
    svg = curve_svg(history, 10, {"<b>unigram": 2.80})
    assert "&lt;b&gt;unigram 2.80" in svg
    assert svg.count("<circle") == 1
    numbers = [float(x) for x in re.findall(r'(?:cx|cy)="([\d.]+)"', svg)]
    right = WIDTH - RIGHT
    below = HEIGHT - BOTTOM
    assert numbers == [right, pytest.approx(below - (below - 12) * 0.2 / 3.6, abs=0.1)]


def test_an_empty_history_can_be_drawn_and_told(run: TrainingRun) -> None:
    assert "<polyline" not in curve_svg([], 10, {})
    assert status_line(run) == "step 0 of 12"
