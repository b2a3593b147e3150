"""Engines for tests with real models. Collected where ``make test-models`` has prepared them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.engines import INSIDE, SERVERS, Engines

from servers.ledger import Ledger

FOLDER = os.environ.get("BEHOLDER_TEST_MODELS", "")
NAMES = tuple(os.environ.get("ENGINES", "").split()) or (*INSIDE, *SERVERS)
collect_ignore_glob = [] if FOLDER else ["test_*.py"]

LEDGER = Ledger(NAMES)


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    opened_engines = Engines(Path(FOLDER).resolve(), NAMES)
    yield opened_engines
    opened_engines.close()


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Record questions and answers, and print them when all tests have ended."""
    LEDGER.listen(monkeypatch)
    return LEDGER


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``engine`` is each of the engines."""
    if "engine" in metafunc.fixturenames:
        metafunc.parametrize("engine", NAMES)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was found, in the form of docs/judges.md."""
    for line in LEDGER.lines():
        terminalreporter.write_line(line)
