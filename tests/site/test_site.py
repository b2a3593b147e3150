"""The site as `make site` builds it: whole, offline, and without a name left out."""

from __future__ import annotations

import json
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

import beholder
from beholder import rewards, stats
from beholder.metrics import METRICS

SITE = Path(__file__).parents[2] / "site"
if "BEHOLDER_TEST_SITE" not in os.environ:
    pytest.skip("`make site` builds the site first", allow_module_level=True)
PAGES = sorted(SITE.rglob("*.html"))
_LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "link": "href",
}


class Page(HTMLParser):
    """What a page loads, where it leads, and which places it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        given = dict(attrs)
        for name in ("id", "name"):
            self.places.add(given.get(name) or "")
        if tag in _LOADED:
            self.loaded.append(given.get(_LOADED[tag]) or "")
        if tag == "a":
            self.links.append(given.get("href") or "")


@pytest.fixture(scope="module")
def parsed_pages() -> dict[Path, Page]:
    return {path: Page(path) for path in PAGES}


def test_no_page_loads_anything_from_elsewhere(
    parsed_pages: dict[Path, Page],
) -> None:
    far = {
        (path.name, url)
        for path, page in parsed_pages.items()
        for url in page.loaded
        if "//" in url
    }
    assert not far
    for sheet in SITE.rglob("*.css"):
        assert not re.search(
            r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text("utf-8")
        )


def test_every_link_leads_to_a_place(parsed_pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in parsed_pages.items():
        if path.parent.name == "gallery" or path.name == "404.html":
            continue  # reports make places as they are opened; 404 is served for any address
        for link in (*page.links, *page.loaded):
            if re.match(r"(https?|mailto|data):", link) or not link:
                continue
            file, _, place = unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.is_file() or (
                place
                and target in parsed_pages
                and place not in parsed_pages[target].places
            ):
                broken.append((path.name, link))
    assert not broken


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("compare two captioners", "notebooks/compare-models.html"),
        ("dates of photographs", "narratives.html#dates-of-photographs"),
        (
            "inter-annotator agreement",
            "annotate.html#inter-annotator-agreement",
        ),
        ("har mar", "bidirectional.html"),
    ],
)
def test_search_finds_the_page_that_answers(words: str, answer: str) -> None:
    index = json.loads(
        (SITE / "search/search_index.json").read_text(encoding="utf-8")
    )
    titles = {
        entry["location"]: entry["title"].lower() for entry in index["docs"]
    }
    # The search ranks words of titles first.
    assert all(word in titles[answer] for word in words.split())


def test_every_metric_has_a_page_in_the_navigation(
    parsed_pages: dict[Path, Page],
) -> None:
    links = parsed_pages[SITE / "metrics.html"].links
    for name in METRICS.builtin():
        assert f"metrics/{name}.html" in links
        assert name in parsed_pages[SITE / "metrics.html"].places


@pytest.mark.parametrize(
    "module", [beholder, rewards, stats], ids=lambda module: module.__name__
)
def test_every_public_name_is_in_the_reference(
    module: object, parsed_pages: dict[Path, Page]
) -> None:
    known = set().union(
        *(
            page.places
            for path, page in parsed_pages.items()
            if path.parent.name == "api"
        )
    )
    missing = []
    for name in module.__all__:  # type: ignore[attr-defined]
        found = getattr(module, name)
        home = f"{getattr(found, '__module__', '')}.{getattr(found, '__qualname__', name)}"
        full = f"{module.__name__}.{name}"  # type: ignore[attr-defined]
        if (
            not isinstance(found, ModuleType | str)
            and not {home, full} & known
        ):
            missing.append(full)
    assert not missing


@pytest.mark.parametrize(
    "page", sorted((SITE / "notebooks").glob("*.html")), ids=lambda p: p.stem
)
def test_notebooks_were_executed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    cells = re.findall(r"In\s*\[(\d*|\s|&nbsp;)\]", text)
    assert cells
    assert all(cell.isdigit() for cell in cells)


def test_the_gallery_has_its_reports(parsed_pages: dict[Path, Page]) -> None:
    shown = {
        link
        for link in parsed_pages[SITE / "gallery.html"].links
        if link.startswith("gallery/")
    }
    made = {
        f"gallery/{path.name}" for path in (SITE / "gallery").glob("*.html")
    }
    assert shown == made
    assert len(made) >= 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_serious_fault_for_people_with_disabilities(
    scheme: str,
) -> None:
    from playwright.sync_api import sync_playwright

    from toy.watched import Watched

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        context = driver.chromium.launch(executable_path=chromium).new_context(
            color_scheme=scheme
        )
        context.set_default_timeout(300_000)
        page = context.new_page()
        for name in (
            "index.html",
            "gallery.html",
            "judges-guide.html",
            "notebooks/mistakes.html",
        ):
            page.goto((SITE / name).as_uri())
            assert Watched(page).axe() == [], name
