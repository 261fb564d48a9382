"""The laboratory of exercise 4.1: it compares what training steps do, not only what they return.

A step is watched with a small model, an optimizer that moves the parameters by ``RATE`` times their
gradient, and windows of random characters. Two steps are alike if under equal seeds they move the
parameters alike and return the same loss. The gradient that arrives at the states tells which
positions were predicted (it is 0 elsewhere), so a step may also draw in another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import IGNORE
from cloze.teaching.exercise import Chance, Exercise, Outcomes
from cloze.teaching.results import Function, Outcome, Probe, Symptom, alike, as_plain, in_short
from cloze.teaching.symptoms import ask
from cloze.vocabulary import VOCABULARY

RATE = 0.5
SHAPE = (20, 48)
"""The shape of the windows, other than in the notebook."""

WINDOWS = (
    "Your step should learn from all the windows that it is given, each of them once: mask the "
    "parameter `windows`, do not draw windows yourself, and call the model once."
)
SEVERAL = (
    "Your function takes several steps, and the exercise asks for one; the loop around it calls it "
    "again and again: leave out `for` and `while`."
)
OTHERWISE = (
    "Your step does not move the parameters as these five calls do: mask_tokens(windows, 0.3), "
    "mlm_loss of the model's logits and the labels, zero_grad, backward, step."
)


@dataclass
class MaskedReading:
    """One pass through the encoder: what it read, and the gradient at its states."""

    inputs: Tensor
    training: bool
    gradient: Tensor | None = None


@dataclass(eq=False)
class ObservedStep:
    """What one call of a training step did."""

    before: Tensor
    """The parameters before it, all of them in one row."""
    moved: Tensor = field(default_factory=lambda: torch.empty(0))
    """The gradient that the parameters were moved by."""
    loss: Any = None
    """What was returned."""
    readings: list[MaskedReading] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    """``backward`` and ``step``, in the order in which they came."""
    windows_changed: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObservedStep):
            return NotImplemented
        same_loss = alike(as_plain(self.loss), as_plain(other.loss))
        return same_loss and _move_alike([self], [other]) and self.events == other.events

    @property
    def learned_from(self) -> list[MaskedReading]:
        """The passes that a gradient came back to."""
        return [reading for reading in self.readings if reading.gradient is not None]

    @property
    def inputs(self) -> Tensor:
        """What the model learned from, ``(batch, length)`` if it was all of the windows."""
        return torch.cat([reading.inputs for reading in self.learned_from])

    @property
    def selected(self) -> Tensor:
        """The positions that the loss is about, in the shape of the inputs."""
        gradients = [reading.gradient for reading in self.readings if reading.gradient is not None]
        return torch.cat(gradients).abs().amax(-1) > 0


def _move_alike(a: Sequence[ObservedStep], b: Sequence[ObservedStep]) -> bool:
    """Whether two rows of steps move the parameters alike, compared with how far they move."""
    pairs = [(one.moved, other.moved) for one, other in zip(a, b, strict=True)]
    return all(bool((moved - other).norm() <= 1e-3 * other.norm()) for moved, other in pairs)


class WholeModel(MaskedLM):
    """A model that always runs its encoder as a whole, so that one hook sees every pass."""

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only."""
        return self(input_ids)[selected]


