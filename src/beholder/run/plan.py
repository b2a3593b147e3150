"""What a run would do: the whole input is read and checked, nothing is scored or written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from beholder.aio import run_sync
from beholder.errors import DataError, ItemError
from beholder.judges import Tally
from beholder.metrics import Tools
from beholder.run.config import RunConfig
from beholder.run.engine import Reader, check
from beholder.run.store import FILE_NAME, Store


@dataclass(frozen=True)
class PlannedMetric:
    """One metric of a plan.

    Attributes:
        name: Canonical name.
        signature: How its numbers would be made.
        n_to_score: Items it would be asked for.
        n_done: Items that the run directory has finished already.
        lacking: Count per reason of items that are sure to fail.
        judge: What its judge would be asked for the items not done; None if it asks no judge.
        judge_most: The same if answers lead to as many further questions as they can.
    """

    name: str
    signature: str
    n_to_score: int
    n_done: int
    lacking: dict[str, int]
    judge: Tally | None
    judge_most: Tally | None


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes:
        n_items: Good rows.
        bad_rows: Rows that would be left out.
        metrics: Per metric.
    """

    n_items: int
    bad_rows: tuple[DataError, ...]
    metrics: tuple[PlannedMetric, ...]


def plan(config: RunConfig) -> Plan:
    """Read all input and say what the run would do.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or there are none.
    """
    check(config)
    tallies = [Tally() if metric.asks_judge() else None for metric in config.metrics]
    most = [Tally(most=True) if metric.asks_judge() else None for metric in config.metrics]
    tools, tools_most = (
        [Tools(options=config.tool_options, tally=tally, folder=config.folder) for tally in kind]
        for kind in (tallies, most)
    )
    signatures = [
        metric.signature(metric.identities(tool))
        for metric, tool in zip(config.metrics, tools, strict=True)
    ]
    pending = [_Pending(config, metric.name) for metric in config.metrics]
    lacking: list[Counter[str]] = [Counter() for _ in config.metrics]
    reader = Reader(config)
    n_items = 0
    for item in reader:
        n_items += 1
        for index, metric in enumerate(config.metrics):
            try:
                metric.check_item(item)
                tally = tallies[index]
                if tally is not None and n_items - 1 in pending[index]:
                    run_sync(metric.gather(item, tools[index]))  # asks nobody, counts
                    if tally.n_calls:
                        run_sync(metric.gather(item, tools_most[index]))
            except ItemError as error:
                lacking[index][str(error)] += 1
    reader.check_any(n_items)
    planned = []
    for index, metric in enumerate(config.metrics):
        n_done = pending[index].n_done(n_items)
        planned.append(
            PlannedMetric(
                name=metric.name,
                signature=signatures[index],
                n_to_score=n_items - n_done,
                n_done=n_done,
                lacking=dict(lacking[index]),
                judge=tallies[index],
                judge_most=most[index],
            )
        )
    return Plan(n_items, tuple(reader.bad_rows), tuple(planned))


class _Pending:
    """Which positions a run directory, if there is one, has not finished."""

    def __init__(self, config: RunConfig, metric_name: str) -> None:
        self._n_held, self._open = 0, set[int]()
        if (config.out / FILE_NAME).is_file():
            with Store.read(config.out) as store:
                self._n_held = store.n_items()
                self._open = set(store.pending(metric_name, self._n_held))

    def __contains__(self, position: int) -> bool:
        return position >= self._n_held or position in self._open

    def n_done(self, n_items: int) -> int:
        """How many of the first items are finished."""
        return sum(position not in self for position in range(min(n_items, self._n_held)))
