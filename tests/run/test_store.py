"""Runs on disk that are read: on a disk that cannot be written, of an old format, of another kind."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from beholder.api import Run
from beholder.errors import ConfigError, RunError
from beholder.judges import AnswerFile
from beholder.kinds.ranking.door import rank
from beholder.kinds.scores.door import score
from beholder.records import Item, ItemFailure, ItemScore, Reviews
from beholder.report import draw, draw_figures
from beholder.run.codec import Encoded
from beholder.run.compare import compare
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from beholder.run.subjects import ITEM, REVIEWS
from beholder.run.tables_sqlite import SqliteTables
from toy.metric import WordCount


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """A folder as on a disk that cannot be written; for root, who may write anywhere, as nobody."""
    files = [folder, *folder.rglob("*")]
    for path in files:
        path.chmod(0o555 if path.is_dir() else 0o444)
    parents = [
        p
        for p in folder.parents
        if p.stat().st_uid == os.geteuid() and p != p.parent
    ]
    modes = {path: path.stat().st_mode for path in parents}
    for path in parents:
        path.chmod(modes[path] | 0o055)
    as_root = os.geteuid() == 0
    if as_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if as_root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)
        for path in files:
            path.chmod(0o755 if path.is_dir() else 0o644)


def _scored(folder: Path, *texts: str) -> Path:
    items = [
        Item(str(i), text, references=("A cat.",))
        for i, text in enumerate(texts)
    ]
    score(items, [WordCount()], out=folder)
    return folder


def test_a_run_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    # Everything that reading imports must be loaded before the process loses its rights.
    warm = _scored(tmp_path / "warm", "one two", "three")
    draw(warm, tmp_path / "warm.html")
    with Store.read(warm) as a, Store.read(warm) as b:
        compare(a, b)
    run = _scored(tmp_path / "run", "one two", "three")
    assert not (run / f"{FILE_NAME}-wal").exists()
    (tmp_path / "out").mkdir(mode=0o777)
    (tmp_path / "out").chmod(0o777)
    with unwritable(run):
        outcomes = [outcome for _, outcome in Run(run).outcomes("word_count")]
        with Store.read(run) as a, Store.read(run) as b:
            (difference,) = compare(a, b).differences
        page = draw(run, tmp_path / "out" / "report.html")
        with pytest.raises(
            RunError,
            match="cannot be written: Permission denied; choose another",
        ):
            draw(run)
    assert [
        outcome.values["words"]
        for outcome in outcomes
        if isinstance(outcome, ItemScore)
    ] == [2, 1]
    assert difference.paired.mean == 0
    assert "three" in page.read_text("utf-8")


def test_a_log_left_by_a_killed_run_on_such_a_disk_is_told_in_words(
    tmp_path: Path,
) -> None:
    run = _scored(tmp_path / "run", "one")
    with Store.open(run) as store:
        store.put_outcome("word_count", 0, ItemScore({"words": 1.0}))
        for name in (
            FILE_NAME,
            f"{FILE_NAME}-wal",
            "run.json",
        ):  # as a copy taken meanwhile
            (tmp_path / "copy").mkdir(exist_ok=True)
            shutil.copy(run / name, tmp_path / "copy" / name)
    with (
        unwritable(tmp_path / "copy"),
        pytest.raises(
            RunError,
            match="was killed, on a disk that cannot be written; copy",
        ),
        Store.read(tmp_path / "copy"),
    ):
        pass


@pytest.mark.parametrize("version", [1, 99])
def test_another_format_is_neither_read_nor_continued(
    tmp_path: Path, version: int
) -> None:
    run = _scored(tmp_path / "run", "one")
    with closing(sqlite3.connect(run / FILE_NAME)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    message = f"store format {version}, expected 2; use the version of beholder that made it"
    with pytest.raises(RunError, match=message):
        list(Run(run).outcomes("word_count"))
    with pytest.raises(RunError, match=message):
        score([Item("a", "x")], [WordCount()], out=run)


def test_answers_alone_are_no_run_to_be_compared(tmp_path: Path) -> None:
    run = _scored(tmp_path / "run", "one")
    AnswerFile(tmp_path / "answers" / FILE_NAME).close()
    with (
        pytest.raises(RunError, match="answers of judges but no outcomes"),
        Store.read(run) as a,
        Store.read(tmp_path / "answers") as b,
    ):
        compare(a, b)


def _ranked(folder: Path, ranks: list[int]) -> Path:
    row = Reviews(
        "p",
        ("one", "one two", "one two three"),
        {"x": tuple(ranks), "y": tuple(ranks)},
    )
    rank([row], [WordCount()], out=folder)
    return folder


def test_two_rankings_are_compared_by_their_correlation_with_people(
    tmp_path: Path,
) -> None:
    # Longer is better to the metric: the same order as people's (rho 1), and the reverse (rho -1).
    a, b = (
        _ranked(tmp_path / "a", [3, 2, 1]),
        _ranked(tmp_path / "b", [1, 2, 3]),
    )
    with Store.read(a) as first, Store.read(b) as second:
        (difference,) = compare(first, second).differences
    assert (difference.value, difference.mean_a, difference.mean_b) == (
        "correlation",
        1.0,
        -1.0,
    )
    assert Run(a).summary["word_count"].values["correlation"].mean == 1.0
    assert json.loads((a / "run.json").read_text())["kind"] == "ranking"


def test_a_reader_that_is_handed_another_kind_says_so(tmp_path: Path) -> None:
    scores, ranking = (
        _scored(tmp_path / "s", "one"),
        _ranked(tmp_path / "r", [3, 2, 1]),
    )
    with (
        Store.read(scores) as a,
        Store.read(ranking) as b,
        pytest.raises(RunError, match="of the kind 'ranking', not 'scores'"),
    ):
        compare(a, b)
    with pytest.raises(RunError, match="of the kind 'ranking', not 'scores'"):
        score([Item("a", "x")], [WordCount()], out=ranking)
    with pytest.raises(RunError, match="of the kind 'scores', not 'ranking'"):
        _ranked(scores, [3, 2, 1])
    with pytest.raises(RunError, match="of the kind 'ranking', not 'scores'"):
        score(ranking, [WordCount()], out=tmp_path / "again")
    (ranking / "run.json").write_text('{"format": 1, "kind": "rows"}')
    with pytest.raises(ConfigError, match="'rows' has no figures of its own"):
        draw_figures(ranking, tmp_path / "figures")
    (ranking / "run.json").write_text('{"format": 1, "kind": "dreams"}')
    with pytest.raises(
        RunError, match="no kind of run 'dreams'; there are: scores"
    ):
        draw(ranking)


def test_subjects_of_all_kinds_come_back_as_they_were(tmp_path: Path) -> None:
    items = [
        Item(
            "a",
            "x",
            ("r",),
            ("i.jpg",),
            None,
            {"g": "1"},
            {"j": 2},
            {"m": [1]},
        )
    ]
    sets = [
        Reviews(
            "p",
            ("t", "u"),
            {"n": (1.0, None)},
            "/abs/p.jpg",
            "en",
            "c",
            (1.0, 2.0),
            ("r",),
        )
    ]
    with Store.open(tmp_path) as store:
        assert store.sync(ITEM, items)[0] == 1
        assert store.sync(REVIEWS, sets)[0] == 1
        assert [item for _, item in store.items()] == items
        assert [reviews for _, reviews in store.subjects(REVIEWS)] == sets


def test_ranks_may_change_between_starts_and_texts_may_not(
    tmp_path: Path,
) -> None:
    earlier = Reviews("p", ("t", "u"), {"n": (1.0, 2.0)})
    with Store.open(tmp_path) as store:
        first = store.sync(REVIEWS, [earlier])
        later = Reviews("p", ("t", "u"), {"n": (2.0, 1.0), "m": (1.0, 2.0)})
        assert store.sync(REVIEWS, [later]) == first
        assert [reviews for _, reviews in store.subjects(REVIEWS)] == [later]
        with pytest.raises(
            RunError, match=r"over other data \(reviews 'p' differs\)"
        ):
            store.sync(REVIEWS, [Reviews("p", ("t", "v"))])


def test_two_subjects_of_one_id_are_refused(tmp_path: Path) -> None:
    sets = [
        Reviews("p", ("t", "u"), language="en"),
        Reviews("p", ("t", "v"), language="en"),
    ]
    with (
        Store.open(tmp_path) as store,
        pytest.raises(RunError, match=r"'p .en.'; ids must differ"),
    ):
        store.sync(REVIEWS, sets)


def test_an_unfinished_score_is_kept_and_asked_for_again(
    tmp_path: Path,
) -> None:
    with Store.open(tmp_path) as store:
        store.sync(ITEM, [Item("a", "x"), Item("b", "y")])
        store.add_asker("m", ITEM, {}, "m|v:1")
        store.put_outcome("m", 0, ItemScore({"v": 1.0}, unfinished=True))
        store.put_outcome("m", 1, ItemScore({"v": 2.0}))
        assert store.pending("m", 2).tolist() == [True, False]
        assert store.n_finished("m", 2) == 1
        assert [values for _, values in store.values("m")] == [
            {"v": 1.0},
            {"v": 2.0},
        ]
        store.put_outcome("m", 0, ItemFailure("ItemError", "no"))
        assert store.pending("m", 2).tolist() == [False, False]
        assert [values for _, values in store.values("m")] == [{"v": 2.0}]
        store.put_outcome("m", 0, ItemScore({"v": 3.0}))
        assert list(store.failures("m")) == []


def test_a_failure_keeps_what_was_found_nevertheless(tmp_path: Path) -> None:
    failed = ItemFailure(
        "ItemError", "no vote", detail={"votes": [{"judge": 0, "reason": "ü"}]}
    )
    with Store.open(tmp_path) as store:
        store.sync(ITEM, [Item("a", "one"), Item("b", "two")])
        store.add_asker("m", ITEM, {}, "m|v:1")
        store.put_outcome("m", 0, failed)
        store.put_outcome("m", 1, ItemFailure("ItemError", "nothing"))
        assert store.score("m", 0) == failed
        assert dict(store.failures("m"))[1].detail == {}


def test_outcomes_made_in_another_way_are_refused_or_forgotten(
    tmp_path: Path,
) -> None:
    with Store.open(tmp_path) as store:
        store.sync(ITEM, [Item("a", "one"), Item("b", "two")])
        for name in ("m", "other"):
            store.add_asker(name, ITEM, {}, f"{name}|v:1")
            store.put_outcome(name, 0, ItemScore({"x": 1.0}))
            store.put_outcome(name, 1, ItemFailure("ItemError", "nothing"))
        with pytest.raises(
            RunError,
            match="holds scores of m made by beholder 1, and this is beholder 2",
        ):
            store.add_asker("m", ITEM, {}, "m|v:2")
        store.add_asker("m", ITEM, {}, "m|v:1", renew=True)
        assert store.finished("m") == {
            0,
            1,
        }  # the same way: nothing is forgotten
        store.add_asker("m", ITEM, {}, "m|v:2", renew=True)
        assert store.finished("m") == set()
        assert store.finished("other") == {0, 1}
        assert {asker.name: asker.signature for asker in store.askers()} == {
            "m": "m|v:2",
            "other": "other|v:1",
        }


def test_outcomes_of_subjects_that_are_asked_no_more_are_forgotten(
    tmp_path: Path,
) -> None:
    with Store.open(tmp_path) as store:
        store.sync(ITEM, [Item(str(n), "text") for n in range(4)])
        for name in ("m", "other"):
            store.add_asker(name, ITEM, {}, f"{name}|v:1")
            store.put_outcome(name, 0, ItemScore({"x": 1.0}))
            store.put_outcome(name, 1, ItemFailure("ItemError", "nothing"))
            store.put_outcome(name, 2, ItemScore({"x": 2.0}))
        store.keep_only("m", [2, 3])
        assert store.finished("m") == {2}
        assert store.finished("other") == {0, 1, 2}


def test_a_block_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    block = Encoded()
    block.add("m", 0, ItemScore({"v": 1.0}))
    block.add("m", 1, ItemFailure("ItemError", "no"))
    with Store.open(tmp_path) as store:
        store.sync(ITEM, [Item("a", "x"), Item("b", "y")])
        store.add_asker("m", ITEM, {}, "m|v:1")
        store.put_outcome("m", 1, ItemScore({"v": 2.0}))
        broken = Encoded([*block.scores, ("m", 1)], block.failures)  # type: ignore[list-item]
        with pytest.raises(sqlite3.ProgrammingError):
            store.put_block(broken)
        assert store.finished("m") == {1}
        store.put_block(block)
        assert [values for _, values in store.values("m")] == [{"v": 1.0}]
        assert [position for position, _ in store.failures("m")] == [1]


def test_what_is_finished_is_read_from_indices(tmp_path: Path) -> None:
    statements: list[str] = []
    with Store.open(tmp_path) as store:
        store.sync(ITEM, [Item("a", "x")])
        store.add_asker("m", ITEM, {}, "m|v:1")
        store.put_outcome("m", 0, ItemScore({"v": 1.0}))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.set_trace_callback(statements.append)
        assert SqliteTables(tmp_path, connection).n_finished("m", 1) == 1
        connection.set_trace_callback(None)
        plans = [
            connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
            for statement in statements
        ]
    searches = [
        step[-1]
        for plan in plans
        for step in plan
        if "SUBQUERY" not in step[-1]
    ]
    # Rows themselves are touched only where something is not whole yet.
    assert [step.split(" (")[0] for step in searches] == [
        "SEARCH scores USING COVERING INDEX sqlite_autoindex_scores_1",
        "SEARCH scores USING INDEX unfinished",
        "SEARCH failures USING COVERING INDEX sqlite_autoindex_failures_1",
        "SEARCH failures USING INDEX transient",
    ]
