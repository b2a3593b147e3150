"""Sources of rows: files by their ending, standard input, folders, the Hugging Face hub."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from beholder.base import spec
from beholder.base.files import check_name
from beholder.base.optional import require
from beholder.data import iiif
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
from beholder.data.row import RowError
from beholder.data.subtitles import cues, cues_in_meta, join_cues
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
from beholder.text.languages import base_language

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
    is_manifest = isinstance(value, Mapping) and bool(iiif.read_kind(value))
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
    """Yield a bad row for each cue that cannot be read, then the row of the others."""
    texts = []
    for _, line in lines(stream, name):
        if isinstance(line, DataError):
            raise line
        texts.append(line)
    parsed_cues = []
    for cue in cues(texts, name):
        if isinstance(cue, DataError):
            yield cue.line or 1, cue
        else:
            parsed_cues.append(cue)
    file = Path(name)
    stem = file.name.partition(".")[0]
    candidate, n_repeats = join_cues(parsed_cues)
    meta: dict[str, Any] = {
        "cues": [[cue.start, cue.end, cue.text] for cue in parsed_cues]
    }
    # Said in the row, because its text is not that of the cues one by one.
    if n_repeats:
        meta["repeated_cues"] = n_repeats
    row = {"id": stem, "candidate": candidate, "meta": meta}
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
) -> Iterator[dict[str, object] | DataError]:
    """Yield a row per canvas of an IIIF manifest or collection, in order.

    Yields:
        A row, or an error (not raised) for manifests that a collection only links.

    Raises:
        DataError: There is no canvas.
    """
    canvases = list(iiif.find_canvases(manifest))
    if not canvases:
        raise DataError(name, iiif.explain_emptiness(manifest))
    for at, canvas in canvases:
        row: dict[str, Any] = {
            "id": iiif.first_of(canvas, "id", "@id") or at,
            "candidate": _describe_canvas(canvas),
            "images": [
                picture.addresses[0] for picture in iiif.find_pictures(canvas)
            ],
        }
        yield row
    if n_links := iiif.count_links(manifest):
        yield DataError(name, iiif.explain_links(n_links))


def _describe_canvas(canvas: Mapping[str, Any]) -> str:
    for field in ("summary", "description", "label"):
        texts = iiif.language_map(canvas.get(field))
        # English first, then texts without a language, then the first one.
        tags = sorted(
            texts, key=lambda tag: (base_language(tag) != "en", tag != "")
        )
        if tags and (text := " ".join(texts[tags[0]]).strip()):
            return text
    return ""


def with_frames(item: Item, frames: Frames, root: Path) -> Item:
    """Return an item with pictures of its video by time; unchanged with pictures or without video.

    Args:
        item: The item.
        frames: Number of frames, in the middle of equal parts of the video; or ``cues``: one in the
            middle of each cue of ``meta["cues"]``, as ``.vtt`` and ``.srt`` give them; or ``film``:
            all of the video, at a frame a second, for judges that take films.
        root: Folder that the name of the video is relative to.

    Raises:
        RowError: The video cannot be read, or the row has no cues.
    """
    if item.images or item.video is None:
        return item
    if frames == "cues":
        item_cues = cues_in_meta(item.meta)
        if not item_cues:
            raise RowError(
                "has no cues in meta, as .vtt and .srt give them; --frames N takes pictures evenly"
            )
        times = [(cue.start + cue.end) / 2 for cue in item_cues]
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
