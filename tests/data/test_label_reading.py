"""Labels are read in one way, wherever they come from; every cell by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from beholder.data.labels import has_decimal_commas, read_labels
from beholder.errors import ConfigError, DataError
from beholder.kinds.agreement.load import load
from beholder.metrics import metric
from beholder.options import DataOptions
from beholder.records import Item
from beholder.run.labels import targets
from beholder.run.reliability import of_ratings
from toy.cases import each_case

pytestmark = pytest.mark.usefixtures("few_resamples")

TEXTS = ("A red car.", "A dog.", "Two cups.", "A bus.", "A cat.", "Snow.")


def judged(cells: Sequence[Any]) -> list[Item]:
    return [
        Item(str(number), text, (text,), judgments={"overall": cell})
        for number, (text, cell) in enumerate(
            zip(TEXTS * 9, cells, strict=False), start=1
        )
    ]


def write(
    folder: Path, cells: Sequence[Any], name: str = "labels.jsonl"
) -> Path:
    path = folder / name
    if name.endswith(".csv"):
        comma = ";" if "semicolon" in name else ","
        head = comma.join(
            ("id", "candidate", "reference", "judgments.overall")
        )
        rows = [
            comma.join((str(n), t, t, str(c)))
            for n, (t, c) in enumerate(zip(TEXTS, cells))  # noqa: B905
        ]
        path.write_text("\n".join((head, *rows)) + "\n", encoding="utf-8")
    else:
        rows = [json.dumps({"id": item.id, "candidate": item.candidate, "references": list(item.references), "judgments": dict(item.judgments)}) for item in judged(cells)]  # fmt: skip
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def overall(items: Sequence[Item]) -> list[Any]:
    return [item.judgments["overall"] for item in items]


MISSING = (
    None,
    "",
    " ",
    "NA",
    "N/A",
    "n/a",
    "nan",
    "NaN",
    "null",
    "-",
    "none",
    "None",
    float("nan"),
)


@each_case("cell", MISSING)
def test_a_missing_answer_is_left_out_and_counted(cell: object) -> None:
    items, columns = read_labels(judged([5, 4, cell, 1]), "f")
    assert overall(items) == [5, 4, None, 1]
    column = columns["overall"]
    assert (column.kind, column.n_texts, column.n_missing, column.wrong) == (
        "numbers",
        3,
        1,
        (),
    )


@each_case("cell", [None, "", "N/A", "NaN"])
@each_case("truth", [(True, False, True), ("true", "False", "TRUE")])
def test_verdicts_may_be_missing(cell: object, truth: tuple[Any, ...]) -> None:
    items, columns = read_labels(judged([*truth, cell]), "f")
    assert overall(items) == [True, False, True, None]
    assert columns["overall"].kind == "verdicts"


@each_case(
    ("cell", "number"),
    [
        ("5", 5),
        (" 4 ", 4),
        ("4.5", 4.5),
        ("-1", -1),
        ("+2", 2),
        (".5", 0.5),
        ("1e2", 100),
        (3.0, 3),
    ],
)
def test_numbers_may_be_texts(cell: object, number: float) -> None:
    items, columns = read_labels(judged([cell, cell, cell]), "f")
    assert overall(items) == [number] * 3
    assert columns["overall"].kind == "numbers"


@each_case(
    "cell",
    [
        *("good", "4,5", "1/2", "4 5", True, "true", "inf", "٣x"),
        *(1e308, -1e51, "1e308", "1e999", 10**400),
    ],
)
def test_another_answer_among_numbers_is_wrong_with_its_place(
    cell: object,
) -> None:
    items, columns = read_labels(
        judged([5, cell, 1]), "f", line_numbers={"2": 7}
    )
    (wrong,) = columns["overall"].wrong
    assert (wrong.path, wrong.line, wrong.field) == (
        "f",
        7,
        "judgments.overall",
    )
    assert "expected a number" in wrong.reason
    assert overall(items) == [5, None, 1]


@pytest.mark.parametrize("cell", ["good", 5, 0.5, 2])
def test_another_answer_among_verdicts_is_wrong(cell: object) -> None:
    _, columns = read_labels(judged([True, cell, False, True]), "f")
    (wrong,) = columns["overall"].wrong
    assert "expected true or false" in wrong.reason


def test_words_stay_words() -> None:
    items, columns = read_labels(
        judged(["major", "none", "minor", "", "5"]), "f"
    )
    assert overall(items) == ["major", "none", "minor", None, "5"]
    assert (columns["overall"].kind, columns["overall"].wrong) == ("words", ())


def test_lists_keep_the_place_of_each_person() -> None:
    items, columns = read_labels(
        judged([[4, 3, None], ["N/A", "2", 5], [1, 1, "x"]]), "f"
    )
    assert overall(items) == [[4, 3, None], [None, 2, 5], [1, 1, None]]
    column = columns["overall"]
    assert (
        sum(column.counts.values()),
        column.n_missing,
        len(column.wrong),
    ) == (6, 2, 1)


def test_marks_and_objects_are_no_columns() -> None:
    items = [
        Item(
            "1",
            "A dog.",
            judgments={"mistakes": [[0, 1]], "winner": {"model": "a"}},
        )
    ]
    items_read, columns = read_labels(items, "f")
    assert (items_read, columns) == (items, {})


def test_counts_show_codes() -> None:
    _, columns = read_labels(judged([5, 3, 99, 5, -1, None]), "f")
    assert str(columns["overall"]) == (
        "label overall: 5 answers on 5 texts, 1 missing: -1 (1), 3 (1), 5 (2), 99 (1)"
    )
    _, columns = read_labels(judged([*range(20), 99]), "f")
    assert "21 values from 0 (1) to 99 (1)" in str(columns["overall"])


@pytest.mark.parametrize(
    ("name", "number"),
    [("semicolon.csv", 4.5), ("comma.csv", None)],
    ids=["semicolon", "comma"],
)
def test_decimal_commas_belong_to_semicolons(
    tmp_path: Path, name: str, number: object
) -> None:
    cells = ["5", "4,5" if number else '"4,5"', "1", "2", "3", "4"]
    path = write(tmp_path, cells, name)
    assert has_decimal_commas(path) is (number is not None)
    if number is not None:
        assert overall(load(str(path)).items) == [5, number, 1, 2, 3, 4]
    else:
        with pytest.raises(
            DataError,
            match=r"comma.csv:3: judgments.overall: .* got a text '4,5'",
        ):
            load(str(path))


@pytest.mark.parametrize(
    "name", ["labels.jsonl", "comma.csv", "semicolon.csv"]
)
@pytest.mark.parametrize("cell", ["N/A", "nan", "", "null"])
def test_agree_reads_every_file_so(
    tmp_path: Path, name: str, cell: str
) -> None:
    labelled = load(str(write(tmp_path, [5, 3, cell, 5, 3, 1], name)))
    assert [item.judgments.get("overall") for item in labelled.items] == [
        5,
        3,
        None,
        5,
        3,
        1,
    ]
    (measure,) = labelled.measures((), "spearman")
    assert [list(measure.labels(item)) for item in labelled.items] == [
        [5],
        [3],
        [],
        [5],
        [3],
        [1],
    ]
    assert any(
        "overall: 5 answers on 5 texts" in note for note in labelled.notes
    )


def test_a_wrong_answer_refuses_the_file_or_is_left_out(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, [5, "good", 1, 5, 3, 1])
    with pytest.raises(
        DataError, match=r"labels.jsonl:2: judgments.overall: .*'good'"
    ):
        load(str(path))
    labelled = load(str(path), rows=DataOptions(skip_bad_rows=True))
    assert overall(labelled.items) == [5, None, 1, 5, 3, 1]
    assert [error.line for error in labelled.bad_rows] == [2]


def test_wrong_answers_of_labels_that_are_not_used_do_not_matter(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "id": n,
            "candidate": t,
            "judgments": {"overall": n, "style": "x" if n == 2 else n},
        }
        for n, t in enumerate(TEXTS)
    ]
    path = tmp_path / "two.jsonl"
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    assert len(load(str(path), chosen=["overall"]).items) == len(TEXTS)
    with pytest.raises(DataError, match=r"judgments.style"):
        load(str(path))


def test_labels_of_a_correction_are_read_in_the_same_way(
    tmp_path: Path,
) -> None:

    scored = {"rouge": metric("rouge").values}
    rows = [
        {
            "id": n,
            "candidate": f"Text {n}.",
            "judgments": {"overall": "0.5" if n else "N/A"},
        }
        for n in range(40)
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    notes: list[str] = []
    (target,) = targets([path], ["rouge.rouge_l=overall"], scored, notes=notes)
    assert len(target.labels.numbers) == 39
    assert notes == [
        "label overall: 39 answers on 39 texts, 1 missing: 0.5 (39)"
    ]
    rows[3]["judgments"] = {"overall": "good"}
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    with pytest.raises(DataError, match=r"labels.jsonl:4: judgments.overall"):
        targets([path], ["overall"], scored)


def test_raters_with_gaps_have_the_coefficient_that_needs_no_full_table() -> (
    None
):
    # Interval alpha by hand, 1 - (n - 1) * sum of within / sum of all, over the pairable values of
    # (1, 2), (3, 3) and (4, 4, missing): n = 6. Within: of each item sum of squared differences of
    # ordered pairs / (m - 1) = 2, 0, 0. All ordered pairs of 1, 2, 3, 3, 4, 4: 94 / 2 unordered:
    # 1-2 1, 1-3 4 twice, 1-4 9 twice, 2-3 1 twice, 2-4 4 twice, 3-4 1 four times: 41; ordered 82.
    # alpha = 1 - 5 * 2 / 82 = 0.8780.
    items, _ = read_labels(
        judged([[1, 2, None], [3, 3, "N/A"], [4, 4, ""], [5, None, None]]), "f"
    )
    reliability = of_ratings(items, "overall")
    assert (reliability.n_items, reliability.n_left_out) == (3, 1)
    values = {
        coefficient.name: coefficient
        for coefficient in reliability.coefficients
    }
    alpha = values.pop("Krippendorff alpha (interval)").value
    assert alpha == pytest.approx(1 - 5 * 2 / 82)
    assert all(coefficient.value is None for coefficient in values.values())
    assert all(
        "take Krippendorff alpha" in (coefficient.reason or "")
        for coefficient in values.values()
    )


def test_raters_who_say_words_are_refused() -> None:
    items, _ = read_labels(judged([["good", "bad"], ["bad", "bad"]]), "f")
    with pytest.raises(ConfigError, match="words such as 'good'"):
        of_ratings(items, "overall")


@pytest.mark.parametrize(
    "odd", [{"a": 1}, {}, [[0.5]], [{"a": 1}], [None, {}]]
)
def test_an_object_among_numbers_is_a_wrong_answer(odd: object) -> None:
    _, columns = read_labels(judged([0.1, 0.2, odd, 0.4, 0.5]), "rows")
    column = columns["overall"]
    assert (sum(column.counts.values()), len(column.wrong)) == (4, 1)
    assert "expected a number as in most rows" in str(column.wrong[0])


def test_rows_without_the_label_and_empty_lists_are_missing_answers() -> None:
    items = judged([0.1, 0.2, [], None, "n/a", 0.6])
    items[1] = Item("2", "A dog.", ("A dog.",))  # states no label
    _, columns = read_labels(items, "rows")
    assert columns["overall"].n_missing == 4
    assert "2 answers on 2 texts, 4 missing" in str(columns["overall"])


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ('"[0.5, 0.25]"', [0.5, 0.25]),
        ('"[1, null, 3]"', [1, None, 3]),
        ('" [4]"', [4]),
        ('"[""5"", ""N/A""]"', [5, None]),
        ("[2]", [2]),
    ],
)
@pytest.mark.parametrize("mapped", [False, True])
def test_a_list_in_a_cell_of_a_table_is_one_answer_a_person(
    tmp_path: Path, cell: str, answers: list[float | None], mapped: bool
) -> None:
    path = tmp_path / "table.csv"
    column = "rating" if mapped else "judgments.overall"
    rows = [f"{n},{text},{cell}" for n, text in enumerate(TEXTS)]
    path.write_text("\n".join((f"id,candidate,{column}", *rows)) + "\n")
    columns = {"judgments.overall": column} if mapped else {}
    labelled = load(str(path), rows=DataOptions(map=columns))
    assert overall(labelled.items) == [answers] * len(TEXTS)


def test_a_label_of_objects_is_said_not_to_be_used(tmp_path: Path) -> None:
    cells = [{"x": 1}] * 6
    labelled = load(str(write(tmp_path, cells)), chosen=())
    note = (
        "label overall: not used: 6 texts have an object or a list of lists,"
        " which is no answer"
    )
    assert note in labelled.notes
    path = tmp_path / "labels.jsonl"
    rows = [
        {
            "id": n,
            "candidate": f"Text {n}.",
            "judgments": {"overall": 0.5, "other": {"x": n}},
        }
        for n in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    notes: list[str] = []
    scored = {"rouge": metric("rouge").values}
    targets([path], ["rouge.rouge_l=overall"], scored, notes=notes)
    assert [note.partition(":")[0] for note in notes] == ["label overall"]
    with pytest.raises(ConfigError, match="0 rows have a number for 'other'"):
        targets([path], ["rouge.rouge_l=other"], scored, notes=notes)
    assert notes[-1].startswith("label other: not used: 40 texts")
