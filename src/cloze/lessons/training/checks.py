"""The exercises of notebook 04."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from cloze.corpus import DATA, Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, mask_tokens
from cloze.prediction.answers import predict, top_k
from cloze.prediction.shipped import shipped_model
from cloze.reading import read_line
from cloze.teaching.exercise import Exercise, Outcomes
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import (
    Function,
    Outcome,
    Probe,
    Symptom,
    alike,
    anything,
    as_plain,
    in_short,
    number,
    tensor,
)
from cloze.teaching.symptoms import ask
from cloze.training import Recipe, TrainingRun, fit
from cloze.vocabulary import VOCABULARY, normalise, visible

# ── 4.1 ──────────────────────────────────────────────────────────────────────────────────────────
# A step is watched in a laboratory: a small model, an optimizer that moves the parameters by RATE
# times their gradient, windows of random characters. Two steps are alike if under equal seeds they
# move the parameters alike and return the same loss. The gradient that arrives at the states tells
# which positions were asked (it is 0 elsewhere), so that a step may also draw in another order.

Optimizer = torch.optim.Optimizer
RATE = 0.5

MODEL = (
    "The model that your step is given is never used: compute the logits with the parameter "
    "`model`, from the inputs that mask_tokens returns."
)
OPTIMIZER = (
    "The parameters are moved, but not by the optimizer that your step is given: use the parameter "
    "`optimizer`. (A new one in each step forgets what AdamW and momentum remember.)"
)
WINDOWS = (
    "Your step should learn from all the windows that it is given, each of them once: mask the "
    "parameter `windows`, do not draw windows yourself, and call the model once."
)
CHANGED = (
    "Your step changes the windows, so the next step would train on [MASK]: leave them as they "
    "are, because mask_tokens returns copies."
)
EVALUATION = (
    "Your model is in evaluation mode while it learns, which switches off dropout in a model that "
    "has it: leave out model.eval(), or call model.train() first."
)
SEVERAL = (
    "Your function takes several steps, and the exercise asks for one; the loop around it calls it "
    "again and again: leave out `for` and `while`."
)
GENERATOR = (
    "Your masks do not come from torch's own generator: leave out manual_seed and generator=…, "
    "because every step needs fresh masks."
)
OTHERWISE = (
    "Your step does not move the parameters as these five calls do: mask_tokens(windows, 0.3), "
    "mlm_loss of the model's logits and the labels, zero_grad, backward, step."
)


def train_step(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    """Take one training step on windows ``(batch, length)``, and return its loss."""
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


def _flat(parameters: Sequence[Tensor]) -> Tensor:
    return torch.cat([p.detach().flatten() for p in parameters])


def _alike(a: Tensor, b: Tensor) -> bool:
    """Whether two rows of numbers are the same, compared with how long they are."""
    return bool((a - b).norm() <= 1e-3 * b.norm())


@dataclass
class Reading:
    """One pass through the encoder: what it read, and what came back to its states."""

    inputs: Tensor
    training: bool
    gradient: Tensor | None = None

    @property
    def asked(self) -> Tensor:
        """The positions that the loss is about, in the shape of what was read."""
        assert self.gradient is not None
        return self.gradient.abs().amax(-1) > 0


@dataclass(eq=False)
class Step:
    """What one call of a training step did."""

    before: Tensor
    moved: Tensor = field(default_factory=lambda: torch.empty(0))
    """The gradient that the parameters were moved by, all of them in one row."""
    loss: Any = None
    """What was returned."""
    readings: list[Reading] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    """``backward`` and ``step``, in the order in which they came."""
    windows_changed: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Step):
            return NotImplemented
        same_loss = alike(as_plain(self.loss), as_plain(other.loss))
        return same_loss and _move_alike([self], [other]) and self.events == other.events

    @property
    def learned_from(self) -> list[Reading]:
        """The passes that a gradient came back to."""
        return [reading for reading in self.readings if reading.gradient is not None]

    @property
    def read(self) -> Tensor:
        """What the model learned from, ``(batch, length)`` if it was all of the windows."""
        return torch.cat([reading.inputs for reading in self.learned_from])

    @property
    def asked(self) -> Tensor:
        """The positions that the loss is about, in the shape of what was read."""
        return torch.cat([reading.asked for reading in self.learned_from])


def _move_alike(a: Sequence[Step], b: Sequence[Step]) -> bool:
    """Whether two rows of steps move the parameters alike."""
    return all(_alike(one.moved, other.moved) for one, other in zip(a, b, strict=True))


class Whole(nn.Embedding):
    """An embedding of another type, with which ``logits_at`` asks the encoder as a whole."""


class Laboratory:
    """A model, an optimizer and windows, drawn with a seed, in which steps can be compared."""

    SHAPE = (20, 48)
    """Of the windows, other than in the notebook."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - no secret
        self.seed, first, second = (chance.getrandbits(31) for _ in range(3))
        self.seeds_of_steps = first, second, second
        generator = torch.Generator().manual_seed(chance.getrandbits(31))
        self.windows = torch.randint(VOCABULARY.n_ordinary, self.SHAPE, generator=generator)

    def model(self) -> MaskedLM:
        """Make the model, the same at each call."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            model = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16))
        weight = model.encoder.embedding.weight
        model.encoder.embedding = Whole(len(weight), weight.shape[1], _weight=weight.detach())
        return model

    def observe(self, step: Function) -> list[Step]:
        """Take three steps from the same parameters, the last two of them under equal seeds."""
        model = self.model()
        parameters = list(model.parameters())
        optimizer = torch.optim.SGD(parameters, lr=RATE)
        taken: list[Step] = []

        def read(encoder: Any, given: Any, named: Any, states: Tensor) -> None:
            if encoder is not model.encoder:  # of a copy, to which hooks are copied as well
                return
            inputs = given[0] if given else named["input_ids"]
            reading = Reading(inputs.clone(), encoder.training)
            taken[-1].readings.append(reading)

            def back(gradient: Tensor) -> None:
                sofar = 0 if reading.gradient is None else reading.gradient
                reading.gradient = gradient + sofar
                taken[-1].events.append("backward")

            if states.requires_grad:
                states.register_hook(back)  # type: ignore[no-untyped-call]

        def stepped(*_: Any) -> None:
            taken[-1].events.append("step")
            if taken[-1].events.count("step") > len(self.windows):  # perhaps a loop without end
                raise Symptom(SEVERAL)

        model.encoder.register_forward_hook(read, with_kwargs=True)
        optimizer.register_step_post_hook(stepped)
        for seed in self.seeds_of_steps:
            windows = self.windows.clone()
            taken.append(Step(_flat(parameters)))
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                taken[-1].loss = ask(step, model, optimizer, windows)
            taken[-1].moved = (taken[-1].before - _flat(parameters)) / RATE
            taken[-1].windows_changed = not torch.equal(windows, self.windows)
            torch.nn.utils.vector_to_parameters(taken[0].before.clone(), parameters)
        return taken

    def computed(self, step: Step) -> Step:
        """Take a step from what was read and asked in another one, as it should be."""
        model = self.model()
        torch.nn.utils.vector_to_parameters(step.before.clone(), model.parameters())
        loss = mlm_loss(model(step.read), self.windows.masked_fill(~step.asked, IGNORE))
        moved = _flat(torch.autograd.grad(loss, list(model.parameters())))
        return Step(step.before, moved, loss.item())

    def unused(self, steps: Sequence[Step]) -> str:
        """Say which of its parameters a step does not use, though it does something."""
        if any(not step.readings for step in steps):
            return MODEL
        if any("step" not in step.events and step.moved.any() for step in steps):
            return OPTIMIZER
        for step in steps:
            for row in torch.cat([reading.inputs for reading in step.readings]):
                same = (row == self.windows).float().mean(1) if len(row) == self.SHAPE[1] else None
                if same is None or same.max() < 0.2:
                    return WINDOWS
        return ""

    def shares(self, steps: Sequence[Step]) -> tuple[float, float, float]:
        """Return the share of positions asked, and of these the shares of [MASK] and swapped."""
        read, asked = (torch.stack([getattr(s, w) for s in steps]) for w in ("read", "asked"))
        masked = (read == VOCABULARY.mask_id)[asked].float().mean().item()
        kept = (read == self.windows)[asked].float().mean().item()
        return asked.float().mean().item(), masked, 1 - masked - kept


def _times(steps: Sequence[Step], computed: Sequence[Step]) -> float:
    """Return how many times its gradient every step went; NaN if in another direction."""
    moved, slope = (torch.cat([step.moved for step in row]) for row in (steps, computed))
    times = moved @ slope / (slope @ slope)
    straight = (moved - times * slope).norm() <= 0.1 * moved.norm()  # short steps are inexact
    return float(times) if straight else torch.nan


@lru_cache(maxsize=300)
def _watched(step: Function, seed: int) -> list[Step]:
    """Watch a step, once in every laboratory: the solution and all mistakes stay the same."""
    return Laboratory(seed).observe(step)


@dataclass(frozen=True)
class StepExercise(Exercise):
    """An exercise that compares what a training step does, not only what it returns."""

    def outcomes(self, answer: Any, probes: Sequence[Probe]) -> list[Outcome]:
        """Watch three steps in the laboratory that the probe is the seed of."""
        try:
            return [Outcome(_watched(answer, seed)) for (seed,) in probes]
        except Symptom as symptom:  # it raised, or returned nothing
            return [Outcome(error=symptom)]

    def compare(self, function: Function, probes: Sequence[Probe]) -> None:
        """Compare steps with the right ones, and if they differ say what they look like."""
        [(seed,)] = probes
        laboratory = Laboratory(seed)
        steps = laboratory.observe(function)
        for step in steps:
            self.wants(step.loss)
        if unused := laboratory.unused(steps):
            raise Symptom(unused)
        right = _watched(self.solution, seed)
        if not _move_alike(steps, right):
            right = self._otherwise(laboratory, steps, self.known(probes))
        if any(step.windows_changed for step in steps):
            raise Symptom(CHANGED)
        if not all(reading.training for step in steps for reading in step.learned_from):
            raise Symptom(EVALUATION)
        self._judge_losses(steps, right)

    def _otherwise(
        self, laboratory: Laboratory, steps: Sequence[Step], known: Mapping[str, Outcomes]
    ) -> list[Step]:
        """Return the right steps from other draws than the solution's, or say what is wrong."""
        found = {
            symptom: outcome.value
            for symptom, [outcome] in known.items()
            if _move_alike(steps, outcome.value)
        }
        if found:
            raise Symptom(min(found, key=lambda told: found[told][0].events != steps[0].events))
        if any(step.events.count("step") > 1 for step in steps):
            raise Symptom(SEVERAL)
        if not all(step.learned_from for step in steps):
            raise Symptom(OTHERWISE)
        if any(step.read.shape != laboratory.SHAPE for step in steps):
            raise Symptom(WINDOWS)
        if torch.equal(steps[0].read, steps[1].read) or not torch.equal(
            steps[1].read, steps[2].read
        ):
            raise Symptom(GENERATOR)
        asked, masked, swapped = laboratory.shares(steps)
        if abs(asked - 0.3) > 0.04 or abs(masked - 0.8) > 0.07 or abs(swapped - 0.1) > 0.05:
            raise Symptom(
                f"Your loss is about {asked:.0%} of the positions, and of these {masked:.0%} have "
                f"become [MASK] and {swapped:.0%} another character; it should be 30%, 80% and "
                "10%: take the inputs and the labels from mask_tokens(windows, 0.3)."
            )
        computed = list(map(laboratory.computed, steps))
        if abs(times := _times(steps, computed)) > 0 and abs(times - 1) > 0.01:
            raise Symptom(
                f"Your step is {times:.3g} times as long as it should be: leave the loss, the "
                "gradients and the settings of the optimizer as they are."
            )
        if not _move_alike(steps, computed):
            raise Symptom(OTHERWISE)
        return computed

    def _judge_losses(self, steps: Sequence[Step], right: Sequence[Step]) -> None:
        """Look at the losses that were returned, when the parameters move as they should."""
        seen, asked = ([Outcome(self.wants(step.loss)) for step in row] for row in (steps, right))
        if seen == asked:
            if any(isinstance(step.loss, Tensor) for step in steps):
                raise Symptom(
                    "You return the loss as a tensor, with all that it was computed from: return "
                    "loss.item()."
                )
            return
        raise Symptom(
            f"Your step moves the parameters as it should, and returns {in_short(seen[0].value)} "
            f"where its loss is {in_short(asked[0].value)}: return the loss that the step was "
            "based on, loss.item()."
        )


