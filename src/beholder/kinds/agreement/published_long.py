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
from beholder.kinds.agreement.published_files import (
    check_columns,
    pair,
    parquet_rows,
    read_coco,
    read_json,
    read_lines,
    single,
)
from beholder.records import Item, Span

LONGCAP_QUESTIONS = {
    "desc": "descriptiveness",
    "rel": "relevance",
    "flu": "fluency",
}
"""The question that people judged, by the ending of the split."""


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
        yield single(
            f"{image}#{number}",
            caption,
            references[image, caption],
            image,
            judged,
        )


_TAG = re.compile(r"</?hallucination>", re.IGNORECASE)


def detailverifybench(folder: Path) -> Iterator[Item]:
    """``real_test.jsonl``: captions of a model in which people marked what the picture belies.

    ``description_tag`` holds the caption with ``<Hallucination>`` around each mark,
    ``GT_description`` the same caption without mistakes, which is the reference.
    """
    for row in _test_lines(folder, "real_test.jsonl"):
        yield _item_from_tags(row, row["filename"], row["GT_description"])


def detailverifybench_synthetic(folder: Path) -> Iterator[Item]:
    """``synthetic_test.jsonl``: captions into which a model put mistakes that are hard to find.

    ``original_description``, before that, is the reference. No person marked anything.
    """
    for row in _test_lines(folder, "synthetic_test.jsonl"):
        yield _item_from_tags(
            row, Path(row["image_path"]).name, row["original_description"]
        )


def _item_from_tags(
    row: Mapping[str, Any], image: str, reference: str
) -> Item:
    caption, marks = _strip_tags(row["description_tag"], image)
    judgments, category = {"mistakes": marks}, row["category"]
    return single(
        image,
        caption,
        [reference],
        f"{category}/{image}",
        judgments,
        category=category,
    )


def _test_lines(folder: Path, name: str) -> Any:
    """Read the lines of a file in the folder, or in its ``data`` if that is a repository."""
    inside = folder / "data"
    return read_lines(inside if (inside / name).is_file() else folder, name)


def _strip_tags(text: str, name: str) -> tuple[str, list[list[int]]]:
    """Return a text without its tags, and the ranges that they enclosed."""
    plain, last = "", 0
    ends: list[int] = []
    for tag in _TAG.finditer(text):
        plain += text[last : tag.start()]
        last = tag.end()
        # Opening and closing tags must alternate.
        if tag[0].startswith("</") != bool(len(ends) % 2):
            raise DataError(
                name,
                f"the tag {tag[0]} at character {tag.start()} has no partner",
            )
        # Places count in the text without tags, which is the candidate.
        ends.append(len(plain))
    if len(ends) % 2:
        raise DataError(name, "the last tag is not closed")
    return plain + text[last:], [
        [*mark] for mark in zip(ends[::2], ends[1::2], strict=True)
    ]


_SENTENCE_COLUMNS = {
    "image": "id of the picture",
    "model": "model that wrote the caption",
    "sentence": "a sentence of the caption, or the list of all",
    "factual": "whether it is factual (true or false), or what each annotator said; for a list of"
    " sentences a list of these",
}
_ALIGNBENCH = "halcap_bench.jsonl"
_FOIL_COLUMNS = {
    "id": "what a caption and its false versions share",
    "image_id": "the picture",
    "caption": "the text",
    "foil": "whether a word of it is false",
}
_FOIL, _COCO = "foilv1.0_test_2017.json", "captions_val2014.json"
_DESCRIPTIONS = "docci_descriptions.jsonlines"


def foil(folder: Path, columns: Mapping[str, str]) -> Iterator[Item]:
    """``foilv1.0_test_2017.json``: a caption against the same with one false word.

    Its ``annotations`` have an ``id`` that a caption shares with its false versions. References
    are the picture's other captions in ``captions_val2014.json``, if that is there.

    Args:
        folder: With the published files.
        columns: Columns of ``id``, ``image_id``, ``caption`` and ``foil``.
    """
    data = read_json(folder, _FOIL)
    files = {image["id"]: image["file_name"] for image in data["images"]}
    coco = read_coco(folder, _COCO) if (folder / _COCO).is_file() else {}
    column_names = {name: columns.get(name, name) for name in _FOIL_COLUMNS}
    rows = []
    for number, row in enumerate(data["annotations"], start=1):
        check_columns(row, _FOIL_COLUMNS, column_names, _FOIL, number)
        rows.append(
            {name: row[column] for name, column in column_names.items()}
        )
    # A false version is paired with the true caption of the same id.
    true_captions = {
        row["id"]: row["caption"] for row in rows if not row["foil"]
    }
    for number, row in enumerate(
        row for row in rows if row["foil"] and row["id"] in true_captions
    ):
        image, caption = (
            files[row["image_id"]],
            true_captions[row["id"]].strip(),
        )
        other_captions = [
            t for t in coco.get(image.partition(".")[0], []) if t != caption
        ]
        second = row["caption"].strip()
        yield pair(
            f"{row['id']}/{number}",
            caption,
            second,
            other_captions,
            image,
            preferred=1,
        )


def alignbench(folder: Path, columns: Mapping[str, str]) -> Iterator[Item]:
    """``halcap_bench.jsonl`` of AlignBench, whose rows are sentences with a ``sentence_index``.

    A picture is its ``image_path_in_repo`` or, where it is not in the repository (COCO, CC12M), its
    ``image_name``: generated pictures of several sources share names.
    """
    lines = list(enumerate(read_lines(folder, _ALIGNBENCH), start=1))
    for _, row in lines:
        if name := row.get("image_path_in_repo") or row.get("image_name"):
            row["image"] = name
    # A stable sort keeps the sentences of a caption in the file's order of
    # captions.
    lines.sort(key=lambda line: int(line[1].get("sentence_index") or 0))
    column_names = {"sentence": "caption", "factual": "annotation", **columns}
    yield from _captions(
        folder, ((_ALIGNBENCH, n, row) for n, row in lines), column_names
    )


