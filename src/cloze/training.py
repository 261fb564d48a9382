"""Training: the loop, the recipe it follows, and runs that can be stopped, saved and resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn
from tqdm.std import tqdm

from cloze import arguments, checkpoint
from cloze.checkpoint import CheckpointError
from cloze.encoder import Layer
from cloze.heads import MaskedLM
from cloze.muon import Muon
from cloze.objectives import MASKED, Objective, objective_named
from cloze.signals import held_signals
from cloze.vocabulary import Vocabulary

Number = TypeVar("Number", int, float)

LARGEST_BATCH = 2**20
"""The characters of a batch at the most; a million need about 10 GB of memory."""


def _within(low: Number, high: Number, default: Number) -> Number:
    """Make a field of a recipe that holds a number from ``low`` to ``high``."""
    made: Number = field(default=default, metadata={"range": (low, high)})
    return made


def _real(value: object, low: float, high: float, what: str) -> float:
    """Read a number from ``low`` to ``high``.

    Raises:
        ValueError: it is none, or lies outside.
    """
    read = arguments.number(value, what)
    if not low <= read <= high:
        raise ValueError(f"{what} is a number from {low:g} to {high:g}, not {value}.")
    return read


@dataclass(frozen=True)
class Recipe:
    """How to train. The defaults take about a minute on one core; see benchmarks/README.md."""

    steps: int = _within(1, 10**8, 1250)
    batch_size: int = _within(1, 2**16, 32)
    length: int = _within(1, 2**16, 64)
    """The length of a training window in characters."""
    mask_prob: float = _within(0.0, 1.0, 0.3)
    """The rate of selection in training. Held-out loss is always measured at 15 %."""
    learning_rate: float = _within(0.0, 10.0, 1e-2)
    """The peak step size of AdamW: embedding, norms, biases, head."""
    matrix_learning_rate: float = _within(0.0, 10.0, 3e-2)
    """The peak step size of Muon: the matrices of the layers but queries and keys."""
    query_key_learning_rate: float = _within(0.0, 10.0, 7.5e-3)
    """The peak step size of Muon for queries and keys, which say where to look."""
    warmup: float = _within(0.0, 0.99, 0.1)
    """The share of the steps in which the step sizes rise from 0 to their peak."""
    weight_decay: float = _within(0.0, 10.0, 0.0)
    evaluations: int = _within(0, 1000, 8)
    """How often the held-out loss is measured, at moments that get rarer (0 for never)."""
    seed: int = _within(0, 2**63 - 1, 0)

    def __post_init__(self) -> None:
        for number in fields(self):
            read = arguments.whole_number if isinstance(number.default, int) else _real
            low, high = number.metadata["range"]
            value = read(getattr(self, number.name), low, high, number.name)
            object.__setattr__(self, number.name, value)
        if self.batch_size * self.length > LARGEST_BATCH:
            raise ValueError(
                f"batch_size times length is at most {LARGEST_BATCH:,} characters, not "
                f"{self.batch_size} times {self.length}."
            )

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


EVEN = Recipe(steps=1100, matrix_learning_rate=2e-2, query_key_learning_rate=2e-2)
"""The default as it was before queries and keys had a rate of their own.

The checkpoints that ship with the series, and the results that its lessons keep, had one rate for
all matrices, this one where they name no other; steps and decay were their own.
"""


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


@runtime_checkable
class Source(Protocol):
    """What a run trains on and measures on: a corpus, or a small world."""

    @property
    def vocabulary(self) -> Vocabulary:
        """What the ids of its windows mean."""

    @property
    def sha256(self) -> str:
        """A fingerprint, by which a saved run knows what it was begun with."""

    def sample(self, n: int, length: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw ids to train on, shape ``(n, length)``."""

    def held_out_windows(self, length: int) -> Tensor:
        """Return the ids to measure on, always the same, shape ``(windows, length)``."""


