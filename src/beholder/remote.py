"""Files that are named by a URL: stores of objects, and what else pyarrow reaches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from beholder.errors import ConfigError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


def is_url(name: str | Path) -> bool:
    """Whether a place is named by a URL (``s3://``, ``gs://``, ``file://``), not by a path."""
    return "://" in str(name)


def file_system(url: str) -> tuple[FileSystem, str]:
    """The file system of a URL, and the path there.

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
    except ValueError as error:  # of Arrow
        raise ConfigError(f"{url!r} names no place that can be reached: {error}") from error
    return files, path
