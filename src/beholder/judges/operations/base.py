"""The interface of operations: values that define a question to judges, and its prompt."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from beholder.backends import Answer, Image, Message, Sampling
from beholder.errors import ConfigError, ItemError, TransientError
from beholder.judges.asking import Prompt, Questioner
from beholder.judges.grades import Grade, grade_sampling
from beholder.judges.reading import BadAnswer, read_json, read_text
from beholder.judges.shapes import (
    Schema,
    Shape,
    array,
    in_words,
    integer,
    obj,
    only,
)
from beholder.judges.templates import (
    Parts,
    Template,
    Templates,
    Texts,
    add_prompt,
)
from beholder.options import check_text_lists

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


OPERATIONS: dict[str, type[Operation[Any]]] = {}
"""All operations by name."""


Column: TypeAlias = (
    tuple[Shape[Any], object] | tuple[Shape[Any], object, object]
)
"""The type of a column of an answer, and its values in estimates; see ``Respondent.rows``."""

UNREAD = "unread"
"""Key of the reason in place of a row that the judge did not give."""

_NO_ROW = "the judge gave no row for it, or rows that differ"

RowForm: TypeAlias = Mapping[str, Schema]
"""Schemas of some columns of a row, in place of those of their shapes."""

Ratings: TypeAlias = Iterable[tuple[object, Sequence[float]]]
"""For each question a number per judge. A question is anything that JSON can hold, with pictures
and records in it."""


class Operation(ABC, Generic[T_co]):
    """Something a judge can be asked; ``T_co`` is its answer.

    An operation is a frozen dataclass whose fields are what is asked. One that makes no sense (a
    description of no picture) cannot be made: it raises an ``ItemError``.

    Attributes:
        name: Its name in prompts, stores and messages, given as a parameter of the class.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_text_lists(self)

    def __init_subclass__(cls, *, name: str = "", **further: Any) -> None:
        super().__init_subclass__(**further)
        if name:
            # The same class may be defined twice, when a module is reloaded or
            # a script is run again in a worker; another class of that name is
            # a mistake.
            registered = OPERATIONS.get(name, cls)
            if (registered.__module__, registered.__qualname__) != (
                cls.__module__,
                cls.__qualname__,
            ):
                raise ConfigError(
                    f"{cls.__module__}.{cls.__qualname__}: the operation name {name!r} is taken by"
                    f" {registered.__module__}.{registered.__qualname__}; choose another"
                )
            cls.name = name
            OPERATIONS[name] = cls


class ModelOperation(Operation[T]):
    """An operation that a model can be asked. A panel asks its first judge alone.

    Attributes:
        template: Its prompt, as ``judges.templates`` describes; beholder's own are files.
    """

    template: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str = "", **further: Any) -> None:
        super().__init_subclass__(name=name, **further)
        if "template" in vars(cls) and "name" not in vars(cls):
            raise ConfigError(
                f"{cls.__module__}.{cls.__qualname__} has a template and no name; write"
                f' class {cls.__name__}(..., name="NAME")'
            )
        if name and cls.template:
            add_prompt(name, cls.template)

    @abstractmethod
    async def ask_model(self, model: Respondent) -> T:
        """Ask a model: render the prompt, choose the sampling, parse the answer."""


class PanelOperation(ModelOperation[T]):
    """An operation whose answers by several judges make one."""

    @abstractmethod
    def merge(self, answers: Sequence[T]) -> T:
        """The answer of a panel.

        Args:
            answers: One per judge, at least one.
        """

    def ratings(self, answers: Sequence[T]) -> Ratings:
        """Yield rows (question, ratings by judge) for the agreement of the judges."""
        return ()


