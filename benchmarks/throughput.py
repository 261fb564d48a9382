"""How fast training and inference are, measured against this machine's own matrix product.

``python -m benchmarks.throughput`` takes turns: a large product of matrices, some steps of the
default training, some batches of inference, and again. It prints characters per second, float32
operations per second, and what share that is of the large product's rate in the same run; then
where the time of a training step goes. About a minute; interrupt it at any time and keep what
it has.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from tqdm import tqdm

from benchmarks.machine import machine
from benchmarks.operations import OTHER, Watch, executed
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, held_out_batch
from cloze.training import TrainingRun

SIDE = 1536
"""Rows and columns of the large matrices. Smaller and larger ones than this are not faster."""


@dataclass
class Work:
    """Something that takes turns with the others."""

    name: str
    characters: int
    """How many characters it reads in one go (0 for none)."""
    run: Callable[[], object]
    operations: int
    """What it executes in one go, in products of matrices."""
    every_position: int
    """What it would execute if every layer did all of its work at every position, selected or not,
    however often a symbol stands there."""
    seconds: list[float] = field(default_factory=list)

    def time(self, repeats: int) -> None:
        """Do it some times and note the mean."""
        started = time.perf_counter()
        for _ in range(repeats):
            self.run()
        self.seconds.append((time.perf_counter() - started) / repeats)

    def row(self, best: float) -> str:
        """Write what came of it; ``best`` is the rate of the large product."""
        seconds = statistics.median(self.seconds)
        rate, nominal = (n / seconds for n in (self.operations, self.every_position))
        speed = f"{self.characters / seconds:,.0f}" if self.characters else ""
        return (
            f"{self.name:<34} {speed:>13} {1000 * seconds:>8.1f} {self.operations / 1e9:>8.2f} "
            f"{rate / 1e9:>8.1f} {rate / best:>6.0%} {nominal / best:>15.0%}"
        )


def product() -> Work:
    """Multiply two large matrices."""
    a, b = torch.randn(2, SIDE, SIDE)
    return Work(f"a product of {SIDE} × {SIDE}", 0, lambda: a @ b, 2 * SIDE**3, 2 * SIDE**3)


def training(run: TrainingRun) -> Work:
    """Take steps of the default training."""

    def on_every_position() -> None:
        inputs, labels = held_out_batch(
            run.corpus.held_out_windows(run.recipe.length)[: run.recipe.batch_size]
        )
        mlm_loss(run.model(inputs), labels).backward()  # type: ignore[no-untyped-call]
        for optimizer, _ in run.optimizers:
            optimizer.param_groups[0]["lr"] = 0.0
            optimizer.step()

    run.train_step()  # the first step makes the optimizers' memory
    return Work(
        "training, the default recipe",
        run.recipe.batch_size * run.recipe.length,
        run.train_step,
        executed(run.train_step),
        executed(on_every_position),
    )


def inference(model: MaskedLM, held_out: MaskedBatch, *, selected_only: bool) -> Work:
    """Read held-out lines."""
    inputs = held_out.inputs

    @torch.no_grad()
    def everywhere() -> object:
        return model(inputs)

    @torch.no_grad()
    def where_selected() -> object:
        return model.logits_at(inputs, held_out.selected)

    read = where_selected if selected_only else everywhere
    name = f"inference, {len(inputs)} lines, " + ("gaps only" if selected_only else "all positions")
    return Work(name, inputs.numel(), read, executed(read), executed(everywhere))


def where_time_goes(run: TrainingRun, steps: int) -> str:
    """Write the share of each kind of operation in the time of a training step."""
    watch = Watch()
    bare = watched = 0.0
    for _ in range(steps):
        started = time.perf_counter()
        run.train_step()
        bare += time.perf_counter() - started
        with watch:
            started = time.perf_counter()
            run.train_step()
            watched += time.perf_counter() - started
    rows = [f"{'where a step goes':<34} {'ms':>8} {'share':>7} {'GFLOP/s':>8}"]
    kinds = sorted(watch.seconds, key=lambda kind: (kind == OTHER, -watch.seconds[kind]))
    for kind in kinds:
        seconds = watch.seconds[kind]
        rate = f"{watch.operations[kind] / seconds / 1e9:.1f}" if watch.operations[kind] else ""
        rows.append(f"{kind:<34} {1000 * seconds / steps:>8.1f} {seconds / bare:>7.0%} {rate:>8}")
    rest = bare - watch.seconds.total()
    rows.append(f"{'between them':<34} {1000 * rest / steps:>8.1f} {rest / bare:>7.0%}")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> None:
    """Take turns, then print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, for the tests")
    options = parser.parse_args(arguments)
    rounds, repeats = (1, 1) if options.quick else (30, 10)
    print(machine())
    corpus = Corpus.load()
    run = TrainingRun(MaskedLM(), corpus)
    held_out = MaskedBatch(*(part[:64] for part in held_out_batch(corpus.held_out_windows())))
    works = [
        product(),
        training(run),
        inference(run.model, held_out, selected_only=False),
        inference(run.model, held_out, selected_only=True),
    ]
    stopped = False
    try:
        for _ in tqdm(range(rounds), desc="rounds", leave=False):
            for work in works:
                work.time(1 if work.characters == 0 else repeats)
    except KeyboardInterrupt:
        stopped = True
    if not works[-1].seconds:
        print("stopped before the end of the first round")
        return
    best = works[0].operations / statistics.median(works[0].seconds)
    title = f"median of {len(works[-1].seconds)} rounds"
    print(
        f"{title:<34} {'characters/s':>13} {'ms':>8} {'GFLOP':>8} {'GFLOP/s':>8} "
        f"{'share':>6} {'every position':>15}"
    )
    for work in works:
        print(work.row(best))
    if not stopped:
        print()
        print(where_time_goes(run, rounds))


if __name__ == "__main__":
    main()
