"""Minimal pairs under the built-in judge, by half and kind: ranking, flagged facts, false alarms.

    python -m training.studies.minimal_pairs [--half tuning]
    python -m training.studies.minimal_pairs --pairs training/readings/minimal_pairs_3.jsonl

Of the pairs that come with beholder, the first six of each kind are for tuning, the others measure;
of another file, all are read. Prints how often ``accord`` and its ``f1`` put the paraphrase above
the altered text, in how many altered texts a unit at the changed words is below "present", and that
share of all units of the paraphrases.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from beholder import metric
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed
from beholder.kinds.agreement.suites.command import PAIRS
from beholder.kinds.agreement.suites.files import read_pairs
from beholder.records import ItemScore

TUNED = 6
"""Pairs of each kind that the decision is fitted to; the others measure."""
VALUES = ("accord", "f1")


def absent(
    text: str, other_text: str, start: int = 0, end: int | None = None
) -> list[bool]:
    """Of each unit of a part of a text, whether the other text does not say it."""
    source, last = analysed(text), len(text) if end is None else end
    findings = find(source, analysed(other_text), entail=True)
    return [
        finding.grade < PRESENT
        for unit, finding in zip(source.units, findings, strict=True)
        if unit.asked
        and any(
            a < last and b > start for a, b in unit.spans + finding.further
        )
    ]


def main() -> None:
    """Print shares, and counts by kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("tuning", "kept"), default="kept")
    parser.add_argument(
        "--pairs", type=Path, default=PAIRS, help="another file of pairs"
    )
    options = parser.parse_args()
    accord = metric("accord")
    n: Counter[str] = Counter()
    won: dict[str, Counter[str]] = {
        name: Counter() for name in (*VALUES, "flagged")
    }
    alarms: list[bool] = []
    for pair in read_pairs(options.pairs):
        tuned = int(pair.id.rpartition("-")[2]) <= TUNED
        if options.pairs == PAIRS and tuned != (options.half == "tuning"):
            continue
        n[pair.kind] += 1
        texts = (pair.paraphrase, pair.altered)
        right, wrong = (
            accord.score_text(text, pair.reference) for text in texts
        )
        if not (isinstance(right, ItemScore) and isinstance(wrong, ItemScore)):
            raise RuntimeError(f"{pair.id}: {right}, {wrong}")
        for name in VALUES:
            won[name][pair.kind] += float(right.values[name]) > float(
                wrong.values[name]
            )
        start = pair.altered.index(pair.changed)
        changed = absent(
            pair.altered, pair.reference, start, start + len(pair.changed)
        )
        won["flagged"][pair.kind] += any(changed)
        alarms += absent(pair.paraphrase, pair.reference)
    for name, counts in won.items():
        print(f"{name:8} {counts.total() / n.total():.3f}  {dict(counts)}")
    print(
        f"false alarms {sum(alarms) / len(alarms):.3f} of {len(alarms)} units; pairs {dict(n)}"
    )


if __name__ == "__main__":
    main()
