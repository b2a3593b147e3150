"""Marks of units of two descriptions of a photograph: shares with Wilson intervals.

    python -m training.studies.photographs photographs_8 photographs_9

The rows are those of files in ``training/readings``. Mistakes, omissions and matches are drawn
from all that are counted; contradictions are all. Where another reader marked units again, the
shares of these marks and the agreement of both readers follow; where units of an earlier judge on
the same texts were drawn, too, theirs. Where the file says where units stand, the last line has how
well the present judge separates the well-formed ones that the other text says from the others.
Rules and figures:
``docs/reading.md``.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest, mannwhitneyu

from beholder.judges.builtin.findings import find
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed
from beholder.stats import cohen_kappa
from training.studies.contradictions import read_rows

NAMES = ("photographs", "photographs_2", "photographs_3")
SIDES = ("candidate", "reference")
MARKS = ("right", "false", "ill")
CLAIMS = {
    "unstated": "mistake",
    "contradicted": "mistake",
    "omission": "omission",
    "match": "match",
}


def texts_of_pairs(names: Sequence[str] = NAMES) -> dict[str, dict[str, str]]:
    """Candidate and reference of each pair of photographs."""
    return {
        f"{name}/{row['id']}": {side: row[side] for side in SIDES}
        for name in names
        for row in read_rows(f"{name}.jsonl")
    }


def separated(rows: Sequence[dict[str, Any]]) -> str:
    """Measure the present judge on the marked units: area under the curve, and shares right."""
    grades: list[float] = []
    is_stated: list[bool] = []
    for row in rows:
        graded = {}
        for side, other_side in (SIDES, SIDES[::-1]):
            source, target = analysed(row[side]), analysed(row[other_side])
            for unit, finding in zip(
                source.units, find(source, target, entail=True), strict=True
            ):
                graded[
                    (side, unit.kind, str([list(span) for span in unit.spans]))
                ] = finding.grade
        marks = {
            (unit["side"], unit["kind"], str(unit["spans"])): (
                unit["mark"] == "right"
            )
            == (unit["verdict"] == "match")
            for unit in row["units"]
            if unit["mark"] != "ill" and unit["verdict"] != "contradicted"
        }
        grades += [graded[key] for key in marks]
        is_stated += marks.values()
    grade, yes = np.array(grades), np.array(is_stated)
    area = mannwhitneyu(grade[yes], grade[~yes]).statistic / (
        yes.sum() * (~yes).sum()
    )
    present = grade >= PRESENT
    return (
        f"present judge, n {len(yes)}: AUC {area:.3f}, right {(present == yes).mean():.2f}, of not"
        f" said {(~yes[~present]).mean():.2f}, of said {yes[present].mean():.2f}"
    )


def main() -> None:
    """Print the shares by what is claimed, whether it is shown, and kind of unit."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    both: list[tuple[str, str]] = []
    rows = [row for name in sys.argv[1:] for row in read_rows(f"{name}.jsonl")]
    for row in rows:
        for unit in row["units"]:
            claim = CLAIMS[unit["verdict"]]
            names = (
                [claim, f"{claim}, {unit['kind']}"] if unit["sampled"] else []
            )
            if unit["sampled"] and unit["shown"]:
                names.append(f"{claim}, shown")
            if unit["verdict"] == "contradicted":
                names.append("contradiction")
            judge = ", judge before" if unit.get("earlier") else ""
            for name in names:
                counts[name + judge][unit["mark"]] += 1
            if "again" in unit:
                counts[f"{claim}, again"][unit["again"]] += 1
                both.append((unit["mark"], unit["again"]))
    for name, marks in sorted(counts.items()):
        n, cells = marks.total(), []
        for mark in MARKS:
            ends = binomtest(marks[mark], n).proportion_ci(method="wilson")
            cells.append(
                f"{mark} {marks[mark] / n:.2f} [{ends.low:.2f}, {ends.high:.2f}]"
            )
        print(f"{name:34}{n:5}  {'  '.join(cells)}")
    if both:
        share_same = sum(first == second for first, second in both) / len(both)
        kappa = cohen_kappa(*map(np.array, zip(*both, strict=True))).value
        print(
            f"two readers, n {len(both)}: same mark {share_same:.2f}, kappa {kappa:.2f}"
        )
    if "spans" in rows[0]["units"][0]:
        print(separated(rows))


if __name__ == "__main__":
    main()
