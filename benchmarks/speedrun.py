"""The race: who trains a masked model of this size fastest on one core?

``python -m benchmarks.speedrun my_recipe.py`` runs a recipe like ``benchmarks/recipes/template.py``
with five seeds on two tracks and prints its row: the least processor time to 0.9 nats on the
held-out pieces, and the lowest loss after one minute. ``--results mine.json`` writes every run into
a file as soon as it is over, and goes on where it stopped. With ``benchmarks/records.json`` and no
recipe it prints the table of ``benchmarks/RECORDS.md``, and ``--picture`` draws it.

A recipe is a file with one function, ``train``. It gets a :class:`Race` and returns a model:
``model(ids)`` are its logits at every position. Time is processor time in *minutes of the default
recipe*, whose steps are timed in turns with the recipe, so a slow or busy machine slows both.

The recipe runs in this process and is trusted, so read it before you run it and before you accept
its record. The rules are in ``benchmarks/RECORDS.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import runpy
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.figures import records
from benchmarks.machine import machine
from cloze.corpus import Corpus
from cloze.evaluation import Repeated
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import held_out_batch
from cloze.teaching.figures import svg_of
from cloze.training import Recipe, TrainingRun
from measured.shared import ResultsFile

HERE = Path(__file__).parent
GOALS = {"1.3": 1.3, "0.9": 0.9, "minute": None}
"""The tracks: a loss to reach in nats, or None for the lowest loss in a minute."""
OPEN = ("0.9", "minute")
"""The tracks that new recipes run on. To 1.3 nats counting letters suffices, so it is closed."""
TITLES = {"1.3": "minutes to 1.3 nats", "0.9": "minutes to 0.9 nats", "minute": "nats in a minute"}
SEEDS = 5
MOST_PARAMETERS = 300_000
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}
"""Student's t for an interval of 95%, by the number of runs."""
TURN = 2.0
"""Processor seconds of the recipe after which the default recipe takes a few steps."""
STEPS = 8
"""How many."""


class Race:
    """What a recipe is given: a text, a seed, and a clock.

    Attributes:
        ids: all training pieces in a row, a newline between them; shape ``(characters,)``.
        seed: for every draw, so that five runs differ.
        track: ``"0.9"`` or ``"minute"``.
    """

    def __init__(self, corpus: Corpus, track: str, seed: int) -> None:
        self.ids, self.track, self.seed = corpus.train_ids, track, seed
        self._default = TrainingRun(MaskedLM(), corpus, Recipe(steps=10**8, evaluations=0))
        self._step_seconds: list[float] = []
        for _ in range(2):
            self._time_default()
        self._minutes = self._turn = 0.0
        self._since = time.process_time()

    def _time_default(self) -> None:
        """Time some steps of the default recipe."""
        for _ in range(STEPS):
            started = time.process_time()
            self._default.train_step()
            self._step_seconds.append(time.process_time() - started)

    def used(self) -> float:
        """Return the time used so far, in minutes of the default recipe."""
        seconds = time.process_time() - self._since
        recent = self._step_seconds[-2 * STEPS :]
        self._minutes += seconds / (Recipe().steps * statistics.median(recent))
        self._turn += seconds
        if self._turn > TURN:
            self._time_default()
            self._turn = 0.0
        self._since = time.process_time()
        return self._minutes

    def until(self, minutes: float) -> Iterator[float]:
        """Yield the share of so many minutes that is used, from 0 to 1, until they are over."""
        while (used := self.used()) < minutes:
            yield used / minutes


@torch.no_grad()
def held_out_loss(model: nn.Module, corpus: Corpus) -> float:
    """Return a model's loss in nats under the fixed masks of the series."""
    inputs, labels = held_out_batch(corpus.held_out_windows())
    logits = torch.cat([model(lines) for lines in torch.split(inputs, 64)])
    return float(mlm_loss(logits, labels))


