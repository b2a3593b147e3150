"""``beholder narrate``: extract storylines from pictures, judge them, find breaks, compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

if TYPE_CHECKING:
    from beholder.run.narrate.config import NarrateConfig

app = typer.Typer(
    help="Sequences of pictures: extract storylines, judge them, find breaks, compare sources.",
    no_args_is_help=True,
)

Sequences = Annotated[
    str, typer.Argument(help="A .jsonl, .csv or .parquet file with a sequence a row.")
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Run directory. (default: runs/NAME)")
]
Pictures = Annotated[
    str | None,
    typer.Option("--pictures", help="Folder, or file with a row per picture, that sequences name."),
]
Images = Annotated[
    Path | None, typer.Option(help="Folder that image paths are relative to, where another.")
]
Column = Annotated[
    list[str] | None,
    typer.Option(help="A column of --pictures under another name, as date=month; repeatable."),
]
Year = Annotated[int | None, typer.Option(help="Year of dates that name none.")]
JudgeSpec = Annotated[str | None, typer.Option("--judge", help="Judge, such as openai:MODEL.")]
Captioner = Annotated[
    str | None, typer.Option(help="Judge that writes captions. (default: --judge)")
]
BaseUrl = Annotated[str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")]
Judges = Annotated[int, typer.Option("--judges", "-K", help="Independent judges.")]
Temperature = Annotated[float, typer.Option(help="Sampling temperature of the judges.")]
Context = Annotated[str, typer.Option(help="What the collection is; told to every judge.")]
Anchors = Annotated[bool, typer.Option("--anchors", help="Show judges worked examples.")]
MaxSide = Annotated[int, typer.Option(help="Longer side of a picture that is shown, in pixels.")]
Embedder = Annotated[
    str | None, typer.Option(help="Vectors for coherence: npz:FILE, clip:NAME or handcrafted.")
]
Scale = Annotated[str, typer.Option(help="Scale of theta: raw or minmax (over the collection).")]
Jsd = Annotated[str, typer.Option(help="Topic term of theta: divergence or distance.")]
Topics = Annotated[str | None, typer.Option(help="Topics: labels:NAME, clusters or clusters:umap.")]
Human = Annotated[str, typer.Option(help="Name of the human source.")]
Share = Annotated[float, typer.Option(help="Share of narratives that hybrid judging looks at.")]
Rule = Annotated[str, typer.Option(help="Which ones: uncertain or top.")]
Weight = Annotated[float | None, typer.Option(help="Weight of sight. (default: learned)")]
StepsBy = Annotated[str, typer.Option(help="Judges of steps see: sight or captions.")]
Concurrency = Annotated[int, typer.Option(help="Narratives judged at once.")]
MaxCost = Annotated[float | None, typer.Option(help="Stop before spending more, in US dollars.")]
Cache = Annotated[
    str | None, typer.Option(help="Folder of the answers that all runs share, or off.")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad-rows", help="Leave wrong rows out; count them.")]
AllowFailed = Annotated[int, typer.Option(help="Failed narratives that still count as success.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check all input and print the costs.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the tables as JSON on stdout.")]


@app.command()
def extract(
    pictures: Annotated[str, typer.Argument(help="Folder, or file with a row per picture.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="JSONL file of sequences to write.")],
    method: Annotated[str, typer.Option(help="maxmin, maps, trails or random.")] = "maxmin",
    k: Annotated[int | None, typer.Option("-k", help="Pictures of a storyline.")] = None,
    source: Annotated[str | None, typer.Option(help="Id of the first picture.")] = None,
    target: Annotated[str | None, typer.Option(help="Id of the last picture.")] = None,
    like: Annotated[
        Path | None, typer.Option(help="Sequences whose ends and lengths to take instead.")
    ] = None,
    replications: Annotated[int, typer.Option(help="Extractions of each.")] = 1,
    alternatives: Annotated[int, typer.Option(help="Storylines that differ (maxmin).")] = 1,
    min_difference: Annotated[
        float, typer.Option(help="Share of inner pictures that must differ.")
    ] = 0.5,
    window: Annotated[int | None, typer.Option(help="Longest step in positions.")] = None,
    days: Annotated[int | None, typer.Option(help="Longest step in days (maxmin).")] = None,
    cover: Annotated[int, typer.Option(help="Topics to visit at least (maxmin).")] = 0,
    near_duplicate: Annotated[
        float | None, typer.Option(help="Cosine from which steps are penalised (maxmin).")
    ] = None,
    embedder: Annotated[str, typer.Option(help="npz:FILE, clip:NAME or handcrafted.")] = (
        "handcrafted"
    ),
    scale: Scale = "raw",
    jsd: Jsd = "divergence",
    topics: Topics = None,
    spread_dates: Annotated[
        bool, typer.Option("--spread-dates", help="Date undated pictures by similar ones.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of shuffles within a date and of draws.")] = 12345,
    images: Images = None,
    column: Column = None,
    year: Year = None,
    skip_bad_rows: SkipBad = False,
) -> None:
    """Extract storylines from a collection of pictures.

    Example: [bold]beholder narrate extract photos/ -k 8 -o stories.jsonl[/bold]
    """
    from beholder.cli.narrate_extract import extract_and_print
    from beholder.narratives.extract import Extraction

    how = Extraction(
        method=method,  # type: ignore[arg-type]
        replications=replications,
        alternatives=alternatives,
        min_difference=min_difference,
        window=window,
        days=days,
        cover=cover,
        near_duplicate=near_duplicate,
        topics=topics,
        jsd=jsd,  # type: ignore[arg-type]
        scale=scale,  # type: ignore[arg-type]
        spread_dates=spread_dates,
        seed=seed,
    )
    extract_and_print(
        pictures,
        out,
        how,
        k=k,
        ends=(source, target),
        like=like,
        embedder=embedder,
        images=images,
        columns=_columns(column),
        year=year,
        skip_bad_rows=skip_bad_rows,
    )


@app.command()
def judge(
    sequences: Sequences,
    judge: JudgeSpec = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="captions, sight or hybrid; repeatable. (default: captions, sight)"),
    ] = None,
    out: Out = None,
    pictures: Pictures = None,
    images: Images = None,
    column: Column = None,
    year: Year = None,
    captioner: Captioner = None,
    base_url: BaseUrl = None,
    judges: Judges = 3,
    temperature: Temperature = 0.7,
    context: Context = "",
    anchors: Anchors = False,
    max_side: MaxSide = 512,
    share: Share = 0.3,
    rule: Rule = "uncertain",
    weight: Weight = None,
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
    cache: Cache = None,
    skip_bad_rows: SkipBad = False,
    allow_failed: AllowFailed = 0,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Have judges rate whole sequences from 1 to 10; run it again to go on.

    Example: [bold]beholder narrate judge stories.jsonl --judge openai:gpt-4.1 --by captions[/bold]
    """
    _run(locals(), tuple(by or ("captions", "sight")))


