"""The last pass: the decision on each row, as a pure function of what is known about it."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beholder.base import files
from beholder.kinds.filtering.config import (
    DECISIONS,
    Decision,
    FilterOptions,
)
from beholder.kinds.filtering.duplicates import Duplicates
from beholder.kinds.filtering.pictures import PictureFolder
from beholder.kinds.filtering.rows import BLOCK, read_rows
from beholder.stats.checks import Floats

BANDS = ("low", "middle", "high")
"""Thirds of a score."""
NO_TEXT = "no-text"
"""Band of rows that need no reader, as they have no text: they are bad."""
TEXTLESS = frozenset({"unreadable", "missing"})
"""Reasons of rows without a text."""
MANY_DROPPED = 0.3
"""Share of rows that one reason drops above which a caution is printed."""
N_EXAMPLES = 10

_COLUMNS = ("id", "text", "image", "language", "words", "reasons", "is_tags")


class DecidedRow(NamedTuple):
    """A row with its decision.

    Attributes:
        row: Its number, from 0, over all sources.
        id: Its id.
        text: Its text.
        image: Its picture.
        decision: drop, quarantine or keep.
        reason: The first reason of the decision; empty for a kept row.
        reasons: All reasons, also those that are only noted.
        language: Its language, as far as it is known.
        words: Its words.
        duplicate_of: Number of the row that is kept in its place; None without one.
        scores: Scores by column.
        is_tags: Whether the text reads as tags.
        band: Third of its score, or number of its reasons, or that it has no text.
    """

    row: int
    id: str
    text: str | None
    image: str
    decision: Decision
    reason: str
    reasons: tuple[str, ...]
    language: str
    words: int
    duplicate_of: int | None
    scores: Mapping[str, float]
    is_tags: bool
    band: str

    @property
    def stratum(self) -> str:
        """Stratum of labels: the decision and the band."""
        return f"{self.decision}-{self.band}"


@dataclass(frozen=True)
class RowEvidence:
    """Knowledge about all rows that the decision needs.

    Attributes:
        parts: Files of the first pass.
        starts: Number of the first row of each part.
        names: Name of the source of each part, for ids of rows without one.
        duplicates: Groups of duplicates.
        pictures: Folder of the pictures of each part.
        scores: Score of each row by column; NaN without one.
    """

    parts: Sequence[Path]
    starts: Sequence[int]
    names: Sequence[str]
    duplicates: Duplicates
    pictures: Sequence[PictureFolder] = ()
    scores: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return len(self.duplicates.exact)

    @cached_property
    def picture_root(self) -> Path:
        """Folder that the pictures of all parts are below."""
        folders = {place.folder for place in self.pictures}
        if len(folders) == 1:
            return folders.pop()
        return Path(os.path.commonpath([f.resolve() for f in folders]))

    def locate_picture(self, row: int, image: str) -> str:
        """Return the path of a row's picture below the root of all, or its address."""
        place = self.pictures[bisect_right(self.starts, row) - 1]
        is_at_hand = place.is_extracted or place.folder != self.picture_root
        if not image or not is_at_hand or ":" in image.partition("/")[0]:
            return image
        path = place.path_of(row, image).resolve()
        return os.path.relpath(path, self.picture_root.resolve())


