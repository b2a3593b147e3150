"""The page of a run that was held against people; and two runs as one page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import beholder
from beholder.errors import RunError
from beholder.kinds.agreement import results
from beholder.kinds.agreement.page_tables import agreement_of
from beholder.kinds.agreement.people import people
from beholder.kinds.agreement.results import AgreementResult
from beholder.kinds.scores.page import write_report
from beholder.records import Item, ItemScore
from beholder.report.comparison import write_comparison
from beholder.run.compare import compare
from beholder.run.store import Store
from toy.payloads import PAYLOADS
from toy.runs import lemon_run, write_run

pytestmark = pytest.mark.usefixtures("few_resamples")

N = 20


def _stored_agreement(
    ids: list[str], gold: list[float], scores: list[float | None]
) -> dict[str, Any]:
    row = {"metric": "posh", "value": "f1", "agreement": 0.5, "low": 0.1, "high": 0.8, "n": len(ids),
           "n_missing": 1, "n_sources": 3, "reason": None, "categories": {}}  # fmt: skip
    return {
        "format": 1, "set": "flickr", "n_items": len(ids), "n_resamples": 10,
        "signatures": {"posh": "posh|v:1"}, "extra": {},
        "measures": [{
            "name": "spearman, overall", "paired": False,
            "metrics": [row, {**row, "metric": "length", "value": "words", "agreement": 0.2}],
            "differences": [{"a": "posh.f1", "b": "length.words", "difference": 0.3, "low": 0.1,
                             "high": 0.5, "p": 0.0104}],
            "data": {"first": ids, "second": [""] * len(ids), "gold": gold, "scores": [scores, gold]},
        }],
    }  # fmt: skip


def read_agreement(folder: Path) -> AgreementResult:
    """The agreement that a run has."""
    agreement = results.read_result(folder)
    assert agreement is not None
    return agreement


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Twenty items whose scores rise with people's labels, but for the first and the last."""
    items = [
        Item(f"i{n}", f"text {n}", ("r",), (f"{n}.png",)) for n in range(N)
    ]
    scores: list[float | None] = [n / N for n in range(N)]
    scores[0], scores[-1], scores[7] = 0.99, 0.001, None
    gold = [float(n) for n in range(N)]
    outcomes = [None if s is None else ItemScore({"f1": s}) for s in scores]
    folder = write_run(tmp_path / "run", items, {"posh": outcomes})
    stored_agreement = _stored_agreement(
        [item.id for item in items], gold, scores
    )
    (folder / results.FILE_NAME).write_text(
        json.dumps(stored_agreement), encoding="utf-8"
    )
    return folder


def test_items_far_from_people_come_first_with_their_distance(
    run: Path,
) -> None:
    with Store.read(run) as store:
        page_data = people(store, read_agreement(run))
    (section,) = page_data.sections
    ((label, high, low),) = section.far
    assert label == "posh.f1"
    # of 19 ranks the first item is 1st by people and 19th by score: (19 - 1) / 18 of the data
    assert (high[0].id, high[0].share, high[0].text) == ("i0", 1.0, "text 0")
    assert (low[0].id, low[0].share, low[0].label) == ("i19", -1.0, 19.0)
    assert all(example.share > 0 for example in high)
    assert all(example.share < 0 for example in low)
    assert page_data.positions[:1] == [0]


def test_scatters_have_a_point_per_datum_and_the_curve_of_mean_labels(
    run: Path,
) -> None:
    with Store.read(run) as store:
        (section,) = people(store, read_agreement(run)).sections
    plot, length = section.plots
    assert (plot.n, plot.n_shown, len(plot.points), len(plot.curve)) == (
        19,
        19,
        19,
        8,
    )
    assert (plot.baseline, length.baseline) == (False, True)
    # the length plot holds labels against themselves: its curve is a straight line upwards
    heights = [y for _, y in length.curve]
    assert heights == sorted(heights, reverse=True)
    rising = {
        round((a[1] - b[1]) / (b[0] - a[0]), 1)
        for a, b in zip(length.curve, length.curve[1:], strict=False)
    }
    assert len(rising) == 1
    assert plot.x_ticks[0][1] == "0.00"
    assert plot.y_ticks[-1][1] == "20"


def test_many_data_are_drawn_as_an_even_sample(run: Path) -> None:
    stored_agreement = json.loads((run / results.FILE_NAME).read_text("utf-8"))
    data = stored_agreement["measures"][0]["data"]
    many = 1001
    data |= {"first": [f"i{n % N}" for n in range(many)], "second": [""] * many,
             "gold": [float(n) for n in range(many)], "scores": [[float(n) for n in range(many)]] * 2}  # fmt: skip
    (run / results.FILE_NAME).write_text(
        json.dumps(stored_agreement), encoding="utf-8"
    )
    with Store.read(run) as store:
        (section,) = people(store, read_agreement(run)).sections
    assert (section.plots[0].n, section.plots[0].n_shown) == (many, 334)


