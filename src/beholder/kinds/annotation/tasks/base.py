"""What a task of annotation says of itself, and the checks that several share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from beholder.data.row import RowError, plain_text, shorten
from beholder.errors import ItemError
from beholder.kinds.annotation.records import (
    DONE,
    REMARK,
    AnnotationUnit,
    Judgments,
    ShownPicture,
    State,
)
from beholder.records import Item, ItemScore, Unit
from beholder.run.reliability import Reliability

MAX_REMARK = 2_000
"""Characters of a remark."""

MAX_PARTS = 1_000
"""Parts of one judgment: marks, steps, facts."""

DataKind: TypeAlias = Literal["items", "storylines", "reviews"]

Region: TypeAlias = Mapping[str, Any]
"""One entry of ``result`` in Label Studio's JSON."""


class Task(ABC):
    """A task: what is shown, what a judgment is, its checks, its agreement, its results.

    Class attributes every task states:
        name: Name on the command line.
        title: Its heading on pages.
        data: What its data file holds.
        next_step: The command that takes the results, with ``{file}`` for their file.
        together: Whether all units of a picture go to the same annotators. Pairs do not: nobody
            should see one text twice.
        takes_proposals: Whether a run can fill judgments in.
        shuffles: Whether texts are shown to each annotator in an order of their own.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    data: ClassVar[DataKind]
    next_step: ClassVar[str]
    together: ClassVar[bool] = True
    shuffles: ClassVar[bool] = False
    takes_proposals: ClassVar[bool] = False

    @abstractmethod
    def units(self, rows: Sequence[Any]) -> list[AnnotationUnit]:
        """What is judged of the data.

        Args:
            rows: Items, storylines or sets of reviews, as ``data`` says.

        Raises:
            ConfigError: The rows lack what is judged; names the first, and what it needs.
        """

    @abstractmethod
    def check_name(self, unit: AnnotationUnit, part: str) -> None:
        """Refuse a name that no part of a judgment of this unit has.

        Raises:
            ItemError: Says what was expected.
        """

    @abstractmethod
    def check_value(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """Refuse what cannot be the value of a part that passed ``check_name``.

        Raises:
            ItemError: Says what was expected.
        """

    def next_command(self, judged: Sequence[Judgments]) -> str:
        """The command that takes the results of these judgments, with ``{file}`` for their file."""
        return self.next_step

    def n_left_out(self, judged: Sequence[Judgments]) -> int:
        """How many of these judgments stand in no row of the results."""
        return 0

    @abstractmethod
    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """What a judgment still lacks, in words for the annotator; None when it is whole."""

    @abstractmethod
    def agreement(
        self, judged: Sequence[Judgments], annotators: Sequence[str]
    ) -> list[Reliability]:
        """How far annotators agree, with intervals; only units that two or more have finished."""

    @abstractmethod
    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """Rows that the commands of beholder read."""

    @abstractmethod
    def regions(self, unit: AnnotationUnit, state: State) -> list[dict[str, Any]]:
        """A judgment as Label Studio's ``result``, without remark."""

    @abstractmethod
    def parts_of(self, unit: AnnotationUnit, regions: Sequence[Region]) -> dict[str, Any]:
        """The judgment that ``regions`` wrote, or that was made in Label Studio.

        Raises:
            ItemError: A region is of another form.
        """

    def proposals(self, unit: AnnotationUnit, found: ItemScore) -> dict[str, Any]:
        """Parts of a judgment that a judge proposes, from a metric's outcome for the unit's item.

        Only tasks that say ``takes_proposals`` are asked.
        """
        raise NotImplementedError

    def check(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """Refuse an act that cannot be; every task has remarks and an end.

        Raises:
            ItemError: Says what was expected.
        """
        if part == REMARK:
            if value is not None and not (isinstance(value, str) and len(value) <= MAX_REMARK):
                raise ItemError(f"a remark is a text of at most {MAX_REMARK:,} characters")
            try:
                plain_text(value or "")
            except RowError as error:
                raise ItemError(f"the remark {error.reason}, which cannot be kept") from error
        elif part == DONE:
            if value is not True and value is not None:
                raise ItemError(f"done is true or null, got {shorten(value)}")
        else:
            self.check_name(unit, part)
            if value is not None:
                self.check_value(unit, part, value)


def whole_number(value: Any, low: int, high: int, what: str) -> None:
    """Refuse what is no whole number in a range.

    Raises:
        ItemError: Names what it is.
    """
    if type(value) is not int or not low <= value <= high:
        raise ItemError(
            f"{what}: expected a whole number from {low} to {high}, got {shorten(value)}"
        )


def numbered(part: str, n: int, what: str) -> int:
    """The place that a part names, from 0.

    Raises:
        ItemError: The unit has no such place.
    """
    if not (part.isascii() and part.isdecimal() and len(part) <= 6 and int(part) < n):
        raise ItemError(f"there is no {what} {shorten(part)}; they are numbered from 0 to {n - 1}")
    return int(part)


def pictures_of(item: Item) -> tuple[ShownPicture, ...]:
    """The pictures of an item."""
    return tuple(ShownPicture(image) for image in item.images)


def statements_of(found: ItemScore) -> list[Unit]:
    """The statements that a metric took from the candidate, in order."""
    return [u for u in found.units if u.kind == "statement" and u.side == "candidate"]


def one_value(regions: Sequence[Region], name: str, kind: str) -> Any:
    """The value of the only region of a name; None where there is none.

    Args:
        regions: Of one annotation.
        name: Its ``from_name``.
        kind: Its ``type``, under which the value lies.

    Raises:
        ItemError: There are several, or the value is of another form.
    """
    found = [region for region in regions if region.get("from_name") == name]
    if not found:
        return None
    value = found[0].get("value")
    if len(found) > 1 or not isinstance(value, Mapping) or kind not in value:
        raise ItemError(f"{name}: expected one result with a value {kind!r}")
    return value[kind]


def one_choice(regions: Sequence[Region], name: str, known: Sequence[str]) -> int | None:
    """The place of the one choice of a region among the known ones; None where there is none.

    Raises:
        ItemError: Several were chosen, or an unknown one.
    """
    chosen = one_value(regions, name, "choices")
    if chosen is None:
        return None
    if not isinstance(chosen, list) or len(chosen) != 1 or chosen[0] not in known:
        raise ItemError(f"{name}: expected one of {', '.join(known)}, got {shorten(chosen)}")
    return known.index(chosen[0])


def region(name: str, to: str, kind: str, value: Any, **place: Any) -> dict[str, Any]:
    """A region of Label Studio; ``place`` is what its value holds besides."""
    return {"from_name": name, "to_name": to, "type": kind, "value": {**place, kind: value}}
