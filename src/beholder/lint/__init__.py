"""Checks of alternative texts without a model: ``beholder lint``.

Sources (``tables``, ``html``, ``markdown``, ``iiif``) give one ``Occurrence`` for each place that
shows a picture. Rules give findings about occurrences (``texts``, ``context``) and about all of
them together (``context``). ``linting`` applies the rules of a profile and a baseline, and
``outputs`` writes the report. Nothing is ever fetched: addresses are texts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beholder.lint.linting import LintReport, lint
    from beholder.lint.occurrence import Occurrence
    from beholder.lint.rules import LintFinding, LintRule

__all__ = ["LintFinding", "LintReport", "LintRule", "Occurrence", "lint"]

_HOMES = {
    "LintFinding": "rules",
    "LintReport": "linting",
    "LintRule": "rules",
    "Occurrence": "occurrence",
    "lint": "linting",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: the help of the command needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
