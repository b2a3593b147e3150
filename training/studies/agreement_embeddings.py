"""The shipped static embedding beside model2vec's plain distillation of the same teacher.

    python training/static_embeddings.py SHARED_DATA --plain PLAIN   # writes the plain one
    python training/studies/agreement_embeddings.py SHARED_DATA PLAIN

Prints agreement with people on the dev halves of SHARED_DATA/human_judgments, for the cosine of
whole texts (mean over references) and for soft alignment of words (weighted by
``beholder.text.weight``; F1 is the mean over references, precision is against the union of
references), with 95 % intervals from resampling pictures.

Protocols: each rating its own pair for Flickr8k-Expert (tau-c) and VATEX (tau-b); Flickr8k-CF
tau-b; THumB without the human system, Pearson with total; Pascal-50S mean accuracy of the four
categories; SugarCrepe accuracy over replace and swap, and over swap alone.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from model2vec import StaticModel
from scipy.stats import kendalltau, pearsonr

from beholder.embed import embedder
from beholder.text import weight, words

Array = npt.NDArray[np.floating]
Embed = Callable[[Sequence[str]], Array]
Row = dict[str, Any]
TRIALS = 200


class Scores:
    """All scores of a candidate under one embedding; words and texts are embedded once."""

    def __init__(self, embed: Embed, texts: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(texts))
        self.words = {
            t: [t[a:b].lower() for a, b in words(t)] for t in distinct
        }
        vocabulary = list(
            dict.fromkeys(
                w
                for words_of_text in self.words.values()
                for w in words_of_text
            )
        )
        self.whole = dict(zip(distinct, embed(distinct), strict=True))
        vectors = dict(zip(vocabulary, embed(vocabulary), strict=True))
        self.parts = {
            t: np.array([vectors[w] for w in words_of_text])
            for t, words_of_text in self.words.items()
        }
        self.weights = {
            t: np.array([weight(w) for w in words_of_text])
            for t, words_of_text in self.words.items()
        }

    def all(
        self, candidate: str, references: Sequence[str]
    ) -> dict[str, float]:
        """``cosine``, ``soft F1`` and ``soft precision``."""
        cosine = np.mean(
            [self.whole[candidate] @ self.whole[r] for r in references]
        )
        candidate_weights = self.weights[candidate]
        best, f1 = np.zeros(len(candidate_weights)), []
        for reference in references:
            reference_weights = self.weights[reference]
            if not len(candidate_weights) or not len(reference_weights):
                f1.append(0.0)
                continue
            similarity = self.parts[candidate] @ self.parts[reference].T
            best = np.maximum(best, similarity.max(axis=1))
            precision = (
                similarity.max(axis=1)
                @ candidate_weights
                / candidate_weights.sum()
            )
            recall = (
                similarity.max(axis=0)
                @ reference_weights
                / reference_weights.sum()
            )
            f1.append(2 * precision * recall / max(precision + recall, 1e-9))
        union = (
            best @ candidate_weights / candidate_weights.sum()
            if len(candidate_weights)
            else 0.0
        )
        return {
            "cosine": float(cosine),
            "soft F1": float(np.mean(f1)),
            "soft precision": union,
        }


@dataclass
class Task:
    """One judged set under one protocol."""

    name: str
    rows: list[Row]
    labels: Callable[[Row], list[float]]
    statistic: Callable[[Array, Array], float]
    paired: bool = False

    def measure(self, scores: Scores) -> dict[str, tuple[float, float, float]]:
        """Value with interval for each kind of score."""
        kinds: dict[str, list[Array]] = {}
        for row in self.rows:
            values = scores.all(row["candidate"], row["references"])
            if self.paired:
                second_values = scores.all(
                    row["candidate_b"], row["references"]
                )
                values = {
                    kind: value - second_values[kind]
                    for kind, value in values.items()
                }
            for kind, value in values.items():
                labels = self.labels(row)
                kinds.setdefault(kind, []).append(
                    np.array([[value, label] for label in labels])
                )
        pictures: dict[str, list[int]] = {}
        for i, row in enumerate(self.rows):
            pictures.setdefault(row["image"], []).append(i)
        groups = list(pictures.values())
        return {
            kind: self._interval(points, groups)
            for kind, points in kinds.items()
        }

    def _interval(
        self, points: list[Array], groups: list[list[int]]
    ) -> tuple[float, float, float]:
        rng = np.random.default_rng(0)
        value = self.statistic(*np.concatenate(points).T)
        trials = []
        for _ in range(TRIALS):
            rows_drawn = [
                i
                for g in rng.integers(len(groups), size=len(groups))
                for i in groups[g]
            ]
            trials.append(
                self.statistic(
                    *np.concatenate([points[i] for i in rows_drawn]).T
                )
            )
        low, high = np.quantile(trials, [0.025, 0.975])
        return value, float(low), float(high)


def tau(variant: str) -> Callable[[Array, Array], float]:
    return lambda x, y: float(kendalltau(x, y, variant=variant).statistic)


def pearson(x: Array, y: Array) -> float:
    return float(pearsonr(x, y).statistic)


def hits(difference: Array) -> Array:
    return np.where(np.abs(difference) < 1e-9, 0.5, difference > 0)


def accuracy(difference: Array, _: Array) -> float:
    return float(hits(difference).mean())


def accuracy_of_categories(difference: Array, label: Array) -> float:
    """Labels are preference (sign) times category (1..4)."""
    right = hits(difference * np.sign(label))
    return float(
        np.mean(
            [
                right[np.abs(label) == c].mean()
                for c in np.unique(np.abs(label))
            ]
        )
    )


def load(folder: Path, name: str) -> list[Row]:
    path = folder / name
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tasks(folder: Path) -> list[Task]:
    vatex = load(folder, "vatex_eval.jsonl.gz")
    thumb = [
        r
        for r in load(folder, "thumb_mscoco.jsonl")
        if r["judgments"]["system"] != "Human"
    ]
    crepe = [r for r in load(folder, "sugarcrepe.jsonl") if r["references"]]
    hard = [
        r for r in crepe if not r["judgments"]["category"].startswith("add")
    ]
    swaps = [r for r in hard if r["judgments"]["category"].startswith("swap")]
    categories = {"HC": 1, "HI": 2, "HM": 3, "MM": 4}

    def judgment(key: str) -> Callable[[Row], list[float]]:
        return lambda row: np.atleast_1d(row["judgments"][key]).tolist()

    def preference(row: Row) -> list[float]:
        judgments = row["judgments"]
        return [judgments["preferred"] * categories[judgments["category"]]]

    single_reference = [
        {**row, "references": row["references"][:1]} for row in vatex
    ]
    expert = load(folder, "flickr8k_expert.jsonl")
    crowd = load(folder, "flickr8k_cf.jsonl.gz")
    pascal = load(folder, "pascal50s.jsonl")
    return [
        Task(
            "Flickr8k-Expert tau-c",
            expert,
            judgment("expert_ratings"),
            tau("c"),
        ),
        Task("Flickr8k-CF tau-b", crowd, judgment("yes_fraction"), tau("b")),
        Task(
            "VATEX-EVAL, 9 references, tau-b",
            vatex,
            judgment("ratings"),
            tau("b"),
        ),
        Task(
            "VATEX-EVAL, 1 reference, tau-b",
            single_reference,
            judgment("ratings"),
            tau("b"),
        ),
        Task("THumB total r", thumb, judgment("total"), pearson),
        Task(
            "Pascal-50S accuracy",
            pascal,
            preference,
            accuracy_of_categories,
            paired=True,
        ),
        Task(
            "SugarCrepe replace + swap",
            hard,
            judgment("preferred"),
            accuracy,
            paired=True,
        ),
        Task(
            "SugarCrepe swap",
            swaps,
            judgment("preferred"),
            accuracy,
            paired=True,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Shipped static embedding beside the plain one."
    )
    parser.add_argument(
        "data", type=Path, help="folder that holds human_judgments/"
    )
    parser.add_argument(
        "plain", type=Path, help="folder of model2vec's plain distillation"
    )
    arguments = parser.parse_args()

    shipped = embedder("static")
    plain = StaticModel.from_pretrained(arguments.plain)
    models: dict[str, Embed] = {
        "plain": lambda texts: plain.encode(list(texts)).astype(np.float32),
        "shipped": lambda texts: asyncio.run(shipped.embed(texts)),
    }
    todo = tasks(arguments.data / "human_judgments")
    texts = [
        text
        for task in todo
        for row in task.rows
        for text in [
            row["candidate"],
            *filter(None, [row.get("candidate_b")]),
            *row["references"],
        ]
    ]
    scores = {name: Scores(embed, texts) for name, embed in models.items()}
    kinds = ("cosine", "soft F1", "soft precision")
    print(
        f"| set | n | {' | '.join(f'{k}: plain | {k}: shipped' for k in kinds)} |"
    )
    print("|---|---|" + "---|---|" * len(kinds))
    for task in todo:
        figures = {name: task.measure(score) for name, score in scores.items()}
        cells = [
            "{:.3f} ({:.3f} to {:.3f})".format(*figures[name][kind])
            for kind in kinds
            for name in models
        ]
        print(
            f"| {task.name} | {len(task.rows)} | {' | '.join(cells)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
