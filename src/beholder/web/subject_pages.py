"""One subject of any kind with what became of it: a template and what it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from markupsafe import Markup

from beholder.errors import RunError
from beholder.records import Frame, Item, ItemFailure, ItemScore, Reviews, Storyline
from beholder.kinds.generation.page import subject_of
from beholder.kinds.narratives.report.strips import strips
from beholder.report.payload import encode_item, page_json
from beholder.kinds.ranking.page import matrices
from beholder.kinds.ranking.tables import label_of
from beholder.run import manifest
from beholder.kinds.narratives import results as narratives
from beholder.kinds.narratives.engine import KIND as NARRATIVES
from beholder.kinds.ranking import results as ranking
from beholder.kinds.ranking.engine import KIND as RANKING
from beholder.kinds.generation.reviews import KIND as REVIEWS
from beholder.run.rows.rows import KIND as ROWS
from beholder.run.store import Store
from beholder.run.thumbs import thumb
from beholder.web.items import RunView

_SNIPPET = 240

Drawn: TypeAlias = tuple[str, dict[str, Any]]
"""A template and what it is told."""

Draw: TypeAlias = Callable[[RunView, Store, str, int, Any, Sequence[str]], Drawn]


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


def subject_page(
    view: RunView, store: Store, kind: str, position: int, subject: Any, pictures: Sequence[str]
) -> Drawn:
    """How a subject is drawn.

    Args:
        view: The run.
        store: Its store, open to be read.
        kind: Kind of the subject.
        position: Its place.
        subject: The subject.
        pictures: Addresses of its pictures.

    Raises:
        RunError: The store or a result of the run cannot be read.
    """
    draw = _DRAWN.get((view.kind, kind), _plain)
    return draw(view, store, kind, position, subject, pictures)


def _item(
    view: RunView, store: Store, kind: str, position: int, subject: Any, pictures: Sequence[str]
) -> Drawn:
    asked = view.snapshot.of_kind(kind)
    encoded = encode_item(store, [one.name for one in asked], position, pictures)
    data = page_json([(one.name, one.values) for one in asked], [encoded])
    return "item.html.j2", {
        "data": Markup(data),  # noqa: S704  # escaped for a script element by `page_json`
        "judgments": subject.judgments,
    }


def _made(
    view: RunView, store: Store, kind: str, position: int, subject: Any, pictures: Sequence[str]
) -> Drawn:
    systems: Mapping[str, str] = view.snapshot.log["settings"]["systems"]
    made = subject_of(store, systems, view.snapshot.subjects[kind].kind, position, subject)
    return "made_item.html.j2", {"subject": made, "pictures": pictures}


def _ranked(
    view: RunView, store: Store, kind: str, position: int, subject: Any, pictures: Sequence[str]
) -> Drawn:
    try:
        found = ranking.read(view.folder)
    except RunError:  # not finished: there is no table of ranks yet
        return _plain(view, store, kind, position, subject, pictures)
    drawn = next(one for one in matrices(found, view.folder) if one.position == position)
    context = {
        "matrix": drawn,
        "labels": [(label, name) for name, label in label_of(found).items()],
    }
    return "ranked_item.html.j2", {**context, "pictures": pictures}


def _told(
    view: RunView, store: Store, kind: str, position: int, subject: Any, pictures: Sequence[str]
) -> Drawn:
    try:
        study = narratives.read(view.folder)
    except RunError:  # likewise
        return _plain(view, store, kind, position, subject, pictures)
    there = {
        number: "" for number in range(len(study["frames"])) if thumb(view.folder, number).is_file()
    }
    drawn = next(one for one in strips(study, there) if one.position == position)
    return "told_item.html.j2", {"strip": drawn}


def _plain(
    view: RunView, store: Store, kind: str, position: int, subject: Any, pictures: Sequence[str]
) -> Drawn:
    outcomes = [(one.name, store.score(one.name, position)) for one in view.snapshot.of_kind(kind)]
    row = view.snapshot.subjects[kind].kind.to_row(subject)
    return "plain_item.html.j2", {
        "row": row,
        "outcomes": [(name, _shown(outcome)) for name, outcome in outcomes],
        "pictures": pictures,
    }


def _shown(outcome: ItemScore | ItemFailure | None) -> dict[str, Any]:
    if outcome is None:
        return {"state": "open"}
    if isinstance(outcome, ItemFailure):
        return {"state": "failed", "reason": outcome.message}
    detail = {k: v for k, v in outcome.detail.items() if isinstance(v, str | int | float)}
    return {"state": "scored", "values": dict(outcome.values), "detail": detail}


_DRAWN: Mapping[tuple[str, str], Draw] = {
    (manifest.SCORES, "item"): _item,
    (ROWS, "item"): _made,
    (REVIEWS, "picture"): _made,
    (RANKING, "reviews"): _ranked,
    (NARRATIVES, "storyline"): _told,
}
