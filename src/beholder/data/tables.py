"""Tables as data: CSV, TSV, spreadsheets and Parquet."""

from __future__ import annotations

import csv
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from beholder.base.files import file_system, is_url
from beholder.base.visible import cut_text
from beholder.data.columns import as_number, text_columns
from beholder.data.headings import close_column, is_heading, is_known
from beholder.data.lines import (
    MAX_ROW_BYTES,
    Row,
    check_unpacking,
    lines,
    strict_json,
    too_long,
    with_line_feeds,
)
from beholder.data.reading import RowReading
from beholder.errors import ConfigError, DataError

MAX_COLUMNS = 10_000
"""Columns of a table."""

_PARQUET_ROWS = 64
"""Rows of a Parquet file that are unpacked at once."""

_OUTER = ("group", "judgments")

_SEPARATORS = ";\t,|"
_MOST_TITLES = 10
"""Lines above the headings, such as the title of a list."""

_DECLARED = re.compile(r"sep=(.)\s*\Z", re.IGNORECASE)
"""The first line that spreadsheets write to name the separator."""


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
    stream: IO[bytes], name: str, delimiter: str, reading: RowReading
) -> Iterator[Row]:
    """Yield the rows of a table of text, by the names of its first line.

    Args:
        stream: The file.
        name: Name of the file in messages.
        delimiter: Usual separator of cells, which the first line may replace.
        reading: The columns that the user named, and how cells are read.
    """
    header, rows = read_cells(stream, name, delimiter, reading)
    yield from _typed_rows(header, rows, name, reading)


def _typed_rows(
    header: list[str], rows: Iterable[CsvRow], name: str, reading: RowReading
) -> Iterator[Row]:
    _check_outer(header, name)
    texts = text_columns(header, reading.columns)
    for row in rows:
        cells = row.cells
        if isinstance(cells, DataError):
            yield row.last_line, cells
        elif reading.as_written:
            yield row.first_line, cells
        else:
            yield row.last_line, _from_cells(cells, texts)


def read_cells(
    stream: IO[bytes], name: str, delimiter: str, reading: RowReading
) -> tuple[list[str], Iterator[CsvRow]]:
    """Return the columns of a table of text, none for an empty file, and its rows.

    Args:
        stream: The file, which stays open until all rows are read.
        name: Name in messages.
        delimiter: Separator of cells, unless the first line shows another.
        reading: The columns that the user named.

    Raises:
        DataError: The columns are not valid, or, while rows are read, the file is not CSV.
    """
    # The limit of ``csv`` is 128 KiB, which long texts exceed.
    csv.field_size_limit(MAX_ROW_BYTES)
    text = _RowLines(with_line_feeds(stream), name)
    first = next(text, None)
    if first is None:
        return [], iter(())
    declared = _DECLARED.match(first)
    if declared is not None:
        delimiter, first = declared[1], next(text, "")
    head, n_titles = [first], 0
    if declared is None:
        head, n_titles, delimiter = _find_header(
            first, text, delimiter, reading.columns
        )
        text.n_characters = 0
    if n_titles:
        reading.leave_out(
            f"lines above the headings ({shorten_line(first)})", n_titles
        )
    all_lines = chain(head[n_titles:], text)
    n_before = n_titles + (declared is not None)
    # Tables with tabs have no quoting, so a quotation mark may be part of a text.
    reader: _Cells = (
        _TabCells(all_lines)
        if delimiter == "\t"
        else csv.reader(all_lines, delimiter=delimiter, strict=True)
    )
    try:
        header = next(reader)
    except csv.Error as error:
        raise _not_csv(name, error, n_before + reader.line_num) from error
    columns = _named_columns(header)
    check_columns([column for column in columns if column], name)
    return [column for column in columns if column], _cells_of(
        reader, text, columns, name, n_before
    )


