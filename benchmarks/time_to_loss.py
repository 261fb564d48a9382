"""How long training takes to reach a held-out loss: ours, the textbook's recipe, BERT's.

``python -m benchmarks.time_to_loss`` trains all of them one after the other, one thread each, on
the same corpus and the same vocabulary, and measures them on the same held-out masks:

* ours: the default recipe, and the same with a schedule of 200 steps in batches of 24;
* textbook: post-norm ``nn.TransformerEncoder``, learned positions, Adam 1e-3, 15 %; and the same
  without its dropout of 0.1, by whoever knows that so short a training memorises nothing;
* BERT: ``transformers.BertForMaskedLM``, AdamW, linear warm-up and decay, 15 %, at four peak rates.

Only training is timed, not measuring. At the end all train a little more in turns, which tells how
fast each is when the machine is equally fast for all. It takes an hour and a half of training and
ten minutes of measuring on an idle core; interrupt it at any time and keep what it has printed.
BERT needs ``pip install -e .[peers]``.

``--kept benchmarks/time_to_loss.json`` prints and draws the race that the README quotes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import nn
from tqdm import tqdm

from benchmarks.figures import races
from benchmarks.machine import machine
from benchmarks.paths import to_write
from benchmarks.peers import Bert, Textbook
from cloze.baselines import baseline_losses
from cloze.corpus import Corpus, sample_windows
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, held_out_batch, mask_tokens
from cloze.teaching.figures import baseline_lines
from cloze.training import Recipe, TrainingRun

TARGETS = (2.5, 2.0, 1.6, 1.4, 1.3, 1.2, 1.1)
BATCH_SIZE, LENGTH, MASK_PROB = 32, 64, 0.15
QUICK_STEPS = 12
WARMUP = 0.06
"""Share of the steps in which BERT's learning rate rises."""
OURS = "ours"
"""How the names of our contestants begin."""
DEFAULT = f"{OURS}, default"
BERT_RATES = (2e-4, 5e-4, 1e-3, 2e-3)


class Point(NamedTuple):
    """One measurement on the way."""

    seconds: float
    """Seconds of training so far."""
    characters: int
    """Characters read so far."""
    held_out: float
    """Held-out loss in nats."""


Step = Callable[[float], None]
"""Takes one training step, told which share of the budget is used up."""


@dataclass(frozen=True)
class Contestant:
    """A model with its recipe."""

    name: str
    budget: float
    """Seconds of training at the most."""
    build: Callable[[Corpus], tuple[nn.Module, Step, int]]
    """Makes a fresh model, the function that takes a step, and its characters per step."""
    steps: int | None = None
    """Steps at the most, for a recipe with a schedule of its own."""


def ours(recipe: Recipe) -> Callable[[Corpus], tuple[nn.Module, Step, int]]:
    """Prepare the package's own training."""

    def build(corpus: Corpus) -> tuple[nn.Module, Step, int]:
        run = TrainingRun(MaskedLM(), corpus, recipe)

        def step(_: float) -> None:
            run.train_step()

        return run.model, step, recipe.batch_size * recipe.length

    return build


def peer(
    make: Callable[[], Any],
    make_optimizer: Callable[..., torch.optim.Optimizer],
    rate: float,
    schedule: Callable[[float], float],
) -> Callable[[Corpus], tuple[nn.Module, Step, int]]:
    """Prepare somebody else's model with a plain training loop over the same kind of batches."""

    def build(corpus: Corpus) -> tuple[nn.Module, Step, int]:
        generator = torch.Generator().manual_seed(0)
        model = make()
        optimizer = make_optimizer(model.parameters(), lr=rate)

        def step(used: float) -> None:
            optimizer.param_groups[0]["lr"] = rate * schedule(used)
            windows = sample_windows(corpus.train_ids, BATCH_SIZE, LENGTH, generator)
            inputs, labels = mask_tokens(windows, MASK_PROB, generator=generator)
            selected = labels >= 0
            loss = mlm_loss(model.logits_at(inputs, selected), labels[selected])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

        return model, step, BATCH_SIZE * LENGTH

    return build


def constant(_: float) -> float:
    """Leave the learning rate as it is."""
    return 1.0


def warmed_up(used: float) -> float:
    """Rise linearly, then fall linearly to 0 at the end of the budget."""
    return min(used / WARMUP, (1 - used) / (1 - WARMUP)) if used < 1 else 0.0


