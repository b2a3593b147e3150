"""Damaged and foreign run directories: one line with a way out, never a traceback."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from beholder.api import Run
from beholder.errors import BeholderError, RunError
from beholder.kinds.scores.door import score
from beholder.records import Item
from beholder.report import draw
from beholder.run.compare import compare
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from toy.metric import WordCount

ITEMS = [
    Item(str(i), "one two three", references=("A cat.",)) for i in range(4)
]

pytestmark = pytest.mark.usefixtures("few_resamples")


def _score(folder: Path) -> Path:
    score(ITEMS, [WordCount()], out=folder)
    return folder


@cache
def _finished() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory()
    _score(Path(folder.name))
    return folder


def _run(folder: Path) -> Path:
    """A copy of a finished run."""
    shutil.copytree(_finished().name, folder, dirs_exist_ok=True)
    return folder


def _sql(statement: str, *values: object) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        connection = sqlite3.connect(run / FILE_NAME)
        connection.execute(statement, values)
        connection.commit()
        connection.close()

    return damage


def _write(name: str, data: bytes) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        (run / name).write_bytes(data)

    return damage


def _folder(name: str) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).mkdir()

    return damage


def _pipe(name: str) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return damage


def _endless(name: str) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        with (run / name).open("r+b") as file:
            file.truncate(40 << 30)  # takes no room on the disk

    return damage


def _log(**changed: object) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        log = json.loads((run / "run.json").read_text("utf-8"))
        (run / "run.json").write_text(json.dumps({**log, **changed}), "utf-8")

    return damage


def _plant_bomb(run: Path) -> None:
    """Units that unpack to 300 MB."""
    packed = zlib.compress(b'["' + b"a" * (300 << 20) + b'"]', 1)
    _sql("UPDATE scores SET units = ?", packed)(run)


DAMAGES = {
    "units are junk": _sql("UPDATE scores SET units = ?", b"junk"),
    "units are no list": _sql(
        "UPDATE scores SET units = ?", zlib.compress(b"7")
    ),
    "units lack fields": _sql(
        "UPDATE scores SET units = ?", zlib.compress(b'[{"kind": "x"}]')
    ),
    "units are a bomb": _plant_bomb,
    "detail is junk": _sql("UPDATE scores SET detail = ?", b"\x78\x9cjunk"),
    "detail is text": _sql("UPDATE scores SET detail = 'text'"),
    "detail is deep": _sql(
        "UPDATE scores SET detail = ?", zlib.compress(b"[" * 200_000)
    ),
    "numbers are cut": _sql("UPDATE scores SET numbers = '{\"words\":'"),
    "rows are cut": _sql("UPDATE subjects SET row = '{'"),
    "rows are foreign": _sql("UPDATE subjects SET row = '{\"name\": 1}'"),
    "askers are foreign": _sql("UPDATE askers SET kind = 'dream'"),
    "a table is gone": _sql("DROP TABLE subjects"),
    "a column is gone": _sql("ALTER TABLE scores DROP COLUMN detail"),
    "the store is a text": _write(FILE_NAME, b"not a database"),
    "the store is empty": _write(FILE_NAME, b""),
    "the store is a folder": _folder(FILE_NAME),
    "the log is empty": _write("run.json", b""),
    "the log is cut": _write("run.json", b'{"format": 1, "kind"'),
    "the log is deep": _write("run.json", b"[" * 200_000),
    "the log is no text": _write("run.json", b"\xff\xfe\x00"),
    "the log is a folder": _folder("run.json"),
    "the log has no data": _log(data=[]),
    "the log counts in words": _log(data={"n_items": "many"}),
    "the log has odd metrics": _log(metrics=[7]),
    "the log has an odd summary": _log(summary=[{"metric": "word_count"}]),
    "the log has an odd kind": _log(kind=["scores"]),
    "the log is a pipe": _pipe("run.json"),
    "the log is endless": _endless("run.json"),
    "the store is a pipe": _pipe(FILE_NAME),
    "the table is a pipe": _pipe("scores.parquet"),
    "the table is a folder": _folder("units.parquet"),
    "the lock is a pipe": _pipe(".lock"),
    "the lock is a folder": _folder(".lock"),
    "the page is a folder": _folder("report.html"),
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.slow
def test_no_damage_makes_a_traceback(tmp_path: Path, name: str) -> None:
    whole, run = _run(tmp_path / "whole"), _run(tmp_path / "run")
    DAMAGES[name](run)

    def look() -> None:
        list(Run(run).outcomes("word_count"))

    def hold() -> None:
        with Store.read(whole) as a, Store.read(run) as b:
            compare(a, b)

    for act in (
        look,
        hold,
        lambda: draw(run),
        lambda: score(ITEMS, [WordCount()], out=run),
    ):
        try:
            act()
        except BeholderError:  # anything else fails the test
            continue


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", DAMAGES)
def test_of_two_runs_the_damaged_one_is_named(
    tmp_path: Path, name: str, first: bool
) -> None:
    whole, run = _run(tmp_path / "whole"), _run(tmp_path / "hurt")
    DAMAGES[name](run)
    message = str(run)
    try:
        with (
            Store.read(run if first else whole) as a,
            Store.read(whole if first else run) as b,
        ):
            compare(a, b)
    except BeholderError as error:
        message = str(error)
    # Where the whole one is named, so is the other, as in "A and B share no id".
    assert str(run) in message or str(whole) not in message


@pytest.mark.parametrize("first", [True, False])
def test_a_store_that_is_found_damaged_while_another_is_open(
    tmp_path: Path, first: bool
) -> None:
    whole, run = _run(tmp_path / "whole"), _run(tmp_path / "hurt")
    file = run / FILE_NAME
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)  # all pages but the first
    file.write_bytes(bytes(data))
    folders = (run, whole) if first else (whole, run)
    with (
        pytest.raises(
            RunError, match=r"hurt/store\.sqlite cannot be used as a store"
        ),
        Store.read(folders[0]) as a,
        Store.read(folders[1]) as b,
    ):
        compare(a, b)


@pytest.mark.parametrize("is_written", [True, False])
def test_another_file_that_is_not_utf8_is_not_blamed_on_the_store(
    tmp_path: Path, is_written: bool
) -> None:
    run = _run(tmp_path / "whole")
    with (
        pytest.raises(UnicodeDecodeError),
        Store.open(run) if is_written else Store.read(run),
    ):
        b"\x89PNG".decode("utf-8")
    with Store.read(run) as store:
        assert len(list(store.items())) == len(ITEMS)


def test_random_bytes_in_the_store_make_no_traceback(tmp_path: Path) -> None:
    whole = _run(tmp_path / "whole")
    rng = random.Random(3)
    data = (whole / FILE_NAME).read_bytes()
    for number in range(12):
        run = _run(tmp_path / str(number))
        hurt = bytearray(data)
        for _ in range(40):
            hurt[rng.randrange(len(hurt))] = rng.randrange(256)
        (run / FILE_NAME).write_bytes(bytes(hurt))
        for act in (
            lambda run=run: list(Run(run).outcomes("word_count")),
            lambda run=run: draw(run),
            lambda run=run: score(ITEMS, [WordCount()], out=run),
        ):
            try:
                act()
            except BeholderError:
                continue


def test_a_damaged_log_names_the_way_out_which_works(tmp_path: Path) -> None:
    run = _run(tmp_path)
    before = (run / "run.json").read_bytes()
    (run / "run.json").write_bytes(b"")
    with pytest.raises(
        RunError, match="delete it and run the same command again"
    ):
        _score(tmp_path)
    (run / "run.json").unlink()
    _score(tmp_path)
    assert (run / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        (
            {"data": {"n_items": "many"}},
            "Expected `int`, got `str` - at `$.data.n_items`",
        ),
        ({"metrics": [7]}, "Expected `object`, got `int` - at `$.metrics[0]`"),
        (
            {"summary": [{"metric": "m"}]},
            "missing required field `signature` - at `$.summary[0]`",
        ),
        ({"kind": ["scores"]}, "Expected `str`, got `array` - at `$.kind`"),
    ],
)
def test_the_damaged_field_of_a_log_is_named(
    tmp_path: Path, changed: dict[str, object], place: str
) -> None:
    run = _run(tmp_path)
    _log(**changed)(run)
    with pytest.raises(RunError, match=re.escape(place)):
        Run(run)


@pytest.mark.parametrize("name", ["scores.parquet", "units.parquet"])
@pytest.mark.parametrize("data", [None, b"", b"junk"])
def test_a_lost_table_is_written_again(
    tmp_path: Path, name: str, data: bytes | None
) -> None:
    run = _run(tmp_path)
    before = (run / name).read_bytes()
    if data is None:
        (run / name).unlink()
    else:
        (run / name).write_bytes(data)
    _score(tmp_path)
    assert (run / name).read_bytes() == before


def test_places_where_no_run_can_be_are_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for out in (
        tmp_path / "file",
        tmp_path / "file" / "below",
        Path("/proc/run"),
    ):
        with pytest.raises(
            RunError,
            match=r"cannot be a run directory: .*; choose another with -o",
        ):
            score(ITEMS, [WordCount()], out=out)