class Laboratory:
    """A model, an optimizer and windows, drawn with a seed, in which steps can be compared."""

    def __init__(self, seed: int) -> None:
        chance = Chance(seed)
        self.seed, first, second = (chance.getrandbits(31) for _ in range(3))
        self.seeds_of_steps = first, second, second
        self.windows = torch.randint(VOCABULARY.n_ordinary, SHAPE, generator=chance.torch)

    def model(self) -> MaskedLM:
        """Make the model, the same at each call."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return WholeModel(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16))

    def observe(self, step: Function) -> list[ObservedStep]:
        """Take three steps from the same parameters, the last two of them under equal seeds."""
        model = self.model()
        parameters = list(model.parameters())
        optimizer = torch.optim.SGD(parameters, lr=RATE)
        taken: list[ObservedStep] = []

        def watch(encoder: Any, given: Any, named: Any, states: Tensor) -> None:
            if encoder is not model.encoder:  # of a copy, to which hooks are copied as well
                return
            inputs = given[0] if given else named["input_ids"]
            reading = MaskedReading(inputs.clone(), encoder.training)
            taken[-1].readings.append(reading)

            def back(gradient: Tensor) -> None:
                before = 0 if reading.gradient is None else reading.gradient
                reading.gradient = gradient + before
                taken[-1].events.append("backward")

            if states.requires_grad:
                states.register_hook(back)  # type: ignore[no-untyped-call]

        def stepped(*_: Any) -> None:
            taken[-1].events.append("step")
            if taken[-1].events.count("step") > len(self.windows):  # perhaps a loop without end
                raise Symptom(SEVERAL)

        model.encoder.register_forward_hook(watch, with_kwargs=True)
        optimizer.register_step_post_hook(stepped)
        for seed in self.seeds_of_steps:
            windows = self.windows.clone()
            taken.append(ObservedStep(parameters_to_vector(parameters).detach()))
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                taken[-1].loss = ask(step, model, optimizer, windows)
            taken[-1].moved = (taken[-1].before - parameters_to_vector(parameters).detach()) / RATE
            taken[-1].windows_changed = not torch.equal(windows, self.windows)
            vector_to_parameters(taken[0].before.clone(), parameters)
        return taken

    def computed(self, step: ObservedStep) -> ObservedStep:
        """Return the right step for the inputs and the selected positions of another one."""
        model = self.model()
        vector_to_parameters(step.before.clone(), model.parameters())
        loss = mlm_loss(model(step.inputs), self.windows.masked_fill(~step.selected, IGNORE))
        moved = parameters_to_vector(torch.autograd.grad(loss, list(model.parameters())))
        return ObservedStep(step.before, moved, loss.item())

    def unused(self, steps: Sequence[ObservedStep]) -> str:
        """Say which of its parameters a step does not use, though it does something."""
        if any(not step.readings for step in steps):
            return (
                "The model that your step is given is never used: compute the logits with the "
                "parameter `model`, from the inputs that mask_tokens returns."
            )
        if any("step" not in step.events and step.moved.any() for step in steps):
            return (
                "The parameters are moved, but not by the optimizer that your step is given: use "
                "the parameter `optimizer`. (A new one in each step forgets what AdamW and "
                "momentum remember.)"
            )
        for row in (row for step in steps for reading in step.readings for row in reading.inputs):
            if len(row) != SHAPE[1] or (row == self.windows).float().mean(1).max() < 0.2:
                return WINDOWS
        return ""


def _times(steps: Sequence[ObservedStep], computed: Sequence[ObservedStep]) -> float:
    """Return how many times its gradient every step went; NaN if in another direction."""
    moved, slope = (torch.cat([step.moved for step in row]) for row in (steps, computed))
    times = moved @ slope / (slope @ slope)
    straight = (moved - times * slope).norm() <= 0.1 * moved.norm()  # short steps are inexact
    return float(times) if straight else torch.nan


class StepExercise(Exercise):
    """An exercise that compares what a training step does, not only what it returns."""

    def outcomes(self, answer: Any, probes: Sequence[Probe]) -> list[Outcome]:
        """Observe three steps in the laboratory that the probe is the seed of."""
        try:
            return [Outcome(Laboratory(seed).observe(answer)) for (seed,) in probes]
        except Symptom as symptom:  # it raised, or returned nothing
            return [Outcome(error=symptom)]

    def compare(self, function: Function, probes: Sequence[Probe]) -> str:
        """Compare steps with the right ones, and if they differ say what they look like."""
        [(seed,)] = probes
        laboratory = Laboratory(seed)
        steps = laboratory.observe(function)
        for step in steps:
            self.wants(step.loss)
        if unused := laboratory.unused(steps):
            return unused
        right = laboratory.observe(self.solution)
        if not _move_alike(steps, right):
            if wrong := self._movement(laboratory, steps, self.known(probes)):
                return wrong
            right = list(map(laboratory.computed, steps))
        if any(step.windows_changed for step in steps):
            return (
                "Your step changes the windows, so the next step would train on [MASK]: leave them "
                "as they are, because mask_tokens returns copies."
            )
        if not all(reading.training for step in steps for reading in step.learned_from):
            return (
                "Your model is in evaluation mode while it learns, which switches off dropout in a "
                "model that has it: leave out model.eval(), or call model.train() first."
            )
        returned, losses = ([Outcome(self.wants(step.loss)) for step in a] for a in (steps, right))
        if returned != losses:
            return (
                f"Your step moves the parameters as it should, and returns "
                f"{in_short(returned[0].value)} where its loss is {in_short(losses[0].value)}: "
                "return the loss that the step was based on, loss.item()."
            )
        if any(isinstance(step.loss, Tensor) for step in steps):
            return (
                "You return the loss as a tensor, with all that it was computed from: return "
                "loss.item()."
            )
        return ""

    def _movement(
        self, laboratory: Laboratory, steps: Sequence[ObservedStep], known: Mapping[str, Outcomes]
    ) -> str:
        """Say what is wrong with steps that move the parameters otherwise than the solution.

        Nothing is, if only their draws are others.
        """
        same = {
            symptom: outcome.value
            for symptom, [outcome] in known.items()
            if _move_alike(steps, outcome.value)
        }
        if same:
            return min(same, key=lambda symptom: same[symptom][0].events != steps[0].events)
        if any(step.events.count("step") > 1 for step in steps):
            return SEVERAL
        if not all(step.learned_from for step in steps):
            return OTHERWISE
        if any(step.inputs.shape != SHAPE for step in steps):
            return WINDOWS
        one, other, same_seed = (step.inputs for step in steps)
        if torch.equal(one, other) or not torch.equal(other, same_seed):
            return (
                "Your masks do not come from torch's own generator: leave out manual_seed and "
                "generator=…, because every step needs fresh masks."
            )
        inputs = torch.stack([step.inputs for step in steps])
        chosen = torch.stack([step.selected for step in steps])
        selected = chosen.float().mean().item()
        masked = (inputs == VOCABULARY.mask_id)[chosen].float().mean().item()
        swapped = 1 - masked - (inputs == laboratory.windows)[chosen].float().mean().item()
        if abs(selected - 0.3) > 0.04 or abs(masked - 0.8) > 0.07 or abs(swapped - 0.1) > 0.05:
            return (
                f"Your loss is about {selected:.0%} of the positions, and of these {masked:.0%} "
                f"have become [MASK] and {swapped:.0%} another character; it should be 30%, 80% "
                "and 10%: take the inputs and the labels from mask_tokens(windows, 0.3)."
            )
        computed = list(map(laboratory.computed, steps))
        if abs(times := _times(steps, computed)) > 0 and abs(times - 1) > 0.01:
            return (
                f"Your step is {times:.3g} times as long as it should be: leave the loss, the "
                "gradients and the settings of the optimizer as they are."
            )
        return "" if _move_alike(steps, computed) else OTHERWISE
