"""``--fail-under``: gates on the means of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from beholder.errors import ConfigError
from beholder.records import MetricResult
from beholder.spec import with_value
from beholder.tables import Column, Table


@dataclass(frozen=True)
class Gate:
    """A mean that must not be under a threshold.

    Attributes:
        metric: Canonical name of the metric.
        value: Name of its value; None for its headline.
        threshold: The lowest mean that passes.
    """

    metric: str
    value: str | None
    threshold: float


def parse_gate(text: str) -> Gate:
    """Read a gate such as ``vcs=0.6`` or ``vcs(lct=1).las=0.5``.

    Raises:
        ConfigError: The text is no gate.
    """
    name, equals, number = text.rpartition("=")
    try:
        threshold = float(number)
    except ValueError:
        threshold = float("nan")
    if not equals or not name.strip() or threshold != threshold:
        raise ConfigError(f"--fail-under {text!r}: expected METRIC=NUMBER or METRIC.VALUE=NUMBER")
    metric, value = with_value(name)
    return Gate(str(metric), value, threshold)


@dataclass(frozen=True)
class PassedGate:
    """A gate and what the run reached.

    Attributes:
        gate: The gate.
        value: The value that it is on.
        mean: Its mean; None where nothing was scored, which misses every gate.
    """

    gate: Gate
    value: str
    mean: float | None

    @property
    def passed(self) -> bool:
        """Whether the mean is not under the threshold."""
        return self.mean is not None and self.mean >= self.gate.threshold


def check(gates: Iterable[Gate], summary: Mapping[str, MetricResult]) -> list[PassedGate]:
    """Each gate with what a run reached.

    Raises:
        ConfigError: A gate names a metric or value that the run does not have.
    """
    found = []
    for gate in gates:
        result = summary.get(gate.metric)
        if result is None:
            raise ConfigError(
                f"--fail-under: the run has no metric {gate.metric!r}; it has: {', '.join(summary)}"
            )
        if not result.values:
            found.append(PassedGate(gate, gate.value or "", None))
            continue
        value = gate.value or next(iter(result.values))
        if value not in result.values:
            raise ConfigError(
                f"--fail-under: {gate.metric} has no value {value!r}; it has:"
                f" {', '.join(result.values)}"
            )
        found.append(PassedGate(gate, value, result.values[value].mean))
    return found


def missed(checked: Iterable[PassedGate]) -> list[str]:
    """A line for each gate that a run misses."""
    return [
        f"{one.gate.metric}: nothing was scored, so the gate is missed"
        if one.mean is None
        else f"{one.gate.metric}.{one.value} is {one.mean:.4f}, under the gate of"
        f" {one.gate.threshold:g}"
        for one in checked
        if not one.passed
    ]


def gates_table(checked: Iterable[PassedGate]) -> Table:
    """The gates of a run, passed and missed."""
    rows = [
        {
            "gate": f"{one.gate.metric}.{one.value}".removesuffix("."),
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
