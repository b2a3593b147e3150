"""The interface of annotation tasks: each is a subclass of ``Task``.

Importing this module loads neither numpy nor the readers of data, so that help is fast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from beholder.base.registry import find_origin
from beholder.errors import ConfigError, DataError, ItemError
from beholder.kinds.annotation.records import (
    CANNOT,
    DONE,
    REMARK,
    AnnotationUnit,
    Judged,
    Row,
    ShownPicture,
    State,
    read_as,
)
from beholder.records import Item, ItemScore, Unit

if TYPE_CHECKING:
    from pathlib import Path

    from beholder.data.notes import RowNotes
    from beholder.options import DataOptions
    from beholder.run.reliability import Reliability

MAX_REMARK = 2_000
"""Characters of a remark."""

MAX_PARTS = 1_000
"""Parts of one judgment: marks, steps, facts."""


@dataclass(frozen=True, slots=True)
class JudgmentPart:
    """A part of a judgment.

    Attributes:
        name: Its name, of at most 64 characters.
        type: The type of its value, as ``msgspec`` reads it: ``Literal["calm", "glad"]``,
            ``Annotated[int, msgspec.Meta(ge=1, le=10)]`` or a frozen record.
        words: Name on the page while the annotator has not answered.
    """

    name: str
    type: Any
    words: str


class Task(ABC):
    """A task: what annotators see, the parts of a judgment, agreement, and results.

    A task with a fixed list of parts defines ``units``, ``parts``, ``agreement`` and ``results``.
    Its page is ``templates/annotate/task_NAME.html.j2`` of its package, its instructions are
    ``templates/annotate/how_NAME.html.j2``. Inputs of a page with ``data-part``, ``data-value`` and
    ``data-shortcut`` need no script.

    Class attributes:
        name: Its name, in templates and on the command line.
        title: Its heading on pages.
        summary: Its data and judgment in a few words, for ``beholder annotate tasks``.
        next_step: The command that reads the results, with ``{file}`` for their file.
        next_without_references: The command if ``next_step`` needs references and a row of the
            results has none; empty if it needs none.
        package: The package that has its folders ``templates`` and ``static``.
        scripts: Scripts of the folder ``static`` that its page loads.
        unanswered: Text of the page before the list of open parts.
        together: Whether all units of a picture go to the same annotators.
        in_order: Whether units are judged in the order of the data, each by ``n_readers``.
        shows_pictures: Whether the page shows the pictures beside the form.
        proposals_from: Metric whose outcomes can fill in judgments; empty if none can.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    next_step: ClassVar[str] = ""
    next_without_references: ClassVar[str] = ""
    package: ClassVar[str] = "beholder.kinds.annotation"
    scripts: ClassVar[tuple[str, ...]] = ()
    unanswered: ClassVar[str] = "not answered"
    together: ClassVar[bool] = True
    in_order: ClassVar[bool] = False
    shows_pictures: ClassVar[bool] = True
    proposals_from: ClassVar[str] = ""

    @property
    def full_name(self) -> str:
        """The name on the command line: ``package/name`` for a task of another package."""
        origin_of_task = find_origin(type(self))
        return (
            origin_of_task.name
            if origin_of_task and origin_of_task.name
            else self.name
        )

    def read(
        self,
        data: str,
        options: DataOptions,
        errors: list[DataError],
        pictures: str | None,
        notes: RowNotes | None = None,
    ) -> Iterator[Any]:
        """Read the rows for ``units``: items, unless a task overrides this.

        Args:
            data: The data file.
            options: Selection of rows.
            errors: Collects the errors of rows that are skipped.
            pictures: File or folder of pictures that rows name by id.
            notes: Receives what is not read.

        Raises:
            DataError: The file cannot be read, or a row is not valid and may not be skipped.
        """
        # Imported here: readers take as long to load as the help of a command may.
        from beholder.data import read_items
        from beholder.data.read import good_rows

        rows = read_items(data, options, notes=notes)
        return good_rows(rows, options, errors, name=data)

    def completed(self, rows: Sequence[Any], run: Path) -> Sequence[Any]:
        """Return the rows with what a run of ``--prefill`` adds to them; unchanged by default."""
        return rows

    def count_unshown(self, rows: Sequence[Any]) -> Mapping[str, int]:
        """Return how many rows are in no unit, by what they are; a task that omits some overrides.

        Args:
            rows: The rows that ``units`` gets.
        """
        return {}

    def describe_units(self, units: Sequence[AnnotationUnit]) -> str:
        """Return the number of units in words, for the lead."""
        return f"{len(units):,} unit{'s'[: len(units) != 1]}"

    @abstractmethod
    def units(self, rows: Sequence[Any]) -> list[AnnotationUnit]:
        """Return the units to judge.

        Args:
            rows: The rows from ``read``.

        Raises:
            ConfigError: A field of the task is missing in a row; the message names both.
        """

    @abstractmethod
    def parts(self, unit: AnnotationUnit) -> Sequence[JudgmentPart]:
        """Return the parts of a complete judgment of a unit."""

    def part(self, unit: AnnotationUnit, name: str) -> JudgmentPart:
        """Return the part of a name.

        Raises:
            ItemError: The unit has no such part; lists those it has.
        """
        parts = self.parts(unit)
        match = next((part for part in parts if part.name == name), None)
        if match is None:
            names = [part.name for part in parts]
            # A text may have a thousand facts; the message names the first and the last.
            if len(names) >= 20:
                names = [*names[:3], "...", names[-1]]
            expected = ", ".join(names)
            raise ItemError(
                f"there is no part {name[:60]!r}; expected {expected}"
            )
        return match

    def context(
        self, unit: AnnotationUnit, order: Sequence[int]
    ) -> Mapping[str, object]:
        """Return further values for the task's template.

        Args:
            unit: The unit.
            order: The places of its texts, in the order in which they are shown.
        """
        return {}

    def n_shuffled(self, unit: AnnotationUnit) -> int:
        """Return the number of texts, from the first, whose order differs between annotators."""
        return 0

    def n_readers(self, unit: AnnotationUnit) -> int:
        """Return the annotators of a unit of a task ``in_order``, if --overlap does not say it."""
        return 1

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """Return a message about the parts that are missing in a judgment, or None."""
        unanswered_parts = [
            part.words
            for part in self.parts(unit)
            if not self.is_whole(state.get(part.name))
        ]
        return (
            f"{self.unanswered}: {', '.join(unanswered_parts)}"
            if unanswered_parts
            else None
        )

    def unfinished(self, unit: AnnotationUnit, state: State) -> str | None:
        """Return the message of ``missing``; None, too, if the unit cannot be judged."""
        return None if state.get(CANNOT) else self.missing(unit, state)

    def is_whole(self, value: Any) -> bool:
        """Return whether the value of a part is a complete answer."""
        return value is not None

    def is_close(self, answer: Any, expected: Any) -> bool:
        """Return whether two values of a part count as the same answer."""
        return bool(answer == expected)

    def differences(
        self, unit: AnnotationUnit, state: State, expected: State
    ) -> list[str]:
        """Return the parts in which two judgments differ, in words; empty if they agree.

        Args:
            unit: The unit.
            state: An annotator's judgment.
            expected: The right judgment, or another annotator's; only its parts are compared.
        """
        if state.get(CANNOT) or expected.get(CANNOT):
            # "Cannot judge" needs no other part, so there is nothing else to compare.
            if state.get(CANNOT) == expected.get(CANNOT):
                return []
            return ["whether it can be judged"]
        return [
            part.words
            for part in self.parts(unit)
            if part.name in expected
            and not self.is_close(state.get(part.name), expected[part.name])
        ]

    @abstractmethod
    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return the agreement of annotators, with intervals, on units that two or more finished.

        Args:
            judged: Units with finished judgments.
            annotators: Those with a finished judgment, two or more.
        """

    @abstractmethod
    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield the rows of ``beholder annotate export``, as other commands read them."""

    def next_command(self, judged: Judged) -> str:
        """Return the command that reads these results, ``{file}`` for their file; may be empty."""
        has_references = all(
            row.get("references") for row in self.results(judged)
        )
        if self.next_without_references and not has_references:
            return self.next_without_references
        return self.next_step

    def left_out(self, judged: Judged) -> str:
        """Return a sentence about judgments that no row of the results contains; may be empty."""
        return ""

    def proposals(self, unit: AnnotationUnit, outcome: ItemScore) -> State:
        """Return the parts that a metric's outcome for the unit's item proposes."""
        return {}

    def check(self, unit: AnnotationUnit, name: str, value: Any) -> None:
        """Check that a judgment of this unit may have this value of this part.

        Args:
            unit: The unit.
            name: Name of the part; every task has ``remark``, ``cannot`` and ``done``.
            value: A JSON value from a browser or a file; None removes the part.

        Raises:
            ItemError: Says what was expected, and where in the value.
        """
        if name == REMARK:
            _check_remark(value)
        elif name in (DONE, CANNOT):
            if value is not True and value is not None:
                raise ItemError(
                    f"{name}: expected true or null, got {str(value)[:60]!r}"
                )
        else:
            part = self.part(unit, name)
            if value is not None:
                read_as(value, part.type, name)


