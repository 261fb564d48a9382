"""Signals: held back until a block is done, and delivered then."""

import signal
import threading
from collections.abc import Iterator

import pytest

from cloze.signals import ENDS, held_signals


@pytest.fixture(params=ENDS, ids=lambda n: n.name)
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    before = signal.signal(request.param, signal.default_int_handler)
    yield request.param
    signal.signal(request.param, before)


def test_a_signal_waits_until_the_block_is_done(number: signal.Signals) -> None:
    done = []

    def work() -> None:
        with held_signals() as waiting:
            assert not waiting()
            signal.raise_signal(number)
            signal.raise_signal(number)
            assert waiting()
            done.append(number)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [number]
    assert signal.getsignal(number) is signal.default_int_handler


def test_without_a_signal_nothing_is_delivered() -> None:
    before = [signal.getsignal(n) for n in ENDS]
    with held_signals() as waiting:
        assert not waiting()
        assert [signal.getsignal(n) for n in ENDS] != before
    assert [signal.getsignal(n) for n in ENDS] == before


def test_an_error_in_the_block_does_not_keep_the_signals(number: signal.Signals) -> None:
    with pytest.raises(ZeroDivisionError), held_signals():
        raise ZeroDivisionError
    assert signal.getsignal(number) is signal.default_int_handler


def test_what_was_ignored_stays_ignored(number: signal.Signals) -> None:
    signal.signal(number, signal.SIG_IGN)
    with held_signals() as waiting:
        signal.raise_signal(number)
        assert not waiting()
    assert signal.getsignal(number) == signal.SIG_IGN


def test_another_thread_simply_works() -> None:
    results = []

    def work() -> None:
        with held_signals() as waiting:
            results.append(waiting())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [False]
