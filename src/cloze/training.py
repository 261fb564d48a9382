"""Training: the recipe, the loop and its step, and runs that can be stopped, saved and resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from tqdm.std import tqdm

from cloze import checkpoint
from cloze.arguments import FilePath, Probability, Whole, between, checked
from cloze.checkpoint import CheckpointError
from cloze.encoder import EncoderConfig, Layer
from cloze.heads import MaskedLM
from cloze.interrupts import held_signals
from cloze.muon import Muon
from cloze.objectives import MASKED, Objective, objective_named
from cloze.vocabulary import Vocabulary

Size = Annotated[int, between(1, 2**16)]
Rate = Annotated[float, between(0, 10)]


@checked
@dataclass(frozen=True)
class Recipe:
    """How to train. The defaults take about a minute on one core; see benchmarks/README.md."""

    steps: Annotated[int, between(1, 10**8)] = 1250
    batch_size: Size = 32
    length: Size = 64
    """The length of a training window in characters."""
    mask_prob: Probability = 0.3
    """The rate of selection in training. Held-out loss is always measured at 15%."""
    learning_rate: Rate = 1e-2
    """The peak step size of AdamW: embedding, norms, biases, head."""
    matrix_learning_rate: Rate = 3e-2
    """The peak step size of Muon: the matrices of the layers but queries and keys."""
    query_key_learning_rate: Rate = 7.5e-3
    """The peak step size of Muon for queries and keys, which say where to look."""
    warmup: Annotated[float, between(0, 0.99)] = 0.1
    """The share of the steps in which the step sizes rise from 0 to their peak."""
    weight_decay: Rate = 0.0
    evaluations: Annotated[int, between(0, 1000)] = 8
    """How often the held-out loss is measured, at moments that get rarer (0 for never)."""
    seed: Whole = 0

    def schedule(self, step: int) -> float:
        """Return the factor on the step sizes at ``step`` = 0, 1, …: up to 1, then down to 0."""
        warm = self.warmup * self.steps
        return min(1.0, (step + 1) / max(1.0, warm), (self.steps - step) / (self.steps - warm))

    def evaluated_after(self) -> set[int]:
        """Return the steps after which held-out loss is measured: 1/2, 1/4, … apart, and last."""
        share = [(k / self.evaluations) ** 2 for k in range(1, self.evaluations + 1)]
        return {max(1, round(self.steps * s)) for s in share}


EVEN = Recipe(steps=1100, matrix_learning_rate=2e-2, query_key_learning_rate=2e-2)
"""One rate for all matrices: what trained the shipped checkpoints and the kept results.

Where those name another rate, number of steps or decay, it replaces the one here.
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


class Progress:
    """Progress of a training run."""

    recipe: Any
    """How it is trained; it has ``steps``."""
    history: list[Record]

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


