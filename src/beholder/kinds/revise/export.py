"""Accepted texts in the form that was read: only the changed texts differ, byte for byte."""

from __future__ import annotations

import html
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from beholder.errors import ConfigError, DataError
from beholder.files import write_bytes
from beholder.kinds.revise.engine import digest
from beholder.lint.sources import READERS
from beholder.lint.wording import norm

FORMS = (*READERS, ".csv", ".tsv", ".json", ".jsonl", ".ndjson")
"""Endings of files that can be written."""

_ATTRIBUTE = re.compile(r"[\s/]+([^\s=>/\"']+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"']+))?")
_JSON = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[\[\]{},:]|[^\s\[\]{},:\"]+")
_IMAGE = re.compile(r"!\[((?:[^\[\]\\]|\\.)*)\]", re.S)
_BOM = "\ufeff"


class FoundText(NamedTuple):
    """A text of a file.

    Attributes:
        keys: Names of its row, as ids and places may give it.
        field: Column, key or attribute.
        start: Its first character, with quotation marks.
        end: One past its last.
        value: What it says.
    """

    keys: frozenset[str]
    field: str
    start: int
    end: int
    value: str


def write_accepted(accepted: Path, out: Path) -> int:
    """Write the accepted texts beside their source; the source itself is never written.

    Args:
        accepted: Rows with ``decision``, as ``beholder annotate export`` writes them.
        out: File, or folder if the rows come from several files.

    Returns:
        How many texts were changed.

    Raises:
        ConfigError: ``out`` is the source, or no row says where its text comes from.
        DataError: A source changed since it was read, or a text is not found in it once.
    """
    rows = [json.loads(line) for line in accepted.read_text("utf-8").splitlines() if line.strip()]
    by_file: dict[Path, list[Mapping[str, Any]]] = {}
    for row in rows:
        if file := row.get("meta", {}).get("source", {}).get("file"):
            by_file.setdefault(Path(file), []).append(row)
    if not by_file:
        raise ConfigError(
            f"{accepted}: no row names the file that its text comes from; the final texts are its"
            " candidates"
        )
    for file in by_file:
        check_form(file)
    top = Path(os.path.commonpath([file.parent for file in by_file]))
    n = 0
    made: dict[Path, bytes] = {}
    for file, own in by_file.items():
        target = out if len(by_file) == 1 else out / file.relative_to(top)
        if target.resolve() == file.resolve():
            raise ConfigError(
                f"--write {out} would write over the source {file}; name another file"
            )
        if digest(file) != own[0]["meta"]["source"]["digest"]:
            raise DataError(
                str(file), "changed since its texts were read; run beholder revise again"
            )
        changed = [
            row
            for row in own
            if row.get("decision") in ("accept", "edit")
            and row["candidate"] != row["meta"]["revision"]["text"]
        ]
        made[target] = _spliced(file, changed)
        n += len(changed)
    for target, data in made.items():
        write_bytes(target, data)
    return n


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


def _spliced(file: Path, rows: Sequence[Mapping[str, Any]]) -> bytes:
    form = file.suffix.lower()
    try:
        source = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(str(file), f"is not UTF-8 ({error}); save it as UTF-8") from error
    before = source
    places: list[tuple[int, int, str]] = []
    all_found = [] if form in READERS else list(_texts(source, form))
    for row in rows:
        where, old = row["meta"]["source"], norm(row["meta"]["revision"]["text"])
        if form in READERS:
            found = _attributes(source, where)
        else:
            known = {str(where.get("locator") or row["id"]), f"row {where.get('line')}"}
            found = [
                one
                for one in all_found
                if one.keys & known and (not where.get("line") or where["text_from"] == one.field)
            ]
        found = [one for one in found if norm(one.value) == old]
        if len(found) != 1:
            raise DataError(
                str(file),
                f"the text of {row['id']} is there {len(found)} times, expected once; correct it"
                " by hand and refuse its proposal",
            )
        quote = source[found[0].start]
        places.append((found[0].start, found[0].end, _written(row["candidate"], form, quote)))
    for start, end, new in sorted(places, reverse=True):
        source = source[:start] + new + source[end:]
    if form in READERS:
        olds = Counter(norm(row["meta"]["revision"]["text"]) for row in rows)
        news = Counter(norm(row["candidate"]) for row in rows)
        read, again = (
            Counter(one.text for one in READERS[form](text, "")) for text in (before, source)
        )
        if again != read - olds + news:
            raise DataError(
                str(file), "would not read as accepted after writing; correct it by hand"
            )
    return source.encode("utf-8")


def _written(text: str, form: str, quote: str) -> str:
    if quote == "!":
        return "![" + re.sub(r"([\\\[\]*_`<&])", r"\\\1", text) + "]"
    if form in READERS:
        quote = quote if quote in "\"'" else '"'
        return f"{quote}{html.escape(text, quote=False).replace(quote, f'&#{ord(quote)};')}{quote}"
    if form in (".csv", ".tsv"):
        needed = quote == '"' or re.search(r"[\",;\t\r\n]", text)
        return '"' + text.replace('"', '""') + '"' if needed else text
    return json.dumps(text, ensure_ascii=False)


def _attributes(source: str, where: Mapping[str, Any]) -> list[FoundText]:
    """The attribute of the element, or the picture of Markdown, at a line and column."""
    lines = source.removeprefix(_BOM).split("\n")
    if not where.get("line") or not where.get("column"):
        return []
    start = len(_BOM) * source.startswith(_BOM) + where["column"] - 1
    start += sum(len(line) + 1 for line in lines[: where["line"] - 1])
    if image := _IMAGE.match(source, start):
        value = html.unescape(re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", image[1]))
        return [FoundText(frozenset(), "alt", *image.span(), value)]
    tag = re.compile(r"<[^\s/>]+").match(source, start)
    at = tag.end() if tag else len(source)
    while match := _ATTRIBUTE.match(source, at):
        at = match.end()
        if match[1].lower() == where["text_from"] and match[2]:
            value = match[2][1:-1] if match[2][0] in "\"'" else match[2]
            return [FoundText(frozenset(), match[1], *match.span(2), html.unescape(value))]
    return []


def _texts(source: str, form: str) -> Iterator[FoundText]:
    """The texts of a table or of JSON, with the names of their rows."""
    if form in (".csv", ".tsv"):
        yield from _cells(source, "\t" if form == ".tsv" else ",")
    elif form == ".json":
        yield from _strings(source, 0, None)
    else:
        at = 0
        for number, line in enumerate(source.split("\n"), 1):
            yield from _strings(line, at, number)
            at += len(line) + 1


def _strings(source: str, offset: int, row: int | None) -> Iterator[FoundText]:
    """The texts of a JSON value with their paths; keys are none."""
    levels: list[list[Any]] = []
    found: list[tuple[list[Any], int, int, str]] = []
    ids: dict[tuple[Any, ...], str] = {}
    for token in _JSON.finditer(source):
        said = token[0]
        if said in "{[":
            levels.append([said, 0 if said == "[" else None])
        elif said in "}]":
            levels.pop()
        elif said == ",":
            levels[-1][1] = levels[-1][1] + 1 if levels[-1][0] == "[" else None
        elif said != ":":
            value = json.loads(said) if said[0] == '"' else said
            if levels and levels[-1] == ["{", None]:
                levels[-1][1] = value
                continue
            path = [level[1] for level in levels]
            if path[-1:] == ["id"]:
                ids[tuple(path[:-1])] = value
            if said[0] == '"':
                found.append((path, token.start(), token.end(), value))
    for path, start, end, value in found:
        number = row or next((key + 1 for key in path if isinstance(key, int)), 0)
        above = ["", *(f"/{'/'.join(map(str, path[:n]))}" for n in range(1, len(path)))]
        keys = {f"row {number}", str(number), *above, ids.get(tuple(path[:-1]), "")}
        name = next((str(key) for key in reversed(path) if isinstance(key, str)), "")
        yield FoundText(frozenset(keys), name, offset + start, offset + end, value)


def _cells(source: str, usual: str) -> Iterator[FoundText]:
    """The cells of a table below its header."""
    head = source.split("\n", 1)[0]
    separator = re.escape(max((usual, ";", "\t", ","), key=head.count))
    cell = re.compile(rf"(\"(?:[^\"]|\"\")*\"|[^{separator}\r\n]*)({separator}|\r?\n|$)")
    header: list[str] = []
    row: list[tuple[int, int, str]] = []
    number, at, line = 0, len(_BOM) * source.startswith(_BOM), 1
    while at < len(source) and (match := cell.match(source, at)):
        quoted = match[1][:1] == '"'
        value = match[1][1:-1].replace('""', '"') if quoted else match[1]
        row.append((*match.span(1), value))
        at = match.end()
        if match[2] in ("\n", "\r\n", ""):
            values = [one[2] for one in row]
            if header:
                keys = {f"row {line}", str(number)}
                keys |= {v for name, v in zip(header, values, strict=False) if name == "id"}
                for name, (start, end, said) in zip(header, row, strict=False):
                    yield FoundText(frozenset(keys), name, start, end, said)
            header = header or values
            line += source.count("\n", row[0][0], at)
            number, row = number + 1, []
