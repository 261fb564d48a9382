"""The exercises of notebook 04."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import GeneratorType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.loss import LOG2, mlm_loss
from cloze.masking import IGNORE, MaskedBatch, mask_tokens
from cloze.teaching.exercise import Exercise, View
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Function, Outcome, Probe, Symptom, names, number
from cloze.teaching.symptoms import ask
from cloze.vocabulary import VOCABULARY

# ── 4.1 ──────────────────────────────────────────────────────────────────────────────────────────
# A step is watched in a laboratory: a small model, an optimizer that moves the parameters by RATE
# times their gradient, windows of random characters. The gradient that arrives at the logits tells
# what was asked (it is 0 elsewhere), what was taken for the truth, and how the costs were averaged.

SEVERAL = (
    "Your function takes several steps where one is asked for; the loop around it calls it again "
    "and again: leave out `for` and `while`."
)
Optimizer = torch.optim.Optimizer
RATE = 0.5


def train_step(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    """Take one training step on windows ``(batch, length)``, and return its loss."""
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


@dataclass
class Reading:
    """One pass through the model: what it read, and what came back to its logits."""

    inputs: Tensor
    selected: Tensor | None
    training: bool
    logits: Tensor = field(default_factory=lambda: torch.empty(0))
    gradient: Tensor | None = None

    def everywhere(self, values: Tensor) -> Tensor | None:
        """Put values of shape ``(|M|, |V|)`` where they belong: ``(batch, length, |V|)``."""
        if values.dim() == 3 or self.selected is None:
            return values if values.shape[:-1] == self.inputs.shape else None
        return values.new_zeros(*self.inputs.shape, values.shape[-1]).index_put(
            (self.selected,), values
        )


@dataclass
class Step:
    """What one call of a training step did."""

    before: Tensor
    after: Tensor = field(default_factory=lambda: torch.empty(0))
    value: Any = None
    readings: list[Reading] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    """``backward`` and ``step``, in the order in which they came."""
    windows_changed: bool = False

    @property
    def learned_from(self) -> list[Reading]:
        """The passes that a gradient came back to."""
        return [reading for reading in self.readings if reading.gradient is not None]

    @property
    def moved(self) -> Tensor:
        """The gradient that the parameters were moved by, all of them in one row."""
        return (self.before - self.after) / RATE


def _flat(parameters: Sequence[Tensor]) -> Tensor:
    return torch.cat([p.detach().flatten() for p in parameters])


class Laboratory:
    """A model, an optimizer and windows, drawn at random, in which steps can be compared."""

    SHAPE = (20, 48)
    """Of the windows, other than in the notebook."""

    def __init__(self, chance: random.Random) -> None:
        self.seed, first, second = (chance.getrandbits(31) for _ in range(3))
        self.seeds_of_steps = first, second, second
        self.generator = torch.Generator().manual_seed(chance.getrandbits(31))
        self.windows = torch.randint(VOCABULARY.n_ordinary, self.SHAPE, generator=self.generator)

    def model(self) -> MaskedLM:
        """Make the model, the same at each call."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16))

    def masked(self, seed: int) -> MaskedBatch:
        """Mask the windows as a step does under a seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return mask_tokens(self.windows, 0.3)

    def observe(self, step: Function) -> list[Step]:
        """Take three steps from the same parameters, the last two of them under equal seeds."""
        model = self.model()
        parameters = list(model.parameters())
        optimizer = torch.optim.SGD(parameters, lr=RATE)
        taken: list[Step] = []

        def read(module: Any, given: Any, named: Any) -> None:
            if module is not model.encoder:  # of a copy, to which hooks are copied as well
                return
            inputs = given[0] if given else named["input_ids"]
            reading = Reading(inputs.clone(), named.get("selected"), module.training)
            taken[-1].readings.append(reading)

        def answered(head: Any, _: Any, logits: Tensor) -> None:
            if head is not model.head:
                return
            reading = taken[-1].readings[-1]
            reading.logits = logits.detach()

            def back(gradient: Tensor) -> None:
                sofar = 0 if reading.gradient is None else reading.gradient
                reading.gradient = gradient + sofar
                taken[-1].events.append("backward")

            if logits.requires_grad:
                logits.register_hook(back)  # type: ignore[no-untyped-call]

        def stepped(*_: Any) -> None:
            taken[-1].events.append("step")
            if taken[-1].events.count("step") > len(self.windows):  # perhaps a loop without end
                raise Symptom(SEVERAL)

        model.encoder.register_forward_pre_hook(read, with_kwargs=True)
        model.head.register_forward_hook(answered)
        optimizer.register_step_post_hook(stepped)
        for seed in self.seeds_of_steps:
            windows = self.windows.clone()
            taken.append(Step(_flat(parameters)))
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                taken[-1].value = ask(step, model, optimizer, windows)
            taken[-1].after = _flat(parameters)
            taken[-1].windows_changed = not torch.equal(windows, self.windows)
            torch.nn.utils.vector_to_parameters(taken[0].before.clone(), parameters)
        return taken

    def slope(self, at: Tensor, inputs: Tensor, labels: Tensor) -> tuple[float, Tensor]:
        """Return the loss that parameters have, and its gradient."""
        model = self.model()
        torch.nn.utils.vector_to_parameters(at, model.parameters())
        loss = mlm_loss(model(inputs), labels)
        parameters = list(model.parameters())
        return loss.item(), _flat(torch.autograd.grad(loss, parameters))


def _alike(a: Tensor, b: Tensor) -> bool:
    """Whether two rows of numbers are the same, compared with how long they are."""
    return bool((a - b).norm() <= 1e-3 * b.norm())


@dataclass
class Trace:
    """All that was seen of an answer in a laboratory; of three steps, hence the first axis."""

    laboratory: Laboratory
    steps: list[Step]

    def any(self, seen: Callable[[Step], Any]) -> bool:
        """Whether something was seen in any of the steps."""
        return any(map(seen, self.steps))

    @cached_property
    def truth(self) -> Tensor:
        """The windows, ``(3, batch, length)``."""
        return self.laboratory.windows.expand(3, -1, -1)

    @cached_property
    def expected(self) -> MaskedBatch:
        """What mask_tokens gives under the seeds of the steps, ``(3, batch, length)``."""
        batches = [self.laboratory.masked(seed) for seed in self.laboratory.seeds_of_steps]
        return MaskedBatch(*map(torch.stack, zip(*batches, strict=True)))

    @cached_property
    def read(self) -> Tensor | None:
        """What the model read and learned from, ``(3, batch, length)``; None if of other shape."""
        rows = [torch.cat([r.inputs for r in step.learned_from]) for step in self.steps]
        return torch.stack(rows) if all(row.shape == self.truth[0].shape for row in rows) else None

    @cached_property
    def inputs(self) -> Tensor:
        """What the model read, of the shape of the windows."""
        assert self.read is not None
        return self.read

    def _logits(self, part: Callable[[Reading], Any]) -> Tensor | None:
        parts = [[r.everywhere(part(r)) for r in step.learned_from] for step in self.steps]
        if any(one is None for row in parts for one in row):
            return None
        return torch.stack([torch.cat(row) for row in parts])  # type: ignore[arg-type]

    @cached_property
    def gradient(self) -> Tensor | None:
        """The gradient at the logits, ``(3, batch, length, |V|)``; None if that cannot be said."""
        return None if self.read is None else self._logits(lambda reading: reading.gradient)

    @cached_property
    def asked(self) -> Tensor:
        """The positions that the loss is about, ``(3, batch, length)``."""
        assert self.gradient is not None
        return self.gradient.abs().amax(-1) > 0

    @cached_property
    def taken_for_truth(self) -> Tensor:
        """The character whose cost was lowered, at the positions that were asked."""
        assert self.gradient is not None
        return self.gradient[self.asked].abs().argmax(-1)

    @cached_property
    def rate(self) -> float:
        """The share of positions that are asked."""
        return self.asked.float().mean().item()

    @cached_property
    def fates(self) -> tuple[float, float, float]:
        """The shares of the asked positions that became [MASK], another character, or stayed."""
        inputs, truth = self.inputs[self.asked], self.truth[self.asked]
        masked = (inputs == VOCABULARY.mask_id).float().mean().item()
        kept = (inputs == truth).float().mean().item()
        return masked, 1 - masked - kept, kept

    @cached_property
    def weights(self) -> Tensor:
        """How many times the mean's weight each asked position has in the loss."""
        assert self.gradient is not None
        logits = self._logits(lambda reading: reading.logits)
        assert logits is not None
        error = logits[self.asked].softmax(-1) - F.one_hot(self.truth[self.asked], len(VOCABULARY))
        count = self.asked.sum((1, 2), keepdim=True).expand_as(self.asked)[self.asked]
        found = self.gradient[self.asked]
        fit = (found * error).sum(-1) / error.square().sum(-1)
        alike = (found - fit[:, None] * error).norm(dim=-1) <= 1e-2 * found.norm(dim=-1)
        return torch.where(alike, fit * count, torch.nan)

    @cached_property
    def labels(self) -> Tensor:
        """The labels that the loss was computed with, ``(3, batch, length)``."""
        return self.truth.masked_fill(~self.asked, IGNORE)

    def _slopes(self, at: Callable[[Step], Tensor]) -> list[tuple[float, Tensor]]:
        given = zip(self.steps, self.inputs, self.labels, strict=True)
        return [self.laboratory.slope(at(step), *batch) for step, *batch in given]

    @cached_property
    def slopes(self) -> list[tuple[float, Tensor]]:
        """The loss of every step and its gradient, computed anew."""
        return self._slopes(lambda step: step.before)

    @cached_property
    def later(self) -> list[float]:
        """The loss on the same questions after the step."""
        return [loss for loss, _ in self._slopes(lambda step: step.after)]

    @cached_property
    def stretch(self) -> float:
        """How many times its gradient the first step went; NaN if in another direction."""
        moved, slope = self.steps[0].moved, self.slopes[0][1]
        times = float(moved @ slope / (slope @ slope))
        straight = (moved - times * slope).norm() <= 0.1 * moved.norm()  # short steps are inexact
        return times if straight else torch.nan


