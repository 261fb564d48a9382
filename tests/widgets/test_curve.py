"""The live curve in Python: what it holds for the browser to draw, and how training is stopped."""

import copy
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from cloze.corpus import Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.objectives import MASKED
from cloze.prediction.shipped import shipped_model
from cloze.training import Recipe, Record, TrainingRun, fit
from cloze.widgets.curve import Filling, TrainingCurve, averaged, status_line

PIECE = Piece("a", "the quick brown fox jumps over the lazy dog " * 4)


def small_run() -> TrainingRun:
    config = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=32)
    recipe = Recipe(steps=12, batch_size=2, length=32, evaluations=2)
    return TrainingRun(MaskedLM(config), Corpus((PIECE,), (PIECE,)), recipe)


@pytest.fixture
def run() -> TrainingRun:
    return small_run()


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
    assert curve.words == status_line(run)
    assert curve.points == [(record.step, record.loss) for record in run.history]
    assert len(curve.measured) == 2
    assert capsys.readouterr().out == "Finished: all 12 steps are done.\n"


def test_stop_keeps_everything_and_train_goes_on(
    run: TrainingRun, capsys: pytest.CaptureFixture[str]
) -> None:
    curve = TrainingCurve(run)
    curve.on_record = lambda record: curve.stop() if record.step == 5 else None
    curve.train()
    assert run.step == len(run.history) == 5
    assert curve.action == "Resume"
    assert curve.words.endswith(" seconds"), "and not how many are left"
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
    curve.answer_start()
    wait_until(lambda: run.step >= 2)
    curve.answer_start()  # a second start changes nothing
    with pytest.raises(RuntimeError, match="training already"):
        curve.train()
    curve.stop()
    wait_until(lambda: curve.action == "Resume")
    assert not run.finished
    curve.answer_start()
    wait_until(lambda: curve.action == "Finished")
    assert [record.step for record in run.history] == list(range(1, 13))


def test_a_failure_on_the_thread_is_shown(run: TrainingRun) -> None:
    def fail(_: Record) -> None:
        raise ValueError("the disk is full")

    curve = TrainingCurve(run, on_record=fail)
    curve.answer_start()
    wait_until(lambda: curve.failure == "Training failed: ValueError: the disk is full")
    assert curve.action == "Resume"


def test_neighbouring_steps_are_averaged() -> None:
    history = [Record(n, n * 64, n * 0.1, float(n), None) for n in range(1, 6)]
    assert averaged(history, 300) == [(2, 1.5), (4, 3.5), (5, 5.0)]
    assert averaged([], 10) == []


def test_filling_a_line_changes_nothing_of_the_training(
    run: TrainingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cloze.widgets.curve.UPDATES_PER_SECOND", 1e9)
    alone = TrainingRun(copy.deepcopy(run.model), run.corpus, run.recipe)
    for _ in fit(alone, progress=False):
        pass
    curve = TrainingCurve(run, line="the [qu]ick")
    curve.train()
    assert len(curve.filled) == 2
    assert [record.loss for record in run.history] == [record.loss for record in alone.history]


def test_a_model_of_characters_has_a_line_unless_it_learns_something_else() -> None:
    corpus = Corpus.load()
    for objective, n in ((MASKED, 10), (replace(MASKED, head=False), 0)):
        curve = TrainingCurve(TrainingRun(MaskedLM(), corpus, Recipe(steps=1), objective))
        assert sum(hidden for word in curve.line for _, hidden in word) == n


def test_a_line_of_words_has_its_words_hidden() -> None:
    model = shipped_model("world")
    filling = Filling(model, "the [dog] liked [the] red ball")
    assert [word for [word] in filling.words if word[1]] == [("dog", True), ("the", True)]
    assert len(filling.filled()) == 2


def test_a_line_that_cannot_be_filled_is_told(run: TrainingRun) -> None:
    for line, told in (
        ("no gap", "Nothing of 'no gap' is hidden; put brackets"),
        ("Caf[e]", "'C' at position 0 is not among the 29 symbols"),
        ("a[b]" * 20, "has 40 symbols, but this encoder reads at most"),
    ):
        with pytest.raises(ValueError, match=told):
            TrainingCurve(run, line=line)


def test_a_page_can_train_what_python_has_not_begun(run: TrainingRun) -> None:
    recorded = [(0, 3.4, "z "), (12, 1.0, "qu")]
    curve = TrainingCurve(run, {"uniform": 3.36730}, line="the [qu]ick", recorded=recorded)
    still, alone = curve.still(), curve.alone()
    assert still is not None
    assert "After 0 steps, 3.40 nats: the z ick" in still
    assert alone is not None
    assert alone["recorded"] == recorded
    assert alone["text"] == f"{PIECE.text}\n{PIECE.text[:160]}"
    assert alone["heldOut"] == 160, "whole windows of 32"
    assert (alone["masked"], alone["baselines"]) == ("the __ick", {"uniform": 3.3673})
    corpus = Corpus.load()
    alone = TrainingCurve(TrainingRun(MaskedLM(), corpus)).alone()
    assert alone is not None
    assert alone["text"] is None, "which the page has"
    run.train_step()
    began = TrainingCurve(run, line="the [qu]ick")
    other = TrainingCurve(TrainingRun(MaskedLM(), corpus, objective=replace(MASKED)))
    long = Corpus(corpus.train[:5], corpus.held_out[:1])
    for curve in (began, other, TrainingCurve(TrainingRun(MaskedLM(), long))):
        assert curve.alone() is None
