"""Marks of the units that the built-in judge calls contradicted; wrong facts that it finds.

    python -m training.studies.contradictions [--data DIR]

Pairs of long descriptions (``iiw400_sxs``, ``docci_test_sxs``, dev halves), both directions. The
marks are of readers who saw texts, statements and what the other text was said to say instead
(``training/readings/contradictions.jsonl``); the planted facts are a writer's
(``training/readings/planted.jsonl``). The rule was chosen on these pairs, so that the shares are no
estimate for others. ``contradiction_cases.jsonl`` are pairs of short texts by a writer who knew
only what a contradiction is. Prints the marks of all contradicted units, how many have none, in how
many altered texts a unit at the changed words is contradicted or not said, and how many of the
written cases are called.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed
from beholder.language.statements import GraphUnit, wording
from training.studies.reading import DATA, SETS

READINGS = Path(__file__).parents[1] / "readings"


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a reading."""
    return [
        json.loads(line)
        for line in (READINGS / name).read_text("utf-8").splitlines()
    ]


def find_units(
    text: str, other_text: str
) -> Iterator[tuple[GraphUnit, str, Finding]]:
    """Yield each unit of a text that is asked, as a statement, with what the other says of it."""
    source = analysed(text)
    findings = find(source, analysed(other_text), entail=True)
    for unit, finding in zip(source.units, findings, strict=True):
        if unit.asked:
            yield unit, wording(unit, source.graph), finding


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    pairs = {}
    for name in SETS:
        for line in (
            (options.data / f"{name}.jsonl").read_text("utf-8").splitlines()
        ):
            row = json.loads(line)
            pairs[f"{name}/{row['id']}"] = (
                row["candidate"],
                row["references"][0],
            )
    marks = {
        (r["pair"], r["side"], r["statement"]): r["mark"]
        for r in read_rows("contradictions.jsonl")
    }
    counts: Counter[str] = Counter()
    for name, (candidate, reference) in pairs.items():
        for side, text, other_text in (
            ("candidate", candidate, reference),
            ("reference", reference, candidate),
        ):
            for _, statement, finding in find_units(text, other_text):
                if finding.contradiction:
                    counts[marks.get((name, side, statement), "not read")] += 1
    print(
        f"{counts.total()} units of {len(pairs)} pairs are contradicted: {dict(counts)}"
    )
    contradicted = unsaid = 0
    planted = read_rows("planted.jsonl")
    for row in planted:
        candidate, reference = pairs[row["pair"]]
        start = candidate.index(row["old"])
        end = start + len(row["new"])
        altered = candidate.replace(row["old"], row["new"], 1)
        found_findings = [
            finding
            for unit, _, finding in find_units(altered, reference)
            if any(a < end and start < b for a, b in unit.spans)
        ]
        contradicted += any(
            finding.contradiction for finding in found_findings
        )
        unsaid += any(finding.grade < PRESENT for finding in found_findings)
    print(
        f"of {len(planted)} planted facts {contradicted} are contradicted, {unsaid} not said"
    )
    cases: Counter[tuple[bool, bool]] = Counter()
    for row in read_rows("contradiction_cases.jsonl"):
        start = row["a"].index(row["words"])
        called = any(
            finding.contradiction
            for unit, _, finding in find_units(row["a"], row["b"])
            if any(
                a < start + len(row["words"]) and start < b
                for a, b in unit.spans
            )
        )
        cases[called, row["contradicted"]] += 1
    for right, name in ((True, "contradicting"), (False, "compatible")):
        n = cases[True, right] + cases[False, right]
        print(
            f"of {n} {name} cases {cases[True, right]} are called contradicted"
        )


if __name__ == "__main__":
    main()
