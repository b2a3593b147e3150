"""Draws of pictures for studies, and who annotates them."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from beholder.cli.main import app
from beholder.data import read_items
from beholder.data.sample import assign, draw
from beholder.errors import ConfigError
from beholder.options import DataOptions, SampleDesign
from beholder.records import Item

CATEGORIES = ("nature", "trade", "several", "none")
RATINGS = ("High", "Medium", "Low")


def row(i: int, system: str = "a") -> Item:
    """Picture i: its category goes round, its rating changes with every round."""
    category = CATEGORIES[i % 4]
    rating = {"name": category, "rating": RATINGS[i // 4 % 3]}
    ratings_by_category = {"several": [rating, rating], "none": []}.get(
        category, [rating]
    )
    group = {"system": system, "category": category}
    return Item(
        f"{i}/{system}",
        "",
        (),
        (f"{i}.jpg",),
        group=group,
        meta={"categories": ratings_by_category},
    )


ITEMS = [row(i, system) for i in range(120) for system in ("a", "b")]


def pictures(items: list[Item], category: str | None = None) -> set[str]:
    return {
        i.images[0] for i in items if category in (None, i.group["category"])
    }


def test_a_random_set_has_so_many_pictures_with_all_their_rows_in_the_order_of_the_data() -> (
    None
):
    rows_drawn = draw(ITEMS, SampleDesign(n=20))
    assert len(pictures(rows_drawn)) == 20
    assert len(rows_drawn) == 40
    assert {i.group["category"] for i in rows_drawn} == {"random"}
    assert {i.meta["category"] for i in rows_drawn} <= set(CATEGORIES)
    ids = [i.id for i in ITEMS]
    assert [ids.index(i.id) for i in rows_drawn] == sorted(
        ids.index(i.id) for i in rows_drawn
    )


def test_a_draw_hangs_on_the_seed_and_not_on_the_order_of_the_rows() -> None:
    first = pictures(draw(ITEMS, SampleDesign(n=20)))
    assert pictures(draw(ITEMS[::-1], SampleDesign(n=20))) == first
    assert pictures(draw(ITEMS, SampleDesign(n=20, seed=1))) != first
    assert first < pictures(draw(ITEMS, SampleDesign(n=30)))


def test_every_picture_has_the_same_chance() -> None:
    counts: Counter[str] = Counter()
    for seed in range(400):
        counts.update(
            pictures(draw(ITEMS[::2], SampleDesign(n=30, seed=seed)))
        )
    # 400 draws of 30 of 120: 100 each, standard deviation 8.7; five of them for 120 pictures
    assert all(100 - 44 < counts[f"{i}.jpg"] < 100 + 44 for i in range(120))


def test_categories_beside_a_random_set_share_no_picture_with_it() -> None:
    rows_drawn = draw(ITEMS, SampleDesign(n=20, per_category=10))
    assert Counter(i.group["category"] for i in rows_drawn) == {
        "random": 40,
        "nature": 20,
        "trade": 20,
    }
    assert len(pictures(rows_drawn)) == 40
    for name in ("nature", "trade"):
        pictures_drawn = pictures(rows_drawn, name)
        assert all(
            CATEGORIES[int(picture.partition(".")[0]) % 4] == name
            for picture in pictures_drawn
        )


def test_only_pictures_of_one_category_rated_high_enough() -> None:
    high = draw(ITEMS, SampleDesign(rated="High"))
    assert pictures(high) == {
        f"{i}.jpg" for i in range(120) if i % 4 < 2 and i // 4 % 3 == 0
    }
    medium = draw(ITEMS, SampleDesign(rated="Medium"))
    assert pictures(medium) == {
        f"{i}.jpg" for i in range(120) if i % 4 < 2 and i // 4 % 3 < 2
    }
    pictures_drawn = draw(ITEMS, SampleDesign(rated="High", per_category=4))
    assert pictures(pictures_drawn) < pictures(high)
    assert Counter(i.group["category"] for i in pictures_drawn) == {
        "nature": 8,
        "trade": 8,
    }


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (SampleDesign(), "nothing says what to draw"),
        (
            SampleDesign(n=121),
            "the data has 120 pictures to draw from, and 121 were asked for",
        ),
        (SampleDesign(per_category=31), "category 'nature' has 30 pictures"),
        (
            SampleDesign(per_category=11, rated="High"),
            "category 'nature' has 10 pictures",
        ),
        (
            SampleDesign(per_category=1, column="theme"),
            r"category of its own in group\.theme",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_with_its_number(
    design: SampleDesign, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        draw(ITEMS, design)


def test_ratings_and_numbers_must_be_there() -> None:
    plain = [Item("1", "", (), ("1.jpg",), group={"category": "nature"})]
    with pytest.raises(ConfigError, match="no row has ratings of categories"):
        draw(plain, SampleDesign(rated="Low"))
    with pytest.raises(
        ConfigError, match="n=0: expected a whole number from 1"
    ):
        SampleDesign(n=0)


@pytest.mark.parametrize(
    ("annotators", "overlap"), [(5, 2), (4, 3), (3, 1), (3, 3)]
)
def test_each_picture_goes_to_overlap_annotators_and_loads_are_even(
    annotators: int, overlap: int
) -> None:
    shares = assign(ITEMS, annotators, overlap)
    counts = Counter(
        picture for share in shares for picture in pictures(share)
    )
    assert set(counts.values()) == {overlap}
    assert len(counts) == 120
    loads = [len(pictures(share)) for share in shares]
    assert max(loads) - min(loads) <= 1
    assert all(
        len(share) == 2 * load
        for share, load in zip(shares, loads, strict=True)
    )
    if overlap > 1:
        assert all(
            pictures(a) & pictures(b) for a, b in combinations(shares, 2)
        )


def test_each_annotator_has_an_order_of_his_own_and_the_same_each_time() -> (
    None
):
    first, second = assign(ITEMS, 2, 2)
    assert (
        {i.id for i in first}
        == {i.id for i in second}
        == {i.id for i in ITEMS}
    )
    orders = [[i.id for i in share] for share in (first, second, ITEMS)]
    assert all(a != b for a, b in combinations(orders, 2))
    assert [
        [i.id for i in share] for share in assign(ITEMS[::-1], 2, 2)
    ] == orders[:2]
    assert [i.id for i in assign(ITEMS, 2, 2, seed=1)[0]] != orders[0]


@pytest.mark.parametrize("overlap", [0, 4])
def test_a_wrong_overlap_is_refused(overlap: int) -> None:
    with pytest.raises(
        ConfigError, match=f"overlap={overlap}: expected from 1 to"
    ):
        assign(ITEMS, 3, overlap)


def read_sample(path: Path) -> list[Item]:
    rows_drawn = list(read_items(path, textless=True))
    assert all(isinstance(item, Item) for item in rows_drawn)
    return [item for item in rows_drawn if isinstance(item, Item)]


def test_the_command_writes_rows_that_others_read_and_a_file_for_each_annotator(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    rows: list[dict[str, Any]] = [
        {
            "id": i.id,
            "images": list(i.images),
            "group": dict(i.group),
            **i.meta,
        }
        for i in ITEMS
    ]
    Path("data/in.jsonl").write_text(
        "".join(json.dumps(r) + "\n" for r in rows), "utf-8"
    )
    command = "sample data/in.jsonl --n 12 --per-category 3 --rated High --annotators 3 --overlap 2"
    assert app([*command.split(), "-o", "out.jsonl"]) == 0
    message = capsys.readouterr().err
    assert "18 pictures, 36 rows: out.jsonl" in message
    for line in (
        "random: 12 pictures",
        "nature: 3 pictures",
        "annotator-3.jsonl: 12 pictures",
    ):
        assert line in message
    rows_drawn = read_sample(Path("out.jsonl"))
    assert rows_drawn[0].images[0].startswith("data/")
    assert Counter(i.group["category"] for i in rows_drawn) == {
        "random": 24,
        "nature": 6,
        "trade": 6,
    }
    shares = [read_sample(Path(f"out.annotator-{n}.jsonl")) for n in (1, 2, 3)]
    assert Counter(i.id for share in shares for i in share) == {
        i.id: 2 for i in rows_drawn
    }
    before = Path("out.jsonl").read_bytes()
    assert app([*command.split(), "-o", "out.jsonl"]) == 0
    assert Path("out.jsonl").read_bytes() == before


def test_pictures_outside_the_folder_of_the_sample_are_announced_with_the_option_that_reads_them(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        json.dumps({"id": f"{n}", "candidate": "a", "images": [f"{n}.jpg"]})
        for n in range(3)
    ]
    Path("in.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    Path("below").mkdir()
    assert app(["sample", "in.jsonl", "--n", "2", "-o", "beside.jsonl"]) == 0
    assert "--media-root" not in capsys.readouterr().err
    assert (
        app(["sample", "in.jsonl", "--n", "2", "-o", "below/study.jsonl"]) == 0
    )
    assert "lie outside below" in (message := capsys.readouterr().err)
    assert "--media-root FOLDER" in message
    assert any(
        not isinstance(row, Item) for row in read_items("below/study.jsonl")
    )
    allowed = DataOptions(media_root=tmp_path)
    images = [
        row.images
        for row in read_items("below/study.jsonl", allowed)
        if isinstance(row, Item)
    ]
    assert len(images) == 2
    assert {Path(image).parent for (image,) in images} == {tmp_path}


def test_an_overlap_without_annotators_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": 1, "candidate": "a"}\n')
    with pytest.raises(ConfigError, match="give --annotators"):
        app(
            [
                "sample",
                str(tmp_path / "in.jsonl"),
                "--n",
                "1",
                "--overlap",
                "2",
                "-o",
                "x.jsonl",
            ]
        )


def test_a_set_drawn_before_is_no_category() -> None:
    before = draw(ITEMS, SampleDesign(n=20))
    rest = [i for i in ITEMS if i.images[0] not in pictures(before)]
    rows_drawn = draw([*before, *rest], SampleDesign(per_category=5))
    assert {i.group["category"] for i in rows_drawn} == {"nature", "trade"}
