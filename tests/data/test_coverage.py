"""Pictures without a text, rows of one picture, rows of one reference, marks of missing texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest

import beholder
from beholder.data import read_items, to_row
from beholder.data.notes import RowNotes
from beholder.errors import ConfigError, DataError
from beholder.options import DataOptions
from beholder.records import Item

pytestmark = pytest.mark.usefixtures("few_resamples")

CAPTIONS = {
    "images": [{"id": 73}, {"id": 74}],
    "annotations": [
        {"id": 1, "image_id": 73, "caption": "A brown dog runs on the beach."},
        {"id": 2, "image_id": 73, "caption": "A dog running on sand."},
        {
            "id": 3,
            "image_id": 74,
            "caption": "Two women cook soup in a kitchen.",
        },
    ],
}
DOG = {"image_id": 73, "caption": "a dog runs on a beach"}
COOKS = {"image_id": 74, "caption": "two women cook"}


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    path = tmp_path / "captions.json"
    path.write_text(json.dumps(CAPTIONS), encoding="utf-8")
    return path


def write(
    folder: Path, *rows: Mapping[str, Any], name: str = "results.json"
) -> Path:
    path = folder / name
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def items(path: Path, **options: Any) -> list[Item]:
    items_read = list(read_items(path, DataOptions(**options)))
    assert all(isinstance(item, Item) for item in items_read), items_read
    return items_read  # type: ignore[return-value]


def noted(path: Path, **options: Any) -> list[str]:
    notes = RowNotes()
    for item in read_items(path, DataOptions(**options), notes=notes):
        assert isinstance(item, Item), item
        notes.add(item)
    return list(notes.sentences())


def test_pictures_without_a_text_are_counted(
    tmp_path: Path, captions: Path
) -> None:
    (line,) = noted(write(tmp_path, DOG), references_from=captions)
    assert line.startswith(
        "1 of 2 pictures of captions.json have no text (74)"
    )
    assert noted(write(tmp_path, DOG, COOKS), references_from=captions) == []


def test_pictures_without_a_text_can_count_as_failures(
    tmp_path: Path, captions: Path
) -> None:
    path = write(tmp_path, DOG)
    first, second = items(path, references_from=captions, require_all=True)
    assert (first.id, second.id, second.candidate) == ("73", "74", "")
    assert second.references == ("Two women cook soup in a kitchen.",)
    run = beholder.score(
        path,
        ["rouge"],
        references_from=captions,
        require_all=True,
        out=tmp_path / "all",
    )
    assert (run.summary["rouge"].n_scored, run.summary["rouge"].n_failed) == (
        1,
        1,
    )
    assert run.notes == ()
    part = beholder.score(
        path, ["rouge"], references_from=captions, out=tmp_path / "part"
    )
    again = beholder.score(
        path, ["rouge"], references_from=captions, out=tmp_path / "part"
    )
    assert (
        part.notes == again.notes
    )  # the file is not read again, the note stays
    assert len(again.notes) == 1


def test_all_pictures_of_no_file_cannot_be_required(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--references-from"):
        list(read_items(write(tmp_path, DOG), DataOptions(require_all=True)))


@pytest.mark.parametrize("field", ["image_id", "video_id", "file_id"])
def test_the_id_of_a_picture_is_the_id_of_its_row(
    tmp_path: Path, field: str
) -> None:
    rows: Sequence[dict[str, Any]] = [
        {field: 73, "caption": "a"},
        {field: "x", "caption": "b"},
        {field: 75.0, "caption": "c"},
        {"caption": "d"},
        {"id": "own", field: 73, "caption": "e"},
    ]
    items_read = items(write(tmp_path, *rows))
    assert [item.id for item in items_read] == ["73", "x", "75", "4", "own"]
    assert [item.id_is_row_number for item in items_read] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_further_texts_of_a_picture_are_numbered_and_said(
    tmp_path: Path, captions: Path
) -> None:
    path = write(tmp_path, DOG, DOG | {"caption": "a car"}, COOKS)
    assert [item.id for item in items(path, references_from=captions)] == [
        "73",
        "73#2",
        "74",
    ]
    (line,) = noted(path, references_from=captions)
    assert line.endswith(": 1 (73#2)")


def test_a_row_number_is_known_as_one_also_after_writing(
    tmp_path: Path,
) -> None:
    (item,) = items(write(tmp_path, {"caption": "a"}))
    assert item.id_is_row_number
    (again,) = items(write(tmp_path, to_row(item)))
    assert again.id_is_row_number
    assert again == Item("1", "a")  # what is compared is the id


SPLIT = "video,gt,pred\na.mp4,A dog.,A dog runs.\na.mp4,A wolf.,A dog runs.\nb.mp4,A cat.,A cat.\n"
COLUMNS = {"references": "gt", "candidate": "pred"}


@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS | {"id": "video"}])
def test_rows_of_one_reference_each_become_one_item(
    tmp_path: Path, columns: Mapping[str, str]
) -> None:
    path = tmp_path / "split.csv"
    path.write_text(SPLIT, encoding="utf-8")
    first, second = items(path, map=columns, group_references=True)
    assert (first.candidate, first.references) == (
        "A dog runs.",
        ("A dog.", "A wolf."),
    )
    assert (second.candidate, second.references) == ("A cat.", ("A cat.",))


def test_rows_of_one_reference_each_are_never_offered_as_a_loss(
    tmp_path: Path,
) -> None:
    path = tmp_path / "split.csv"
    path.write_text(SPLIT, encoding="utf-8")
    with pytest.raises(DataError) as error:
        beholder.score(
            path,
            ["rouge"],
            map=COLUMNS | {"id": "video"},
            out=tmp_path / "run",
        )
    assert "--group-references makes them one item" in str(error.value)
    assert "--skip-bad-rows" not in str(error.value)
    (line,) = noted(path, map=COLUMNS)
    assert "--group-references" in line


def test_another_text_of_one_id_is_still_a_wrong_row(tmp_path: Path) -> None:
    rows = [
        {"id": "x", "caption": text, "references": ["r"]}
        for text in ("a", "b")
    ]
    wrong, _ = read_items(
        write(tmp_path, *rows), DataOptions(group_references=True)
    )
    assert isinstance(wrong, DataError)
    assert "which has another text" in wrong.reason
    _, wrong = read_items(write(tmp_path, *rows), DataOptions())
    assert isinstance(wrong, DataError)
    assert "the system with --map group.system=COLUMN" in wrong.reason
    same = [{"id": "x", "caption": "a", "references": ["r"]}] * 2
    _, repeated = read_items(write(tmp_path, *same))
    assert isinstance(repeated, DataError)
    assert repeated.reason == "'x' is taken by row 1; ids must differ"


@pytest.mark.parametrize("mark", ["NaN", "nan", "None", "null", "N/A", "<NA>"])
def test_texts_that_mark_a_missing_text_are_said(
    tmp_path: Path, mark: str
) -> None:
    rows = [
        {"id": n, "caption": text}
        for n, text in enumerate(("A dog.", mark, f" {mark}"))
    ]
    (line,) = noted(write(tmp_path, *rows))
    assert line.startswith(f"texts {mark!r}: 2;")


def test_fields_that_change_the_question_and_unknown_languages_are_said(
    tmp_path: Path,
) -> None:
    row = {
        "id": "1",
        "caption": "A dog.",
        "candidate_b": "A cat.",
        "language": "Klingon",
    }
    language, second = noted(write(tmp_path, row))
    assert "'Klingon': 1" in language
    assert "candidate_b" in second
    assert "beholder agree" in second


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA])
@pytest.mark.parametrize("column", ["candidate", "caption", "pred"])
def test_a_missing_text_of_a_table_is_a_counted_failure(
    tmp_path: Path, missing: object, column: str
) -> None:
    table = pandas.DataFrame(
        {
            "id": ["x", "y"],
            column: ["A dog.", missing],
            "references": ["A dog.", "A cat."],
        }
    )
    columns = {"candidate": column} if column == "pred" else {}
    run = beholder.score(table, ["rouge"], map=columns, out=tmp_path / "run")
    failed = [item.id for item, outcome in run.outcomes("rouge") if isinstance(outcome, beholder.ItemFailure)]  # fmt: skip
    assert failed == ["y"]
    assert run.summary["rouge"].failures == {"the candidate is empty": 1}


@pytest.mark.parametrize(
    ("texts", "n"),
    [
        (["a brown dog", "a brown dog runs", "a brown dog runs fast"], 2),
        (["a dog", "a dog runs on sand", "runs on sand and swims"], 2),
        (["a dog runs", "runs on sand"], 0),  # a single word
        (["yes", "yes"], 0),  # no roll: fewer than two repeats
        (["a red car", "a dog", "a red car"], 0),  # not the cue before
    ],
)
def test_subtitles_that_roll_are_counted(
    tmp_path: Path, texts: list[str], n: int
) -> None:
    path = tmp_path / "film.srt"
    path.write_text(
        "".join(
            f"{place}\n0:00:0{place},000 --> 0:00:0{place + 1},000\n{text}\n\n"
            for place, text in enumerate(texts)
        ),
        encoding="utf-8",
    )
    start = "cues that begin with the last words of the cue before: "
    expected = f"{start}{n} of {len(texts)}; "
    lines = [line for line in noted(path) if line.startswith(start)]
    assert [line[: len(expected)] for line in lines] == [expected] * (n > 0)


@pytest.mark.parametrize(
    "cues", [5, "x", [5], [[1, 2]], [["a", "b", "c"]], {"a": 1}]
)
def test_cues_of_another_form_are_a_bad_row(
    tmp_path: Path, cues: object
) -> None:
    row = {"id": "1", "candidate": "A dog.", "video": "a.mp4"}
    path = write(tmp_path, {**row, "meta": {"cues": cues}})
    assert noted(path) == []  # the field means nothing without --frames cues
    (error,) = read_items(path, DataOptions(frames="cues"))
    assert isinstance(error, DataError)
    assert "meta.cues: expected a list of [START, END, TEXT]" in str(error)