class TrainingRun:
    """A training in progress: model, optimizers, source of chance, history.

    Args:
        model: the model to train, in place.
        corpus: what to train on and what to measure on.
        recipe: how.
        objective: what the model is asked, and what its answers cost.

    Raises:
        ValueError: the windows are longer than the model reads, or a piece is shorter than one, or
            the model reads other symbols.
    """

    def __init__(
        self,
        model: MaskedLM,
        corpus: Source,
        recipe: Recipe | None = None,
        objective: Objective = MASKED,
    ) -> None:
        self.model = arguments.of_type(model, MaskedLM, "What is trained")
        if not isinstance(corpus, Source):
            raise ValueError(f"corpus is a Corpus or a World, not {arguments.shown(corpus)}.")
        self.corpus = corpus
        self.recipe = Recipe() if recipe is None else arguments.of_type(recipe, Recipe, "recipe")
        self.objective = arguments.of_type(objective, Objective, "objective")
        if type(model).objective != objective.model.objective:
            raise ValueError(
                f"The objective {objective.name} trains a {objective.model.__name__}, not a "
                f"{type(model).__name__}."
            )
        self.history: list[Record] = []
        self.generator = torch.Generator().manual_seed(self.recipe.seed)
        if self.recipe.length + objective.room > model.config.max_len:
            with_room = f" and {objective.room} symbols more" * bool(objective.room)
            raise ValueError(
                f"Windows of {self.recipe.length} characters{with_room} are too long for this "
                f"model, which reads at most max_len = {model.config.max_len}."
            )
        if model.vocabulary != objective.vocabulary(corpus.vocabulary):
            raise ValueError(
                "The model reads other symbols than there are to train on; make it with "
                "MaskedLM(config, vocabulary), where vocabulary is that of the corpus or world."
            )
        windows = corpus.held_out_windows(self.recipe.length)
        self.held_out = objective.held_out(windows, model.vocabulary)
        self.optimizers = _optimizers(model, self.recipe, head=self.objective.head)
        self._moments = self.recipe.evaluated_after()

    @property
    def step(self) -> int:
        """How many steps are done."""
        return len(self.history)

    @property
    def seconds(self) -> float:
        """The time spent in steps."""
        return self.history[-1].seconds if self.history else 0.0

    @property
    def finished(self) -> bool:
        """Whether all steps of the recipe are done."""
        return self.step >= self.recipe.steps

    @property
    def unmeasured(self) -> bool:
        """Whether held-out loss is still to be measured after the last step."""
        return self.step in self._moments and self.history[-1].held_out is None

    def train_step(self) -> float:
        """Take one step and return its loss: sample, mask, predict, compare, improve.

        Raises:
            FloatingPointError: the loss is not finite; the weights stay as they were.
        """
        started, recipe = time.perf_counter(), self.recipe
        for optimizer, peak in self.optimizers:
            optimizer.param_groups[0]["lr"] = peak * recipe.schedule(self.step)
        windows = self.corpus.sample(recipe.batch_size, recipe.length, self.generator)
        batch = self.objective.ask(windows, recipe.mask_prob, self.generator, self.model.vocabulary)
        loss = self.objective.loss(self.model, batch)
        nats = self._finite(loss.item())
        self.model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, _ in self.optimizers:
            optimizer.step()
        seconds = self.seconds + time.perf_counter() - started
        characters = (self.step + 1) * recipe.batch_size * recipe.length
        self.history.append(Record(self.step + 1, characters, seconds, nats, None))
        return nats

    def measure(self) -> float:
        """Measure held-out loss, and write it into the record of the last step if there is one.

        Raises:
            FloatingPointError: it is not finite.
        """
        nats = self._finite(self.objective.measure(self.model, self.held_out))
        if self.history:
            self.history[-1] = self.history[-1]._replace(held_out=nats)
        return nats

    def _finite(self, nats: float) -> float:
        if math.isfinite(nats):
            return nats
        raise FloatingPointError(
            f"The loss is not finite any more after step {self.step}: training went astray; "
            "train with smaller learning rates or less weight decay."
        )

    def save(self, path: Path | str) -> None:
        """Save everything that a later :meth:`load` needs to go on exactly here.

        Raises:
            CheckpointError: the file cannot be written, or a number is not finite.
        """
        metadata = {
            "kind": "run",
            "config": asdict(self.model.config),
            "recipe": asdict(self.recipe),
            "objective": self.objective.name,
            "corpus": self.corpus.sha256,
            "step": self.step,
            "history": self.history,
        }
        checkpoint.write(path, self._tensors(), metadata)

    @classmethod
    def load(
        cls, path: Path | str, corpus: Source, objective: Objective | None = None
    ) -> TrainingRun:
        """Load a saved run; going on equals never having stopped, bit for bit on one machine.

        Args:
            path: where it was saved.
            corpus: what it was begun with.
            objective: what it was begun with, if it is not registered; None to find it by the name
                that the file remembers.

        Raises:
            CheckpointError: the file is damaged, not a run, or was made with another corpus or
                objective.
        """
        tensors, metadata = checkpoint.read(path, "run")
        if metadata.get("corpus") != corpus.sha256:
            raise CheckpointError(
                f"{path} was trained on another corpus; load the corpus it was started with."
            )
        name = str(metadata.get("objective"))
        try:
            objective = objective or objective_named(name)
        except ValueError as error:
            raise CheckpointError(f"{path} was trained in an unknown way. {error}") from None
        if objective.name != name:
            raise CheckpointError(
                f"{path} was trained with the objective {name!r:.50}, not {objective.name!r}; load "
                "it with the objective it was begun with."
            )
        config = checkpoint.model_config(path, metadata)
        parts = metadata.get("recipe")
        if isinstance(parts, dict) and parts.keys() != {field.name for field in fields(Recipe)}:
            raise CheckpointError(
                f"{path} was begun by another version of cloze, whose recipe has other parts; "
                "finish it with that version or begin anew."
            )
        try:
            model = objective.model(config, objective.vocabulary(corpus.vocabulary))
            run = cls(model, corpus, Recipe(**metadata["recipe"]), objective)
            run.history = _history(metadata["history"], run.recipe)
        except (KeyError, TypeError, ValueError):
            raise CheckpointError(f"{path} holds no usable recipe or history.") from None
        if run.history:
            run._make_momentum()
        mine = run._tensors()
        checkpoint.check_layout(path, tensors, mine)
        steps = [t.item() for name, t in tensors.items() if name.endswith(".step")]
        if any(step != run.step for step in [metadata.get("step"), *steps]):
            raise CheckpointError(f"{path} is of no one step: its parts were mixed up.")
        with torch.no_grad():
            for name, tensor in mine.items():
                tensor.copy_(tensors[name])
        try:
            run.generator.set_state(tensors["generator"])
        except RuntimeError:
            raise CheckpointError(f"{path} holds no usable source of chance.") from None
        return run

    def _tensors(self) -> dict[str, Tensor]:
        """Return all tensors of the run by the names that they have in its file."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        for k, (optimizer, _) in enumerate(self.optimizers):
            for i, state in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{k}.{i}.{name}": t for name, t in state.items()}
        return tensors | {"generator": self.generator.get_state()}

    def _make_momentum(self) -> None:
        """Have the optimizers make what they remember, by a step that leads nowhere in particular.

        What they then hold says which names and shapes a file must have.
        """
        for parameter in self.model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        for optimizer, _ in self.optimizers:
            optimizer.step()
        self.model.zero_grad()

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
        FloatingPointError: a loss is not finite.
    """
    bar = tqdm(
        total=run.recipe.steps,
        initial=run.step,
        desc="training",
        unit="step",
        disable=not progress,
        leave=False,
    )
    with bar:
        while run.unmeasured or not run.finished:
            if not run.unmeasured:
                with held_signals():
                    run.train_step()
                bar.update()
            if run.unmeasured:
                run.measure()
            bar.set_postfix_str(f"loss {run.history[-1].loss:.2f} nats", refresh=False)
            yield run.history[-1]
            if stop is not None and stop():
                return


