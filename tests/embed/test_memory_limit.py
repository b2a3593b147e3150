"""A network is not loaded where a limit on memory would end the process without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.embed.sessions import check_room
from beholder.errors import RunError

MIB = 1 << 20


@pytest.mark.parametrize("n_left", [None, 96 * MIB, 10_000 * MIB])
def test_enough_memory_is_no_error(n_left: int | None) -> None:
    check_room(n_left, Path("encoder.onnx"))


@pytest.mark.parametrize(
    ("n_left", "shown"), [(96 * MIB - 1, 95), (MIB, 1), (0, 0), (-MIB, 0)]
)
def test_too_little_memory_names_the_limit(n_left: int, shown: int) -> None:
    with pytest.raises(
        RunError, match=rf"ulimit -v\) leaves {shown} MiB, .* needs 96"
    ):
        check_room(n_left, Path("encoder.onnx"))