# What became of a batch, a loss and the gradient: a wrong step differs from the right in one.


def _mask(windows: Tensor) -> tuple[Tensor, Tensor]:
    return mask_tokens(windows, 0.3)


def _loss(model: MaskedLM, inputs: Tensor, labels: Tensor) -> Tensor:
    return mlm_loss(model(inputs), labels)


def _improve(_: MaskedLM, optimizer: Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def _step(
    mask: Function = _mask,
    loss: Function = _loss,
    improve: Function = _improve,
    value: Function = Tensor.item,
) -> Function:
    """Make a training step."""

    def step(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> Any:
        cost = loss(model, *mask(windows))
        improve(model, optimizer, cost)
        return value(cost)

    return step


def _do(*what: str) -> Function:
    """Make a way to improve of calls in this order."""

    def improve(_: MaskedLM, optimizer: Optimizer, loss: Tensor) -> None:
        for call in what:
            getattr(loss if call == "backward" else optimizer, call)()

    return improve


def _scaled(factor: Callable[[Tensor], Any]) -> Function:
    """Make a step whose loss is multiplied by what labels give."""
    return _step(
        loss=lambda model, inputs, labels: _loss(model, inputs, labels) * factor(labels),
    )


def _own_optimizer(model: MaskedLM, _: Optimizer, loss: Tensor) -> None:
    _improve(model, torch.optim.SGD(model.parameters(), lr=RATE), loss)


def _own_rate(model: MaskedLM, optimizer: Optimizer, loss: Tensor) -> None:
    optimizer.param_groups[0]["lr"] = 3e-3
    _improve(model, optimizer, loss)


def _head_alone(model: MaskedLM, optimizer: Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward(inputs=list(model.head.parameters()))  # type: ignore[no-untyped-call]
    optimizer.step()


def _loop(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    return [train_step(model, optimizer, windows) for _ in range(3)][-1]


def _in_place(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = _mask(windows)
    windows.copy_(inputs)
    return _step(mask=lambda windows: (windows, labels))(model, optimizer, windows)


def _blind(_: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    return _step()(MaskedLM(EncoderConfig(d_model=16)), optimizer, windows)


def _eval(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    return train_step(model.eval(), optimizer, windows)


def _of_two(model: MaskedLM, inputs: Tensor, labels: Tensor) -> Tensor:
    again = _mask(torch.where(labels == IGNORE, inputs, labels))
    return (_loss(model, inputs, labels) + _loss(model, *again)) / 2


def _row_by_row(model: MaskedLM, inputs: Tensor, labels: Tensor) -> Tensor:
    pairs = zip(model(inputs), labels, strict=True)
    return torch.stack([mlm_loss(logits, row) for logits, row in pairs]).mean()


def _smoothed(model: MaskedLM, inputs: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(model(inputs).flatten(0, 1), labels.flatten(), label_smoothing=0.1)


def _counted(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = _mask(windows)
    loss = _loss(model, inputs, labels)
    _improve(model, optimizer, loss)
    return loss.item() * int((labels != IGNORE).sum())


def _only(batch: tuple[Tensor, Tensor], symbol: int) -> tuple[Tensor, Tensor]:
    """Leave the labels of what the model reads as another symbol out."""
    return batch[0], batch[1].masked_fill(batch[0] != symbol, IGNORE)


def _clamped(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, labels.clamp(min=0)


def _changed_only(windows: Tensor, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, labels.masked_fill(inputs == windows, IGNORE)


def _shifted(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, labels.roll(1, 0)


def _inverted(windows: Tensor, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, windows.masked_fill(labels != IGNORE, IGNORE)


def _without_0(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, labels.masked_fill(labels == 0, IGNORE)


def _backward_twice(_: MaskedLM, optimizer: Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward(retain_graph=True)  # type: ignore[no-untyped-call]
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def _uphill(model: MaskedLM, optimizer: Optimizer, loss: Tensor) -> None:
    optimizer.param_groups[0]["maximize"] = True
    _improve(model, optimizer, loss)


_OTHER_CHANCE = torch.Generator()


class Seen(NamedTuple):
    """A symptom, how the laboratory sees it, and a step that has it."""

    symptom: str
    seen: Callable[[Trace], bool | str]
    """True, or what was measured in words."""
    wrong: Function


def _part_of(reading: Reading, windows: Tensor) -> bool:
    """Whether the model read fewer rows or columns than the windows have."""
    columns = reading.inputs.shape[1]
    pairs = reading.inputs[:, None] == windows[:, :columns] if columns <= windows.shape[1] else None
    return pairs is not None and bool((pairs.float().mean(-1).amax(-1) > 0.4).all())


def _changed(t: Trace) -> Tensor:
    return t.inputs != t.truth


def _found(t: Trace, characters: Tensor) -> bool:
    """Whether the loss took these characters for the truth."""
    return torch.equal(t.taken_for_truth, characters[t.asked])


def _other_rate(t: Trace) -> bool:
    """Whether other than 30 % are asked, by the same draws if they were used."""
    selected = t.expected.labels != IGNORE
    more, fewer = bool((t.asked & ~selected).any()), bool((selected & ~t.asked).any())
    return more != fewer or (more and abs(t.rate - 0.3) > 0.05)


def _other_shares(t: Trace) -> bool:
    shares = zip(t.fates, (0.8, 0.1, 0.1), strict=True)
    return not torch.equal(t.inputs, t.expected.inputs) and any(
        abs(share - promised) > 0.07 for share, promised in shares
    )


def _weight(expected: Callable[[Tensor], Any]) -> Callable[[Trace], bool]:
    """Make a look at the weight of every position, given how many are asked in its step."""

    def seen(t: Trace) -> bool:
        count = t.asked.sum((1, 2), keepdim=True).expand_as(t.asked)[t.asked]
        return torch.allclose(t.weights, torch.as_tensor(expected(count)).float(), rtol=1e-2)

    return seen


def _uneven(t: Trace) -> bool:
    counts: list[int] = t.asked.sum((1, 2)).tolist()
    parts: Sequence[Tensor] = torch.split(t.weights, counts)
    return any(float(part.max() - part.min()) > 0.01 * float(part.abs().max()) for part in parts)


def _order(t: Trace) -> bool:
    events = t.steps[0].events
    return "backward" in events and events[0] == "step"


def _stood_still(step: Step) -> bool:
    return torch.equal(step.before, step.after)


def _added(t: Trace) -> bool:
    return _alike(t.steps[1].moved, t.slopes[1][1] + t.steps[0].moved)


ALWAYS: Sequence[Seen] = [
    Seen(
        "The parameters are moved, but not by the optimizer that your step is given: use the "
        "parameter `optimizer`. (A new one in each step forgets what AdamW and momentum remember.)",
        lambda t: t.any(lambda step: "step" not in step.events and not _stood_still(step)),
        _step(improve=_own_optimizer),
    ),
    Seen(
        "The windows are changed after your step, and the next one would train on [MASK]: leave "
        "them as they are, mask_tokens returns copies.",
        lambda t: t.any(lambda step: step.windows_changed),
        _in_place,
    ),
    Seen(
        "Your model is in evaluation mode while it learns, which switches off dropout in a model "
        "that has it: leave out model.eval(), or call model.train() before.",
        lambda t: t.any(lambda step: not all(r.training for r in step.learned_from)),
        _eval,
    ),
]
"""What is wrong even if the parameters move as they should."""

READS: Sequence[Seen] = [
    Seen(
        "The model that your step is given is never asked: compute the logits with the parameter "
        "`model`, from the inputs that mask_tokens returns.",
        lambda t: t.any(lambda step: not step.readings),
        _blind,
    ),
    Seen(
        SEVERAL,
        lambda t: t.any(lambda step: min(map(step.events.count, ("backward", "step"))) > 1),
        _loop,
    ),
    Seen(
        "No gradient is ever computed from the model's logits: call loss.backward() before "
        "optimizer.step().",
        lambda t: t.any(lambda step: not step.learned_from),
        _step(improve=_do("zero_grad", "step")),
    ),
    Seen(
        "Your step learns from the windows more than once: mask them once, ask the model once, and "
        "take the loss of that.",
        lambda t: t.any(
            lambda step: sum(len(r.inputs) for r in step.learned_from) > len(t.truth[0])
        ),
        _step(loss=_of_two),
    ),
    Seen(
        "Your step learns from a part of the windows only; give mask_tokens all of them.",
        lambda t: (
            t.read is None
            and t.any(lambda step: all(_part_of(r, t.truth[0]) for r in step.learned_from))
        ),
        _step(mask=lambda windows: _mask(windows[:1])),
    ),
    Seen(
        "The model reads other text than the windows that your step is given: mask the parameter "
        "`windows`, and do not draw any yourself.",
        lambda t: (
            t.read is None
            or (t.read == t.truth)[t.read != VOCABULARY.mask_id].float().mean().item() < 0.2
        ),
        _step(mask=lambda windows: _mask(windows.flip(0))),
    ),
    Seen(
        "The model is shown the windows as they are, so it can read off the answers: give it the "
        "inputs that mask_tokens returns.",
        lambda t: not _changed(t).any(),
        _step(mask=lambda windows: (windows, _mask(windows)[1])),
    ),
    Seen(
        "Two steps hide the same positions, though every step needs fresh masks: leave out "
        "manual_seed and generators with a fixed seed.",
        lambda t: torch.equal(t.inputs[0], t.inputs[1]),
        _step(
            mask=lambda windows: mask_tokens(
                windows, 0.3, generator=torch.Generator().manual_seed(0)
            )
        ),
    ),
    Seen(
        "Your masks come from a generator of your own (after the same torch.manual_seed two steps "
        "hide different positions): leave generator=… out, and let mask_tokens draw.",
        lambda t: not torch.equal(t.inputs[1], t.inputs[2]),
        _step(mask=lambda windows: mask_tokens(windows, 0.3, generator=_OTHER_CHANCE)),
    ),
    Seen(
        "The gradients are computed and no parameter moves: call optimizer.step() after "
        "loss.backward(), with the brackets.",
        lambda t: t.any(lambda step: "step" not in step.events and _stood_still(step)),
        _step(improve=_do("zero_grad", "backward")),
    ),
    Seen(
        "Your step calls optimizer.step() before backward() has computed a gradient: the order is "
        "zero_grad, backward, step.",
        _order,
        _step(improve=_do("zero_grad", "step", "backward")),
    ),
    Seen(
        "optimizer.step() is called more than once for a single backward(), so the same gradient "
        "is used again: call it once.",
        lambda t: t.any(lambda step: step.events.count("step") > 1),
        _step(improve=_do("zero_grad", "backward", "step", "step")),
    ),
    Seen(
        "When the optimizer steps, the gradients are gone and nothing moves: zero_grad() belongs "
        "before backward(), not between backward() and step().",
        lambda t: t.any(_stood_still),
        _step(improve=_do("backward", "zero_grad", "step")),
    ),
]
"""What can be seen without knowing what was asked; the first that fits is told."""

LEARNS: Sequence[Seen] = [
    Seen(
        "Your loss compares with the inputs, which are the questions; the answers are in the "
        "labels that mask_tokens returns.",
        lambda t: not _found(t, t.truth) and _found(t, t.inputs),
        _step(mask=lambda windows: (_mask(windows)[0],) * 2),
    ),
    Seen(
        "Your loss takes another character for the truth at a few positions: mask the windows "
        "once, and do not mask the inputs again.",
        lambda t: 0.8 < (t.taken_for_truth == t.truth[t.asked]).float().mean().item() < 1,
        _step(mask=lambda windows: _mask(_mask(windows)[0])),
    ),
    Seen(
        "Your loss is over all positions, and where nothing is asked it takes some other character "
        "for the truth: leave the labels as they are; -100 is left out by itself.",
        lambda t: bool(t.asked.all()) and not _found(t, t.truth),
        _step(mask=lambda windows: _clamped(*_mask(windows))),
    ),
    Seen(
        "Your loss takes other characters for the truth than those of the windows: give it the "
        "labels as mask_tokens returns them.",
        lambda t: not _found(t, t.truth),
        _step(mask=lambda windows: _shifted(*_mask(windows))),
    ),
    Seen(
        "Your loss is over all positions, also those where nothing is asked: the labels are those "
        "that mask_tokens returns, with -100 wherever a character was not selected.",
        lambda t: bool(t.asked.all()),
        _step(mask=lambda windows: (_mask(windows)[0], windows)),
    ),
    Seen(
        "Your loss asks exactly where nothing was selected: the labels that count are those that "
        "are not -100.",
        lambda t: not (_changed(t) & t.asked).any(),
        _step(mask=lambda windows: _inverted(windows, *_mask(windows))),
    ),
    Seen(
        "Your loss leaves out the label 0, which is a character like any other (the new line); "
        "what is not asked has the label -100.",
        lambda t: (
            bool((_changed(t) & ~t.asked).any())
            and not (_changed(t) & ~t.asked & (t.truth > 0)).any()
        ),
        _step(mask=lambda windows: _without_0(*_mask(windows))),
    ),
    Seen(
        "Your loss asks about other positions than those that were hidden: take inputs and labels "
        "from one and the same call of mask_tokens.",
        lambda t: bool(((t.inputs == VOCABULARY.mask_id) & ~t.asked).any()),
        _step(mask=lambda windows: (_mask(windows)[0], _mask(windows)[1])),
    ),
    Seen(
        "Your loss asks only where the model reads [MASK]; those that were selected and swapped or "
        "kept are asked, too: take the labels that mask_tokens returns.",
        lambda t: bool((_changed(t) & ~t.asked).any()),
        _step(mask=lambda windows: _only(_mask(windows), VOCABULARY.mask_id)),
    ),
    Seen(
        "Your loss never asks about a character that stayed as it was, and a tenth of the selected "
        "ones do: take the labels and the shares of mask_tokens as they are.",
        lambda t: t.fates[2] == 0 and t.fates[1] > 0,
        _step(mask=lambda windows: _changed_only(windows, *_mask(windows))),
    ),
    Seen(
        "15 % of the positions are selected, which is what mask_tokens does when it is told "
        "nothing else: pass it mask_prob 0.3.",
        lambda t: abs(t.rate - 0.15) < 0.03,
        _step(mask=mask_tokens),
    ),
    Seen(
        "The share of selected positions is not 30 %: pass mask_tokens the mask_prob 0.3.",
        lambda t: _other_rate(t) and f"{t.rate:.0%} are selected.",
        _step(mask=lambda windows: mask_tokens(windows, 0.35)),
    ),
    Seen(
        "Of the selected positions 80 % must become [MASK] and 10 % another character: take the "
        "inputs and labels of mask_tokens, and leave its shares alone.",
        lambda t: _other_shares(t) and f"Yours: {t.fates[0]:.0%}, {t.fates[1]:.0%}.",
        _step(mask=lambda windows: mask_tokens(windows, 0.3, mask_share=1, random_share=0)),
    ),
    Seen(
        "Your loss is not −log P of the truth, averaged: use mlm_loss(logits, labels) as it is.",
        lambda t: bool(t.weights.isnan().any()),
        _step(loss=_smoothed),
    ),
    Seen(
        "Not every selected position counts alike in your loss (each window, or each part of the "
        "batch, is averaged by itself): take one mean over the batch, as mlm_loss does.",
        _uneven,
        _step(loss=_row_by_row),
    ),
    Seen(
        "Your step goes uphill, for the loss has a minus in front: leave it out, mlm_loss is a "
        "cost already.",
        _weight(lambda _: -1),
        _scaled(lambda _: -1),
    ),
    Seen(
        "Your loss is the sum of the costs, so a larger batch makes larger steps: leave out "
        'reduction="sum", the mean is what is asked for.',
        _weight(lambda count: count),
        _scaled(lambda labels: (labels != IGNORE).sum()),
    ),
    Seen(
        "Your loss is divided by the number of all positions; divide by that of the selected ones, "
        "as mlm_loss does.",
        _weight(lambda count: count / (Laboratory.SHAPE[0] * Laboratory.SHAPE[1])),
        _scaled(lambda labels: (labels != IGNORE).float().mean()),
    ),
    Seen(
        "Your loss is divided by the number of windows; divide by that of the selected positions, "
        "as mlm_loss does.",
        _weight(lambda count: count / Laboratory.SHAPE[0]),
        _scaled(lambda labels: (labels != IGNORE).sum() / len(labels)),
    ),
    Seen(
        "Your loss is divided by the number of windows once more; mlm_loss is a mean already.",
        _weight(lambda _: 1 / Laboratory.SHAPE[0]),
        _scaled(lambda labels: 1 / len(labels)),
    ),
    Seen(
        "Your loss is divided by the number of selected positions twice; mlm_loss has done it.",
        _weight(lambda count: 1 / count),
        _scaled(lambda labels: 1 / (labels != IGNORE).sum()),
    ),
    Seen(
        "Your loss is in bits; take the step on the loss in nats, as mlm_loss gives it.",
        _weight(lambda _: 1 / LOG2),
        _scaled(lambda _: 1 / LOG2),
    ),
    Seen(
        "The gradients are computed twice and add up: call backward() once.",
        lambda t: _weight(lambda _: 2)(t) and t.steps[0].events.count("backward") > 1,
        _step(improve=_backward_twice),
    ),
    Seen(
        "Your loss is multiplied by something, and the step with it: use mlm_loss as it is.",
        lambda t: not _weight(lambda _: 1)(t) and f"Yours is {t.weights[0]:.3g} times as long.",
        _scaled(lambda _: 10),
    ),
    Seen(
        "The second step uses the gradient of the first as well, for backward() adds: call "
        "optimizer.zero_grad() before it, with the brackets.",
        _added,
        _step(improve=_do("backward", "step")),
    ),
    Seen(
        "The optimizer goes uphill: leave the gradients and the settings of the optimizer as they "
        "are.",
        lambda t: abs(t.stretch + 1) < 0.01,
        _step(improve=_uphill),
    ),
    Seen(
        "Your step is longer or shorter than the optimizer's learning rate makes it: leave the "
        "gradients and the settings of the optimizer as they are.",
        lambda t: abs(t.stretch - 1) > 0.01 and f"It is {t.stretch:.3g} times as long.",
        _step(improve=_own_rate),
    ),
    Seen(
        "The parameters do not move as the gradient of your loss says, all of them and once: the "
        "whole of a step is zero_grad, backward and step.",
        lambda t: not all(_alike(s.moved, g) for s, (_, g) in zip(t.steps, t.slopes, strict=True)),
        _step(improve=_head_alone),
    ),
]
"""What the gradient at the logits tells of the loss, and the parameters of the optimizer."""

OTHERWISE = (
    "Your step does not move the parameters as this one does: mask_tokens(windows, 0.3), mlm_loss "
    "of the model's logits and the labels, zero_grad, backward, step."
)
TENSOR = "You return the loss as a tensor, with all that it was computed from: return loss.item()."
LATER = (
    "You return the loss after the step, on a second look; return the one that the step was taken "
    "on, loss.item()."
)
SUMMED = "You return the sum of the costs; return their mean, which the step was taken on."


def _look_again(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = _mask(windows)
    _improve(model, optimizer, _loss(model, inputs, labels))
    return _loss(model, inputs, labels).item()


def _judge_train_step(step: Function) -> None:
    laboratory = Laboratory(random.Random())  # noqa: S311 - no secret
    t = Trace(laboratory, laboratory.observe(step))
    if isinstance(t.steps[0].value, GeneratorType):
        number(t.steps[0].value)
    right = laboratory.observe(train_step)
    as_it_should = all(_alike(a.moved, b.moved) for a, b in zip(t.steps, right, strict=True))
    _tell(ALWAYS, t)
    if not as_it_should:
        _tell(READS, t)
        if t.gradient is None:
            raise Symptom(OTHERWISE)
        _tell(LEARNS, t)
    losses = [s.value for s in right] if as_it_should else [loss for loss, _ in t.slopes]
    _judge_value(t, losses)


def _tell(symptoms: Sequence[Seen], t: Trace) -> None:
    """Tell the first symptom that is seen."""
    for symptom, seen, _ in symptoms:
        if found := seen(t):
            raise Symptom(f"{symptom} {found}" if isinstance(found, str) else symptom)


def _judge_value(t: Trace, losses: Sequence[float]) -> None:
    """Look at the losses that a step returned, when the parameters moved as they should."""
    values = [number(step.value) for step in t.steps]
    known: dict[str, Sequence[float]] = {}
    if t.gradient is not None:
        counts = t.asked.sum((1, 2)).tolist()
        known[LATER] = t.later
        known[SUMMED] = [loss * count for loss, count in zip(losses, counts, strict=True)]
    outcomes = {symptom: [Outcome(v) for v in row] for symptom, row in known.items()}
    view = View([Outcome(v) for v in values], [Outcome(v) for v in losses], outcomes)
    view.tell_known()
    view.tell_twisted()
    view.tell_constant()
    if view.seen != view.right:
        raise Symptom(
            f"The step is right, but you return {values[0]:.4f}, and the loss that it was taken on "
            f"is {losses[0]:.4f}: return loss.item()."
        )
    if isinstance(t.steps[0].value, Tensor):
        raise Symptom(TENSOR)


check_train_step = Exercise(
    solution=train_step,
    wants=number,
    solved="Sample, mask, predict, compare, improve: fit does this 1250 times.",
    judge=_judge_train_step,
    mistakes={
        **{symptom: wrong for symptom, _, wrong in [*ALWAYS, *READS, *LEARNS]},
        TENSOR: _step(value=lambda loss: loss),
        LATER: _look_again,
        SUMMED: _counted,
        "Your result is rounded (to 1 digit)": _step(value=lambda loss: round(loss.item(), 1)),
        "Your result is the right one in bits": _step(value=lambda loss: loss.item() / LOG2),
        "You return 3.37 whatever the input": _step(value=lambda _: 3.37),
        "Your answer is a list of 1": _step(value=lambda loss: [loss.item()]),
        "prints": _step(value=lambda loss: print(loss.item())),
        "backward() belongs to the loss": _step(loss=lambda *given: _loss(*given).item()),
        "The way back is cut": _step(loss=lambda *given: _loss(*given).detach()),
        "the logits first and the labels second": _step(
            loss=lambda model, inputs, labels: mlm_loss(labels, model(inputs))
        ),
        "take them apart": lambda model, _, windows: model(_mask(windows)),
        "starts from one number: mlm_loss": _step(
            loss=lambda model, inputs, labels: F.cross_entropy(
                model(inputs).flatten(0, 1), labels.flatten(), reduction="none"
            )
        ),
    },
)
"""Mark ``train_step(model, optimizer, windows)``: one step at 30 %, returning its loss."""

# ── 4.2 ──────────────────────────────────────────────────────────────────────────────────────────

Prices = Mapping[str, float]


def beaten(loss: float, prices: Prices) -> list[str]:
    """List the baselines that a loss is below."""
    return [name for name, price in prices.items() if loss < price]


def prices(chance: random.Random) -> list[Probe]:
    """Make losses that beat some, none and all of the prices, and one that ties."""
    known = {"uniform": 3.37, "unigram": 2.8, "left bigram": 2.34, "both neighbours": 1.73}
    drawn = {name: round(chance.uniform(1, 4), 2) for name in ("dice", "coin", "parrot", "owl")}
    rising = dict(sorted(known.items(), key=lambda pair: pair[1]))
    middle = sorted(drawn.values())
    return [
        (2.62, known),
        (2.0, rising),
        (0.9, known),
        (4.5, known),
        (2.34, known),
        (1.73, rising),
        ((middle[1] + middle[2]) / 2, drawn),
        (middle[3] - 0.001, drawn),
    ]


def beaten_names(value: Any) -> list[str]:
    """Read names in any order; one text is not a list of them."""
    if isinstance(value, str):
        raise Symptom(
            "Your answer is a single text; what is asked for is a list, which holds several names "
            "or none: [] and append."
        )
    return names(value)


check_beaten = Exercise(
    solution=beaten,
    wants=beaten_names,
    probes=prices,
    solved="2.62 nats beat two baselines and no neighbour: remember that number.",
    direction="List the name of every baseline whose price is above the loss, as it stands in "
    "`prices`.",
    mistakes=Mistakes(__name__, "beaten"),
)
"""Mark ``beaten(loss, prices)``: the names of the baselines that a loss is below."""

# ── 4.3 ──────────────────────────────────────────────────────────────────────────────────────────

LOOPS = ("A", "B", "C")
FORM = 'Answer with the three loops and a number each: {"A": …, "B": …, "C": …}.'

LOOK: Mapping[tuple[str, int], str] = {
    ("A", 1): "Loop A reports nothing at all, so its fault must be in how it learns: put it beside "
    "the step that you wrote. What is missing?",
    ("A", 3): "Loop A draws new windows and new masks at every step, so there is nothing to learn "
    "by heart: put it beside the step that you wrote. What is missing?",
    ("B", 1): "Loop B reports nothing at all, so its fault must be in how it learns. What stands "
    "above its `for`, and how many different questions does it ask, therefore?",
}
"""Where to look, given a loop and a symptom that is not its own."""


def diagnoses(value: Any) -> dict[str, int]:
    """Read a symptom, 1 to 3, for each of the loops."""
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise Symptom(f"Your answer is of type {kind}, and what is asked for is a dict. {FORM}")
    if sorted(map(str, value.values())) == list(LOOPS):
        raise Symptom(f"Your dict is turned round: the loops come before the colons. {FORM}")
    read = {str(loop).strip().upper(): symptom for loop, symptom in value.items()}
    if missing := [loop for loop in LOOPS if loop not in read]:
        raise Symptom(f"There is no entry for loop {', '.join(missing)}. {FORM}")
    if unknown := [loop for loop in read if loop not in LOOPS]:
        raise Symptom(f"There is no loop {' or '.join(unknown)}. {FORM}")
    symptoms = {loop: _symptom(loop, read[loop]) for loop in LOOPS}
    for loop, other in (("A", "B"), ("A", "C"), ("B", "C")):
        if symptoms[loop] == symptoms[other]:
            raise Symptom(
                f"You give {loop} and {other} the same symptom, {symptoms[loop]}; each of 1, 2 and "
                "3 belongs to one loop."
            )
    return symptoms


def _symptom(loop: str, value: Any) -> int:
    if value is None:
        raise Symptom(f"Loop {loop} has no symptom yet: replace None by 1, 2 or 3.")
    try:
        symptom = number(value)
    except Symptom:
        raise Symptom(
            f"For loop {loop} you give {value!r}; give the number of its symptom, 1, 2 or 3, "
            "without quotes and brackets."
        ) from None
    if symptom not in (1, 2, 3):
        raise Symptom(f"For loop {loop} you give {value}, and the symptoms are 1, 2 and 3.")
    return int(symptom)


def _judge_diagnosis(answer: Any) -> None:
    given = diagnoses(answer)
    for loop in LOOPS:
        if given[loop] != diagnosis[loop]:
            raise Symptom(LOOK[loop, given[loop]])


diagnosis = {"A": 2, "B": 3, "C": 1}

check_diagnosis = Exercise(
    solution=diagnosis,
    wants=diagnoses,
    solved="A never calls zero_grad, B masks once and for all, C measures on the text it trains "
    "on.",
    judge=_judge_diagnosis,
)
"""Mark which broken loop (A, B, C) shows which symptom (1, 2, 3)."""
