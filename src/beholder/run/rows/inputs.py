"""Rows about pictures that need not have a text yet: a folder of pictures, or a data file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from beholder.data import from_row, read_frames
from beholder.data.read import _all_bad as bad_rows_error
from beholder.data.read import read_rows
from beholder.data.row import ALIASES, RowError
from beholder.errors import ConfigError, DataError
from beholder.records import Item


def read_pictured(
    source: str, *, media_root: Path | None = None, limit: int | None = None, skip: bool = False
) -> tuple[list[Item], list[DataError]]:
    """Read items whose candidate may be missing.

    Args:
        source: A folder (each picture file below it becomes an item) or a data file.
        media_root: Folder that absolute paths of images may point into; None refuses them.
        limit: Only the first so many; None for all.
        skip: Leave wrong rows out instead of refusing them.

    Returns:
        The items, and the rows that were left out.

    Raises:
        DataError: The source cannot be read, has no row, or has wrong rows that may not be skipped.
    """
    folder = Path(source).is_dir()
    rows = _from_folder(source) if folder else _from_file(source, media_root)
    items: list[Item] = []
    bad: list[DataError] = []
    for row in rows:
        if isinstance(row, DataError):
            bad.append(row)
        else:
            items.append(row)
        if limit is not None and len(items) == limit:
            break
    if bad and not skip:
        raise bad_rows_error(bad)
    if not items:
        raise DataError(source, "has no picture" if folder else "has no row")
    return items, bad


def root_of(source: str) -> Path:
    """The folder that image paths of a source are relative to."""
    path = Path(source)
    return path if path.is_dir() else path.parent


def rebased(image: str, root: Path, folder: Path) -> str:
    """An image path as a file in another folder names it; absolute where it does not lie below."""
    if "://" in image:
        return image
    whole = Path(os.path.normpath((root / image).absolute()))
    base = Path(os.path.normpath(folder.absolute()))
    return whole.relative_to(base).as_posix() if whole.is_relative_to(base) else str(whole)


def word_limits(text: str, items: Sequence[Item]) -> tuple[int, int]:
    """Fewest and most words of a caption from ``40``, ``30-40``, ``median`` or ``median:FILE``.

    A single number is the most; the fewest are four fifths of it. ``median`` is the median length
    of the references, in words between blanks: each different text counts once.

    Raises:
        ConfigError: Another form, or no reference to measure.
        DataError: The named file cannot be read.
    """
    name, _, file = text.partition(":")
    if name == "median":
        measured = read_pictured(file, media_root=Path("/"))[0] if file else items
        texts = {reference for item in measured for reference in item.references}
        if not texts:
            raise ConfigError(f"--words {text}: {file or 'the data'} has no reference to measure")
        return _around(round(median(len(reference.split()) for reference in texts)))
    low, dash, high = text.partition("-")
    try:
        limits = (int(low), int(high)) if dash else _around(int(text))
    except ValueError:
        limits = (0, 0)
    if not 1 <= limits[0] <= limits[1]:
        raise ConfigError(f"--words {text!r}: expected 40, 30-40, median or median:FILE")
    return limits


def _around(most: int) -> tuple[int, int]:
    return max(1, round(0.8 * most)), most


def _from_folder(source: str) -> Iterator[Item | DataError]:
    for frame in read_frames(source):
        if isinstance(frame, DataError):
            yield frame
        else:
            yield Item(id=frame.id, candidate="", images=(frame.image,) if frame.image else ())


def _from_file(source: str, media_root: Path | None) -> Iterator[Item | DataError]:
    seen: dict[str, int] = {}
    for number, row in read_rows(source, source):
        if isinstance(row, DataError):
            yield row
            continue
        try:
            item = from_row(_with_candidate(row), default_id=str(number), media_root=media_root)
            if item.id in seen:
                raise RowError(
                    f"{item.id!r} is taken by row {seen[item.id]}; ids must differ", "id"
                )
        except RowError as error:
            yield DataError(source, error.reason, line=number, field=error.field)
            continue
        seen[item.id] = number
        yield item


def _with_candidate(row: object) -> object:
    if not isinstance(row, Mapping):
        return row
    names = ("candidate", *ALIASES["candidate"])
    return row if any(row.get(name) is not None for name in names) else {**row, "candidate": ""}
