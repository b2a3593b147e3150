"""Files that are written whole or not at all, and files that a URL names.

A killed process never leaves half a file.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from beholder.errors import ConfigError, OutputError, RunError

T = TypeVar("T")

MAX_JSON_BYTES = 500_000_000
"""Bytes of the largest JSON file of a run that is read."""

_RERUN_ADVICE = "delete it and run the same command again, which uses all that was kept beside it"
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_MAX_LINKS = 40
_MAX_NAME_LENGTH = 48
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a path to write to; ``path`` gets its bytes when the block ends without error.

    Missing folders above are made. A regular file is replaced as a whole: the bytes are on the
    disk first, so that a power cut leaves the old file or the new one. A link stays, and the file
    that it leads to is replaced. Character devices, FIFOs and open descriptors such as
    ``/dev/stdout`` get the bytes as a stream: replaced by a file, they would be lost to all
    programs.

    Raises:
        OutputError: The file cannot be written: no permission, no room, a folder of that name.
    """
    # A stream gets a finished temporary file; anything else a file beside it that is renamed, since
    # only a rename within one folder is atomic.
    make_folder(path.parent)
    with explain_write_errors(path):
        if _is_stream(path):
            from shutil import copyfileobj  # rare, and slow to load
            from tempfile import TemporaryDirectory

            with TemporaryDirectory(prefix="beholder-") as folder:
                unfinished = Path(folder, f"{path.name}.part")
                yield unfinished
                with (
                    unfinished.open("rb") as file,
                    _open_stream(path) as stream,
                ):
                    copyfileobj(file, stream)
            return
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        unfinished = target.with_name(f".{target.name}.part")
        try:
            yield unfinished
            # Without this, a power cut after the rename could leave an empty file.
            with unfinished.open("rb") as file:
                os.fsync(file.fileno())
            unfinished.replace(target)
        except BaseException:
            # An interrupt, too, must not leave the unfinished file.
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise


def check_regular(path: Path, reason: str) -> None:
    """Refuse a device, FIFO or open descriptor where a regular file is needed.

    Args:
        path: The file, which may be missing.
        reason: Reason, for the message.

    Raises:
        OutputError: Names the path and the reason.
    """
    with explain_write_errors(path):
        if _is_stream(path):
            raise OutputError(path, f"{path} is not a regular file: {reason}")


