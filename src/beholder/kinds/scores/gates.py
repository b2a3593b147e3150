"""``--fail-under``: gates on the means of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beholder import metrics
from beholder.errors import ConfigError
from beholder.metrics import Metric
from beholder.records import MetricResult
from beholder.rounding import fixed
from beholder.spec import with_value
from beholder.tables import Column, Table


@dataclass(frozen=True)
class Gate:
    """A mean that must not be under a threshold.

    Attributes:
        metric: Canonical name of the metric.
        value: Name of its value.
        threshold: The lowest mean that passes.
    """

    metric: str
    value: str
    threshold: float


def parse_gate(text: str, scored: Sequence[Metric[Any]], **tools: object) -> Gate:
    """Read a gate such as ``vcs=0.6`` or ``vcs(lct=1).las=0.5``.

    Args:
        text: The gate; without a value it is on the headline value of the metric.
        scored: The metrics of the run.
        tools: Defaults that these metrics were built with, as for ``metrics.metric``.

    Raises:
        ConfigError: The text is not a gate, names a metric or value that the run will not have, or
            a value of which less is better.
    """
    name, equals, number = text.rpartition("=")
    try:
        threshold = float(number)
    except ValueError:
        threshold = math.nan
    if not equals or not name.strip() or math.isnan(threshold):
        raise ConfigError(f"--fail-under {text!r}: expected METRIC=NUMBER or METRIC.VALUE=NUMBER")
    spec, value = with_value(name)
    try:
        wanted = metrics.metric(spec, **tools).name
        metric = next((one for one in scored if one.name == wanted), None)
        if metric is None:
            there = ", ".join(one.name for one in scored)
            raise ConfigError(f"the run has no metric {wanted!r}; it has: {there}")
        info = metric.value_named(value)
    except ConfigError as error:
        raise ConfigError(f"--fail-under {text!r}: {error}") from error
    if info.higher_is_better is False:
        raise ConfigError(
            f"--fail-under {text!r}: lower {metric.name}.{info.name} is better, so a lowest mean is"
            " no gate; choose a value of which higher is better"
        )
    return Gate(metric.name, info.name, threshold)


@dataclass(frozen=True)
class PassedGate:
    """A gate and what the run reached.

    Attributes:
        gate: The gate.
        mean: The mean of its value; None if no item has it, which misses every gate.
    """

    gate: Gate
    mean: float | None

    @property
    def passed(self) -> bool:
        """Whether the mean is not under the threshold."""
        return self.mean is not None and self.mean >= self.gate.threshold


def check(gates: Iterable[Gate], summary: Mapping[str, MetricResult]) -> list[PassedGate]:
    """Each gate with what a run reached.

    Args:
        gates: Gates on metrics of the run.
        summary: Its results, by metric.
    """
    found = []
    for gate in gates:
        reached = summary[gate.metric].values.get(gate.value)
        found.append(PassedGate(gate, None if reached is None else reached.mean))
    return found


def missed(checked: Iterable[PassedGate]) -> list[str]:
    """A line for each gate that a run misses."""
    return [
        f"{one.gate.metric}.{one.gate.value}: no item has a value, so the gate is missed"
        if one.mean is None
        else f"{one.gate.metric}.{one.gate.value} is {fixed(one.mean, 4)}, under the gate of"
        f" {one.gate.threshold:g}"
        for one in checked
        if not one.passed
    ]


def gates_table(checked: Iterable[PassedGate]) -> Table:
    """The gates of a run, passed and missed."""
    rows = [
        {
            "gate": f"{one.gate.metric}.{one.gate.value}",
            "mean": one.mean,
            "threshold": one.gate.threshold,
            "passed": "passed" if one.passed else "missed",
        }
        for one in checked
    ]
    columns = (
        Column("gate", "gate", "text"),
        Column("mean", "mean"),
        Column("threshold", "at least"),
        Column("passed", "", "text"),
    )
    return Table("gates", "Gates", columns, tuple(rows))
