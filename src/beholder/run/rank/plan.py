"""What a ranking run would ask: all input is read and pictures opened, nobody is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from beholder.aio import run_sync
from beholder.errors import ItemError
from beholder.judges import Tally
from beholder.metrics import Tools
from beholder.metrics.irr.scorers import Scorer, SetScorer
from beholder.run.rank.config import RankConfig
from beholder.run.rank.inputs import Inputs


@dataclass(frozen=True)
class PlannedScorer:
    """One scorer of a plan.

    Attributes:
        name: Canonical name.
        lacking: Count per reason of sets (texts, for a metric) that are sure to fail.
        judge: What its judge would be asked, answers of earlier runs not deducted; None if it asks
            no judge.
    """

    name: str
    lacking: dict[str, int]
    judge: Tally | None


def plan(config: RankConfig, inputs: Inputs) -> list[PlannedScorer]:
    """Say what each scorer would ask."""
    planned = []
    for scorer in config.scorers:
        tally = Tally()
        lacking: Counter[str] = Counter()
        tools = Tools(options=config.tool_options, tally=tally, folder=config.folder)
        for reason in _reasons(scorer, inputs, tools):
            lacking[reason] += 1
        asks = isinstance(scorer, SetScorer) or scorer.asks_judge()
        planned.append(PlannedScorer(scorer.name, dict(lacking), tally if asks else None))
    return planned


def _reasons(scorer: Scorer, inputs: Inputs, tools: Tools) -> Iterator[str]:
    if isinstance(scorer, SetScorer):
        for reviews in inputs.reviews:
            try:
                run_sync(scorer.rank(reviews, tools))
            except ItemError as error:
                yield str(error)
        return
    for item in inputs.items():
        try:
            scorer.check_item(item)
            if scorer.asks_judge():
                run_sync(scorer.gather(item, tools))
        except ItemError as error:
            yield str(error)
