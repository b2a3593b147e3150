"""Sets with people's judgments: their rows, and how scores are held against them.

Protocols: Flickr8k-Expert, each rating its own pair, Kendall tau-c; Flickr8k-CF, share of yes,
tau-b; VATEX-EVAL, each of the three ratings its own pair, tau-b and Spearman; THumB without the
human system, Pearson with the total; Pascal-50S, mean accuracy over its four kinds of pairs, ties
count half; SugarCrepe, accuracy over replace_* and swap_* where a reference exists; long
descriptions (IIW-400 and DOCCI side by side, and both together), Spearman with comprehensiveness +
specificity with the ratio of lengths out, and with hallucination. Intervals are percentiles over
resampled pictures.

These are the dev halves, for measuring only.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beholder import stats
from beholder.embed.base import FloatArray
from beholder.records import Item
from beholder.stats.bootstrap import cluster_bootstrap
from beholder.stats.checks import cluster_codes
from beholder.text import words

Row = dict[str, Any]
Line = tuple[str, str]
LONG = ("iiw400_sxs", "docci_test_sxs")


def load(data: Path, name: str, share: float) -> list[Row]:
    """Rows of a set that its protocol uses; below a share of 1 of every so-many-th picture."""
    if name == "long":
        return [row for part in LONG for row in load(data, part, share)]
    packed = data / f"{name}.jsonl.gz"
    if packed.exists():
        text = gzip.decompress(packed.read_bytes()).decode("utf-8")
    else:
        text = packed.with_suffix("").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    step = max(1, round(1 / share))
    pictures = set(list(dict.fromkeys(row["image"] for row in rows))[::step])
    return [
        row for row in rows if row["image"] in pictures and _is_used(name, row)
    ]


def _is_used(name: str, row: Row) -> bool:
    judged = row["judgments"]
    if name == "thumb_mscoco":
        return bool(judged["system"] != "Human")
    if name == "sugarcrepe":
        return bool(row["references"]) and not judged["category"].startswith(
            "add"
        )
    return True


def items_of(name: str, rows: Sequence[Row]) -> list[Item]:
    """Return the candidates; where two are compared, those of all rows and then their rivals."""
    fields = (
        ("candidate", "candidate_b")
        if SETS[name] is rate_choices
        else ("candidate",)
    )
    return [
        Item(
            id=f"{field}/{place}",
            candidate=row[field],
            references=tuple(row["references"]),
        )
        for field in fields
        for place, row in enumerate(rows)
    ]


def rate_correlation(
    name: str, rows: Sequence[Row], scores: FloatArray, resamples: int
) -> list[Line]:
    """Correlation with ratings."""
    field, kinds = {
        "flickr8k_expert": ("expert_ratings", ("tau-c",)),
        "flickr8k_cf": ("yes_fraction", ("tau-b",)),
        "vatex_eval": ("ratings", ("tau-b", "spearman")),
        "thumb_mscoco": ("total", ("pearson",)),
    }[name]
    labels = [np.atleast_1d(row["judgments"][field]) for row in rows]
    x = np.repeat(scores, [len(each) for each in labels])
    clusters = [
        row["image"]
        for row, each in zip(rows, labels, strict=True)
        for _ in each
    ]
    return [
        (f"{name} {kind}", show(stats.correlate(
            x, np.concatenate(labels), kind, clusters=clusters, n_resamples=resamples  # type: ignore[arg-type]
        )))
        for kind in kinds
    ]  # fmt: skip


def rate_choices(
    name: str, rows: Sequence[Row], scores: FloatArray, resamples: int
) -> list[Line]:
    """Measure how often the better of two is scored above the other."""
    n = len(rows)
    right = np.sign(scores[:n] - scores[n:]) * [
        row["judgments"]["preferred"] for row in rows
    ]
    right = (right + 1) / 2
    category = np.array([row["judgments"]["category"] for row in rows])
    pictures = [row["image"] for row in rows]
    kinds = [
        (f"  {kind}", f"{right[category == kind].mean():.3f}")
        for kind in sorted(set(category))
    ]
    if name == "pascal50s":
        return [
            accuracy(
                f"{name} mean of kinds", right, category, pictures, resamples
            ),
            *kinds,
        ]
    swaps = np.char.startswith(category, "swap")
    is_same = np.zeros(n)
    of = [pictures[i] for i in np.flatnonzero(swaps)]
    return [
        accuracy(
            f"{name} replace + swap", right, is_same, pictures, resamples
        ),
        accuracy(f"{name} swap", right[swaps], is_same[swaps], of, resamples),
        *kinds,
    ]


def accuracy(
    name: str,
    right: FloatArray,
    kinds: FloatArray,
    pictures: Sequence[str],
    resamples: int,
) -> Line:
    """Mean over kinds of the share that is right."""

    def mean(rows: Any) -> float | None:
        parts = [right[rows][kinds[rows] == kind] for kind in np.unique(kinds)]
        return (
            None
            if any(not len(p) for p in parts)
            else float(np.mean([p.mean() for p in parts]))
        )

    codes = cluster_codes(pictures, len(right))
    interval = cluster_bootstrap(
        mean, codes, n_resamples=resamples, level=0.95, seed=12345
    )
    text = f"{mean(np.arange(len(right))):.3f}"
    return name, text + (
        f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
    )


def side_by_side(
    name: str, rows: Sequence[Row], scores: FloatArray, resamples: int
) -> list[Line]:
    """Rank correlation with what people said of a description beside another."""
    ratio = np.array(
        [_length(r["candidate"]) / _length(r["references"][0]) for r in rows]
    )
    label = {
        key: np.array([row["judgments"][key] for row in rows])
        for key in rows[0]["judgments"]
    }
    recall = label["comprehensiveness"] + label["specificity"]
    return [
        (f"{name} C+S beyond length", show(
            stats.partial(scores, recall, ratio, "spearman", n_resamples=resamples))),
        (f"{name} hallucination", show(
            stats.spearman(scores, label["hallucination"], n_resamples=resamples))),
    ]  # fmt: skip


def _length(text: str) -> int:
    return len(words(text))


def show(figure: Any) -> str:
    interval = figure.interval
    between = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
    value = "-" if figure.value is None else f"{figure.value:.3f}"
    return f"{value}{between} n={figure.n}"


SETS: dict[
    str, Callable[[str, Sequence[Row], FloatArray, int], list[Line]]
] = {
    "flickr8k_expert": rate_correlation,
    "thumb_mscoco": rate_correlation,
    "pascal50s": rate_choices,
    "sugarcrepe": rate_choices,
    "iiw400_sxs": side_by_side,
    "docci_test_sxs": side_by_side,
    "long": side_by_side,
    "vatex_eval": rate_correlation,
    "flickr8k_cf": rate_correlation,
}
