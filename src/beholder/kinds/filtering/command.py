"""``beholder filter``: clean a caption training set, sample it, estimate, write it back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from beholder.kinds.filtering.config import FilterOptions
from beholder.terminal.groups import (
    JUDGES,
    OUTPUT,
    ROWS,
    AsJson,
    DataGroup,
    EngineGroup,
    JudgeGroup,
    OutFile,
    TellGroup,
    ToolGroup,
    WorkGroup,
)
from beholder.terminal.printing import (
    UNDECIDED,
    print_json,
    print_line,
    print_note,
    print_notes,
)

app = App(
    name="filter",
    help="Clean a caption training set: drop bad rows, say why, estimate how many stay.",
    help_format="markdown",
)


@app.default
def run(
    *data: str,
    out: OutFile,
    options: Annotated[
        FilterOptions,
        Parameter(name="*", group=Group("Decisions", sort_key=0)),
    ] = FilterOptions(),
    metric: Annotated[
        tuple[str, ...],
        Parameter(
            name=("--metric", "-m"),
            group=JUDGES,
            help="Metric that thresholds are about; repeatable.",
        ),
    ] = (),
    map: Annotated[
        tuple[str, ...],
        Parameter(
            group=ROWS,
            help="Column of a field, as FIELD=COLUMN, such as candidate=json.caption; repeatable.",
        ),
    ] = (),
    media_root: Annotated[Path | None, Parameter(group=ROWS)] = None,
    tools: ToolGroup = ToolGroup(),
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
    engine: EngineGroup = EngineGroup(),
    tell: TellGroup = TellGroup(),
) -> None:
    """Decide which rows are dropped, set aside or kept; the same command continues.

    Example: `beholder filter captions.jsonl -o clean --drop "words<3" --dry-run`

    Args:
        data: Shards, tables, COCO captions, folders; their order decides which duplicate is first.
        out: Folder of the job.
        media_root: Folder of the pictures; by default that of the first file.
    """
    import msgspec

    from beholder.kinds.filtering.config import FilterConfig
    from beholder.kinds.filtering.door import (
        DRY_ROWS,
        FilterMeans,
        run_filter,
        try_filter,
    )
    from beholder.terminal.progress import TerminalProgress

    # The group parses its texts.
    columns: Mapping[str, str] = DataGroup(map=map).map  # type: ignore[assignment]
    config = FilterConfig(
        data, out, options, columns, metric, media_root,
        tools.specs(),
    )  # fmt: skip

    if tell.dry_run:
        result = try_filter(config, FilterMeans(on_caution=_print_caution))
        if result.n_rows >= DRY_ROWS:
            print_note(f"dry run: the first {result.n_rows:,} rows")
        if metric:
            print_note("dry run: no metric was asked")
    else:
        with TerminalProgress() as progress:
            result = run_filter(
                config,
                FilterMeans(
                    judging,
                    work.to_options(),
                    engine.to_engine(),
                    progress,
                    _print_caution,
                ),
            )
    if tell.as_json:
        print_json(msgspec.to_builtins(result))
        return
    print_line(result.describe())
    for reason, n in result.reasons.items():
        decision = options.decisions[reason]
        share = 100 * n / result.n_rows
        print_line(f"  {reason}: {n:,} ({share:.1f} %), {decision}")
    if not tell.dry_run:
        print_notes(
            [
                f"page: {out}/report.html",
                f"next: beholder filter sample {out} --n 360 -o {out}/check.jsonl",
            ]
        )


def _print_caution(text: str) -> None:
    # Examples of the caution before are indented.
    print_note(text if text.startswith(" ") else f"caution: {text}")


@app.command
def sample(
    job: Path,
    /,
    *,
    out: OutFile,
    n: int = 360,
    seed: int = 0,
    new: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> None:
    """Draw rows for people to read, from kept and dropped rows.

    Example: `beholder filter sample filtered --n 120 -o filtered/check.jsonl`

    Args:
        job: Folder of the filter.
        out: JSONL file of the rows, without decision and reasons.
        n: Labels in all; each stratum gets at least 30, so there may be more.
        seed: Seed of the draw.
        new: Draw rows that no earlier sample has.
    """
    from beholder.kinds.filtering.labelling import draw_rows, write_sample

    rows, labels_by_stratum, cautions = draw_rows(job, n, seed, is_new=new)
    write_sample(job, rows, out)
    if as_json:
        print_json(
            {"rows": rows, "strata": labels_by_stratum, "cautions": cautions}
        )
    else:
        strata = ", ".join(
            f"{name} {n}" for name, n in labels_by_stratum.items()
        )
        print_line(f"{len(rows)} rows: {strata}")
    print_notes(f"caution: {caution}" for caution in cautions)
    print_note(
        f"next: beholder annotate reading {out} -o {job}/people, then beholder filter estimate"
        f" {job} --labels {job}/people"
    )


@app.command
def estimate(
    job: Path,
    /,
    *,
    labels: Path,
    bad: Literal["grave", "minor"] = "grave",
    same_labels: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> int:
    """Print precision, recall and the rate of bad rows left; exit code 3 with too few labels.

    The figures are also written to JOB/estimate.json.

    Example: `beholder filter estimate filtered --labels read.jsonl`

    Args:
        job: Folder of the filter.
        labels: Study of the task reading, or a table with id and bad (true, false, empty).
        bad: Mildest error that makes a row bad.
        same_labels: Use labels that were drawn before the present settings.
    """
    import json

    from beholder.base import files
    from beholder.kinds.filtering import labelling

    try:
        estimated = labelling.estimate(
            job, labelling.read_labels(labels, bad), same_labels=same_labels
        )
    except labelling.TooFewLabelsError as error:
        if as_json:
            print_json({"too_few_labels": str(error)})
        else:
            print_line(error)
        return UNDECIDED
    figures = estimated.as_json()
    files.write_text(job / "estimate.json", json.dumps(figures, indent=2))
    if as_json:
        print_json(figures)
    else:
        for line in labelling.describe(estimated):
            print_line(f"{line[0].upper()}{line[1:]}.")
    print_notes(f"caution: {caution}" for caution in estimated.cautions)
    return 0


@app.command
def write(
    job: Path,
    /,
    *,
    to: Annotated[Path | None, Parameter(name=("--to", *OUTPUT))] = None,
    decision: Literal["keep", "quarantine", "drop"] = "keep",
    as_json: AsJson = False,
) -> None:
    """Write the kept rows back in their form, byte for byte; the sources are never changed.

    Of JSON files of COCO captions white space may change. Parquet files keep schema, metadata,
    row groups and codecs.

    Example: `beholder filter write filtered --to cleaned`

    Args:
        job: Folder of the filter.
        to: Folder to write to; without it the files of a folder are listed in JOB/kept.txt.
        decision: The rows that are written.
    """
    from beholder.kinds.filtering.result import read_result
    from beholder.kinds.filtering.writing import write_rows

    for caution in read_result(job).cautions:
        _print_caution(caution)
    written = dict(write_rows(job, to, decision))
    if as_json:
        print_json(written)
    for place, n in written.items():
        if not as_json:
            print_line(f"{place}: {n:,} rows")
