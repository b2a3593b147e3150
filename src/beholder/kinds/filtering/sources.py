"""Forms of training sets: how each is divided into parts, read row by row, and written back."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beholder.base import files
from beholder.data.columns import MISSING, find_value, unwrap_text
from beholder.data.folders import PICTURES, files_below, sidecar_row
from beholder.data.headings import choose_columns
from beholder.data.lines import MAX_ROW_BYTES, parse_json, strict_json
from beholder.data.reading import RowReading
from beholder.data.row import RowError, language_of_row, plain_text
from beholder.data.tables import read_cells
from beholder.errors import DataError
from beholder.kinds.filtering import shards

_JSONL_BYTES = 2**24
_FOLDER_ROWS = 10_000
_BATCH = 1024
_MAX_JSON_BYTES = 2**28
_SAMPLED = 4096
"""Bytes at each end of a picture that, with its size, tell whether two are one picture."""

Flags = NDArray[np.bool_]


class Part(NamedTuple):
    """A part of a source, which one worker reads.

    Attributes:
        source: The file or folder as the user named it.
        form: Name of its form.
        start: First byte, row group or picture.
        stop: The end of it.
    """

    source: str
    form: str
    start: int
    stop: int


class SourceRow(NamedTuple):
    """A row as it was read.

    Attributes:
        id: Its id; empty without one.
        text: The text; None if it is missing or unreadable.
        image: Path or address of the picture; may be empty.
        picture: Key of the picture, equal for one picture under two names where content is at
            hand; empty without one.
        language: The language that the row states.
        reason: Reason of the reader; may be empty.
        note: What was wrong, in words.
    """

    id: str = ""
    text: str | None = None
    image: str = ""
    picture: str = ""
    language: str = ""
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class SourceSettings:
    """How rows are read: columns by field, and the ending of the texts of folders and shards."""

    columns: Mapping[str, str]
    text_ending: str


def row_from_fields(
    row: object, settings: SourceSettings, **known: str
) -> SourceRow:
    """Return a row of a table, with the values of mapped or recognised columns."""
    if not isinstance(row, Mapping):
        return SourceRow(reason="unreadable", note="is no object")
    recognised = choose_columns(tuple(map(str, row)), "item")
    if "candidate" not in recognised and "candidate" not in settings.columns:
        # A column ``text`` is what a training set calls its captions.
        names = choose_columns(tuple(map(str, row)), "lint")
        recognised = {**recognised, "candidate": names.get("text", ())}
    try:
        text = _value(row, "candidate", settings.columns, recognised)
        if isinstance(text, list) and len(text) > 1:
            raise RowError(
                f"has {len(text)} texts; name one, as --map 'candidate=COLUMN[0]'"
            )
        if text is not None:
            text = plain_text(unwrap_text(text))
        image = _value(row, "images", settings.columns, recognised)
        image = unwrap_text(image)
        if isinstance(image, Mapping):
            image = image.get("path")
        image = image if isinstance(image, str) else ""
        name = _value(row, "id", settings.columns, recognised)
        return SourceRow(
            id="" if name is None else str(name),
            text=text,
            image=known.get("image", image),
            picture=known.get("picture", image),
            language=language_of_row(row),
        )
    except RowError as error:
        return SourceRow(reason="unreadable", note=error.reason)


def _value(
    row: Mapping[Any, Any],
    field: str,
    columns: Mapping[str, str],
    recognised: Mapping[str, Sequence[str]],
) -> Any:
    path = columns.get(field)
    if path is None:
        names = recognised.get(field, ())
        return row.get(names[0]) if names else None
    if path in row:
        return row[path]
    value = find_value(row, path)
    return None if value is MISSING else value


# JSON Lines


def _lines(
    stream: IO[bytes], start: int, stop: int
) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield start, end and bytes of lines that are not blank; None for one that is too long."""
    stream.seek(start)
    while start < stop and (raw := stream.readline(MAX_ROW_BYTES + 1)):
        end, is_long = start + len(raw), len(raw) > MAX_ROW_BYTES
        while is_long and raw and not raw.endswith(b"\n"):
            raw = stream.readline(2**20)
            end += len(raw)
        if is_long or not raw.isspace():
            yield start, end, None if is_long else raw
        start = end


