"""The exercises of notebook 04."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from cloze.corpus import DATA, Corpus, Piece
from cloze.heads import MaskedLM
from cloze.lessons.training.laboratory import StepExercise
from cloze.loss import mlm_loss
from cloze.masking import mask_tokens
from cloze.prediction.answers import predict, top_k
from cloze.prediction.shipped import shipped_model
from cloze.reading import read_line
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, number, tensor
from cloze.training import Recipe, TrainingRun, fit
from cloze.vocabulary import VOCABULARY, normalise, visible

# ── 4.1 ──────────────────────────────────────────────────────────────────────────────────────────


def train_step(model: MaskedLM, optimizer: torch.optim.Optimizer, windows: Tensor) -> float:
    """Take one training step on windows ``(batch, length)``, and return its loss."""
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


check_train_step = StepExercise(
    solution=train_step,
    minutes=10,
    wants=number,
    probes=lambda chance: [(chance.getrandbits(31),)],
    solved="Sample, mask, predict, compare, improve: fit does this 1250 times.",
)
"""Mark ``train_step(model, optimizer, windows)``: one step at 30%, returning its loss."""

# ── 4.2 ──────────────────────────────────────────────────────────────────────────────────────────

SURE = 0.8
"""How sure the parrot is of its own letter, and the shipped model of the right one, at least."""

MARKED = 'Write one line with one letter in square brackets, like "a cup of [t]ea".'


@cache
def _four_lines() -> Piece:
    return Piece("sample", normalise((DATA / "sample.txt").read_text("utf-8")).text)


@cache
def _parrot() -> MaskedLM:
    """Train the notebook's parrot, the same way and from the same weights."""
    sample = Corpus((_four_lines(),), (_four_lines(),))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        run = TrainingRun(MaskedLM(), sample, Recipe(steps=100, batch_size=8))
        list(fit(run, progress=False))
    return run.model.eval()


def _judge_trap(answer: Any) -> str:
    """Let both models fill the gap of a line."""
    typed = normalise(answer, keep="[]").text if isinstance(answer, str) else ""
    if not (marked := re.fullmatch(r"([a-z ]*)\[([a-z])\]([a-z ]*)", typed)):
        raise Symptom(MARKED)
    before, letter, after = marked.groups()
    line, at = before + letter + after, len(before)
    if line in _four_lines().text:
        raise Symptom("That is in the parrot's own four lines. Write a line that it has not read.")
    ids, _ = read_line(line)
    by_heart, shipped = (predict(model, ids, [at]) for model in (_parrot(), shipped_model()))
    (guess, sure), (best, most) = (top_k(answer[at], 1)[0] for answer in (by_heart, shipped))
    parrot = f"{typed}: the parrot gives {visible(guess)} {sure:.2f}"
    if guess == letter:
        raise Symptom(
            f"{parrot}, and it is right. Look for another letter beside the gap that reminds it of "
            "one of its own words."
        )
    if sure < SURE:
        raise Symptom(
            f"{parrot}, but it takes {SURE:.2f}. It is surest where the "
            "letters around the gap are those of its own lines. Which letters follow each other in "
            "no other way there?"
        )
    knows = float(shipped[at][VOCABULARY.ids[letter]])
    if knows < SURE:
        instead = f", and {visible(best)} {most:.2f}" if best != letter else ""
        raise Symptom(
            f"{parrot}, so it falls for it. But the shipped model gives your {letter} only "
            f"{knows:.2f}{instead}. It takes {SURE:.2f}. Could another letter be right, too? Put "
            "more of a word around the gap, or a word that gives it away."
        )
    return f"{parrot}, the shipped model {letter} {knows:.2f}."


check_trap = Exercise(
    solution="nothing in this [s]hop is new",
    minutes=10,
    solved="The parrot is sure and wrong: it recites.",
    judge=_judge_trap,
)
"""Mark a line at which the parrot is sure of a wrong letter, and the shipped model of the right."""

# ── 4.3 ──────────────────────────────────────────────────────────────────────────────────────────

