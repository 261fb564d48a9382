"""What pretraining is worth: the same heads and labels, with and without it, frozen and free.

``python -m cloze.lessons.put_to_use.comparison`` fine-tunes for every task, number of labels,
learning rate and seed, and writes how well each run answers unseen lines to comparison.json, then
the same for 64 labels at several step sizes. It goes on where it stopped (twenty minutes on an idle
core).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.encoder import Encoder
from cloze.evaluation import Repeated, held_out_loss
from cloze.lessons.put_to_use import tasks
from cloze.lessons.put_to_use.faults import (
    PROGRAMS,
    fault_odds,
    hits,
    labels_of,
    plant,
)
from cloze.lessons.put_to_use.tasks import CHARACTERS, Task
from cloze.masking import IGNORE, held_out_batch
from cloze.prediction.shipped import shipped_model
from cloze.teaching import measurements
from cloze.use.finetuning import FineTuning, accuracy, answers, entity_f1, finetune
from cloze.use.heads import FineTuned, SpanExtractor, TextClassifier, TokenClassifier, best_span
from cloze.world import World

RESULTS = Path(__file__).with_suffix(".json")
START = ("pretrained", "frozen", "from scratch")
"""What the encoder knows before: pretrained and trained on, pretrained and left alone, nothing."""
RATES = {"pretrained": 0.003, "frozen": 0.0, "from scratch": 0.003}
"""The learning rate of the encoder; the head's is always 0.01."""
TAG_RATES = {**RATES, "pretrained": 0.01}
"""Of 0.001, 0.003 and 0.01 these were the best for tags of words, in a trial with other draws."""
UP_TO_400 = (25, 100, 400)
"""Numbers of labels for tasks in which a handful teach no model anything."""
STEP_SIZES = (0.001, 0.003, 0.01, 0.03)
"""Learning rates that are tried on 64 labelled sentences, ten draws each."""


class Experiment(NamedTuple):
    """A task as it is measured."""

    lines: Callable[[int, int], tuple[Task, Task]]
    """From a number of labels and a seed to the labelled lines and the test lines."""
    encoder: Callable[[], Encoder]
    """The pretrained encoder."""
    head: Callable[[Encoder], FineTuned]
    score: Callable[[FineTuned, Task, Task], dict[str, float]]
    """From a model, its labelled lines and its test lines to how well it does."""
    labels: tuple[int, ...]
    seeds: int = 3
    rates: Mapping[str, float] = RATES
    batch_size: int = 8
    least_steps: int = 100
    epochs: int = 10


def share_right(model: FineTuned, learned: Task, test: Task) -> dict[str, float]:  # noqa: ARG001
    """Return the share of labels said rightly."""
    return {"right": accuracy(answers(model, test.input_ids).argmax(-1), test.labels)}


def tags_right(model: FineTuned, learned: Task, test: Task) -> dict[str, float]:
    """Return the share of words tagged rightly, and that of words in none of the labelled lines."""
    said = answers(model, test.input_ids).argmax(-1)
    known = torch.isin(test.input_ids, learned.input_ids)
    measured = {"right": accuracy(said, test.labels)}
    unseen = test.labels.masked_fill(known, IGNORE)
    if (unseen != IGNORE).sum() >= 50:
        measured["unseen words"] = accuracy(said, unseen)
    return measured


def spans_right(allowed: Callable[[Tensor], Tensor]) -> Callable[..., dict[str, float]]:
    """Score spans: the share whose first and last word are right."""

    def score(model: FineTuned, learned: Task, test: Task) -> dict[str, float]:  # noqa: ARG001
        said = best_span(answers(model, test.input_ids), allowed(test.input_ids))
        return {"right": float((said == test.labels).all(1).double().mean())}

    return score


def names_right(model: FineTuned, learned: Task, test: Task) -> dict[str, float]:  # noqa: ARG001
    """Return the F1 of entities."""
    said = tasks.tags_said(answers(model, test.input_ids), test.labels)
    return {"F1": entity_f1(tasks.tags_of(test.labels), said).f1}


