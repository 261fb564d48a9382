"""Generation: filling all gaps of a line with what a model says of them, in some order.

A model says what may be in each gap, each for itself. To fill several, one fills some, asks the
model again, and goes on. Which are filled first, how many in one forward pass, and whether what was
written may be remasked, is the policy; each yields the lines after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Literal, NamedTuple

import torch
from torch import Tensor

from cloze.arguments import Lines, Probabilities, Temperature, among, checked, known_symbols
from cloze.heads import CausalLM, Model, log_probs_at
from cloze.vocabulary import TextError

Order = Literal["left to right", "easiest first", "random order"]


class Step(NamedTuple):
    """What one step has done to some lines."""

    lines: Tensor
    """What stands there now, ``[MASK]`` where a gap is still open: ``(lines, length)``."""
    filled: Tensor
    """Where something was written in this step: boolean, ``(lines, length)``."""
    remasked: Tensor
    """Where what was written was remasked at the end of the step: boolean."""
    probabilities: Tensor
    """P of each symbol where it wrote, in the order of ``filled``: ``(written, n_ordinary)``."""


Policy = Callable[..., Iterator[Step]]
"""From a model, lines with gaps ``(lines, length)``, a temperature and a source of chance to the
steps in which the gaps are filled."""


@checked
def draw(
    probabilities: Probabilities,
    temperature: Temperature = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw a symbol from each distribution.

    Args:
        probabilities: shape ``(…, symbols)``.
        temperature: probabilities are raised to the power of 1 / temperature and scaled to sum to
            1: below 1 the likely become likelier, at 0 the likeliest is always taken.
        generator: the source of chance; the same state gives the same symbols.

    Returns:
        Ids, shape ``(…)``.
    """
    if not temperature:
        return probabilities.argmax(dim=-1)
    if not probabilities.numel():
        return torch.empty(probabilities.shape[:-1], dtype=torch.int64)
    bent = (probabilities.double().log() / temperature).softmax(dim=-1)
    drawn = torch.multinomial(bent.reshape(-1, bent.shape[-1]), 1, generator=generator)
    return drawn.view(probabilities.shape[:-1])


