"""Runs that rank the texts of images by rankers and hold the rankings against people's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beholder.data import read_reviews
from beholder.data.read import good_rows
from beholder.errors import ConfigError, DataError
from beholder.kinds.ranking import results
from beholder.kinds.ranking.config import RankConfig
from beholder.kinds.ranking.kind import KIND
from beholder.kinds.ranking.rankers import ByMetric, Ranker
from beholder.kinds.ranking.scored import Scored
from beholder.kinds.ranking.scorers import twins
from beholder.metrics import metric
from beholder.options import check_distinct
from beholder.records import ItemFailure, Reviews
from beholder.run import manifest
from beholder.run.plan import RunPlan, plan
from beholder.run.scheduled import ScheduledAsker
from beholder.run.session import Engine, Progress, Session
from beholder.run.subjects import REVIEWS


def run_ranking(
    config: RankConfig,
    progress: Progress,
    given: Iterable[Reviews | DataError] | None = None,
    engine: Engine | None = None,
) -> tuple[dict[str, Any], list[DataError]]:
    """Rank what a run still lacks, hold it against people, and write the results.

    Args:
        config: The run.
        progress: Hears how it goes on, set by set and ranker by ranker.
        given: Sets of texts from Python instead of ``config.data``.
        engine: Where the work is done; None for this machine.

    Returns:
        The ranking, as ``ranking.json`` holds it, and the rows that were left out.

    Raises:
        ConfigError: An option is wrong, or a judge cannot do what is asked.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The folder is busy or holds another run, or the run cannot go on.
        KeyboardInterrupt: Passed on, after the store has all that was finished.
    """
    sets, bad = read(config, config.unpacked, given)
    rankers = _rankers(config, sets)
    means = config.means(config.unpacked)
    with Session.open(
        config.out, KIND.name, means=means, askers=rankers, progress=progress, engine=engine
    ) as session:
        n, digest = session.take(REVIEWS, sets)
        for ranker in rankers:
            session.add(ranker, REVIEWS, n)
        settings = {"threshold": config.threshold, "resamples": config.resamples}
        if session.begin(manifest.Log(Path(config.data).name, digest, n, len(bad), settings)):
            session.map(*session.asked)
            session.close()
        found = {asked.name: _scored(session, asked) for asked in session.asked}
        signatures = {asked.name: asked.signature for asked in session.asked}
    ranking = results.build(config, sets, found, signatures, twins(rankers))
    results.write(config.out, means.folder, ranking, sets)
    return ranking, bad


def plan_ranking(config: RankConfig) -> RunPlan:
    """Read all input and say what the run would ask; nothing is asked or written.

    Raises:
        ConfigError: An option is wrong, or a judge cannot do what is asked.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    with TemporaryDirectory() as folder:
        unpacked = Path(folder) / "pictures"
        sets, bad = read(config, unpacked)
        rankers, means = _rankers(config, sets), config.means(unpacked)
        means.check(rankers)
        return plan(rankers, REVIEWS, sets, config.out, means, bad)


def read(
    config: RankConfig, unpacked: Path, reviews: Iterable[Reviews | DataError] | None = None
) -> tuple[list[Reviews], list[DataError]]:
    """The sets of texts of a run, and the rows that are left out.

    Pictures that stand in the table itself are written into ``unpacked``, where no folder of images
    is named.

    Raises:
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    rows = reviews
    if rows is None:
        if config.data == "-":
            raise ConfigError("a ranking run reads a file or a folder, not standard input")
        rows = read_reviews(
            config.data,
            language=config.language,
            media_root=config.rows.media_root or config.images,
            unpack=unpacked if config.images is None else None,
        )
    bad: list[DataError] = []
    return list(good_rows(rows, config.rows, bad, name=config.data)), bad


def _rankers(config: RankConfig, sets: Sequence[Reviews]) -> tuple[Ranker, ...]:
    if config.rankers:
        check_distinct("scorer", [ranker.name for ranker in config.rankers])
        return config.rankers
    if not any(one.references for one in sets):
        raise ConfigError(
            "the data have no references to score against, so name a scorer:"
            " -s \"perplexity(judge='hf:NAME')\", -s \"response(judge='openai:NAME')\" or"
            " -s clipscore"
        )
    return (ByMetric(metric("vcs")),)


def _scored(session: Session, asked: ScheduledAsker) -> dict[int, Scored | ItemFailure]:
    return {
        position: outcome if isinstance(outcome, ItemFailure) else Scored.of(outcome.detail)
        for position, outcome in session.outcomes(asked).items()
    }
