"""The pages of a study by their answers: who sees what, and what is kept."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from annotated_data import DATA_OF, DESCRIPTIONS
from annotating import finish, study_of
from beholder.kinds.annotation.pages import (
    PAGE_KEY,
    study_routes,
    study_settings,
)
from beholder.kinds.annotation.records import Act
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.web import make_app
from beholder.web.guard import HEADER

Client = Callable[[ASGIApp], TestClient]
Enter = Callable[[AnnotationStudy, str], TestClient]


def app_of(study: AnnotationStudy) -> ASGIApp:
    return make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))


@pytest.fixture
def enter(client: Client) -> Iterator[Enter]:
    """Opens a personal link, or the maker's."""
    opened: list[AnnotationStudy] = []

    def come(study: AnnotationStudy, who: str) -> TestClient:
        opened.append(study)
        browser = client(app_of(study))
        token = study.token if who == "owner" else study.annotators()[who]
        assert browser.get("/", params={"token": token}).status_code == 200
        return browser

    yield come
    for study in opened:
        study.close()


def mark_of(browser: TestClient, place: int = 1) -> dict[str, str]:
    """The headers that a page of this session puts into its posts."""
    text = browser.get(f"/units/{place}").text
    marks = [
        text.split(f'data-{name}="')[1].split('"')[0]
        for name in ("csrf", "key")
    ]
    return dict(zip((HEADER, PAGE_KEY), marks, strict=True))


def act(
    number: int, part: str | None = None, value: Any = None
) -> dict[str, Any]:
    return {"client": "c1", "number": number, "part": part, "value": value}


def test_pages_refuse_requests_without_a_personal_link(
    tmp_path: Path, client: Client
) -> None:
    study = study_of(tmp_path, "ratings")
    browser = client(app_of(study))
    for path in ("/", "/units/1", "/units/1/pictures/0", "/export/results"):
        assert browser.get(path).status_code == 401
    assert browser.get("/", params={"token": "x" * 32}).status_code == 403
    assert (
        browser.post("/units/1/acts", json=act(1, "rating", 3)).status_code
        == 401
    )
    study.close()


def test_the_id_of_a_participant_alone_opens_no_place(
    tmp_path: Path, client: Client
) -> None:
    study = study_of(tmp_path, "ratings", participants=True)
    app = app_of(study)

    def visit(browser: TestClient, who: str) -> Response:
        answer = browser.get(
            "/", params={"join": study.join, "PROLIFIC_PID": who}
        )
        while answer.status_code == 200 and (
            onward := re.search(r"url=([^\"]+)", answer.text)
        ):
            answer = browser.get(html.unescape(onward[1]))
        return answer

    first, second, thief = client(app), client(app), client(app)
    assert [row.participant for row in study.progress()] == [None, None]
    assert "You are <bdi>anna</bdi>" in visit(first, "p1").text
    assert "You are <bdi>ben</bdi>" in visit(second, "p2").text
    assert (
        "You are <bdi>anna</bdi>" in visit(first, "p1").text
    )  # the cookie proves the place
    for browser in (thief, second):
        refused = visit(browser, "p1")
        assert refused.status_code == 403
        assert "taken in another browser" in refused.text
    assert thief.get("/units/1").status_code == 401
    link = f"?token={study.annotators()['anna']}"
    assert link in first.get("/").text
    assert link not in second.get("/").text
    assert "You are <bdi>anna</bdi>" in visit_link(
        thief, link
    )  # with the link it is another matter
    study.close()


def visit_link(browser: TestClient, link: str) -> str:
    browser.get(f"/{link}")
    return browser.get("/").text


def test_a_preview_of_the_link_takes_no_place(
    tmp_path: Path, client: Client
) -> None:
    study = study_of(tmp_path, "ratings", participants=True)
    answer = client(app_of(study)).get(
        "/", params={"join": study.join, "PROLIFIC_PID": "p1"}
    )
    assert answer.status_code == 200
    assert [row.participant for row in study.progress()] == [None, None]
    study.close()


def test_annotators_see_their_share_and_nothing_of_others(
    tmp_path: Path, enter: Enter
) -> None:
    study = study_of(tmp_path, "ratings")
    ben = enter(study, "ben")
    start = ben.get("/").text
    assert "0 of 9 done" in start
    assert study.token not in start
    assert study.annotators()["anna"] not in start
    assert ben.get("/export/results").status_code == 403
    assert ben.get("/units/10").status_code == 404
    assert ben.get("/units/0").status_code == 404
    assert ben.get("/units/1/pictures/1").status_code == 404
    picture = ben.get("/units/1/pictures/0")
    assert picture.headers["content-type"] == "image/jpeg"


