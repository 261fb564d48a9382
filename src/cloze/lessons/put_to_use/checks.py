"""The exercises of notebook 11."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from cloze.lessons.put_to_use import tasks
from cloze.prediction.shipped import shipped_model
from cloze.tasks.finetuning import FineTuning, answers, finetune
from cloze.tasks.heads import TokenClassifier
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, number, numbers, tensor, wrong_kind
from cloze.vocabulary import normalise
from cloze.world import World

# ── 11.1 ─────────────────────────────────────────────────────────────────────────────────────────


def my_mean_pool(states: Tensor, padding: Tensor) -> Tensor:
    """Average states ``(batch, length, d)`` over what is not padding: ``(batch, d)``."""
    real = ~padding[..., None]
    return (states * real).sum(1) / real.sum(1)


def states_and_padding(chance: Chance) -> Probes:
    """Make hidden states of some lines and where their padding is."""
    for lengths in ([3, 5, 2], [4, 1], [6, 6, 3, 2], [4, 4], [3]):
        most = max(lengths) + (1 if lengths[-1] in (1, 3) else 0)
        padding = torch.arange(most)[None] >= torch.tensor(lengths)[:, None]
        states = torch.randn(len(lengths), most, 4, generator=chance.torch)
        states[0, 0, 0] = 0.0  # a state may hold a 0 and is still not padding
        yield states, padding


check_my_mean_pool = Exercise(
    solution=my_mean_pool,
    minutes=10,
    wants=tensor(torch.float32),
    probes=states_and_padding,
    solved="Now padding no longer changes what you say about a line.",
    direction="Multiply by ~padding[..., None], add up along dim 1, divide by how many are real.",
)

# ── 11.2 ─────────────────────────────────────────────────────────────────────────────────────────

Names = Sequence[set[tuple[str, int, int]]]
"""By line, the names in it: kind, first and last position."""


def name_f1(true: Names, said: Names) -> float:
    """Return 2 · right / (there + found), over all lines together; 0 if there is nothing."""
    right = sum(len(a & b) for a, b in zip(true, said, strict=True))
    total = sum(map(len, true)) + sum(map(len, said))
    return 2 * right / total if total else 0.0


def names_in_lines(chance: Chance) -> Probes:
    """Make lines with names, and what a model might have found."""
    yield (
        [{("PER", 0, 1), ("LOC", 4, 4)}, {("PER", 0, 1)}, set()],
        [{("PER", 0, 1), ("PER", 4, 4)}, {("PER", 0, 0)}, {("PER", 0, 1)}],
    )
    yield [{("LOC", 2, 3)}, set()], [set(), set()]
    yield [{("LOC", 2, 3)}], [{("PER", 2, 3)}]
    yield [{("LOC", 2, 3)}, {("PER", 0, 1)}], [{("PER", 0, 1)}, {("LOC", 2, 3)}]
    yield [set()], [set()]
    for _ in range(3):
        true: list[set[tuple[str, int, int]]] = []
        said: list[set[tuple[str, int, int]]] = []
        for _ in range(chance.randint(3, 5)):
            starts = chance.sample(range(0, 20, 3), 4)
            there = [(chance.choice(["PER", "LOC"]), s, s + chance.randint(0, 2)) for s in starts]
            true.append(set(there[: chance.randint(1, 3)]))
            wrong = {"PER": "LOC", "LOC": "PER"}[there[0][0]], *there[0][1:]
            said.append({*there[chance.randint(0, 1) : 4], chance.choice([wrong, there[0]])})
        said[0] = true[0] | {("LOC", 30, 30)}
        true[1], said[1] = set(), set()
        yield true, said


check_name_f1 = Exercise(
    solution=name_f1,
    minutes=12,
    wants=number,
    probes=names_in_lines,
    solved="This is how seqeval counts, and how systems that find names are compared.",
    direction="Add up right, there and found over all lines; F1 is 2 · right / (there + found).",
)

# ── 11.3 ─────────────────────────────────────────────────────────────────────────────────────────


def my_best_span(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    """Return first and last position, in this order, with the greatest start + end."""
    n = len(start)
    spans = [(i, j) for i in range(n) for j in range(i, n)]
    return max(spans, key=lambda span: start[span[0]] + end[span[1]])


def starts_and_ends(chance: Chance) -> Probes:
    """Make logits of starts and ends, some with the greatest end before the greatest start."""
    yield from (
        ([0.5, 1.0, 4.0, 0.0], [0.3, 5.0, 1.0, 0.2]),
        ([3.0, 0.1, 0.2], [2.0, 0.4, 1.0]),
        ([0.0, -1.0, 6.0, 5.5, -2.0], [-3.0, 8.5, 1.0, 2.0, -4.0]),
        ([-1.0, 2.0, 0.0, 1.9], [-1.0, -1.0, -1.5, 4.0]),
        ([-3.0, -2.0, -1.0, -4.0], [-2.5, -1.5, -3.5, -0.5]),  # logits may all be negative
        ([-4.0, -2.0, -3.0], [-5.0, -1.0, -6.0]),
        ([-1.0], [-2.0]),
    )
    for length in (5, 7, 9, 6):
        yield tuple([round(chance.gauss(0, 3), 3) for _ in range(length)] for _ in range(2))
    for _ in range(3):  # here the two are best apart
        length = chance.randint(5, 8)
        start, end = ([round(chance.uniform(0, 2), 3) for _ in range(length)] for _ in range(2))
        start[length - 2] += 3
        end[1] += 3
        yield start, end


check_my_best_span = Exercise(
    solution=my_best_span,
    minutes=15,
    wants=numbers("start", "end"),
    probes=starts_and_ends,
    solved="No answer ends before it begins.",
    direction="Go through all pairs i ≤ j and keep the one with the greatest start[i] + end[j].",
)

# ── 11.4 ─────────────────────────────────────────────────────────────────────────────────────────


@cache
def _world() -> World:
    return World.load()


@cache
def tagger() -> TokenClassifier:
    """Train the notebook's tagger of roles, from the same 16 sentences and the same seed."""
    world, encoder = _world(), shipped_model("world").encoder
    learned, _ = tasks.role_task(world).split(16)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = TokenClassifier(encoder, world.vocabulary, len(tasks.ROLES))
        finetune(model, *learned, FineTuning(epochs=20, batch_size=8, learning_rate=0.01))
    return model


