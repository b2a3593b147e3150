"""Tools are made once per kind and spec, with the options of their kind."""

from __future__ import annotations

import pytest

from beholder.errors import ConfigError
from beholder.judges import Tally
from beholder.metrics import Tools
from beholder.metrics.tools import check_taken


def test_a_tool_is_made_once_per_kind_and_spec() -> None:
    tools = Tools()
    assert tools.judge("builtin") is tools.get("judge", "builtin") is tools.judge("builtin")
    assert tools.splitter("rules") is tools.get("splitter", "rules")
    assert tools.get("embedder", "static") is tools.get("embedder", "static")
    assert Tools().judge("builtin") is not tools.judge("builtin")


def test_options_reach_the_tools_of_their_kind() -> None:
    options: dict[str, dict[str, object]] = {
        "judge": {"temperature": 0.75},
        "embedder": {"api_key": "k", "dimensions": 8},
    }
    tools = Tools(options=options, tally=Tally())
    assert "0.75" in tools.identity("judge", "openai:m")
    assert tools.identity("embedder", "openai:m").endswith("/8")


def test_work_leaves_the_process_when_all_tools_may_be_made_anew() -> None:
    tools = Tools(tally=Tally())
    own = [("judge", "builtin"), ("embedder", "static"), ("splitter", "rules")]
    assert tools.are_per_process(own)
    assert not tools.are_per_process([*own, ("judge", "openai:m")])


@pytest.mark.parametrize(
    ("option", "kind", "spec"),
    [
        ("base_url", "judge", "openai:m"),
        ("base_url", "judge", "panel(hf:a, openai:b)"),
        ("base_url", "embedder", "openai:m"),
        ("batch", "judge", "openai:m"),
        ("temperature", "judge", "hf:m"),
    ],
)
def test_an_option_may_be_given_where_one_tool_takes_it(option: str, kind: str, spec: str) -> None:
    options: dict[str, dict[str, object]] = {kind: {option: "x"}}
    check_taken(options, [("embedder", "static"), ("judge", "builtin"), (kind, spec)])


@pytest.mark.parametrize(
    ("option", "kind", "spec"),
    [
        ("base_url", "judge", "panel(hf:a, vllm:b)"),
        ("base_url", "embedder", "st:m"),
        ("batch", "judge", "hf:m"),
        ("temperature", "judge", "builtin"),
        ("base_url", "splitter", "rules"),
    ],
)
def test_an_option_that_no_tool_takes_is_refused_by_name(option: str, kind: str, spec: str) -> None:
    options: dict[str, dict[str, object]] = {"judge": {option: "x"}, "embedder": {option: "x"}}
    with pytest.raises(ConfigError, match=f"^{option} was given, and no judge or embedder"):
        check_taken(options, [("splitter", "rules"), (kind, spec)])


def test_an_option_for_judges_is_not_taken_by_an_embedder() -> None:
    with pytest.raises(ConfigError, match=r"\(embedder openai:m\)"):
        check_taken({"judge": {"dimensions": 8}}, [("embedder", "openai:m")])
