"""Find texts in a source, and replace them."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

from beholder.errors import DataError
from beholder.lint.attributes import ATTRIBUTE, unquote_value
from beholder.lint.occurrence import Occurrence
from beholder.lint.wording import norm

BOM = "\ufeff"
_IMAGE = re.compile(r"!\[((?:[^\[\]\\]|\\.)*)\]", re.S)


Number = Annotated[int, Meta(ge=1, le=2**31)]


class SourcePlace(Struct, frozen=True, kw_only=True):
    """Place of a row's text in its source.

    Attributes:
        file: The source; empty if it is not known.
        digest: SHA-256 of its bytes when it was read.
        line: 1-based line or row, or None.
        column: 1-based column in code points, or None.
        locator: Place in the form of the file, such as a JSON pointer or a part.
        text_from: Attribute or field that has the text.
    """

    file: str = ""
    digest: str = ""
    line: Number | None = None
    column: Number | None = None
    locator: str | None = None
    text_from: str | None = None


class Revision(Struct, frozen=True):
    """The former text of a proposal."""

    text: str


class RowMeta(Struct, frozen=True):
    """Source and former text of a row."""

    source: SourcePlace = field(default_factory=SourcePlace)
    revision: Revision | None = None


class AcceptedRow(Struct, frozen=True):
    """A row of ``beholder annotate export`` about a proposal.

    Attributes:
        id: Id of the row.
        candidate: The final text.
        decision: Decision of people, such as accept, edit or refuse.
        meta: Source and former text.
    """

    id: str
    candidate: str = ""
    decision: str | None = None
    meta: RowMeta = field(default_factory=RowMeta)

    @property
    def source(self) -> SourcePlace:
        """Place of the text in its source."""
        return self.meta.source

    @property
    def former(self) -> str:
        """The text before its revision; empty if the row has no revision."""
        return self.meta.revision.text if self.meta.revision else ""


class FoundText(NamedTuple):
    """A text of a file.

    Attributes:
        keys: Names of its row, as ids and places may give it.
        field: Column, key or attribute.
        start: Its first character, with quotation marks.
        end: One past its last.
        value: The text, without quotation marks and escapes.
    """

    keys: frozenset[str]
    field: str
    start: int
    end: int
    value: str


def decode_utf8(data: bytes, name: str) -> str:
    """Decode a file or part.

    Raises:
        DataError: The bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            name, f"is not UTF-8 ({error}); save it as UTF-8"
        ) from error


def replace_texts(
    name: str,
    source: str,
    form: str,
    rows: Sequence[AcceptedRow],
    find: Callable[[AcceptedRow], Iterable[FoundText]],
) -> str:
    """Return a source with the texts of rows replaced by their candidates.

    Args:
        name: The source, for messages.
        source: Its text.
        form: Ending of its file.
        rows: Accepted rows.
        find: The texts that may be at the place that a row names.

    Raises:
        DataError: The text of a row is not there once.
    """
    # Every row must match one text, and no two places may overlap.
    places: list[tuple[int, int, str]] = []
    for row in rows:
        matches = [
            text for text in find(row) if norm(text.value) == norm(row.former)
        ]
        if len(matches) != 1:
            raise DataError(
                name,
                f"the text of {row.id} occurs {len(matches)} times, expected once; correct it"
                " by hand and refuse its proposal",
            )
        start = matches[0].start
        end = matches[0].end
        quote = source[start : start + 1]  # empty for an empty cell at the end
        places.append((start, end, _written(row.candidate, form, quote)))
    places.sort()
    for (_, end, _), (start, _, _) in pairwise(places):
        if start < end:
            raise DataError(
                name, "two rows have the same place; leave one of them"
            )
    # From the end, so that earlier places stay valid.
    for start, end, new_text in reversed(places):
        source = source[:start] + new_text + source[end:]
    return source


def check_read(
    name: str,
    rows: Sequence[AcceptedRow],
    before: Iterable[Occurrence],
    after: Iterable[Occurrence],
) -> None:
    """Check that the texts after a change are those that were accepted.

    Raises:
        DataError: Other texts than those of the rows would change.
    """
    olds = Counter(norm(row.former) for row in rows)
    news = Counter(norm(row.candidate) for row in rows)
    texts_before = Counter(occurrence.text for occurrence in before)
    texts_after = Counter(occurrence.text for occurrence in after)
    if texts_after != texts_before - olds + news:
        raise DataError(
            name,
            "would not read as accepted after writing; correct it by hand",
        )


def _written(text: str, form: str, quote: str) -> str:
    if quote == "!":
        return "![" + re.sub(r"([\\\[\]*_`<&])", r"\\\1", text) + "]"
    # An attribute of HTML or XML; an unquoted one gets quotation marks.
    if form not in (".csv", ".tsv", ".json", ".jsonl", ".ndjson"):
        quote = quote if quote in "\"'" else '"'
        return f"{quote}{html.escape(text, quote=False).replace(quote, f'&#{ord(quote)};')}{quote}"
    if form in (".csv", ".tsv"):
        needs_quotes = quote == '"' or re.search(r"[\",;\t\r\n]", text)
        return '"' + text.replace('"', '""') + '"' if needs_quotes else text
    return json.dumps(text, ensure_ascii=False)


def find_attribute(source: str, where: SourcePlace) -> list[FoundText]:
    """Return the attribute, or the text of a Markdown picture, at a line and column.

    The list is empty if the place has none.
    """
    starts = _line_starts(source)
    if where.line is None or where.column is None or where.line > len(starts):
        return []
    start = text_start(source) + starts[where.line - 1] + where.column - 1
    image = _IMAGE.match(source, start)
    if image:
        value = html.unescape(re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", image[1]))
        return [FoundText(frozenset(), "alt", *image.span(), value)]
    tag = re.compile(r"<[^\s/>]+").match(source, start)
    attributes_of_tag = find_attributes(source, tag.end()) if tag else []
    return [
        attribute
        for attribute in attributes_of_tag
        if attribute.field.lower() == where.text_from
    ][:1]


def text_start(source: str) -> int:
    """Return the place of the first character after a byte order mark."""
    return len(BOM) if source.startswith(BOM) else 0


@lru_cache(maxsize=2)
def _line_starts(source: str) -> list[int]:
    """Return the place of the first character of each line, without a byte order mark."""
    text = source.removeprefix(BOM)
    line_feeds = re.finditer("\n", text)
    return [0, *(line_feed.end() for line_feed in line_feeds)]


def find_attributes(source: str, at: int) -> list[FoundText]:
    """Return the attributes with a value of the tag whose name ends at a place."""
    attribute_texts = []
    while match := ATTRIBUTE.match(source, at):
        at = match.end()
        if match[2]:
            value = unquote_value(match[2])
            attribute_texts.append(
                FoundText(frozenset(), match[1], *match.span(2), value)
            )
    return attribute_texts
