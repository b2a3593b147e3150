"""The page of one subject in the viewer, and the questions of judges about it.

A kind of run may define how its subjects are drawn; otherwise a page shows row and values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from beholder.base.optional import load_object
from beholder.base.visible import cut_text
from beholder.errors import RunError
from beholder.records import (
    Frame,
    Item,
    Reviews,
    Storyline,
)
from beholder.run.answers import GivenAnswer, answers
from beholder.run.kind import kind_named
from beholder.run.store import Store
from beholder.web.items import RunView

_SNIPPET = 240

Drawing: TypeAlias = tuple[str, Mapping[str, Any]]
"""A template and its context."""

Messages: TypeAlias = tuple[tuple[str, str], ...]
"""Role and words of each message of a question."""


@dataclass(frozen=True)
class SeenSubject:
    """A subject that is to be drawn.

    Attributes:
        view: The run.
        store: Its store, open for reading.
        kind: Kind of the subject.
        position: Its place.
        subject: The subject.
        pictures: Addresses of its pictures.
    """

    view: RunView
    store: Store
    kind: str
    position: int
    subject: Any
    pictures: Sequence[str]


Draw: TypeAlias = Callable[[SeenSubject], Drawing | None]
"""Draws a subject; returns None while the run has no results of it."""


def first_text(subject: Any) -> str:
    """Return the beginning of a subject's text for a list; of a storyline its pictures' ids."""
    if isinstance(subject, Item):
        text = subject.candidate
    elif isinstance(subject, Reviews):
        text = subject.texts[0]
    elif isinstance(subject, Frame):
        text = subject.caption or ""
    elif isinstance(subject, Storyline):
        text = " → ".join(frame.id for frame in subject.frames)
    else:
        text = ""
    # A text may be megabytes long: it is cut before its spaces are normalised, and again after.
    words = " ".join(text[: 2 * _SNIPPET].split())
    return cut_text(words, _SNIPPET)


def subject_page(seen_subject: SeenSubject) -> Drawing:
    """Return the template and context of a subject's page.

    Raises:
        RunError: The store or a result of the run cannot be read.
    """
    try:
        part = kind_named(seen_subject.view.kind).subject_pages.get(
            seen_subject.kind, ""
        )
    except RunError:
        # The run was made by a package that is not installed: its rows can be shown still.
        part = ""
    drawing = None
    if part:
        drawing = load_object(part)(seen_subject)
    return drawing or _plain(seen_subject)


def _plain(seen_subject: SeenSubject) -> Drawing:
    snapshot = seen_subject.view.snapshot
    return "plain_item.html.j2", {
        "row": snapshot.subjects[seen_subject.kind].kind.to_row(
            seen_subject.subject
        ),
        "outcomes": [
            (
                columns.name,
                seen_subject.store.score(columns.name, seen_subject.position),
            )
            for columns in snapshot.of_kind(seen_subject.kind)
        ],
        "pictures": seen_subject.pictures,
    }


@dataclass(frozen=True)
class AskedQuestion:
    """One question of an asker.

    Attributes:
        asker: Name of the asker.
        messages: Its messages; None if the run stored only the answer.
        answer: The judge's answer; None if there is none.
    """

    asker: str
    messages: Messages | None
    answer: GivenAnswer | None

    def mentions(self, words: str) -> bool:
        """Return whether the question or the answer contains words, ignoring case."""
        needle = words.casefold()
        answers = self.answer.said if self.answer else ()
        texts = [text for _, text in self.messages or ()] + list(answers)
        return any(needle in text.casefold() for text in texts)


def questions_of(
    view: RunView,
    kind: str,
    position: int,
) -> list[AskedQuestion]:
    """Return all questions about one subject, ordered by asker and operation.

    Raises:
        RunError: The store cannot be read.
    """
    questions: list[AskedQuestion] = []
    with view.store() as store:
        for columns in view.snapshot.of_kind(kind):
            outcome = store.score(columns.name, position)
            noted = _noted({} if outcome is None else outcome.detail)
            answers_by_key = answers(view.folder, [key for key, _ in noted])
            questions_of_asker = [
                AskedQuestion(columns.name, messages, answers_by_key.get(key))
                for key, messages in noted
            ]
            questions += sorted(questions_of_asker, key=_operation)
    return questions


def _operation(question: AskedQuestion) -> str:
    return "" if question.answer is None else question.answer.operation


def _noted(detail: Mapping[str, Any]) -> list[tuple[str, Messages | None]]:
    """Return keys and messages of questions from the detail of an outcome.

    Runs from before prompts were stored have only the keys.
    """
    questions, keys = detail.get("questions"), detail.get("answers")
    if isinstance(questions, list):
        return [
            (
                question["key"],
                tuple((role, text) for role, text in question["messages"]),
            )
            for question in questions
        ]
    if isinstance(keys, list):
        return [(key, None) for key in keys if isinstance(key, str)]
    return []