def shorten_line(line: str) -> str:
    """Return the beginning of a line, as a note shows it."""
    return repr(cut_text(" ".join(line.split()), 40))


class _TabCells:
    """Cells of lines with tabs; only quotation marks around a whole cell are removed.

    Attributes:
        line_num: Lines that were read.
    """

    def __init__(self, text: Iterable[str]) -> None:
        self._lines = iter(text)
        self.line_num = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines).rstrip("\r\n")
        self.line_num += 1
        return [_unquoted(cell) for cell in line.split("\t")] if line else []


_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"\s*')


def _unquoted(cell: str) -> str:
    match = _QUOTED.fullmatch(cell)
    return match[1].replace('""', '"') if match else cell


_Cells = Any
"""``csv.reader``, or ``_TabCells``."""


def _find_header(
    first: str, text: _RowLines, delimiter: str, columns: Mapping[str, str]
) -> tuple[list[str], int, str]:
    """Return the lines that were read, how many stand above the headings, and the separator."""
    usual = separator(first, delimiter)
    head = [first]
    if _filled(first, usual) > 1 or is_known(first):
        return head, 0, usual
    # A title is one cell. The headings below it are at least two, and one of
    # them is known or was named by the user: a list of one column, whose
    # texts have commas, has no title.
    for line in islice(text, _MOST_TITLES):
        head.append(line)
        here = separator(line, delimiter)
        names = [name for name in _split(line, here) if name.strip()]
        if len(names) > 1 and are_headings(names, columns):
            return head, len(head) - 1, here
        if len(names) > 1:
            break
    return head, 0, usual


def are_headings(names: Sequence[str], columns: Mapping[str, str]) -> bool:
    """Return whether one of these cells is a known heading, or was named by the user."""
    return any(map(is_heading, names)) or any(
        close_column(column, names) for column in columns.values()
    )


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _filled(line: str, delimiter: str) -> int:
    return sum(bool(cell.strip()) for cell in _split(line, delimiter))


def _named_columns(header: Sequence[str]) -> list[str]:
    """Return names of columns; one without a heading is empty if it is behind the last heading."""
    names = [name.strip() for name in header]
    n_named = max(
        (at for at, name in enumerate(names, start=1) if name), default=0
    )
    # One column without a name is the index that pandas writes.
    return [
        name or (f"column {at}" if at <= n_named else "")
        for at, name in enumerate(names, start=1)
    ]


def _cells_of(
    reader: _Cells,
    text: _RowLines,
    columns: list[str],
    name: str,
    n_before: int,
) -> Iterator[CsvRow]:
    n_columns = sum(map(bool, columns))
    last_line = n_before + reader.line_num
    try:
        for cells in reader:
            text.n_characters = 0
            first_line, last_line = last_line + 1, n_before + reader.line_num
            if not any(cells) and len(cells) != n_columns:
                continue
            # Spreadsheets write empty cells behind the last column.
            while len(cells) > n_columns and not cells[-1].strip():
                cells.pop()
            if len(cells) == n_columns:
                yield CsvRow(
                    first_line,
                    last_line,
                    dict(zip(columns, cells, strict=False)),
                )
                continue
            reason = f"has {len(cells)} cells, the header has {n_columns}"
            yield CsvRow(
                first_line, last_line, DataError(name, reason, line=first_line)
            )
    except csv.Error as error:
        raise _not_csv(name, error, n_before + reader.line_num) from error


def _not_csv(name: str, error: csv.Error, line: int) -> DataError:
    return DataError(name, f"is not CSV: {error}", line=line)


def separator(header: str, usual_separator: str) -> str:
    """Return the separator of cells: many spreadsheets write semicolons, and call it CSV."""
    if declared := _DECLARED.match(header):
        return declared[1]
    # A quoted name may continue on the next line, so its quotation mark may be open on this one.
    bare = re.sub(r'"[^"]*(?:"|$)', "", header)
    return (
        usual_separator
        if usual_separator in bare
        else next(
            (character for character in _SEPARATORS if character in bare),
            usual_separator,
        )
    )


SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
"""Endings of spreadsheets."""

MAX_SPREADSHEET_BYTES = 256 * 2**20
"""Largest spreadsheet: its sheets are in memory as a whole."""


def read_spreadsheet(
    source: str | Path, name: str, reading: RowReading
) -> Iterator[Row]:
    """Yield the rows of the sheet that has texts, by the names of its first row.

    Raises:
        DataError: The file cannot be read, or several sheets have texts.
    """
    import python_calamine

    path = Path(source)
    try:
        _check_packing(path, name)
        with python_calamine.load_workbook(str(path)) as book:
            sheets = {
                sheet: book.get_sheet_by_name(sheet).to_python(
                    skip_empty_area=False
                )
                for sheet in book.sheet_names
            }
    except (
        OSError,
        ValueError,
        python_calamine.CalamineError,
        zipfile.BadZipFile,
    ) as error:
        raise DataError(
            name, f"cannot be read as a spreadsheet ({error}): save it as CSV"
        ) from error
    tables = {}
    for sheet, rows in sheets.items():
        cells = [[_cell_text(cell) for cell in row] for row in rows]
        table = _sheet_rows(cells, name, reading)
        if table is not None:
            tables[sheet] = table
    with_texts = [
        sheet
        for sheet, (header, _, _) in tables.items()
        if text_columns(header, reading.columns)
    ]
    if len(with_texts) > 1:
        raise DataError(
            name,
            f"has several sheets with texts: {', '.join(with_texts)}; save the right one as a file"
            " of its own",
        )
    if not tables:
        return
    chosen = with_texts[0] if with_texts else next(iter(tables))
    for sheet in tables:
        if sheet != chosen:
            reading.leave_out(f"sheets ({sheet!r})")
    header, numbered, n_titles = tables[chosen]
    if n_titles:
        reading.leave_out("lines above the headings", n_titles)
    yield from _typed_rows(header, numbered, name, reading)


def _sheet_rows(
    cells: list[list[str]], name: str, reading: RowReading
) -> tuple[list[str], list[CsvRow], int] | None:
    """Return columns, rows and the number of lines above the headings; None for an empty sheet."""
    filled = [at for at, row in enumerate(cells) if any(row)]
    if not filled:
        return None
    header_at = filled[0]
    if sum(map(bool, cells[header_at])) == 1:
        for at in filled[1 : _MOST_TITLES + 1]:
            names = [cell for cell in cells[at] if cell]
            if len(names) > 1 and are_headings(names, reading.columns):
                header_at = at
                break
    columns = _named_columns(cells[header_at])
    header = [column for column in columns if column]
    check_columns(header, name)
    rows = [
        CsvRow(at + 1, at + 1, dict(zip(header, cells[at], strict=False)))
        for at in filled
        if at > header_at
    ]
    return header, rows, filled.index(header_at)


def _check_packing(path: Path, name: str) -> None:
    size = path.stat().st_size
    if size > MAX_SPREADSHEET_BYTES:
        raise DataError(
            name,
            f"has {size:,} bytes; at most {MAX_SPREADSHEET_BYTES:,} are read: save it as CSV",
        )
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(entry.file_size for entry in archive.infolist())
        check_unpacking(n_bytes, size, name)


def _cell_text(cell: Any) -> str:
    """Return a cell as a CSV file of the same sheet would have it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return str(cell)


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
    cells: dict[str, str], texts: Collection[str]
) -> dict[str, object]:
    """Return the row of cells: ``["a", "b"]`` is a list, ``group.system`` a value in ``group``."""
    row: dict[str, Any] = {}
    for column, cell in cells.items():
        if cell == "":
            # An empty text of a system is a failed item, which counts; any
            # other empty cell is no value.
            if column in texts:
                row[column] = cell
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
