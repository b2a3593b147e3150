"""Gates of a run in JUnit's format or SARIF, with the items that let them down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from beholder.base.files import write_text
from beholder.base.rounding import fixed
from beholder.errors import ConfigError
from beholder.kinds.scores.gates import PassedGate
from beholder.metrics import Metric
from beholder.report.ci import (
    add_element,
    junit_text,
    sarif_result,
    sarif_text,
)
from beholder.run.compare import paired_values
from beholder.run.store import Store

MOST_ITEMS = 20
"""Items that are named for a gate that is missed."""

_RULES = (
    {"id": "gate", "shortDescription": {"text": "A mean misses its gate."}},
    {
        "id": "item",
        "shortDescription": {
            "text": "An item lowers a mean that misses its gate."
        },
    },
)


@dataclass(frozen=True)
class GateResult:
    """A gate, and what let it down.

    Attributes:
        name: The value that is tested, and against what.
        reason: Why it is missed; empty if it is passed.
        items: Items that contribute most, worst first, with what is wrong with each.
    """

    name: str
    reason: str = ""
    items: tuple[tuple[str, str], ...] = ()


def results(
    run: Path,
    scored: Sequence[Metric[Any]],
    checked: Sequence[PassedGate],
    worse: Mapping[str, str],
    earlier_run: Path | None,
) -> Iterator[GateResult]:
    """Yield the gates of a run with their reasons and items.

    Args:
        run: The run.
        scored: Its metrics.
        checked: Gates on means.
        worse: Findings of ``worse_than``.
        earlier_run: The run that it compared with.
    """
    # The items below the threshold are those that let a mean down, the lowest first.
    for checked_gate in checked:
        name = f"{checked_gate.gate.metric}.{checked_gate.gate.value}"
        lowest = sorted(
            (value, item) for item, value in _values(run, name).items()
        )
        items = tuple(
            (item, f"{name} is {fixed(value, 4)}")
            for value, item in lowest[:MOST_ITEMS]
            if value < checked_gate.gate.threshold
        )
        about = f"{name} at least {checked_gate.gate.threshold:g}"
        yield (
            GateResult(about)
            if checked_gate.passed
            else GateResult(about, checked_gate.reason, items)
        )
    # A change for the worse is one against the sign of the value.
    signs = {
        f"{metric.name}.{info.name}": info.sign
        for metric in scored
        for info in metric.values
    }
    for name, reason in worse.items():
        items = ()
        if reason and earlier_run is not None:
            metric, _, value = name.rpartition(".")
            with Store.read(run) as new, Store.read(earlier_run) as old:
                paired = paired_values(new, old, value, metric)
            changes = sorted(
                (signs[name] * (now - before), item, before, now)
                for item, ((_, now), (_, before)) in paired.items()
            )
            items = tuple(
                (item, f"{name}: {fixed(before, 4)} to {fixed(now, 4)}")
                for change, item, before, now in changes[:MOST_ITEMS]
                if change < 0
            )
        yield GateResult(
            f"{name} not worse than in {earlier_run}", reason, items
        )


def write_results(path: Path, gates: Sequence[GateResult], data: str) -> None:
    """Write gates as JUnit (``.xml``) or SARIF (``.sarif``).

    Args:
        path: The file.
        gates: The gates.
        data: Scored file, for the places of items.
    """
    write_text(
        path, junit(gates) if path.suffix == ".xml" else sarif(gates, data)
    )


def check_format(path: Path) -> None:
    """Check the ending of a file of gates.

    Raises:
        ConfigError: It has another ending.
    """
    if path.suffix not in (".xml", ".sarif"):
        raise ConfigError(
            f"--gates {path}: expected FILE.xml (JUnit) or FILE.sarif"
        )


def junit(gates: Sequence[GateResult]) -> str:
    """Return JUnit XML with a case for each gate."""
    n_missed = sum(bool(gate.reason) for gate in gates)
    suite = ElementTree.Element(
        "testsuite",
        name="beholder score",
        tests=str(len(gates)),
        failures=str(n_missed),
    )
    # JUnit has one text per failure, so its items are lines of it.
    for gate in gates:
        case = add_element(
            suite, "testcase", classname="gates", name=gate.name
        )
        if gate.reason:
            lines = [f"{item}: {reason}" for item, reason in gate.items]
            add_element(case, "failure", lines, message=gate.reason)
    return junit_text(suite)


def sarif(gates: Sequence[GateResult], data: str) -> str:
    """Return SARIF 2.1.0 with a result for each missed gate and for each of its items."""
    missed = [gate for gate in gates if gate.reason]
    results = [
        sarif_result("gate", "error", gate.reason, data) for gate in missed
    ]
    results += [
        sarif_result("item", "note", f"{item}: {reason}", data, inside=item)
        for gate in missed
        for item, reason in gate.items
    ]
    return sarif_text("beholder score", _RULES, results)


def _values(run: Path, name: str) -> dict[str, float]:
    """Return a value of the items of a run, by id."""
    metric, _, value = name.rpartition(".")
    with Store.read(run) as store:
        values_by_item = store.values_by_id(metric)
    return {
        item: numbers[value]
        for item, numbers in values_by_item.items()
        if value in numbers
    }
