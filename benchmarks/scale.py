"""Larger models, and more processes: what each of them buys.

``python -m benchmarks.scale`` first trains six sizes from 0.07 to 4 million parameters, each with
the default recipe and a schedule of its own for each of three budgets of operations, and prints the
held-out losses; then it runs ``python -m cloze train`` in one process and, through ``torchrun``, in
two, in turns. About twelve minutes on two idle cores; interrupt it at any time and keep what it
has printed.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from tqdm import tqdm

from benchmarks.figures import scaling_curves
from benchmarks.machine import machine
from benchmarks.operations import executed
from benchmarks.paths import to_write
from cloze.corpus import DATA, Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.training import Recipe, TrainingRun, fit

SHAPES: tuple[tuple[int, int], ...] = ((64, 2), (96, 2), (128, 2), (192, 2), (256, 3), (320, 5))
"""d_model and n_layers of each size; heads of 16 numbers and d_ff = 2 · d_model, as by default."""
BUDGETS: tuple[float, ...] = (0.4e12, 1.2e12, 3.6e12)
"""Operations spent on a training; the last is about the default recipe's."""
PROCESSES = (1, 2)
CLOZE = ("-m", "cloze", "train")

Point = tuple[float, float]
"""Operations spent on training, and the held-out loss in nats."""


def config_of(d_model: int, n_layers: int) -> EncoderConfig:
    """Scale the default model."""
    default = EncoderConfig()
    return replace(
        default,
        d_model=d_model,
        n_layers=n_layers,
        n_heads=d_model // default.d_head,
        d_ff=2 * d_model,
    )


def parameters(config: EncoderConfig) -> int:
    """Count the parameters of a model."""
    return sum(p.numel() for p in MaskedLM(config).parameters())


def trained(config: EncoderConfig, budget: float, corpus: Corpus) -> tuple[TrainingRun, float]:
    """Train once; return the run and its held-out loss."""
    trial = TrainingRun(MaskedLM(config), corpus)
    trial.train_step()
    steps = max(1, round(budget / executed(trial.train_step)))
    recipe = replace(Recipe(), steps=steps, evaluations=0)
    torch.manual_seed(recipe.seed)
    run = TrainingRun(MaskedLM(config), corpus, recipe)
    for _ in fit(run):
        pass
    return run, held_out_loss(run.model, run.held_out)


def sizes(
    corpus: Corpus, configs: Iterable[EncoderConfig], budgets: Sequence[float]
) -> Iterator[tuple[EncoderConfig, float, float]]:
    """Train every size on every budget, printing a row each; yield config, budget and nats."""
    print(
        f"{'parameters':>10} {'d_model':>8} {'n_layers':>9} {'TFLOP':>6} {'steps':>6} "
        f"{'seconds':>8} {'GFLOP/s':>8} {'held-out nats':>14}"
    )
    for budget in budgets:
        for config in configs:
            run, nats = trained(config, budget, corpus)
            print(
                f"{parameters(config):>10,} {config.d_model:>8} {config.n_layers:>9} "
                f"{budget / 1e12:>6.1f} {run.step:>6} {run.seconds:>8.1f} "
                f"{budget / run.seconds / 1e9:>8.1f} {nats:>14.3f}",
                flush=True,
            )
            yield config, budget, nats


def speed(processes: int, steps: int, corpus: Path) -> float:
    """Train from the command line in so many processes; return characters per second."""
    launcher = [sys.executable]
    if processes > 1:
        launcher += ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(  # noqa: S603
            [
                *launcher,
                *CLOZE,
                f"{folder}/m.safetensors",
                f"--steps={steps}",
                f"--corpus={corpus}",
            ],
            capture_output=True,
            text=True,
        )
    if result.returncode:
        raise RuntimeError(f"training in {processes} process(es) failed:\n{result.stderr}")
    seen = [
        (int(characters.replace(",", "")), float(seconds))
        for characters, seconds in re.findall(r"([\d,]+) characters +([\d.]+) s", result.stdout)
    ]
    (first, from_), (last, to) = seen[0], seen[-1]  # the first step is slower than the others
    return (last - first) / max(to - from_, 1e-9)


def processes(rounds: int, steps: int, corpus: Path) -> None:
    """Train in one process and in two, in turns, and print the speeds."""
    speeds: dict[int, list[float]] = {n: [] for n in PROCESSES}
    turns = [n for _ in range(rounds) for n in PROCESSES]
    try:
        for n in tqdm(turns, desc="processes", leave=False):
            speeds[n].append(speed(n, steps, corpus))
    finally:
        print(f"{'processes':>10} {'characters/s':>13} {'times one':>10}")
        if speeds[1]:
            one = statistics.median(speeds[1])
            for n in PROCESSES:
                if speeds[n]:
                    many = statistics.median(speeds[n])
                    print(f"{n:>10} {many:>13,.0f} {many / one:>10.2f}", flush=True)


def draw(losses: Mapping[EncoderConfig, Sequence[Point]], path: Path) -> None:
    """Draw held-out loss against the operations of training."""
    curves = {f"{parameters(config) / 1e6:.2f} M": points for config, points in losses.items()}
    scaling_curves(curves).savefig(path, dpi=150)


def main(arguments: list[str] | None = None) -> None:
    """Train the sizes, then compare one process with two."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few steps, for the tests")
    parser.add_argument("--only", choices=("sizes", "processes"), help="one of the two parts")
    parser.add_argument(
        "--picture", type=to_write(".png"), help="where to draw loss against compute (.png)"
    )
    options = parser.parse_args(arguments)
    shapes, budgets, rounds, steps, corpus = SHAPES, BUDGETS, 5, 120, DATA / "corpus"
    if options.quick:
        shapes, budgets, rounds, steps = SHAPES[:2], (1e9, 2e10), 1, 4
        corpus = DATA / "sample.txt"
    print(machine())
    text = Corpus.from_file(corpus) if options.quick else Corpus.load(corpus)
    losses: dict[EncoderConfig, list[Point]] = {config_of(*shape): [] for shape in shapes}
    try:
        if options.only != "processes":
            for config, budget, nats in sizes(text, losses, budgets):
                losses[config].append((budget, nats))
            print()
        if options.only != "sizes":
            processes(rounds, steps, corpus)
    except KeyboardInterrupt:
        print("stopped; the lines above are complete")
    if options.picture and any(losses.values()):
        draw(losses, options.picture)


if __name__ == "__main__":
    main()
