"""Write docs/metrics.md from the registry; ``make docs`` runs it, a test compares."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from beholder.cli.tools import describe
from beholder.metrics import METRICS

_PART = re.compile(r"^## (.*)$", re.MULTILINE)
PAGE = Path(__file__).with_name("metrics.md")


def overview() -> str:
    """A row per metric: what it measures, what it needs, its main value."""
    rows = [
        "For help with the choice see [Which metric?](which-metric.md); to add metrics, see"
        " [My own package](start/package.md).",
        "",
        "| metric | what | needs | main value | asks a judge |",
        "|---|---|---|---|---|",
    ]
    for name in METRICS.builtin():
        cls = METRICS.get(name)
        what = (
            (inspect.getdoc(cls) or "")
            .split("\n\n")[0]
            .replace("\n", " ")
            .replace("|", "/")
        )
        needs = ", ".join(["candidate", *sorted(cls.required_fields)])
        main = cls.values[0]
        better = {
            True: ", higher is better",
            False: ", lower is better",
            None: "",
        }
        value = f"`{main.name}`, {main.low:g} to {main.high:g}{better[main.higher_is_better]}"
        asks = "yes" if cls.operations else "no"
        rows.append(
            f"| [`{name}`](#{name}) | {what} | {needs} | {value} | {asks} |"
        )
    return "\n".join(rows)


def page() -> str:
    """The whole page: every built-in metric, as ``beholder show`` prints it."""
    described = (describe(METRICS.get(name)) for name in METRICS.builtin())
    parts = [
        "<!-- Made by `make docs` from the registry; change the metric, not this page. -->",
        "# All metrics",
        overview(),
        *("#" + _PART.sub(r"**\1**", text) for text in described),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
