"""Results that print as tables, in a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from beholder.tables import Table


class Printed(ABC):
    """Something that is shown as the tables which a command prints of it."""

    @abstractmethod
    def _tables(self) -> Sequence[RenderableType | Table]:
        """What the command line prints."""

    def __str__(self) -> str:
        from beholder.report.plain import as_text

        return as_text(self._tables())

    def _repr_html_(self) -> str:
        from beholder.report.plain import as_html

        return as_html(self._tables())
