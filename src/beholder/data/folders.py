"""Folders of pictures, alone or with a text beside each: ``cat.jpg`` and ``cat.txt``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from glob import escape
from pathlib import Path, PurePosixPath
from typing import Any

from beholder.base.files import check_name
from beholder.data.lines import MAX_ROW_BYTES, too_long
from beholder.data.reading import RowReading
from beholder.errors import ConfigError, DataError
from beholder.media import video

PICTURES = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".gif", ".tif", ".tiff", ".bmp"}
)
"""Endings of pictures."""


_COCO = re.compile(r"(?:COCO_)?(?:train|val|test)\d{4}_0*(\d+)\Z", re.I)
_NUMBER = re.compile(r"0*(\d+)(?:\.0+)?\Z")


def plain_id(key: str) -> str:
    """Return an id without folder, ending and zeros: ``COCO_val2014_000000000073.jpg`` is 73.

    ``73.0`` is how tables write a number beside missing ones.
    """
    name = PurePosixPath(unicodedata.normalize("NFC", key).strip()).name
    stem, dot, ending = name.rpartition(".")
    if dot and f".{ending.lower()}" in PICTURES | set(video.ENDINGS):
        name = stem
    match = _COCO.match(name) or _NUMBER.match(name)
    return match[1] if match else name


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
    return files_below(folder, PICTURES)


def find_name_error(file: str, folder: str, number: int) -> DataError | None:
    """Return the error of a file name, in place of its row; None if the name is valid."""
    try:
        check_name(file)
    except ConfigError as error:
        return DataError(folder, f"the file name {error}", line=number)
    return None


UNREAD = frozenset(
    {".txt", ".csv", ".tsv", ".json", ".jsonl", ".jsonlines", ".ndjson"}
    | {".parquet", ".xlsx", ".xlsm", ".xls", ".ods", ".vtt", ".srt"}
    | {".yaml", ".yml", ".toml"}
)
"""Endings of files that have texts, of which a folder of pictures reads those beside one."""


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - 3:,} more" if len(files) > 3 else ""
    return ", ".join(files[:3]) + more


def videos_below(folder: Path) -> list[str]:
    """Return the videos in and below a folder, as ``pictures_below``."""
    return files_below(folder, frozenset(video.ENDINGS))


def files_below(folder: Path, endings: frozenset[str]) -> list[str]:
    """Return the files of some endings in and below a folder, as sorted paths with slashes."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in endings and path.is_file()
    )


def sidecar_rows(
    folder: Path, name: str, reading: RowReading | None = None
) -> Iterator[tuple[int, dict[str, object] | DataError]]:
    """Yield a row per picture: its path as id and image, the text beside it as candidate.

    A picture without a text is a row without a candidate. Texts of no picture, and tables, are
    counted as not read.

    Args:
        folder: The folder.
        name: Its name in messages.
        reading: Receives what is not read; None to count nothing.

    Yields:
        A row, or an error (not raised) for a text that cannot be read.

    Raises:
        DataError: The folder contains no picture.
    """
    pictures = pictures_below(folder)
    texts = {str(PurePosixPath(file).with_suffix(".txt")) for file in pictures}
    other_files = [
        file for file in files_below(folder, UNREAD) if file not in texts
    ]
    if not pictures:
        advice = (
            f"; it has {_listed(other_files)}: name that file"
            if other_files
            else ""
        )
        raise DataError(
            name,
            f"is a folder with no run in it (run.json), and no pictures either{advice}",
        )
    if other_files and reading is not None:
        reading.leave_out(
            f"texts and tables beside the pictures ({_listed(other_files)})",
            len(other_files),
        )
    # A wrong name or text is an error of its row, not of the folder.
    for number, picture in enumerate(pictures, start=1):
        if (wrong := find_name_error(picture, name, number)) is not None:
            yield number, wrong
            continue
        row = sidecar_row(folder, picture)
        yield number, as_row(row, name, number)


def sidecar_row(
    folder: Path, picture: str, ending: str = ".txt"
) -> dict[str, Any] | str:
    """Return the row of a picture with the text beside it; the reason if that cannot be read.

    Args:
        folder: The folder.
        picture: Path of the picture in it.
        ending: Ending of the text's file, with its dot.
    """
    row: dict[str, Any] = {"id": picture, "images": [picture]}
    text_file = (folder / picture).with_suffix(ending)
    if not text_file.is_file():
        return row
    try:
        with text_file.open("rb") as stream:
            # One byte more than allowed shows that a file is too long
            # without reading all of it.
            raw = stream.read(MAX_ROW_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return f"{text_file.name} cannot be read: {error}"
    if len(raw) > MAX_ROW_BYTES:
        return too_long("", 0, text_file.name).reason
    return {**row, "candidate": text.strip()}


def as_row(
    row: dict[str, Any] | str, name: str, number: int
) -> dict[str, Any] | DataError:
    """Return a row, or the error of the reason that stands for it."""
    return DataError(name, row, line=number) if isinstance(row, str) else row


def picture_beside(text_file: Path) -> Path | None:
    """Return the picture that a text is beside: ``cat.jpg`` of ``cat.txt``; None without one."""
    for path in sorted(text_file.parent.glob(f"{escape(text_file.stem)}.*")):
        if path.suffix.lower() in PICTURES:
            return path
    return None


def pictures_without_text(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the pictures of a folder without a text, if others of it have one beside them."""
    texts = {name for name in names if name.endswith(".txt")}
    pictures = [Path(name) for name in names]
    pictures = [path for path in pictures if path.suffix.lower() in PICTURES]
    without = [
        folder / path
        for path in pictures
        if path.with_suffix(".txt").name not in texts
    ]
    return without if len(without) < len(pictures) else []


def sidecar_rows_of(
    file: Path,
) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """Yield the row of a text beside a picture, or of a picture without one."""
    picture = file if file.suffix.lower() in PICTURES else picture_beside(file)
    name = (picture or file).name
    row = sidecar_row(file.parent, name)
    if isinstance(row, dict):
        row.setdefault("candidate", None)
    yield 1, as_row(row, file.name, 1)
