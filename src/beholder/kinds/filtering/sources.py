"""Forms of training sets: how each is divided into parts, read row by row, and written back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from beholder.base import files
from beholder.errors import DataError
from beholder.kinds.filtering import pictures, tables
from beholder.kinds.filtering.source_row import (
    Flags,
    SourcePart,
    SourceRow,
    SourceSettings,
)


@dataclass(frozen=True)
class SourceForm:
    """How a form is divided, read and written."""

    parts: Callable[[Path, SourceSettings], Iterator[SourcePart]]
    rows: Callable[[SourcePart, SourceSettings], Iterator[SourceRow]]
    write: Callable[
        [Sequence[tuple[SourcePart, Flags]], Path, SourceSettings], None
    ]


FORMS: Mapping[str, SourceForm] = {
    "jsonl": SourceForm(
        tables.jsonl_parts, tables.jsonl_rows, tables.write_jsonl
    ),
    "csv": SourceForm(tables.csv_parts, tables.csv_rows, tables.write_csv),
    "parquet": SourceForm(
        tables.parquet_parts, tables.parquet_rows, tables.write_parquet
    ),
    "coco": SourceForm(tables.coco_parts, tables.coco_rows, tables.write_coco),
    "folder": SourceForm(
        pictures.folder_parts, pictures.folder_rows, pictures.write_folder
    ),
    "tar": SourceForm(
        pictures.tar_parts, pictures.tar_rows, pictures.write_tar
    ),
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
) -> list[SourcePart]:
    """Return the parts of a source in order, at most ``limit``.

    Raises:
        DataError: There is no such file, its form is unknown, or it is damaged.
    """
    path = Path(source)
    files.check_name(source)
    if path.is_dir():
        form = "folder"
    else:
        form = _ENDINGS.get(path.suffix.lower(), "")
        if not form:
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