def test_equal_scores_are_one_point_of_the_curve_and_whole_numbers_are_spread(
    run: Path,
) -> None:
    stored_agreement = json.loads((run / results.FILE_NAME).read_text("utf-8"))
    data = stored_agreement["measures"][0]["data"]
    data["scores"][0] = [0.25] * 12 + [0.75] * 8
    data["gold"] = [1.0, 2.0] * 6 + [4.0] * 8
    (run / results.FILE_NAME).write_text(
        json.dumps(stored_agreement), encoding="utf-8"
    )
    with Store.read(run) as store:
        plot = people(store, read_agreement(run)).sections[0].plots[0]
    (low, above), (high, below) = plot.curve  # the means are 1.5 and 4
    y_of = {text: y for y, text in plot.y_ticks}
    assert above == pytest.approx((y_of["1"] + y_of["2"]) / 2, abs=0.1)
    assert (low < high, below) == (True, y_of["4"])
    assert len({y for _, y in plot.points}) > 3
    step = y_of["1"] - y_of["2"]
    assert all(
        min(abs(y - at) for at in y_of.values()) <= 0.21 * step
        for _, y in plot.points
    )
    assert max(y for _, y in plot.points) < plot.bottom


def test_the_page_begins_with_people_and_links_the_items(run: Path) -> None:
    page = write_report(run).read_text("utf-8")
    assert page.index('id="people"') < page.index('id="metric-0"')
    assert (
        page.count("<circle") == 19 + 20
    )  # one has no score; the length has all
    assert "0.500 <span" in page
    assert "0.100 to 0.800" in page
    assert "+0.300, p 0.010" in page
    assert "baseline: number of words" in page
    assert 'href="#item-0"' in page
    assert 'href="#item-19"' in page


def test_clusters_are_a_column_only_where_they_differ(run: Path) -> None:
    stored = json.loads((run / results.FILE_NAME).read_text("utf-8"))
    rows = stored["measures"][0]["metrics"]
    for (clusters, is_column), sentence in zip(
        (((1, 2), True), ((1, 1), False), ((None, None), False)),
        ("are not shown to be equal", "the best, posh.f1, by", None),
        strict=True,
    ):
        for row, cluster in zip(rows, clusters, strict=True):
            row["cluster"] = cluster
        (run / results.FILE_NAME).write_text(json.dumps(stored))
        result = read_agreement(run)
        table = agreement_of(result, result.measures[0])
        names = [column.key for column in table.shown_columns()]
        assert ("cluster" in names) is is_column
        notes = " ".join(table.notes)
        assert ("cluster" in notes.lower() or "the best" in notes) is bool(
            sentence
        )
        assert sentence is None or sentence in notes


def test_a_run_without_human_labels_has_no_section_on_people(
    tmp_path: Path,
) -> None:
    page = write_report(lemon_run(tmp_path / "run")).read_text("utf-8")
    assert 'id="people"' not in page
    assert results.read_result(tmp_path / "run") is None


def test_a_damaged_file_is_named(run: Path) -> None:
    (run / results.FILE_NAME).write_text("{")
    with pytest.raises(RunError, match=r"agreement\.json"):
        write_report(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_items": "many"}, r"Expected `int`, got `str` - at `\$\.n_items`"),
        (
            {"measures": [{"name": "a"}]},
            r"missing required field `metrics`.*\$\.measures\[0\]",
        ),
    ],
)
def test_a_wrong_field_is_named_with_its_path(
    run: Path, change: dict[str, Any], message: str
) -> None:
    path = run / results.FILE_NAME
    path.write_text(
        json.dumps(json.loads(path.read_text("utf-8")) | change),
        encoding="utf-8",
    )
    with pytest.raises(
        RunError, match=rf"agreement\.json is damaged: .*{message}"
    ):
        results.read_result(run)


def test_scores_that_do_not_fit_the_labels_are_named(run: Path) -> None:
    path = run / results.FILE_NAME
    stored_agreement = json.loads(path.read_text("utf-8"))
    stored_agreement["measures"][0]["data"]["scores"][1].pop()
    path.write_text(json.dumps(stored_agreement), encoding="utf-8")
    with pytest.raises(
        RunError, match=r"data\.scores\[1\] has 19 entries, expected 20"
    ):
        results.read_result(run)


def test_a_file_is_written_with_the_bytes_of_older_versions(run: Path) -> None:
    path = run / results.FILE_NAME
    stored_agreement = json.loads(path.read_text("utf-8"))
    measure = stored_agreement["measures"][0]
    for row in measure[
        "metrics"
    ]:  # the order of the fields is that of the file
        categories, n_sources, reason = (row.pop(name) for name in ("categories", "n_sources", "reason"))  # fmt: skip
        row |= {"n_undefined": 2, "n_sources": n_sources, "reason": reason}
        row |= {
            "categories": categories | {"é": {"agreement": 0.25, "n": 3}},
            "cluster": None,
        }
    order = ("name", "metrics", "differences", "paired", "data")
    stored_agreement["measures"] = [{name: measure[name] for name in order}]
    stored_agreement["extra"] = {"posh": {"model_spearman": None}}
    names = (
        "format",
        "set",
        "n_items",
        "n_resamples",
        "signatures",
        "measures",
        "extra",
    )
    text = (
        json.dumps(
            {name: stored_agreement[name] for name in names},
            ensure_ascii=False,
        )
        + "\n"
    )
    path.write_text(text, encoding="utf-8")
    results.write_result(run, read_agreement(run))
    assert path.read_text("utf-8") == text


