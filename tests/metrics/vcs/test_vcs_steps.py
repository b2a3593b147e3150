"""The steps of a score as they are drawn: numbers worked out by hand, and those of the score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import beholder
from beholder import VCS
from beholder.errors import ConfigError
from beholder.metrics.vcs.findings import direction_steps, regularizer_step
from beholder.metrics.vcs.plots import PER_PAGE
from beholder.records import ItemScore
from beholder.report.steps import drawn_metric, write_steps
from beholder.run.store import Store
from toy.cases import each_case

WHOLE = np.ones(4)


def strayed() -> ItemScore:
    """Four chunks, and a text that tells of the first, the last and the third."""
    return VCS(lct=0).score_embeddings(
        np.eye(4), np.eye(4)[[0, 3, 2]], WHOLE, WHOLE
    )


def test_windows_distances_and_penalties_are_those_worked_out_by_hand() -> (
    None
):
    precision, recall = direction_steps(strayed().detail, VCS(lct=0).setting)
    # Ratio 4/3: windows [0, 2), [1, 3), [2, 4); the second match, 3, is one off.
    assert precision.windows.ranges.T.tolist() == [
        [0, 1, 2],
        [2, 3, 4],
    ]
    assert precision.matches.tolist() == [0, 3, 2]
    assert precision.distances.tolist() == [0, 1, 0]
    assert precision.penalties.tolist() == [0, 1, 0]
    assert precision.windows.max_penalty == 2 + 1 + 2
    assert precision.nas_d == pytest.approx(1 - 1 / 5)
    assert (recall.source, recall.target) == ("reference", "candidate")
    tolerant, _ = direction_steps(strayed().detail, VCS(lct=1).setting)
    assert tolerant.distances.tolist() == [0, 1, 0]
    assert tolerant.penalties.tolist() == [0, 0, 0]
    assert tolerant.line.tolist() == [0, 2, 2]  # moved into its window


def test_steps_of_the_line_count_what_is_worked_out_by_hand() -> None:
    precision, _ = direction_steps(strayed().detail, VCS(lct=0).setting)
    # From 0 to 3, where 2 is the longest step between the windows: sqrt(5 / 10); then backward.
    assert precision.credits.tolist() == pytest.approx([0.5**0.5, 0])
    assert precision.nas_l == pytest.approx(0.5**0.5 / 2)


def test_a_band_of_similarity_makes_candidates() -> None:
    similarity = np.array([[0.9, 0.88, 0.2], [0.1, 0.5, 0.49]])
    detail: dict[str, Any] = {
        "similarity": similarity,
        "matches": {
            "precision": np.array([0, 0, 1]),
            "recall": np.array([0, 1]),
        },
    }
    _, recall = direction_steps(detail, VCS().setting)
    # Best 0.9: the band is (0.9 - 0.6) / (0.9 * 4) = 0.083 wide. Best 0.5 is below the cutoff.
    assert recall.candidates.tolist() == [
        [True, True, False],
        [False, True, False],
    ]


@each_case("rules", ["fixed", "paper", "package", "head"])
@each_case("lct", [0, 1])
@each_case("sizes", [(1, 1), (1, 4), (2, 2), (7, 12), (30, 9)])
def test_the_steps_end_in_the_values_of_the_score(
    rules: Any, lct: float, sizes: tuple[int, int]
) -> None:
    rng = np.random.default_rng(sizes)
    metric = VCS(rules=rules, lct=lct)
    reference, candidate = (
        rng.normal(size=(sizes[0], 6)),
        rng.normal(size=(sizes[1], 6)),
    )
    score = metric.score_embeddings(
        reference, candidate, reference[0], candidate[0]
    )
    for direction in direction_steps(score.detail, metric.setting):
        assert direction.nas_d == score.values[f"nas_d_{direction.name}"]
        assert direction.nas_l == score.values[f"nas_l_{direction.name}"]
        assert direction.candidates[
            np.arange(len(direction.matches)), direction.matches
        ].all()
    step = regularizer_step(score.detail, score.values, metric.setting)
    assert step.value == score.values["regularizer"]
    assert step.curve[list(step.lengths).index(min(sizes))] == step.value


@pytest.mark.slow  # draws dozens of pages
@pytest.mark.drawn
def test_every_step_is_drawn_and_long_texts_are_cut_into_pages() -> None:
    pages = VCS().steps(strayed())
    assert list(pages) == [
        "alignment", "windows-1", "candidates-1", "distance-1", "line-1", "regularizer",
    ]  # fmt: skip
    off, counted = pages["distance-1"].axes[0].containers
    assert [bar.get_height() for bar in off] == [0, 1, 0]
    assert [bar.get_height() for bar in counted] == [0, 0, 0]
    n = PER_PAGE + 2
    long = VCS().score_embeddings(
        np.eye(n), np.eye(n)[:5], np.ones(2), np.ones(2)
    )
    figures = VCS().steps(long)
    assert len(figures) == 2 + 4 * 2
    # The candidate has five chunks: only the reference goes on to a second page.
    assert len(figures["windows-1"].axes) == 2
    (axes,) = figures["windows-2"].axes
    assert len(axes.patches) == 2


@pytest.mark.drawn
@pytest.mark.parametrize("sizes", [(1, 1), (1, 3), (9, 1)])
def test_cells_of_short_texts_are_small(sizes: tuple[int, int]) -> None:
    """No wider or higher than an inch and a half, whatever is left of the page."""
    reference, candidate = np.eye(9)[: sizes[0]], np.eye(9)[: sizes[1]]
    whole = np.ones(9)
    pages = VCS().steps(
        VCS().score_embeddings(reference, candidate, whole, whole)
    )
    for name in ("alignment", "windows-1", "candidates-1", "line-1"):
        figure = pages[name]
        figure.draw_without_rendering()
        panels = [axes for axes in figure.axes if axes.get_xlabel()]
        for axes, n in zip(panels, sizes[::-1], strict=False):
            there, here = (
                axes.transData.transform([(1, 1), (0, 0)]) / figure.dpi
            )
            width, height = np.abs(there - here)
            assert 0.2 < width < 1.5
            assert 0.2 < height < 1.5
            tick_labels = [
                label.get_text() for label in axes.get_xticklabels()
            ]
            assert [text for text in tick_labels if text] == [
                str(k + 1) for k in range(n)
            ]


@pytest.mark.drawn
def test_published_rules_draw_their_ideal_lines() -> None:
    metric = VCS(rules="package")
    score = metric.score_embeddings(
        np.eye(4), np.eye(4)[[0, 3, 2]], WHOLE, WHOLE
    )
    labels = [
        line.get_label()
        for line in metric.steps(score)["line-1"].axes[0].get_lines()
    ]
    assert labels == ["shortest ideal", "longest ideal", "line, precision"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose strict metric is called by what it was given."""
    text = "A red dog runs. <script>alert(1)</script> is written on a wall. Birds fly."
    other_text = "Birds fly. A red dog runs. A wall stands."
    texts_by_id = {"one": text, "two": "."}
    rows = [
        {"id": id_, "candidate": candidate, "references": [other_text]}
        for id_, candidate in texts_by_id.items()
    ]
    (tmp_path / "d.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    beholder.score(
        tmp_path / "d.jsonl", ["length", "vcs(lct=0)"], out=tmp_path / "run"
    )
    return tmp_path / "run"


