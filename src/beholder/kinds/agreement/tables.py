"""Readers of human-judgment sets that are published as tables on the Hugging Face hub.

A row in, its items out. The same rows are read from a local folder of Parquet files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from beholder.data.reviews import reviews_from_row
from beholder.kinds.agreement.published_files import pair
from beholder.records import Item
from beholder.stats.annotator_pairs import best_pairs, complete

DOCENT_LABELS = (
    "1_much_better",
    "1_slightly_better",
    "equal",
    "2_slightly_better",
    "2_much_better",
)


def docent_coarse(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """DOCENT, coarse: which of two descriptions is better, in three respects.

    Labels 2 (first much better) .. -2 (second much better). Published at
    huggingface.co/datasets/amitha/docent-eval-coarse, without a licence of its own that we know of
    (pictures and references, amitha/docent, are CC0); the columns are those that the authors' code
    reads (``evaluate_posh_coarse.py`` in github.com/amith-ananthram/posh).
    """
    labels = {
        question: 2 - DOCENT_LABELS.index(row[question])
        for question in ("mistakes", "omissions", "overall_quality")
    }
    yield pair(
        str(number),
        row["model1_generation"],
        row["model2_generation"],
        [row["reference"]],
        row["uuid"],
        model1=row["model1"],
        model2=row["model2"],
        **labels,
    )


def docent_granular(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """DOCENT, granular: spans of mistakes in the description, of omissions in the reference.

    Spans are ranges of characters, in JSON. Published at
    huggingface.co/datasets/amitha/docent-eval-granular, licence as of ``docent_coarse``; the
    columns are those that the authors' code reads (``evaluate_posh_granular.py``, as there).
    """
    spans = {
        label: [[span["start"], span["end"]] for span in json.loads(row[label])]
        for label in ("mistakes", "omissions")
    }
    yield Item(
        id=f"{row['uuid']}/{row['model']}",
        candidate=row["generation"],
        references=(row["reference"],),
        images=(str(row["uuid"]),),
        group={"system": str(row["model"])},
        judgments=spans,
    )


def polaris(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """Polaris: a caption with the mean score that people gave it.

    Published at huggingface.co/datasets/yuwd/Polaris under a BSD licence (the Clear BSD of
    github.com/keio-smilab24/Polos), with the columns ``refs``, ``cand``, ``img`` and
    ``human_score`` on its card.
    """
    references = tuple(row["refs"])
    yield Item(
        id=str(number),
        candidate=row["cand"],
        references=references,
        group={"references": references[0]} if references else {},
        judgments={"score": float(row["human_score"])},
    )


def nebula(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """Nebula: as Polaris, with pictures beside the captions.

    Published at huggingface.co/datasets/Ka2ukiMatsuda/Nebula with the columns ``file_name``,
    ``refs``, ``mt`` and ``human_score`` on its card, which names no licence.
    """
    (found,) = polaris(number, {**row, "cand": row["mt"]})
    yield replace(found, images=(str(row["file_name"]),), group={})


def detailcaps(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """DetailCaps-4870: long captions of three systems with the score that GPT-4 gave each.

    Columns ``GT_Caption_*`` are references, written by models, too; ``GPT4_Eval`` holds the scores
    by the column of the system, in JSON, and is empty in some rows, which are left out. No person
    took part. Published at huggingface.co/datasets/foundation-multimodal-models/DetailCaps-4870
    under CC BY-NC-SA 4.0; the columns are those of public code that reads it.
    """
    if not row["GPT4_Eval"]:
        return
    references = tuple(
        str(text) for name, text in row.items() if name.startswith("GT_Caption") and text
    )
    for name, score in json.loads(row["GPT4_Eval"]).items():
        if name not in row:
            continue  # it may say more than the scores
        yield Item(
            id=f"{number}/{name}",
            candidate=row[name],
            references=references,
            images=(str(row["image"]),),
            group={"system": name, "source": str(row.get("source", ""))},
            judgments={"score": float(score)},
        )


def wiki_imagereview(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """Wiki-ImageReview: five reviews of a picture, ranked 1 (best) to 5 by three people.

    Each review keeps its ranks by the two people who agree best, as ``ranks``, negated so that
    more is better (by those of each pair, if several agree equally well); none if no two
    people can be compared. Published at
    huggingface.co/datasets/naist-nlp/Wiki-ImageReview1.0 with the columns of its card, whose
    licence is "other": OpenAI's terms of use apply to the reviews, and each picture has its own
    licence.
    """
    reviews = reviews_from_row(row, default_id=str(number))
    best = best_pairs(complete(reviews.ranks))
    names = [name for pair in best for name in (pair.first, pair.second)]
    for place, text in enumerate(reviews.texts):
        yield Item(
            id=f"{reviews.id}/{place + 1}",
            candidate=text,
            images=(reviews.id,),
            group={"genre": reviews.category},
            judgments={"ranks": [-(reviews.ranks[name][place] or 0.0) for name in names]},
        )