def fit(
    run: TrainingRun, *, stop: Callable[[], bool] = lambda: False, progress: bool = True
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
    if run.unmeasured:  # an interrupt ended the last measurement
        run.measure()
        yield run.history[-1]
    bar = tqdm(
        desc="training",
        total=run.recipe.steps,
        initial=run.step,
        unit="step",
        disable=not progress,
        leave=False,
    )
    with bar:
        while not run.finished:
            with held_signals():
                run.train_step()
            if run.unmeasured:
                run.measure()
            bar.update()
            bar.set_postfix_str(f"loss {run.history[-1].loss:.2f} nats", refresh=False)
            yield run.history[-1]
            if stop():
                return


class TrainingRun(Progress):
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

    recipe: Recipe

    @checked
    def __init__(
        self,
        model: MaskedLM,
        corpus: Source,
        recipe: Recipe | None = None,
        objective: Objective = MASKED,
    ) -> None:
        recipe = recipe or Recipe()
        _must_fit(model, corpus, recipe, objective)
        self.model, self.corpus, self.recipe, self.objective = model, corpus, recipe, objective
        model.objective = objective.name
        self.history: list[Record] = []
        self.generator = torch.Generator().manual_seed(recipe.seed)
        self.held_out = objective.held_out(corpus.held_out_windows(recipe.length), model.vocabulary)
        self.optimizers = _optimizers(model, recipe, head=objective.head)
        self._measured_after = recipe.evaluated_after()

    def train_step(self) -> float:
        """Take one step and return its loss: sample, mask, predict and compare, improve.

        Raises:
            FloatingPointError: the loss is not finite; the weights stay as they were.
        """
        started = time.perf_counter()
        model, recipe, chance = self.model, self.recipe, self.generator
        for optimizer, peak in self.optimizers:
            optimizer.param_groups[0]["lr"] = peak * recipe.schedule(self.step)

        windows = self.corpus.sample(recipe.batch_size, recipe.length, chance)  # (batch, length)
        batch = self.objective.ask(windows, recipe.mask_prob, chance, model.vocabulary)
        loss = self.objective.loss(model, batch)  # a scalar: the mean over the selected positions
        nats = self._finite(loss.item())

        model.zero_grad()
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

    @property
    def unmeasured(self) -> bool:
        """Whether held-out loss is still to be measured after the last step."""
        return self.step in self._measured_after and self.history[-1].held_out is None

    def __repr__(self) -> str:
        return f"TrainingRun(step {self.step} of {self.recipe.steps})"

    # Saved and resumed

    def save(self, path: FilePath) -> None:
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
            "history": self.history,
        }
        checkpoint.write(path, self._tensors(), metadata)

    @classmethod
    def load(
        cls, path: FilePath, corpus: Source, objective: Objective | None = None
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
        with checkpoint.fitting(path):
            if metadata["recipe"].keys() != {field.name for field in fields(Recipe)}:
                raise ValueError("its recipe has other parts; begin anew")
            name = metadata["objective"]
            objective = objective or objective_named(name)
            if objective.name != name:
                raise ValueError(f"it was begun with the objective {name!r:.50}; load it with that")
            vocabulary = objective.vocabulary(corpus.vocabulary)
            model = objective.model(EncoderConfig(**metadata["config"]), vocabulary)
            run = cls(model, corpus, Recipe(**metadata["recipe"]), objective)
            run._take_over(tensors, [Record(*record) for record in metadata["history"]])
        return run

    def _tensors(self) -> dict[str, Tensor]:
        """Return all tensors of the run by the names that they have in its file."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        for k, (optimizer, _) in enumerate(self.optimizers):
            for i, state in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{k}.{i}.{name}": t for name, t in state.items()}
        return tensors | {"generator": self.generator.get_state()}

    def _take_over(self, tensors: dict[str, Tensor], history: list[Record]) -> None:
        """Go on from the tensors and the history of another run.

        Raises:
            ValueError: a tensor is missing, or is not one that belongs to such a run.
        """
        if history:
            self.train_step()  # what optimizers remember exists from the first step on
        own = self._tensors()
        checkpoint.must_match(tensors, own)
        for name, tensor in own.items():
            tensor.copy_(tensors[name])
        self.generator.set_state(tensors["generator"])
        self.history = history


def _must_fit(model: MaskedLM, corpus: Source, recipe: Recipe, objective: Objective) -> None:
    """Refuse a model that cannot be trained on a corpus in this way.

    Raises:
        ValueError: it is of another kind, reads other symbols, or shorter lines.
    """
    if model.kind != objective.model.kind:
        raise ValueError(
            f"The objective {objective.name} trains a {objective.model.__name__}, not a "
            f"{type(model).__name__}."
        )
    if recipe.length + objective.room > model.config.max_len:
        with_room = f" and {objective.room} symbols more" if objective.room else ""
        raise ValueError(
            f"Windows of {recipe.length} characters{with_room} are too long for this "
            f"model, which reads at most max_len = {model.config.max_len}."
        )
    if model.vocabulary != objective.vocabulary(corpus.vocabulary):
        raise ValueError(
            "The model reads other symbols than there are to train on; make it with "
            "MaskedLM(config, vocabulary), where vocabulary is that of the corpus or world."
        )


@checked
def steps_in(seconds: Annotated[float, between(0, 1e6)], trial: TrainingRun) -> int:
    """Return how many steps fit into ``seconds`` on this machine.

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
    queries_and_keys: list[nn.Parameter] = []
    others: list[nn.Parameter] = []  # the matrices of values, outputs and feed-forward networks
    for layer in (module for module in model.modules() if isinstance(module, Layer)):
        for name, parameter in layer.named_parameters():
            if parameter.dim() == 2:
                matrices = queries_and_keys if "query" in name or "key" in name else others
                matrices.append(parameter)
    matrices_of_layers = {*queries_and_keys, *others}
    trained = model if head else model.encoder
    rest = [p for p in trained.parameters() if p not in matrices_of_layers]
    slow, fast = recipe.query_key_learning_rate, recipe.matrix_learning_rate
    adam = torch.optim.AdamW(
        rest, lr=recipe.learning_rate, betas=(0.9, 0.99), weight_decay=0, fused=True
    )
    return [
        (Muon(queries_and_keys, lr=slow, weight_decay=recipe.weight_decay), slow),
        (Muon(others, lr=fast, weight_decay=recipe.weight_decay), fast),
        (adam, recipe.learning_rate),
    ]