@dataclass(frozen=True)
class Respondent:
    """A model that is asked one operation.

    Attributes:
        asker: Asker of the operation.
        operation: Name of the operation.
        templates: The prompts.
        temperature: Of the answer.
        replicate: Index of the repeat.
        samples: Answers per grade if a server returns no log-probabilities.
    """

    asker: Questioner
    operation: str
    templates: Templates
    temperature: float
    replicate: int
    samples: int

    @property
    def template(self) -> Template:
        """The prompt of the operation."""
        return self.templates[self.operation]

    def render(
        self,
        untrusted: Texts,
        settings: Mapping[str, str] | None = None,
        *,
        parts: Parts | None = None,
        images: Sequence[Image] = (),
    ) -> tuple[Message, ...]:
        """The messages of one question; see ``Template.render``."""
        return self.template.render(
            untrusted, settings, parts=parts, images=images
        )

    async def text(
        self,
        messages: tuple[Message, ...],
        parse: Callable[[str], T],
        *,
        max_tokens: int,
        typical: str,
        costly: str = "",
    ) -> T:
        """Ask for a text.

        Args:
            messages: The question.
            parse: Makes the text a value, or raises ``BadAnswer``.
            max_tokens: Tokens of the answer at most.
            typical: An answer as it could be, for estimates.
            costly: One that leads to the most further questions, where that does not.
        """
        sampling = Sampling(self.temperature, max_tokens)
        return await self._ask(
            messages,
            sampling,
            lambda a: parse(read_text(a.text)),
            typical,
            costly=costly,
        )

    async def json(
        self,
        messages: tuple[Message, ...],
        shape: Shape[T],
        *,
        max_tokens: int,
        typical: object,
        fewest: object = None,
    ) -> T:
        """Ask for a JSON value; see ``text``. ``fewest`` leads to the fewest further questions."""
        sampling = Sampling(self.temperature, max_tokens)
        return await self._ask(
            _asking_for(messages, shape),
            sampling,
            lambda answer: shape.read(read_json(answer.text), ""),
            json.dumps(typical),
            schema=shape.schema,
            fewest="" if fewest is None else json.dumps(fewest),
        )

    async def grade(
        self,
        messages: tuple[Message, ...],
        low: int,
        high: int,
        *,
        typical: str,
        costly: str = "",
    ) -> Grade:
        """Ask for a grade from low to high.

        If the server returns log-probabilities, one new token is drawn and its distribution read;
        elsewhere the grade is the mean of ``samples`` answers at temperature 1.
        """
        able = await self.asker.backend.capabilities(
            images=any(m.images for m in messages)
        )
        copies = (
            not able.top_logprobs and await self.asker.backend.draws_copies()
        )
        sampling, parse = grade_sampling(
            able.top_logprobs,
            low,
            high,
            temperature=self.temperature,
            samples=1 if copies else self.samples,
        )
        return await self._ask(
            messages, sampling, parse, typical, costly=costly, whole=False
        )

    async def rows(
        self,
        section: tuple[str, Sequence[str]],
        columns: Mapping[str, Column],
        *,
        texts: Texts | None = None,
        language: str | None = None,
        parts: Parts | None = None,
        images: Sequence[Image] = (),
        field: str = "rows",
        tokens: int = 32,
        whole: bool = False,
        parse_row: Callable[[int, Mapping[str, Any]], Mapping[str, Any]]
        | None = None,
        forms: Callable[[int], Sequence[RowForm]] | None = None,
    ) -> list[Mapping[str, Any]]:
        """The judge's row for each statement; those it left out are asked once more, together.

        A row that is missing then has only ``UNREAD``, the reason.

        Args:
            section: Heading of the statements in the prompt, and the statements; no request is
                sent if there are none.
            columns: Names of the answer's columns, with their types, a likely value,
                or a list with that of each statement, and perhaps such a value, or list, that leads
                to the fewest further questions.
            texts: Other texts under judgment, by the name the prompt uses.
            language: Language of the texts; None if unknown.
            parts: As of ``render``.
            images: The pictures.
            field: Name of the list of rows.
            tokens: The most tokens of a row.
            whole: Whether each statement must get a row.
            parse_row: Returns what is kept of a statement's row; raises ``BadAnswer`` for a row
                that is no better than none. The prompt has a section ``again`` for the second
                question.
            forms: The forms that the row of a statement may have, where its columns allow less
                than their shapes, or go together.

        Raises:
            ItemError: The model twice left out a statement, or gave it rows that differ.
        """
        name, statements = section

        # Plan: ask for all rows in one request, keep those that can be read,
        # and ask once more for the rest. The ids of the statements are in the
        # schema, so that a row cannot be given to another statement.
        def table_of(place: int) -> dict[str, object]:
            definitions = {
                column: definition[min(place, len(definition) - 1)]
                for column, definition in columns.items()
            }.items()
            typical_rows = [
                {c: v[i] if isinstance(v, list) else v for c, v in definitions}
                for i, _ in missing
            ]
            return {
                field: [
                    {"id": i, **row}
                    for (i, _), row in zip(missing, typical_rows, strict=True)
                ]
            }

        shapes: dict[str, Shape[Any]] = {
            column: definition[0] for column, definition in columns.items()
        }
        rows_by_index: dict[int, Mapping[str, Any]] = {}
        reasons: dict[int, str] = {}
        missing = list(enumerate(statements))
        # Twice at most: a model that keeps leaving out rows must not cost more
        # and more.
        for again in (None, "again"):
            if not missing:
                break
            ids, note = (
                {number for number, _ in missing},
                {"again_note": again} if parse_row else {},
            )
            row_shape: Shape[tuple[int, Mapping[str, Any]]] = obj(
                lambda **values: (values.pop("id"), values),
                id=number_of(sorted(ids)),
                **shapes,
            )
            # Where rows depend on their statement, the schema lists the forms
            # of each id.
            if forms:
                row_shape = replace(
                    row_shape, schema=_row_schema(row_shape.schema, ids, forms)
                )
            table = array(
                row_shape,
                partial(_by_id, ids),
                at_least=len(ids),
                at_most=len(ids),
            )
            try:
                rows_by_id = await self.json(
                    self.render(
                        {name: missing, **(texts or {})},
                        {"language": language or ""},
                        parts={
                            **language_note(language),
                            **note,
                            **(parts or {}),
                        },
                        images=images,
                    ),
                    only(field, table, bare=True),
                    max_tokens=128 + tokens * len(missing),
                    typical=table_of(1),
                    fewest=table_of(2),
                )
            except TransientError:
                raise
            except ItemError as error:
                # A second answer that cannot be read must not cost the rows of the first; the
                # rows that it was asked for stay unread.
                if whole or not rows_by_index:
                    raise
                reasons |= dict.fromkeys(ids, str(error))
                break
            reasons = dict.fromkeys(ids, _NO_ROW)
            for index, row in rows_by_id.items():
                # One bad row must not cost the others; it is asked for again.
                try:
                    rows_by_index[index] = (
                        parse_row(index, row) if parse_row else row
                    )
                except BadAnswer as error:
                    reasons[index] = str(error)
            missing = [row for row in missing if row[0] not in rows_by_index]
        if whole and missing:
            raise ItemError(
                f"{self.asker.backend.name} left out statement {missing[0][0]} of"
                f" {len(statements)} in {self.operation}, or gave it rows that differ, also when"
                " asked again"
            )
        return [
            rows_by_index.get(i) or {UNREAD: reasons[i]}
            for i in range(len(statements))
        ]

    async def _ask(
        self,
        messages: tuple[Message, ...],
        sampling: Sampling,
        parse: Callable[[Answer], T],
        typical: str,
        **further: Any,
    ) -> T:
        return await self.asker.ask(
            Prompt(
                operation=self.operation,
                template=self.template,
                messages=messages,
                sampling=sampling,
                parse=parse,
                typical=typical,
                replicate=self.replicate,
                **further,
            )
        )


