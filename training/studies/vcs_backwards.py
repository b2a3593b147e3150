"""VCS of descriptions told in order and backwards, joined by commas to one or two sentences.

    python training/studies/vcs_backwards.py [--data FOLDER] [--embedder ordered] [--every 6]

Copies: captions of oracle_facts (up to eight sentences), each the reference of itself. Pairs: two
descriptions of one picture by different writers (the first six sentences of the candidate), with
the reference seven rows further on as the wrong one. ``before`` leaves sentences whole, as VCS did
before it cut short texts at clauses; ``full stops`` is the same text in sentences of its own. The
data are in shared/data beside the checkout; they are for measuring only.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from beholder import VCS
from beholder.asking.tools import Tools
from beholder.metrics.vcs import metric as clauses
from beholder.records import Item, ItemScore
from beholder.text import RuleSplitter

DATA = Path(__file__).parents[2] / "../shared/data"
PAIRS = ("docci_test_sxs", "iiw400_sxs")
SHIFT = 7
TextPairs = list[tuple[str, str]]


def sentences(text: str) -> list[str]:
    return [segment.text_in(text) for segment in RuleSplitter().split(text)]


def joined(parts: list[str], n: int) -> str:
    """Return the sentences joined by commas to n; by full stops if n is 0."""
    if not n:
        return " ".join(parts)
    joined = []
    for part_group in np.array_split(np.array(parts, dtype=object), n):
        bare = [part.rstrip(".!? ") for part in part_group]
        joined.append(
            ", ".join(
                [bare[0], *(part[0].lower() + part[1:] for part in bare[1:])]
            )
            + "."
        )
    return " ".join(joined)


def values(metric: VCS, text_pairs: TextPairs, tools: Tools) -> np.ndarray:
    items = [
        Item(id=str(n), candidate=a, references=(b,))
        for n, (a, b) in enumerate(text_pairs)
    ]
    scores = metric.score(items, tools=tools)
    return np.array(
        [s.values["vcs"] for s in scores if isinstance(s, ItemScore)]
    )


def above(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean((a > b) + 0.5 * (a == b)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="VCS of texts told backwards by commas"
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedder", default="ordered")
    parser.add_argument("--every", type=int, default=6)
    options = parser.parse_args()
    metric, tools = VCS(embedder=options.embedder), Tools()
    lines = (
        (options.data / "oracle_facts.jsonl").read_text("utf-8").splitlines()
    )
    texts = [sentences(json.loads(line)["candidate"])[:8] for line in lines][
        :: options.every
    ]
    texts = [text for text in texts if len(text) >= 5]
    fewest = clauses.FEW_SENTENCES
    for label, limit, numbers in (
        ("before", 0, (1, 2)),
        ("now", fewest, (1, 2)),
        ("full stops", fewest, (0,)),
    ):
        clauses.FEW_SENTENCES = limit
        for n in numbers:
            forms = {
                "in order": [(joined(t, n), " ".join(t)) for t in texts],
                "backwards": [
                    (joined(t[::-1], n), " ".join(t)) for t in texts
                ],
                "one left out": [
                    (joined(t[:3] + t[4:], n), " ".join(t)) for t in texts
                ],
            }
            means = {
                name: f"{values(metric, text_pairs, tools).mean():.3f}"
                for name, text_pairs in forms.items()
            }
            print(f"copies ({len(texts)})  {label}, {n} sentences: {means}")
        for name in PAIRS:
            rows = (
                (options.data / "human_judgments" / f"{name}.jsonl")
                .read_text("utf-8")
                .splitlines()
            )
            rows_read = [json.loads(line) for line in rows]
            own_sentences = [
                sentences(row["candidate"])[:6] for row in rows_read
            ]
            references = [row["references"][0] for row in rows_read]
            n, size = numbers[0], len(own_sentences)
            true = values(
                metric,
                [
                    (joined(t, n), o)
                    for t, o in zip(own_sentences, references, strict=True)
                ],
                tools,
            )
            back = values(
                metric,
                [
                    (joined(t[::-1], n), o)
                    for t, o in zip(own_sentences, references, strict=True)
                ],
                tools,
            )
            wrong = values(
                metric,
                [
                    (joined(t, n), references[(i + SHIFT) % size])
                    for i, t in enumerate(own_sentences)
                ],
                tools,
            )
            print(
                f"{name} ({size})  {label}, {n} sentences: in order {true.mean():.3f}, backwards"
                f" {back.mean():.3f}, above backwards {above(true, back):.2f},"
                f" above the wrong pair {above(true, wrong):.2f}"
            )


if __name__ == "__main__":
    main()
