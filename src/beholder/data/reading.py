"""Settings by which the rows of a source are read, and the count of parts that are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RowReading:
    """Settings by which the rows of a source are read.

    Attributes:
        columns: Column by field, as mapped by the user.
        left_out: Counts what is not read, by what it is; None to count nothing.
        as_written: Whether cells of tables stay texts, also empty ones, and rows have the number of
            their first line.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    left_out: Counter[str] | None = None
    as_written: bool = False

    def leave_out(self, what: str, n: int = 1) -> None:
        """Count what is not read."""
        if self.left_out is not None and n:
            self.left_out[what] += n
