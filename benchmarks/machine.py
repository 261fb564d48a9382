"""Which machine a benchmark's numbers are from."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> str:
    """Name processor, cores, torch and its threads in one line."""
    import torch

    import cloze  # noqa: F401 - gives torch one thread, as wherever something is measured

    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        name = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), name)
    threads = torch.get_num_threads()
    return f"{name}, {os.cpu_count()} cores, torch {torch.__version__}, {threads} thread(s)"
