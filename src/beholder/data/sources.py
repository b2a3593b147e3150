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
from beholder.data.lines import (
    PACKED,
    Row,
    lines,
    opened,
    parse_json,
    read_jsonl,
)
from beholder.data.row import RowError
from beholder.data.subtitles import cues, cues_in_meta, join_cues
from beholder.data.tables import read_csv, read_parquet
from beholder.errors import DataError, ItemError
from beholder.media import MAX_PIXELS, inside, video
from beholder.options import Frames
from beholder.records import Item
from beholder.text.languages import base_language

MAX_JSON_BYTES = 256 * 2**20
"""Longest .json file: unlike the other formats it is read as a whole."""

_HUB = "hf:"


def read_rows(
    source: str | Path, name: str, candidate_column: str | None = None
) -> Iterator[Row]:
    """Yield the rows of a data set with their numbers, unchecked.

    Args:
        source: As ``read_items`` takes it.
        name: Name of the data in messages.
        candidate_column: Column of a table that contains the candidate, where it has a name of its
            own: an empty cell of it is an empty text.

    Raises:
        ConfigError: Its name is not UTF-8.
        DataError: The file as a whole cannot be read.
    """
    check_name(source)
    if str(source) == "-":
        yield from read_jsonl(sys.stdin.buffer, name)
        return
    if str(source).startswith(_HUB):
        yield from _hub(name)
        return
    path = Path(source)
    if path.is_dir():
        yield from sidecar_rows(path, name)
        return
    # ``a.csv.gz`` is a table that is packed: the last ending says how, the one
    # before says what.
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in PACKED else None
    kind = suffixes[-1] if suffixes else ""
    if kind == ".parquet" and packed is None:
        yield from read_parquet(source, name)
    elif kind in _TABLES:
        with opened(source, name, packed) as stream:
            yield from read_csv(stream, name, _TABLES[kind], candidate_column)
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


def _json(stream: IO[bytes], name: str) -> Iterator[Row]:
    """Yield the rows of a JSON value: a list, the list ``data``, texts by id, or a known format."""
    data = stream.read(MAX_JSON_BYTES + 1)
    if len(data) > MAX_JSON_BYTES:
        raise DataError(
            name,
            f"is longer than {MAX_JSON_BYTES >> 20} MiB; write it as .jsonl",
        )
    rows = value = parse_json(data, name)
    # By what the object has: COCO captions, an IIIF manifest, texts by id,
    # else the list in ``data``.
    if isinstance(value, Mapping):
        if {"images", "annotations"} <= set(value):
            rows = list(annotation_rows(value, name))
        elif iiif.read_kind(value):
            rows = list(canvas_rows(value, name))
        elif set(map(type, value.values())) == {str} and not {
            "id",
            "candidate",
        } & set(value):
            rows = [
                {"id": key, "candidate": text} for key, text in value.items()
            ]
        else:
            rows = value.get("data")
    if not isinstance(rows, list):
        raise DataError(
            name,
            "expected a list of rows, an object whose field data is one, texts by id, COCO"
            " captions, or an IIIF manifest",
        )
    yield from enumerate(rows, start=1)


def _subtitles(stream: IO[bytes], name: str) -> Iterator[Row]:
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


_TEXT_FORMATS: dict[str, Callable[[IO[bytes], str], Iterator[Row]]] = {
    ".json": _json,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".vtt": _subtitles,
    ".srt": _subtitles,
}
_TABLES = {".csv": ",", ".tsv": "\t"}


def annotation_rows(
    content: Mapping[str, Any], name: str
) -> Iterator[dict[str, object]]:
    """Yield a row per picture with captions from COCO captions, in the order of pictures.

    Raises:
        DataError: The value has another form, or a caption of an unlisted picture.
    """
    try:
        files = {
            picture["id"]: picture.get("file_name")
            for picture in content["images"]
        }
        # Pictures keep their order; one without captions has no row.
        captions: dict[Any, list[str]] = {number: [] for number in files}
        for annotation in content["annotations"]:
            captions[annotation["image_id"]].append(annotation["caption"])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name,
            f"is not a file of COCO captions ({type(error).__name__}: {error}): expected images"
            " with id and annotations with image_id and caption",
        ) from error
    for number, texts in captions.items():
        if texts:
            row = {"id": number, "references": texts}
            yield (
                row
                if files[number] is None
                else {**row, "images": [files[number]]}
            )


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
