"""How many learners one machine serves: kernels that are clicked at, all at the same time.

``python -m benchmarks.classroom`` starts 1, 4, 8 and 16 kernels at the same moment, as a class does
that was told to, shows an explorer in each and clicks in each of them every two seconds for a
minute, at random moments; then once more with 8, of which one trains. It prints how long they wait
for their explorer, how long the answers to their clicks take and what a learner needs of memory and
processor; and from these, which of the two is used up first, and by how many learners. The clicks
go straight to the kernels: the browsers are the learners' own. Kernels are forked from a process
that is warm before the lesson begins, as with ``python run.py lab`` on Linux; with ``--cold`` each
loads torch itself, as it does elsewhere. About six minutes; interrupt it at any time and keep what
it has printed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from queue import Empty
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from tqdm import tqdm

from benchmarks.machine import machine
from cloze.serving import warm

LEARNERS = (1, 4, 8, 16)
SECONDS = 60.0
EVERY = 2.0
"""Seconds between two clicks of a learner, on average."""
PATIENCE = 120.0
EXPLORER = """
from cloze.explorer import MaskExplorer
explorer = MaskExplorer()
print(explorer.comm.comm_id)
"""
LINE = "she took her umbrella because it was raining"
TRAINING = """
from cloze.heads import MaskedLM
from cloze.corpus import Corpus
from cloze.training import Recipe, TrainingRun, fit
for _ in fit(TrainingRun(MaskedLM(), Corpus.load(), Recipe(steps=1_000_000)), progress=False):
    pass
"""


class Learner:
    """A kernel with an explorer, and somebody to click in it."""

    def __init__(self, client: BlockingKernelClient, process: psutil.Process) -> None:
        self.client = client
        self.process = process
        self.comm_id = ""
        self.answers: list[float] = []
        """Seconds from each click to its answer."""
        self.unanswered = 0

    def ask_for_the_explorer(self) -> None:
        """Run the cell that shows it, as soon as the kernel listens."""
        self.client.wait_for_ready(timeout=PATIENCE)
        self.client.execute(EXPLORER)

    def wait_for_the_explorer(self) -> None:
        """Wait until it has answered a first click.

        Raises:
            RuntimeError: the cell failed.
            queue.Empty: nothing has arrived for two minutes.
        """
        while not self.comm_id:
            message: dict[str, Any] = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["msg_type"] == "error":
                raise RuntimeError("\n".join(message["content"]["traceback"]))
            if message["content"].get("name") == "stdout":
                self.comm_id = message["content"]["text"].strip()
        self.click(0, PATIENCE)  # while the others still arrive

    def click(self, at: int, patience: float = 10) -> float:
        """Click a letter and return the seconds until the new bars arrive.

        Raises:
            queue.Empty: nothing has arrived for so many seconds.
        """
        state = {"masked": [at], "focus": at}
        line = {"truth": list(LINE), "filled": {}, "hands": {}}
        question = {"ask": "guesses", "id": "0", "sent": line | state}
        started = time.perf_counter()
        for data in (
            {"method": "update", "state": state},
            {"method": "custom", "content": question},
        ):
            content = {"comm_id": self.comm_id, "data": data}
            message = self.client.session.msg("comm_msg", content)
            self.client.shell_channel.send(message)
        while True:
            answer: dict[str, Any] = self.client.get_iopub_msg(timeout=patience)
            ours = answer["parent_header"].get("msg_id") == message["header"]["msg_id"]
            if ours and "answer" in answer["content"].get("data", {}).get("content", {}):
                return time.perf_counter() - started

    def click_until(self, over: threading.Event, seed: int) -> None:
        """Click every two seconds, at moments that differ from learner to learner."""
        chance = random.Random(seed)  # noqa: S311
        due = time.monotonic() + chance.uniform(0, EVERY)
        while not over.wait(max(0.0, due - time.monotonic())):
            try:
                self.answers.append(self.click(chance.randrange(40)))
            except Empty:
                self.unanswered += 1
            due = max(time.monotonic(), due + chance.uniform(0.5, 1.5) * EVERY)

    @property
    def megabytes(self) -> float:
        """Memory of the kernel in MB; on Linux, what it shares with others is counted in parts."""
        memory = self.process.memory_full_info()
        return getattr(memory, "pss", memory.uss) / 2**20

    @property
    def processor_seconds(self) -> float:
        """Seconds that the kernel has spent on a processor."""
        times = self.process.cpu_times()
        return times.user + times.system


@contextmanager
def kernel() -> Iterator[Learner]:
    """Start a kernel that ends with this block."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.blocking_client()
    try:
        client.start_channels()
        provisioner: Any = manager.provisioner
        yield Learner(client, psutil.Process(provisioner.pid))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@dataclass(frozen=True)
