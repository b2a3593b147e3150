"""Training sets with pictures at hand: folders, and tar shards."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from beholder.base import files
from beholder.data.columns import MISSING, find_value, unwrap_text
from beholder.data.folders import PICTURES, files_below, sidecar_row
from beholder.data.lines import MAX_ROW_BYTES, strict_json
from beholder.data.row import RowError, plain_text
from beholder.errors import DataError
from beholder.kinds.filtering import shards
from beholder.kinds.filtering.source_row import (
    Flags,
    SourcePart,
    SourceRow,
    SourceSettings,
)

_FOLDER_ROWS = 10_000
_SAMPLED = 4096
"""Bytes at each end of a picture that are compared, with its size, with those of another."""

# Folders of pictures with texts


@lru_cache(maxsize=2)
def _listed(folder: Path, ending: str) -> tuple[tuple[str, bool], ...]:
    """Return the pictures of a folder, and its texts without one, in order of their names."""
    pictures = files_below(folder, PICTURES)
    with_text = {str(Path(name).with_suffix(ending)) for name in pictures}
    texts = files_below(folder, frozenset({ending}))
    alone = [(name, False) for name in texts if name not in with_text]
    return tuple(sorted([*((name, True) for name in pictures), *alone]))


def folder_parts(path: Path, settings: SourceSettings) -> Iterator[SourcePart]:
    """Yield the parts of a folder of pictures with texts."""
    n_rows = len(_listed(path, settings.text_ending))
    if not n_rows:
        raise DataError(
            str(path),
            "has no picture with a text beside it; name files of a folder as FOLDER/*.tar",
        )
    for start in range(0, n_rows, _FOLDER_ROWS):
        stop = min(start + _FOLDER_ROWS, n_rows)
        yield SourcePart(str(path), "folder", start, stop)


def folder_rows(
    part: SourcePart, settings: SourceSettings
) -> Iterator[SourceRow]:
    """Yield the rows of a part of a folder of pictures with texts."""
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


def write_folder(
    parts: Sequence[tuple[SourcePart, Flags]],
    target: Path,
    settings: SourceSettings,
) -> None:
    """Write the rows of a folder of pictures with texts that are kept."""
    folder = Path(parts[0][0].source)
    for name in kept_names(parts, settings):
        for file in (name, str(Path(name).with_suffix(settings.text_ending))):
            if (folder / file).is_file():
                place = target / file
                place.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(folder / file, place)


def kept_names(
    parts: Sequence[tuple[SourcePart, Flags]], settings: SourceSettings
) -> Iterator[str]:
    """Yield the files of a folder's rows that are kept."""
    names = _listed(Path(parts[0][0].source), settings.text_ending)
    for part, kept_rows in parts:
        rows = zip(names[part.start : part.stop], kept_rows, strict=True)
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


def tar_parts(path: Path, settings: SourceSettings) -> Iterator[SourcePart]:
    """Yield the parts of a shard."""
    yield SourcePart(str(path), "tar", 0, path.stat().st_size)


def tar_rows(
    part: SourcePart, settings: SourceSettings
) -> Iterator[SourceRow]:
    """Yield the rows of a part of a shard."""
    path = Path(part.source)
    with path.open("rb") as file:
        for sample in shards.read_samples(path):
            yield _sample_row(file, sample, settings)


def _sample_row(
    file: IO[bytes], sample: shards.ShardSample, settings: SourceSettings
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


def write_tar(
    parts: Sequence[tuple[SourcePart, Flags]],
    target: Path,
    settings: SourceSettings,
) -> None:
    """Write the rows of a shard that are kept."""
    ((part, kept_rows),) = parts
    path = Path(part.source)

    def cuts() -> Iterator[tuple[int, int]]:
        samples = shards.read_samples(path)
        for sample, is_kept in zip(samples, kept_rows, strict=True):
            if not is_kept:
                yield from ((m.start, m.end) for m in sample.members)

    shards.copy_ranges(path, target, cuts())


def extract_pictures(
    part: SourcePart,
    wanted_rows: Flags,
    settings: SourceSettings,
    folder: Path,
) -> None:
    """Write the pictures of some samples of a shard below a folder, for metrics that open them."""
    path = Path(part.source)
    with path.open("rb") as file:
        samples = zip(shards.read_samples(path), wanted_rows, strict=True)
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
