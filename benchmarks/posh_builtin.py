"""Speed and memory of PoSh with the built-in judge on long descriptions, one core.

    python benchmarks/posh_builtin.py [--pairs 40] [--long 10000]

Prints pairs a second on texts cut or joined to 200 words, how much faster a repeated reference is,
and memory after a tenth and after all of many pairs. The texts are those that ship as a sample.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from importlib import resources

from beholder import PoSh
from beholder.judges.builtin.reading import analysed
from beholder.metrics import Tools
from beholder.records import Item
from beholder.text import words

WORDS = 200


def texts(n: int) -> list[str]:
    """Texts of 200 words, each different: sentences of the sample in rotating order."""
    sample = resources.files("beholder.samples").joinpath("descriptions.jsonl")
    rows = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]
    parts = [part for row in rows for part in (row["candidate"], *row["references"])]
    found = []
    for start in range(n):
        rotated = parts[start % len(parts) :] + parts[: start % len(parts)]
        text = f"There are {start + 2} cups. " + " ".join(rotated)
        spans = words(text)
        found.append(text[: spans[min(WORDS, len(spans)) - 1][1]] + ".")
    return found


def seconds(metric: PoSh, items: list[Item], tools: Tools) -> float:
    start = time.process_time()
    metric.score(items, tools=tools)
    return time.process_time() - start


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--long", type=int, default=0, help="pairs for the memory run")
    given = parser.parse_args()
    metric, tools = PoSh(), Tools()
    metric.score_text("There is a dog and another dog.", "There is a dog.", tools=tools)
    made = texts(2 * given.pairs)
    pairs = [Item(str(i), made[2 * i], (made[2 * i + 1],)) for i in range(given.pairs)]
    taken = seconds(metric, pairs, tools)
    print(f"{given.pairs} pairs of {WORDS} words: {given.pairs / taken:.1f} pairs/s on one core")
    analysed.clear()
    same = [Item(str(i), made[i], (made[-1],)) for i in range(given.pairs)]
    repeated = seconds(metric, same, tools)
    print(f"one reference for all: {given.pairs / repeated:.1f} pairs/s")
    print(f"texts read: {analysed.n_read} for {given.pairs} candidates and 1 reference")
    if given.long:
        for done in range(0, given.long, 500):
            block = texts(20)
            metric.score(
                [
                    Item(str(i), block[i % 10], (f"{done + i} dogs run. A cat sleeps.",))
                    for i in range(500)
                ],
                tools=tools,
            )
            if done in (given.long // 1000 * 500, given.long - 500):
                print(f"after {done + 500} pairs: {megabytes():.0f} MB")


if __name__ == "__main__":
    main()
