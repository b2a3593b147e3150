"""Recognise a data file that was read before, by its bytes and by how it is read."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass
from pathlib import Path

from beholder._version import __version__
from beholder.options import DataOptions

_BESIDE_A_FILM = frozenset({".vtt", ".srt"})
"""Files whose rows name the film that lies beside them."""


@dataclass(frozen=True)
class Input:
    """A data file and how it is read.

    Attributes:
        path: The file.
        rows: Which rows are taken.
        how: What else the rows depend on.
    """

    path: Path
    rows: DataOptions
    how: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...] | None:
        """The files whose bytes determine the rows; None if the rows depend on anything else.

        Reading may look at other files: for the length of films (``frames``), for the
        film beside a timed text, for where links lead (``media_root``).
        """
        rows = self.rows
        timed = _BESIDE_A_FILM.intersection(suffix.lower() for suffix in self.path.suffixes)
        if timed or rows.media_root is not None or isinstance(rows.frames, int):
            return None
        return (self.path,) if rows.references_from is None else (self.path, rows.references_from)

    def key(self) -> str | None:
        """SHA-256 of the bytes, the options and our version; size and date would prove nothing.

        None if bytes do not determine the rows, or if a file cannot be read.
        """
        files = self.files
        if files is None:
            return None
        found = hashlib.sha256(repr((astuple(self.rows), __version__, *self.how)).encode("utf-8"))
        for path in files:
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:  # a folder, a name on the hub
                return None
            found.update(repr((path.suffixes, digest)).encode("utf-8"))
        return found.hexdigest()