def judged_sentences(
    folder: Path, columns: Mapping[str, str]
) -> Iterator[Item]:
    """Sentences of model captions that people called factual or not, as rows of any data file.

    For DOCCI-Critique and HalDec-Bench, whose columns could not be looked up: they are asked for
    by our names and ``columns`` says where they lie. A sentence is not factual where more
    annotators say so than say the contrary, and is not judged where all are unsure. With
    ``caption`` the sentences are found in it, else joined.
    ``docci_descriptions.jsonlines`` beside them gives the references.

    Args:
        folder: With the published files.
        columns: Columns of ``image``, ``model``, ``sentence``, ``factual``, ``caption``.
    """
    endings = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
    paths = [
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith(endings)
    ]
    rows = (
        (str(path), n, row)
        for path in paths
        for n, row in read_rows(path, str(path))
    )
    yield from _captions(folder, rows, columns)


def _captions(
    folder: Path,
    rows: Iterable[tuple[str, int, Any]],
    columns: Mapping[str, str],
) -> Iterator[Item]:
    """Yield the captions whose sentences are the rows, in order."""
    column_names = {
        name: columns.get(name, name)
        for name in (*_SENTENCE_COLUMNS, "caption")
    }
    # One column cannot be the sentence and the whole caption.
    if column_names["caption"] == column_names["sentence"]:
        column_names["caption"] = ""
    captions: dict[tuple[str, str], list[tuple[str, bool | None]]] = {}
    full_captions: dict[tuple[str, str], str] = {}
    for path, number, row in rows:
        if isinstance(row, DataError):
            raise row
        check_columns(row, _SENTENCE_COLUMNS, column_names, path, number)
        key = (
            str(row[column_names["image"]]),
            str(row[column_names["model"]]),
        )
        captions.setdefault(key, []).extend(
            _sentences(row, column_names, path, number)
        )
        if row.get(column_names["caption"]):
            full_captions[key] = str(row[column_names["caption"]])
    references = _descriptions(folder)
    for (image, model), sentences in captions.items():
        # Without the caption its sentences are joined, so places are those of
        # the joined text.
        text = full_captions.get((image, model)) or " ".join(
            sentence for sentence, _ in sentences
        )
        places = _places(
            text, [sentence for sentence, _ in sentences], f"{image}/{model}"
        )
        labelled_places = [
            (place, true)
            for place, (_, true) in zip(places, sentences, strict=True)
        ]
        judged = [place for place, true in labelled_places if true is not None]
        wrong = [place for place, true in labelled_places if true is False]
        # All annotators were unsure of all sentences.
        if not judged:
            continue
        share = 1 - len(wrong) / len(judged)
        judgments = {
            "mistakes": wrong,
            "sentences": judged,
            "factual_share": share,
        }
        caption_references = references.get(image, ())
        yield single(
            f"{image}/{model}",
            text,
            caption_references,
            image,
            judgments,
            system=model,
        )


def _sentences(
    row: Mapping[str, Any],
    column_names: Mapping[str, str],
    path: str,
    number: int,
) -> Iterator[tuple[str, bool | None]]:
    sentences, factual = (
        row[column_names["sentence"]],
        row[column_names["factual"]],
    )
    # A row is one sentence, or a caption with lists.
    if isinstance(sentences, str):
        sentences, factual = [sentences], [factual]
    if (
        not isinstance(factual, Sequence)
        or isinstance(factual, str)
        or len(sentences) != len(factual)
    ):
        raise DataError(
            path,
            "expected a label for each sentence",
            line=number,
            field=column_names["factual"],
        )
    for sentence, label in zip(sentences, factual, strict=True):
        votes = label if isinstance(label, list | tuple) else [label]
        answers = [_is_factual(vote, path, number) for vote in votes]
        yes = [vote for vote in answers if vote is not None]
        yield str(sentence).strip(), 2 * sum(yes) >= len(yes) if yes else None


_YES = ("true", "yes", "factual", "correct", "1")
_NO = ("false", "no", "non-factual", "nonfactual", "incorrect", "0")


def _is_factual(vote: Any, path: str, number: int) -> bool | None:
    word = str(vote).strip().lower().removesuffix(".0")
    if word == "unknown":
        return None
    if word not in (*_YES, *_NO):
        expected = f"{', '.join(_YES)} and {', '.join(_NO)}, unknown"
        raise DataError(
            path,
            f"a label: expected one of {expected}, got {word[:40]!r}",
            line=number,
        )
    return word in _YES


def _places(text: str, sentences: Iterable[str], name: str) -> list[Span]:
    places, end = [], 0
    for sentence in sentences:
        # From the end of the last one, because a caption may repeat a
        # sentence.
        start = text.find(sentence, end)
        if start < 0:
            raise DataError(
                name,
                f"the caption does not contain the sentence {sentence[:60]!r}",
            )
        end = start + len(sentence)
        places.append((start, end))
    return places


def _descriptions(folder: Path) -> dict[str, tuple[str, ...]]:
    if not (folder / _DESCRIPTIONS).is_file():
        return {}
    return {
        row["example_id"]: (row["description"],)
        for row in read_lines(folder, _DESCRIPTIONS)
    }
