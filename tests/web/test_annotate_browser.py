"""Studies in a real browser: every task by clicks and by keys, restarts, hostile texts, two at once."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from annotated_data import DATA_OF, picture, write_rows
from annotating import study_of
from beholder.kinds.annotation.agreement import agreement_of
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import TASKS, task_named
from beholder.options import DataOptions
from beholder.web import make_app

pytest.importorskip("playwright", reason="needs Playwright: make test-web")

Server = Callable[[ASGIApp], AbstractContextManager[str]]


def app_of(study: AnnotationStudy) -> ASGIApp:
    return make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))


def saved(page: Any) -> None:
    from playwright.sync_api import expect

    expect(page.locator("#status")).to_have_text("Saved")


def enter(watched: Any, address: str, token: str) -> Any:
    page = watched.page
    page.goto(f"{address}/?token={token}")
    page.get_by_role("heading", level=1).wait_for()
    return page


def choose(box: Any) -> None:
    """Click a box that is in its final place; a busy page shows its state later."""
    from playwright.sync_api import expect

    box.click()
    expect(box).to_be_checked()


def click_marks(page: Any) -> None:
    page.locator(".words [data-start]").first.click()
    choose(page.locator("[name=kind][value=relation]"))
    page.get_by_role("button", name="Mark the selection").click()


def click_pair(page: Any) -> None:
    first, second = (
        text[::-1] for text in page.locator(".two .read").all_inner_texts()
    )
    for question in page.locator("fieldset[data-question]").all():
        choose(
            question.get_by_label(
                "#1 much better" if first < second else "#2 much better"
            )
        )


def click_rating(page: Any) -> None:
    text = page.locator(".asked .read").inner_text()
    choose(
        page.locator(f'[data-part=rating][data-value="{1 + len(text) % 10}"]')
    )


def click_sequence(page: Any) -> None:
    year = int(page.locator("figcaption").first.inner_text().split()[1][:4])
    choose(
        page.locator(
            f'[data-part=rating][data-value="{2 + 3 * (year - 1928)}"]'
        )
    )


def click_steps(page: Any) -> None:
    for step, rating in ((0, 4), (1, 8)):
        choose(
            page.locator(
                f'[data-part="{step}"][data-field=rating][data-value="{rating}"]'
            )
        )
    choose(page.locator('[data-part="1"][data-field=breaks]').nth(1))


def click_ranking(page: Any) -> None:
    """Put the longest text first."""
    for _ in range(3):
        lengths = [
            len(text)
            for text in page.locator("#ranking .read").all_inner_texts()
        ]
        wrong = [
            at
            for at in range(len(lengths) - 1)
            if lengths[at] < lengths[at + 1]
        ]
        if wrong:
            card = page.locator("#ranking li").nth(wrong[0])
            place = card.get_attribute("data-place")
            card.locator('[data-move="1"]').click()
            page.locator(
                f'#ranking li:nth-child({wrong[0] + 2})[data-place="{place}"]'
            ).wait_for()
    right = page.get_by_role("button", name="This order is right")
    if right.get_attribute("aria-pressed") == "false":
        right.click()


def click_facts(page: Any) -> None:
    for fact in page.locator("fieldset[data-question]").all():
        even = len(fact.locator("legend").inner_text()) % 2 == 0
        choose(fact.get_by_label("true" if even else "false"))


def click_revision(page: Any) -> None:
    even = len(page.locator("del").inner_text()) % 2 == 0
    choose(page.get_by_label("accept" if even else "refuse"))
    choose(page.get_by_label("style"))


def click_reading(page: Any) -> None:
    # Grave if the text has an even length: both people see the same text.
    even = len(page.locator("p.read").inner_text()) % 2 == 0
    choose(page.get_by_label("grave" if even else "none"))


CLICKS: dict[str, Callable[[Any], None]] = {
    "marks": click_marks,
    "pairs": click_pair,
    "ratings": click_rating,
    "sequences": click_sequence,
    "steps": click_steps,
    "ranking": click_ranking,
    "facts": click_facts,
    "revisions": click_revision,
    "reading": click_reading,
}
"""Who judges the unit that is shown, by what is shown of it: two people say the same."""


@pytest.mark.parametrize("task", DATA_OF)
def test_a_study_is_judged_by_clicks_until_the_agreement_table_shows(
    tmp_path: Path, watch: Callable[[], Any], server: Server, task: str
) -> None:
    study = study_of(tmp_path, task, limit=6)
    problems, faults = [], []
    with server(app_of(study)) as address:
        for who, token in study.annotators().items():
            watched = watch()
            page = enter(watched, address, token)
            if who == "anna":  # the pages of both look the same
                faults += watched.axe()
            page.get_by_role("link", name="Start").click()
            for place in range(1, len(study.assigned("anna")) + 1):
                page.locator(
                    f"[data-ready][data-url='/units/{place}/acts']"
                ).wait_for()
                CLICKS[task](page)
                if who == "anna" and place == 1:
                    faults += watched.axe()
                page.get_by_role("button", name="Done").click()
            page.get_by_text("Everything is done").wait_for()
            problems += watched.problems
        watched = watch()
        page = enter(watched, address, study.token)
        faults += watched.axe()
        overview = page.locator("main").inner_text()
        problems += watched.problems
    assert (problems, faults) == ([], [])
    assert [(row.done, row.assigned) for row in study.progress()] == [
        (len(study.assigned("anna")),) * 2
    ] * 2
    agreements = agreement_of(study.task, study.judged(), ("anna", "ben"))
    # two who say the same of the same agree fully, whichever way round they saw it
    values = [
        c.value
        for part in agreements
        for c in part.coefficients
        if c.value is not None
    ]
    assert values
    assert values == pytest.approx([1.0] * len(values))
    for part in agreements:
        for coefficient in part.coefficients:
            assert coefficient.name in overview
    study.close()


@pytest.mark.parametrize("task", DATA_OF)
def test_pages_fit_a_narrow_dark_screen(
    tmp_path: Path, watch: Callable[[], Any], server: Server, task: str
) -> None:
    study = study_of(tmp_path, task, ("anna",))
    with server(app_of(study)) as address:
        watched = watch()
        watched.page.set_viewport_size({"width": 400, "height": 800})
        watched.page.emulate_media(color_scheme="dark")
        page = enter(watched, address, study.annotators()["anna"])
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        assert watched.axe() == []
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        assert watched.problems == []
    study.close()


def test_a_page_is_ready_only_when_the_script_of_its_task_has_run(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "ranking", ("anna",))
    routes: list[Any] = []
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.route(
            "**/annotate_ranking.js", lambda route: routes.append(route)
        )
        page.goto(f"{address}/units/1", wait_until="commit")
        page.get_by_role("button", name="Done").wait_for()
        page.wait_for_timeout(500)
        assert page.locator("[data-ready]").count() == 0
        routes[0].continue_()
        page.locator("[data-ready]").wait_for()
        click_ranking(page)
        saved(page)
    study.close()


def test_pairs_by_keys_alone(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "pairs", ("anna",))
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        first_text = page.locator(".two .read").first.inner_text()
        for key in ("1", "3", "5", "Enter"):
            page.keyboard.press(key)
        page.wait_for_url("**/units/2")
    first = study.unit(study.assigned("anna")[0])
    levels = (0, 2, 4) if first_text == first.texts[0] else (4, 2, 0)
    assert study.state("anna", study.assigned("anna")[0]) == {
        **dict(
            zip(
                ("mistakes", "omissions", "overall_quality"),
                levels,
                strict=True,
            )
        ),
        "done": True,
    }
    study.close()


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until something is focused that ``selector`` names."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.locator(f"{selector}:focus").count():
            return
    pytest.fail(f"no Tab leads to {selector}")


def test_marks_by_keys_alone(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "marks", ("anna",))
    place = (
        study.assigned("anna").index(study.positions()["harbour-north"]) + 1
    )
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/{place}")
        page.locator("[data-ready]").wait_for()
        tab_to(page, "[data-label=mistakes]")
        # "blue boat": kind attribute, major; then "Three" of the same text
        for key in ("ArrowRight", "Shift+ArrowRight", "a", "2", "m"):
            page.keyboard.press(key)
        for key in (*["ArrowRight"] * 5, "n", "1", "Enter"):
            page.keyboard.press(key)
        tab_to(page, "[data-label=omissions]")
        for key in ("ArrowRight", "o", "m"):
            page.keyboard.press(key)
        saved(page)
        assert page.locator("[data-marks=mistakes] q").all_inner_texts() == [
            "blue boat",
            "Three",
        ]
        page.keyboard.press("u")
        from playwright.sync_api import expect

        expect(page.locator("[data-marks=omissions] li")).to_have_count(0)
        saved(page)
        tab_to(page, "#finish")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: not url.endswith(f"/units/{place}"))
    (judged,) = study.judged()
    assert dict(judged.by["anna"]) == {
        "mistakes:2-11": {"kind": "attribute", "severity": "major"},
        "mistakes:28-33": {"kind": "number", "severity": "minor"},
        "done": True,
    }
    study.close()


def test_a_selection_by_mouse_marks_whole_words(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "marks", ("anna",))
    position = study.positions()["harbour-north"]
    place = study.assigned("anna").index(position) + 1
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/{place}")
        page.locator("[data-ready]").wait_for()
        words = page.locator("[data-label=mistakes] [data-start]")
        a, b = words.nth(1).bounding_box(), words.nth(2).bounding_box()
        page.mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
        page.mouse.down()
        page.mouse.move(
            b["x"] + b["width"] / 2, b["y"] + b["height"] / 2, steps=4
        )
        page.mouse.up()
        page.get_by_role("button", name="Mark the selection").click()
        saved(page)
        page.get_by_label("Severity of the mark on blue boat").select_option(
            "major"
        )
        saved(page)
        assert study.state("anna", position) == {
            "mistakes:2-11": {"kind": "object", "severity": "major"}
        }
        page.get_by_role("button", name="Remove the mark on blue boat").click()
        saved(page)
    assert study.state("anna", position) == {}
    study.close()


def test_a_ranking_by_keys_and_by_dragging(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "ranking", ("anna",))
    position = study.assigned("anna")[0]
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()

        def places() -> list[int]:
            return [
                int(li.get_attribute("data-place"))
                for li in page.locator("#ranking li").all()
            ]

        a, b, c = places()
        tab_to(page, f'[data-place="{a}"]')
        page.keyboard.press("ArrowDown")
        assert places() == [b, a, c]
        page.keyboard.press("3")
        assert places() == [b, c, a]
        saved(page)
        assert study.state("anna", position) == {"order": [b, c, a]}
        page.locator(f'[data-place="{a}"]').drag_to(
            page.locator(f'[data-place="{b}"]')
        )
        saved(page)
        assert places() == [a, b, c]
        page.keyboard.press("u")
        saved(page)
        page.locator(f'#ranking li:first-child[data-place="{b}"]').wait_for()
    assert study.state("anna", position) == {"order": [b, c, a]}
    study.close()


def test_the_initial_order_counts_as_a_ranking_only_after_confirmation(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "ranking", ("anna",))
    position = study.assigned("anna")[0]
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        page.keyboard.press("Enter")
        page.get_by_text("not ranked: move a text").wait_for()
        assert page.url.endswith("/units/1")
        assert study.state("anna", position) == {}
        places = [
            int(li.get_attribute("data-place"))
            for li in page.locator("#ranking li").all()
        ]
        button = page.get_by_role("button", name="This order is right")
        button.focus()
        page.keyboard.press("Enter")
        saved(page)
        assert study.state("anna", position) == {"order": places}
        assert button.get_attribute("aria-pressed") == "true"
        page.keyboard.press("u")
        saved(page)
        assert study.state("anna", position) == {}
        button.click()
        page.locator("h1, h2").first.click()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{address}/units/2")
    assert study.state("anna", position) == {"order": places, "done": True}
    study.close()


def test_shortcuts_can_be_turned_off(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "ratings", ("anna",))
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        page.get_by_label("Use single keys as shortcuts").uncheck()
        page.locator("h1").click()
        page.keyboard.press("7")
        assert page.locator("[data-part]:checked").count() == 0
        page.reload()
        page.locator("[data-ready]").wait_for()
        assert not page.get_by_label(
            "Use single keys as shortcuts"
        ).is_checked()
        page.get_by_label("Use single keys as shortcuts").check()
        page.locator("h1").click()
        page.keyboard.press("7")
        saved(page)
    assert study.state("anna", study.assigned("anna")[0]) == {"rating": 7}
    study.close()


def test_a_reload_shows_what_was_saved(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "ratings", ("anna",))
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        page.keyboard.press("7")
        page.get_by_label("Remark").fill("too dark <b>to</b> tell")
        page.get_by_label("Remark").blur()
        saved(page)
        page.reload()
        page.locator("[data-ready]").wait_for()
        assert (
            page.locator("[data-part]:checked").get_attribute("data-value")
            == "7"
        )
        assert (
            page.get_by_label("Remark").input_value()
            == "too dark <b>to</b> tell"
        )
        page.get_by_role("button", name="Undo").click()
        saved(page)
        assert page.get_by_label("Remark").input_value() == ""
        page.get_by_role("button", name="Undo").click()
        saved(page)
        assert page.locator("[data-part]:checked").count() == 0
        page.get_by_role("button", name="Done").click()
        page.get_by_role("alert").get_by_text("not rated").wait_for()
    study.close()


def test_an_act_is_never_saved_under_another_name(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    """Two links in one browser: the page of the first says so, and waits for its own."""
    study = study_of(tmp_path, "ratings")
    links = study.annotators()
    with server(app_of(study)) as address:
        watched = watch()
        anna = enter(watched, address, links["anna"])
        anna.goto(f"{address}/units/3")
        anna.locator("[data-ready]").wait_for()
        anna.get_by_text("Signed in as anna").wait_for()
        ben = anna.context.new_page()
        ben.goto(f"{address}/?token={links['ben']}")
        ben.get_by_role("heading", name="Sign in as ben?").wait_for()
        ben.get_by_text("You are signed in as anna").wait_for()
        anna.keyboard.press("7")
        saved(anna)  # asking changes nothing yet
        ben.get_by_role("button", name="Continue as ben").click()
        ben.get_by_text("You are ben").wait_for()
        anna.keyboard.press("2")
        problem = anna.get_by_role("alert")
        problem.get_by_text(
            "This page belongs to anna; you are signed in as ben"
        ).wait_for()
        assert (
            problem.get_by_role("link", name="Continue as ben").get_attribute(
                "href"
            )
            == "/"
        )
        assert watched.axe() == []
        ben.goto(f"{address}/units/3")
        ben.locator("[data-ready]").wait_for()
        assert ben.locator("[data-part]:checked").count() == 0
        states = [
            study.state(who, study.assigned(who)[2]) for who in ("anna", "ben")
        ]
        assert states == [{"rating": 7}, {}]
        ben.goto(f"{address}/?token={links['anna']}")
        ben.get_by_role("button", name="Continue as anna").click()
        ben.get_by_text("You are anna").wait_for()
        saved(anna)  # by itself, as the page is hers again
        assert anna.locator("#problem").is_hidden()
    states = [
        study.state(who, study.assigned(who)[2]) for who in ("anna", "ben")
    ]
    assert states == [{"rating": 2}, {}]
    study.close()


def test_a_mailed_link_asks_before_it_changes_who_is_signed_in(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    """On another site: a browser does not send our cookies along with such a link at first."""
    study = study_of(tmp_path, "ratings")
    links = study.annotators()

    async def letter(request: Request) -> Response:
        return HTMLResponse(
            f'<a href="{address}/?token={links["ben"]}">Have a look</a>'
        )

    with (
        server(app_of(study)) as address,
        server(Starlette(routes=[Route("/", letter)])) as post,
    ):
        page = enter(watch(), address, links["anna"])
        page.goto(post.replace("127.0.0.1", "localhost"))
        page.get_by_role("link", name="Have a look").click()
        page.get_by_role("heading", name="Sign in as ben?").wait_for()
        page.get_by_role("link", name="Stay signed in as anna").click()
        page.get_by_text("You are anna").wait_for()
        fresh = watch().page
        fresh.goto(post.replace("127.0.0.1", "localhost"))
        fresh.get_by_role("link", name="Have a look").click()
        fresh.get_by_text("You are ben").wait_for()
    study.close()


def acts(study: AnnotationStudy) -> list[Any]:
    """The values that a study keeps, in the order in which they were saved."""
    with closing(sqlite3.connect(study.folder / "study.sqlite")) as db:
        return [
            json.loads(value)
            for (value,) in db.execute(
                "SELECT value FROM beholder_acts ORDER BY id"
            )
        ]


@contextmanager
def serving(study: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """``beholder annotate serve`` as a process of its own, that can be killed."""
    command = [
        sys.executable,
        "-m",
        "beholder",
        "annotate",
        "serve",
        str(study),
    ]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("you: http://127.0.0.1:")
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def test_a_server_that_is_killed_loses_nothing(
    tmp_path: Path, watch: Callable[[], Any]
) -> None:
    study = study_of(tmp_path, "ratings", ("anna",))
    token, position = study.annotators()["anna"], study.assigned("anna")[0]
    study.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    page = watch().page
    with serving(tmp_path / "study", port) as process:
        page.goto(f"http://127.0.0.1:{port}/?token={token}")
        page.get_by_role("link", name="Start").click()
        page.locator("[data-ready]").wait_for()
        page.keyboard.press("3")
        saved(page)
        process.send_signal(signal.SIGKILL)
        process.wait()
        page.keyboard.press("5")
        page.get_by_role("status").get_by_text(
            "Not saved yet; trying again"
        ).wait_for()
        page.keyboard.press("9")
    with serving(tmp_path / "study", port) as process:
        saved(page)
        study = AnnotationStudy.open(tmp_path / "study")
        assert study.state("anna", position) == {"rating": 9}
        process.send_signal(signal.SIGKILL)
        process.wait()
        page.keyboard.press("2")
        page.get_by_role("status").get_by_text(
            "Not saved yet; trying again"
        ).wait_for()
    # The page is left while the server is away; what it could not send comes with the next visit.
    page.on("dialog", lambda dialog: dialog.accept())
    with serving(tmp_path / "study", port):
        page.goto(f"http://127.0.0.1:{port}/units/1")
        page.locator("[data-ready]").wait_for()
        saved(page)
        assert (
            page.locator("[data-part]:checked").get_attribute("data-value")
            == "2"
        )
    # 3, 5, 9, 2: each once and in this order
    assert study.state("anna", position) == {"rating": 2}
    assert acts(study) == [3, 5, 9, 2]
    study.close()


def test_a_page_shows_an_act_that_the_previous_page_saved_on_leaving(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "ratings", ("anna",))
    token, position = study.annotators()["anna"], study.assigned("anna")[0]
    away, saves = [True], []

    def on_act(route: Any) -> None:
        if away:
            route.abort()
            return
        answer = route.fetch()
        saves.append(answer.status)
        route.fulfill(response=answer)

    def on_page(route: Any) -> None:
        answer = route.fetch()  # drawn before the act is saved, shown after
        away.clear()
        while not saves:
            page.wait_for_timeout(50)
        route.fulfill(response=answer)

    with server(app_of(study)) as address:
        page = enter(watch(), address, token)
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        page.route("**/acts", on_act)
        page.keyboard.press("2")
        page.get_by_role("status").get_by_text(
            "Not saved yet; trying again"
        ).wait_for()
        page.on("dialog", lambda dialog: dialog.accept())
        page.route("**/units/1", on_page)
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        saved(page)
        assert (
            page.locator("[data-part]:checked").get_attribute("data-value")
            == "2"
        )
    assert saves == [200, 200]
    assert study.state("anna", position) == {"rating": 2}
    assert acts(study) == [2]
    study.close()


def test_a_held_key_and_a_repeated_answer_are_saved_as_one_act(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    study = study_of(tmp_path, "marks", ("anna",))
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        for place in (2, 1):  # each would be finished by Enter
            page.goto(f"{address}/units/{place}")
            page.locator("[data-ready]").wait_for()
            page.keyboard.press("c")
            saved(page)
        page.keyboard.down("Enter")
        page.wait_for_url("**/units/2")
        page.locator("[data-ready]").wait_for()
        for _ in range(5):
            page.keyboard.down(
                "Enter"
            )  # without an up between: the browser says that it repeats
        assert "done" not in study.state("anna", study.assigned("anna")[1])
        page.keyboard.up("Enter")
        page.keyboard.press("Enter")
        page.wait_for_url("**/units/3")
    assert [study.state("anna", n).get("done") for n in study.assigned("anna")[:3]] == [
        True, True, None
    ]  # fmt: skip
    study.close()
    study = study_of(tmp_path / "two", "ratings", ("anna",))
    with server(app_of(study)) as address:
        page = enter(watch(), address, study.annotators()["anna"])
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        for key in "577u":
            page.keyboard.press(key)
        saved(page)
        assert (
            page.locator("[data-part]:checked").get_attribute("data-value")
            == "5"
        )
    study.close()


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_two_annotators_at_once(
    tmp_path: Path,
    watch: Callable[[], Any],
    server: Server,
    request: pytest.FixtureRequest,
    backend: str,
) -> None:
    database = (
        None
        if backend == "sqlite"
        else request.getfixturevalue("postgres_url")
    )
    study = study_of(tmp_path, "ratings", database=database)
    ratings = {"anna": iter("35792"), "ben": iter("86427")}
    with server(app_of(study)) as address:
        pages = {
            who: enter(watch(), address, t)
            for who, t in study.annotators().items()
        }
        for place in range(1, 6):
            for page in pages.values():
                page.goto(f"{address}/units/{place}")
            for page in pages.values():
                page.locator("[data-ready]").wait_for()
            for (
                who,
                page,
            ) in (
                pages.items()
            ):  # both are on their way before either is waited for
                page.keyboard.press(next(ratings[who]))
                page.keyboard.press("Enter")
            for page in pages.values():
                page.wait_for_url(
                    lambda url, place=place: (
                        not url.endswith(f"/units/{place}")
                    )
                )
    assert [row.done for row in study.progress()] == [5, 5]
    for who, digits in (("anna", "35792"), ("ben", "86427")):
        ratings_of_annotator = [
            study.state(who, at)["rating"] for at in study.assigned(who)[:5]
        ]
        assert ratings_of_annotator == [int(digit) for digit in digits]
    study.close()


def test_hostile_texts_ids_and_names_do_nothing(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    from toy.payloads import MARK
    from toy.payloads import PAYLOADS as KNOWN

    # Those of the report, and some against attributes, data blocks and scripts that these pages use.
    payloads = [
        *KNOWN,
        f"' onmouseover='{MARK}' x='",
        f'" autofocus onfocus="{MARK}" x="',
        f"'></div><script>{MARK}</script><div data-state='",
        f"<div hx-get='/' hx-trigger='load' hx-on::load='{MARK}'>",
        f"<div hx-on:click='{MARK}' hx-vals='js:x:{MARK}'></div>",
        f"{{{{ self.__init__.__globals__ }}}} <%= {MARK} %>",
        f"<select onchange={MARK} autofocus><option>",
        f"<q onpointerenter={MARK}>long enough to be passed by the mouse</q>",
        f"<link rel=modulepreload href='data:text/javascript,{MARK}'>",
        f"</q><img src=/static/none onerror={MARK}><q>",
    ]
    assert len(set(payloads)) >= 50
    picture(tmp_path / "x.png", "#8aa6bf", "x")
    groups = [payloads[at : at + 4] for at in range(0, len(payloads), 4)]
    rows = [
        {
            "id": f"{n}{payload}",
            "candidate": payload + " and more",
            "references": [payload + " as well"],
            "images": ["x.png"],
            "group": {"system": f"{payload}{n}"},
            "facts": [payload, f"{payload} {n}"],
            "revision": {
                "text": payload,
                "edits": [
                    {"start": 0, "end": 9, "old": payload[:9], "new": payload}
                ],
                "refused": [{"mark": 0, "why": payload}],
            },
        }
        for n, payload in enumerate(
            map(" ".join, groups)
        )  # pages escape character by character
    ]
    stories = [
        {
            "id": f"{n}{payloads[0]}",
            "source": payloads[0],
            "frames": [
                {
                    "id": f"{n}-{k}",
                    "image": "x.png",
                    "caption": payload,
                    "place": payload,
                }
                for k, payload in enumerate(payloads)
            ],
        }
        for n, payloads in enumerate(groups)
    ]
    reviews = [
        {
            "id": f"{n}{payloads[0]}",
            "image": "x.png",
            "texts": [f"{text} {k}" for k, text in enumerate(payloads)],
        }
        for n, payloads in enumerate(groups)
        if len(payloads) > 1
    ]
    two_of_each = [
        {**row, "images": [f"{n // 2}.png"]} for n, row in enumerate(rows)
    ]
    for n in range(len(rows)):
        picture(tmp_path / f"{n // 2}.png", "#8aa6bf", "x")
    files = {
        "items": write_rows(tmp_path / "i.jsonl", rows),
        "pairs": write_rows(tmp_path / "p.jsonl", two_of_each),
        "storylines": write_rows(tmp_path / "s.jsonl", stories),
        "reviews": write_rows(tmp_path / "r.jsonl", reviews),
    }
    names = tuple(p for p in payloads if p.isprintable() and len(p) <= 100)
    watched = watch()
    page = watched.page
    # Every two texts of one picture are a pair: two of each picture are enough.
    data = {
        "pairs": "pairs",
        "ranking": "reviews",
        "sequences": "storylines",
        "steps": "storylines",
    }
    for name in TASKS.builtin():
        task = task_named(name)
        units, _ = units_of(
            task, str(files[data.get(name, "items")]), DataOptions()
        )
        design = AnnotationDesign(names, 1 if name == "ratings" else None)
        study = AnnotationStudy.make(
            tmp_path / name, task, units, design, media=tmp_path
        )
        with server(app_of(study)) as address:
            enter(watched, address, study.annotators()[names[0]])
            for place in range(1, len(study.assigned(names[0])) + 1):
                page.goto(f"{address}/units/{place}")
                page.locator("[data-ready]").wait_for()
                assert (
                    page.evaluate("document.documentElement.dataset.owned")
                    is None
                )
                if name == "marks":
                    page.locator(".words [data-start]").first.click()
                    page.keyboard.press("m")
                    saved(page)
            page.context.clear_cookies()
            enter(watched, address, study.token)
            assert (
                page.evaluate("document.documentElement.dataset.owned") is None
            )
            page.context.clear_cookies()
        study.close()
    assert watched.problems == []
    assert all(
        url.startswith(("http://127.0.0.1", "data:"))
        for url in watched.requests
    )