def test_agree_keeps_what_the_page_draws(tmp_path: Path) -> None:
    rows = [
        {
            "id": str(n),
            "candidate": "dog " * (n + 1),
            "references": ["dog dog"],
            "judgments": {"good": n},
        }
        for n in range(8)
    ]
    data = tmp_path / "d.jsonl"
    data.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    beholder.agree(data, ["bleu"], out=tmp_path / "run", resamples=20)
    scores_read = read_agreement(tmp_path / "run").measures[0].data
    assert scores_read.gold == tuple(float(n) for n in range(8))
    assert scores_read.scores[1] == tuple(
        float(n + 1) for n in range(8)
    )  # the length in words
    assert scores_read.first == tuple(str(n) for n in range(8))
    assert 'id="people"' in write_report(tmp_path / "run").read_text("utf-8")


def test_hostile_names_of_sets_and_texts_stay_texts(run: Path) -> None:
    stored_agreement = json.loads((run / results.FILE_NAME).read_text("utf-8"))
    evil = "".join(PAYLOADS)
    stored_agreement |= {"set": evil, "signatures": {"posh": evil}}
    stored_agreement["measures"][0]["name"] = evil
    stored_agreement["measures"][0]["metrics"][0] |= {
        "metric": evil,
        "reason": evil,
    }
    stored_agreement["measures"][0]["data"]["first"][0] = evil
    (run / results.FILE_NAME).write_text(
        json.dumps(stored_agreement), encoding="utf-8"
    )
    page = write_report(run).read_text("utf-8")
    assert page.count("<script") == 2  # the data and our own
    assert "<img" not in page


def test_the_score_page_shows_pictures_where_they_are(tmp_path: Path) -> None:
    Image.new("RGB", (640, 480), "red").save(tmp_path / "0.png")
    (tmp_path / "secret.txt").write_text("no picture", encoding="utf-8")
    items = [Item("a", "x", ("y",), ("0.png", "1.png")), Item("b", "x", ("y",), ("secret.txt",)),
             Item("c", "x", ("y",), ("none.png",)), Item("d", "x", ("y",))]  # fmt: skip
    run = write_run(
        tmp_path / "run", items, {"posh": [ItemScore({"f1": 0.5})] * 4}
    )
    page = write_report(run, media_root=tmp_path).read_text("utf-8")
    data = json.loads(page.split('id="data">', 1)[1].split("</script>", 1)[0])
    pictures_by_item = [item["pictures"] for item in data["items"]]
    assert [len(pictures) for pictures in pictures_by_item] == [1, 0, 0, 0]
    assert pictures_by_item[0][0].startswith("data:image/jpeg;base64,")
    assert data["items"][0]["n_images"] == 2
    assert str(tmp_path) not in page
    assert "data:image/jpeg" not in write_report(run).read_text(
        "utf-8"
    )  # nobody knows where


def test_the_page_says_how_to_see_what_it_leaves_out(tmp_path: Path) -> None:
    page = write_report(lemon_run(tmp_path / "run", 210)).read_text("utf-8")
    assert "200 of 210 items are in this page" in page
    assert "<code>beholder view RUN</code> shows every item" in page


def test_two_runs_as_a_page_name_what_moved_most(tmp_path: Path) -> None:
    Image.new("RGB", (64, 48), "red").save(tmp_path / "p.png")
    items = [
        Item(f"i{n}", f"<b>text {n}", ("r",), ("p.png",)) for n in range(15)
    ]
    first = [ItemScore({"f1": 0.5, "recall": 0.1}) for _ in items]
    second = [
        ItemScore({"f1": 0.5 + (n - 7) / 128, "recall": 0.1})
        for n in range(15)
    ]
    a = write_run(tmp_path / "a", items, {"posh": first})
    b = write_run(tmp_path / "b", items[::-1], {"posh": second[::-1]})
    with Store.read(a) as store_a, Store.read(b) as store_b:
        write_comparison(
            store_a,
            store_b,
            compare(store_a, store_b),
            tmp_path / "c.html",
            tmp_path,
        )
    page = (tmp_path / "c.html").read_text("utf-8")
    moved = re.findall(r"<h3><bdi>(i\d+)</bdi> <b>(\S+)</b>", page)
    assert moved[:4] == [
        ("i0", "−0.055"),
        ("i14", "+0.055"),
        ("i1", "−0.047"),
        ("i13", "+0.047"),
    ]
    assert len(moved) == 12
    assert page.count("data:image/jpeg") == 12
    assert "<b>text" not in page
    assert "<script" not in page
    assert "p (Holm)" in page
