"""What a data file gave before need not be read again: its bytes and how they were read say so."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass
from pathlib import Path

from beholder import __version__
from beholder.options import DataOptions


@dataclass(frozen=True)
class Input:
    """A data file and how it is read.

    Attributes:
        path: The file.
        rows: Which rows are taken.
    """

    path: Path
    rows: DataOptions

    def key(self) -> str | None:
        """SHA-256 of the bytes, the options and our version; size and date would prove nothing.

        None where the file cannot be read: whoever reads its rows says why.
        """
        try:
            with self.path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256")
        except OSError:
            return None
        found.update(repr((self.path.suffixes, astuple(self.rows), __version__)).encode("utf-8"))
        return found.hexdigest()
