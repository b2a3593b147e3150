"""Rows of ranked texts, in our form and in the published one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beholder.data import read_reviews, reviews_row
from beholder.errors import DataError
from beholder.records import Reviews
from toy.cases import each_case

OURS: dict[str, Any] = {
    "id": "1",
    "image": "img/1.jpg",
    "language": "ja",
    "category": "Animals",
    "texts": ["猫です。", "犬です。", "鳥です。"],
    "ranks": {"anna": [1, 2, 3], "ben": [2, None, 1.5]},
    "prompt_ranks": [3, 2, 1],
    "references": ["猫がいます。"],
}
PUBLISHED: dict[str, Any] = {
    "id": 7,
    "genre": "Plants",
    **{f"sentence_{n}": f"Text {n}." for n in range(1, 6)},
    **{f"annotator_{n}": [1, 2, 3, 4, 5] for n in range(1, 4)},
}


def read_rows(
    folder: Path, *rows: object, **options: Any
) -> list[Reviews | DataError]:
    path = folder / "r.jsonl"
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return list(read_reviews(path, **options))


def test_our_own_form_is_read_and_written_back(tmp_path: Path) -> None:
    (reviews,) = read_rows(tmp_path, OURS)
    assert isinstance(reviews, Reviews)
    assert reviews.texts == ("猫です。", "犬です。", "鳥です。")
    assert reviews.ranks == {"anna": (1.0, 2.0, 3.0), "ben": (2.0, None, 1.5)}
    assert reviews.prompt_ranks == (3.0, 2.0, 1.0)
    assert reviews_row(reviews) == OURS
    assert read_rows(tmp_path, reviews_row(reviews)) == [reviews]


def test_the_published_form_is_read_from_parquet_files_of_a_folder(
    tmp_path: Path,
) -> None:
    rows = [PUBLISHED, {**PUBLISHED, "id": 8}]
    for number, row in enumerate(rows):
        pq.write_table(
            pa.Table.from_pylist([row]), tmp_path / f"part-{number}.parquet"
        )
    first, second = read_reviews(tmp_path, language="en")
    assert isinstance(first, Reviews)
    assert isinstance(second, Reviews)
    assert (first.id, second.id) == ("7", "8")
    assert first.texts == tuple(f"Text {n}." for n in range(1, 6))
    assert list(first.ranks) == ["annotator_1", "annotator_2", "annotator_3"]
    assert (first.language, first.category) == ("en", "Plants")


def test_ranks_without_names_get_numbers(tmp_path: Path) -> None:
    (reviews,) = read_rows(
        tmp_path, {"texts": ["a", "b"], "ranks": [[1, 2], [2, 1]]}
    )
    assert isinstance(reviews, Reviews)
    assert reviews.ranks == {"1": (1.0, 2.0), "2": (2.0, 1.0)}
    assert reviews.id == "1"


def test_one_reference_may_be_a_text(tmp_path: Path) -> None:
    (reviews,) = read_rows(
        tmp_path, {"texts": ["a", "b"], "references": "A dog."}
    )
    assert isinstance(reviews, Reviews)
    assert reviews.references == ("A dog.",)


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in PUBLISHED.items() if key != name}


@each_case(
    ("row", "message"),
    [
        ({"id": "1"}, "texts: is missing: a row holds all texts about an image, as a list"),
        (
            {"id": "1", "text_10": "c", "text_2": "b", "text_1": "a"},
            "rename text_1, text_2, text_10 to sentence_1, sentence_2, sentence_3",
        ),
        (
            {"id": "1", "text": "A dog."},
            "or score them one by one with beholder score FILE --map candidate=text",
        ),
        (_without("sentence_3"), "sentence_3: the column is missing"),
        (
            {k: v for k, v in PUBLISHED.items() if not k.startswith("annotator")},
            "annotator_1: no such column of a person's ranks, such as [1, 2, 3, 4, 5]; there are:",
        ),
        ({**PUBLISHED, "annotator_2": [1, 2]}, "annotator_2: expected 5 ranks, one per text, got 2"),
        ({**PUBLISHED, "annotator_2": [1, 2, 3, 4, 6]}, "annotator_2[4]: expected a rank from 1 to 5"),
        ({"texts": ["a"]}, "texts: expected two texts or more"),
        ({"texts": ["a", " "]}, "texts[1]: is empty"),
        ({"texts": "a, b"}, "texts: expected a list of texts"),
        ({"texts": ["a", 2]}, "texts[1]: expected a text"),
        ({"texts": ["a", "b"], "ranks": {"x": [1, "2"]}}, "ranks.x[1]: expected a rank from 1 to 2"),
        ({"texts": ["a", "b"], "ranks": {"x": [0, 1]}}, "ranks.x[0]: expected a rank from 1 to 2"),
        ({"texts": ["a", "b"], "ranks": {"x": "1,2"}}, "expected a list of 2 ranks such as [1, 2]"),
        ({"texts": ["a", "b"], "ranks": 3}, "ranks: expected the ranks of each annotator"),
        ({"texts": ["a", "b"], "prompt_ranks": [1]}, "prompt_ranks: expected 2 ranks"),
        ({"texts": ["a", "b"], "image": "/etc/passwd"}, "leaves the folder of the data file"),
        ({"texts": ["a", "b"], "image": "../x.jpg"}, "leaves the folder of the data file"),
        ([1], "expected an object"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_an_error_that_names_the_field(
    tmp_path: Path, row: object, message: str
) -> None:
    bad, good = read_rows(tmp_path, row, OURS)
    assert isinstance(bad, DataError)
    assert "r.jsonl:1: " in str(bad)
    assert message in str(bad)
    assert isinstance(good, Reviews)


def test_ids_may_repeat_between_languages_only(tmp_path: Path) -> None:
    first, second, again = read_rows(
        tmp_path, OURS, {**OURS, "language": "en"}, OURS
    )
    assert isinstance(first, Reviews)
    assert isinstance(second, Reviews)
    assert first.source == second.source == "img/1.jpg"
    assert isinstance(again, DataError)
    assert str(again).endswith(
        "r.jsonl:3: id: '1 (ja)' is taken by row 1; ids must differ"
    )


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no \.parquet file"):
        list(read_reviews(tmp_path))


@pytest.mark.parametrize("wrapped", [True, False])
def test_pictures_in_the_table_are_written_as_files(
    tmp_path: Path, wrapped: bool
) -> None:
    data = b"\xff\xd8 not looked at"
    picture = {"bytes": data, "path": "x.jpg"} if wrapped else data
    pq.write_table(
        pa.Table.from_pylist([{**PUBLISHED, "image": picture}]),
        tmp_path / "t.parquet",
    )
    (reviews,) = read_reviews(
        tmp_path / "t.parquet", unpack=tmp_path / "pictures"
    )
    assert isinstance(reviews, Reviews)
    assert reviews.image is not None
    assert (tmp_path / "pictures" / reviews.image).read_bytes() == data
    (without,) = read_reviews(tmp_path / "t.parquet")
    assert isinstance(without, Reviews)
    assert without.image is None
