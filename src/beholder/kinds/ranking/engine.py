"""Runs that rank the texts about images and compare the rankings with people's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

from beholder.data import read_reviews
from beholder.data.notes import RowNotes
from beholder.data.read import good_rows
from beholder.errors import ConfigError, DataError
from beholder.kinds.ranking import results
from beholder.kinds.ranking.kind import KIND
from beholder.kinds.ranking.rankers import (
    ByMetric,
    RankConfig,
    Ranker,
    Scored,
    twins,
)
from beholder.kinds.ranking.results import (
    ImageRanking,
    Ranking,
    ScorerRanking,
    ScorerSignature,
)
from beholder.kinds.ranking.study import RankedImage, study_tables
from beholder.metrics import metric
from beholder.options import check_distinct
from beholder.records import ItemFailure, Reviews
from beholder.run import manifest
from beholder.run.plan import RunPlan, plan
from beholder.run.session import Engine, Progress, Session
from beholder.run.subjects import REVIEWS
from beholder.run.thumbs import write_thumbs

THUMB_SIDE = 240


def run_ranking(
    config: RankConfig,
    progress: Progress,
    given: Iterable[Reviews | DataError] | None = None,
    engine: Engine | None = None,
) -> tuple[Ranking, list[DataError]]:
    """Make or resume a run, compare its rankings with people's, and write the results.

    Args:
        config: The run.
        progress: Receives the progress, set by set and ranker by ranker.
        given: Sets of texts given in Python instead of ``config.data``.
        engine: Engine that does the work; None for this machine.

    Returns:
        The results, and the rows that were skipped.

    Raises:
        ConfigError: An option is wrong, or a judge does not support a required operation.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The folder is busy or contains another run, or the run cannot be resumed.
        KeyboardInterrupt: Passed on, after everything finished was stored.
    """
    # Read, open or resume the run, let each ranker score each set, compare with people, write.
    notes = RowNotes()
    sets, bad_rows = read_sets(config, config.unpacked, given, notes)
    rankers = _rankers(config, sets)
    means = config.means(config.unpacked)
    with Session.open(
        config.out,
        KIND.name,
        means=means,
        askers=rankers,
        progress=progress,
        engine=engine,
    ) as session:
        n, digest = session.take(REVIEWS, sets)
        for ranker in rankers:
            session.add(ranker, REVIEWS, n)
        # Tables depend on these; the outcomes of scorers do not.
        settings = {
            "threshold": config.threshold,
            "resamples": config.resamples,
        }
        sentences = session.store_notes(digest, notes)
        name = Path(config.data).name
        if session.begin(
            manifest.Log(name, digest, n, len(bad_rows), sentences, settings)
        ):
            session.map(*session.asked)
            session.close()
        # Everything below is computed from stored outcomes, whether this start asked or an
        # earlier one: people's ranks may have changed since then.
        scored = {
            asker.name: {
                position: outcome
                if isinstance(outcome, ItemFailure)
                else Scored.from_detail(outcome.detail)
                for position, outcome in session.outcomes(asker).items()
            }
            for asker in session.asked
        }
        signatures = {asker.name: asker.signature for asker in session.asked}
    ranking = _results(config, sets, scored, signatures, rankers)
    # A picture that cannot be read has no thumbnail; a scorer that looked has reported it.
    write_thumbs(
        config.out,
        means.folder,
        ((reviews.id, reviews.image) for reviews in sets),
        THUMB_SIDE,
    )
    results.write(config.out, ranking)
    return ranking, bad_rows


def plan_ranking(config: RankConfig) -> RunPlan:
    """Read all input and estimate the requests of the run, without asking or writing.

    Raises:
        ConfigError: An option is wrong, or a judge does not support a required operation.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    with TemporaryDirectory() as folder:
        # Nothing is left behind: pictures of the table go into a folder that is deleted.
        unpacked = Path(folder) / "pictures"
        notes = RowNotes()
        sets, bad_rows = read_sets(config, unpacked, notes=notes)
        rankers, means = _rankers(config, sets), config.means(unpacked)
        means.check(rankers)
        return plan(
            rankers, REVIEWS, sets, config.out, means, bad_rows, notes=notes
        )


