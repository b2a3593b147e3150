"""Readers of human-judgment sets in the form they are published in: a folder in, items out.

Every reader gives items of one schema: the candidate and its references, the picture or video, the
labels in ``judgments``, and for a comparison of two texts the second one in ``meta``
(``candidate_b``). Labels are more-is-better. Of sets that are tables on the Hugging Face hub, a
reader takes a row and gives its items; the same rows are read from a folder of Parquet files.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from beholder.base.grouping import group_by_key
from beholder.data.marks import SCORE_OF
from beholder.data.reviews import reviews_from_row
from beholder.data.row import shorten
from beholder.errors import ItemError
from beholder.kinds.agreement.published_files import (
    pair,
    read_coco,
    read_columns,
    read_json,
    read_lines,
    single,
)
from beholder.records import Item
from beholder.stats.annotator_pairs import best_pairs, complete

SIDE_BY_SIDE = {
    "Comprehensiveness": "comprehensiveness",
    "Specificity": "specificity",
    "Hallucination": "hallucination",
    "Human Like": "human_like",
    "First few line(s) as tldr": "tldr",
}
_PREFERENCE = {"substantially": 2, "marginally": 1}


def flickr8k_expert(folder: Path) -> Iterator[Item]:
    """``flickr8k.json`` as caption-metric papers share it: ratings under each picture."""
    data = read_json(folder, "flickr8k.json")
    for key, picture in data.items():
        references = [text.strip() for text in picture["ground_truth"]]
        image = Path(picture["image_path"]).name
        judged = picture["human_judgement"]
        number = 0
        for caption, ratings in groupby(
            judged, key=lambda judgment: str(judgment["caption"])
        ):
            scores = [float(rating["rating"]) for rating in ratings]
            if caption.strip() in references:
                # The published protocol leaves out a picture's own captions.
                continue
            judgments = {
                "expert_ratings": scores,
                "mean": sum(scores) / len(scores),
            }
            yield single(
                f"{key}#{number}",
                caption.strip(),
                references,
                image,
                judgments,
            )
            number += 1


def flickr8k_cf(folder: Path) -> Iterator[Item]:
    """``CrowdFlowerAnnotations.txt`` with the captions of ``Flickr8k.token.txt``."""
    captions: dict[str, str] = {}
    keys_by_image: dict[str, list[str]] = defaultdict(list)
    for key, text in read_columns(folder, "Flickr8k.token.txt"):
        captions[key] = text.strip()
        keys_by_image[key.partition("#")[0]].append(key)
    for image, key, fraction, yes, no in read_columns(
        folder, "CrowdFlowerAnnotations.txt"
    ):
        # Some rows name captions or pictures that the file of captions does
        # not have.
        if key not in captions or image not in keys_by_image:
            continue
        references = (
            # A caption is not its own reference.
            captions[reference_key]
            for reference_key in keys_by_image[image]
            if reference_key != key
        )
        judgments = {
            "yes_fraction": float(fraction),
            "yes": int(yes),
            "no": int(no),
        }
        yield single(
            f"{image}/{key}", captions[key], references, image, judgments
        )


def composite(folder: Path) -> Iterator[Item]:
    """``8k_correctness.csv`` and its like, with captions of the three corpora as references.

    References come from ``Flickr8k.token.txt``, ``results_20130124.token`` (Flickr30k) and
    ``captions_val2014.json`` (COCO); a candidate that is a reference is left out.
    """
    for corpus, captions in (
        ("8k", "Flickr8k.token.txt"),
        ("30k", "results_20130124.token"),
        ("coco", "captions_val2014.json"),
    ):
        # A part of the corpora is enough: they have licences of their own.
        if (folder / f"{corpus}_correctness.csv").is_file():
            read_captions = read_coco if corpus == "coco" else _token_file
            yield from _composite(
                folder, corpus, read_captions(folder, captions)
            )


def _composite(
    folder: Path, corpus: str, references: dict[str, list[str]]
) -> Iterator[Item]:
    ratings: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for label, name in (
        ("correctness", "correctness"),
        # The published name of the file has this spelling.
        ("thoroughness", "throughness"),
    ):
        path = folder / f"{corpus}_{name}.csv"
        if not path.is_file():
            continue
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter=";"):
                image = Path(row.get("Input.image_url") or "").name
                for column, caption in row.items():
                    # Column Input.textN has its answer in Answer.QNAnswer.
                    answer = row.get(
                        column.replace("Input.text", "Answer.Q") + "Answer"
                    )
                    if column.startswith("Input.text") and caption and answer:
                        ratings[image, caption.strip()][label] = float(answer)
    for number, ((image, caption), labels) in enumerate(ratings.items()):
        image_references = references.get(image.partition(".")[0], [])
        if caption in image_references:
            continue
        yield single(
            f"{corpus}/{number}",
            caption,
            image_references,
            image,
            labels,
            corpus=corpus,
        )


def pascal50s(folder: Path) -> Iterator[Item]:
    """``pascal_50s.json``: pairs per category, ``label`` 0 where the first was preferred."""
    for category, pairs in read_json(folder, "pascal_50s.json").items():
        for number, row in enumerate(pairs):
            first, second = (text.strip() for text in row["captions"])
            references = [text.strip() for text in row["references"]]
            name, image = f"{category}/{number}", Path(row["image"]).name
            preferred = 1 if row["label"] == 0 else -1
            yield pair(
                name,
                first,
                second,
                references,
                image,
                preferred=preferred,
                category=category,
            )


def thumb_v1(folder: Path) -> Iterator[Item]:
    """``mscoco_THumB-1.0.jsonl`` with ``mscoco_references.json``."""
    files = read_lines(folder, "mscoco_references.json")
    references = {row["seg_id"]: row["refs"] for row in files}
    for row in read_lines(folder, "mscoco_THumB-1.0.jsonl"):
        key, system = row["seg_id"], row["SYS"]
        judgments = {
            "precision": row["P"],
            "recall": row["R"],
            "total": row["human_score"],
        }
        judgments["system"] = system
        image_references = references.get(key, ())
        yield single(
            f"{key}/{system}",
            row["hyp"],
            image_references,
            row["image"],
            judgments,
            system=system,
        )


def vatex_eval(folder: Path) -> Iterator[Item]:
    """``vid_cans_score_dict.json``: per video the candidates, their ratings and references."""
    for video, entry in read_json(folder, "vid_cans_score_dict.json").items():
        ratings, references = entry["scores"], entry["refs"]
        # Two forms are in use: ratings as a list, or as its JSON text.
        if isinstance(ratings, str):
            ratings = json.loads(ratings)
        if references and isinstance(references[0], list):
            references = references[0]
        for number, (candidate, scores) in enumerate(
            zip(entry["cands"], ratings, strict=True)
        ):
            judgments = {"ratings": scores, "mean": sum(scores) / len(scores)}
            key, reference_texts = f"{video}/{number}", tuple(references)
            yield Item(
                key,
                candidate,
                reference_texts,
                video=video,
                judgments=judgments,
            )


def sugarcrepe(folder: Path) -> Iterator[Item]:
    """``add_att.json`` and the other six; references are other true captions of the picture."""
    rows = [
        (path.stem, number, row)
        for path in sorted(folder.glob("*_*.json"))
        for number, row in json.loads(path.read_text(encoding="utf-8")).items()
    ]
    captions: dict[str, list[str]] = defaultdict(list)
    for _, _, row in rows:
        # The seven files repeat captions of a picture.
        if row["caption"] not in captions[row["filename"]]:
            captions[row["filename"]].append(row["caption"])
    for category, number, row in rows:
        name, first, image = (
            f"{category}/{number}",
            row["caption"],
            row["filename"],
        )
        other_captions = [text for text in captions[image] if text != first]
        second = row["negative_caption"]
        yield pair(
            name,
            first,
            second,
            other_captions,
            image,
            preferred=1,
            category=category,
        )


def iiw400_sxs(folder: Path) -> Iterator[Item]:
    """``data.jsonl`` of IIW-400: the model's description against the human one."""
    for row in read_lines(folder, "data.jsonl"):
        answers = _answers(row.get("iiw-human-sxs-iiw-p5b") or {})
        if answers:
            yield _side_by_side(
                row["image/key"],
                row["IIW-P5B"],
                row["IIW"],
                answers,
                "IIW-P5B",
            )


