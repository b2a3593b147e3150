"""Check files by the rules, drop covered findings, and compare them with a baseline."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from beholder.base.files import decode_json
from beholder.base.grouping import group_by_key
from beholder.base.threads import one_blas_thread
from beholder.errors import DataError, UnknownNameError
from beholder.lint import dates as dates  # its check registers itself
from beholder.lint import texts
from beholder.lint.audio import FORMS, read_cue_files
from beholder.lint.context import compare_all, vocabulary
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import (
    CHECKS,
    ORDER,
    GroupHit,
    Hit,
    LintFinding,
    LintRule,
    LintSetting,
    rules,
)
from beholder.lint.sources import ReadFile, as_unread, read_files
from beholder.lint.wording import fold, words

if TYPE_CHECKING:
    # Loading the engine takes longer than most checks.
    from beholder.run.session import Progress

L = TypeVar("L", LintFinding, Occurrence)

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

    def excludes(self, rule: str) -> bool:
        """Return whether a rule is switched off."""
        selected = not self.select or rule in self.select
        return (
            not selected
            or rule in self.ignore
            or self.severity.get(rule) == "off"
        )


@dataclass
class LintReport:
    """The files, pictures and findings of a check.

    Attributes:
        setting: Profile, platform and vocabulary.
        findings: Findings in order of file, line and rule.
        places: For each finding, which of ``occurrences`` it is about.
        occurrences: All places that show a picture.
        files: Files that were read.
        folders: By file, its folder, and the folder that the pictures of its page may lie in.
        bad: Files and rows that could not be read.
        notes: Actions of the readers, such as the choice of columns.
        left_out: Content that looks like a picture or a text and was not read.
        groups: Findings about several pictures, once each.
        n_gone: Findings of the baseline that are fixed.
    """

    setting: LintSetting
    findings: list[LintFinding] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    occurrences: list[Occurrence] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    folders: dict[str, tuple[Path, Path]] = field(default_factory=dict)
    bad: list[DataError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    groups: list[GroupHit] = field(default_factory=list)
    n_gone: int = 0

    def counts(self) -> dict[str, int]:
        """Return the number of new findings by severity, the most severe first."""
        counted = Counter(
            finding.severity
            for finding in distinct_findings(self.findings)
            if finding.state == "new"
        )
        return {severity: counted[severity] for severity in ORDER}

    def failed(self, fail_on: str) -> bool:
        """Return whether a new finding is at least as severe; False for ``never``."""
        if fail_on == "never":
            return False
        return any(
            self.counts()[severity]
            for severity in ORDER[: ORDER.index(fail_on) + 1]
        )


def lint(
    paths: Sequence[str | Path],
    setting: LintSetting | None = None,
    *,
    choice: Choice | None = None,
    baseline: Path | None = None,
    columns: Mapping[str, str] = {},
    layouts: bool = False,
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
) -> LintReport:
    """Check the alternative texts of files and folders; nothing is fetched.

    Args:
        paths: Tables (CSV, TSV, JSONL, JSON, Parquet), HTML, Markdown, IIIF manifests, or folders.
        setting: Profile, platform and vocabulary; None for the web with our vocabulary.
        choice: Rules that count; None for those of the profile.
        baseline: A file of known findings, which ``baseline_of`` made.
        columns: Columns of tables by what they contain, such as ``text``.
        layouts: Whether layouts and masters of slides are read, too.
        exclude: Patterns of files in folders that are neither read nor counted.
        progress: Receives the progress of checking, picture by picture.

    Raises:
        DataError: A path or the baseline cannot be read at all.
        UnknownNameError: ``choice`` names an unknown rule.
    """
    setting = setting or LintSetting(terms=vocabulary(()))
    choice = choice or Choice()
    known_counts = read_baseline(baseline) if baseline else Counter()
    report = LintReport(setting)
    for source in _sources(
        paths, columns, setting, layouts=layouts, exclude=exclude
    ):
        _add_file(report, source)
    checked = [
        occurrence
        for occurrence in report.occurrences
        if occurrence.text and not occurrence.decorative
    ]
    # ALT113 asks how many texts have a length, so all must be read before the
    # first is checked.
    setting = replace(
        setting,
        lengths=Counter(len(occurrence.text) for occurrence in checked),
    )
    # By ``id``: two occurrences may be equal, and are still two places.
    hits_by_id: dict[int, list[tuple[str, Hit]]] = defaultdict(list)
    if progress is not None:
        progress.start(len(report.occurrences), 0)
    with one_blas_thread():
        for occurrence in report.occurrences:
            n_bad = len(report.bad)
            try:
                hits_by_id[id(occurrence)] = list(
                    _hits(occurrence, setting, choice)
                )
            except Exception as error:  # a rule fails on one picture of many
                report.bad.append(as_unread(occurrence.file, error))
            if progress is not None:
                n_failed = len(report.bad) - n_bad
                progress.advance(1 - n_failed, n_failed)
    report.groups = [
        group
        for group in compare_all(checked)
        if _severity(rules()[group.rule], group.hit, setting, choice) != "off"
    ]
    for group in report.groups:
        for occurrence in group.places:
            hits_by_id[id(occurrence)].append((group.rule, group.hit))
    n_by_key: Counter[str] = Counter()
    for at, occurrence in enumerate(report.occurrences):
        hits = hits_by_id[id(occurrence)]
        for rule, hit, severity in _select_hits(
            occurrence, hits, setting, choice
        ):
            report.findings.append(
                _finding(rule, hit, severity, occurrence, n_by_key)
            )
            report.places.append(at)
    for finding in report.findings:
        if known_counts[finding.fingerprint]:
            finding.state = "known"
    report.n_gone = len(
        set(known_counts)
        - {finding.fingerprint for finding in report.findings}
    )
    return report


def _sources(
    paths: Sequence[str | Path],
    columns: Mapping[str, str],
    setting: LintSetting,
    *,
    layouts: bool,
    exclude: Sequence[str],
) -> Iterator[ReadFile]:
    if setting.profile == "audio-description":
        return read_cue_files(paths)
    for path in map(Path, paths):
        if path.suffix.lower() in FORMS:
            raise DataError(
                str(path),
                "contains cues; check them with --profile audio-description",
            )
    return read_files(paths, columns, layouts=layouts, exclude=exclude)


def _add_file(report: LintReport, source: ReadFile) -> None:
    report.left_out += source.left_out
    report.notes += source.notes
    if not source.is_read:
        return
    report.files.append(source.name)
    report.folders[source.name] = source.folder, source.root
    for occurrence in source.pictures:
        if isinstance(occurrence, DataError):
            report.bad.append(occurrence)
        else:
            report.occurrences.append(occurrence)


def _hits(
    occurrence: Occurrence, setting: LintSetting, choice: Choice
) -> Iterator[tuple[str, Hit]]:
    for name, what, severity in occurrence.structural:
        # A part of a rule that has a severity of its own, as ALT001.empty.
        severity = choice.severity.get(name, severity)
        if severity != "off":
            yield name.partition(".")[0], Hit(what, severity=severity)
    # Declared as decorative, or reported in full by the reader.
    if occurrence.declared:
        return
    if occurrence.decorative:
        museum = setting.profile == "museum" and occurrence.element != "svg"
        if words(occurrence.caption):
            what = "is marked as decorative, and has a caption"
            yield "ALT005", Hit(what, evidence={"caption": occurrence.caption})
        elif museum:
            yield "ALT005", Hit("is marked as decorative")
        return
    if not occurrence.text:
        if (
            occurrence.raw
            and occurrence.element != "row"
            and occurrence.text_from != "descr"
        ):
            yield "ALT002", Hit("has a text of blanks only")
        else:
            yield "ALT001", Hit("has no alternative text")
        return
    for rule, check in sorted(CHECKS.items()):
        # A rule that is switched off still runs if it covers others: these
        # must not appear in its place.
        if choice.excludes(rule) and not rules()[rule].covers:
            continue
        if texts.scannable(occurrence, rule) and (
            hit := check(occurrence, setting)
        ):
            yield rule, hit


def _severity(
    rule: LintRule, hit: Hit, setting: LintSetting, choice: Choice
) -> str:
    if choice.excludes(rule.id):
        return "off"
    if rule.id in choice.severity:
        return choice.severity[rule.id]
    profile_severity = rule.severities[setting.profile]
    return (
        profile_severity
        if profile_severity == "off"
        else hit.severity or profile_severity
    )


def _select_hits(
    occurrence: Occurrence,
    hits: list[tuple[str, Hit]],
    setting: LintSetting,
    choice: Choice,
) -> Iterator[tuple[LintRule, Hit, str]]:
    table = rules()
    active = [(table[name], hit) for name, hit in hits]
    # A rule that the profile switches off covers none, and a file name within
    # a text (ALT101 with a severity) leaves the rest of the text to the other
    # rules.
    covered: set[str] = set()
    for rule, hit in active:
        is_off = rule.severities[setting.profile] == "off"
        is_within_text = rule.id == "ALT101" and bool(hit.severity)
        if not is_off and not is_within_text:
            covered.update(rule.covers)
    reported_rules: set[str] = set()
    for rule, hit in active:
        severity = _severity(rule, hit, setting, choice)
        if (
            severity != "off"
            and rule.id not in covered | occurrence.ignore | reported_rules
        ):
            reported_rules.add(rule.id)
            yield rule, hit, severity


def _finding(
    rule: LintRule,
    hit: Hit,
    severity: str,
    occurrence: Occurrence,
    n_by_key: Counter[str],
) -> LintFinding:
    # Without line and column, which change with every edit above; equal
    # findings of a file are numbered instead.
    key = "\0".join(
        (rule.id, occurrence.file, occurrence.identity, occurrence.fold)
    )
    n_by_key[key] += 1
    digest = hashlib.sha256(
        f"{key}\0{n_by_key[key]}".encode("utf-8", "replace")
    ).hexdigest()
    subject = "The text " if occurrence.text else "The picture "
    if occurrence.element == "cue":
        subject = "The cue "
    what = subject * hit.what.startswith(_VERBS) + hit.what
    return LintFinding(
        rule=rule.id,
        name=rule.name,
        severity=severity,
        message=f"{what[0].upper()}{what[1:]}. {rule.next}",
        span=hit.span,
        evidence=dict(hit.evidence),
        fingerprint=digest[:16],
        **{name: getattr(occurrence, name) for name in _COPIED},
    )


_COPIED = (
    "text",
    *(
        name
        for name in LintFinding.__struct_fields__
        if name in Occurrence.__struct_fields__
    ),
)
"""Fields of a finding that are copied from the picture."""
_VERBS = (
    "has ",
    "is ",
    "contains ",
    "opens ",
    "equals ",
    "ends ",
    "lists ",
    "repeats ",
    "says ",
    "names ",
)


def read_baseline(path: Path) -> Counter[str]:
    """Return the number of known findings by fingerprint.

    Raises:
        DataError: The file is missing or damaged.
    """
    try:
        baseline = decode_json(path.read_bytes(), BaselineFile)
    except (OSError, ValueError) as error:
        raise DataError(
            str(path),
            f"is not a baseline ({error}); write one with --write-baseline",
        ) from error
    return Counter(entry.fingerprint for entry in baseline.findings)


class BaselineEntry(msgspec.Struct):
    """A known finding."""

    fingerprint: str
    rule: str
    file: str
    text: str


class BaselineFile(msgspec.Struct):
    """The form of a baseline."""

    beholder_lint_baseline: int
    profile: str
    findings: list[BaselineEntry]


def baseline_of(report: LintReport) -> str:
    """Return the text of a baseline that contains all findings of a report."""
    entries = [
        BaselineEntry(f.fingerprint, f.rule, f.file, f.text)
        for f in report.findings
    ]
    baseline = BaselineFile(1, report.setting.profile, entries)
    return (
        json.dumps(msgspec.to_builtins(baseline), ensure_ascii=False, indent=1)
        + "\n"
    )


def by_file(findings: Iterable[L]) -> dict[str, list[L]]:
    """Group findings, or pictures, by file."""
    return group_by_key((place.file, place) for place in findings)


def distinct_findings(
    findings: Iterable[LintFinding],
) -> Iterator[LintFinding]:
    """Yield findings, of a text that is repeated (ALT401) only the first place."""
    repeated_texts = set()
    for finding in findings:
        if finding.rule == "ALT401":
            key = finding.state, fold(finding.text)
            if key in repeated_texts:
                continue
            repeated_texts.add(key)
        yield finding


def counts_by_rule(report: LintReport) -> str:
    """Return one line with the numbers of new findings by rule, the commonest first."""
    counted = Counter(
        finding.rule
        for finding in distinct_findings(report.findings)
        if finding.state == "new"
    )
    ranked = sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))
    return "by rule: " + ", ".join(
        f"{rule} {rules()[rule].name} {n}" for rule, n in ranked
    )


def summary(report: LintReport) -> str:
    """Return one line with the numbers of pictures, files, and new findings by severity."""
    counts = ", ".join(
        f"{n} {severity}{'s'[: n != 1]}"
        for severity, n in report.counts().items()
    )
    n_known = sum(finding.state == "known" for finding in report.findings)
    known_note = (
        f"; {n_known} known, {report.n_gone} of the baseline fixed"
        if n_known or report.n_gone
        else ""
    )
    pictures, files = len(report.occurrences), len(report.files)
    is_audio = report.setting.profile == "audio-description"
    what = "cue" if is_audio else "picture"
    return (
        f"{pictures:,} {what}{'s'[: pictures != 1]} in {files} file{'s'[: files != 1]}:"
        f" {counts}{known_note}"
    )
