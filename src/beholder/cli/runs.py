"""Commands that read runs, and the demo that makes one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.terminal.groups import (
    AsJson,
    LabelGroup,
    Markdown,
    Out,
    OutFile,
    TablesGroup,
    ViewerGroup,
    WorkGroup,
)
from beholder.terminal.printing import (
    UNDECIDED,
    print_line,
    print_note,
    print_notes,
    print_summary,
    report_problems,
    runs_hint,
)

if TYPE_CHECKING:
    from beholder.run.store import Store
    from beholder.tables import Table


def demo(*, out: OutFile = Path("runs/demo")) -> int:
    """Score the bundled sample with Accord and VCS, built in; no key, no download.

    Example: `beholder demo`

    Args:
        out: Run directory.
    """
    from beholder.kinds.scores.command import score

    with as_file(files("beholder.samples") / "descriptions.jsonl") as sample:
        return score(str(sample), metric=("headline", "vcs"), out=out)


def report(
    run: Path, /, *, out: Out = None, figures: Path | None = None
) -> None:
    """Draw the HTML report of a run, from what the run has stored.

    Example: `beholder report runs/first --figures figures`

    Args:
        run: A run directory.
        out: The HTML file; by default RUN/report.html.
        figures: Also write every figure into this folder, as SVG and most as PNG, too.
    """
    from beholder.report import draw, draw_figures

    print_line(draw(run, out))
    for path in draw_figures(run, figures) if figures is not None else ():
        print_line(path)


def view(
    runs: list[Path] | None = None,
    /,
    *,
    media_root: Path | None = None,
    trying: Annotated[bool, Parameter(name="--try")] = False,
    judge: tuple[str, ...] = (),
    work: WorkGroup = WorkGroup(),
    server: ViewerGroup = ViewerGroup(),
) -> None:
    """Look at runs in a browser: every item, filtered and sorted; two runs side by side.

    Example: `beholder view runs/model-a runs/model-b`

    Args:
        runs: Run directories of any kind; they are read and never changed.
        media_root: Folder of the pictures; by default that of each run's data.
        trying: Add a page that scores pasted texts; RUNS are optional then.
        judge: Judge for the page of --try, such as openai:MODEL; repeatable.
    """
    from beholder.base.optional import require

    if not runs and not trying:
        raise ConfigError(f"name a run directory, or add --try. {runs_hint()}")

    require("starlette", extra="web", purpose="beholder view")
    from beholder.kinds.scores.trying import TryPage
    from beholder.web import Settings, serve
    from beholder.web.viewer import Viewer, make_viewer

    try_page = TryPage(judge, work.to_options()).page if trying else None
    settings = Settings(
        host=server.host,
        port=server.port,
        token=server.token,
        names=server.name,
    )
    serve(
        make_viewer(
            Viewer(runs or [], media_root, try_page),
            settings,
        ),
        settings,
        lambda address: print_note(f"open {address} (Ctrl-C ends it)"),
    )


def steps(
    run: Path,
    item: str,
    /,
    *,
    metric: Annotated[str | None, Parameter(alias="-m")] = None,
    out: Out = None,
) -> None:
    """Draw how VCS scored one item, on one page: windows, matches and penalties.

    Example: `beholder steps runs/first market/careful -o careful.pdf`

    Args:
        run: A run directory.
        item: Id of an item.
        metric: Metric of the run; by default its first vcs or vcs_short.
        out: The file, .html or .pdf; by default RUN/steps-ITEM.html.
    """
    from beholder.report.steps import write_steps

    print_line(write_steps(run, item, out, metric))


@Parameter(name="*")
@dataclass(frozen=True)
class ComparisonGroup:
    """What is compared.

    Attributes:
        value: Value to compare; by default all of items and each metric's first of the whole set;
            repeatable.
        allow_different: Compare even if signatures differ.
        margin: Exit with 3 unless the second run is shown to be at most so much worse in every
            compared value.
    """

    value: tuple[str, ...] = ()
    allow_different: bool = False
    margin: float | None = None

    def __post_init__(self) -> None:
        if self.margin is not None:
            check_number("--margin", self.margin, 0, above=True)


def compare(
    run_a: Path,
    run_b: Path,
    /,
    *,
    what: ComparisonGroup = ComparisonGroup(),
    out: Out = None,
    media_root: Path | None = None,
    people: LabelGroup = LabelGroup(),
    markdown: Markdown = None,
    tables: TablesGroup = TablesGroup(),
    as_json: AsJson = False,
) -> int:
    """Paired difference of two runs per value: second minus first, with interval and test.

    Of two runs over narratives also how their judges agree, how they rank sources, and their cost.

    Example: `beholder compare runs/model-a runs/model-b`

    Args:
        run_a: A run directory.
        run_b: Another run of the same items, matched by id, or by picture if no id is shared.
        out: HTML file for the differences and the items that changed most.
        media_root: Folder of the pictures on the page; by default that of the data.
    """
    from beholder.base.optional import load_object
    from beholder.report.comparison import (
        differences,
        moved_tables,
        write_comparison,
    )
    from beholder.report.markdown import summed_up
    from beholder.run.compare import compare as compare_runs
    from beholder.run.compare import inferiority_reason, shared_askers
    from beholder.run.kind import ComparisonExtra, kind_of
    from beholder.run.store import Store
    from beholder.terminal.log_progress import LogProgress

    plain: dict[str, Any] = {}
    result_tables: list[Table] = []
    moved: list[Table] = []
    problems: list[str] = []
    unshown: list[str] = []
    # Three parts: differences of shared metrics, their correction by labels, and what the kind of
    # the runs compares beside (agreement, ranking, cost).
    with (
        LogProgress(work="comparing the runs"),
        Store.read(run_a) as a,
        Store.read(run_b) as b,
    ):
        kind = kind_of(run_a)
        loader_path = kind.comparison_extra if kind_of(run_b) == kind else ""
        # Runs of different judges may share no question; then their kind compares them otherwise.
        if not loader_path or shared_askers(a, b):
            comparison = compare_runs(
                a,
                b,
                allow_different=what.allow_different,
                values=what.value,
            )
            if what.margin is not None:
                unshown = [
                    inferiority_reason(a, b, difference, what.margin)
                    for difference in comparison.differences
                ]
            plain = asdict(comparison)
            result_tables.append(
                differences(comparison, str(run_a), str(run_b))
            )
            systems = (
                [str(run)] * store.n_subjects()
                for run, store in ((run_a, a), (run_b, b))
            )
            corrected, problems = _corrected_tables(
                [a, b], list(systems), people
            )
            result_tables += corrected
            plain |= {table.name: table.rows for table in corrected}
            if markdown is not None:
                moved += moved_tables(a, b, comparison)
            if out is not None:
                write_comparison(a, b, comparison, out, media_root)
        elif out is not None:
            raise ConfigError(
                "--output: the runs share no question, so there is no page to draw"
            )
    if loader_path:
        addition: ComparisonExtra = load_object(loader_path)(run_a, run_b)
        plain |= addition.plain
        result_tables += addition.tables
        for note in addition.notes:
            print_note(note)
    if markdown is not None and not result_tables:
        raise ConfigError(
            "--markdown: the runs share no question, so there is nothing to sum up"
        )
    title = f"{run_a} and {run_b}"
    print_summary(
        plain,
        result_tables,
        as_json,
        markdown,
        lambda: summed_up(title, [*result_tables, *moved]),
    )
    tables.write(result_tables)
    if out is not None:
        print_note(f"page: {out}")
    unshown = list(filter(None, unshown))
    code = report_problems([*problems, *unshown])
    return UNDECIDED if unshown and not problems else code


def _corrected_tables(
    runs: Sequence[Store], systems: Sequence[Sequence[str]], people: LabelGroup
) -> tuple[list[Table], list[str]]:
    """Return tables of means and differences corrected by labels, and the problems met."""
    from beholder.run import manifest
    from beholder.run.corrected import corrected_tables
    from beholder.run.labels import targets

    logs = [manifest.read_log(run.folder) for run in runs]
    # A label corrects only a metric that all runs have.
    scored = {
        name: asker.values
        for name, asker in logs[0].askers.items()
        if all(name in log.askers for log in logs)
    }
    notes: list[str] = []
    label_targets = targets(people.labels, people.label, scored, notes=notes)
    print_notes(notes)
    if not label_targets:
        return [], []
    return corrected_tables(runs, systems, label_targets)


def leaderboard(
    runs: list[Path],
    /,
    *,
    value: tuple[str, ...] = (),
    latex: Path | None = None,
    figure: Path | None = None,
    markdown: Markdown = None,
    people: LabelGroup = LabelGroup(),
    tables: TablesGroup = TablesGroup(),
    as_json: AsJson = False,
) -> int:
    """Rank systems by every metric of the runs, with intervals of means and ranks.

    Systems are compared on the pictures that all of them have a score for.

    Example: `beholder leaderboard runs/model-a runs/model-b --latex table.tex`

    Args:
        runs: Runs of `score`: one system each, or items with group.system.
        value: Value to rank by; by default each metric's first of items and of the whole set;
            repeatable.
        latex: LaTeX file (booktabs) of systems by metrics, the best values in bold.
        figure: SVG, PNG or PDF file of systems by score, with intervals (extra plots).
    """
    from beholder.base import files as texts
    from beholder.report.markdown import summed_up
    from beholder.report.standing_figure import write_standing_figure
    from beholder.report.study_tables import latex as as_latex
    from beholder.report.tables import leaderboard_tables, systems_by_metric
    from beholder.run.leaderboard import leaderboard as rank
    from beholder.run.leaderboard import systems_of
    from beholder.run.store import Store

    with ExitStack() as stack:
        stores = [stack.enter_context(Store.read(run)) for run in runs]
        boards = rank(stores, value)
        corrected, problems = _corrected_tables(
            stores, systems_of(stores), people
        )
    result_tables = [*leaderboard_tables(boards), *corrected]
    plain: object = [asdict(board) for board in boards]
    if corrected:
        plain = {"boards": plain} | {
            table.name: table.rows for table in corrected
        }
    print_summary(
        plain,
        result_tables,
        as_json,
        markdown,
        lambda: summed_up("Systems by metric", result_tables),
    )
    if latex is not None:
        texts.write_text(latex, as_latex(systems_by_metric(boards)))
        print_note(f"table: {latex}")
    if figure is not None:
        write_standing_figure(boards, figure)
        print_note(f"figure: {figure}")
    tables.write(result_tables)
    return report_problems(problems)
