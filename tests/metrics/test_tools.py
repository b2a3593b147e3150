"""Tools are made once per kind and spec, with the options of their kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.aio import run_sync
from beholder.asking.tools import check_taken
from beholder.errors import ConfigError, ItemError
from beholder.judges import Tally
from beholder.kinds.ranking.rankers import ByMetric
from beholder.metrics import Tools, metric
from beholder.records import Item, ItemFailure, ItemScore, Reviews
from beholder.run.plan import plan
from beholder.run.session import RunContext
from beholder.run.subjects import ITEM, REVIEWS
from toy.cases import each_case


def test_a_tool_is_made_once_per_kind_and_spec() -> None:
    tools = Tools()
    assert (
        tools.judge("builtin")
        is tools.get("judge", "builtin")
        is tools.judge("builtin")
    )
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
    assert (
        tools.identity("embedder", "openai:m").partition("+")[0].endswith("/8")
    )


def test_work_leaves_the_process_when_all_tools_may_be_made_anew() -> None:
    tools = Tools(tally=Tally())
    cheap_tools = [
        ("judge", "builtin"),
        ("embedder", "static"),
        ("splitter", "rules"),
    ]
    assert tools.are_per_process(cheap_tools)
    assert not tools.are_per_process([*cheap_tools, ("judge", "openai:m")])


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
def test_an_option_may_be_given_where_one_tool_takes_it(
    option: str, kind: str, spec: str
) -> None:
    options: dict[str, dict[str, object]] = {kind: {option: "x"}}
    check_taken(
        options, [("embedder", "static"), ("judge", "builtin"), (kind, spec)]
    )


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
def test_an_option_that_no_tool_takes_is_refused_by_name(
    option: str, kind: str, spec: str
) -> None:
    options: dict[str, dict[str, object]] = {
        "judge": {option: "x"},
        "embedder": {option: "x"},
    }
    with pytest.raises(
        ConfigError, match=f"^{option} was given, and no judge or embedder"
    ):
        check_taken(options, [("splitter", "rules"), (kind, spec)])


def test_an_option_for_judges_is_not_taken_by_an_embedder() -> None:
    with pytest.raises(ConfigError, match=r"\(embedder openai:m\)"):
        check_taken({"judge": {"dimensions": 8}}, [("embedder", "openai:m")])


GERMAN = Item("a", "Ein Hund läuft im Park.", ("Ein Hund rennt.",))


@each_case(
    "spec",
    [
        "vcs",
        "vcs_short",
        "token_f1",
        "cosine",
        "accord",
        "bertscore(model='minilm')",
        "posh",
    ],
)
@each_case(
    "item",
    [
        GERMAN,
        Item("a", "A dog.", ("A dog.",), group={"language": "de"}),
        Item("a", "A dog.", ("A dog.",), meta={"language": "German"}),
        Item("a", "A dog.", ("犬が走る。",)),
    ],
)
def test_metrics_whose_tools_read_english_refuse_another_language(
    spec: str, item: Item
) -> None:
    (failure,) = metric(spec).score([item])
    assert isinstance(failure, ItemFailure)
    assert "reads English, but" in failure.message
    assert "name a" in failure.message


@pytest.mark.parametrize(
    "item",
    [
        Item("a", "A dog.", ("A dog.",), group={"language": "en-GB"}),
        Item("a", "A dog.", ("A dog.",), group={"language": "unknown"}),
        Item(
            "a",
            "Ein Mann und ein Hund im Park.",
            ("A dog.",),
            group={"language": "English"},
        ),
    ],
)
def test_what_the_row_says_goes_before_how_the_text_looks(item: Item) -> None:
    (outcome,) = metric("token_f1").score([item])
    assert isinstance(outcome, ItemScore)


def test_a_tool_that_reads_all_languages_is_asked() -> None:
    tools = Tools(options={"embedder": {"api_key": "k"}}, tally=Tally())
    tools.check_language(
        [("judge", "openai:m"), ("embedder", "openai:m")], GERMAN
    )
    with pytest.raises(ItemError, match="judge panel"):
        tools.check_language([("judge", "panel(openai:m, builtin)")], GERMAN)


def test_rankings_and_dry_runs_refuse_the_language_too(tmp_path: Path) -> None:
    ranker = ByMetric(metric("vcs"))
    sets = Reviews(
        "a", ("犬が走る。", "猫。"), references=("犬。",), language="ja"
    )
    with pytest.raises(ItemError, match="embedder ordered reads English"):
        run_sync(ranker.evaluate(sets, Tools()))
    cases: list[tuple[Any, Any, Any]] = [
        (ranker, REVIEWS, sets),
        (metric("vcs"), ITEM, GERMAN),
    ]
    for asker, kind, subject in cases:
        (planned,) = plan(
            [asker], kind, [subject], tmp_path, RunContext()
        ).askers
        assert [reason.partition(",")[0] for reason in planned.lacking] == [
            "embedder ordered reads English"
        ]
