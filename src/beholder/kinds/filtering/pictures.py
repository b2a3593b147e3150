"""Training sets with pictures at hand: folders, and tar shards."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from beholder.base import files
from beholder.data.columns import MISSING, find_value, unwrap_text
from beholder.data.folders import PICTURES, files_below, sidecar_row
from beholder.data.lines import MAX_ROW_BYTES, strict_json
from beholder.data.row import RowError, plain_text
from beholder.errors import ConfigError, DataError
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


@dataclass(frozen=True)
class PictureFolder:
    """Where the pictures of a part are.

    Attributes:
        folder: The folder that their paths are relative to.
        is_extracted: Whether they were taken out of a shard, and are named by their rows.
    """

    folder: Path
    is_extracted: bool = False

    def path_of(self, row: int, image: str) -> Path:
        """Return the file of a row's picture; a name in a shard may lead anywhere."""
        if self.is_extracted:
            name = f"{row}{Path(image).suffix.lower()}"
            return self.folder / str(row // _FOLDER_ROWS) / name
        return self.folder / image

    def has(self, image: str) -> bool:
        """Return whether a picture is a file below the folder; a table may name any other."""
        path = self.folder / image
        return (
            path.suffix.lower() in PICTURES
            and path.resolve().is_relative_to(self.folder.resolve())
            and path.is_file()
        )

    @classmethod
    def from_source(
        cls, source: str, media_root: str | Path | None
    ) -> PictureFolder:
        """Return the folder of the pictures of a table, or a folder of pictures itself."""
        path = Path(source)
        if path.is_dir():
            return cls(path)
        return cls(Path(media_root) if media_root else path.parent)


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
    # The folder may have changed since another filter of this process.
    _listed.cache_clear()
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
    names: dict[str, None] = {}
    for name in kept_names(parts, settings):
        text = Path(name).with_suffix(settings.text_ending).as_posix()
        names |= dict.fromkeys((name, text))
    for old in files_below(target, PICTURES | {settings.text_ending}):
        if old not in names:
            raise ConfigError(
                f"{target / old} is no row that is written; name an empty folder with --to"
            )
    for name in names:
        if (folder / name).is_file():
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # A folder below the target may be a link to the source.
            if place.parent.resolve().is_relative_to(folder.resolve()):
                raise ConfigError(
                    f"{place.parent} leads to {folder}, which is never changed; choose another"
                    " folder with --to"
                )
            link_or_copy(folder / name, place)


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
    target.unlink(missing_ok=True)
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


def _find_picture(sample: shards.ShardSample) -> shards.Member | None:
    """Return the first picture of a sample; None without one."""
    for member in sample.members:
        if member.is_plain and Path(f"a{member.ending}").suffix in PICTURES:
            return member
    return None


def _sample_row(
    file: IO[bytes], sample: shards.ShardSample, settings: SourceSettings
) -> SourceRow:
    texts = {member.ending: member for member in sample.members}
    picture = _find_picture(sample)
    row = SourceRow(sample.key)
    if picture is not None:
        key = _content_key(file, picture.data, picture.size)
        row = row._replace(image=picture.name, picture=key)
    if sample.fault:
        return row._replace(reason="broken_sample", note=sample.fault)
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
    if picture is None:
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
    rows: Mapping[int, int],
    path_of: Callable[[int, str], Path],
) -> None:
    """Write the pictures of some samples of a shard, for metrics and people who look at them.

    Args:
        part: The shard.
        rows: Numbers of the rows that are wanted, by their place in the shard.
        path_of: Returns the file to write, from the row and the name of the member.
    """
    path = Path(part.source)
    with path.open("rb") as file:
        for at, sample in enumerate(shards.read_samples(path)):
            picture = _find_picture(sample)
            if picture is None or at not in rows:
                continue
            place = path_of(rows[at], picture.name)
            if not place.is_file():
                file.seek(picture.data)
                files.write_bytes(place, file.read(picture.size))
