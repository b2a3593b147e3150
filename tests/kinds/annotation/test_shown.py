"""What pages show besides texts: addresses of IIIF, films and their frame rate, instructions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotated_data import write_rows
from annotating import study_of
from beholder.errors import ConfigError
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.pages import study_routes, study_settings
from beholder.kinds.annotation.shown import (
    Instructions,
    iiif_service,
    list_hidden_pictures,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.options import DataOptions
from beholder.web import make_app
from toy.cases import each_case
from toy.command import Cli

SERVER = "https://iiif.example.org/image"
ROW = {"id": "1", "candidate": "A dog."}


@each_case(
    ("rest", "base"),
    [
        ("/image/p1/info.json", "/image/p1"),
        ("/image/a%2Fb/full/max/0/default.jpg", "/image/a%2Fb"),
        ("/image/p1/0,0,100,100/!50,50/!90/gray.png", "/image/p1"),
        ("/image/p1", None),  # no form of the Image API
        ("/image/p1.jpg", None),
        ("/other/p1/info.json", None),
        ("/imagery/p1/info.json", None),
        ("/image/p1?x=/info.json", None),
        (".evil.org/image/p1/info.json", None),
    ],
)
def test_the_service_of_an_address(rest: str, base: str | None) -> None:
    address = f"https://iiif.example.org{rest}"
    service = None if base is None else f"https://iiif.example.org{base}"
    assert (
        iiif_service(address, SERVER)
        == iiif_service(address, f"{SERVER}/")
        == service
    )
    assert iiif_service(address, None) is None


def units(folder: Path, **row: Any) -> list[Any]:
    data = write_rows(folder / "rows.jsonl", [ROW | row])
    return units_of(task_named("ratings"), str(data), DataOptions())[0]


def test_addresses_of_other_servers_are_named_once(tmp_path: Path) -> None:
    images = [f"{SERVER}/p/info.json", "https://x.org/a.jpg", "here.png"]
    rated_units = units(tmp_path, images=images) * 2
    assert list_hidden_pictures(rated_units, SERVER) == ["https://x.org/a.jpg"]
    assert list_hidden_pictures(rated_units, None) == images[:2]


@pytest.mark.parametrize("fps", ["fast", 0, -25, "nan", 1001])
def test_a_wrong_frame_rate_is_named_with_its_row(
    tmp_path: Path, fps: object
) -> None:
    with pytest.raises(
        ConfigError, match=f"row '1': fps: expected frames .* got {fps!r}"
    ):
        units(tmp_path, video="a.mp4", fps=fps)


@pytest.mark.parametrize(
    ("fps", "rate"), [("29.97", 29.97), (None, None), ("", None)]
)
def test_the_frame_rate_of_a_row(
    tmp_path: Path, fps: object, rate: float | None
) -> None:
    (unit,) = units(tmp_path, images=["a.png"], video="a.mp4", fps=fps)
    assert unit.fps == rate
    assert [picture.image for picture in unit.pictures] == ["a.png", "a.mp4"]


def test_html_of_instructions_is_text_and_pictures_have_numbers() -> None:
    instructions = Instructions.from_markdown(
        "# A\n\n<b onclick=x>b</b> [go](javascript:x) ![p](p.png) ![q](q.png)\n"
    )
    assert instructions.html == (
        "<h3>A</h3>\n<p>&lt;b onclick=x&gt;b&lt;/b&gt; [go](javascript:x)"
        ' <img src="/instructions/pictures/0" alt="p" />'
        ' <img src="/instructions/pictures/1" alt="q" /></p>\n'
    )
    assert instructions.pictures == ("p.png", "q.png")


def opened(
    folder: Path, who: str = "anna", **row: Any
) -> tuple[AnnotationStudy, TestClient]:
    """A study of a row, and a client who is signed in."""
    design = AnnotationDesign(
        ("anna",), iiif=SERVER, instructions="![p](../secret.png)"
    )
    task = task_named("ratings")
    study = AnnotationStudy.make(
        folder / "study", task, units(folder, **row), design, media=folder
    )
    app = make_app(study_routes(study), study_settings(study, "127.0.0.1", 0))
    client = TestClient(
        app, base_url="http://127.0.0.1", client=("127.0.0.1", 5000)
    )
    client.get("/", params={"token": study.annotators().get(who, study.token)})
    return study, client


def test_a_film_is_sent_in_parts_and_never_from_elsewhere(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "film.mp4").write_bytes(b"0123456789")
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "link.mp4").symlink_to(tmp_path / "secret.mp4")
    study, client = opened(
        folder, images=["link.mp4", "gone.mp4"], video="film.mp4"
    )
    part = client.get("/units/1/pictures/2", headers={"range": "bytes=2-5"})
    assert (part.status_code, part.content) == (206, b"2345")
    assert part.headers["content-type"] == "video/mp4"
    for number in (0, 1, 3):
        assert client.get(f"/units/1/pictures/{number}").status_code == 404
    assert client.get("/instructions/pictures/0").status_code == 404
    assert client.get("/instructions/pictures/1").status_code == 404
    study.close()


def test_pages_load_pictures_from_the_server_that_the_study_names(
    tmp_path: Path,
) -> None:
    study, client = opened(tmp_path, images=[f"{SERVER}/p/info.json"])
    answer = client.get("/units/1")
    policy = answer.headers["content-security-policy"].split("; ")
    assert f"img-src 'self' data: {SERVER}/" in policy
    assert f"connect-src 'self' {SERVER}/" in policy
    assert f'data-iiif="{SERVER}/p"' in answer.text
    study.close()
    study_without_server = study_of(tmp_path / "other", "ratings")
    app = make_app(
        study_routes(study_without_server),
        study_settings(study_without_server, "127.0.0.1", 0),
    )
    plain = TestClient(
        app, base_url="http://127.0.0.1", client=("127.0.0.1", 5000)
    ).get("/")
    assert "connect-src 'self'; " in plain.headers["content-security-policy"]
    study_without_server.close()


def test_progress_is_sent_without_agreement(tmp_path: Path) -> None:
    study, client = opened(tmp_path, who="owner")
    full, part = client.get("/").text, client.get("/?live").text
    assert "<strong>0 of 1 judgments done, 1 left.</strong>" in full
    assert "<strong>0 of 1 judgments done, 1 left.</strong>" in part
    assert "No agreement yet" in full
    assert "No agreement yet" not in part
    study.close()


def test_instructions_and_server_of_the_command(
    cli: Cli, tmp_path: Path
) -> None:
    write_rows(
        tmp_path / "rows.jsonl",
        [ROW | {"images": ["https://x.org/p/info.json"]}],
    )
    (tmp_path / "how.md").write_text("# Read this\n")

    def make(*more: str) -> Any:
        return cli(
            "annotate",
            "ratings",
            "rows.jsonl",
            "-o",
            "study",
            "--prepare",
            *more,
        )

    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    assert (
        "latin.md: byte 3 is not UTF-8"
        in make("--instructions", "latin.md").err
    )
    assert "there is no such file" in make("--instructions", "gone.md").err
    wrong = make("--iiif", "https://x.org/; script-src *")
    assert wrong.code == 2
    assert "expected an address such as" in wrong.err
    with_instructions = ("--instructions", "how.md")
    first = make(*with_instructions)
    assert first.code == 0, first.err
    assert (
        "pages do not show pictures at addresses, such as https://x.org/p/i"
        in first.err
    )
    assert make(*with_instructions).code == 0
    (tmp_path / "how.md").write_text("# Read that\n")
    assert "contains another study" in make(*with_instructions).err
    study = AnnotationStudy.open(tmp_path / "study")
    assert study.design.instructions == "# Read this\n"
    study.close()
