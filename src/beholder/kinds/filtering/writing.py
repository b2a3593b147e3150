"""Write the rows of a decision back in the form that they had; sources are never changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from beholder.base import files
from beholder.errors import ConfigError
from beholder.kinds.filtering import pictures
from beholder.kinds.filtering.config import Decision
from beholder.kinds.filtering.deciding import read_verdicts
from beholder.kinds.filtering.result import (
    VERDICTS,
    FilterResult,
    SourceFile,
    check_unchanged,
    read_result,
)
from beholder.kinds.filtering.source_row import Flags, SourcePart
from beholder.kinds.filtering.sources import FORMS


def write_rows(
    job: Path, target: Path | None, decision: Decision = "keep"
) -> Iterator[tuple[str, int]]:
    """Write the rows of a decision of each source, and yield the files with their rows.

    Args:
        job: Folder of a finished filter.
        target: Folder to write to; None lists the files of a folder in ``JOB/kept.txt``.
        decision: The decision whose rows are written.

    Raises:
        ConfigError: The target is a folder of sources, or none is named for a table or shard.
        RunError: The filter is not finished, or a source changed since.
    """
    result = read_result(job)
    decisions = (
        row["decision"] == decision
        for row in read_verdicts(job / VERDICTS, ["decision"])
    )
    check_unchanged(result)
    places = _find_places(result, target)
    for file in result.files:
        parts = _with_flags(file, decisions)
        n_rows = sum(int(flags.sum()) for _, flags in parts)
        if target is None:
            place = _list_files(result, file, parts, job, decision)
        else:
            place = places[file.name]
            _write_file(result, file, parts, place)
        yield str(place), n_rows


def _find_places(result: FilterResult, target: Path | None) -> dict[str, Path]:
    """Return the file or folder to write for each source, after a check that none is a source."""
    if target is None:
        return {}
    sources = {file.name: Path(file.name).resolve() for file in result.files}
    root = os.path.commonpath([source.parent for source in sources.values()])
    places = {
        name: target / source.relative_to(root)
        for name, source in sources.items()
    }
    for place in places.values():
        for name, source in sources.items():
            if place.resolve().is_relative_to(source):
                raise ConfigError(
                    f"--to leads to {name} itself, which is never changed; choose another folder"
                )
    return places


def _with_flags(
    file: SourceFile, decisions: Iterator[bool]
) -> list[tuple[SourcePart, Flags]]:
    return [
        (
            SourcePart(file.name, file.form, start, stop),
            np.fromiter(decisions, bool, n_rows),
        )
        for start, stop, n_rows in file.parts
    ]


def _list_files(
    result: FilterResult,
    file: SourceFile,
    parts: Sequence[tuple[SourcePart, Flags]],
    job: Path,
    decision: Decision,
) -> Path:
    if file.form != "folder":
        raise ConfigError(
            f"{file.name} is not a folder: name where to write with --to FOLDER"
        )
    names = pictures.kept_names(parts, result.settings)
    place = job / ("kept.txt" if decision == "keep" else f"{decision}.txt")
    files.write_text(place, "".join(f"{name}\n" for name in names))
    return place


def _write_file(
    result: FilterResult,
    file: SourceFile,
    parts: Sequence[tuple[SourcePart, Flags]],
    place: Path,
) -> None:
    source = Path(file.name)
    files.make_folder(place.parent)
    is_whole = all(flags.all() for _, flags in parts)
    if file.form == "folder":
        FORMS["folder"].write(parts, place, result.settings)
    elif is_whole and file.form == "tar":
        pictures.link_or_copy(source, place)
    else:
        with files.write_atomically(place) as unfinished:
            if is_whole:
                shutil.copyfile(source, unfinished)
            else:
                FORMS[file.form].write(parts, unfinished, result.settings)
