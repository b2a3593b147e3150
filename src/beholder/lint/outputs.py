"""Reports: terminal, JSON, SARIF 2.1.0, JUnit and Markdown; the HTML page is in ``page``."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote
from xml.etree import ElementTree

import msgspec

from beholder._version import __version__
from beholder.errors import ItemError
from beholder.grouping import by_key
from beholder.lint.linting import LintReport, by_file, summary
from beholder.lint.occurrence import Occurrence
from beholder.lint.rates import LintRate, rates
from beholder.lint.rules import ORDER, Format, LintFinding, rules
from beholder.report.pages import content_hash, environment, jpeg_uri, styles
from beholder.visible import for_terminal, for_xml

_HERE = Path(__file__).parent / "templates"
_MOST_PICTURES = 2000
_SIDE = 192
"""Pixels of a shown picture; twice those of the page, for fine screens."""
_FILTERS = ("severity", "rule", "file", "language")


def page(report: LintReport) -> str:
    """One page with its own small script: the worst rules first, each with its findings.

    Pictures that lie beside the source are embedded, 2,000 at most; nothing is fetched.
    """
    uris: dict[Path, str] = {}
    new = []
    for one, place in zip(report.findings, report.places, strict=True):
        if one.state == "new":
            shown = report.occurrences[place]
            new.append((one, _marked(one), _picture(report, shown, uris), _name(shown)))
    groups = []
    for rule in rules().values():
        found = [row for row in new if row[0].rule == rule.id]
        if found:
            groups.append((rule, sorted(found, key=lambda row: ORDER.index(row[0].severity))))
    groups.sort(key=lambda group: (ORDER.index(group[1][0][0].severity), group[0].id))
    style = styles("page.css") + (_HERE / "lint.css").read_text(encoding="utf-8")
    script = (_HERE / "lint.js").read_text(encoding="utf-8")
    filters = [
        (name, name.capitalize(), values)
        for name in _FILTERS
        if len(values := sorted({getattr(one, name) for one, *_ in new})) > 1
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


def _name(one: Occurrence) -> str:
    """The last part of a picture's address, which is shown if the picture is not there."""
    if one.picture.startswith("data:"):
        return ""
    return unquote(one.picture.partition("?")[0].partition("#")[0]).rpartition("/")[2][:80]


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


_MOST_SARIF = 25_000
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}
_FIRST = 50


def text(report: LintReport) -> str:
    """Lines for a terminal: new findings by file, then the summary."""
    said = list(report.notes)
    for file, findings in by_file(one for one in report.findings if one.state == "new").items():
        said.append(f"\n{file}")
        for one in findings:
            place = str(one.line or one.locator)
            place += f":{one.column}" if one.column else ""
            said.append(f"  {place:>7}  {one.severity:<7}  {one.rule}  {one.message}")
            if one.text:
                said.append(f"           {_short(one.text)}")
    return "\n".join([*said, "", summary(report), ""])


def as_json(report: LintReport) -> str:
    """All findings, files and counts; equal bytes for equal input."""
    found = {
        "beholder_lint": 1,
        "profile": report.setting.profile,
        "rules": [msgspec.to_builtins(rule) for rule in rules().values()],
        "files": report.files,
        "pictures": len(report.occurrences),
        "findings": msgspec.to_builtins(report.findings),
        "collection": [
            {
                "rule": group.rule,
                "message": group.hit.what,
                "n": group.n,
                "places": [{"file": one.file, "line": one.line} for one in group.places],
            }
            for group in report.groups
        ],
        "rates": msgspec.to_builtins(rates(report)),
        "counts": report.counts(),
        "cautions": [*report.notes, *map(str, report.bad)],
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def sarif(report: LintReport) -> str:
    """SARIF 2.1.0, as code-scanning services read it: the worst 25,000 findings."""
    worst = sorted(report.findings, key=lambda one: ORDER.index(one.severity))[:_MOST_SARIF]
    left = len(report.findings) - len(worst)
    run: dict[str, object] = {
        "tool": {
            "driver": {
                "name": "beholder lint",
                "version": __version__,
                "rules": [
                    {
                        "id": rule.id,
                        "name": rule.name,
                        "shortDescription": {"text": rule.condition},
                        "fullDescription": {"text": f"{rule.condition}. {rule.next}"},
                        "help": {"text": rule.next},
                        "properties": {
                            "tags": ["accessibility"],
                            "problem.severity": _PROBLEM.get(
                                rule.severities[report.setting.profile], "recommendation"
                            ),
                        },
                    }
                    for rule in rules().values()
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(one) for one in worst],
    }
    if left:
        message = {"text": f"{left} further findings of lower severity are left out"}
        note = {"message": message, "level": "warning"}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [note]}]
    whole = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _result(one: LintFinding) -> dict[str, object]:
    region = {"startLine": one.line or 1, "startColumn": one.column or 1}
    location: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(one.file)},
            "region": region
            | {"endLine": region["startLine"], "endColumn": region["startColumn"] + 1},
        }
    }
    if one.line is None and one.locator:
        location["logicalLocations"] = [{"fullyQualifiedName": one.locator}]
    return {
        "ruleId": one.rule,
        "level": one.severity,
        "message": {"text": for_terminal(one.message)},
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": f"{one.fingerprint}:1"},
        "baselineState": "new" if one.state == "new" else "unchanged",
    }


