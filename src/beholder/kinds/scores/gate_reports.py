"""Gates of a run in JUnit's format or SARIF, with the items that let them down."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from beholder._version import __version__
from beholder.errors import ConfigError
from beholder.files import write_text
from beholder.kinds.scores.gates import PassedGate
from beholder.metrics import Metric
from beholder.rounding import fixed
from beholder.run.compare import paired_values
from beholder.run.store import Store
from beholder.visible import for_terminal, for_xml

MOST_ITEMS = 20
"""Items that are named for a gate that is missed."""


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
        lowest = sorted((value, item) for item, value in _values(run, name).items())
        items = tuple(
            (item, f"{name} is {fixed(value, 4)}")
            for value, item in lowest[:MOST_ITEMS]
            if value < one.gate.threshold
        )
        about = f"{name} at least {one.gate.threshold:g}"
        yield GateResult(about) if one.passed else GateResult(about, one.reason, items)
    signs = {f"{one.name}.{info.name}": info.sign for one in scored for info in one.values}
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
    write_text(path, junit(found) if path.suffix == ".xml" else sarif(found, data))


def check_format(path: Path) -> None:
    """Refuse a file that is neither of both.

    Raises:
        ConfigError: It has another ending.
    """
    if path.suffix not in (".xml", ".sarif"):
        raise ConfigError(f"--gates {path}: expected FILE.xml (JUnit) or FILE.sarif")


def junit(found: Sequence[GateResult]) -> str:
    """JUnit: a case for each gate."""
    n_missed = sum(bool(one.reason) for one in found)
    suite = ElementTree.Element(
        "testsuite", name="beholder score", tests=str(len(found)), failures=str(n_missed)
    )
    for one in found:
        case = ElementTree.SubElement(suite, "testcase", classname="gates", name=for_xml(one.name))
        if one.reason:
            failure = ElementTree.SubElement(case, "failure", message=for_xml(one.reason))
            failure.text = "\n".join(for_xml(f"{item}: {what}") for item, what in one.items)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suite, "unicode")}\n'


def sarif(found: Sequence[GateResult], data: str) -> str:
    """SARIF 2.1.0: a result for each gate that is missed, and one for each of its items."""
    artifact = {"artifactLocation": {"uri": quote(data)}}

    def result(message: str, item: str | None) -> dict[str, object]:
        place: dict[str, object] = {"physicalLocation": artifact}
        if item is not None:
            place["logicalLocations"] = [{"fullyQualifiedName": item}]
        return {
            "ruleId": "gate" if item is None else "item",
            "level": "error" if item is None else "note",
            "message": {"text": for_terminal(message)},
            "locations": [place],
        }

    said = [one for one in found if one.reason]
    rules = [
        {"id": "gate", "shortDescription": {"text": "A mean misses its gate."}},
        {"id": "item", "shortDescription": {"text": "An item lowers a mean that misses its gate."}},
    ]
    driver = {"name": "beholder score", "version": __version__, "rules": rules}
    found_all = [result(one.reason, None) for one in said]
    found_all += [result(f"{item}: {what}", item) for one in said for item, what in one.items]
    whole = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": found_all}],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _values(run: Path, name: str) -> dict[str, float]:
    """A value of the items of a run, by id."""
    metric, _, value = name.rpartition(".")
    with Store.read(run) as store:
        found = store.values_by_id(metric)
    return {item: numbers[value] for item, numbers in found.items() if value in numbers}
