"""``beholder annotate``: people judge in the browser; other commands read the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import App, Group, Parameter

from beholder.errors import ConfigError
from beholder.kinds.annotation.tasks import TASKS, task_named
from beholder.terminal.groups import (
    AsJson,
    Data,
    ItemDataGroup,
    OutFile,
    ServerGroup,
)
from beholder.terminal.printing import (
    print_line,
    print_note,
    print_notes,
    print_result,
    report_left_out,
    warn_incomplete,
)

if TYPE_CHECKING:
    from beholder.kinds.annotation.study import AnnotationStudy

TaskName: TypeAlias = Annotated[
    str,
    Parameter(help=f"{', '.join(TASKS.names())}; see `annotate tasks`."),
]
Form: TypeAlias = Literal["results", "judgments"]
Database: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="Database postgresql://USER@HOST/NAME; by default a SQLite file in the study's folder."
    ),
]

app = App(
    name="annotate",
    help="People judge in the browser: marks, pairs, ratings, rankings, facts; agreement, export.",
    help_format="markdown",
)


@Parameter(name="*", group=Group("Annotators", sort_key=0))
@dataclass(frozen=True)
class PeopleGroup:
    """The annotators, and the material that they read and see besides the data.

    Attributes:
        annotators: Names of annotators, separated by commas, or their number.
        overlap: Annotators per unit; by default all.
        seed: Random seed of assignment and order.
        adjudicator: Name of a person who decides where annotators differ.
        gold: JSONL file of units with known judgments, for training and checks.
        participants: Print one link, which gives each person the next free place.
        completion_code: Code that participants see at the end; by default one per person.
        instructions: Markdown file with your instructions and examples, shown before ours.
        iiif: Address of the IIIF server from which pages may load pictures.
    """

    annotators: str = "1"
    overlap: int | None = None
    seed: int = 0
    adjudicator: str | None = None
    gold: Path | None = None
    participants: Annotated[bool, Parameter(negative="")] = False
    completion_code: str | None = None
    instructions: Path | None = None
    iiif: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the annotators; generated from their number.

        Raises:
            ConfigError: The number is 0 or more than 10,000.
        """
        if self.annotators.strip().isdecimal():
            n = int(self.annotators)
            if not 1 <= n <= 10_000:
                raise ConfigError(
                    f"--annotators {n}: expected names, or a number from 1 to 10,000"
                )
            return tuple(f"annotator-{place}" for place in range(1, n + 1))
        return tuple(name.strip() for name in self.annotators.split(","))


@app.default
def annotate(
    task: TaskName,
    data: Data,
    /,
    *,
    out: OutFile,
    people: PeopleGroup = PeopleGroup(),
    prefill: Path | None = None,
    pictures: str | None = None,
    database: Database = None,
    rows: ItemDataGroup = ItemDataGroup(),
    server: ServerGroup = ServerGroup(),
    prepare: bool = False,
) -> None:
    """Let people judge in the browser; every act is saved. Run the command again to resume.

    Example: `beholder annotate marks data.jsonl -o studies/marks --annotators anna,ben`

    Args:
        task: Task of the annotators.
        data: A data file with what the task needs: rows, sequences or sets of texts.
        out: Folder of the study.
        prefill: Run whose findings annotators see as proposals.
        pictures: Folder of the pictures, or file with one row per picture.
        prepare: Create the study and print the links without serving it.
    """
    print_note(f"preparing the study {out}")
    from beholder.data.notes import RowNotes
    from beholder.kinds.annotation.assignment import AnnotationDesign
    from beholder.kinds.annotation.exchange import with_gold
    from beholder.kinds.annotation.load import media_folder, units_of
    from beholder.kinds.annotation.shown import (
        list_hidden_pictures,
        read_instructions,
    )
    from beholder.kinds.annotation.study import (
        AnnotationStudy,
        describe_counts,
    )

    annotation_task = task_named(task)
    if prefill is not None:
        warn_incomplete(prefill)
    notes, unshown = RowNotes(), Counter[str]()
    units, skipped_rows = units_of(
        annotation_task,
        data,
        rows,
        pictures=pictures,
        run=prefill,
        notes=notes,
        unshown=unshown,
    )
    unshown += notes.left_out
    report_left_out(skipped_rows)
    print_notes(notes.sentences())
    if unshown:
        print_note(f"annotators do not see {describe_counts(unshown)}")
    n_empty = sum(not all(map(str.strip, unit.texts)) for unit in units)
    if n_empty:
        print_note(
            f"units with an empty text, which annotators see: {n_empty:,}"
        )
    if people.gold is not None:
        media = media_folder(data, rows, pictures)
        units = with_gold(annotation_task, units, people.gold, media)
    if hidden := list_hidden_pictures(units, people.iiif):
        print_note(
            f"beholder: pages do not show pictures at addresses, such as {hidden[0]}"
            f" ({len(hidden)} in all); name their IIIF server with --iiif"
        )
    # The options have the names of the design's fields, except the file of gold units, which is
    # read into the units.
    design_fields = asdict(people) | {"annotators": people.names}
    design_fields.pop("gold")
    if people.instructions is not None:
        design_fields["instructions"] = read_instructions(people.instructions)
    print_note(annotation_task.describe_units(units))
    study = AnnotationStudy.make(
        out,
        annotation_task,
        units,
        AnnotationDesign(**design_fields),
        media=media_folder(data, rows, pictures),
        database=database,
        unshown=unshown,
    )
    _serve(study, server, prepare)


@app.command
def tasks() -> None:
    """List the tasks, with those of installed packages.

    Example: `beholder annotate tasks`
    """
    for name in TASKS.names():
        print_line(f"{name}: {task_named(name).summary}")


