"""The rows that a run stores: subjects, askers, outcomes. Defined here, stored in two ways.

``tables_sqlite`` keeps them in one file that one process writes, ``tables_parquet`` in parts that
many machines write. ``Store`` reads both alike and knows what the rows mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from beholder.run.codec import Encoded

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


class Tables(Protocol):
    """The rows of a run. All of an asker come in order of position, one of a subject at most."""

    @property
    def place(self) -> str:
        """Where they are, for messages."""

    def transaction(self) -> AbstractContextManager[None]:
        """Keep several writes together: all or none."""

    def digests(self, kind: str) -> Iterable[bytes]:
        """Digests of all subjects of a kind, in order."""

    def add_subjects(self, kind: str, subjects: Iterable[SubjectRow]) -> None:
        """Write subjects behind those that are there.

        Raises:
            RunError: Two have one id.
        """

    def renew_subject(self, kind: str, position: int, row: str) -> None:
        """Replace the row of a subject."""

    def n_subjects(self, kind: str) -> int:
        """How many subjects of a kind there are."""

    def subjects(
        self, kind: str, positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, str]]:
        """Positions and rows of all subjects of a kind, or of some."""

    def sources(self, kind: str, n: int) -> list[bytes]:
        """Keys of what the first ``n`` subjects of a kind describe."""

    def askers(self) -> list[StoredAsker]:
        """The askers, in the order in which they were added."""

    def add_asker(self, asker: StoredAsker) -> None:
        """Note an asker."""

    def renew_signature(self, asker: str, signature: str) -> None:
        """State the signature of an asker and of its scores in another way."""

    def forget(self, asker: str) -> None:
        """Remove an asker with its outcomes."""

    def input(self, key: str) -> tuple[int, str] | None:
        """Number and hash of the subjects that an input gave; None where it is not known."""

    def add_input(self, key: str, n: int, data: str) -> None:
        """Note what an input gave."""

    def state(self, asker: str, data: str) -> bytes | None:
        """What an asker of some signature found of the data of some hash, encoded."""

    def add_state(self, asker: str, data: str, state: bytes) -> None:
        """Keep what an asker found."""

    def put(self, found: Encoded) -> None:
        """Write outcomes of subjects, all or none; they replace earlier outcomes."""

    def keep_only(self, asker: str, positions: Iterable[int]) -> None:
        """Remove the outcomes of an asker at all other positions."""

    def finished(self, asker: str, n: int) -> Iterator[int]:
        """Positions below ``n`` with a whole score, or with a failure that will stay."""

    def n_finished(self, asker: str, n: int) -> int:
        """How many positions below ``n`` are finished."""

    def scores(
        self, asker: str, columns: Sequence[str], n: int, at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Position and some of ``SCORE_COLUMNS``, below ``n`` or at one position."""

    def failures(self, asker: str, n: int, at: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Position and ``FAILURE_COLUMNS``, below ``n`` or at one position."""

    def signatures(self, asker: str) -> list[str]:
        """The distinct signatures of an asker's scores, in order."""

    def vectors(self, identity: str, digests: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Vectors that are kept, by digest of their text."""

    def put_vectors(self, identity: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors."""
