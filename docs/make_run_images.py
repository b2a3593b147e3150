"""Make the pictures of the README and of ``docs/view.md``: a report and the viewer in Chromium.

    PYTHONPATH=src:tests:docs .venv-web/bin/python docs/make_run_images.py

The report is that of ``beholder demo``; the viewer shows two systems on the pictures of the tests.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import threading
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from make_annotate_images import IMAGES, draw_pictures, listen
from PIL import Image
from playwright.sync_api import sync_playwright

import beholder
from annotated_data import items, write_rows
from beholder.web import Settings
from beholder.web.viewer import Viewer, make_viewer

SAMPLE = "descriptions.jsonl"
SYSTEMS = {"model-a": "north", "model-b": "south"}
REPORT_SIZE = {"width": 1180, "height": 1770}
VIEWER_SIZE = {"width": 1100, "height": 1250}


def save(page: Any, name: str) -> None:
    """Save what the window shows as a small PNG, without empty space below the page."""
    page.mouse.move(0, 0)  # no row looks chosen because the pointer is on it
    size = page.viewport_size
    height = page.locator("main").evaluate(
        "main => Math.ceil(main.getBoundingClientRect().bottom)"
    )
    page.set_viewport_size({**size, "height": min(size["height"], height)})
    image = Image.open(io.BytesIO(page.screenshot()))
    image.convert("RGB").quantize(256).save(
        IMAGES / f"{name}.png", optimize=True
    )
    page.set_viewport_size(size)


def make_report_image(browser: Any, folder: Path) -> None:
    """Take the picture of the demo's report, at an item with each kind of finding."""
    (folder / SAMPLE).write_bytes(
        (files("beholder.samples") / SAMPLE).read_bytes()
    )
    metrics = ["accord", "vcs", "bleu"]
    beholder.score(
        folder / SAMPLE, metrics=metrics, out=folder / "demo"
    ).report()
    page = browser.new_context(viewport=REPORT_SIZE).new_page()
    page.goto((folder / "demo" / "report.html").as_uri())
    page.get_by_text("market/hasty", exact=True).first.click()
    # The picture shows the summary and one item, without the tables between them.
    page.evaluate(
        "const items = [...document.querySelectorAll('h2')].find(h => h.textContent === 'Items');"
        "const first = document.querySelector('main section');"
        "for (const part of document.querySelectorAll('main section')) {"
        "  if (part !== first && !part.contains(items)) part.hidden = true; }"
        "for (const part of [...first.querySelectorAll('h3')]) {"
        "  let each = part; while (each) { const next = each.nextElementSibling;"
        "    each.hidden = true; each = next; } }"
        "window.scrollTo(0, 0)"
    )
    save(page, "report")


def make_viewer_images(browser: Any, folder: Path) -> None:
    """Take the pictures of a list and of one item in two runs."""
    rows = [
        json.loads(line)
        for line in items(folder).read_text("utf-8").split("\n")
        if line
    ]
    draw_pictures(folder)
    runs = []
    for name, system in SYSTEMS.items():
        own_rows = [
            {**row, "id": row["id"].removesuffix(f"-{system}"), "group": {}}
            for row in rows
            if row["group"]["system"] == system
        ]
        data = write_rows(folder / f"{name}.jsonl", own_rows)
        beholder.score(data, metrics=["accord"], out=folder / name)
        runs.append(folder / name)
    listener, address = listen()
    viewer = make_viewer(Viewer(runs, folder), Settings())
    server = uvicorn.Server(uvicorn.Config(viewer, log_level="warning"))
    threading.Thread(
        target=server.run, args=([listener],), daemon=True
    ).start()
    page = browser.new_context(viewport=VIEWER_SIZE).new_page()
    page.goto(address)
    page.get_by_role("link", name="model-a").first.click()
    page.get_by_role("link", name="Items", exact=True).click()
    page.locator("table").first.wait_for()
    save(page, "view-list")
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("link", name="street").first.click()
    page.get_by_text("Candidate").first.wait_for()
    save(page, "view-compare")
    server.should_exit = True


def main() -> None:
    """Make all pictures."""
    chromium = shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as base,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        make_report_image(browser, Path(base))
        make_viewer_images(browser, Path(base))
        browser.close()


if __name__ == "__main__":
    main()