class Lesson:
    """What was measured in one lesson."""

    arrival: float
    """Seconds until the last had the answer to a first click."""
    answers: list[float]
    """Seconds until each click was answered."""
    unanswered: int
    megabytes: float
    """Memory of a learner's kernel."""
    to_arrive: float
    """Seconds of one core that a learner's kernel took to arrive."""
    to_click: float
    """Share of one core that a clicking learner's kernel was busy."""

    def __str__(self) -> str:
        milliseconds = sorted(1000 * seconds for seconds in self.answers) or [math.nan]
        p95 = milliseconds[math.ceil(0.95 * len(milliseconds)) - 1]
        return (
            f"{self.arrival:>10.1f} {len(self.answers):>7} {self.unanswered:>10} "
            f"{statistics.median(milliseconds):>10.1f} {p95:>9.1f} {milliseconds[-1]:>9.1f} "
            f"{self.megabytes:>8.0f} {self.to_arrive:>7.1f} {100 * self.to_click:>9.1f}"
        )


HEADER = (
    f"{'learners':>8} {'trains':>7} {'arrive s':>10} {'clicks':>7} {'unanswered':>10} "
    f"{'median ms':>10} {'95% ms':>9} {'worst ms':>9} {'MB each':>8} {'core s':>7} {'core %':>9}"
)


def lesson(n: int, seconds: float, *, one_trains: bool = False) -> Lesson:
    """Let ``n`` learners arrive together and click for so long."""
    over = threading.Event()
    with ThreadPoolExecutor(n) as threads, ExitStack() as stack:
        started = time.perf_counter()
        learners = [stack.enter_context(kernel()) for _ in range(n)]
        for learner in tqdm(learners, f"{n} kernels start", leave=False):
            learner.ask_for_the_explorer()
        for learner in tqdm(learners, f"{n} learners arrive", leave=False):
            learner.wait_for_the_explorer()
        arrival = time.perf_counter() - started
        clicking = learners
        if one_trains:
            trainer, *clicking = learners
            trainer.client.execute(TRAINING)
        arrived = [learner.processor_seconds for learner in learners]
        clicks = []
        try:
            clicks += [
                threads.submit(learner.click_until, over, seed)
                for seed, learner in enumerate(clicking)
            ]
            for _ in tqdm(range(round(seconds)), f"{n} learners click", unit="s", leave=False):
                time.sleep(1)
        finally:
            over.set()
            wait(clicks)  # or their kernels would vanish while they wait for an answer
        for click in clicks:
            click.result()
        busy = [x.processor_seconds - b for x, b in zip(learners, arrived, strict=True)]
        if one_trains and busy.pop(0) < seconds / 10:
            raise RuntimeError("the learner who should train did not")
        return Lesson(
            arrival=arrival,
            answers=[answer for learner in clicking for answer in learner.answers],
            unanswered=sum(learner.unanswered for learner in clicking),
            megabytes=statistics.mean(learner.megabytes for learner in learners),
            to_arrive=statistics.mean(arrived),
            to_click=statistics.mean(busy) / seconds,
        )


def limits(lesson: Lesson) -> str:
    """Say how many learners fill this machine, and with what."""
    memory = psutil.virtual_memory().available / 2**20
    cores = os.cpu_count() or 1
    by_memory, by_processor = (
        int(memory / lesson.megabytes),
        int(cores / max(lesson.to_click, 1e-4)),
    )
    first = "memory" if by_memory < by_processor else "the processor"
    learners = min(by_memory, by_processor)
    return (
        f"{memory / 1024:.1f} GB of free memory hold {by_memory} learners, {cores} cores are busy "
        f"with {by_processor} that click: {first} is used up first. If all {learners} came at the "
        f"same moment, the last would wait at least {learners * lesson.to_arrive / cores:.0f} s."
    )


def main(arguments: list[str] | None = None) -> None:
    """Print one line per lesson, and what limits a larger one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classroom", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two short lessons, for the tests")
    parser.add_argument("--learners", type=int, nargs="+", help="how many, lesson by lesson")
    parser.add_argument("--cold", action="store_true", help="each kernel loads torch itself")
    options = parser.parse_args(arguments)
    sizes = options.learners or ((1, 2) if options.quick else LEARNERS)
    if min(sizes) < 1:
        parser.error("a lesson needs at least 1 learner")
    seconds = 3.0 if options.quick else SECONDS
    if not options.cold:
        warm.start()
        with kernel() as first:  # which waits until all is loaded
            first.client.wait_for_ready(timeout=PATIENCE)
    print(f"{machine()}\n{HEADER}")
    lessons = [(n, False) for n in sizes] + [(2 if options.quick else 8, True)]
    last = None
    try:
        for n, one_trains in lessons:
            start = f"{n:>8} {'one' if one_trains else 'none':>7}"
            try:
                held = lesson(n, seconds, one_trains=one_trains)
            except (RuntimeError, Empty) as error:  # a kernel that starves while so many start
                print(f"{start} broke down: {error or 'no answer in two minutes'}", flush=True)
                continue
            print(f"{start} {held}", flush=True)
            last = last if one_trains else held
        if last:
            print(limits(last))
    except KeyboardInterrupt:
        print("\nStopped; what is printed holds.")


if __name__ == "__main__":
    main()
