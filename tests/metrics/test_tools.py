"""Tools are made once per kind and spec, with the options of their kind."""

from __future__ import annotations

from beholder.judges import Tally
from beholder.metrics import Tools


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
