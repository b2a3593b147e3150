"""Sources of rows: files by their ending, standard input, folders, the Hugging Face hub.

WebVTT and SRT are lists of cues: a line ``START --> END`` and the text below it. In WebVTT a blank
line ends a cue; in SRT the text continues after one, up to the next cue. Markup in angle brackets,
voices and positions are left out, and so are notes, styles and regions of WebVTT. Character
references such as ``&amp;`` are decoded. The reader is our own: ``webvtt-py`` 0.6 does not decode
character references, refuses SRT without cue numbers, and skips cues whose times it cannot read.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from beholder.base import spec
from beholder.base.files import check_name
from beholder.base.optional import require
from beholder.data.folders import sidecar_rows
from beholder.data.json_forms import parse_rows, rows_of
from beholder.data.lines import (
    PACKED,
    Row,
    lines,
    opened,
    read_jsonl,
    with_line_feeds,
)
from beholder.data.reading import RowReading
from beholder.data.row import RowError, shorten
from beholder.data.tables import (
    SPREADSHEETS,
    read_csv,
    read_parquet,
    read_spreadsheet,
)
from beholder.errors import DataError, ItemError
from beholder.media import MAX_PIXELS, inside, video
from beholder.options import Frames
from beholder.records import Item

_STAMP = r"((?:\d+:)?\d+:\d+(?:[.,]\d+)?)"
_TIMES = re.compile(rf"\s*{_STAMP}\s*-->\s*{_STAMP}")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_REFERENCE = re.compile(
    r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)
_NO_CUES = re.compile(r"NOTE(?:\s|$)|(?:STYLE|REGION)\s*$")


@dataclass(frozen=True)
class Cue:
    """A part of a timed text.

    Attributes:
        start: Seconds from the beginning.
        end: Seconds, after ``start``.
        text: Text of the cue, in one line.
    """

    start: float
    end: float
    text: str


def cues(lines: Iterable[str], name: str) -> list[Cue]:
    """Parse the cues of a WebVTT or SRT file, in its order, without empty ones.

    Raises:
        DataError: The file has no cues, or one has unreadable times or ends before it begins.
    """
    parsed_cues = []
    for times, texts in _timed(lines, name):
        start, end = (_seconds(stamp) for stamp in times.groups())
        # A cue without length is odd, but has its text.
        if end < start:
            raise DataError(
                name, f"a cue ends before it begins: {times.string.strip()}"
            )
        text = _REFERENCE.sub(
            lambda reference: html.unescape(reference[0]),
            _MARKUP.sub("", " ".join(texts)),
        )
        if text.strip():
            parsed_cues.append(Cue(start, end, " ".join(text.split())))
    if not parsed_cues:
        raise DataError(
            name,
            "has no cues: expected lines START --> END with text below them",
        )
    return parsed_cues


def _timed(
    lines: Iterable[str], name: str
) -> list[tuple[re.Match[str], list[str]]]:
    """Return the match of the times of each cue, and the lines of its text."""
    webvtt = ".vtt" in Path(name).suffixes
    cue_lines: list[tuple[re.Match[str], list[str]]] = []
    # Whether the block before is one number: that of the next cue, or text of the last.
    is_lone_number = False
    # Blocks are lines between blank lines. In SRT a text may have blank lines,
    # so a block without times belongs to the cue before it.
    for block in _blocks(lines):
        if webvtt and _NO_CUES.match(block[0]):
            continue
        times_by_place = enumerate(map(_TIMES.match, block))
        timed = [(place, times) for place, times in times_by_place if times]
        if not timed and any("-->" in line for line in block[:2]):
            raise DataError(
                name,
                f"cannot read the times of a cue: {shorten(' '.join(block[:2]))}",
            )
        if cue_lines and not webvtt:
            # The number before the times is that of this cue, not text of the
            # last.
            if is_lone_number and timed and timed[0][0] == 0:
                cue_lines[-1][1].pop()
            cue_lines[-1][1].extend(
                block[: max(timed[0][0] - 1, 0)] if timed else block
            )
            is_lone_number = len(block) == 1 and _is_number(block[0])
        ends = [*(place for place, _ in timed[1:]), len(block)]
        for (place, times), end in zip(timed, ends, strict=False):
            texts = block[place + 1 : end]
            if (
                not webvtt
                and end < len(block)
                and texts
                and _is_number(texts[-1])
            ):
                texts.pop()
            cue_lines.append((times, texts))
    return cue_lines


def _is_number(line: str) -> bool:
    return line.strip().isdecimal()


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    for is_filled, block in groupby(
        lines, key=lambda line: bool(line.strip())
    ):
        if is_filled:
            yield [line.rstrip("\r\n") for line in block]


def _seconds(stamp: str) -> float:
    total = 0.0
    for part in stamp.replace(",", ".").split(":"):
        total = 60 * total + float(part)
    return total


MAX_JSON_BYTES = 256 * 2**20
"""Longest .json file: unlike the other formats it is read as a whole."""

_HUB = "hf:"


def read_rows(
    source: str | Path, name: str, reading: RowReading | None = None
) -> Iterator[Row]:
    """Yield the rows of a data set with their numbers, unchecked.

    Args:
        source: As ``read_items`` takes it.
        name: Name of the data in messages.
        reading: The columns that the user named, and what receives notes; None for neither.

    Raises:
        ConfigError: Its name is not UTF-8.
        DataError: The file as a whole cannot be read.
    """
    reading = reading or RowReading()
    check_name(source)
    if str(source) == "-":
        yield from read_jsonl(sys.stdin.buffer, name)
        return
    if str(source).startswith(_HUB):
        yield from _hub(name)
        return
    path = Path(source)
    if path.is_dir():
        yield from sidecar_rows(path, name, reading)
        return
    # ``a.csv.gz`` is a table that is packed: the last ending says how, the one
    # before says what.
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in PACKED else None
    kind = suffixes[-1] if suffixes else ""
    if kind == ".parquet" and packed is None:
        yield from read_parquet(source, name)
    elif kind in SPREADSHEETS and packed is None:
        yield from read_spreadsheet(source, name, reading)
    elif kind in _TABLES:
        with opened(source, name, packed) as stream:
            yield from read_csv(stream, name, _TABLES[kind], reading)
    elif kind in _TEXT_FORMATS:
        with opened(source, name, packed) as stream:
            yield from _TEXT_FORMATS[kind](stream, name, reading)
    else:
        raise DataError(
            name,
            "its ending names no known format: expected .jsonl, .json, .csv, .tsv, .vtt, .srt or"
            " .txt (also .gz, .xz), .xlsx, .ods, .parquet, or a folder of pictures",
        )


def _hub(name: str) -> Iterator[Row]:
    datasets = require(
        "datasets", extra="datasets", purpose=f"the data set {name!r}"
    )
    hub_spec = spec.parse_spec(name)
    if hub_spec.options:
        raise DataError(
            name, "takes no options: write hf:NAME or hf:NAME@SPLIT"
        )
    repository, _, split = (hub_spec.argument or "").partition("@")
    try:
        rows = datasets.load_dataset(
            repository, split=split or "test", streaming=True
        )
    except (OSError, ValueError) as error:
        raise DataError(
            name, f"cannot be fetched; is there such a split? {error}"
        ) from error
    features = rows.features or {}
    # Pictures and sounds are not decoded: only texts are read, and decoding
    # needs further packages.
    media = [
        column
        for column, feature in features.items()
        if type(feature).__name__ in ("Image", "Audio", "Video")
    ]
    yield from enumerate(rows.remove_columns(media), start=1)


def _json(stream: IO[bytes], name: str, reading: RowReading) -> Iterator[Row]:
    """Yield the rows of a JSON value, an IIIF manifest, or JSON Lines under that name."""
    data = stream.read(MAX_JSON_BYTES + 1)
    if len(data) > MAX_JSON_BYTES:
        raise DataError(
            name,
            f"is longer than {MAX_JSON_BYTES >> 20} MiB; write it as .jsonl",
        )
    value = parse_rows(data, name)
    is_manifest = isinstance(
        value, Mapping
    ) and "iiif.io/api/presentation" in str(value.get("@context"))
    rows = (
        canvas_rows(value, name)
        if is_manifest
        else rows_of(value, name, reading)
    )
    yield from enumerate(rows, start=1)


def _jsonl(stream: IO[bytes], name: str, reading: RowReading) -> Iterator[Row]:
    return read_jsonl(stream, name)


def _text_lines(
    stream: IO[bytes], name: str, reading: RowReading
) -> Iterator[Row]:
    """Yield a row per line, whose id is its number; an empty line is an empty text.

    Raises:
        DataError: The lines are cells, separated by tabs.
    """
    n_blank = 0
    for number, line in lines(with_line_feeds(stream), name):
        if isinstance(line, DataError):
            yield number, line
            continue
        if number == 1 and "\t" in line.strip():
            raise DataError(
                name,
                "has cells that are separated by tabs, and not a text a line: call it .tsv, with a"
                " first line of headings",
            )
        # Blank lines at the end are no texts.
        if not line.strip():
            n_blank += 1
            continue
        for before in range(number - n_blank, number):
            yield before, {"id": str(before), "candidate": ""}
        n_blank = 0
        yield number, {"id": str(number), "candidate": line.strip()}


def _subtitles(
    stream: IO[bytes], name: str, reading: RowReading
) -> Iterator[Row]:
    texts = []
    for _, line in lines(stream, name):
        if isinstance(line, DataError):
            raise line
        texts.append(line)
    parsed_cues, file = cues(texts, name), Path(name)
    stem = file.name.partition(".")[0]
    row = {
        "id": stem,
        "candidate": " ".join(cue.text for cue in parsed_cues),
        "meta": {
            "cues": [[cue.start, cue.end, cue.text] for cue in parsed_cues]
        },
    }
    films = (f"{stem}{ending}" for ending in video.ENDINGS)
    film_files = [
        film for film in films if (file.parent / film).is_file()
    ]  # film.mp4: film.en.vtt
    yield 1, {**row, "video": film_files[0]} if film_files else row


_TEXT_FORMATS: dict[
    str, Callable[[IO[bytes], str, RowReading], Iterator[Row]]
] = {
    ".json": _json,
    ".jsonl": _jsonl,
    ".jsonlines": _jsonl,
    ".ndjson": _jsonl,
    ".txt": _text_lines,
    ".vtt": _subtitles,
    ".srt": _subtitles,
}
_TABLES = {".csv": ",", ".tsv": "\t"}

TABLE_ENDINGS = (
    ".csv",
    ".tsv",
    ".jsonl",
    ".jsonlines",
    ".ndjson",
    ".json",
    ".parquet",
    *SPREADSHEETS,
)
"""Endings of files with a row per picture."""


def canvas_rows(
    manifest: Mapping[str, Any], name: str
) -> Iterator[dict[str, object]]:
    """Yield a row per canvas of an IIIF manifest, in order.

    Raises:
        DataError: The value does not have canvases where the specification puts them.
    """
    try:
        # Version 3 has ``items``, version 2 ``sequences`` of canvases.
        canvases = list(
            manifest["items"]
            if "items" in manifest
            else (
                canvas
                for sequence in manifest["sequences"]
                for canvas in sequence["canvases"]
            )
        )
        for canvas in canvases:
            row: dict[str, Any] = {"id": canvas.get("id") or canvas["@id"]}
            row["candidate"] = _describe_canvas(canvas)
            row["images"] = _pictures(canvas)
            yield row
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name,
            f"is not an IIIF manifest that can be read ({type(error).__name__}: {error})",
        ) from error


def _describe_canvas(canvas: Mapping[str, Any]) -> str:
    fields = ("summary", "description", "label")
    return next(
        filter(None, (_text(canvas.get(field)) for field in fields)), ""
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):  # version 2: texts, or objects with @value
        return next(filter(None, map(_text, value)), "")
    if isinstance(value, Mapping):
        if "@value" in value:
            texts = value["@value"]
            if isinstance(texts, list):
                return " ".join(
                    text for text in texts if isinstance(text, str)
                )
            return _text(texts)
        for language in ("en", "none", *value):
            texts = value.get(language)
            if texts:  # a list of texts; a text alone is no list of letters
                return (
                    texts
                    if isinstance(texts, str)
                    else " ".join(
                        text for text in texts if isinstance(text, str)
                    )
                )
    return ""


def _pictures(canvas: Mapping[str, Any]) -> list[str]:
    if "images" in canvas:  # version 2
        return [image["resource"]["@id"] for image in canvas["images"]]
    bodies = [
        annotation["body"]
        for page in canvas.get("items", ())
        for annotation in page["items"]
    ]
    return [body["id"] for body in bodies if body.get("type") == "Image"]


def with_frames(item: Item, frames: Frames, root: Path) -> Item:
    """Return an item with pictures of its video by time; unchanged with pictures or without video.

    Args:
        item: The item.
        frames: How many, in the middle of as many equal parts of the video; or ``cues``: one in the
            middle of each cue of ``meta["cues"]``, as ``.vtt`` and ``.srt`` give them; or ``film``:
            all of the video, at a frame a second, for judges that take films.
        root: Folder that the name of the video is relative to.

    Raises:
        RowError: The video cannot be read, or the row has no cues.
    """
    if item.images or item.video is None:
        return item
    if frames == "cues":
        cue_times = item.meta.get("cues")
        if not cue_times:
            raise RowError(
                "has no cues in meta, as .vtt and .srt give them; --frames N takes pictures evenly"
            )
        times = [(start + end) / 2 for start, end, _ in cue_times]
    else:
        try:
            length = video.duration(
                inside(root, item.video), max_pixels=MAX_PIXELS
            )
        except ItemError as error:
            raise RowError(str(error), "video") from error
        if frames == "film":
            return replace(item, images=(f"{item.video}#t=0,{length:.3f}",))
        # The middle of each part, so never the first or last picture.
        times = [length * (2 * n + 1) / (2 * frames) for n in range(frames)]
    names = (
        f"{item.video}#t={time:.3f}".rstrip("0").rstrip(".") for time in times
    )
    return replace(item, images=tuple(names))