def read_sets(
    config: RankConfig,
    unpacked: Path,
    reviews: Iterable[Reviews | DataError] | None = None,
    notes: RowNotes | None = None,
) -> tuple[list[Reviews], list[DataError]]:
    """Read the sets of texts of a run; return them and the rows that are skipped.

    Pictures stored in the table itself are written into ``unpacked``, unless a folder of images is
    named.

    Raises:
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    rows = reviews
    if rows is None:
        if config.data == "-":
            raise ConfigError(
                "expected a file or a folder of ranked texts, got - (standard input)"
            )
        rows = read_reviews(
            config.data,
            language=config.language,
            media_root=config.rows.media_root,
            unpack=unpacked if config.rows.media_root is None else None,
            notes=notes,
        )
    bad_rows: list[DataError] = []
    return list(
        good_rows(rows, config.rows, bad_rows, name=config.data, notes=notes)
    ), bad_rows


def _rankers(
    config: RankConfig, sets: Sequence[Reviews]
) -> tuple[Ranker, ...]:
    if config.rankers:
        check_distinct("scorer", [ranker.name for ranker in config.rankers])
        return config.rankers
    # The default compares texts with references; nothing else can be guessed for free.
    if not any(reviews.references for reviews in sets):
        raise ConfigError(
            "the data have no references to score against, so name a scorer:"
            " -s \"perplexity(judge='hf:NAME')\", -s \"response(judge='openai:NAME')\" or"
            " -s clipscore"
        )
    return (ByMetric(metric("vcs")),)


def _results(
    config: RankConfig,
    sets: Sequence[Reviews],
    scored: Mapping[str, Mapping[int, Scored | ItemFailure]],
    signatures: Mapping[str, str],
    rankers: Sequence[Ranker],
) -> Ranking:
    """Return the results of a run.

    Args:
        config: The run.
        sets: The sets of texts.
        scored: Per ranker and position of a set: its scores, or its failure.
        signatures: Signature of each ranker.
        rankers: The rankers.
    """
    ranked: list[RankedImage] = []
    images: list[ImageRanking] = []
    for position, reviews in enumerate(sets):
        failed: dict[str, ItemFailure] = {}
        rankings: dict[str, Scored] = {}
        for name, outcomes in scored.items():
            outcome = outcomes[position]
            if isinstance(outcome, ItemFailure):
                failed[name] = outcome
            else:
                rankings[name] = outcome
        # Failed requests count in the tables of position bias.
        requests = {
            name: len(failure.detail["answers"])
            for name, failure in failed.items()
            if "answers" in failure.detail
        }
        image = RankedImage.from_reviews(reviews, rankings, requests)
        ranked.append(image)
        messages = {name: failure.message for name, failure in failed.items()}
        images.append(_image(image, messages))
    tables = study_tables(
        ranked,
        list(scored),
        threshold=config.threshold,
        twins=twins(rankers),
        n_resamples=config.resamples,
    )
    scorers = tuple(
        ScorerSignature(
            ranker.name, signatures[ranker.name], ranker.undirected
        )
        for ranker in rankers
    )
    return Ranking(results.FORMAT, scorers, tables, tuple(images))


def _image(image: RankedImage, failures: dict[str, str]) -> ImageRanking:
    pairs = tuple((pair.first, pair.second) for pair in image.pairs)
    scorers = {
        name: ScorerRanking(
            image.correlation(name),
            scored.ranks(),
            dict(scored.values),
            scored.orders,
            scored.answers,
        )
        for name, scored in image.scored.items()
    }
    # The record repeats the set of texts, so that the file can be read without the data.
    return ImageRanking(
        **{
            field.name: getattr(image.reviews, field.name)
            for field in fields(Reviews)
        },
        complete=tuple(image.people),
        pair=pairs[0] if pairs else None,
        pairs=pairs,
        human=image.agreement(),
        reason=image.reason(),
        prompt=image.prompt_correlation(),
        scorers=scorers,
        failures=failures,
    )