def test_the_maker_sees_progress_links_and_agreement(
    tmp_path: Path, enter: Enter
) -> None:
    study = study_of(tmp_path, "sequences")
    for who, ratings in (("anna", (8, 5, 2)), ("ben", (7, 5, 3))):
        for unit, rating in zip(("walk", "trip", "mix"), ratings, strict=True):
            finish(study, who, unit, {"rating": rating})
    owner = enter(study, "owner")
    text = owner.get("/").text
    assert study.annotators()["ben"] in text
    assert "ICC(2,1)" in text
    assert "0.947" in text
    assert "Only 3 compared: one more or less moves" in text
    assert owner.get("/units/1").status_code == 403
    rows = [
        json.loads(line)
        for line in owner.get("/export/results").text.splitlines()
    ]
    assert rows[0] == {"id": "walk", "ratings": {"anna": 8, "ben": 7}}
    assert owner.get("/export/all").status_code == 404


@pytest.mark.parametrize("task", DATA_OF)
def test_systems_and_ids_are_hidden(
    tmp_path: Path, enter: Enter, task: str
) -> None:
    study = study_of(tmp_path, task)
    anna = enter(study, "anna")
    for place in range(1, len(study.assigned("anna")) + 1):
        text = anna.get(f"/units/{place}").text
        assert "north" not in text
        assert "south" not in text
        assert "human" not in text
        for picture in DESCRIPTIONS:
            assert f"{picture}.png" not in text


def test_pairs_are_shown_in_both_orders_and_saved_in_the_order_of_the_data(
    tmp_path: Path, enter: Enter
) -> None:
    study = study_of(tmp_path, "pairs", [f"p{n}" for n in range(8)])
    flipped = []
    for who in study.annotators():
        browser = enter(study, who)
        text = browser.get("/units/1").text
        unit = study.unit(study.assigned(who)[0])
        first_is_first = text.index(unit.texts[0]) < text.index(unit.texts[1])
        # The leftmost point says "#1 much better": 0 when #1 is the unit's first text, else 4.
        leftmost = text.split('data-part="mistakes" data-value="')[1][0]
        assert leftmost == ("0" if first_is_first else "4")
        flipped.append(first_is_first)
    assert set(flipped) == {True, False}


def test_an_act_is_saved_once_and_returned(
    tmp_path: Path, enter: Enter
) -> None:
    study = study_of(tmp_path, "ratings")
    anna = enter(study, "anna")
    mark = mark_of(anna, 2)
    url = "/units/2/acts"
    first = anna.post(url, json=act(1, "rating", 7), headers=mark)
    assert (first.status_code, first.json()) == (
        200,
        {"last": 1, "state": {"rating": 7}},
    )
    assert (
        anna.post(url, json=act(1, "rating", 7), headers=mark).json()["last"]
        == 1
    )
    gap = anna.post(url, json=act(4, "rating", 1), headers=mark)
    assert (gap.status_code, gap.json()["last"]) == (409, 1)
    wrong = anna.post(url, json=act(2, "rating", 70), headers=mark)
    assert wrong.status_code == 422
    assert "rating: Expected `int` <= 10" in wrong.json()["error"]
    assert wrong.json()["state"] == {"rating": 7}
    undone = anna.post(url, json=act(2), headers=mark)
    assert undone.json() == {"last": 2, "state": {}}
    assert (
        anna.post(url, json=act(3, "rating", 4), headers=mark).status_code
        == 200
    )
    assert "data-state='{\"rating\": 4}'" in anna.get("/units/2").text.replace(
        "&#34;", '"'
    )
    assert "data-state='{}'" in anna.get("/units/1").text


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"client": 1, "number": 1}', b'{"client": "c", "number": "1"}',
     b'{"client": "c", "number": 1, "part": 5}', b'{"client": "c", "number": 1, "part": "%s"}' % (b"x" * 65)],
)  # fmt: skip
def test_a_body_that_is_not_an_act_is_refused(
    tmp_path: Path, enter: Enter, body: bytes
) -> None:
    study = study_of(tmp_path, "ratings")
    anna = enter(study, "anna")
    answer = anna.post("/units/1/acts", content=body, headers=mark_of(anna))
    assert answer.status_code == 400


def test_forged_and_oversized_acts_are_refused(
    tmp_path: Path, enter: Enter
) -> None:
    study = study_of(tmp_path, "ratings")
    anna = enter(study, "anna")
    mark = mark_of(anna)
    assert (
        anna.post("/units/1/acts", json=act(1, "rating", 7)).status_code == 403
    )
    foreign = anna.post(
        "/units/1/acts",
        json=act(1, "rating", 7),
        headers={**mark, "origin": "http://evil.invalid"},
    )
    assert foreign.status_code == 403
    big = anna.post("/units/1/acts", content=b" " * 6_000_000, headers=mark)
    assert big.status_code == 413
    assert study.state("anna", study.assigned("anna")[0]) == {}


