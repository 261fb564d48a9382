"""Ctrl-C, pressed in the midst of training."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cloze import evaluation, training

CAN_INTERRUPT = pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends a process there")


@contextmanager
def interrupt_in(name: str, call: int) -> Iterator[None]:
    """Send a real SIGINT when a function of the training loop is called for the n-th time."""
    function, calls = getattr(training, name), 0

    def interrupted(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGINT)
        return function(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        for module in (training, evaluation):
            patch.setattr(module, name, interrupted)
        yield