def _is_stream(path: Path) -> bool:
    if _find_descriptor(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    # ``-o /dev/sda`` would destroy a disk, so block devices are refused, not streamed to.
    if stat.S_ISBLK(mode):
        raise OSError(
            errno.EINVAL, "it is a disk, which a report would overwrite"
        )
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _open_stream(path: Path) -> IO[bytes]:
    number = _find_descriptor(path)
    if number is None:
        return os.fdopen(_open_for_reader(path), "wb")
    for standard_stream in (sys.stdout, sys.stderr):
        standard_stream.flush()
    # Opened a second time, a file behind /dev/stdout would be cut and written from its first byte.
    return os.fdopen(os.dup(number), "wb")


def _open_for_reader(path: Path) -> int:
    """Return a descriptor to write to a device or FIFO; fail if a FIFO has no reader.

    A plain ``open`` would wait for a reader for ever, also where a FIFO is in a run's folder
    by mistake. A reader that starts at the same time gets two seconds to open it.
    """
    for _ in range(20):
        try:
            descriptor = os.open(path, os.O_WRONLY | _NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time.sleep(0.1)
        else:
            os.set_blocking(descriptor, True)
            return descriptor
    raise OSError(errno.ENXIO, "it is a pipe that no program reads")


def _find_descriptor(path: Path) -> int | None:
    """Return the number of this process's open file that a path names; None for other paths."""
    name = path.absolute()
    for _ in range(_MAX_LINKS):
        if number := _DESCRIPTOR.fullmatch(os.path.normpath(name)):
            return int(number[1])
        if not name.is_symlink():
            return None
        name = name.parent / name.readlink()
    return None


def check_name(name: object) -> None:
    """Refuse the name of a file that is no text: tables, logs and pages could not hold it.

    Raises:
        ConfigError: Shows the name, and says what to do.
    """
    try:
        str(name).encode("utf-8")
    except UnicodeEncodeError:
        encoding = sys.getfilesystemencoding()
        hint = (
            ""
            if encoding == "utf-8"
            else f" (names are read as {encoding}: try PYTHONUTF8=1)"
        )
        raise ConfigError(
            f"{str(name)!r} is not UTF-8{hint}; give it another name"
        ) from None


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` of the block into a message that names the path and what to do.

    Raises:
        OutputError: No permission, no room, something else of that name.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(
            path, f"{path} cannot be written: {error.strerror or error}"
        ) from error


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder with those above it; it may be there.

    Args:
        path: The folder.
        mode: Its rights, if it is made; the process's umask is taken from them.

    Raises:
        OutputError: It cannot be made.
    """
    with explain_write_errors(path):
        try:
            path.mkdir(mode, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            _refuse_file(path)
            raise


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be made or written, before any work; nothing is made.

    Raises:
        OutputError: There is a file at this place or above, or there is no permission.
    """
    nearest_path = _refuse_file(path)
    effective = os.access in os.supports_effective_ids
    if not os.access(nearest_path, os.W_OK | os.X_OK, effective_ids=effective):
        raise OutputError(path, f"{nearest_path} may not be written by you")


def _refuse_file(path: Path) -> Path:
    """Return the nearest folder that exists, at a path or above; refuse a file there."""
    # Folders that are missing are made later, so the nearest one that exists decides.
    nearest_path = next(
        folder for folder in (path, *path.parents) if os.path.lexists(folder)
    )
    if not nearest_path.is_dir():
        raise OutputError(path, f"{nearest_path} is a file, not a folder")
    return nearest_path


def write_text(path: Path, text: str) -> None:
    """Write a text."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes."""
    with write_atomically(path) as unfinished:
        unfinished.write_bytes(data)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    with (
        write_atomically(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for row in rows:
            file.write(
                json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
            )


def write_csv(path: Path, rows: Iterable[Iterable[Any]]) -> None:
    r"""Write a table, heads first; None is empty, true and false are 1 and 0.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, and all ends of
    lines inside texts are ``\n``.
    """
    with (
        write_atomically(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as file,
    ):
        csv.writer(file, lineterminator="\n").writerows(
            [_cell(cell) for cell in row] for row in rows
        )


def read_json(
    path: Path, *, form: int, kind: str, missing_message: str
) -> dict[str, Any]:
    """Return the object in a JSON file that this package wrote.

    Args:
        path: The file.
        form: The value that it must have under ``format``.
        kind: Expected kind, for the message.
        missing_message: The message if there is no such file.

    Raises:
        RunError: There is none, it cannot be read, is damaged, or has another format.
    """
    try:
        content = json.loads(
            _read_regular(path, MAX_JSON_BYTES).decode("utf-8")
        )
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(missing_message) from None
    except OSError as error:
        reason = error.strerror or error
        raise RunError(f"{path} cannot be read: {reason}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(
            f"{path} cannot be read: {error}; {_RERUN_ADVICE}"
        ) from error
    if not isinstance(content, dict) or content.get("format") != form:
        raise RunError(f"{path} is no {kind} of format {form}")
    return content


def decode_json(data: bytes | str, kind: type[T]) -> T:
    """Return the value of a JSON text from outside as a record.

    Args:
        data: The text; bytes are UTF-8.
        kind: The type of the record, or any other type that ``msgspec`` knows.

    Raises:
        ValueError: The text is not UTF-8 or JSON, has half of a surrogate pair, is nested too
            deeply, or has another form; says which.
    """
    import msgspec

    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except UnicodeError as error:
        raise ValueError(f"not UTF-8: {error}") from None
    except RecursionError:
        raise ValueError(
            "not JSON that can be read: nested too deeply"
        ) from None
    except msgspec.DecodeError as error:
        # msgspec calls such a text truncated.
        text = (
            data if isinstance(data, str) else data.decode("utf-8", "replace")
        )
        reason = (
            "half of a surrogate pair" if _has_half_pair(text) else str(error)
        )
        raise ValueError(f"not JSON: {reason}") from None


def _has_half_pair(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def as_record(
    content: object, kind: type[T], path: Path, advice: str = _RERUN_ADVICE
) -> T:
    """Convert the result of ``read_json`` to a record.

    Args:
        content: The object that it returned.
        kind: The type of the record.
        path: The file.
        advice: Next step after a damaged file.

    Raises:
        RunError: The file is damaged; names the file and the field.
    """
    import msgspec

    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise RunError(f"{path} is damaged: {error}; {advice}") from error


def json_digest(value: object) -> str:
    """Return the SHA-256 of a JSON value in hex; the order of keys does not count."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def safe_name(text: str) -> str:
    """Part of a file name: letters and digits of a hostile text, never empty, never a path.

    What is cut ends in a digest, so that long texts which begin alike have files of their own.
    """
    name = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()
    if len(name) <= _MAX_NAME_LENGTH:
        return name or "item"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[
        :8
    ]
    return f"{name[: _MAX_NAME_LENGTH - 9]}-{digest}"


def open_regular(path: Path) -> io.FileIO:
    """Open a regular file for reading; a pipe would block, and a device has no end.

    Raises:
        OSError: It is missing, no regular file, or cannot be read.
    """
    file = io.FileIO(
        path, opener=lambda name, flags: os.open(name, flags | _NONBLOCK)
    )
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a regular file")
    return file


def _read_regular(path: Path, limit: int) -> bytes:
    with open_regular(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > limit:
            raise OSError(
                f"{size} bytes are more than the {limit} that are read"
            )
        return file.readall()


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return int(value) if isinstance(value, bool) else value
    # Only \n is quoted by the writer: any other end of a line would begin a new row.
    text = _LINE_ENDS.sub("\n", value)
    # Spreadsheets skip spaces before a formula; a tab or an end of a line starts one in some.
    is_formula = text.startswith(("\t", "\n")) or text.lstrip().startswith(
        _FORMULA_STARTS
    )
    return f"'{text}" if is_formula else text


if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


def is_url(name: str | Path) -> bool:
    """Return whether a place is named by a URL (``s3://``, ``file://``), not by a path."""
    return "://" in str(name)


def file_system(url: str) -> tuple[FileSystem, str]:
    """Return the file system of a URL, and the path in it.

    Keys are found where the file system looks for them: its usual variables and files.

    Raises:
        ConfigError: There is no file system of that kind, or the URL holds a key, which would be
            written into runs and messages.
        OSError: The file system cannot be reached.
    """
    from pyarrow.fs import FileSystem

    parts = urlsplit(url)
    if parts.password or "secret_key" in parts.query:
        raise ConfigError(
            f"the URL of {parts.scheme}://{parts.hostname}{parts.path} holds a key; leave it out,"
            " and give it as the file system's variables do (AWS_SECRET_ACCESS_KEY)"
        )
    try:
        files, path = FileSystem.from_uri(url)
    except ValueError as error:
        # Arrow raises it for a scheme that it does not know.
        raise ConfigError(
            f"{url!r} names no place that can be reached: {error}"
        ) from error
    return files, path
