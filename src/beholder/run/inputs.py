"""What a data file gave before need not be read again: its bytes and how they were read say so."""

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
        """The files whose bytes fix the rows; None where rows depend on more than bytes.

        That is so where reading looks at other files: for the length of films (``frames``), for the
        film beside a timed text, for where links lead (``media_root``).
        """
        rows = self.rows
        timed = _BESIDE_A_FILM.intersection(suffix.lower() for suffix in self.path.suffixes)
        if timed or rows.media_root is not None or isinstance(rows.frames, int):
            return None
        return (self.path,) if rows.references_from is None else (self.path, rows.references_from)

    def key(self) -> str | None:
        """SHA-256 of the bytes, the options and our version; size and date would prove nothing.

        None where bytes do not fix the rows, or a file cannot be read: whoever reads it says why.
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