def test_an_open_page_works_after_a_restart_of_the_server(
    tmp_path: Path, client: Client
) -> None:
    study = study_of(tmp_path, "ratings")
    before = client(app_of(study))
    before.get("/", params={"token": study.annotators()["anna"]})
    mark = mark_of(before)
    study.close()
    study = AnnotationStudy.open(tmp_path / "study")
    after = client(app_of(study))
    after.cookies = before.cookies
    assert (
        after.post(
            "/units/1/acts", json=act(1, "rating", 7), headers=mark
        ).status_code
        == 200
    )
    study.close()


def test_annotators_added_by_an_import_can_sign_in(
    tmp_path: Path, enter: Enter, client: Client
) -> None:
    study = study_of(tmp_path, "ratings")
    anna = enter(study, "anna")
    assert anna.get("/units/9").status_code == 200
    study.admit("cleo", [3, 1])
    cleo = client(app_of(study))
    assert (
        cleo.get("/", params={"token": study.annotators()["cleo"]}).status_code
        == 200
    )
    assert cleo.get("/units/2").status_code == 200
    assert cleo.get("/units/3").status_code == 404


def test_many_annotators_at_one_address_can_work_at_once(
    tmp_path: Path, client: Client
) -> None:
    study = study_of(tmp_path, "ratings", [f"p{n}" for n in range(60)])
    app = app_of(study)
    for token in study.annotators().values():
        assert client(app).get("/", params={"token": token}).status_code == 200
    guesses = [
        client(app).get("/", params={"token": "x" * 32}).status_code
        for _ in range(30)
    ]
    assert guesses[0] == 403
    assert guesses[-1] == 429
    # who guesses shuts nobody out who comes from the same address
    token = study.annotators()["p0"]
    assert client(app).get("/", params={"token": token}).status_code == 200
    study.close()


def test_an_act_is_saved_only_for_the_annotator_of_its_page(
    tmp_path: Path, enter: Enter
) -> None:
    study = study_of(tmp_path, "ratings")
    anna, ben, owner = (enter(study, who) for who in ("anna", "ben", "owner"))
    pages = mark_of(anna, 3)
    # ben and the maker open their links in the browser of anna, whose page is still open
    for browser, who in ((ben, "ben"), (owner, "owner")):
        headers = {**pages, HEADER: _csrf_of(browser)}
        answer = browser.post(
            "/units/3/acts", json=act(1, "rating", 2), headers=headers
        )
        assert (answer.status_code, answer.json()["who"]) == (412, who)
    without = {HEADER: pages[HEADER]}
    assert (
        anna.post(
            "/units/3/acts", json=act(1, "rating", 2), headers=without
        ).status_code
        == 412
    )
    assert (
        anna.post(
            "/units/2/acts", json=act(1, "rating", 2), headers=pages
        ).status_code
        == 412
    )
    assert (
        anna.post(
            "/units/99/acts", json=act(1, "rating", 2), headers=pages
        ).status_code
        == 412
    )
    assert not list(study.judgments())
    assert (
        anna.post(
            "/units/3/acts", json=act(1, "rating", 2), headers=pages
        ).status_code
        == 200
    )


def _csrf_of(browser: TestClient) -> str:
    """The mark of a session, which every page of it holds."""
    match = re.search(
        r'"X-CSRF-Token": "([0-9a-f]{64})"', browser.get("/").text
    )
    assert match is not None
    return match[1]


@pytest.mark.parametrize("task", DATA_OF)
def test_parts_that_no_task_has_are_refused_with_and_without_a_value(
    tmp_path: Path, enter: Enter, task: str
) -> None:
    study = study_of(tmp_path, task)
    anna = enter(study, "anna")
    parts = ("\ud800", "zzz", "__proto__", "", "9" * 60)
    statuses = {}
    for number, (part, value) in enumerate(product(parts, (None, 1)), 1):
        body = json.dumps(act(number, part, value))
        answer = anna.post(
            "/units/1/acts", content=body, headers=mark_of(anna)
        )
        statuses[part, value] = answer.status_code
    assert statuses == dict.fromkeys(product(parts, (None, 1)), 422)
    assert not list(study.judgments())


def test_files_of_a_study_are_readable_by_their_owner_alone(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, "ratings")
    study.save("anna", study.assigned("anna")[0], Act("c", 1, "rating", 3))
    files = sorted((tmp_path / "study").glob("study.sqlite*"))
    assert len(files) == 3
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert (tmp_path / "study").stat().st_mode & 0o777 == 0o700
    study.close()
