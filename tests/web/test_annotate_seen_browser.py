"""What annotators see besides texts, in a real browser: IIIF pictures, films, instructions."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.types import ASGIApp

from annotated_data import write_rows
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.options import DataOptions
from beholder.web import make_app
from toy.films import write_film
from toy.iiif import iiif_app

pytest.importorskip("playwright", reason="needs Playwright: make test-web")

Server = Callable[[ASGIApp], AbstractContextManager[str]]


def study_of_row(
    folder: Path, row: Mapping[str, Any], **design: Any
) -> AnnotationStudy:
    """A study of ratings of one row by one annotator."""
    data = write_rows(
        folder / "rows.jsonl", [{"id": "1", "candidate": "Stripes.", **row}]
    )
    task = task_named("ratings")
    units, _ = units_of(task, str(data), DataOptions())
    study_design = AnnotationDesign(("anna",), **design)
    return AnnotationStudy.make(
        folder / "study", task, units, study_design, media=folder
    )


def open_unit(watched: Any, study: AnnotationStudy, address: str) -> Any:
    page = watched.page
    page.goto(f"{address}/?token={study.annotators()['anna']}")
    page.get_by_role("heading", level=1).wait_for()
    page.goto(f"{address}/units/1")
    page.locator("[data-ready]").wait_for()
    return page


def app_of(study: AnnotationStudy) -> ASGIApp:
    return make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))


def colours(page: Any) -> np.ndarray:
    """The pixels of the picture on the screen, without its border."""
    shot = page.locator(".zoom").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), int)[
        40:-40, 40:-40
    ]


def share_of_red(page: Any) -> float:
    pixels = colours(page)
    return float(((pixels[..., 0] > 225) & (pixels[..., 2] < 40)).mean())


@pytest.mark.parametrize(
    ("version", "level"), [(2, 0), (2, 1), (3, 0), (3, 1)]
)
@pytest.mark.parametrize("form", ["info.json", "full/full/0/default.jpg"])
def test_a_iiif_picture_is_loaded_in_tiles_from_its_server_alone(
    tmp_path: Path,
    watch: Callable[[], Any],
    server: Server,
    version: int,
    level: int,
    form: str,
) -> None:
    addresses: list[str] = []
    with server(iiif_app(version, level, addresses)) as pictures:
        row = {"images": [f"{pictures}/i/p/{form}"]}
        study = study_of_row(tmp_path, row, iiif=f"{pictures}/i")
        with server(app_of(study)) as address:
            watched = watch()
            page = open_unit(watched, study, address)
            page.wait_for_function(
                "() => document.querySelector('.zoom img').naturalWidth > 0"
            )
            assert len(addresses) == 1
            assert (
                share_of_red(page) < 0.01
            )  # the copy of the whole is too coarse for stripes
            page.locator(".zoom").focus()
            for _ in range(12):
                page.keyboard.press("+")
            page.wait_for_function(
                "() => document.querySelectorAll('.tiles img').length > 0 &&"
                " [...document.querySelectorAll('.tiles img')].every(i => i.complete)"
            )
            finest = [
                address_of_tile
                for address_of_tile in addresses
                if ",512,512/512," in address_of_tile
            ]
            assert (
                0 < len(finest) < 24
            )  # what is visible, and not the whole picture
            assert 0.3 < share_of_red(page) < 0.7
            n = len(addresses)
            page.locator(".zoom").evaluate(
                "view => { view.scrollLeft = 0; view.scrollTop = 0; }"
            )
            page.wait_for_function(
                "() => { const last = document.querySelector('.tiles img:last-child');"
                " return last.style.left === '0%' && last.complete; }"
            )
            assert any(
                address_of_tile.startswith("0,0,512,512/512,")
                for address_of_tile in addresses[n:]
            )
            for _ in range(12):
                page.keyboard.press("-")
            assert share_of_red(page) < 0.01
            assert watched.axe() == []
            assert watched.problems == []
            assert all(
                request.startswith((address, f"{pictures}/i/p/"))
                for request in watched.requests
            )
    study.close()


def test_pictures_of_other_servers_are_not_asked_for(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    addresses: list[str] = []
    with server(iiif_app(3, 1, addresses)) as pictures:
        row = {"images": [f"{pictures}/i/p/info.json"]}
        study = study_of_row(tmp_path, row, iiif="https://iiif.example.org/")
        with server(app_of(study)) as address:
            watched = watch()
            page = open_unit(watched, study, address)
            assert all(
                request.startswith(address) for request in watched.requests
            )
            refused = page.evaluate(
                "address => fetch(address).then(() => false, () => true)",
                f"{pictures}/i/p/info.json",
            )
            assert refused
    assert addresses == []
    study.close()


def test_a_server_that_does_not_answer_is_named(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    row = {"images": ["http://127.0.0.1:9/i/p/info.json"]}
    study = study_of_row(tmp_path, row, iiif="http://127.0.0.1:9")
    with server(app_of(study)) as address:
        page = open_unit(watch(), study, address)
        page.get_by_text(
            "Picture 1 of this description cannot be loaded from 127.0.0.1:9"
        ).wait_for()
        page.keyboard.press("4")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Everything is done").wait_for()
    study.close()


TONE = """film => {
    const context = document.createElement("canvas").getContext("2d");
    context.drawImage(film, 0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data[0];
}"""


@pytest.mark.parametrize(
    ("ending", "codec"), [("webm", "libvpx"), ("mp4", "libx264")]
)
def test_a_film_goes_frame_by_frame(
    tmp_path: Path,
    watch: Callable[[], Any],
    server: Server,
    ending: str,
    codec: str,
) -> None:
    write_film(tmp_path / f"film.{ending}", 30, codec=codec, size=(320, 240))
    study = study_of_row(tmp_path, {"video": f"film.{ending}", "fps": 10})
    with server(app_of(study)) as address:
        watched = watch()
        page = open_unit(watched, study, address)
        film = page.locator("video")
        from playwright.sync_api import expect

        place = page.locator(".zoom-bar [role=status]")
        expect(place).to_contain_text("Frame 1,")
        page.keyboard.press(",")  # nothing is before the first
        for n in range(2, 21):
            page.keyboard.press(".")
            expect(place).to_contain_text(f"Frame {n},")
        page.keyboard.press(",")
        expect(place).to_have_text("Frame 19, 1.80 s")
        grey = film.evaluate(TONE)
        assert (
            abs(grey - 8 * 18) < 4
        )  # the picture of frame n, from 0, has the tone 8 n
        slider = page.get_by_role("slider", name="Frame of the film")
        slider.focus()
        page.keyboard.press("ArrowRight")
        expect(place).to_contain_text("Frame 20,")
        page.keyboard.press("End")
        expect(place).to_contain_text("Frame 30,")
        page.keyboard.press(".")
        expect(place).to_have_text("Frame 30, 2.90 s")
        page.keyboard.press("Home")
        page.keyboard.press("k")
        page.wait_for_function(
            "() => document.querySelector('video').currentTime > 0.3"
        )
        page.keyboard.press("k")
        assert film.evaluate("film => film.paused")
        assert watched.axe() == []
        page.keyboard.press("Escape")
        page.keyboard.press("7")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Everything is done").wait_for()
        assert all(request.startswith(address) for request in watched.requests)
        assert watched.problems == []
    assert study.state("anna", 0) == {"rating": 7, "done": True}
    study.close()


HOSTILE = """# My study

Read *this* first. ![A red boat](boat.png)

| text | rating |
|---|---|
| A blue boat | 3 |

<script>window.harmed = 1</script>
<img src=x onerror="window.harmed = 2">
[press](javascript:window.harmed=3) [press](data:text/html,<script>1</script>)
![far](https://elsewhere.example.org/spy.png) ![up](../secret.png)
<style>main { display: none }</style>
"""


def test_own_instructions_are_shown_and_harm_nothing(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    Image.new("RGB", (400, 200), "red").save(tmp_path / "boat.png")
    study = study_of_row(tmp_path, {}, instructions=HOSTILE)
    with server(app_of(study)) as address:
        watched = watch()
        page = watched.page
        page.goto(f"{address}/?token={study.annotators()['anna']}")
        page.get_by_role("heading", level=3, name="My study").wait_for()
        assert page.get_by_role("row").count() == 2
        boat = page.get_by_role("img", name="A red boat")
        assert (
            boat.evaluate("i => i.decode().then(() => i.naturalWidth)") == 400
        )
        page.get_by_text("<script>window.harmed = 1</script>").wait_for()
        for link in page.get_by_text("press").all():
            link.click()
        assert page.evaluate("window.harmed") is None
        assert page.locator(".own a, .own script, .own style").count() == 0
        assert watched.axe() == []
        assert all(request.startswith(address) for request in watched.requests)
        page.goto(f"{address}/units/1")
        page.locator("[data-ready]").wait_for()
        page.locator("summary").press("Enter")
        page.get_by_role("heading", name="My study").wait_for()
        assert watched.axe() == []
        assert [
            request for request in watched.problems if "404" not in request
        ] == []
    study.close()


def test_a_large_picture_fits_and_is_loaded_larger_when_enlarged(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    Image.new("RGB", (1600, 3000), "navy").save(tmp_path / "tall.png")
    study = study_of_row(tmp_path, {"images": ["tall.png"]})
    with server(app_of(study)) as address:
        page = open_unit(watch(), study, address)
        picture = page.locator(".zoom img")
        page.wait_for_function(
            "() => document.querySelector('.zoom img').naturalHeight === 1200"
        )
        assert picture.bounding_box()["height"] == pytest.approx(
            0.78 * 900, abs=1
        )
        page.locator(".zoom").focus()
        page.keyboard.press("+")
        assert picture.bounding_box()["height"] == pytest.approx(
            1.5 * 0.78 * 900, abs=2
        )
        page.wait_for_function(
            "() => document.querySelector('.zoom img').naturalHeight === 3000"
        )
        page.keyboard.press("-")
        assert picture.bounding_box()["height"] == pytest.approx(
            0.78 * 900, abs=1
        )
    study.close()


def test_a_file_that_is_not_a_film_is_named(
    tmp_path: Path, watch: Callable[[], Any], server: Server
) -> None:
    (tmp_path / "film.mpg").write_bytes(b"x" * 1000)
    study = study_of_row(tmp_path, {"video": "film.mpg"})
    with server(app_of(study)) as address:
        watched = watch()
        page = open_unit(watched, study, address)
        page.get_by_text("This browser cannot play the film.").wait_for()
        page.keyboard.press(".")
        page.keyboard.press("k")
        page.keyboard.press("7")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Everything is done").wait_for()
        assert watched.problems == []
    study.close()