@app.command()
def transitions(
    sequences: Sequences,
    judge: JudgeSpec = None,
    by: StepsBy = "sight",
    out: Out = None,
    pictures: Pictures = None,
    images: Images = None,
    column: Column = None,
    year: Year = None,
    captioner: Captioner = None,
    base_url: BaseUrl = None,
    judges: Judges = 1,
    temperature: Temperature = 0.7,
    context: Context = "",
    max_side: MaxSide = 512,
    embedder: Embedder = None,
    scale: Scale = "raw",
    jsd: Jsd = "divergence",
    topics: Topics = None,
    human: Human = "human",
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
    cache: Cache = None,
    skip_bad_rows: SkipBad = False,
    allow_failed: AllowFailed = 0,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Have judges rate each step from 1 to 10, and name the weakest links.

    Example: [bold]beholder narrate transitions stories.jsonl --judge openai:gpt-4.1[/bold]
    """
    parts = ("transitions", "coherence") if embedder else ("transitions",)
    _run(locals() | {"steps_by": by}, parts)


@app.command()
def compare(
    sequences: Sequences,
    judge: JudgeSpec = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="captions, sight, hybrid, transitions; repeatable. (default: captions, sight)"
        ),
    ] = None,
    out: Out = None,
    pictures: Pictures = None,
    images: Images = None,
    column: Column = None,
    year: Year = None,
    captioner: Captioner = None,
    base_url: BaseUrl = None,
    judges: Judges = 3,
    temperature: Temperature = 0.7,
    context: Context = "",
    anchors: Anchors = False,
    max_side: MaxSide = 512,
    share: Share = 0.3,
    rule: Rule = "uncertain",
    weight: Weight = None,
    steps_by: StepsBy = "sight",
    embedder: Embedder = None,
    scale: Scale = "raw",
    jsd: Jsd = "divergence",
    topics: Topics = None,
    human: Human = "human",
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
    cache: Cache = None,
    skip_bad_rows: SkipBad = False,
    allow_failed: AllowFailed = 0,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Compare sources of sequences: scores, reliability, coherence, effects, costs, film strips.

    Without --judge only coherence is measured.

    Example: [bold]beholder narrate compare stories.jsonl --embedder handcrafted[/bold]
    """
    asked = tuple(by or (("captions", "sight") if judge else ()))
    _run(locals(), (*asked, *(("coherence",) if embedder else ())))


def _columns(pairs: list[str] | None) -> dict[str, str]:
    from beholder.errors import ConfigError

    found = {}
    for pair in pairs or []:
        field, equals, column = pair.partition("=")
        if not (field and equals and column):
            raise ConfigError(f"--column {pair!r}: expected FIELD=COLUMN, such as date=month")
        found[field] = column
    return found


def _run(given: dict[str, Any], parts: tuple[str, ...]) -> None:
    """Build the run from the options of a command, carry it out, print and draw it."""
    from beholder.cli.narrate_print import print_costs, print_plan, print_study, problems
    from beholder.cli.progress import TerminalProgress
    from beholder.report.narrate import write_study
    from beholder.run.narrate.engine import plan_narratives, run_narratives
    from beholder.run.narrate.inputs import read_inputs

    config = _config(given, parts)
    inputs = read_inputs(config)
    if given["dry_run"]:
        print_plan(config, plan_narratives(config, inputs))
        return
    print_costs(config, inputs)
    with TerminalProgress() as progress:
        study, _ = run_narratives(config, progress, inputs)
    report = write_study(config.out)
    if given["as_json"]:
        typer.echo(json.dumps({name: study[name] for name in _PRINTED}, ensure_ascii=False))
    else:
        print_study(study, Console())
    _close(config, report, study["unreadable"], problems(study, given["allow_failed"]))


def _config(given: dict[str, Any], parts: tuple[str, ...]) -> NarrateConfig:
    """The run that the options of a command ask for; those it lacks keep their default."""
    from beholder.cli.cache import cache_file
    from beholder.narratives.judging import Voting
    from beholder.options import DataOptions, JudgeOptions, WorkOptions
    from beholder.run.narrate import config

    def some(*names: str) -> dict[str, Any]:
        return {name: given[name] for name in names if name in given}

    return config.NarrateConfig(
        out=given["out"] or Path("runs") / Path(given["sequences"]).stem,
        parts=parts,  # type: ignore[arg-type]
        collection=config.CollectionOptions(
            given["pictures"], _columns(given["column"]), given["year"]
        ),
        voting=Voting(**some("judges", "temperature", "context", "anchors")),
        captions=config.CaptionOptions(judge=given["captioner"]),
        hybrid=config.HybridOptions(**some("share", "rule", "weight")),
        coherence=config.CoherenceOptions(**some("embedder", "jsd", "scale", "topics")),
        rows=DataOptions(skip_bad_rows=given["skip_bad_rows"], media_root=given["images"]),
        judging=JudgeOptions(base_url=given["base_url"]),
        work=WorkOptions(
            concurrency=given["concurrency"],
            cache=cache_file(given["cache"]),
            max_cost=given["max_cost"],
        ),
        **some("sequences", "judge", "steps_by", "max_side", "human"),
    )


_PRINTED = ("tables", "steps", "cost", "hybrid", "theta", "judges")


def _close(config: NarrateConfig, report: Path, unreadable: list[str], problems: list[str]) -> None:
    typer.echo(f"run: {config.out}\nreport: {report}", err=True)
    if unreadable:
        typer.echo(
            f"beholder: {len(unreadable)} pictures could not be read (is --images right?); "
            f"the first: {unreadable[0]}",
            err=True,
        )
    for problem in problems:
        typer.echo(f"beholder: {problem}", err=True)
    if problems:
        raise typer.Exit(1)
