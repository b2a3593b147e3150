"""Which subjects of two runs belong together: by id only if an id is of one picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import ConfigError
from beholder.kinds.scores.door import score
from beholder.kinds.scores.engine import ScoreConfig
from beholder.kinds.scores.gates import check_other, worse_than
from beholder.metrics import metric
from beholder.records import Item, ItemScore
from beholder.report.comparison import differences, moved_tables
from beholder.run.compare import compare
from beholder.run.pairs import pair_subjects
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from toy.cases import each_case
from toy.runs import write_run

NAMES = ("a", "b")


def _pictures(*names: str) -> list[Item]:
    """Items of pictures whose ids are the numbers of the rows, as those without an id get."""
    return [
        Item(str(n), "x", images=(name,)) for n, name in enumerate(names, 1)
    ]


def _references(*texts: str) -> list[Item]:
    return [Item(str(n), "x", (text,)) for n, text in enumerate(texts, 1)]


def _videos(*names: str) -> list[Item]:
    return [Item(str(n), "x", video=name) for n, name in enumerate(names, 1)]


def _pairs(
    first: Sequence[Item], second: Sequence[Item]
) -> list[tuple[int, int]]:
    return pair_subjects(
        enumerate(first), enumerate(second), ITEM, NAMES
    ).common


@pytest.mark.parametrize("items", [_pictures, _references, _videos])
def test_a_reversed_file_is_paired_by_what_its_rows_describe(
    items: Callable[..., list[Item]],
) -> None:
    pairing = pair_subjects(
        enumerate(items("p", "q", "r", "s")),
        enumerate(items("s", "r", "q", "p")),
        ITEM,
        NAMES,
    )
    assert pairing.common == [(0, 3), (1, 2), (2, 1), (3, 0)]
    assert pairing.paired_by == "source"
    assert "4 of 4 common ids are of different" in pairing.note
    assert "id '1' is of 'p' in a and of 's' in b" in pairing.note


@each_case(
    ("first", "second", "pairs"),
    [
        (_pictures("p", "q"), _pictures("p", "q"), [(0, 0), (1, 1)]),
        # one row is missing, so that all after it have another number
        (_pictures("p", "q", "r"), _pictures("p", "r"), [(0, 0), (2, 1)]),
        # a picture with two texts in both runs: the k-th belongs to the k-th
        (_pictures("p", "p", "q"), _pictures("q", "p", "p"), [(0, 1), (1, 2), (2, 0)]),
        # with two texts in one run and one in the other it is not known which belongs to it
        (_pictures("p", "p", "q"), _pictures("q", "p"), [(2, 0)]),
        # runs name the same file from two folders
        (_pictures("img/p", "img/q"), _pictures("p", "q"), [(0, 0), (1, 1)]),
        # only one run names pictures: references decide
        ([Item("1", "x", ("r",), ("p",))], [Item("1", "x", ("r",))], [(0, 0)]),
        # references in another order are the same references
        ([Item("1", "x", ("r", "s"))], [Item("1", "y", ("s", "r"))], [(0, 0)]),
        # of one picture and one number of texts, the same id, then the same system first
        (
            [Item("k", "x", images=("p",)), Item("l", "x", images=("p",)),
             Item("1", "x", images=("q",))],
            [Item("l", "x", images=("p",)), Item("k", "x", images=("p",)),
             Item("1", "x", images=("r",))],
            [(0, 1), (1, 0)],
        ),
        (
            [Item("1", "x", images=("p",), group={"system": "m"}),
             Item("2", "x", images=("p",), group={"system": "n"}),
             Item("3", "x", images=("q",), group={"system": "m"})],
            [Item("1", "x", images=("q",), group={"system": "m"}),
             Item("3", "x", images=("p",), group={"system": "n"}),
             Item("4", "x", images=("p",), group={"system": "m"})],
            [(0, 2), (1, 1), (2, 0)],
        ),
        # no language is compared with another one
        (
            [Item("1", "x", images=("p",), group={"language": "en"}), *_pictures("s")[:0],
             Item("2", "x", images=("q",), group={"language": "en"})],
            [Item("2", "x", images=("p",), group={"language": "de"}),
             Item("1", "x", images=("q",), group={"language": "en"})],
            [(1, 1)],
        ),
    ],
)  # fmt: skip
def test_subjects_are_paired(
    first: list[Item], second: list[Item], pairs: list[tuple[int, int]]
) -> None:
    assert _pairs(first, second) == pairs


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            _pictures("p", "q"),
            _pictures("r", "s"),
            "id '1' is of 'p' in a and of 'r' in b",
        ),
        (
            _references("a dog", "a cat"),
            _references("a car", "a bus"),
            "id '1' is of 'a dog' in a and of 'a car' in b",
        ),
    ],
)
def test_equal_ids_of_different_things_are_refused(
    first: list[Item], second: list[Item], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        _pairs(first, second)
    pairing = pair_subjects(
        enumerate(first), enumerate(second), ITEM, NAMES, allow_different=True
    )
    assert pairing.common == [(0, 0), (1, 1)]
    assert message in pairing.note


def test_rows_paired_by_their_number_alone_are_counted() -> None:
    rows = [Item(str(n), "x") for n in (1, 2)]
    pairing = pair_subjects(enumerate(rows), enumerate(rows), ITEM, NAMES)
    assert pairing.note.startswith(
        "2 of 2 items are paired by the number of their row"
    )
    named_rows = [Item(name, "x") for name in "ab"]
    assert (
        pair_subjects(
            enumerate(named_rows), enumerate(named_rows), ITEM, NAMES
        ).note
        == ""
    )


def test_texts_about_one_thing_need_ids_to_be_paired_for_sure() -> None:
    # Six captions of one reference differ by their order alone.
    same = _references(*["a harbour"] * 6)
    pairing = pair_subjects(enumerate(same), enumerate(same), ITEM, NAMES)
    assert pairing.note.startswith("6 of 6 items are paired by the number")
    named = [Item(f"caption {n}", "x", ("a harbour",)) for n in range(6)]
    pairing = pair_subjects(enumerate(named), enumerate(named), ITEM, NAMES)
    assert pairing.note == ""


@pytest.mark.usefixtures("two_sources_are_enough")
def test_differences_gates_and_moved_items_are_of_one_picture(
    tmp_path: Path,
) -> None:
    # By picture: p 0.25 to 0.5, q 0.5 to 0.75, r 0.75 to 1: always 0.25 better. By row: p with r,
    # 0.25 to 1; q; r with p, 0.75 to 0.5: an interval that holds 0, and an item that fell.
    scores = [ItemScore({"f1": value}) for value in (0.25, 0.5, 0.75)]
    better = [ItemScore({"f1": value}) for value in (1.0, 0.75, 0.5)]
    a = write_run(tmp_path / "a", _pictures("p", "q", "r"), {"m": scores})
    b = write_run(tmp_path / "b", _pictures("r", "q", "p"), {"m": better})
    with Store.read(a) as first, Store.read(b) as second:
        comparison = compare(first, second)
        (difference,) = comparison.differences
        assert difference.paired.mean == 0.25
        assert difference.paired.interval is not None
        assert (
            difference.paired.interval.low,
            difference.paired.interval.high,
        ) == (
            0.25,
            0.25,
        )
        assert comparison.counts[0].paired_by == "source"
        assert any(
            "are paired by pictures" in note
            for note in differences(comparison, "a", "b").notes
        )
        assert moved_tables(first, second, comparison) == []


@pytest.mark.usefixtures("two_sources_are_enough")
def test_results_of_the_common_evaluation_code_are_paired_by_picture(
    tmp_path: Path,
) -> None:
    # ROUGE-L with beta 1.2, F = 2.44 P R / (R + 1.44 P), best precision and recall of references.
    # "a dog runs on a beach" (6 words): of "a brown dog runs on the beach" the words a dog runs on
    # beach are common, P 5/6, R 5/7. "a car": a, P 1/2, R 1/7. b and c hold the same texts.
    captions: dict[str, Any] = {
        "images": [{"id": 73}, {"id": 74}],
        "annotations": [
            {
                "id": 1,
                "image_id": 73,
                "caption": "A brown dog runs on the beach.",
            },
            {
                "id": 2,
                "image_id": 74,
                "caption": "Two women cook soup in a kitchen.",
            },
        ],
    }
    (tmp_path / "captions.json").write_text(json.dumps(captions))
    dog, women = "a dog runs on a beach", "two women are cooking"
    soup, car = "two women cook soup in a kitchen", "a car"
    results = {
        "a": [(73, dog), (74, women)],
        "b": [(74, soup), (73, car)],
        "c": [(73, car), (74, soup)],
    }
    means = {}
    for name, rows in results.items():
        texts = [
            Item(
                str(n),
                text,
                (captions["annotations"][picture - 73]["caption"],),
            )
            for n, (picture, text) in enumerate(rows, 1)
        ]
        score(texts, ["rouge"], out=tmp_path / name, workers=1)
    with Store.read(tmp_path / "a") as a:
        for name in "bc":
            with Store.read(tmp_path / name) as b:
                means[name] = {
                    difference.value: difference.paired
                    for difference in compare(a, b).differences
                }
    assert means["b"] == means["c"]

    def f(precision: float, recall: float) -> float:
        return 2.44 * precision * recall / (recall + 1.44 * precision)

    of_dog = f(1 / 2, 1 / 7) - f(5 / 6, 5 / 7)
    of_women = 1 - f(2 / 4, 2 / 7)
    ends = means["b"]["rouge_l"].interval
    assert ends is not None
    assert [ends.low, ends.high] == pytest.approx([of_dog, of_women])
    assert worse_than(
        tmp_path / "b", tmp_path / "a", [metric("rouge")], 0.0
    ) == {"rouge.rouge_l": ""}


def _items_with(*ids_and_pictures: tuple[str, str], what: str) -> list[Item]:
    """Items with ids and, as ``what`` says, a picture, a reference or a video each."""
    items = [Item(item_id, f"x{item_id}") for item_id, _ in ids_and_pictures]
    values = [name for _, name in ids_and_pictures]
    if what == "video":
        return [
            replace(i, video=v) for i, v in zip(items, values, strict=True)
        ]
    if what == "images":
        return [
            replace(i, images=(v,)) for i, v in zip(items, values, strict=True)
        ]
    return [
        replace(i, references=(v,)) for i, v in zip(items, values, strict=True)
    ]


@pytest.mark.parametrize("what", ["images", "references", "video"])
def test_runs_without_a_common_id_are_paired_by_sources_of_one_text_each(
    what: str,
) -> None:
    first = _items_with(("a1", "p"), ("a2", "q"), ("a3", "only a"), what=what)
    second = _items_with(("b1", "q"), ("b2", "only b"), ("b3", "p"), what=what)
    pairing = pair_subjects(enumerate(first), enumerate(second), ITEM, NAMES)
    assert pairing.common == [(0, 2), (1, 0)]
    assert (pairing.n_a, pairing.n_b, pairing.paired_by) == (3, 3, "source")
    source_name = "references" if what == "references" else "pictures"
    assert pairing.note == (
        f"the runs share no item id, so items are paired by {source_name}"
    )


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ([("a1", "p"), ("a2", "p")], [("b1", "p")], "2 texts in one and 1"),
        ([("a1", "p")], [("b1", "p"), ("b2", "p")], "1 texts in one and 2"),
        ([("a1", "p"), ("a2", "p")], [("b1", "p"), ("b2", "p")], "2 texts in one and 2"),
        ([("a1", "q"), ("a2", "p"), ("a3", "p")], [("b1", "q"), ("b2", "p")], "2 texts in one and 1"),
    ],
)  # fmt: skip
def test_several_texts_of_a_source_without_common_ids_are_refused(
    first: list[tuple[str, str]], second: list[tuple[str, str]], counts: str
) -> None:
    with pytest.raises(ConfigError, match="'p' has ") as error:
        _pairs(
            _items_with(*first, what="images"),
            _items_with(*second, what="images"),
        )
    assert f"has {counts} in the other" in str(error.value)
    assert "give each text the same id" in str(error.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (_items_with(("a", "p"), what="images"), _items_with(("b", "q"), what="images")),
        (_items_with(("a", "p"), what="images"), _items_with(("b", "p"), what="references")),
        ([Item("a", "x")], [Item("b", "x")]),
    ],
)  # fmt: skip
def test_runs_without_a_common_id_or_source_are_refused(
    first: list[Item], second: list[Item]
) -> None:
    with pytest.raises(ConfigError, match="share no item id, and no picture"):
        _pairs(first, second)


@pytest.mark.parametrize(
    ("new", "note"),
    [
        (range(8), ""),
        (range(2, 8), "compares the 6 items of both runs; 0 are only in d, 2"),
        (range(9), "compares the 8 items of both runs; 1 are only in d, 0"),
        (
            range(1, 10),
            "compares the 7 items of both runs; 2 are only in d, 1",
        ),
    ],
)
def test_worse_than_says_which_items_are_not_compared(
    tmp_path: Path, new: range, note: str
) -> None:
    items = [Item(f"i{n}", "a b", (f"a b {n}",)) for n in range(10)]
    length = metric("length")
    earlier = tmp_path / "a"
    score(items[:8], ["length"], out=earlier)
    config = ScoreConfig(data="d", metrics=(length,), out=tmp_path / "b")
    said = check_other(config, earlier, 0.0, [items[n] for n in new])
    assert note in said
    assert bool(note) == bool(said)
    if note:
        assert said.endswith(f"only in {earlier}")
