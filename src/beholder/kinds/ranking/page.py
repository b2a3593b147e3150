"""The page and figure of a ranking run, and one image with its rankings for the viewer.

The page is one file, opens offline and runs no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.errors import RunError
from beholder.kinds.ranking import results
from beholder.kinds.ranking.kind import KIND
from beholder.kinds.ranking.results import ImageRanking, Ranking
from beholder.kinds.ranking.tables import ranking_tables
from beholder.report.figures import save
from beholder.report.numbers import show_number
from beholder.report.pages import (
    data_uri,
    no_figures,
    render_page,
    thumb_styles,
)
from beholder.report.study_tables import html, write_tables
from beholder.run import manifest
from beholder.run.thumbs import thumb

if TYPE_CHECKING:
    from beholder.web.subject_pages import Drawing, SeenSubject

MAX_IMAGES = 200
"""At most this many images are drawn with their texts: more make the page slow to open."""


class RankColumn(NamedTuple):
    """One ranking of an image's texts.

    Attributes:
        name: Annotator or scorer.
        label: Heading of the column.
        kind: ``prompt``, ``annotator`` or ``scorer``.
        ranks: Rank of each text; None where it is missing.
        in_pair: Whether it is one of the annotators who agree best.
        notes: A scorer's own value of each text.
    """

    name: str
    label: str
    kind: str
    ranks: Sequence[float | None]
    in_pair: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Matrix:
    """An image with its texts and all rankings of them.

    Attributes:
        position: Place in the run.
        image: Its record.
        columns: All rankings.
        correlations: Label of each scorer, and its correlation with the pair.
        thumb: Whether there is a thumbnail.
    """

    position: int
    image: ImageRanking
    columns: tuple[RankColumn, ...]
    correlations: tuple[tuple[str, float | None], ...]
    thumb: bool


def write_ranking(run_folder: Path, output: Path | None = None) -> Path:
    """Draw a ranking run as one HTML file, from its stored results.

    Args:
        run_folder: The run directory.
        output: The file to write. If None, ``report.html`` in the run directory, and the tables
            beside it in ``tables``, as CSV, JSON and LaTeX.

    Returns:
        The file.

    Raises:
        RunError: The folder is not a finished ranking run.
    """
    manifest.check_kind(run_folder, KIND.name)
    target = output or run_folder / "report.html"
    ranking = results.read_ranking(run_folder)
    files.write_text(
        target, _render(run_folder, ranking, manifest.read_log(run_folder))
    )
    if output is None:
        write_tables(ranking_tables(ranking), run_folder / "tables")
    return target


def write_ranking_figures(run_folder: Path, figures_dir: Path) -> list[Path]:
    """Write the curves over the threshold as PNG and SVG, and return the files.

    Raises:
        RunError: The folder is not a finished ranking run.
    """
    from beholder.kinds.ranking.plots import threshold_figure

    manifest.check_kind(run_folder, KIND.name)
    files.make_folder(figures_dir)
    ranking = results.read_ranking(run_folder)
    tables, labels = ranking.tables, list(ranking.labels.values())
    # One figure over all languages, and one for each if the run has several.
    by_language = group_by_key(
        (row.language, row) for row in tables.thresholds_by_language
    )
    paths = []
    for language, rows in {"": tables.thresholds, **by_language}.items():
        name = "ranking-thresholds"
        if language:
            name += f"-{files.safe_name(language)}"
        figure = threshold_figure(rows, labels)
        paths += save(figure, figures_dir / name, ("png", "svg"))
    return paths


def draw_reviews(seen: SeenSubject) -> Drawing | None:
    """Return template and values of one image for the viewer; None until the run is finished."""
    # The viewer also opens runs that are still going.
    try:
        ranking = results.read_ranking(seen.view.folder)
    except RunError:
        return None
    matrix = _matrix(seen.position, ranking, seen.view.folder)
    labels = [(label, name) for name, label in ranking.labels.items()]
    return "ranked_item.html.j2", {
        "matrix": matrix,
        "labels": labels,
        "pictures": seen.pictures,
    }


def matrices(ranking: Ranking, folder: Path) -> list[Matrix]:
    """Return all images, starting with those on which scorers and people differ most."""

    def agreement(matrix: Matrix) -> float:
        correlations = [
            value for _, value in matrix.correlations if value is not None
        ]
        # Correlations are at most 1: images without any come last.
        return fmean(correlations) if correlations else 2.0

    by_position = [
        _matrix(position, ranking, folder)
        for position in range(len(ranking.images))
    ]
    return sorted(by_position, key=agreement)


def _matrix(position: int, ranking: Ranking, folder: Path) -> Matrix:
    # Columns from left to right: order of the prompt, annotators by name, scorers.
    image = ranking.images[position]
    best = {name for pair in image.pairs for name in pair}
    columns = [
        RankColumn(name, name, "annotator", ranks, name in best)
        for name, ranks in sorted(image.ranks.items())
    ]
    if image.prompt_ranks is not None:
        prompt = RankColumn("prompt", "prompt", "prompt", image.prompt_ranks)
        columns.insert(0, prompt)
    correlations = []
    for name, label in ranking.labels.items():
        scorer = image.scorers.get(name)
        if scorer is not None:
            value, numbers = next(iter(scorer.values.items()))
            notes = [f"{value} {show_number(number)}" for number in numbers]
            columns.append(
                RankColumn(name, label, "scorer", scorer.ranks, notes=notes)
            )
            correlations.append((label, scorer.correlation))
    return Matrix(
        position,
        image,
        tuple(columns),
        tuple(correlations),
        thumb(folder, position).is_file(),
    )


def _render(folder: Path, ranking: Ranking, log: manifest.RunLog) -> str:
    all_matrices = matrices(ranking, folder)
    first_matrices = all_matrices[:MAX_IMAGES]
    # Without matplotlib the page has its tables and says how to install it.
    missing, curves = no_figures(), None
    if not missing:
        from beholder.kinds.ranking.plots import threshold_figure

        rows, labels = ranking.tables.thresholds, ranking.labels.values()
        curves = data_uri(threshold_figure(rows, list(labels)))
    return render_page(
        "rank.html.j2",
        ("page.css", "plain_page.css"),
        thumb_styles(
            folder,
            (matrix.position for matrix in first_matrices if matrix.thumb),
        ),
        log=log,
        name=log.data.source,
        labels=ranking.labels,
        facts=ranking.tables,
        tables={table.name: html(table) for table in ranking_tables(ranking)},
        curves=curves,
        no_figures=missing,
        n_failed=sum(len(image.failures) for image in ranking.images),
        matrices=first_matrices,
        n_more=len(all_matrices) - len(first_matrices),
    )
