"""The viewer in a real browser: seen, filtered, compared, by keyboard, with hostile data."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from PIL import Image
from starlette.types import ASGIApp

from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.run import manifest
from beholder.run.store import Store
from beholder.web import Settings
from beholder.web.viewer import Viewer, make_viewer
from toy.payloads import MARK, PAYLOADS
from toy.runs import Outcome, lemons, sentence_score, write_run
from toy.watched import Watched

Serve = Callable[[ASGIApp], AbstractContextManager[str]]
OWNED = "document.documentElement.dataset.owned"


@contextmanager
def viewing(server: Serve, *folders: Path, **more: Any) -> Iterator[str]:
    """The address of a viewer that has read its runs."""
    viewer = Viewer(folders, **more)
    for view in viewer.runs:
        view.refresh()
    try:
        with server(
            make_viewer(viewer, Settings(rate=1e6, burst=100_000))
        ) as address:
            yield address
    finally:
        viewer.watcher.stop()


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two systems on six pictures; the second is worse on the last."""
    items = lemons()
    for item in items:
        Image.new("RGB", (60, 40), "red").save(tmp_path / item.images[0])
    runs = []
    for name, last in (("a", 0.9), ("b", 0.2)):
        scores: list[Outcome] = [
            sentence_score(item, 0.5 + 0.05 * n)
            for n, item in enumerate(items)
        ]
        scores[-1] = sentence_score(items[-1], last)
        scores[2] = ItemFailure("E", "no luck")
        runs.append(
            write_run(tmp_path / name, items, {"vcs": scores, "posh": scores})
        )
    return runs[0], runs[1]


