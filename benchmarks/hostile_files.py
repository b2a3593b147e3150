"""Data files of all formats, mutated: how many are read, refused in words, or end in a traceback.

    python -m benchmarks.hostile_files --n 25000 --seed 7

Every file goes through every reader of its rows. Files are read in processes of their own with
bounded memory, so that a crash of a library or a bomb is counted, and costs one file.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import io
import json
import lzma
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from beholder.data import (
    read_frames,
    read_items,
    read_reviews,
    read_storylines,
)
from beholder.errors import BeholderError
from beholder.kinds.generation.engine import read_pictured
from beholder.options import DataOptions

Mutation: TypeAlias = Callable[[random.Random, bytearray], bytearray]

MEMORY = 6 << 30
"""Address space of a reading process; what is mapped and not used counts, too."""

SECONDS = 20.0
"""Processor time that one file may take in one reader."""

READERS: dict[str, Callable[[Path], Iterator[object]]] = {
    "items": lambda path: read_items(path, DataOptions(media_root=Path("/"))),
    "pictured": lambda path: read_pictured(str(path)),
    "frames": read_frames,
    "storylines": read_storylines,
    "reviews": read_reviews,
}

ROWS: list[dict[str, Any]] = [
    {
        "id": f"r{i}",
        "candidate": f"A dog number {i}, asleep\non a “mat”.",
        "references": ["A dog sleeps.", "Ein Hund schläft."],
        "images": [f"img/{i}.png"],
        "group": {"system": "a", "year": 1928},
        "judgments": {"overall": 4.5},
        "note": None if i % 3 else "ok",
        "date": "march 1928",
        "frames": ["p1", {"id": "p2", "image": "p2.png"}],
        "texts": ["Eins.", "Zwei.", "Drei."],
        "ranks": {"anna": [1, 2, 3], "ben": [2, None, 1.5]},
    }
    for i in range(8)
]
TOKENS = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n\n", b'"', b'""', b"'", b"\\",
    b"\\ud83d", b"\\u0000", b",", b"\t", b"{", b"}", b"[", b"]", b"[" * 400, b'{"a":' * 400,
    b"[" * 960 + b"]" * 960, b"NaN", b"Infinity", b"-1e999", b"1" * 5000, b"true", b"null",
    b"\xe2\x80\xa8", b"\x1b[2J", b"=1+1", b"../", b"/etc/passwd", b"\xed\xa0\x80", b"x" * 70_000,
    b"group", b"group.x", b"judgments", b",id", b"1928-99-99", b"file://", b"data:", b"C:\\",
    b"999999999999999999999", b"-0", b"PAR1",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1e300, float("inf"), float("nan"), "", " ", "x\ud83d", "\0", "../x",
    "/etc/passwd", [], [[]], {}, [None], {"a": {"b": []}}, {"": 1}, "1" * 4000, ["a"] * 3000,
    '["a"]', "['a']", "march", "13/13/13",
)  # fmt: skip


def _flip(rng: random.Random, data: bytearray) -> bytearray:
    for _ in range(rng.choice((1, 1, 4, 40))):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def _bytes(rng: random.Random, data: bytearray) -> bytearray:
    for _ in range(rng.choice((1, 4, 20))):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return data


def _cut(rng: random.Random, data: bytearray) -> bytearray:
    return data[: rng.randrange(len(data) + 1)]


def _behead(rng: random.Random, data: bytearray) -> bytearray:
    return data[rng.randrange(len(data) + 1) :]


def _remove(rng: random.Random, data: bytearray) -> bytearray:
    start = rng.randrange(len(data) + 1)
    del data[start : start + rng.choice((1, 8, 100))]
    return data


def _repeat(rng: random.Random, data: bytearray) -> bytearray:
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.choice((1, 30, 400))]
    return data[:start] + piece * rng.choice((2, 5, 200)) + data[start:]


def _insert(rng: random.Random, data: bytearray) -> bytearray:
    for _ in range(rng.choice((1, 1, 3))):
        start = rng.randrange(len(data) + 1)
        data[start:start] = rng.choice(TOKENS)
    return data


def _swap(rng: random.Random, data: bytearray) -> bytearray:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[b:] + data[a:b] + data[:a]


MUTATIONS: tuple[Mutation, ...] = (
    _flip, _bytes, _cut, _behead, _remove, _repeat, _insert, _insert, _swap,
)  # fmt: skip


def _json_rows(rng: random.Random, rows: Sequence[object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _table(
    rng: random.Random, rows: Sequence[object], delimiter: str
) -> bytes:
    import csv

    dict_rows = [row for row in rows if isinstance(row, dict)]
    names = list(dict.fromkeys(name for row in dict_rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(names)
    for row in dict_rows:
        cells = [row.get(name) for name in names]
        writer.writerow(
            [json.dumps(c) if isinstance(c, list | dict) else c for c in cells]
        )
    return text.getvalue().encode("utf-8", "surrogatepass")


def _parquet(rng: random.Random, rows: Sequence[object]) -> bytes:
    """Return a table of the rows as far as Arrow takes them, with columns of odd types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    dict_rows = [row for row in rows if isinstance(row, dict)]
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(str(name) for row in dict_rows for name in row):
        try:
            columns[name] = pa.array([row.get(name) for row in dict_rows])
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            columns[name] = pa.array(
                [
                    str(row.get(name)).encode("utf-8", "replace")
                    for row in dict_rows
                ]
            )
    n = len(dict_rows)
    odd: list[Callable[[], Any]] = [
        lambda: pa.array(
            [rng.randrange(-(2**62), 2**62)] * n, pa.timestamp("ns")
        ),
        lambda: pa.array(
            [rng.randrange(-(2**62), 2**62)] * n,
            pa.timestamp("s", tz="+25:99"),
        ),
        lambda: pa.array(
            [rng.randrange(-(2**62), 2**62)] * n, pa.duration("ns")
        ),
        lambda: pa.array([rng.randrange(-(2**31), 2**31)] * n, pa.date32()),
        lambda: pa.array([datetime.now(UTC)] * n),
        lambda: pa.array([b"\xff\xfe\0"] * n),
        lambda: pa.array([b"\xff\xfe"] * n).cast(pa.string(), safe=False),
        lambda: pa.array(["x"] * n).dictionary_encode(),
        lambda: pa.array(
            [[("k", [1])]] * n, pa.map_(pa.string(), pa.list_(pa.int8()))
        ),
        lambda: pa.nulls(n),
        lambda: pa.array([1] * n, pa.time64("ns")),
        lambda: pa.array([2**64 - 1] * n, pa.uint64()),
        lambda: pa.array([10**37] * n, pa.decimal128(38, 0)),
        lambda: pa.array([1.5] * n, pa.float32()).cast(pa.float16()),
        lambda: pa.array([{"a": {"b": [None, {}]}}] * n),
    ]
    for _ in range(rng.choice((0, 1, 2))):
        name = rng.choice((*columns, "odd", "id", "candidate", "references"))
        try:
            columns[name] = rng.choice(odd)()
        except (pa.ArrowException, ValueError, TypeError):
            continue
    table = pa.table(columns)
    sink = io.BytesIO()
    try:
        pq.write_table(
            table,
            sink,
            compression=rng.choice(("none", "snappy", "gzip", "zstd")),
        )
    except (pa.ArrowException, ValueError):
        return b"PAR1"
    return sink.getvalue()


