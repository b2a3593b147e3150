"""What each task takes, what it lacks, how far annotators agree (by hand), and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from annotated_data import DATA_OF, items
from annotating import finish, study_of
from beholder.data.row import from_row
from beholder.errors import ConfigError, ItemError
from beholder.kinds.annotation.agreement import (
    Cells,
    agreement_of,
    of_kinds,
    of_numbers,
    of_rankings,
)
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.records import AnnotationUnit, Judgments
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import Task, task_named
from beholder.kinds.annotation.tasks.ranking import RankTask
from beholder.options import DataOptions
from beholder.records import Interval, Reviews
from toy.cases import each_case

MARK = {"kind": "object", "severity": "minor"}
Units: TypeAlias = Mapping[str, tuple[Task, AnnotationUnit]]
UNITS = {
    "marks": "harbour-north",
    "pairs": "harbour-north | harbour-south",
    "ratings": "harbour-north/candidate",
    "sequences": "walk",
    "steps": "walk",
    "ranking": "harbour (en)",
    "facts": "harbour-north",
    "revisions": "harbour-north",
    "reading": "harbour-north",
}
VALID_PARTS = [
    ("marks", "mistakes:2-11", MARK),
    ("marks", "mistakes:2-11", {"kind": "other", "severity": None}),
    ("marks", "omissions:2-10", MARK),
    ("pairs", "mistakes", 0),
    ("pairs", "overall_quality", 4),
    ("ratings", "rating", 1),
    ("ratings", "rating", 10),
    ("sequences", "rating", 5),
    ("steps", "0", {"rating": 3, "breaks": []}),
    ("steps", "1", {"rating": None, "breaks": ["place", "people"]}),
    ("ranking", "order", [2, 0, 1]),
    ("facts", "1", "unsure"),
    ("revisions", "decision", "refuse"),
    ("revisions", "reason", "house rule"),
    ("revisions", "final", "A harbour."),
    ("facts", "0", None),
    ("reading", "level", "minor"),
    ("reading", "final", "A harbour."),
    ("ratings", "remark", "odd picture"),
]
REFUSED = [
    ("marks", "mistakes:11-2", MARK, "no word"),
    ("marks", "mistakes:2-999", MARK, "no word"),
    ("marks", "mistakes:1-2", MARK, "no word"),
    ("marks", "errors:2-11", MARK, "mistakes:START-END"),
    ("marks", "mistakes:٢-11", MARK, "mistakes:START-END"),
    (
        "marks",
        "mistakes:2-11",
        {"kind": "colour", "severity": "minor"},
        r"'colour' - at `\$.kind`",
    ),
    (
        "marks",
        "mistakes:2-11",
        {"kind": "object", "severity": "huge"},
        r"'huge' - at `\$.severity`",
    ),
    (
        "marks",
        "mistakes:2-11",
        {"kind": "object"},
        "missing required field `severity`",
    ),
    ("marks", "mistakes:2-11", "object", "Expected `object`"),
    ("pairs", "mistakes", 5, "mistakes: Expected `int` <= 4"),
    ("pairs", "mistakes", True, "got `bool`"),
    ("pairs", "style", 1, "expected mistakes"),
    ("ratings", "rating", 0, "Expected `int` >= 1"),
    ("ratings", "rating", 7.0, "got `float`"),
    ("ratings", "score", 7, "expected rating"),
    ("steps", "2", {"rating": 3, "breaks": []}, "no part '2'"),
    ("steps", "-1", {"rating": 3, "breaks": []}, "no part"),
    ("steps", "0", {"rating": 11, "breaks": []}, r"<= 10 - at `\$.rating`"),
    (
        "steps",
        "0",
        {"rating": 3, "breaks": ["people", "place"]},
        "in this order",
    ),
    (
        "steps",
        "0",
        {"rating": 3, "breaks": ["mood"]},
        r"\'mood\' - at `\$.breaks\[0\]`",
    ),
    ("steps", "0", {"rating": 3}, "missing required field `breaks`"),
    ("ranking", "order", [0, 1], "once"),
    ("ranking", "order", [0, 1, 1], "once"),
    ("ranking", "order", [True, False, 2], r"got `bool` - at `\$\[0\]`"),
    ("ranking", "order", "012", "Expected `array`"),
    ("facts", "2", "true", "no part"),
    ("reading", "level", "awful", "Invalid enum value"),
    ("revisions", "decision", "perhaps", "Invalid enum value"),
    ("revisions", "final", "", "length >= 1"),
    ("revisions", "final", "x" * 20_001, "length <= 20000"),
    ("facts", "0", True, "Expected `str`, got `bool`"),
    ("facts", "0", "maybe", "Invalid enum value 'maybe'"),
    ("ratings", "remark", 5, "a remark"),
    ("ratings", "remark", "x" * 2001, "a remark"),
    ("ratings", "remark", "nice \ud83d", "half of a surrogate pair"),
    ("ratings", "done", "yes", "done: expected true"),
]


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Units:
    """Each task with one unit of its data."""
    task_units = {}
    for name, unit_id in UNITS.items():
        task = task_named(name)
        data = DATA_OF[name](tmp_path_factory.mktemp(name))
        by_id = {u.id: u for u in units_of(task, str(data), DataOptions())[0]}
        task_units[name] = task, by_id[unit_id]
    return task_units


@each_case(("task", "part", "value"), VALID_PARTS)
def test_a_valid_part_is_accepted(
    units: Units, task: str, part: str, value: Any
) -> None:
    annotation_task, unit = units[task]
    annotation_task.check(unit, part, value)


@each_case(("task", "part", "value", "words"), REFUSED)
def test_a_part_that_is_not_valid_is_refused(
    units: Units, task: str, part: str, value: Any, words: str
) -> None:
    annotation_task, unit = units[task]
    with pytest.raises(ItemError, match=words):
        annotation_task.check(unit, part, value)


@each_case(
    ("task", "state", "lacking"),
    [
        ("marks", {}, None),
        ("pairs", {"mistakes": 1}, "Which leaves out less"),
        ("pairs", {"mistakes": 1, "omissions": 0, "overall_quality": 2}, None),
        ("ratings", {}, "not rated"),
        ("sequences", {"rating": 3}, None),
        ("steps", {"0": {"rating": 3, "breaks": []}}, "steps not rated: 2"),
        (
            "steps",
            {"0": {"rating": None, "breaks": ["time"]}},
            "steps not rated: 1, 2",
        ),
        ("ranking", {"remark": "hm"}, "not ranked"),
        ("facts", {"1": "true"}, "without a verdict: 1"),
        ("revisions", {}, "open: the decision"),
        ("revisions", {"decision": "accept"}, None),
        ("revisions", {"decision": "edit"}, "open: the text"),
        ("revisions", {"decision": "edit", "final": "A boat."}, None),
        (
            "revisions",
            {"decision": "refuse", "final": "A boat."},
            "open: the reason",
        ),
        ("revisions", {"decision": "refuse", "reason": "style"}, None),
        ("facts", {"0": "unsure", "1": "true"}, None),
        ("reading", {"final": "A boat."}, "not answered: the level of error"),
        ("reading", {"level": "grave"}, None),
    ],
)
def test_a_judgment_names_the_parts_that_it_lacks(
    units: Units, task: str, state: dict[str, Any], lacking: str | None
) -> None:
    annotation_task, unit = units[task]
    message = annotation_task.missing(unit, state)
    assert message is None if lacking is None else lacking in (message or "")


def test_tasks_refuse_data_that_lack_what_is_judged() -> None:
    plain = from_row({"id": "1", "candidate": "a dog", "images": ["1.jpg"]})
    with pytest.raises(ConfigError, match="--prefill RUN"):
        task_named("facts").units([plain])
    with pytest.raises(ConfigError, match="candidate_b"):
        task_named("pairs").units([plain])


def test_both_forms_of_pairs_are_read() -> None:
    rows = [
        {
            "id": "1",
            "candidate": "a",
            "images": ["x"],
            "group": {"system": "A"},
        },
        {
            "id": "2",
            "candidate": "b",
            "images": ["x"],
            "group": {"system": "B"},
        },
        {
            "id": "3",
            "candidate": "c",
            "images": ["x"],
            "group": {"system": "A"},
        },
        {"id": "4", "candidate": "d", "candidate_b": "e", "references": ["r"]},
    ]
    units = task_named("pairs").units([from_row(row) for row in rows])
    texts_by_unit = {unit.id: unit.texts for unit in units}
    # of one picture only texts of different systems are compared
    assert texts_by_unit == {
        "4": ("d", "e", "r"),
        "1 | 2": ("a", "b"),
        "2 | 3": ("b", "c"),
    }


def read_coefficients(study: AnnotationStudy) -> dict[tuple[str, str], Any]:
    """Coefficients by what was judged and by name, each with its number of units."""
    reliabilities = agreement_of(
        study.task, study.judged(), tuple(study.annotators())
    )
    return {
        (r.what, c.name): (c.value, r.n_items)
        for r in reliabilities
        for c in r.coefficients
    }


def test_agreement_on_ratings_has_alpha_icc_and_spearman(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "sequences")
    for unit, ratings in {
        "walk": (8, 7),
        "trip": (5, 5),
        "mix": (2, 3),
    }.items():
        for name, rating in zip(("anna", "ben"), ratings, strict=True):
            finish(study, name, unit, {"rating": rating})
    coefficients = read_coefficients(study)
    # Mean squares: items 12.5, raters 0, error 0.5 (two-way table of three items).
    assert coefficients["rating", "ICC(2,1)"] == (
        pytest.approx(12 / (13 - 1 / 3)),
        3,
    )
    # Observed disagreement 4/6; expected 312/30 over the 30 ordered pairs of six values.
    assert coefficients["rating", "Krippendorff alpha (interval)"] == (
        pytest.approx(1 - (4 / 6) / 10.4),
        3,
    )
    study.close()


def test_agreement_where_each_text_has_annotators_of_its_own() -> None:
    nan = float("nan")
    reliability = of_numbers(
        Cells(
            "x",
            np.array([[8, 7, nan], [5, nan, 5], [nan, 2, 3]]),
            ("a", "b", "c"),
            [(n,) for n in "xyz"],
        )
    )
    by_name = {
        coefficient.name: coefficient.value
        for coefficient in reliability.coefficients
    }
    # One-way: between 12.5, within (0.5 + 0 + 0.5) / 3 = 1/3.
    assert by_name["ICC(1,1)"] == pytest.approx(
        (12.5 - 1 / 3) / (12.5 + 1 / 3)
    )
    uneven = of_numbers(
        Cells(
            "x",
            np.array([[8, 7, 9], [5, nan, 5], [nan, 2, nan]]),
            ("a", "b", "c"),
            [(n,) for n in "xyz"],
        )
    )
    assert (uneven.n_items, uneven.n_left_out) == (2, 1)
    reasons = {
        coefficient.name: coefficient.reason or ""
        for coefficient in uneven.coefficients
    }
    assert "2 to 3" in reasons["ICC(1,1)"]


def test_agreement_on_pairs_has_alpha_and_weighted_kappa(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "pairs")
    units = list(study.positions())
    for unit, mistakes in zip(units, ((0, 0), (1, 2), (4, 4)), strict=True):
        for name, level in zip(("anna", "ben"), mistakes, strict=True):
            finish(
                study,
                name,
                unit,
                {"mistakes": level, "omissions": 2, "overall_quality": level},
            )
    coefficients = read_coefficients(study)
    # Mean distance 1/3; of all nine pairs of the two annotators' answers 17/9.
    assert coefficients["mistakes", "Cohen kappa (linear weights)"] == (
        pytest.approx(1 - 3 / 17),
        3,
    )
    assert (
        coefficients["omissions", "Krippendorff alpha (ordinal)"][0] is None
    )  # nobody could disagree
    study.close()


def test_agreement_on_facts_has_alpha_and_kappa_by_hand() -> None:
    # Counts (true, false, unsure): (3,0,0), (0,3,0), (2,1,0), (1,1,1).
    rows = np.array([[0.0, 0, 0], [1, 1, 1], [0, 1, 0], [0, 1, 2]])
    reliability = of_kinds(
        Cells(
            "facts",
            rows,
            ("a", "b", "c"),
            [(str(n),) for n in range(len(rows))],
        ),
        3,
    )
    by_name = {
        coefficient.name: coefficient.value
        for coefficient in reliability.coefficients
    }
    observed, expected = (1 + 1 + 1 / 3 + 0) / 4, (36 + 25 + 1) / 144
    assert by_name["Fleiss kappa"] == pytest.approx(
        (observed - expected) / (1 - expected)
    )


def test_agreement_on_steps_has_ratings_and_kinds_of_break(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "steps")
    # Time breaks, by step: anna names it in the first, ben in the first and the last.
    break_flags = {"anna": (1, 0, 0, 0), "ben": (1, 0, 0, 1)}
    for name, flags in break_flags.items():
        steps = [
            {"rating": 5 + n, "breaks": ["time"] * flag}
            for n, flag in enumerate(flags)
        ]
        finish(study, name, "walk", {"0": steps[0], "1": steps[1]})
        finish(study, name, "trip", {"0": steps[2], "1": steps[3]})
    coefficients = read_coefficients(study)
    assert coefficients["break of time", "Cohen kappa"] == (
        pytest.approx(0.5),
        4,
    )
    assert coefficients["break of time", "Krippendorff alpha (nominal)"] == (
        pytest.approx(1 - 0.25 / (30 / 56)),
        4,
    )
    assert coefficients["rating of a step", "ICC(2,1)"] == (
        pytest.approx(1.0),
        4,
    )
    study.close()


def test_agreement_on_rankings_has_kendall_w_and_spearman(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "ranking")
    for name, order in (("anna", [0, 1, 2]), ("ben", [1, 0, 2])):
        finish(study, name, "harbour (en)", {"order": [0, 1, 2]})
        finish(study, name, "street (en)", {"order": order})
    finish(study, "anna", "field (en)", {"order": [0, 1, 2]})
    coefficients = read_coefficients(study)
    # Of the second set: rank sums 3, 3, 6, so W = 12 * 6 / (4 * 24) = 0.75; Spearman 1 - 12/24.
    assert coefficients["ranks", "Kendall W, mean over sets"] == (
        pytest.approx(0.875),
        2,
    )
    assert coefficients["ranks", "Spearman of two, mean over sets"] == (
        pytest.approx(0.75),
        2,
    )
    study.close()


@pytest.mark.usefixtures("two_sources_are_enough")
def test_intervals_of_rankings_resample_pictures() -> None:
    same, turned = (
        [[1.0, 2.0], [1.0, 2.0]],
        [[1.0, 2.0], [2.0, 1.0]],
    )  # W 1 and 0; rho 1 and -1
    alike = [
        ((f"{n // 2}",), turned if n < 4 else same) for n in range(8)
    ]  # 4 pictures, 2 sets of each
    concordance, rho = of_rankings(
        "ranks", alike, ["anna", "ben"]
    ).coefficients
    assert (concordance.value, rho.value) == (0.5, 0.0)
    # Means of 4 pictures drawn from {-1, -1, 1, 1}: P(all alike) = 1/16 > 0.025 at either end.
    assert rho.interval == Interval(-1.0, 1.0, 0.95)


def test_rankings_in_two_languages_are_of_one_picture(tmp_path: Path) -> None:
    rows = [
        Reviews(id="p", texts=("a", "b"), image="p.png", language=language)
        for language in ("en", "ja")
    ]
    units = RankTask().units(rows)
    orders = {"anna": {"order": [0, 1]}, "ben": {"order": [1, 0]}}
    judged = [Judgments(unit, orders) for unit in units]
    (reliability,) = RankTask().agreement(judged, ["anna", "ben"])
    assert [
        coefficient.interval for coefficient in reliability.coefficients
    ] == [None, None]


def test_agreement_on_marks_has_span_f1_of_each_pair(tmp_path: Path) -> None:
    study = study_of(tmp_path, "marks")
    text = study.unit(study.positions()["harbour-north"]).texts[0]
    assert text == "A blue boat lies at a pier. Three people stand beside it."
    # anna: "blue boat" and "Three people"; ben: "blue". Half of the first is shared, all of ben's.
    finish(
        study,
        "anna",
        "harbour-north",
        {"mistakes:2-11": MARK, "mistakes:28-40": MARK},
    )
    finish(
        study,
        "ben",
        "harbour-north",
        {"mistakes:2-6": MARK, "omissions:2-5": MARK},
    )
    coefficients = read_coefficients(study)
    assert coefficients["mistakes", "span F1 (half of the words)"] == (
        pytest.approx(2 / 3),
        1,
    )
    assert coefficients["omissions", "span F1 (half of the words)"] == (0.0, 1)
    study.close()


def test_results_of_marks_are_spans_of_the_published_protocol(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "marks")
    major = {"kind": "number", "severity": "major"}
    finish(
        study,
        "anna",
        "harbour-north",
        {"mistakes:28-40": major, "mistakes:2-6": MARK},
    )
    finish(study, "ben", "harbour-north", {"omissions:2-10": MARK})
    rows = list(study.task.results(study.judged()))
    assert [row["id"] for row in rows] == [
        "harbour-north/anna",
        "harbour-north/ben",
    ]
    assert rows[0]["dataset"] == "docent_granular"
    assert rows[0]["judgments"] == {
        "mistakes": [[2, 6], [28, 40]],
        "omissions": [],
    }
    assert rows[1]["judgments"] == {"mistakes": [], "omissions": [[2, 10]]}
    assert rows[0]["marks"][0] == {
        "side": "candidate",
        "start": 28,
        "end": 40,
        "text": "Three people",
        **major,
    }
    study.close()


def test_results_of_pairs_are_labels_from_2_to_minus_2(tmp_path: Path) -> None:
    study = study_of(tmp_path, "pairs")
    levels = {"mistakes": 0, "omissions": 2, "overall_quality": 4}
    finish(study, "ben", "street-north | street-south", levels)
    (row,) = study.task.results(study.judged())
    assert row["judgments"] == {
        "mistakes": 2,
        "omissions": 0,
        "overall_quality": -2,
        "model1": "north",
        "model2": "south",
    }
    assert row["candidate"].startswith("A man")
    assert row["candidate_b"].startswith("A woman")
    assert row["dataset"] == "docent_coarse"
    assert list(row["images"]) == ["street.png"]
    study.close()


def test_all_ratings_of_both_texts_are_exported_with_their_raters(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "ratings", ("anna", "ben", "cleo"))
    for name, rating in (("anna", 7), ("ben", 4), ("cleo", 9)):
        finish(study, name, "harbour-north/candidate", {"rating": rating})
    assert study.task.next_command(study.judged()) == (
        "beholder agree {file} --label rating -m accord"
    )
    for name, rating in (("cleo", 8), ("anna", 10)):
        finish(study, name, "harbour-north/reference", {"rating": rating})
    (row,) = study.task.results(
        study.judged()
    )  # the other system's text has no rating yet
    assert row["id"] == "harbour-north"
    assert row["judgments"] == {"rating": [7, 4, 9], "human_rating": [10, 8]}
    assert row["annotators"] == ["anna", "ben", "cleo"]
    assert row["human_annotators"] == ["anna", "cleo"]
    assert study.task.left_out(study.judged()) == ""
    assert (
        "dcscore(direction='both', verify='reference')"
        in study.task.next_command(study.judged())
    )
    study.close()


def test_ratings_of_references_without_a_rated_text_are_counted(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "ratings")
    finish(study, "anna", "harbour-north/reference", {"rating": 3})
    assert list(study.task.results(study.judged())) == []
    assert study.task.left_out(study.judged()).startswith(
        "1 ratings of references"
    )
    study.close()


def test_facts_of_which_nobody_is_sure_do_not_count(tmp_path: Path) -> None:
    study = study_of(tmp_path, "facts")
    finish(study, "anna", "harbour-north", {"0": "false", "1": "true"})
    finish(study, "ben", "harbour-north", {"0": "unsure", "1": "true"})
    (row,) = study.task.results(study.judged())
    assert row["judgments"] == {"true": [0.5, 1.0]}
    assert row["facts"][0] == {
        "text": "A blue boat lies at a pier",
        "verdicts": {"anna": "false", "ben": "unsure"},
    }
    study.close()


def test_results_of_rankings_are_ranks_and_not_orders(tmp_path: Path) -> None:
    study = study_of(tmp_path, "ranking")
    finish(study, "anna", "street (en)", {"order": [2, 0, 1]})
    (row,) = study.task.results(study.judged())
    # the third text is best, then the first, then the second
    assert row["ranks"] == {"anna": [2, 3, 1]}
    assert (row["id"], row["language"]) == ("street", "en")
    study.close()


def test_readings_are_dealt_in_order_and_the_stricter_verdict_counts(
    tmp_path: Path,
) -> None:
    data = items(tmp_path)
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    rows[1]["meta"] = {"readers": 2}
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = task_named("reading")
    units, _ = units_of(task, str(data), DataOptions())
    design = AnnotationDesign(("anna", "ben"))
    study = AnnotationStudy.make(tmp_path / "study", task, units, design)
    # The second text has two readers; the others alternate.
    assert study.assigned("anna") == [0, 1, *range(2, len(rows), 2)]
    assert study.assigned("ben") == list(range(1, len(rows), 2))
    name = rows[1]["id"]
    finish(study, "anna", name, {"level": "minor"})
    finish(study, "ben", name, {"level": "grave", "final": "A boat."})
    (row,) = task.results(study.judged())
    assert (row["level"], row["candidate"]) == ("grave", "A boat.")
    assert row["levels"] == {"anna": "minor", "ben": "grave"}
    (agreement,) = agreement_of(task, study.judged(), ("anna", "ben"))
    assert agreement.what == "level"
    study.close()
    with pytest.raises(ConfigError, match="overlap=3"):
        AnnotationStudy.make(
            tmp_path / "other", task, units, AnnotationDesign(("anna",), 3)
        )
