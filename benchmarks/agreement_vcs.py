"""How far VCS-short agrees with people on VATEX-EVAL (dev half), with 9 references and with 1.

    python benchmarks/agreement_vcs.py [--data FILE] [--embedder static] [--resamples 200]

Kendall's tau-b and Spearman's rho between score and rating; each of the three ratings of a caption
is a pair of its own, as published. Intervals are percentiles over resampled videos, since captions
of one video share its references. Two baselines stand beside: the number of words, and a plain soft
precision (mean, weighted by word frequency, of each word's best similarity to a word of any
reference). Published for VCS-short with an embedder of 7 billion parameters: 0.415 / 0.528 with 9
references and 0.300 / 0.381 with 1.

The data is shared/data/human_judgments/vatex_eval.jsonl.gz beside the checkout; its README says
where it comes from. It is for measuring only.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, spearmanr

from beholder import VCSShort
from beholder.aio import run_sync
from beholder.asking.tools import Tools
from beholder.records import Item, ItemFailure
from beholder.text import frequency, words

DATA = (
    Path(__file__).parents[1]
    / "../shared/data/human_judgments/vatex_eval.jsonl.gz"
)

Scorer = Callable[[Sequence[Item]], np.ndarray]


def load(data: Path, n_references: int) -> tuple[list[Item], np.ndarray]:
    """Items, and their ratings (n, 3)."""
    with gzip.open(data, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    items = [
        Item(
            id=row["id"],
            candidate=row["candidate"],
            references=tuple(row["references"][:n_references]),
            group={"video": row["image"]},
        )
        for row in rows
    ]
    return items, np.array([row["judgments"]["ratings"] for row in rows])


def length(items: Sequence[Item]) -> np.ndarray:
    return np.array(
        [len(words(item.candidate)) for item in items], dtype=float
    )


def metric_scorer(metric: VCSShort, tools: Tools) -> Scorer:
    def score(items: Sequence[Item]) -> np.ndarray:
        results = metric.score(items, tools=tools)
        failed = [
            result.message
            for result in results
            if isinstance(result, ItemFailure)
        ]
        assert not failed, failed[:3]
        return np.array([result.values["vcs"] for result in results])  # type: ignore[union-attr]

    return score


def soft_precision(embedder: str, tools: Tools) -> Scorer:
    def words_of(text: str) -> list[str]:
        return [text[start:end].lower() for start, end in words(text)]

    def score(items: Sequence[Item]) -> np.ndarray:
        texts = {
            text
            for item in items
            for text in (item.candidate, *item.references)
        }
        vocabulary = sorted(
            {word for text in texts for word in words_of(text)}
        )
        vectors = run_sync(tools.embed(embedder, vocabulary))
        place = {word: index for index, word in enumerate(vocabulary)}
        scores = []
        for item in items:
            candidate_words = words_of(item.candidate)
            reference_words = sorted(
                {word for text in item.references for word in words_of(text)}
            )
            rows = vectors[[place[word] for word in candidate_words]]
            best = (
                rows @ vectors[[place[word] for word in reference_words]].T
            ).max(axis=1)
            scores.append(
                np.average(
                    best,
                    weights=[
                        frequency.weight(word) for word in candidate_words
                    ],
                )
            )
        return np.array(scores)

    return score


def agreement(scores: np.ndarray, ratings: np.ndarray) -> np.ndarray:
    """(tau-b, rho), each rating a pair of its own."""
    repeated, flat = np.repeat(scores, ratings.shape[1]), ratings.ravel()
    return np.array(
        [
            kendalltau(repeated, flat).statistic,
            spearmanr(repeated, flat).statistic,
        ]
    )


def interval(
    scores: np.ndarray, ratings: np.ndarray, videos: np.ndarray, resamples: int
) -> np.ndarray:
    """95 % percentile interval over resampled videos, (2, 2): low and high of both."""
    rng = np.random.default_rng(0)
    places = [np.flatnonzero(videos == video) for video in np.unique(videos)]
    replicates = []
    for _ in range(resamples):
        chosen = np.concatenate(
            [places[i] for i in rng.integers(len(places), size=len(places))]
        )
        replicates.append(agreement(scores[chosen], ratings[chosen]))
    return np.asarray(np.percentile(replicates, [2.5, 97.5], axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Agreement of VCS-short with VATEX-EVAL ratings"
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--resamples", type=int, default=200)
    options = parser.parse_args()
    tools = Tools()
    embedder = options.embedder
    scorers: dict[str, Scorer] = {
        "length (words)": length,
        "soft precision": soft_precision(embedder, tools),
        "vcs_short": metric_scorer(VCSShort(embedder=embedder), tools),
        "vcs_short, references=best": metric_scorer(
            VCSShort(embedder=embedder, references="best"), tools
        ),
        "vcs_short, stop_words=none": metric_scorer(
            VCSShort(embedder=embedder, stop_words="none"), tools
        ),
        "vcs_short, rules=paper": metric_scorer(
            VCSShort(embedder=embedder, rules="paper", references="best"),
            tools,
        ),
    }
    print(f"embedder {tools.identity('embedder', embedder)}")
    for n_references in (9, 1):
        items, ratings = load(options.data, n_references)
        videos = np.unique(
            [item.group["video"] for item in items], return_inverse=True
        )[1]
        print(
            f"\n{n_references} reference(s): {len(items)} captions, {videos.max() + 1} videos, "
            f"{ratings.size} pairs, {options.resamples} resamples"
        )
        print(
            f"  {'':28} {'tau-b':>7} {'95 % interval':>16}   {'rho':>7} {'95 % interval':>16}"
        )
        for name, score in scorers.items():
            scores = score(items)
            tau, rho = agreement(scores, ratings)
            low, high = interval(scores, ratings, videos, options.resamples)
            print(
                f"  {name:28} {tau:7.3f}   [{low[0]:.3f}, {high[0]:.3f}]   "
                f"{rho:7.3f}   [{low[1]:.3f}, {high[1]:.3f}]"
            )


if __name__ == "__main__":
    main()
