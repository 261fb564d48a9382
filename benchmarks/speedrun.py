"""The race: who trains a masked model of this size fastest on one core? With a referee.

``python -m benchmarks.speedrun my_recipe.py`` runs a recipe like ``benchmarks/recipes/template.py``
with five seeds on two tracks and prints its row: the least processor time to 0.9 nats on the
held-out pieces, and the lowest loss after one minute. ``--keep mine.json`` keeps every run
as soon as it is over and goes on where it stopped; ``--kept benchmarks/records.json`` prints the
table of ``benchmarks/RECORDS.md`` without training, and ``--picture`` draws it.

It needs ``pip install -e .[test]``. The rules are in ``benchmarks/RECORDS.md``. What this file does
about them:

* **Time** is processor time, read from outside. Its unit is the *minute*: the time of the default
  recipe's steps. The referee takes a few of them before the recipe starts, and again whenever the
  recipe has had the core for two seconds. So a slow or busy machine slows both.
  What its answers take beyond 2.5 times the default recipe's counts as well.
* **Held-out text** stays in this process. The recipe trains in ``benchmarks.lane``, which is given
  the training pieces. Its weights then answer in a second lane, which is given masked lines in a
  secret order, without their answers. A fresh copy of that process answers each line and ends, so a
  model can keep nothing of the lines before it, nor of what it might compute beforehand.
* **Checkpoints and text** on the disk are out of sight: a lane runs from a copy of the package that
  has none, and on Linux in a namespace in which the project's folders are empty.
* **Fouls** end a run: see :func:`source_of`, :class:`Lane`, :func:`checked` and :class:`Judge`.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import queue
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Self

import psutil
import torch
from safetensors.torch import load, save
from torch import Tensor

from benchmarks.figures import records
from benchmarks.lane import Channel
from benchmarks.machine import machine
from benchmarks.paths import to_write
from cloze.corpus import Corpus
from cloze.evaluation import Repeated
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, held_out_batch
from cloze.teaching.figures import svg_of
from cloze.training import Recipe, TrainingRun
from cloze.vocabulary import VOCABULARY
from measured.shared import Measurements

ROOT = Path(__file__).resolve().parents[1]
GOALS: dict[str, float | None] = {"1.3": 1.3, "0.9": 0.9, "minute": None}
"""The tracks: a loss to reach in nats, or None for the lowest loss in a minute."""
OPEN = ("0.9", "minute")
"""The tracks that new recipes run on. To 1.3 nats counting letters suffices, so it is closed."""
TITLES = {"1.3": "minutes to 1.3 nats", "0.9": "minutes to 0.9 nats", "minute": "nats in a minute"}
SEEDS = 5
MOST_PARAMETERS = 300_000
MOST_HAND_OVERS = 10
"""How often a run may hand over weights: a recipe that asks at every step picks the luckiest."""
MOST_SOURCE = 20_000
"""Bytes of a recipe's file: too few for weights."""
MOST_MINUTES = 6.0
MODULES = {
    *("__future__", "collections", "dataclasses", "functools", "itertools", "math", "statistics"),
    *("time", "typing", "numpy", "torch", "transformers", "cloze", "benchmarks"),
}
"""What a recipe may import."""
CLOSED = {
    *("checkpoint", "from_file", "jit", "ops", "_C", "sys", "os", "modules"),
    *("open", "exec", "eval", "compile", "getattr", "setattr", "vars", "globals", "__dict__"),
    *("__import__", "__builtins__", "__globals__", "__subclasses__", "__getattribute__"),
    *("share_memory", "share_memory_", "untyped_storage", "multiprocessing", "safe_open", "mmap"),
}
"""Names that a recipe has no use for but to get round the guard of its lane."""
TURN = 2.0
"""Seconds of the core after which the default recipe has its turn."""
FREE = 2.5
"""How many times as long as the default recipe's a model's answers may take uncounted.

Measured on a busy machine: the default's own took 13 to 18 s, mostly for the copies, and those of
window, counts, textbook, bert and modernbert_muon 10 to 28 s, at most 2.2 times as long.
"""
SLOWEST = 5.0
"""How many times as long as the default recipe's a model's answers may take."""
HIDES = ("unshare", "--map-root-user", "--mount", "--net", "sh", "-c")
"""What starts a program on Linux that sees no network and its own mounts."""
TICK = 0.01
"""Seconds that a system's count of processor time is fine to: a run takes one at least."""
STEPS = 8
"""Steps of the default recipe in a turn."""
LUCK = 0.06
"""Nats by which the fixed masks may be easier than others: four standard deviations."""
T_95 = (math.nan, math.nan, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
"""Student's t for an interval of 95%, by the number of runs."""


class FoulError(Exception):
    """A rule was broken, or nothing came of a run; the message says what."""


class HandOver(NamedTuple):
    """Weights, and when they were whole in the referee's hands."""

    minutes: float
    weights: bytes


class Course:
    """What is the same for all runs: the corpus, the fixed masks, the clock's unit."""

    def __init__(self, corpus: Corpus) -> None:
        self.ids = corpus.train_ids
        windows = corpus.held_out_windows()
        self.fixed = held_out_batch(windows)
        secret = torch.seed() % 2**31
        self.fresh = held_out_batch(windows, seed=secret)
        self.order = torch.randperm(len(windows))
        self._answering = 0.0
        self._default = TrainingRun(MaskedLM(), corpus, Recipe(steps=10**8, evaluations=0))
        self._times: list[float] = []
        for _ in range(2):
            self.turn()

    def turn(self) -> None:
        """Take some steps of the default recipe and time them."""
        for _ in range(STEPS):
            started = time.process_time()
            self._default.train_step()
            self._times.append(time.process_time() - started)

    def answering(self) -> float:
        """Return the processor seconds that the default recipe's answers take, measured once."""
        if not self._answering:
            with Judge(self, Path(__file__).parent / "recipes" / "template.py") as judge:
                judge.loss(save(MaskedLM().state_dict()))
                self._answering = judge.answered
        return self._answering

    @property
    def minute(self) -> float:
        """Processor seconds of the default recipe's minute, as the last two turns say."""
        return Recipe().steps * statistics.median(self._times[-2 * STEPS :])


def source_of(path: Path) -> str:
    """Return a recipe's source, which is short, imports what it may, and makes no attempt.

    Raises:
        FoulError: it is not such a source.
    """
    source = path.read_text(encoding="utf-8")
    if len(source.encode()) > MOST_SOURCE:
        raise FoulError(f"{path.name} has more than {MOST_SOURCE:,} bytes; a recipe is short")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise FoulError(f"{path.name} is not Python: {error}") from None
    modules: set[str] = set()
    used: set[str] = set()
    defined: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            of = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                module, *inside = f"{of}{alias.name}".split(".")
                modules.add(module)
                used.update(inside)
                defined.add(alias.asname or alias.name)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Attribute | ast.Name):
            used.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    for verb, names in (("imports", modules - MODULES), ("uses", used & CLOSED)):
        if names:
            raise FoulError(f"{path.name} {verb} {', '.join(sorted(names))}")
    if not {"Model", "train"} <= defined:
        raise FoulError(f"{path.name} has no Model or no train; see benchmarks/recipes/template.py")
    return source


