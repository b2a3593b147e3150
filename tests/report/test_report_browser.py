"""The page in a real browser: what its script draws and how it answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from beholder.kinds.scores.page import write_report
from beholder.records import Item, ItemFailure, ItemScore, Unit
from toy.browser import EXECUTABLE, Page, browser
from toy.runs import Outcome, lemon_run, lemons, sentence_score, write_run

pytestmark = [
    pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium"),
    pytest.mark.drawn,
]


@pytest.fixture(scope="module")
def shared_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(lemon_run(tmp_path_factory.mktemp("lemons") / "run"))


@pytest.fixture
def page(shared_page: Page, report: Path) -> Page:
    """The browser on the report of six items, the worst of which is shown first."""
    shared_page.open("about:blank")
    shared_page.problems.clear()
    shared_page.open(report.as_uri())
    return shared_page


def title(page: Page) -> str:
    return str(page.evaluate("document.querySelector('#item h3').textContent"))


def texts(page: Page, selector: str) -> list[str]:
    expression = (
        f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)"
    )
    return list(page.evaluate(expression))


def test_worst_item_is_shown_first_and_arrow_keys_go_on(page: Page) -> None:
    assert title(page) == "table-0"
    page.press("ArrowRight")
    assert title(page) == "table-1"
    assert page.evaluate("location.hash") == "#item-1"
    page.press("ArrowLeft")
    page.press("ArrowLeft")
    assert title(page) == "table-0"
    assert page.problems == []


def test_address_opens_its_item(page: Page) -> None:
    page.evaluate(
        "location.hash = '#item-4'; new Promise(done => setTimeout(done, 100))"
    )
    assert title(page) == "table-4"


def test_search_and_sort_decide_the_list(page: Page) -> None:
    page.evaluate(
        "const s = document.getElementById('sort'); s.value = 'down';"
        "s.dispatchEvent(new Event('change'));"
    )
    assert texts(page, "#list bdi")[:2] == ["table-5", "table-4"]
    page.evaluate(
        "const q = document.getElementById('search'); q.value = 'NUMBER 3';"
        "q.dispatchEvent(new Event('input'));"
    )
    assert texts(page, "#list bdi") == ["table-3"]
    assert texts(page, "#found") == ["1 of 6"]


def test_marked_texts_are_the_original_texts(page: Page) -> None:
    page.evaluate(
        "document.querySelectorAll('#item sup').forEach(e => e.remove())"
    )
    item = lemons()[0]
    assert texts(page, "#item .text") == [item.candidate, *item.references]


def test_matrix_has_a_sign_per_match_and_names_what_is_out_of_place(
    page: Page,
) -> None:
    assert len(texts(page, ".matrix circle.match")) == 3
    assert len(texts(page, ".matrix path.match")) == 3
    assert texts(page, ".notable .where") == [
        "candidate 3", "reference 3", "candidate 1", "reference 1",
    ]  # fmt: skip
    assert texts(page, ".notable .facts")[2] == (
        "nearest: reference 3 · expected: reference 1 · outside by: 2"
    )


def test_pointing_at_a_chunk_lights_its_match_and_says_what_it_is(
    page: Page,
) -> None:
    page.point_at("#item .mark", 0)
    lit = "[...document.querySelectorAll('#item .mark.lit')].map(e => e.dataset.unit)"
    assert page.evaluate(lit) == [
        "0",
        "5",
    ]  # the candidate's first and the reference's last
    tip = page.evaluate("document.getElementById('tip').innerText")
    assert "out of order" in tip
    assert "reference 3" in tip


def test_pointing_at_a_cell_lights_both_chunks_and_reads_its_similarity(
    page: Page,
) -> None:
    page.evaluate("document.querySelector('.matrix').focus()")
    for _ in range(2):
        page.press("ArrowRight")  # reference 1, candidate 2
    assert texts(page, ".readout") == [
        "candidate 2 and reference 1: similarity 0.20"
    ]
    lit = "[...document.querySelectorAll('#item .mark.lit')].map(e => e.dataset.unit)"
    assert page.evaluate(lit) == ["1", "3"]


def test_a_verdict_can_be_switched_off(page: Page) -> None:
    page.evaluate("document.querySelector('.chip').click()")  # unmatched
    assert (
        page.evaluate("document.querySelectorAll('#item .mark.off').length")
        == 2
    )
    assert (
        page.evaluate(
            "document.querySelector('.chip').getAttribute('aria-pressed')"
        )
        == "false"
    )
    assert page.evaluate("document.querySelector('.notable').hidden") is True


def test_a_chip_of_the_item_shown_before_changes_nothing(page: Page) -> None:
    page.evaluate(
        "const old = document.querySelector('.chip');"
        "document.querySelector('[aria-label=\"Next item\"]').click(); old.click();"
    )
    assert title(page) == "table-1"
    assert (
        page.evaluate("document.querySelectorAll('#item .mark.off').length")
        == 0
    )


def test_keys_move_between_marks_with_one_tab_stop_a_text(page: Page) -> None:
    page.evaluate("document.querySelector('#item .mark').focus()")
    page.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.unit") == "1"
    assert title(page) == "table-0"  # the arrow stayed in the text
    assert (
        page.evaluate(
            "document.querySelectorAll('.text [tabindex=\"0\"]').length"
        )
        == 2
    )


def test_page_sends_no_request_and_fits_a_phone(
    page: Page, tmp_path: Path
) -> None:
    page.requests.clear()
    page.open(
        (tmp_path / "run" / "report.html").as_uri(), width=390, height=800
    )
    assert all(
        url.startswith(("file:", "data:image/png")) for url in page.requests
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_texts_of_all_kinds_are_drawn(
    shared_page: Page, tmp_path: Path
) -> None:
    kinds = [
        "שלום עולם، مرحبا بالعالم",
        "यह एक बिल्ली है। वह सो रही है।",
        "👩‍👩‍👧 sees 🐈‍⬛ 🏳️‍🌈",
        "w" * 4000,
        "word " * 5000,
        "line\r\nline\n\n\ttab\x00\x1b[31m",
        " ",
    ]
    items = [Item(str(i), text, (text, "x")) for i, text in enumerate(kinds)]
    scores = [
        ItemScore(
            {"f1": i / 10},
            tuple(
                Unit(
                    "word",
                    text[at : at + 5],
                    "candidate",
                    ((at, at + 5),),
                    0.5,
                    "match",
                )
                for at in range(0, len(text), 5)
            ),
        )
        for i, text in enumerate(kinds)
    ]
    run = write_run(tmp_path / "run", items, {"posh": scores})
    shared_page.problems.clear()
    shared_page.open(write_report(run).as_uri(), width=800)
    for number, text in enumerate(kinds):
        page_text = str(shared_page.evaluate(
            "document.querySelector('#item .text').textContent"
        ))  # fmt: skip
        assert len(page_text) == len(text), number
        shared_page.press("j")
    assert shared_page.evaluate("document.documentElement.scrollWidth") <= 800
    assert shared_page.problems == []


def test_an_alignment_without_units_is_still_drawn(
    shared_page: Page, tmp_path: Path
) -> None:
    item = lemons(1)[0]
    bare = replace(sentence_score(item, 0.5), units=())
    run = write_run(tmp_path / "run", [item], {"vcs": [bare]})
    shared_page.problems.clear()
    shared_page.open(write_report(run).as_uri())
    assert len(texts(shared_page, ".matrix circle.match")) == 3
    assert shared_page.problems == []


def test_failed_and_unfinished_items_and_several_metrics(
    shared_page: Page, tmp_path: Path
) -> None:
    items = lemons(3)
    vcs: list[Outcome | None] = [
        sentence_score(items[0], 0.5),
        ItemFailure("ItemError", "<b>no</b> luck"),
        None,
    ]
    posh: list[Outcome] = [
        ItemScore({"f1": 0.1}),
        ItemScore({"f1": 0.2}),
        ItemScore({"f1": 0.3}),
    ]
    run = write_run(
        tmp_path / "run",
        items,
        {"vcs": vcs, "posh": posh},
        status="interrupted",
    )
    shared_page.problems.clear()
    shared_page.open(write_report(run).as_uri())
    assert texts(shared_page, "#list .num") == ["0.500", "failed", "open"]
    shared_page.press("j")
    assert texts(shared_page, "#item .notice") == [
        "Not scored. <b>no</b> luck"
    ]
    shared_page.press("j")
    assert texts(shared_page, "#item .notice") == ["Not finished yet."]
    shared_page.evaluate(
        "document.querySelectorAll('.tabs button')[1].click()"
    )
    assert texts(shared_page, "#list .num") == ["0.100", "0.200", "0.300"]
    assert texts(shared_page, ".scores dd") == ["0.300"]
    assert shared_page.problems == []


def test_page_of_an_empty_run_has_no_script_error(
    shared_page: Page, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run", [], {"vcs": []})
    shared_page.problems.clear()
    shared_page.open(write_report(run).as_uri())
    assert shared_page.problems == []
