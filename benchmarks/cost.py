"""How the cost of reading grows with the length of the line and with the number of layers.

``python -m benchmarks.cost`` times one line (inference, one line at a time) and training (batches
of 2 048 characters) for lines of 16 to 1 024 characters and for 1 to 8 layers, all in turns, beside
what the textbook counts: the matrices of the layers, linear in the length, and attention, quadratic
in it. About two minutes; interrupt it at any time and keep what it has.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from benchmarks.figures import cost_growth
from benchmarks.machine import machine
from benchmarks.operations import by_formula
from benchmarks.paths import to_write
from benchmarks.throughput import Work, product
from cloze.corpus import Corpus, sample_windows
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.training import Recipe, TrainingRun

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
LAYERS = (1, 2, 3, 4, 6, 8)
ROUNDS = 15
BATCH = 2048
"""Characters in a training batch, whatever the length of its lines."""


@dataclass
class Reader:
    """A model that reads lines of one length."""

    config: EncoderConfig
    run: TrainingRun
    line: Tensor
    """Ids of shape ``(1, length)``."""
    reading: list[float] = field(default_factory=list)
    """Seconds a line, a number a round."""
    training: list[float] = field(default_factory=list)
    """Seconds a training step."""

    @classmethod
    def make(cls, config: EncoderConfig, corpus: Corpus) -> Reader:
        """Build the model and take its first step, which is slower than the others."""
        length = config.max_len
        recipe = Recipe(batch_size=max(1, BATCH // length), length=length)
        reader = cls(
            config,
            TrainingRun(MaskedLM(config), corpus, recipe),
            sample_windows(corpus.train_ids, 1, length, torch.Generator().manual_seed(0)),
        )
        reader.run.train_step()
        return reader

    def take_turn(self, lines: int, steps: int) -> None:
        """Read some lines and take some steps, and note the means."""
        with torch.no_grad():
            started = time.perf_counter()
            for _ in range(lines):
                self.run.model(self.line)
            self.reading.append((time.perf_counter() - started) / lines)
        started = time.perf_counter()
        for _ in range(steps):
            self.run.train_step()
        self.training.append((time.perf_counter() - started) / steps)

    @property
    def milliseconds(self) -> float:
        """Milliseconds a line."""
        return 1000 * statistics.median(self.reading)

    @property
    def trained(self) -> float:
        """Characters a second in training."""
        recipe = self.run.recipe
        return recipe.batch_size * recipe.length / statistics.median(self.training)

    def at_best(self, rate: float) -> tuple[float, float]:
        """Milliseconds of the linear and the quadratic part at so many operations per second."""
        linear, quadratic = by_formula(self.config, self.config.max_len)
        return 1000 * linear / rate, 1000 * quadratic / rate


def table(title: str, readers: dict[int, Reader], rate: float) -> str:
    """Write a row per reader; growth is relative to the first."""
    rows = [
        f"{title:<9} {'ms a line':>10} {'characters/s':>13} {'training':>10} │ {'linear ms':>10} "
        f"{'quadratic ms':>13} {'its share':>10} │ {'measured ×':>11} {'textbook ×':>11}"
    ]
    measured_first = textbook_first = 0.0
    for name, reader in readers.items():
        linear, quadratic = reader.at_best(rate)
        measured, textbook = reader.milliseconds, linear + quadratic
        measured_first, textbook_first = measured_first or measured, textbook_first or textbook
        rows.append(
            f"{name:<9} {measured:>10.2f} {1000 * reader.config.max_len / measured:>13,.0f} "
            f"{reader.trained:>10,.0f} │ {linear:>10.3f} {quadratic:>13.3f} "
            f"{quadratic / textbook:>10.0%} │ {measured / measured_first:>11.1f} "
            f"{textbook / textbook_first:>11.1f}"
        )
    return "\n".join(rows)


def draw(by_length: dict[int, Reader], rate: float, path: Path) -> None:
    """Draw milliseconds per line against the length."""
    linear, quadratic = zip(*(r.at_best(rate) for r in by_length.values()), strict=True)
    measured = [reader.milliseconds for reader in by_length.values()]
    cost_growth(list(by_length), measured, linear, quadratic).savefig(path, dpi=150)


def main(arguments: list[str] | None = None) -> None:
    """Take turns, then print the tables and draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few sizes, for the tests")
    parser.add_argument("--picture", type=to_write(".png"), help="where to draw the growth (.png)")
    options = parser.parse_args(arguments)
    lengths, layers = (LENGTHS[:3], LAYERS[:2]) if options.quick else (LENGTHS, LAYERS)
    print(machine())
    corpus, config = Corpus.load(), EncoderConfig()
    by_length: dict[int, Reader] = {}
    by_layers: dict[int, Reader] = {}
    best: Work = product()
    try:
        for n in lengths:
            by_length[n] = Reader.make(replace(config, max_len=n), corpus)
        for n in layers:
            by_layers[n] = Reader.make(replace(config, n_layers=n), corpus)
        for _ in tqdm(range(1 if options.quick else ROUNDS), desc="rounds", leave=False):
            best.time(1)
            for reader in [*by_length.values(), *by_layers.values()]:
                # About as long for each: a line of 64 characters takes 1 ms, a step about 50.
                reader.take_turn(max(1, 4096 // reader.config.max_len // reader.config.n_layers), 3)
    except KeyboardInterrupt:
        if layers[-1] not in by_layers or not by_layers[layers[-1]].training:
            print("stopped before the end of the first round")
            return
        print("stopped; the tables hold what there is")
    rate = best.operations / statistics.median(best.seconds)
    print(
        f"A line at a time; in training, batches of {BATCH} characters. Linear and quadratic: what "
        f"the\nproducts of a line take at the rate of a large product, {rate / 1e9:.0f} GFLOP/s.\n"
    )
    print(table("length", by_length, rate), end="\n\n")
    print(table("n_layers", by_layers, rate))
    if options.picture:
        draw(by_length, rate, options.picture)


if __name__ == "__main__":
    main()