def hidden(folder: Path) -> list[str]:
    """Return what a command begins with so that the project's folders are empty for it.

    Args:
        folder: with the lane's own files, which stay.

    Returns:
        Nothing where the system cannot do it.
    """
    own = Path(sys.prefix).resolve()
    there = [path for path in ROOT.iterdir() if path.is_dir() and not path.is_symlink()]
    far = [path for path in there if path not in (own, *own.parents)]
    mounts = "".join(f"mount -t tmpfs none {shlex.quote(str(path))} && " for path in far)
    begins = [*HIDES, f'{mounts}exec "$@"', "lane"]
    with suppress(OSError):
        tried = subprocess.run([*begins, "true"], cwd=folder, capture_output=True, check=False)  # noqa: S603
        if not tried.returncode:
            return begins
    return []


def pack(recipe: Path) -> Path:
    """Make a folder with a recipe and the package's code, and nothing of its data."""
    source = source_of(recipe)
    folder = Path(tempfile.mkdtemp(prefix="lane"))
    code = shutil.ignore_patterns(
        "*.json", "*.md", "*.js", "*.ts", "*.css", "*.svg", "*.png", "images"
    )
    shutil.copytree(ROOT / "src", folder / "src", ignore=code)
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=code)
    (folder / "recipe.py").write_text(source, encoding="utf-8")
    return folder


