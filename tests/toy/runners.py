"""What runs the graphs of ``beholder.embed.onnx``: numpy, and onnxruntime if it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from beholder.embed import attention, onnx

RUNNERS = ["numpy", "onnxruntime"] if onnx.is_installed() else ["numpy"]


@contextmanager
def running(runner: str) -> Iterator[None]:
    """One of them runs what is made meanwhile; none of it is kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx, "is_installed", lambda: runner == "onnxruntime")
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    attention._places.cache_clear()
    attention._mixed.cache_clear()


@pytest.fixture(params=RUNNERS)
def each(request: pytest.FixtureRequest) -> Iterator[str]:
    """The test is run with each, whose name this is."""
    with running(request.param):
        yield request.param
