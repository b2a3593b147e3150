"""Own data without rewriting it: mapped columns, spreadsheets, COCO, IIIF, subtitles, folders."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from PIL import Image

import beholder
from beholder import DataError, Item
from beholder.data import read_items
from beholder.data.folders import sidecar_rows
from beholder.data.lines import MAX_ROW_BYTES
from beholder.data.subtitles import Cue, cues, join_cues
from beholder.errors import ConfigError
from beholder.options import DataOptions
from toy.cases import each_case


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _items(path: Path, **options: Any) -> list[Item]:
    rows_read = list(read_items(path, DataOptions(**options)))
    assert all(isinstance(row_read, Item) for row_read in rows_read), rows_read
    return [row_read for row_read in rows_read if isinstance(row_read, Item)]


def test_columns_are_mapped_and_the_others_kept(tmp_path: Path) -> None:
    rows = [
        {
            "text": "a dog",
            "gt": ["dog", "a dog"],
            "candidate": "no",
            "split": "test",
        }
    ]
    path = _write(
        tmp_path / "d.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows)
    )
    (item,) = _items(
        path, map={"candidate": "text", "references": "gt", "id": "split"}
    )
    assert (item.id, item.candidate, item.references) == (
        "test",
        "a dog",
        ("dog", "a dog"),
    )
    assert item.meta == {}


def test_an_empty_cell_of_the_mapped_column_is_an_empty_text(
    tmp_path: Path,
) -> None:
    path = _write(tmp_path / "d.csv", "text,gt\n,a dog\nb,a cat\n")
    first, second = _items(path, map={"candidate": "text", "references": "gt"})
    assert (first.candidate, second.candidate) == ("", "b")


def test_an_unknown_mapped_column_is_reported_with_the_existing_ones(
    tmp_path: Path,
) -> None:
    path = _write(tmp_path / "d.csv", "text,gold\na,b\n")
    with pytest.raises(
        DataError, match=r"no row has the column 'gt' .*there are: text, gold"
    ):
        list(
            read_items(
                path,
                DataOptions(map={"candidate": "text", "references": "gt"}),
            )
        )


def test_only_fields_are_mapped(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.csv", "text\na\n")
    with pytest.raises(
        ConfigError, match=r"--map candidat=.*did you mean candidate\?"
    ):
        list(read_items(path, DataOptions(map={"candidat": "text"})))


def test_values_inside_a_field_are_mapped(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "d.csv",
        "text,score,model,judgments.old\na,3.5,m1,2\nb,,m2,\n",
    )
    mapped = {
        "candidate": "text",
        "judgments.overall": "score",
        "group.system": "model",
    }
    first, second = read_items(path, DataOptions(map=mapped))
    assert isinstance(first, Item)
    assert isinstance(second, Item)
    assert first.judgments == {"old": 2.0, "overall": 3.5}
    assert first.group == {"system": "m1"}
    assert second.judgments == {}
    assert second.group == {"system": "m2"}


def test_a_value_cannot_be_mapped_into_a_field_that_is_no_object(
    tmp_path: Path,
) -> None:
    path = _write(tmp_path / "d.csv", "candidate,judgments,score\na,good,3\n")
    (error,) = read_items(
        path, DataOptions(map={"judgments.overall": "score"})
    )
    assert isinstance(error, DataError)
    assert (
        "judgments: is not an object, so --map judgments.overall=score"
        in str(error)
    )


def test_values_of_meta_keep_their_type(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "d.jsonl", '{"candidate": "a", "n": 3, "sys": 7}\n'
    )
    (item,) = read_items(
        path, DataOptions(map={"meta.count": "n", "group.system": "sys"})
    )
    assert isinstance(item, Item)
    assert item.meta == {"count": 3}
    assert item.group == {"system": "7"}


def test_aliases_are_mapped(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.csv", "text,file\na,p.jpg\n,q.jpg\n")
    first, second = read_items(
        path, DataOptions(map={"alt": "text", "image": "file"})
    )
    assert isinstance(first, Item)
    assert (first.candidate, first.images) == ("a", ("p.jpg",))
    assert isinstance(
        second, Item
    )  # an empty text is a failed item, not a wrong row
    assert second.candidate == ""


@pytest.mark.parametrize(
    ("mapped", "message"),
    [
        (
            {"image": "a", "images": "b"},
            "--map image and --map images name the same field",
        ),
        ({"judgments.": "a"}, "--map judgments.="),
        ({"jugdments.x": "a"}, r"did you mean judgments\.x\?"),
        ({"candidate": ""}, "name a column"),
    ],
)
def test_mappings_that_are_not_valid_are_refused(
    tmp_path: Path, mapped: dict[str, str], message: str
) -> None:
    path = _write(tmp_path / "d.csv", "text\na\n")
    with pytest.raises(ConfigError, match=message):
        list(read_items(path, DataOptions(map=mapped)))


def test_a_spreadsheet_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.xlsx", "PK")
    with pytest.raises(DataError, match="save it as CSV"):
        list(read_items(path))


def test_numbered_references_are_a_list_in_their_order(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "d.csv",
        "caption,reference_10,reference_2,ref 1\na,ten,two,one\nb,,two,\n",
    )
    first, second = _items(path)
    assert first.references == ("one", "two", "ten")
    assert second.references == ("two",)


def test_references_in_two_forms_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.csv", "caption,reference,reference_1\na,b,c\n")
    (error,) = read_items(path)
    assert isinstance(error, DataError)
    assert "both 'reference' and 'reference_1' could be it" in str(error)


@pytest.mark.parametrize(
    "text", ["caption;ref\na, b;c\n", "caption\tref\na, b\tc\n"]
)
def test_tables_with_other_separators_are_read(
    tmp_path: Path, text: str
) -> None:
    (item,) = _items(_write(tmp_path / "d.csv", text))
    assert (item.candidate, item.references) == ("a, b", ("c",))


def test_a_comma_in_the_header_wins_over_a_semicolon_in_quotes(
    tmp_path: Path,
) -> None:
    (item,) = _items(_write(tmp_path / "d.csv", '"x;y",caption\n1,a\n'))
    assert (item.candidate, item.meta) == ("a", {"x;y": "1"})


def test_a_json_array_named_jsonl_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"one JSON value over several lines.* call it \.json"
    ):
        list(
            read_items(
                _write(tmp_path / "d.jsonl", '[\n{"caption": "a"}\n]\n')
            )
        )


COCO = {
    "images": [
        {"id": 7, "file_name": "a.jpg"},
        {"id": 8, "file_name": "b.jpg"},
    ],
    "annotations": [
        {"id": 1, "image_id": 8, "caption": "a cat"},
        {"id": 2, "image_id": 7, "caption": "a dog"},
        {"id": 3, "image_id": 8, "caption": "one cat"},
    ],
}


def test_coco_results_find_their_references(tmp_path: Path) -> None:
    gold = _write(tmp_path / "captions.json", json.dumps(COCO))
    results = [
        {"image_id": 8, "caption": "cats"},
        {"image_id": 7, "caption": "dogs"},
    ]
    path = _write(tmp_path / "results.json", json.dumps(results))
    first, second = _items(path, references_from=gold)
    assert (first.candidate, first.references, first.images) == (
        "cats", ("a cat", "one cat"), ("b.jpg",),
    )  # fmt: skip
    assert (second.candidate, second.references) == ("dogs", ("a dog",))
    (item,) = (
        row_read
        for row_read in read_items(path)
        if isinstance(row_read, Item) and row_read.candidate == "cats"
    )
    assert item.references == ()


def test_coco_annotations_alone_are_pictures_with_references(
    tmp_path: Path,
) -> None:
    path = _write(tmp_path / "captions.json", json.dumps(COCO))
    first, second = read_items(path, textless=True)
    assert isinstance(first, Item)
    assert isinstance(second, Item)
    assert (first.id, first.images, first.references) == (
        "7",
        ("a.jpg",),
        ("a dog",),
    )
    assert second.references == ("a cat", "one cat")


def test_a_broken_coco_file_is_refused(tmp_path: Path) -> None:
    broken = {**COCO, "annotations": [{"image_id": 9, "caption": "a"}]}
    with pytest.raises(
        DataError,
        match=r"annotation 1 is about the picture 9, which is not in images",
    ):
        list(read_items(_write(tmp_path / "c.json", json.dumps(broken))))


def test_references_of_another_data_set_are_found_by_id(
    tmp_path: Path,
) -> None:
    gold = _write(
        tmp_path / "gold.csv", "id,text,reference_1\nx,one,two\nx,,three\n"
    )
    rows = '{"id": "x", "caption": "a", "references": ["own"]}\n{"id": "y", "caption": "b"}\n'
    first, second = read_items(
        _write(tmp_path / "d.jsonl", rows), DataOptions(references_from=gold)
    )
    assert isinstance(first, Item)
    assert first.references == ("own", "two", "three")
    assert isinstance(second, DataError)
    assert "gold.csv has no references for 'y'" in str(second)


@pytest.mark.parametrize(
    ("own_fields", "references"),
    [
        ({"references": ["own", "mine"]}, ("own", "mine", "two")),
        ({"reference": "own"}, ("own", "two")),
        ({"ref": ["own"]}, ("own", "two")),
        ({"refs": "own", "references": None}, ("own", "two")),
        ({"ground_truth": "own"}, ("own", "two")),
        ({"references": []}, ("two",)),
        ({}, ("two",)),
    ],
)
def test_a_row_keeps_its_own_references_by_any_name(
    tmp_path: Path, own_fields: dict[str, Any], references: tuple[str, ...]
) -> None:
    gold = _write(tmp_path / "gold.csv", "id,ref\nx,two\n")
    path = _write(
        tmp_path / "d.jsonl",
        json.dumps({"id": "x", "caption": "a", **own_fields}),
    )
    (item,) = _items(path, references_from=gold)
    assert (item.references, item.meta) == (references, {})


@pytest.mark.parametrize(
    ("own_fields", "reason"),
    [
        (
            {"ref": "a", "refs": "b"},
            "references: both 'ref' and 'refs' could be it",
        ),
        ({"reference": 5}, "references: expected a list of texts, got 5"),
        (
            {"references": '["a", "b"]'},
            "references: expected a list of texts, got a list written",
        ),
    ],
)
def test_a_row_whose_own_references_are_wrong_is_refused(
    tmp_path: Path, own_fields: dict[str, Any], reason: str
) -> None:
    gold = _write(tmp_path / "gold.csv", "id,ref\nx,two\n")
    path = _write(
        tmp_path / "d.jsonl",
        json.dumps({"id": "x", "caption": "a", **own_fields}),
    )
    (error,) = read_items(path, DataOptions(references_from=gold))
    assert isinstance(error, DataError)
    assert reason in str(error)


VTT = """WEBVTT - described

