"""What a run asks of its subjects, as it is added to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from beholder.metrics.asker import Asker
from beholder.run.subjects import SubjectKind


@dataclass(frozen=True)
class ScheduledAsker:
    """What a run asks of its subjects.

    Attributes:
        asker: What is asked, knowing what it must of the data.
        kind: The kind of subject.
        n: Of how many of them, from the first.
        signature: How its outcomes are made.
        jobs: Of how many of these it is asked; which ones may be known only later.
        renew: Whether to delete and make again outcomes that were made in another way.
    """

    asker: Asker[Any]
    kind: SubjectKind[Any]
    n: int
    signature: str
    jobs: int
    renew: bool = False

    @property
    def name(self) -> str:
        """Canonical name of the asker."""
        return self.asker.name

    def with_state(self, **found: Any) -> ScheduledAsker:
        """The same, its asker knowing what came out of what was asked before.

        Args:
            found: Fields of the asker that are no parameters of it.
        """
        return replace(self, asker=replace(self.asker, **found))
