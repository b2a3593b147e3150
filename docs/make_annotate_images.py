"""Make the pictures of ``docs/annotate.md``: a study of each task in Chromium, by Playwright.

    PYTHONPATH=src:tests .venv-web/bin/python docs/make_annotate_images.py

The data are those of the tests, with drawings in place of their plain pictures.
"""

from __future__ import annotations

import io
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image, ImageDraw
from playwright.sync_api import expect, sync_playwright

from annotated_data import DATA_OF
from annotating import finish, study_of
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.web import make_app

IMAGES = Path(__file__).parent / "images"
KEYS = {
    "pairs": "214",
    "ratings": "7",
    "sequences": "6",
    "steps": "83t",
    "facts": "t",
    "revisions": "a",
    "reading": "n",
}
CHOSEN = {
    "marks": "harbour-north",
    "pairs": "field-north | field-south",
    "ratings": "street-north/candidate",
    "facts": "harbour-north",
    "revisions": "harbour-north",
    "reading": "harbour-north",
    "ranking": "street (en)",
}


def harbour(draw: Any) -> None:
    """A red boat at a pier under a grey sky, two people beside it."""
    draw.rectangle((0, 0, 360, 130), fill="#b9bfc4")
    draw.rectangle((0, 130, 360, 240), fill="#4d7a94")
    draw.rectangle((210, 140, 360, 158), fill="#8a6a45")
    draw.polygon(
        ((50, 145), (190, 145), (165, 185), (75, 185)), fill="#b23a32"
    )
    draw.line((118, 60, 118, 145), fill="#3b3027", width=4)
    for x in (250, 285):
        draw.ellipse((x, 88, x + 16, 104), fill="#e2bd9b")
        draw.rectangle((x + 1, 104, x + 15, 140), fill="#2f3f52")


def street(draw: Any) -> None:
    """A person in a green coat with a small dog before a shop."""
    draw.rectangle((0, 0, 360, 240), fill="#d9cdb8")
    draw.rectangle((0, 190, 360, 240), fill="#9b958c")
    draw.rectangle((210, 60, 340, 190), fill="#a8623f")
    draw.rectangle((228, 100, 322, 165), fill="#f1e3b9")
    draw.ellipse((95, 60, 125, 90), fill="#e2bd9b")
    draw.polygon(((110, 88), (145, 195), (75, 195)), fill="#3f7a4b")
    draw.ellipse((160, 170, 200, 192), fill="#5a4330")
    draw.line((135, 140, 165, 175), fill="#3b3027", width=2)


def field(draw: Any) -> None:
    """Sheep below a wall on a hill, a barn on the right."""
    draw.rectangle((0, 0, 360, 120), fill="#a9c8dd")
    draw.ellipse((-80, 80, 440, 380), fill="#7fa05f")
    draw.rectangle((30, 118, 260, 130), fill="#8d8a85")
    draw.rectangle((285, 70, 340, 120), fill="#8a4a3a")
    draw.polygon(((278, 72), (312, 42), (347, 72)), fill="#5c4138")
    for x, y in ((70, 165), (140, 185), (210, 160)):
        draw.ellipse((x, y, x + 36, y + 22), fill="#f4f1ea")
        draw.ellipse((x + 28, y + 2, x + 42, y + 14), fill="#3a3632")


SCENES = (harbour, street, field)


def draw_pictures(folder: Path) -> None:
    """Drawings in place of the plain pictures of a folder."""
    names = {"harbour": harbour, "street": street, "field": field}
    for number, path in enumerate(sorted(folder.glob("*.png"))):
        image = Image.new("RGB", (360, 240))
        names.get(path.stem, SCENES[number % 3])(ImageDraw.Draw(image))
        # As wide as a photograph would be: the page shows no picture larger than it is.
        image.resize((720, 480)).save(path)


def listen() -> tuple[socket.socket, str]:
    """A free port and its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


def serve(study: AnnotationStudy) -> tuple[uvicorn.Server, str]:
    """A study on a free port."""
    listener, address = listen()
    app = make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    threading.Thread(
        target=server.run, args=([listener],), daemon=True
    ).start()
    return server, address


def act(page: Any, task: str) -> None:
    """What an annotator does before the picture is taken."""
    if task == "marks":
        page.locator("[data-label=mistakes]").focus()
        for key in (
            "ArrowRight",
            "a",
            "2",
            "m",
            *["ArrowRight"] * 6,
            "n",
            "1",
            "m",
        ):
            page.keyboard.press(key)
        page.locator("[data-label=omissions]").focus()
        for key in (*["ArrowRight"] * 13, *["Shift+ArrowRight"] * 3, "a", "m"):
            page.keyboard.press(key)
    elif task == "ranking":
        page.locator("#ranking li").nth(2).focus()
        page.keyboard.press("1")
    for key in KEYS.get(task, ""):
        page.keyboard.press(key)
    expect(page.locator("#status")).to_have_text("Saved")


def keep(page: Any, name: str) -> None:
    """A small PNG of the page."""
    height = page.evaluate("document.body.scrollHeight")
    page.set_viewport_size(
        {"width": 980, "height": height}
    )  # nothing sticks anywhere
    image = Image.open(io.BytesIO(page.screenshot(full_page=True)))
    image.convert("RGB").quantize(256).save(
        IMAGES / f"annotate-{name}.png", optimize=True
    )


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
        for task in DATA_OF:
            folder = Path(base) / task
            study = study_of(folder, task)
            draw_pictures(folder)
            server, address = serve(study)
            page = browser.new_context(
                viewport={"width": 980, "height": 420}
            ).new_page()
            page.goto(f"{address}/?token={study.annotators()['anna']}")
            page.get_by_role("heading", level=1).wait_for()
            units = study.assigned("anna")
            chosen = study.positions().get(CHOSEN.get(task, ""), units[0])
            page.goto(f"{address}/units/{units.index(chosen) + 1}")
            page.locator("[data-ready]").wait_for()
            act(page, task)
            keep(page, task)
            if task == "sequences":
                for who, ratings in (("anna", (8, 5, 2)), ("ben", (7, 5, 3))):
                    for unit, rating in zip(
                        ("walk", "trip", "mix"), ratings, strict=True
                    ):
                        finish(study, who, unit, {"rating": rating})
                page.context.clear_cookies()
                page.goto(f"{address}/?token={study.token}")
                page.get_by_role("heading", name="Agreement").wait_for()
                page.evaluate(
                    "document.querySelectorAll('code').forEach(c => {"
                    " c.textContent = 'http://127.0.0.1:8765/?token=...' })"
                )
                keep(page, "study")
            server.should_exit = True
            study.close()
        browser.close()


if __name__ == "__main__":
    main()
