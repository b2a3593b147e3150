"""Read the pictures of files and folders; nothing is fetched and no link is followed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from beholder.base.files import open_regular
from beholder.data.folders import picture_beside, pictures_without_text
from beholder.data.json_forms import parse_rows
from beholder.data.sources import TABLE_ENDINGS
from beholder.errors import DataError
from beholder.lint import (
    asciidoc,
    components,
    html,
    iiif,
    markdown,
    packed,
    rst,
    tables,
)
from beholder.lint.decoding import decode_text
from beholder.lint.leftovers import (
    LeftOut,
    NothingReadError,
    describe_left_out,
)
from beholder.lint.occurrence import Occurrence
from beholder.lint.wording import names
from beholder.text.languages import canonical_language

_WITHOUT_TEXTS = frozenset(names("forms_without_texts"))
"""Endings of pictures, styles, programs, sound and films."""

MOST_BYTES = 64 * 2**20
"""Bytes of the largest page, manifest or text that is read."""


class ReadFile(NamedTuple):
    """A file that was read.

    Attributes:
        name: As findings name it.
        folder: Folder of the file.
        root: The folder that the user named, else ``folder``.
        pictures: Its pictures, and errors for what could not be read.
        notes: Notes of the reader.
        left_out: Parts of it that were not read.
        is_read: False if all of it is left out.
    """

    name: str
    folder: Path
    root: Path
    pictures: Sequence[Occurrence | DataError]
    notes: Sequence[str]
    left_out: Sequence[LeftOut]
    is_read: bool = True


READERS: dict[str, Callable[..., Iterator[Occurrence]]] = {
    ".html": html.pictures,
    ".htm": html.pictures,
    ".xhtml": html.pictures,
    ".md": markdown.pictures,
    ".markdown": markdown.pictures,
    ".mdx": markdown.pictures,
    ".rst": rst.pictures,
    ".adoc": asciidoc.pictures,
    ".asciidoc": asciidoc.pictures,
    ".asc": asciidoc.pictures,
    **components.READERS,
}
"""Readers of pages, marked-up texts and components, by ending.