FORMATS: dict[str, Callable[[random.Random, Sequence[object]], bytes]] = {
    ".jsonl": _json_rows,
    ".ndjson": _json_rows,
    ".csv": lambda rng, rows: _table(rng, rows, ","),
    ".tsv": lambda rng, rows: _table(rng, rows, "\t"),
    ".parquet": _parquet,
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, compresslevel=1),
    ".xz": lambda data: lzma.compress(data, preset=0),
}


def hostile_rows(rng: random.Random) -> list[object]:
    """Return the rows of a good file, some with other values, names or shapes."""
    rows: list[object] = [
        json.loads(json.dumps(row)) for row in ROWS[: rng.choice((1, 2, 8))]
    ]
    for _ in range(rng.choice((0, 0, 1, 3))):
        row = rng.choice(rows)
        if not isinstance(row, dict) or not row:
            continue
        name = rng.choice(list(row))
        if rng.random() < 0.6:
            row[name] = copy.deepcopy(rng.choice(VALUES))
        elif rng.random() < 0.5:
            row[
                rng.choice(
                    ("caption", "image", "group.x", "\x1b[2J", "", "reviews")
                )
            ] = row.pop(name)
        else:
            rows[rows.index(row)] = copy.deepcopy(rng.choice(VALUES))
    return rows


