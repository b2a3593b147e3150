"""Kinds of subjects and their form in the store, and the askers that a run schedules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

from beholder import data
from beholder.asking.asker import Asker
from beholder.base.optional import load_object
from beholder.records import Frame, Item, Reviews, Storyline


@dataclass(frozen=True)
class ScheduledAsker:
    """An asker that a run has scheduled for its subjects.

    Attributes:
        asker: Asker, prepared on the data.
        kind: The kind of subject.
        n: Of how many of them, from the first.
        signature: Signature of its outcomes.
        jobs: Of how many of these it is asked; which ones may be known only later.
        renew: Whether to delete and make again outcomes that were made in another way.
    """

    asker: Asker[Any]
    kind: SubjectKind[Any]
    n: int
    signature: str
    jobs: int
    renew: bool = False

    @property
    def name(self) -> str:
        """Canonical name of the asker."""
        return self.asker.name

    def with_state(self, **state: Any) -> ScheduledAsker:
        """Return a copy whose asker has state from outcomes of earlier askers.

        Args:
            state: Fields of the asker that are no parameters of it.
        """
        return replace(self, asker=replace(self.asker, **state))


S = TypeVar("S")

_ANYWHERE = Path("/")  # paths were checked when the data was read


@dataclass(frozen=True, kw_only=True)
class SubjectKind(Generic[S]):
    """One kind of subject.

    Attributes:
        name: Noun for one subject.
        plural: Noun for several.
        id: Its id, unique in a data set.
        to_row: Its row, as JSON values.
        from_row: The subject of a row.
        source: Described thing: equal for several texts about one picture.
        pictures: Names of its pictures.
        group: Columns to break results down by.
        measure: The values of a subject's outcome, from the subject and the outcome's detail, where
            they depend on what may arrive later; None where the outcome holds them.
        loose: Fields of the row that may change between two starts of a run (people's judgments
            that arrive later); no outcome depends on them.
    """

    name: str
    plural: str
    id: Callable[[S], str] = attrgetter("id")
    to_row: Callable[[S], Mapping[str, Any]]
    from_row: Callable[[Mapping[str, Any]], S]
    source: Callable[[S], object]
    pictures: Callable[[S], Iterable[str]]
    group: Callable[[S], Mapping[str, str]]
    measure: Callable[[S, Mapping[str, Any]], Mapping[str, float]] | None = (
        None
    )
    loose: frozenset[str] = frozenset()

    def row(self, subject: S) -> str:
        """The row as it is written."""
        return json.dumps(
            self.to_row(subject), ensure_ascii=False, allow_nan=False
        )

    def digest(self, subject: S, row: str) -> bytes:
        """SHA-256 of all that outcomes may depend on."""
        # Fields that arrive later must not change the digest.
        if self.loose:
            fixed = {
                k: v
                for k, v in self.to_row(subject).items()
                if k not in self.loose
            }
            row = json.dumps(fixed, ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(row.encode("utf-8")).digest()

    def source_key(self, subject: S) -> bytes:
        """Short digest of what is described."""
        # Eight bytes: a collision joins two pictures into one cluster, which changes no mean.
        text = json.dumps(self.source(subject))
        return hashlib.sha256(text.encode("utf-8")).digest()[:8]


def _correlation(
    reviews: Reviews, detail: Mapping[str, Any]
) -> dict[str, float]:
    """Return the correlation of a ranking with people's; empty if they ranked no text."""
    correlation: dict[str, float] = load_object(
        "beholder.kinds.ranking.study:measured"
    )(reviews, detail)
    return correlation


def _reviews_group(reviews: Reviews) -> dict[str, str]:
    """Return language and category of texts, as far as they are stated."""
    group = {"language": reviews.language, "category": reviews.category}
    return {name: value for name, value in group.items() if value}


ITEM: SubjectKind[Item] = SubjectKind(
    name="item",
    plural="items",
    to_row=data.to_row,
    from_row=data.item_from_row,
    source=lambda item: item.source,
    pictures=lambda item: item.images,
    group=lambda item: item.group,
)
REVIEWS: SubjectKind[Reviews] = SubjectKind(
    name="reviews",
    plural="sets of texts",
    id=lambda reviews: reviews.full_id,
    to_row=data.reviews_row,
    from_row=partial(data.reviews_from_row, media_root=_ANYWHERE),
    source=lambda reviews: reviews.source,
    pictures=lambda reviews: filter(None, [reviews.image]),
    group=_reviews_group,
    measure=_correlation,
    loose=frozenset({"ranks", "prompt_ranks"}),
)
FRAME: SubjectKind[Frame] = SubjectKind(
    name="picture",
    plural="pictures",
    to_row=data.frame_row,
    from_row=partial(data.frame_from_row, media_root=_ANYWHERE),
    source=lambda frame: frame.image or frame.id,
    pictures=lambda frame: filter(None, [frame.image]),
    group=lambda frame: frame.labels,
)
STORYLINE: SubjectKind[Storyline] = SubjectKind(
    name="storyline",
    plural="storylines",
    to_row=data.storyline_row,
    from_row=partial(data.storyline_from_row, media_root=_ANYWHERE),
    source=lambda storyline: storyline.id,
    pictures=lambda storyline: filter(
        None, [frame.image for frame in storyline.frames]
    ),
    group=lambda storyline: {"source": storyline.source, **storyline.group},
)
KINDS: Mapping[str, SubjectKind[Any]] = {
    kind.name: kind for kind in (ITEM, REVIEWS, FRAME, STORYLINE)
}
