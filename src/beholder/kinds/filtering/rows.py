"""The first pass: texts against rules, their language, and what duplicates are found by."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beholder.base import files
from beholder.base.optional import require
from beholder.base.threads import one_blas_thread
from beholder.errors import BeholderError, DataError
from beholder.kinds.filtering.source_row import (
    SourcePart,
    SourceRow,
    SourceSettings,
)
from beholder.kinds.filtering.sources import FORMS
from beholder.lint.checking import find_hits
from beholder.lint.choice import Choice
from beholder.lint.linting import select_hits
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import CollectionLengths, LintSetting
from beholder.text.expected_language import other_language
from beholder.text.languages import language_named, script_named

BLOCK = 2_000
"""Rows that are in memory at once."""
N_BANDS, BAND_ROWS = 16, 8
"""Bands of MinHash and hashes of each: a pair of similarity s is found with 1 - (1 - s^8)^16."""
LONG_TEXT = 12
"""Words from which shingles are three words, else five characters."""
_FEW_WORDS = 5
_SEED = 42
_LANGUAGE = re.compile(r"it looks (.+)")
_WORD = re.compile(r"\w+")
_SETTING = LintSetting(
    # A limit of length is seen in a whole collection only; this says that there is none.
    lengths=CollectionLengths(n=30)
)

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("image", pa.string()),
        ("language", pa.string()),
        ("words", pa.int32()),
        ("reasons", pa.list_(pa.string())),
        ("note", pa.string()),
        ("is_tags", pa.bool_()),
        ("text_hash", pa.uint64()),
        ("picture_hash", pa.uint64()),
        ("bands", pa.binary(8 * N_BANDS)),
    ]
)
"""Columns of a part of the first pass; ``picture_hash`` is 0 without a picture."""


@dataclass(frozen=True)
class RowTask:
    """What a worker does with a part.

    Attributes:
        part: The part of a source.
        out: File of the result.
        settings: How rows are read.
        rules: Rules of lint that are looked at.
        language: Language that the texts should have; may be empty.
        has_bands: Whether near-duplicates are looked for.
        limit: Rows that are read at most.
    """

    part: SourcePart
    out: Path
    settings: SourceSettings
    rules: tuple[str, ...]
    language: str
    has_bands: bool
    limit: int | None = None


def fold_text(text: str) -> str:
    """Return the words of a text in lower case, joined by blanks: equal for exact duplicates."""
    return " ".join(_WORD.findall(text.casefold()))


def shingles(folded: str) -> list[str]:
    """Return the parts of a folded text that its similarity is measured by, each once.

    Three words in a row if it has 12 words or more, else five characters in a row.
    """
    text_words = folded.split()
    if len(text_words) >= LONG_TEXT:
        triples = zip(text_words, text_words[1:], text_words[2:], strict=False)
        return list(dict.fromkeys(map(" ".join, triples)))
    n_grams = max(1, len(folded) - 4)
    return list(dict.fromkeys(folded[at : at + 5] for at in range(n_grams)))


def similarity(first: str, second: str) -> float:
    """Return the Jaccard similarity of the shingles of two folded texts, from 0 to 1."""
    first_shingles, second_shingles = (
        set(shingles(first)),
        set(shingles(second)),
    )
    return len(first_shingles & second_shingles) / len(
        first_shingles | second_shingles
    )


def is_tag_list(text: str) -> bool:
    """Return whether a text reads as tags: three or more short entries between commas."""
    entries = text.split(",")
    n_words = sum(len(entry.split()) for entry in entries)
    return (
        len(entries) >= 3
        and n_words <= 2.5 * len(entries)
        and not text.rstrip().endswith((".", "!", "?"))
    )


def run_task(task: RowTask) -> DataError | None:
    """Read and check a part, and write its rows; return the error of a damaged source."""
    rows = islice(_read_rows(task), task.limit)
    try:
        with (
            one_blas_thread(),
            files.write_atomically(task.out) as unfinished,
            pq.ParquetWriter(unfinished, SCHEMA, compression="zstd") as writer,
        ):
            while block := list(islice(rows, BLOCK)):
                writer.write_table(_check_block(block, task))
    except DataError as error:
        return error
    return None


def _read_rows(task: RowTask) -> Iterator[SourceRow]:
    """Yield the rows of a part; raise a ``DataError`` if it cannot be read."""
    try:
        yield from FORMS[task.part.form].rows(task.part, task.settings)
    except (OSError, MemoryError) as error:
        if isinstance(error, BeholderError):
            raise
        reason = str(error) or "there is too little memory"
        raise DataError(
            task.part.source, f"cannot be read: {reason}"
        ) from error


def _check_block(block: Sequence[SourceRow], task: RowTask) -> pa.Table:
    choice = _choice(task.rules)
    folded = [fold_text(row.text or "") for row in block]
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for row, folded_text in zip(block, folded, strict=True):
        n_words = len(folded_text.split())
        language, reasons, note = row.language, [row.reason], row.note
        if not row.reason and not (row.text or "").strip():
            reasons = ["missing"]
        elif row.text and row.reason in ("", "no_picture"):
            reasons += _rule_reasons(row, choice)
            if task.language and n_words >= _FEW_WORDS:
                language, evidence = _language_of(row, task.language)
                if evidence:
                    reasons.append("language")
                    note = note or evidence
        values = (
            row.id,
            row.text,
            row.image,
            language,
            n_words,
            [reason for reason in reasons if reason],
            note,
            is_tag_list(row.text or ""),
            _hash(folded_text) if folded_text else 0,
            _hash(row.picture) if row.picture else 0,
        )
        for name, value in zip(SCHEMA.names, values, strict=False):
            columns[name].append(value)
    columns["bands"] = (
        _bands(folded) if task.has_bands else [None] * len(block)
    )
    return pa.table(columns, SCHEMA)


@cache
def _choice(rules: tuple[str, ...]) -> Choice:
    # An empty selection would choose all rules.
    return Choice(select=frozenset(rules or ("ALT001",)))


def _rule_reasons(row: SourceRow, choice: Choice) -> list[str]:
    occurrence = Occurrence(
        file="", element="row", raw=row.text, picture=row.image,
        language=row.language,
    )  # fmt: skip
    hits = list(find_hits(occurrence, _SETTING, choice))
    # Rules below ALT101 are about rows without a text, which the reader finds.
    selected = select_hits(occurrence, hits, _SETTING, choice)
    return [rule.id for rule, *_ in selected if rule.id > "ALT1"]


def _language_of(row: SourceRow, expected: str) -> tuple[str, str]:
    """Return the language of a text as far as it is known, and the evidence of another one."""
    name = language_named(expected) or expected
    evidence = other_language(row.text or "", name, script_named(expected))
    if evidence is None:
        return row.language or expected, ""
    match = _LANGUAGE.fullmatch(evidence)
    return match[1] if match else "other", evidence


def _hash(text: str) -> int:
    """Return 64 bits of a text, never 0, which stands for no text."""
    data = text.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(data, digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def _bands(folded: Sequence[str]) -> list[bytes | None]:
    """Return the hashes of the bands of MinHash of each text; None for one without words."""
    at = [place for place, text in enumerate(folded) if text]
    bands: list[bytes | None] = [None] * len(folded)
    if not at:
        return bands
    rensa = require("rensa", extra="filter", purpose="near-duplicates")
    matrix = rensa.RMinHash.digest_matrix_from_token_sets(
        [shingles(folded[place]) for place in at], N_BANDS * BAND_ROWS, _SEED
    )
    digests = np.array(matrix.to_rows(), np.uint64)
    rows = digests.reshape(len(at), N_BANDS, BAND_ROWS)
    mixed = np.zeros((len(at), N_BANDS), np.uint64)
    for column in range(BAND_ROWS):
        mixed = (mixed ^ rows[:, :, column]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    for place, row in zip(at, mixed, strict=True):
        bands[place] = row.tobytes()
    return bands


def read_columns(
    parts: Sequence[Path], names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield columns of parts of the first pass, some rows at a time, in order."""
    for part in parts:
        with pq.ParquetFile(part) as file:
            yield from file.iter_batches(BLOCK, columns=list(names))


def read_rows(
    parts: Sequence[Path], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield columns of each row of Parquet files, in order."""
    for batch in read_columns(parts, names):
        yield from batch.to_pylist()


def read_numbers(parts: Sequence[Path], name: str) -> NDArray[Any]:
    """Return a column of numbers of all rows."""
    batches = [
        batch.column(0).to_numpy(zero_copy_only=False)
        for batch in read_columns(parts, [name])
    ]
    return np.concatenate(batches) if batches else np.zeros(0, np.uint64)
