"""Classical caption metrics beside pycocoevalcap: the same captions, time and scores.

    python benchmarks/classical.py [DATA.jsonl[.gz]] [--peer PYTHON]

PYTHON is an interpreter that has pycocoevalcap; its tokenizer and METEOR need java on the path.
Without DATA the captions are made from a few patterns, and no two share a reference. Prints seconds
per 1,000 captions and the ratio, without and with the peer's tokenizer; ours include tokenizing.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from beholder.data import read_items
from beholder.metrics import metric
from beholder.records import Item, ItemScore

N = 1000
METRICS = ("bleu", "rouge", "cider", "cider_d", "meteor", "chrf")

PEER = r"""
import contextlib, io, json, sys, time
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
rows = json.load(open(sys.argv[1]))
references = {i: [{"caption": text} for text in row[1]] for i, row in enumerate(rows)}
candidates = {i: [{"caption": row[0]}] for i, row in enumerate(rows)}
found = {}
with contextlib.redirect_stdout(io.StringIO()):
    start = time.perf_counter()
    g, c = PTBTokenizer().tokenize(references), PTBTokenizer().tokenize(candidates)
    found["tokenizer"] = time.perf_counter() - start
    makers = {"bleu": lambda: Bleu(4), "rouge": Rouge, "cider_d": Cider, "meteor": Meteor}
    for name, make in makers.items():
        for _ in range(1 if name == "meteor" else 3):  # best of three, as ours; meteor is slow
            start = time.perf_counter()
            make().compute_score(g, c)
            found[name] = min(found.get(name, 1e9), time.perf_counter() - start)
json.dump(found, open(sys.argv[2], "w"))
"""


def main() -> None:
    """Time both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?")
    parser.add_argument(
        "--peer",
        default=sys.executable,
        help="an interpreter with pycocoevalcap",
    )
    arguments = parser.parse_args()
    items = read_captions(arguments.data) if arguments.data else made_up()
    own_seconds = {name: seconds(name, items) for name in METRICS}
    peer_seconds = peer(arguments.peer, items)
    scale = 1000 / len(items)
    print(
        f"seconds per 1,000 captions, {len(items)} captions, one process each"
    )
    print(
        f"{'metric':10}{'ours':>9}{'peer':>9}{'ratio':>8}{'with tokenizer':>17}{'ratio':>8}"
    )
    for name, seconds_of_metric in own_seconds.items():
        line = f"{name:10}{seconds_of_metric * scale:9.3f}"
        if name in peer_seconds:
            bare, with_start = (
                peer_seconds[name],
                peer_seconds[name] + peer_seconds["tokenizer"],
            )
            line += f"{bare * scale:9.3f}{bare / seconds_of_metric:8.1f}"
            line += (
                f"{with_start * scale:17.3f}"
                f"{with_start / seconds_of_metric:8.1f}"
            )
        print(line)


def seconds(name: str, items: list[Item]) -> float:
    """Best of three runs, each with empty caches."""
    from beholder.metrics.classical import meteor, overlap, tokens

    best = float("inf")
    for _ in range(3):
        for cache in (tokens.tokenize, overlap._grams, meteor._index):
            cache.cache_clear()
        start = time.perf_counter()
        outcomes = metric(name).score(items)
        best = min(best, time.perf_counter() - start)
        assert all(isinstance(outcome, ItemScore) for outcome in outcomes)
    return best


def peer(python: str, items: list[Item]) -> dict[str, float]:
    """Seconds of the peer, or nothing where it is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        rows, results_file = (
            Path(folder, "rows.json"),
            Path(folder, "found.json"),
        )
        rows.write_text(
            json.dumps([[item.candidate, item.references] for item in items])
        )
        done = subprocess.run(
            [python, "-c", PEER, str(rows), str(results_file)],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            print("no peer:", done.stderr.strip().splitlines()[-1])
            return {}
        return dict(json.loads(results_file.read_text()))


def read_captions(path: str) -> list[Item]:
    """Return the first items of a data file."""
    items = [item for item in read_items(path) if isinstance(item, Item)]
    return items[:N]


def made_up() -> list[Item]:
    """Captions of our own, five references each."""
    rng = random.Random(0)
    who = [
        "a dog",
        "two men",
        "the tall woman",
        "a small child",
        "three girls",
        "an old man",
    ]
    subjects = [
        "runs on",
        "sits near",
        "looks at",
        "stands beside",
        "plays with",
        "walks past",
    ]
    where = [
        "the beach",
        "a red car",
        "an old house",
        "the wet street",
        "a wooden table",
    ]
    manners = [
        "in the rain",
        "with a ball",
        "alone",
        "under a blue sky",
        "while it snows",
    ]

    def caption() -> str:
        words = " ".join(
            rng.choice(part) for part in (who, subjects, where, manners)
        )
        return f"{words}, number {rng.randrange(10**6)}."

    return [
        Item(str(i), caption(), tuple(caption() for _ in range(5)))
        for i in range(N)
    ]


if __name__ == "__main__":
    main()
