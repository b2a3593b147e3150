"""Gold units, adjudication, participants and codes in a real browser, by keys alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp

from annotated_data import DATA_OF, write_rows
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.exchange import with_gold
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.options import DataOptions
from beholder.web import make_app

pytest.importorskip("playwright", reason="needs Playwright: make test-web")

Server = Callable[[ASGIApp], AbstractContextManager[str]]
MakeStudy = Callable[..., AnnotationStudy]


@pytest.fixture
def make_study(tmp_path: Path) -> MakeStudy:
    """Makes a study of the first rows of a task's data."""

    def make(
        task: str,
        gold: Sequence[Mapping[str, Any]] = (),
        limit: int = 2,
        **design: Any,
    ) -> AnnotationStudy:
        annotation_task = task_named(task)
        units, _ = units_of(
            annotation_task,
            str(DATA_OF[task](tmp_path)),
            DataOptions(limit=limit),
        )
        if gold:
            units = with_gold(
                annotation_task,
                units,
                write_rows(tmp_path / "gold.jsonl", gold),
            )
        people = AnnotationDesign(("anna", "ben"), **design)
        return AnnotationStudy.make(
            tmp_path / "study", annotation_task, units, people, media=tmp_path
        )

    return make


def app_of(study: AnnotationStudy) -> ASGIApp:
    return make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))


def enter(page: Any, address: str, query: str) -> None:
    page.goto(f"{address}/?{query}")
    page.get_by_role("heading", level=1).wait_for()


def start(page: Any) -> None:
    """Follow the link to the next item by keys."""
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.locator("a.go:focus").count():
            break
    page.keyboard.press("Enter")
    page.locator("[data-ready]").wait_for()


