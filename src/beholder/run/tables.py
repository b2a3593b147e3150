"""The rows that a run stores, whether in one file or in parts.

``tables_sqlite`` stores them in one file that one process writes, ``tables_parquet`` in parts that
many machines write. Both have the same methods; all outcomes of an asker come in order of position,
at most one per subject. ``Store`` uses either and knows what the rows mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

SubjectRow: TypeAlias = tuple[int, str, bytes, str, bytes]
"""Position, id, digest, row (JSON), key of what is described."""

MOST = 2**62
"""More subjects than there can be."""

SCORE_COLUMNS = ("signature", "numbers", "units", "detail", "unfinished")
FAILURE_COLUMNS = ("error", "message", "transient", "detail")


@dataclass(frozen=True)
class StoredAsker:
    """An asker as a run keeps it: canonical name, kind of subject, resolved fields, signature."""

    name: str
    kind: str
    config: Mapping[str, Any]
    signature: str
