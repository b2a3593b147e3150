"""Rewards a second of one core: groups of completions of so many words against one reference.

    python -m benchmarks.rewards [--data FILE] [--groups 10] [--words 200] [--metric posh]

The texts are descriptions of pictures (JSONL, also .xz, with ``text``). A completion is a stretch
of the reference's own words and of another picture's, no two alike. The first group warms up and is
not counted; the references of the others are read once before, as in a training that meets them
again. Times are processor time of a worker's scorer with one BLAS thread.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from pathlib import Path

from beholder import metric
from beholder.records import Item
from beholder.rewards import GUARDS
from beholder.run.execute import Scorer
from beholder.run.subjects import ITEM

DATA = (
    Path(__file__).parents[1]
    / "../shared/data/descriptions/iiw_descriptions.jsonl.xz"
)


def texts(path: Path, n_words: int) -> list[str]:
    """Descriptions of at least so many words, cut to them."""
    data = path.read_bytes()
    lines = (
        (lzma.decompress(data) if path.suffix == ".xz" else data)
        .decode()
        .splitlines()
    )
    word_lists = [json.loads(line)["text"].split() for line in lines]
    return [
        " ".join(words[:n_words])
        for words in word_lists
        if len(words) >= n_words
    ]


def group(reference: str, other_texts: list[str], size: int) -> list[Item]:
    """Completions: k-th parts of the reference and of another text, each another mix."""
    own_words = reference.split()
    completions = []
    for k, other_text in enumerate(other_texts[:size]):
        cut = len(own_words) * (k + 1) // (size + 1)
        text = " ".join(own_words[:cut] + other_text.split()[cut:])
        completions.append(
            Item(id=str(k), candidate=text, references=(reference,))
        )
    return completions


def main() -> None:
    """Print the figure."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--groups", type=int, default=10)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--metric", action="append")
    options = parser.parse_args()
    long_texts = texts(options.data, options.words)
    n = options.groups + 1
    references, other_texts = long_texts[:n], long_texts[n:]
    groups = [
        group(
            reference,
            other_texts[k * options.size : (k + 1) * options.size],
            options.size,
        )
        for k, reference in enumerate(references)
    ]
    for name in options.metric or ("posh", "accord"):
        scorer = Scorer([metric(name)], ITEM)
        scorer.outcomes([(0, item, 0) for item in groups[0]])
        scorer.outcomes(  # reads the references
            [
                (k, Item(id="x", candidate="A dog.", references=(text,)), 0)
                for k, text in enumerate(references)
            ]
        )
        start = time.process_time()
        for items in groups[1:]:
            scorer.outcomes([(k, item, 0) for k, item in enumerate(items)])
            for item in items:
                for guard in GUARDS:
                    guard.factor(item)
        spent = time.process_time() - start
        count = options.groups * options.size
        print(
            f"{name}: {count / spent:.1f} rewards a second ({count} texts, {spent:.2f} s)"
        )


if __name__ == "__main__":
    main()
