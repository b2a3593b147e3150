"""How the viewer draws one subject: by the kind of run if it says how, else as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from beholder.errors import RunError
from beholder.optional import load
from beholder.records import Frame, Item, ItemFailure, ItemScore, Reviews, Storyline
from beholder.run.kind import kind_named
from beholder.run.store import Store
from beholder.web.items import RunView

_SNIPPET = 240

Drawn: TypeAlias = tuple[str, Mapping[str, Any]]
"""A template and its context."""


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


Draw: TypeAlias = Callable[[SeenSubject], Drawn | None]
"""Draws a subject; None where the results of the run are not there yet."""


def first_text(subject: Any) -> str:
    """The beginning of what a subject says, for a list."""
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
    words = " ".join(text[: 2 * _SNIPPET].split())
    return words if len(words) <= _SNIPPET else words[: _SNIPPET - 1] + "…"


def subject_page(seen: SeenSubject) -> Drawn:
    """How a subject is drawn.

    Raises:
        RunError: The store or a result of the run cannot be read.
    """
    try:
        part = kind_named(seen.view.kind).subject_pages.get(seen.kind, "")
    except RunError:  # made by a package that is not installed
        part = ""
    return (load(part)(seen) if part else None) or _plain(seen)


def _plain(seen: SeenSubject) -> Drawn:
    asked = seen.view.snapshot.of_kind(seen.kind)
    outcomes = [(one.name, seen.store.score(one.name, seen.position)) for one in asked]
    return "plain_item.html.j2", {
        "row": seen.view.snapshot.subjects[seen.kind].kind.to_row(seen.subject),
        "outcomes": [(name, _shown(outcome)) for name, outcome in outcomes],
        "pictures": seen.pictures,
    }


def _shown(outcome: ItemScore | ItemFailure | None) -> Mapping[str, object]:
    if outcome is None:
        return {"state": "open"}
    if isinstance(outcome, ItemFailure):
        return {"state": "failed", "reason": outcome.message}
    detail = {k: v for k, v in outcome.detail.items() if isinstance(v, str | int | float)}
    return {"state": "scored", "values": dict(outcome.values), "detail": detail}
