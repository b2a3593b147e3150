"""The page of a run that made texts, and instructions for people who rank them; no script."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from beholder.base import files
from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.kinds.generation.askers import category_of
from beholder.kinds.generation.engine import MAX_SHOWN
from beholder.kinds.generation.generators import parts_of
from beholder.kinds.generation.kind import REVIEWS, ROWS
from beholder.records import Item, ItemFailure, MetricResult
from beholder.report.pages import render_page, thumb_styles
from beholder.report.study_tables import html
from beholder.run import manifest
from beholder.run.reading import describe_incomplete
from beholder.run.store import Store
from beholder.run.subjects import KINDS, SubjectKind
from beholder.run.thumbs import thumb
from beholder.tables import Column, Table, estimate_cells

if TYPE_CHECKING:
    from beholder.web.subject_pages import Drawing, SeenSubject

S = TypeVar("S")

_MAX_FAILURES = 100


def write_made(run_folder: Path, output: Path | None = None) -> Path:
    """Draw a run of captions, categories, translations or reviews as one HTML file.

    Args:
        run_folder: The run directory.
        output: The file to write; ``report.html`` in the run directory if None.

    Returns:
        The file.

    Raises:
        RunError: The folder does not contain such a run.
    """
    target = output or run_folder / "report.html"
    log = manifest.read_log(run_folder)
    manifest.check_kind(run_folder, ROWS.name, REVIEWS.name)
    with Store.read(run_folder) as store:
        page = _render(store, log)
    files.write_text(target, page)
    return target


def _render(store: Store, log: manifest.RunLog) -> str:
    systems: Mapping[str, str] = log.settings["systems"]
    n = log.data.n_items
    # All askers of a run have the same kind of subject. The page shows the first subjects only, but
    # counts all of them.
    kind = KINDS[next(iter(log.askers.values())).subject]
    subjects = [
        subject_of(store, systems, kind, position, subject)
        for position, subject in islice(
            store.subjects(kind), min(n, MAX_SHOWN)
        )
    ]
    failures = [
        {"id": subject, "system": system, "reason": failure.message}
        for system, name in systems.items()
        for subject, failure in _failures(store, name, n)
    ]
    # A run that was interrupted has no results yet for some systems.
    all_results = manifest.results(log)
    results = {
        system: all_results[name]
        for system, name in systems.items()
        if name in all_results
    }
    tables = (
        _values(log, results),
        _categories(store, systems, log.askers, n),
        _failed(log, failures),
    )
    return render_page(
        "made.html.j2",
        ("page.css", "plain_page.css", "made.css"),
        thumb_styles(
            store.folder,
            (subject["position"] for subject in subjects if subject["thumb"]),
        ),
        log=log,
        name=log.data.source,
        asked=dict.fromkeys(
            entry.name.partition("(")[0] for entry in log.metrics
        ),
        signatures=[entry.signature for entry in log.metrics],
        systems=systems,
        tables=[(table, html(table)) for table in tables if table.rows],
        caution=describe_incomplete(store),
        cautions=[
            (system, caution)
            for system, result in results.items()
            for caution in result.cautions
        ],
        n_failures=len(failures),
        subjects=subjects,
        n_more=n - len(subjects),
    )


def subject_of(
    store: Store,
    systems: Mapping[str, str],
    kind: SubjectKind[S],
    position: int,
    subject: S,
) -> dict[str, Any]:
    """Return a subject with each system's texts, for the template ``made_parts.html.j2``.

    Args:
        store: The run's store.
        systems: Name of the asker of each system.
        kind: Kind of the subject.
        position: Its place in the run.
        subject: The subject.
    """
    scores = (
        (system, store.score(name, position))
        for system, name in systems.items()
    )
    outcomes = {
        system: outcome for system, outcome in scores if outcome is not None
    }
    failures = {
        s: outcome.message
        for s, outcome in outcomes.items()
        if isinstance(outcome, ItemFailure)
    }
    return {
        "position": position,
        "id": kind.id(subject),
        "group": kind.group(subject),
        "text": subject.candidate if isinstance(subject, Item) else "",
        "thumb": thumb(store.folder, position).is_file(),
        "failures": failures,
        "made": {
            s: () if s in failures else parts_of(o.detail)
            for s, o in outcomes.items()
        },
    }


def _failures(
    store: Store, name: str, n: int
) -> Iterator[tuple[str, ItemFailure]]:
    # The store may hold failures of rows beyond the limit of this start.
    kind = store.kind_of(name)
    failures = {
        position: failure
        for position, failure in store.failures(name)
        if position < n
    }
    for position, subject in store.subjects(kind, list(failures)):
        yield kind.id(subject), failures[position]


def _values(
    log: manifest.RunLog, results: Mapping[str, MetricResult]
) -> Table:
    """Return the table of each system's mean values, and what they measure."""
    rows = [
        {
            "system": system,
            "value": value.name,
            **estimate_cells("mean", result.values[value.name]),
            "n": result.values[value.name].n,
            "help": value.help,
        }
        for system, result in results.items()
        for value in log.askers[log.settings["systems"][system]].values
        if value.name in result.values
    ]
    columns = (
        Column("system", _word_for_kind(log, "Language", "System"), "text"),
        Column("value", "Value", "text"),
        Column("mean", "Mean", interval=True),
        Column("n", _word_for_kind(log, "Pictures", "Rows"), "count"),
        Column("help", "What it measures", "text"),
    )
    return Table("values", "Values", columns, tuple(rows), by="system")


