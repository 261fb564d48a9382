"""What an unmasking computes in Python: its frames and its state."""

import pytest
import torch

from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.lessons.writing_with_gaps.unmasking import GIVEN, OPEN, REMASKED, frames
from cloze.lessons.writing_with_gaps.widget import Unmasking
from cloze.masking import seeded
from cloze.prediction.generation import POLICIES, write
from cloze.vocabulary import GAP, VOCABULARY
from cloze.world import World

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


@pytest.mark.parametrize("policy", POLICIES)
def test_the_last_frame_is_what_the_policy_writes(policy: str) -> None:
    *_, last = frames(MODEL, LINE, policy, 1.0, seed=3)
    ids = VOCABULARY.encode(LINE.replace(GAP, "[MASK]"))[None]
    written = write(MODEL, ids, policy, temperature=1.0, generator=seeded(3))
    assert "".join(last.line) == VOCABULARY.decode(written[0])


def test_frames_show_what_has_become_of_each_position() -> None:
    first, second, *rest = frames(MODEL, LINE, "left to right", 0.0)
    assert "".join(first.line) == LINE
    assert first.fates == tuple(OPEN if c == GAP else GIVEN for c in LINE)
    assert second.new() == [LINE.index(GAP)]
    assert [frame.new() for frame in rest] == [[9], [10], [15]]
    assert 0 < second.probabilities[5] <= 1
    assert sum(second.probabilities) == second.probabilities[5]
    for given, *_, shown in zip(LINE, first.line, rest[-1].line, strict=True):
        assert given in (GAP, shown)


def test_what_is_remasked_is_a_gap_again() -> None:
    steps = [*frames(MODEL, "_" * 12, "mask-predict", 0.0)]
    again = [frame.fates.count(REMASKED) for frame in steps]
    assert again[1] > again[-2] > again[-1] == 0
    for frame in steps[1:]:
        for symbol, fate in zip(frame.line, frame.fates, strict=True):
            assert (symbol == GAP) == (fate in (OPEN, REMASKED))


def test_a_page_without_python_continues_only_with_the_shipped_model() -> None:
    player = Unmasking(LINE, MODEL, "left to right", 0)
    assert repr(player) == f"Unmasking({LINE!r}, left to right, T = 0, step 0)"
    assert player.alone() is None
    chosen = {"line": LINE, "policy": "left to right", "temperature": 0.0, "seed": 0}
    assert Unmasking(policy="left to right", temperature=0, line=LINE).alone() == chosen
    with pytest.raises(ValueError, match="policy is text among"):
        Unmasking(LINE, MODEL, "any")


def test_words_of_a_small_world_are_written_as_words() -> None:
    player = Unmasking("the _ _", small(WORLD), temperature=0)
    player.at = 2
    assert len(player.text.split()) == 3
    assert set(player.text.split()) <= set(WORLD.vocabulary.ordinary)
