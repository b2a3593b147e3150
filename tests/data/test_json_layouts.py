"""Layouts of JSON files: published data sets, exports of programs, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder.data import read_items
from beholder.data.notes import RowNotes
from beholder.errors import DataError
from beholder.lint import lint
from beholder.options import DataOptions
from beholder.records import Item
from toy.cases import each_case


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


PICTURE = {"image": "a.jpg", "alt": "A dog"}

TEXTS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "facets before items": (
        {"facets": [{"label": "Boats", "description": "Filter"}], "items": [PICTURE]},
        [("a.jpg", "A dog")],
    ),
    "one row": (PICTURE, [("a.jpg", "A dog")]),
    "a list in an object": (
        {"meta": {"n": 1}, "response": {"docs": [PICTURE]}},
        [("a.jpg", "A dog")],
    ),
    "annotations alone": (
        {"annotations": [{"image_id": 1, "caption": "A dog"}]},
        [("", "A dog")],
    ),
    "COCO": (
        {
            "images": [
                {"id": 7, "file_name": "a.jpg"}, {"id": 8, "file_name": "b.jpg"},
            ],
            "annotations": [
                {"image_id": "000000000007", "caption": "A dog"},
                {"image_id": 7, "caption": "A hound"},
            ],
        },
        [("a.jpg", "A dog"), ("a.jpg", "A hound")],
    ),
    "VizWiz": (
        {
            "images": [{"id": 0, "file_name": "a.jpg"}],
            "annotations": [
                {"image_id": 0, "caption": "Quality issues", "is_precanned": True},
                {"image_id": 0, "caption": "asdf", "is_rejected": True},
                {"image_id": 0, "caption": "A dog", "is_rejected": False},
            ],
        },
        [("a.jpg", "A dog")],
    ),
    "Karpathy": (
        {
            "dataset": "coco",
            "images": [
                {
                    "cocoid": 7, "filename": "a.jpg", "filepath": "val2014",
                    "split": "test", "sentences": [{"raw": "A dog"}],
                }
            ],
        },
        [("val2014/a.jpg", "A dog")],
    ),
    "MSR-VTT": (
        {
            "videos": [{"video_id": "video0", "split": "test"}],
            "sentences": [{"video_id": "video0", "caption": "A dog"}],
        },
        [("", "A dog")],
    ),
    "pandas, by column": (
        {"image": {"0": "a.jpg", "1": "b.jpg"}, "alt": {"0": "A dog", "1": "A cat"}},
        [("a.jpg", "A dog"), ("b.jpg", "A cat")],
    ),
    "pandas, split": (
        {"columns": ["image", "alt"], "index": [0], "data": [["a.jpg", "A dog"]]},
        [("a.jpg", "A dog")],
    ),
    "lists by id": ({"p1": ["A dog", "A hound"]}, [("", "A dog"), ("", "A hound")]),
    "captions by id": ({"p1": [{"caption": "A dog"}]}, [("", "A dog")]),
    "rows by id": ({"p1": PICTURE}, [("a.jpg", "A dog")]),
    "Label Studio": (
        [
            {
                "id": 3, "data": {"image": "/data/upload/a.jpg"},
                "annotations": [
                    {"was_cancelled": True, "result": []},
                    {
                        "result": [
                            {
                                "from_name": "caption", "type": "textarea",
                                "value": {"text": ["A dog"]},
                            },
                            {"type": "choices", "value": {"choices": ["x"]}},
                        ]
                    },
                ],
            }
        ],
        [("/data/upload/a.jpg", "A dog")],
    ),
    "Label Studio, JSON-MIN": (
        [{"id": 3, "image": "/data/upload/a.jpg", "caption": "A dog", "annotator": 1}],
        [("/data/upload/a.jpg", "A dog")],
    ),
    "WordPress": (
        [
            {
                "id": 1, "alt_text": "A dog", "media_type": "image", "source_url": "a.jpg",
                "caption": {"rendered": "<p>Rex &amp; Ann</p>"}, "title": {"rendered": "Rex"},
            },
            {"id": 2, "alt_text": "", "media_type": "file", "source_url": "a.pdf"},
        ],
        [("a.jpg", "A dog")],
    ),
    "Contentful": (
        {
            "contentTypes": [{"name": "Post", "description": "A blog post"}],
            "entries": [],
            "assets": [
                {
                    "sys": {"id": "x"},
                    "fields": {
                        "title": {"en-US": "Rex"},
                        "description": {"en-US": "A dog"},
                        "file": {"en-US": {"url": "//x/a.jpg", "contentType": "image/jpeg"}},
                    },
                },
                {
                    "sys": {"id": "y"},
                    "fields": {"file": {"en-US": {"url": "//x/a.pdf", "contentType": "application/pdf"}}},
                },
            ],
        },
        [("https://x/a.jpg", "A dog")],
    ),
    "Drupal": (
        {
            "jsonapi": {"version": "1.0"},
            "data": [
                {
                    "type": "media--image", "id": "u1",
                    "attributes": {"name": "a.jpg", "langcode": "en"},
                    "relationships": {
                        "field_media_image": {"data": {"id": "f1", "meta": {"alt": "A dog"}}},
                        "thumbnail": {"data": {"id": "f1", "meta": {"alt": "A dog"}}},
                        "uid": {"data": {"id": "9"}},
                    },
                }
            ],
        },
        [("a.jpg", "A dog")],
    ),
}  # fmt: skip


@each_case("name", TEXTS)
def test_layouts_have_texts(name: str, tmp_path: Path) -> None:
    value, expected = TEXTS[name]
    path = write(tmp_path / "t.json", value)
    occurrences = lint([path]).occurrences
    assert [(o.picture, o.text) for o in occurrences] == expected
    # A metric of texts needs no picture that can be opened.
    rows = list(read_items(path, textless=True, unusable={}))
    items = [row for row in rows if isinstance(row, Item)]
    assert len(items) == len(rows)
    texts = [
        text
        for item in items
        for text in (item.candidate, *item.references)
        if text
    ]
    assert texts == [text for _, text in expected]


REFUSED: dict[str, tuple[Any, str]] = {
    "two lists": (
        {"a": [PICTURE], "b": [PICTURE]},
        r"several lists that could be the rows: a \(image, alt\); b .*--map 'candidate=a\[\]\.COLUMN'",
    ),
    "no list": ({"n": 3, "m": {"x": 1}}, r"has no list of rows; there are: n \(a number\), m"),
    "lists by id under another name": (
        {"v1": {"sentences": ["A"]}},
        r"v1 \(an object with sentences\); .* name the column of the text with --map references=KEY",
    ),
    "an unlisted picture": (
        {"images": [{"id": 7}], "annotations": [{"image_id": 9, "caption": "a"}]},
        "annotation 1 is about the picture 9, which is not in images; their ids are such as 7",
    ),
    "a split file without names": (
        {"images": [{"cocoid": 7, "sentences": [{"raw": "a"}]}]},
        r"images\[0\] has no filename",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_layouts_that_are_refused(name: str, tmp_path: Path) -> None:
    value, message = REFUSED[name]
    with pytest.raises(DataError, match=message):
        list(read_items(write(tmp_path / "t.json", value)))


def test_a_mapped_path_chooses_the_list(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.json",
        {"a": [PICTURE], "b": [{"image": "b.jpg", "alt": "A cat"}]},
    )
    (item,) = read_items(path, DataOptions(map={"candidate": "b[].alt"}))
    assert isinstance(item, Item)
    assert (item.candidate, item.images) == ("A cat", ("b.jpg",))


def test_columns_that_hold_texts_deeper_are_named_with_their_keys(
    tmp_path: Path,
) -> None:
    turns = [{"from": "x", "value": "A"}]
    row = {"image": "a.jpg", "turns": turns, "more": {"t": "A"}}
    path = write(tmp_path / "t.json", [row])
    (error,) = read_items(path)
    with pytest.raises(DataError) as refusal:
        lint([path])
    for message in (str(error), str(refusal.value)):
        assert (
            "turns (a list of objects with from, value), more (an object with t); name its column"
        ) in message
        assert (
            "=COLUMN, a value in an object as 'COLUMN.KEY', one in a list as 'COLUMN[].KEY'"
        ) in message


def test_a_table_without_headings_is_recognized(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("A dog runs.\thttp://x/a.jpg\nA cat.\thttp://x/b.jpg\n")
    (error,) = read_items(path)
    with pytest.raises(DataError) as refusal:
        lint([path])
    for message in (str(error), str(refusal.value)):
        assert (
            "if the first line is a row, add a line of headings above it"
            in message
        )


def test_an_object_is_no_text(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", [{"image": "a.jpg", "alt": {"de": "A"}}])
    (error,) = lint([path]).bad
    assert "alt: expected a text, got an object {'de': 'A'}" in str(error)
    path = write(
        tmp_path / "t.json", [{"image": "a.jpg", "alt": "A", "page": {}}]
    )
    (error,) = lint([path]).bad
    assert "page: expected a text, got an object {}; name a value" in str(
        error
    )
    manifest = {
        "@context": "http://iiif.io/api/presentation/2/context.json",
        "sequences": [
            {
                "canvases": [
                    {
                        "@id": "c",
                        "images": [],
                        "description": {"@value": ["Two men", "sit down"]},
                    }
                ]
            }
        ],
    }
    (item,) = read_items(write(tmp_path / "m.json", manifest))
    assert isinstance(item, Item)
    assert item.candidate == "Two men sit down"


def test_what_a_layout_leaves_out_is_counted(tmp_path: Path) -> None:
    expected = {
        "COCO": "pictures without a caption: 1",
        "VizWiz": "references with is_precanned: 1; references with is_rejected: 1",
        "WordPress": "media that are not pictures: 1",
        "Contentful": "rows of the list 'contentTypes': 1",
        "Label Studio": "annotations that were cancelled: 1",
    }
    for name, sentence in expected.items():
        path = write(tmp_path / "t.json", TEXTS[name][0])
        notes = RowNotes()
        list(read_items(path, notes=notes, textless=True, unusable={}))
        assert sentence in " ".join(notes.sentences()), name
        assert sentence in " ".join(lint([path]).notes), name


IDS = [
    ("73", "73"), ("000000000073", "73"), ("73.0", "73"), (73, "73"),
    ("COCO_val2014_000000000073.jpg", "73"), ("73", "COCO_train2017_000000000073"),
    ("3cd32b.jpg", "3cd32b"), ("3cd32b", "img/3cd32b.JPG"), ("fe\u0302te", "f\u00eate"),
    ("video7.mp4", "video7"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "known"), IDS)
def test_ids_of_references_in_other_spellings(
    written: str | int, known: str, tmp_path: Path
) -> None:
    data = write(tmp_path / "d.json", [{"id": written, "candidate": "A dog"}])
    references = write(tmp_path / "r.json", {known: ["A dog.", "A hound."]})
    notes = RowNotes()
    (item,) = read_items(
        data, DataOptions(references_from=references), notes=notes
    )
    assert isinstance(item, Item)
    assert item.references == ("A dog.", "A hound.")
    respelled = "".join(notes.sentences())
    assert (f"is {known!r})" in respelled) == (str(written) != known)


def test_references_whose_ids_are_alike_are_found_as_written_only(
    tmp_path: Path,
) -> None:
    data = write(
        tmp_path / "d.json",
        [{"id": "a.jpg", "candidate": "A"}, {"id": "a", "candidate": "A"}],
    )
    references = write(
        tmp_path / "r.json", {"a.jpg": "1", "a.png": "2", "b": "3", "c": "4"}
    )
    options = DataOptions(references_from=references)
    first, second = read_items(data, options)
    assert isinstance(first, Item)
    assert first.references == ("1",)
    assert (
        "has no references for 'a'; its ids are such as 'a.jpg', 'a.png', 'b', ...;"
        " another column is the id with --map id=COLUMN"
    ) in str(second)


def test_a_mapped_column_makes_objects_by_id_rows(tmp_path: Path) -> None:
    data = write(tmp_path / "d.json", {"v1": "A dog"})
    references = write(
        tmp_path / "r.json",
        {"v1": {"timestamps": [[0, 3]], "sentences": ["A dog."]}},
    )
    mapped = {"references": "sentences"}
    (item,) = read_items(
        data, DataOptions(map=mapped, references_from=references)
    )
    assert isinstance(item, Item)
    assert item.references == ("A dog.",)


def test_mapped_columns_reach_the_file_of_references(tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_text("id,text\n1,A dog\n")
    references = tmp_path / "r.csv"
    references.write_text("key;summary\n1;A dog.\n1;A hound.\n")
    mapped = {"candidate": "text", "references": "summary"}
    options = DataOptions(map=mapped, references_from=references)
    with pytest.raises(DataError, match=r"there are: key, references; name"):
        list(read_items(data, options))
    options = DataOptions(
        map={**mapped, "id": "key"}, references_from=references
    )
    (item,) = read_items(data, options)
    assert isinstance(item, Item)
    assert item.references == ("A dog.", "A hound.")


def test_rows_of_pictures_find_references_by_their_picture(
    tmp_path: Path,
) -> None:
    data = tmp_path / "d.csv"
    data.write_text("image,caption\na.jpg,A dog\n")
    references = tmp_path / "r.csv"
    references.write_text("image,caption\n" + "a.jpg,A dog.\n" * 5)
    (item,) = read_items(data, DataOptions(references_from=references))
    assert isinstance(item, Item)
    assert item.references == ("A dog.",) * 5


def test_pictures_that_texts_do_not_need(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "candidate": "A", "image": "/elsewhere/a.jpg"},
        {"id": "2", "candidate": "A", "image": {"bytes": b"x", "path": None}},
        {"id": "3", "candidate": "A", "image": {"bytes": b"x", "path": "c.jpg"}},
        {"id": "4", "candidate": "A", "pixels": b"x"},
        {"id": "5", "candidate": "A", "video": "../film.mp4"},
    ]  # fmt: skip
    from beholder.data.read import EVERY_ROW, items_of

    unusable: dict[str, str] = {}
    notes = RowNotes()
    items = items_of(
        enumerate(rows, 1), EVERY_ROW, "items", notes=notes, unusable=unusable
    )
    pictures = [item.images for item in items if isinstance(item, Item)]
    assert pictures == [(), (), ("c.jpg",), (), ()]
    assert list(unusable) == ["1", "2", "4", "5"]
    assert "leaves the folder of the data file" in unusable["1"]
    assert "the picture is in the table itself" in unusable["2"]
    assert "pictures cannot be opened" in "".join(notes.sentences())
    # Where pictures are looked at, these are bad rows.
    errors = list(items_of(enumerate(rows[:1], 1), EVERY_ROW, "items"))
    assert isinstance(errors[0], DataError)


def test_lint_reads_texts_beside_pictures(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg", "site/c.jpg", "site/d.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "a.txt").write_text("A dog asleep on a bed")
    (tmp_path / "LICENSE.txt").write_text("All rights reserved")
    report = lint([tmp_path])
    # ``site`` has pictures without any text beside them: pages show those.
    assert [(o.picture, o.raw) for o in report.occurrences] == [
        ("a.jpg", "A dog asleep on a bed"),
        ("b.jpg", None),
    ]
    assert [finding.rule for finding in report.findings] == ["ALT001"]


def test_settings_of_a_folder_are_no_pictures(tmp_path: Path) -> None:
    settings = {
        "package.json": {"name": "x", "description": "A site", "files": ["a"]},
        "nested.json": {"description": "A site", "scripts": {"a": "b"}},
        "words.json": {"title": "Hello", "description": "A site"},
    }
    for name, value in settings.items():
        write(tmp_path / name, value)
        with pytest.raises(DataError):
            lint([tmp_path / name])


def test_a_folder_names_texts_and_tables_that_it_does_not_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "captions.csv").write_text("image,alt\na.jpg,A dog\n")
    with pytest.raises(
        DataError, match=r"it has captions\.csv: name that file"
    ):
        list(read_items(tmp_path))
    (tmp_path / "a.jpg").write_bytes(b"")
    (tmp_path / "a.txt").write_text("A dog")
    notes = RowNotes()
    list(read_items(tmp_path, notes=notes))
    assert "texts and tables beside the pictures (captions.csv): 1" in "".join(
        notes.sentences()
    )


@pytest.mark.parametrize(
    "name", ["alts.yaml", "alts.yml", "alts.toml", "ALTS.YAML"]
)
def test_a_folder_counts_data_of_forms_that_are_not_read(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("a.jpg: A dog\n")
    (tmp_path / "a.jpg").write_bytes(b"")
    (tmp_path / "a.txt").write_text("A dog")
    notes = RowNotes()
    list(read_items(tmp_path, notes=notes))
    assert f"({name}): 1" in "".join(notes.sentences())
    report = lint([tmp_path])
    assert [entry.file for entry in report.left_out] == [name]
