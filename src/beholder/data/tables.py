"""Tables as data: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from beholder.base.files import file_system, is_url
from beholder.data.columns import as_number
from beholder.data.lines import (
    MAX_ROW_BYTES,
    Row,
    check_unpacking,
    lines,
    strict_json,
    too_long,
)
from beholder.data.row import ALIASES
from beholder.errors import ConfigError, DataError

MAX_COLUMNS = 10_000
"""Columns of a table."""

_PARQUET_ROWS = 64
"""Rows of a Parquet file that are unpacked at once."""

_OUTER = ("group", "judgments")


class CsvRow(NamedTuple):
    """A row of a table of text.

    Attributes:
        first_line: The line that it begins on; quoted cells may span lines.
        last_line: The line that it ends on.
        cells: Its cells by column, or the error that stands for a row that is not valid.
    """

    first_line: int
    last_line: int
    cells: dict[str, str] | DataError


def read_csv(
    stream: IO[bytes], name: str, delimiter: str, candidate_column: str | None
) -> Iterator[Row]:
    """Yield the rows of a table of text, by the names of its first line.

    Args:
        stream: The file.
        name: Name of the file in messages.
        delimiter: Usual separator of cells, which the first line may replace.
        candidate_column: The column of the candidate, where it has a name of its own.
    """
    header, rows = read_cells(stream, name, delimiter)
    _check_outer(header, name)
    for row in rows:
        cells = row.cells
        yield (
            row.last_line,
            cells
            if isinstance(cells, DataError)
            else _from_cells(cells, candidate_column),
        )


def read_cells(
    stream: IO[bytes], name: str, delimiter: str
) -> tuple[list[str], Iterator[CsvRow]]:
    """Return the columns of a table of text, none for an empty file, and its rows.

    Args:
        stream: The file, which stays open until all rows are read.
        name: Name in messages.
        delimiter: Separator of cells, unless the first line shows another.

    Raises:
        DataError: The columns are not valid, or, while rows are read, the file is not CSV.
    """
    # The limit of ``csv`` is 128 KiB, which long texts exceed.
    csv.field_size_limit(MAX_ROW_BYTES)
    text = _RowLines(stream, name)
    first = next(text, None)
    if first is None:
        return [], iter(())
    reader = csv.reader(
        chain([first], text),
        delimiter=separator(first, delimiter),
        strict=True,
    )
    try:
        header = next(reader)
    except csv.Error as error:
        raise _not_csv(name, error, reader.line_num) from error
    check_columns(header, name)
    return header, _cells_of(reader, text, header, name)


def _cells_of(
    reader: Any, text: _RowLines, header: list[str], name: str
) -> Iterator[CsvRow]:
    last_line = reader.line_num
    try:
        for cells in reader:
            text.n_characters = 0
            first_line, last_line = last_line + 1, reader.line_num
            if not cells:
                continue
            if len(cells) == len(header):
                yield CsvRow(
                    first_line,
                    last_line,
                    dict(zip(header, cells, strict=True)),
                )
                continue
            reason = f"has {len(cells)} cells, the header has {len(header)}"
            yield CsvRow(
                first_line, last_line, DataError(name, reason, line=first_line)
            )
    except csv.Error as error:
        raise _not_csv(name, error, reader.line_num) from error


def _not_csv(name: str, error: csv.Error, line: int) -> DataError:
    return DataError(name, f"is not CSV: {error}", line=line)


def separator(header: str, usual_separator: str) -> str:
    """Return the separator of cells: many spreadsheets write semicolons, and call it CSV."""
    # A quoted name may continue on the next line, so its quotation mark may be open on this one.
    bare = re.sub(r'"[^"]*(?:"|$)', "", header)
    return (
        usual_separator
        if usual_separator in bare
        else next(
            (character for character in ";\t," if character in bare),
            usual_separator,
        )
    )


def _check_outer(header: list[str], name: str) -> None:
    for outer in _OUTER:
        inner = next(
            (column for column in header if column.startswith(f"{outer}.")),
            None,
        )
        if inner is not None and outer in header:
            raise DataError(
                name,
                f"has both a column {outer!r} and a column {inner!r}; keep one form",
                line=1,
            )


def check_columns(header: list[str], name: str) -> None:
    """Check the number of columns, and that their names are unique.

    Raises:
        DataError: There are too many columns, or two of one name.
    """
    if len(header) > MAX_COLUMNS:
        raise DataError(
            name,
            f"has {len(header):,} columns; at most {MAX_COLUMNS:,} are read",
        )
    for column, count in Counter(header).most_common(1):
        if count > 1:
            raise DataError(name, f"two columns are called {column!r}", line=1)


class _RowLines:
    """Lines of a table, with a limit of characters for a row, as quoted cells may span lines.

    Attributes:
        n_characters: Characters since this was last set to 0, which is done after each row.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._lines, self._name = lines(stream, name), name
        self.n_characters = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        if isinstance(line, DataError):
            raise line  # a quoted cell may span lines, so what follows cannot be trusted
        self.n_characters += len(line)
        if self.n_characters > MAX_ROW_BYTES:
            raise too_long(self._name, number)
        return line


