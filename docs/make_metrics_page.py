"""Write the pages of metrics from the registry; ``make docs`` runs it, a test compares."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from beholder.asking.params import params
from beholder.cli.tools import describe_metric
from beholder.metrics import METRICS, Metric
from beholder.run.manifest import describe_scale

PAGE = Path(__file__).with_name("metrics.md")
FOLDER = Path(__file__).with_name("metrics")
GUIDES = {
    "accord": "accord.md",
    "audit": "audit.md",
    "autodq": "checklists-and-questions.md#events",
    "chair": "classical.md#objects-that-are-not-there-chair",
    "checklist": "checklists-and-questions.md#criteria",
    "dcscore": "dcscore.md",
    "perplexity": "irr.md#scorers",
    "placement": "context.md#decision-and-verdict",
    "posh": "posh.md",
    "qa": "checklists-and-questions.md#questions",
    "vcs": "vcs.md",
    "vcs_short": "vcs.md#vcs-short",
}
"""The hand-written page of a metric; for all others, docs/classical.md."""
NOTE = (
    "<!-- Made by `make docs` from the registry; change the metric,"
    " not this page. -->"
)
INTRODUCTION = """\
Each name leads to a page with the formula, the values, the parameters and the signature of the
metric, which `beholder show NAME` prints, too. Every metric needs the candidate.
[Which metric?](which-metric.md) helps with the choice; to add metrics, see [My own
package](start/package.md)."""

_RAISES = re.compile(r"\n\nRaises:\n(?: +.*\n)+")


def guide_for(name: str) -> str:
    """Return the path of the hand-written page of a metric, from docs/."""
    return GUIDES.get(name, "classical.md")


def list_needs(cls: type[Metric[Any]]) -> list[str]:
    """Return the fields beside the candidate and the model that a metric needs."""
    needs = sorted(cls.required_fields - {"candidate"})
    if cls.operations:
        defaults = {param.name: param.default for param in params(cls)}
        is_builtin = defaults.get("judge") == "builtin"
        needs.append(
            "the built-in judge or a model" if is_builtin else "a judge"
        )
    return needs


def overview() -> str:
    """Return the page that lists all built-in metrics.

    Each row has the anchor that the metric had when this page described all of them.
    """
    rows = [
        NOTE,
        "",
        "# All metrics",
        "",
        INTRODUCTION,
        "",
        "| metric | what it needs | what it measures | guide |",
        "|---|---|---|---|",
    ]
    for name in METRICS.builtin():
        cls = METRICS.get(name)
        summary = (inspect.getdoc(cls) or "").split("\n\n")[0]
        summary = summary.replace("\n", " ").replace("|", "/")
        needs = ", ".join(list_needs(cls)) or "nothing else"
        link = f'<a id="{name}"></a>[`{name}`](metrics/{name}.md)'
        guide = guide_for(name)
        title = guide.partition("#")[0].removesuffix(".md").replace("-", " ")
        rows.append(f"| {link} | {needs} | {summary} | [{title}]({guide}) |")
    return "\n".join(rows) + "\n"


def metric_page(name: str) -> str:
    """Return the page of a metric: its description, as ``beholder show`` prints it."""
    cls = METRICS.get(name)
    main = cls.values[0]
    directions = {
        True: ", higher is better",
        False: ", lower is better",
        None: "",
    }
    main_value = (
        f"Main value: `{main.name}`, {describe_scale(main)}"
        f"{directions[main.higher_is_better]}."
    )
    links = f"See the [guide](../{guide_for(name)}) and [all metrics](../metrics.md)."
    # What the constructor raises is for readers of the code.
    text = _RAISES.sub("\n", describe_metric(cls) + "\n").strip()
    title, _, description = text.partition("\n")
    return (
        "\n\n".join(
            [NOTE, title, f"{main_value} {links}", description.strip()]
        )
        + "\n"
    )


def pages() -> dict[Path, str]:
    """Return the texts of all generated pages by their paths."""
    metric_pages = {
        FOLDER / f"{name}.md": metric_page(name) for name in METRICS.builtin()
    }
    return {PAGE: overview(), **metric_pages}


def write_pages() -> None:
    """Write all pages and delete those of metrics that no longer exist."""
    FOLDER.mkdir(exist_ok=True)
    texts = pages()
    for path in {*FOLDER.glob("*.md")} - set(texts):
        path.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
