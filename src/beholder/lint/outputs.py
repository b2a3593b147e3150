"""Reports: terminal, JSON, SARIF 2.1.0, JUnit and Markdown; the HTML page is in ``page``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from beholder.base.grouping import group_by_key
from beholder.base.visible import cut_text, for_markdown, for_terminal
from beholder.errors import ItemError
from beholder.lint.leftovers import describe_left_out
from beholder.lint.linting import (
    LintReport,
    by_file,
    counts_by_rule,
    distinct_findings,
    summary,
)
from beholder.lint.occurrence import Occurrence
from beholder.lint.pictures import path_of, picture_below
from beholder.lint.rates import LintRate, omitted_groups, rates
from beholder.lint.rules import ORDER, Format, LintFinding, rules
from beholder.lint.wording import fold
from beholder.report.ci import (
    add_element,
    junit_text,
    sarif_result,
    sarif_text,
)
from beholder.report.pages import content_hash, environment, jpeg_uri, styles

_HERE = Path(__file__).parent / "templates"
_MOST_PICTURES = 2000
_SIDE = 192
"""Pixels of a shown picture; twice those of the page, for fine screens."""
_FILTERS = ("severity", "rule", "file", "language")


def page(report: LintReport) -> str:
    """Return the HTML page: the most severe rules first, each with its findings.

    Pictures that lie beside the source are embedded, 2,000 at most; nothing is fetched.
    """
    uris: dict[Path, str] = {}
    # Findings are grouped by rule, the most severe rules first.
    new_findings = []
    repeated = Counter(
        fold(finding.text)
        for finding in report.findings
        if finding.rule == "ALT401" and finding.state == "new"
    )
    distinct = set(map(id, distinct_findings(report.findings)))
    for finding, place in zip(report.findings, report.places, strict=True):
        if finding.state == "new" and id(finding) in distinct:
            occurrence = report.occurrences[place]
            picture = _picture(report, occurrence, uris)
            n_more = 0
            if finding.rule == "ALT401":
                n_more = repeated[fold(finding.text)] - 1
            new_findings.append(
                (
                    finding,
                    _marked(finding),
                    picture,
                    _name(occurrence),
                    n_more,
                )
            )
    worst = sorted(new_findings, key=lambda row: ORDER.index(row[0].severity))
    rows_by_rule = group_by_key((row[0].rule, row) for row in worst)
    groups = [(rules()[rule], rows) for rule, rows in rows_by_rule.items()]
    groups.sort(
        key=lambda group: (ORDER.index(group[1][0][0].severity), group[0].id)
    )
    style = styles("page.css") + (_HERE / "lint.css").read_text(
        encoding="utf-8"
    )
    script = (_HERE / "lint.js").read_text(encoding="utf-8")
    filters = []
    for name in _FILTERS:
        values = sorted(
            {getattr(finding, name) for finding, *_ in new_findings}
        )
        # A filter with one choice would change nothing.
        if len(values) > 1:
            filters.append((name, name.capitalize(), values))
    template = environment(
        _HERE, percent=_percent, interval=_interval
    ).get_template("lint.html.j2")
    return template.render(
        style=style,
        style_hash=content_hash(style),
        script=script,
        script_hash=content_hash(script),
        summary=summary(report),
        notes=list(map(for_terminal, report.notes)),
        left_out=for_terminal(describe_left_out(report.left_out)),
        filters=filters,
        groups=groups,
        rates=[rate for rate in rates(report) if not rate.rule],
    )


def _name(occurrence: Occurrence) -> str:
    """Return the last part of a picture's address, for pictures that are missing."""
    if occurrence.picture.startswith("data:"):
        return ""
    return path_of(occurrence).rpartition("/")[2][:80]


def _picture(
    report: LintReport, occurrence: Occurrence, uris: dict[Path, str]
) -> str:
    """Return the picture as a ``data:`` address; empty if it is outside the folder of the user."""
    # Missing, damaged or no picture: rules do not judge files.
    try:
        path = picture_below(report.folders, occurrence)
    except ItemError:
        return ""
    if path is None:
        return ""
    # A picture at many places is encoded once.
    if path not in uris:
        uris[path] = _embedded(path) if len(uris) < _MOST_PICTURES else ""
    return uris[path]


def _embedded(path: Path) -> str:
    from beholder.media import encode_jpeg, load_image

    try:
        picture = load_image(path, max_side=_SIDE)
    except ItemError:
        return ""
    return jpeg_uri(encode_jpeg(picture))


