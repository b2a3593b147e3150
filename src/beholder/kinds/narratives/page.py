"""The page of a run over narratives, with film strips: one file, opens offline, runs no script.

A strip has pictures in order with theta and votes at each step; pairs of strips are aligned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beholder.base import files
from beholder.base.dates import PartialDate
from beholder.base.rounding import fixed
from beholder.errors import RunError
from beholder.kinds.narratives import results
from beholder.kinds.narratives.compared import colour_range
from beholder.kinds.narratives.results import (
    Narrative,
    NarrativeStudy,
    ShownFrame,
)
from beholder.kinds.narratives.tables import study_tables
from beholder.report.figures import save
from beholder.report.pages import data_uri, jpeg_uri, no_figures, render_page
from beholder.report.study_tables import html, write_tables
from beholder.run import manifest
from beholder.run.thumbs import thumb
from beholder.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from beholder.web.subject_pages import Drawing, SeenSubject


@dataclass(frozen=True, slots=True)
class Step:
    """A step from a picture to the next.

    Attributes:
        theta: Coherence, or None.
        level: 0 (weakest in the run) to 9, for its tint; None without theta.
        weakest: Whether it is the weakest link by coherence, where shown values differ.
        vote: Mean vote of the judges, or None.
        lowest: Whether judges rated no step of the narrative lower.
        says: The judges' words.
    """

    theta: float | None
    level: int | None
    weakest: bool
    vote: float | None
    lowest: bool
    says: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """A narrative as a film strip.

    Attributes:
        position: Place in the run.
        narrative: The narrative.
        shots: Its pictures.
        steps: One fewer.
        breaks: The weakest links in words.
    """

    position: int
    narrative: Narrative
    shots: tuple[ShownFrame, ...]
    steps: tuple[Step, ...]
    breaks: tuple[str, ...]


def colour_limits(study: NarrativeStudy) -> tuple[float, float]:
    """Return theta of the palest and the strongest tint.

    Tints span the whole study, so that strips can be compared.
    """
    steps: list[float] = []
    for narrative in study.narratives:
        if narrative.coherence:
            steps += narrative.coherence.steps
    return colour_range(steps)


def strips(study: NarrativeStudy) -> list[Strip]:
    """Return all narratives of a study as strips, in order of the run."""
    limits = colour_limits(study)

    def strip(position: int, narrative: Narrative) -> Strip:
        shots = tuple(study.frames[at] for at in narrative.frames)
        steps = _steps(narrative, len(shots) - 1, limits)
        return Strip(position, narrative, shots, steps, _breaks(shots, steps))

    return [
        strip(position, narrative)
        for position, narrative in enumerate(study.narratives)
    ]


def thumbnails(folder: Path, n_frames: int) -> dict[int, str]:
    """Return thumbnails as data URIs, by index of the picture."""
    files = {number: thumb(folder, number) for number in range(n_frames)}
    return {
        number: jpeg_uri(file.read_bytes())
        for number, file in files.items()
        if file.is_file()
    }


def _steps(
    narrative: Narrative, n_steps: int, limits: tuple[float, float]
) -> tuple[Step, ...]:
    coherence = narrative.coherence
    votes = narrative.step_means or [None] * n_steps
    says = [
        tuple(v.reason for v in step if v.reason) for step in narrative.steps
    ] or [()] * n_steps
    rated_votes = [vote for vote in votes if vote is not None]
    least = min(rated_votes, default=None)
    thetas = coherence.steps if coherence else [None] * n_steps
    # Where all steps show the same number, none is called the weakest: what cannot be seen on the
    # page is noise.
    differ = (
        len({fixed(theta, 3) for theta in thetas if theta is not None}) > 1
    )
    return tuple(
        Step(
            theta=theta,
            level=None if theta is None else _level(theta, limits),
            weakest=differ
            and coherence is not None
            and coherence.weakest == at,
            vote=votes[at],
            lowest=votes[at] is not None
            and votes[at] == least
            and len(rated_votes) > 1,
            says=says[at],
        )
        for at, theta in enumerate(thetas)
    )


def _level(theta: float, limits: tuple[float, float]) -> int:
    low, high = limits
    return min(9, math.floor(10 * (theta - low) / (high - low)))


def _breaks(
    shots: Sequence[ShownFrame], steps: Sequence[Step]
) -> tuple[str, ...]:
    def name_steps(places: Sequence[int]) -> str:
        words = [
            f"{i + 1} ({shots[i].id} → {shots[i + 1].id})" for i in places[:3]
        ]
        return ", ".join(words) + (
            f" and {len(places) - 3} more" if len(places) > 3 else ""
        )

    sentences = []
    # Equal steps are all listed: the first of them is no worse than the others.
    weakest = [i for i, step in enumerate(steps) if step.weakest]
    lowest = [i for i, step in enumerate(steps) if step.lowest]
    theta = steps[weakest[0]].theta if weakest else None
    vote = steps[lowest[0]].vote if lowest else None
    if theta is not None:
        sentences.append(
            f"weakest by coherence, θ {fixed(theta, 3)}: step {name_steps(weakest)}"
        )
    if vote is not None:
        sentences.append(
            f"lowest by judges, {fixed(vote, 1)} of 10: step {name_steps(lowest)}"
        )
    return tuple(sentences)


def alignments(study: NarrativeStudy) -> list[Narrative]:
    """Return, per source but people, the narrative with the median distance to human ones."""
    by_source: dict[str, list[tuple[float, str, Narrative]]] = {}
    for narrative in study.narratives:
        if narrative.nearest is not None:
            distances = by_source.setdefault(narrative.source, [])
            distances.append(
                (narrative.nearest.normalised, narrative.id, narrative)
            )
    # The median, by id among equal distances: the same narrative each time.
    ordered = (
        sorted(distances, key=lambda distance: distance[:2])
        for distances in by_source.values()
    )
    return [distances[(len(distances) - 1) // 2][2] for distances in ordered]


def draw_storyline(seen: SeenSubject) -> Drawing | None:
    """Return template and values of a storyline for the viewer, or None before the run ends."""
    folder = seen.view.folder
    try:
        study = results.read_study(folder)
    except RunError:
        # The viewer also opens runs that are still going.
        return None
    thumb_numbers = [
        n for n in range(len(study.frames)) if thumb(folder, n).is_file()
    ]
    return "storyline_item.html.j2", {
        "strip": strips(study)[seen.position],
        "thumbs": thumb_numbers,
    }


_N_DRAWN = 4
"""Narratives drawn into the theta matrix, and a third of those in the timeline."""


def write_study(run_folder: Path, output: Path | None = None) -> Path:
    """Draw a run over narratives as one HTML file, from what the run has stored.

    Args:
        run_folder: The run directory.
        output: The file to write. If None, ``report.html`` in the run directory, and tables in
            ``tables``, as CSV, JSON and LaTeX.

    Returns:
        The file.

    Raises:
        RunError: The folder is not a finished run over narratives.
    """
    target = output or run_folder / "report.html"
    study, log = results.read_study(run_folder), manifest.read_log(run_folder)
    files.write_text(target, _render(run_folder, study, log))
    if output is None:
        write_tables(study_tables(study), run_folder / "tables")
    return target


def write_study_figures(run_folder: Path, figures_dir: Path) -> list[Path]:
    """Write the figures of a run over narratives as PNG and SVG; return the files.

    Raises:
        RunError: The folder is not a finished run over narratives.
    """
    files.make_folder(figures_dir)
    written: list[Path] = []
    for name, figure in figures(
        run_folder, results.read_study(run_folder)
    ).items():
        written += save(
            figure, figures_dir / f"narratives-{name}", ("png", "svg")
        )
    return written


def figures(run_folder: Path, study: NarrativeStudy) -> dict[str, Figure]:
    """The figures of a study by name; those that it has data for."""
    from beholder.kinds.narratives.plots import (
        eight_panels,
        theta_figure,
        timeline_figure,
    )

    figures_by_name: dict[str, Figure] = {}
    if study.tables.methods:
        means = [
            (narrative.source, narrative.means)
            for narrative in study.narratives
        ]
        figures_by_name["panels"] = eight_panels(study.tables, means)
    # A few narratives of each source: more lines cannot be distinguished.
    shown_narratives = _examples(study)
    if study.theta is not None:
        with np.load(run_folder / results.MATRIX) as archive:
            places = {
                str(frame_id): place
                for place, frame_id in enumerate(archive["ids"])
            }
            matrix = archive["theta"]
        ids = [frame.id for frame in study.frames]
        paths = {
            narrative.id: [
                places[ids[f]] for f in narrative.frames if ids[f] in places
            ]
            for narrative in shown_narratives[:_N_DRAWN]
        }
        title = f"{study.theta.embedder}\n{study.theta.signature}"
        figures_by_name["theta"] = theta_figure(
            matrix, paths, title, study.theta.order
        )
    rows = [
        (
            narrative.id,
            narrative.source,
            [_span(study.frames[f]) for f in narrative.frames],
        )
        for narrative in shown_narratives
    ]
    # Narratives without any date would be empty lines.
    dated = [row for row in rows if any(row[2])]
    if dated:
        figures_by_name["timeline"] = timeline_figure(dated)
    return figures_by_name


def _render(folder: Path, study: NarrativeStudy, log: manifest.RunLog) -> str:
    thumbs = thumbnails(folder, len(study.frames))
    # Each picture is in the page once, as a style, however many strips show it.
    pictures = "".join(
        f'.f{n} {{ background-image: url("{uri}"); }}\n'
        for n, uri in thumbs.items()
    )
    all_strips = strips(study)
    tables = {
        table.name: _without_times(table) for table in study_tables(study)
    }
    missing = no_figures()
    drawn_figures = {} if missing else figures(folder, study)
    return render_page(
        "narrate.html.j2",
        ("page.css", "narrate.css"),
        pictures,
        log=log,
        name=log.data.source,
        study=study,
        facts=study.tables,
        tables={
            name: (table.title, html(table)) for name, table in tables.items()
        },
        judges=[name for name in tables if name.startswith("judge")],
        figures={
            name: data_uri(figure) for name, figure in drawn_figures.items()
        },
        no_figures=missing,
        limits=colour_limits(study),
        common=common_groups(study),
        theta_words=_describe_matrix(study),
        strips=[
            (
                source,
                [
                    strip
                    for strip in all_strips
                    if strip.narrative.source == source
                ],
            )
            for source in study.tables.sources
        ],
        n_failed=sum(
            bool(narrative.failures) for narrative in study.narratives
        ),
        alignments=alignments(study),
        thumbs=thumbs,
    )


def common_groups(study: NarrativeStudy) -> dict[str, str]:
    """Return the groups with the same value in every narrative of a study of several."""
    first, *others = [narrative.group for narrative in study.narratives]
    if not others:
        return {}
    return {
        key: value
        for key, value in first.items()
        if all(group.get(key) == value for group in others)
    }


def _describe_matrix(study: NarrativeStudy) -> str:
    """Return which pictures the theta matrix has, and which narratives are drawn into it."""
    if study.theta is None:
        return ""
    in_stories = {
        study.frames[frame].id
        for narrative in study.narratives
        for frame in narrative.frames
    }
    frames = study.theta.frames
    n_in_stories = sum(frame in in_stories for frame in frames)
    n, drawn = len(study.narratives), min(_N_DRAWN, len(study.narratives))
    which = (
        "Every narrative is drawn into it"
        if drawn == n
        else f"{drawn} of {n} narratives are drawn into it, taken from the sources in turn"
    )
    return (
        f"{len(frames)} pictures {study.theta.order}: {n_in_stories} of the narratives and"
        f" {len(frames) - n_in_stories} of the collection that are in none. {which}."
    )


def _without_times(table: Table) -> Table:
    """Return a table without what was measured in seconds, so that equal runs have equal pages.

    The times are in ``study.json`` and in files of ``tables``.
    """
    return replace(
        table,
        columns=tuple(
            c
            for c in table.columns
            if c.key not in ("seconds", "seconds_each")
        ),
        rows=tuple(row for row in table.rows if row.get("unit") != "seconds"),
        notes=tuple(
            note for note in table.notes if not note.endswith("in seconds.")
        ),
    )


def _examples(study: NarrativeStudy) -> list[Narrative]:
    """Return the first narrative of each source, then the second of each, up to a limit."""
    by_source = [
        [n for n in study.narratives if n.source == s]
        for s in study.tables.sources
    ]
    turns = zip_longest(*by_source)
    in_turn = [narrative for turn in turns for narrative in turn if narrative]
    return in_turn[: 3 * _N_DRAWN]


def _span(frame: ShownFrame) -> tuple[date, date] | None:
    """Return the days of a picture that are drawn, first and last, or None without a date."""
    if not frame.date:
        return None
    return PartialDate.parse(frame.date).bounded