def junit(report: LintReport) -> str:
    """JUnit: a suite for each file, a case for each picture."""
    suites = ElementTree.Element("testsuites", name="beholder lint")
    found, shown = by_file(report.findings), by_file(report.occurrences)
    for file in report.files:
        pictures = shown.get(file, [])
        suite = ElementTree.SubElement(suites, "testsuite", name=for_xml(file))
        own = found.get(file, [])
        by_place = by_key(((one.line, one.column, one.locator), one) for one in own)
        n_failed = 0
        for one in pictures:
            place = f"{one.line or one.locator}" + (f":{one.column}" if one.column else "")
            name = for_xml(f"{place} {one.picture}".strip())
            case = ElementTree.SubElement(suite, "testcase", classname=for_xml(file), name=name)
            findings = by_place.pop((one.line, one.column, one.locator), [])
            n_failed += _fill(case, findings)
        suite.set("tests", str(len(pictures)))
        suite.set("failures", str(n_failed))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, "unicode") + "\n"
    )


def _fill(case: ElementTree.Element, findings: list[LintFinding]) -> bool:
    errors = [one for one in findings if one.severity == "error" and one.state == "new"]
    milder = [one for one in findings if one.severity != "error" and one.state == "new"]
    for one in errors:
        failure = ElementTree.SubElement(
            case, "failure", type=one.rule, message=for_xml(one.message)
        )
        failure.text = for_xml(one.text)
    if findings and not errors and not milder:
        ElementTree.SubElement(case, "skipped", message="known")
    if milder:
        said = ElementTree.SubElement(case, "system-out")
        said.text = "\n".join(
            for_xml(f"{one.severity} {one.rule}: {one.message}") for one in milder
        )
    return bool(errors)


def markdown(report: LintReport) -> str:
    """Counts, the ten most frequent rules and the first fifty findings, in Markdown."""
    new = [one for one in report.findings if one.state == "new"]
    rows = [
        f"| {rule} | {rules()[rule].name} | {n} |"
        for rule, n in Counter(one.rule for one in new).most_common(10)
    ]
    places = [
        f"- **{one.severity}** {one.rule} {_md(f'{one.file}:{one.line or one.locator}')}"
        f" {_md(one.message)}"
        for one in new[:_FIRST]
    ]
    head = ["# Alternative texts", "", summary(report), ""]
    if rows:
        head += ["| rule | name | findings |", "|---|---|---|", *rows, "", *places]
    if len(new) > _FIRST:
        head += ["", f"{len(new) - _FIRST} further findings are in the other formats."]
    return "\n".join(head) + "\n"


def _md(value: str) -> str:
    plain = html.escape(for_terminal(value), quote=False)
    return "".join(f"\\{one}" if one in "\\`*_[]|!#" else one for one in plain)


WRITERS: Mapping[Format, tuple[str, Callable[[LintReport], str]]] = {
    "text": ("lint.txt", text),
    "json": ("lint.json", as_json),
    "sarif": ("lint.sarif", sarif),
    "junit": ("lint.junit.xml", junit),
    "markdown": ("lint.md", markdown),
    "html": ("lint.html", page),
}
"""Usual name of the file, and the function that makes the text, by format."""


def _short(value: str) -> str:
    return value if len(value) <= 100 else value[:97] + "..."
