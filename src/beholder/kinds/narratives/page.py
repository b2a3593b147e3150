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

    from beholder.web.subject_pages import Drawn, SeenSubject


@dataclass(frozen=True, slots=True)
class Step:
    """The way from a picture to the next.

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


def strips(study: NarrativeStudy) -> list[Strip]:
    """All narratives of a study as strips, in order of the run."""
    steps = [
        step
        for one in study.narratives
        if one.coherence
        for step in one.coherence.steps
    ]
    limits = colour_range(steps)

    def strip(position: int, narrative: Narrative) -> Strip:
        shots = tuple(study.frames[at] for at in narrative.frames)
        steps = _steps(narrative, len(shots) - 1, limits)
        return Strip(position, narrative, shots, steps, _breaks(shots, steps))

    return [
        strip(position, one) for position, one in enumerate(study.narratives)
    ]


def thumbnails(folder: Path, n_frames: int) -> dict[int, str]:
    """Thumbnails as data URIs, by index of the picture."""
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
    rated = [vote for vote in votes if vote is not None]
    least = min(rated, default=None)
    thetas = coherence.steps if coherence else [None] * n_steps
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
            and len(rated) > 1,
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
    def named(places: Sequence[int]) -> str:
        words = [
            f"{i + 1} ({shots[i].id} → {shots[i + 1].id})" for i in places[:3]
        ]
        return ", ".join(words) + (
            f" and {len(places) - 3} more" if len(places) > 3 else ""
        )

    found = []
    weakest = [i for i, step in enumerate(steps) if step.weakest]
    lowest = [i for i, step in enumerate(steps) if step.lowest]
    theta = steps[weakest[0]].theta if weakest else None
    vote = steps[lowest[0]].vote if lowest else None
    if theta is not None:
        found.append(
            f"weakest by coherence, θ {fixed(theta, 3)}: step {named(weakest)}"
        )
    if vote is not None:
        found.append(
            f"lowest by judges, {fixed(vote, 1)} of 10: step {named(lowest)}"
        )
    return tuple(found)


def alignments(study: NarrativeStudy) -> list[Narrative]:
    """Per source that is not human, the narrative in the middle of its distances."""
    by_source: dict[str, list[tuple[float, str, Narrative]]] = {}
    for one in study.narratives:
        if one.nearest is not None:
            found = by_source.setdefault(one.source, [])
            found.append((one.nearest.normalised, one.id, one))
    ordered = (
        sorted(found, key=lambda one: one[:2]) for found in by_source.values()
    )
    return [found[(len(found) - 1) // 2][2] for found in ordered]


def draw_storyline(seen: SeenSubject) -> Drawn | None:
    """The film strip of one storyline, for the viewer; None until the run is finished."""
    folder = seen.view.folder
    try:
        study = results.read(folder)
    except RunError:  # not finished
        return None
    there = [n for n in range(len(study.frames)) if thumb(folder, n).is_file()]
    return "storyline_item.html.j2", {
        "strip": strips(study)[seen.position],
        "thumbs": there,
    }


_N_DRAWN = 4
"""Sources drawn into the theta matrix, and three times as many narratives in the timeline."""


def write_study(run_folder: Path, output: Path | None = None) -> Path:
    """Draw a run over narratives as one HTML file, from what the run has stored.

    Args:
        run_folder: The run directory.
        output: The file to write. If None, ``report.html`` in the run directory, and tables in
            ``tables``, as CSV, JSON and LaTeX.

    Returns:
        The file.

    Raises:
        RunError: The folder holds no finished run over narratives.
    """
    target = output or run_folder / "report.html"
    study, log = results.read(run_folder), manifest.read(run_folder)
    files.write_text(target, _render(run_folder, study, log))
    if output is None:
        write_tables(study_tables(study), run_folder / "tables")
    return target


def write_study_figures(run_folder: Path, figures_dir: Path) -> list[Path]:
    """Write the figures of a run over narratives as PNG and SVG; gives the files.

    Raises:
        RunError: The folder holds no finished run over narratives.
    """
    files.make_folder(figures_dir)
    written: list[Path] = []
    for name, figure in figures(run_folder, results.read(run_folder)).items():
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

    found: dict[str, Figure] = {}
    if study.tables.methods:
        means = [(one.source, one.means) for one in study.narratives]
        found["panels"] = eight_panels(study.tables, means)
    chosen = _examples(study)
    if study.theta is not None:
        with np.load(run_folder / results.MATRIX) as archive:
            places = {
                str(frame_id): place
                for place, frame_id in enumerate(archive["ids"])
            }
            matrix = archive["theta"]
        ids = [frame.id for frame in study.frames]
        paths = {
            one.id: [places[ids[f]] for f in one.frames if ids[f] in places]
            for one in chosen[: min(_N_DRAWN, len(study.tables.sources))]
        }
        title = f"{study.theta.embedder}\n{study.theta.signature}"
        found["theta"] = theta_figure(matrix, paths, title, study.theta.order)
    rows = [
        (one.id, one.source, [_span(study.frames[f]) for f in one.frames])
        for one in chosen
    ]
    dated = [row for row in rows if any(row[2])]
    if dated:
        found["timeline"] = timeline_figure(dated)
    return found


def _render(folder: Path, study: NarrativeStudy, log: manifest.RunLog) -> str:
    thumbs = thumbnails(folder, len(study.frames))
    pictures = "".join(
        f'.f{n} {{ background-image: url("{uri}"); }}\n'
        for n, uri in thumbs.items()
    )
    drawn = strips(study)
    tables = {
        table.name: _without_times(table) for table in study_tables(study)
    }
    lacking = no_figures()
    drawn_figures = {} if lacking else figures(folder, study)
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
        no_figures=lacking,
        strips=[
            (
                source,
                [strip for strip in drawn if strip.narrative.source == source],
            )
            for source in study.tables.sources
        ],
        n_failed=sum(bool(one.failures) for one in study.narratives),
        alignments=alignments(study),
        thumbs=thumbs,
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
    """The first narrative of each source, then the second of each, and so on, up to a limit."""
    by_source = [
        [n for n in study.narratives if n.source == s]
        for s in study.tables.sources
    ]
    turns = zip_longest(*by_source)
    return [one for turn in turns for one in turn if one is not None][
        : 3 * _N_DRAWN
    ]


def _span(frame: ShownFrame) -> tuple[date, date] | None:
    """Return the first and last day that a picture can have, or None without a date."""
    if not frame.date:
        return None
    days = PartialDate.parse(frame.date)
    return days.first, days.last
