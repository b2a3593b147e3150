"""What keys do on pages of annotation in a real browser: the focus stays, and no stray key finishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp

from annotated_data import DATA_OF
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.options import DataOptions
from beholder.web import make_app

pytest.importorskip("playwright", reason="needs Playwright: make test-web")

Server = Callable[[ASGIApp], AbstractContextManager[str]]
Watch = Callable[[], Any]


def one_unit(
    folder: Path, task: str, prefill: Mapping[str, Any]
) -> AnnotationStudy:
    """A study of the first unit, whose description is "A blue boat lies at a pier. ..."."""
    annotation_task = task_named(task)
    units, _ = units_of(
        annotation_task, str(DATA_OF[task](folder)), DataOptions(limit=1)
    )
    prefilled = [replace(unit, prefill=prefill) for unit in units]
    return AnnotationStudy.make(
        folder / "study",
        annotation_task,
        prefilled,
        AnnotationDesign(("anna",)),
        media=folder,
    )


def opened(watch: Watch, study: AnnotationStudy, address: str) -> Any:
    page = watch().page
    page.goto(f"{address}/?token={study.annotators()['anna']}")
    page.get_by_role("link", name="Start").focus()
    page.keyboard.press("Enter")
    page.locator("[data-ready]").wait_for()
    return page


def app_of(study: AnnotationStudy) -> ASGIApp:
    return make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))


def saved(page: Any) -> None:
    from playwright.sync_api import expect

    expect(page.locator("#status")).to_have_text("Saved")


def focused_label(page: Any) -> str | None:
    """Return the name by which a screen reader announces the focused element."""
    name: str | None = page.evaluate("document.activeElement.ariaLabel")
    return name


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


BLUE = {"kind": "attribute", "severity": "minor"}


def test_the_focus_stays_in_the_select_that_is_changed(
    tmp_path: Path, watch: Watch, server: Server
) -> None:
    boat, pier = "mistakes:7-11", "mistakes:22-26"
    study = one_unit(
        tmp_path, "marks", {"mistakes:2-6": BLUE, boat: BLUE, pier: BLUE}
    )
    with server(app_of(study)) as address:
        page = opened(watch, study, address)
        kind, severity = (
            page.get_by_label(f"{choice} of the mark on boat")
            for choice in ("Kind", "Severity")
        )
        kind.focus()
        press(page, "ArrowDown", "ArrowDown")
        saved(page)
        assert focused_label(page) == "Kind of the mark on boat"
        severity.focus()
        press(page, "ArrowDown")
        saved(page)
        assert focused_label(page) == "Severity of the mark on boat"
        assert study.state("anna", 0)[boat] == {
            "kind": "number",
            "severity": "major",
        }
        page.locator("#undo").click()
        saved(page)
        page.wait_for_function(
            "one => one.value === 'minor'", arg=severity.element_handle()
        )
        # a second Enter on a button that is gone removes no other mark
        page.get_by_role("button", name="Remove the mark on boat").focus()
        press(page, "Enter", "Enter")
        saved(page)
        assert focused_label(page) == "Kind of the mark on pier"
        page.get_by_role("button", name="Remove the mark on pier").focus()
        press(page, "Enter")
        assert focused_label(page) == "Kind of the mark on blue"
        page.get_by_role("button", name="Remove the mark on blue").focus()
        press(page, "Enter")
        saved(page)
        assert (
            page.locator(".words:focus").get_attribute("data-label")
            == "mistakes"
        )
    assert study.state("anna", 0) == {}
    study.close()


def test_a_proposal_without_severity_asks_for_one(
    tmp_path: Path, watch: Watch, server: Server
) -> None:
    study = one_unit(
        tmp_path,
        "marks",
        {"mistakes:2-6": {"kind": "attribute", "severity": None}},
    )
    with server(app_of(study)) as address:
        page = opened(watch, study, address)
        severity = page.get_by_label("Severity of the mark on blue")
        assert severity.locator("option:checked").inner_text() == "severity?"
        severity.select_option("major")
        saved(page)
        page.locator("#undo").click()
        saved(page)
        page.wait_for_function(
            "one => one.value === ''", arg=severity.element_handle()
        )
    assert study.state("anna", 0) == {
        "mistakes:2-6": {"kind": "attribute", "severity": None}
    }
    study.close()


@pytest.mark.parametrize(
    ("task", "prefill"),
    [
        ("marks", {}),
        ("marks", {"mistakes:2-6": BLUE}),
        ("facts", {"0": "true", "1": "false"}),
    ],
)
@pytest.mark.parametrize("how", ["Control+Enter", "Done"])
def test_enter_does_not_finish_a_unit_without_an_answer(
    tmp_path: Path,
    watch: Watch,
    server: Server,
    task: str,
    prefill: Mapping[str, Any],
    how: str,
) -> None:
    study = one_unit(tmp_path, task, prefill)
    with server(app_of(study)) as address:
        page = opened(watch, study, address)
        press(page, "Enter")
        page.get_by_role("alert").get_by_text(
            "You have changed nothing here."
        ).wait_for()
        assert page.url.endswith("/units/1")
        assert study.state("anna", 0) == prefill
        if how == "Done":
            page.locator("#finish").focus()
        press(page, "Enter" if how == "Done" else how)
        page.get_by_text("Everything is done").wait_for()
        assert study.state("anna", 0) == {**prefill, "done": True}
        page.goto(f"{address}/units/1")  # done: Enter goes on
        page.locator("[data-ready]").wait_for()
        press(page, "Enter")
        page.get_by_text("Everything is done").wait_for()
    study.close()


def test_enter_finishes_a_unit_that_somebody_has_marked(
    tmp_path: Path, watch: Watch, server: Server
) -> None:
    study = one_unit(tmp_path, "marks", {})
    with server(app_of(study)) as address:
        page = opened(watch, study, address)
        page.locator("[data-label=mistakes] [data-start]").nth(1).click()
        press(page, "m")
        saved(page)
        page.locator("h1").click()
        press(page, "Enter")
        page.get_by_text("Everything is done").wait_for()
    assert list(study.state("anna", 0)) == ["mistakes:2-6", "done"]
    study.close()


@pytest.mark.parametrize(
    ("task", "texts"),
    [
        ("marks", ["mistakes", "omissions", "mistakes"]),
        ("ranking", list("ABCA")),
    ],
)
def test_a_key_moves_the_focus_from_text_to_text(
    tmp_path: Path, watch: Watch, server: Server, task: str, texts: list[str]
) -> None:
    study = one_unit(tmp_path, task, {})
    with server(app_of(study)) as address:
        page = opened(watch, study, address)
        for text in texts:
            press(page, "t")
            label = page.evaluate(
                "(({label, name}) => label || name)(document.activeElement.dataset)"
            )
            assert label == text
        page.locator("#remark").focus()
        press(page, "t")
        assert page.locator("#remark").input_value() == "t"
    study.close()
