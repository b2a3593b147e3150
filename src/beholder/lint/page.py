"""The HTML page: findings by rule with pictures of the machine, filters, and rates."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

from beholder.errors import ItemError
from beholder.lint.linting import LintReport, summary
from beholder.lint.occurrence import Occurrence
from beholder.lint.rates import LintRate, rates
from beholder.lint.rules import ORDER, LintFinding, rules
from beholder.report.pages import content_hash, environment, jpeg_uri, styles
from beholder.visible import for_terminal

_HERE = Path(__file__).parent / "templates"
_MOST_PICTURES = 2000
_SIDE = 192
"""Pixels of a shown picture; twice those of the page, for fine screens."""
_FILTERS = (
    ("severity", "Severity"),
    ("rule", "Rule"),
    ("file", "File"),
    ("language", "Language"),
)


def page(report: LintReport) -> str:
    """One page with its own small script: the worst rules first, each with its findings.

    Pictures that lie beside the source are embedded, 2,000 at most; nothing is fetched.
    """
    uris: dict[Path, str] = {}
    new = [
        (one, _marked(one), _picture(report, report.occurrences[place], uris))
        for one, place in zip(report.findings, report.places, strict=True)
        if one.state == "new"
    ]
    groups = []
    for rule in rules().values():
        found = [row for row in new if row[0].rule == rule.id]
        if found:
            groups.append((rule, sorted(found, key=lambda row: ORDER.index(row[0].severity))))
    groups.sort(key=lambda group: (ORDER.index(group[1][0][0].severity), group[0].id))
    style = styles("page.css") + (_HERE / "lint.css").read_text(encoding="utf-8")
    script = (_HERE / "lint.js").read_text(encoding="utf-8")
    filters = [
        (name, label, values)
        for name, label in (
            ("severity", "Severity"),
            ("rule", "Rule"),
            ("file", "File"),
            ("language", "Language"),
        )
        if len(values := sorted({getattr(one, name) for one, _, _ in new})) > 1
    ]
    template = environment(_HERE, percent=_percent, interval=_interval).get_template("lint.html.j2")
    return template.render(
        style=style,
        style_hash=content_hash(style),
        script=script,
        script_hash=content_hash(script),
        summary=summary(report),
        filters=filters,
        groups=groups,
        rates=[rate for rate in rates(report) if not rate.rule],
    )


def _picture(report: LintReport, one: Occurrence, known: dict[Path, str]) -> str:
    """An address that holds the picture; empty if it does not lie in the folder that was named."""
    folder, root = report.folders[one.file]
    if not one.picture or one.picture.startswith(("/", "\\")) or ":" in one.picture:
        return ""
    name = unquote(one.picture.partition("?")[0].partition("#")[0])
    path = Path(os.path.normpath(folder / name))
    if path not in known:
        known[path] = _embedded(root, path) if len(known) < _MOST_PICTURES else ""
    return known[path]


def _embedded(root: Path, path: Path) -> str:
    from beholder.media import encode_jpeg, inside, load_image

    if not path.is_relative_to(root):
        return ""
    try:
        picture = load_image(inside(root, str(path.relative_to(root))), max_side=_SIDE)
    except ItemError:  # missing, damaged or no picture: rules do not judge files
        return ""
    return jpeg_uri(encode_jpeg(picture))


def _marked(one: LintFinding) -> list[str]:
    start, end = one.span or (0, 0)
    return [for_terminal(part) for part in (one.text[:start], one.text[start:end], one.text[end:])]


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def _interval(rate: LintRate) -> str:
    if rate.low is None or rate.high is None:
        return "–"
    return f"{_percent(rate.low)} to {_percent(rate.high)}"
