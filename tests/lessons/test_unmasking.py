"""The widget that plays the unmasking: frames, steps, playing and pausing, what it says."""

import time

import pytest
import torch

from cloze.encoder import EncoderConfig
from cloze.generation import POLICIES, write
from cloze.heads import MaskedLM
from cloze.lessons.writing_with_gaps import unmasking
from cloze.lessons.writing_with_gaps.unmasking import GIVEN, OPEN, Unmasking, frames
from cloze.masking import seeded
from cloze.vocabulary import GAP, VOCABULARY
from cloze.world import World
from tests.markup import check, said_by

LINE = "the c_t s__ on _he mat"
WORLD = World({"the dog barks": 0.5, "the cat sleeps": 0.5})


def small(world: World | None = None) -> MaskedLM:
    torch.manual_seed(0)
    config = EncoderConfig(
        d_model=16,
        n_heads=2,
        d_ff=24,
        vocab_size=29 if world is None else len(world.vocabulary),
        max_len=64 if world is None else world.max_len,
    )
    vocabulary = VOCABULARY if world is None else world.vocabulary
    return MaskedLM(config, vocabulary).eval().requires_grad_(False)


MODEL = small()


def wait_until_done(widget: Unmasking) -> None:
    deadline = time.monotonic() + 20
    while widget.playing:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(unmasking.SPEEDS, "medium", 500.0)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_last_frame_is_what_the_policy_writes(policy: str) -> None:
    *_, last = frames(MODEL, LINE, policy, 1.0, seed=3)
    ids = VOCABULARY.encode(LINE.replace(GAP, "[MASK]"))[None]
    written = write(MODEL, ids, policy, temperature=1.0, generator=seeded(3))
    assert "".join(last.line) == VOCABULARY.decode(written[0])


def test_frames_say_what_has_become_of_each_position() -> None:
    first, second, *rest = frames(MODEL, LINE, "left to right", 0.0)
    assert "".join(first.line) == LINE
    assert first.fates == tuple(OPEN if c == GAP else GIVEN for c in LINE)
    assert second.new() == [LINE.index(GAP)]
    assert [frame.new() for frame in rest] == [[9], [10], [15]]
    assert 0 < second.said[5] <= 1
    assert sum(second.said) == second.said[5]
    for given, *_, shown in zip(LINE, first.line, rest[-1].line, strict=True):
        assert given in (GAP, shown)


def test_what_is_remasked_is_a_gap_again() -> None:
    steps = [*frames(MODEL, "_" * 12, "mask-predict", 0.0)]
    again = [frame.fates.count(unmasking.REMASKED) for frame in steps]
    assert again[1] > again[-2] > again[-1] == 0
    for frame in steps[1:]:
        for symbol, fate in zip(frame.line, frame.fates, strict=True):
            assert (symbol == GAP) == (fate in (OPEN, unmasking.REMASKED))


def test_words_of_a_small_world_are_written_as_words() -> None:
    widget = Unmasking("the _ _", small(WORLD), temperature=0)
    for _ in range(2):
        widget.act("step")
    assert len(widget.text.split()) == 3
    assert set(widget.text.split()) <= set(WORLD.vocabulary.ordinary)


def test_what_is_dropped_from_a_line_is_told() -> None:
    widget = Unmasking(LINE, MODEL)
    widget.act("line", typed="12 ca_ 34")
    assert said_by(widget) == "1 gap, easiest first, seed 0 (4 characters dropped)."


def test_every_control_works() -> None:
    for control in check(Unmasking(LINE, MODEL)).select("button[data-do]:not([aria-disabled])"):
        widget = Unmasking(LINE, MODEL)
        before = widget.html
        value = control.get("data-with-value")
        widget.act(str(control["data-do"]), **({} if value is None else {"value": value}))
        assert widget.problem == ""
        check(widget)
        assert widget.html != before or control.get("aria-pressed") == "true"
        widget.close()


def test_steps_go_on_and_back_and_say_so() -> None:
    widget = Unmasking(LINE, MODEL, "left to right", 0.0)
    assert said_by(widget) == "4 gaps, left to right, seed 0."
    widget.act("step")
    assert said_by(widget).startswith(f"Step 1: {widget.frame.line[5]} at 5 with ")
    widget.act("step")
    two = widget.frame
    widget.act("back")
    widget.act("step")
    assert widget.frame == two
    for _ in range(3):
        widget.act("step")
    assert said_by(widget) == f"Done after 4 steps: {widget.text}"
    assert GAP not in widget.text
    widget.act("restart")
    assert widget.text == LINE
    assert check(widget).select_one(".text b").get_text() == LINE  # type: ignore[union-attr]


@pytest.mark.usefixtures("quick")
def test_a_model_that_fails_ends_the_playing_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small()
    widget = Unmasking("_" * 60, model, "left to right")

    def broken(*_: object) -> None:
        raise RuntimeError("my layer is broken")

    monkeypatch.setattr(model, "logits_at", broken)
    widget.act("play")
    wait_until_done(widget)
    assert widget.problem == "RuntimeError: my layer is broken"


@pytest.mark.parametrize(
    ("action", "along", "message"),
    [
        ("line", {"typed": "no gap"}, "The line has no gap; put a _"),
        ("line", {"typed": "_" * 65}, "shorten it"),
    ],
)
def test_what_cannot_be_begun_is_told_and_changes_nothing(
    action: str, along: dict[str, str], message: str
) -> None:
    widget = Unmasking(LINE, MODEL)
    widget.act("step")
    before = widget.frame
    widget.act(action, **along)
    assert message in widget.problem
    assert widget.frame == before
    assert widget.line == LINE
