"""``--fail-under``: gates on the means of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from beholder.errors import ConfigError
from beholder.records import MetricResult
from beholder.spec import with_value


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


def missed(gates: Iterable[Gate], summary: Mapping[str, MetricResult]) -> list[str]:
    """A line for each gate that a run misses; nothing scored misses every gate.

    Raises:
        ConfigError: A gate names a metric or value that the run does not have.
    """
    lines = []
    for gate in gates:
        result = summary.get(gate.metric)
        if result is None:
            raise ConfigError(
                f"--fail-under: the run has no metric {gate.metric!r}; it has: {', '.join(summary)}"
            )
        if not result.values:
            lines.append(f"{gate.metric}: nothing was scored, so the gate is missed")
            continue
        value = gate.value or next(iter(result.values))
        if value not in result.values:
            raise ConfigError(
                f"--fail-under: {gate.metric} has no value {value!r}; it has:"
                f" {', '.join(result.values)}"
            )
        mean = result.values[value].mean
        if mean < gate.threshold:
            lines.append(
                f"{gate.metric}.{value} is {mean:.4f}, under the gate of {gate.threshold:g}"
            )
    return lines
