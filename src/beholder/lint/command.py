"""The command ``beholder lint``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from beholder.base.ranges import check_number
from beholder.lint.rules import PROFILES, Format, Profile
from beholder.terminal.groups import RESULTS, Out
from beholder.terminal.printing import print_line, print_note, report_left_out


@Parameter(name="*")
@dataclass(frozen=True)
class RuleGroup:
    """Options that choose rules and their severities.

    Attributes:
        profile: Guidelines that set limits and severities.
        platform: Social network whose length limit applies in the profile social.
        select: Check only this rule; repeatable.
        ignore: Skip this rule; repeatable.
        rule: Severity of a rule, as ALT105=off, note, warning or error; repeatable.
        vocabulary: Additional file of terms; none drops the built-in terms; repeatable.
        rules: List the rules and stop.
        map: Column of a field, such as text=COLUMN; repeatable.
        read_pictures: Read the words of pictures, and note those that the text leaves out: ALT208.
        layouts: Read the layouts and masters of slides, too.
        exclude: Skip files of folders by a pattern, such as *.pdf; repeatable.
        workers: Worker processes; by default one for each core if there are many pictures.
    """

    profile: Profile = "web"
    platform: Literal["mastodon", "bluesky"] = "mastodon"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    rules: bool = False
    map: Annotated[tuple[str, ...], Parameter(name="--map")] = ()
    read_pictures: bool = False
    layouts: bool = False
    exclude: tuple[str, ...] = ()
    workers: int | None = None


@Parameter(name="*", group=RESULTS)
@dataclass(frozen=True)
class OutcomeGroup:
    """Options of the reports and of the exit code.

    Attributes:
        format: Report format; by default the ending of -o decides, else text; repeatable with -o.
        out: Report file, or folder for several formats; by default standard output.
        baseline: File of known findings to ignore.
        write_baseline: Write all findings into this file.
        fail_on: Lowest severity of a new finding that gives exit code 1.
        skip_bad_files: Report unreadable files and rows without exit code 2.
        require_pictures: Exit with 1 if there is no picture.
        strict: Exit with 1 if anything was left out.
    """

    format: tuple[Format, ...] = ()
    out: Out = None
    baseline: Path | None = None
    write_baseline: Path | None = None
    fail_on: Literal["error", "warning", "note", "never"] = "error"
    skip_bad_files: bool = False
    require_pictures: bool = False
    strict: bool = False


def lint(
    *paths: str,
    which: RuleGroup = RuleGroup(),
    outcome: OutcomeGroup = OutcomeGroup(),
) -> int:
    """Check alternative texts without a model: missing, placeholders, file names, length, and more.

    Exit code 1: findings of at least --fail-on. 2: unreadable input. Nothing is fetched.

    Example: `beholder lint alts.csv site/ --profile museum`

    Args:
        paths: Tables, pages, documents, books, IIIF manifests, components, or folders of them.
    """
    # Imported here: the help of the command needs none of these, and they load
    # slowly.
    from beholder.base.files import write_text
    from beholder.lint.context import vocabulary
    from beholder.lint.leftovers import describe_left_out
    from beholder.lint.linting import Choice, baseline_of, summary
    from beholder.lint.linting import lint as lint_paths
    from beholder.lint.outputs import WRITERS
    from beholder.lint.rules import LintSetting
    from beholder.terminal.log_progress import LogProgress

    if which.rules:
        _list_rules()
        return 0
    _check_options(paths, which, outcome)
    reader = None
    if which.read_pictures:
        from beholder.media.reading import picture_reader

        reader = picture_reader("rapidocr")
    _refuse_checked_file((outcome.out, outcome.write_baseline), paths)
    with LogProgress() as progress:
        report = lint_paths(
            paths,
            LintSetting(
                which.profile, which.platform, vocabulary(which.vocabulary)
            ),
            choice=Choice(
                frozenset(which.select),
                frozenset(which.ignore),
                _parse_severities(which.rule),
            ),
            baseline=outcome.baseline,
            columns=dict(
                _pair(assignment, "text=COLUMN") for assignment in which.map
            ),
            layouts=which.layouts,
            exclude=which.exclude,
            workers=which.workers,
            progress=progress,
            reader=reader,
        )
    formats = outcome.format or (_format_of(outcome.out),)
    # One format goes to a file or to standard output, several into a folder.
    for form in formats:
        name, write = WRITERS[form]
        if outcome.out is None:
            print_line(write(report).removesuffix("\n"))
        else:
            several = len(formats) > 1 or outcome.out.is_dir()
            write_text(
                outcome.out / name if several else outcome.out, write(report)
            )
    if outcome.out is not None:
        if report.left_out:
            print_note(describe_left_out(report.left_out))
        print_note(f"{summary(report)}; written to {outcome.out}")
    if outcome.write_baseline:
        write_text(outcome.write_baseline, baseline_of(report))
        print_note(
            f"{len(report.findings)} findings are known now: {outcome.write_baseline}"
        )
    report_left_out(report.bad)
    if report.bad and not outcome.skip_bad_files:
        return 2
    fails_gate = (outcome.require_pictures and not report.occurrences) or (
        outcome.strict and bool(report.left_out)
    )
    # A run that writes a baseline never fails: its findings are known from now
    # on.
    return int(
        fails_gate
        or (not outcome.write_baseline and report.failed(outcome.fail_on))
    )


_FORMAT_BY_ENDING: dict[str, Format] = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".sarif": "sarif",
    ".xml": "junit",
    ".md": "markdown",
}


def _format_of(out: Path | None) -> Format:
    """Return the format of a file by its ending; text for any other."""
    ending = out.suffix.lower() if out else ""
    return _FORMAT_BY_ENDING.get(ending, "text")


def _pair(assignment: str, example: str) -> tuple[str, str]:
    from beholder.errors import ConfigError

    name, equals, value = assignment.partition("=")
    if not equals or not name or not value:
        raise ConfigError(f"{assignment!r}: expected a form such as {example}")
    return name, value


def _check_options(
    paths: Sequence[str], which: RuleGroup, outcome: OutcomeGroup
) -> None:
    from beholder.errors import ConfigError

    if not paths:
        raise ConfigError("name a file or folder: beholder lint alts.csv")
    if len(outcome.format) > 1 and outcome.out is None:
        raise ConfigError("several formats need a folder: add -o FOLDER")
    if which.workers is not None:
        check_number("--workers", which.workers, 1, whole=True)


def _parse_severities(assignments: Iterable[str]) -> dict[str, str]:
    """Return the severity of each rule that the user names."""
    from beholder.errors import ConfigError

    severity = dict(_pair(text, "ALT105=off") for text in assignments)
    for name, level in severity.items():
        if level not in ("off", "note", "warning", "error"):
            raise ConfigError(
                f"--rule {name}={level}: expected off, note, warning or error"
            )
    return severity


def _refuse_checked_file(
    outputs: Iterable[Path | None], paths: Iterable[str]
) -> None:
    """Refuse to replace a file that is checked, as one of a folder that was named."""
    from beholder.errors import OutputError
    from beholder.lint.sources import files_of

    for output in outputs:
        if output is None or not output.is_file():
            continue
        real = output.resolve()
        for folder in map(Path, paths):
            if not real.is_relative_to(folder.resolve()):
                continue
            files, _ = files_of(folder)
            if real in map(Path.resolve, files):
                raise OutputError(
                    output,
                    f"{output} is a file that is checked, and would be replaced",
                )


def _list_rules() -> None:
    from beholder.lint.rules import SEVERITIES, rules

    letter = {severity: letter for letter, severity in SEVERITIES.items()}
    width = max(len(rule.name) for rule in rules().values())
    print_line(
        f"severities: {', '.join(PROFILES)} (E error, W warning, N note, - off)"
    )
    for rule in rules().values():
        levels = " ".join(
            letter[rule.severities[profile]] for profile in PROFILES
        )
        print_line(
            f"{rule.id}  {levels}  {rule.name:{width}}  {rule.condition}"
        )
