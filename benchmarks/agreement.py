"""How far the headline metric and its parts agree with people, beside plain baselines.

    python -m benchmarks.agreement [--data shared/data/human_judgments] [--sets flickr8k_expert ...]
        [--scorers accord ...] [--resamples 200] [--share 1.0] [--jobs N]
        [--kept VALUES.npz]

Sets and protocols: ``benchmarks/judged.py``. Every text is read once and gives all scorers' values,
pictures spread over the jobs. With ``--kept``, values of sets that the file holds are taken from it
and those of the others are added, so that a run that was cut goes on, and sums of parts can be
tried without scoring again. All sets whole take about an hour on one core.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

# One thread a process, before numpy is imported: the jobs share the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from beholder import PoSh
from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.judges.builtin.lexical_alignment import align_words
from beholder.metrics import Tools
from beholder.metrics.accord import Accord
from beholder.metrics.posh.published import f1
from beholder.metrics.wording import compare_words, peer_adjusted_recall
from beholder.records import Item
from beholder.text import words
from benchmarks import judged

DATA = Path(__file__).parents[1] / "../shared/data/human_judgments"
ACCORD, WORDED = Accord(), PoSh(lexical_weight=0.8)
# Those of the table; the others are in the file of --kept.
TABLE_COLUMNS = (
    "accord", "accord f1", "accord words", "accord sentence", "posh with words", "posh best",
    "precision", "recall", "contradicted", "unstated", "minilm cosine", "word alignment",
    "word overlap", "length",
)  # fmt: skip
HIGHER_IS_WORSE = ("contradicted", "unstated")


@cache
def tools() -> Tools:
    return Tools()


def values_of(item: Item) -> dict[str, float]:
    """Return all values of a text; none, with a printed line, if it cannot be scored."""
    try:
        return asyncio.run(_values(item))
    except ItemError as error:
        print(f"    {item.id} failed, counted as 0: {error}", flush=True)
        return {}


async def _values(item: Item) -> dict[str, float]:
    evidence = await ACCORD.gather(item, tools())
    score = ACCORD.score_item(item, evidence).values
    plan, grades = evidence.units.plan, evidence.units.grades
    alone = (
        PoSh(lexical_weight=0.0, references="best")
        .score_answers(plan, grades)
        .values
    )
    mean = (
        PoSh(lexical_weight=0.0, references="mean")
        .score_answers(plan, grades)
        .values
    )
    alignment = align_words(item.candidate, item.references)
    aligned = replace(plan, lexical_alignment=alignment, peers=alignment.peers)
    worded = WORDED.score_answers(aligned, grades).values
    wording = compare_words(evidence.candidate, evidence.references)
    own_vector = evidence.candidate.whole_text.astype(np.float64)
    reference_vectors = np.stack(
        [text.whole_text for text in evidence.references]
    ).astype(np.float64)
    centre = reference_vectors.mean(axis=0)
    recall = peer_adjusted_recall(
        float(np.mean(alignment.recalls)), alignment.peers
    )
    return {
        **{
            name if name == "accord" else f"accord {name}": v
            for name, v in score.items()
        },
        "posh with words": worded["f1"],
        "posh best": alone["f1"],
        "precision": alone["precision"],
        "recall": alone["recall"],
        "recall mean": mean["recall"],
        "contradicted": alone["contradicted_rate"],
        "unstated": alone["unstated_rate"],
        "omission": alone["omission_rate"],
        "words precision": wording.precision,
        "words recall": wording.recall,
        "words peers": plan.peers,
        "word alignment": f1(alignment.precision, recall),
        "alignment precision": alignment.precision,
        "alignment recall": float(np.mean(alignment.recalls)),
        "alignment peers": alignment.peers,
        "minilm cosine": float((reference_vectors @ own_vector).max()),
        "minilm centre": float(centre @ own_vector / np.linalg.norm(centre)),
        "word overlap": _overlap(item),
        "length": float(len(words(item.candidate))),
    }


def _overlap(item: Item) -> float:
    def words_of(text: str) -> set[str]:
        return {text[a:b].lower() for a, b in words(text)}

    own_words = words_of(item.candidate)
    return max(
        2
        * len(own_words & words_of(t))
        / max(1, len(own_words) + len(words_of(t)))
        for t in item.references
    )


def of_picture(items: Sequence[Item]) -> list[dict[str, float]]:
    return [values_of(item) for item in items]


def columns(items: Sequence[Item], jobs: int) -> dict[str, FloatArray]:
    """Values (n,) of the items by name; texts that share references go to one process."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(item.references, []).append(place)
    parts = [[items[place] for place in places] for places in groups.values()]
    if jobs == 1:
        done = [of_picture(part) for part in parts]
    else:
        with ProcessPoolExecutor(
            jobs, mp_context=get_context("spawn")
        ) as pool:
            done = list(pool.map(of_picture, parts, chunksize=4))
    rows_of_scores: list[dict[str, float]] = [{}] * len(items)
    for places, values in zip(groups.values(), done, strict=True):
        for place, row in zip(places, values, strict=True):
            rows_of_scores[place] = row
    names = dict.fromkeys(name for row in rows_of_scores for name in row)
    return {
        name: np.array([row.get(name, 0.0) for row in rows_of_scores])
        for name in names
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--sets", nargs="+", choices=judged.SETS, default=list(judged.SETS)
    )
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument(
        "--scorers",
        nargs="+",
        choices=TABLE_COLUMNS,
        default=TABLE_COLUMNS,
        metavar="NAME",
    )
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the pictures"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--kept", type=Path, help="all values by set, read and added to"
    )
    options = parser.parse_args()
    kept_scores: dict[str, FloatArray] = {}
    if options.kept and options.kept.exists():
        kept_scores = dict(np.load(options.kept))
    for name in options.sets:
        rows = judged.load(options.data, name, options.share)
        items = judged.items_of(name, rows)
        key = f"{name} {options.share:g}"
        if f"{key}/accord" not in kept_scores:
            kept_scores |= {
                f"{key}/{column}": v
                for column, v in columns(items, options.jobs).items()
            }
            if options.kept:
                np.savez_compressed(options.kept, **kept_scores)  # type: ignore[arg-type]
        scores_by_column = {
            k.partition("/")[2]: v
            for k, v in kept_scores.items()
            if k.partition("/")[0] == key
        }
        for title in options.scorers:
            sign = -1 if title in HIGHER_IS_WORSE else 1
            for label, text in judged.SETS[name](
                name, rows, sign * scores_by_column[title], options.resamples
            ):
                print(f"{label:34} {title:18} {text}", flush=True)


if __name__ == "__main__":
    main()
