"""Signals: what must not be interrupted in the middle is finished first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What asks a program to end: Ctrl-C, kill, a closed terminal (which Windows does not have)."""


@contextmanager
def held_signals() -> Iterator[Callable[[], bool]]:
    """Hold back what asks the program to end; the first of it is delivered after the block.

    In other threads than the main one the block simply runs: Python handles signals in the main
    thread alone.

    Yields:
        A function that says whether one is waiting.
    """
    waiting: list[int] = []

    def deliver() -> None:
        for number in waiting[:1]:
            signal.raise_signal(number)

    # A stack undoes all of it even if the next Ctrl-C arrives while it does.
    with ExitStack() as stack:
        stack.callback(deliver)
        if threading.current_thread() is threading.main_thread():
            for number in ENDS:
                before = signal.getsignal(number)
                # None: a handler that is not Python's, which Python could not put back.
                if before not in (None, signal.SIG_IGN):
                    stack.callback(signal.signal, number, before)
                    signal.signal(number, lambda n, _: waiting.append(n))
        yield lambda: bool(waiting)