class RowDecider:
    """Decides on rows.

    Args:
        evidence: What is known about them.
        options: What is dropped.
    """

    def __init__(self, evidence: RowEvidence, options: FilterOptions) -> None:
        self.evidence, self.options = evidence, options
        self._order = {
            reason: (DECISIONS.index(decision), place)
            for place, (reason, decision) in enumerate(
                options.decisions.items()
            )
        }
        self._main: Floats | None = next(iter(evidence.scores.values()), None)
        self._limits = np.zeros(0)
        if self._main is not None:
            known_scores = self._main[~np.isnan(self._main)]
            if len(known_scores):
                self._limits = np.quantile(known_scores, (1 / 3, 2 / 3))
        rank = self._rank_rows()
        self._stays = _first_of_groups(evidence.duplicates.near, rank)
        self._stays_of_text = _first_of_groups(evidence.duplicates.same, rank)

    def _rank_rows(self) -> NDArray[np.int64]:
        """Return all rows from the best: severity of their own reasons, score, position."""
        severity = np.zeros(self.evidence.n_rows, np.int8)
        for row, fields in enumerate(
            read_rows(self.evidence.parts, ("reasons", "words"))
        ):
            decision = self._decide_alone(fields, row)
            severity[row] = len(DECISIONS) - DECISIONS.index(decision)
        scores = np.zeros(len(severity))
        if self._main is not None:
            scores = np.nan_to_num(self._main, nan=-np.inf)
        ranked: NDArray[np.int64] = np.lexsort((-scores, severity))
        return ranked

    def _decide_alone(self, fields: Mapping[str, Any], row: int) -> Decision:
        """Return the decision on a row if there were no other rows."""
        decisions = self.options.decisions
        return min(
            (decisions[reason] for reason in self._own_reasons(fields, row)),
            key=DECISIONS.index,
            default="keep",
        )

    def _own_reasons(
        self, fields: Mapping[str, Any], row: int
    ) -> Iterator[str]:
        """Yield the reasons of a row that need no other row."""
        yield from fields["reasons"]
        is_readable = TEXTLESS.isdisjoint(fields["reasons"])
        for threshold in self.options.thresholds:
            if threshold.column == "words":
                value = float(fields["words"]) if is_readable else np.nan
            else:
                value = self.evidence.scores[threshold.column][row]
            if threshold.is_met(value):
                yield str(threshold)

    def decide(self) -> Iterator[DecidedRow]:
        """Yield all rows with their decisions, in order."""
        names = dict(
            zip(self.evidence.starts, self.evidence.names, strict=True)
        )
        origin, first = "", 0
        for row, fields in enumerate(read_rows(self.evidence.parts, _COLUMNS)):
            if row in names and names[row] != origin:
                origin, first = names[row], row
            yield self._decide(
                row, fields, fields["id"] or f"{origin}#{row - first + 1}"
            )

    def _decide(
        self, row: int, fields: Mapping[str, Any], name: str
    ) -> DecidedRow:
        exact = self.evidence.duplicates.exact
        reasons = list(self._own_reasons(fields, row))
        scores = {
            column: float(values[row])
            for column, values in self.evidence.scores.items()
        }
        has_gap = any(map(np.isnan, scores.values()))
        if has_gap and self._decide_alone(fields, row) != "drop":
            reasons.append("no_score")
        stays, of_text = int(self._stays[row]), int(self._stays_of_text[row])
        duplicate_of: int | None = None
        if stays != row:
            is_exact = exact[row] == exact[stays]
            reasons.append("duplicate" if is_exact else "near_duplicate")
            duplicate_of = stays
        elif of_text != row:
            reasons.append("same_text")
            duplicate_of = of_text
        reasons.sort(key=lambda reason: self._order[reason])
        decisions = self.options.decisions
        first = reasons[0] if reasons else ""
        decision: Decision = decisions[first] if first else "keep"
        return DecidedRow(
            row,
            name,
            fields["text"],
            fields["image"],
            decision,
            first if decision != "keep" else "",
            tuple(reasons),
            fields["language"],
            fields["words"],
            duplicate_of,
            scores,
            fields["is_tags"],
            self._band(row, reasons),
        )

    def _band(self, row: int, reasons: Sequence[str]) -> str:
        """Return the third of the first score, or the number of reasons."""
        if not TEXTLESS.isdisjoint(reasons):
            return NO_TEXT
        if self._main is None:
            return str(len(reasons)) if len(reasons) < 2 else "2+"
        if np.isnan(self._main[row]):
            return "none"
        return BANDS[int(np.searchsorted(self._limits, self._main[row]))]