Each takes a text, its name, and a list that receives what is not read.
"""

_BESIDE = "a text beside a picture (.txt)"

_TABLES = (*TABLE_ENDINGS, _BESIDE)


def read_files(
    paths: Sequence[str | Path],
    columns: Mapping[str, str],
    *,
    layouts: bool = False,
    exclude: Sequence[str] = (),
) -> Iterator[ReadFile]:
    """Yield the pictures of files and folders, each file once.

    The last of each path has no pictures: it says what was left out.

    Args:
        paths: Files, or folders, of which all files of known forms are read.
        columns: Columns of tables by what they contain.
        layouts: Whether layouts and masters of slides are read, too.
        exclude: Patterns such as ``*.pdf`` of files in folders that are neither read nor counted.

    Raises:
        DataError: A path does not exist, its form is unknown, or nothing of a folder is read.
    """
    read_paths = set()
    for path in map(Path, paths):
        is_folder = path.is_dir()
        files, left_out = files_of(path, exclude)
        is_read = False
        for file in files:
            # A file that is named twice, or through a link, is read once.
            real = file.resolve()
            if real in read_paths:
                is_read = True
                continue
            read_paths.add(real)
            name = (file.relative_to(path) if is_folder else file).as_posix()
            read_file = _read_file(
                file, name, columns, is_alone=not is_folder, layouts=layouts
            )
            is_read = is_read or read_file.is_read
            left_out += read_file.left_out
            for picture in read_file.pictures:
                if isinstance(picture, Occurrence):
                    # Pages, manifests and documents spell languages as freely as tables do.
                    picture.language = canonical_language(picture.language)
            yield read_file._replace(
                root=path if is_folder else file.parent, left_out=()
            )
        if not is_read:
            reason = describe_left_out(left_out)
            forms = f"has no file of these forms: {', '.join(_FORMS)}"
            if files:
                forms = "has no file with pictures that are read"
            raise DataError(
                str(path), f"{forms}; {reason}" if reason else forms
            )
        yield ReadFile(str(path), path, path, (), (), left_out, is_read=False)


_FORMS = (*READERS, *_TABLES, *packed.FORMS)


def _form(file: Path) -> str:
    form = file.suffix.lower()
    # Most texts are no texts of pictures.
    return _BESIDE if form == ".txt" and picture_beside(file) else form


def files_of(
    path: Path, exclude: Sequence[str] = ()
) -> tuple[list[Path], list[LeftOut]]:
    """Return the files of a path that can be read, and what else of it may contain texts.

    Raises:
        DataError: The path does not exist, or is a file of an unknown form.
    """
    if path.is_file():
        if _form(path) in (*_FORMS, ".txt"):
            return [path], []
        raise DataError(
            str(path),
            f"has an unknown form; expected one of {', '.join(_FORMS)}",
        )
    if not path.is_dir():
        raise DataError(str(path), "is not a file or folder; check the path")
    files: list[Path] = []
    left_out: list[LeftOut] = []
    for folder, inner, file_names in os.walk(path):
        # Hidden folders and installed packages are not the user's pages;
        # changing the list in place keeps ``os.walk`` out of them.
        inner[:] = sorted(
            folder_name
            for folder_name in inner
            if folder_name[0] != "." and folder_name != "node_modules"
        )
        for file in (Path(folder, name) for name in sorted(file_names)):
            name = file.relative_to(path).as_posix()
            is_excluded = any(
                fnmatch(name, pattern) or fnmatch(file.name, pattern)
                for pattern in exclude
            )
            if file.name[0] == "." or is_excluded:
                continue
            form = _form(file)
            if not _may_have_texts(file, form):
                continue
            if file.is_symlink():
                left_out.append(LeftOut("link", name))
            elif form in _FORMS and file.is_file():
                files.append(file)
            else:
                left_out.append(
                    LeftOut("form", name, form=form or "no ending")
                )
        files += pictures_without_text(Path(folder), sorted(file_names))
    return files, left_out


def _may_have_texts(file: Path, form: str) -> bool:
    """Return whether a file may contain texts of pictures, by its ending or its beginning."""
    # Packed tables are counted: score reads them.
    if form in (".gz", ".xz"):
        return Path(file.stem).suffix.lower() in _FORMS
    if form:
        return form[1:] not in _WITHOUT_TEXTS
    if file.is_symlink():
        return False
    # Saved pages have no ending if their address had none; licences and
    # programs have none either.
    try:
        with open_regular(file) as source:
            return source.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"
    except OSError:
        return False


def _read_file(
    file: Path,
    name: str,
    columns: Mapping[str, str],
    *,
    is_alone: bool,
    layouts: bool,
) -> ReadFile:
    """Read a file; ``is_alone`` raises the error of a file of which nothing is read."""
    notes: list[str] = []
    pictures: list[Occurrence | DataError] = []
    left_out: list[LeftOut] = []
    is_read = True
    try:
        pictures += _read_pictures(
            file, name, columns, notes, left_out, layouts=layouts
        )
    except (tables.NoTextColumnError, NothingReadError) as error:
        # A folder may contain tables of other data.
        if is_alone:
            raise
        is_read = False
        left_out.append(
            error.left_out
            if isinstance(error, NothingReadError)
            else LeftOut("table", name)
        )
    except (
        Exception
    ) as error:  # a file of strangers never ends the reading of a folder
        unread = as_unread(name, error)
        if is_alone and not pictures and unread is error:
            raise
        if is_alone and not pictures:
            raise unread from error
        pictures.append(unread)
    return ReadFile(
        name, file.parent, file.parent, pictures, notes, left_out, is_read
    )


def _read_pictures(
    file: Path,
    name: str,
    columns: Mapping[str, str],
    notes: list[str],
    left_out: list[LeftOut],
    *,
    layouts: bool,
) -> Iterator[Occurrence | DataError]:
    """Yield the pictures of a file by the reader of its form; raises the reader's errors."""
    form = _form(file)
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
        yield from packed.pictures(file, name, left_out, layouts=layouts)
    elif form in READERS:
        text = decode_text(file.read_bytes(), name)
        yield from READERS[form](text, name, left_out)
    elif iiif.is_iiif(value):
        yield from iiif.pictures(value, name, left_out)
    else:
        yield from tables.pictures(file, name, value, columns, notes)


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
