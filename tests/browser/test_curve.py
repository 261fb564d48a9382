"""The live curve by hand: what it draws, what it says, and what its button does."""

import pytest

from cloze.training import Record, TrainingRun
from cloze.widgets.curve import TrainingCurve
from tests.browser.conftest import Take
from tests.markup import check, said_by
from tests.widgets.test_curve import small_run


@pytest.fixture
def run() -> TrainingRun:
    return small_run()


def test_it_tells_a_screen_reader_when_it_measures_and_ends(hand: Take, run: TrainingRun) -> None:
    curve = TrainingCurve(run, {"<b>unigram": 2.8}, line="the [qu]ick")
    driven = hand(curve)
    curve.action = "Stop"
    driven.tell()
    curve.on_record = lambda record: curve.stop() if record.step == 5 else None
    curve.train()
    driven.tell()
    assert said_by(driven).startswith("stopped: step 5 of 12, training loss ")
    assert " of 2 gaps right: the " in said_by(driven)
    curve.action = "Stop"
    driven.tell()
    curve.measured = [*curve.measured, (6, 3.0)]
    driven.tell()
    assert said_by(driven) == curve.words
    curve.failure = "Training failed: ValueError: the disk is full"
    driven.tell()
    assert driven.problem == curve.failure


def test_the_picture_holds_every_number_and_no_markup_from_names(
    hand: Take, run: TrainingRun
) -> None:
    run.history = [
        Record(n, n * 64, n * 0.1, 3 / n, 2.0 if n == 12 else None) for n in range(1, 13)
    ]
    page = check(hand(TrainingCurve(run, {"<b>unigram": 2.80})))
    [name] = page.select(".curve .level")
    assert name.get_text() == "<b>unigram 2.80"
    [dot] = page.select(".dot")
    assert str(dot["d"]).startswith(f"M100.00 {100 * (1 - 2 / 3.6):.2f}L")
    [training] = page.select(".curve path.training")
    assert len(str(training["d"]).split("L")) == 12


def test_what_is_right_is_marked(hand: Take, run: TrainingRun) -> None:
    curve = TrainingCurve(run, line="the [qu]ick f[o]x")
    driven = hand(curve)
    [line] = check(driven).select(".filling")
    assert line.get_text().strip().endswith("??ick f?x")
    assert "with gaps" in line["aria-label"]
    curve.filled = ["q", " ", "e"]
    driven.tell()
    [line] = check(driven).select(".filling")
    assert line["aria-label"] == "1 of 3 gaps right: the q ick fex"
    assert [each.get_text() for each in line.select(".hit")] == ["q"]
    assert [each.get_text() for each in line.select(".miss")] == ["\xa0", "e"]


def test_a_slider_goes_through_a_recorded_run_and_then_through_one_s_own(
    hand: Take, run: TrainingRun
) -> None:
    recorded = [(0, 3.4, " z"), (3, 2.0, "qz"), (12, 1.0, "qu")]
    driven = hand(TrainingCurve(run, {"unigram": 2.8}, line="the [qu]ick", recorded=recorded))

    def at(value: int) -> str:
        driven.act("seek", value=str(value))
        return str(check(driven).select("[type=range]")[0]["aria-valuetext"])

    noise = at(0)
    assert noise.endswith("watch it learn): 0 of 2 gaps right: the  zick")
    assert "passed" not in driven.html
    assert at(40).endswith("after 3 steps, held-out loss 2.00 nats: 1 of 2 gaps right: the qzick")
    assert "letters 2.80, passed" in str(check(driven).select(".curve")[0]["aria-label"])
    driven.tell(points=[(1, 3.3)], filled=["x", "x"], words="step 1 of 12", action="Stop")
    driven.tell(points=[(9, 1.9)], filled=["q", "x"], words="step 9 of 12")
    assert at(30) == "Your run after 1 step: 0 of 2 gaps right: the xxick"
    assert at(64) == "step 9 of 12: 1 of 2 gaps right: the qxick", "it follows again"
    driven.tell(points=[], filled=[], words="step 0 of 12", action="Train mine")
    assert at(0) == noise