NOTE
00:00.000 --> 00:09.000
no cue

intro
00:01.500 --> 00:04.000 align:start
<v Ann>A <b>dog</b>
runs.

01:00:02.000 --> 01:00:03.250
It stops.
"""


def test_subtitles_are_one_text_with_times(tmp_path: Path) -> None:
    (item,) = _items(_write(tmp_path / "film.en.vtt", VTT))
    assert (item.id, item.candidate) == ("film", "A dog runs. It stops.")
    assert item.meta["cues"] == [
        [1.5, 4.0, "A dog runs."],
        [3602.0, 3603.25, "It stops."],
    ]


@pytest.mark.parametrize("sign", ["<", "{\\"])
def test_markup_that_never_ends_is_read_in_one_pass(sign: str) -> None:
    text = (
        sign * 150_000
    )  # looking on from each sign to the end would take minutes
    (cue,) = cues(
        ["0:00.0 --> 0:01.0", f"<i>{text}</i> {{\\an8}}end"], "x.srt"
    )
    assert isinstance(cue, Cue)
    assert cue.text == f"{text} end"


def test_srt_has_numbers_and_commas(tmp_path: Path) -> None:
    text = "1\r\n00:00:01,000 --> 00:00:02,500\r\nA dog.\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nA cat."
    (item,) = _items(_write(tmp_path / "film.srt", text))
    assert item.candidate == "A dog. A cat."
    assert item.meta["cues"][0] == [1.0, 2.5, "A dog."]


def _texts(name: str, text: str) -> list[str]:
    return [
        cue.text
        for cue in cues(text.splitlines(), name)
        if isinstance(cue, Cue)
    ]


def test_a_cue_may_be_named_like_a_block() -> None:
    # WebVTT (W3C) 4.1: a comment is NOTE alone or with a space behind it; STYLE and REGION alone
    times = "00:01.000 --> 00:02.000"
    text = "WEBVTT\n\n" + "".join(
        f"{name}\n{times}\n{name}!\n\n"
        for name in ("NOTES-1", "STYLE-2", "REGION 3", "NOTE", "STYLE")
    )
    assert _texts("film.vtt", text) == ["NOTES-1!", "STYLE-2!", "REGION 3!"]
    assert _texts("film.vtt.gz", f"WEBVTT\n\nNOTE a\nb\n\n{times}\na\n") == [
        "a"
    ]


def test_character_references_are_decoded_after_markup() -> None:
    # the names of WebVTT 4.2.2, and a number; what names no character stays as it is
    text = "0:01.000 --> 0:02.000\n<i>A</i> &lt;b&gt; &amp;amp; c&nbsp;d &#233; AT&T &what; &"
    assert _texts("film.vtt", text) == ["A <b> &amp; c d é AT&T &what; &"]
    assert _texts("film.srt", text.replace(".", ",")) == [
        "A <b> &amp; c d é AT&T &what; &"
    ]
    huge = "&#" + "9" * 150_000 + ";"
    assert _texts("film.vtt", f"0:01.000 --> 0:02.000\n{huge}") == [huge]


@each_case(
    ("text", "texts"),
    [
        ("1\n{0}\nA dog\n\nruns.\n\nFast.\n\n2\n{1}\nA cat.\n", ["A dog runs. Fast.", "A cat."]),
        ("1\n\n{0}\n\nA dog.\n\n2\n\n{1}\n\nA cat.\n", ["A dog.", "A cat."]),
        ("1\n{0}\nA dog.\n2\n{1}\nA cat.\n", ["A dog.", "A cat."]),
        ("1\n{0}\n1984\n\n2\n{1}\n1985\n", ["1984", "1985"]),
        ("{0}\nIn\n\n1984\n\nor so\n\n{1}\nA cat.\n", ["In 1984 or so", "A cat."]),
        ("1\n{0}\nNOTE that\n\nSTYLE\n", ["NOTE that STYLE"]),
    ],
)  # fmt: skip
def test_text_of_srt_continues_after_an_empty_line(
    text: str, texts: list[str]
) -> None:
    times = ("00:00:01,000 --> 00:00:02,000", "00:00:03,000 --> 00:00:04,000")
    assert _texts("film.srt", text.format(*times)) == texts


def test_times_without_a_fraction_are_read() -> None:
    assert cues(["0:05 --> 1:00:06", "a"], "film.srt") == [
        Cue(5.0, 3606.0, "a")
    ]


def test_subtitles_without_cues_are_refused() -> None:
    with pytest.raises(DataError, match="has no cues"):
        cues(["WEBVTT", "", "hello"], "x.vtt")


@each_case("name", ["x.vtt", "x.srt", "X.VTT", "X.SRT"])
@each_case(
    ("times", "reason"),
    [
        ("0:05.0 --> 0:04.0", "ends before it begins"),
        ("0.05 --> 0.06", "cannot read the times"),
        ("00:00:03,000 -> 00:00:04,000", "cannot read the times"),
        ("00:00:03,000 \u2013> 00:00:04,000", "cannot read the times"),
        ("00:00:03,000 \u2192 00:00:04,000", "cannot read the times"),
        ("0:00.5 --> 0:01.0", "begins before the cue above"),
    ],
)
def test_a_cue_that_would_be_lost_is_a_bad_row_with_its_line(
    tmp_path: Path, name: str, times: str, reason: str
) -> None:
    text = f"0:01.0 --> 0:02.0\na\n\n{times}\nb\n\n0:06.0 --> 0:07.0\nc\n"
    wrong, item = read_items(_write(tmp_path / name, text))
    assert isinstance(wrong, DataError)
    assert reason in wrong.reason
    assert wrong.line == 4
    # The others are read, with --skip-bad-rows.
    assert isinstance(item, Item)
    assert item.candidate == "a c"


def test_notes_are_left_out_whatever_the_case_of_the_ending() -> None:
    text = "0:01.0 --> 0:02.0\na\n\nNOTE translated by Ann\n"
    assert _texts("FILM.VTT", text) == _texts("film.vtt", text) == ["a"]


def test_only_known_tags_of_srt_are_markup() -> None:
    text = (
        "0:01,0 --> 0:02,0\nIf x < 3 and y > 2, <i>the</i> <b>boat</b>"
        " {\\an8}<font color=red>turns</font>.\n"
    )
    assert _texts("film.srt", text) == ["If x < 3 and y > 2, the boat turns."]


@pytest.mark.parametrize(
    ("texts", "joined", "n_repeats"),
    [
        (
            ["the boat", "the boat lands", "boat lands on sand"],
            "the boat lands on sand",
            2,
        ),
        (["A dog.", "A cat.", "A hen."], "A dog. A cat. A hen.", 0),
        (["No.", "No.", "Never.", "Yes."], "No. No. Never. Yes.", 0),
        (
            ["in the sea", "the hill", "the man"],
            "in the sea the hill the man",
            0,
        ),
    ],
)
def test_captions_that_roll_up_are_joined(
    texts: list[str], joined: str, n_repeats: int
) -> None:
    times = enumerate(texts)
    parsed_cues = [Cue(n, n + 1, text) for n, text in times]
    assert join_cues(parsed_cues) == (joined, n_repeats)


V3 = {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    "items": [
        {
            "id": "https://x.org/c1",
            "label": {"none": ["1r"]},
            "summary": {"de": ["Ein Hund"], "en": ["A dog", "on a page"]},
            "items": [
                {
                    "items": [
                        {
                            "body": {
                                "type": "Image",
                                "id": "https://x.org/1.jpg",
                            }
                        },
                        {"body": {"type": "Text", "id": "y"}},
                    ]
                }
            ],
        },
        {"id": "https://x.org/c2", "label": {"fr": ["2r"]}, "items": []},
    ],
}
V2 = {
    "@context": "http://iiif.io/api/presentation/2/context.json",
    "sequences": [
        {
            "canvases": [
                {
                    "@id": "https://x.org/c1",
                    "label": "1r",
                    "description": [{"@language": "en", "@value": "A dog"}],
                    "images": [{"resource": {"@id": "https://x.org/1.jpg"}}],
                }
            ]
        }
    ],
}


def test_iiif_manifests_give_a_row_per_canvas(tmp_path: Path) -> None:
    first, second = _items(_write(tmp_path / "m.json", json.dumps(V3)))
    assert (first.id, first.candidate) == (
        "https://x.org/c1",
        "A dog on a page",
    )
    assert first.images == ("https://x.org/1.jpg",)
    assert (second.candidate, second.images) == ("2r", ())
    (item,) = _items(_write(tmp_path / "m.json", json.dumps(V2)))
    assert (item.candidate, item.images) == ("A dog", ("https://x.org/1.jpg",))


def test_a_language_map_may_have_a_text_instead_of_a_list(
    tmp_path: Path,
) -> None:
    manifest = {
        **V3,
        "items": [{"id": "c", "label": {"en": "A dog"}, "items": []}],
    }
    (item,) = _items(_write(tmp_path / "m.json", json.dumps(manifest)))
    assert item.candidate == "A dog"


def test_a_folder_of_pictures_with_texts_beside_them(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("b.jpg", "below/a.png", "c.jpg"):
        Image.new("RGB", (2, 2)).save(tmp_path / name)
    _write(tmp_path / "b.txt", "\ufeffA dog. \n")
    _write(tmp_path / "below/a.txt", "A cat.")
    _write(tmp_path / "z.txt", "of no picture")
    rows_read = list(read_items(tmp_path))
    assert [
        row_read.candidate
        for row_read in rows_read
        if isinstance(row_read, Item)
    ] == [
        "A dog.",
        "A cat.",
    ]
    assert [
        row_read.images for row_read in rows_read if isinstance(row_read, Item)
    ] == [
        ("b.jpg",),
        ("below/a.png",),
    ]
    (error,) = (
        row_read for row_read in rows_read if isinstance(row_read, DataError)
    )
    assert "candidate: is missing" in str(error)


def test_a_text_beside_a_picture_is_bounded(tmp_path: Path) -> None:
    for name, n in (("a", MAX_ROW_BYTES), ("b", MAX_ROW_BYTES + 1)):
        Image.new("RGB", (2, 2)).save(tmp_path / f"{name}.png")
        _write(tmp_path / f"{name}.txt", "x" * n)
    (_, first), (_, second) = sidecar_rows(tmp_path, "d")
    assert isinstance(first, dict)
    assert len(str(first["candidate"])) == MAX_ROW_BYTES
    assert isinstance(second, DataError)
    assert second.reason == "b.txt is longer than 16 MiB"


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"no run in it .run\.json., and no pictures either"
    ):
        list(read_items(tmp_path))


def test_values_of_tables_that_json_does_not_know_become_texts(
    tmp_path: Path,
) -> None:
    row = {
        "candidate": "A dog.", "references": ["A dog."], "day": date(1928, 3, 7),
        "at": datetime(1928, 3, 7, 12, 30), "price": Decimal("1.50"),
        "deep": np.array([np.array([1, 2])]),
    }  # fmt: skip
    run = beholder.score([row], ["token_f1"], out=tmp_path / "run")
    ((item, _),) = run.outcomes("token_f1")
    assert item.meta == {
        "day": "1928-03-07", "at": "1928-03-07T12:30:00", "price": "1.50", "deep": [[1, 2]]
    }  # fmt: skip
    # Bytes are a picture, which a metric of texts does not need.
    run = beholder.score(
        [{**row, "blob": b"x"}], ["token_f1"], out=tmp_path / "other"
    )
    assert any("rows whose pictures cannot" in note for note in run.notes)


def test_labels_that_only_other_rows_have_are_missing(tmp_path: Path) -> None:
    rows = [
        {"candidate": "A dog.", "references": ["A dog."], "group": {name: "a"}}
        for name in ("system", "model")
    ]
    run = beholder.score(
        pyarrow.Table.from_pylist(rows), ["token_f1"], out=tmp_path / "run"
    )
    assert [item.group for item, _ in run.outcomes("token_f1")] == [
        {"system": "a"},
        {"model": "a"},
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"candidate": "a", "references": ["a"], "\ud800k": 1},
        {"candidate": "a", "references": ["a"], "group": {"\ud800": "x"}},
        Item("x", "a \ud800", ("a",)),
        Item("x\ud800", "a", ("a",)),
        Item("x", "a", ("b", "\ud800")),
    ],
)
def test_half_a_character_anywhere_makes_a_bad_row(
    row: Any, tmp_path: Path
) -> None:
    good = Item("good", "a", ("a",))
    with pytest.raises(DataError, match="half of a surrogate pair"):
        beholder.score([good, row], ["token_f1"], out=tmp_path / "run")
    run = beholder.score(
        [good, row], ["token_f1"], out=tmp_path / "run", skip_bad_rows=True
    )
    assert [item.id for item, _ in run.outcomes("token_f1")] == ["good"]


@pytest.mark.parametrize("form", ["pandas", "pyarrow"])
def test_two_columns_of_one_name_are_refused(
    form: str, tmp_path: Path
) -> None:
    names = ["candidate", "candidate", "references"]
    table: Any = pyarrow.Table.from_arrays(
        [pyarrow.array(["A"]), pyarrow.array(["B"]), pyarrow.array([["A"]])],
        names=names,
    )
    if form == "pandas":
        table = pandas.DataFrame([["A", "B", ["A"]]], columns=names)
    with pytest.raises(DataError, match="two columns are called 'candidate'"):
        beholder.score(table, ["token_f1"], out=tmp_path / "run")


def test_numbered_references_of_one_number_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.csv", "candidate,reference_1,ref1\na,b,c\n")
    (error,) = read_items(path)
    assert isinstance(error, DataError)
    assert "both 'reference_1' and 'ref1' could be it" in str(error)


@pytest.mark.parametrize(
    ("data", "metrics", "options", "reason"),
    [
        (
            [],
            "token_f1",
            {},
            r"expected a list of texts, got one text; write \['token_f1'\]",
        ),
        ([], [5], {}, "expected metrics or their text forms, got 5"),
        (None, ["token_f1"], {}, "expected a file, items, rows or a table"),
        (
            [],
            ["token_f1"],
            {"map": ["candidate=text"]},
            "expected names of columns by field",
        ),
    ],
)
def test_arguments_of_a_wrong_type_are_reported(
    data: Any, metrics: Any, options: Any, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        beholder.score(data, metrics, **options)


def test_an_error_of_all_rows_is_reported_once(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.csv", "text,gt\n" + "a,b\n" * 30)
    with pytest.raises(DataError) as caught:
        beholder.score(path, ["length"], out=tmp_path / "run")
    text = str(caught.value)
    assert text.count("is missing") == 1
    assert "there are: text, gt" in text
    assert "--map candidate=COLUMN" in text
    assert "(all of the first 21 rows are like this)" in text


@pytest.mark.parametrize(
    ("n_good", "n_bad", "message"),
    [
        (
            194,
            6,
            "(6 of 200 rows are like this: rows 195, 196, 197, 198, 199, 200)",
        ),
        (1, 20, "(20 of 21 rows are like this: rows 2, 3, "),
        (5, 40, "(21 of the first 26 rows are like this: rows 6, 7, "),
        (0, 3, "(all 3 rows are like this)"),
    ],
)
def test_an_error_of_some_rows_is_reported_with_their_number(
    n_good: int, n_bad: int, message: str
) -> None:
    rows: list[Any] = [{"candidate": "a"}] * n_good + [{"text": "a"}] * n_bad
    with pytest.raises(DataError) as caught:
        beholder.score(rows, ["length"])
    text = str(caught.value)
    assert message in text
    assert ("skip them with --skip-bad-rows" in text) == bool(n_good)
    # 26 rows are read: 5 good ones, and 21 wrong ones, of which 20 are named.
    stops = n_bad == 40
    assert ("and 1 more)" in text) == stops
    assert ("reading stopped after 21 wrong rows" in text) == stops
    assert "(and more)" not in text


@pytest.mark.parametrize("form", ["pandas", "pandas with NA", "pyarrow"])
def test_tables_are_scored_as_they_are(form: str, tmp_path: Path) -> None:
    frame = pandas.DataFrame(
        {
            "text": ["red dog", "red cat"],
            "gt": [["a red dog"], None],
            "n": [1, float("nan")],
        }
    )
    forms = {"pandas": frame, "pandas with NA": frame.convert_dtypes()}
    data = forms[form] if form in forms else pyarrow.Table.from_pandas(frame)
    run = beholder.score(
        data,
        ["rouge"],
        map={"candidate": "text", "references": "gt"},
        out=tmp_path / "run",
    )
    (first, second) = run.outcomes("rouge")
    assert first[0].meta == {"n": 1.0}
    assert isinstance(first[1], beholder.ItemScore)
    assert isinstance(second[1], beholder.ItemFailure)
    assert first[1].values["rouge_1"] == pytest.approx(
        0.8
    )  # 2 of 2 and 2 of 3 words
    assert "references" in second[1].message