def _marked(finding: LintFinding) -> list[str]:
    start, end = finding.span or (0, 0)
    return [
        for_terminal(part)
        for part in (
            finding.text[:start],
            finding.text[start:end],
            finding.text[end:],
        )
    ]


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def _interval(rate: LintRate) -> str:
    if rate.low is None or rate.high is None:
        return "–"
    return f"{_percent(rate.low)} to {_percent(rate.high)}"


_MOST_SARIF = 25_000
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}
_FIRST = 50


def text(report: LintReport) -> str:
    """Return lines for a terminal: new findings by file, then the summary."""
    lines = list(report.notes)
    new_findings = [f for f in report.findings if f.state == "new"]
    places_by_text = group_by_key(
        (fold(finding.text), finding)
        for finding in new_findings
        if finding.rule == "ALT401"
    )
    for file, findings in by_file(distinct_findings(new_findings)).items():
        lines.append(f"\n{file}")
        for finding in findings:
            head = f"  {_position(finding):>7}  {finding.severity:<7}"
            lines.append(f"{head}  {finding.rule}  {finding.message}")
            if finding.text:
                lines.append(
                    f"           {cut_text(finding.text, 100, '...')}"
                )
            if finding.rule == "ALT401":
                places = places_by_text[fold(finding.text)]
                lines.append(f"           at {_list_places(places)}")
    if new_findings:
        lines += ["", counts_by_rule(report)]
    else:
        lines.append("")
    if report.left_out:
        lines += [describe_left_out(report.left_out), ""]
    return "\n".join([*lines, summary(report), ""])


_MOST_PLACES = 10


def _list_places(findings: Sequence[LintFinding]) -> str:
    places = [f"{f.file}:{_position(f)}" for f in findings[:_MOST_PLACES]]
    if len(findings) > _MOST_PLACES:
        places.append(f"and {len(findings) - _MOST_PLACES} more")
    return ", ".join(places)