def docci_test_sxs(folder: Path) -> Iterator[Item]:
    """``data.jsonl`` of DOCCI-Test: the DOCCI description against the IIW one."""
    for row in read_lines(folder, "data.jsonl"):
        answers = _answers(row)
        yield _side_by_side(
            row["image"], row["DOCCI"], row["IIW"], answers, "DOCCI"
        )


def _answers(row: Mapping[str, str]) -> dict[str, str]:
    """Return the answers by label; the published keys are such as ``metrics/Human Like``."""
    return {
        label: row[f"metrics/{question}"]
        for question, label in SIDE_BY_SIDE.items()
        if row.get(f"metrics/{question}")
    }


def _side_by_side(
    key: str,
    candidate: str,
    reference: str,
    answers: dict[str, str],
    name: str,
) -> Item:
    labels = {}
    for label, answer in answers.items():
        size = next(
            (
                _PREFERENCE[word]
                for word in answer.split()
                if word in _PREFERENCE
            ),
            0,
        )
        # An answer is such as "IIW-P5B marginally better"; one without a
        # degree is a tie.
        labels[label] = size if answer.startswith(name) else -size
    return pair(key, candidate, reference, [reference], f"{key}.jpg", **labels)


def caparena(folder: Path) -> Iterator[Item]:
    """``caparena_annots_eval.json``: battles of captions; those with a human side are left out."""
    for number, row in enumerate(
        read_json(folder, "caparena_annots_eval.json")
    ):
        sides = (row["source1"], row["source2"])
        # The protocol ranks models alone.
        if "human" in sides:
            continue
        winner = {sides[0]: 1, sides[1]: -1}.get(row["winner"], 0)
        yield pair(
            str(number),
            row["caption1"],
            row["caption2"],
            [row["ref"]] if row.get("ref") else [],
            row["img"],
            preferred=winner,
            category=str(row.get("cluster", "all")),
            model1=str(sides[0]),
            model2=str(sides[1]),
        )


