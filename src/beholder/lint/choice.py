"""Which rules count, and how severe they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches

from beholder.errors import UnknownNameError
from beholder.lint.rules import rules

PARTS = ("ALT001.empty",)
"""Parts of rules that have a severity of their own: ``![](a.png)`` of Markdown."""


@dataclass(frozen=True)
class Choice:
    """The rules that count, and their severities.

    Attributes:
        select: Only these rules; empty for all.
        ignore: Not these rules.
        severity: Severities that replace those of the profile; ``off`` switches a rule off.
    """

    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    severity: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.select, *self.ignore, *self.severity):
            if name not in rules() and name not in PARTS:
                close = get_close_matches(name, rules(), n=1) or [
                    "see beholder lint --rules"
                ]
                raise UnknownNameError(
                    f"there is no rule {name!r}; did you mean {close[0]}?"
                )

    def asks_for(self, rule: str) -> bool:
        """Return whether a rule is named, not to be switched off."""
        level = self.severity.get(rule, "off")
        return rule in self.select or level != "off"

    def excludes(self, rule: str) -> bool:
        """Return whether a rule is switched off."""
        selected = not self.select or rule in self.select
        return (
            not selected
            or rule in self.ignore
            or self.severity.get(rule) == "off"
        )
