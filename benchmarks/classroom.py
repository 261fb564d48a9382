"""How many learners one machine serves: kernels that are clicked at, all at the same time.

``python -m benchmarks.classroom`` starts 1, 4, 8 and 16 kernels, shows an explorer in each and
clicks in each of them every two seconds for a minute, at random moments; then once more with 8, of
which one trains. It prints how long the answers take and how much memory a learner needs. The
clicks go straight to the kernels: the browsers are the learners' own. About eight minutes;
interrupt it at any time and keep what it has printed.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from tqdm import tqdm

from benchmarks.machine import machine

LEARNERS = (1, 4, 8, 16)
SECONDS = 60.0
EVERY = 2.0
"""Seconds between two clicks of a learner, on average."""
PATIENCE = 120.0
EXPLORER = """
from cloze.widgets import MaskExplorer
explorer = MaskExplorer()
print(explorer.comm.comm_id)
"""
TRAINING = """
from cloze.encoder import MaskedLM
from cloze.text import Corpus
from cloze.training import Recipe, TrainingRun, fit
for _ in fit(TrainingRun(MaskedLM(), Corpus.load(), Recipe(steps=1_000_000)), progress=False):
    pass
"""


class Learner:
    """A kernel with an explorer, and somebody to click in it."""

    def __init__(self, client: BlockingKernelClient, pid: int) -> None:
        self.client = client
        self.pid = pid
        self.answers: list[float] = []
        """Seconds from each click to its answer."""
        self.unanswered = 0
        self.comm_id = self._printed(EXPLORER).strip()

    def _printed(self, code: str) -> str:
        printed = []
        self.client.execute_interactive(
            code,
            timeout=PATIENCE,
            output_hook=lambda m: printed.append(m["content"].get("text", "")),
        )
        return "".join(printed)

    def click(self, at: int) -> float:
        """Click a letter and return the seconds until the new bars arrive.

        Raises:
            queue.Empty: nothing has arrived for ten seconds.
        """
        content = {"method": "custom", "content": {"do": "toggle", "at": at}}
        message = self.client.session.msg("comm_msg", {"comm_id": self.comm_id, "data": content})
        started = time.perf_counter()
        self.client.shell_channel.send(message)
        while True:
            answer: dict[str, Any] = self.client.get_iopub_msg(timeout=10)
            ours = answer["parent_header"].get("msg_id") == message["header"]["msg_id"]
            if ours and "html" in answer["content"].get("data", {}).get("state", {}):
                return time.perf_counter() - started

    def click_for(self, seconds: float, seed: int) -> None:
        """Click every two seconds, at moments that differ from learner to learner."""
        chance = random.Random(seed)  # noqa: S311
        end = time.monotonic() + seconds
        due = time.monotonic() + chance.uniform(0, EVERY)
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                self.answers.append(self.click(chance.randrange(40)))
            except Empty:
                self.unanswered += 1
            due = max(time.monotonic(), due + chance.uniform(0.5, 1.5) * EVERY)

    @property
    def megabytes(self) -> float:
        """Memory of the kernel in MB, what it shares with others counted in parts (Linux)."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup")
        if not rollup.exists():
            return float("nan")
        lines = rollup.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


@contextmanager
def kernel() -> Iterator[tuple[BlockingKernelClient, int]]:
    """Start a kernel that ends with this block."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        yield client, manager.provisioner.pid  # type: ignore[union-attr]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def lesson(n: int, seconds: float, *, one_trains: bool = False) -> list[Learner]:
    """Let ``n`` learners click for so long, and return them with their measurements."""
    with ExitStack() as stack:
        # One after the other, as learners come in: so many imports at once would be another test.
        learners = [
            Learner(*stack.enter_context(kernel()))
            for _ in tqdm(range(n), desc=f"{n} learners arrive", leave=False)
        ]
        for learner in learners:
            learner.click(0)  # the first answer loads what the others find loaded
        clicking = learners
        if one_trains:
            trainer, *clicking = learners
            trainer.client.execute(TRAINING)
        threads = [
            threading.Thread(target=learner.click_for, args=(seconds, seed), daemon=True)
            for seed, learner in enumerate(clicking)
        ]
        for thread in threads:
            thread.start()
        for _ in tqdm(range(int(seconds)), desc=f"{n} learners click", unit="s", leave=False):
            time.sleep(1)
        for thread in threads:
            thread.join()
        sizes = [learner.megabytes for learner in learners]
        row(n, clicking, sizes, one_trains=one_trains)
        return learners


def row(n: int, learners: Sequence[Learner], sizes: Sequence[float], *, one_trains: bool) -> None:
    """Print the measurements of one lesson."""
    answers = sorted(1000 * seconds for learner in learners for seconds in learner.answers)
    if not answers:
        print(f"{n:>8}  nobody was answered")
        return
    p95 = answers[math.ceil(0.95 * len(answers)) - 1]
    lost = sum(learner.unanswered for learner in learners)
    print(
        f"{n:>8} {'one' if one_trains else 'none':>7} {len(answers):>7} {lost:>10} "
        f"{statistics.median(answers):>10.1f} {p95:>9.1f} {answers[-1]:>9.1f} "
        f"{statistics.mean(sizes):>14.0f}",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> None:
    """Print one line a lesson."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classroom", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two short lessons, for the tests")
    parser.add_argument("--learners", type=int, nargs="+", help="how many, lesson by lesson")
    options = parser.parse_args(arguments)
    sizes = options.learners or ((1, 2) if options.quick else LEARNERS)
    if min(sizes) < 1:
        parser.error("a lesson needs at least 1 learner")
    seconds = 3.0 if options.quick else SECONDS
    print(machine())
    print(
        f"{'learners':>8} {'trains':>7} {'clicks':>7} {'unanswered':>10} {'median ms':>10} "
        f"{'95 % ms':>9} {'worst ms':>9} {'MB a learner':>14}"
    )
    try:
        for n in sizes:
            lesson(n, seconds)
        lesson(2 if options.quick else 8, seconds, one_trains=True)
    except KeyboardInterrupt:
        print("\nStopped; what is printed holds.")


if __name__ == "__main__":
    main()
