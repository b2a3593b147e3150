"""Option groups: what they refuse, and what they hand to judges and tools."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from beholder import embed, judges
from beholder.embed.openai import OpenAIEmbedder
from beholder.embed.static import StaticEmbedder
from beholder.errors import ConfigError
from beholder.judges import LLMJudge, Panel
from beholder.options import DataOptions, JudgeOptions, Options, WorkOptions
from toy.cases import each_case


def test_keyword_options_are_the_fields_of_the_groups() -> None:
    groups = (DataOptions, JudgeOptions, WorkOptions)
    names = [option.name for group in groups for option in fields(group)]
    names[names.index("extra")] = "judge_options"
    assert sorted(Options.__annotations__) == sorted(names)


@each_case(
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
        (JudgeOptions, "replicates", 0),
    ],
)
def test_a_value_out_of_range_is_named(
    group: Any, name: str, value: object
) -> None:
    with pytest.raises(
        ConfigError, match=rf"{name}={value!r}: expected .*leave it out"
    ):
        group(**{name: value})


def test_limits_of_the_ranges_are_inside() -> None:
    assert DataOptions(limit=1).limit == 1
    assert WorkOptions(workers=1, concurrency=1, max_cost=0).max_cost == 0
    assert JudgeOptions(temperature=0).temperature == 0


def test_only_what_was_given_goes_to_judges() -> None:
    assert JudgeOptions().keywords() == {}
    options = JudgeOptions(
        "http://a/v1", "KEY", 0, Path("p"), True, {"timeout": 3}, 2
    )
    assert options.keywords() == {
        "base_url": "http://a/v1",
        "key_env": "KEY",
        "temperature": 0,
        "prompts": Path("p"),
        "batch": True,
        "timeout": 3,
        "replicates": 2,
    }


def test_embedders_get_the_address_alone() -> None:
    judge_options = JudgeOptions("http://a/v1", temperature=0.5)
    assert judge_options.for_tools() == {
        "judge": {"base_url": "http://a/v1", "temperature": 0.5},
        "embedder": {"base_url": "http://a/v1"},
    }
    assert JudgeOptions().for_tools() == {"judge": {}, "embedder": {}}


def test_the_address_goes_to_those_that_take_one(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"contains": "x", "answer": {"score": 8}}\n')
    options = JudgeOptions("http://127.0.0.1:9/v1").for_tools()
    embedder_options: dict[str, Any] = options["embedder"]
    assert isinstance(
        embed.embedder("static", **embedder_options), StaticEmbedder
    )
    embedder = embed.embedder("openai:m", **embedder_options)
    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.identity == "openai:m@127.0.0.1:9"
    keywords: dict[str, Any] = options["judge"]
    assert isinstance(
        judges.judge(f"panel(openai:m, scripted:{rules})", **keywords), Panel
    )
    alone = judges.judge("openai:m", **keywords)
    assert isinstance(alone, LLMJudge)
    assert alone.backend.name == "openai:m@http://127.0.0.1:9/v1"
    with pytest.raises(ConfigError, match="base_url"):
        judges.judge(
            f"scripted({str(rules)!r}, base_url='http://127.0.0.1:9/v1')"
        )


def test_extra_may_not_repeat_a_field() -> None:
    with pytest.raises(ConfigError, match="extra holds 'batch'"):
        JudgeOptions(extra={"batch": True})
