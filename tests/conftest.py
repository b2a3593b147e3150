"""Shared fixtures."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit it and find `toy`

from servers import postgres

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def shared_data() -> Path:
    """Data that may be measured with but not passed on, beside the checkout of those who have it.

    Nothing that can be proved without them asks for this folder: see ``tests/vectors``.
    """
    if not SHARED.is_dir():
        pytest.skip("Flickr8k (non-commercial) and ROGER (no licence) cannot be shipped with tests")
    return SHARED


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer's shell changes a result."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A real PostgreSQL server."""
    pytest.importorskip("pg8000", reason="needs the extra postgres")
    programs = postgres.programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL server here (apt-get install postgresql)")
    with postgres.running(programs) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: postgres.Server) -> Iterator[str]:
    """The address of a new, empty database, with its password."""
    yield postgres_server.new_url()
    with warnings.catch_warnings():  # the driver leaves sockets open that the server has closed
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
