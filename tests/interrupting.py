"""Ctrl-C and its like, in the midst of training."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

CAN_INTERRUPT = pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends a process there")


@contextmanager
def interrupt_in(module: ModuleType, name: str, call: int, *numbers: int) -> Iterator[None]:
    """Send real signals, SIGINT by default, when a function is called for the n-th time."""
    function, calls = getattr(module, name), 0

    def interrupted(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            for number in numbers or (signal.SIGINT,):
                os.kill(os.getpid(), number)
        return function(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, interrupted)
        yield
