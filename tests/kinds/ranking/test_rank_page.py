"""The page of a ranking run: whole, script-free, and unmoved by hostile data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from beholder.backends import BACKENDS
from beholder.errors import ConfigError, MissingExtraError, RunError
from beholder.kinds.generation.page import annotation_instructions
from beholder.kinds.ranking import results
from beholder.kinds.ranking.engine import run_ranking
from beholder.kinds.ranking.page import write_ranking
from beholder.kinds.ranking.plots import threshold_figure
from beholder.kinds.ranking.rankers import RankConfig, ranker
from beholder.kinds.ranking.tables import ranking_tables
from beholder.report.drawing import draw_figures
from beholder.report.study_tables import as_text, show_cell
from beholder.run.session import Quiet
from toy.browser import EXECUTABLE, browser
from toy.reviewer import Reviewer, write_reviews
from toy.without import PLOTS, without

pytestmark = pytest.mark.usefixtures("few_resamples")

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}$x^2$\u202e</style>=1+1"

if "reviewer" not in BACKENDS.names():
    BACKENDS.register("reviewer")(Reviewer)


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _run(
    folder: Path, scorers: tuple[str, ...] = ("response(judge='reviewer:m')",)
) -> Path:
    data = str(folder / "r.jsonl")
    config = RankConfig(
        data, folder / "run", tuple(ranker(text) for text in scorers)
    )
    run_ranking(config, Quiet())
    return config.out


def test_the_page_shows_each_image_with_every_rank_and_disagreement_first(
    tmp_path: Path,
) -> None:
    rows = write_reviews(tmp_path / "r.jsonl", 12)
    noisy = "response(judge=\"reviewer(model='m', noise=2.0)\")"
    run = _run(tmp_path, (noisy, "perplexity(judge='reviewer:m')"))
    page = Page(write_ranking(run).read_text("utf-8"))
    articles = [a["id"] for tag, a in page.tags if tag == "article"]
    ranking = results.read_ranking(run)
    means = [
        sum(scorer.correlation or 0.0 for scorer in image.scorers.values()) / 2
        for image in ranking.images
    ]
    order = sorted(range(12), key=lambda n: means[n])
    assert articles == [f"image-{n}" for n in order]
    cells = [
        a
        for tag, a in page.tags
        if tag == "td" and "rank" in str(a.get("class")).split()
    ]
    # 12 images of 5 texts: the prompt's order, three people, two scorers
    assert len(cells) == 12 * 5 * 6
    text = " ".join(page.words)
    for row in rows:
        for review in row["texts"]:  # type: ignore[attr-defined]
            assert review in text
    assert "position bias" in text.lower()
    assert sum("★" in word for word in page.words) >= 2 * 12


def test_tints_go_from_best_to_worst_and_missing_ranks_have_none(
    tmp_path: Path,
) -> None:
    row = {
        "texts": ["a", "b", "c"],
        "ranks": {"x": [1, 2, 3], "y": [3, None, 1]},
    }
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    run = _run(tmp_path, ("length",))
    page = write_ranking(run).read_text("utf-8")
    cells = re.findall(
        r'<td class="rank(?: t(\d))?[^"]*"[^>]*><span>(.+?)</span>', page
    )
    x, y, length = (cells[column::3] for column in range(3))
    assert x == [("0", "1"), ("2", "2"), ("4", "3")]
    assert y == [("4", "3"), ("", "–"), ("0", "1")]
    assert length == [("2", "2")] * 3  # texts of one letter
    assert "1 of 2 annotators ranked every text" in page


def test_terminal_page_and_files_say_the_same_and_lose_no_number(
    tmp_path: Path,
) -> None:
    rows = write_reviews(tmp_path / "r.jsonl", 6, languages=("en", "ja"))
    rows[0]["ranks"] = {"anna": [1, 2, 3, 4, None], "ben": [1, 2, 3, 4, 5]}
    for number, row in enumerate(rows):
        row["category"] = f"<b>{number % 2}</b>"
    (tmp_path / "r.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (tmp_path / "img" / "002.png").unlink()
    seeing, blind = (
        "perplexity(judge='reviewer:m')",
        "perplexity(judge='reviewer:m', image=False)",
    )
    biased = "response(judge=\"reviewer(model='m', bias=0.4, noise=0.3)\", orders=2)"
    config = RankConfig(
        str(tmp_path / "r.jsonl"),
        tmp_path / "run",
        tuple(ranker(text) for text in (seeing, blind, biased)),
        threshold=None,
    )
    run_ranking(config, Quiet())
    words = " ".join(Page(write_ranking(config.out).read_text("utf-8")).words)
    ranking = results.read_ranking(config.out)
    tables = {table.name: table for table in ranking_tables(ranking)}
    texts = {name: as_text([table]) for name, table in tables.items()}
    for name, table in tables.items():
        written = json.loads(
            (config.out / "tables" / f"{name}.json").read_text("utf-8")
        )
        for table_row, in_file in zip(
            table.rows, written["rows"], strict=True
        ):
            for column in table.shown_columns():
                cell = show_cell(table_row, column)
                assert cell in words
                assert cell in texts[name]
                assert in_file[column.key] == table_row.get(column.key)
        for note in table.notes:
            assert note in words
    ranking_results = ranking.tables
    first = tables["scores"].rows[1]
    assert (first["scorer"], first["n"], first["n_failed"]) == (seeing, 9, 2)
    assert first["mean"] == ranking_results.scorers[0].mean
    assert (first["mean_low"], first["mean_high"]) == ranking_results.scorers[
        0
    ].interval
    assert [row["value"] for row in tables["scores"].rows] == [
        "", "perplexity", "perplexity", "mean_rank",
    ]  # fmt: skip
    further = tables["further-values"].rows
    assert [row["value"] for row in further][:3] == [
        "bits_per_character", "nll", "tokens",
    ]  # fmt: skip
    assert ranking.scorers[0].undirected == ("tokens",)
    assert ranking.scorers[2].undirected == ()
    strictest = tables["correlation-by-threshold"].rows[-1]
    assert strictest["threshold"] == "≥ 0.8"
    assert strictest[blind] == ranking_results.thresholds[-1].scorers[1].mean
    joined = tables["one-more-annotator"].rows[-1]
    assert (
        joined[f"{blind}, share"]
        == ranking_results.thresholds[-1].scorers[1].share_in_pair
    )
    assert (
        joined[blind] == ranking_results.thresholds[-1].scorers[1].with_model
    )
    assert [row["category"] for row in tables["category"].rows] == [
        "<b>0</b>",
        "<b>1</b>",
    ]
    assert [row["language"] for row in tables["language"].rows] == ["en", "ja"]
    gain, biased_row = tables["differences"].rows
    assert (gain["a"], gain["b"], gain["image_gain"]) == (seeing, blind, True)
    assert (biased_row["image_gain"], biased_row["p"]) == (
        False,
        ranking_results.differences[1].p,
    )
    assert (
        tables["lengths"].rows[0][f"{seeing}, texts"] == 25
    )  # 5 texts of 5 pictures
    assert (
        tables["position-bias"].rows[0]["n_requests"]
        == ranking_results.bias[0].n_requests
    )
    notes = " ".join(tables["scores"].notes)
    for fact in (
        "agrees at any level: 11 of 11 that can be compared (12 in the data).",
        "Texts per image: 5 (12 images). Annotators' rankings with ties: 0.",
        "1 images left out: 1 of 2 annotators ranked every text",
        "1 rankings left out: a rank is missing",
        f"{seeing}: tokens has no better end. The larger value ranks first",
    ):
        assert fact in notes
    assert all(
        scorer.signature in tables["scores"].notes
        for scorer in ranking.scorers
    )


def test_a_page_that_is_written_elsewhere_leaves_the_run_alone(
    tmp_path: Path,
) -> None:
    write_reviews(tmp_path / "r.jsonl", 2)
    run = _run(tmp_path, ("length",))
    write_ranking(run, tmp_path / "page.html")
    assert not (run / "tables").exists()
    write_ranking(run)
    assert {path.suffix for path in (run / "tables").iterdir()} == {
        ".csv",
        ".json",
        ".tex",
    }


def _hostile(folder: Path) -> Path:
    rows = write_reviews(folder / "r.jsonl", 3)
    for number, row in enumerate(rows):
        row["id"] = f"{EVIL}{number}"
        row["language"] = row["category"] = EVIL
        row["texts"] = [f"{EVIL} {n}" for n in range(5)]
        row["ranks"] = {f"{EVIL}{n}": [1, 2, 3, 4, 5] for n in range(3)}
    (folder / "r.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (folder / "img" / "001.png").write_bytes(b"x")
    return _run(folder, ("perplexity(judge='reviewer:m')", "length"))


@pytest.mark.drawn
def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    run = _hostile(tmp_path)
    raw = write_ranking(run).read_text("utf-8")
    page = Page(raw)
    banned = ("script", "iframe", "object", "base", "form", "link")
    assert not [tag for tag, _ in page.tags if tag in banned]
    assert not [
        a
        for _, a in page.tags
        for name in a
        if name.startswith("on") or name == "style"
    ]
    sources = [str(a["src"]) for _, a in page.tags if a.get("src")]
    assert [source[:26] for source in sources] == [
        "data:image/svg+xml;base64,"
    ]  # the curves
    assert all(
        str(a["href"]).startswith("#") for _, a in page.tags if "href" in a
    )
    metas = [str(a.get("content")) for tag, a in page.tags if tag == "meta"]
    policy = next(content for content in metas if "default-src" in content)
    style = raw[raw.index("<style>") + 7 : raw.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert (
        "script-src" not in policy
    )  # default-src 'none' holds: nothing may run
    words = "".join(page.words)
    assert "<script>alert(1)</script>" in words
    assert "{{7*7}}$x^2$" in words
    for name in ("images.csv", "ranks.csv", "thresholds.csv"):
        lines = (run / name).read_text("utf-8").splitlines()
        assert not [line for line in lines if line.startswith(("=", "+", "@"))]


@pytest.mark.skipif(EXECUTABLE is None, reason="no Chromium on this machine")
@pytest.mark.slow
def test_a_browser_runs_and_fetches_nothing(tmp_path: Path) -> None:
    address = write_ranking(_hostile(tmp_path)).as_uri()
    with browser(tmp_path / "profile") as page:
        page.open(address)
        assert (
            page.evaluate("document.querySelectorAll('article').length") == 3
        )
        assert page.evaluate("document.querySelectorAll('script').length") == 0
        assert (
            page.evaluate("document.querySelector('img').naturalWidth") > 0
        )  # it is drawn
    outside = [
        url
        for url in page.requests
        if not url.startswith("data:") and url != address
    ]
    assert outside == []
    assert page.problems == []


@pytest.mark.drawn
def test_seven_scorers_fit_the_page_and_their_curves_are_drawn(
    tmp_path: Path,
) -> None:
    write_reviews(tmp_path / "r.jsonl", 6)
    scorers = [
        f"perplexity(judge='reviewer:m', instruction='{n}')" for n in range(7)
    ]
    run = _run(tmp_path, tuple(scorers))
    page = Page(write_ranking(run).read_text("utf-8"))
    starts = [n for n, (tag, _) in enumerate(page.tags) if tag == "table"]
    rows = [
        sum(tag in ("th", "td") for tag, _ in page.tags[start:end]) / 7
        for start, end in pairwise(starts)
    ]
    # thresholds: six columns and a head; images, people, prompt order and seven scorers
    assert 1 + 3 + 7 in rows
    files = draw_figures(run, tmp_path / "figures")
    assert [path.name for path in files] == [
        "ranking-thresholds.png",
        "ranking-thresholds.svg",
    ]
    figure = threshold_figure(
        results.read_ranking(run).tables.thresholds, ["S1", "S7"]
    )
    bars, lines = figure.axes
    curves = {
        str(line.get_label()): np.asarray(line.get_ydata()).tolist()
        for line in lines.get_lines()
    }
    rows_at = results.read_ranking(run).tables.thresholds
    assert curves["people"] == [row.human.mean for row in rows_at if row.n]
    assert [
        bar.get_height() for bar in bars.patches if isinstance(bar, Rectangle)
    ] == [row.n for row in rows_at]


def test_without_matplotlib_the_page_names_the_missing_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reviews(tmp_path / "r.jsonl", 2)
    run = _run(tmp_path)
    whole = Page(write_ranking(run).read_text("utf-8"))
    assert [a["class"] for tag, a in whole.tags if tag == "img"] == ["curves"]
    without(monkeypatch, "matplotlib", *PLOTS)
    page = Page(write_ranking(run).read_text("utf-8"))
    assert not [a for tag, a in page.tags if tag == "img"]
    assert "pip install 'beholder[plots]'" in " ".join(page.words)
    assert not [word for word in whole.words if "beholder[plots]" in word]
    assert len(page.tags) == len(
        whole.tags
    )  # a line stands where the figure stood
    with pytest.raises(
        MissingExtraError, match=r"pip install 'beholder\[plots\]'"
    ):
        draw_figures(run, tmp_path / "figures")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            lambda content: content["tables"]["scorers"][0].update(
                mean="high"
            ),
            "$.tables.scorers[0].mean",
        ),
        (
            lambda content: content["images"][1].pop("texts"),
            "`texts` - at `$.images[1]`",
        ),
        (lambda content: content.update(images=[3]), "ranking.json"),
    ],
)
def test_a_damaged_file_is_named_with_the_field(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], place: str
) -> None:
    write_reviews(tmp_path / "r.jsonl", 2)
    run = _run(tmp_path, ("length",))
    content = json.loads((run / "ranking.json").read_text("utf-8"))
    change(content)
    (run / "ranking.json").write_text(json.dumps(content))
    with pytest.raises(RunError) as raised:
        results.read_ranking(run)
    assert place in str(raised.value)
    assert str(run / "ranking.json") in str(raised.value)
    assert "run the same command again" in str(raised.value)


def test_an_unfinished_run_names_the_command_that_finishes_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(
        RunError, match="run the same command again to finish it"
    ):
        write_ranking(tmp_path / "run")


@pytest.mark.parametrize(
    ("language", "first"), [("en", "Truth"), ("ja", "正しさ")]
)
def test_instructions_name_the_criteria_in_their_order(
    language: str, first: str
) -> None:
    page = Page(annotation_instructions(4, language))
    assert sum(tag == "script" for tag, _ in page.tags) == 0
    text = "".join(page.words)
    assert "4" in text
    assert "{n}" not in text
    ordered = [tag for tag, _ in page.tags].index("ol")
    bold = [
        n for n, (tag, _) in enumerate(page.tags) if tag == "b" and n > ordered
    ]
    assert len(bold) == 5
    assert first in text
    with pytest.raises(ConfigError, match="there are instructions in en, ja"):
        annotation_instructions(5, "xx")


def test_labels_of_scorers_are_numbered_only_if_several_share_a_name() -> None:
    names = (
        "vcs",
        "perplexity(judge='hf:a')",
        "accord(caution=0.1)",
        "perplexity(judge='hf:b')",
    )
    signed = tuple(results.ScorerSignature(name, "") for name in names)
    ranking = results.Ranking(1, signed, None, ())  # type: ignore[arg-type]
    assert list(ranking.labels.values()) == [
        "vcs",
        "perplexity 1",
        "accord",
        "perplexity 2",
    ]
