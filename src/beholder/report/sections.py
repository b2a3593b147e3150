"""What a kind of work adds to the page of a run that scored items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beholder.optional import load
from beholder.run.kind import kinds
from beholder.run.store import Store


@dataclass(frozen=True)
class PageSection:
    """A section of the page.

    Attributes:
        id: Its anchor.
        title: As the navigation shows it.
        template: Its template; receives ``section`` (this value) and all values of the page.
        values: What the template draws.
        positions: Places of items that it links to; the page embeds these first.
    """

    id: str
    title: str
    template: str
    values: Mapping[str, Any]
    positions: Sequence[int] = field(default=())


def extra_sections(store: Store) -> list[PageSection]:
    """The sections that kinds add to the page of a run, in the order of kinds."""
    found = (load(kind.section)(store) for kind in kinds() if kind.section)
    return [section for section in found if section is not None]
