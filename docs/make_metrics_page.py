"""Write docs/metrics.md from the registry; ``make docs`` runs it, a test compares."""

from __future__ import annotations

import re
from pathlib import Path

from beholder.cli.tools import describe
from beholder.metrics import METRICS

_HEADING = re.compile(r"^(?=#)", re.MULTILINE)
PAGE = Path(__file__).with_name("metrics.md")


def page() -> str:
    """The whole page: every built-in metric, as ``beholder show`` prints it."""
    described = (describe(METRICS.get(name)) for name in METRICS.builtin())
    parts = [
        "<!-- Made by `make docs` from the registry; change the metric, not this page. -->",
        "# All metrics",
        *(_HEADING.sub("#", text) for text in described),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