def _asking_for(
    messages: tuple[Message, ...], shape: Shape[Any]
) -> tuple[Message, ...]:
    """Return the messages, with the form of the answer described at the end."""
    *before, last = messages
    form = f"\n\n{in_words(shape.schema)}"
    return (*before, Message(last.role, (*last.parts, form)))


_LISTED = 200
"""Numbers that a schema lists at most: servers bound how many there may be."""


def language_note(language: str | None) -> Parts:
    """The part of a prompt that states the language of the texts, if it is known."""
    return {"language_note": "language" if language else None}


def number_of(ids: Sequence[int]) -> Shape[int]:
    """Return the shape of one of some numbers; callers check which. Very many are not listed."""
    number = integer(min(ids), max(ids), listed=False)
    return (
        replace(number, schema={**number.schema, "enum": list(ids)})
        if len(ids) <= _LISTED
        else number
    )


def _row_schema(
    row: Schema, ids: set[int], forms: Callable[[int], Sequence[RowForm]]
) -> Schema:
    """The schema of a row with an alternative per form, each for the ids that may have it."""
    ids_by_form: dict[str, list[int]] = {}
    for index in sorted(ids):
        for form in forms(index):
            ids_by_form.setdefault(json.dumps(form), []).append(index)
    alternatives = []
    for written_form, indices in ids_by_form.items():
        columns = (
            row["properties"]
            | {"id": number_of(indices).schema}
            | json.loads(written_form)
        )
        alternatives.append(row | {"properties": columns})
    return (
        alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    )


def _by_id(ids: set[int], rows: Iterator[tuple[int, T]]) -> dict[int, T]:
    """Rows by id; an id with rows that differ has none, as if it was left out."""
    row_by_id: dict[int, T] = {}
    ambiguous: set[int] = set()
    for index, row in rows:
        if index not in ids:
            raise BadAnswer(
                f"there must be one row for each id that was given; see id {index}"
            )
        if row_by_id.setdefault(index, row) != row:
            ambiguous.add(index)
    return {
        index: row
        for index, row in row_by_id.items()
        if index not in ambiguous
    }


def votes_by_item(
    items: Iterable[T], answers: Sequence[Iterable[T_co]]
) -> Iterator[tuple[T, tuple[T_co, ...]]]:
    """Return each item with what all judges of a panel say of it."""
    return zip(items, zip(*answers, strict=True), strict=True)


def majority(votes: Sequence[T], without: T) -> T:
    """Return the vote of more than half, or else ``without``."""
    value, count = Counter(votes).most_common(1)[0]
    return value if 2 * count > len(votes) else without