def as_json(report: LintReport) -> str:
    """Return all findings, files and counts as JSON; equal bytes for equal input."""
    content = {
        "beholder_lint": 1,
        "profile": report.setting.profile,
        "rules": [msgspec.to_builtins(rule) for rule in rules().values()],
        "files": report.files,
        "left_out": msgspec.to_builtins(report.left_out),
        "pictures": len(report.occurrences),
        "findings": msgspec.to_builtins(report.findings),
        "collection": [
            {
                "rule": group.rule,
                "message": group.hit.what,
                "n": group.n,
                "places": [
                    {"file": place.file, "line": place.line}
                    for place in group.places
                ],
            }
            for group in report.groups
        ],
        "rates": msgspec.to_builtins(rates(report)),
        "counts": report.counts(),
        "cautions": [
            *report.notes,
            *omitted_groups(report),
            *map(str, report.bad),
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def sarif(report: LintReport) -> str:
    """Return the 25,000 most severe findings as SARIF 2.1.0 for code-scanning services."""
    # Code scanning of GitHub takes at most 25,000 results of a run.
    worst = sorted(
        report.findings, key=lambda finding: ORDER.index(finding.severity)
    )[:_MOST_SARIF]
    n_omitted = len(report.findings) - len(worst)
    profile = report.setting.profile
    descriptions: list[dict[str, object]] = [
        {
            "id": rule.id,
            "name": rule.name,
            "shortDescription": {"text": rule.condition},
            "fullDescription": {"text": f"{rule.condition}. {rule.next}"},
            "help": {"text": rule.next},
            "properties": {
                "tags": ["accessibility"],
                "problem.severity": _PROBLEM.get(
                    rule.severities[profile], "recommendation"
                ),
            },
        }
        for rule in rules().values()
    ]
    properties: dict[str, object] = {"columnKind": "unicodeCodePoints"}
    cautions = []
    if n_omitted:
        cautions.append(
            f"{n_omitted} further findings of lower severity are left out"
        )
    if report.left_out:
        cautions.append(describe_left_out(report.left_out))
        properties["properties"] = {
            "leftOut": msgspec.to_builtins(report.left_out)
        }
    if cautions:
        notes = [
            {"message": {"text": caution}, "level": "warning"}
            for caution in cautions
        ]
        properties["invocations"] = [
            {"executionSuccessful": True, "toolExecutionNotifications": notes}
        ]
    return sarif_text(
        "beholder lint", descriptions, list(map(_result, worst)), **properties
    )


def _result(finding: LintFinding) -> dict[str, object]:
    line, column = finding.line or 1, finding.column or 1
    region = {
        "startLine": line,
        "startColumn": column,
        "endLine": line,
        "endColumn": column + 1,
    }
    return sarif_result(
        finding.rule,
        finding.severity,
        finding.message,
        finding.file,
        region=region,
        inside=finding.locator if finding.line is None else "",
        partialFingerprints={
            "primaryLocationLineHash": f"{finding.fingerprint}:1"
        },
        baselineState="new" if finding.state == "new" else "unchanged",
    )


def junit(report: LintReport) -> str:
    """Return a JUnit report: a suite for each file, a case for each picture."""
    suites = ElementTree.Element("testsuites", name="beholder lint")
    findings_by_file, pictures_by_file = (
        by_file(report.findings),
        by_file(report.occurrences),
    )
    for file in report.files:
        pictures = pictures_by_file.get(file, [])
        suite = add_element(suites, "testsuite", name=file)
        by_place = group_by_key(
            ((finding.line, finding.column, finding.locator), finding)
            for finding in findings_by_file.get(file, [])
        )
        n_failed = 0
        for picture in pictures:
            name = f"{_position(picture)} {picture.picture}".strip()
            case = add_element(suite, "testcase", classname=file, name=name)
            # Popped, so that a second picture at the place does not repeat
            # them.
            findings = by_place.pop(
                (picture.line, picture.column, picture.locator), []
            )
            n_failed += _fill(case, findings)
        suite.set("tests", str(len(pictures)))
        suite.set("failures", str(n_failed))
    return junit_text(suites)


def _position(place: LintFinding | Occurrence) -> str:
    """Return line and column; the locator in files without lines."""
    position = str(place.line or place.locator)
    return f"{position}:{place.column}" if place.column else position


def _fill(case: ElementTree.Element, findings: list[LintFinding]) -> bool:
    """Add findings to the case of a picture; return whether it fails."""
    new_findings = [finding for finding in findings if finding.state == "new"]
    errors = [
        finding for finding in new_findings if finding.severity == "error"
    ]
    milder = [
        finding for finding in new_findings if finding.severity != "error"
    ]
    for error in errors:
        add_element(
            case,
            "failure",
            [error.text],
            type=error.rule,
            message=error.message,
        )
    if findings and not new_findings:
        add_element(case, "skipped", message="known")
    if milder:
        lines = [
            f"{finding.severity} {finding.rule}: {finding.message}"
            for finding in milder
        ]
        add_element(case, "system-out", lines)
    return bool(errors)


def markdown(report: LintReport) -> str:
    """Return counts, the ten most frequent rules and the first 50 findings as Markdown."""
    new_findings = [
        finding for finding in report.findings if finding.state == "new"
    ]
    rows = [
        f"| {rule} | {rules()[rule].name} | {n} |"
        for rule, n in Counter(
            finding.rule for finding in new_findings
        ).most_common(10)
    ]
    places = []
    for finding in new_findings[:_FIRST]:
        place = for_markdown(
            f"{finding.file}:{finding.line or finding.locator}"
        )
        places.append(
            f"- **{finding.severity}** {finding.rule} {place}"
            f" {for_markdown(finding.message)}"
        )
    # The rules come first: a summary is read for what to fix, not for each
    # place.
    head = ["# Alternative texts", "", summary(report), ""]
    for note in report.notes:
        head += [for_markdown(note), ""]
    if report.left_out:
        head += [for_markdown(describe_left_out(report.left_out)), ""]
    if rows:
        head += [
            "| rule | name | findings |",
            "|---|---|---|",
            *rows,
            "",
            *places,
        ]
    if len(new_findings) > _FIRST:
        head += [
            "",
            f"{len(new_findings) - _FIRST} further findings are in the other formats.",
        ]
    return "\n".join(head) + "\n"


WRITERS: Mapping[Format, tuple[str, Callable[[LintReport], str]]] = {
    "text": ("lint.txt", text),
    "json": ("lint.json", as_json),
    "sarif": ("lint.sarif", sarif),
    "junit": ("lint.junit.xml", junit),
    "markdown": ("lint.md", markdown),
    "html": ("lint.html", page),
}
"""Usual name of the file, and the function that makes the text, by format."""
