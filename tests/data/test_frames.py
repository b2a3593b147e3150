"""Collections and sequences as files hold them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from beholder.base.dates import PartialDate
from beholder.data import (
    read_frames,
    read_storylines,
    with_exif_dates,
    write_storylines,
)
from beholder.errors import DataError
from beholder.records import Frame, Storyline


def _good(rows: list[Frame | DataError]) -> list[Frame]:
    assert all(isinstance(row, Frame) for row in rows), rows
    return [row for row in rows if isinstance(row, Frame)]


def test_other_columns_of_a_csv_become_labels_of_frames(
    tmp_path: Path,
) -> None:
    file = tmp_path / "index.csv"
    file.write_text(
        "id,file,taken,location,stage\np1,img/p1.jpg,march 1928,La Paz,TA\n,img/x.018.2.jpg,,,\n"
    )
    assert _good(list(read_frames(file))) == [
        Frame(
            "p1",
            "img/p1.jpg",
            None,
            PartialDate(1928, 3),
            "La Paz",
            {"stage": "TA"},
        ),
        Frame("x.018.2", "img/x.018.2.jpg"),
    ]


def test_other_column_names_and_a_year_for_bare_months(tmp_path: Path) -> None:
    file = tmp_path / "index.csv"
    file.write_text("id,month\np1,may\n")
    (frame,) = _good(
        list(read_frames(file, columns={"date": "month"}, year=1928))
    )
    assert frame.date == PartialDate(1928, 5)


def test_a_folder_gives_its_pictures_in_order_of_path(tmp_path: Path) -> None:
    for name in ("b/2.png", "a.JPG", "a.png", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    frames = _good(list(read_frames(tmp_path)))
    assert [(frame.id, frame.image) for frame in frames] == [
        ("a.JPG", "a.JPG"),  # two files share the stem
        ("a.png", "a.png"),
        ("b/2", "b/2.png"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"image": "../x.jpg"},
            "c.jsonl:1: image: '../x.jpg' leaves the folder",
        ),
        ({"image": "/etc/x.jpg"}, "image: '/etc/x.jpg' leaves"),
        ({"id": "a", "date": "3/7/1928"}, "date: cannot read the date"),
        ({"caption": "x"}, "id: is missing, and there is no image"),
        ({"id": "a", "caption": ["x"]}, "caption: expected a text"),
        ({"id": "a", "labels": 3}, "labels: expected an object"),
        ([1], "expected an object with fields"),
    ],
)
def test_a_wrong_frame_row_says_place_and_reason(
    tmp_path: Path, row: object, message: str
) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text(json.dumps(row) + "\n")
    (error,) = read_frames(file)
    assert isinstance(error, DataError)
    assert message in str(error)


def test_two_frames_of_one_id_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text('{"id": "a"}\n{"id": "a"}\n')
    _, error = read_frames(file)
    assert isinstance(error, DataError)
    assert "is taken by row 1" in str(error)


def test_sequences_name_frames_of_the_collection_or_write_them_out(
    tmp_path: Path,
) -> None:
    file = tmp_path / "s.jsonl"
    row = {
        "id": 5,
        "source": "human",
        "frames": ["b", {"id": "n", "caption": "new"}],
        "group": {"length": 2},
    }
    file.write_text(json.dumps(row) + "\n")
    b = Frame("b", "b.jpg")
    (sequence,) = read_storylines(file, [Frame("a"), b])
    assert sequence == Storyline(
        "5", (b, Frame("n", caption="new")), "human", {"length": "2"}
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"id": "s", "frames": ["zz"]},
            "frames[0]: no frame of the collection has the id 'zz'",
        ),
        ({"id": "s", "frames": []}, "frames: expected a list"),
        ({"id": "s", "frames": "a b"}, "frames: expected a list"),
        (
            {"id": "s", "frames": ["a", {"image": "../x"}]},
            "frames[1].image: '../x' leaves",
        ),
        ({"id": "s", "frames": ["a"], "source": 3}, "source: expected a text"),
    ],
)
def test_a_wrong_sequence_row_says_place_and_reason(
    tmp_path: Path, row: object, message: str
) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps(row) + "\n")
    (error,) = read_storylines(file, [Frame("a")])
    assert isinstance(error, DataError)
    assert message in str(error)


def test_written_sequences_come_back_equal(tmp_path: Path) -> None:
    frame = Frame(
        "a", "a.jpg", "A ship.", PartialDate(1928, 3), "Arica", {"phase": "TA"}
    )
    sequences = [
        Storyline("s", (frame, Frame("b")), "random", {"length": "2"})
    ]
    write_storylines(tmp_path / "s.jsonl", sequences)
    assert list(read_storylines(tmp_path / "s.jsonl")) == sequences


def _photo(path: Path, date: str | None) -> None:
    exif = Image.Exif()
    if date is not None:
        exif.get_ifd(0x8769)[0x9003] = date
    Image.new("L", (2, 2)).save(path, exif=exif)


def test_exif_dates_are_used_where_no_picture_has_a_date(
    tmp_path: Path,
) -> None:
    _photo(tmp_path / "a.jpg", "2015:06:01 12:00:00")
    _photo(
        tmp_path / "b.jpg", "0000:00:00 00:00:00"
    )  # a clock that was never set
    (tmp_path / "c.jpg").write_bytes(b"x")
    frames = with_exif_dates(_good(list(read_frames(tmp_path))), tmp_path)
    assert [frame.date for frame in frames] == [
        PartialDate(2015, 6, 1),
        None,
        None,
    ]


def test_no_exif_date_is_read_through_a_link_out_of_the_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").mkdir()
    _photo(tmp_path / "private.jpg", "1928:03:04 10:00:00")
    (tmp_path / "data" / "a.jpg").symlink_to(tmp_path / "private.jpg")
    frames = [Frame("a", "a.jpg")]
    assert with_exif_dates(frames, tmp_path / "data") == frames
    assert with_exif_dates([Frame("a", "data/a.jpg")], tmp_path)[
        0
    ].date == PartialDate(1928, 3, 4)


def test_exif_dates_of_scans_do_not_mix_with_given_dates(
    tmp_path: Path,
) -> None:
    _photo(tmp_path / "a.jpg", "2015:06:01 12:00:00")
    frames = [Frame("a", "a.jpg"), Frame("b", date=PartialDate(1928))]
    assert with_exif_dates(frames, tmp_path) == frames


def test_an_index_with_more_columns_and_few_dates_reads_without_a_bad_row(
    tmp_path: Path,
) -> None:
    lines = ["id,file,place,label,month,width,sha256"]
    for n in range(1, 41):
        month = ("may", "june")[n % 2] if n % 10 == 0 else ""
        lines.append(f"AB-{n:03d}.2,images/{n}.jpg,ARC,,{month},384,{n:064x}")
    (tmp_path / "index.csv").write_text("\n".join(lines), "utf-8")
    frames = _good(
        list(
            read_frames(
                tmp_path / "index.csv", columns={"date": "month"}, year=1928
            )
        )
    )
    assert [frame.id for frame in frames] == [
        f"AB-{n:03d}.2" for n in range(1, 41)
    ]
    dates = {
        frame.id: frame.date for frame in frames if frame.date is not None
    }
    assert dates == {
        f"AB-{n:03d}.2": PartialDate(1928, 5) for n in (10, 20, 30, 40)
    }
    assert frames[0].image == "images/1.jpg"


def test_a_catalogue_that_names_no_date_has_undated_pictures(
    tmp_path: Path,
) -> None:
    file = tmp_path / "index.csv"
    rows = ("p1,n.d.", "p2,Unknown", "p3,[1890?]", "p4,some day")
    file.write_text("\n".join(("id,date", *rows)))
    *frames, wrong = read_frames(file)
    assert [frame.date for frame in frames if isinstance(frame, Frame)] == [
        None,
        None,
        PartialDate.parse("1890?"),
    ]
    assert isinstance(wrong, DataError)
    assert "'some day'" in str(wrong)
