"""The page of a bidirectional study, and its files; it opens offline and runs no script."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from beholder import files
from beholder.kinds.bidirectional.changes import CHANGING
from beholder.kinds.bidirectional.figures import figures, n_texts
from beholder.kinds.bidirectional.study import Study
from beholder.report.figures import save
from beholder.report.pages import content_hash, environment, no_figures, styles, svg_uri
from beholder.report.study_tables import html, write_tables
from beholder.run import manifest
from beholder.tables import Table

MAX_ROWS = 25
"""Rows of a ranked table in the page, per data set and language; its file has all."""


@dataclass(frozen=True)
class PageView:
    """A table, or a part of one, as the page shows it.

    Attributes:
        title: Its heading.
        table: What is drawn.
        folded: Whether it is folded at first.
    """

    title: str
    table: Markup
    folded: bool = False


@dataclass(frozen=True)
class StudySection:
    """A part of the page: figures by name with their alternative texts, and tables."""

    id: str
    title: str
    lead: str
    figures: Sequence[tuple[str, str]]
    tables: Sequence[str]


SECTIONS = (
    StudySection(
        "scores",
        "Scores in both directions",
        "HAR holds the model's text against the human one, MAR the human text against the model's."
        " A star marks the best mean, an asterisk a system that differs from it (Welch, p < 0.05)."
        " Box: quartiles; line: median; diamond: mean.",
        (
            ("f1", "Box plots of F1 per system, HAR and MAR side by side."),
            ("precision", "Box plots of precision per system."),
            ("recall", "Box plots of recall per system."),
        ),
        ("scores", "tests", "directions"),
    ),
    StudySection(
        "rates",
        "Made up and left out",
        "",
        (("rates", "Hallucination and omission rates per system with intervals."),),
        ("rates", "lengths", "datasets"),
    ),
    StudySection(
        "difficulty",
        "Easy and hard pictures",
        "",
        (("difficulty", "Stacked shares of easy, medium and hard texts."),),
        ("difficulty",),
    ),
    StudySection(
        "categories",
        "Categories",
        "An asterisk marks a category that differs from the pictures it is compared with"
        " (Welch, p < 0.05).",
        (
            ("categories-har", "Box plots of F1 per category and system, HAR."),
            ("categories-mar", "Box plots of F1 per category and system, MAR."),
            ("category-rates-har", "Hallucination and omission per category and system, HAR."),
            ("category-rates-mar", "Hallucination and omission per category and system, MAR."),
        ),
        ("categories", "category_rates"),
    ),
    StudySection(
        "selectivity",
        "What people say and models do not",
        "",
        (),
        ("selectivity", "selectivity_subjects", "selectivity_contents", "selectivity_images"),
    ),
    StudySection(
        "consensus",
        "Do speakers agree?",
        "",
        (("consensus", "Box plots of speakers per content, per category."),),
        ("consensus",),
    ),
    StudySection(
        "ratings",
        "What people think",
        "",
        (
            ("ratings", "Box plots of people's ratings per kind of text."),
            ("rating-gaps", "Median differences of ratings per category."),
        ),
        ("ratings", "rating_gaps", "correlations"),
    ),
    StudySection("languages", "Another language", "", (), ("languages",)),
)


def write_bidirectional(study: Study, run: Path, out: Path) -> Path:
    """Write the tables, the figures and the page of a study.

    Args:
        study: The study.
        run: The run directory it was made of.
        out: Folder for ``report.html``, ``tables/`` and ``figures/``.

    Returns:
        The page.

    Raises:
        RunError: The folder holds no run.
    """
    write_tables(study.tables, out / "tables")
    page = out / "report.html"
    drawn = {} if no_figures() else _drawn(study, out / "figures")
    files.write_text(page, _render(study, manifest.read(run), drawn))
    return page


def _drawn(study: Study, folder: Path) -> dict[str, Path]:
    """The figures of a study as files, by name; the SVG of each."""
    from matplotlib import rc_context

    files.make_folder(folder)
    drawn: dict[str, Path] = {}
    # Letters are left to the reader's fonts, which know scripts that matplotlib's font lacks.
    with rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        for name, figure in figures(study).items():
            drawn[name], _ = save(figure, folder / name, ("svg", "png"))
    return drawn


def _render(study: Study, log: manifest.RunLog, drawn: Mapping[str, Path]) -> str:
    style = styles("page.css", "bidirectional.css")
    views = {table.name: list(filter(None, _views(table))) for table in study.tables}
    sections = [
        (
            section,
            [(name, alt) for name, alt in section.figures if name in drawn],
            [view for name in section.tables for view in views.get(name, ())],
        )
        for section in SECTIONS
    ]
    return (
        environment()
        .get_template("bidirectional.html.j2")
        .render(
            log=log,
            name=Path(log.data.source).name,
            counts=n_texts(study.pairs),
            study=study,
            sections=[part for part in sections if part[1] or part[2]],
            no_figures=no_figures(),
            figures={name: svg_uri(path.read_bytes()) for name, path in drawn.items()},
            style=Markup(style),  # noqa: S704  # our own style sheets
            style_hash=content_hash(style),
        )
    )


def _first_of_each_set(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first rows of each data set and language."""
    seen: Counter[tuple[str, str]] = Counter()
    shown = []
    for row in rows:
        place = (row["dataset"], row["language"])
        seen[place] += 1
        if seen[place] <= MAX_ROWS:
            shown.append(row)
    return shown


def _views(table: Table) -> list[PageView | None]:
    if table.name in ("scores", "tests"):
        return _parted(table, "value", "F1", "precision, recall, DCScore")
    if table.name == "datasets":
        return [
            _view(table, [r for r in table.rows if r["value"] == value], title, hide=("value",))
            for value, title in zip(
                CHANGING,
                ("F1 of the same pictures", "Hallucination likewise", "Omission likewise"),
                strict=True,
            )
        ]
    if table.name == "difficulty":
        return _parted(table, "by", "by F1", "by recall")
    if table.name == "selectivity_contents":
        return [
            _view(table, [r for r in table.rows if r["side"] == side], title, hide=("side",))
            for side, title in (
                ("people", "Only people say it"),
                ("models", "Only models say it"),
            )
        ]
    return [_view(table, table.rows, table.title, folded=table.name == "category_rates")]


def _parted(table: Table, key: str, title: str, rest: str) -> list[PageView | None]:
    """F1 in sight, the other values folded."""
    first = [row for row in table.rows if row[key] == "f1"]
    others = [row for row in table.rows if row[key] != "f1"]
    return [
        _view(table, first, f"{table.title}: {title}", hide=(key, *_IN_FILE_ONLY)),
        _view(table, others, f"{table.title}: {rest}", hide=_IN_FILE_ONLY, folded=True),
    ]


_IN_FILE_ONLY = ("n_b", "df", "significant")


def _view(
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    title: str,
    *,
    hide: tuple[str, ...] = (),
    folded: bool = False,
) -> PageView | None:
    """A part of a table; None where it has no rows."""
    if not rows:
        return None
    shown = _first_of_each_set(rows) if table.name.startswith("selectivity_") else rows
    notes = [] if folded else list(table.notes)
    if len(shown) < len(rows):
        notes.append(f"{len(rows) - len(shown):,} more rows stand in tables/{table.name}.csv.")
    part = replace(
        table,
        columns=tuple(column for column in table.columns if column.key not in hide),
        rows=tuple(shown),
        notes=tuple(notes),
    )
    return PageView(title, html(part), folded)
