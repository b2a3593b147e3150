"""What a run of CI tested: ``python -m tools.test_times FOLDER``.

Reads the reports in JUnit's format that ``make`` leaves in a folder where ``CI_ARTIFACTS`` names
one. Prints the slowest tests, every skipped test with its reason, and the sums of all reports.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SLOWEST = 30


class Case(NamedTuple):
    """One test: the report it stands in, its name, seconds, outcome, and why it was skipped."""

    report: str
    name: str
    seconds: float
    outcome: str
    reason: str


def cases(folder: Path) -> list[Case]:
    """Return every test of every report in a folder."""
    return [
        case for path in sorted(folder.glob("*.xml")) for case in _cases(path)
    ]


def summary(cases: Sequence[Case]) -> str:
    """Return the lines to print."""
    slow = sorted(cases, key=lambda case: -case.seconds)[:SLOWEST]
    skipped = Counter(
        (case.report, case.reason)
        for case in cases
        if case.outcome == "skipped"
    )
    sums = Counter(case.outcome for case in cases)
    return "\n".join(
        [
            f"{SLOWEST} slowest tests:",
            *(
                f"{case.seconds:8.2f} s  {case.report}: {case.name}"
                for case in slow
            ),
            "skipped tests:" if skipped else "no test was skipped",
            *(
                f"{n:8}    {report}: {why}"
                for (report, why), n in sorted(skipped.items())
            ),
            f"{sums['passed']} passed, {sums['failed']} failed, {sums['skipped']} skipped",
        ]
    )


def _cases(path: Path) -> Iterator[Case]:
    for node in ElementTree.parse(path).iter("testcase"):
        name = f"{node.get('classname')}::{node.get('name')}"
        outcome, reason = "passed", ""
        for child in node:
            if child.tag in ("failure", "error"):
                outcome = "failed"
            elif child.tag == "skipped":
                outcome, reason = "skipped", child.get("message", "")
        yield Case(
            path.stem, name, float(node.get("time", 0)), outcome, reason
        )


if __name__ == "__main__":
    sys.stdout.write(summary(cases(Path(sys.argv[1]))) + "\n")
