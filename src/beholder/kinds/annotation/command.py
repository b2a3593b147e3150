"""``beholder annotate``: people judge in the browser; what they said goes to other commands."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from cyclopts import App, Parameter

from beholder.errors import ConfigError
from beholder.terminal.groups import AsJson, Data, ItemDataGroup, ServerGroup
from beholder.terminal.printing import say, say_left_out, tell, tell_result

if TYPE_CHECKING:
    from beholder.kinds.annotation.study import AnnotationStudy

TaskName: TypeAlias = Literal["marks", "pairs", "ratings", "sequences", "steps", "ranking", "facts"]
Form: TypeAlias = Literal["results", "judgments", "label-studio"]
Database: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="postgresql://USER@HOST/NAME to keep the study there; the password may stand in"
        " PGPASSWORD. A SQLite file in the study's folder if none is named."
    ),
]

app = App(
    name="annotate",
    help="People judge in the browser: marks, pairs, ratings, rankings, facts; agreement, export.",
    help_format="markdown",
)


@Parameter(name="*")
@dataclass(frozen=True)
class PeopleGroup:
    """Who judges.

    Attributes:
        annotators: Their names, separated by commas, or how many there are.
        overlap: How many judge each unit; all if it is not said.
        seed: Of who judges what, and of all orders.
    """

    annotators: str = "1"
    overlap: int | None = None
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names; numbered where only their number was said."""
        if self.annotators.strip().isdecimal():
            n = int(self.annotators)
            if not 1 <= n <= 10_000:
                raise ConfigError(f"--annotators {n}: expected names, or a number from 1 to 10,000")
            return tuple(f"annotator-{place}" for place in range(1, n + 1))
        return tuple(name.strip() for name in self.annotators.split(","))


@app.default
def annotate(
    task: TaskName,
    data: Data,
    /,
    *,
    out: Annotated[Path, Parameter(alias="-o")],
    people: PeopleGroup = PeopleGroup(),
    prefill: Path | None = None,
    pictures: str | None = None,
    database: Database = None,
    rows: ItemDataGroup = ItemDataGroup(),
    server: ServerGroup = ServerGroup(),
    prepare: bool = False,
) -> None:
    """Have people judge in the browser; every act is saved. Run it again to go on.

    Example: `beholder annotate marks data.jsonl -o studies/marks --annotators anna,ben`

    Args:
        task: marks (mistakes and omissions in texts), pairs (which of two texts is better), ratings
            (texts, 1 to 10), sequences (of pictures, 1 to 10), steps (of sequences), ranking (of
            texts) or facts (are they true?).
        data: A data file: rows for marks, pairs, ratings and facts; sequences for sequences and
            steps; sets of texts for ranking.
        out: Folder of the study.
        prefill: A run whose findings are proposed to annotators of marks or facts.
        pictures: Folder, or file with a row per picture, that sequences name.
        prepare: Make the study and print the links; serve nothing.
    """
    from beholder.kinds.annotation.assignment import AnnotationDesign
    from beholder.kinds.annotation.load import media_folder, rows_of
    from beholder.kinds.annotation.prefill import prefilled, with_statements
    from beholder.kinds.annotation.study import AnnotationStudy
    from beholder.kinds.annotation.tasks import TASKS

    asked = TASKS[task]
    taken, bad = rows_of(asked, data, rows, pictures=pictures)
    say_left_out(bad)
    if prefill is not None and task == "facts":
        taken = with_statements(taken, prefill)
    units = asked.units(taken)
    if prefill is not None:
        units = prefilled(asked, units, prefill)
    study = AnnotationStudy.make(
        out,
        asked,
        units,
        AnnotationDesign(people.names, people.overlap, people.seed),
        media=media_folder(data, rows, pictures),
        database=database,
    )
    _serve(study, server, prepare)


@app.command
def serve(
    study: Path,
    /,
    *,
    database: Database = None,
    server: ServerGroup = ServerGroup(),
) -> None:
    """Serve a study that was made before.

    Example: `beholder annotate serve studies/marks`

    Args:
        study: Folder of the study.
    """
    from beholder.kinds.annotation.study import AnnotationStudy

    _serve(AnnotationStudy.open(study, database), server, prepare=False)