def one_run(
    train: Callable[[Race], nn.Module], corpus: Corpus, track: str, seed: int
) -> float | None:
    """Return minutes to the goal, or nats after a minute; None if the run missed its goal.

    Raises:
        ValueError: the model is too large.
    """
    race = Race(corpus, track, seed)
    torch.manual_seed(seed)
    model = train(race).eval()
    minutes = race.used()
    size = sum(parameter.numel() for parameter in model.parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"its model has {size:,} parameters; {MOST_PARAMETERS:,} are allowed")
    nats = held_out_loss(model, corpus)
    print(f"track {track}, seed {seed}: {minutes:.4f} minutes, {nats:.3f} nats", flush=True)
    goal = GOALS[track]
    if goal is None:
        return nats if minutes <= 1 else None
    return minutes if nats <= goal else None


def run_recipe(
    recipe: Path, corpus: Corpus, tracks: Sequence[str], seeds: int, results: Path
) -> None:
    """Make the runs of a recipe that its file of results does not have yet."""
    module = runpy.run_path(str(recipe))

    def about(_: str) -> str:
        return (module["__doc__"] or "").partition("\n")[0]

    def one(_: str, track: str, seed: int) -> dict[str, Any]:
        result = one_run(module["train"], corpus, track, seed)
        return {"result": result, "date": f"{date.today()}"}

    runs = ResultsFile("benchmarks.speedrun", results)
    runs.measure("about", about, [recipe.stem])
    runs.measure("runs", one, [recipe.stem], tracks, range(seeds))


def interval(results: Sequence[float | None]) -> str:
    """Write the mean of some runs and half the width of its 95% interval; — if one failed."""
    numbers = [result for result in results if result is not None]
    if len(numbers) < len(results):
        return "—"
    mean, spread = Repeated.of(numbers)
    n, digits = len(numbers), 3 if mean > 0.01 else 4
    half = f" ± {T_95[n] * spread / math.sqrt(n):.{digits}f}" if n > 1 else ""
    return f"{mean:.{digits}f}{half}" + ("" if n == SEEDS else f" (n = {n})")


def by_track(written: Mapping[str, Any]) -> dict[str, dict[str, list[float | None]]]:
    """Return the results in a file by recipe and track: a number for each seed."""
    return {
        name: {track: [run["result"] for run in runs.values()] for track, runs in tracks.items()}
        for name, tracks in written["runs"].items()
    }


def table(written: Mapping[str, Any]) -> str:
    """Write the results in a file as a table, a row per recipe."""
    titles = ["recipe", "what it does", *TITLES.values(), "date"]
    rows = [f"| {' | '.join(titles)} |", "| --- " * len(titles) + "|"]
    for name, tracks in by_track(written).items():
        file = f"recipes/{name}.py"
        link = f"[{name}]({file})" if (HERE / file).exists() else name
        cells = [interval(tracks[track]) if track in tracks else "" for track in GOALS]
        day = max(run["date"] for runs in written["runs"][name].values() for run in runs.values())
        rows.append(f"| {' | '.join([link, written['about'].get(name, ''), *cells, day])} |")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> None:
    """Run recipes, print their rows and draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speedrun", description=__doc__)
    parser.add_argument("recipes", nargs="*", type=Path, help="files like recipes/template.py")
    parser.add_argument("--tracks", nargs="+", choices=GOALS, default=[*OPEN])
    parser.add_argument("--seeds", type=int, choices=range(1, SEEDS + 1), default=SEEDS)
    parser.add_argument("--results", type=Path, help="the file of all runs")
    parser.add_argument("--picture", type=Path, help="where to draw them, an SVG file")
    options = parser.parse_args(arguments)
    if not options.recipes and not options.results:
        parser.error("name a recipe, such as benchmarks/recipes/template.py")
    with tempfile.TemporaryDirectory() as folder:
        path = options.results or Path(folder) / "runs.json"
        corpus = Corpus.load()
        for recipe in options.recipes:
            print(machine(), flush=True)
            run_recipe(recipe, corpus, options.tracks, options.seeds, path)
        written = json.loads(path.read_text(encoding="utf-8"))
    print(table(written))
    if options.picture:
        options.picture.write_text(svg_of(records(by_track(written))), encoding="utf-8")


if __name__ == "__main__":
    main()