class Lane:
    """The process of a recipe, watched from outside: processor time, threads, children.

    Use it as a context: at its end the process is gone, and its folder.
    """

    def __init__(self, recipe: Path, role: str) -> None:
        self._folder = pack(recipe)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        lane = self._folder / "benchmarks" / "lane.py"
        python = [sys.executable, "-I", "-B", str(lane), role]  # no path of the user's
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and a file of ours
            [*hidden(self._folder), *python],
            cwd=self._folder,
            env={**threads, "CUDA_VISIBLE_DEVICES": "", "PATH": os.defpath},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin
        assert self._process.stdout
        self.channel = Channel(self._process.stdout, self._process.stdin)
        self._heard: queue.Queue[tuple[dict[str, Any], bytes]] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.watched = psutil.Process(self._process.pid)
        self.hear()
        self._threads = self.watched.num_threads()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._listener.join()
        with self._process:  # closes its pipes
            shutil.rmtree(self._folder)

    def _listen(self) -> None:
        try:
            while True:
                self._heard.put(self.channel.hear())
        except (EOFError, ValueError, KeyError):
            self._heard.put(({"say": "foul", "what": "its process ended"}, b""))

    def hear(self, seconds: float | None = None) -> tuple[dict[str, Any], bytes]:
        """Return what the lane says next; nothing if it says nothing for so many seconds.

        Raises:
            FoulError: it broke a rule, or failed.
        """
        try:
            words, data = self._heard.get(timeout=seconds)
        except queue.Empty:
            return {"say": ""}, b""
        if words["say"] == "foul":
            raise FoulError(words["what"])
        return words, data

    def seconds(self) -> float:
        """Return the processor time of the lane so far, and look at what else it runs.

        Raises:
            FoulError: it has a thread too many, or a child, or has ended.
        """
        if self.watched.num_threads() > self._threads or self.watched.children():
            raise FoulError("it started a thread or a process")
        return float(sum(self.watched.cpu_times()[:2]))


def hand_overs(course: Course, recipe: Path, goal: float | None, seed: int) -> Iterator[HandOver]:
    """Let a recipe train, in turns with the default recipe, and yield what it hands over.

    Raises:
        FoulError: a rule was broken.
    """
    with Lane(recipe, "train") as lane:
        course.turn()
        last = since = lane.seconds()
        lane.channel.say(course.ids.to(torch.uint8).numpy().tobytes(), seed=seed, goal=goal)
        minutes = TICK / course.minute
        handed = 0
        while True:
            words, data = lane.hear(0.5)
            now = lane.seconds()
            minutes, last = minutes + (now - last) / course.minute, now
            if now - since > TURN:
                lane.watched.suspend()
                course.turn()
                lane.watched.resume()
                since = now
            match words["say"]:
                case "used":
                    lane.channel.say(used=minutes)
                case "weights":
                    handed += 1
                    if handed > MOST_HAND_OVERS:
                        raise FoulError(f"it handed over more than {MOST_HAND_OVERS} times")
                    yield HandOver(minutes, data)
                    lane.channel.say()
                case "done":
                    return
            if minutes > (1.0 if goal is None else MOST_MINUTES):
                return


def checked(weights: bytes) -> bytes:
    """Return what was handed over if it is at most 300,000 numbers, as float32.

    Raises:
        FoulError: it is something else.
    """
    tensors = load(weights).values()
    count = sum(tensor.numel() for tensor in tensors)
    if count > MOST_PARAMETERS:
        raise FoulError(f"its model keeps {count:,} numbers; {MOST_PARAMETERS:,} are allowed")
    if any(tensor.dtype != torch.float32 for tensor in tensors):
        raise FoulError("a tensor of its model is not float32")
    return weights


class Judge(Lane):
    """The process in which weights answer the held-out lines, without knowing what is asked."""

    def __init__(self, course: Course, recipe: Path) -> None:
        super().__init__(recipe, "judge")
        self._course = course
        self.answered = 0.0
        """Processor seconds that the last answers took, with those of the copies that gave them."""

    def _spent(self) -> float:
        return float(sum(self.watched.cpu_times()[:4]))

    def loss(self, weights: bytes) -> float:
        """Return the held-out loss of weights under the fixed masks, in nats.

        Raises:
            FoulError: the model is too large, or its loss is not finite.
        """
        self.channel.say(checked(weights), say="weights")
        nats = self._loss(self._course.fixed)
        if not math.isfinite(nats):
            raise FoulError("its loss is not finite")
        return nats

    def examine(self, nats: float) -> None:
        """Look at how the loss of the last weights came about.

        Raises:
            FoulError: the model does better under the fixed masks than luck allows.
        """
        fresh = self._loss(self._course.fresh)
        if fresh - nats > LUCK:
            raise FoulError(
                f"it knows the fixed masks: {nats:.3f} nats, and {fresh:.3f} under others"
            )

    def _loss(self, batch: MaskedBatch) -> float:
        inputs, labels = (part[self._course.order] for part in batch)
        before = self._spent()
        logits = self._answers(inputs)
        self.answered = self._spent() - before
        return float(mlm_loss(logits, labels))

    def _answers(self, lines: Tensor) -> Tensor:
        self.channel.say(lines.to(torch.uint8).numpy().tobytes(), say="lines", shape=lines.shape)
        words, logits = self.hear()
        shape = (*lines.shape, len(VOCABULARY))
        size = 4 * shape[1] * shape[2]
        if words["sizes"] != [size]:
            raise FoulError(f"its logits for a line have {words['sizes']} bytes instead of {size}")
        return torch.frombuffer(bytearray(logits), dtype=torch.float32).view(shape)


