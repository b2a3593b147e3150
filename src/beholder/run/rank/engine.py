"""Carry out what a RankConfig asks: read, score what is missing, hold against people, write.

Answers of judges and scores of metrics are in the run's store before they are used; a killed run
asks only for what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from beholder.aio import bounded, run_sync
from beholder.errors import ConfigError, ItemError, RunError, TransientError
from beholder.judges import Budget
from beholder.judges.answers import AnswerStore
from beholder.metrics import Metric, Tools
from beholder.metrics.irr.response import Response
from beholder.metrics.irr.scored import Scored
from beholder.metrics.irr.scorers import Scorer, SetScorer
from beholder.records import ItemFailure, ItemScore, Reviews
from beholder.run import manifest
from beholder.run.answers import run_answers
from beholder.run.config import RunConfig
from beholder.run.execute import Progress, execute, pending_jobs
from beholder.run.rank import results
from beholder.run.rank.config import RankConfig
from beholder.run.rank.inputs import Inputs
from beholder.run.store import Store

KIND = "ranking"
_DONE = ItemScore({})


@dataclass
class Found:
    """What the scorers of a run said.

    Attributes:
        scored: Per scorer and position of a set: what it found, or why nothing.
        signatures: Per scorer how it was made.
    """

    scored: dict[str, dict[int, Scored | ItemFailure]] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)


def carry_out(config: RankConfig, inputs: Inputs, progress: Progress) -> dict[str, Any]:
    """Do what a RankConfig asks, or go on with it.

    Args:
        config: The run.
        inputs: What it works on.
        progress: Hears how it goes on, set by set and scorer by scorer.

    Returns:
        The ranking, as ``ranking.json`` holds it.

    Raises:
        ConfigError: An option is wrong, or a judge cannot do what is asked.
        RunError: The folder is busy or holds another run, or the run cannot go on.
        KeyboardInterrupt: Passed on, after the store has all that was finished.
    """
    if not config.scorers:
        raise ConfigError("no scorer was asked for; name one, such as perplexity(judge='hf:NAME')")
    with Store.open(config.out) as store:
        _check_kind(config)
        store.sync_items(inputs.items())
        with _answers(config) as (answers, budget):
            tools = Tools(store, config.tool_options, answers, budget, folder=config.folder)
            found = Found(signatures={s.name: _signature(s, tools) for s in config.scorers})
            _write_manifest(config, inputs, found, "running")
            progress.start(len(inputs.reviews) * len(config.scorers), 0)
            try:
                for scorer in config.scorers:
                    found.scored[scorer.name] = _score(
                        scorer, config, inputs, store, tools, progress
                    )
            except KeyboardInterrupt:
                _write_manifest(config, inputs, found, "interrupted")
                raise
    ranking = results.build(config, inputs.reviews, found.scored, found.signatures)
    results.write(config, ranking, inputs.reviews)
    _write_manifest(config, inputs, found, "complete")
    return ranking


def _answers(
    config: RankConfig,
) -> AbstractContextManager[tuple[AnswerStore | None, Budget | None]]:
    if any(_asks_judge(scorer) for scorer in config.scorers):
        return run_answers(config.out, config.cache, config.max_cost)
    return nullcontext((None, None))


def _asks_judge(scorer: Scorer) -> bool:
    return isinstance(scorer, Response) or scorer.asks_judge()


def _signature(scorer: Scorer, tools: Tools) -> str:
    return scorer.signature(scorer.identities(tools))


def _score(
    scorer: Scorer,
    config: RankConfig,
    inputs: Inputs,
    store: Store,
    tools: Tools,
    progress: Progress,
) -> dict[int, Scored | ItemFailure]:
    if isinstance(scorer, SetScorer):
        return run_sync(_score_sets(scorer, config, inputs.reviews, tools, progress))
    found = _score_texts(scorer, config, inputs, store, tools)
    for outcome in found.values():
        progress.advance(outcome if isinstance(outcome, ItemFailure) else _DONE)
    return found


async def _score_sets(
    scorer: SetScorer,
    config: RankConfig,
    reviews: Sequence[Reviews],
    tools: Tools,
    progress: Progress,
) -> dict[int, Scored | ItemFailure]:
    async def one(position: int) -> Scored | ItemFailure:
        try:
            return await scorer.rank(reviews[position], tools)
        except ItemError as error:
            return ItemFailure(type(error).__name__, str(error), isinstance(error, TransientError))

    found: dict[int, Scored | ItemFailure] = {}
    async for position, outcome in bounded(one, range(len(reviews)), config.concurrency):
        found[position] = outcome
        progress.advance(outcome if isinstance(outcome, ItemFailure) else _DONE)
    return dict(sorted(found.items()))


def _score_texts(
    metric: Metric[Any], config: RankConfig, inputs: Inputs, store: Store, tools: Tools
) -> dict[int, Scored | ItemFailure]:
    """Scores of a metric, text by text, through the store of runs like any other metric's."""
    n_items = sum(len(one.texts) for one in inputs.reviews)
    metric = metric.prepare(item for _, item in islice(store.items(), n_items))
    store.add_metric(metric.name, metric.config(), _signature(metric, tools))
    run = RunConfig(
        data=config.data,
        metrics=(metric,),
        out=config.out,
        media_root=config.folder,
        workers=config.workers,
        concurrency=config.concurrency,
        tool_options=config.tool_options,
    )
    execute(store, run, pending_jobs(store, run.metrics, n_items), tools, _Silent())
    found: dict[int, Scored | ItemFailure] = {}
    start = 0
    for position, one in enumerate(inputs.reviews):
        outcomes = [store.score(metric.name, start + n) for n in range(len(one.texts))]
        found[position] = _of_outcomes(metric, outcomes)
        start += len(one.texts)
    return found


def _of_outcomes(
    metric: Metric[Any], outcomes: Sequence[ItemScore | ItemFailure | None]
) -> Scored | ItemFailure:
    """A set has a ranking when each of its texts has a score."""
    for number, outcome in enumerate(outcomes, start=1):
        if isinstance(outcome, ItemFailure):
            reason = f"text {number}: {outcome.message}"
            return ItemFailure(outcome.error, reason, outcome.transient)
    scores = [outcome.values for outcome in outcomes if isinstance(outcome, ItemScore)]
    return Scored(
        {info.name: tuple(row[info.name] for row in scores) for info in metric.values},
        {info.name: info.higher_is_better for info in metric.values},
    )


class _Silent:
    """Progress of texts; the run's own counts sets."""

    def start(self, total: int, reused: int) -> None:
        """See ``Progress``."""

    def advance(self, outcome: ItemScore | ItemFailure) -> None:
        """See ``Progress``."""


def _check_kind(config: RankConfig) -> None:
    """Texts must be those of the run, which the store checks; people's ranks may come later."""
    if not (config.out / manifest.FILE_NAME).is_file():
        return
    if manifest.read(config.out).get("kind") != KIND:
        raise RunError(
            f"{config.out} holds a run of another kind; choose another run directory with -o"
        )


def _write_manifest(config: RankConfig, inputs: Inputs, found: Found, status: str) -> None:
    content: Mapping[str, Any] = {
        "format": manifest.FORMAT,
        "kind": KIND,
        "status": status,
        "versions": manifest.versions(),
        "data": {
            "source": Path(config.data).name,
            "sha256": inputs.digest,
            "n_items": len(inputs.reviews),
            "n_bad_rows": len(inputs.bad_rows),
        },
        "settings": {"threshold": config.threshold, "resamples": config.resamples},
        "scorers": found.signatures,
        "metrics": [],
        "summary": [],
    }
    manifest.write(config.out, content)