def fault_task(world: World, n: int, seed: int) -> Task:
    """Plant a fault in each of so many programs and label where it is."""
    faulty = plant(world, n, seed)
    return Task(faulty.input_ids, labels_of(faulty, world))


def faults_found(
    world: World,
    model: FineTuned,
    learned: Task,  # noqa: ARG001
    test: Task,
) -> dict[str, float]:
    """Return the share of faults at the position that the model holds likeliest."""
    return {"right": hits(fault_odds(world, model, test.input_ids), test.labels.argmax(1))}


def fault_lines(world: World) -> Callable[[int, int], tuple[Task, Task]]:
    """Draw faulty programs anew for each seed; 300 are asked, and none of these is learned from."""
    test = fault_task(world, 300, 1)

    def lines(n: int, seed: int) -> tuple[Task, Task]:
        drawn = fault_task(world, 2 * max(UP_TO_400), 1000 + seed)
        return drawn.without(test).split(n)[0], test

    return lines


def in_order(task: Task, tested: int) -> Callable[[int, int], tuple[Task, Task]]:
    """Draw the labelled lines anew for each seed; the last ones of its order are asked."""

    def lines(n: int, seed: int) -> tuple[Task, Task]:
        drawn = task.reordered(seed)
        return drawn.split(n)[0], drawn.split(len(drawn.labels) - tested)[1]

    return lines


def experiments() -> dict[str, Experiment]:
    """Return every task, by name."""
    world = World.load()
    words, pairs = world.vocabulary, tasks.pair_vocabulary(world)
    in_world = shipped_model("world").encoder
    programs, in_programs = World.load(PROGRAMS), shipped_model("programs").encoder
    english = shipped_model().encoder
    new = len(pairs) - len(words)
    two = partial(in_world.add_symbols, new, tasks.PAIR_LENGTH)
    read = partial(english.add_symbols, 1)
    names = tasks.name_task(tasks.named_sentences())

    return {
        "sentiment": Experiment(
            in_order(tasks.sentiment(world), 176),
            lambda: in_world,
            lambda encoder: TextClassifier(encoder, words, 2),
            share_right,
            (4, 8, 16, 24, 32, 64),
            seeds=5,
        ),
        "roles": Experiment(
            in_order(tasks.role_task(world), 500),
            lambda: in_world,
            lambda encoder: TokenClassifier(encoder, words, len(tasks.ROLES)),
            tags_right,
            (4, 16, 64),
            rates=TAG_RATES,
        ),
        "faults": Experiment(
            fault_lines(programs),
            lambda: in_programs,
            lambda encoder: TokenClassifier(encoder, programs.vocabulary, 2),
            partial(faults_found, programs),
            UP_TO_400,
            batch_size=16,
            epochs=8,
        ),
        "names": Experiment(
            in_order(names, 100),
            read,
            lambda encoder: TokenClassifier(encoder, CHARACTERS, len(tasks.ENTITY_TAGS)),
            names_right,
            UP_TO_400,
            batch_size=16,
        ),
        "reviews": Experiment(
            in_order(tasks.review_task(), 100),
            read,
            lambda encoder: TextClassifier(encoder, CHARACTERS, 2),
            share_right,
            UP_TO_400,
            batch_size=16,
            epochs=4,
        ),
        "spans": Experiment(
            in_order(tasks.span_task(world, 800), 300),
            two,
            lambda encoder: SpanExtractor(encoder, pairs),
            spans_right(lambda input_ids: tasks.may_answer(input_ids, pairs)),
            UP_TO_400,
            batch_size=16,
        ),
        "entailment": Experiment(
            in_order(tasks.entailment_task(world, 800), 300),
            two,
            lambda encoder: TextClassifier(encoder, pairs, 2),
            share_right,
            UP_TO_400,
            seeds=10,
            batch_size=16,
        ),
    }


class Run(NamedTuple):
    """One fine-tuning."""

    task: str
    start: str
    labels: int
    rate: float
    seed: int


