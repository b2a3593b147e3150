"""Values of options against the annotations of what takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from beholder.base.registry import check_types
from beholder.errors import ConfigError
from beholder.judges import judge
from toy.cases import each_case

if TYPE_CHECKING:
    from decimal import Decimal


def taker(
    text: str | None = None,
    number: float = 0.0,
    count: int = 1,
    flag: bool = False,
    which: Literal["a", "b"] = "a",
    file: Path | None = None,
    names: Sequence[str] = (),
    fields: Mapping[str, Any] | None = None,
    anything: Any = None,
    unknown: Decimal | None = None,
    **more: Any,
) -> None: ...


@each_case(
    ("name", "good", "bad", "said"),
    [
        ("text", ["x", None], [5, ["x"]], "a text"),
        ("number", [1, 0.5], ["1", None, True], "a number"),
        ("count", [0, 7], [1.0, "1", False], "a whole number"),
        ("flag", [True, False], ["yes", 1, None], "true or false"),
        ("which", ["a"], ["c", 5], "one of 'a', 'b'"),
        ("file", ["x", Path("x"), None], [5], "a path"),
        ("names", [["x"], ()], ["x", 5], "a list"),
        ("fields", [{"a": 1}, None], [5, "x", [1]], "a dict of fields"),
        ("anything", [5, "x", None], [], ""),
        ("unknown", [5, "x"], [], ""),
        ("other", [5, "x"], [], ""),
    ],
)
def test_types_are_those_of_the_annotations(
    name: str, good: list[object], bad: list[object], said: str
) -> None:
    for value in good:
        check_types(taker, {name: value}, "here")
    for value in bad:
        with pytest.raises(
            ConfigError, match=f"^here: {name}=.*: expected {said}$"
        ):
            check_types(taker, {name: value}, "here")


@pytest.mark.parametrize(
    "option",
    [
        "temperature='hot'",
        "prompts=5",
        "samples='x'",
        "scale=5",
        "base_url=5",
        "batch='yes'",
        "prices=5",
        "context='a'",
    ],
)
def test_a_judge_refuses_options_of_another_type(option: str) -> None:
    name, _, value = option.partition("=")
    with pytest.raises(ConfigError, match=f"{name}={value}: expected "):
        judge(f"openai('m', {option})")
    with pytest.raises(ConfigError, match=f"{name}={value}: expected "):
        judge(f"panel(members=[openai('m'), openai('n', {option})])")
