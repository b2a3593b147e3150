"""Gold units, adjudication, participants and codes in a real browser, by keys alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp

from annotated_data import DATA_OF, write_rows
from beholder.kinds.annotation.agreement import with_gold
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.options import DataOptions
from beholder.web import make_app

pytest.importorskip("playwright", reason="needs Playwright: make test-web")

Server = Callable[[ASGIApp], AbstractContextManager[str]]
Made = Callable[..., AnnotationStudy]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes a study of the first rows of a task's data."""

    def make(
        task: str, gold: Sequence[Mapping[str, Any]] = (), limit: int = 2, **design: Any
    ) -> AnnotationStudy:
        named = task_named(task)
        units, _ = units_of(named, str(DATA_OF[task](tmp_path)), DataOptions(limit=limit))
        if gold:
            units = with_gold(named, units, write_rows(tmp_path / "gold.jsonl", gold))
        people = AnnotationDesign(("anna", "ben"), **design)
        return AnnotationStudy.make(tmp_path / "study", named, units, people, media=tmp_path)

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
    made: Made, watch: Callable[[], Any], server: Server
) -> None:
    """A participant of Prolific: training with feedback, a gold unit, a code at the end."""
    gold = [
        {
            "unit": f"{HARBOUR}/candidate",
            "judgment": {"rating": 2},
            "use": "training",
            "feedback": "The boat is red.",
        },
        {"unit": "harbour-south/candidate", "judgment": {"rating": 8}, "use": "attention"},
    ]
    study = made("ratings", gold, participants=True, completion_code="C1XYZ")
    with server(app_of(study)) as address:
        watched = watch()
        page = watched.page
        enter(page, address, f"join={study.join}&PROLIFIC_PID=p77&STUDY_ID=s&SESSION_ID=t")
        assert page.url == f"{address}/"
        page.get_by_text("0 of 3 done, 3 left").wait_for()
        page.get_by_text("The first 1 are a training").wait_for()
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
        page.get_by_role("alert").get_by_text("can no longer be changed").wait_for()
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
        again = watch()
        enter(again.page, address, f"join={study.join}&PROLIFIC_PID=p77")
        again.page.get_by_text("Hello, anna").wait_for()
        owner = watch()
        enter(owner.page, address, f"token={study.token}")
        told = owner.page.locator("#live").inner_text()
        assert "attention checks passed" in told
        assert "p77\tC1XYZ" in told
        assert owner.axe() == []
    training = study.positions()[f"{HARBOUR}/candidate"]
    assert study.state("anna", training) == {"rating": 9, "done": True}
    study.close()


def test_marks_with_gold_and_a_third_person(
    made: Made, watch: Callable[[], Any], server: Server
) -> None:
    gold = [{"unit": "harbour-south", "judgment": {}, "feedback": "Nothing is wrong."}]
    study = made("marks", gold, adjudicator="carl")
    links = study.annotators()
    with server(app_of(study)) as address:
        for who in ("anna", "ben"):
            page = watch().page
            enter(page, address, f"token={links[who]}")
            start(page)
            for place in (1, 2):
                next_place(page, place)
                is_gold = study.assigned(who)[place - 1] == study.positions()["harbour-south"]
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
        page.get_by_text("You decide where the judgments of others differ").wait_for()
        start(page)
        page.get_by_text("2 annotators judged this differently").wait_for()
        assert page.locator(".given").all_inner_texts() == ["A: blue boat (attribute, major)"]
        assert watched.axe() == []
        marks_blue_boat(page)
        keys(page, "Enter")
        page.get_by_text("Everything is done").wait_for()
        assert watched.problems == []
    (settled,) = study.settled()
    assert settled.by == {"carl": {**BLUE_BOAT, "done": True}}
    study.close()


def test_what_cannot_be_judged_and_a_closer_look(
    made: Made, watch: Callable[[], Any], server: Server
) -> None:
    study = made("facts", limit=1)
    with server(app_of(study)) as address:
        watched = watch()
        page = watched.page
        enter(page, address, f"token={study.annotators()['anna']}")
        start(page)
        picture = page.locator(".zoom img")
        width = picture.bounding_box()["width"]
        page.locator(".zoom").focus()
        keys(page, "+", "+")
        assert picture.bounding_box()["width"] == pytest.approx(2 * width, rel=0.02)
        before = page.locator(".zoom").evaluate("view => view.scrollLeft")
        keys(page, "ArrowRight")
        page.wait_for_function(
            "before => document.querySelector('.zoom').scrollLeft > before", arg=before
        )
        assert watched.axe() == []
        keys(page, "-", "-", "Escape", "c", "Control+Enter")
        page.get_by_text("Everything is done").wait_for()
        assert watched.problems == []
    (progress, _) = study.progress()
    assert (progress.done, progress.cannot) == (1, 1)
    study.close()