def contestants() -> list[Contestant]:
    """List who runs."""
    minute, short = Recipe(), replace(Recipe(), steps=200, batch_size=24)
    all_ = [
        Contestant(DEFAULT, 240, ours(minute), minute.steps),
        Contestant("ours, 200 steps", 60, ours(short), short.steps),
        Contestant("textbook", 720, peer(Textbook, torch.optim.Adam, 1e-3, constant)),
        Contestant(
            "textbook, no dropout",
            420,
            peer(partial(Textbook, dropout=0.0), torch.optim.Adam, 1e-3, constant),
        ),
    ]
    if importlib.util.find_spec("transformers"):
        all_ += [
            Contestant(
                f"BERT, AdamW {rate:.0e}".replace("e-0", "e-"),
                1000,
                peer(Bert, torch.optim.AdamW, rate, warmed_up),
            )
            for rate in BERT_RATES
        ]
    else:
        print("BERT is left out: it needs `pip install -e .[peers]`.")
    return all_


def race(contestant: Contestant, corpus: Corpus, held_out: MaskedBatch) -> Iterator[Point]:
    """Train one contestant until its budget is used up, measuring on the way."""
    torch.manual_seed(0)
    model, step, characters = contestant.build(corpus)
    seconds, steps, measure_at = 0.0, 0, 0.0
    with tqdm(total=100, desc=contestant.name, unit="%", leave=False) as bar:
        while True:
            used = steps / contestant.steps if contestant.steps else seconds / contestant.budget
            done = used >= 1 or seconds >= contestant.budget
            if seconds >= measure_at or done:
                model.eval()
                nats = held_out_loss(cast("MaskedLM", model), held_out)
                model.train()
                yield Point(round(seconds, 2), steps * characters, round(nats, 4))
                # Often enough to place every crossing to a few per cent.
                measure_at = max(seconds + 0.4, seconds * 1.03)
                bar.set_postfix_str(f"{nats:.2f} nats", refresh=False)
                bar.update(min(100, round(100 * used)) - bar.n)
            if done:
                return
            started = time.perf_counter()
            step(used)
            seconds += time.perf_counter() - started
            steps += 1


def reached(points: Sequence[Point], target: float) -> Point | None:
    """Return the first measurement at or below a loss; None when it was not reached."""
    return next((point for point in points if point.held_out <= target), None)


HEADER = f"{'':<22}" + "".join(f"{f'{t} nats':>16}" for t in TARGETS)


