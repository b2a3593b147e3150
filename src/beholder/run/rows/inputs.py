"""Rows about pictures that need not have a text yet: a folder of pictures, or a data file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from beholder.data import read_frames, read_items
from beholder.data.folders import pictures_below, unnamed, videos_below
from beholder.data.lines import Row
from beholder.data.read import EVERY_ROW, good_rows, items_of
from beholder.errors import ConfigError, DataError
from beholder.options import DataOptions
from beholder.records import Item
from beholder.run.rows.askers import check_words
from beholder.text import n_spoken


def read_pictured(
    source: str, taken: DataOptions = EVERY_ROW, folder: Path | None = None
) -> Iterator[Item | DataError]:
    """Read items whose candidate may be missing.

    Args:
        source: A folder (each picture below it becomes an item, and where pictures are taken of
            videos, each video) or a data file.
        taken: Which column holds a field, where pictures may lie, and how many a video gives.
        folder: What paths of images become relative to; None leaves them relative to the source.

    Yields:
        An Item per good row, a DataError (not raised) per bad one.

    Raises:
        DataError: The source as a whole cannot be read.
    """
    for row in _pictured(source, taken):
        if folder is not None and isinstance(row, Item):
            images = (rebased(image, root_of(source), folder) for image in row.images)
            row = replace(row, images=tuple(images))
        yield row


def _pictured(source: str, taken: DataOptions) -> Iterator[Item | DataError]:
    if not Path(source).is_dir():
        yield from read_items(source, taken, textless=True)
        return
    films = [] if taken.frames is None else videos_below(Path(source))
    rows: Iterator[Row] = (
        (n, unnamed(film, source, n) or {"id": film, "candidate": "", "video": film})
        for n, film in enumerate(films, start=1)
    )
    yield from items_of(rows, taken, source)
    if films and not pictures_below(Path(source)):
        return
    for frame in read_frames(source):
        if isinstance(frame, DataError):
            yield frame
        else:
            yield Item(id=frame.id, candidate="", images=(frame.image,) if frame.image else ())


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


def word_limits(text: str, items: Iterable[Item]) -> tuple[int, int]:
    """Fewest and most words of a caption from ``40``, ``30-40``, ``median`` or ``median:FILE``.

    A single number is the most; the fewest are four fifths of it. ``median`` is the median length
    of the references, in words between blanks, without marks of speech: each different text counts
    once.

    Args:
        text: What the user wrote.
        items: The data; only read for ``median``.

    Raises:
        ConfigError: Another form, or no reference to measure.
        DataError: The named file cannot be read.
    """
    name, _, file = text.partition(":")
    if name == "median":
        others = read_pictured(file, DataOptions(media_root=Path("/")))
        measured = good_rows(others, DataOptions(), [], name=file) if file else items
        texts = {reference for item in measured for reference in item.references}
        if not texts:
            raise ConfigError(f"--words {text}: {file or 'the data'} has no reference to measure")
        return _around(round(median(n_spoken(reference) for reference in texts)))
    low, dash, high = text.partition("-")
    try:
        limits = (int(low), int(high)) if dash else _around(int(text))
    except ValueError:
        raise ConfigError(f"--words {text!r}: expected 40, 30-40, median or median:FILE") from None
    check_words(limits)
    return limits


def _around(most: int) -> tuple[int, int]:
    return max(1, round(0.8 * most)), most