def _jsonl_parts(path: Path, settings: SourceSettings) -> Iterator[Part]:
    size, start = path.stat().st_size, 0
    with path.open("rb") as stream:
        while start < size:
            stop = min(start + _JSONL_BYTES, size)
            # A part ends with a line.
            stream.seek(stop)
            while stop < size and (raw := stream.readline(2**20)):
                stop += len(raw)
                if raw.endswith(b"\n"):
                    break
            yield Part(str(path), "jsonl", start, stop)
            start = stop


def _jsonl_rows(part: Part, settings: SourceSettings) -> Iterator[SourceRow]:
    with Path(part.source).open("rb") as stream:
        for start, _, raw in _lines(stream, part.start, part.stop):
            if raw is None:
                note = f"is longer than {MAX_ROW_BYTES >> 20} MiB"
                yield SourceRow(reason="unreadable", note=note)
                continue
            try:
                text = raw.decode("utf-8-sig" if not start else "utf-8")
                yield row_from_fields(strict_json(text), settings)
            except (ValueError, RecursionError) as error:
                yield SourceRow(reason="unreadable", note=str(error))


def _write_jsonl(
    parts: Sequence[tuple[Part, Flags]], target: Path, settings: SourceSettings
) -> None:
    def cuts() -> Iterator[tuple[int, int]]:
        with Path(parts[0][0].source).open("rb") as stream:
            for part, kept in parts:
                spans = _lines(stream, part.start, part.stop)
                for (start, end, _), is_kept in zip(spans, kept, strict=True):
                    if not is_kept:
                        yield start, end

    shards.copy_ranges(Path(parts[0][0].source), target, cuts())


# CSV and TSV


def _csv_parts(path: Path, settings: SourceSettings) -> Iterator[Part]:
    yield Part(str(path), "csv", 0, path.stat().st_size)


def _records(
    part: Part, settings: SourceSettings
) -> Iterator[tuple[int, int, SourceRow]]:
    """Yield first and last line of the records of a table, with their rows."""
    path = Path(part.source)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    reading = RowReading(settings.columns, as_written=True)
    with path.open("rb") as stream:
        if b"\r" in (head := stream.read(2**16)) and b"\n" not in head:
            raise DataError(
                str(path),
                "ends its lines with returns alone; save it with line feeds",
            )
        stream.seek(0)
        _, records = read_cells(stream, str(path), delimiter, reading)
        for record in records:
            if isinstance(record.cells, DataError):
                row = SourceRow(reason="unreadable", note=record.cells.reason)
            else:
                row = row_from_fields(record.cells, settings)
            yield record.first_line, record.last_line, row


def _csv_rows(part: Part, settings: SourceSettings) -> Iterator[SourceRow]:
    return (row for _, _, row in _records(part, settings))


def _write_csv(
    parts: Sequence[tuple[Part, Flags]], target: Path, settings: SourceSettings
) -> None:
    ((part, kept),) = parts

    def cuts() -> Iterator[tuple[int, int]]:
        number = end = 0
        with Path(part.source).open("rb") as stream:
            records = _records(part, settings)
            for (first, last, _), is_kept in zip(records, kept, strict=True):
                start = end
                while number < last:
                    if number == first - 1:
                        start = end
                    end += len(stream.readline())
                    number += 1
                if not is_kept:
                    yield start, end

    shards.copy_ranges(Path(part.source), target, cuts())


# Parquet


def _parquet_parts(path: Path, settings: SourceSettings) -> Iterator[Part]:
    import pyarrow
    import pyarrow.parquet as pq

    try:
        n_groups = pq.read_metadata(path).num_row_groups
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DataError(
            str(path), f"cannot be read as Parquet: {error}"
        ) from error
    for group in range(n_groups):
        yield Part(str(path), "parquet", group, group + 1)


def _parquet_rows(part: Part, settings: SourceSettings) -> Iterator[SourceRow]:
    import pyarrow
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(part.source) as file:
            names = _needed_columns(file.schema_arrow.names, settings)
            batches = file.iter_batches(_BATCH, [part.start], columns=names)
            for batch in batches:
                yield from _batch_rows(batch, settings)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            part.source, f"cannot be read as Parquet: {error}"
        ) from error


