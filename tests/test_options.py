"""Option groups: what they refuse, and what they hand to judges and tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import ConfigError
from beholder.options import DataOptions, JudgeOptions, WorkOptions


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        (DataOptions, "limit", 0),
        (DataOptions, "limit", 2.0),
        (DataOptions, "limit", True),
        (WorkOptions, "workers", 0),
        (WorkOptions, "concurrency", -1),
        (WorkOptions, "max_cost", -0.01),
        (WorkOptions, "max_cost", float("nan")),
        (WorkOptions, "max_cost", False),
        (JudgeOptions, "temperature", -1),
        (JudgeOptions, "temperature", float("inf")),
        (JudgeOptions, "temperature", "hot"),
    ],
)
def test_a_value_out_of_range_is_named(group: Any, name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"{name}={value!r}: expected .*leave it out"):
        group(**{name: value})


def test_limits_of_the_ranges_are_inside() -> None:
    assert DataOptions(limit=1).limit == 1
    assert WorkOptions(workers=1, concurrency=1, max_cost=0).max_cost == 0
    assert JudgeOptions(temperature=0).temperature == 0


def test_only_what_was_given_goes_to_judges() -> None:
    assert JudgeOptions().keywords() == {}
    given = JudgeOptions("http://a/v1", 0, Path("p"), True, {"timeout": 3})
    assert given.keywords() == {
        "base_url": "http://a/v1",
        "temperature": 0,
        "prompts": Path("p"),
        "batch": True,
        "timeout": 3,
    }


def test_embedders_get_the_address_alone() -> None:
    given = JudgeOptions("http://a/v1", temperature=0.5)
    assert given.for_tools() == {
        "judge": {"base_url": "http://a/v1", "temperature": 0.5},
        "embedder": {"base_url": "http://a/v1"},
    }
    assert JudgeOptions().for_tools() == {"judge": {}, "embedder": {}}


def test_extra_may_not_repeat_a_field() -> None:
    with pytest.raises(ConfigError, match="extra holds 'batch'"):
        JudgeOptions(extra={"batch": True})
