"""The limit on BLAS threads belongs to the process: it is held and given back as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from beholder.base.threads import one_blas_thread


def _threads() -> set[int]:
    assert np.eye(2).sum() == 2  # numpy has loaded its library
    return {library["num_threads"] for library in threadpool_info()}


@pytest.fixture(autouse=True)
def several() -> Iterator[None]:
    """Two threads, whoever set them: a thread that has ended, so that nobody is in charge."""
    before = max(_threads())
    _as_another(lambda: threadpool_limits(2))
    if _threads() != {2}:
        pytest.skip("the BLAS of this machine has one thread at most")
    yield
    _as_another(lambda: threadpool_limits(before))


def _as_another(function: Callable[[], object]) -> None:
    thread = Thread(target=function)
    thread.start()
    thread.join()


def test_one_thread_within_and_several_after() -> None:
    with one_blas_thread():
        assert _threads() == {1}
        with one_blas_thread():
            assert _threads() == {1}
        assert _threads() == {1}
    assert _threads() == {2}


def test_an_error_gives_the_threads_back() -> None:
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert _threads() == {2}


def test_overlapping_threads_hold_it_together() -> None:
    in_both, first_left = Barrier(2, timeout=60), Barrier(2, timeout=60)
    counts: list[set[int]] = []

    def first() -> None:
        with one_blas_thread():
            in_both.wait()
        first_left.wait()

    def second() -> None:
        with one_blas_thread():
            in_both.wait()
            first_left.wait()
            counts.append(_threads())

    both = [Thread(target=first), Thread(target=second)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert counts == [{1}]
    assert _threads() == {2}


_LATER = """
from threadpoolctl import threadpool_info
from beholder.base.threads import one_blas_thread
with one_blas_thread():
    import scipy.linalg
    with one_blas_thread():
        found = threadpool_info()
        assert len(found) > 1, found
        assert {one["num_threads"] for one in found} == {1}, found
"""


def test_a_library_that_is_loaded_meanwhile_has_one_thread_too() -> None:
    subprocess.run(
        [sys.executable, "-c", "import numpy\n" + _LATER],
        check=True,
        timeout=120,
    )


_FORKED = """
import asyncio, os, sys
from beholder.metrics import metric
from beholder.rewards import reward
from beholder.base.threads import one_blas_thread

if __name__ == "__main__":
    asked = reward("rouge", workers=1)
    def score():
        with one_blas_thread():
            pass
        metric("rouge").score_text("a red dog", ["a red dog"])
        return asyncio.run(asked(completions=["a red dog"], references=["a red dog"]))
    score()
    child = os.fork()
    if child == 0:
        found = score()
        asked.close()
        os._exit(0 if found == [1.0] else 1)
    _, status = os.waitpid(child, 0)
    assert score() == [1.0]
    asked.close()
    sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow  # processes of processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_was_forked_scores_with_threads_and_processes_of_its_own(
    tmp_path: Path,
) -> None:
    script = tmp_path / "forked.py"
    script.write_text(_FORKED)
    done = subprocess.run(
        [sys.executable, str(script)], timeout=120, check=False
    )
    assert done.returncode == 0