def _batch_rows(batch: Any, settings: SourceSettings) -> Iterator[SourceRow]:
    try:
        for row in batch.to_pylist():
            yield row_from_fields(row, settings)
    except UnicodeDecodeError:
        if len(batch) == 1:
            note = "a text is not UTF-8"
            yield SourceRow(reason="unreadable", note=note)
            return
        for at in range(len(batch)):
            yield from _batch_rows(batch.slice(at, 1), settings)


def _needed_columns(
    names: Sequence[str], settings: SourceSettings
) -> list[str]:
    """Return the columns that are read: pictures as bytes would fill the memory."""
    recognised = {
        **choose_columns(tuple(names), "lint"),
        **choose_columns(tuple(names), "item"),
    }
    used = {name for found in recognised.values() for name in found[:1]}
    used |= {
        name
        for path in settings.columns.values()
        for name in (path, path.partition(".")[0].partition("[")[0])
    }
    used |= {"group", "meta", "language", "group.language"}
    return [name for name in names if name in used]


def _write_parquet(
    parts: Sequence[tuple[Part, Flags]], target: Path, settings: SourceSettings
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(parts[0][0].source) as file:
        group = file.metadata.row_group(0)
        columns = [group.column(at) for at in range(group.num_columns)]
        codecs = {c.path_in_schema: c.compression for c in columns}
        with pq.ParquetWriter(
            target,
            file.schema_arrow,
            compression={
                name: "NONE" if codec == "UNCOMPRESSED" else codec
                for name, codec in codecs.items()
            },
        ) as writer:
            for part, kept in parts:
                if kept.any():
                    table = file.read_row_group(part.start)
                    writer.write_table(table.filter(pa.array(kept)))


# COCO captions


def _coco_parts(path: Path, settings: SourceSettings) -> Iterator[Part]:
    yield Part(str(path), "coco", 0, 1)


def _read_coco(path: Path) -> tuple[dict[str, Any], str]:
    with path.open("rb") as stream:
        data = stream.read(_MAX_JSON_BYTES + 1)
    if len(data) > _MAX_JSON_BYTES:
        raise DataError(
            str(path), "is longer than 256 MiB; write its rows as .jsonl"
        )
    content = parse_json(data, str(path))
    lists = (
        [content.get(name) for name in ("annotations", "images")]
        if isinstance(content, Mapping)
        else []
    )
    if not lists or not all(isinstance(rows, list) for rows in lists):
        raise DataError(
            str(path),
            "is not a file of COCO captions (images and annotations); write other rows as .jsonl",
        )
    return dict(content), data[:4096].decode("utf-8", "replace")


def _coco_rows(part: Part, settings: SourceSettings) -> Iterator[SourceRow]:
    content, _ = _read_coco(Path(part.source))
    file_names = {
        str(picture.get("id")): str(picture.get("file_name", ""))
        for picture in content["images"]
        if isinstance(picture, Mapping)
    }
    for annotation in content["annotations"]:
        if not isinstance(annotation, Mapping):
            yield SourceRow(reason="unreadable", note="is no object")
            continue
        key = str(annotation.get("image_id"))
        fields = {
            "id": annotation.get("id"),
            "candidate": annotation.get("caption"),
            "images": file_names.get(key, ""),
        }
        row = row_from_fields(fields, SourceSettings({}, ""), picture=key)
        if key not in file_names and not row.reason:
            row = row._replace(
                reason="no_picture", note=f"image_id {key} is not in images"
            )
        yield row


def _write_coco(
    parts: Sequence[tuple[Part, Flags]], target: Path, settings: SourceSettings
) -> None:
    ((part, kept),) = parts
    content, head = _read_coco(Path(part.source))
    rows = zip(content["annotations"], kept, strict=True)
    content["annotations"] = [row for row, is_kept in rows if is_kept]
    # Keys keep their order; white space may change.
    indent = 2 if "\n" in head.strip() else None
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    target.write_bytes(text.encode("utf-8", "surrogatepass"))


# Folders of pictures with texts


@lru_cache(maxsize=2)
def _listed(folder: Path, ending: str) -> tuple[tuple[str, bool], ...]:
    """Return the pictures of a folder, and its texts without one, in order of their names."""
    pictures = files_below(folder, PICTURES)
    with_text = {str(Path(name).with_suffix(ending)) for name in pictures}
    texts = files_below(folder, frozenset({ending}))
    alone = [(name, False) for name in texts if name not in with_text]
    return tuple(sorted([*((name, True) for name in pictures), *alone]))


def _folder_parts(path: Path, settings: SourceSettings) -> Iterator[Part]:
    n_rows = len(_listed(path, settings.text_ending))
    if not n_rows:
        raise DataError(
            str(path),
            "has no picture with a text beside it; name files of a folder as FOLDER/*.tar",
        )
    for start in range(0, n_rows, _FOLDER_ROWS):
        stop = min(start + _FOLDER_ROWS, n_rows)
        yield Part(str(path), "folder", start, stop)


def _folder_rows(part: Part, settings: SourceSettings) -> Iterator[SourceRow]:
    folder = Path(part.source)
    names = _listed(folder, settings.text_ending)
    for name, is_picture in names[part.start : part.stop]:
        if not is_picture:
            yield SourceRow(id=name, reason="no_picture", note="a text alone")
            continue
        row = sidecar_row(folder, name, settings.text_ending)
        with (folder / name).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            picture = _content_key(file, 0, size)
        if isinstance(row, str):
            yield SourceRow(
                id=name,
                image=name,
                picture=picture,
                reason="unreadable",
                note=row,
            )
        else:
            yield SourceRow(name, row.get("candidate"), name, picture)


def _write_folder(
    parts: Sequence[tuple[Part, Flags]], target: Path, settings: SourceSettings
) -> None:
    folder = Path(parts[0][0].source)
    for name in kept_names(parts, settings):
        for file in (name, str(Path(name).with_suffix(settings.text_ending))):
            if (folder / file).is_file():
                place = target / file
                place.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(folder / file, place)


def kept_names(
    parts: Sequence[tuple[Part, Flags]], settings: SourceSettings
) -> Iterator[str]:
    """Yield the files of a folder's rows that are kept."""
    names = _listed(Path(parts[0][0].source), settings.text_ending)
    for part, kept in parts:
        rows = zip(names[part.start : part.stop], kept, strict=True)
        yield from (name for (name, _), is_kept in rows if is_kept)


def link_or_copy(source: Path, target: Path) -> None:
    """Link a file that stays as it is, or copy it where links are not possible."""
    if target.exists():
        target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _content_key(file: IO[bytes], start: int, size: int) -> str:
    """Return a digest of the size and both ends of a picture."""
    file.seek(start)
    ends = file.read(min(size, _SAMPLED))
    if size > _SAMPLED:
        file.seek(start + size - _SAMPLED)
        ends += file.read(_SAMPLED)
    return f"{size}:{hashlib.blake2b(ends, digest_size=12).hexdigest()}"


# Tar shards


def _tar_parts(path: Path, settings: SourceSettings) -> Iterator[Part]:
    yield Part(str(path), "tar", 0, path.stat().st_size)


def _tar_rows(part: Part, settings: SourceSettings) -> Iterator[SourceRow]:
    path = Path(part.source)
    with path.open("rb") as file:
        for sample in shards.read_samples(path):
            yield _sample_row(file, sample, settings)


def _sample_row(
    file: IO[bytes], sample: shards.Sample, settings: SourceSettings
) -> SourceRow:
    texts = {member.ending: member for member in sample.members}
    pictures = [
        member
        for member in sample.members
        if Path(member.ending).suffix in PICTURES or member.ending in PICTURES
    ]
    image, picture = "", ""
    if pictures:
        image = pictures[0].name
        picture = _content_key(file, pictures[0].data, pictures[0].size)
    row = SourceRow(sample.key, None, image, picture)
    if sample.is_broken:
        note = f"members of {sample.key} are not next to each other"
        return row._replace(reason="broken_sample", note=note)
    path = settings.columns.get("candidate")
    fields: dict[str, Any] = {}
    try:
        for ending in (settings.text_ending, ".json"):
            needed = (
                ending == settings.text_ending
                if path is None
                else path.partition(".")[0] == ending[1:]
            )
            if needed and ending in texts:
                data = shards.read_content(file, texts[ending], MAX_ROW_BYTES)
                if len(data) > MAX_ROW_BYTES:
                    raise RowError(
                        f"{ending} is longer than {MAX_ROW_BYTES >> 20} MiB"
                    )
                text = data.decode("utf-8-sig")
                fields[ending[1:]] = (
                    strict_json(text) if ending == ".json" else text.strip()
                )
        value = find_value(fields, path or settings.text_ending[1:])
        if value is not MISSING and value is not None:
            row = row._replace(text=plain_text(unwrap_text(value)))
    except (RowError, ValueError, RecursionError) as error:
        return row._replace(reason="unreadable", note=str(error))
    if not pictures:
        return row._replace(reason="no_picture", note="has no picture")
    return row


def _write_tar(
    parts: Sequence[tuple[Part, Flags]], target: Path, settings: SourceSettings
) -> None:
    ((part, kept),) = parts
    path = Path(part.source)

    def cuts() -> Iterator[tuple[int, int]]:
        samples = shards.read_samples(path)
        for sample, is_kept in zip(samples, kept, strict=True):
            if not is_kept:
                yield from ((m.start, m.end) for m in sample.members)

    shards.copy_ranges(path, target, cuts())


def extract_pictures(
    part: Part, wanted: Flags, settings: SourceSettings, folder: Path
) -> None:
    """Write the pictures of some samples of a shard below a folder, for metrics that open them."""
    path = Path(part.source)
    with path.open("rb") as file:
        samples = zip(shards.read_samples(path), wanted, strict=True)
        for sample, is_wanted in samples:
            row = _sample_row(file, sample, settings)
            place = (folder / row.image).resolve()
            if not (is_wanted and row.image) or place.is_file():
                continue
            if not place.is_relative_to(folder.resolve()):
                raise DataError(
                    part.source, f"the member {row.image!r} leaves the shard"
                )
            (member,) = (m for m in sample.members if m.name == row.image)
            file.seek(member.data)
            files.write_bytes(place, file.read(member.size))


@dataclass(frozen=True)
class Form:
    """How a form is divided, read and written."""

    parts: Callable[[Path, SourceSettings], Iterator[Part]]
    rows: Callable[[Part, SourceSettings], Iterator[SourceRow]]
    write: Callable[[Sequence[tuple[Part, Flags]], Path, SourceSettings], None]


FORMS: Mapping[str, Form] = {
    "jsonl": Form(_jsonl_parts, _jsonl_rows, _write_jsonl),
    "csv": Form(_csv_parts, _csv_rows, _write_csv),
    "parquet": Form(_parquet_parts, _parquet_rows, _write_parquet),
    "coco": Form(_coco_parts, _coco_rows, _write_coco),
    "folder": Form(_folder_parts, _folder_rows, _write_folder),
    "tar": Form(_tar_parts, _tar_rows, _write_tar),
}
_ENDINGS = {
    **dict.fromkeys((".jsonl", ".jsonlines", ".ndjson"), "jsonl"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    ".parquet": "parquet",
    ".json": "coco",
    ".tar": "tar",
}


def divide(
    source: str, settings: SourceSettings, limit: int | None = None
) -> list[Part]:
    """Return the parts of a source in order, at most ``limit``.

    Raises:
        DataError: There is no such file, its form is unknown, or it is damaged.
    """
    path = Path(source)
    files.check_name(source)
    if path.is_dir():
        form: str | None = "folder"
    else:
        form = _ENDINGS.get(path.suffix.lower())
        if form is None:
            raise DataError(
                source,
                "has no form that can be filtered and written back: expected .tar, .jsonl, .csv,"
                " .tsv, .parquet, COCO captions as .json, or a folder of pictures; unpack .gz and"
                " .xz first",
            )
    try:
        return list(islice(FORMS[form].parts(path, settings), limit))
    except OSError as error:
        raise DataError(
            source, f"cannot be read: {error.strerror or error}"
        ) from error
