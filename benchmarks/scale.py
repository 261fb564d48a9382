"""More processes: what they buy.

``python -m benchmarks.scale`` runs ``python -m cloze train`` in one process and, through
``torchrun``, in two, in turns. Interrupt it at any time and keep what it has printed.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tqdm import tqdm

from benchmarks.machine import machine
from cloze.corpus import DATA

PROCESSES = (1, 2)
CLOZE = ("-m", "cloze", "train")


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


def main(arguments: list[str] | None = None) -> None:
    """Compare one process with two."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few steps, for the tests")
    options = parser.parse_args(arguments)
    print(machine())
    try:
        if options.quick:
            processes(1, 4, DATA / "sample.txt")
        else:
            processes(5, 120, DATA / "corpus")
    except KeyboardInterrupt:
        print("stopped; the lines above are complete")


if __name__ == "__main__":
    main()
