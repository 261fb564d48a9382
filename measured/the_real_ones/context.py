"""What a longer line costs: time and memory of attention, written out and by a fused kernel.

``python -m measured.the_real_ones.context`` measures each length in a process of its own (a minute
on an idle core). It reads a process's peak of memory from the system, which Windows does not tell.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from cloze.encoder import Attention, EncoderConfig, join
from measured.shared import ResultsFile

LENGTHS = (512, 1024, 2048, 4096)
WAYS = ("written out", "fused")
REPEATS = 3


def peak_bytes() -> int:
    """Return this process's peak of memory."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux the other number begins with that of the parent process
        [kilobytes] = re.findall(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii"))
        return 1024 * int(kilobytes)
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@torch.no_grad()
def measure(way: str, length: int) -> tuple[float, int]:
    """Run one attention layer of the series on a line.

    Args:
        way: one of ``WAYS``: with a weight for every pair of positions in memory, or not.
        length: of the line.

    Returns:
        Seconds (the median), and the bytes by which the process grew.
    """
    attention = Attention(EncoderConfig(max_len=max(LENGTHS)))

    def look(length: int) -> None:
        x = torch.randn(1, length, attention.config.d_model)
        if way == "fused":
            attention(x, None)
        else:
            value = attention.value(x).unflatten(-1, (attention.config.n_heads, -1))
            attention.output(join(attention.weights(x, None) @ value.transpose(1, 2)))

    look(64)
    before, seconds = peak_bytes(), []
    for _ in range(REPEATS):
        started = time.perf_counter()
        look(length)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), peak_bytes() - before


def measure_apart(way: str, length: int) -> dict[str, float]:
    """Measure in a process of its own, whose peak of memory is this line's alone."""
    child = [sys.executable, "-m", __spec__.name, way, str(length)]
    output = subprocess.run(child, capture_output=True, text=True, check=True).stdout  # noqa: S603
    seconds, grown = json.loads(output)
    return {"seconds": round(seconds, 4), "bytes": grown}


def main() -> None:
    usual = EncoderConfig()
    measurements = ResultsFile(__spec__.name, heads=usual.n_heads, d_model=usual.d_model)
    measurements.measure("measured", measure_apart, WAYS, LENGTHS)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        main()