def _check_remark(value: Any) -> None:
    """Check that a remark is a text that a database stores, or None.

    Raises:
        ItemError: It is not.
    """
    if value is None:
        return
    if not isinstance(value, str) or len(value) > MAX_REMARK:
        raise ItemError(
            f"a remark is a text of at most {MAX_REMARK:,} characters"
        )
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ItemError(
            f"the remark has half of a surrogate pair at character {error.start}; remove it"
        ) from None


def unit_of(
    item: Item, *texts: str, name: str = "", row: Row | None = None
) -> AnnotationUnit:
    """Return the unit of an item.

    Args:
        item: The item, whose pictures and film are shown.
        texts: The judged texts and any reference.
        name: Id of the unit; that of the item if empty.
        row: Row of the unit; that of the item if None.

    Raises:
        ConfigError: The field ``fps`` is not a frame rate.
    """
    from beholder.data.row import to_row

    images = item.images if item.video is None else (*item.images, item.video)
    unit_row = to_row(item) if row is None else row
    pictures = tuple(map(ShownPicture, images))
    return AnnotationUnit(
        name or item.id,
        item.source,
        texts,
        pictures,
        unit_row,
        fps=_frame_rate(item),
    )


def _frame_rate(item: Item) -> float | None:
    """Return the frames per second of an item's film, above 0, at most 1000; None if not given."""
    # The page steps by frames, so a rate that is not valid would show wrong moments. Comparing
    # with 0 and 1000 also catches NaN.
    value = item.meta.get("fps")
    try:
        rate = None if value in (None, "") else float(str(value))
    except ValueError:
        rate = 0.0
    if rate is None or 0 < rate <= 1000:
        return rate
    raise ConfigError(
        f"row {item.id!r}: fps: expected frames per second, such as 25 or 29.97, got {value!r}"
    )


def statements_of(outcome: ItemScore) -> list[Unit]:
    """Return the statements that a metric extracted from the candidate, in order."""
    return [
        u
        for u in outcome.units
        if u.kind == "statement" and u.side == "candidate"
    ]
