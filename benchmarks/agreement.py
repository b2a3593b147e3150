"""How far Accord and PoSh with the built-in judge agree with people, beside plain baselines.

    python benchmarks/agreement.py [--sets flickr8k_expert ...] [--scorers posh ...]
        [--resamples 200] [--share 1.0]

Protocols: Flickr8k-Expert, each rating its own pair, Kendall tau-c; Flickr8k-CF, share of yes,
tau-b; VATEX-EVAL, each of the three ratings its own pair, tau-b and Spearman; THumB without the
human system, Pearson with the total; Pascal-50S, mean accuracy over its four kinds of pairs, ties
count half; SugarCrepe, accuracy over replace_* and swap_* where a reference exists; long
descriptions (IIW-400 and DOCCI side by side), Spearman with comprehensiveness + specificity with
the ratio of lengths out, and with hallucination. Intervals are percentiles over resampled pictures.

These are the dev halves. The data lies in shared/data/human_judgments beside the checkout and is
for measuring only.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beholder import PoSh, stats
from beholder.judges.builtin.lexical_alignment import align_words
from beholder.metrics import Metric, Tools
from beholder.metrics.accord import Accord
from beholder.metrics.classical.embedding import Cosine
from beholder.metrics.posh.scoring import f1, peer_adjusted_recall
from beholder.records import Item, ItemFailure
from beholder.stats.bootstrap import cluster_bootstrap
from beholder.stats.checks import cluster_codes
from beholder.text import words

DATA = Path(__file__).parents[1] / "../shared/data/human_judgments"

Row = dict[str, Any]
Scorer = Callable[[Sequence[Item]], np.ndarray]
Line = tuple[str, str]


def load(name: str, share: float) -> list[Row]:
    """Rows of a set; with a share below 1, those of every so-many-th picture."""
    packed = DATA / f"{name}.jsonl.gz"
    if packed.exists():
        text = gzip.decompress(packed.read_bytes()).decode("utf-8")
    else:
        text = packed.with_suffix("").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    step = max(1, round(1 / share))
    pictures = set(list(dict.fromkeys(row["image"] for row in rows))[::step])
    return [row for row in rows if row["image"] in pictures]


def items_of(rows: Sequence[Row], field: str = "candidate") -> list[Item]:
    return [
        Item(id=f"{place}", candidate=row[field], references=tuple(row["references"]))
        for place, row in enumerate(rows)
    ]


def scores_of(metric: Metric[Any], value: str) -> Scorer:
    tools = Tools()

    def score(items: Sequence[Item]) -> np.ndarray:
        found = []
        for outcome in metric.score(items, tools=tools):
            if isinstance(outcome, ItemFailure):
                print("    failed, counted as 0:", outcome.message)
                found.append(0.0)
            else:
                found.append(outcome.values[value])
        return np.array(found)

    return score


def word_alignment(items: Sequence[Item]) -> np.ndarray:
    found = []
    for item in items:
        near = align_words(item.candidate, item.references)
        recall = peer_adjusted_recall(float(np.mean(near.recalls)), near.peers)
        found.append(f1(near.precision, recall))
    return np.array(found)


def word_overlap(items: Sequence[Item]) -> np.ndarray:
    def of(text: str) -> set[str]:
        return {text[a:b].lower() for a, b in words(text)}

    found = []
    for item in items:
        own = of(item.candidate)
        found.append(
            max(2 * len(own & of(t)) / max(1, len(own) + len(of(t))) for t in item.references)
        )
    return np.array(found)


def length(items: Sequence[Item]) -> np.ndarray:
    return np.array([len(words(item.candidate)) for item in items], dtype=float)


def rated(name: str, rows: Sequence[Row], score: Scorer, resamples: int) -> list[Line]:
    if name == "thumb_mscoco":
        rows = [row for row in rows if row["judgments"]["system"] != "Human"]
    found = score(items_of(rows))
    field, kinds = {
        "flickr8k_expert": ("expert_ratings", ("tau-c",)),
        "flickr8k_cf": ("yes_fraction", ("tau-b",)),
        "vatex_eval": ("ratings", ("tau-b", "spearman")),
        "thumb_mscoco": ("total", ("pearson",)),
    }[name]
    labels = [np.atleast_1d(row["judgments"][field]) for row in rows]
    x = np.repeat(found, [len(each) for each in labels])
    clusters = [row["image"] for row, each in zip(rows, labels, strict=True) for _ in each]
    return [
        (f"{name} {kind}", show(stats.correlate(
            x, np.concatenate(labels), kind, clusters=clusters, n_resamples=resamples  # type: ignore[arg-type]
        )))
        for kind in kinds
    ]  # fmt: skip


def chosen(name: str, rows: Sequence[Row], score: Scorer, resamples: int) -> list[Line]:
    if name == "sugarcrepe":
        rows = [
            row
            for row in rows
            if row["references"] and not row["judgments"]["category"].startswith("add")
        ]
    difference = score(items_of(rows)) - score(items_of(rows, "candidate_b"))
    right = np.sign(difference) * [row["judgments"]["preferred"] for row in rows]
    right = (right + 1) / 2
    category = np.array([row["judgments"]["category"] for row in rows])
    pictures = [row["image"] for row in rows]
    if name == "pascal50s":
        lines = [accuracy(f"{name} mean of kinds", right, category, pictures, resamples)]
        return lines + [
            (f"  {kind}", f"{right[category == kind].mean():.3f}") for kind in sorted(set(category))
        ]
    swaps = np.char.startswith(category, "swap")
    same = np.zeros(len(rows))
    of = [pictures[i] for i in np.flatnonzero(swaps)]
    return [
        accuracy(f"{name} replace + swap", right, same, pictures, resamples),
        accuracy(f"{name} swap", right[swaps], same[swaps], of, resamples),
    ] + [(f"  {kind}", f"{right[category == kind].mean():.3f}") for kind in sorted(set(category))]


def accuracy(
    name: str, right: np.ndarray, kinds: np.ndarray, pictures: Sequence[str], resamples: int
) -> Line:
    def mean(rows: np.ndarray) -> float | None:
        parts = [right[rows][kinds[rows] == kind] for kind in np.unique(kinds)]
        return None if any(not len(p) for p in parts) else float(np.mean([p.mean() for p in parts]))

    codes = cluster_codes(pictures, len(right))
    interval = cluster_bootstrap(mean, codes, n_resamples=resamples, level=0.95, seed=12345)
    text = f"{mean(np.arange(len(right))):.3f}"
    return name, text + (f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else "")


def side_by_side(name: str, rows: Sequence[Row], score: Scorer, resamples: int) -> list[Line]:
    items = items_of(rows)
    found = score(items)
    ratio = length(items) / length(
        [Item(id=i.id, candidate=i.references[0], references=()) for i in items]
    )
    label = {key: np.array([row["judgments"][key] for row in rows]) for key in rows[0]["judgments"]}
    recall = label["comprehensiveness"] + label["specificity"]
    return [
        (f"{name} C+S beyond length", show(
            stats.partial(found, recall, ratio, "spearman", n_resamples=resamples))),
        (f"{name} hallucination", show(
            stats.spearman(found, label["hallucination"], n_resamples=resamples))),
    ]  # fmt: skip


def show(found: Any) -> str:
    interval = found.interval
    between = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
    return f"{found.value:.3f}{between} n={found.n}"


SETS: dict[str, Callable[[str, Sequence[Row], Scorer, int], list[Line]]] = {
    "flickr8k_expert": rated,
    "thumb_mscoco": rated,
    "pascal50s": chosen,
    "sugarcrepe": chosen,
    "iiw400_sxs": side_by_side,
    "docci_test_sxs": side_by_side,
    "vatex_eval": rated,
    "flickr8k_cf": rated,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--scorers", nargs="+", help="only these of the rows")
    parser.add_argument("--share", type=float, default=1.0, help="share of the pictures")
    given = parser.parse_args()
    scorers: dict[str, Scorer] = {
        "accord": scores_of(Accord(), "accord"),
        "posh": scores_of(PoSh(), "f1"),
        "posh recall": scores_of(PoSh(), "recall"),
        "posh units alone": scores_of(PoSh(lexical_weight=0.0), "f1"),
        "minilm": scores_of(Cosine(embedder="minilm"), "cosine"),
        "word alignment": word_alignment,
        "word overlap": word_overlap,
        "length": length,
    }
    for name in given.sets:
        rows = load(name, given.share)
        for title, scorer in scorers.items():
            if given.scorers and title not in given.scorers:
                continue
            if title == "posh recall" and not name.endswith("sxs"):
                continue
            for label, value in SETS[name](name, rows, scorer, given.resamples):
                print(f"{label:34} {title:18} {value}", flush=True)


if __name__ == "__main__":
    main()