@pytest.mark.slow
@pytest.mark.drawn
def test_a_run_gives_one_page_or_a_pdf(run: Path, tmp_path: Path) -> None:
    page = write_steps(run, "one")
    assert page == run / "steps-one.html"
    html = page.read_text("utf-8")
    assert html.count('<img class="step"') == 6
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "lct:0" in html
    with Store.read(run) as store:
        name, metric = drawn_metric(store)
    assert (name, metric) == (
        "vcs(lct=0)",
        VCS(lct=0),
    )  # as it scored, not as it is by default
    first, second = (
        write_steps(run, "one", tmp_path / f"{n}.pdf").read_bytes()
        for n in "ab"
    )
    assert first == second
    assert first.startswith(b"%PDF")
    assert first.count(b"/Type /Page ") == 6


def test_what_cannot_be_drawn_says_why(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no item 'three'"):
        write_steps(run, "three")
    with pytest.raises(ConfigError, match="the candidate has no word"):
        write_steps(run, "two")
    with pytest.raises(
        ConfigError, match=r"has no length .* it has: vcs\(lct=0\)"
    ):
        write_steps(run, "one", metric="length")
    with pytest.raises(ConfigError, match=r"written as .html or .pdf"):
        write_steps(run, "one", tmp_path / "a.png")
    with pytest.raises(ConfigError, match="no alignment to draw"):
        VCS().steps(ItemScore({"f1": 0.5}))
