"""Readers of the sets of long captions of 2025 and 2026, in the form they are published in.

As in ``published``: a folder in, items out. Where the form could not be looked up, the reader says
which columns it needs and takes names for them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder.data.sources import read_rows
from beholder.errors import DataError
from beholder.kinds.agreement.published_files import parquet_rows, read_json, read_lines
from beholder.records import Item, Span

LONGCAP_QUESTIONS = {"desc": "descriptiveness", "rel": "relevance", "flu": "fluency"}
"""What people judged, by the ending of the split."""


def longcap_arena(folder: Path) -> Iterator[Item]:
    """``test.desc-*.parquet``, ``test.rel-*`` and ``test.flu-*``, as the card has the splits.

    A row has ``file_name``, ``refs``, ``cand`` and ``score`` (0..1). The three scores of a caption
    are brought together; not every caption has all three.
    """
    references: dict[tuple[str, str], tuple[str, ...]] = {}
    scores: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for ending, question in LONGCAP_QUESTIONS.items():
        for row in parquet_rows(folder, f"test.{ending}-*.parquet"):
            key = (row["file_name"], row["cand"])
            references.setdefault(key, tuple(row["refs"]))
            scores[key][question] = float(row["score"])
    for number, ((image, caption), judged) in enumerate(scores.items()):
        yield Item(
            id=f"{image}#{number}",
            candidate=caption,
            references=references[image, caption],
            images=(image,),
            judgments=judged,
        )


_TAG = re.compile(r"</?hallucination>", re.IGNORECASE)


def detailverifybench(folder: Path) -> Iterator[Item]:
    """``real_test.jsonl``: captions of a model in which people marked what the picture belies.

    ``description_tag`` holds the caption with ``<Hallucination>`` around each mark,
    ``GT_description`` the same caption without mistakes, which is the reference.
    """
    for row in _test_lines(folder, "real_test.jsonl"):
        caption, marks = _untagged(row["description_tag"], row["filename"])
        yield Item(
            id=row["filename"],
            candidate=caption,
            references=(row["GT_description"],),
            images=(f"{row['category']}/{row['filename']}",),
            group={"category": row["category"]},
            judgments={"mistakes": marks},
        )


def detailverifybench_synthetic(folder: Path) -> Iterator[Item]:
    """``synthetic_test.jsonl``: captions into which a model put mistakes that are hard to find.

    ``original_description``, before that, is the reference. No person marked anything.
    """
    for row in _test_lines(folder, "synthetic_test.jsonl"):
        caption, marks = _untagged(row["description_tag"], row["image_path"])
        image = Path(row["image_path"]).name
        yield Item(
            id=image,
            candidate=caption,
            references=(row["original_description"],),
            images=(f"{row['category']}/{image}",),
            group={"category": row["category"]},
            judgments={"mistakes": marks},
        )


def _test_lines(folder: Path, name: str) -> Any:
    """Lines of a file in the folder, or in its ``data`` if the repository was downloaded."""
    inside = folder / "data"
    return read_lines(inside if (inside / name).is_file() else folder, name)


def _untagged(text: str, name: str) -> tuple[str, list[list[int]]]:
    """A text without its tags, and the ranges that stood between them."""
    plain, marks, begin = "", [], -1
    last = 0
    for tag in _TAG.finditer(text):
        plain += text[last : tag.start()]
        last = tag.end()
        opens = not tag[0].startswith("</")
        if opens != (begin < 0):
            raise DataError(name, f"the tag {tag[0]} at character {tag.start()} has no partner")
        if opens:
            begin = len(plain)
        else:
            marks.append([begin, len(plain)])
            begin = -1
    if begin >= 0:
        raise DataError(name, "the last tag is not closed")
    return plain + text[last:], marks


_SAYS = {
    "Caption 1 is better": 1,
    "Caption 2 is better": -1,
    "Tie": 0,
}


def caparena_auto(folder: Path) -> Iterator[Item]:
    """``MODEL.json`` of the evaluated models: battles of their captions against three baselines.

    A battle has ``img``, ``source1``, ``source2``, ``caption1``, ``caption2``, ``ref`` (by a
    person), ``ref_model`` (the baseline) and ``judge``, what GPT-4o said; without such an answer
    it is left out, as in the authors' code. ``caparena_auto_600.json`` is not read.
    """
    for path in sorted(folder.glob("*.json")):
        rows = read_json(folder, path.name)
        if not isinstance(rows, list):
            continue  # the captions of the baselines
        for row in rows:
            said = _SAYS.get(str(row.get("judge", "")).removesuffix("."))
            if said is None:
                continue
            yield Item(
                id=f"{path.stem}/{row['img']}",
                candidate=row["caption1"],
                references=(row["ref"],) if row.get("ref") else (),
                images=(str(row["img"]),),
                judgments={
                    "preferred": said,
                    "category": str(row["ref_model"]),
                    "model1": str(row["source1"]),
                    "model2": str(row["source2"]),
                },
                meta={"candidate_b": row["caption2"]},
            )


DOCCI_COLUMNS = {
    "image": "id of the picture",
    "model": "model that wrote the caption",
    "sentence": "a sentence of the caption, or the list of all",
    "factual": "whether it is factual (true or false), or what each annotator said; for a list of"
    " sentences a list of these",
}
_DOCCI_CAPTION = "caption"
_DESCRIPTIONS = "docci_descriptions.jsonlines"


def docci_critique(folder: Path, columns: Mapping[str, str]) -> Iterator[Item]:
    """Sentences of model captions that people called factual or not, as rows of any data file.

    Written by the paper's description; its columns could not be looked up, so they are asked for
    by our names and ``columns`` says where they lie. A sentence is not factual where more
    annotators say so than say the contrary. With ``caption`` the sentences are found in it, else
    joined. ``docci_descriptions.jsonlines`` beside them gives the references.

    Args:
        folder: With the published files.
        columns: Which column holds ``image``, ``model``, ``sentence``, ``factual``, ``caption``.
    """
    named = {name: columns.get(name, name) for name in (*DOCCI_COLUMNS, _DOCCI_CAPTION)}
    captions: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    whole: dict[tuple[str, str], str] = {}
    for path in sorted(folder.iterdir()):
        if not path.name.endswith((".jsonl", ".json", ".csv", ".tsv", ".parquet")):
            continue
        for number, row in read_rows(path, str(path)):
            if isinstance(row, DataError):
                raise row
            _check_columns(row, named, str(path), number)
            key = (str(row[named["image"]]), str(row[named["model"]]))
            captions.setdefault(key, []).extend(_sentences(row, named, str(path), number))
            if row.get(named[_DOCCI_CAPTION]):
                whole[key] = str(row[named[_DOCCI_CAPTION]])
    references = _descriptions(folder)
    for (image, model), sentences in captions.items():
        text = whole.get((image, model)) or " ".join(said for said, _ in sentences)
        places = _places(text, [said for said, _ in sentences], f"{image}/{model}")
        wrong = [
            place for place, (_, factual) in zip(places, sentences, strict=True) if not factual
        ]
        yield Item(
            id=f"{image}/{model}",
            candidate=text,
            references=references.get(image, ()),
            images=(image,),
            group={"system": model},
            judgments={
                "mistakes": wrong,
                "sentences": places,
                "factual_share": 1 - len(wrong) / len(places),
            },
        )


def _check_columns(row: Any, named: Mapping[str, str], path: str, number: int) -> None:
    for name, what in DOCCI_COLUMNS.items():
        if named[name] not in row:
            raise DataError(
                path,
                f"has no column {named[name]!r} ({what}); the row has: {', '.join(map(str, row))};"
                f" say where it lies with --map {name}=COLUMN",
                line=number,
            )


def _sentences(
    row: Mapping[str, Any], named: Mapping[str, str], path: str, number: int
) -> Iterator[tuple[str, bool]]:
    said, factual = row[named["sentence"]], row[named["factual"]]
    if isinstance(said, str):
        said, factual = [said], [factual]
    if not isinstance(factual, Sequence) or isinstance(factual, str) or len(said) != len(factual):
        raise DataError(
            path, "expected a label for each sentence", line=number, field=named["factual"]
        )
    for sentence, label in zip(said, factual, strict=True):
        votes = label if isinstance(label, list | tuple) else [label]
        yes = [_is_factual(vote, path, number) for vote in votes]
        yield str(sentence).strip(), 2 * sum(yes) >= len(yes)


def _is_factual(vote: Any, path: str, number: int) -> bool:
    if isinstance(vote, str):
        told = {"true": True, "yes": True, "factual": True}
        told |= {"false": False, "no": False, "non-factual": False, "nonfactual": False}
        vote = told.get(vote.strip().lower())
    if vote not in (True, False):
        raise DataError(
            path,
            "a label is none of true, yes, factual, 1 and false, no, non-factual, 0",
            line=number,
        )
    return bool(vote)


def _places(text: str, sentences: Iterable[str], name: str) -> list[Span]:
    found, end = [], 0
    for sentence in sentences:
        start = text.find(sentence, end)
        if start < 0:
            raise DataError(name, f"the caption does not hold the sentence {sentence[:60]!r}")
        end = start + len(sentence)
        found.append((start, end))
    return found


def _descriptions(folder: Path) -> dict[str, tuple[str, ...]]:
    if not (folder / _DESCRIPTIONS).is_file():
        return {}
    return {row["example_id"]: (row["description"],) for row in read_lines(folder, _DESCRIPTIONS)}