def steps_in(seconds: float, trial: TrainingRun) -> int:
    """Return how many steps this machine does in so many seconds.

    Args:
        seconds: the time that training may take.
        trial: a run like the one in question, of which a few steps are taken to time them.
    """
    times = []
    for _ in range(8):
        started = time.perf_counter()
        trial.train_step()
        times.append(time.perf_counter() - started)
    return max(1, int(seconds / sorted(times)[len(times) // 2]))


def _optimizers(
    model: MaskedLM, recipe: Recipe, *, head: bool
) -> list[tuple[torch.optim.Optimizer, float]]:
    """Give the matrices of the layers to Muon and all the rest to AdamW, with their peak rates."""
    looking: list[nn.Parameter] = []  # the matrices of queries and keys
    others: list[nn.Parameter] = []  # those of values, outputs and feed-forward networks
    for layer in (module for module in model.modules() if isinstance(module, Layer)):
        for name, parameter in layer.named_parameters():
            if parameter.dim() == 2:
                (looking if "query" in name or "key" in name else others).append(parameter)
    theirs = {*looking, *others}
    trained = model if head else model.encoder
    rest = [p for p in trained.parameters() if p not in theirs]
    slow, fast = recipe.query_key_learning_rate, recipe.matrix_learning_rate
    adam = torch.optim.AdamW(
        rest, lr=recipe.learning_rate, betas=(0.9, 0.99), weight_decay=0, fused=True
    )
    return [
        (Muon(looking, lr=slow, weight_decay=recipe.weight_decay), slow),
        (Muon(others, lr=fast, weight_decay=recipe.weight_decay), fast),
        (adam, recipe.learning_rate),
    ]


def _history(values: list[Any], recipe: Recipe) -> list[Record]:
    """Read the history of a saved run.

    Raises:
        TypeError: a record is none.
        ValueError: the records are not those of a run with this recipe.
    """
    history = [Record(*numbers) for numbers in values]
    seconds = 0.0
    for step, record in enumerate(history, 1):
        characters = step * recipe.batch_size * recipe.length
        held_out = 0.0 if record.held_out is None else record.held_out
        _real(record.loss, 0.0, math.inf, "loss")
        _real(held_out, 0.0, math.inf, "held_out")
        seconds = _real(record.seconds, seconds, math.inf, "seconds")
        if (record.step, record.characters) != (step, characters) or step > recipe.steps:
            raise ValueError(f"Record {step} is not of step {step}.")
    return history