def _first_of_groups(
    groups: NDArray[np.int64], ranked: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the best row of the group of each row."""
    chosen = np.empty(len(groups), np.int64)
    # The last value that is written stays, so the best row is written last.
    chosen[groups[ranked[::-1]]] = ranked[::-1]
    best: NDArray[np.int64] = chosen[groups]
    return best


@dataclass
class DecisionTally:
    """Counts over all decided rows.

    Attributes:
        n_rows: All rows.
        decisions: Rows by decision.
        reasons: Rows by the reason that decided.
        noted: Rows by any reason.
        strata: Rows by stratum.
        examples: First rows by reason that decided.
        n_tags: Rows whose texts read as tags.
        n_repeated: Kept rows that repeat the text of another picture.
    """

    n_rows: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)
    strata: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[DecidedRow]] = field(default_factory=dict)
    n_tags: int = 0
    n_repeated: int = 0

    def add(self, decided: DecidedRow) -> None:
        """Count a row."""
        self.n_rows += 1
        self.decisions[decided.decision] += 1
        self.noted.update(set(decided.reasons))
        self.strata[decided.stratum] += 1
        self.n_tags += decided.is_tags
        self.n_repeated += (
            decided.decision == "keep" and "same_text" in decided.reasons
        )
        if decided.reason:
            self.reasons[decided.reason] += 1
            examples = self.examples.setdefault(decided.reason, [])
            if len(examples) < N_EXAMPLES:
                examples.append(decided)

    def cautions(self, options: FilterOptions) -> Iterator[str]:
        """Yield what should be looked at before anything is written."""
        for reason, n in self.reasons.most_common():
            if options.decisions[reason] != "drop":
                continue
            if n > MANY_DROPPED * self.n_rows:
                yield (
                    f"{reason} alone drops {n:,} of {self.n_rows:,} rows"
                    f" ({100 * n / self.n_rows:.1f} %); look at these before you write:"
                )
                for row in self.examples[reason]:
                    yield f"  {row.id}: {(row.text or '')[:80]!r}"
        if options.rules == "training" and self.n_tags > self.n_rows / 2:
            yield (
                f"{self.n_tags:,} of {self.n_rows:,} texts read as tags; --rules tags switches the"
                " rules about prose off"
            )
        if self.n_repeated:
            yield (
                f"{self.n_repeated:,} rows repeat the text of another picture (same_text) and are"
                " kept; --drop same_text drops them"
            )


def write_verdicts(
    rows: Iterator[DecidedRow],
    evidence: RowEvidence,
    positions: Sequence[int],
    folder: Path,
) -> None:
    """Write the decisions, a file for each part.

    Args:
        rows: All rows in order.
        evidence: Parts, their sources and scores.
        positions: Number of rows of each part.
        folder: Folder of the files.
    """
    schema = pa.schema(
        [
            ("row", pa.int64()),
            ("file", pa.string()),
            ("position", pa.int64()),
            ("id", pa.string()),
            ("decision", pa.string()),
            ("reason", pa.string()),
            ("reasons", pa.list_(pa.string())),
            ("language", pa.string()),
            ("words", pa.int32()),
            *((column, pa.float64()) for column in evidence.scores),
            ("duplicate_of", pa.int64()),
            ("stratum", pa.string()),
        ]
    )
    origin, first = "", 0
    for number, (name, start, size) in enumerate(
        zip(evidence.names, evidence.starts, positions, strict=True)
    ):
        if name != origin:
            origin, first = name, start
        path = folder / f"part-{number:05}.parquet"
        with (
            files.write_atomically(path) as unfinished,
            pq.ParquetWriter(unfinished, schema, compression="zstd") as writer,
        ):
            remaining = size
            while remaining:
                block = [
                    {
                        **row._asdict(),
                        "file": name,
                        "position": row.row - first,
                        "stratum": row.stratum,
                        **row.scores,
                    }
                    for _, row in zip(
                        range(min(BLOCK, remaining)), rows, strict=False
                    )
                ]
                remaining -= len(block)
                writer.write_table(pa.Table.from_pylist(block, schema))


def read_verdicts(
    folder: Path, columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Return columns of the decisions on all rows, in order."""
    return read_rows(sorted(folder.glob("part-*.parquet")), columns)
