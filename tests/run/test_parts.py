"""A run kept as Parquet parts is read like one in a file, whoever reads it."""

from __future__ import annotations

import gzip
import json
import pickle
import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beholder.api import Run
from beholder.errors import ConfigError, DataError, RunError
from beholder.kinds.scores.door import score
from beholder.kinds.scores.engine import ScoreConfig, plan_scores
from beholder.records import Item, ItemFailure, ItemScore
from beholder.report import draw
from beholder.run.answers import costs
from beholder.run.codec import Encoded
from beholder.run.compare import compare
from beholder.run.leaderboard import leaderboard
from beholder.run.place import PartsPlace
from beholder.run.session import OneMachine
from beholder.run.store import Store
from beholder.run.tables_parquet import ParquetTables, PartWriter
from toy import captions
from toy.metric import ScheduledAsker, WordCount

METRICS = ("vcs_short", "bleu", "cider")


@dataclass
class InParts(OneMachine):
    """Works here and keeps parts, so that what reads them is tested without a cluster."""

    place: str | None = None

    def store(self, folder: Path) -> AbstractContextManager[Store]:
        return Store.open_parts(folder, self.place)


def _items(n: int) -> list[Item]:
    return [
        Item(
            str(row["id"]),
            str(row["candidate"]),
            tuple(row["references"]),  # type: ignore[arg-type]
            group=row["group"],  # type: ignore[arg-type]
        )
        for row in captions.rows(n)
    ]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same run in one file and in parts."""
    folder = tmp_path_factory.mktemp("runs")
    items = [replace(item, group={"system": "one"}) for item in _items(230)]
    for name, engine in (("file", None), ("parts", InParts())):
        score(
            items, METRICS, out=folder / name, engine=engine, workers=1
        ).report()
    return folder / "file", folder / "parts"


@pytest.mark.slow
def test_a_run_in_parts_has_the_bytes_of_one_in_a_file(
    both: tuple[Path, Path],
) -> None:
    file, parts = both
    for name in ("run.json", "scores.parquet", "units.parquet", "report.html"):
        assert (file / name).read_bytes() == (parts / name).read_bytes(), name


@pytest.mark.slow  # reads every format
def test_each_reader_finds_the_same(both: tuple[Path, Path]) -> None:
    file, parts = both
    for metric in METRICS:
        first_outcomes, second_outcomes = (
            list(Run(run).outcomes(metric)) for run in both
        )
        assert str(first_outcomes) == str(second_outcomes)
        assert (
            sum(
                isinstance(outcome, ItemFailure)
                for _, outcome in second_outcomes
            )
            == 3
        )
    with Store.read(file) as a, Store.read(parts) as b:
        assert a.askers() == b.askers()
        assert b.n_subjects() == 230
        assert list(b.items([229, 0, 57])) == list(a.items([229, 0, 57]))
        assert a.sources(100) == b.sources(100)
        assert list(b.values("bleu", 7)) == list(a.values("bleu", 7))
        assert b.signatures("bleu") == a.signatures("bleu")
        assert b.finished("cider") == set(range(230))
        assert not b.pending("cider", 230).any()
        assert b.pending("meteor", 3).tolist() == [True] * 3
        assert leaderboard([a]) == leaderboard([b]) != []
        assert all(
            difference.paired.mean == 0
            for difference in compare(a, b).differences
        )


@pytest.mark.slow
def test_parts_say_what_they_hold_in_the_names_of_the_engines(
    both: tuple[Path, Path],
) -> None:
    table = pq.read_table(both[1] / "outcomes")
    assert table.column_names == [
        "position", "asker", "status", "signature", "numbers", "units", "detail", "unfinished",
        "error", "reason", "transient",
    ]  # fmt: skip
    failed = table.filter(
        pa.compute.equal(table["status"], "failed")
    ).to_pylist()
    assert {(row["position"], row["reason"]) for row in failed} == {
        (place, "the candidate is empty") for place in (0, 101, 202)
    }
    with closing(sqlite3.connect(both[1] / "store.sqlite")) as db:
        rows = db.execute("SELECT position, id FROM subjects").fetchall()
        assert rows == [(place, f"row-{place}") for place in range(230)]
        assert not db.execute("SELECT * FROM scores").fetchall()


def test_parts_may_lie_elsewhere(tmp_path: Path) -> None:
    place = f"file://{tmp_path / 'far'}"
    run = score(
        _items(20), ["bleu"], out=tmp_path / "run", engine=InParts(place)
    )
    assert {p.name for p in run.path.iterdir()} == {
        ".lock", "parts.json", "store.sqlite", "run.json", "scores.parquet", "units.parquet",
    }  # fmt: skip
    assert len(list((tmp_path / "far" / "outcomes").glob("part-*"))) == 20
    assert len(list(run.outcomes("bleu"))) == 20
    again = score(_items(20), ["bleu"], out=tmp_path / "run", engine=InParts())
    assert again.summary == run.summary
    with pytest.raises(
        RunError, match=r"keeps its parts at file://.*/far, not at /nowhere"
    ):
        score(
            _items(20),
            ["bleu"],
            out=tmp_path / "run",
            engine=InParts("/nowhere"),
        )


def test_places_are_the_same_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for out, place in (("one", None), ("two", "far")):
        score(_items(3), [WordCount()], out=out, engine=InParts(place))
        with Store.open_parts(Path(out), place) as store:
            writer = pickle.loads(pickle.dumps(store.tables.writer))  # type: ignore[attr-defined]
        assert writer.place.url == str(tmp_path / (place or out))
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    assert len(list(Run(tmp_path / "one").outcomes("word_count"))) == 3
    assert len(list(Run(tmp_path / "two").outcomes("word_count"))) == 3


def test_a_run_grows_and_may_not_change(tmp_path: Path) -> None:
    items = _items(30)
    score(items[:10], [WordCount()], out=tmp_path / "run", engine=InParts())
    score(items, [WordCount()], out=tmp_path / "run", engine=InParts())
    with Store.read(tmp_path / "run") as store:
        assert [item for _, item in store.items()] == items
        assert [item for _, item in store.items([29, 9, 10])] == [
            items[29],
            items[9],
            items[10],
        ]
        assert list(store.values("word_count"))[-1][0] == 29
    changed_items = [*items[:20], Item("other", "x y"), *items[21:]]
    with pytest.raises(
        RunError, match=r"over other data \(item 'other' differs\)"
    ):
        score(
            changed_items,
            [WordCount()],
            out=tmp_path / "run",
            engine=InParts(),
        )


def test_a_dry_run_counts_what_parts_hold(tmp_path: Path) -> None:
    items = [*_items(5)[1:], Item("later", "LATER")]
    score(items, [WordCount()], out=tmp_path / "run", engine=InParts())
    config = ScoreConfig(
        str(tmp_path / "run"), (WordCount(),), tmp_path / "run"
    )
    assert plan_scores(config).askers[0].n_done == 4
    assert plan_scores(config).n_items == 5


def test_answers_of_a_run_in_parts_are_found_beside_them(
    tmp_path: Path,
) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text(json.dumps({"contains": "", "answer": "4"}) + "\n")
    run = score(
        [Item("a", "dog runs", ("A dog.",))],
        [ScheduledAsker(f"scripted:{rules}")],
        out=tmp_path / "run",
        engine=InParts(),
    )
    assert [(row.operation, row.n) for row in costs(run.path)] == [
        ("presence", 1)
    ]
    assert next(iter(run.summary.values())).n_scored == 1


def test_engines_do_not_go_on_with_each_others_runs(tmp_path: Path) -> None:
    score(_items(2), [WordCount()], out=tmp_path / "parts", engine=InParts())
    with pytest.raises(
        RunError, match="holds a run in parts; resume it with --engine ray"
    ):
        score(_items(2), [WordCount()], out=tmp_path / "parts")
    score(_items(2), [WordCount()], out=tmp_path / "file")
    with pytest.raises(
        RunError, match="holds a run in one file; resume it without --engine"
    ):
        score(
            _items(2), [WordCount()], out=tmp_path / "file", engine=InParts()
        )


def _tables(folder: Path, start: int) -> ParquetTables:
    writer = PartWriter(PartsPlace(str(folder)), start)
    return ParquetTables(folder, sqlite3.connect(":memory:"), writer)


def _encode(
    outcomes: Iterable[tuple[int, ItemScore | ItemFailure]],
) -> Encoded:
    encoded = Encoded()
    for position, outcome in outcomes:
        encoded.add("m", position, outcome)
    return encoded


def _score(value: float, *, unfinished: bool = False) -> ItemScore:
    return ItemScore({"v": value}, signature="m|1", unfinished=unfinished)


def test_what_a_later_start_found_holds(tmp_path: Path) -> None:
    failed, later = (
        ItemFailure("ItemError", "no"),
        ItemFailure("TransientError", "busy", True),
    )
    first: list[tuple[int, ItemScore | ItemFailure]]
    first = [
        (0, _score(0)),
        (1, later),
        (2, failed),
        (3, _score(3, unfinished=True)),
    ]
    _tables(tmp_path, 1).write_outcomes(
        _encode([*first, *((p, _score(p)) for p in range(4, 600))])
    )
    with_gap = _tables(tmp_path, 1)
    with_gap.write_outcomes(_encode([(600, later), (602, _score(602))]))
    assert sorted(with_gap.finished("m", 10**6)) == [0, 2, *range(4, 600), 602]
    assert with_gap.n_finished("m", 5) == 3
    # Its first position stands before that of the part that it follows.
    _tables(tmp_path, 2).write_outcomes(
        _encode([(1, _score(10)), (3, _score(30)), (600, _score(6000))])
    )

    tables = _tables(tmp_path, 0)
    numbers = {
        p: json.loads(text)["v"]
        for p, text in tables.scores("m", ("numbers",), 10**6)
    }
    assert numbers == {
        0: 0, 1: 10, 3: 30, **{p: p for p in range(4, 600)}, 600: 6000, 602: 602
    }  # fmt: skip
    assert list(numbers) == sorted(numbers)
    assert [row[:3] for row in tables.failures("m", 10**6)] == [
        (2, "ItemError", "no")
    ]
    assert [
        row[0] for row in tables.scores("m", ("numbers",), 10**6, 600)
    ] == [600]
    assert not list(tables.scores("m", ("numbers",), 10**6, 601))
    assert sorted(tables.finished("m", 10**6)) == [
        0,
        1,
        2,
        3,
        *range(4, 601),
        602,
    ]
    _tables(tmp_path, 3).write_outcomes(_encode([(0, later)]))
    assert [row[0] for row in _tables(tmp_path, 0).failures("m", 10**6)] == [
        0,
        2,
    ]


def test_the_same_jobs_of_a_start_are_one_part(tmp_path: Path) -> None:
    tables = _tables(tmp_path, 1)
    for value in (1.0, 2.0):
        tables.write_outcomes(
            _encode([(5, _score(value)), (4, _score(value))])
        )
    (part,) = (tmp_path / "outcomes").iterdir()
    writer = tables.writer
    assert f"outcomes/{part.name}" == writer.part_name([(4, "m"), (5, "m")])
    assert part.name.startswith("part-000000000004-0001-")
    assert writer.part_name([(4, "m")]) != writer.part_name([(4, "n")])
    assert writer.counts(f"outcomes/{part.name}") == (2, 0)
    assert [row[1] for row in tables.scores("m", ("numbers",), 9)] == [
        '{"v": 2.0}'
    ] * 2


def test_a_part_that_was_not_finished_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(table: pa.Table, where: str, **_: object) -> None:
        Path(where).write_bytes(b"PAR1")
        raise OSError("no space left")

    tables = _tables(tmp_path, 1)
    tables.write_outcomes(_encode([(0, _score(0))]))
    monkeypatch.setattr(pq, "write_table", cut)
    with pytest.raises(RunError, match="no space left"):
        tables.write_outcomes(_encode([(1, _score(1))]))
    monkeypatch.undo()
    assert list(_tables(tmp_path, 2).finished("m", 9)) == [0]


def test_damage_and_places_that_cannot_be_reached_are_told(
    tmp_path: Path,
) -> None:
    run = score(
        _items(3), [WordCount()], out=tmp_path / "run", engine=InParts()
    ).path
    part = sorted((run / "outcomes").glob("part-*"))[0]
    part.write_bytes(b"PAR1 and junk")
    with pytest.raises(
        RunError, match=rf"outcomes/{part.name} .* cannot be used"
    ):
        list(Run(run).outcomes("word_count"))
    (run / "parts.json").write_text('{"format": 9}')
    with pytest.raises(
        RunError, match=r"parts\.json is no list of parts of format 2"
    ):
        draw(run)
    with pytest.raises(
        ConfigError, match="'nosuch://x' names no place that can be reached"
    ):
        score(
            _items(3),
            [WordCount()],
            out=tmp_path / "b",
            engine=InParts("nosuch://x"),
        )
    (tmp_path / "file").write_text("")
    far = f"file://{tmp_path}/file"
    with pytest.raises(
        RunError,
        match=rf"parts at {far} cannot be used: .* must reach that place",
    ):
        score(
            _items(3), [WordCount()], out=tmp_path / "c", engine=InParts(far)
        )


def test_no_key_comes_into_a_run(tmp_path: Path) -> None:
    for url in (
        "s3://KEY:hidden@bucket/runs",
        "s3://bucket/runs?secret_key=hidden",
    ):
        with pytest.raises(
            ConfigError, match="holds a key; leave it out"
        ) as raised:
            score(
                _items(3),
                [WordCount()],
                out=tmp_path / "run",
                engine=InParts(url),
            )
        assert "hidden" not in str(raised.value)
        with pytest.raises(ConfigError, match="holds a key"):
            score(f"{url}.jsonl", [WordCount()], out=tmp_path / "data")
    assert "hidden" not in "".join(
        p.read_text() for p in tmp_path.rglob("*.json")
    )


def test_data_are_read_from_a_url(tmp_path: Path) -> None:
    items = _items(40)
    captions.write(tmp_path / "rows.jsonl", 40)
    pq.write_table(
        pa.Table.from_pylist(captions.rows(40)), tmp_path / "rows.parquet"
    )
    with gzip.open(tmp_path / "rows.jsonl.gz", "wb") as packed:
        packed.write((tmp_path / "rows.jsonl").read_bytes())
    for ending in ("jsonl", "parquet", "jsonl.gz"):
        url = f"file://{tmp_path}/rows.{ending}"
        run = score(url, ["bleu"], out=tmp_path / ending)
        assert [item for item, _ in run.outcomes("bleu")] == items
        assert run.manifest["data"]["source"] == url
        with pytest.raises(DataError, match="cannot be read"):
            score(
                f"file://{tmp_path}/none.{ending}",
                ["bleu"],
                out=tmp_path / "none",
            )
    with pytest.raises(
        ConfigError, match=r"'nosuch://a\.jsonl' names no place"
    ):
        score("nosuch://a.jsonl", ["bleu"], out=tmp_path / "none")


def test_a_machine_that_does_not_reach_the_place_is_told(
    tmp_path: Path,
) -> None:
    score(_items(2), [WordCount()], out=tmp_path / "run", engine=InParts())
    PartWriter(PartsPlace(str(tmp_path / "run")), 2).check_reached()
    with pytest.raises(RunError, match=r"finds no run at .*; name a place"):
        PartWriter(PartsPlace(str(tmp_path / "else")), 2).check_reached()


def test_what_an_asker_prepared_is_found_again_for_the_same_data(
    tmp_path: Path,
) -> None:
    with Store.open_parts(tmp_path) as store:
        store.tables.add_state("cider", "data", b"weights")
    with Store.open_parts(tmp_path) as store:
        assert store.tables.state("cider", "data") == b"weights"
        assert store.tables.state("cider", "other data") is None
        assert store.tables.state("bleu", "data") is None
