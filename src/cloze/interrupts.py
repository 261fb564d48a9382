"""Interrupts: Ctrl-C and its like, held back while something must not be left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def held_signals() -> Iterator[Callable[[], bool]]:
    """Hold back what asks a program to end; the first of it is delivered after the block.

    That is Ctrl-C, ``kill``, and a closed terminal. In other threads than the main one the block
    simply runs: Python handles signals in the main thread alone.

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
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the last is unknown to Windows
                number = getattr(signal, name, None)
                before = number and signal.getsignal(number)
                if number and before not in (None, signal.SIG_IGN):  # what nohup ignores stays so
                    stack.callback(signal.signal, number, before)
                    signal.signal(number, lambda n, _: waiting.append(n))
        yield lambda: bool(waiting)
