"""Worker processes: how they start, and how they end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.context import BaseContext
from typing import Any, TypeVar

from beholder.errors import RunError

T = TypeVar("T")
R = TypeVar("R")

SCRIPT = "__main__"
"""Module of the script or command that a process runs."""


def worker_context() -> BaseContext:
    """Return the start method of workers: on Linux, copies of a process with our modules loaded.

    A worker is ready after 0.03 s (BLEU) to 0.35 s (PoSh) of processor time instead of 0.5 to 1.5.
    The process that is copied has run no thread and no model, which do not survive a copy;
    libraries of other systems do not survive one at all.
    """
    # Libraries of macOS do not survive a copy, and Windows makes none.
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    module_names = [
        name for name in sys.modules if name.startswith("beholder.")
    ]
    # Modules that are loaded once are shared by all workers.
    context.set_forkserver_preload(module_names)
    return context


class WorkerPool(ProcessPoolExecutor):
    """A pool that starts its processes, on the first submits, without interrupts."""

    def submit(
        self, work: Callable[..., Any], /, *arguments: Any, **named: Any
    ) -> Future[Any]:
        """Submit work, as any pool does."""
        with delay_interrupts():
            return super().submit(work, *arguments, **named)


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Deliver Ctrl-C to this process after the block, and never to processes started in it.

    A process inherits the mask. Without it, Ctrl-C between its start and ``end_with_parent`` would
    print a traceback of its imports.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not is_main:
        yield
        return
    # The mask is that of this thread alone. Another thread can receive the signal, and its handler
    # would then interrupt this one.
    delayed: list[int] = []
    handler = signal.signal(
        signal.SIGINT, lambda number, _: delayed.append(number)
    )
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if delayed:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def process_pool(
    workers: int, initializer: Callable[..., None], *arguments: object
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of worker processes, which has ended when the block ends.

    Args:
        workers: Number of processes.
        initializer: Called in each process when it starts.
        arguments: Arguments of the initializer.
    """
    earlier_processes = set(multiprocessing.active_children())
    pool = WorkerPool(
        workers,
        mp_context=worker_context(),
        initializer=initializer,
        initargs=arguments,
    )
    try:
        yield pool
    finally:
        try:
            pool.shutdown(wait=True, cancel_futures=True)
        finally:
            # All workers have ended by now, unless Ctrl-C came a second time. The blocks under way
            # are then given up: workers that outlive the pool would keep this process from ending.
            for process in multiprocessing.active_children():
                if process not in earlier_processes:
                    process.kill()
            pool.shutdown(wait=True)


def map_in_processes(
    function: Callable[[T], R],
    tasks: Iterable[T],
    workers: int,
    advice: str,
    initializer: Callable[..., None],
    *arguments: object,
) -> Iterator[R]:
    """Yield the results of a function in the order of its tasks, computed in worker processes.

    Args:
        function: Called in the workers.
        tasks: Its arguments, read as results are taken, so that few are in memory.
        workers: Number of processes.
        advice: The end of the message if a worker dies.
        initializer: Called in each process when it starts.
        arguments: Arguments of the initializer.

    Raises:
        RunError: A worker process died.
    """
    waiting = iter(tasks)
    running: deque[Future[R]] = deque()
    try:
        with process_pool(workers, initializer, *arguments) as pool:
            while True:
                # A few tasks wait for each worker, so that results that are read in order keep
                # none idle.
                for task in islice(waiting, 3 * workers - len(running)):
                    with hide_main_script():
                        running.append(pool.submit(function, task))
                if not running:
                    return
                yield running.popleft().result()
    # The operating system kills workers that need too much memory, without any message.
    except BrokenProcessPool as error:
        raise RunError(
            f"a worker process died (killed, or out of memory); {advice}"
        ) from error


@contextmanager
def hide_main_script() -> Iterator[None]:
    """Hide the script from processes that are started meanwhile, which would run it again."""
    script = sys.modules[SCRIPT]
    # multiprocessing imports the parent's script by these two attributes of its main module.
    names = ("__file__", "__spec__")
    hidden: dict[str, Any] = {
        k: vars(script).pop(k) for k in names if k in vars(script)
    }
    script.__spec__ = None
    try:
        yield
    finally:
        vars(script).update(hidden)


def end_with_parent() -> None:
    """Have this worker process end when its parent does, and leave Ctrl-C to the parent."""
    # The terminal sends Ctrl-C to all processes; the parent lets blocks under way finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    # A worker without a parent would wait for ever for its next block.
    if parent is not None:
        parent.join()
        os._exit(1)  # killed without a word: no one is left to take a result
