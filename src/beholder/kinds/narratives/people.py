"""Ratings of storylines by people, as votes like those of judges.

A file has rows ``{"id", "ratings": {ANNOTATOR: 1..10}}``, or for steps
``{"id", "steps": {ANNOTATOR: [{"rating", "breaks"}, ...]}}``: what ``beholder annotate export``
writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

import msgspec
from msgspec import Meta, Struct

from beholder.asking.asker import Asker, ValueInfo
from beholder.asking.params import REQUIRED, param
from beholder.asking.tools import Tools
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.judges.operations import (
    BreakKind,
)
from beholder.kinds.narratives.config import PEOPLE
from beholder.kinds.narratives.judging import Vote, part_means
from beholder.kinds.narratives.measuring import digest
from beholder.records import ItemScore, Storyline

What: TypeAlias = Literal["ratings", "steps"]
"""Subject of people's ratings: whole storylines, or their steps."""


class PartRating(Struct, frozen=True):
    """An annotator's rating of a part; no breaks are known of whole storylines."""

    rating: Annotated[int, Meta(ge=1, le=10)]
    breaks: tuple[BreakKind, ...] | None = None


class RatedRow(Struct, frozen=True):
    """A row of a file of ratings: a storyline's ratings by annotator, or those of its steps."""

    id: str
    ratings: dict[str, Annotated[int, Meta(ge=1, le=10)]] = {}
    steps: dict[str, tuple[PartRating, ...]] = {}

    def by_annotator(self, what: What) -> dict[str, tuple[PartRating, ...]]:
        """Return the ratings of each part of the storyline, itself or its steps."""
        if what == "steps":
            return self.steps
        return {who: (PartRating(n),) for who, n in self.ratings.items()}


Parts: TypeAlias = tuple[tuple[Vote, ...], ...]
"""Votes per part of a storyline (itself, or each step), of all annotators in one order."""


@dataclass(frozen=True)
class PeopleVotes(Asker[Storyline]):
    """Ratings of storylines by people, as votes like those of judges; ``detail["votes"]``.

    Attributes:
        votes: Per storyline; an annotator who did not rate it has a vote without a value.
    """

    registered_name: ClassVar[str] = "people"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "rating",
            "mean rating of people, 1 to 10; of steps the mean over them",
            1,
            10,
        ),
    )

    what: str = param(REQUIRED, "ratings (of storylines) or steps")
    data: str = param(REQUIRED, "digest of all ratings")
    votes: Mapping[str, Parts] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def from_file(
        cls, path: str, what: What, storylines: Sequence[Storyline]
    ) -> Self:
        """Read a file of ratings.

        Args:
            path: A ``.jsonl``, ``.json`` or ``.parquet`` file.
            what: Part of it that is taken.
            storylines: Those that are judged; rows of other storylines are ignored.

        Raises:
            ConfigError: No storyline was rated.
            DataError: A row is of another form; names it.
        """
        # Rows are checked one by one, so that an error names its line; rows of storylines that are
        # not judged are checked, too, and then ignored.
        n_parts = {
            storyline.id: 1 if what == "ratings" else len(storyline.frames) - 1
            for storyline in storylines
        }
        by_id: dict[str, dict[str, tuple[PartRating, ...]]] = {}
        ids: set[str] = set()
        for line, content in read_rows(path, path):
            if isinstance(content, DataError):
                raise content
            try:
                row = msgspec.convert(content, RatedRow)
            except msgspec.ValidationError as error:
                raise DataError(path, str(error), line=line) from error
            ratings = row.by_annotator(what)
            if row.id in ids:
                raise DataError(
                    path, f"{row.id!r} occurs twice", line=line, field="id"
                )
            ids.add(row.id)
            if not ratings:
                raise DataError(
                    path, f"expected {what!r} by annotator", line=line
                )
            n = n_parts.get(row.id)
            # A file of annotators may cover more storylines than this run.
            if n is None:
                continue
            if any(len(parts) != n for parts in ratings.values()):
                raise DataError(
                    path,
                    f"{row.id!r}: expected a list of {n} steps",
                    line=line,
                )
            by_id[row.id] = ratings
        # All annotators vote on all storylines, so that seats mean the same person everywhere.
        annotators = sorted({who for parts in by_id.values() for who in parts})
        if not annotators:
            raise ConfigError(
                f"{PEOPLE}{path}: expected {what} of these sequences, got none; 'beholder annotate"
                " export' writes them, by the ids of the sequences"
            )
        votes = {
            name: tuple(
                tuple(
                    _vote(seat, ratings.get(who), part)
                    for seat, who in enumerate(annotators)
                )
                for part in range(n_parts[name])
            )
            for name, ratings in by_id.items()
        }
        rows = msgspec.to_builtins(sorted(by_id.items()))
        return cls(what, digest(rows), votes)

    async def evaluate(self, subject: Storyline, tools: Tools) -> ItemScore:
        """Return people's votes on a storyline and their mean.

        Raises:
            ItemError: No one rated it.
        """
        parts = self.votes.get(subject.id)
        if parts is None:
            raise ItemError("no one rated it")
        means = part_means(parts)
        detail = {
            "votes": [[asdict(vote) for vote in votes] for votes in parts]
        }
        return ItemScore(
            {"rating": fmean(means)}, signature=self.signature(), detail=detail
        )


def _vote(seat: int, parts: Sequence[PartRating] | None, at: int) -> Vote:
    if parts is None:
        return Vote(seat)
    return Vote(seat, parts[at].rating, breaks=parts[at].breaks)
