"""Small pictures that a run keeps for its report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from beholder.base.files import make_folder, write_bytes
from beholder.errors import ItemError
from beholder.media import encode_jpeg, inside, load_image

FOLDER = "thumbs"


def thumb(run: Path, number: int) -> Path:
    """Return the path of a picture's thumbnail; missing if the picture could not be read."""
    return run / FOLDER / f"{number:06d}.jpg"


def write_thumbs(
    run: Path,
    root: Path,
    pictures: Iterable[tuple[str, str | None]],
    side: int,
) -> list[str]:
    """Write the thumbnails that are missing.

    Args:
        run: The run directory.
        root: Base folder of the names of files.
        pictures: Id and file of each picture, None for no picture; the place is the number.
        side: Pixels of the longer side.

    Returns:
        Why some could not be read, each with its id.
    """
    make_folder(run / FOLDER)
    unreadable = []
    for number, (name, file) in enumerate(pictures):
        path = thumb(run, number)
        # An earlier start has written it.
        if file is None or path.is_file():
            continue
        try:
            picture = load_image(inside(root, file), max_side=side)
        except ItemError as error:
            unreadable.append(f"{name}: {error}")
            continue
        write_bytes(path, encode_jpeg(picture))
    return unreadable
