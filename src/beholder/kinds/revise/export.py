"""Accepted texts in the form that was read: only the changed texts differ, byte for byte."""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeAlias

from beholder.base.files import open_regular, write_bytes
from beholder.base.grouping import group_by_key
from beholder.data.lines import read_records, strict_json
from beholder.errors import ConfigError, DataError
from beholder.kinds.revise.places import (
    BOM,
    AcceptedRow,
    FoundText,
    SourcePlace,
    check_read,
    decode_utf8,
    find_attribute,
    find_attributes,
    replace_texts,
    text_start,
)
from beholder.lint import html, packed
from beholder.lint.sources import READERS

_ONLY_READ = (".rst", ".adoc", ".asciidoc", ".asc", ".odt", ".odp")
"""Forms whose texts are not attributes or are written in several ways."""
FORMS = tuple(
    form
    for form in (
        *(*READERS, *packed.FORMS),
        *(".csv", ".tsv", ".json", ".jsonl", ".ndjson"),
    )
    if form not in _ONLY_READ
)
"""Endings of files that can be written."""

_JSON = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[\[\]{},:]|[^\s\[\]{},:\"]+")


_TAGS = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<(?P<old>[\w.-]+:)?Fallback\b.*?</(?P=old)?Fallback\s*>"
    r"|<(?:[\w.-]+:)?(?P<tag>docPr|cNvPr|shape|rect|roundrect|oval)(?=[\s/>])",
    re.S,
)
"""Elements that have alternative texts; comments and what only old programs show are left out."""
_TAGS_BY_FORM = {
    ".docx": ("docPr", "cNvPr", "shape", "rect", "roundrect", "oval"),
    ".pptx": ("cNvPr",),
}


def write_accepted(accepted: Path, out: Path) -> int:
    """Write the accepted texts beside their source; the source itself is never written.

    Args:
        accepted: Rows with ``decision``, as ``beholder annotate export`` writes them.
        out: File, or folder if the rows come from several files.

    Returns:
        The number of changed texts.

    Raises:
        ConfigError: ``out`` is a source, or no row says where its text comes from.
        DataError: A row is damaged, its source changed since it was read, a text is not found in
            it once, or a source would be written outside ``out``.
    """
    rows = [
        row for row in read_records(accepted, AcceptedRow) if row.source.file
    ]
    rows_by_file = group_by_key((_resolve(row, accepted), row) for row in rows)
    if not rows_by_file:
        raise ConfigError(
            f"{accepted}: no row names the file that its text comes from; the final texts are its"
            " candidates"
        )
    # All is checked and built before the first file is written, so that an
    # error leaves nothing half done.
    for file in rows_by_file:
        check_form(file)
    top = Path(os.path.commonpath([file.parent for file in rows_by_file]))
    n_changed = 0
    data_by_target: dict[Path, bytes] = {}
    for file, rows_of_file in rows_by_file.items():
        target = out if len(rows_by_file) == 1 else out / file.relative_to(top)
        if target.resolve() in rows_by_file:
            raise ConfigError(
                f"--write {out} would write over the source {file}; name another file"
            )
        if len(rows_by_file) > 1 and not target.resolve().is_relative_to(
            out.resolve()
        ):
            raise DataError(
                str(target),
                f"leads out of {out}, through a link; name another folder with --write",
            )
        data = _read_source(file)
        digests = {row.source.digest for row in rows_of_file}
        # Places are those of the file that was read.
        if digests != {sha256(data).hexdigest()}:
            raise DataError(
                str(file),
                "changed since its texts were read; run beholder revise again",
            )
        changed_rows = [
            row for row in rows_of_file if _is_changed(row, accepted)
        ]
        data_by_target[target] = _spliced(file, data, changed_rows)
        n_changed += len(changed_rows)
    for target, data in data_by_target.items():
        write_bytes(target, data)
    return n_changed


