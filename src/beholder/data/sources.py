"""Where rows come from: files by their ending, standard input, folders, the Hugging Face hub."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from beholder import spec
from beholder.data.folders import sidecar_rows
from beholder.data.lines import PACKED, Row, lines, opened, strict_json
from beholder.data.row import RowError
from beholder.data.subtitles import cues, subtitle_row
from beholder.data.tables import read_csv, read_parquet
from beholder.errors import DataError, ItemError
from beholder.files import check_name
from beholder.media import MAX_PIXELS, inside, video
from beholder.optional import require
from beholder.options import Frames
from beholder.records import Item

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
            "is a spreadsheet: save it as CSV"
            if kind in (".xlsx", ".xls", ".ods")
            else "its ending names no known format: expected .jsonl, .json, .csv, .tsv, .vtt or"
            " .srt (also .gz, .xz), .parquet, or a folder of pictures",
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


def is_annotations(found: object) -> bool:
    """Whether a JSON value is a file of annotations."""
    return isinstance(found, Mapping) and {"images", "annotations"} <= set(found)


def annotation_rows(found: Mapping[str, Any], name: str) -> Iterator[dict[str, object]]:
    """A row per picture that has captions, in the order of pictures.

    Raises:
        DataError: It has another form, or a caption of a picture that is not listed.
    """
    try:
        files = {picture["id"]: picture.get("file_name") for picture in found["images"]}
        captions: dict[Any, list[str]] = {number: [] for number in files}
        for annotation in found["annotations"]:
            captions[annotation["image_id"]].append(annotation["caption"])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name,
            f"is no file of COCO captions ({type(error).__name__}: {error}): expected images with"
            " id and annotations with image_id and caption",
        ) from error
    for number, texts in captions.items():
        if texts:
            row = {"id": number, "references": texts}
            yield row if files[number] is None else {**row, "images": [files[number]]}


def is_manifest(found: object) -> bool:
    """Whether a JSON value is a manifest."""
    return isinstance(found, Mapping) and "iiif.io/api/presentation" in str(found.get("@context"))


def canvas_rows(found: Mapping[str, Any], name: str) -> Iterator[dict[str, object]]:
    """A row per canvas, in order.

    Raises:
        DataError: It has no canvases, or not where the specification puts them.
    """
    try:
        canvases = list(
            found["items"]
            if "items" in found
            else (canvas for sequence in found["sequences"] for canvas in sequence["canvases"])
        )
        for canvas in canvases:
            row: dict[str, Any] = {"id": canvas.get("id") or canvas["@id"]}
            row["candidate"] = _said(canvas)
            row["images"] = _pictures(canvas)
            yield row
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name, f"is no IIIF manifest that can be read ({type(error).__name__}: {error})"
        ) from error


def _said(canvas: Mapping[str, Any]) -> str:
    for field in ("summary", "description", "label"):
        text = _text(canvas.get(field))
        if text:
            return text
    return ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):  # version 2: texts, or objects with @value
        return next(filter(None, map(_text, value)), "")
    if isinstance(value, Mapping):
        if "@value" in value:
            return str(value["@value"])
        for language in ("en", "none", *value):
            said = value.get(language)
            if said:  # a list of texts; a text alone is no list of letters
                return said if isinstance(said, str) else " ".join(map(str, said))
    return ""


def _pictures(canvas: Mapping[str, Any]) -> list[str]:
    if "images" in canvas:  # version 2
        return [image["resource"]["@id"] for image in canvas["images"]]
    bodies = [
        annotation["body"] for page in canvas.get("items", ()) for annotation in page["items"]
    ]
    return [body["id"] for body in bodies if body.get("type") == "Image"]


def with_frames(item: Item, frames: Frames, root: Path) -> Item:
    """The item with pictures of its video, named by time; as it is if it has pictures or no video.

    Args:
        item: The item.
        frames: How many, in the middle of as many equal parts of the video; or ``cues``: one in the
            middle of each cue of ``meta["cues"]``, as ``.vtt`` and ``.srt`` give them.
        root: What the video's name is relative to.

    Raises:
        RowError: The video cannot be read, or the row has no cues.
    """
    if item.images or item.video is None:
        return item
    if frames == "cues":
        found = item.meta.get("cues")
        if not found:
            raise RowError(
                "has no cues in meta, as .vtt and .srt give them; --frames N takes pictures evenly"
            )
        times = [(start + end) / 2 for start, end, _ in found]
    else:
        try:
            length = video.duration(inside(root, item.video), max_pixels=MAX_PIXELS)
        except ItemError as error:
            raise RowError(str(error), "video") from error
        times = [length * (2 * n + 1) / (2 * frames) for n in range(frames)]
    return replace(item, images=_named(item.video, times))


def _named(name: str, times: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{name}#t={time:.3f}".rstrip("0").rstrip(".") for time in times)


def video_beside(file: Path) -> str | None:
    """The video of a timed text: ``film.mp4`` beside ``film.en.vtt``; None if there is none."""
    stem = file.name.partition(".")[0]
    names = (f"{stem}{ending}" for ending in video.ENDINGS)
    return next((name for name in names if (file.parent / name).is_file()), None)