def sentence_with_roles(value: Any) -> tuple[list[str], list[str]]:
    """Read a sentence of the small world: its words and their roles."""
    if not isinstance(value, str):
        raise wrong_kind(value, "one sentence, a text in quotes")
    sentence = normalise(value).text.strip()
    if sentence not in _world().sentences:
        raise Symptom(
            "The grammar of this world cannot write your sentence, so nobody can say which roles "
            "are right. `world.sentences` holds all that it can write."
        )
    return sentence.split(), tasks.roles(sentence)


def _judge_fooling(answer: Any) -> str:
    words, true = sentence_with_roles(answer)
    logits = answers(tagger(), _world().encode(" ".join(words))[None])
    said = [tasks.ROLES[i] for i in logits.argmax(-1)[0, 1:-1].tolist()]
    both = list(zip(words, said, true, strict=True))
    wrong = ", ".join(f"*{word}* as {a} instead of {b}" for word, a, b in both if a != b)
    if not wrong:
        raise Symptom(
            "The tagger is right about every word. At which place was *who* in the sentences that "
            "it learned from? Try a sentence with another word at that place."
        )
    if any(a == b == "who" for _, a, b in both):
        raise Symptom(f"The tagger marks {wrong}. But it finds *who*: make it miss that word.")
    if "who" not in said:
        raise Symptom(
            f"The tagger marks {wrong}. But it calls no word *who*: make it choose a wrong one."
        )
    return f"The tagger marks {wrong}."


check_fooling = Exercise(
    solution="on friday the teacher studied the small blue leaf under the microscope again",
    minutes=10,
    wants=sentence_with_roles,
    judge=_judge_fooling,
    solved="Sixteen sentences had *who* in few places, and the tagger has learned the places.",
)
