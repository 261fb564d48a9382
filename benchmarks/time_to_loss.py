"""How long training takes to reach a held-out loss: ours, and what else somebody would pick.

``python -m benchmarks.time_to_loss`` trains all of them one after the other, one thread each, on
the same corpus and the same vocabulary, and measures them on the same held-out masks:

* ours: the default recipe, and the same with a schedule of 180 steps in batches of 24 and with one
  of 900 steps;
* textbook: post-norm ``nn.TransformerEncoder``, learned positions, Adam 1e-3, 15%; and the same
  without its dropout of 0.1, by whoever knows that so short a training memorises nothing;
* BERT: ``transformers.BertForMaskedLM``, AdamW, linear warm-up and decay, 15%, as it comes; and
  without dropout;
* ModernBERT: ``transformers.ModernBertForMaskedLM`` with our rotary base, 30%, the same warm-up
  and decay, with AdamW, and with ``torch.optim.Muon`` for its matrices.

How a loss falls step by step does not depend on how fast the machine is or what else it does. How
long a step takes does: that is measured for all in turns, in seconds of the core, and the wall time
to a loss is the characters read until then at this speed. It takes some forty minutes on an idle
core; interrupt it at any time and keep what it has printed. ``--keep`` adds to what a file holds,
so that some can be run again with ``--only``. The last two need ``pip install -e .[test]``.

``--kept benchmarks/time_to_loss.json`` prints and draws the race that the README quotes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import nn
from tqdm import tqdm

from benchmarks.figures import races
from benchmarks.machine import machine
from benchmarks.paths import to_write
from benchmarks.peers import Bert, ModernBert, Textbook
from cloze.baselines import baseline_losses
from cloze.corpus import Corpus, sample_windows
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, held_out_batch, mask_tokens
from cloze.teaching.figures import baseline_lines
from cloze.teaching.measurements import write_whole
from cloze.training import Recipe, TrainingRun

TARGETS = (2.5, 2.0, 1.6, 1.3, 1.1, 1.0, 0.9)
BATCH_SIZE, LENGTH = 32, 64
QUICK_STEPS = 12
MEASUREMENTS = 25
"""How often a contestant is measured on its way, at moments that get rarer."""
WARMUP = 0.06
"""Share of the steps in which a peer's learning rate rises."""
OURS = "ours"
"""How the names of our contestants begin."""
DEFAULT = f"{OURS}, default"


class Point(NamedTuple):
    """One measurement on the way."""

    characters: int
    """Characters read so far."""
    held_out: float
    """Held-out loss in nats."""


class Curve(NamedTuple):
    """How the loss of one contestant fell."""

    machine: str
    """Where it was trained, which moves the losses by rounding only."""
    points: list[Point]


class Result(NamedTuple):
    """What a race found out."""

    machine: str
    """Where the speeds were measured."""
    speeds: dict[str, int]
    """Characters of training a second of the core, measured in turns."""
    curves: dict[str, Curve]


Step = Callable[[float], None]
"""Takes one training step, told which share of the schedule is used up."""
Optimizers = list[tuple[torch.optim.Optimizer, float]]
"""Each with its peak learning rate."""


@dataclass(frozen=True)
class Contestant:
    """A model with its recipe."""

    name: str
    steps: int
    build: Callable[[Corpus], tuple[nn.Module, Step, int]]
    """Makes a fresh model, the function that takes a step, and its characters per step."""


def ours(name: str, recipe: Recipe) -> Contestant:
    """Enter the package's own training."""

    def build(corpus: Corpus) -> tuple[nn.Module, Step, int]:
        run = TrainingRun(MaskedLM(), corpus, recipe)

        def step(_: float) -> None:
            run.train_step()

        return run.model, step, recipe.batch_size * recipe.length

    return Contestant(f"{OURS}, {name}", recipe.steps, build)


