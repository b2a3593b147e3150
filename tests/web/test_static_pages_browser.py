"""Static pages for people with disabilities: axe-core, a telephone, the dark, paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import beholder
from beholder.backends import BACKENDS
from beholder.kinds.agreement import results
from beholder.kinds.bidirectional.observe import observe
from beholder.kinds.bidirectional.page import write_bidirectional
from beholder.kinds.bidirectional.settings import StudySettings
from beholder.kinds.bidirectional.study import study
from beholder.kinds.generation.askers import CaptionRow
from beholder.kinds.generation.engine import RowsConfig, run_rows
from beholder.kinds.generation.page import write_made
from beholder.kinds.narratives.config import (
    CoherenceOptions,
    CollectionOptions,
    NarrateConfig,
    Voting,
)
from beholder.kinds.narratives.engine import run_narratives
from beholder.kinds.ranking.engine import run_ranking
from beholder.kinds.ranking.rankers import RankConfig, ranker
from beholder.kinds.scores.page import write_report
from beholder.lint import lint
from beholder.lint.outputs import page as lint_report
from beholder.records import Item, ItemFailure, ItemScore
from beholder.report.comparison import write_comparison
from beholder.report.drawing import draw
from beholder.run.compare import compare
from beholder.run.session import Quiet
from beholder.run.store import Store
from toy.bothways import Reader, make_world
from toy.judge import Storyteller
from toy.photos import make_collection, write_narratives
from toy.reviewer import Reviewer, write_reviews
from toy.runs import Outcome, lemons, sentence_score, write_run
from toy.watched import Watched

pytestmark = [pytest.mark.usefixtures("few_resamples"), pytest.mark.drawn]
for _name, _backend in (
    ("story", Storyteller),
    ("reviewer", Reviewer),
    ("reader", Reader),
):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)


def score_page(folder: Path) -> Path:
    items = lemons(30)
    scores = [
        sentence_score(item, 0.3 + n / 60) for n, item in enumerate(items)
    ]
    outcomes: list[Outcome] = [*scores[:-1], ItemFailure("E", "no luck")]
    return write_report(
        write_run(folder / "run", items, {"vcs": outcomes, "posh": scores})
    )


def people_page(folder: Path) -> Path:
    items = [Item(str(n), f"text {n}", ("r",)) for n in range(20)]
    run = write_run(
        folder / "run",
        items,
        {"posh": [ItemScore({"f1": n / 20}) for n in range(20)]},
    )
    row = {"metric": "posh", "value": "f1", "agreement": 0.5, "low": 0.1, "high": 0.8, "n": 20,
           "n_missing": 0, "n_sources": 3, "reason": None, "categories": {}}  # fmt: skip
    data = {"first": [str(n) for n in range(20)], "second": [""] * 20,
            "gold": [float(n % 7) for n in range(20)], "scores": [[n / 20 for n in range(20)]] * 2}  # fmt: skip
    section = {"name": "spearman", "metrics": [row, {**row, "metric": "length"}], "data": data,
               "differences": [{"a": "posh.f1", "b": "length.f1", "difference": 0.1, "low": 0.0,
                                "high": 0.2, "p": 0.5}]}  # fmt: skip
    study = {"format": 1, "set": "own", "n_items": 20, "n_resamples": 10, "signatures": {},
            "extra": {}, "measures": [section]}  # fmt: skip
    (run / results.FILE_NAME).write_text(json.dumps(study), encoding="utf-8")
    return write_report(run)


def comparison_page(folder: Path) -> Path:
    items = lemons()
    a, b = (
        write_run(
            folder / name,
            items,
            {
                "vcs": [
                    sentence_score(item, by * n)
                    for n, item in enumerate(items)
                ]
            },
        )
        for name, by in (("a", 0.1), ("b", 0.15))
    )
    with Store.read(a) as store_a, Store.read(b) as store_b:
        write_comparison(
            store_a, store_b, compare(store_a, store_b), folder / "page.html"
        )
    return folder / "page.html"


def rank_page(folder: Path) -> Path:
    write_reviews(folder / "r.jsonl", 8)
    names = ["response(judge='reviewer:m')"]
    names += [
        f"response(judge=\"reviewer(model='m', noise={n}.0)\")"
        for n in range(1, 7)
    ]
    config = RankConfig(
        str(folder / "r.jsonl"),
        folder / "run",
        tuple(ranker(text) for text in names),
    )
    run_ranking(config, Quiet())
    return draw(config.out)


def narrate_page(folder: Path) -> Path:
    make_collection(folder / "data")
    write_narratives(folder / "s.jsonl", 2)
    config = NarrateConfig(
        sequences=str(folder / "s.jsonl"), out=folder / "run",
        parts=("captions", "transitions", "coherence"), judge="story:steady",
        collection=CollectionOptions(str(folder / "data" / "index.csv")), voting=Voting(judges=2),
        coherence=CoherenceOptions(f"npz:{folder / 'data' / 'vectors.npz'}"),
    )  # fmt: skip
    run_narratives(config, Quiet())
    return draw(config.out)


def bidirectional_page(folder: Path) -> Path:
    data = make_world(folder, n_images=6).data
    metrics = ["dcscore(direction='both')", "bleu"]
    run = beholder.score(
        data, metrics, judge="reader:m", out=folder / "run"
    ).path
    return write_bidirectional(
        study(observe(run), StudySettings()), run, folder / "study"
    )


def made_page(folder: Path) -> Path:
    make_collection(folder, n=3)
    out = folder / "c.jsonl"
    config = RowsConfig(
        str(folder / "img"), out, {"one": CaptionRow("story:steady")}
    )
    run_rows(config, Quiet())
    return write_made(config.run)


def lint_page(folder: Path) -> Path:
    Image.new("RGB", (40, 30), "green").save(folder / "a.png")
    rows = [
        "image,alt,language",
        "a.png,Image of a dog,en",
        "b.png,IMG_2041,en",
        "c.png,,de",
    ]
    (folder / "alts.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "page.html").write_text(
        lint_report(lint([folder / "alts.csv"])), encoding="utf-8"
    )
    return folder / "page.html"


PAGES: Mapping[str, Callable[[Path], Path]] = {
    "score": score_page,
    "people": people_page,
    "comparison": comparison_page,
    "rank": rank_page,
    "narrate": narrate_page,
    "bidirectional": bidirectional_page,
    "made": made_page,
    "lint": lint_page,
}


@pytest.fixture(scope="module")
def make_page(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:
    """Return a function that makes the page of a name, once for all tests."""
    return cache(lambda name: PAGES[name](tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_serious_fault_wide_and_on_a_telephone_in_the_dark(
    chromium: Any, make_page: Callable[[str], Path], name: str
) -> None:
    # The policy of the page would keep axe-core itself out.
    context = chromium.new_context(bypass_csp=True)
    page = Watched(context.new_page())
    page.page.goto(make_page(name).as_uri())
    for width, scheme in ((1280, "light"), (400, "dark")):
        page.page.set_viewport_size({"width": width, "height": 900})
        page.page.emulate_media(color_scheme=scheme)
        assert page.axe() == [], (name, scheme)
        assert (
            page.page.evaluate("document.documentElement.scrollWidth") <= width
        )
    assert page.problems == []
    headings = page.page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(e => Number(e.tagName[1]))"
    )
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    empty = "[...document.querySelectorAll('th')].filter(e => !e.textContent.trim()).length"
    assert page.page.evaluate(empty) == 0
    context.close()


def test_findings_of_a_lint_page_are_filtered(
    chromium: Any, make_page: Callable[[str], Path]
) -> None:
    page = chromium.new_page()
    page.goto(make_page("lint").as_uri())
    visible_rows = page.locator("details tbody tr:visible")
    page.get_by_label("Severity").select_option("error")
    assert page.locator("output").inner_text() == "2 findings"
    assert visible_rows.count() == 2
    page.get_by_label("Language").select_option("de")
    assert "ALT001" in page.locator("details:visible").inner_text()
    assert visible_rows.count() == 1
    page.get_by_label("Severity").select_option("warning")
    assert page.locator("output").inner_text() == "0 findings"
    page.close()


def test_film_strips_use_the_width_of_the_page(
    chromium: Any, make_page: Callable[[str], Path]
) -> None:
    # human-3 has eight pictures.
    tab = chromium.new_page()
    tab.goto(make_page("narrate").as_uri())
    rows = """() => {
        const tops = [...document.querySelectorAll("#narrative-3 .shot")].map((shot) => shot.getBoundingClientRect().top);
        return [...new Set(tops)].map((top) => tops.filter((other) => other === top).length);
    }"""
    for width, pictures in ((1280, [7, 1]), (390, [2, 2, 2, 2])):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate(rows) == pictures
    tab.close()


def test_a_histogram_fits_the_screen_of_a_telephone(
    chromium: Any, make_page: Callable[[str], Path]
) -> None:
    context = chromium.new_context(viewport={"width": 400, "height": 900})
    tab = context.new_page()
    tab.goto(make_page("score").as_uri())
    box = tab.locator(".histogram").first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 400
    outer = tab.locator(".distribution").first
    assert outer.evaluate("e => e.scrollWidth <= e.clientWidth")
    context.close()


def test_figures_turn_dark_in_the_dark_and_stay_light_on_paper(
    chromium: Any, make_page: Callable[[str], Path]
) -> None:
    context = chromium.new_context(color_scheme="dark")
    tab = context.new_page()
    tab.goto(make_page("rank").as_uri())
    filter_script = (
        "getComputedStyle(document.querySelector('.curves')).filter"
    )
    assert "invert" in tab.evaluate(filter_script)
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(filter_script) == "none"
    tab.emulate_media(media="screen", color_scheme="light")
    assert tab.evaluate(filter_script) == "none"
    context.close()


def test_escape_clears_the_search_and_a_search_without_a_hit_says_so(
    chromium: Any, make_page: Callable[[str], Path]
) -> None:
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(make_page("score").as_uri())
    tab.keyboard.press("/")
    tab.keyboard.type("zebra")
    assert tab.locator("#found").text_content() == "nothing matches “zebra”"
    tab.keyboard.press("Escape")
    assert tab.locator("#list li").count() == 30
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.id") != "search"
    context.close()


TEXT = (
    "A tall man in a red coat holds a silver cup beside a white dog. The dog sits on a green rug under a"
    " wooden table with two chairs. A woman in a dress stands near the window and looks at a small bird"
    " on the roof. The man stands behind the woman, and the bird looks at the dog."
)


def test_words_in_a_graph_overlap_nothing(
    chromium: Any, tmp_path: Path
) -> None:
    run = beholder.score(
        [Item("a", TEXT, (TEXT,))], ["posh"], out=tmp_path / "run"
    )
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(run.report().as_uri())
    boxes = page.locator(".graph").first.evaluate(
        """graph => [...graph.querySelectorAll("rect, text.relation")].map(part => {
            const box = part.getBoundingClientRect();
            return [part.tagName, box.left, box.top, box.right, box.bottom];
        })"""
    )
    assert [name for name, *_ in boxes].count("text") >= 9
    for (name, *a), (other_name, *b) in combinations(boxes, 2):
        if "text" in (name, other_name):
            across = min(a[2], b[2]) - max(a[0], b[0])
            down = min(a[3], b[3]) - max(a[1], b[1])
            assert min(across, down) < 3, (name, a, other_name, b)
    context.close()
