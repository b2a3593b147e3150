"""One subject with the texts that were written about it, for the viewer."""

from __future__ import annotations

from beholder.kinds.generation.page import subject_of
from beholder.web.subject_pages import Drawn, SeenSubject


def draw_made(seen: SeenSubject) -> Drawn:
    """The subject with what each system wrote."""
    snapshot = seen.view.snapshot
    systems = snapshot.log.settings["systems"]
    kind = snapshot.subjects[seen.kind].kind
    made = subject_of(seen.store, systems, kind, seen.position, seen.subject)
    return "made_item.html.j2", {"subject": made, "pictures": seen.pictures}