def peer(
    name: str,
    steps: int,
    make: Callable[[], Any],
    make_optimizers: Callable[[nn.Module], Optimizers],
    schedule: Callable[[float], float],
    mask_prob: float = 0.15,
) -> Contestant:
    """Enter somebody else's model with a plain training loop over the same kind of batches."""

    def build(corpus: Corpus) -> tuple[nn.Module, Step, int]:
        generator = torch.Generator().manual_seed(0)
        model = make()
        optimizers = make_optimizers(model)

        def step(used: float) -> None:
            windows = sample_windows(corpus.train_ids, BATCH_SIZE, LENGTH, generator)
            inputs, labels = mask_tokens(windows, mask_prob, generator=generator)
            selected = labels >= 0
            loss = mlm_loss(model.logits_at(inputs, selected), labels[selected])
            model.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            for optimizer, peak in optimizers:
                optimizer.param_groups[0]["lr"] = peak * schedule(used)
                optimizer.step()

        return model, step, BATCH_SIZE * LENGTH

    return Contestant(name, steps, build)


def adam(model: nn.Module) -> Optimizers:
    """Give the textbook its optimizer."""
    return [(torch.optim.Adam(model.parameters()), 1e-3)]


def adamw(rate: float, model: nn.Module) -> Optimizers:
    """Let AdamW improve everything."""
    return [(torch.optim.AdamW(model.parameters(), fused=True), rate)]


def muon(rate: float, others: float, model: nn.Module) -> Optimizers:
    """Let torch's Muon improve the matrices, and AdamW embeddings and everything else."""
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n]
    theirs = set(matrices)
    rest = [p for p in model.parameters() if p not in theirs]
    return [(torch.optim.Muon(matrices), rate), (torch.optim.AdamW(rest, fused=True), others)]


def constant(_: float) -> float:
    """Leave the learning rate as it is."""
    return 1.0


def warmed_up(used: float) -> float:
    """Rise linearly, then fall linearly to 0 at the end of the schedule."""
    # A little more than nothing at the first step, which would be lost otherwise.
    return min((used + 1e-3) / WARMUP, (1 - used) / (1 - WARMUP))


def modern(how: str, steps: int, make_optimizers: Callable[[nn.Module], Optimizers]) -> Contestant:
    """Enter ModernBERT, with the rotary base of ours."""
    make = partial(ModernBert, rotary_base=100.0)
    return peer(f"ModernBERT, {how}", steps, make, make_optimizers, warmed_up, mask_prob=0.3)


def contestants() -> list[Contestant]:
    """List who runs."""
    minute = Recipe()
    all_ = [
        ours("default", minute),
        ours("180 steps", replace(minute, steps=180, batch_size=24)),
        ours("900 steps", replace(minute, steps=900)),
        peer("textbook", 6000, Textbook, adam, constant),
        peer("textbook, no dropout", 5700, partial(Textbook, dropout=0.0), adam, constant),
    ]
    if not importlib.util.find_spec("transformers"):
        print("BERT and ModernBERT are left out: they need transformers: `pip install -e .[test]`.")
        return all_
    with_muon = partial(muon, 0.02, 4e-3)
    return [
        *all_,
        peer("BERT, as it comes", 12000, Bert, partial(adamw, 2e-3), warmed_up),
        peer("BERT, no dropout", 5000, partial(Bert, dropout=0.0), partial(adamw, 2e-3), warmed_up),
        modern("AdamW, 1100 steps", 1100, partial(adamw, 4e-3)),
        modern("AdamW, 4000 steps", 4000, partial(adamw, 4e-3)),
        modern("Muon, 600 steps", 600, with_muon),
        modern("Muon, 2300 steps", 2300, with_muon),
    ]


