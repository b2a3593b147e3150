"""Data that tries to be code: in texts, ids, groups, reasons, details and names."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from beholder.kinds.scores.page import write_report
from beholder.records import Item, ItemFailure, ItemScore, Unit
from toy.browser import EXECUTABLE, browser
from toy.payloads import PAYLOADS
from toy.runs import Outcome, write_run

pytestmark = pytest.mark.drawn


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every payload in every place that data can reach."""
    everything = " ".join(PAYLOADS)
    items: list[Item] = []
    outcomes: list[Outcome] = []
    for number, payload in enumerate(PAYLOADS):
        items.append(
            Item(
                id=f"{number}{payload}",
                candidate=payload,
                references=(payload, everything),
                group={payload: payload, "system": payload},
            )
        )
        if number % 7 == 3:
            outcomes.append(ItemFailure(payload, payload))
            continue
        units = (
            Unit(payload, payload, "candidate", ((0, len(payload)),), 0.5, payload, None,
                 {payload: payload, "nested": {payload: [payload]}}),
            Unit("entity", payload, "reference", ((1, 4), (2, len(payload))), 0.1, "mistake", 0),
            Unit("entity", everything, "reference", ((0, 9),), 0.1, "omission", 1,
                 {"question": payload}),
        )  # fmt: skip
        outcomes.append(
            ItemScore(
                {"f1": number / 50, payload: 0.5},
                units,
                payload,
                {"view": payload},
            )
        )
    name = f"metric{everything}"
    folder = tmp_path_factory.mktemp("hostile") / "run"
    run = write_run(
        folder, items, {name: outcomes, PAYLOADS[1]: outcomes},
        source=everything, value_help=everything,
    )  # fmt: skip
    return write_report(run)


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.scripts = 0
        self.feed(page)

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.found.add(tag)
        self.scripts += tag == "script"
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert "evil.invalid" not in (value or "") or name == "aria-label"


def test_payloads_add_no_element_to_the_page(report: Path) -> None:
    tags = Tags(report.read_text(encoding="utf-8"))
    assert tags.scripts == 2  # the data and the page's own
    assert not tags.found & {
        "img", "iframe", "object", "embed", "base", "link", "form", "video", "input-x", "math",
        "animate", "template", "textarea",
    }  # fmt: skip


def test_embedded_data_reads_back_as_it_was(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    block = page.split('id="data">', 1)[1].split("</script>", 1)[0]
    assert "<" not in block
    assert "\u2028" not in block
    items = json.loads(block)["items"]
    assert items[1]["candidate"] == PAYLOADS[1]
    assert items[0]["references"][0] == PAYLOADS[0]


@pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")
@pytest.mark.slow
def test_no_payload_runs_or_reaches_out_in_a_browser(
    report: Path, tmp_path: Path
) -> None:
    with browser(tmp_path / "profile") as page:
        page.open(report.as_uri())
        n_items = page.evaluate("document.querySelectorAll('#list li').length")
        assert n_items == len(PAYLOADS)
        for metric in (0, 1):
            page.evaluate(
                f"document.querySelectorAll('.tabs button')[{metric}].click()"
            )
            for number in range(len(PAYLOADS)):
                page.evaluate(
                    f"document.querySelectorAll('#list a')[{number}].click()"
                )
                page.evaluate(
                    "for (const mark of document.querySelectorAll('#item .mark, #item li')) "
                    "mark.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));"
                    "for (const d of document.querySelectorAll('details')) d.open = true;"
                )
        page.evaluate("new Promise(done => setTimeout(done, 300))")
        heading = page.evaluate(
            "document.querySelector('#item h3').textContent"
        )
        assert any(
            payload[:12].strip("\x00") in heading for payload in PAYLOADS
        )
        assert page.evaluate("document.documentElement.dataset.owned") is None
        outside = [
            url
            for url in page.requests
            if not url.startswith(("file:", "data:image/png"))
        ]
        assert outside == []
        assert page.problems == []


@pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")
def test_the_browser_test_sees_a_payload_that_runs(tmp_path: Path) -> None:
    careless = tmp_path / "careless.html"
    careless.write_text(f"<!doctype html><p>{PAYLOADS[5]}", encoding="utf-8")
    with browser(tmp_path / "profile") as page:
        page.open(careless.as_uri())
        assert page.evaluate("document.documentElement.dataset.owned") == "1"


@pytest.mark.slow  # a browser
@pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")
def test_the_policy_alone_stops_a_payload_that_got_in(
    report: Path, tmp_path: Path
) -> None:
    leaky = tmp_path / "leaky.html"
    text = report.read_text(encoding="utf-8").replace(
        "<h1>", f"<h1>{PAYLOADS[0]}{PAYLOADS[5]}", 1
    )
    leaky.write_text(text, encoding="utf-8")
    with browser(tmp_path / "profile") as page:
        page.open(leaky.as_uri())
        assert page.evaluate("document.documentElement.dataset.owned") is None
        assert any(
            "Content Security Policy" in problem for problem in page.problems
        )