def test_a_reader_filters_and_opens_an_item_and_the_next(
    server: Serve, page: Any, two: tuple[Path, Path], tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    with viewing(server, *two, media_root=tmp_path) as address:
        tab = page.page
        tab.goto(address)
        tab.click("tbody a >> nth=0")
        tab.click("nav >> text=Items")
        tab.click("text=More filters")
        tab.fill("input[name=low]", "0.52")
        tab.fill("input[name=high]", "0.75")
        tab.select_option("select[name=sort]", "value")
        tab.check("input[name=down]")
        tab.click("button:has-text('Show')")
        names = tab.locator("td a bdi")
        expect(names).to_have_text(
            ["table-4", "table-3", "table-1"]
        )  # waits for the new page
        assert (
            tab.locator("img.small").first.evaluate(
                "e => (e.loading = 'eager', e.decode().then(() => e.naturalWidth))"
            )
            == 60
        )
        names.nth(1).click()
        expect(tab.locator("h1")).to_have_text("table-3")
        tab.locator(".matrix circle.match").first.wait_for()
        assert tab.locator(".matrix circle.match").count() == 3
        assert (
            tab.locator(".photo").evaluate(
                "e => e.decode().then(() => e.naturalWidth)"
            )
            == 60
        )
        tab.keyboard.press("ArrowRight")
        tab.wait_for_url("**/item/1?**")
        expect(tab.locator("h1")).to_have_text("table-1")
        assert page.problems == []


def test_a_unit_leads_to_the_question_behind_its_verdict(
    server: Serve, page: Any, tmp_path: Path
) -> None:
    (item,) = lemons(1)
    score = sentence_score(item, 0.5)
    noted = [
        {
            "key": "k",
            "messages": [
                ["system", "You judge."],
                ["user", f"Is this said: {text}?"],
            ],
        }
        for text in ("A cat sleeps.", *(unit.text for unit in score.units[:1]))
    ]
    run = write_run(
        tmp_path / "run", [item], {"vcs": [replace(score, detail={**score.detail, "questions": noted})]}
    )  # fmt: skip
    manifest.write(
        run, structs.replace(manifest.read_log(run), judging="2 answers")
    )
    with viewing(server, run) as address:
        tab = page.page
        tab.goto(f"{address}/runs/0/item/0")
        tab.click("text=units as a table")
        tab.locator(".all-units tbody a").first.click()
        tab.wait_for_selector("text=1 of 2 questions")
        assert score.units[0].text in tab.locator("pre").last.text_content()
        assert page.problems == []


BROKEN = """() => [...document.querySelectorAll('td, th')].flatMap((cell) => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
    while (texts.nextNode()) {
        for (const word of texts.currentNode.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, word.index);
            range.setEnd(texts.currentNode, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1)
                found.push(word[0]);
        }
    }
    return found;
})"""
"""The words in tables that are broken over lines."""


def covered_edges(table: Any) -> tuple[bool, bool]:
    """Return whether something covers the ground at the left and at the right edge, above all text."""
    shot = Image.open(io.BytesIO(table.screenshot())).convert("RGB")
    return shot.getpixel((2, 3)) != WHITE, shot.getpixel(
        (shot.width - 3, 3)
    ) != WHITE


WHITE = (255, 255, 255)


def test_wide_tables_on_a_phone_break_no_word_and_show_that_they_scroll(
    server: Serve, page: Any, two: tuple[Path, Path]
) -> None:
    with viewing(server, *two) as address:
        tab = page.page
        tab.set_viewport_size({"width": 390, "height": 800})
        for path in ("/", "/runs/0", "/runs/0/items", "/compare?a=0&b=1"):
            tab.goto(address + path)
            assert tab.evaluate(BROKEN) == []
            assert tab.evaluate("document.documentElement.scrollWidth") == 390
        table = tab.locator(".scroll").first
        assert covered_edges(table) == (False, True)
        table.evaluate("one => { one.scrollLeft = 30; }")
        assert covered_edges(table) == (True, True)
        table.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
        assert covered_edges(table) == (True, False)
        tab.set_viewport_size({"width": 1280, "height": 800})
        assert covered_edges(table) == (False, False)


def test_two_runs_are_compared_down_to_an_item(
    server: Serve, page: Any, two: tuple[Path, Path], tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    with viewing(server, *two, media_root=tmp_path) as address:
        tab = page.page
        tab.goto(address)
        tab.click("button:has-text('Compare')")
        tab.wait_for_selector("text=p (Holm)")  # the tests come by themselves
        first = tab.locator(".listed tbody tr").first
        assert first.locator("td b").first.text_content() == "−0.700"
        first.locator("a").click()
        expect(tab.locator("h1")).to_have_text("table-5")
        tab.locator(".two .mark").nth(4).wait_for()
        # On a telephone the picture stays, and both candidates are read below it.
        tab.set_viewport_size({"width": 390, "height": 844})
        candidates = tab.locator(".stays + section")
        # The page is laid out anew at some time after its size changes: scroll until it stays.
        tab.wait_for_function(
            """() => {
                const part = document.querySelector('.stays + section');
                window.scrollTo(0, part.offsetTop - 250);
                const image = document.querySelector('.stays img');
                return image.complete && image.getBoundingClientRect().top >= 0;
            }"""
        )
        for part in (
            tab.locator(".stays img"),
            *candidates.locator("p.text").all(),
        ):
            box = part.bounding_box()
            assert 0 <= box["y"] <= box["y"] + box["height"] <= 844
        assert candidates.locator("h3").all_text_contents() == ["a", "b"]
        assert page.axe() == []
        assert page.problems == []


def test_a_running_run_is_followed_without_a_click(
    server: Serve, page: Any, tmp_path: Path
) -> None:
    items = lemons(3)
    scores = [sentence_score(item, 0.5) for item in items]
    run = write_run(
        tmp_path / "run", items, {"vcs": [scores[0], None]}, status="running"
    )
    viewer = Viewer([run])
    viewer.watcher.pause = 0.1
    with server(
        make_viewer(viewer, Settings(rate=1e6, burst=100_000))
    ) as address:
        viewer.watcher.start()
        tab = page.page
        tab.goto(f"{address}/runs/0")
        tab.wait_for_selector("text=1 of 3")
        with Store.open(run) as store:
            store.put_outcome("vcs", 1, scores[1])
        tab.wait_for_selector(
            "text=2 of 3", timeout=120_000
        )  # read at most a tenth of the time
        assert page.problems == []
    viewer.watcher.stop()


def test_all_is_reached_by_keyboard_alone(
    server: Serve, page: Any, two: tuple[Path, Path], tmp_path: Path
) -> None:
    with viewing(server, *two, media_root=tmp_path) as address:
        tab = page.page
        tab.goto(f"{address}/runs/0/items")
        tab.keyboard.press("Tab")
        assert (
            tab.evaluate("document.activeElement.textContent")
            == "Skip to the content"
        )
        assert (
            tab.evaluate("document.activeElement.getBoundingClientRect().top")
            >= 0
        )
        tab.keyboard.press("Enter")
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.name") == "q"
        style = "getComputedStyle(document.activeElement).outlineStyle"
        assert tab.evaluate(style) == "solid"  # the focus is seen
        tab.keyboard.type("number 4")
        tab.keyboard.press("Enter")
        tab.wait_for_url("**q=number**")
        for _ in range(40):
            tab.keyboard.press("Tab")
            if tab.evaluate("document.activeElement.textContent") == "table-4":
                break
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/item/4?**")
        for _ in range(60):  # to the other metric
            tab.keyboard.press("Tab")
            if tab.evaluate("document.activeElement.textContent") == "posh":
                break
        tab.keyboard.press("Space")
        assert (
            tab.locator(".tabs [aria-pressed=true]").text_content() == "posh"
        )
        assert page.problems == []


def test_axe_finds_no_serious_fault_and_nothing_runs_off_the_page(
    server: Serve, page: Watched, two: tuple[Path, Path], tmp_path: Path
) -> None:
    with viewing(server, *two, media_root=tmp_path) as address:
        for path in ("/", "/runs/0", "/runs/0/items?sort=value", "/runs/0/items?q=zebra",
                     "/runs/0/item/1", "/runs/0/item/2", "/runs/0/item/1/asked", "/compare?a=0&b=1",
                     "/compare/item?a=0&b=1&at=5", "/nowhere"):  # fmt: skip
            page.page.goto(address + path)
            for width, scheme in ((1280, "light"), (400, "dark")):
                page.page.set_viewport_size({"width": width, "height": 900})
                page.page.emulate_media(color_scheme=scheme)
                assert page.axe() == [], (path, scheme)
                assert (
                    page.page.evaluate("document.documentElement.scrollWidth")
                    <= width
                ), path


TOGETHER = [
    " ".join(PAYLOADS[at : at + 3]) for at in range(0, len(PAYLOADS), 3)
]
"""Three payloads in one text: pages escape texts character by character."""


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs with every payload in every place that data can reach."""
    everything = " ".join(PAYLOADS)
    items: list[Item] = []
    outcomes: list[Outcome] = []
    for number, payload in enumerate(TOGETHER):
        name = f"{number}{payload}".replace("/", "∕").replace("\x00", "")
        name = name.encode()[:200].decode(errors="ignore") + ".png"
        Image.new("RGB", (8, 8)).save(tmp_path / name)
        items.append(
            Item(f"{number}{payload}", payload, (payload, everything), (name,),
                 group={payload: payload, "system": payload}, judgments={payload: payload})
        )  # fmt: skip
        if number % 7 == 3:
            outcomes.append(ItemFailure(payload, payload, detail={"questions": [
                {"key": payload, "messages": [[payload, everything]]}]}))  # fmt: skip
            continue
        units = (
            Unit(
                payload,
                payload,
                "candidate",
                ((0, len(payload)),),
                0.5,
                payload,
                None,
                {payload: payload},
            ),
            Unit(
                "entity",
                everything,
                "reference",
                ((0, 9),),
                0.1,
                "omission",
                1,
                {"question": payload},
            ),
        )
        outcomes.append(ItemScore({"f1": number / 50, payload: 0.5}, units, payload, {
            "view": payload, "questions": [{"key": payload, "messages": [["user", payload]]}]}))  # fmt: skip
    metrics = {f"metric{everything}": outcomes, PAYLOADS[1]: outcomes}
    runs = [
        write_run(
            tmp_path / name,
            items,
            metrics,
            source=everything,
            value_help=everything,
            status=status,
        )
        for name, status in (
            ("<img src=x onerror=alert(1)>", "running"),
            ("b", everything),
        )
    ]
    return runs[0], runs[1]


def test_no_payload_runs_or_sends_a_request_on_any_page(
    server: Serve, page: Any, hostile: tuple[Path, Path], tmp_path: Path
) -> None:
    assert len(PAYLOADS) >= 50
    tab = page.page
    with viewing(server, *hostile, media_root=tmp_path) as address:
        pages = [
            "/",
            "/runs/0",
            "/runs/1",
            "/runs/0/items",
            "/runs/0/items?sort=id&down=1",
            "/compare?a=0&b=1",
        ]
        for number in range(len(TOGETHER)):
            pages += [
                f"/runs/0/item/{number}",
                f"/compare/item?a=0&b=1&at={number}",
            ]
            if number % 5 == 0:
                pages += [f"/runs/0/item/{number}/asked"]
        n_shown = 0
        for path in pages:
            tab.goto(address + path)
            tab.evaluate(
                "for (const mark of document.querySelectorAll('.mark, #item li'))"
                " mark.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));"
                "for (const d of document.querySelectorAll('details')) d.open = true;"
            )
            assert tab.evaluate(OWNED) is None, path
            n_shown += tab.evaluate(
                "document.body.textContent.includes('onerror=')"
            )
        assert n_shown > len(TOGETHER) / 2  # they were there, as texts
        for payload in TOGETHER:  # in the address, too
            tab.goto(
                f"{address}/runs/0/items?"
                + _query({"q": payload, "low": payload})
            )
            assert tab.evaluate(OWNED) is None, payload
            tab.goto(f"{address}/runs/0/item/1?" + _query({"q": payload}))
            assert tab.evaluate(OWNED) is None, payload
        outside = {
            url
            for url in page.requests
            if not url.startswith((address, "data:"))
        }
        assert outside == set()
        refused = [
            problem for problem in page.problems if "400" not in problem
        ]
        assert refused == []


def test_the_test_sees_a_payload_that_runs(page: Any, tmp_path: Path) -> None:
    careless = tmp_path / "careless.html"
    careless.write_text(
        f"<!doctype html><p><img src=x onerror={MARK}>", encoding="utf-8"
    )
    page.page.goto(careless.as_uri())
    page.page.wait_for_timeout(200)
    assert page.page.evaluate(OWNED) == "1"


def test_the_policy_alone_stops_a_payload_that_got_in(
    server: Serve,
    page: Any,
    two: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from starlette.responses import HTMLResponse

    from beholder.web import pages

    leak = f"<h1><script>{MARK}</script><img src=x onerror={MARK}><b hx-on:click='{MARK}'>leak</b>"

    def leaky(content: str, status: int) -> Any:
        return HTMLResponse(content.replace("<h1>", leak, 1), status)

    monkeypatch.setattr(pages, "HTMLResponse", leaky)
    with viewing(server, *two) as address:
        page.page.goto(address)
        page.page.click("text=leak")
        assert page.page.evaluate(OWNED) is None
        assert any(
            "Content Security Policy" in problem for problem in page.problems
        )


def _query(parts: dict[str, str]) -> str:
    from urllib.parse import urlencode

    return urlencode(parts, errors="replace")


def test_two_tabs_do_not_block_each_other(
    server: Serve, two: tuple[Path, Path]
) -> None:
    import httpx

    with viewing(server, *two) as address:
        statuses: list[int] = []

        def open_items() -> None:
            with httpx.Client() as client:
                statuses.extend(
                    client.get(f"{address}/runs/0/item/{n}").status_code
                    for n in range(3)
                )

        threads = [threading.Thread(target=open_items) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert statuses == [200] * 6
