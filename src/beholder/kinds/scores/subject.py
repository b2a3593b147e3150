"""One item with its scores, for the viewer."""

from __future__ import annotations

from markupsafe import Markup

from beholder.report.payload import encode_item, page_json
from beholder.web.subject_pages import Drawn, SeenSubject


def draw_item(seen: SeenSubject) -> Drawn:
    """The item as the static report draws it."""
    asked = seen.view.snapshot.of_kind(seen.kind)
    names = [one.name for one in asked]
    encoded = encode_item(seen.store, names, seen.position, seen.pictures)
    data = page_json([(one.name, one.values) for one in asked], [encoded])
    return "item.html.j2", {
        "data": Markup(data),  # noqa: S704  # escaped for a script element by `page_json`
        "judgments": seen.subject.judgments,
    }
