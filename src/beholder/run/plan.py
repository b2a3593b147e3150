"""What a run would do: the whole input is read and checked, nothing is scored or written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from beholder.errors import DataError, ItemError
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
    """

    name: str
    signature: str
    n_to_score: int
    n_done: int
    lacking: dict[str, int]


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
    tools = Tools(options=config.tool_options)
    signatures = [metric.signature(metric.identities(tools)) for metric in config.metrics]
    lacking: list[Counter[str]] = [Counter() for _ in config.metrics]
    reader = Reader(config)
    n_items = 0
    for item in reader:
        n_items += 1
        for index, metric in enumerate(config.metrics):
            try:
                metric.check_item(item)
            except ItemError as error:
                lacking[index][str(error)] += 1
    reader.check_any(n_items)
    planned = []
    for index, metric in enumerate(config.metrics):
        n_done = _n_done(config, metric.name, n_items)
        planned.append(
            PlannedMetric(
                name=metric.name,
                signature=signatures[index],
                n_to_score=n_items - n_done,
                n_done=n_done,
                lacking=dict(lacking[index]),
            )
        )
    return Plan(n_items, tuple(reader.bad_rows), tuple(planned))


def _n_done(config: RunConfig, metric_name: str, n_items: int) -> int:
    if not (config.out / FILE_NAME).is_file():
        return 0
    with Store.read(config.out) as store:
        held = min(n_items, store.n_items())
        return held - len(store.pending(metric_name, held))