def _from_cells(
    cells: dict[str, str], candidate_column: str | None
) -> dict[str, object]:
    """Return the row of cells: ``["a", "b"]`` is a list, ``group.system`` a value in ``group``."""
    row: dict[str, Any] = {}
    for column, cell in cells.items():
        if cell == "":
            # An empty text of a system is a failed item, which counts; any
            # other empty cell is no value.
            if column in (
                candidate_column or "candidate",
                *ALIASES["candidate"],
            ):
                row[column] = (
                    cell  # said nothing: a failed item, not a bad row
                )
            continue
        outer, dot, inner = column.partition(".")
        if dot and outer in _OUTER:
            row.setdefault(outer, {})[inner] = (
                _label(cell) if outer == "judgments" else cell
            )
        else:
            row[column] = _json_list(cell)
    return row


def _label(cell: str) -> Any:
    number = as_number(cell)
    return _json_list(cell) if isinstance(number, str) else number


def _json_list(cell: str) -> Any:
    # Most cells are no list; a text that only begins like one stays a text.
    if not cell.lstrip().startswith("["):
        return cell
    try:
        value = strict_json(cell)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, list) else cell


def read_parquet(source: str | Path, name: str) -> Iterator[Row]:
    """Yield the rows of a Parquet file, some at a time.

    Raises:
        DataError: The file cannot be read, or unpacks to far more than its size.
    """
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
            check_columns(file.schema_arrow.names, name)
            # What a row group says of its columns is not asked: where that is damaged, the library
            # ends the process.
            groups = map(
                file.metadata.row_group, range(file.metadata.num_row_groups)
            )
            n_bytes = sum(group.total_byte_size for group in groups)
            check_unpacking(n_bytes, files.get_file_info(path).size, name)
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                for row in _rows_of(batch):
                    number += 1
                    yield (
                        number,
                        too_long(name, number) if row is None else row,
                    )
    except (DataError, ConfigError):
        raise
    except (
        pyarrow.ArrowException,
        OSError,
        ValueError,
        OverflowError,
    ) as error:
        # ValueError: a text that is not UTF-8, times in nanoseconds; OverflowError: the year 300000
        raise DataError(name, f"cannot be read as Parquet: {error}") from error


def _rows_of(batch: Any) -> Iterator[dict[str, object] | None]:
    """Yield the rows of a batch; None for one that is too long."""
    if batch.nbytes <= MAX_ROW_BYTES:
        yield from batch.to_pylist()
        return
    # A long batch may have one long row, which alone is refused.
    for number in range(batch.num_rows):
        row = batch.slice(number, 1)
        yield row.to_pylist()[0] if row.nbytes <= MAX_ROW_BYTES else None
