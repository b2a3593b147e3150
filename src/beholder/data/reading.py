"""How the rows of a source are read, and what receives the parts that are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from beholder.data.notes import RowNotes


@dataclass(frozen=True)
class RowReading:
    """How the rows of a source are read.

    Attributes:
        columns: Column by field, as mapped by the user.
        notes: Receives what is left out; None to count nothing.
        as_written: Whether cells of tables stay texts, also empty ones, and rows have the number of
            their first line.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    notes: RowNotes | None = None
    as_written: bool = False

    def leave_out(self, what: str, n: int = 1) -> None:
        """Count what is not read."""
        if self.notes is not None and n:
            self.notes.left_out[what] += n
