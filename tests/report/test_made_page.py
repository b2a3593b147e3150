"""The page of captions, categories, translations and reviews: whole, script-free, unmoved by hostile data."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from beholder.backends import BACKENDS
from beholder.errors import RunError
from beholder.kinds.generation.askers import (
    CaptionRow,
    ClassifyRow,
    TranslateRow,
)
from beholder.kinds.generation.engine import RowsConfig, run_rows
from beholder.kinds.generation.page import write_made
from beholder.kinds.generation.reviews import ReviewsConfig, run_reviews
from beholder.run.session import Quiet
from toy.bothways import Reader
from toy.judge import Storyteller
from toy.photos import make_collection
from toy.reviewer import Reviewer

pytestmark = pytest.mark.usefixtures("few_resamples")

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}\u202e</style>=1+1"

for _name, _backend in (
    ("story", Storyteller),
    ("reader", Reader),
    ("reviewer", Reviewer),
):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def ids(self, tag: str) -> list[str | None]:
        return [
            attributes.get("id")
            for name, attributes in self.tags
            if name == tag
        ]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_collection(Path("data"), n=3)


def _captions(data: str = "data/img") -> Path:
    asker = CaptionRow("story:steady")
    config = RowsConfig(
        data, Path("c.jsonl"), {"first": asker, "second": asker}
    )
    run_rows(config, Quiet())
    return config.run


def test_captions_are_beside_their_picture_and_failures_have_reasons() -> None:
    Path("data/img/zz.jpg").write_bytes(b"x")
    page = Page(write_made(_captions()))
    assert page.ids("article") == ["row-0", "row-1", "row-2", "row-3"]
    rows = [
        json.loads(line)
        for line in Path("c.jsonl").read_text("utf-8").splitlines()
    ]
    for row in rows:
        assert row["candidate"] in page.text
    thumbs = [
        a for tag, a in page.tags if tag == "div" and a.get("role") == "img"
    ]
    assert len(thumbs) == 3
    assert (
        page.text.count("data/img/zz.jpg: not a picture") == 4
    )  # both systems, list and place
    assert "4 rows" in page.text
    assert "2 failed" in page.text


def test_categories_are_counted_and_an_empty_answer_has_no_category() -> None:
    config = RowsConfig(
        "data/img",
        Path("c.jsonl"),
        {"m": ClassifyRow("reader:m", {"nature": "x", "trade": "y"})},
    )
    run_rows(config, Quiet())
    groups = [json.loads(line)["group"]["category"] for line in Path("c.jsonl").read_text().splitlines()]  # fmt: skip
    page = Page(write_made(config.run))
    section = page.text.split("Categories System Category Rows")[1].split(
        "What was made"
    )[0]
    words = section.split()
    assert set(words[::3]) == {"m"}
    counted = dict(zip(words[1::3], map(int, words[2::3]), strict=True))
    assert counted == {name: groups.count(name) for name in set(groups)}


def test_translations_show_both_sides_and_reviews_their_kinds() -> None:
    Path("d.jsonl").write_text(
        json.dumps({"id": "a", "candidate": "यहाँ thing_7 है."}) + "\n"
    )
    config = RowsConfig("d.jsonl", Path("en.jsonl"), {"m": TranslateRow("reader:m", "Hindi", "English")})  # fmt: skip
    run_rows(config, Quiet())
    assert (
        "candidate A thing_7 is there. यहाँ thing_7 है"
        in Page(write_made(config.run)).text
    )
    run_reviews(
        ReviewsConfig("data/img", Path("run"), "reviewer:m", ("en", "ja")),
        Quiet(),
    )
    page = Page(write_made(Path("run"), Path("page.html")))
    assert page.text.count("subjective and with an error Review 4 of") == 6
    assert "3 pictures 2 languages" in page.text


def test_the_page_has_no_script_sends_no_request_and_escapes_data() -> None:
    rows = [
        {
            "id": EVIL,
            "image": "data/img/000.jpg",
            "group": {EVIL: EVIL},
            "candidate": EVIL,
        }
    ]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = RowsConfig(
        "d.jsonl",
        Path("c.jsonl"),
        {EVIL: CaptionRow("story:steady", context=EVIL)},
    )
    run_rows(config, Quiet())
    path = write_made(config.run)
    page = Page(path)
    assert not {"script", "img", "link", "iframe"} & {
        tag for tag, _ in page.tags
    }
    assert not any(
        name.startswith("on")
        for _, attributes in page.tags
        for name in attributes
    )
    assert "http" not in path.read_text("utf-8").replace("http-equiv", "")
    assert "{{7*7}}" in page.text


def test_a_run_that_is_not_finished_is_drawn_as_far_as_it_is() -> None:
    run = _captions()
    log = json.loads((run / "run.json").read_text("utf-8"))
    (run / "run.json").write_text(
        json.dumps({**log, "status": "interrupted", "summary": []})
    )
    page = Page(write_made(run))
    # Both systems are one judge, which has captioned all three pictures.
    assert (
        "c.jsonl.run is not complete (status: interrupted): 3 of 3 finished by"
        in page.text
    )
    assert len(page.ids("article")) == 3


def test_the_page_is_the_same_wherever_it_is_drawn_and_says_where_a_picture_is_missing() -> (
    None
):
    run = _captions()
    inside = write_made(run).read_bytes()
    assert write_made(run, Path("page.html")).read_bytes() == inside
    assert b"no picture" not in inside
    shutil.rmtree(run / "thumbs")
    assert Page(write_made(run)).text.count("no picture") == 3


def test_another_kind_of_run_is_refused_in_words(tmp_path: Path) -> None:
    run = _captions()
    log = json.loads((run / "run.json").read_text("utf-8"))
    (run / "run.json").write_text(json.dumps({**log, "kind": "scores"}))
    with pytest.raises(
        RunError, match="a run of the kind 'scores', not 'rows' or 'reviews'"
    ):
        write_made(run)
    with pytest.raises(RunError, match="is not a run directory"):
        write_made(tmp_path)