def _token_file(folder: Path, name: str) -> dict[str, list[str]]:
    rows = read_columns(folder, name)
    return group_by_key(
        (key.partition(".")[0], text.strip()) for key, text in rows
    )


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
        question: _docent_label(row[question], question)
        for question in SCORE_OF
    }
    judged = pair(
        str(number),
        row["model1_generation"],
        row["model2_generation"],
        [row["reference"]],
        row["uuid"],
        model1=row["model1"],
        model2=row["model2"],
        **labels,
    )
    yield _with_annotator(judged, row)


def _docent_label(value: object, question: str) -> int:
    if value not in DOCENT_LABELS:
        expected = ", ".join(DOCENT_LABELS)
        raise ItemError(
            f"{question}: expected one of {expected}, got {shorten(value)}"
        )
    return 2 - DOCENT_LABELS.index(str(value))


def _with_annotator(item: Item, row: Mapping[str, Any]) -> Item:
    """Return the item with its ``annotator``, if the row names one."""
    annotator = row.get("annotator")
    return (
        item
        if annotator is None
        else replace(item, meta={**item.meta, "annotator": annotator})
    )


def docent_granular(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """DOCENT, granular: spans of mistakes in the description, of omissions in the reference.

    Spans are ranges of characters, in JSON. Published at
    huggingface.co/datasets/amitha/docent-eval-granular, licence as of ``docent_coarse``; the
    columns are those that the authors' code reads (``evaluate_posh_granular.py``, as there).
    """
    spans = {
        label: [
            [span["start"], span["end"]] for span in json.loads(row[label])
        ]
        for label in ("mistakes", "omissions")
    }
    name, image, system = (
        f"{row['uuid']}/{row['model']}",
        str(row["uuid"]),
        str(row["model"]),
    )
    judged = single(
        name,
        row["generation"],
        [row["reference"]],
        image,
        spans,
        system=system,
    )
    yield _with_annotator(judged, row)


def polaris(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """Polaris: a caption with the mean score that people gave it.

    Published at huggingface.co/datasets/yuwd/Polaris under a BSD licence (the Clear BSD of
    github.com/keio-smilab24/Polos), with the columns ``refs``, ``cand``, ``img`` and
    ``human_score`` on its card.
    """
    references = tuple(row["refs"])
    group = {"references": references[0]} if references else {}
    text, judgments = row["cand"], {"score": float(row["human_score"])}
    yield Item(str(number), text, references, group=group, judgments=judgments)


def nebula(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """Nebula: as Polaris, with pictures beside the captions.

    Published at huggingface.co/datasets/Ka2ukiMatsuda/Nebula with the columns ``file_name``,
    ``refs``, ``mt`` and ``human_score`` on its card, which names no licence.
    """
    # The same form under another name of the caption.
    (item,) = polaris(number, {**row, "cand": row["mt"]})
    yield replace(item, images=(str(row["file_name"]),), group={})


def detailcaps(number: int, row: Mapping[str, Any]) -> Iterator[Item]:
    """DetailCaps-4870: long captions of three systems with the score that GPT-4 gave each.

    Columns ``GT_Caption_*`` are references, written by models, too; ``GPT4_Eval`` holds the scores
    by the column of the system, in JSON, and is empty in some rows, which are left out. No person
    took part. Published at huggingface.co/datasets/foundation-multimodal-models/DetailCaps-4870
    under CC BY-NC-SA 4.0; the columns are those of public code that reads it.
    """
    if not row["GPT4_Eval"]:
        return
    references = [
        str(text)
        for key, text in row.items()
        if key.startswith("GT_Caption") and text
    ]
    source = str(row.get("source", ""))
    for name, score in json.loads(row["GPT4_Eval"]).items():
        if name not in row:
            # The column may have more than the scores.
            continue
        judgments, image = {"score": float(score)}, str(row["image"])
        key = f"{number}/{name}"
        yield single(
            key,
            row[name],
            references,
            image,
            judgments,
            system=name,
            source=source,
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
    # As published: agreement is with the two annotators who agree best.
    best = best_pairs(complete(reviews.ranks))
    names = [name for pair in best for name in (pair.first, pair.second)]
    for place, text in enumerate(reviews.texts):
        ranks = {
            "ranks": [-(reviews.ranks[name][place] or 0.0) for name in names]
        }
        key = f"{reviews.id}/{place + 1}"
        yield single(key, text, (), reviews.id, ranks, genre=reviews.category)