def one_run(course: Course, recipe: Path, track: str, seed: int) -> float | None:
    """Return minutes to the goal, None if it was not reached; on the last track, nats.

    Raises:
        FoulError: a rule was broken.
    """
    goal = GOALS[track]
    handed = [*hand_overs(course, recipe, goal, seed)]
    if goal is None:
        handed.reverse()  # the last one that is in time counts
    usual = course.answering()
    with Judge(course, recipe) as judge:
        for trained, weights in handed:
            nats = judge.loss(weights)
            if judge.answered > SLOWEST * usual:
                raise FoulError(
                    f"its answers take {judge.answered / usual:.0f} times the default's"
                )
            minutes = trained + max(0.0, judge.answered - FREE * usual) / course.minute
            if nats <= goal if goal else minutes <= 1.0:
                judge.examine(nats)
                return nats if goal is None else minutes
    return None


def interval(results: Sequence[float | None]) -> str:
    """Write the mean of some runs and half the width of its 95% interval; — if one failed."""
    found = [result for result in results if result is not None]
    if len(found) < len(results):
        return "—"
    half = T_95[len(found)] * Repeated.of(found).spread / math.sqrt(len(found))
    few = "" if len(found) == SEEDS else f" (n = {len(found)})"
    mean = statistics.fmean(found)
    digits = 3 if mean > 0.01 else 4
    return f"{mean:.{digits}f}" + f" ± {half:.{digits}f}" * (len(found) > 1) + few


def results(kept: Mapping[str, Any]) -> dict[str, dict[str, list[float | None]]]:
    """Return what was kept by recipe and track: a number for each seed."""
    return {
        name: {track: [run["result"] for run in runs.values()] for track, runs in tracks.items()}
        for name, tracks in kept["runs"].items()
    }


def table(kept: Mapping[str, Any]) -> str:
    """Write what was kept as a table, a row per recipe."""
    titles = ["recipe", "what it does", *(TITLES[track] for track in GOALS), "date"]
    rows = [f"| {' | '.join(titles)} |", "| --- " * len(titles) + "|"]
    for name, tracks in results(kept).items():
        file = Path(__file__).parent / "recipes" / f"{name}.py"
        said = (
            ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) if file.exists() else ""
        )
        cells = [interval(tracks[track]) if track in tracks else "" for track in GOALS]
        dates = (run["date"] for runs in kept["runs"][name].values() for run in runs.values())
        cells = [
            f"[{name}](recipes/{name}.py)",
            (said or "").partition("\n")[0],
            *cells,
            max(dates),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> None:
    """Referee recipes, print their rows and draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speedrun", description=__doc__)
    parser.add_argument("recipes", nargs="*", type=Path, help="files like recipes/template.py")
    parser.add_argument("--tracks", nargs="+", choices=GOALS, default=[*OPEN])
    parser.add_argument("--seeds", type=int, choices=range(1, len(T_95)), default=SEEDS)
    parser.add_argument("--keep", type=to_write(".json"), help="where to keep every run")
    parser.add_argument("--kept", type=Path, help="print and draw what was kept, train nothing")
    parser.add_argument("--picture", type=to_write(".svg"), help="where to draw what was kept")
    options = parser.parse_args(arguments)
    if not options.recipes and not options.kept:
        parser.error("name a recipe, such as benchmarks/recipes/template.py, or --kept a file")
    for recipe in options.recipes:
        if not recipe.is_file():
            parser.error(f"there is no file {recipe}")
    with tempfile.TemporaryDirectory() as folder:
        path = options.kept or options.keep or Path(folder) / "runs.json"
        if options.recipes:
            print(machine(), flush=True)
            course = Course(Corpus.load())
        for recipe in options.recipes:

            def one(_: str, track: str, seed: int, recipe: Path = recipe) -> dict[str, Any]:
                result = one_run(course, recipe, track, seed)
                return {"result": result, "date": f"{date.today()}"}

            try:
                measurements = Measurements("benchmarks.speedrun", path)
                measurements.measure(
                    "runs", one, [recipe.stem], options.tracks, range(options.seeds)
                )
            except FoulError as foul:
                parser.exit(1, f"{recipe.name} is out: {foul}.\n")
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            print(table(kept))
            if options.picture:
                options.picture.write_text(svg_of(records(results(kept))), encoding="utf-8")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            parser.error(f"{path} holds no runs that --keep wrote: {error}")


if __name__ == "__main__":
    main()
