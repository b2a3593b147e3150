"""Accepted texts in documents and books: attributes change; other parts are copied as packed."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from io import BytesIO
from pathlib import Path
from typing import Any

from beholder.kinds.revise.places import (
    BOM,
    FoundText,
    attributes,
    changed,
    check_read,
    decoded,
    of_tag,
)
from beholder.lint import html, packed

_TAGS = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<(?P<old>[\w.-]+:)?Fallback\b.*?</(?P=old)?Fallback\s*>"
    r"|<(?:[\w.-]+:)?(?P<tag>docPr|cNvPr|shape)(?=[\s/>])",
    re.S,
)
"""Elements that have alternative texts; comments and what only old programs show are left out."""
_READ = {".docx": ("docPr", "shape"), ".pptx": ("cNvPr",)}


def spliced_archive(file: Path, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A document with accepted texts; all parts without one are equal byte for byte.

    Args:
        file: DOCX, PPTX or EPUB.
        rows: Accepted rows whose texts differ from those of the document.

    Raises:
        DataError: The document is refused as when it is read, a text is not there once, or another
            text would change.
    """
    name = str(file)
    mark = ":" if file.suffix.lower() == ".epub" else "#"
    by_part: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_part[row["meta"]["source"]["locator"].rpartition(mark)[0]].append(row)
    with packed.opened(file, name) as archive:
        made = {part: _spliced(archive, part, own) for part, own in by_part.items()}
        data = _copied(archive.file, file.read_bytes(), made)
    after = packed.pictures(BytesIO(data), name)
    check_read(name, rows, packed.pictures(file, name), after)
    return data


def _spliced(archive: packed.Archive, part: str, rows: Sequence[Mapping[str, Any]]) -> bytes:
    name, form = f"{archive.name}: {part}", Path(archive.name).suffix.lower()
    source = decoded(archive.read(part), name)
    is_book = form == ".epub"
    texts = defaultdict(list)
    for place, text in _in_book(source, part) if is_book else _in_document(source, part, form):
        texts[place].append(text)
    made = changed(name, source, form, rows, lambda where: texts[where["locator"]])
    return made.encode("utf-8")


def _in_document(source: str, part: str, form: str) -> Iterator[tuple[str, FoundText]]:
    for tag in _TAGS.finditer(source):
        if tag["tag"] in _READ[form]:
            found = {one.field: one for one in of_tag(source, tag.end())}
            text = found.get("alt" if tag["tag"] == "shape" else "descr")
            if text and "id" in found:
                yield f"{part}#{found['id'].value}", text


def _in_book(source: str, page: str) -> Iterator[tuple[str, FoundText]]:
    for one in html.pictures(source.removeprefix(BOM), page):
        place = {"line": one.line, "column": one.column, "text_from": one.text_from}
        yield from ((f"{page}:{one.line}", found) for found in attributes(source, place))


def _copied(archive: zipfile.ZipFile, data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The bytes of an archive with other contents of some parts, in its order."""
    entries = archive.infolist()
    starts = sorted(one.header_offset for one in entries)
    ends = dict(zip(starts, [*starts[1:], archive.start_dir], strict=True))
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as copied:
        copied.comment = archive.comment
        for one in sorted(entries, key=lambda one: one.header_offset):
            new = copy(one)
            if one.filename in parts:
                copied.writestr(new, parts[one.filename], compress_type=one.compress_type)
                new.external_attr = one.external_attr
                continue
            new.header_offset = out.tell()
            out.write(data[one.header_offset : ends[one.header_offset]])
            copied.filelist.append(new)
            copied.NameToInfo[new.filename] = new
            copied.start_dir = out.tell()
        order = {one.filename: place for place, one in enumerate(entries)}
        copied.filelist.sort(key=lambda one: order[one.filename])
    return out.getvalue()
