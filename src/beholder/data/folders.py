"""Folders of pictures, alone or with a text beside each: ``cat.jpg`` and ``cat.txt``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beholder.base.files import check_name
from beholder.data.lines import MAX_ROW_BYTES, too_long
from beholder.errors import ConfigError, DataError
from beholder.media import video

PICTURES = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".gif", ".tif", ".tiff", ".bmp"}
)
"""Endings of pictures."""


def folder_of(data: str, media_root: Path | None) -> Path:
    """Return the folder that pictures of a data set are relative to.

    The folder of the data file, or of pictures; for rows given otherwise ``media_root``, else the
    current directory.
    """
    path = Path(data)
    if path.is_file():
        return path.parent
    return path if path.is_dir() else media_root or Path()


def pictures_below(folder: Path) -> list[str]:
    """Return the pictures in and below a folder, as sorted paths with slashes.

    A name that is not UTF-8 is among them; ``unnamed`` finds it.
    """
    return _below(folder, PICTURES)


def find_name_error(file: str, folder: str, number: int) -> DataError | None:
    """Return the error of a file name, in place of its row; None if the name is valid."""
    try:
        check_name(file)
    except ConfigError as error:
        return DataError(folder, f"the file name {error}", line=number)
    return None


def videos_below(folder: Path) -> list[str]:
    """Return the videos in and below a folder, as ``pictures_below``."""
    return _below(folder, frozenset(video.ENDINGS))


def _below(folder: Path, endings: frozenset[str]) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in endings and path.is_file()
    )


def sidecar_rows(
    folder: Path, name: str
) -> Iterator[tuple[int, dict[str, object] | DataError]]:
    """Yield a row per picture: its path as id and image, the text beside it as candidate.

    A picture without a text is a row without a candidate.

    Yields:
        A row, or an error (not raised) for a text that cannot be read.

    Raises:
        DataError: The folder contains no picture.
    """
    pictures = pictures_below(folder)
    if not pictures:
        raise DataError(
            name,
            "is a folder with no run in it (run.json), and no pictures either",
        )
    # A wrong name or text is an error of its row, not of the folder.
    for number, picture in enumerate(pictures, start=1):
        if (wrong := find_name_error(picture, name, number)) is not None:
            yield number, wrong
            continue
        row: dict[str, Any] = {"id": picture, "images": [picture]}
        text_file = (folder / picture).with_suffix(".txt")
        if text_file.is_file():
            try:
                with text_file.open("rb") as stream:
                    # One byte more than allowed shows that a file is too long
                    # without reading all of it.
                    raw = stream.read(MAX_ROW_BYTES + 1)
                text = raw.decode("utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                yield (
                    number,
                    DataError(
                        name,
                        f"{text_file.name} cannot be read: {error}",
                        line=number,
                    ),
                )
                continue
            if len(raw) > MAX_ROW_BYTES:
                yield number, too_long(name, number, text_file.name)
                continue
            row["candidate"] = text.strip()
        yield number, row
