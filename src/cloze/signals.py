"""Signals: what must not be interrupted in the middle is finished first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What asks a program to end: Ctrl-C, kill, a closed terminal (which Windows does not have)."""


@contextmanager
def held_signals() -> Iterator[Callable[[], bool]]:
    """Hold back what asks the program to end; it is delivered when the block is done.

    In other threads than the main one the block simply runs: Python handles signals in the main
    thread alone.

    Yields:
        A function that says whether one is waiting.
    """
    waiting: dict[int, None] = {}
    before = {}
    # None: a handler that is not Python's, which Python could not put back.
    if threading.current_thread() is threading.main_thread():
        before = {n: handler for n in ENDS if (handler := signal.getsignal(n)) is not None}
    try:
        for number in before:
            signal.signal(number, lambda n, _: waiting.setdefault(n))
        yield lambda: bool(waiting)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)