def runs(measured: Mapping[str, Experiment]) -> Iterator[Run]:
    """Yield every run."""
    for name, experiment in measured.items():
        for n in experiment.labels:
            for start in START:
                for seed in range(experiment.seeds):
                    yield Run(name, start, n, experiment.rates[start], seed)


def step_sizes() -> Iterator[Run]:
    """Yield the runs that differ in step size and draw alone."""
    for rate in STEP_SIZES:
        for seed in range(10):
            yield Run("sentiment", "pretrained", 64, rate, seed)


def tuned(run: Run, experiment: Experiment, learned: Task) -> FineTuned:
    """Fine-tune once."""
    torch.manual_seed(run.seed)
    encoder = experiment.encoder()
    if run.start == "from scratch":
        encoder = Encoder(encoder.config)
    model = experiment.head(encoder)
    per_epoch = -(-run.labels // experiment.batch_size)
    epochs = max(experiment.epochs, experiment.least_steps // per_epoch)
    how = FineTuning(
        epochs, experiment.batch_size, run.rate, freeze=run.start == "frozen", seed=run.seed
    )
    finetune(model, learned.input_ids, learned.labels, how)
    return model


def measure(run: Run, experiment: Experiment) -> dict[str, float]:
    """Fine-tune once and ask."""
    learned, test = experiment.lines(run.labels, run.seed)
    measured = experiment.score(tuned(run, experiment, learned), learned, test)
    return {name: round(value, 4) for name, value in measured.items()}


def forgetting(run: Run, experiment: Experiment) -> dict[str, float]:
    """Fine-tune once, ask, and take the masked loss under the old head again, in nats."""
    learned, test = experiment.lines(run.labels, run.seed)
    model, world = tuned(run, experiment, learned), World.load()
    questions = held_out_batch(world.held_out_windows()[:256], vocabulary=world.vocabulary)
    old = deepcopy(shipped_model("world"))
    old.encoder = model.encoder
    measured = {**experiment.score(model, learned, test), "masked": held_out_loss(old, questions)}
    return {name: round(value, 4) for name, value in measured.items()}


def results() -> dict[str, Any]:
    """Return what was measured: "runs" and "step sizes", what each scored by its :class:`Run`."""
    return measurements.read(RESULTS)


def scores(task: str, what: str = "right") -> dict[str, dict[int, Repeated]]:
    """Return scores by what the encoder knew before and by number of labels.

    Raises:
        ValueError: nothing of this kind was measured for this task.
    """
    measured: dict[str, dict[int, Repeated]] = {}
    for start, by_labels in results()["runs"].get(task, {}).items():
        for n in sorted(map(int, by_labels)):
            [by_seed] = by_labels[str(n)].values()
            if values := [scored[what] for scored in by_seed.values() if what in scored]:
                measured.setdefault(start, {})[n] = Repeated.of(values)
    if not measured:
        raise ValueError(f"{what!r} was not measured for the task {task!r}.")
    return measured


def at_step_sizes(what: str) -> dict[str, Repeated]:
    """Return the scores of ten draws by step size, from 64 labelled sentences."""
    by_rate = results()["step sizes"]["sentiment"]["pretrained"]["64"]
    return {
        rate: Repeated.of(scored[what] for scored in by_seed.values())
        for rate, by_seed in by_rate.items()
    }


def main(path: Path = RESULTS, only: Callable[[Run], bool] = lambda run: True) -> None:  # noqa: ARG005
    """Measure every run that the file does not hold yet, and write it after each."""
    measured = experiments()
    made = measurements.made_by(
        __spec__.name, world_sha256=World.load().sha256, corpus_sha256=Corpus.load().sha256
    )

    def by(how: Callable[[Run, Experiment], dict[str, float]]) -> Callable[..., dict[str, float]]:
        return lambda *key: how(Run(*key), measured[key[0]])

    todo = (run for run in runs(measured) if only(run))
    measurements.measure(path, made, "runs", todo, by(measure))
    todo = (run for run in step_sizes() if only(run))
    measurements.measure(path, made, "step sizes", todo, by(forgetting))


if __name__ == "__main__":
    main()
