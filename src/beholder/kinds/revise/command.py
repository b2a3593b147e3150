"""``beholder revise``: marks become proposed texts; accepted ones are written."""

from __future__ import annotations

from pathlib import Path

from beholder.lint.rules import Profile
from beholder.terminal.groups import FinishGroup, JudgeGroup, Out, WorkGroup


def revise(
    source: Path,
    /,
    *,
    out: Out = None,
    judge: str = "builtin",
    metric: str | None = None,
    profile: Profile = "web",
    no_score: bool = False,
    write: Path | None = None,
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
    finish: FinishGroup = FinishGroup(),
) -> int:
    """Propose texts with mistakes corrected and omissions added; write those that people accept.

    The source is never changed. Let people decide with annotate revisions, then write the accepted
    texts in the form that was read with --write.

    Example: `beholder revise runs/posh -o proposals.jsonl`

    Args:
        source: A run of score, a file that lint reads, exported marks, or decisions for --write.
        out: JSONL file of the proposals.
        judge: Judge that writes corrections, such as openai:MODEL; builtin makes only certain ones.
        metric: Metric whose marks to use; by default all.
        profile: Profile of lint, for a file that lint reads.
        no_score: Do not score the proposals.
        write: File for the source with the accepted texts.
    """
    # Imported here: the help of the command needs none of these, and they load
    # slowly.
    from dataclasses import asdict

    from beholder.errors import ConfigError
    from beholder.kinds.generation.engine import plan_making
    from beholder.kinds.revise.door import run_revise
    from beholder.kinds.revise.engine import RULES, ReviseConfig, is_linted
    from beholder.kinds.revise.export import FORMS, write_accepted
    from beholder.report.comparison import differences
    from beholder.run import manifest
    from beholder.terminal.printing import (
        excess_failures,
        print_note,
        print_notes,
        print_plan,
        print_result,
        report_end,
        report_outside_pictures,
        warn_incomplete,
    )
    from beholder.terminal.progress import TerminalProgress

    if write is not None:
        print_note(
            f"{write_accepted(source, write)} accepted texts written to {write}"
        )
        return 0
    if out is None:
        raise ConfigError("name the file of the proposals: -o proposals.jsonl")
    config = ReviseConfig(
        source, out, judge, metric, judging, work.to_options(), profile
    )
    # Said before the work starts, because only people can enter these texts.
    if source.is_file() and source.suffix.lower() not in FORMS:
        print_note(
            f"--write cannot change {source.suffix} files; enter accepted texts in their program"
        )
    if finish.dry_run:
        return print_plan(plan_making(config.making()), config.run)
    warn_incomplete(source)
    with TerminalProgress() as progress:
        revised = run_revise(config, progress, score=not no_score)
    print_notes(manifest.read_log(config.run).data.notes)
    n_written = revised.written.n_written
    print_note(
        f"{n_written} proposal{'s'[: n_written != 1]}: {out};"
        f" decide with beholder annotate revisions {out}"
    )
    if is_linted(source):
        print_note(
            f"corrected are findings of {', '.join(RULES)}; beholder lint {source} lists all"
        )
    if revised.written.outside:
        report_outside_pictures(out.parent)
    if revised.comparison is not None:
        content = {
            "comparison": asdict(revised.comparison),
            "not_better": revised.n_worse,
        }
        table = differences(
            revised.comparison, str(source), str(revised.scores)
        )
        print_result(content, [table], finish.as_json)
        if revised.n_worse:
            print_note(
                f"{revised.n_worse} proposals score lower than their texts (not_better)"
            )
    failures = []
    for name, _, failure in revised.written.failures:
        failures.append(f"{name}: {failure.message}")
    return report_end(
        config.run,
        progress,
        problems=excess_failures(failures, finish.allow_failed),
        verb="made",
    )
