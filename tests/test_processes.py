"""Processes start without interrupts, which the process that starts them gets afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from beholder.base.processes import delay_interrupts

ONLY_POSIX = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no masks of signals"
)


def blocked() -> set[signal.Signals]:
    """Signals that this thread does not receive."""
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))  # type: ignore[arg-type]


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where the shell started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@ONLY_POSIX
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("is_received", [False, True])
def test_ctrl_c_comes_after_the_block(is_received: bool) -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012, SIM117
        with delay_interrupts():
            # A thread that was started before the block, as that of progress lines, receives it in
            # place of this one.
            if is_received:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("all of the block is done")
    assert steps
    assert signal.SIGINT not in blocked()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@ONLY_POSIX
def test_a_process_that_is_started_does_not_get_it() -> None:
    # An interpreter that gets the signal ends with a traceback of KeyboardInterrupt.
    script = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('alive')"
    with delay_interrupts():
        child = subprocess.run(
            [sys.executable, "-S", "-c", script],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (child.stdout, child.stderr) == ("alive\n", "")


@ONLY_POSIX
def test_another_thread_starts_processes_as_before() -> None:
    masks = []

    def start() -> None:
        with delay_interrupts():
            masks.append(blocked())

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert signal.SIGINT not in masks[0]
