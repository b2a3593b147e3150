"""Data files, read row by row: memory does not grow with the file."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Self, TypeAlias, TypeVar

from beholder import spec
from beholder.data.coco import annotation_rows, is_annotations
from beholder.data.columns import check_mapped, renamed
from beholder.data.film import video_beside, with_frames
from beholder.data.folders import folder_of, sidecar_rows
from beholder.data.iiif import canvas_rows, is_manifest
from beholder.data.joined import references_by_id, with_references
from beholder.data.packed import MAX_ROW_BYTES, PACKED, check_unpacking, opened
from beholder.data.row import ALIASES, RowError, from_row
from beholder.data.subtitles import cues, subtitle_row
from beholder.data.transcripts import from_transcript
from beholder.errors import ConfigError, DataError
from beholder.optional import require
from beholder.options import DataOptions
from beholder.records import Item
from beholder.remote import file_system, is_url

T = TypeVar("T")

MAX_ROWS_SHOWN = 20

MAX_BAD_ROWS = 100_000
"""Wrong rows that are left out: where more are wrong, it is not their data."""

Row: TypeAlias = tuple[int, Any]
"""Row number, and the parsed row or the DataError that stands for it."""

MAX_BLANK_LINES = 1_000_000
"""Blank lines in a row that are passed over: more are a broken file, or a bomb."""

MAX_COLUMNS = 10_000
"""Columns of a table."""

_PARQUET_ROWS = 64
"""Rows of a Parquet file that are unpacked at once."""

MAX_JSON_BYTES = 256 * 2**20
"""Longest .json file: unlike the other formats it is read as a whole."""

EVERY_ROW = DataOptions()
"""All rows as they are."""

_OUTER = ("group", "judgments")
_HUB = "hf:"


def read_items(
    source: str | Path, taken: DataOptions = EVERY_ROW, *, textless: bool = False
) -> Iterator[Item | DataError]:
    """Read a data set.

    Args:
        source: A ``.jsonl``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file, the text ones also
            as ``.gz`` or ``.xz``; ``"-"`` reads JSONL from standard input; COCO captions and their
            results, IIIF manifests (``.json``), ``.vtt`` and ``.srt``; a folder of pictures with
            texts beside them; ``hf:NAME`` or ``hf:NAME@SPLIT`` a data set of the Hugging Face hub
            (extra ``datasets``; the split ``test`` if none is named), without columns that hold
            pictures or sound. A URL of a file (``s3://``,
            ``gs://``, ``file://``) is read through pyarrow.
        taken: Which column holds a field, where references lie, where pictures may lie. The limit
            is the reader's matter.
        textless: A row may lack the candidate, which is then empty.

    Yields:
        An Item per good row, a DataError (not raised) per bad one, in file order.

    Raises:
        ConfigError: Something else than a field is mapped.
        DataError: The file as a whole cannot be read.
    """
    name = "stdin" if str(source) == "-" else str(source)
    return items_of(read_rows(source, name, taken.map.get("candidate")), taken, name, textless)


def items_of(
    rows: Iterable[Row], taken: DataOptions, name: str, textless: bool = False
) -> Iterator[Item | DataError]:
    """Items of rows, wherever they come from; as ``read_items``."""
    check_mapped(taken.map)
    named = renamed(rows, taken.map, name)
    if taken.references_from is not None:
        source = str(taken.references_from)
        known = references_by_id(renamed(read_rows(source, source), {}, source), source)
        named = with_references(named, known, name, source)

    root = folder_of(name, taken.media_root)

    def build(row: object, number: str) -> Item:
        if isinstance(row, Item):
            item = row
        else:
            given = from_transcript(row)
            given = _with_candidate(given) if textless else given
            item = from_row(given, default_id=number, media_root=taken.media_root)
        return item if taken.frames is None else with_frames(item, taken.frames, root)

    return records(named, build, name=name)


def _with_candidate(row: object) -> object:
    if not isinstance(row, Mapping):
        return row
    names = ("candidate", *ALIASES["candidate"])
    return row if any(row.get(name) is not None for name in names) else {**row, "candidate": ""}


def records(
    rows: Iterable[Row],
    build: Callable[[Any, str], T],
    *,
    name: str,
    key: Callable[[T], str] = attrgetter("id"),
    taken: dict[str, int] | None = None,
) -> Iterator[T | DataError]:
    """Make records of rows; no two may have the same key.

    Args:
        rows: Rows with their numbers, as ``read_rows`` gives them.
        build: Makes the record of a row and of its number, which can serve as its id. It raises
            RowError where the row is none.
        name: What messages call the data.
        key: What must differ between records.
        taken: Number of the row by key. Data in several files give the same to each.

    Yields:
        A record per good row, a DataError (not raised) per bad one, in order.
    """
    taken = {} if taken is None else taken
    for number, row in rows:
        if isinstance(row, DataError):
            yield row
            continue
        try:
            record = build(row, str(number))
            own = key(record)
            if own in taken:
                raise RowError(f"{own!r} is taken by row {taken[own]}; ids must differ", "id")
        except RowError as error:
            yield DataError(name, error.reason, line=number, field=error.field)
            continue
        taken[own] = number
        yield record


def good_rows(
    rows: Iterable[T | DataError], taken: DataOptions, bad: list[DataError], *, name: str
) -> Iterator[T]:
    """The good rows of a data set; wrong ones are added to ``bad``.

    Args:
        rows: Good rows, and errors that stand for wrong ones.
        taken: How many rows are taken, and whether wrong ones are left out.
        bad: Gets the wrong rows.
        name: What messages call the data.

    Raises:
        DataError: Rows are wrong and may not be skipped (all are told at once, up to a number), or
            none is good.
    """
    n_good = 0
    for row in rows:
        if isinstance(row, DataError):
            bad.append(row)
            if len(bad) > MAX_BAD_ROWS:
                raise DataError(
                    name, f"has more than {MAX_BAD_ROWS:,} wrong rows; the last one: {row.reason}"
                )
            if not taken.skip_bad_rows and len(bad) > MAX_ROWS_SHOWN:
                break
            continue
        n_good += 1
        yield row
        if n_good == taken.limit:
            break
    if bad and not taken.skip_bad_rows:
        raise _all_bad(bad)
    if not n_good:
        raise DataError(name, "has no row that can be used")


def _all_bad(errors: list[DataError]) -> DataError:
    """One error that tells all wrong rows, up to a number."""
    first, more = errors[0], errors[1:MAX_ROWS_SHOWN]
    if more and all((one.field, one.reason) == (first.field, first.reason) for one in more):
        reason = f"{first.reason}\n(all rows that were read are like this)"
        return DataError(first.path, reason, line=first.line, field=first.field)
    lines = [f"\n{error}" for error in more]
    if len(errors) > MAX_ROWS_SHOWN:
        lines.append("\n(and more)")
    hint = "\nmend the rows, or leave them out with --skip-bad-rows"
    return DataError(
        first.path, first.reason + "".join(lines) + hint, line=first.line, field=first.field
    )


def read_rows(source: str | Path, name: str, said: str | None = None) -> Iterator[Row]:
    """Rows of a data set with their numbers, unchecked.

    Args:
        source: As ``read_items`` takes it.
        name: What messages call it.
        said: The column of tables that holds the candidate, where it has a name of its own: an
            empty cell of it is an empty text.

    Raises:
        DataError: The file as a whole cannot be read.
    """
    if str(source) == "-":
        yield from _jsonl(sys.stdin.buffer, name)
        return
    if str(source).startswith(_HUB):
        yield from _hub(name)
        return
    path = Path(source)
    if path.is_dir():
        yield from sidecar_rows(path, name)
        return
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in PACKED else None
    kind = suffixes[-1] if suffixes else ""
    if kind == ".parquet" and packed is None:
        yield from _parquet(source, name)
    elif kind in _TABLES:
        with opened(source, name, packed) as stream:
            yield from _csv(stream, name, _TABLES[kind], said)
    elif kind in _TEXT_FORMATS:
        with opened(source, name, packed) as stream:
            yield from _TEXT_FORMATS[kind](stream, name)
    else:
        raise DataError(
            name,
            "its ending does not tell the format: expected .jsonl, .json, .csv, .tsv, .vtt or .srt"
            " (also .gz, .xz), .parquet, or a folder of pictures",
        )


def _hub(name: str) -> Iterator[Row]:
    datasets = require("datasets", extra="datasets", purpose=f"the data set {name!r}")
    named = spec.parse(name)
    if named.options:
        raise DataError(name, "takes no options: write hf:NAME or hf:NAME@SPLIT")
    repository, _, split = (named.argument or "").partition("@")
    try:
        rows = datasets.load_dataset(repository, split=split or "test", streaming=True)
    except (OSError, ValueError) as error:
        raise DataError(name, f"cannot be fetched; is there such a split? {error}") from error
    features = rows.features or {}
    media = [
        column
        for column, feature in features.items()
        if type(feature).__name__ in ("Image", "Audio", "Video")
    ]
    yield from enumerate(rows.remove_columns(media), start=1)


def _jsonl(stream: IO[bytes], name: str) -> Iterator[Row]:
    for number, line in _lines(stream, name):
        if number == 1 and isinstance(line, str) and line.strip() in ("[", "{"):
            raise DataError(
                name, "is one JSON value over several lines, and not a row a line: call it .json"
            )
        if isinstance(line, DataError):
            yield number, line
        elif line.strip():
            try:
                yield number, json.loads(line, parse_constant=_refuse_constant)
            except (ValueError, RecursionError) as error:
                reason = f"is not JSON: {error}"
                yield number, DataError(name, reason, line=number)


def _json(stream: IO[bytes], name: str) -> Iterator[Row]:
    """The rows of one JSON value: a list, the list ``data`` of an object, or a published form."""
    whole = stream.read(MAX_JSON_BYTES + 1)
    if len(whole) > MAX_JSON_BYTES:
        raise DataError(name, f"is longer than {MAX_JSON_BYTES >> 20} MiB; write it as .jsonl")
    try:
        found = json.loads(whole.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(name, f"is not JSON: {error}") from error
    for is_one, rows_of in ((is_annotations, annotation_rows), (is_manifest, canvas_rows)):
        if is_one(found):
            yield from enumerate(rows_of(found, name), start=1)
            return
    rows = found.get("data") if isinstance(found, Mapping) else found
    if not isinstance(rows, list):
        raise DataError(
            name,
            "expected a list of rows, an object whose field data is one, COCO captions, or an IIIF"
            " manifest",
        )
    yield from enumerate(rows, start=1)


def _lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, str | DataError]]:
    number, last = 0, 0
    while raw := stream.readline(MAX_ROW_BYTES + 1):
        number += 1
        if not raw.isspace():
            last = number
        elif number - last > MAX_BLANK_LINES:
            raise DataError(name, f"has {MAX_BLANK_LINES:,} blank lines in a row", line=number)
        if len(raw) > MAX_ROW_BYTES:
            while raw and not raw.endswith(b"\n"):  # go on behind the line without keeping it
                raw = stream.readline(2**20)
            yield number, _too_long(name, number)
            continue
        if number == 1:
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(name, "is UTF-16; save it as UTF-8")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            yield number, DataError(name, f"is not UTF-8 at byte {error.start + 1}", line=number)


def _too_long(name: str, number: int) -> DataError:
    return DataError(name, f"is longer than {MAX_ROW_BYTES >> 20} MiB", line=number)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _csv(stream: IO[bytes], name: str, delimiter: str, said: str | None) -> Iterator[Row]:
    csv.field_size_limit(MAX_ROW_BYTES)
    lines = _RowLines(stream, name)
    first = next(lines, None)
    if first is None:
        return
    reader = csv.reader(chain([first], lines), delimiter=_delimiter(first, delimiter), strict=True)
    try:
        header = next(reader)
        _check_header(header, name)
        for cells in reader:
            lines.n_characters = 0
            if not cells:
                continue
            if len(cells) != len(header):
                reason = f"has {len(cells)} cells, the header has {len(header)}"
                yield reader.line_num, DataError(name, reason, line=reader.line_num)
                continue
            yield reader.line_num, _from_cells(dict(zip(header, cells, strict=True)), said)
    except csv.Error as error:
        raise DataError(name, f"is not CSV: {error}", line=reader.line_num) from error


def _delimiter(header: str, usual: str) -> str:
    """What separates cells: spreadsheets of many countries write semicolons, and call them CSV."""
    bare = re.sub(r'"[^"]*"', "", header)
    return usual if usual in bare else next((one for one in ";\t" if one in bare), usual)


def _check_header(header: list[str], name: str) -> None:
    _check_columns(header, name)
    for outer in _OUTER:
        inner = next((one for one in header if one.startswith(f"{outer}.")), None)
        if inner is not None and outer in header:
            raise DataError(
                name, f"has both a column {outer!r} and a column {inner!r}; keep one form", line=1
            )


def _check_columns(header: list[str], name: str) -> None:
    if len(header) > MAX_COLUMNS:
        raise DataError(name, f"has {len(header):,} columns; at most {MAX_COLUMNS:,} are read")
    for column, count in Counter(header).most_common(1):
        if count > 1:
            raise DataError(name, f"two columns are called {column!r}", line=1)


class _RowLines:
    """Lines of a table; as many as a row may have, where quoted cells span them.

    Attributes:
        n_characters: Characters since this was last set to 0, which is done after each row.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._lines, self._name = _lines(stream, name), name
        self.n_characters = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        if isinstance(line, DataError):
            raise line  # a quoted cell may span lines, so what follows cannot be trusted
        self.n_characters += len(line)
        if self.n_characters > MAX_ROW_BYTES:
            raise _too_long(self._name, number)
        return line


def _from_cells(cells: dict[str, str], said: str | None) -> dict[str, Any]:
    """CSV has no lists and no objects: ``["a", "b"]`` in a cell, ``group.system`` as a column."""
    row: dict[str, Any] = {}
    for column, cell in cells.items():
        if cell == "":
            if column in (said or "candidate", *ALIASES["candidate"]):
                row[column] = cell  # said nothing: a failed item, not a bad row
            continue
        outer, dot, inner = column.partition(".")
        if dot and outer in _OUTER:
            row.setdefault(outer, {})[inner] = _number(cell) if outer == "judgments" else cell
        else:
            row[column] = _json_list(cell)
    return row


def _json_list(cell: str) -> Any:
    if not cell.lstrip().startswith("["):
        return cell
    try:
        value = json.loads(cell, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, list) else cell


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _parquet(source: str | Path, name: str) -> Iterator[Row]:
    import pyarrow
    import pyarrow.fs
    import pyarrow.parquet

    number = 0
    try:
        if is_url(source):
            files, path = file_system(str(source))
        else:
            files, path = pyarrow.fs.LocalFileSystem(), str(source)
        with pyarrow.parquet.ParquetFile(path, filesystem=files) as file:
            _check_columns(file.schema_arrow.names, name)
            _check_parquet(file.metadata, files.get_file_info(path).size, name)
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                for row in _rows_of(batch):
                    number += 1
                    yield number, _too_long(name, number) if row is None else row
    except (DataError, ConfigError):
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        # ValueError: a text that is not UTF-8, times in nanoseconds; OverflowError: the year 300000
        raise DataError(name, f"cannot be read as Parquet: {error}") from error


def _check_parquet(file: Any, size: int, name: str) -> None:
    """Refuse what is small as a file and large in memory, as far as it says so itself.

    What a row group says of its columns is not asked: where that is damaged, the library ends the
    process.
    """
    whole = sum(file.row_group(number).total_byte_size for number in range(file.num_row_groups))
    check_unpacking(whole, size, name)


def _rows_of(batch: Any) -> Iterator[dict[str, Any] | None]:
    """Rows of a batch; None for one that is too long."""
    if batch.nbytes <= MAX_ROW_BYTES:
        yield from batch.to_pylist()
        return
    for number in range(batch.num_rows):
        row = batch.slice(number, 1)
        yield row.to_pylist()[0] if row.nbytes <= MAX_ROW_BYTES else None


def _subtitles(stream: IO[bytes], name: str) -> Iterator[Row]:
    texts = []
    for _, line in _lines(stream, name):
        if isinstance(line, DataError):
            raise line
        texts.append(line)
    row = subtitle_row(cues(texts, name), Path(name).name.partition(".")[0])
    beside = video_beside(Path(name))
    yield 1, row if beside is None else {**row, "video": beside}


_TEXT_FORMATS: dict[str, Callable[[IO[bytes], str], Iterator[Row]]] = {
    ".json": _json,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".vtt": _subtitles,
    ".srt": _subtitles,
}
_TABLES = {".csv": ",", ".tsv": "\t"}
