"""Views of a score's detail, by the name that the metric gives in ``detail["view"]``.

A view is two halves of one name: a function here that turns a score into JSON for the page, and a
drawing function that ``scripts/view_NAME.js`` adds to the page's ``VIEWS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from beholder.records import ItemScore
from beholder.report.views.alignment import alignment
from beholder.report.views.scene_graph import scene_graph

VIEWS: Mapping[str, Callable[[ItemScore], Mapping[str, object]]] = {
    "alignment": alignment,
    "scene_graph": scene_graph,
}


def view_of(score: ItemScore) -> Mapping[str, object] | None:
    """What the page draws of a score's detail; None if no view knows it."""
    name = score.detail.get("view")
    if not isinstance(name, str) or name not in VIEWS:
        return None
    return {"name": name, **VIEWS[name](score)}
