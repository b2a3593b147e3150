"""What annotators are shown, what they did, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

State: TypeAlias = Mapping[str, Any]
"""A judgment by its parts, such as ``{"rating": 7}``; JSON values."""

DONE = "done"
"""The part by which an annotator says that a judgment is finished."""

REMARK = "remark"
"""The part that holds an annotator's own words; every task takes it."""


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of a unit.

    Attributes:
        image: Its file as the data name it; None where only its words are known.
        caption: Words beside it: its caption, date or place; may be empty.
    """

    image: str | None
    caption: str = ""


@dataclass(frozen=True, slots=True)
class AnnotationUnit:
    """What is judged at once, on one page.

    Attributes:
        id: Unique in a study; annotators never see it.
        source: What it is about (its picture): judgments of one source are not independent.
        texts: The texts that are judged, and the one they are held against, by the task's order.
        pictures: The pictures in order.
        row: The rows of the data that it was made of, for results.
        prefill: Parts that a judge proposes; empty where none was asked.
    """

    id: str
    source: tuple[str, ...]
    texts: tuple[str, ...] = ()
    pictures: tuple[ShownPicture, ...] = ()
    row: Mapping[str, Any] = field(default_factory=dict)
    prefill: State = field(default_factory=dict)

    def to_row(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> AnnotationUnit:
        """The unit that ``to_row`` wrote."""
        return cls(
            row["id"],
            tuple(row["source"]),
            tuple(row["texts"]),
            tuple(ShownPicture(**picture) for picture in row["pictures"]),
            row["row"],
            row["prefill"],
        )


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that an annotator did: a part got a value or lost it, or the last act was undone.

    Attributes:
        client: Which page of a browser sent it.
        number: From 1, one more than the act before of that page, so that a save that is repeated
            is no second act.
        part: The part; None where the act undoes.
        value: Its new value; None takes the part away.
    """

    client: str
    number: int
    part: str | None = None
    value: Any = None

    @property
    def undoes(self) -> bool:
        """Whether it takes the last act back that still stands."""
        return self.part is None


def state_of(prefill: State, acts: Iterable[Act]) -> dict[str, Any]:
    """What a judgment looks like after its acts, in the order in which they came."""
    standing: list[Act] = []
    for act in acts:
        if not act.undoes:
            standing.append(act)
        elif standing:
            standing.pop()
    state = dict(prefill)
    for act in standing:
        assert act.part is not None
        if act.value is None:
            state.pop(act.part, None)
        else:
            state[act.part] = act.value
    return state


@dataclass(frozen=True, slots=True)
class Judgments:
    """A unit with the finished judgments of it.

    Attributes:
        unit: The unit.
        by: Each annotator's judgment, in the order of the study's annotators.
    """

    unit: AnnotationUnit
    by: Mapping[str, State]
