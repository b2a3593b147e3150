"""The data of a task, read as the commands that use its results read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beholder.data import read_frames, read_items, read_reviews, read_storylines
from beholder.data.read import good_rows
from beholder.errors import DataError
from beholder.kinds.annotation.tasks import Task
from beholder.options import DataOptions


def rows_of(
    task: Task, data: str, options: DataOptions, *, pictures: str | None = None
) -> tuple[Sequence[Any], list[DataError]]:
    """The rows of a data file, and those that were left out.

    Args:
        task: Says what the rows are.
        data: A data file.
        options: Which rows are taken.
        pictures: File or folder of the pictures that sequences name by id.

    Raises:
        DataError: The file cannot be read, or rows are wrong and may not be skipped.
    """
    bad: list[DataError] = []
    root = options.media_root
    found: Any
    if task.data == "storylines":
        collection = []
        if pictures is not None:
            frames = read_frames(pictures, media_root=root)
            whole = DataOptions(skip_bad_rows=options.skip_bad_rows)
            collection = list(good_rows(frames, whole, bad, name=pictures))
        found = read_storylines(data, collection, media_root=root)
    elif task.data == "reviews":
        found = read_reviews(data, media_root=root)
    else:
        found = read_items(data, options)
    return list(good_rows(found, options, bad, name=data)), bad


def media_folder(data: str, options: DataOptions, pictures: str | None = None) -> Path | None:
    """What image paths are relative to: ``media_root``, else where the pictures or data lie."""
    if options.media_root is not None:
        return options.media_root
    path = Path(pictures or data)
    if path.is_dir():
        return path
    return path.parent if path.is_file() else None
