"""VCS of true pairs of long descriptions: how many are level with unrelated texts, by its defaults.

    python benchmarks/vcs_pairs.py [--data FOLDER] [--embedder ordered] [--every 1]

Two descriptions of one picture (IIW-P5B with IIW, DOCCI with IIW) are a true pair; with the
reference seven rows further on, a wrong one. Per set and tolerance: share of true pairs at 0, their
mean, share of true pairs above their wrong one, and processor time a pair. The data are the dev
halves in shared/data/human_judgments; they are for measuring only.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from beholder import VCS
from beholder.asking.tools import Tools
from beholder.records import Item, ItemScore

DATA = Path(__file__).parents[1] / "../shared/data/human_judgments"
SETS = ("docci_test_sxs", "iiw400_sxs")
SHIFT = 7


def values(
    metric: VCS, pairs: list[tuple[str, str]], tools: Tools
) -> np.ndarray:
    items = [
        Item(id=str(n), candidate=a, references=(b,))
        for n, (a, b) in enumerate(pairs)
    ]
    scores = metric.score(items, tools=tools)
    return np.array(
        [s.values["vcs"] for s in scores if isinstance(s, ItemScore)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="VCS of true and wrong pairs")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedder", default="ordered")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    for name in SETS:
        lines = (
            (options.data / f"{name}.jsonl").read_text("utf-8").splitlines()
        )
        rows = [json.loads(line) for line in lines][:: options.every]
        true = [(row["candidate"], row["references"][0]) for row in rows]
        wrong = [
            (text, true[(place + SHIFT) % len(true)][1])
            for place, (text, _) in enumerate(true)
        ]
        for lct in (0, 1, 2):
            metric, tools = VCS(lct=lct, embedder=options.embedder), Tools()
            start = time.process_time()
            true_scores = values(metric, true, tools)
            cpu_seconds = (time.process_time() - start) / len(true)
            wrong_scores = values(metric, wrong, tools)
            print(
                f"{name}  {options.embedder}  lct {lct}  n {len(true)}"
                f"  at 0 {np.mean(true_scores == 0):.2f}  mean {true_scores.mean():.3f}"
                f"  above wrong {np.mean(true_scores > wrong_scores):.2f}"
                f"  {1000 * cpu_seconds:.1f} ms a pair"
            )


if __name__ == "__main__":
    main()