LOOPS = ("A", "B", "C")
FORM = 'Answer with the three loops and a number each: {"A": …, "B": …, "C": …}.'

LOOK: Mapping[tuple[str, int], str] = {
    ("A", 1): (
        "Loop A reports nothing at all, so its fault must be in how it learns: compare it with "
        "the step that you wrote. What is missing?"
    ),
    ("A", 3): "Loop A draws new windows and new masks at every step, so there is nothing to learn "
    "by heart: compare it with the step that you wrote. What is missing?",
    ("B", 1): "Loop B reports nothing at all, so its fault must be in how it learns. What comes "
    "before its `for`, and how many different questions does it ask?",
}
"""Where to look, given a loop and a symptom that is not its own."""


def diagnoses(value: Any) -> dict[str, int]:
    """Read a symptom, 1 to 3, for each of the loops."""
    if isinstance(value, Mapping):
        value = {str(loop).strip().upper().removeprefix("LOOP "): value[loop] for loop in value}
    if not isinstance(value, Mapping) or {*value} != {*LOOPS}:
        raise Symptom(f"Your answer is not a dict with the keys A, B and C. {FORM}")
    if len(set(map(str, value.values()))) < len(LOOPS):
        raise Symptom("You give two loops the same symptom; each of 1, 2 and 3 belongs to one.")
    for loop in LOOPS:
        if value[loop] not in (1, 2, 3, "1", "2", "3"):
            raise Symptom(f"For loop {loop} you give {value[loop]!r}; its symptom is 1, 2 or 3.")
    return {loop: int(value[loop]) for loop in LOOPS}


def _judge_diagnosis(answer: Any) -> None:
    given = diagnoses(answer)
    for loop in LOOPS:
        if given[loop] != diagnosis[loop]:
            raise Symptom(LOOK[loop, given[loop]])


diagnosis = {"A": 2, "B": 3, "C": 1}

check_diagnosis = Exercise(
    solution=diagnosis,
    minutes=12,
    wants=diagnoses,
    solved="A never calls zero_grad, B masks only once, C measures on the text it trains on.",
    judge=_judge_diagnosis,
)
"""Mark which broken loop (A, B, C) shows which symptom (1, 2, 3)."""

# ── 4.4 ──────────────────────────────────────────────────────────────────────────────────────────


def logit_gradient(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the gradient of the mean loss at the logits, shapes (n, |V|) and (n,)."""
    selected = labels != -100
    p = logits[selected].softmax(-1)
    truth = one_hot(labels[selected], logits.shape[-1])
    gradient = torch.zeros_like(logits)
    gradient[selected] = (p - truth) / selected.sum()
    return gradient


def logits_and_labels(chance: Chance) -> Probes:
    """Make logits of several shapes; often not all are selected, and 0 is a label."""
    for length, symbols, count in ((6, 5, 3), (4, 7, 1), (9, 4, 5), (3, 6, 3), (1, 4, 1)):
        logits = 2 * torch.randn(length, symbols, generator=chance.torch)
        labels = torch.full((length,), -100)
        at = torch.randperm(length, generator=chance.torch)[:count]
        labels[at] = torch.randint(symbols, (count,), generator=chance.torch)
        labels[at[0]] = 0
        yield logits, labels


check_logit_gradient = Exercise(
    solution=logit_gradient,
    minutes=12,
    wants=tensor(torch.float32),
    probes=logits_and_labels,
    solved="That is where `backward` begins: P − truth. What is too probable is pushed down, and "
    "the truth is pushed up.",
    direction="At a selected position it is softmax(logits) minus 1 at the right symbol, divided "
    "by the number of selected positions. Everywhere else it is 0.",
    without=dict.fromkeys(
        ("backward", "grad", "requires_grad_"),
        "The exercise asks for the formula: compute the gradient without autograd.",
    ),
)
"""Mark ``logit_gradient(logits, labels)``: (P − truth) / |M| where selected, 0 elsewhere."""
