"""The store of one run: subjects, askers and outcomes, and the meaning of their rows.

What is finished is kept, so a killed run loses only what was in flight. One process begins a run
(``Store.open``, which locks the run directory); any number may read (``Store.read``), also from a
disk that cannot be written. A run is kept in one SQLite file, or in Parquet parts where many
machines work on it.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from beholder.embed.base import FloatArray
from beholder.errors import RunError
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.run import codec
from beholder.run.codec import (
    MAX_SUBJECTS,
    SCORE_COLUMNS,
    Encoded,
    StoredAsker,
    SubjectRow,
)
from beholder.run.store_file import (
    FILE_NAME,
    PARTS_NAME,
    to_read,
    to_write,
)
from beholder.run.subjects import ITEM, KINDS, SubjectKind
from beholder.run.tables_parquet import ParquetTables
from beholder.run.tables_sqlite import SqliteTables

S = TypeVar("S")
T = TypeVar("T")

VERSION = "v"
"""The part of a signature that states the version of beholder."""

_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    zlib.error,
    RecursionError,
)


class Store:
    """Subjects, askers and outcomes of a run. Use ``Store.open`` to write, ``Store.read`` to read.

    Attributes:
        folder: The run directory.
        tables: Its rows.
    """

    def __init__(self, folder: Path, tables: SqliteTables) -> None:
        self.folder = folder
        self.tables = tables

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[Store]:
        """Open for writing, made if need be; the run directory is locked meanwhile.

        Raises:
            RunError: Another process writes there, the run is kept in parts, or the file is not a
                store of this version.
        """
        # Outcomes in two forms would contradict each other.
        if (folder / PARTS_NAME).is_file():
            raise RunError(
                f"{folder} holds a run in parts; resume it with --engine ray, or choose"
                " another run directory with -o"
            )
        with to_write(folder) as connection:
            yield cls(folder, SqliteTables(folder, connection))

    @classmethod
    @contextmanager
    def open_parts(
        cls, folder: Path, place: str | None = None
    ) -> Iterator[Store]:
        """Open a run in parts for writing, made if need be; see ``open``.

        Args:
            folder: The run directory.
            place: URL or path of where parts are kept; None for the run directory.

        Raises:
            RunError: Another process writes there, the run is kept in one file or elsewhere, or the
                place cannot be reached.
        """
        is_new = not (folder / PARTS_NAME).is_file()
        if is_new and (folder / FILE_NAME).is_file():
            raise RunError(
                f"{folder} holds a run in one file; resume it without --engine ray, or"
                " choose another run directory with -o"
            )
        with to_write(folder) as connection:
            yield cls(
                folder, ParquetTables.to_write(folder, connection, place)
            )

    @classmethod
    @contextmanager
    def read(cls, folder: Path) -> Iterator[Store]:
        """Open for reading; works on a disk that cannot be written.

        Raises:
            RunError: There is no run in that folder, or one of another format.
        """
        with to_read(folder) as connection:
            if (folder / PARTS_NAME).is_file():
                yield cls(folder, ParquetTables.to_read(folder, connection))
            else:
                yield cls(folder, SqliteTables(folder, connection))

    @staticmethod
    def exists(folder: Path) -> bool:
        """Return whether the folder contains a store."""
        return (folder / FILE_NAME).is_file()

    # Subjects

    def sync(
        self, kind: SubjectKind[S], subjects: Iterable[S]
    ) -> tuple[int, str]:
        """Store the subjects of a data set, or check that the stored ones are equal.

        A run may grow (``--limit`` raised) or be asked for its first subjects; none may change but
        in what no outcome depends on.

        Returns:
            The number of subjects given, and the hash of the data set.

        Raises:
            RunError: A subject differs from the one the run holds at its place, or two have one id.
        """
        total = hashlib.sha256()
        n = 0

        def new_rows() -> Iterator[SubjectRow]:
            nonlocal n
            # Digests are read beside the new subjects, so that neither list must fit the memory.
            stored = iter(self.tables.digests(kind.name))
            for position, subject in enumerate(subjects):
                row = kind.row(subject)
                digest = kind.digest(subject, row)
                total.update(digest)
                n = position + 1
                stored_digest = next(stored, None)
                if stored_digest is None:
                    yield (
                        position,
                        kind.id(subject),
                        digest,
                        row,
                        kind.source_key(subject),
                    )
                elif stored_digest != digest:
                    raise RunError(
                        f"{self.folder} holds a run over other data ({kind.name}"
                        f" {kind.id(subject)!r} differs); choose another run directory with -o"
                    )
                # People may judge more texts between two starts.
                elif kind.loose:
                    self.tables.renew_subject(kind.name, position, row)

        # One transaction: a run with other data must stay as it was.
        with self.tables.transaction():
            self.tables.add_subjects(kind.name, new_rows())
        return n, total.hexdigest()

    def n_subjects(self, kind: SubjectKind[Any] = ITEM) -> int:
        """Return the number of subjects of a kind."""
        return self.tables.n_subjects(kind.name)

    def subjects(
        self, kind: SubjectKind[S], positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, S]]:
        """Yield (position, subject) of a kind, in order; all, or those at ``positions``."""
        for position, row in self.tables.subjects(kind.name, positions):
            yield (
                position,
                self._decode(
                    lambda row: kind.from_row(json.loads(row)),
                    row,
                    kind.name,
                    position,
                ),
            )

    def items(
        self, positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, Item]]:
        """Yield items with their positions, in order; all, or those at ``positions``."""
        return self.subjects(ITEM, positions)

    def sources(self, n: int, kind: SubjectKind[Any] = ITEM) -> list[bytes]:
        """Return a source key for each of ``n`` subjects, equal for texts about one picture."""
        return self.tables.sources(kind.name, n)

    # Askers

    def add_asker(
        self,
        name: str,
        kind: SubjectKind[Any],
        config: Mapping[str, Any],
        signature: str,
        *,
        renew: bool = False,
    ) -> None:
        """Add an asker to the run.

        Args:
            name: Canonical name.
            kind: Kind of subject.
            config: Resolved fields.
            signature: Signature of the outcomes.
            renew: Forget outcomes that were made in another way, instead of refusing them.

        Raises:
            RunError: The run contains outcomes of that name that were made in another way.
        """
        signatures = {
            asker.name: asker.signature for asker in self.tables.askers()
        }
        # Only outcomes that cost nothing are made again; paid ones are never deleted.
        if renew and signatures.get(name, signature) != signature:
            self.tables.forget(name)
            del signatures[name]
        if name not in signatures:
            self.tables.add_asker(
                StoredAsker(name, kind.name, config, signature)
            )
        elif signatures[name] != signature:
            raise RunError(
                _describe_mismatch(
                    self.folder, name, signatures[name], signature
                )
            )

    def askers(self) -> list[StoredAsker]:
        """The askers of the run, in the order they were added."""
        return self.tables.askers()

    def kind_of(self, asker: str) -> SubjectKind[Any]:
        """Return the kind of subject that an asker of the run evaluates.

        Raises:
            RunError: The run has no such asker, or one of an unknown kind.
        """
        kinds = {
            stored_asker.name: stored_asker.kind
            for stored_asker in self.tables.askers()
        }
        if kinds.get(asker) not in KINDS:
            raise RunError(
                f"{self.folder} has asked nothing called {asker!r} that can be read"
            )
        return KINDS[kinds[asker]]

    # State of askers

    def state(
        self,
        asker: str,
        data: str,
        with_state: Callable[[Mapping[str, Any]], T],
    ) -> T | None:
        """Load an asker's state for a data set and return ``with_state`` of it; None without one.

        Args:
            asker: Its signature before it was prepared.
            data: Hash of the data set.
            with_state: Builds the result from the stored state.

        Raises:
            RunError: The store is damaged.
        """
        packed = self.tables.state(asker, data)
        if packed is None:
            return None
        return self._decode(
            lambda data: with_state(codec.decode_detail(data)),
            packed,
            asker,
            0,
        )

    def add_state(
        self, asker: str, data: str, state: Mapping[str, Any]
    ) -> None:
        """Store an asker's state for a data set, unless it exceeds the limit for reading."""
        packed = codec.encode_bounded(state)
        # A state that is too large is computed again at each start.
        if packed is not None:
            self.tables.add_state(asker, data, packed)

    # Outcomes

    def finished(self, asker: str) -> set[int]:
        """Return positions with a complete score or a permanent failure."""
        return set(self.tables.finished(asker, MAX_SUBJECTS))

    def n_finished(self, asker: str, n: int) -> int:
        """Return the number of finished subjects among the first ``n``."""
        return self.tables.n_finished(asker, n)

    def pending(self, asker: str, n: int) -> NDArray[np.bool_]:
        """Return a mask of the first ``n`` subjects, shape (n,): True where one is not finished."""
        is_pending = np.ones(n, dtype=np.bool_)
        for position in self.tables.finished(asker, n):
            is_pending[position] = False
        return is_pending

    def put_outcome(
        self, asker: str, position: int, outcome: ItemScore | ItemFailure
    ) -> None:
        """Write the outcome of one subject."""
        encoded = Encoded()
        encoded.add(asker, position, outcome)
        self.put_block(encoded)

    def put_block(self, outcomes: Encoded) -> None:
        """Write outcomes of subjects: all, or none if the process is killed."""
        self.tables.write_outcomes(outcomes)

    def keep_only(self, asker: str, positions: Iterable[int]) -> None:
        """Delete the outcomes of an asker at all other positions."""
        self.tables.keep_only(asker, positions)

    def values(
        self, asker: str, n: int | None = None
    ) -> Iterator[tuple[int, Mapping[str, float]]]:
        """Yield (position, scores by name) per scored subject, without units or detail."""
        # Values that depend on labels which arrive later are computed at each reading.
        kind = self.kind_of(asker)
        if kind.measure is not None:
            subjects = dict(self.subjects(kind))
            for position, detail in self.details(asker, n):
                yield position, kind.measure(subjects[position], detail)
            return
        yield from self._scores(asker, "numbers", json.loads, n)

    def values_by_id(self, metric: str) -> dict[str, Mapping[str, float]]:
        """Return the scores of a metric by the ids of the items."""
        ids = {position: item.id for position, item in self.items()}
        return {
            ids[position]: values for position, values in self.values(metric)
        }

    def units(
        self, asker: str, n: int | None = None
    ) -> Iterator[tuple[int, tuple[Unit, ...]]]:
        """Yield (position, units) per scored subject, of all or of the first ``n``, in order."""
        return self._scores(asker, "units", codec.decode_units, n)

    def unit_fields(
        self, asker: str, n: int
    ) -> Iterator[tuple[int, list[Mapping[str, Any]]]]:
        """Yield (position, fields of each unit) per scored subject, for tables."""
        return self._scores(asker, "units", codec.unit_fields, n)

    def details(
        self, asker: str, n: int | None = None
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield (position, detail) per scored subject, of all or of the first ``n``, in order."""
        return self._scores(asker, "detail", codec.decode_detail, n)

    def _scores(
        self,
        asker: str,
        column: str,
        decode: Callable[[Any], T],
        n: int | None,
    ) -> Iterator[tuple[int, T]]:
        for position, value in self.tables.scores(
            asker, (column,), MAX_SUBJECTS if n is None else n
        ):
            yield position, self._decode(decode, value, asker, position)

    def score(
        self, asker: str, position: int
    ) -> ItemScore | ItemFailure | None:
        """Return the outcome of one subject under an asker; None if there is none yet."""
        for (
            _,
            signature,
            numbers,
            units,
            detail,
            unfinished,
        ) in self.tables.scores(asker, SCORE_COLUMNS, MAX_SUBJECTS, position):
            return ItemScore(
                values=self._decode(json.loads, numbers, asker, position),
                units=self._decode(codec.decode_units, units, asker, position),
                signature=signature,
                detail=self._decode(
                    codec.decode_detail, detail, asker, position
                ),
                unfinished=bool(unfinished),
            )
        return dict(self.failures(asker, position)).get(position)

    def failures(
        self, asker: str, at: int | None = None
    ) -> Iterator[tuple[int, ItemFailure]]:
        """Yield (position, failure) of an asker, in order; of all subjects, or of one."""
        for (
            position,
            error,
            message,
            transient,
            detail,
        ) in self.tables.failures(asker, MAX_SUBJECTS, at):
            failure_detail = codec.decode_detail(detail)
            yield (
                position,
                ItemFailure(error, message, bool(transient), failure_detail),
            )

    def signatures(self, asker: str) -> list[str]:
        """The distinct signatures of an asker's scores; more than one means that a tool changed."""
        return self.tables.signatures(asker)

    def _decode(
        self, decode: Callable[[Any], T], data: Any, what: str, position: int
    ) -> T:
        """Decode a stored value of a subject.

        Raises:
            RunError: The store is damaged there, or another program wrote it.
        """
        try:
            return decode(data)
        except _DAMAGE as error:
            raise RunError(
                f"{self.tables.place} is damaged ({what}, number {position}:"
                f" {type(error).__name__}: {error}); restore it from a copy, or score again into"
                " another run directory with -o"
            ) from error

    # Vectors (the VectorStore of embed.service)

    def get_vectors(
        self, identity: str, texts: Sequence[str]
    ) -> dict[str, FloatArray]:
        """Return the stored vectors by text; texts without one are left out."""
        # Texts may be long; the digest is the key.
        by_digest = {_digest(text): text for text in texts}
        return {
            by_digest[digest]: np.frombuffer(vector, dtype="<f4")
            for digest, vector in self.tables.vectors(
                identity, list(by_digest)
            )
        }

    def put_vectors(
        self, identity: str, vectors: Mapping[str, FloatArray]
    ) -> None:
        """Keep vectors by text."""
        self.tables.put_vectors(
            identity,
            (
                (
                    _digest(text),
                    np.ascontiguousarray(vector, dtype="<f4").tobytes(),
                )
                for text, vector in vectors.items()
            ),
        )


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()


def _describe_mismatch(
    folder: Path, name: str, old_signature: str, new_signature: str
) -> str:
    """Return the error message for outcomes that were made in another way than now."""
    old_parts, new_parts = (
        _split_signature(old_signature),
        _split_signature(new_signature),
    )
    changes = [
        f"{part} was {old_parts.get(part, '(not stated)')},"
        f" now {new_parts.get(part, '(not stated)')}"
        for part in dict.fromkeys((*new_parts, *old_parts))
        if old_parts.get(part) != new_parts.get(part)
    ]
    description, finish = f"in another way ({'; '.join(changes)})", ""
    # A new version changes the part ``code``, too; the version is what a user can act on.
    if old_parts.get(VERSION) != new_parts.get(VERSION):
        description = (
            f"by beholder {old_parts.get(VERSION)}, and this is beholder"
            f" {new_parts.get(VERSION)}, whose numbers may differ ({'; '.join(changes)})"
        )
        finish = (
            f" To finish this run, install beholder {old_parts.get(VERSION)}."
        )
    elif old_parts.get("code") != new_parts.get("code"):
        finish = " Part code is a digest of the code and data that compute it; they changed since."
    return (
        f"{folder} holds scores of {name} made {description}; scores made in two ways are not"
        " mixed. To score again, choose another run directory with -o: answers that are in the"
        f" cache are not paid for again.{finish} 'beholder report {folder}' and 'beholder view"
        f" {folder}' still read it"
    )


def _split_signature(signature: str) -> dict[str, str]:
    """The parts of a signature by name; brackets hold signatures of their own."""
    parts: dict[str, str] = {}
    # The bar separates parts, but not within brackets, which contain signatures of tools.
    for part in re.split(r"\|(?![^\[]*\])", signature):
        name, mark, value = part.partition(":")
        parts[name if mark else "name"] = value if mark else name
    return parts
