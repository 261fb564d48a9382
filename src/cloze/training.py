"""Training: the loop, the recipe it follows, and runs that can be stopped, saved and resumed."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from tqdm.std import tqdm

from cloze import checkpoint
from cloze.checkpoint import CheckpointError
from cloze.corpus import Corpus, sample_windows
from cloze.distributed import Team
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import held_out_batch, mask_tokens
from cloze.muon import Muon


@dataclass(frozen=True)
class Recipe:
    """How to train. The defaults take about a minute on one core; see benchmarks/README.md."""

    steps: int = 1100
    batch_size: int = 32
    length: int = 64
    """The length of a training window in characters."""
    mask_prob: float = 0.3
    """The rate of selection in training. Held-out loss is always measured at 15 %."""
    learning_rate: float = 1e-2
    """The peak step size of AdamW: embedding, norms, biases, head."""
    matrix_learning_rate: float = 2e-2
    """The peak step size of Muon: the matrices of the layers."""
    warmup: float = 0.1
    """The share of the steps in which the step sizes rise from 0 to their peak."""
    weight_decay: float = 0.0
    evaluations: int = 8
    """How often the held-out loss is measured, at moments that get rarer (0 for never)."""
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.steps, self.batch_size, self.length) < 1 or self.evaluations < 0:
            raise ValueError("steps, batch_size and length are at least 1, evaluations at least 0.")
        if not 0 <= self.mask_prob <= 1:
            raise ValueError(f"mask_prob is a probability, from 0 to 1, not {self.mask_prob}.")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup is a share of the steps, from 0 to below 1: {self.warmup}.")

    def schedule(self, step: int) -> float:
        """Return the factor on the step sizes at ``step`` = 0, 1, …: up to 1, then down to 0."""
        warm = self.warmup * self.steps
        return min(1.0, (step + 1) / max(1.0, warm), (self.steps - step) / (self.steps - warm))

    def evaluated_after(self) -> set[int]:
        """Return the steps after which held-out loss is measured: 1/2, 1/4, … apart, and last."""
        if not self.evaluations:
            return set()
        share = [(k / self.evaluations) ** 2 for k in range(1, self.evaluations + 1)]
        return {max(1, round(self.steps * s)) for s in share}


class Record(NamedTuple):
    """One step of training."""

    step: int
    """Steps done, from 1."""
    characters: int
    """Characters seen."""
    seconds: float
    """Time spent in steps; measuring held-out loss is not counted."""
    loss: float
    """Training loss of this step's batch in nats, at the training ``mask_prob``."""
    held_out: float | None
    """Held-out loss in nats, where it was measured after this step."""


class TrainingRun:
    """A training in progress: model, optimizers, source of chance, history.

    Several processes started by ``torchrun`` each make the same run; they share the work of its
    steps (see :mod:`cloze.distributed`).

    Args:
        model: the model to train, in place.
        corpus: what to train on and what to measure on.
        recipe: how.
    """

    def __init__(self, model: MaskedLM, corpus: Corpus, recipe: Recipe | None = None) -> None:
        self.model = model
        self.corpus = corpus
        self.recipe = recipe or Recipe()
        self.step = 0
        self.seconds = 0.0
        self.history: list[Record] = []
        self.generator = torch.Generator().manual_seed(self.recipe.seed)
        self.held_out = held_out_batch(corpus.held_out_windows(self.recipe.length))
        self.optimizers = _optimizers(model, self.recipe)
        self.team = Team(model)

    @property
    def finished(self) -> bool:
        """Whether all steps of the recipe are done."""
        return self.step >= self.recipe.steps

    def train_step(self) -> float:
        """Take one step and return its loss: sample, mask, predict, compare, improve."""
        recipe = self.recipe
        for optimizer, peak in self.optimizers:
            optimizer.param_groups[0]["lr"] = peak * recipe.schedule(self.step)
        windows = sample_windows(
            self.corpus.train_ids, recipe.batch_size, recipe.length, self.generator
        )
        batch = mask_tokens(windows, recipe.mask_prob, generator=self.generator)
        (inputs, labels), weight = self.team.share(batch)  # the whole batch, 1.0, when alone
        selected = labels >= 0
        loss = weight * mlm_loss(self.team.logits_at(inputs, selected), labels[selected])
        self.model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, _ in self.optimizers:
            optimizer.step()
        self.step += 1
        return self.team.mean(loss)

    def save(self, path: Path | str) -> None:
        """Save everything that a later :meth:`load` needs to go on exactly here.

        Of several processes the leader alone writes.
        """
        if not self.team.leads:
            return
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        for k, (optimizer, _) in enumerate(self.optimizers):
            for i, state in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{k}.{i}.{name}": t for name, t in state.items()}
        tensors["generator"] = self.generator.get_state()
        metadata = {
            "kind": "run",
            "config": asdict(self.model.config),
            "recipe": asdict(self.recipe),
            "corpus": self.corpus.sha256,
            "step": self.step,
            "seconds": self.seconds,
            "history": self.history,
        }
        checkpoint.write(path, tensors, metadata)

    @classmethod
    def load(cls, path: Path | str, corpus: Corpus) -> TrainingRun:
        """Load a saved run; going on equals never having stopped, bit for bit on one machine.

        Raises:
            CheckpointError: the file is damaged, not a run, or was made with another corpus.
        """
        tensors, metadata = checkpoint.read(path)
        if metadata.get("kind") != "run":
            raise CheckpointError(
                f"{path} is not a saved training run (TrainingRun.save makes one)."
            )
        if metadata.get("corpus") != corpus.sha256:
            raise CheckpointError(
                f"{path} was trained on another corpus; load the corpus it was started with."
            )
        try:
            model = MaskedLM(checkpoint.model_config(path, metadata))
            run = cls(model, corpus, Recipe(**metadata["recipe"]))
            model.load_state_dict(_below("model.", tensors))
            for k, (optimizer, _) in enumerate(run.optimizers):
                state: dict[int, dict[str, Tensor]] = {}
                for name, tensor in _below(f"optimizer.{k}.", tensors).items():
                    i, _, key = name.partition(".")
                    state.setdefault(int(i), {})[key] = tensor
                groups = optimizer.state_dict()["param_groups"]
                optimizer.load_state_dict({"state": state, "param_groups": groups})
            run.generator.set_state(tensors["generator"])
            run.step, run.seconds = metadata["step"], metadata["seconds"]
            run.history = [Record(*values) for values in metadata["history"]]
        except (KeyError, TypeError, ValueError, RuntimeError):
            raise CheckpointError(f"The parts of the run in {path} do not fit together.") from None
        return run

    def __repr__(self) -> str:
        return f"TrainingRun(step {self.step} of {self.recipe.steps})"


