"""Runs: scored once, resumed after any kind of end, the same whatever the number of workers."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from beholder.api import Run
from beholder.base import processes as processes_module
from beholder.errors import ConfigError, DataError, RunError
from beholder.kinds.scores.door import score
from beholder.metrics import METRICS
from beholder.records import Item, ItemFailure
from beholder.run.session import Quiet
from beholder.run.store import Store
from toy import killing
from toy.metric import WordCount

if "word_count" not in METRICS.names():
    METRICS.register("word_count")(WordCount)

FILES = ("run.json", "scores.parquet", "units.parquet")


class Counting(Quiet):
    """Progress that counts."""

    def __init__(self) -> None:
        self.total = self.reused = self.advanced = 0

    def start(self, total: int, reused: int) -> None:
        self.total, self.reused = total, reused

    def advance(self, n_scored: int, n_failed: int) -> None:
        self.advanced += n_scored + n_failed


def _items(n: int) -> list[Item]:
    return [
        Item(str(i), "word " * (i % 7 + 1), images=(f"{i // 2}.jpg",))
        for i in range(n)
    ]


def _data(path: Path, items: list[Item]) -> Path:
    rows = [{"id": item.id, "candidate": item.candidate} for item in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _bytes(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def test_the_summary_is_the_mean_over_scored_items_with_counted_failures(
    tmp_path: Path,
) -> None:
    items = [
        Item("a", "one two"),
        Item("b", "FAIL"),
        Item("c", "one two three four"),
        Item("d", "BUG x"),
    ]
    result = score(items, [WordCount(factor=10)], out=tmp_path).summary[
        "word_count(factor=10)"
    ]
    assert result.values["words"].mean == 30  # (20 + 40) / 2
    assert (result.values["words"].n, result.n_scored, result.n_failed) == (
        2,
        2,
        2,
    )
    reasons = list(result.failures)
    assert "the candidate says FAIL" in reasons
    assert any(
        "a bug in word_count(factor=10), at metric.py:" in reason
        for reason in reasons
    )


def test_nothing_is_scored_twice(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    items = [*_items(5), Item("f", "FAIL")]
    score(items, [WordCount()], out=tmp_path, progress=first)
    before = _bytes(tmp_path)
    score(items, [WordCount()], out=tmp_path, progress=second)
    assert (first.total, first.reused, first.advanced) == (6, 0, 6)
    assert (second.total, second.reused, second.advanced) == (6, 6, 0)
    assert _bytes(tmp_path) == before


def test_a_transient_failure_is_tried_again(tmp_path: Path) -> None:
    items = [Item("a", "one"), Item("b", "LATER")]
    score(items, [WordCount()], out=tmp_path)
    again = Counting()
    score(items, [WordCount()], out=tmp_path, progress=again)
    assert again.advanced == 1


def test_a_limit_can_be_raised_and_lowered(tmp_path: Path) -> None:
    items, progress = _items(10), Counting()
    assert (
        score(items, [WordCount()], out=tmp_path, limit=4)
        .summary["word_count"]
        .n_scored
        == 4
    )
    whole = score(items, [WordCount()], out=tmp_path, progress=progress)
    assert (progress.reused, whole.summary["word_count"].n_scored) == (4, 10)
    assert (
        score(items, [WordCount()], out=tmp_path, limit=3)
        .summary["word_count"]
        .n_scored
        == 3
    )


def test_a_metric_can_be_added_to_a_run(tmp_path: Path) -> None:
    progress = Counting()
    score(_items(3), [WordCount()], out=tmp_path)
    run = score(
        _items(3),
        [WordCount(), WordCount(factor=2)],
        out=tmp_path,
        progress=progress,
    )
    assert progress.reused == 3
    assert (
        run.summary["word_count(factor=2)"].values["words"].mean == 4
    )  # 2 * (1 + 2 + 3) / 3


def test_other_data_in_the_same_directory_is_refused(tmp_path: Path) -> None:
    score(_items(3), [WordCount()], out=tmp_path)
    with pytest.raises(
        RunError, match=r"item '0' differs.*choose another run directory"
    ):
        score([Item("0", "changed")], [WordCount()], out=tmp_path)


def test_scores_made_another_way_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(_items(3), [WordCount()], out=tmp_path)

    monkeypatch.setattr(
        sys.modules["beholder.asking.params"], "__version__", "99"
    )
    with pytest.raises(
        RunError, match=r"made by beholder .*, and this is beholder 99"
    ):
        score(_items(3), [WordCount()], out=tmp_path)


def test_a_busy_directory_is_refused_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError("the other process may work for days")

    monkeypatch.setattr(time, "sleep", sleep)
    with (
        Store.open(tmp_path),
        pytest.raises(RunError, match="being written by another"),
    ):
        score(_items(3), [WordCount()], out=tmp_path)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_bytes(
        b"something else, longer than a header" * 100
    )
    with pytest.raises(RunError, match="cannot be used as a store"):
        score(_items(3), [WordCount()], out=tmp_path)


@pytest.mark.parametrize("option", ["limit", "workers", "concurrency"])
def test_a_number_out_of_range_is_refused_before_any_work(
    tmp_path: Path, option: str
) -> None:
    with pytest.raises(
        ConfigError, match=f"{option}=0: expected a whole number from 1"
    ):
        score(_items(3), [WordCount()], out=tmp_path / "r", **{option: 0})  # type: ignore[arg-type]
    assert not (tmp_path / "r").exists()


def test_no_items_and_no_metrics_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no row that can be used"):
        score([], [WordCount()], out=tmp_path)
    with pytest.raises(ConfigError, match="no metric was asked for"):
        score(_items(1), [], out=tmp_path)


def test_all_bad_rows_are_told_at_once_or_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "candidate": "one two"},
        {"id": "1", "candidate": "x"},
        {"id": "3"},
    ]
    with pytest.raises(DataError) as caught:
        score(rows, [WordCount()], out=tmp_path / "a")
    assert "items:2: id: '1' is taken" in str(caught.value)
    assert "items:3: candidate: is missing" in str(caught.value)
    run = score(rows, [WordCount()], out=tmp_path / "b", skip_bad_rows=True)
    assert (len(run.bad_rows), run.manifest["data"]["n_bad_rows"]) == (2, 2)
    assert run.summary["word_count"].n_scored == 1


@pytest.mark.slow  # starts workers
def test_results_do_not_depend_on_workers(tmp_path: Path) -> None:
    items = [*_items(60), Item("f", "FAIL")]
    for workers in (1, 2, 3):
        score(
            items,
            [WordCount(), WordCount(factor=3)],
            out=tmp_path / str(workers),
            workers=workers,
        )
    assert (
        _bytes(tmp_path / "1")
        == _bytes(tmp_path / "2")
        == _bytes(tmp_path / "3")
    )


@pytest.mark.slow
def test_a_dead_worker_ends_the_run_with_a_way_on(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="a worker process died"):
        score(
            [*_items(40), Item("d", "DIE")],
            [WordCount()],
            out=tmp_path,
            workers=2,
        )


@pytest.mark.usefixtures("two_sources_are_enough")
def test_intervals_resample_pictures_not_texts(tmp_path: Path) -> None:
    # Two pictures with equal texts each: an interval over four independent texts would be narrower.
    items = [Item("a", "x", images=("1",)), Item("b", "x", images=("1",)),
             Item("c", "x x x", images=("2",)), Item("d", "x x x", images=("2",))]  # fmt: skip
    interval = (
        score(items, [WordCount()], out=tmp_path)
        .summary["word_count"]
        .values["words"]
        .interval
    )
    assert interval is not None
    assert (interval.low, interval.high) == (
        1,
        3,
    )  # of two clusters, both draws can be the same


def test_a_run_opens_again_with_its_outcomes_and_tables(
    tmp_path: Path,
) -> None:
    items = [Item("a", "one two", group={"system": "s"}), Item("b", "FAIL")]
    score(items, [WordCount()], out=tmp_path)
    run = Run(tmp_path)
    (_, first), (_, second) = run.outcomes("word_count")
    assert not isinstance(first, ItemFailure)
    assert first.units[0].spans == ((0, 1),)
    assert isinstance(second, ItemFailure)
    rows = run.to_arrow().to_pylist()
    assert rows == [
        {"item": "a", "metric": "word_count", "name": "words", "value": 2.0, "status": "scored",
         "reason": None, "group.system": "s"},
        {"item": "b", "metric": "word_count", "name": None, "value": None, "status": "failed",
         "reason": "the candidate says FAIL", "group.system": None},
    ]  # fmt: skip
    frame = run.to_pandas()
    assert list(frame.index) == ["a", "b"]
    assert frame.loc["a", "word_count.words"] == 2.0


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a run directory"):
        Run(tmp_path)


def test_workers_end_at_a_second_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ctrl-C while the pool waits for the blocks that are under way. Workers that outlive the pool
    # wait for a block that never comes, and the command waits for them.
    shutdowns: list[dict[str, bool]] = []

    class Pool:
        def __init__(self, *_: object, **__: object) -> None:
            self.n_submitted = 0

        def submit(self, *_: object) -> None:
            processes.append(worker)
            raise KeyboardInterrupt

        def shutdown(self, **options: bool) -> None:
            shutdowns.append(options)
            if len(shutdowns) == 1:
                raise KeyboardInterrupt

    class Process:
        is_killed = False

        def kill(self) -> None:
            self.is_killed = True

    other, worker = Process(), Process()
    processes = [other]
    monkeypatch.setattr(processes_module, "WorkerPool", Pool)
    monkeypatch.setattr(multiprocessing, "active_children", processes.copy)
    with pytest.raises(KeyboardInterrupt):
        score(_items(3), [WordCount()], out=tmp_path / "a", workers=2)
    assert worker.is_killed
    assert not other.is_killed  # a process of the caller
    assert len(shutdowns) == 2
    assert all(options["wait"] for options in shutdowns)


def test_an_interrupted_run_keeps_what_was_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [
        *_items(10),
        Item("i", "INTERRUPT"),
        *[Item(f"x{i}", "word") for i in range(10)],
    ]
    monkeypatch.setenv("BEHOLDER_TEST_INTERRUPT", "1")
    # under nohup and some runners SIGINT is ignored from the start
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            score(items, [WordCount()], out=tmp_path / "a", concurrency=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (
        json.loads((tmp_path / "a" / "run.json").read_text())["status"]
        == "interrupted"
    )
    monkeypatch.delenv("BEHOLDER_TEST_INTERRUPT")
    progress = Counting()
    score(items, [WordCount()], out=tmp_path / "a", progress=progress)
    assert progress.reused >= 9
    score(items, [WordCount()], out=tmp_path / "b")
    assert _bytes(tmp_path / "a") == _bytes(tmp_path / "b")


@pytest.mark.slow  # kills
def test_killed_at_random_moments_the_end_is_the_same(tmp_path: Path) -> None:
    rng = random.Random(7)
    words = [
        "lemon",
        "boat",
        "red",
        "child",
        "runs",
        "over",
        "the",
        "bridge",
        ".",
    ]
    texts = [" ".join(rng.choices(words, k=40)) + "." for _ in range(240)]
    rows = [
        {"id": str(i), "candidate": t, "references": [texts[i - 1]]}
        for i, t in enumerate(texts)
    ]
    (tmp_path / "d.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )

    def run(out: str, kill_at: int = 0) -> int:
        command = (
            "score",
            "d.jsonl",
            "-m",
            "vcs",
            "-o",
            out,
            "--workers",
            "2",
            "--no-report",
        )
        return killing.command(*command, kill_at=kill_at, folder=tmp_path)

    n_writes = run("calm")
    for _ in range(4):  # a quarter each: none of them comes to its end
        assert run("killed", kill_at=rng.randrange(1, n_writes // 4)) == 0
    run("killed")
    assert _bytes(tmp_path / "killed") == _bytes(tmp_path / "calm")


def test_a_bug_is_tried_again_once_it_may_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [Item("a", "BUG x"), Item("b", "one two")]
    (result,) = score(items, [WordCount()], out=tmp_path).summary.values()
    assert (result.n_scored, result.n_failed) == (1, 1)

    async def mended(self: WordCount, item: Item, tools: object) -> int:
        return len(item.candidate.split())

    monkeypatch.setattr(WordCount, "gather", mended)
    (result,) = score(items, [WordCount()], out=tmp_path).summary.values()
    assert (result.n_scored, result.n_failed, result.values["words"].mean) == (
        2,
        0,
        2.0,
    )


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    def written() -> dict[str, int]:
        return {name: (tmp_path / name).stat().st_mtime_ns for name in FILES}

    score(_items(3), [WordCount()], out=tmp_path)
    for name in FILES:
        os.utime(
            tmp_path / name, ns=(1, 1)
        )  # what is written anew gets another mark
    score(_items(3), [WordCount()], out=tmp_path)
    assert set(written().values()) == {1}
    score(_items(4), [WordCount()], out=tmp_path)
    assert 1 not in written().values()
