"""What pretraining is worth: the same heads and labels, with and without it, frozen and free.

``python -m measured.put_to_use.comparison`` fine-tunes for every task, number of labels and seed,
measures how well each run answers unseen lines, and then the same for 64 labels at several step
sizes (twenty minutes on an idle core).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import NamedTuple

import torch

from cloze.corpus import Corpus
from cloze.encoder import Encoder
from cloze.evaluation import held_out_loss
from cloze.lessons.put_to_use import tasks
from cloze.lessons.put_to_use.faults import PROGRAMS, hits, plant
from cloze.lessons.put_to_use.results import START
from cloze.lessons.put_to_use.tasks import CHARACTERS, Task
from cloze.masking import IGNORE, held_out_batch
from cloze.prediction.shipped import shipped_model
from cloze.tasks.finetuning import FineTuning, accuracy, answers, entity_f1, finetune
from cloze.tasks.heads import FineTuned, SpanExtractor, TextClassifier, TokenClassifier, best_span
from cloze.vocabulary import Vocabulary
from cloze.world import World
from measured.put_to_use import tasks as more
from measured.shared import ResultsFile

RATES = {"pretrained": 0.003, "frozen": 0.0, "from scratch": 0.003}
"""The learning rate of the encoder; the head's is always 0.01."""
TAG_RATES = {**RATES, "pretrained": 0.01}
"""Of 0.001, 0.003 and 0.01 these were the best for tags of words, in a trial with other draws."""
UP_TO_400 = (25, 100, 400)
"""Numbers of labels for tasks in which a handful teach no model anything."""
STEP_SIZES = (0.001, 0.003, 0.01, 0.03)
"""Learning rates that are tried on 64 labelled sentences, ten draws each."""


class Experiment(NamedTuple):
    """A task, and how it is learned and scored."""

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
    return {"right": accuracy(answers(model, test.input_ids).argmax(-1), test.labels)}


def tags_right(model: FineTuned, learned: Task, test: Task) -> dict[str, float]:
    """Return the share of correct tags, of all words and of words in none of the labelled lines."""
    guesses = answers(model, test.input_ids).argmax(-1)
    known = torch.isin(test.input_ids, learned.input_ids)
    measured = {"right": accuracy(guesses, test.labels)}
    unseen = test.labels.masked_fill(known, IGNORE)
    if (unseen != IGNORE).sum() >= 50:
        measured["unseen words"] = accuracy(guesses, unseen)
    return measured


def spans_right(
    pairs: Vocabulary,
    model: FineTuned,
    learned: Task,  # noqa: ARG001
    test: Task,
) -> dict[str, float]:
    """Return the share of spans whose first and last word are right."""
    allowed = more.may_answer(test.input_ids, pairs)
    spans = best_span(answers(model, test.input_ids), allowed)
    return {"right": float((spans == test.labels).all(1).double().mean())}


def names_right(model: FineTuned, learned: Task, test: Task) -> dict[str, float]:  # noqa: ARG001
    tags = more.likeliest_tags(answers(model, test.input_ids), test.labels)
    return {"F1": entity_f1(more.tags_of(test.labels), tags).f1}


def faults_found(
    world: World,
    model: FineTuned,
    learned: Task,  # noqa: ARG001
    test: Task,
) -> dict[str, float]:
    """Return the share of faults at the position that the model finds most likely."""
    return {"right": hits(more.fault_odds(world, model, test.input_ids), test.labels.argmax(1))}


def fault_lines(world: World) -> Callable[[int, int], tuple[Task, Task]]:
    """Draw labelled programs for each seed; the 300 test programs are the same for all."""

    def drawn(n: int, seed: int) -> Task:
        faulty = plant(world, n, seed)
        return Task(faulty.input_ids, more.labels_of(faulty, world))

    test = drawn(300, 1)

    def lines(n: int, seed: int) -> tuple[Task, Task]:
        return drawn(2 * max(UP_TO_400), 1000 + seed).without(test).split(n)[0], test

    return lines


def in_order(task: Task, tested: int) -> Callable[[int, int], tuple[Task, Task]]:
    """Shuffle the lines with each seed; the last ones are the test lines."""

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
    names = more.name_task(tasks.named_sentences())

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
            partial(spans_right, pairs),
            UP_TO_400,
            batch_size=16,
        ),
        "entailment": Experiment(
            in_order(more.entailment_task(world, 800), 300),
            two,
            lambda encoder: TextClassifier(encoder, pairs, 2),
            share_right,
            UP_TO_400,
            seeds=10,
            batch_size=16,
        ),
    }


def main() -> None:
    measured, world = experiments(), World.load()
    questions = held_out_batch(world.held_out_windows()[:256], vocabulary=world.vocabulary)

    def scores(
        task: str, start: str, labels: int, rate: float, seed: int, *, with_masked: bool = False
    ) -> dict[str, float]:
        experiment = measured[task]
        learned, test = experiment.lines(labels, seed)
        torch.manual_seed(seed)
        encoder = experiment.encoder()
        if start == "from scratch":
            encoder = Encoder(encoder.config)
        model = experiment.head(encoder)
        per_epoch = -(-labels // experiment.batch_size)
        epochs = max(experiment.epochs, experiment.least_steps // per_epoch)
        how = FineTuning(epochs, experiment.batch_size, rate, freeze=start == "frozen", seed=seed)
        finetune(model, learned.input_ids, learned.labels, how)
        found = experiment.score(model, learned, test)
        if with_masked:
            with_old_head = deepcopy(shipped_model("world"))
            with_old_head.encoder = model.encoder
            found["masked"] = held_out_loss(with_old_head, questions)
        return {name: round(value, 4) for name, value in found.items()}

    measurements = ResultsFile(
        __spec__.name, world_sha256=world.sha256, corpus_sha256=Corpus.load().sha256
    )
    for task, each in measured.items():
        for start in START:
            seeds = range(each.seeds)
            measurements.measure(
                "runs", scores, [task], [start], each.labels, [each.rates[start]], seeds
            )
    of_task = ["sentiment"], ["pretrained"], [64]
    with_masked = partial(scores, with_masked=True)
    measurements.measure("step sizes", with_masked, *of_task, STEP_SIZES, range(10))


if __name__ == "__main__":
    main()
