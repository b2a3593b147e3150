"""Units with a known answer, adjudication, participants and competence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotated_data import DATA_OF, write_rows
from annotating import finish
from beholder.errors import ConfigError, DataError
from beholder.kinds.annotation.agreement import competence, find_disputed
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.exchange import export_rows, with_gold
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import (
    PLACES_AT_ONCE,
    study_routes,
    study_settings,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.options import DataOptions
from beholder.web import make_app

GOLD = (
    {
        "unit": "harbour-north/candidate",
        "judgment": {"rating": 3},
        "use": "training",
    },
    {
        "unit": "street-north/candidate",
        "judgment": {"rating": 4},
        "use": "gold",
    },
    {
        "unit": "field-north/candidate",
        "judgment": {"rating": 2},
        "use": "attention",
    },
)


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., AnnotationStudy]:
    """Makes a study of ratings, with the rows of a gold file."""

    def make(
        *gold: Mapping[str, Any], task: str = "ratings", **design: Any
    ) -> AnnotationStudy:
        annotation_task = task_named(task)
        units, _ = units_of(
            annotation_task, str(DATA_OF[task](tmp_path)), DataOptions()
        )
        if gold:
            units = with_gold(
                annotation_task,
                units,
                write_rows(tmp_path / "gold.jsonl", gold),
            )
        people = design.pop("annotators", ("anna", "ben"))
        return AnnotationStudy.make(
            tmp_path / "study",
            annotation_task,
            units,
            AnnotationDesign(people, **design),
            media=tmp_path,
        )

    return make


def test_everybody_gets_the_gold_units_and_training_comes_first(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    study = make_study(*GOLD, overlap=1)
    at = study.positions()
    training, gold, attention = (at[str(row["unit"])] for row in GOLD)
    for who in ("anna", "ben"):
        share = study.assigned(who)
        assert share[0] == training
        # six units and references are left of nine: of three pictures, so 2 and 4 of them
        places = sorted(
            share.index(position) for position in (gold, attention)
        )
        assert 0 < places[0] < places[1] < len(share) - 1
    assert (
        len(study.assigned("anna")) + len(study.assigned("ben")) == 6 + 2 * 3
    )
    study.close()


def test_gold_units_are_in_no_result(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    study = make_study(*GOLD)
    finish(study, "anna", "street-north/candidate", {"rating": 4})
    finish(study, "anna", "street-south/candidate", {"rating": 8})
    assert [judgments.unit.id for judgments in study.judged()] == [
        "street-south/candidate"
    ]
    rows = export_rows(study, "results")
    assert [row["id"] for row in rows] == ["street-south"]
    study.close()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"unit": "nothing", "judgment": {"rating": 3}}, "no unit 'nothing'"),
        (
            {"unit": "field-north/candidate", "judgment": {"rating": 30}},
            "rating",
        ),
        ({"unit": "field-north/candidate", "judgment": {}}, "not rated"),
        (
            {
                "unit": "field-north/candidate",
                "judgment": {"rating": 3},
                "use": "test",
            },
            "use",
        ),
    ],
)
def test_a_wrong_gold_row_is_refused_with_its_line(
    make_study: Callable[..., AnnotationStudy],
    row: Mapping[str, Any],
    words: str,
) -> None:
    with pytest.raises(DataError, match=words) as error_info:
        make_study(GOLD[0], row)
    assert "gold.jsonl:2" in str(error_info.value)


def test_units_that_cannot_be_judged_are_done_and_in_no_result(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    study = make_study()
    finish(study, "anna", "field-north/candidate", {"cannot": True})
    finish(study, "anna", "field-south/candidate", {"rating": 6})
    progress = study.progress()[0]
    assert (progress.done, progress.cannot) == (2, 1)
    assert [judgments.unit.id for judgments in study.judged()] == [
        "field-south/candidate"
    ]
    rows = export_rows(study, "judgments")
    assert rows[0]["judgment"] == {"cannot": True, "done": True}
    study.close()


def test_a_third_person_decides_disputes(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    study = make_study(adjudicator="carl")
    for unit, ratings in {
        "field-north/candidate": (2, 8),
        "field-south/candidate": (6, 7),
    }.items():
        for who, rating in zip(("anna", "ben"), ratings, strict=True):
            finish(study, who, unit, {"rating": rating})
    far = study.positions()["field-north/candidate"]
    assert find_disputed(study) == [far]  # 6 and 7 are one level apart
    study.admit("carl", find_disputed(study))
    study.admit("carl", find_disputed(study))
    assert study.assigned("carl") == [far]
    finish(study, "carl", "field-north/candidate", {"rating": 5})
    assert [list(judgments.by) for judgments in study.judged()] == [
        ["anna", "ben"]
    ] * 2
    rows = export_rows(study, "results")
    assert [row["judgments"]["rating"] for row in rows] == [[5], [6, 7]]
    assert rows[0]["annotators"] == ["carl"]
    study.close()


def test_the_adjudicator_is_no_annotator() -> None:
    with pytest.raises(
        ConfigError, match="annotator anna was asked for twice"
    ):
        AnnotationDesign(("anna", "ben"), adjudicator="anna")


def test_participants_take_places_and_keep_them(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    study = make_study(participants=True, adjudicator="carl")
    tokens = study.annotators()
    assert study.claim("p1") == tokens["anna"]
    assert study.claim("p2") == tokens["ben"]
    assert study.claim("p1", tokens["anna"]) == tokens["anna"]
    for token in (
        "",
        tokens["ben"],
        "x" * 32,
        "é",
    ):  # the id alone, and tokens of other places
        with pytest.raises(ConfigError, match="taken in another browser"):
            study.claim("p1", token)
    with pytest.raises(ConfigError, match="all places"):
        study.claim("p3")
    with pytest.raises(ConfigError, match="1 to 64 letters"):
        study.claim("a b")
    assert [progress.participant for progress in study.progress()] == [
        "p1",
        "p2",
        None,
    ]
    codes = {study.code(name) for name in ("anna", "ben")}
    assert len(codes) == 2
    study.close()


def test_one_code_for_all_if_it_is_given(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    study = make_study(participants=True, completion_code="C1AB2")
    assert study.code("anna") == study.code("ben") == "C1AB2"
    study.close()
    with pytest.raises(ConfigError, match="completion code 'a b'"):
        AnnotationDesign(("anna",), completion_code="a b")


def test_competence_counts_known_answers_and_others(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    gold = [
        {**GOLD[1], "unit": f"{name}-north/candidate"}
        for name in ("field", "street")
    ]
    study = make_study(
        *gold, GOLD[0], {**GOLD[2], "unit": "harbour-south/candidate"}
    )
    finish(
        study, "anna", "field-north/candidate", {"rating": 5}
    )  # one level apart: right
    finish(study, "anna", "street-north/candidate", {"rating": 7})
    finish(
        study, "anna", "harbour-north/candidate", {"rating": 10}
    )  # training does not count
    finish(study, "ben", "harbour-south/candidate", {"rating": 2})
    for who, ratings in {"anna": (6, 2), "ben": (6, 9)}.items():
        for unit, rating in zip(("field", "street"), ratings, strict=True):
            finish(study, who, f"{unit}-south/candidate", {"rating": rating})
    competences = competence(
        study.task, study.judged(), study.judged(gold=True), ("anna", "ben")
    )
    shares = {
        use.what: {c.name: c.value for c in use.coefficients}
        for use in competences
    }
    assert shares == {
        "gold units right": {"anna": 0.5},
        "attention checks passed": {"ben": 1.0},
        "answers that another annotator gave, too": {"anna": 0.5, "ben": 0.5},
    }
    # Wilson's interval of 1 of 2: 0.5 +- z * sqrt(0.25/2 + z^2/16) / (1 + z^2/2), z = 1.95996
    interval = competences[0].coefficients[0].interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(
        (0.0945, 0.9055), abs=1e-4
    )
    app = make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))
    client = TestClient(
        app, base_url="http://127.0.0.1", client=("127.0.0.1", 5000)
    )
    client.get("/", params={"token": study.token})
    page = client.get("/").text
    # Of nine units four have a known answer; of the rest three are references, never judged.
    assert "5 units: 2 candidates and 3 references, and 4 with a known" in page
    assert "2 of 5 have at least one finished judgment" in page
    # One caution at the top, of the part with the fewest units.
    assert page.count("compared: one more or less moves") == 1
    assert "under “attention checks passed”. Only 1 compared" in page
    study.close()


def test_differences_of_marks_and_of_steps() -> None:
    marks, steps = task_named("marks"), task_named("steps")
    from beholder.records import Item

    (unit,) = marks.units([Item("a", "A blue boat lies at the old pier.")])
    blue = {
        "mistakes:2-11": {"kind": "object", "severity": "minor"}
    }  # "blue boat"
    boat = {
        "mistakes:7-11": {"kind": "attribute", "severity": "major"}
    }  # "boat"
    pier = {"mistakes:28-32": {"kind": "object", "severity": "minor"}}
    assert marks.differences(unit, blue, boat) == []
    assert marks.differences(unit, blue, pier) == [
        'mistakes: "blue boat"',
        'mistakes: "pier"',
    ]
    assert marks.differences(unit, {"cannot": True}, blue) == [
        "whether it can be judged"
    ]
    assert steps.is_close(
        {"rating": 4, "breaks": ["time"]}, {"rating": 5, "breaks": ["time"]}
    )
    assert not steps.is_close(
        {"rating": 4, "breaks": []}, {"rating": 4, "breaks": ["time"]}
    )


def test_a_new_place_may_be_refused_and_a_place_that_is_taken_is_not(
    make_study: Callable[..., AnnotationStudy],
) -> None:
    study = make_study(participants=True, annotators=tuple("abcdefgh"))
    settings = study_settings(study, "127.0.0.1", 8000)
    assert study.join is not None

    def open_link(
        participant: str, address: str, token: str = ""
    ) -> str | None:
        assert study.join is not None
        query = {"join": study.join, "participant": participant}
        return settings.invited(query, address, token)

    ids = [f"p{number}" for number in range(PLACES_AT_ONCE)]
    tokens = [open_link(participant, "192.0.2.1") for participant in ids]
    assert len(set(tokens)) == PLACES_AT_ONCE
    with pytest.raises(
        ConfigError, match="came from your network address just now"
    ):
        open_link("more", "192.0.2.1")
    places = zip(ids, tokens, strict=True)
    assert [
        open_link(who, "192.0.2.1", token or "") for who, token in places
    ] == tokens
    assert open_link("more", "192.0.2.2") not in tokens
    study.close()


@pytest.mark.parametrize(
    "change",
    [
        {"judgment": "\ud800"},
        {"judgment": {"rating": "\ud800"}},
        {"judgment": {"rating": 3, "remark": "\udfff"}},
        {"unit": "\ud800"},
        {"use": "\ud800"},
        {"feedback": "x\ud800"},
    ],
)
def test_half_of_a_surrogate_pair_in_a_gold_file_is_named(
    make_study: Callable[..., AnnotationStudy], change: Mapping[str, Any]
) -> None:
    with pytest.raises(DataError, match=r"gold\.jsonl:1: "):
        make_study({**GOLD[0], **change})