def race(contestant: Contestant, corpus: Corpus, held_out: MaskedBatch) -> Iterator[Point]:
    """Train one contestant to the end of its schedule, measuring on the way."""
    torch.manual_seed(0)
    model, step, characters = contestant.build(corpus)
    shares = [(k / MEASUREMENTS) ** 2 for k in range(MEASUREMENTS + 1)]
    moments = {round(contestant.steps * share) for share in shares}
    for done in tqdm(range(contestant.steps + 1), desc=contestant.name, leave=False):
        if done in moments:
            model.eval()
            nats = held_out_loss(cast("MaskedLM", model), held_out)
            model.train()
            yield Point(done * characters, round(nats, 4))
        if done < contestant.steps:
            step(done / contestant.steps)


def speeds_in_turns(
    running: Sequence[Contestant], corpus: Corpus, rounds: int, steps: int
) -> dict[str, int]:
    """Return everybody's characters of training a second of the core: medians over turns.

    Time that other programs had the core is not counted, and what they do to its caches and its
    clock befalls all alike.
    """
    built = {contestant.name: contestant.build(corpus) for contestant in running}
    times: dict[str, list[float]] = {name: [] for name in built}
    for _ in tqdm(range(rounds), desc="speeds", leave=False):
        for name, (model, step, _) in built.items():
            model.train()
            started = time.process_time()
            for _ in range(steps):
                step(0.0)
            times[name].append((time.process_time() - started) / steps)
    return {
        name: round(characters / statistics.median(times[name]))
        for name, (_, _, characters) in built.items()
    }


def seconds(result: Result, name: str, target: float) -> float:
    """Return the wall time to a loss, on the line between two measurements; infinite if never."""
    for before, after in pairwise(result.curves[name].points):
        if after.held_out <= target:
            share = (before.held_out - target) / (before.held_out - after.held_out)
            characters = before.characters + share * (after.characters - before.characters)
            return characters / result.speeds[name]
    return math.inf


HEADER = f"{'':<30}" + "".join(f"{f'{t} nats':>16}" for t in TARGETS)


def table(result: Result) -> str:
    """Write seconds and millions of characters to each target, a row per contestant."""

    def cell(name: str, target: float) -> str:
        needed = seconds(result, name, target)
        millions = needed * result.speeds[name] / 1e6
        return f"{needed:.1f} s {millions:5.2f} M" if needed < math.inf else "—"

    rows = [
        f"{name:<30}" + "".join(f"{cell(name, target):>16}" for target in TARGETS)
        for name in result.curves
    ]
    return "\n".join([HEADER, *rows])


def ratios(result: Result, ours: str = OURS) -> dict[str, list[float | None]]:
    """Return how many times the wall time of ours each peer took, for each target.

    Ours is whoever's name begins with ``ours``, the fastest of them to that target; None: one of
    the sides did not get there.
    """
    mine = [name for name in result.curves if name.startswith(ours)]
    bests = [min((seconds(result, name, t) for name in mine), default=math.inf) for t in TARGETS]
    rows: dict[str, list[float | None]] = {}
    for name in result.curves:
        if not name.startswith(OURS):
            its = [seconds(result, name, target) for target in TARGETS]
            rows[name] = [
                mine / best if max(mine, best) < math.inf else None
                for mine, best in zip(its, bests, strict=True)
            ]
    return rows


def ratio_table(rows: Mapping[str, Sequence[float | None]]) -> str:
    """Write ratios, a row per peer."""
    written = [
        f"{name:<30}" + "".join(f"{f'{r:.1f} ×' if r else '—':>16}" for r in row)
        for name, row in rows.items()
    ]
    return "\n".join([HEADER, *written])


def draw(result: Result, corpus: Corpus, path: Path) -> None:
    """Draw held-out loss against seconds of training."""
    curves = {
        name: [(p.characters / result.speeds[name], p.held_out) for p in curve.points]
        for name, curve in result.curves.items()
        if len(curve.points) > 1  # one that was stopped at once has no curve
    }
    if not curves:
        print("There is no curve to draw yet.")
        return
    figure = races(curves)
    held_out = held_out_batch(corpus.held_out_windows())
    baseline_lines(figure.axes[0], baseline_losses(corpus, held_out))
    figure.savefig(path, dpi=150)


