"""One image with its texts and all rankings of them, for the viewer."""

from __future__ import annotations

from beholder.errors import RunError
from beholder.kinds.ranking import results
from beholder.kinds.ranking.page import matrices
from beholder.kinds.ranking.tables import label_of
from beholder.web.subject_pages import Drawn, SeenSubject


def draw_reviews(seen: SeenSubject) -> Drawn | None:
    """The matrix of ranks; None until the run is finished."""
    try:
        found = results.read(seen.view.folder)
    except RunError:  # not finished: there is no table of ranks yet
        return None
    drawn = next(one for one in matrices(found, seen.view.folder) if one.position == seen.position)
    labels = [(label, name) for name, label in label_of(found).items()]
    return "ranked_item.html.j2", {"matrix": drawn, "labels": labels, "pictures": seen.pictures}