def _resolve(row: AcceptedRow, accepted: Path) -> Path:
    """Return the source of a row without links and dots, so that it stays below a folder."""
    try:
        return Path(row.source.file).resolve()
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # a null byte, a loop of links
        reason = f"row {row.id}: meta.source.file {row.source.file!r} is not a path: {error}"
        raise DataError(str(accepted), reason) from error


def _read_source(file: Path) -> bytes:
    try:
        with open_regular(file) as source:
            return source.readall()
    except OSError as error:
        raise DataError(
            str(file), f"cannot be read: {error.strerror or error}"
        ) from error


def _is_changed(row: AcceptedRow, accepted: Path) -> bool:
    if row.decision not in ("accept", "edit"):
        return False
    if row.meta.revision is None:
        raise DataError(
            str(accepted),
            f"row {row.id} has no meta.revision with its former text",
        )
    return row.candidate != row.former


def check_form(file: Path) -> None:
    """Refuse a file whose form cannot be written.

    Raises:
        DataError: Names the form and what to do.
    """
    if file.suffix.lower() not in FORMS:
        raise DataError(
            str(file),
            f"accepted texts cannot be written into {file.suffix} files, only into"
            f" {', '.join(FORMS)}; open the file in its program, and enter each exported candidate"
            " as the alternative text at its meta.source.locator",
        )


def _spliced(file: Path, data: bytes, rows: Sequence[AcceptedRow]) -> bytes:
    form = file.suffix.lower()
    if not rows:
        return data
    if form in packed.FORMS:
        return _spliced_archive(file, data, rows)
    source = decode_utf8(data, str(file))
    # Pages are read again afterwards: only the accepted texts may differ.
    if form in READERS:
        text = replace_texts(
            str(file),
            source,
            form,
            rows,
            lambda row: find_attribute(source, row.source),
        )
        check_read(
            str(file),
            rows,
            *(READERS[form](page, "") for page in (source, text)),
        )
        return text.encode("utf-8")
    texts = _texts(source, form, str(file))
    texts_by_key = group_by_key(
        (key, text) for text in texts for key in text.keys
    )

    def find(row: AcceptedRow) -> list[FoundText]:
        place = row.source
        # A row is named by its locator, its id, or its number.
        keys = (place.locator or row.id, f"row {place.line}")
        texts = dict.fromkeys(
            text for key in keys for text in texts_by_key.get(key, ())
        )
        return [
            text
            for text in texts
            if place.line is None or place.text_from == text.field
        ]

    return replace_texts(str(file), source, form, rows, find).encode("utf-8")


def _texts(source: str, form: str, name: str) -> Iterator[FoundText]:
    """Yield the texts of a table or of JSON, with the names of their rows.

    Raises:
        DataError: The file is not JSON.
    """
    if form in (".csv", ".tsv"):
        yield from _cells(source, "\t" if form == ".tsv" else ",")
        return
    at = text_start(source)
    is_lines = form != ".json"
    for number, text in enumerate(
        source[at:].split("\n") if is_lines else [source[at:]], 1
    ):
        try:
            strict_json(text)
        except (ValueError, RecursionError) as error:
            if not is_lines:
                raise DataError(name, f"is not JSON: {error}") from error
            # A line that cannot be read has no text that was revised; lint reports it.
        else:
            yield from _strings(text, at, number if is_lines else None)
        at += len(text) + 1


