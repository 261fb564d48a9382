"""Causal models as the explorer asks them: Bayes' rule, or the left side alone."""

from __future__ import annotations

import math

import pytest
import torch

from cloze.causal import log_posterior, log_probs, next_distribution, text_costs
from cloze.causal_predictor import CausalPredictor
from cloze.vocabulary import BEGIN, END, VOCABULARY
from tests.core.test_causal import MODEL, WORDS, small


def test_one_gap_is_answered_by_bayes_and_paid() -> None:
    line = "the cat sat"
    answer = CausalPredictor(MODEL).predict(tuple(line), [5])
    expected = log_posterior(MODEL, VOCABULARY.encode(line), [5]).exp()
    assert answer[5] == pytest.approx(expected.tolist(), abs=1e-5)
    assert answer.cost(5) == pytest.approx(-math.log(expected[VOCABULARY.ids["a"]]), abs=1e-4)


def test_the_left_side_reads_no_further() -> None:
    left = CausalPredictor(MODEL, right=False)
    answer = left.predict(tuple("the cat sat"), [5])
    assert answer[5] == pytest.approx(next_distribution("the c", MODEL).tolist(), abs=1e-5)
    assert answer == left.predict(tuple("the cxxxxxx".replace("x", "a", 1)), [5])
    assert left.surprise("the cat") == pytest.approx(
        text_costs("the cat", MODEL).tolist(), abs=1e-4
    )


def test_two_gaps_are_the_margins_of_their_joint_guess() -> None:
    by_bayes = CausalPredictor(MODEL)
    line, gaps = tuple("the _at"), [4, 6]
    joint = torch.tensor(by_bayes.joint(line, gaps, 4, 6))
    answer = by_bayes.predict(line, gaps)
    assert answer[4] == pytest.approx(joint.sum(1).tolist(), abs=1e-5)
    assert answer[6] == pytest.approx(joint.sum(0).tolist(), abs=1e-5)
    assert answer.cost(4) is None
    # From the left: what the first may hold, judged by the a that follows it.
    left = CausalPredictor(MODEL, right=False).predict(line, gaps)
    first = next_distribution("the ", MODEL)
    assert left[4] == pytest.approx(first.tolist(), abs=1e-5)
    a = VOCABULARY.ids["a"]
    fits = torch.stack([next_distribution(f"the {c}", MODEL)[a] for c in VOCABULARY.ordinary])
    then = torch.stack([next_distribution(f"the {c}a", MODEL) for c in VOCABULARY.ordinary])
    shares = first * fits / (first * fits).sum()
    assert left[6] == pytest.approx((shares @ then).tolist(), abs=1e-5)


def test_words_stand_between_begin_and_end() -> None:
    model = small(WORDS)
    answer = CausalPredictor(model).predict(("the", "cat", "sleeps"), [1])
    framed = torch.tensor([WORDS.ids[s] for s in (BEGIN, "the", "cat", "sleeps", END)])
    expected = log_posterior(model, framed, [2]).exp()
    assert answer[1] == pytest.approx(expected.tolist(), abs=1e-5)


def test_from_the_left_nobody_knows_that_a_sentence_ends() -> None:
    model = small(WORDS)
    answer = CausalPredictor(model, right=False).predict(("the", "cat"), [1])
    framed = torch.tensor([WORDS.ids[s] for s in (BEGIN, "the", "cat")])
    expected = log_probs(model, framed[None])[0, 2, : WORDS.n_ordinary].softmax(0)
    assert answer[1] == pytest.approx(expected.tolist(), abs=1e-5)


def test_nothing_masked_is_no_question() -> None:
    assert CausalPredictor(MODEL).predict(tuple("cat"), []).positions == ()


def test_three_gaps_are_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"3 gaps are 28\^3 = 21,952 lines to score; mask at most"):
        CausalPredictor(MODEL).predict(tuple("cat"), [0, 1, 2])
