"""What leaves a study comes back the same; wrong files change nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotated_data import write_rows
from annotating import finish, study_of
from beholder.errors import DataError
from beholder.kinds.annotation.exchange import export_rows, import_rows
from beholder.kinds.annotation.records import Act

JUDGED: dict[str, tuple[str, dict[str, Any]]] = {
    "marks": (
        "harbour-north",
        {
            "mistakes:2-11": {"kind": "attribute", "severity": "minor"},
            "mistakes:28-40": {"kind": "number", "severity": None},
            "omissions:2-10": {"kind": "object", "severity": "major"},
        },
    ),
    "pairs": (
        "field-north | field-south",
        {"mistakes": 4, "omissions": 0, "overall_quality": 2},
    ),
    "ratings": ("street-south/candidate", {"rating": 10}),
    "sequences": ("mix", {"rating": 1}),
    "steps": (
        "walk",
        {
            "0": {"rating": 7, "breaks": []},
            "1": {"rating": 2, "breaks": ["place", "people"]},
        },
    ),
    "ranking": ("street (en)", {"order": [2, 0, 1]}),
    "revisions": (
        "harbour-north",
        {"decision": "edit", "reason": "style", "final": "A\nboat."},
    ),
    "facts": ("harbour-north", {"0": "false", "1": "unsure"}),
    "reading": ("harbour-north", {"level": "minor", "final": "A boat."}),
}


@pytest.mark.parametrize("task", JUDGED)
def test_exported_judgments_are_imported_unchanged(
    tmp_path: Path, task: str
) -> None:
    unit, parts = JUDGED[task]
    study = study_of(tmp_path / "a", task)
    finish(study, "anna", unit, {**parts, "remark": "a remark"})
    file = write_rows(tmp_path / "out.jsonl", export_rows(study, "judgments"))
    copy = study_of(tmp_path / "b", task, ("ben",))
    assert import_rows(copy, file) == (1, 1)
    (judged,) = copy.judged()
    assert dict(judged.by["anna"]) == {
        **parts,
        "remark": "a remark",
        "done": True,
    }
    assert import_rows(copy, file) == (1, 0)
    assert list(copy.annotators()) == ["ben", "anna"]
    assert list(copy.task.results(copy.judged())) == list(
        study.task.results(study.judged())
    )
    study.close()
    copy.close()


def test_an_import_replaces_what_the_same_annotator_said(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "marks")
    finish(study, "anna", *JUDGED["marks"])
    (row,) = export_rows(study, "judgments")
    del row["judgment"]["mistakes:2-11"]
    row["judgment"]["omissions:2-10"] = {"kind": "other", "severity": "minor"}
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps(row) + "\n")
    assert import_rows(study, file) == (1, 1)
    (judged,) = study.judged()
    assert dict(judged.by["anna"]) == row["judgment"]
    # acts are only added: undoing the last one brings back what stood before it
    position = study.positions()["harbour-north"]
    study.save("anna", position, Act("c9", 1))
    assert study.state("anna", position)["omissions:2-10"]["kind"] == "object"
    study.close()


GOOD = {
    "unit": "harbour-north/candidate",
    "annotator": "cleo",
    "judgment": {"rating": 5},
}


WRONG: list[tuple[Any, str]] = [
    ({**GOOD, "unit": "nowhere"}, "no unit"),
    (
        {**GOOD, "annotator": 5},
        r"Expected `str`, got `int` - at `\$.annotator`",
    ),
    ({**GOOD, "annotator": " "}, "printable"),
    ({**GOOD, "annotator": "a\x00b"}, "printable"),
    ({**GOOD, "judgment": {"rating": 11}}, "rating: Expected `int` <= 10"),
    (
        {**GOOD, "judgment": {"done": True}},
        "the judgment is not complete: not rated",
    ),
    (
        {**GOOD, "judgment": 7},
        r"Expected `object`, got `int` - at `\$.judgment`",
    ),
    (
        {**GOOD, "judgment": {"remark": "\ud800"}},
        "half of a surrogate pair",
    ),
    ({"data": {}, "annotations": []}, "missing required field `unit`"),
    ([1], "Expected `object`, got `array`"),
]


def test_a_wrong_row_stops_an_import_before_anything_is_taken(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "ratings")
    file = tmp_path / "in.jsonl"
    for row, words in WRONG:
        file.write_text(f"{json.dumps(GOOD)}\n{json.dumps(row)}\n")
        with pytest.raises(DataError, match=words) as error_info:
            import_rows(study, file)
        assert error_info.value.line == 2
        assert list(study.annotators()) == ["anna", "ben"], row
        assert export_rows(study, "judgments") == []
    study.close()