def fit(
    run: TrainingRun, *, stop: Callable[[], bool] | None = None, progress: bool = True
) -> Iterator[Record]:
    """Train until the recipe's last step, yielding a record after each step.

    It can be left at any record, by ``break``, by a ``stop`` function that returns True, or by
    interrupting (Ctrl-C, ■): a step is never left half done. The run keeps model and history, and
    ``fit(run)`` goes on where it stopped.

    Args:
        run: what to train; a finished run yields nothing. If its last measurement of held-out
            loss was interrupted, that is done first and its record yielded.
        stop: asked after every step whether to stop.
        progress: show a bar with the time left.

    Raises:
        KeyboardInterrupt: after the step during which it was asked for.
    """
    moments = run.recipe.evaluated_after()
    team = run.team

    def unmeasured() -> bool:
        return run.step in moments and run.history[-1].held_out is None

    bar = tqdm(
        total=run.recipe.steps,
        initial=run.step,
        desc="training",
        unit="step",
        disable=not (progress and team.leads),
        leave=False,
    )
    # Alone, an interrupt waits for the end of the step only. In a team it waits until all processes
    # know of it, since one that left early would leave the others waiting for its gradients.
    alone = team.size == 1
    with bar, nullcontext(_never) if alone else held_interrupts() as interrupted:
        while unmeasured() or not run.finished:
            if not unmeasured():
                with whole_step() if alone else nullcontext():
                    started = time.perf_counter()
                    loss = run.train_step()
                    run.seconds += time.perf_counter() - started
                    characters = run.step * run.recipe.batch_size * run.recipe.length
                    run.history.append(Record(run.step, characters, run.seconds, loss, None))
                bar.update()
            if unmeasured():
                measured = team.leaders(lambda: held_out_loss(run.model, run.held_out))
                run.history[-1] = run.history[-1]._replace(held_out=measured)
            bar.set_postfix_str(f"loss {run.history[-1].loss:.2f} nats", refresh=False)
            yield run.history[-1]
            if team.any(interrupted()):
                raise KeyboardInterrupt
            if team.any(stop is not None and stop()):
                return


@contextmanager
def whole_step() -> Iterator[None]:
    """Hold an interrupt back until the block is done, so that no step is left half taken."""
    with held_interrupts() as interrupted:
        yield
    if interrupted():
        raise KeyboardInterrupt


@contextmanager
def held_interrupts() -> Iterator[Callable[[], bool]]:
    """Remember interrupts in the block instead of raising them; yields what tells of them."""
    if threading.current_thread() is not threading.main_thread():
        yield _never  # Python delivers interrupts to the main thread alone.
        return
    asked = False

    def remember(*_: object) -> None:
        nonlocal asked
        asked = True

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def _never() -> bool:
    return False


def steps_in(seconds: float, model: MaskedLM, corpus: Corpus, recipe: Recipe) -> int:
    """Return how many steps of a recipe this machine does in so many seconds.

    A few steps are timed on a copy of the model; the model itself is not changed.
    """
    copy = MaskedLM(model.config)
    trial = TrainingRun(copy, corpus, recipe)
    times = []
    for _ in range(8):
        started = time.perf_counter()
        trial.train_step()
        times.append(time.perf_counter() - started)
    return int(trial.team.leaders(lambda: max(1, int(seconds / sorted(times)[len(times) // 2]))))


def _optimizers(model: MaskedLM, recipe: Recipe) -> list[tuple[torch.optim.Optimizer, float]]:
    """Give the matrices of the layers to Muon and all the rest to AdamW, with their peak rates."""
    matrices = [p for p in model.encoder.layers.parameters() if p.dim() == 2]
    theirs = set(matrices)
    rest: list[nn.Parameter] = [p for p in model.parameters() if p not in theirs]
    decay = recipe.weight_decay
    muon = Muon(matrices, lr=recipe.matrix_learning_rate, weight_decay=decay)
    adam = torch.optim.AdamW(
        rest, lr=recipe.learning_rate, betas=(0.9, 0.99), weight_decay=0, fused=True
    )
    return [(muon, recipe.matrix_learning_rate), (adam, recipe.learning_rate)]


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names begin with ``prefix``, without it."""
    return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}
