"""People as judges of storylines: ratings and steps that annotators gave, read from a file.

Rows are ``{"id", "ratings": {ANNOTATOR: 1..10}}``, or for steps ``{"id", "steps": {ANNOTATOR:
[{"rating", "breaks"}, ...]}}``: what ``beholder annotate export`` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypedDict

from beholder.data.row import shorten
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.judges.operations.rating import BREAK_KINDS, BreakKind
from beholder.kinds.narratives.config import PEOPLE
from beholder.kinds.narratives.judging import Vote, values
from beholder.kinds.narratives.measuring import digest
from beholder.metrics.asker import Asker, ValueInfo
from beholder.metrics.params import REQUIRED, param
from beholder.metrics.tools import Tools
from beholder.records import ItemScore, Storyline

What: TypeAlias = Literal["ratings", "steps"]
"""What people rated: storylines as wholes, or their steps."""


class Said(TypedDict):
    """What an annotator said of a part; no breaks are known of whole storylines."""

    rating: int
    breaks: list[BreakKind] | None


Parts: TypeAlias = tuple[tuple[Vote, ...], ...]
"""Votes per part of a storyline (itself, or each step), of all annotators in one order."""


@dataclass(frozen=True)
class PeopleVotes(Asker[Storyline]):
    """What people said of storylines, as votes like those of judges; ``detail["votes"]``.

    Attributes:
        votes: Per storyline; an annotator who did not rate it has a vote without a value.
    """

    registered_name: ClassVar[str] = "people"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("rating", "mean rating of people, 1 to 10; of steps the mean over them", 1, 10),
    )

    what: str = param(REQUIRED, "ratings (of storylines) or steps")
    data: str = param(REQUIRED, "digest of all ratings")
    votes: Mapping[str, Parts] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, path: str, what: What, storylines: Sequence[Storyline]) -> Self:
        """Read a file of ratings.

        Args:
            path: A ``.jsonl``, ``.json`` or ``.parquet`` file.
            what: What of it is taken.
            storylines: Those that are judged; rows of other storylines are ignored.

        Raises:
            ConfigError: No storyline was rated.
            DataError: A row is of another form; names it.
        """
        parts = {one.id: 1 if what == "ratings" else len(one.frames) - 1 for one in storylines}
        told: dict[str, dict[str, list[Said]]] = {}
        for line, row in read_rows(path, path):
            if isinstance(row, DataError):
                raise row
            name = row.get("id") if isinstance(row, Mapping) else None
            said = row.get(what) if isinstance(row, Mapping) else None
            if not isinstance(name, str) or not isinstance(said, Mapping):
                reason = f"expected a text 'id' and an object {what!r} by annotator"
                raise DataError(path, reason, line=line)
            if name in told:
                raise DataError(path, f"{name!r} occurs twice", line=line, field="id")
            if name in parts:
                wrapped = said if what == "steps" else {who: [one] for who, one in said.items()}
                told[name] = {
                    str(who): _checked(one, parts[name], path, line) for who, one in wrapped.items()
                }
        annotators = sorted({who for said in told.values() for who in said})
        if not annotators:
            raise ConfigError(
                f"{PEOPLE}{path}: holds no {what} of these sequences; 'beholder annotate export'"
                " writes them, by the ids of the sequences"
            )
        votes = {
            name: tuple(
                tuple(_vote(seat, said.get(who), part) for seat, who in enumerate(annotators))
                for part in range(parts[name])
            )
            for name, said in told.items()
        }
        known = digest([[name, said] for name, said in sorted(told.items())])
        return cls(what, known, votes)

    async def evaluate(self, subject: Storyline, tools: Tools) -> ItemScore:
        """What people said of it.

        Raises:
            ItemError: No one rated it.
        """
        parts = self.votes.get(subject.id)
        if parts is None:
            raise ItemError("no one rated it")
        means = [fmean(known) for votes in parts if (known := values(votes))]
        detail = {"votes": [[asdict(vote) for vote in votes] for votes in parts]}
        return ItemScore({"rating": fmean(means)}, signature=self.signature(), detail=detail)


def _checked(said: Any, n_parts: int, path: str, line: int) -> list[Said]:
    """What one annotator said of each part."""
    if not isinstance(said, list) or len(said) != n_parts:
        raise DataError(path, f"expected a list of {n_parts} steps, got {shorten(said)}", line=line)
    found = []
    for one in said:
        step = one if isinstance(one, Mapping) else {"rating": one, "breaks": None}
        rating, breaks = step.get("rating"), step.get("breaks")
        if type(rating) is not int or not 1 <= rating <= 10:
            reason = f"expected a rating from 1 to 10, got {shorten(rating)}"
            raise DataError(path, reason, line=line)
        if breaks is not None and (
            not isinstance(breaks, list) or any(kind not in BREAK_KINDS for kind in breaks)
        ):
            reason = f"breaks may hold {', '.join(BREAK_KINDS)}, got {shorten(breaks)}"
            raise DataError(path, reason, line=line)
        found.append(Said(rating=rating, breaks=breaks))
    return found


def _vote(seat: int, said: Sequence[Said] | None, part: int) -> Vote:
    if said is None:
        return Vote(seat)
    breaks = said[part]["breaks"]
    return Vote(seat, said[part]["rating"], breaks=None if breaks is None else tuple(breaks))
