"""Forms of training sets: how each is divided into parts, read row by row, and written back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from beholder.base import files
from beholder.errors import ConfigError, DataError
from beholder.kinds.filtering import pictures, tables
from beholder.kinds.filtering.config import TEXT_ENDING
from beholder.kinds.filtering.source_row import (
    Flags,
    SourcePart,
    SourceRow,
    SourceSettings,
)


@dataclass(frozen=True)
class SourceForm:
    """How a form is divided, read and written, and the options that its reader uses."""

    parts: Callable[[Path, SourceSettings], Iterator[SourcePart]]
    rows: Callable[[SourcePart, SourceSettings], Iterator[SourceRow]]
    write: Callable[
        [Sequence[tuple[SourcePart, Flags]], Path, SourceSettings], None
    ]
    options: frozenset[str]


def _whole_file(
    form: str, path: Path, settings: SourceSettings
) -> Iterator[SourcePart]:
    """Yield the one part of a file that is not divided."""
    yield SourcePart(str(path), form, 0, path.stat().st_size)


_MEDIA_ROOT, _TEXT_ENDING = "--media-root", "--text-ending"
_TABLE_OPTIONS = frozenset(
    {"--map candidate", "--map images", "--map id", _MEDIA_ROOT}
)
FORMS: Mapping[str, SourceForm] = {
    "jsonl": SourceForm(
        tables.jsonl_parts,
        tables.jsonl_rows,
        tables.write_jsonl,
        _TABLE_OPTIONS,
    ),
    "csv": SourceForm(
        partial(_whole_file, "csv"),
        tables.csv_rows,
        tables.write_csv,
        _TABLE_OPTIONS,
    ),
    "parquet": SourceForm(
        tables.parquet_parts,
        tables.parquet_rows,
        tables.write_parquet,
        _TABLE_OPTIONS,
    ),
    "coco": SourceForm(
        tables.coco_parts,
        tables.coco_rows,
        tables.write_coco,
        frozenset({_MEDIA_ROOT}),
    ),
    "folder": SourceForm(
        pictures.folder_parts,
        pictures.folder_rows,
        pictures.write_folder,
        frozenset({_TEXT_ENDING}),
    ),
    "tar": SourceForm(
        partial(_whole_file, "tar"),
        pictures.tar_rows,
        pictures.write_tar,
        frozenset({"--map candidate", _TEXT_ENDING}),
    ),
}
_ENDINGS = {
    **dict.fromkeys((".jsonl", ".jsonlines", ".ndjson"), "jsonl"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    ".parquet": "parquet",
    ".json": "coco",
    ".tar": "tar",
}


def form_of(source: str) -> SourceForm:
    """Return the form of a source.

    Raises:
        DataError: Its form is unknown.
    """
    path = Path(source)
    if path.is_dir():
        return FORMS["folder"]
    name = _ENDINGS.get(path.suffix.lower())
    if name is None:
        raise DataError(
            source,
            "has no form that can be filtered and written back: expected .tar, .jsonl, .csv,"
            " .tsv, .parquet, COCO captions as .json, or a folder of pictures; unpack .gz and"
            " .xz first",
        )
    return FORMS[name]


def list_unused_options(
    sources: Sequence[str], settings: SourceSettings, has_media_root: bool
) -> list[str]:
    """Return a sentence for each given option that the forms of some sources do not use.

    Args:
        sources: The sources.
        settings: How rows are read.
        has_media_root: Whether a folder of pictures is named.

    Raises:
        ConfigError: No source uses an option.
    """
    options = [f"--map {field}" for field in settings.columns]
    if settings.text_ending != TEXT_ENDING:
        options.append(_TEXT_ENDING)
    if has_media_root:
        options.append(_MEDIA_ROOT)
    sentences = []
    for option in options:
        unused_in = [s for s in sources if option not in form_of(s).options]
        if not unused_in:
            continue
        sentence = f"{option} is not used for {', '.join(unused_in)}"
        if len(unused_in) == len(sources):
            raise ConfigError(
                f"{sentence}; leave it out, or write the rows as .jsonl"
            )
        sentences.append(sentence)
    return sentences


def divide(source: str, settings: SourceSettings) -> list[SourcePart]:
    """Return the parts of a source in order.

    Raises:
        DataError: There is no such file, its form is unknown, or it is damaged.
    """
    files.check_name(source)
    form = form_of(source)
    try:
        return list(form.parts(Path(source), settings))
    except OSError as error:
        raise DataError(
            source, f"cannot be read: {error.strerror or error}"
        ) from error
