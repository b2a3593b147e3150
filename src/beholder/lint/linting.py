"""Check files by the rules, drop covered findings, and compare them with a baseline."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec

from beholder.base.files import decode_json
from beholder.base.grouping import group_by_key
from beholder.errors import ConfigError, DataError
from beholder.lint.audio import FORMS, read_cue_files
from beholder.lint.checking import check_all
from beholder.lint.choice import Choice as Choice
from beholder.lint.collection import Collection
from beholder.lint.context import vocabulary
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import Occurrence
from beholder.lint.pictures import (
    RULE as PICTURE_RULE,
)
from beholder.lint.pictures import check_words_of_pictures, has_text
from beholder.lint.rules import (
    ORDER,
    CollectionLengths,
    GroupHit,
    Hit,
    LintFinding,
    LintRule,
    LintSetting,
    rules,
)
from beholder.lint.sources import ReadFile, read_files
from beholder.lint.wording import fold, norm

if TYPE_CHECKING:
    # Loading the engine, or Pillow, takes longer than most checks.
    from beholder.media.reading import PictureReader
    from beholder.run.session import Progress

L = TypeVar("L", LintFinding, Occurrence)


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
    workers: int | None = None,
    progress: Progress | None = None,
    reader: PictureReader | None = None,
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
        workers: Worker processes, which change nothing but the time; None decides from the number
            of pictures.
        progress: Receives the progress of checking, picture by picture.
        reader: Reads the words of pictures, for ALT208; None opens no picture.

    Raises:
        DataError: A path or the baseline cannot be read at all.
        UnknownNameError: ``choice`` names an unknown rule.
        ConfigError: ``choice`` asks for ALT208 without a reader, or excludes it with one.
    """
    setting = setting or LintSetting(terms=vocabulary(()))
    choice = choice or Choice()
    if reader is None and choice.asks_for(PICTURE_RULE):
        raise ConfigError(
            f"{PICTURE_RULE} reads the words of pictures; add --read-pictures, in Python"
            " reader=beholder.media.reading.picture_reader('rapidocr')"
        )
    if reader is not None and choice.excludes(PICTURE_RULE):
        raise ConfigError(
            f"--read-pictures reads the words of pictures for {PICTURE_RULE} alone, which the"
            f" choice of rules excludes; drop --read-pictures, or allow {PICTURE_RULE}"
        )
    known_counts = read_baseline(baseline) if baseline else Counter()
    report = LintReport(setting)
    for source in _sources(
        paths, columns, setting, layouts=layouts, exclude=exclude
    ):
        _add_file(report, source)
    hits_by_id = _check_pictures(report, choice, workers, progress)
    if reader is not None:
        _read_pictures(report, reader, hits_by_id, progress)
    _collect_findings(report, hits_by_id, choice)
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


_HitsById: TypeAlias = "dict[int, list[tuple[str, Hit]]]"
"""Hits by ``id`` of the occurrence: two occurrences may be equal, and are still two places."""


def _check_pictures(
    report: LintReport,
    choice: Choice,
    workers: int | None,
    progress: Progress | None,
) -> _HitsById:
    """Return the hits of all rules, and add those about several pictures to the report."""
    # ALT113 asks how many texts have a length, so all must be read before the
    # first is checked.
    n_by_length: Counter[int] = Counter()
    # Hashes, as the texts of a large table would fill the memory.
    seen_hashes: set[int] = set()
    for occurrence in report.occurrences:
        # Not ``occurrence.text``, which would stay in memory.
        text = norm(occurrence.raw or "")
        # A text that is repeated shows no limit.
        if (
            text
            and not occurrence.decorative
            and hash(text) not in seen_hashes
        ):
            seen_hashes.add(hash(text))
            n_by_length[len(text)] += 1
    setting = replace(
        report.setting, lengths=CollectionLengths.from_counts(n_by_length)
    )
    hits_by_id: _HitsById = defaultdict(list)
    collection = Collection()
    checks = check_all(report.occurrences, setting, choice, workers)
    if progress is not None:
        progress.start(len(report.occurrences), 0)
    for occurrence, check in zip(report.occurrences, checks, strict=True):
        if check.error:
            report.bad.append(check.error)
        if progress is not None:
            n_failed = int(check.error is not None)
            progress.advance(1 - n_failed, n_failed)
        if check.hits:
            hits_by_id[id(occurrence)] += check.hits
        if check.traits:
            collection.add(occurrence, check.traits)
    report.groups = [
        group
        for group in collection.findings()
        if _severity(rules()[group.rule], group.hit, setting, choice) != "off"
    ]
    for group in report.groups:
        for occurrence in group.places:
            hits_by_id[id(occurrence)].append((group.rule, group.hit))
    return hits_by_id


def _read_pictures(
    report: LintReport,
    reader: PictureReader,
    hits_by_id: _HitsById,
    progress: Progress | None,
) -> None:
    """Add the hits of ALT208, and a note on how many pictures were read by what."""
    n_total = sum(map(has_text, report.occurrences))
    if progress is not None:
        # Reading takes seconds a picture, so it has a rate of its own.
        progress.start(n_total, 0)
    n_left_out = len(report.left_out)
    for occurrence, hit in check_words_of_pictures(
        report.occurrences,
        report.folders,
        reader,
        report.left_out,
        progress.advance if progress else lambda n_done, n_failed: None,
    ):
        hits_by_id[id(occurrence)].append((PICTURE_RULE, hit))
    n_unread = sum(entry.n for entry in report.left_out[n_left_out:])
    report.notes.append(
        f"read the words of {n_total - n_unread:,} of {n_total:,} pictures with a text"
        f" by {reader.identity}"
    )


def _collect_findings(
    report: LintReport, hits_by_id: _HitsById, choice: Choice
) -> None:
    """Add the findings of each picture to the report, in order."""
    n_by_key: Counter[str] = Counter()
    for at, occurrence in enumerate(report.occurrences):
        hits = hits_by_id.pop(id(occurrence), [])
        for rule, hit, severity in select_hits(
            occurrence, hits, report.setting, choice
        ):
            report.findings.append(
                _finding(rule, hit, severity, occurrence, n_by_key)
            )
            report.places.append(at)
        if hits:
            occurrence.forget()


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


def select_hits(
    occurrence: Occurrence,
    hits: list[tuple[str, Hit]],
    setting: LintSetting,
    choice: Choice,
) -> Iterator[tuple[LintRule, Hit, str]]:
    """Yield the hits of a picture that count, with rule and severity: covered ones do not."""
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
    "judges ",
    "names ",
    "leaves ",
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
    systems = {picture.system for picture in report.occurrences} - {""}
    of_systems = ""
    # One picture that several systems describe is one picture.
    if len(systems) > 1:
        of_systems = f" with {pictures:,} texts of {len(systems)} systems"
        pictures = len(
            {
                place.identity or f"{place.file}:{place.locator}"
                for place in report.occurrences
            }
        )
    is_audio = report.setting.profile == "audio-description"
    what = "cue" if is_audio else "picture"
    counted = f"{pictures:,} {what}{'s'[: pictures != 1]}{of_systems}"
    return (
        f"{counted} in {files} file{'s'[: files != 1]}: {counts}{known_note}"
    )
