"""Training sets in tables: JSON Lines, CSV, Parquet, and COCO captions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from beholder.data.headings import choose_columns
from beholder.data.lines import MAX_ROW_BYTES, parse_json, strict_json
from beholder.data.reading import RowReading
from beholder.data.tables import read_cells
from beholder.errors import DataError
from beholder.kinds.filtering import shards
from beholder.kinds.filtering.source_row import (
    Flags,
    SourcePart,
    SourceRow,
    SourceSettings,
    row_from_fields,
)

_JSONL_BYTES = 2**24
_BATCH = 1024
_MAX_JSON_BYTES = 2**28

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


def jsonl_parts(path: Path, settings: SourceSettings) -> Iterator[SourcePart]:
    """Yield the parts of a file of JSON Lines."""
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
            yield SourcePart(str(path), "jsonl", start, stop)
            start = stop


def jsonl_rows(
    part: SourcePart, settings: SourceSettings
) -> Iterator[SourceRow]:
    """Yield the rows of a part of a file of JSON Lines."""
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


def write_jsonl(
    parts: Sequence[tuple[SourcePart, Flags]],
    target: Path,
    settings: SourceSettings,
) -> None:
    """Write the rows of a file of JSON Lines that are kept."""

    def cuts() -> Iterator[tuple[int, int]]:
        with Path(parts[0][0].source).open("rb") as stream:
            for part, kept_rows in parts:
                spans = _lines(stream, part.start, part.stop)
                for (start, end, _), is_kept in zip(
                    spans, kept_rows, strict=True
                ):
                    if not is_kept:
                        yield start, end

    shards.copy_ranges(Path(parts[0][0].source), target, cuts())


# CSV and TSV


def _records(
    part: SourcePart, settings: SourceSettings
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


def csv_rows(
    part: SourcePart, settings: SourceSettings
) -> Iterator[SourceRow]:
    """Yield the rows of a part of a table of text."""
    return (row for _, _, row in _records(part, settings))


def write_csv(
    parts: Sequence[tuple[SourcePart, Flags]],
    target: Path,
    settings: SourceSettings,
) -> None:
    """Write the rows of a table of text that are kept."""
    ((part, kept_rows),) = parts

    def cuts() -> Iterator[tuple[int, int]]:
        number = end = 0
        with Path(part.source).open("rb") as stream:
            records = _records(part, settings)
            for (first, last, _), is_kept in zip(
                records, kept_rows, strict=True
            ):
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


def parquet_parts(
    path: Path, settings: SourceSettings
) -> Iterator[SourcePart]:
    """Yield the parts of a Parquet file."""
    import pyarrow
    import pyarrow.parquet as pq

    try:
        n_groups = pq.read_metadata(path).num_row_groups
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DataError(
            str(path), f"cannot be read as Parquet: {error}"
        ) from error
    for group in range(n_groups):
        yield SourcePart(str(path), "parquet", group, group + 1)


def parquet_rows(
    part: SourcePart, settings: SourceSettings
) -> Iterator[SourceRow]:
    """Yield the rows of a part of a Parquet file."""
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
    used = {name for columns in recognised.values() for name in columns[:1]}
    used |= {
        name
        for path in settings.columns.values()
        for name in (path, path.partition(".")[0].partition("[")[0])
    }
    used |= {"group", "meta", "language", "group.language"}
    return [name for name in names if name in used]


def write_parquet(
    parts: Sequence[tuple[SourcePart, Flags]],
    target: Path,
    settings: SourceSettings,
) -> None:
    """Write the rows of a Parquet file that are kept."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(parts[0][0].source) as file:
        group = file.metadata.row_group(0)
        columns = [group.column(at) for at in range(group.num_columns)]
        codecs = {c.path_in_schema: c.compression for c in columns}
        encoded = [c.path_in_schema for c in columns if c.has_dictionary_page]
        counted = [c.path_in_schema for c in columns if c.is_stats_set]
        with pq.ParquetWriter(
            target,
            file.schema_arrow,
            compression={
                name: "NONE" if codec == "UNCOMPRESSED" else codec
                for name, codec in codecs.items()
            },
            use_dictionary=encoded or False,
            write_statistics=counted or False,
            # Spark writes times in this old form.
            use_deprecated_int96_timestamps=any(
                c.physical_type == "INT96" for c in columns
            ),
            store_schema=b"ARROW:schema" in (file.metadata.metadata or {}),
        ) as writer:
            for part, kept_rows in parts:
                if kept_rows.any():
                    table = file.read_row_group(part.start)
                    writer.write_table(table.filter(pa.array(kept_rows)))


# COCO captions


def coco_parts(path: Path, settings: SourceSettings) -> Iterator[SourcePart]:
    """Yield the parts of a file of COCO captions."""
    yield SourcePart(str(path), "coco", 0, 1)


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


def coco_rows(
    part: SourcePart, settings: SourceSettings
) -> Iterator[SourceRow]:
    """Yield the rows of a part of a file of COCO captions."""
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


def write_coco(
    parts: Sequence[tuple[SourcePart, Flags]],
    target: Path,
    settings: SourceSettings,
) -> None:
    """Write the rows of a file of COCO captions that are kept."""
    ((part, kept_rows),) = parts
    content, head = _read_coco(Path(part.source))
    rows = zip(content["annotations"], kept_rows, strict=True)
    content["annotations"] = [row for row, is_kept in rows if is_kept]
    # Keys keep their order; white space, escapes and the spelling of numbers may change.
    indent = 2 if "\n" in head.strip() else None
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    target.write_bytes(text.encode("utf-8", "surrogatepass"))
