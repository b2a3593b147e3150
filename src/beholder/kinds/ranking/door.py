"""``beholder.rank``: texts about images, ranked and compared with people's rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Unpack

from beholder.api import Run
from beholder.data import records, reviews_from_row
from beholder.errors import DataError
from beholder.judges import Judge
from beholder.kinds.ranking import results
from beholder.kinds.ranking.kind import KIND
from beholder.kinds.ranking.rankers import ByMetric, RankConfig, Ranker, ranker
from beholder.metrics import Metric
from beholder.options import Options, check_list, default_tools, group_options
from beholder.records import Reviews
from beholder.run.kind import run
from beholder.run.session import Progress, Quiet, default_out


@dataclass(frozen=True)
class RankingRun(Run):
    """A run that ranked texts about images."""

    @property
    def ranking(self) -> results.Ranking:
        """Return the content of ``ranking.json``: tables, and every image with all rankings."""
        return results.read_ranking(self.path)


def rank(
    data: str | Path | Iterable[Reviews | Mapping[str, Any]],
    scorers: Sequence[str | Ranker | Metric[Any]] = (),
    *,
    judge: str | Judge | None = None,
    embedder: str | None = None,
    threshold: float | None = 0.6,
    images: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> RankingRun:
    """Rank the texts about each image and compare the rankings with people's.

    Args:
        data: A file of ranked texts or a folder of Parquet files, or sets of texts or their rows.
        scorers: ``"perplexity(judge='hf:NAME')"``, ``"response(judge='openai:NAME')"``, or any
            metric. Default: ``vcs`` against references.
        judge: Judge of scorers that do not name one.
        embedder: Embedder of scorers that do not name one.
        threshold: Least agreement of the best pair of annotators of an image in the main tables;
            None for any.
        images: Folder that image paths are relative to; None takes that of the data.
        out: Run directory. None takes ``runs/rank-`` and the name of the data file, or a new
            temporary folder for sets given in Python.
        progress: Receives the progress of the run.
        options: Options of all functions that make runs; see ``beholder.score``.

    Returns:
        The finished run; its ``ranking`` has all tables.

    Raises:
        ConfigError: A scorer, tool or option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or the file cannot be read.
        RunError: The run directory is busy or contains another run.
    """
    check_list("scorers", scorers)
    file = str(data) if isinstance(data, str | Path) else None
    # Rows in Python have no file: the run reads them from ``sets`` and is named by that word.
    sets = None if isinstance(data, str | Path) else _from_python(data)
    defaults = default_tools(embedder, judge)
    rows, judging, work = group_options(options)
    if images is not None:
        rows = replace(rows, media_root=Path(images))
    config = RankConfig(
        data=file or "sets",
        out=default_out(file, "rank-") if out is None else Path(out),
        rankers=tuple(_ranker(scorer, defaults) for scorer in scorers),
        threshold=threshold,
        rows=rows,
        judging=judging,
        work=work,
    )
    _, bad_rows = run(KIND, config, progress or Quiet(), given=sets)
    return RankingRun(config.out, bad_rows=tuple(bad_rows))


def _ranker(
    scorer: str | Ranker | Metric[Any], defaults: Mapping[str, object]
) -> Ranker:
    if isinstance(scorer, str):
        return ranker(scorer, **defaults)
    return ByMetric(scorer) if isinstance(scorer, Metric) else scorer


def _from_python(
    rows: Iterable[Reviews | Mapping[str, Any]],
) -> Iterator[Reviews | DataError]:
    def build(row: object, number: str) -> Reviews:
        if isinstance(row, Reviews):
            return row
        return reviews_from_row(row, default_id=number)

    return records(
        enumerate(rows, start=1), build, name="sets", key=attrgetter("full_id")
    )
