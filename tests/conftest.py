"""Shared fixtures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit it and find `toy`

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def shared_data() -> Path:
    """Data that may be measured with but not passed on, beside the checkout of those who have it.

    Nothing that can be proved without them asks for this folder: see ``tests/vectors``.
    """
    if not SHARED.is_dir():
        pytest.skip("Flickr8k (non-commercial) and ROGER (no licence) cannot be shipped with tests")
    return SHARED


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server of this session; tests keep apart by what they write into it."""
    from servers.postgres import postgres

    with postgres() as url:
        yield url


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer's shell changes a result."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
