"""``beholder narrate``: extract storylines from pictures, judge them, find breaks, compare."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Group, Parameter

from beholder.errors import ConfigError
from beholder.kinds.narratives.config import (
    JSD,
    Base,
    CaptionOptions,
    CoherenceOptions,
    CollectionOptions,
    Extraction,
    ExtractionMethod,
    HybridOptions,
    Method,
    NarrateConfig,
    Part,
    Scale,
    StorylineEnds,
    Voting,
)
from beholder.terminal.groups import (
    Data,
    DataGroup,
    OutFile,
    RunOut,
    StorylineRunGroup,
)
from beholder.terminal.printing import (
    excess_failures,
    print_note,
    print_notes,
    print_plan,
    print_result,
    print_tables,
    report_end,
    report_left_out,
)

if TYPE_CHECKING:
    from beholder.kinds.narratives.results import Cost, NarrativeStudy

app = App(
    name="narrate",
    help="Sequences of pictures: extract storylines, judge them, find breaks, compare sources.",
    help_format="markdown",
)


def _panel(name: str) -> Parameter:
    """Flattens a group of options into a panel of the help page."""
    return Parameter(name="*", group=Group(name, sort_key=0))


FLAT = Parameter(name="*")
PICTURES, RATING = _panel("Pictures and captions"), _panel("Ratings")
HYBRID, COHERENCE = _panel("Hybrid judging"), _panel("Coherence")
_THETA = Parameter(group=COHERENCE.group)
_MAX_LISTED = 10
_JSON_FIELDS = (
    "tables",
    "steps",
    "cost",
    "hybrid",
    "examples",
    "models",
    "theta",
    "judges",
)


@PICTURES
@dataclass(frozen=True)
class TableGroup:
    """Settings for reading a table of pictures.

    Attributes:
        column: Column of a picture field, as date=month; repeatable.
        year: Year of dates without one.
    """

    column: Annotated[tuple[str, ...], Parameter(name="--map")] = ()
    year: int | None = None

    def collection(self, source: str | None) -> CollectionOptions:
        """The pictures of a folder or file.

        Raises:
            ConfigError: The value is not a pair.
        """
        columns = {}
        for pair in self.column:
            name, _, column = pair.partition("=")
            if not (name and column):
                raise ConfigError(
                    f"--map {pair!r}: expected FIELD=COLUMN, such as date=month"
                )
            columns[name] = column
        return CollectionOptions(source, columns, self.year)


@FLAT
@dataclass(frozen=True)
class CaptionGroup(CaptionOptions):
    """Settings of the captioner."""

    judge: Annotated[
        str | None,
        Parameter(
            name="--captioner",
            help="Judge that writes captions; by default that of --judge.",
        ),
    ] = None


@RATING
@dataclass(frozen=True)
class VoteGroup(Voting):
    """Settings for rating storylines.

    Attributes:
        example: Sequence that judges see as a rated example, as ID=RATING; repeatable.
    """

    judges: Annotated[int, Parameter(alias="-K")] = 3
    examples: Annotated[dict[str, int], Parameter(parse=False)] = field(
        default_factory=dict
    )
    example: tuple[str, ...] = ()

    @property
    def voting(self) -> Voting:
        """Return the options of voting with examples by id.

        Raises:
            ConfigError: An example is not an id with a rating, or an id occurs twice.
        """
        ratings: dict[str, int] = {}
        for text in self.example:
            # The last "=" divides: ids may contain one.
            name, _, rating = text.rpartition("=")
            if not name or not rating.isdecimal():
                raise ConfigError(
                    f"--example {text!r}: expected ID=RATING, such as human-5=8"
                )
            if name in ratings:
                raise ConfigError(
                    f"--example {text!r}: {name} has a rating already"
                )
            ratings[name] = int(rating)
        return Voting(
            self.judges, self.temperature, self.context, self.anchors, ratings
        )


@RATING
@dataclass(frozen=True)
class StepVoteGroup(VoteGroup):
    """Settings for rating steps; there are no examples of steps."""

    judges: Annotated[int, Parameter(alias="-K")] = 1
    anchors: Annotated[bool, Parameter(parse=False)] = False
    example: Annotated[tuple[str, ...], Parameter(parse=False)] = ()


@PICTURES
@dataclass(frozen=True)
class SourceGroup:
    """The judge, and the form in which it sees pictures.

    Attributes:
        judge: Judge, such as openai:MODEL, or people:FILE for human ratings; repeatable.
        pictures: Folder of the pictures, or file with one row per picture.
        max_side: Longer side of the pictures that judges see, in pixels.
    """

    judge: tuple[str, ...] = ()
    pictures: str | None = None
    max_side: int = 512
    columns: TableGroup = field(default_factory=TableGroup)
    captions: CaptionGroup = field(default_factory=CaptionGroup)


@FLAT
@dataclass(frozen=True)
class EndGroup(StorylineEnds):
    """The storylines to extract."""

    k: Annotated[
        int | None, Parameter(name="-k", help="Pictures of a storyline.")
    ] = None


@_panel("Extraction")
@dataclass(frozen=True)
class ExtractGroup(Extraction):
    """Settings of the extraction; those of coherence have a panel of their own."""

    method: ExtractionMethod = "maxmin"
    topics: Annotated[str | None, _THETA] = None
    jsd: Annotated[JSD, _THETA] = "divergence"
    base: Annotated[Base, _THETA] = 2.0
    scale: Annotated[Scale, _THETA] = "raw"


@app.command
def extract(
    pictures: Data,
    /,
    *,
    out: OutFile,
    ends: EndGroup = EndGroup(),
    how: ExtractGroup = ExtractGroup(),
    embedder: str = "handcrafted",
    skip_undated: bool = False,
    columns: TableGroup = TableGroup(),
    rows: DataGroup = DataGroup(),
) -> None:
    """Extract storylines from a collection of pictures.

    Example: `beholder narrate extract photos/ -k 8 -o stories.jsonl`

    Args:
        pictures: Folder of the pictures, or file with one row per picture.
        out: JSONL file of sequences to write.
        embedder: Embedder of pictures: npz:FILE, clip:NAME or handcrafted.
        skip_undated: Leave out pictures without a date, and report them.
    """
    from beholder.data import write_storylines
    from beholder.kinds.narratives.inputs import extract_storylines
    from beholder.kinds.narratives.tables import extraction_table

    collection = columns.collection(pictures)
    extractions = extract_storylines(
        collection, ends, embedder, how, rows, skip_undated
    )
    report_left_out(extractions.bad_rows)
    print_notes(extractions.notes)
    report_left_out(extractions.unusable[:_MAX_LISTED])
    if len(extractions.unusable) > _MAX_LISTED:
        report_left_out(
            [f"{len(extractions.unusable) - _MAX_LISTED} more pictures"]
        )
    write_storylines(
        out, (extracted.storyline for extracted in extractions.found)
    )
    print_tables(extraction_table(extractions.found))
    print_note(f"beholder: time: {extractions.found[0].time}")
    # All storylines of a method tend to carry the same warning: it is printed once.
    for warning in dict.fromkeys(
        w for extracted in extractions.found for w in extracted.path.warnings
    ):
        print_note(f"beholder: warning: {warning}")
    distinct = len(
        {
            tuple(f.id for f in extracted.storyline.frames)
            for extracted in extractions.found
        }
    )
    if distinct < len(extractions.found):
        print_note(
            f"beholder: {len(extractions.found)} storylines, {distinct} of them different;"
            " replications of maxmin, maps and trails differ only where dates leave the order of"
            " pictures open;"
            " equal ones are solved once"
        )
    # Storylines from colours and edges look plausible and mean little: users must know.
    if not extractions.learned:
        print_note(
            f"beholder: {extractions.embedder} vectors represent appearance, not meaning; use"
            " clip:NAME or npz:FILE for learned ones"
        )
    print_note(f"{extractions.found[0].signature}\nsequences: {out}")


@app.command
def judge(
    sequences: Data,
    /,
    *,
    by: tuple[Literal["captions", "sight", "hybrid"], ...] = (
        "captions",
        "sight",
    ),
    out: RunOut = None,
    source: SourceGroup = SourceGroup(),
    votes: VoteGroup = VoteGroup(),
    hybrid: Annotated[HybridOptions, HYBRID] = HybridOptions(),
    run: StorylineRunGroup = StorylineRunGroup(),
) -> int:
    """Have judges rate whole sequences from 1 to 10; run it again to resume.

    Example: `beholder narrate judge stories.jsonl --judge openai:gpt-4.1 --by captions`

    Args:
        sequences: A .jsonl, .csv or .parquet file with one sequence per row.
        by: Ways of judging; repeatable.
        out: Run directory; by default runs/NAME.
    """
    config = _config(sequences, out, by, source, run)
    return _run(replace(config, voting=votes.voting, hybrid=hybrid), run)


@app.command
def transitions(
    sequences: Data,
    /,
    *,
    by: Method = "sight",
    out: RunOut = None,
    source: SourceGroup = SourceGroup(),
    votes: StepVoteGroup = StepVoteGroup(),
    coherence: Annotated[CoherenceOptions, COHERENCE] = CoherenceOptions(),
    human: str = "human",
    run: StorylineRunGroup = StorylineRunGroup(),
) -> int:
    """Have judges rate each step from 1 to 10, and name the weakest links.

    Example: `beholder narrate transitions stories.jsonl --judge openai:gpt-4.1`

    Args:
        sequences: A .jsonl, .csv or .parquet file with one sequence per row.
        by: View of the steps for judges: ``sight`` or ``captions``.
        out: Run directory; by default runs/NAME.
        human: Name of the human source.
    """
    config = _config(sequences, out, ("transitions",), source, run, coherence)
    config = replace(config, voting=votes.voting, human=human, steps_by=by)
    return _run(config, run)


@FLAT
@dataclass(frozen=True)
class ComparedGroup:
    """The runs to compare.

    Attributes:
        by: Ways of judging; by default captions and sight if there is a judge; repeatable.
        steps_by: View of the steps for judges: ``sight`` or ``captions``.
        human: Name of the human source.
    """

    by: tuple[Literal["captions", "sight", "hybrid", "transitions"], ...] = ()
    steps_by: Method = "sight"
    human: str = "human"


@app.command
def compare(
    sequences: Data,
    /,
    *,
    compared: ComparedGroup = ComparedGroup(),
    out: RunOut = None,
    source: SourceGroup = SourceGroup(),
    votes: VoteGroup = VoteGroup(),
    hybrid: Annotated[HybridOptions, HYBRID] = HybridOptions(),
    coherence: Annotated[CoherenceOptions, COHERENCE] = CoherenceOptions(),
    run: StorylineRunGroup = StorylineRunGroup(),
) -> int:
    """Compare sources of sequences: scores, reliability, coherence, effects, costs, film strips.

    Without --judge only coherence is measured.

    Example: `beholder narrate compare stories.jsonl --embedder handcrafted`

    Args:
        sequences: A .jsonl, .csv or .parquet file with one sequence per row.
        out: Run directory; by default runs/NAME.
    """
    judged_parts: tuple[Part, ...] = compared.by or (
        ("captions", "sight") if source.judge else ()
    )
    config = replace(
        _config(sequences, out, judged_parts, source, run, coherence),
        voting=votes.voting,
        hybrid=hybrid,
        human=compared.human,
        steps_by=compared.steps_by,
    )
    return _run(config, run)


def _config(
    sequences: str,
    out: Path | None,
    judged_parts: tuple[Part, ...],
    source: SourceGroup,
    run: StorylineRunGroup,
    coherence: CoherenceOptions = CoherenceOptions(),
) -> NarrateConfig:
    """Return the configuration of a run, without the options that only some commands have.

    Args:
        sequences: The file.
        out: The run directory, if one was named.
        judged_parts: Parts that need a judge; coherence is measured if an embedder was named.
        source: The judge, and what it sees.
        run: Settings of the run.
        coherence: Settings of the measured coherence.
    """
    from beholder.run.session import default_out

    return NarrateConfig(
        sequences,
        out or default_out(sequences),
        (*judged_parts, "coherence") if coherence.embedder else judged_parts,
        source.judge or None,
        max_side=source.max_side,
        collection=source.columns.collection(source.pictures),
        captions=source.captions,
        coherence=coherence,
        rows=run.rows,
        judging=run.judging,
        work=run.work.to_options(),
    )


def _run(config: NarrateConfig, run: StorylineRunGroup) -> int:
    """Carry a run out, print and draw it; return the exit code."""
    import msgspec

    from beholder.kinds.narratives.build import cost_table
    from beholder.kinds.narratives.inputs import read_inputs
    from beholder.kinds.narratives.kind import KIND
    from beholder.kinds.narratives.page import write_study
    from beholder.kinds.narratives.tables import terminal_tables
    from beholder.run import kind
    from beholder.terminal.progress import TerminalProgress

    # Costs are printed before the first request, so that a run can be stopped in time.
    inputs = read_inputs(config)
    _say_costs(config, cost_table(config, inputs))
    if run.finish.dry_run:
        return print_plan(kind.plan(KIND, config, given=inputs), config.out)
    with TerminalProgress() as progress:
        study, bad_rows = kind.run(KIND, config, progress, given=inputs)
    report_left_out(bad_rows)
    print_notes(inputs.notes)
    report = write_study(config.out)
    json_content = msgspec.to_builtins(
        {name: getattr(study, name) for name in _JSON_FIELDS}
    )
    print_result(json_content, terminal_tables(study), run.finish.as_json)
    # A wrong folder of pictures fails every request: the first reason shows it.
    if study.unreadable:
        n, first = len(study.unreadable), study.unreadable[0]
        print_note(
            f"beholder: {n} pictures could not be read (is --media-root right?); the first: {first}"
        )
    problems = excess_failures(_failures(study), run.finish.allow_failed)
    return report_end(config.out, progress, report, problems, "done")


def _say_costs(config: NarrateConfig, cost: Cost) -> None:
    """Print the number of ratings of a run, and their likely cost."""
    print_note(
        f"{cost.n_narratives} narrative{'s'[: cost.n_narratives != 1]} of"
        f" {cost.n_pictures} pictures;"
        f" parts: {', '.join(config.parts)}"
    )
    # People cost nothing here, and neither does coherence.
    if not config.judged or not config.models:
        return
    for unit, row in (("seconds", cost.seconds), ("tokens", cost.tokens)):
        pays = row.break_even
        when = "never" if pays is None else f"from {pays:,.0f} narratives on"
        print_note(
            f"{unit}, {cost.judges} ratings of each narrative: captions {row.captions_total:,.0f}"
            f" (again: {row.captions_again:,.0f}), sight {row.sight_total:,.0f};"
            f" captions pay {when} [{row.basis}]"
        )


def _failures(study: NarrativeStudy) -> list[str]:
    """Return the narratives with failures, each with its first reason."""
    failures = []
    for narrative in study.narratives:
        reasons = [
            *(reason for _, reason in narrative.vote_failures),
            narrative.coherence_failure,
        ]
        failures += [
            f"{narrative.id}: {reason}" for reason in reasons if reason
        ][:1]
    return failures
