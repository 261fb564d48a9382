"""Causal models: no leak, the chain rule, writing, and gaps filled by Bayes' rule."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cloze.encoder import EncoderConfig
from cloze.heads import CausalLM
from cloze.prediction import causal
from cloze.prediction.causal import (
    CausalPredictor,
    fill_by_bayes,
    generate,
    log_posterior,
    log_probs,
    next_distribution,
    text_costs,
)
from cloze.prediction.lines import score
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary

SHAPE: Any = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24}
WORDS = Vocabulary(("barks", "cat", "dog", "sleeps", "the"), (MASK, BEGIN, END, PAD))
few = settings(deadline=None, derandomize=True, max_examples=40)


def small(vocabulary: Vocabulary = VOCABULARY, seed: int = 0) -> CausalLM:
    """Make a causal model with random weights."""
    torch.manual_seed(seed)
    config = EncoderConfig(vocab_size=len(vocabulary), direction="left", max_len=24, **SHAPE)
    return CausalLM(config, vocabulary).eval().requires_grad_(False)


MODEL = small()
lines = st.lists(st.integers(0, 27), min_size=2, max_size=24).map(torch.tensor)


@few
@given(lines, st.data())
def test_nothing_moves_up_to_what_is_changed(line: Tensor, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line) - 1))
    changed = line.clone()
    changed[at] = (line[at] + data.draw(st.integers(1, 27))) % 28
    moved = (MODEL(line[None]) - MODEL(changed[None]))[0, :, :28].abs().amax(1)
    assert not moved[: at + 1].any()
    if at + 1 < len(line):
        assert moved[at + 1] > 0  # what comes next does see it


@few
@given(lines, st.data())
def test_reading_on_equals_reading_at_once(line: Tensor, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(line) - 1))
    read_late = MODEL.one_place_late(line[None])
    first, past = MODEL.extend(read_late[:, :cut])
    second, _ = MODEL.extend(read_late[:, cut:], past)
    torch.testing.assert_close(torch.cat([first, second], 1), MODEL(line[None]))


def test_what_no_text_goes_on_with_is_impossible() -> None:
    assert log_probs(MODEL, torch.zeros(1, 3, dtype=torch.int64))[..., 28].exp().sum() == 0
    model = small(WORDS)
    said = log_probs(model, torch.tensor([[WORDS.ids[BEGIN], 4, 2, 0, WORDS.ids[END]]])).exp()
    for special in (MASK, BEGIN, PAD):
        assert not said[..., WORDS.ids[special]].any()
    assert (said[..., WORDS.ids[END]] > 0).all()


def test_the_cost_of_a_text_is_that_of_its_characters_and_what_score_says() -> None:
    text = "the cat sat"
    costs = text_costs(text, MODEL)
    for i, character in enumerate(text):
        p = next_distribution(text[:i], MODEL)[VOCABULARY.ids[character]]
        assert costs[i].item() == pytest.approx(-math.log(p), abs=1e-4)
    torch.testing.assert_close(score(text, MODEL), costs, atol=1e-4, rtol=1e-4)


# Gaps


def by_brute_force(model: CausalLM, line: Tensor, gaps: list[int]) -> Tensor:
    """Score every filling's whole line, and share."""
    n = model.vocabulary.n_ordinary
    rows = []
    for filling in itertools.product(range(n), repeat=len(gaps)):
        row = line.clone()
        row[gaps] = torch.tensor(filling)
        rows.append(row)
    lines = torch.stack(rows)
    chosen = log_probs(model, lines).gather(2, lines[..., None]).squeeze(2)
    # What a text cannot hold ([BEGIN]) is the same in all lines.
    scores = chosen.masked_fill(chosen.isinf(), 0.0).double().sum(1)
    return scores.log_softmax(0).view([n] * len(gaps)).float()


CHARACTERS = torch.randint(28, (12,), generator=torch.Generator().manual_seed(0))
SENTENCE = torch.tensor([WORDS.ids[BEGIN], 4, 2, 0, WORDS.ids[END]])


