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
    [name] = [each for each in page.select(".curve .end") if "unigram" in each.get_text()]
    assert name.get_text() == "<b>unigram 2.80"
    [dot] = page.select("circle")
    assert float(str(dot["cx"])) == 720 - 12
    below = 320 - 40
    assert float(str(dot["cy"])) == pytest.approx(below - (below - 12) * 2 / 3.6, abs=0.1)
    [training] = page.select("polyline.training")
    assert len(str(training["points"]).split()) == 12


def test_what_is_right_is_marked(hand: Take, run: TrainingRun) -> None:
    curve = TrainingCurve(run, line="the [qu]ick f[o]x")
    driven = hand(curve)
    [line] = check(driven).select(".filling")
    assert line.get_text().strip().endswith("▒▒ick f▒x")
    assert "with gaps" in line["aria-label"]
    curve.filled = ["q", " ", "e"]
    driven.tell()
    [line] = check(driven).select(".filling")
    assert line["aria-label"] == "1 of 3 gaps right: the q ick fex"
    assert [each.get_text() for each in line.select(".hit")] == ["q"]
    assert [each.get_text() for each in line.select(".miss")] == ["␣", "e"]


def test_it_names_the_plateau_and_shows_what_a_loss_looks_like(
    hand: Take, run: TrainingRun
) -> None:
    words = [[["a", False], ["b", True]], [["c", True]]]
    examples = {"lines": [words], "filled": [(2.6, [["b", " "]]), (0.9, [["b", "c"]])]}
    curve = TrainingCurve(run, {"unigram": 2.8}, plateau=2.62, examples=examples)
    page = check(hand(curve))
    [picture] = page.select("[role=img]:has(svg)")
    assert "plateau: own position 2.62" in picture.get_text()
    heard = "Lines: unigram 2.80; plateau: own position 2.62"
    assert str(picture["aria-label"]).endswith(heard)
    assert [each.get_text() for each in page.select(".levels p")] == ["2.6 nats", "0.9 nats"]
    told = [each["aria-label"] for each in page.select(".levels .filling")]
    assert told == ["1 of 2 gaps right: ab  ", "2 of 2 gaps right: ab c"]