@app.command
def export(
    study: Path,
    /,
    *,
    out: Annotated[Path, Parameter(alias="-o")],
    form: Form = "results",
    database: Database = None,
) -> None:
    """Write what annotators said.

    Example: `beholder annotate export studies/marks -o marked.jsonl`

    Args:
        study: Folder of the study.
        out: File to write.
        form: results (finished judgments as rows for agree, bidirectional, rank and narrate),
            judgments (every judgment as JSONL) or label-studio (JSON).
    """
    from beholder import files
    from beholder.kinds.annotation.exchange import exported
    from beholder.kinds.annotation.study import AnnotationStudy

    opened = AnnotationStudy.open(study, database)
    text = exported(opened, form)
    files.write_text(out, text)
    judged = opened.judged()
    n = sum(len(one.by) for one in judged)
    if form == "results":
        n_rows = text.count("\n")
        say(f"{n:,} finished judgments of {len(judged):,} units, in {n_rows:,} rows: {out}")
        if n_left_out := opened.task.n_left_out(judged):
            say(f"{n_left_out:,} of them are not in it: ratings of references without a rated text")
        say(f"next: {opened.task.next_command(judged).format(file=out)}")
    else:
        say(f"{n:,} finished judgments: {out}")
    opened.close()


@app.command(name="import")
def import_judgments(study: Path, source: Path, /, *, database: Database = None) -> None:
    """Take judgments from a file of judgments (JSONL) or of Label Studio (JSON).

    Example: `beholder annotate import studies/marks others.jsonl`

    Args:
        study: Folder of the study.
        source: The file; its units must be those of the study.
    """
    from beholder.kinds.annotation.exchange import bring_in
    from beholder.kinds.annotation.study import AnnotationStudy

    opened = AnnotationStudy.open(study, database)
    n, n_changed = bring_in(opened, source)
    say(f"{n} judgments, {n_changed} of them new or changed")
    opened.close()


@app.command
def agreement(study: Path, /, *, database: Database = None, as_json: AsJson = False) -> None:
    """Tell how far annotators are, and how far they agree, with intervals.

    Example: `beholder annotate agreement studies/marks`

    Args:
        study: Folder of the study.
    """
    from beholder.kinds.annotation.standing import agreement_of
    from beholder.kinds.annotation.study import AnnotationStudy
    from beholder.report.reliability import reliability_table

    opened = AnnotationStudy.open(study, database)
    progress = opened.progress()
    found = agreement_of(opened.task, opened.judged(), tuple(opened.annotators()))
    opened.close()
    plain = {"progress": list(map(asdict, progress)), "agreement": list(map(asdict, found))}
    if not as_json:
        for one in progress:
            tell(f"{one.annotator}: {one.done} of {one.assigned} done, {one.begun} begun")
    tell_result(plain, map(reliability_table, found), as_json)
    if not found:
        say("no agreement yet: two annotators must have finished the same unit")


def _serve(study: AnnotationStudy, server: ServerGroup, prepare: bool) -> None:
    """Print the links and serve until interrupted."""
    from beholder.kinds.annotation.pages import study_routes, study_settings
    from beholder.web import make_app
    from beholder.web.app import serve as listen

    if study.n_seen_twice:
        say(
            f"beholder: {study.n_seen_twice} pairs went to somebody who sees one of their texts in"
            " another pair, too; more annotators, or a smaller --overlap, avoid that"
        )
    settings = study_settings(study, server.host, server.port, server.name)

    def listening(address: str) -> None:
        tell(f"you: {address}")
        base = address.partition("?")[0]
        for name, token in study.annotators().items():
            tell(f"{name}: {base}?token={token}")

    if prepare:
        listening(f"http://{server.host}:{server.port}/?token={study.token}")
        say(f"study: {study.folder}; serve it with 'beholder annotate serve {study.folder}'")
        study.close()
        return
    say(f"study: {study.folder}; stop with Ctrl-C, run the same command again to go on")
    listen(make_app(study_routes(study), settings), settings, listening)
    study.close()
