"""Data sets, read row by row: memory does not grow with the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from beholder.base.grouping import group_by_key
from beholder.data.columns import check_mapped, rename_columns
from beholder.data.folders import folder_of
from beholder.data.lines import Row
from beholder.data.notes import RowNotes
from beholder.data.published import from_published, is_published
from beholder.data.reading import RowReading
from beholder.data.references import (
    ReferenceIndex,
    add_ids,
    references_by_id,
    rows_without_text,
    with_references,
)
from beholder.data.row import (
    RowError,
    candidate_columns,
    checked_field,
    from_row,
    plain_text,
    with_one_language,
)
from beholder.data.sources import read_rows, with_frames
from beholder.errors import ConfigError, DataError
from beholder.options import DataOptions
from beholder.records import Item

T = TypeVar("T")

MAX_ROWS_SHOWN = 20

_VALUES = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|[0-9]+|there (?:are|is): .*?;"
)
"""Values in messages, without which messages of one kind are equal."""

MAX_BAD_ROWS = 100_000
"""Wrong rows that are left out: where more are wrong, it is not their data."""

EVERY_ROW = DataOptions()
"""All rows as they are."""


def read_items(
    source: str | Path,
    options: DataOptions = EVERY_ROW,
    *,
    textless: bool = False,
    line_numbers: dict[str, int] | None = None,
    notes: RowNotes | None = None,
    unusable: dict[str, str] | None = None,
    is_partial: bool = False,
) -> Iterator[Item | DataError]:
    """Read a data set.

    Args:
        source: A ``.jsonl``, ``.json``, ``.csv``, ``.tsv`` or ``.txt`` file, the text ones also
            as ``.gz`` or ``.xz``; a spreadsheet or ``.parquet`` file; ``"-"`` reads JSONL from
            standard input; layouts of data sets and exports (``.json``; ``docs/data.md`` lists
            them), IIIF manifests, ``.vtt`` and ``.srt``; a folder of pictures with
            texts beside them; ``hf:NAME`` or ``hf:NAME@SPLIT`` a data set of the Hugging Face hub
            (extra ``datasets``; the split ``test`` if none is named), without columns that hold
            pictures or sound. A URL of a file (``s3://``, ``gs://``, ``file://``) is read through
            pyarrow.
        options: Columns by field, file of references, folder of pictures. The caller applies the
            limit of rows.
        textless: A row may have no candidate, which is then empty.
        line_numbers: Receives the row number of each item by its id.
        notes: Receives what is not read: columns, parts of files, references without a row.
        unusable: Receives, by id, why the pictures of an item cannot be used, which it then has
            not; None makes such a row a bad one.
        is_partial: Whether mapped columns may be missing, because another file of the command has
            them.

    Yields:
        An Item per good row, a DataError (not raised) per bad one, in file order.

    Raises:
        ConfigError: The mapping names an unknown field.
        DataError: The file as a whole cannot be read.
    """
    name = "stdin" if str(source) == "-" else str(source)
    check_mapped(options.map)
    return items_of(
        read_rows(source, name, RowReading(options.map, _left_out(notes))),
        options,
        name,
        textless,
        line_numbers,
        notes,
        unusable,
        is_partial,
    )


def items_of(
    rows: Iterable[Row],
    options: DataOptions,
    name: str,
    textless: bool = False,
    line_numbers: dict[str, int] | None = None,
    notes: RowNotes | None = None,
    unusable: dict[str, str] | None = None,
    is_partial: bool = False,
) -> Iterator[Item | DataError]:
    """Yield the items of rows from any source; arguments and errors as ``read_items``."""
    # Rows pass through a chain of generators: columns are renamed, references
    # are added by id, ids are filled in, and only then is an item built and
    # checked.
    check_mapped(options.map)
    # A mapped column may be in either file.
    columns_elsewhere: set[str] = set()
    index = _read_references(options, notes, columns_elsewhere)
    if notes is not None:
        rows = _count_columns(rows, options, notes)
    named_rows = rename_columns(
        rows,
        options.map,
        name,
        columns_elsewhere=columns_elsewhere,
        is_optional=is_partial,
    )
    if index is not None:
        named_rows = _add_references(named_rows, index, options, name, notes)
    elif options.require_all:
        raise ConfigError(
            "--require-all counts pictures of the references without a text: name their file with"
            " --references-from"
        )
    named_rows = add_ids(named_rows)
    # Frames of a film are read here, so it must be one that may be opened.
    unusable = unusable if options.frames is None else None
    root = folder_of(name, options.media_root)

    # By id: hashes of text and references, and the number of the row. Two rows
    # of one id and text with other references are usually one item, written
    # once for each reference.
    first_rows: dict[str, tuple[int, int, str]] = {}

    def build(row: object, number: str) -> Item:
        item = item_of_row(row, number)
        row_hashes = hash(item.candidate), hash(item.references)
        text, references, first = first_rows.setdefault(
            item.id, (*row_hashes, number)
        )
        is_part = row_hashes[0] == text and row_hashes[1] != references
        if row_hashes[0] != text and not options.group_references:
            raise RowError(
                f"{item.id!r} is taken by row {first}, which has another text: each text needs an"
                " id of its own. If systems describe the same pictures, name the picture with"
                " --map images=COLUMN and the system with --map group.system=COLUMN",
                "id",
            )
        if is_part and not options.group_references:
            raise RowError(
                f"{item.id!r} is taken by row {first}, which has the same text and other"
                " references: --group-references makes them one item",
                "id",
            )
        return (
            item
            if options.frames is None
            else with_frames(item, options.frames, root)
        )

    def item_of_row(row: object, number: str) -> Item:
        if isinstance(row, Item):
            return _checked_item(row)
        fields = from_published(row)
        fields = _with_candidate(fields) if textless else fields
        reasons: list[str] | None = None if unusable is None else []
        item = from_row(
            fields,
            default_id=number,
            media_root=options.media_root,
            unusable=reasons,
        )
        if unusable is not None and reasons:
            unusable[item.id] = reasons[0]
            if notes is not None:
                notes.left_out[_NO_PICTURE] += 1
        return item

    if options.group_references:
        return grouped_references(named_rows, build, name, line_numbers)
    return records(named_rows, build, name=name, row_numbers=line_numbers)


def _checked_item(item: Item) -> Item:
    """Return an item of a caller, whose texts may have half of a surrogate pair."""
    texts_by_field = {
        "id": [item.id],
        "candidate": [item.candidate],
        "references": item.references,
    }
    for field, texts in texts_by_field.items():
        for text in texts:
            checked_field(field, plain_text, text)
    return with_one_language(item)


_NO_PICTURE = (
    "rows whose pictures cannot be opened, because they are in the table itself or outside of its"
    " folder (--media-root DIR)"
)


def _left_out(notes: RowNotes | None) -> Counter[str] | None:
    return None if notes is None else notes.left_out


def _read_references(
    options: DataOptions, notes: RowNotes | None, columns_elsewhere: set[str]
) -> ReferenceIndex | None:
    """Read the file of references, if there is one; the set receives its mapped columns."""
    if options.references_from is None:
        return None
    source = str(options.references_from)
    rows = rename_columns(
        read_rows(source, source, RowReading(options.map, _left_out(notes))),
        options.map,
        source,
        columns_elsewhere=columns_elsewhere,
        is_optional=True,
    )
    return ReferenceIndex(references_by_id(rows, source), source)


def _count_columns(
    rows: Iterable[Row], options: DataOptions, notes: RowNotes
) -> Iterator[Row]:
    """Yield rows, after their columns that nothing reads were counted."""
    paths = options.map.values()
    used = {part for path in paths for part in (path, *path.split("."))}
    used |= {part.removesuffix("[]") for part in used}
    # By the names of columns, as rows of a file have the same.
    published: dict[tuple[Any, ...], bool] = {}
    for number, row in rows:
        if isinstance(row, Mapping):
            names = tuple(row)
            if names not in published:
                published[names] = is_published(row)
            # Columns of a published form are read by its name.
            if not published[names]:
                notes.count_columns(
                    {str(name): value for name, value in row.items()},
                    "item",
                    used,
                )
        yield number, row


def _add_references(
    rows: Iterable[Row],
    index: ReferenceIndex,
    options: DataOptions,
    name: str,
    notes: RowNotes | None,
) -> Iterator[Row]:
    """Yield rows with their references, then, with ``require_all``, a row for each missing one."""
    ids: set[str] = set()
    number = 0
    if notes is not None:
        notes.references = Path(index.name).name
    for number, row in with_references(rows, index, name, ids, notes):
        yield number, row
    missing_rows = list(rows_without_text(index.fields_by_id, ids))
    if options.require_all:
        yield from enumerate(missing_rows, start=number + 1)
    elif notes is not None:
        notes.missing = [row["id"] for row in missing_rows]
        notes.n_references = len(index.fields_by_id)


def grouped_references(
    rows: Iterable[Row],
    build: Callable[[Any, str], Item],
    name: str,
    line_numbers: dict[str, int] | None = None,
) -> Iterator[Item | DataError]:
    """Yield items of rows with one reference each: rows of one id and text are one item.

    Rows without an id belong to their picture or film. All rows are in memory at once.
    """
    joined: dict[tuple[str, ...], Item] = {}
    numbers: dict[str, int] = {} if line_numbers is None else line_numbers
    for number, row in rows:
        if isinstance(row, DataError):
            yield row
            continue
        try:
            item = build(row, str(number))
            # Without an id, rows belong together if picture, text and group
            # are equal; without a picture nothing says so.
            if item.id_is_row_number:
                system = tuple(
                    f"{key}={value}"
                    for key, value in sorted(item.group.items())
                )
                pictures = item.images or ((item.video,) if item.video else ())
                key = (
                    ("", *pictures, item.candidate, *system)
                    if pictures
                    else (item.id,)
                )
            else:
                key = (item.id,)
            earlier = joined.get(key)
            if earlier is not None and earlier.candidate != item.candidate:
                raise RowError(
                    f"{item.id!r} is taken by row {numbers[earlier.id]}, which has another text;"
                    " ids must differ",
                    "id",
                )
        except RowError as error:
            yield DataError(name, error.reason, line=number, field=error.field)
            continue
        if earlier is None:
            numbers[item.id] = number
            joined[key] = item
        else:
            joined[key] = replace(
                earlier, references=(*earlier.references, *item.references)
            )
    yield from joined.values()


def _with_candidate(row: object) -> object:
    if not isinstance(row, Mapping):
        return row
    return (
        row
        if any(row[name] is not None for name in candidate_columns(row))
        else {**row, "candidate": ""}
    )


def records(
    rows: Iterable[Row],
    build: Callable[[Any, str], T],
    *,
    name: str,
    key: Callable[[T], str] = attrgetter("id"),
    row_numbers: dict[str, int] | None = None,
) -> Iterator[T | DataError]:
    """Make records of rows; no two may have the same key.

    Args:
        rows: Rows with their numbers, as ``read_rows`` gives them.
        build: Makes the record of a row and of its number, which can serve as its id. It raises
            RowError if the row is not valid.
        name: Name of the data in messages.
        key: Returns the key of a record, which must be unique.
        row_numbers: Number of the row by key; data in several files share one.

    Yields:
        A record per good row, a DataError (not raised) per bad one, in order.
    """
    row_numbers = {} if row_numbers is None else row_numbers
    for number, row in rows:
        if isinstance(row, DataError):
            yield row
            continue
        try:
            record = build(row, str(number))
            record_key = key(record)
            if record_key in row_numbers:
                raise RowError(
                    f"{record_key!r} is taken by row {row_numbers[record_key]}; ids must differ",
                    "id",
                )
        except RowError as error:
            yield DataError(name, error.reason, line=number, field=error.field)
            continue
        row_numbers[record_key] = number
        yield record


def good_rows(
    rows: Iterable[T | DataError],
    options: DataOptions,
    bad_rows: list[DataError],
    *,
    name: str,
    notes: RowNotes | None = None,
) -> Iterator[T]:
    """Yield the good rows of a data set; add wrong ones to ``bad_rows``.

    Args:
        rows: Good rows, and errors that stand for wrong ones.
        options: Limit of rows, and whether wrong ones are left out.
        bad_rows: Receives the wrong rows.
        name: Name of the data in messages.
        notes: Counts oddities of the good rows.

    Raises:
        DataError: Rows are wrong and may not be skipped (all are reported at once, up to a number),
            or none is good.
    """
    # All wrong rows are reported at once, so that one pass of corrections is
    # enough; reading ends at a number of them, because more say nothing new.
    n_good = 0
    is_whole = False
    for row in rows:
        if isinstance(row, DataError):
            bad_rows.append(row)
            if len(bad_rows) > MAX_BAD_ROWS:
                raise DataError(
                    name,
                    f"has more than {MAX_BAD_ROWS:,} wrong rows; the last one: {row.reason}",
                )
            if not options.skip_bad_rows and len(bad_rows) > MAX_ROWS_SHOWN:
                break
            continue
        n_good += 1
        if notes is not None:
            notes.add(row)
        yield row
        if n_good == options.limit:
            break
    else:
        is_whole = True
    if bad_rows and not options.skip_bad_rows:
        raise error_of_rows(bad_rows, n_good + len(bad_rows), is_whole)
    if not n_good:
        raise DataError(name, "has no row that can be used")


def error_of_rows(
    errors: list[DataError], n_read: int, is_whole: bool
) -> DataError:
    """Return one error that lists all wrong rows, up to a number.

    Args:
        errors: The wrong rows.
        n_read: Rows that were read, good ones among them.
        is_whole: Whether these are all rows of the data set.
    """
    first = errors[0]
    scope = f"{n_read:,} rows" if is_whole else f"the first {n_read:,} rows"
    # Errors are grouped by field and message without its values: a thousand
    # rows with one fault are one line.
    kinds = group_by_key(
        ((error.field, _VALUES.sub("", error.reason)), error)
        for error in errors
    )
    are_all_alike = len(errors) == n_read and len(kinds) == 1
    lines = []
    for similar_errors in kinds.values():
        if similar_errors[0] is not first:
            lines.append(str(similar_errors[0]))
        if are_all_alike and n_read > 1:
            lines.append(
                f"(all {scope if is_whole else f'of {scope}'} are like this)"
            )
        elif len(similar_errors) > 1:
            places = ", ".join(
                str(error.line) for error in similar_errors[:MAX_ROWS_SHOWN]
            )
            n_hidden = len(similar_errors) - MAX_ROWS_SHOWN
            more = f" and {n_hidden:,} more" if n_hidden > 0 else ""
            lines.append(
                f"({len(similar_errors):,} of {scope} are like this: rows {places}{more})"
            )
    if not is_whole and not are_all_alike and len(errors) > MAX_ROWS_SHOWN:
        lines.append(
            f"(reading stopped after {len(errors):,} wrong rows: later rows are not checked)"
        )
    # Rows that are one item are no wrong data: skipping them would lose references.
    if any("--group-references" in error.reason for error in errors):
        lines.append("fix the other rows" if len(kinds) > 1 else "")
    elif not are_all_alike:
        lines.append("fix these rows, or skip them with --skip-bad-rows")
    reason = "\n".join([first.reason, *filter(None, lines)])
    return DataError(first.path, reason, line=first.line, field=first.field)
