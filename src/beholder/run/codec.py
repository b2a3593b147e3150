"""The rows that a run stores: JSON, arrays as half-precision bytes, compressed.

``tables_sqlite`` stores them in a file that one process writes; ``tables_parquet`` stores outcomes
in parts that many machines write. All outcomes of an asker come in order of position, at most one
per subject. ``Store`` uses either and knows what the rows mean.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np

from beholder.records import ItemFailure, ItemScore, Unit

SubjectRow: TypeAlias = tuple[int, str, bytes, str, bytes]
"""Position, id, digest, row (JSON), key of what is described."""

MAX_SUBJECTS = 2**62
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


_ARRAY = "__array__"
_ARRAY_BYTES = b'"__array__"'
_FIELDS = tuple(unit_field.name for unit_field in fields(Unit))

_LEVEL = 6
"""Of zlib. 1 saves a thousandth of a worker's time (PoSh: 0.1 of 80 ms), at 14 % more disk."""

MAX_BYTES = 256 * 2**20
"""Most that units or detail of one subject may unpack to."""


ScoreRow: TypeAlias = tuple[str, int, str, str, bytes, bytes, bool]
"""Asker, position, signature, numbers (JSON), units, detail, unfinished."""

FailureRow: TypeAlias = tuple[str, int, str, str, bool, bytes]
"""Asker, position, error, message, transient, detail."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Outcomes as the store keeps them, in the order in which they were asked for.

    Attributes:
        scores: A row per score.
        failures: A row per failure.
    """

    scores: list[ScoreRow] = field(default_factory=list)
    failures: list[FailureRow] = field(default_factory=list)

    def add(
        self, asker: str, position: int, outcome: ItemScore | ItemFailure
    ) -> None:
        """Encode one outcome.

        Raises:
            TypeError: The outcome holds what is no JSON value and no array.
            ValueError: A number is not finite.
        """
        # Failures have a detail, too: the questions that were asked before the failure.
        detail = encode_detail(outcome.detail)
        if isinstance(outcome, ItemFailure):
            self.failures.append(
                (
                    asker,
                    position,
                    outcome.error,
                    outcome.message,
                    outcome.transient,
                    detail,
                )
            )
            return
        numbers = json.dumps(dict(outcome.values), allow_nan=False)
        units = encode_units(outcome.units)
        self.scores.append(
            (
                asker,
                position,
                outcome.signature,
                numbers,
                units,
                detail,
                outcome.unfinished,
            )
        )

    def __len__(self) -> int:
        return len(self.scores) + len(self.failures)


def encode_units(units: tuple[Unit, ...]) -> bytes:
    """Encode units as bytes, in full precision."""
    return encode_detail(
        [{name: getattr(unit, name) for name in _FIELDS} for unit in units]
    )


def decode_units(data: bytes) -> tuple[Unit, ...]:
    """Decode units of ``encode_units``."""
    return tuple(
        Unit(
            **{
                **fields,
                "spans": tuple((start, end) for start, end in fields["spans"]),
            }
        )
        for fields in unit_fields(data)
    )


def unit_fields(data: bytes) -> list[Mapping[str, Any]]:
    """Decode units of ``encode_units`` as plain fields."""
    return decode_detail(data)  # type: ignore[return-value]


def encode_detail(detail: Any) -> bytes:
    """Encode a score's detail as bytes.

    Float arrays are kept in half precision: they are there to be drawn, and a million similarity
    matrices should fit a disk.
    """
    return zlib.compress(_JSON.encode(detail).encode("utf-8"), level=_LEVEL)


def decode_detail(data: bytes) -> Mapping[str, Any]:
    """Decode a detail of ``encode_detail``; arrays are float32."""
    # A limit on the output: a damaged or hostile store must not fill the memory.
    reader = zlib.decompressobj()
    text = reader.decompress(data, MAX_BYTES)
    if reader.unconsumed_tail:
        raise ValueError(
            f"what is kept of one subject is larger than {MAX_BYTES >> 20} MiB"
        )
    detail: Mapping[str, Any] = json.loads(
        # The hook is slow in Python and most rows have no array, so it is set only where one
        # occurs.
        text,
        object_hook=_decode_array if _ARRAY_BYTES in text else None,
    )
    return detail


def encode_bounded(value: Any) -> bytes | None:
    """As ``encode_detail``; None if it exceeds ``MAX_BYTES``, the limit for reading."""
    text = _JSON.encode(value).encode("utf-8")
    # Level 1: a state is written once a run and read a few times.
    return zlib.compress(text, level=1) if len(text) <= MAX_BYTES else None


def _encode_array(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(
            f"a metric put {type(value).__name__} into a score; use JSON values or arrays"
        )
    if value.dtype.kind != "f":
        return value.tolist()
    # Little-endian, so that a run reads alike on every machine.
    half = np.ascontiguousarray(value, dtype="<f2")
    return {
        _ARRAY: base64.b64encode(half.tobytes()).decode("ascii"),
        "shape": list(half.shape),
    }


_JSON = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, default=_encode_array
)


def _decode_array(fields: Mapping[str, Any]) -> Any:
    if _ARRAY not in fields:
        return fields
    raw = base64.b64decode(fields[_ARRAY])
    return (
        np.frombuffer(raw, dtype="<f2")
        .reshape(fields["shape"])
        .astype(np.float32)
    )