def table(results: Mapping[str, Sequence[Point]]) -> str:
    """Write seconds and millions of characters to each target, a row per contestant."""
    rows = [HEADER]
    for name, points in results.items():
        cells = [
            f"{p.seconds:.1f} s {p.characters / 1e6:5.2f} M" if (p := reached(points, t)) else "—"
            for t in TARGETS
        ]
        rows.append(f"{name:<22}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(rows)


def speeds_in_turns(
    running: Sequence[Contestant], corpus: Corpus, rounds: int, seconds: float
) -> dict[str, float]:
    """Return everybody's characters per second of training, measured in turns.

    A shared machine is not equally fast all through a race of an hour and a half.
    """
    built = {contestant.name: contestant.build(corpus) for contestant in running}
    characters: Counter[str] = Counter()
    spent = dict.fromkeys(built, 0.0)
    for _ in tqdm(range(rounds), desc="speeds", leave=False):
        for name, (model, step, a_step) in built.items():
            model.train()
            started = now = time.perf_counter()
            while now < started + seconds:
                step(0.0)
                characters[name] += a_step
                now = time.perf_counter()
            spent[name] += now - started
    return {name: round(characters[name] / spent[name]) for name in built}


def ratios(
    results: Mapping[str, Sequence[Point]],
    speeds: Mapping[str, float] | None = None,
    ours: str = OURS,
) -> dict[str, list[float | None]]:
    """Return how many times the wall time of ours each peer took, for each target.

    Ours is whoever's name begins with ``ours``, the faster of them to that target; None: one of the
    sides did not get there. With ``speeds``, wall time is the characters read at that speed.
    """

    def seconds(name: str, target: float) -> float:
        point = reached(results[name], target)
        if not point:
            return math.inf
        return point.characters / speeds[name] if speeds else point.seconds

    mine = [name for name in results if name.startswith(ours)]
    bests = [min((seconds(name, t) for name in mine), default=math.inf) for t in TARGETS]
    return {
        name: [
            seconds(name, target) / best if max(seconds(name, target), best) < math.inf else None
            for target, best in zip(TARGETS, bests, strict=True)
        ]
        for name in results
        if not name.startswith(OURS)
    }


def ratio_table(rows: Mapping[str, Sequence[float | None]]) -> str:
    """Write ratios, a row per peer."""
    written = [
        f"{name:<22}" + "".join(f"{f'{r:.1f} ×' if r else '—':>16}" for r in row)
        for name, row in rows.items()
    ]
    return "\n".join([HEADER, *written])


def draw(results: Mapping[str, Sequence[Point]], corpus: Corpus, path: Path) -> None:
    """Draw held-out loss against seconds of training."""
    curves = {
        name: [(p.seconds, p.held_out) for p in points]
        for name, points in results.items()
        if len(points) > 1  # one that was stopped at once has no curve
    }
    if not curves:
        print("There is no curve to draw yet.")
        return
    figure = races(curves)
    held_out = held_out_batch(corpus.held_out_windows())
    baseline_lines(figure.axes[0], baseline_losses(corpus, held_out))
    figure.savefig(path, dpi=150)


class Result(NamedTuple):
    """What a race found out."""

    machine: str
    """Where it was run."""
    contestants: dict[str, list[Point]]
    speeds: dict[str, float]
    """Characters a second, measured in turns; empty when the race was stopped before."""


def report(result: Result, picture: Path | None) -> None:
    """Print the tables and draw the picture."""
    results, speeds = result.contestants, result.speeds
    print(f"\nSeconds and millions of characters to a held-out loss\n{table(results)}")
    for ours in (OURS, DEFAULT):
        said = f"the faster of {OURS}" if ours == OURS else ours
        print(f"\nSo many times the wall time of {said}\n{ratio_table(ratios(results, ours=ours))}")
    if speeds:
        said = ", ".join(f"{name} {speed:,.0f}" for name, speed in speeds.items())
        print(f"\nCharacters a second, in turns: {said}\nThe ratios if all had kept these speeds")
        print(ratio_table(ratios(results, speeds)))
    if picture:
        draw(results, Corpus.load(), picture)


def read(path: Path) -> Result:
    """Read the result of a race."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    results = {
        name: [Point(*point) for point in points] for name, points in kept["contestants"].items()
    }
    return Result(kept["machine"], results, kept["speeds"])


def write(path: Path, result: Result) -> None:
    """Keep the result of a race."""
    rows = [f"{json.dumps(name)}: {json.dumps(ps)}" for name, ps in result.contestants.items()]
    contestants = ",\n".join(rows)
    path.write_text(
        f'{{"machine": {json.dumps(result.machine)},\n"speeds": {json.dumps(result.speeds)},\n'
        f'"contestants": {{\n{contestants}\n}}}}\n',
        encoding="utf-8",
    )


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
        try:
            result = read(options.kept)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            parser.error(f"{options.kept} holds no measurements that --keep wrote: {error}")
        print(result.machine)
        report(result, options.picture)
        return
    running = [c for c in contestants() if c.name.startswith(options.only or "")]
    if options.quick:
        running = [replace(contestant, steps=QUICK_STEPS) for contestant in running]
    if not running:
        parser.error(f"no contestant's name begins with {options.only!r}")
    corpus = Corpus.load()
    held_out = held_out_batch(corpus.held_out_windows())
    turns = (1, 0.05) if options.quick else (10, 0.5)  # rounds, and seconds per turn
    if options.quick:
        held_out = MaskedBatch(*(part[:20] for part in held_out))
    minutes = sum(c.budget for c in running) / 60
    print(
        f"{machine()}\nThis takes up to {minutes:.0f} minutes of training, and measuring besides.",
        flush=True,
    )
    result = Result(machine(), {}, {})
    try:
        for contestant in running:
            points = result.contestants[contestant.name] = []
            points.extend(race(contestant, corpus, held_out))  # what came before an interrupt stays
            last = points[-1]
            print(f"{contestant.name}: {last.held_out:.3f} nats, {last.seconds:.1f} s", flush=True)
            if options.keep:
                write(options.keep, result)
        result.speeds.update(speeds_in_turns(running, corpus, *turns))
    except KeyboardInterrupt:
        print("\nStopped; the tables hold what there is.")
    if options.keep:
        write(options.keep, result)
    report(result, options.picture)


if __name__ == "__main__":
    main()
