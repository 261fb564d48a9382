"""What strict nbval needs here.

Dead kernels are noticed, a widget that reports for minutes loses nothing, no notebook can reach a
network, and what a processor with AVX-512 has computed is compared with what one without computes
(``tests/notebooks/test_processors.py`` compares it with others').
"""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any
from unittest.mock import patch

import nbval.plugin
import pytest
import torch
from nbval.kernel import RunningKernel

# Every kernel started from here on finds tests/no_network/sitecustomize.py first.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(
        None,
        [
            str(Path(__file__).resolve().parents[1] / "tests" / "no_network"),
            os.environ.get("PYTHONPATH"),
        ],
    )
)


OTHER_PROCESSOR = (
    {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    if torch.backends.cpu.get_cpu_capability() == "AVX512"
    else {}
)
"""Has torch, and the two libraries it multiplies with, compute as on a processor without AVX-512.

Notebooks are executed with the kernels of torch that this processor has. That a second time gives
the same is no news; that others, which round otherwise, give it is what a learner relies on. What
the environment asks for goes first.
"""


class WatchedKernel(RunningKernel):  # type: ignore[misc]  # nbval has no types
    """A kernel of nbval's that is watched while it works."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings_here = {**OTHER_PROCESSOR, **os.environ, "TQDM_DISABLE": "1"}  # as execute.py
        with patch.dict(os.environ, settings_here):
            super().__init__(*arguments, **settings)

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        """Wait for a message as nbval does, but keep an eye on the kernel meanwhile.

        nbval itself waits for a dead kernel until the cell's timeout is over. And it reads no
        output until the cell is done, by when a queue of 1000 messages has overflowed if a widget
        was busy.
        """
        read_ahead: deque[Any] = self.__dict__.setdefault("_read_ahead", deque())
        if stream == "iopub" and read_ahead:
            return read_ahead.popleft()
        deadline = time.monotonic() + (float("inf") if timeout is None else float(timeout))
        while True:
            try:
                return super().get_message(stream, max(0.0, min(1.0, deadline - time.monotonic())))
            except Empty:
                with suppress(Empty):
                    while stream == "shell":
                        read_ahead.append(super().get_message("iopub", 0))
                if not self.is_alive():
                    raise RuntimeError("The kernel died while it ran this cell.") from None
                if time.monotonic() >= deadline:
                    raise


nbval.plugin.RunningKernel = WatchedKernel


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin early with the notebooks: some train for a minute."""
    for item in items:
        if isinstance(item, nbval.plugin.IPyNbCell):
            item.add_marker(pytest.mark.long)
