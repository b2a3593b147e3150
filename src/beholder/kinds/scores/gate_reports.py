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
    other: Path | None,
) -> Iterator[GateResult]:
    """The gates of a run.

    Args:
        run: The run.
        scored: Its metrics.
        checked: Gates on means.
        worse: What ``worse_than`` found.
        other: The run that it compared with.
    """
    for one in checked:
        name = f"{one.gate.metric}.{one.gate.value}"
        lowest = sorted(
            (value, item) for item, value in _values(run, name).items()
        )
        items = tuple(
            (item, f"{name} is {fixed(value, 4)}")
            for value, item in lowest[:MOST_ITEMS]
            if value < one.gate.threshold
        )
        about = f"{name} at least {one.gate.threshold:g}"
        yield (
            GateResult(about)
            if one.passed
            else GateResult(about, one.reason, items)
        )
    signs = {
        f"{one.name}.{info.name}": info.sign
        for one in scored
        for info in one.values
    }
    for name, reason in worse.items():
        items = ()
        if reason and other is not None:
            metric, _, value = name.rpartition(".")
            with Store.read(run) as new, Store.read(other) as old:
                paired = paired_values(new, old, value, metric)
            lost = sorted(
                (signs[name] * (now - before), item, before, now)
                for item, ((_, now), (_, before)) in paired.items()
            )
            items = tuple(
                (item, f"{name}: {fixed(before, 4)} to {fixed(now, 4)}")
                for change, item, before, now in lost[:MOST_ITEMS]
                if change < 0
            )
        yield GateResult(f"{name} not worse than in {other}", reason, items)


def write_results(path: Path, found: Sequence[GateResult], data: str) -> None:
    """Write gates as JUnit (``.xml``) or SARIF (``.sarif``).

    Args:
        path: The file.
        found: The gates.
        data: What was scored, for the places of items.
    """
    write_text(
        path, junit(found) if path.suffix == ".xml" else sarif(found, data)
    )


def check_format(path: Path) -> None:
    """Refuse a file that is neither of both.

    Raises:
        ConfigError: It has another ending.
    """
    if path.suffix not in (".xml", ".sarif"):
        raise ConfigError(
            f"--gates {path}: expected FILE.xml (JUnit) or FILE.sarif"
        )


def junit(gates: Sequence[GateResult]) -> str:
    """JUnit: a case for each gate."""
    n_missed = sum(bool(gate.reason) for gate in gates)
    suite = ElementTree.Element(
        "testsuite",
        name="beholder score",
        tests=str(len(gates)),
        failures=str(n_missed),
    )
    for gate in gates:
        case = add_element(
            suite, "testcase", classname="gates", name=gate.name
        )
        if gate.reason:
            lines = [f"{item}: {reason}" for item, reason in gate.items]
            add_element(case, "failure", lines, message=gate.reason)
    return junit_text(suite)


def sarif(gates: Sequence[GateResult], data: str) -> str:
    """SARIF 2.1.0: a result for each gate that is missed, and one for each of its items."""
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
    """A value of the items of a run, by id."""
    metric, _, value = name.rpartition(".")
    with Store.read(run) as store:
        found = store.values_by_id(metric)
    return {
        item: numbers[value]
        for item, numbers in found.items()
        if value in numbers
    }