def unmask(
    model: Model,
    input_ids: Lines,
    order: Order = "easiest first",
    steps: int | None = None,
    *,
    temperature: Temperature = 1.0,
    generator: torch.Generator | None = None,
    truth: Lines | None = None,
) -> Iterator[Step]:
    """Fill gaps one after the other, or several in one forward pass; what is written stays.

    Args:
        model: any model; a causal one can only go from left to right.
        input_ids: lines with ``[MASK]`` wherever something is missing, ``(lines, length)``.
        order: which gap comes next. "easiest first" takes the one that the model is surest of.
        steps: in how many forward passes; 1 fills all at once, each gap without knowing what is put
            into the others. By default every gap has a pass of its own.
        temperature: see :func:`draw`.
        generator: the source of chance; the same state gives the same text.
        truth: the lines without gaps, to write what stands there instead of what is drawn.

    Raises:
        TextError: there is no gap.
        ValueError: no lines of ids, or no such order or temperature.
    """
    lines, gaps = input_ids, _gaps(model, input_ids)
    _can_write(model, order)
    steps = _steps(steps, gaps)
    total, nothing = gaps.sum(dim=1), torch.zeros_like(gaps)
    places = -torch.arange(gaps.shape[1], dtype=torch.float32).expand(gaps.shape)
    for step in range(1, steps + 1):
        count = gaps.sum(dim=1) - (total - total * step // steps)
        if order == "easiest first":
            probs = log_probs_at(model, lines, gaps).exp()
            sure = torch.zeros(gaps.shape, dtype=probs.dtype)
            sure[gaps] = probs.max(dim=-1).values
            chosen = _first(sure, gaps, count)
            probs = probs[chosen[gaps]]
        else:
            random = order == "random order"
            priority = torch.rand(gaps.shape, generator=generator) if random else places
            chosen = _first(priority, gaps, count)
            probs = log_probs_at(model, lines, chosen).exp()
        lines = lines.clone()
        lines[chosen] = draw(probs, temperature, generator) if truth is None else truth[chosen]
        gaps = gaps & ~chosen
        yield Step(lines, chosen, nothing, probs)


def mask_predict(
    model: Model,
    input_ids: Lines,
    steps: int = 10,
    *,
    temperature: Temperature = 0.0,
    generator: torch.Generator | None = None,
) -> Iterator[Step]:
    """Fill all gaps in one forward pass, remask what the model is least sure of, and fill again.

    After step t of T, the n · (T − t) / T symbols of the lowest probability are masked again; that
    of a symbol is the one at which it was written.

    Args:
        model: any model that reads both sides.
        input_ids: lines with ``[MASK]`` wherever something is missing, ``(lines, length)``.
        steps: T, or as many as there are gaps if they are fewer.
        temperature: see :func:`draw`; the method as published takes the likeliest.
        generator: the source of chance.

    Raises:
        TextError: there is no gap.
        ValueError: as :func:`unmask`.

    Source: Ghazvininejad et al. 2019, Mask-Predict, section 3.
    """
    all_gaps = _gaps(model, input_ids)
    _can_write(model)
    steps = _steps(steps, all_gaps)
    total, lines = all_gaps.sum(dim=1), input_ids
    doubt = torch.zeros(all_gaps.shape)
    open_gaps = all_gaps
    for step in range(1, steps + 1):
        probs = log_probs_at(model, lines, open_gaps).exp()
        written = draw(probs, temperature, generator)
        lines = lines.clone()
        lines[open_gaps] = written
        doubt[open_gaps] = -probs.gather(1, written[:, None]).squeeze(1).float()
        again = _first(doubt, all_gaps, total - total * step // steps)
        lines = lines.masked_fill(again, model.vocabulary.mask_id)
        yield Step(lines, open_gaps, again, probs)
        open_gaps = again


def gibbs(
    model: Model,
    input_ids: Lines,
    rounds: int = 3,
    *,
    temperature: Temperature = 1.0,
    generator: torch.Generator | None = None,
) -> Iterator[Step]:
    """Fill all gaps in one pass; then remask one symbol after the other and draw it again.

    Each round comes to every gap of a line once, in random order. With the exact conditional
    distributions, and where every filling can be reached from every other, the lines come ever
    closer to draws from the true distribution.

    Args:
        model: any model that reads both sides.
        input_ids: lines with ``[MASK]`` wherever something is missing, ``(lines, length)``.
        rounds: how often every symbol is drawn again.
        temperature: see :func:`draw`.
        generator: the source of chance.

    Raises:
        TextError: there is no gap.
        ValueError: as :func:`unmask`.

    Source: Wang and Cho 2019, BERT has a Mouth, and It Must Speak.
    """
    _can_write(model)
    gaps = _gaps(model, input_ids)
    for step in unmask(
        model, input_ids, "left to right", 1, temperature=temperature, generator=generator
    ):
        lines = step.lines
        yield step
    nothing, one = torch.zeros_like(gaps), gaps.sum(dim=1).clamp(max=1)
    for _ in range(rounds):
        left = gaps
        while left.any():
            chosen = _first(torch.rand(gaps.shape, generator=generator), left, one)
            masked = lines.masked_fill(chosen, model.vocabulary.mask_id)
            probs = log_probs_at(model, masked, chosen).exp()
            lines = lines.clone()
            lines[chosen] = draw(probs, temperature, generator)
            left = left & ~chosen
            yield Step(lines, chosen, nothing, probs)


POLICIES: dict[str, Policy] = {
    "all at once": partial(unmask, order="left to right", steps=1),
    "left to right": partial(unmask, order="left to right"),
    "easiest first": partial(unmask, order="easiest first"),
    "random order": partial(unmask, order="random order"),
    "mask-predict": mask_predict,
    "Gibbs": gibbs,
}
"""Every way to fill gaps by its name."""


@checked
def write(
    model: Model,
    input_ids: Lines,
    policy: Annotated[str, among(POLICIES)] = "easiest first",
    *,
    temperature: Temperature = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Fill all gaps of lines ``(lines, length)`` by one of the ``POLICIES`` and return the lines.

    Raises:
        TextError: there is no gap.
        ValueError: no such policy or temperature, or no lines of ids.
    """
    lines = input_ids
    for step in POLICIES[policy](model, input_ids, temperature=temperature, generator=generator):
        lines = step.lines
    return lines


def _gaps(model: Model, input_ids: Tensor) -> Tensor:
    """Return where lines have gaps, if there is one at all."""
    gaps = known_symbols(input_ids, len(model.vocabulary)) == model.vocabulary.mask_id
    if not gaps.any():
        raise TextError("The line has no gap; put a _ wherever something is missing.")
    return gaps


def _can_write(model: Model, order: str = "") -> None:
    if isinstance(model, CausalLM) and order != "left to right":
        raise ValueError(
            "A causal model knows only what is left of a gap; let it write left to right, or call "
            "fill_by_bayes(line, model) of cloze.prediction.causal, which scores the whole line."
        )


def _steps(steps: int | None, gaps: Tensor) -> int:
    """Return the number of steps: by default, and at most, as many as a line has gaps."""
    most = int(gaps.sum(dim=1).max())
    return most if steps is None else min(steps, most)


def _first(priority: Tensor, candidates: Tensor, count: Tensor) -> Tensor:
    """Choose in each line the ``count`` positions of highest priority; of equals the leftmost."""
    order = priority.masked_fill(~candidates, float("-inf")).argsort(
        dim=1, descending=True, stable=True
    )
    return candidates & (order.argsort(dim=1) < count[:, None])
