"""One storyline with its ratings, for the viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.errors import RunError
from beholder.kinds.narratives import results
from beholder.kinds.narratives.report.strips import strips
from beholder.run.thumbs import thumb

if TYPE_CHECKING:
    from beholder.web.subject_pages import Drawn, SeenSubject


def draw_storyline(seen: SeenSubject) -> Drawn | None:
    """The film strip; None until the run is finished."""
    try:
        study = results.read(seen.view.folder)
    except RunError:  # not finished
        return None
    folder = seen.view.folder
    there = {n: "" for n in range(len(study.frames)) if thumb(folder, n).is_file()}
    drawn = next(one for one in strips(study, there) if one.position == seen.position)
    return "storyline_item.html.j2", {"strip": drawn}