def _strings(source: str, offset: int, row: int | None) -> Iterator[FoundText]:
    """Yield the texts of a JSON value, other than keys, with the names of their rows.

    Args:
        source: JSON, which is valid.
        offset: Place of its first character in the file.
        row: Number of the row; None takes the first index of each path, from 1.
    """
    texts: list[_JsonText] = []
    ids: dict[_JsonPath, str] = {}
    for text in _scan_json(source):
        if text.path[-1:] == ("id",):
            ids[text.path[:-1]] = text.value
        if text.is_text:
            texts.append(text)
    # Only now, because an id may come after the texts of its object.
    for text in texts:
        first_index = next(
            (step for step in text.path if isinstance(step, int)), -1
        )
        number = row or first_index + 1
        keys = {"", f"row {number}", str(number)}
        keys.add(ids.get(text.path[:-1], ""))
        pointer = ""
        for step in text.path[:-1]:
            pointer = f"{pointer}/{step}"
            keys.add(pointer)
        names = [step for step in text.path if isinstance(step, str)]
        yield FoundText(
            keys=frozenset(keys),
            field=names[-1] if names else "",
            start=offset + text.start,
            end=offset + text.end,
            value=text.value,
        )


_JsonPath: TypeAlias = tuple[str | int | None, ...]
"""Keys and indices from the outermost value to an inner one."""


class _JsonText(NamedTuple):
    """A text or other plain value of a JSON text, with its place."""

    path: _JsonPath
    start: int
    end: int
    value: str
    is_text: bool


def _scan_json(source: str) -> Iterator[_JsonText]:
    """Yield the plain values of a valid JSON text, without keys."""
    # A scan of tokens, because a parser gives values without their places.
    # There is a step for each open list and object: its index, or its key,
    # which is None where a key is due.
    steps: list[str | int | None] = []
    for token in _JSON.finditer(source):
        symbol = token[0]
        if symbol == "{":
            steps.append(None)
        elif symbol == "[":
            steps.append(0)
        elif symbol in "}]":
            steps.pop()
        elif symbol == ",":
            step = steps[-1]
            steps[-1] = step + 1 if isinstance(step, int) else None
        elif symbol != ":":
            is_text = symbol.startswith('"')
            value = json.loads(symbol) if is_text else symbol
            if steps and steps[-1] is None:
                steps[-1] = value
            else:
                yield _JsonText(tuple(steps), *token.span(), value, is_text)


def _cells(source: str, usual_separator: str) -> Iterator[FoundText]:
    """Yield the cells of a table below its header.

    Args:
        source: The table.
        usual_separator: Separator where the header has several equally often.
    """
    # The separator is the sign that the header has most often. Cells are
    # matched one after the other, because a CSV reader gives no places.
    head = source.split("\n", 1)[0]
    separator = re.escape(
        max((usual_separator, ";", "\t", ","), key=head.count)
    )
    cell = re.compile(
        rf"(\"(?:[^\"]|\"\")*\"|[^{separator}\r\n]*)({separator}|\r?\n|$)"
    )
    header: list[str] = []
    row: list[tuple[int, int, str]] = []
    number = 0
    line = 1
    at = text_start(source)
    while at < len(source):
        match = cell.match(source, at)
        if match is None:
            break
        value = match[1]
        if value.startswith('"'):
            value = value[1:-1].replace('""', '"')
        row.append((*match.span(1), value))
        at = match.end()
        is_row_end = match[2] in ("\n", "\r\n", "")
        if not is_row_end:
            continue
        values = [value for _, _, value in row]
        if header:
            id_by_name = dict(zip(header, values, strict=False))
            keys = {f"row {line}", str(number)}
            if "id" in id_by_name:
                keys.add(id_by_name["id"])
            for name, (start, end, text) in zip(header, row, strict=False):
                yield FoundText(frozenset(keys), name, start, end, text)
        else:
            header = values
        line += source.count("\n", row[0][0], at)
        number += 1
        row = []


