"""Infilling by one stack: who sees whom, what is paid, what is written."""

from __future__ import annotations

import pytest
import torch

from cloze.encoder import EncoderConfig
from cloze.lessons.corrupt_and_repair.corruptions import Corrupted, take_out
from cloze.lessons.corrupt_and_repair.infilling import fill, log_probability
from cloze.lessons.corrupt_and_repair.objective_infilling import (
    INFILLING,
    PrefixLM,
    joined,
    questions,
)
from cloze.masking import seeded
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, WRITE, Vocabulary

LETTERS = INFILLING.vocabulary(VOCABULARY)
SHAPE = EncoderConfig(
    vocab_size=len(LETTERS), max_len=64, d_model=16, n_heads=2, d_ff=24, direction="left"
)
LINE = VOCABULARY.encode("rain fell on the umbrella")


def model(seed: int = 0) -> PrefixLM:
    torch.manual_seed(seed)
    return PrefixLM(SHAPE, LETTERS).eval().requires_grad_(False)


def spoilt(seed: int = 0, length: int = 25) -> Corrupted:
    return take_out(LINE[:length], 0.3, LETTERS, seeded(seed))


def test_what_frames_a_sentence_is_left_out() -> None:
    words = INFILLING.vocabulary(Vocabulary(("a", "b", "c", "d"), (MASK, BEGIN, END, PAD)))
    window = torch.tensor([[words.ids[s] for s in (BEGIN, "a", "b", "c", "d", END, PAD)]])
    ids, _ = questions(window, 0.5, seeded(0), words)
    assert not {words.ids[s] for s in (BEGIN, END)} & {*ids[0].tolist()}


def test_answers_see_all_that_is_read_and_what_is_written_before_them() -> None:
    asked = model()
    ids, labels = joined([spoilt(0), spoilt(1, 12)], LETTERS)
    before = asked(ids)
    for row in range(2):
        targets = (labels[row] >= 0).nonzero().flatten().tolist()
        for at in range(targets[-1] + 1):
            if ids[row, at] == LETTERS.ids[WRITE]:
                continue
            changed = ids.clone()
            changed[row, at] = (changed[row, at] + 1) % 28
            moved = (asked(changed) - before).nan_to_num().abs().amax(2) > 1e-6
            expected = [i for i in targets if at < targets[0] or i > at]
            assert [i for i in targets if moved[row, i]] == expected
            assert not moved[1 - row].any()


def test_a_line_means_the_same_alone_and_in_a_batch() -> None:
    asked = model()
    together = log_probability(asked, [spoilt(0), spoilt(1, 12), spoilt(2, 6)])
    alone = [log_probability(asked, [each]) for each in (spoilt(0), spoilt(1, 12), spoilt(2, 6))]
    torch.testing.assert_close(together, torch.cat(alone))


def test_the_loss_is_the_mean_cost_of_what_is_written() -> None:
    asked, each = model(), [spoilt(0), spoilt(1, 12)]
    paid = -log_probability(asked, each).sum() / sum(len(s.target) for s in each)
    assert INFILLING.loss(asked, joined(each, LETTERS)).item() == pytest.approx(paid.item())
    assert INFILLING.measure(asked, joined(each, LETTERS)) == pytest.approx(paid.item())


def test_what_cannot_be_written_has_no_probability() -> None:
    logits = model()(joined([spoilt()], LETTERS).inputs)
    never = {MASK, WRITE}
    assert all((logits[..., LETTERS.ids[s]] == float("-inf")).all() for s in never)
    assert torch.isfinite(logits[..., LETTERS.ids["<extra_id_0>"]]).all()


def test_fill_takes_the_likeliest_symbol_each_time_and_repeats_with_a_generator() -> None:
    asked, inputs = model(), spoilt().inputs
    written = fill(asked, inputs).target
    for k in range(min(4, len(written))):
        ids, labels = joined([Corrupted(inputs, written[: k + 1])], LETTERS)
        last = (labels >= 0).nonzero()[-1, 1]
        assert asked(ids)[0, last].argmax() == written[k]
    draws = [fill(asked, inputs, temperature=1.0, generator=seeded(3)).target for _ in range(2)]
    assert torch.equal(*draws)
    assert len(written) <= SHAPE.max_len - len(inputs) - 1