def hostile_file(rng: random.Random, folder: Path) -> Path:
    """Write one file: of mutated rows, mutated bytes, or both, packed or not."""
    ending = rng.choice(list(FORMATS))
    packing = (
        "" if ending == ".parquet" else rng.choice(("", "", ".gz", ".xz"))
    )
    data = FORMATS[ending](rng, hostile_rows(rng))
    n = rng.choice((0, 1, 1, 2, 4))
    outside = bool(packing) and rng.random() < 0.5
    for _ in range(0 if outside else n):
        data = bytes(rng.choice(MUTATIONS)(rng, bytearray(data)))
    data = PACKED[packing](data)
    for _ in range(n if outside else 0):
        data = bytes(rng.choice(MUTATIONS)(rng, bytearray(data)))
    path = folder / f"d{ending}{packing}"
    path.write_bytes(data)
    return path


@dataclass
class Tally:
    """What came of some files."""

    read: int = 0
    refused: int = 0
    rows: int = 0
    wrong_rows: int = 0
    slowest: float = 0.0
    tracebacks: Counter[str] = field(default_factory=Counter)


def read_all(path: Path, tally: Tally) -> None:
    """Read a file with each reader."""
    for name, reader in READERS.items():
        start = time.process_time()
        try:
            for row in reader(path):
                tally.rows += 1
                tally.wrong_rows += isinstance(row, BeholderError)
            tally.read += 1
        except BeholderError as error:
            tally.refused += 1
            if str(path) not in str(error):
                tally.tracebacks[
                    f"{name}: the message names no file: {str(error)[:80]}"
                ] += 1
        except Exception:  # whatever it is, it is what is looked for
            place = traceback.format_exc().splitlines()
            tally.tracebacks[
                f"{name}: {place[-1][:120]} | {place[-3].strip()}"
            ] += 1
        took = time.process_time() - start
        tally.slowest = max(tally.slowest, took)
        if took > SECONDS:
            tally.tracebacks[
                f"{name}: took {took:.0f} s of processor time"
            ] += 1


def _work(seed: int, numbers: range, answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            answer.send(number)
            path = hostile_file(
                random.Random(f"{seed} {number}"), Path(folder)
            )
            read_all(path, tally)
            path.unlink()
    answer.send(
        (tally, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    )


def survey(seed: int, n: int, block: int = 500) -> tuple[Tally, int]:
    """Read ``n`` files; gives what came of them, and the most memory of a process in MiB."""
    total, most_memory = Tally(), 0
    start = 0
    while start < n:
        numbers = range(start, min(n, start + block))
        receiver, sender = multiprocessing.get_context("fork").Pipe(
            duplex=False
        )
        work = multiprocessing.get_context("fork").Process(
            target=_work, args=(seed, numbers, sender)
        )
        work.start()
        sender.close()
        last, done = start, False
        while not done:
            try:
                message = receiver.recv()
            except EOFError:
                break
            if isinstance(message, int):
                last = message
            else:
                part, used_memory = message
                done, most_memory = True, max(most_memory, used_memory)
                _add(total, part)
        work.join()
        if not done:
            total.tracebacks[
                f"file {last}: the process died ({work.exitcode})"
            ] += 1
        start = numbers.stop if done else last + 1
    return total, most_memory


def _add(total: Tally, part: Tally) -> None:
    for name in ("read", "refused", "rows", "wrong_rows"):
        setattr(total, name, getattr(total, name) + getattr(part, name))
    total.slowest = max(total.slowest, part.slowest)
    total.tracebacks.update(part.tracebacks)


def main() -> int:
    """Print the figures; 1 if there was a traceback, a crash or a reader that took too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=25_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    total, most_memory = survey(options.seed, options.n)
    print(
        f"{options.n} files, seed {options.seed}, {len(READERS)} readers each:"
        f" {total.read} read, {total.refused} refused in words,"
        f" {sum(total.tracebacks.values())} tracebacks\n"
        f"{total.rows} rows, {total.wrong_rows} of them refused in words\n"
        f"slowest {total.slowest:.2f} s of processor time; most memory {most_memory} MiB"
    )
    for error_text, count in total.tracebacks.most_common():
        print(f"{count} x {error_text}")
    return int(bool(total.tracebacks))


if __name__ == "__main__":
    sys.exit(main())