def keys(page: Any, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


def marks_blue_boat(page: Any, severity: str = "2") -> None:
    """Mark the second and third word of the description, and leave the text."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.locator("[data-label=mistakes]:focus").count():
            break
    keys(page, "ArrowRight", "Shift+ArrowRight", "a", severity, "m", "Escape")
    assert page.locator("#finish:focus").count() == 1


def next_place(page: Any, place: int) -> None:
    page.wait_for_url(f"**/units/{place}")
    page.locator("[data-ready]").wait_for()


HARBOUR = "harbour-north"
BLUE_BOAT = {"mistakes:2-11": {"kind": "attribute", "severity": "major"}}


def test_ratings_with_training_gold_and_a_code(
    make_study: MakeStudy, watch: Callable[[], Any], server: Server
) -> None:
    """A participant of Prolific: training with feedback, a gold unit, a code at the end."""
    gold = [
        {
            "unit": f"{HARBOUR}/candidate",
            "judgment": {"rating": 2},
            "use": "training",
            "feedback": "The boat is red.",
        },
        {
            "unit": "harbour-south/candidate",
            "judgment": {"rating": 8},
            "use": "attention",
        },
    ]
    study = make_study(
        "ratings", gold, participants=True, completion_code="C1XYZ"
    )
    with server(app_of(study)) as address:
        watched = watch()
        page = watched.page
        enter(
            page,
            address,
            f"join={study.join}&PROLIFIC_PID=p77&STUDY_ID=s&SESSION_ID=t",
        )
        assert page.url == f"{address}/"
        page.get_by_text("0 of 3 done, 3 left").wait_for()
        page.get_by_text("The first item is for training").wait_for()
        assert page.locator(".code").count() == 0
        start(page)
        page.get_by_text("Training 1 of 1, 3 left").wait_for()
        assert "The boat is red." not in page.content()
        page.goto(f"{address}/units/3")  # training comes first
        next_place(page, 1)
        keys(page, "9", "Control+Enter")
        page.get_by_text("Not quite. The boat is red.").wait_for()
        right = page.locator("label.choice", has=page.locator(".given"))
        assert right.inner_text().split() == ["2", "right"]
        assert watched.axe() == []
        keys(page, "3")  # too late
        page.get_by_role("alert").get_by_text(
            "can no longer be changed"
        ).wait_for()
        keys(page, "Control+Enter")
        next_place(page, 2)
        page.get_by_text("1 of 2, 2 left").wait_for()
        keys(page, "8", "Control+Enter")
        next_place(page, 3)
        keys(page, "7", "Control+Enter")
        page.get_by_text("Everything is done").wait_for()
        assert page.locator(".code").inner_text() == "C1XYZ"
        back = page.get_by_role("link", name="Return to Prolific")
        assert back.get_attribute("href") == (
            "https://app.prolific.com/submissions/complete?cc=C1XYZ"
        )
        assert watched.axe() == []
        assert [p for p in watched.problems if "422" not in p] == []
        page.goto(f"{address}/?join={study.join}&PROLIFIC_PID=p77")
        page.get_by_text("You are anna").wait_for()
        link = page.get_by_role("link", name="?token=").inner_text()
        again = watch()
        again.page.goto(f"{address}/?join={study.join}&PROLIFIC_PID=p77")
        again.page.get_by_text("taken in another browser").wait_for()
        enter(again.page, address, link.partition("?")[2])
        again.page.get_by_text("You are anna").wait_for()
        owner = watch()
        enter(owner.page, address, f"token={study.token}")
        overview = owner.page.locator("main").inner_text()
        assert "attention checks passed" in overview
        assert "p77\tC1XYZ" in overview
        assert owner.axe() == []
    training = study.positions()[f"{HARBOUR}/candidate"]
    assert study.state("anna", training) == {"rating": 9, "done": True}
    study.close()


def test_marks_with_gold_and_a_third_person(
    make_study: MakeStudy, watch: Callable[[], Any], server: Server
) -> None:
    gold = [
        {
            "unit": "harbour-south",
            "judgment": {},
            "feedback": "Nothing is wrong.",
        }
    ]
    study = make_study("marks", gold, adjudicator="carl")
    links = study.annotators()
    with server(app_of(study)) as address:
        for who in ("anna", "ben"):
            page = watch().page
            enter(page, address, f"token={links[who]}")
            start(page)
            for place in (1, 2):
                next_place(page, place)
                is_gold = (
                    study.assigned(who)[place - 1]
                    == study.positions()["harbour-south"]
                )
                if who == "anna" and not is_gold:
                    marks_blue_boat(page)
                keys(page, "Control+Enter")
                if is_gold:
                    page.get_by_text("Right. Nothing is wrong.").wait_for()
                    keys(page, "Enter")
            page.get_by_text("Everything is done").wait_for()
        watched = watch()
        page = watched.page
        enter(page, address, f"token={links['carl']}")
        page.get_by_text(
            "You decide where the judgments of others differ"
        ).wait_for()
        start(page)
        page.get_by_text("2 annotators judged this differently").wait_for()
        page.locator(".given").first.wait_for()
        assert page.locator(".given").all_inner_texts() == [
            "A: blue boat (attribute, major)"
        ]
        assert watched.axe() == []
        marks_blue_boat(page)
        keys(page, "Enter")
        page.get_by_text("Everything is done").wait_for()
        assert watched.problems == []
    (settled,) = study.settled()
    assert settled.by == {"carl": {**BLUE_BOAT, "done": True}}
    study.close()


def test_a_unit_is_marked_as_impossible_to_judge_after_zooming(
    make_study: MakeStudy, watch: Callable[[], Any], server: Server
) -> None:
    study = make_study("facts", limit=1)
    with server(app_of(study)) as address:
        watched = watch()
        page = watched.page
        enter(page, address, f"token={study.annotators()['anna']}")
        start(page)
        picture = page.locator(".zoom img")
        width = picture.bounding_box()["width"]
        page.locator(".zoom").focus()
        keys(page, "+", "+")
        assert picture.bounding_box()["width"] == pytest.approx(
            2 * width, rel=0.02
        )
        before = page.locator(".zoom").evaluate("view => view.scrollLeft")
        keys(page, "ArrowRight")
        page.wait_for_function(
            "before => document.querySelector('.zoom').scrollLeft > before",
            arg=before,
        )
        assert watched.axe() == []
        keys(page, "-", "-", "Escape", "c", "Control+Enter")
        page.get_by_text("Everything is done").wait_for()
        assert watched.problems == []
    (progress, _) = study.progress()
    assert (progress.done, progress.cannot) == (1, 1)
    study.close()


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until what ``selector`` names has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.locator(f"{selector}:focus").count():
            return
    pytest.fail(f"no Tab leads to {selector}")


RIGHT: dict[str, tuple[Mapping[str, Any], str]] = {
    "marks": ({}, ""),
    "pairs": (
        dict.fromkeys(("mistakes", "omissions", "overall_quality"), 2),
        "333",
    ),
    "ratings": ({"rating": 8}, "8"),
    "sequences": ({"rating": 8}, "8"),
    "steps": ({step: {"rating": 8, "breaks": []} for step in "01"}, "88"),
    "facts": ({}, "tt"),
    "revisions": ({"decision": "accept"}, "a"),
    "reading": ({"level": "none"}, "n"),
    "ranking": ({"order": [0, 1, 2]}, "012"),
}
"""The known answer of every unit by task, and the keys that give it."""

WRONG_KEYS = {
    "pairs": "111",
    "ratings": "2",
    "sequences": "2",
    "steps": "8t2",
    "facts": "ff",
    "reading": "g",
}


def judge(page: Any, task: str, *, right: bool) -> None:
    """Answer a unit by keys, with the known answer or with another."""
    if task == "ranking":
        for at, place in enumerate(RIGHT[task][1] if right else "210"):
            tab_to(page, f'[data-place="{place}"]')
            keys(page, str(at + 1))
        if page.locator("#order-right[aria-pressed=false]").count():
            tab_to(page, "#order-right")
            keys(page, "Enter")
    elif task == "revisions" and not right:
        keys(page, "r")
        tab_to(page, "[data-part=reason]")
        keys(page, "Space")
    elif task == "marks" and not right:
        marks_blue_boat(page)
    else:
        keys(page, *(RIGHT[task][1] if right else WRONG_KEYS[task]))


@pytest.mark.parametrize("task", DATA_OF)
def test_each_task_with_training_checks_codes_and_a_third_person(
    make_study: MakeStudy,
    watch: Callable[[], Any],
    server: Server,
    tmp_path: Path,
    task: str,
) -> None:
    """Two participants and an adjudicator finish a study by keys alone."""
    limit = 6 if task == "pairs" else 3
    annotation_task = task_named(task)
    units, _ = units_of(
        annotation_task, str(DATA_OF[task](tmp_path)), DataOptions(limit=limit)
    )
    gold = []
    for unit, kind in zip(units, ("training", "attention"), strict=False):
        right_answer = (
            {str(n): "true" for n in range(len(unit.texts))}
            if task == "facts"
            else RIGHT[task][0]
        )
        gold.append(
            {
                "unit": unit.id,
                "judgment": right_answer,
                "use": kind,
                "feedback": "It shows.",
            }
        )
    study = make_study(
        task,
        gold,
        limit,
        participants=True,
        completion_code="C9",
        adjudicator="carl",
    )
    n = len(study.assigned("anna"))
    problems: list[str] = []
    with server(app_of(study)) as address:
        for who, right in (("anna", True), ("ben", False)):
            watched = watch()
            page = watched.page
            enter(page, address, f"join={study.join}&PROLIFIC_PID={who}")
            start(page)
            for place, position in enumerate(study.assigned(who), start=1):
                next_place(page, place)
                gold_of = study.unit(position).gold
                use = "" if gold_of is None else gold_of.use
                judge(page, task, right=right or use == "attention")
                keys(page, "Control+Enter")
                if use == "training":
                    page.locator("#feedback").get_by_text(
                        "It shows."
                    ).wait_for()
                    assert (
                        page.locator("#feedback").get_attribute("data-right")
                        == str(right).lower()
                    )
                    assert watched.axe() == []
                    keys(page, "Control+Enter")
            page.get_by_text("Everything is done").wait_for()
            assert page.locator(".code").inner_text() == "C9"
            problems += watched.problems
        watched = watch()
        page = watched.page
        enter(page, address, f"token={study.annotators()['carl']}")
        start(page)
        page.get_by_text("2 annotators judged this differently").wait_for()
        page.locator(".given").first.wait_for()
        assert {
            words[0] for words in page.locator(".given").all_inner_texts()
        } <= {"A", "B"}
        assert watched.axe() == []
        judge(page, task, right=True)
        keys(page, "Control+Enter")
        assert watched.problems + problems == []
        owner = watch()
        enter(owner.page, address, f"token={study.token}")
        assert (
            "attention checks passed"
            in owner.page.locator("main").inner_text()
        )
        assert owner.axe() == []
    assert [(row.done, row.assigned) for row in study.progress()[:2]] == [
        (n, n)
    ] * 2
    first = study.settled()[0]
    assert list(first.by) == ["carl"]
    assert not annotation_task.differences(
        first.unit, first.by["carl"], {**study.judged()[0].by["anna"]}
    )
    study.close()
