"""Read the pictures of files and folders; nothing is fetched and no link is followed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from beholder.data.folders import picture_beside, pictures_without_text
from beholder.data.json_forms import parse_rows
from beholder.data.sources import TABLE_ENDINGS
from beholder.errors import DataError
from beholder.lint import html, iiif, markdown, packed, tables
from beholder.lint.decoding import decode_text
from beholder.lint.occurrence import Occurrence
from beholder.text.languages import canonical_language

MOST_BYTES = 64 * 2**20
"""Bytes of the largest page, manifest or text that is read."""


class ReadFile(NamedTuple):
    """A file that was read.

    Attributes:
        name: As findings name it.
        folder: Where it lies.
        root: The folder that the user named, else ``folder``.
        pictures: Its pictures, and errors for what could not be read.
        notes: How it was read.
    """

    name: str
    folder: Path
    root: Path
    pictures: Sequence[Occurrence | DataError]
    notes: Sequence[str]


READERS: dict[str, Callable[[str, str], Iterator[Occurrence]]] = {
    ".html": html.pictures,
    ".htm": html.pictures,
    ".xhtml": html.pictures,
    ".md": markdown.pictures,
    ".markdown": markdown.pictures,
}
"""Readers of pages and Markdown, by ending."""

_BESIDE = "a text beside a picture (.txt)"

_TABLES = (*TABLE_ENDINGS, _BESIDE)


def read_files(
    paths: Sequence[str | Path],
    columns: Mapping[str, str],
    *,
    layouts: bool = False,
) -> Iterator[ReadFile]:
    """Yield the pictures of files and folders, each file once.

    Args:
        paths: Files, or folders, of which all files of known forms are read.
        columns: Columns of tables by what they contain.
        layouts: Whether layouts and masters of slides are read, too.

    Raises:
        DataError: A path does not exist, or its form is unknown.
    """
    read_paths = set()
    for path in map(Path, paths):
        for file in _files(path):
            # A file that is named twice, or through a link, is read once.
            real = file.resolve()
            if real in read_paths:
                continue
            read_paths.add(real)
            inside = path.is_dir()
            name = (file.relative_to(path) if inside else file).as_posix()
            pictures, notes = _read_file(
                file, name, columns, strict=not inside, layouts=layouts
            )
            for picture in pictures:
                if isinstance(picture, Occurrence):
                    # Pages, manifests and documents spell languages as freely as tables do.
                    picture.language = canonical_language(picture.language)
            yield ReadFile(
                name,
                file.parent,
                path if inside else file.parent,
                pictures,
                notes,
            )


def _form(file: Path) -> str:
    form = file.suffix.lower()
    # Most texts are no texts of pictures.
    return _BESIDE if form == ".txt" and picture_beside(file) else form


def _files(path: Path) -> list[Path]:
    forms = (*READERS, *_TABLES, *packed.FORMS)
    if path.is_file():
        if _form(path) in (*forms, ".txt"):
            return [path]
        raise DataError(
            str(path),
            f"has an unknown form; expected one of {', '.join(forms)}",
        )
    if not path.is_dir():
        raise DataError(str(path), "is not a file or folder; check the path")
    files = []
    for folder, inner, names in os.walk(path):
        # Hidden folders and installed packages are not the user's pages;
        # changing the list in place keeps ``os.walk`` out of them.
        inner[:] = sorted(
            folder_name
            for folder_name in inner
            if folder_name[0] != "." and folder_name != "node_modules"
        )
        for name in sorted(names):
            file = Path(folder, name)
            if (
                name[0] != "."
                and _form(file) in forms
                and file.is_file()
                and not file.is_symlink()
            ):
                files.append(file)
        files += pictures_without_text(Path(folder), sorted(names))
    if not files:
        raise DataError(
            str(path), f"has no file of these forms: {', '.join(forms)}"
        )
    return files


def _read_file(
    file: Path,
    name: str,
    columns: Mapping[str, str],
    *,
    strict: bool,
    layouts: bool,
) -> tuple[list[Occurrence | DataError], list[str]]:
    notes: list[str] = []
    pictures: list[Occurrence | DataError] = []
    form = _form(file)
    try:
        # These are read as a whole.
        if form == ".json" or form in READERS:
            size = file.stat().st_size
            if size > MOST_BYTES:
                raise DataError(
                    name,
                    f"has {size:,} bytes; at most {MOST_BYTES:,} are read",
                )
        value = None
        if form == ".json":
            value = parse_rows(file.read_bytes(), name)
        if form in packed.FORMS:
            pictures += packed.pictures(file, name, layouts=layouts)
        elif form in READERS:
            pictures += READERS[form](
                decode_text(file.read_bytes(), name), name
            )
        elif iiif.is_iiif(value):
            pictures += iiif.pictures(value, name)
        else:
            pictures += tables.pictures(file, name, value, columns, notes)
    except (
        tables.NoTextColumnError
    ):  # a folder may contain tables of other data
        if strict:
            raise
        notes.append(f"{name}: skipped, it has no alternative texts in rows")
    except (
        Exception
    ) as error:  # a file of strangers never ends the reading of a folder
        unread = as_unread(name, error)
        if strict and not pictures and unread is error:
            raise
        if strict and not pictures:
            raise unread from error
        pictures.append(unread)
    return pictures, notes


def as_unread(name: str, error: Exception) -> DataError:
    """Return the error of a file that cannot be read, whatever a reader or rule raised.

    Args:
        name: The file as findings name it.
        error: A DataError is returned as it is; an error that no reader expects is named with its
            kind, as it is a fault of this package.
    """
    if isinstance(error, DataError):
        return error
    if isinstance(error, OSError):
        return DataError(name, str(error))
    if isinstance(error, MemoryError):
        return DataError(name, "needs more memory than there is; divide it")
    return DataError(
        name,
        f"cannot be read ({type(error).__name__}: {error}); please report this file as a bug",
    )