@app.command
def serve(
    study: Path,
    /,
    *,
    database: Database = None,
    server: ServerGroup = ServerGroup(),
) -> None:
    """Serve an existing study.

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
    out: OutFile,
    form: Annotated[Form, Parameter(name="--format")] = "results",
    database: Database = None,
) -> None:
    """Write the judgments to a file.

    Example: `beholder annotate export studies/marks -o marked.jsonl`

    Args:
        study: Folder of the study.
        out: File to write.
        form: Rows of finished judgments for other commands, or all judgments.
    """
    from beholder.base import files
    from beholder.kinds.annotation.exchange import export_rows
    from beholder.kinds.annotation.study import AnnotationStudy

    opened = AnnotationStudy.open(study, database)
    rows = export_rows(opened, form)
    judged = opened.settled()
    left_out = opened.task.left_out(judged)
    if not rows:
        raise ConfigError(
            f"{study} has nothing to export: {left_out or 'no unit is finished'}; judge more with"
            f" beholder annotate serve {study}"
        )
    files.write_jsonl(out, rows)
    n = sum(len(judgments.by) for judgments in judged)
    if form == "results":
        print_note(
            f"{n:,} finished judgments of {len(judged):,} units, in {len(rows):,} rows: {out}"
        )
        if left_out:
            print_note(left_out)
        if next_command := opened.task.next_command(judged):
            print_note(f"next: {next_command.format(file=out)}")
    else:
        print_note(f"{n:,} finished judgments: {out}")
    opened.close()


@app.command
def publish(
    study: Path,
    /,
    *,
    out: OutFile,
    title: str,
    licence: str | None = None,
    database: Database = None,
) -> None:
    """Write the judgments as a data set: files without names, a Croissant file and a data card.

    Example: `beholder annotate publish studies/marks -o marked --title "Marks" --licence CC-BY-4.0`

    Args:
        study: Folder of the study.
        out: New folder of the data set.
        title: Name of the data set.
        licence: Address or name of its licence; the card says so if it is missing.
    """
    from beholder.kinds.annotation.publish import publish_study
    from beholder.kinds.annotation.study import AnnotationStudy

    opened = AnnotationStudy.open(study, database)
    study_set = publish_study(opened, out, title, licence)
    opened.close()
    print_note(f"{out}: {study_set.description}")


@app.command(name="import")
def import_judgments(
    study: Path, source: Path, /, *, database: Database = None
) -> None:
    """Import judgments from a JSONL file, as `export --format judgments` writes it.

    Example: `beholder annotate import studies/marks others.jsonl`

    Args:
        study: Folder of the study.
        source: The file; it must have the units of the study.
    """
    from beholder.kinds.annotation.exchange import import_rows
    from beholder.kinds.annotation.study import AnnotationStudy

    opened = AnnotationStudy.open(study, database)
    n, n_changed = import_rows(opened, source)
    print_note(f"{n} judgments, {n_changed} of them new or changed")
    opened.close()


@app.command
def agreement(
    study: Path, /, *, database: Database = None, as_json: AsJson = False
) -> None:
    """Print the progress of annotators, and their agreement with intervals.

    Example: `beholder annotate agreement studies/marks`

    Args:
        study: Folder of the study.
    """
    from beholder.kinds.annotation.agreement import agreement_of, competence
    from beholder.kinds.annotation.study import AnnotationStudy
    from beholder.report.tables import reliability_table

    opened = AnnotationStudy.open(study, database)
    progress = opened.progress()
    names, judged = tuple(opened.annotators()), opened.judged()
    agreements = agreement_of(opened.task, judged, names)
    competences = competence(
        opened.task, judged, opened.judged(gold=True), names
    )
    opened.close()
    sections: dict[str, Sequence[Any]] = {
        "progress": progress,
        "agreement": agreements,
        "competence": competences,
    }
    plain = {
        name: list(map(asdict, records)) for name, records in sections.items()
    }
    if not as_json:
        for row in progress:
            cannot = f" ({row.cannot} cannot be judged)" if row.cannot else ""
            print_line(
                f"{row.annotator}: {row.done} of {row.assigned} done{cannot}, {row.begun} begun"
            )
    print_result(
        plain, map(reliability_table, [*agreements, *competences]), as_json
    )
    if not agreements:
        print_note(
            "no agreement yet: two annotators must have finished the same unit"
        )


def _serve(study: AnnotationStudy, server: ServerGroup, prepare: bool) -> None:
    """Print the links and serve the study until interrupted; only print them with ``prepare``."""
    from beholder.kinds.annotation.pages import (
        join_link,
        study_routes,
        study_settings,
    )
    from beholder.web import make_app
    from beholder.web.app import serve as listen

    if n := study.design.n_seen_twice:
        print_note(
            f"beholder: {n} units went to an annotator who sees one of their texts in another unit;"
            " use more annotators or a smaller --overlap to avoid this"
        )
    if n := study.design.n_short_of_readers:
        print_note(
            f"beholder: {n:,} units have fewer annotators than their rows ask for (readers); name"
            " more with --annotators, or do not set a smaller --overlap"
        )
    settings = study_settings(study, server.host, server.port, server.name)

    def listening(address: str) -> None:
        print_line(f"you: {address}")
        base = address.partition("?")[0]
        if link := join_link(study, base):
            print_line(f"participants: {link}")
        for name, token in study.annotators().items():
            print_line(f"{name}: {base}?token={token}")

    if prepare:
        listening(f"http://{server.host}:{server.port}/?token={study.token}")
        print_note(
            f"study: {study.folder}; serve it with 'beholder annotate serve {study.folder}'"
        )
        study.close()
        return
    print_note(
        f"study: {study.folder}; stop with Ctrl-C, run the same command again to resume"
    )
    listen(make_app(study_routes(study), settings), settings, listening)
    study.close()
