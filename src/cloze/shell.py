"""What a command owes the shell: to end in order when it is asked to, or when nobody listens."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import Any, TextIO, cast

from cloze.signals import ENDS


class Ending:
    """The signals that ask a command to end: raised as KeyboardInterrupt, or only remembered.

    The first one counts. A key that repeats changes nothing more, not even the farewell.
    """

    def __init__(self) -> None:
        self.signal = 0
        """The number of the signal that asked; 0 if none has."""
        self._postponed = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Hear signals in the block; what the shell had us ignore (``nohup``, ``&``) stays so."""
        with ExitStack() as stack:
            if threading.current_thread() is threading.main_thread():
                for number in ENDS:
                    before = signal.getsignal(number)
                    if before not in (None, signal.SIG_IGN):
                        stack.callback(signal.signal, number, before)
                        signal.signal(number, self._hear)
            yield

    @contextmanager
    def postponed(self) -> Iterator[None]:
        """Only remember signals in the block, which looks at ``signal`` when it suits."""
        self._postponed = True
        try:
            yield
        finally:
            self._postponed = False

    def _hear(self, number: int, _: FrameType | None) -> None:
        if not self.signal:
            self.signal = number
            if not self._postponed:
                raise KeyboardInterrupt


class Outlet:
    """A standard stream that never raises: what can no longer be said is dropped.

    Args:
        stream: the stream, or None if it was closed before we began.
        name: what to call it.
    """

    def __init__(self, stream: TextIO | None, name: str) -> None:
        # The null device also takes the place of the closed one, which the next file would get.
        self.stream = stream or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        self.name = name
        self.error: OSError | None = None
        """What was the matter when it broke."""
        if isinstance(self.stream, io.TextIOWrapper):  # not every terminal can show a ␣
            self.stream.reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        """Write, if it still can."""
        try:
            return self.stream.write(text)
        except OSError as error:
            self._break(error)
            return len(text)

    def flush(self) -> None:
        """Flush, if it still can."""
        try:
            self.stream.flush()
        except OSError as error:
            self._break(error)

    def _break(self, error: OSError) -> None:
        self.error = self.error or OSError(f"{self.name} cannot be written: {error.strerror}.")
        with suppress(OSError):  # what waits in its buffer is written at exit, to nowhere
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def outlets() -> Iterator[tuple[Outlet, Outlet]]:
    """Put outlets in the place of standard output and standard error, and yield them."""
    before = sys.stdout, sys.stderr
    out, err = Outlet(sys.stdout, "Standard output"), Outlet(sys.stderr, "Standard error")
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, err)
    try:
        yield out, err
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before
