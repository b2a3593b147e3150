"""One BLAS thread while we add up: a sum's rounding may depend on the number of threads.

Products as small as ours also cost several threads more than they gain.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from threadpoolctl import ThreadpoolController


class _ThreadLimit:
    """The limit on threads of this process, kept while any caller needs it.

    Most libraries have one number of threads for the whole process. If each of two overlapping
    calls set it and put it back for itself, the one that ends first would lift it under the other,
    and the last would leave it in place for good. One thread sets all, because a library may be put
    back only by the thread that has set it.

    Attributes:
        libraries: Those that are loaded; to find them takes longer than many a score.
    """

    def __init__(self) -> None:
        self._by = ThreadPoolExecutor(1, thread_name_prefix="one-blas-thread")
        self._counting = threading.Lock()
        self._holders = 0
        self._limits = ExitStack()
        self._loaded = 0
        self.libraries = ThreadpoolController()

    def enter(self) -> None:
        with self._counting:
            # Libraries may have come with new modules.
            if not self._holders or self._loaded != len(sys.modules):
                self._by.submit(self._limit).result()
            self._holders += 1

    def leave(self) -> None:
        with self._counting:
            # A child may leave what its parent entered, so the count stays at 0.
            self._holders = max(0, self._holders - 1)
            # The stack closes in reverse, so that each library has its first number again.
            if not self._holders:
                self._by.submit(self._limits.close).result()

    def _limit(self) -> None:
        if self._loaded != len(sys.modules):
            self.libraries, self._loaded = (
                ThreadpoolController(),
                len(sys.modules),
            )
        self._limits.enter_context(self.libraries.limit(limits=1))


_thread_limit = _ThreadLimit()


def _reset_in_child() -> None:
    """Make a new limit in a forked child, which has no copy of the parent's threads."""
    global _thread_limit
    _thread_limit = _ThreadLimit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the linear algebra of this process to one thread; calls may overlap and nest."""
    _thread_limit.enter()
    try:
        # Libraries that count by thread (OpenMP) need the limit in this thread, too.
        with _thread_limit.libraries.limit(limits=1):
            yield
    finally:
        _thread_limit.leave()
