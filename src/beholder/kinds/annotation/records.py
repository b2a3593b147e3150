"""Records of annotation: what annotators see, what they do, and their judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from beholder.errors import ItemError

T = TypeVar("T")

State: TypeAlias = Mapping[str, Any]
"""A judgment by its parts, such as ``{"rating": 7}``; JSON values that the task has checked."""

Row: TypeAlias = Mapping[str, Any]
"""A row of a data file or of results, as JSON values."""

DONE = "done"
"""The part by which an annotator finishes a judgment."""

CANNOT = "cannot"
"""The part by which an annotator says that a unit cannot be judged; it needs no other part."""

REMARK = "remark"
"""The part that holds an annotator's free text; every task has it."""


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of a unit.

    Attributes:
        image: Its file as the data name it; None if only its caption is known.
        caption: Its caption, date or place; may be empty.
    """

    image: str | None
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """The right judgment of a unit that every annotator gets.

    Attributes:
        judgment: Its parts.
        use: ``training`` (first, with feedback), ``gold`` (in between, with feedback) or
            ``attention`` (in between, without).
        feedback: Why it is right, for annotators.
    """

    judgment: State
    use: Literal["training", "gold", "attention"] = "gold"
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class AnnotationUnit:
    """The unit that an annotator judges on one page.

    Attributes:
        id: Unique in a study; annotators never see it.
        source: Described thing (its picture): judgments of one source are not independent.
        texts: The judged texts and any reference, in the order that the task defines.
        pictures: The pictures in order.
        row: The rows of the data that it was made from, for results.
        prefill: Parts that a judge proposes; may be empty.
        gold: The right judgment; None if it is not known.
        fps: Frames per second of its film; None if the data do not say it.
    """

    id: str
    source: tuple[str, ...]
    texts: tuple[str, ...] = ()
    pictures: tuple[ShownPicture, ...] = ()
    row: Row = field(default_factory=dict)
    prefill: State = field(default_factory=dict)
    gold: Gold | None = None
    fps: float | None = None


class Act(msgspec.Struct, frozen=True):
    """One act of an annotator: a part gets a value or loses it, or the last act is undone.

    Attributes:
        client: The page of a browser that sent it.
        number: From 1, increasing by 1 within a page, so that a repeated save counts once.
        part: The part; None for an undo.
        value: Its new value; None removes the part.
    """

    client: str
    number: int
    part: str | None = None
    value: Any = None


def state_of(prefill: State, acts: Iterable[Act]) -> State:
    """Return the judgment that results from proposals and acts.

    Args:
        prefill: The parts that a judge proposes.
        acts: All acts, in the order in which they were saved; an undo removes the last act that is
            not undone yet. An undo without such an act changes nothing.
    """
    standing: list[Act] = []
    for act in acts:
        if act.part is not None:
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
class SavedAct:
    """The result of a save.

    Attributes:
        accepted: Whether the act is saved; False if acts before it are missing.
        last: Number of the client's last saved act.
        state: The judgment as it stands.
    """

    accepted: bool
    last: int
    state: State


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """An annotator's progress.

    Attributes:
        annotator: The name.
        assigned: Units to be judged.
        begun: Units with an act that are not finished.
        done: Finished units.
        cannot: Finished units that the annotator could not judge.
        participant: Participant who took the place by the join link.
    """

    annotator: str
    assigned: int
    begun: int
    done: int
    cannot: int
    participant: str | None


@dataclass(frozen=True, slots=True)
class Judgments:
    """A unit with its finished judgments.

    Attributes:
        unit: The unit.
        by: Each annotator's judgment, in the order of the study's annotators.
    """

    unit: AnnotationUnit
    by: Mapping[str, State]


Judged: TypeAlias = Sequence[Judgments]
"""Units with finished judgments, in the order of the data."""


def read_as(value: object, kind: type[T], what: str) -> T:
    """Convert JSON values to a record.

    Args:
        value: From a browser or a file; nothing about it is trusted.
        kind: The record's class, or any other type that ``msgspec`` knows.
        what: Its name in the message.

    Raises:
        ItemError: The value has another form; the message has the path of the wrong part.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        # Messages quote the value, which may be megabytes long.
        raise ItemError(f"{what}: {str(error)[:200]}") from None
    except UnicodeEncodeError as error:
        # msgspec fails while it writes the message: the value has half of a surrogate pair.
        raise half_pair(what, error) from None


def half_pair(what: str, error: UnicodeEncodeError) -> ItemError:
    """Return the error of a text that cannot be encoded as UTF-8, so that it cannot be stored."""
    return ItemError(
        f"{what}: has half of a surrogate pair, {error.object[error.start]!r}"
    )
