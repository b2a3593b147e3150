"""No test measures time or sleeps: a busy machine must not change what passes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCKS = re.compile(
    r"time\.sleep\(|asyncio\.sleep\((?!0\))|perf_counter|monotonic\(|process_time|time\.time\(|timeit"
)
ALLOWED = {
    "toy/clock.py": "it is the clock that tests turn themselves",
    "backends/test_adaptive.py": "sleeps in the time of toy/clock.py, which costs none",
    "web/test_viewer.py": "pauses between requests for a page that is still computed",
    "test_clocks.py": "the words it looks for",
}


def test_no_test_measures_time_or_sleeps() -> None:
    names = {
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if CLOCKS.search(path.read_text("utf-8"))
    }
    assert names - ALLOWED.keys() == set()
    assert names >= ALLOWED.keys() - {"test_clocks.py"}, (
        "an allowance that nothing needs"
    )


@pytest.mark.parametrize(
    "line",
    [
        "time.sleep(1)",
        "await asyncio.sleep(0.01)",
        "start = time.perf_counter()",
    ],
)
def test_each_way_to_wait_is_found(line: str) -> None:
    assert CLOCKS.search(line)
    assert not CLOCKS.search("await asyncio.sleep(0)")
