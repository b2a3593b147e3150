"""Where rows come from: files by their ending, standard input, folders, the Hugging Face hub."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from beholder import spec
from beholder.data.coco import annotation_rows, is_annotations
from beholder.data.film import video_beside
from beholder.data.folders import sidecar_rows
from beholder.data.iiif import canvas_rows, is_manifest
from beholder.data.lines import Row, lines, strict_json
from beholder.data.packed import PACKED, opened
from beholder.data.subtitles import cues, subtitle_row
from beholder.data.tables import read_csv, read_parquet
from beholder.errors import DataError
from beholder.files import check_name
from beholder.optional import require

MAX_JSON_BYTES = 256 * 2**20
"""Longest .json file: unlike the other formats it is read as a whole."""

_HUB = "hf:"


def read_rows(source: str | Path, name: str, said: str | None = None) -> Iterator[Row]:
    """Rows of a data set with their numbers, unchecked.

    Args:
        source: As ``read_items`` takes it.
        name: What messages call it.
        said: The column of tables that holds the candidate, where it has a name of its own: an
            empty cell of it is an empty text.

    Raises:
        ConfigError: Its name is not UTF-8.
        DataError: The file as a whole cannot be read.
    """
    check_name(source)
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
        yield from read_parquet(source, name)
    elif kind in _TABLES:
        with opened(source, name, packed) as stream:
            yield from read_csv(stream, name, _TABLES[kind], said)
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
    for number, line in lines(stream, name):
        if number == 1 and isinstance(line, str) and line.strip() in ("[", "{"):
            raise DataError(
                name, "is one JSON value over several lines, and not a row a line: call it .json"
            )
        if isinstance(line, DataError):
            yield number, line
        elif line.strip():
            try:
                yield number, strict_json(line)
            except (ValueError, RecursionError) as error:
                reason = f"is not JSON: {error}"
                yield number, DataError(name, reason, line=number)


def _json(stream: IO[bytes], name: str) -> Iterator[Row]:
    """The rows of one JSON value: a list, the list ``data`` of an object, or a published form."""
    whole = stream.read(MAX_JSON_BYTES + 1)
    if len(whole) > MAX_JSON_BYTES:
        raise DataError(name, f"is longer than {MAX_JSON_BYTES >> 20} MiB; write it as .jsonl")
    try:
        found = strict_json(whole.decode("utf-8-sig"))
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


def _subtitles(stream: IO[bytes], name: str) -> Iterator[Row]:
    texts = []
    for _, line in lines(stream, name):
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