@pytest.mark.parametrize(
    ("model", "line", "gaps"),
    [
        *((MODEL, CHARACTERS, gaps) for gaps in ([0], [11], [3, 4], [9, 2])),
        *((small(WORDS), SENTENCE, gaps) for gaps in ([2], [1, 2, 3])),
    ],
)
def test_bayes_equals_brute_force_over_all_fillings(
    model: CausalLM, line: Tensor, gaps: list[int]
) -> None:
    posterior = log_posterior(model, line, gaps)
    expected = by_brute_force(model, line, sorted(gaps))
    torch.testing.assert_close(posterior, expected, atol=1e-4, rtol=1e-4)
    assert posterior.exp().sum().item() == pytest.approx(1, abs=1e-4)


def test_the_size_of_a_batch_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    model, line = small(WORDS), torch.tensor([4, 2, 0, 4, 1, 3])
    whole = log_posterior(model, line, [0, 2, 4])
    monkeypatch.setattr(causal, "LINES_AT_ONCE", 5)
    torch.testing.assert_close(log_posterior(model, line, [0, 2, 4]), whole)


# Under a widget


def test_two_gaps_are_the_margins_of_their_joint_guess() -> None:
    by_bayes = CausalPredictor(MODEL)
    line, gaps = tuple("the _at"), [4, 6]
    joint = by_bayes.joint(line, gaps, 4, 6)
    answer = by_bayes.predict(line, gaps)
    assert answer[4] == pytest.approx(joint.sum(1).tolist(), abs=1e-5)
    assert answer[6] == pytest.approx(joint.sum(0).tolist(), abs=1e-5)
    assert answer.cost(4) is None
    # From the left: what the first may hold, judged by the a that follows it.
    left = CausalPredictor(MODEL, right=False).predict(line, gaps)
    first = next_distribution("the ", MODEL)
    assert left[4] == pytest.approx(first.tolist(), abs=1e-5)
    joint = log_posterior(MODEL, VOCABULARY.encode("the _a_".replace("_", MASK)), [4, 6]).exp()
    assert left[6] == pytest.approx(joint.sum(0).tolist(), abs=1e-5)


def test_words_stand_between_begin_and_end() -> None:
    model = small(WORDS)
    answer = CausalPredictor(model).predict(("the", "cat", "sleeps"), [1])
    framed = torch.tensor([WORDS.ids[s] for s in (BEGIN, "the", "cat", "sleeps", END)])
    expected = log_posterior(model, framed, [2]).exp()
    assert answer[1] == pytest.approx(expected.tolist(), abs=1e-5)
    # From the left nobody knows that a sentence ends.
    answer = CausalPredictor(model, right=False).predict(("the", "cat"), [1])
    framed = torch.tensor([WORDS.ids[s] for s in (BEGIN, "the", "cat")])
    expected = log_probs(model, framed[None])[0, 2, : WORDS.n_ordinary].softmax(0)
    assert answer[1] == pytest.approx(expected.tolist(), abs=1e-5)


# Writing


def test_without_warmth_the_likeliest_is_written() -> None:
    written = generate("ab", 30, temperature=0, model=MODEL)  # more than the model reads at once
    best = [next_distribution(written[:i], MODEL).argmax() for i in range(2, 32)]
    assert written[2:] == VOCABULARY.decode(torch.stack(best))


def test_of_a_long_text_the_end_counts() -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    torch.testing.assert_close(next_distribution(text, MODEL), next_distribution(text[-23:], MODEL))


def test_what_a_causal_model_cannot_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="A text to score has 1 to 24 characters, not 0"):
        text_costs("", MODEL)
    with pytest.raises(ValueError, match="reads the words of a small world"):
        text_costs("a", small(WORDS))
    with pytest.raises(ValueError, match=r"28\^4 = 614,656 ways, and each"):
        fill_by_bayes("____", MODEL)
    with pytest.raises(ValueError, match=r"28\^3 = 21,952 lines to"):
        CausalPredictor(MODEL).predict(tuple("cat"), [0, 1, 2])
