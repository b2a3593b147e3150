"""The page of a run, as text."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from beholder.errors import RunError
from beholder.kinds.scores.page import render, write_report
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.report.terminal import show
from beholder.report.views import view_of
from beholder.run.store import Store
from toy.runs import Outcome, lemon_run, lemons, sentence_score, write_run


class Outline(HTMLParser):
    """Tags with their attributes, and the text of each element kind."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.text += data + " "


def element(page: str, start: str, end: str) -> str:
    return page.split(start, 1)[1].split(end, 1)[0]


def data_of(page: str) -> Any:
    return json.loads(
        element(
            page, '<script type="application/json" id="data">', "</script>"
        )
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    run = lemon_run(tmp_path_factory.mktemp("lemons") / "run")
    return write_report(run).read_text(encoding="utf-8")


def test_report_is_written_into_the_run_folder_by_default(
    tmp_path: Path,
) -> None:
    run = lemon_run(tmp_path / "run")
    assert write_report(run) == run / "report.html"
    elsewhere = tmp_path / "new folder" / "page.html"
    assert write_report(run, elsewhere) == elsewhere
    assert elsewhere.read_bytes() == (run / "report.html").read_bytes()


def test_equal_runs_in_different_folders_give_equal_pages(
    tmp_path: Path,
) -> None:
    first = write_report(lemon_run(tmp_path / "one")).read_bytes()
    assert write_report(lemon_run(tmp_path / "two")).read_bytes() == first
    assert write_report(tmp_path / "one").read_bytes() == first
    assert str(tmp_path).encode() not in first


def test_page_refers_to_nothing_outside_itself(page: str) -> None:
    for _, attributes in Outline(page).tags:
        for name in (
            "src",
            "href",
            "xlink:href",
            "srcset",
            "action",
            "data",
            "poster",
        ):
            assert (attributes.get(name) or "#").startswith("#")
    assert "url(" not in page
    assert "@import" not in page


def test_policy_allows_exactly_the_script_and_the_style_of_the_page(
    page: str,
) -> None:
    def hash_of(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    policy = element(
        page, 'http-equiv="Content-Security-Policy" content="', '"'
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == hash_of(element(page, "<style>", "</style>"))
    assert rules["script-src"] == hash_of(
        element(page, "<script>", "</script>")
    )
    assert rules["img-src"] == "data:"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    for tag, attributes in Outline(page).tags:
        inline = [
            name
            for name in attributes
            if name.startswith("on") or name == "style"
        ]
        assert not inline, (tag, inline)


def test_summary_shows_means_intervals_counts_and_signature(
    tmp_path: Path,
) -> None:
    items = lemons(4)
    outcomes: list[Outcome] = [
        ItemScore({"f1": 0.25}),
        ItemScore({"f1": 0.5}),
        ItemScore({"f1": 0.75}),
        ItemFailure("ItemError", "the candidate is empty"),
    ]
    run = write_run(tmp_path / "run", items, {"posh": outcomes})
    text = " ".join(
        Outline(write_report(run).read_text(encoding="utf-8")).text.split()
    )
    assert "0.500 mean f1, higher is better" in text  # (0.25 + 0.5 + 0.75) / 3
    assert "3 scored, 1 failed" in text
    assert "1 the candidate is empty" in text
    assert "posh|v:1|bs:1000|seed:12345" in text


def test_groups_have_their_own_means_best_first(tmp_path: Path) -> None:
    items = lemons(4)  # systems a, b, a, b
    outcomes = [ItemScore({"f1": value}) for value in (0.1, 0.6, 0.3, 0.8)]
    run = write_run(tmp_path / "run", items, {"posh": outcomes})
    page = write_report(run).read_text(encoding="utf-8")
    table = element(
        element(page, '<table class="group">', "</table>"),
        "<tbody>",
        "</tbody>",
    )
    cells = re.findall(r">([^<>\s][^<>]*)</(?:bdi|td)>", table)
    assert cells[0] == "b"
    assert "0.700" in cells[:4]  # (0.6 + 0.8) / 2
    assert cells[cells.index("a") :][2] == "0.200"  # (0.1 + 0.3) / 2


def test_worst_items_come_first_and_no_item_is_both_worst_and_best(
    page: str,
) -> None:
    links = re.findall(r'href="#item-(\d+)"', page)
    assert links == [
        "0",
        "1",
        "2",
        "5",
        "4",
        "3",
    ]  # scores rise with the position


def test_lower_is_better_turns_worst_and_best_around(tmp_path: Path) -> None:
    run = lemon_run(tmp_path / "run")
    log = json.loads((run / "run.json").read_text(encoding="utf-8"))
    log["metrics"][0]["values"][0]["higher_is_better"] = False
    (run / "run.json").write_text(json.dumps(log), encoding="utf-8")
    page = write_report(run).read_text(encoding="utf-8")
    assert re.findall(r'href="#item-(\d+)"', page)[:3] == ["5", "4", "3"]
    assert "lower is better" in page


def test_item_data_carries_texts_units_and_the_matrix(page: str) -> None:
    item = data_of(page)["items"][2]
    assert item["id"] == "table-2"
    outcome = item["outcomes"][0]
    assert [unit["verdict"] for unit in outcome["units"][:3]] == [
        "out of order", "match", "unmatched",
    ]  # fmt: skip
    assert sum(length for length, *_ in outcome["candidate"]) == len(
        item["candidate"]
    )
    view = outcome["view"]
    assert (view["rows"], view["columns"], view["matches"]["precision"]) == (
        3,
        3,
        [2, 1, 0],
    )
    cells = list(base64.b64decode(str(view["cells"])))
    # similarities 0.1 0.2 0.9 / 0.3 0.6 0.1 / 0.3 0.2 0.0 on a scale from 0 to 0.9 to 255
    assert cells == [28, 57, 255, 85, 170, 28, 85, 57, 0]
    assert view["units"] == {"candidate": [0, 1, 2], "reference": [3, 4, 5]}


def test_a_unit_that_is_not_sure_has_its_words_and_is_not_counted(
    tmp_path: Path,
) -> None:
    units = tuple(
        Unit(
            "attribute",
            word,
            "candidate",
            ((at, at + 3),),
            0.0,
            "unstated",
            None,
            detail,
        )
        for word, at, detail in (("red", 2, {}), ("old", 6, {"unsure": True}))
    )
    item = Item("a", "A red old dog.", ("A dog.",))
    run = write_run(
        tmp_path / "run", [item], {"posh": [ItemScore({"f1": 0.5}, units)]}
    )
    (outcome,) = data_of(write_report(run).read_text(encoding="utf-8"))[
        "items"
    ][0]["outcomes"]
    assert [unit.get("text") for unit in outcome["units"]] == [None, "old"]
    assert [piece for piece in outcome["candidate"] if len(piece) > 1] == [
        [3, 0]
    ]
    (verdict,) = outcome["verdicts"]
    assert verdict["name"] == "unstated"
    assert (verdict["count"], verdict["unsure"]) == (1, 1)
    # The terminal counts alike.
    written = io.StringIO()
    show(ItemScore({"f1": 0.5}, units), Console(file=written))
    assert "unstated 1 + 1 not sure" in written.getvalue()


def test_title_is_the_name_of_the_file_with_its_path_below(
    tmp_path: Path,
) -> None:
    run = write_run(
        tmp_path / "run", [], {"vcs": []}, source="some/folder/captions.jsonl"
    )
    page = write_report(run).read_text(encoding="utf-8")
    assert "<title>captions.jsonl · beholder</title>" in page
    assert (
        element(page, '<section id="about">', "</section>").count(
            "some/folder/captions.jsonl"
        )
        == 1
    )


def test_units_of_any_kind_stand_for_the_chunks_of_their_alignment() -> None:
    item = Item("1", "One two.", ("Three four.", "Five six."))
    score = sentence_score(item, 0.5, reference_index=1)
    words = tuple(replace(unit, kind="word") for unit in score.units)
    view = view_of(replace(score, units=words))
    assert view is not None
    assert view["units"] == {"candidate": [0, 1, 2], "reference": [3, 4, 5]}


def test_lengths_of_pieces_count_as_a_browser_counts(tmp_path: Path) -> None:
    text = "😀 cat"  # one character, two UTF-16 units
    unit = Unit("entity", "cat", "candidate", ((2, 5),), 1.0, "match")
    item = Item("1", text, ("cat",))
    run = write_run(
        tmp_path / "run", [item], {"posh": [ItemScore({"f1": 1.0}, (unit,))]}
    )
    page = write_report(run).read_text(encoding="utf-8")
    assert data_of(page)["items"][0]["outcomes"][0]["candidate"] == [
        [3],
        [3, 0],
    ]


def test_large_run_embeds_a_choice_and_says_so(tmp_path: Path) -> None:
    items = lemons(300)
    scores = [ItemScore({"f1": position / 300}) for position in range(299)]
    failed = ItemFailure("ItemError", "no luck")
    run = write_run(tmp_path / "run", items, {"posh": [*scores, failed]})
    page = write_report(run).read_text(encoding="utf-8")
    positions = [item["position"] for item in data_of(page)["items"]]
    assert len(positions) == 200
    assert {0, 1, 2, 297, 298, 299} <= set(positions)  # worst, best, failed
    assert positions == sorted(positions)
    assert "200 of 300 items are in this page" in page


def test_page_stays_small_however_long_the_texts_are(tmp_path: Path) -> None:
    items = [
        Item(str(i), "word " * 5000, ("other " * 5000,)) for i in range(20)
    ]
    scores = [ItemScore({"f1": i / 20}) for i in range(20)]
    run = write_run(tmp_path / "run", items, {"posh": scores})
    with Store.read(run) as store:
        page = render(store, max_bytes=200_000)
        smallest = render(store, max_bytes=1)
    assert len(page) < 350_000
    assert len(data_of(page)["items"]) == 3  # about 55,000 characters each
    assert len(data_of(smallest)["items"]) == 1


def test_hundred_items_of_30_by_30_chunks_take_less_than_3_mb(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    sentences = [
        f"Here stands the sentence of a text with number {i:02d}."
        for i in range(30)
    ]
    text = " ".join(sentences)
    spans = [(i * (len(sentences[0]) + 1), i * (len(sentences[0]) + 1) + len(sentences[0]))
             for i in range(30)]  # fmt: skip
    windows = np.stack([np.arange(30), np.arange(1, 31)], axis=1)
    items, scores = [], []
    for number in range(100):
        items.append(Item(str(number), text, (text,)))
        units = tuple(
            Unit("chunk", sentences[i], side, (spans[i],), float(rng.random()), "match",
                 0 if side == "reference" else None,
                 {"match": int(rng.integers(30)), "window": [i, i + 1], "distance": 3})
            for side in ("candidate", "reference") for i in range(30)
        )  # fmt: skip
        matches = rng.integers(0, 30, size=30)
        detail = {
            "view": "alignment", "reference_index": 0, "similarity": rng.random((30, 30)),
            "windows": {"precision": windows, "recall": windows},
            "matches": {"precision": matches, "recall": matches},
        }  # fmt: skip
        scores.append(
            ItemScore({"vcs": float(rng.random())}, units, "", detail)
        )
    run = write_run(tmp_path / "run", items, {"vcs": scores})
    assert write_report(run).stat().st_size < 3_000_000


def test_a_huge_matrix_is_drawn_in_blocks_by_their_highest_cell(
    tmp_path: Path,
) -> None:
    similarity = np.zeros((240, 2))
    similarity[7, 1] = 1.0  # in block 3 of two rows each
    windows = np.zeros((240, 2), dtype=int)
    view = view_of(
        ItemScore(
            {"vcs": 0.0},
            detail={
                "view": "alignment", "reference_index": 0, "similarity": similarity,
                "windows": {"precision": windows[:2], "recall": windows},
                "matches": {"precision": windows[:2, 0], "recall": windows[:, 0]},
            },
        )
    )  # fmt: skip
    assert view is not None
    assert (view["rows"], view["shape"]) == (240, [120, 2])
    cells = np.frombuffer(
        base64.b64decode(str(view["cells"])), dtype=np.uint8
    ).reshape(120, 2)
    assert np.argwhere(cells).tolist() == [[3, 1]]


def test_empty_run_is_a_page_that_says_so(tmp_path: Path) -> None:
    page = write_report(
        write_run(tmp_path / "run", [], {"vcs": []})
    ).read_text(encoding="utf-8")
    assert "This run has no items." in page
    assert "nothing was scored" in page


def test_run_with_failures_only_gives_their_reasons(tmp_path: Path) -> None:
    items = lemons(3)
    failures = [
        ItemFailure("ItemError", "the candidate is empty") for _ in items
    ]
    run = write_run(tmp_path / "run", items, {"vcs": failures})
    page = write_report(run).read_text(encoding="utf-8")
    assert "nothing was scored" in page
    assert "3 failed" in Outline(page).text
    assert data_of(page)["items"][1]["outcomes"] == [
        {"failure": "the candidate is empty", "error": "ItemError"}
    ]


def test_interrupted_run_shows_what_is_finished(tmp_path: Path) -> None:
    items = lemons(3)
    outcomes = [
        sentence_score(items[0], 0.5),
        None,
        sentence_score(items[2], 0.25),
    ]
    run = write_run(
        tmp_path / "run", items, {"vcs": outcomes}, status="interrupted"
    )
    page = write_report(run).read_text(encoding="utf-8")
    assert "not complete (status: interrupted)" in page
    assert "no mean yet" in page
    assert data_of(page)["items"][1]["outcomes"] == [None]


def test_several_metrics_and_references_each_have_their_place(
    tmp_path: Path,
) -> None:
    items = [
        Item(
            "1",
            "A cat sleeps here.",
            ("A dog runs there.", "A cat sleeps over there."),
        )
    ]
    aligned = sentence_score(items[0], 0.5, reference_index=1)
    run = write_run(
        tmp_path / "run",
        items,
        {"vcs": [aligned], "posh": [ItemScore({"f1": 1.0})]},
    )
    page = write_report(run).read_text(encoding="utf-8")
    assert page.count('<section class="metric"') == 2
    first, second = data_of(page)["items"][0]["outcomes"]
    assert [len(pieces) for pieces in first["references"]] == [
        1,
        3,
    ]  # marked in the second only
    assert first["view"]["reference"] == 1
    assert second["values"] == {"f1": 1.0}


def test_limit_leaves_out_items_that_the_store_has_beyond_it(
    tmp_path: Path,
) -> None:
    run = lemon_run(tmp_path / "run")
    log = json.loads((run / "run.json").read_text(encoding="utf-8"))
    log["data"]["n_items"] = 2
    (run / "run.json").write_text(json.dumps(log), encoding="utf-8")
    page = write_report(run).read_text(encoding="utf-8")
    assert [item["position"] for item in data_of(page)["items"]] == [0, 1]
    assert "All 2 items." in page


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run directory"):
        write_report(tmp_path)
    run = lemon_run(tmp_path / "run")
    shutil.move(run / "run.json", tmp_path / "elsewhere.json")
    with pytest.raises(RunError, match=r"run\.json"):
        write_report(run)
    assert not (run / "report.html").exists()
