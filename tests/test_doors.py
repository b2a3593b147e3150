"""The doors of the package: each system in one call from Python, with the same options."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.backends import BACKENDS
from beholder.options import (
    DataOptions,
    JudgeOptions,
    Options,
    WorkOptions,
    group_options,
)
from toy.bothways import Reader, make_world
from toy.metric import WordCount
from toy.photos import make_collection

if "reader" not in BACKENDS.names():
    BACKENDS.register("reader")(Reader)


def test_every_option_has_a_place_in_a_group() -> None:
    names = {
        option.name
        for group in (DataOptions, JudgeOptions, WorkOptions)
        for option in fields(group)
    }
    assert set(Options.__annotations__) == (names - {"extra"}) | {
        "judge_options"
    }


def test_options_reach_their_groups() -> None:
    rows, judging, work = group_options(
        {
            "limit": 3,
            "media_root": "m",
            "base_url": "http://x",
            "judge_options": {"timeout": 5},
            "cache": "c",
            "max_cost": 2.5,
        }
    )
    assert rows == DataOptions(limit=3, media_root=Path("m"))
    assert judging == JudgeOptions(base_url="http://x", extra={"timeout": 5})
    assert work == WorkOptions(cache=Path("c"), max_cost=2.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limt": 3}, "no option is called 'limt'; did you mean 'limit'"),
        ({"limit": 0}, "limit=0: expected a whole number from 1"),
        ({"max_cost": -1}, "max_cost=-1: expected a number from 0"),
        ({"judge_options": {"base_url": "x"}}, "extra holds 'base_url'"),
    ],
)
def test_a_wrong_option_is_refused_by_every_door(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    doors: tuple[Callable[[], object], ...] = (
        lambda: beholder.score(
            [{"candidate": "x"}], [WordCount()], out=tmp_path / "a", **options
        ),
        lambda: beholder.rank(
            [{"texts": ["a", "b"]}],
            [WordCount()],
            out=tmp_path / "b",
            **options,
        ),
    )
    for door in doors:
        with pytest.raises(beholder.ConfigError, match=message):
            door()
    assert not list(tmp_path.iterdir())


def test_rank_gives_a_run_with_its_ranking(tmp_path: Path) -> None:
    row = {
        "texts": ["one", "one two", "one two three"],
        "ranks": {"x": [3, 2, 1], "y": [3, 2, 1]},
    }
    bad = {"texts": ["alone"]}
    run = beholder.rank(
        [row, bad], ["length"], out=tmp_path, skip_bad_rows=True
    )
    assert run.kind == "ranking"
    assert run.ranking.images[0].scorers["length"].ranks == (3, 2, 1)
    assert run.summary["length"].values["correlation"].mean == 1.0
    assert [error.line for error in run.bad_rows] == [2]
    again = beholder.rank([row], ["length"], out=tmp_path, limit=1)
    assert again.manifest["data"]["n_bad_rows"] == 0


def test_rank_without_scorer_needs_references(tmp_path: Path) -> None:
    with pytest.raises(
        beholder.ConfigError, match="no references to score against, so name"
    ):
        beholder.rank([{"texts": ["a", "b"]}], out=tmp_path)


def test_agree_holds_metrics_against_labels(tmp_path: Path) -> None:
    data = tmp_path / "judged.jsonl"
    rows = [
        {"id": str(n), "candidate": "word " * n, "judgments": {"overall": n}}
        for n in range(1, 8)
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = beholder.agree(
        data,
        [WordCount()],
        labels=["overall"],
        resamples=0,
        out=tmp_path / "run",
        limit=6,
    )
    row = report.sections[0].rows[0]
    assert (row.metric, row.found.value, row.found.n) == ("word_count", 1.0, 6)
    for text in (str(report), report._repr_html_()):
        assert "word_count" in text
        assert "1.000" in text
    assert "MeasureSection" not in str(report)


def test_storylines_are_extracted_and_compared(tmp_path: Path) -> None:
    pictures = make_collection(tmp_path, 6)
    extraction = beholder.narrate.extract(pictures, k=3)
    storylines = [narrative.storyline for narrative in extraction.found]
    assert [len(storyline.frames) for storyline in storylines] == [3]
    assert not extraction.learned
    run = beholder.narrate.compare(
        storylines,
        coherence="handcrafted",
        out=tmp_path / "run",
        media_root=pictures.parent,
    )
    assert run.kind == "narratives"
    (path,) = extraction.found
    (narrative,) = run.study.narratives
    assert narrative.coherence
    assert narrative.coherence.minimum == pytest.approx(
        path.path.weakest, abs=1e-6
    )
    with pytest.raises(beholder.ConfigError, match="say what to extract"):
        beholder.narrate.extract(pictures)


@pytest.mark.usefixtures("few_resamples")
def test_both_directions_are_read_from_a_run(tmp_path: Path) -> None:
    data = make_world(tmp_path, 6).data
    both = "dcscore(direction='both')"
    run = beholder.score(data, [both], judge="reader:m", out=tmp_path / "run")
    by_run, by_path = (
        beholder.bidirectional(run),
        beholder.bidirectional(run.path),
    )
    assert [table.name for table in by_run.tables] == [
        table.name for table in by_path.tables
    ]
    assert by_run.tables


def test_a_run_names_what_it_has(tmp_path: Path) -> None:
    run = beholder.score([{"candidate": "x"}], [WordCount()], out=tmp_path)
    with pytest.raises(
        beholder.RunError,
        match=r"nothing called 'vcs'; it has: \['word_count'\]",
    ):
        list(run.outcomes("vcs"))


def test_errors_people_catch_are_exported() -> None:
    from beholder import errors

    error_names = {
        name
        for name, member in vars(errors).items()
        if isinstance(member, type)
        and issubclass(member, errors.BeholderError)
    }
    assert error_names <= set(beholder.__all__)
