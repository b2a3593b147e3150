"""Checks of alternative texts without a model: ``beholder lint``.

Sources (``tables``, ``html``, ``markdown``, ``iiif``) give one ``Occurrence`` for each place that
shows a picture. Rules give findings about occurrences (``texts``, ``context``) and about all of
them together (``collection``). ``linting`` applies the rules of a profile and a baseline, and
``outputs`` writes the report. Nothing is ever fetched: addresses are texts.
"""

from beholder.lint.linting import LintReport, lint
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import LintFinding, LintRule

__all__ = ["LintFinding", "LintReport", "LintRule", "Occurrence", "lint"]
