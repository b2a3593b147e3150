"""Data files that want all the time or memory there is, and files that are mutated at random."""

from __future__ import annotations

import gzip
import lzma
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.hostile_files import Tally, hostile_file, read_all

from beholder.data import read as reading
from beholder.data import read_items, tables
from beholder.data.lines import MAX_ROW_BYTES
from beholder.data.read import good_rows
from beholder.errors import DataError
from beholder.options import DataOptions
from beholder.records import Item

LINE = b'{"candidate": "' + b"x" * 100_000 + b'"}\n'


def test_mutated_files_of_all_formats_make_no_traceback(
    tmp_path: Path,
) -> None:
    errors = Tally()
    for number in range(60):
        read_all(hostile_file(random.Random(f"1 {number}"), tmp_path), errors)
    assert not errors.tracebacks
    assert errors.read > 50
    assert errors.refused > 50


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_a_file_that_unpacks_to_far_more_is_refused_on_the_way(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"d.jsonl{ending}"
    data = LINE * (20 * 2**20 // len(LINE))
    path.write_bytes(
        gzip.compress(data)
        if ending == ".gz"
        else lzma.compress(data, preset=0)
    )
    rows = read_items(path)
    for _ in range(
        MAX_ROW_BYTES // len(LINE) - 20
    ):  # some rows are unpacked before they are read
        next(rows)
    with pytest.raises(
        DataError, match=r"d\.jsonl.*unpacks to more than 200 times its size"
    ):
        list(rows)


def test_what_unpacks_to_little_is_read_however_well_it_packs(
    tmp_path: Path,
) -> None:
    path = tmp_path / "d.jsonl.gz"
    path.write_bytes(gzip.compress(LINE * 100))
    assert path.stat().st_size * 200 < len(LINE) * 100
    assert sum(isinstance(row, Item) for row in read_items(path)) == 100


def test_a_row_of_a_table_may_be_as_long_as_one_of_jsonl(
    tmp_path: Path,
) -> None:
    path = tmp_path / "d.csv"
    cells = ",".join(
        ['"' + ("x" * 10_000 + "\n") * 80 + '"'] * 30
    )  # no cell and no line is too long
    path.write_text(f"id,candidate\n1,good\n2,{cells}\n")
    rows = read_items(path)
    assert next(rows) == Item("1", "good")
    with pytest.raises(DataError, match=r"d\.csv:\d+: is longer than 16 MiB"):
        next(rows)


def test_rows_together_may_be_longer(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(
        "id,candidate\n"
        + "".join(f"{n},{'x' * 10_000_000}\n" for n in range(3))
    )
    assert [
        item.id for item in read_items(path) if isinstance(item, Item)
    ] == ["0", "1", "2"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_may_have_so_many_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(tables, "MAX_COLUMNS", 100)

    def write(n: int) -> Path:
        path = tmp_path / f"d.{ending}"
        names = ["id", "candidate", *(f"c{i}" for i in range(n - 2))]
        if ending == "csv":
            path.write_text(f"{','.join(names)}\n1{',x' * (n - 1)}\n")
        else:
            pq.write_table(pa.table({name: ["1"] for name in names}), path)
        return path

    assert len(list(read_items(write(100)))) == 1
    with pytest.raises(
        DataError, match="has 101 columns; at most 100 are read"
    ):
        list(read_items(write(101)))


def test_two_columns_of_one_name_are_refused_in_parquet_too(
    tmp_path: Path,
) -> None:
    column = pa.array(["1"])
    pq.write_table(
        pa.Table.from_arrays([column, column], names=["id", "id"]),
        tmp_path / "d.parquet",
    )
    with pytest.raises(DataError, match="two columns are called 'id'"):
        list(read_items(tmp_path / "d.parquet"))


def test_parquet_that_unpacks_to_far_more_is_refused_unread(
    tmp_path: Path,
) -> None:
    path = tmp_path / "d.parquet"
    pq.write_table(
        pa.table({"candidate": ["x" * 17_000_000]}), path, compression="zstd"
    )
    assert path.stat().st_size < 10_000
    with pytest.raises(
        DataError, match="unpacks to more than 200 times its size"
    ):
        list(read_items(path))


def test_a_long_row_of_parquet_costs_that_row(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    noise = random.Random(1).randbytes(MAX_ROW_BYTES // 2 + 1).hex()
    pq.write_table(pa.table({"candidate": ["a", noise, "b"]}), path)
    first, second, third = read_items(path)
    assert (first, third) == (Item("1", "a"), Item("3", "b"))
    assert str(second) == f"{path}:2: is longer than 16 MiB"


def test_wrong_rows_are_left_out_up_to_a_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "MAX_BAD_ROWS", 3)

    def take(n_wrong: int) -> list[str]:
        rows = [DataError("d", "is no item", line=n) for n in range(n_wrong)]
        bad: list[DataError] = []
        return list(
            good_rows(
                [*rows, "good"], DataOptions(skip_bad_rows=True), bad, name="d"
            )
        )

    assert take(3) == ["good"]
    with pytest.raises(
        DataError,
        match="d: has more than 3 wrong rows; the last one: is no item",
    ):
        take(4)
