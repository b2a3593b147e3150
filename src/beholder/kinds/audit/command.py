"""``beholder audit``: list the doubtful facts of references."""

from __future__ import annotations

from pathlib import Path

from beholder.terminal.groups import Data, ItemRunGroup, RunOut


def audit(
    data: Data,
    /,
    *,
    judge: str,
    out: RunOut = None,
    answers: int = 3,
    labels: Path | None = None,
    run: ItemRunGroup = ItemRunGroup(),
) -> int:
    """Check the references by the pictures: which facts are doubtful, and what scores change?

    Writes the doubtful facts for annotate facts, with as many supported ones to measure the judge.

    Example: `beholder audit data.jsonl --judge openai:gpt-4.1 -o runs/audit`

    Args:
        data: A .jsonl, .csv, .tsv or .parquet file of rows with images and references.
        judge: Vision model, such as openai:MODEL.
        out: Run directory; by default runs/audit-NAME.
        answers: Answers of the judge per fact.
        labels: Verdicts of people on doubtful.jsonl, as written by annotate export.
    """
    from beholder.kinds.audit.corrected import tables
    from beholder.kinds.audit.door import DOUBTFUL, run_audit
    from beholder.kinds.scores.engine import ScoreConfig
    from beholder.metrics import metric
    from beholder.report import summary_table
    from beholder.report.study_tables import write_tables
    from beholder.run import SCORES, kind, manifest
    from beholder.run.session import default_out
    from beholder.tables import table_as_json
    from beholder.terminal.printing import (
        excess_failures,
        print_note,
        print_plan,
        print_result,
        report_end,
        warn_incomplete,
    )
    from beholder.terminal.progress import TerminalProgress

    folder = out or default_out(data, "audit-")
    metrics = (metric("audit", judge=judge, answers=answers),)
    config = ScoreConfig(
        data, metrics, folder, run.rows, run.judging, run.work.to_options()
    )
    if run.finish.dry_run:
        return print_plan(kind.plan(SCORES, config), folder)
    with TerminalProgress() as progress:
        n = run_audit(config, progress)
    log = manifest.read_log(folder)
    study = tables(folder, config.metrics[0].name, labels)
    write_tables(study, folder / "tables")
    print_result(
        {
            **manifest.content(folder),
            "tables": list(map(table_as_json, study)),
        },
        [summary_table(log), *study],
        run.finish.as_json,
    )
    warn_incomplete(folder)
    print_note(
        f"{n} rows with doubtful facts; decide with beholder annotate facts {folder / DOUBTFUL}"
        f" --media-root {config.folder.absolute()}"
    )
    failures = [
        reason
        for result in manifest.results(log).values()
        for reason in result.failures
    ]
    # Facts that the judge could not check count as failures of the run.
    problems = excess_failures(failures, run.finish.allow_failed)
    return report_end(folder, progress, problems=problems)