def _word_for_kind(log: manifest.RunLog, of_reviews: str, of_rows: str) -> str:
    return of_reviews if log.kind == REVIEWS.name else of_rows


def _categories(
    store: Store,
    systems: Mapping[str, str],
    askers: Mapping[str, manifest.AskerLog],
    n: int,
) -> Table:
    """Return the table of subjects per category, for systems that sort."""
    # Only askers that sort have categories in their configuration.
    rows = []
    for system, name in systems.items():
        if "categories" in askers[name].config:
            counts = Counter(
                category_of(parts_of(detail))
                for _, detail in store.details(name, n)
            )
            rows += [
                {"system": system, "category": category, "n": count}
                for category, count in counts.most_common()
            ]
    columns = (
        Column("system", "System", "text"),
        Column("category", "Category", "text"),
        Column("n", "Rows", "count"),
    )
    return Table("categories", "Categories", columns, tuple(rows), by="system")


def _failed(
    log: manifest.RunLog, failures: Sequence[Mapping[str, str]]
) -> Table:
    """Return the table of failures with their reasons, cut to the size of a page."""
    columns = (
        Column("id", _word_for_kind(log, "Picture", "Row"), "text"),
        Column("system", _word_for_kind(log, "Language", "System"), "text"),
        Column("reason", "Reason", "text"),
    )
    more = len(failures) - _MAX_FAILURES
    notes = (f"and {more:,} more",) if more > 0 else ()
    return Table(
        "failures", "Failures", columns, tuple(failures[:_MAX_FAILURES]), notes
    )


def draw_made(subject_view: SeenSubject) -> Drawing:
    """Return the template of a subject with each system's texts, and its context."""
    snapshot = subject_view.view.snapshot
    systems = snapshot.log.settings["systems"]
    kind = snapshot.subjects[subject_view.kind].kind
    subject = subject_of(
        subject_view.store,
        systems,
        kind,
        subject_view.position,
        subject_view.subject,
    )
    return "made_item.html.j2", {
        "subject": subject,
        "pictures": subject_view.pictures,
    }


INSTRUCTIONS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("instructions.toml").read_text(encoding="utf-8")
)
"""The words of the instructions, by language code."""


def annotation_instructions(n_texts: int = 5, language: str = "en") -> str:
    """Return the instructions as an HTML page that loads nothing.

    Args:
        n_texts: Texts per image.
        language: ``en`` or ``ja``.

    Raises:
        ConfigError: There are no instructions in that language, or fewer than two texts.
    """
    if language not in INSTRUCTIONS:
        raise ConfigError(
            f"language={language!r}: there are instructions in {', '.join(INSTRUCTIONS)}"
        )
    check_number("n_texts", n_texts, 2, whole=True)
    # Only the tasks name the number of texts.
    words = INSTRUCTIONS[language]
    task = [sentence.format(n=n_texts) for sentence in words["task"]]
    return render_page(
        "instructions.html.j2",
        ("page.css", "plain_page.css"),
        language=language,
        words=words,
        task=task,
    )