def report(result: Result, picture: Path | None) -> None:
    """Print the tables and draw the picture."""
    said = ", ".join(f"{name} {speed:,}" for name, speed in result.speeds.items())
    print(f"\nCharacters of training a second, in turns, on {result.machine}: {said}")
    print(f"\nSeconds and millions of characters to a held-out loss\n{table(result)}")
    for ours in (OURS, DEFAULT):
        whose = f"the fastest of {OURS}" if ours == OURS else ours
        print(f"\nSo many times the wall time of {whose}\n{ratio_table(ratios(result, ours))}")
    if picture:
        draw(result, Corpus.load(), picture)


def read(path: Path) -> Result:
    """Read the result of a race.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it is none.
    """
    kept = json.loads(path.read_text(encoding="utf-8"))
    curves = {
        name: Curve(curve["machine"], [Point(*point) for point in curve["points"]])
        for name, curve in kept["contestants"].items()
    }
    speeds = {name: int(kept["speeds"][name]) for name in curves}
    return Result(kept["machine"], speeds, curves)


def write(path: Path, result: Result) -> None:
    """Keep the result of a race, with what was raced before, even if this is interrupted."""
    curves = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(curve._asdict())}"
        for name, curve in result.curves.items()
    )
    write_whole(
        path,
        f'{{"machine": {json.dumps(result.machine)},\n"speeds": {json.dumps(result.speeds)},\n'
        f'"contestants": {{\n{curves}\n}}}}\n',
    )


def kept_measurements(parser: argparse.ArgumentParser, path: Path) -> Result:
    """Read the result of a race, or leave with a usage line."""
    try:
        return read(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        parser.error(f"{path} holds no measurements that --keep wrote: {error}")


def main(arguments: list[str] | None = None) -> None:
    """Run the race, print the tables and draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.time_to_loss", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few steps of each, for the tests")
    parser.add_argument("--only", help="contestants whose name begins like this")
    parser.add_argument("--picture", type=to_write(".png"), help="where to draw the curves (.png)")
    parser.add_argument(
        "--keep", type=to_write(".json"), help="where to keep every measurement (.json)"
    )
    parser.add_argument("--kept", type=Path, help="print and draw kept measurements, train nothing")
    options = parser.parse_args(arguments)
    if options.kept:
        report(kept_measurements(parser, options.kept), options.picture)
        return
    everybody = contestants()
    if options.quick:
        everybody = [replace(contestant, steps=QUICK_STEPS) for contestant in everybody]
    running = [c for c in everybody if c.name.startswith(options.only or "")]
    if not running:
        parser.error(f"no contestant's name begins with {options.only!r}")
    kept: dict[str, Curve] = {}
    if options.keep and options.keep.exists():
        kept = kept_measurements(parser, options.keep).curves
    corpus = Corpus.load()
    held_out = held_out_batch(corpus.held_out_windows())
    turns = (1, 1) if options.quick else (12, 4)  # rounds, and steps per turn
    if options.quick:
        held_out = MaskedBatch(*(part[:20] for part in held_out))
    print(machine(), flush=True)
    timed = [c for c in everybody if c in running or c.name in kept]
    speeds = speeds_in_turns(timed, corpus, *turns)
    result = Result(machine(), speeds, {c.name: kept[c.name] for c in timed if c.name in kept})
    try:
        for contestant in running:
            points: list[Point] = []
            result.curves[contestant.name] = Curve(result.machine, points)
            points.extend(race(contestant, corpus, held_out))  # what came before an interrupt stays
            print(f"{contestant.name}: {points[-1].held_out:.3f} nats", flush=True)
            if options.keep:
                write(options.keep, result)
    except KeyboardInterrupt:
        print("\nStopped; the tables hold what there is.")
    if options.keep:
        write(options.keep, result)
    report(result, options.picture)


if __name__ == "__main__":
    main()