check_train_step = StepExercise(
    solution=train_step,
    minutes=10,
    wants=number,
    probes=lambda chance: [(chance.getrandbits(31),)],
    solved="Sample, mask, predict, compare, improve: fit does this 1250 times.",
    mistakes=Mistakes(__name__, "train_step"),
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
    (said, sure), (best, most) = (top_k(answer[at], 1)[0] for answer in (by_heart, shipped))
    parrot = f"{typed}: the parrot gives {visible(said)} {sure:.2f}"
    if said == letter:
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
        instead = f", and {visible(best)} {most:.2f}" * (best != letter)
        raise Symptom(
            f"{parrot}, so it falls for it. But the shipped model gives your {letter} only "
            f"{knows:.2f}{instead}. It takes {SURE:.2f}. Could another letter be right, too? Put "
            "more of a word around the gap, or a word that gives it away."
        )
    return f"{parrot}, the shipped model {letter} {knows:.2f}."


check_trap = Exercise(
    solution="nothing in this [s]hop is new",
    minutes=10,
    wants=anything,
    solved="The parrot is sure and wrong: it recites.",
    judge=_judge_trap,
    mistakes=Mistakes(__name__, "trap"),
)
"""Mark a line at which the parrot is sure of a wrong letter, and the shipped model of the right."""

# ── 4.3 ──────────────────────────────────────────────────────────────────────────────────────────

LOOPS = ("A", "B", "C")
FORM = 'Answer with the three loops and a number each: {"A": …, "B": …, "C": …}.'

LOOK: Mapping[tuple[str, int], str] = {
    (
        "A",
        1,
    ): "Loop A reports nothing at all, so its fault must be in how it learns: compare it with "
    "the step that you wrote. What is missing?",
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
    return {loop: _symptom(loop, value[loop]) for loop in LOOPS}


def _symptom(loop: str, value: Any) -> int:
    for symptom in (1, 2, 3):
        if value in (symptom, str(symptom)):
            return symptom
    raise Symptom(f"For loop {loop} you give {value!r}; its symptom is 1, 2 or 3.")


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


def logits_and_labels(chance: random.Random) -> list[Probe]:
    """Make logits of several shapes; some positions are not selected, and 0 is a label, too."""
    seed = torch.Generator().manual_seed(chance.getrandbits(32))
    probes: list[Probe] = []
    for length, symbols, count in ((6, 5, 3), (4, 7, 1), (9, 4, 5)):
        logits = 2 * torch.randn(length, symbols, generator=seed)
        labels = torch.full((length,), -100)
        at = torch.randperm(length, generator=seed)[:count]
        labels[at] = torch.randint(symbols, (count,), generator=seed)
        labels[at[0]] = 0
        probes.append((logits, labels))
    return probes


check_logit_gradient = Exercise(
    solution=logit_gradient,
    minutes=12,
    wants=tensor(torch.float32),
    probes=logits_and_labels,
    parts=lambda _logits, labels: {
        "positions that were selected": labels != -100,
        "positions that were not": labels == -100,
    },
    solved="That is where `backward` begins: P − truth. What is too probable is pushed down, and "
    "the truth is pushed up.",
    direction="At a selected position it is softmax(logits) minus 1 at the right symbol, divided "
    "by the number of selected positions. Everywhere else it is 0.",
    without=dict.fromkeys(
        ("backward", "grad", "requires_grad_"),
        "The exercise asks for the formula: compute the gradient without autograd.",
    ),
    mistakes=Mistakes(__name__, "logit_gradient"),
)
"""Mark ``logit_gradient(logits, labels)``: (P − truth) / |M| where selected, 0 elsewhere."""
