"""Fine-tuning: the loop, the measures, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from cloze.encoder import Encoder, EncoderConfig
from cloze.masking import IGNORE
from cloze.tasks.finetuning import (
    Entity,
    FineTuning,
    accuracy,
    answers,
    entities,
    entity_f1,
    finetune,
    label_loss,
)
from cloze.tasks.heads import FineTuned, SpanExtractor, TextClassifier, TokenClassifier, best_span
from cloze.vocabulary import PAD, VOCABULARY

WITH_PAD = VOCABULARY.with_specials(PAD)
PAD_ID = WITH_PAD.ids[PAD]
SHAPE = EncoderConfig(vocab_size=len(WITH_PAD), max_len=12, d_model=16, n_heads=2, d_ff=24)


def encoder() -> Encoder:
    torch.manual_seed(0)
    return Encoder(SHAPE)


HEADS: dict[str, Callable[[], FineTuned]] = {
    "first": lambda: TextClassifier(encoder(), WITH_PAD, 3, "first"),
    "mean": lambda: TextClassifier(encoder(), WITH_PAD, 3, "mean"),
    "tokens": lambda: TokenClassifier(encoder(), WITH_PAD, 3),
    "spans": lambda: SpanExtractor(encoder(), WITH_PAD),
}
LINES = torch.tensor([[5, 6, 7, 8, 9, 10], [3, 4, 5, PAD_ID, PAD_ID, PAD_ID]])
each_head = pytest.mark.parametrize("head", HEADS)


def model_of(head: str) -> FineTuned:
    torch.manual_seed(1)
    return HEADS[head]()


@each_head
def test_padding_never_leaks(head: str) -> None:
    model = model_of(head).eval()
    expected = model(LINES[1:, :3])
    if head == "tokens":
        expected = torch.nn.functional.pad(expected, (0, 0, 0, 3), value=math.nan)
    if head == "spans":
        expected = torch.nn.functional.pad(expected, (0, 3), value=-math.inf)
    known = ~expected.isnan()
    for _ in range(2):
        torch.testing.assert_close(model(LINES)[1:][known], expected[known])
        with torch.no_grad():
            model.encoder.embedding.weight[PAD_ID] += 5


def test_what_was_pretrained_stays_as_it_is() -> None:
    pretrained = encoder().requires_grad_(False)
    before = {name: value.clone() for name, value in pretrained.state_dict().items()}
    model = TokenClassifier(pretrained, WITH_PAD, 3)
    assert all(parameter.requires_grad for parameter in model.parameters())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)
    assert all(torch.equal(value, before[n]) for n, value in pretrained.state_dict().items())


def test_first_is_the_first_position() -> None:
    model = model_of("first").eval()
    states = model.encoder(LINES, LINES == PAD_ID)
    torch.testing.assert_close(model(LINES), model.head(states[:, 0]))


def test_a_span_stands_where_it_may() -> None:
    logits = torch.tensor([[[9.0, 1, 2, 0], [0, 8.0, 1, 3]]])
    assert best_span(logits).tolist() == [[0, 1]]
    assert best_span(logits, torch.tensor([[False, False, True, True]])).tolist() == [[2, 3]]
    with pytest.raises(ValueError, match="no position where a span may stand"):
        best_span(logits, torch.zeros(1, 4, dtype=torch.bool))


LABELS = {
    "first": torch.tensor([0, 2]),
    "mean": torch.tensor([0, 2]),
    "tokens": torch.tensor([[0, 1, 2, 0, 1, 2], [1, 1, 0, IGNORE, IGNORE, IGNORE]]),
    "spans": torch.tensor([[1, 3], [0, 0]]),
}


@each_head
def test_labels_are_learned(head: str) -> None:
    model = model_of(head)
    before = model.encoder.embedding.weight.clone()
    losses = finetune(model, LINES, LABELS[head], FineTuning(epochs=60, batch_size=2))
    assert not torch.equal(model.encoder.embedding.weight, before)
    assert losses[-1] < 0.1 < losses[0]
    logits = answers(model, LINES)
    best = best_span(logits) if head == "spans" else logits.argmax(-1)
    assert accuracy(best, LABELS[head]) == 1
    assert not model.training


def test_a_frozen_encoder_stays() -> None:
    model = model_of("tokens")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    finetune(model, LINES, LABELS["tokens"], FineTuning(epochs=2, freeze=True))
    moved = {n for n, value in model.state_dict().items() if not torch.equal(value, before[n])}
    assert moved == {"head.weight", "head.bias"}
    assert all(parameter.grad is None for parameter in model.encoder.parameters())


def test_the_loss_of_an_epoch_is_the_mean_over_its_lines() -> None:
    model = model_of("mean")
    lines, labels = LINES[[0, 1, 0]], LABELS["mean"][[0, 1, 0]]
    before = float(label_loss(answers(model, lines), labels))
    [loss] = finetune(model, lines, labels, FineTuning(1, 2, 0, 0))  # two lines, then one
    assert loss == pytest.approx(before, rel=1e-5)


def test_bad_labels_lines_and_vocabularies_are_refused() -> None:
    model = model_of("mean")
    with pytest.raises(ValueError, match="a dimension has the same size in all arguments"):
        finetune(model, LINES, torch.tensor([0]))
    with pytest.raises(ValueError, match="No position is selected"):
        finetune(model, LINES, torch.tensor([IGNORE, IGNORE]))
    with pytest.raises(ValueError, match="all padding"):
        finetune(model, torch.full((2, 3), PAD_ID), LABELS["mean"])
    with pytest.raises(ValueError, match="knows 30 symbols and the vocabulary has 31; widen it"):
        TokenClassifier(encoder(), WITH_PAD.with_specials("[SEP]"), 2)


def test_step_sizes_rise_to_their_peak_and_fall_to_nearly_nothing() -> None:
    sizes: list[list[float]] = []
    watch = register_optimizer_step_pre_hook(
        lambda optimizer, *_: sizes.append([group["lr"] for group in optimizer.param_groups])
    )
    how = FineTuning(epochs=20, batch_size=len(LINES))
    finetune(model_of("mean"), LINES, LABELS["mean"], how)
    watch.remove()
    peaks = (how.head_learning_rate, how.learning_rate)
    assert sizes == [
        pytest.approx([peak * factor for peak in peaks])
        for factor in (0.5, *(1 - step / 20 for step in range(1, 20)))
    ]


def test_a_loss_that_is_not_finite_stops_it() -> None:
    model = model_of("mean")
    with torch.no_grad():
        model.head.weight.fill_(math.inf)
    with pytest.raises(FloatingPointError, match="use smaller learning rates"):
        finetune(model, LINES, LABELS["mean"])


# Measures, against cases counted by hand


def test_accuracy() -> None:
    labels = torch.tensor([[0, 1, IGNORE], [2, 2, 2]])
    assert accuracy(torch.tensor([[0, 0, 5], [2, 2, 1]]), labels) == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-PER I-PER O B-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),
        ("I-PER I-PER", [("PER", 0, 1)]),  # as conlleval has it
        ("B-PER I-LOC", [("PER", 0, 0), ("LOC", 1, 1)]),
        ("B-PER O I-PER", [("PER", 0, 0), ("PER", 2, 2)]),
    ],
)
def test_entities_are_read_as_conlleval_reads_them(
    tags: str, expected: list[tuple[str, int, int]]
) -> None:
    assert entities(tags.split()) == [Entity(*one) for one in expected]


def test_f1_is_counted_over_all_lines() -> None:
    # 3 there, 2 found, 1 right: precision 1/2, recall 1/3, F1 2/5.
    true, predicted = [["B-PER", "O", "B-LOC"], ["B-LOC"]], [["B-PER", "O", "O"], ["B-PER"]]
    assert repr(entity_f1(true, predicted)) == "F1 0.40 (precision 0.50, recall 0.33)"
    assert entity_f1([["O"]], [["O"]]) == (0, 0, 0)
    assert entity_f1([["B-PER"]], [["B-LOC"]]) == (0, 0, 0)
    with pytest.raises(ValueError, match="differ in number"):
        entity_f1([["O"]], [["O", "O"]])
