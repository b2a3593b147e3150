"""Statements that are near a passage, said by it or not: share right of the entailment model.

    python -m training.studies.near_statements

70 passages with 7 statements each (``training/readings/near_test.jsonl``), written by a language
model that knew only the task and neither the model nor its training data: other words for what the
passage says, the passage's words for what it leaves open, and what cannot be true.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest

from beholder.embed.entailment import entail
from training.entailment.pool import LABELS
from training.studies.contradictions import read_rows


def main() -> None:
    """Print the share right of each label, and the area under the curve for "said"."""
    cases = [
        (row["passage"], statement, place)
        for row in read_rows("near_test.jsonl")
        for place, label in enumerate(LABELS)
        for statement in row[label]
    ]
    chances = np.array(entail([(text, other) for text, other, _ in cases]))
    labels = np.array([place for *_, place in cases])
    is_right = chances.argmax(axis=1) == labels
    for place, label in enumerate(LABELS):
        right = is_right[labels == place]
        ends = binomtest(int(right.sum()), len(right)).proportion_ci(
            method="wilson"
        )
        print(
            f"{label:13} n {len(right)}  right {right.mean():.2f}"
            f" [{ends.low:.2f}, {ends.high:.2f}]"
        )
    stated, others = chances[labels == 0, 0], chances[labels != 0, 0]
    above = (stated[:, None] > others[None]).mean()
    print(f"all           n {len(labels)}  right {is_right.mean():.2f}")
    print(f"area under the curve for said {above:.2f}")


if __name__ == "__main__":
    main()