def _spliced_archive(
    file: Path, packed_data: bytes, rows: Sequence[AcceptedRow]
) -> bytes:
    """Return a document with accepted texts; all other parts stay equal byte for byte.

    Args:
        file: DOCX, PPTX or EPUB.
        packed_data: Its bytes.
        rows: Accepted rows whose texts differ from those of the document.

    Raises:
        DataError: The document is refused as when it is read, a text is not there once, or another
            text would change.
    """
    name = str(file)
    # Locators of EPUB are PART:LINE, those of DOCX and PPTX PART#ID.
    mark = ":" if file.suffix.lower() == ".epub" else "#"
    by_part = group_by_key(
        ((row.source.locator or "").rpartition(mark)[0], row) for row in rows
    )
    with packed.open_archive(BytesIO(packed_data), name) as archive:
        new_parts = {
            part: _spliced_part(archive, part, part_rows)
            for part, part_rows in by_part.items()
        }
        data = _copied(archive.file, packed_data, new_parts)
    before = packed.pictures(BytesIO(packed_data), name)
    check_read(name, rows, before, packed.pictures(BytesIO(data), name))
    return data


def _spliced_part(
    archive: packed.Archive, part: str, rows: Sequence[AcceptedRow]
) -> bytes:
    name = f"{archive.name}: {part}"
    form = Path(archive.name).suffix.lower()
    if part not in archive.parts:
        raise DataError(
            archive.name, f"has no part {part!r}, which {rows[0].id} names"
        )
    source = decode_utf8(archive.read_part(part), name)
    is_book = form == ".epub"
    texts = defaultdict(list)
    for place, text in (
        _in_book(source, part) if is_book else _in_document(source, part, form)
    ):
        texts[place].append(text)
    new_source = replace_texts(
        name, source, form, rows, lambda row: texts[row.source.locator or ""]
    )
    return new_source.encode("utf-8")


def _in_document(
    source: str, part: str, form: str
) -> Iterator[tuple[str, FoundText]]:
    for tag in _TAGS.finditer(source):
        if tag["tag"] in _TAGS_BY_FORM[form]:
            attribute_by_name = {
                attribute.field: attribute
                for attribute in find_attributes(source, tag.end())
            }
            is_new = tag["tag"] in ("docPr", "cNvPr")
            text = attribute_by_name.get("descr" if is_new else "alt")
            if text and "id" in attribute_by_name:
                # Word has ids of pictures in groups beside those of drawings.
                is_part = form == ".docx" and tag["tag"] == "cNvPr"
                kind = "cNvPr:" if is_part else ""
                yield f"{part}#{kind}{attribute_by_name['id'].value}", text


def _in_book(source: str, page: str) -> Iterator[tuple[str, FoundText]]:
    for occurrence in html.pictures(source.removeprefix(BOM), page):
        place = SourcePlace(
            line=occurrence.line,
            column=occurrence.column,
            text_from=occurrence.text_from,
        )
        yield from (
            (f"{page}:{occurrence.line}", text)
            for text in find_attribute(source, place)
        )


def _copied(
    archive: zipfile.ZipFile, data: bytes, parts: Mapping[str, bytes]
) -> bytes:
    """Return the bytes of an archive with new contents of some parts, in the same order."""
    entries = archive.infolist()
    # Unchanged parts are copied with their packed bytes, and only their
    # offsets change; ``writestr`` packs the changed ones.
    starts = sorted(entry.header_offset for entry in entries)
    next_starts = [*starts[1:], archive.start_dir]
    ends = dict(zip(starts, next_starts, strict=True))
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as copied:
        copied.comment = archive.comment
        for entry in sorted(entries, key=lambda entry: entry.header_offset):
            new_entry = copy(entry)
            if entry.filename in parts:
                copied.writestr(
                    new_entry,
                    parts[entry.filename],
                    compress_type=entry.compress_type,
                )
                new_entry.external_attr = entry.external_attr
                continue
            new_entry.header_offset = out.tell()
            out.write(data[entry.header_offset : ends[entry.header_offset]])
            copied.filelist.append(new_entry)
            copied.NameToInfo[new_entry.filename] = new_entry
            copied.start_dir = out.tell()
        # The directory lists the parts in the order of the old one, which need
        # not be that of their bytes.
        order = {entry.filename: place for place, entry in enumerate(entries)}
        copied.filelist.sort(key=lambda entry: order[entry.filename])
    return out.getvalue()
