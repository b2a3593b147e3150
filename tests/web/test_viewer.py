"""Pages over runs, asked for as a browser would."""

from __future__ import annotations

import html
import importlib.util
import io
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from beholder.backends import BACKENDS
from beholder.data import read_items
from beholder.kinds.generation.askers import CaptionRow
from beholder.kinds.generation.engine import RowsConfig, run_rows
from beholder.kinds.generation.reviews import ReviewsConfig, run_reviews
from beholder.kinds.scores.door import score
from beholder.kinds.scores.trying import TryPage
from beholder.options import DataOptions
from beholder.records import Item, ItemFailure, ItemScore
from beholder.run import answers as answered
from beholder.run.session import Quiet
from beholder.run.store import Store
from beholder.web import Settings
from beholder.web.lists import PAGE, pair
from beholder.web.viewer import Viewer, make_viewer
from toy.judge import Storyteller
from toy.photos import make_collection
from toy.reviewer import Reviewer
from toy.runs import lemon_run, lemons, sentence_score, write_run

Open = Callable[..., TestClient]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens runs, read already, and gives a client of their viewer."""
    with ExitStack() as stack:

        def make(*folders: Path, **more: Any) -> TestClient:
            viewer = Viewer(folders, **more)
            for view in viewer.runs:
                view.refresh()
            app = make_viewer(viewer, Settings(rate=1e6, burst=10_000))
            client = TestClient(
                app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000)
            )
            return stack.enter_context(client)

        yield make


def links(page: str) -> list[str]:
    return [
        html.unescape(address)
        for address in re.findall(r'(?:href|src)="([^"#]+)"', page)
    ]


def listed(page: str) -> list[str]:
    return [
        html.unescape(name)
        for name in re.findall(r"<bdi>([^<]*)</bdi></a><p class=.snip", page)
    ]


def test_every_page_that_is_linked_opens(opened: Open, tmp_path: Path) -> None:
    client = opened(lemon_run(tmp_path / "a"), lemon_run(tmp_path / "b"))
    opened_addresses: set[str] = set()
    todo = ["/"]
    while todo:
        address = todo.pop()
        if address in opened_addresses or address.startswith(
            ("data:", "http")
        ):
            continue
        opened_addresses.add(address)
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.text)
        base = address.partition("?")[0]
        todo += [
            base + to if to.startswith("?") else to
            for to in links(answer.text)
        ]
    assert {
        "/runs/0",
        "/runs/1/items",
        "/runs/0/item/5/asked",
        "/static/item.js",
    } <= {address.partition("?")[0] for address in opened_addresses}
    assert any(
        address.startswith("/compare/item") for address in opened_addresses
    )


def test_the_list_is_filtered_sorted_and_paged_at_the_server(
    opened: Open, tmp_path: Path
) -> None:
    client = opened(lemon_run(tmp_path / "run", 2 * PAGE + 20))
    first = client.get("/runs/0/items").text
    assert len(listed(first)) == PAGE
    assert "page 1 of 3" in first
    assert len(listed(client.get("/runs/0/items?page=2").text)) == 20
    worst = client.get("/runs/0/items?sort=value&down=1").text
    assert listed(worst)[:2] == ["table-119", "table-118"]
    matching = client.get("/runs/0/items?q=day+number+77").text
    assert listed(matching) == ["table-77"]
    none = client.get("/runs/0/items?q=zebra").text
    assert "Nothing matches" in none
    assert client.get("/runs/0/items?low=x").status_code == 400


def test_a_page_reads_the_subjects_it_shows_and_no_others(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = opened(lemon_run(tmp_path / "run", 3 * PAGE))
    reads: list[str] = []
    whole = Store.subjects
    score = Store.score

    def subjects(self: Store, kind: Any, positions: Any = None) -> Any:
        reads.extend(
            ["subject"] * (10**6 if positions is None else len(positions))
        )
        return whole(self, kind, positions)

    def scored(self: Store, asker: str, position: int) -> Any:
        reads.append("score")
        return score(self, asker, position)

    def refused(*_: Any) -> Any:
        raise AssertionError("a page reads a whole column")

    monkeypatch.setattr(Store, "subjects", subjects)
    monkeypatch.setattr(Store, "score", scored)
    for name in ("values", "units", "details", "failures"):
        monkeypatch.setattr(Store, name, refused)
    for address in (
        "/runs/0/items",
        "/runs/0/items?sort=value&q=lemons&low=0.1&page=1",
    ):
        reads.clear()
        assert client.get(address).status_code == 200
        assert reads == ["subject"] * PAGE
    reads.clear()
    assert client.get("/runs/0").status_code == 200
    assert reads == []
    assert client.get("/runs/0/item/7?sort=value").status_code == 200
    assert sorted(reads) == ["score", "subject", "subject"]


def test_the_link_to_the_next_item_follows_the_list(
    opened: Open, tmp_path: Path
) -> None:
    client = opened(lemon_run(tmp_path / "run"))
    page = client.get("/runs/0/item/3?sort=value&down=1").text
    assert re.findall(r'rel="(\w+)" href="/runs/0/item/(\d)\?', page) == [
        ("prev", "4"),
        ("next", "2"),
    ]
    assert "3 of 6" in page
    filtered = client.get("/runs/0/item/3?group=" + pair("system", "b")).text
    assert re.findall(r'rel="(\w+)" href="/runs/0/item/(\d)\?', filtered) == [
        ("prev", "1"),
        ("next", "5"),
    ]


@pytest.mark.parametrize(
    "address",
    ["/runs/1", "/runs/99999999999999999999", "/runs/0/item/6", "/runs/0/nothing/0",
     "/runs/0/item/0/pictures/9", "/compare?a=0&b=7", "/compare?a=x", "/compare/item?a=0&b=0&at=99",
     "/compare/item?a=0&b=0&at=%C2%B2", "/compare/item?a=0&b=0&at=000000000000099", "/compare?a=0000009&b=0",
     "/runs/0/item/0/pictures/0", "/runs/0/thumbs/3", "/nowhere"],
)  # fmt: skip
def test_missing_runs_and_items_are_reported(
    opened: Open, tmp_path: Path, address: str
) -> None:
    answer = opened(lemon_run(tmp_path / "run")).get(address)
    assert answer.status_code == 404
    assert "<h1>Not found</h1>" in answer.text


def test_pictures_come_from_the_folder_of_the_data_alone(
    opened: Open, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    Image.new("RGB", (300, 200), "red").save(data / "in.png")
    Image.new("RGB", (300, 200), "red").save(tmp_path / "out.png")
    (data / "link.png").symlink_to(tmp_path / "out.png")
    names = (
        "in.png",
        "../out.png",
        str(tmp_path / "out.png"),
        "link.png",
        "none.png",
    )
    items = [
        Item(str(n), "text", ("r",), (name,)) for n, name in enumerate(names)
    ]
    run = write_run(
        tmp_path / "run",
        items,
        {"posh": [ItemScore({"f1": 0.5})] * len(items)},
    )
    client = opened(run, media_root=data)
    small = client.get("/runs/0/item/0/pictures/0?small=1")
    assert small.status_code == 200
    assert small.headers["content-type"] == "image/jpeg"
    assert small.content[:3] == b"\xff\xd8\xff"
    for position in range(1, len(names)):
        assert (
            client.get(f"/runs/0/item/{position}/pictures/0").status_code
            == 404
        )
    assert 'src="/runs/0/item/0/pictures/0' in client.get("/runs/0/items").text
    assert "/runs/0/item/0/pictures/0" in client.get("/runs/0/item/0").text


def test_two_runs_show_their_differences_and_the_items_that_differ_most(
    opened: Open, tmp_path: Path
) -> None:
    items = lemons(4)
    first = [
        sentence_score(item, score)
        for item, score in zip(items, (0.5, 0.5, 0.5, 0.5), strict=True)
    ]
    second = [
        sentence_score(item, score)
        for item, score in zip(items, (0.6, 0.1, 0.5, 0.9), strict=True)
    ]
    a = write_run(tmp_path / "a", items, {"vcs": first})
    b = write_run(tmp_path / "b", [*items[::-1], Item("only-b", "x", ("y",))],
                  {"vcs": [*second[::-1], ItemFailure("E", "no")]})  # fmt: skip
    client = opened(a, b)
    page = client.get("/compare?a=0&b=1").text
    order = re.findall(
        r"<td class=.num.><b>(\S+)</b>.*?<bdi>(table-\d)</bdi>", page, re.S
    )
    assert order[:2] in (
        [("+0.400", "table-3"), ("−0.400", "table-1")],
        [("−0.400", "table-1"), ("+0.400", "table-3")],
    )
    assert order[2:] == [("+0.100", "table-0"), ("0.000", "table-2")]
    assert (
        "<bdi>b</bdi> is higher in 2, lower in 1, the same in 1 of 4" in page
    )
    assert "<b>1</b> only in <bdi>b</bdi>" in page
    up = client.get("/compare?a=0&b=1&sort=up").text
    assert re.findall(r"<bdi>(table-\d)</bdi>", up) == [
        "table-3",
        "table-0",
        "table-2",
        "table-1",
    ]
    for _ in range(600):  # a minute at most, however busy the machine is
        page = client.get("/compare?a=0&b=1").text
        if "are being tested" not in page:
            break
        time.sleep(0.1)
    else:
        pytest.fail("the tests never came")
    assert "+0.025" in page  # (0.1 - 0.4 + 0 + 0.4) / 4
    assert "p (Holm)" in page
    item_page = client.get("/compare/item?a=0&b=1&at=3").text
    assert "table-3" in item_page
    assert "0.500" in item_page
    assert "0.900" in item_page
    assert (
        'href="/runs/1/item/0"' in item_page
    )  # the same item stands first in the second run


def test_links_between_items_of_two_runs_follow_the_comparison(
    opened: Open, tmp_path: Path
) -> None:
    items = lemons(4)
    outcomes = [
        sentence_score(items[n], value)
        for n, value in ((0, 0.6), (1, 0.1), (3, 1.0))
    ]
    a = write_run(
        tmp_path / "a",
        items,
        {"vcs": [sentence_score(item, 0.5) for item in items]},
    )
    b = write_run(
        tmp_path / "b",
        items,
        {"vcs": [*outcomes[:2], ItemFailure("E", "no"), outcomes[2]]},
    )
    client = opened(a, b)

    def walked(address: str, rel: str) -> list[str]:
        """Name and place of each item on the way."""
        places = []
        while address:
            page = client.get(address).text
            [name] = re.findall(r"<h1><bdi>(.*?)</bdi></h1>", page)
            [place] = re.findall(
                r'<span class="muted">(\d of \d)</span>', page
            )
            places.append(f"{name}, {place}")
            address = html.unescape(
                "".join(re.findall(f'rel="{rel}" href="([^"]+)"', page))
            )
        return places

    for order, names in (
        ("", "310"),
        ("&sort=up", "301"),
        ("&sort=down", "103"),
    ):
        listed_ = links(client.get(f"/compare?a=0&b=1{order}").text)
        first, *_, last = (
            link for link in listed_ if link.startswith("/compare/item")
        )
        expected = [
            f"table-{name}, {n + 1} of 3" for n, name in enumerate(names)
        ]
        assert walked(first, "next") == expected
        assert walked(last, "prev") == expected[::-1]
    failed = client.get("/compare/item?a=0&b=1&at=2").text
    assert "Not scored." in failed
    assert not re.findall("rel=.(next|prev)", failed)

    page = client.get("/compare/item?a=0&b=1&at=3").text
    legend = re.findall(
        r'aria-hidden="true">(.)</span><span class="word">([^<]+)</span><span class="count">(\d)',
        page,
    )
    assert legend == 2 * [
        ("✗", "unmatched", "2"),
        ("↕", "out of order", "2"),
        ("✓", "match", "2"),
    ]


def test_a_comparison_says_why_it_counts_fewer_than_both_runs_have(
    opened: Open, tmp_path: Path
) -> None:
    def compared(*last: ItemScore | ItemFailure) -> str:
        folders = [
            write_run(
                tmp_path / f"{len(opened_)}{name}",
                lemons(3),
                {
                    "vcs": [
                        *(ItemScore({"vcs": value}) for value in (0.5, 0.6)),
                        outcome,
                    ]
                },
            )
            for name, outcome in zip("ab", last, strict=True)
        ]
        client = opened(*folders)
        opened_.append(client)
        for _ in range(600):  # a minute at most, however busy the machine is
            page: str = client.get("/compare?a=0&b=1").text
            if "are being tested" not in page:
                return page
            time.sleep(0.1)
        pytest.fail("the tests never came")

    opened_: list[TestClient] = []
    fewer = compared(ItemScore({"vcs": 0.5}), ItemFailure("E", "no"))
    assert (
        "the same in 2 of 2 (2 of 3 in both runs have the value in both)"
        in fewer
    )
    assert (
        "n: items with a value in both runs; those that failed or are without it in one have none there."
        in fewer
    )
    whole = compared(ItemScore({"vcs": 0.5}), ItemScore({"vcs": 0.7}))
    assert "of 3</p>" in whole
    assert "n: items" not in whole


def test_runs_without_a_shared_metric_are_an_error(
    opened: Open, tmp_path: Path
) -> None:
    a = write_run(
        tmp_path / "a", lemons(1), {"vcs": [ItemScore({"vcs": 0.5})]}
    )
    b = write_run(
        tmp_path / "b", lemons(1), {"posh": [ItemScore({"f1": 0.5})]}
    )
    c = write_run(
        tmp_path / "c",
        [Item("z", "x", ("y",))],
        {"vcs": [ItemScore({"vcs": 0.5})]},
    )
    client = opened(a, b, c)
    answer = client.get("/compare?a=0&b=1")
    assert (answer.status_code, "share no metric" in answer.text) == (
        400,
        True,
    )
    answer = client.get("/compare?a=0&b=2")
    assert (answer.status_code, "share no item id" in answer.text) == (
        400,
        True,
    )


def test_values_of_the_whole_set_and_unfinished_runs_are_in_the_viewer(
    opened: Open, tmp_path: Path
) -> None:
    items = [Item(f"{i}", f"a dog number {i} runs home", (f"a dog number {i} runs home",),
                  (f"{i}.jpg",)) for i in range(4)]  # fmt: skip
    score(items, ["bleu"], out=tmp_path / "whole", workers=1)
    part = write_run(
        tmp_path / "part", lemons(3), {"vcs": [ItemScore({"vcs": 0.5}), None, None]},
        status="interrupted",
    )  # fmt: skip
    client = opened(tmp_path / "whole", part)
    page = client.get("/runs/0").text
    assert "<code>corpus_bleu</code>" in page
    assert (
        "corpus_bleu&amp;sort" not in page
    )  # no item has one, so there is no list by it
    caution = (
        "part is not complete (status: interrupted): 1 of 3 finished by vcs"
    )
    assert caution in client.get("/").text
    assert caution in client.get("/runs/1/items").text
    assert "is not complete" not in client.get("/runs/0/items").text
    # Four sources are too few for an interval, which the page says.
    assert "too few sources for an interval: 4, at least 5 are needed" in page


def test_a_running_run_shows_its_progress(
    opened: Open, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run", lemons(3), {"vcs": [ItemScore({"vcs": 0.5}), ItemFailure("E", "x"), None]},
                    status="running")  # fmt: skip
    client = opened(run)
    page = client.get("/runs/0").text
    assert 'hx-get="/runs/0/progress"' in page
    part = client.get("/runs/0/progress").text
    assert "2 of 3" in part
    assert "1 failed" in part
    done = opened(lemon_run(tmp_path / "done")).get("/runs/0").text
    assert "hx-trigger" not in done


def test_a_run_that_is_being_read_says_so(
    opened: Open, tmp_path: Path
) -> None:
    app: ASGIApp = make_viewer(
        Viewer([lemon_run(tmp_path / "run")]), Settings()
    )
    client = TestClient(
        app, base_url="http://127.0.0.1"
    )  # nobody has started reading
    for address in ("/runs/0", "/runs/0/items", "/compare?a=0&b=0"):
        page = client.get(address)
        assert page.status_code == 200
        assert "opens by itself" in page.text


def test_equal_names_of_runs_get_numbers(opened: Open, tmp_path: Path) -> None:
    page = (
        opened(
            lemon_run(tmp_path / "x" / "run"),
            lemon_run(tmp_path / "y" / "run"),
        )
        .get("/")
        .text
    )
    assert "<bdi>run</bdi>" in page
    assert "<bdi>run (2)</bdi>" in page


def test_a_run_without_judges_has_no_questions_and_no_cost(
    opened: Open, tmp_path: Path
) -> None:
    run = lemon_run(tmp_path / "run")
    client = opened(run)
    assert "0 of 0 questions" in client.get("/runs/0/item/0/asked").text
    assert "What judges cost" not in client.get("/runs/0").text
    assert answered.costs(run) == []
    assert answered.answers(run, ["key"]) == {}


def test_a_crash_is_reported_without_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = Viewer([lemon_run(tmp_path / "run")])
    monkeypatch.setattr("beholder.web.viewer.Viewer._of_run", lambda *_: 1 / 0)
    client = TestClient(
        make_viewer(viewer, Settings()),
        base_url="http://127.0.0.1",
        raise_server_exceptions=False,
    )
    answer = client.get("/runs/0")
    assert answer.status_code == 500
    assert "division" not in answer.text
    assert "This is a bug" in answer.text


def test_all_links_of_runs_that_wrote_texts_open(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, backend in (("story", Storyteller), ("reviewer", Reviewer)):
        if name not in BACKENDS.names():
            BACKENDS.register(name)(backend)
    monkeypatch.chdir(tmp_path)
    make_collection(Path("data"), n=3)
    captions = RowsConfig(
        "data/img", Path("c.jsonl"), {"one": CaptionRow("story:steady")}
    )
    run_rows(captions, Quiet())
    run_reviews(
        ReviewsConfig("data/img", Path("reviews"), "reviewer:m", ("en", "ja")),
        Quiet(),
    )
    client = opened(captions.run, Path("reviews"))
    pages: dict[str, str] = {}
    todo = ["/"]
    while todo:
        address = todo.pop()
        if address in pages or address.startswith(("data:", "http")):
            continue
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.text)
        pages[address] = html.unescape(answer.text)
        base = address.partition("?")[0]
        todo += [
            base + to if to.startswith("?") else to
            for to in links(answer.text)
        ]
    picture_pages = [
        page
        for address, page in pages.items()
        if "/runs/1/picture/" in address
    ]
    written = [
        json.loads(line)
        for line in Path("reviews/reviews.jsonl").read_text().splitlines()
    ]
    for row in written:
        for text in row["texts"]:
            assert any(text in page for page in picture_pages)


def test_captions_of_films_are_made_of_moments_that_the_viewer_shows(
    opened: Open, tmp_path: Path
) -> None:
    pytest.importorskip("av", reason="needs the extra video")
    from toy.films import write_film

    if "story" not in BACKENDS.names():
        BACKENDS.register("story")(Storyteller)
    data = tmp_path / "data"
    data.mkdir()
    write_film(data / "a.mp4")
    (data / "d.jsonl").write_text(
        '{"id": "1", "candidate": "", "video": "a.mp4"}\n'
    )
    config = RowsConfig(
        str(data / "d.jsonl"),
        data / "captions.jsonl",
        {"m": CaptionRow("story:steady", words=(1, 400))},
        rows=DataOptions(frames=2),
    )
    assert run_rows(config, Quiet()).failures == ()
    [row] = map(
        json.loads, (data / "captions.jsonl").read_text("utf-8").splitlines()
    )
    assert row["images"] == ["a.mp4#t=0.75", "a.mp4#t=2.25"]
    client = opened(config.run)
    for number, grey_level in (
        (0, 8 * 7),
        (1, 8 * 22),
    ):  # what began by 0.75 s and by 2.25 s
        answer = client.get(f"/runs/0/item/0/pictures/{number}")
        assert answer.status_code == 200, answer.text
        grey = (
            Image.open(io.BytesIO(answer.content))
            .convert("L")
            .getpixel((9, 9))
        )
        assert isinstance(grey, int)
        assert abs(grey - grey_level) < 4


def test_a_list_shows_chosen_columns_and_marks(
    opened: Open, tmp_path: Path
) -> None:
    items = [replace(item, judgments={"overall": 4}) for item in lemons(3)]
    scores = [sentence_score(item, n / 4) for n, item in enumerate(items)]
    client = opened(write_run(tmp_path / "run", items, {"vcs": scores}))
    plain = client.get("/runs/0/items").text
    assert "overall: 4" not in plain
    chosen = {
        "col": [
            pair("text", "marks"),
            pair("vcs", "las"),
            pair("text", "judgments"),
            pair("text", "references"),
        ]
    }
    page = client.get("/runs/0/items", params=chosen).text
    assert "vcs · las" in page
    assert page.count("overall: 4") == 3
    # `las` of a made-up score is (1 + vcs) / 2
    assert re.findall(r'class="num"><a href="[^"]*">([\d.]+)</a>', page) == [
        "0.500",
        "0.625",
        "0.750",
    ]
    assert html.escape(items[0].references[0][:20]) in page
    address = next(link for link in links(page) if "/selection" in link)
    assert client.get(address).status_code == 200
    assert (
        '<span class="mark'
        in client.get(
            "/runs/0/items", params={"col": pair("text", "marks")}
        ).text
    )
    assert (
        client.get("/runs/0/items", params={"col": '["a"]'}).status_code == 400
    )


def test_a_list_shows_the_systems_of_a_run_beside_each_other(
    opened: Open, tmp_path: Path
) -> None:
    authors = [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2)]
    items = [
        Item(
            f"{system}{n}",
            f"Text {system}{n}.",
            ("R.",),
            (f"{n}.png",),
            group={"system": system},
        )
        for system, n in authors
    ]
    scores = [sentence_score(item, n / 4) for n, item in enumerate(items)]
    client = opened(write_run(tmp_path / "run", items, {"vcs": scores}))
    only_a = {"group": pair("system", "a")}
    assert "b · vcs" in client.get("/runs/0/items").text
    columns = [pair("=b", "value"), pair("=b", "text")]
    page = client.get("/runs/0/items", params={**only_a, "col": columns}).text
    assert listed(page) == ["a0", "a1", "a2"]
    matched = re.findall(
        r'class="num"><a href="/runs/0/item/(\d)[^"]*">([\d.]+)</a>', page
    )
    assert matched == [
        ("1", "0.250"),
        ("2", "0.500"),
    ]  # the third picture has no text by b
    assert re.findall(r'class="snippet" dir="auto">(Text b\d\.)<', page) == [
        "Text b0.",
        "Text b1.",
    ]
    assert (
        client.get(
            "/runs/0/items", params={"col": pair("=c", "value")}
        ).status_code
        == 200
    )


def test_a_list_is_sorted_and_filtered_by_judgments(
    opened: Open, tmp_path: Path
) -> None:
    judgments: list[dict[str, Any]] = [
        {"overall": 2, "by": "anna"},
        {},
        {"overall": 4.5},
    ]
    judgments.append({"overall": 3, "kind": True})
    items = [
        replace(item, judgments=judged)
        for item, judged in zip(lemons(4), judgments, strict=True)
    ]
    scores = [sentence_score(item, n / 4) for n, item in enumerate(items)]
    client = opened(write_run(tmp_path / "run", items, {"vcs": scores}))
    by = pair("judgments", "overall")
    assert by in html.unescape(client.get("/runs/0/items").text)
    ids = [item.id for item in items]
    down = client.get(
        "/runs/0/items", params={"by": by, "sort": "value", "down": "1"}
    ).text
    assert listed(down) == [
        ids[2],
        ids[3],
        ids[0],
        ids[1],
    ]  # who has none comes last
    some = client.get("/runs/0/items", params={"by": by, "low": "2.5"}).text
    assert listed(some) == [ids[2], ids[3]]
    with_column = client.get("/runs/0/items", params={"col": by}).text
    assert ">4.50<" in with_column or ">4.500<" in with_column
    marks = {"by": by, "col": pair("text", "marks")}
    assert client.get("/runs/0/items", params=marks).status_code == 200
    assert pair("judgments", "by") not in html.unescape(down)


def test_a_selection_is_a_data_file(opened: Open, tmp_path: Path) -> None:
    items = lemons(4)
    scores = [sentence_score(item, n / 4) for n, item in enumerate(items)]
    client = opened(write_run(tmp_path / "run", items, {"vcs": scores}))
    done = client.get("/runs/0/selection?sort=value&down=1&low=0.3")
    assert (
        done.headers["content-disposition"]
        == "attachment; filename*=UTF-8''run.jsonl"
    )
    file = tmp_path / "selection.jsonl"
    file.write_bytes(done.content)
    assert [
        item.id for item in read_items(str(file)) if isinstance(item, Item)
    ] == [
        "table-3",
        "table-2",
    ]


def test_regressions_are_a_data_file(opened: Open, tmp_path: Path) -> None:
    items = lemons(4)
    runs = [
        write_run(tmp_path / name, items, {"vcs": [sentence_score(i, s) for i, s in zip(items, scores, strict=True)]})
        for name, scores in {"a": (0.5, 0.5, 0.5, 0.5), "b": (0.25, 0.75, 0.5, 0.0)}.items()
    ]  # fmt: skip
    client = opened(*runs)
    lines = client.get(
        "/compare/selection?a=0&b=1&sort=down"
    ).text.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["id"], row["difference"]) for row in rows] == [
        ("table-3", -0.5),
        ("table-0", -0.25),
    ]
    assert (rows[0]["a"], rows[0]["b"]) == (0.5, 0.0)


def test_tags_and_notes_are_kept_beside_the_run(
    opened: Open, tmp_path: Path
) -> None:
    folder = lemon_run(tmp_path / "run", 3)
    client = opened(folder)
    page = client.get("/runs/0/item/1?sort=id").text
    mark = page.split('name="csrf" value="')[1].split('"')[0]
    form = {
        "csrf": mark,
        "tags": "wrong colour, check, check",
        "note": "<b>blue</b>",
    }
    assert (
        client.post(
            "/runs/0/item/1/note", data={**form, "csrf": "x"}
        ).status_code
        == 403
    )
    done = client.post(
        "/runs/0/item/1/note?sort=id", data=form, follow_redirects=False
    )
    assert (done.status_code, done.headers["location"]) == (
        303,
        "/runs/0/item/1?sort=id",
    )
    (line,) = (folder / "notes.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line) == {
        "kind": "item",
        "id": "table-1",
        "tags": ["wrong colour", "check"],
        "note": "<b>blue</b>",
    }
    assert "&lt;b&gt;blue&lt;/b&gt;" in client.get("/runs/0/item/1").text
    assert listed(client.get("/runs/0/items?tag=check").text) == ["table-1"]
    client.post(
        "/runs/0/item/1/note", data={"csrf": mark, "tags": "", "note": ""}
    )
    assert listed(client.get("/runs/0/items?tag=check").text) == []
    long = client.post(
        "/runs/0/item/1/note", data={"csrf": mark, "tags": "x" * 61}
    )
    assert long.status_code == 400
    (folder / "notes.jsonl").write_text("{", encoding="utf-8")
    assert "notes.jsonl cannot be read" in client.get("/runs/0/items").text


def test_a_pasted_text_is_scored_and_not_kept(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    client = opened(try_page=TryPage(("openai:m",)).page)
    page = client.get("/try").text
    assert 'href="/try"' in client.get("/").text
    mark = page.split('name="csrf" value="')[1].split('"')[0]
    form = {
        "csrf": mark,
        "text": "a red <b>boat</b>",
        "references": "a red boat\n\na blue boat\nat sea",
        "metric": ["bleu", "length"],
    }
    assert client.post("/try", data={**form, "csrf": "x"}).status_code == 403
    done = client.post("/try", data=form)
    assert done.status_code == 200
    data = done.text.split('id="data">')[1].split("</script>")[0]
    assert "a blue boat" in data
    assert "<b>boat" not in data
    assert '"length"' in data
    assert list((tmp_path / "t").iterdir()) == []
    assert "Steps of VCS" not in done.text
    for wrong in (
        {"metric": "accord(judge='openai:x')"},
        {"judge": "openai(model='x', base_url='http://elsewhere')"},
        {"text": ""},
        {"text": "a" * 20_001},
        {"metric": "clipscore"},  # needs a picture
    ):
        answer = client.post("/try", data={**form, **wrong})
        assert answer.status_code == 400, wrong
        assert 'role="alert"' in answer.text


def test_metrics_that_a_pasted_text_cannot_have_say_why(opened: Open) -> None:
    def offered(page: str) -> set[str]:
        return set(re.findall(r'name="metric" value="(\w+)"', page))

    without, judged = (
        opened(try_page=TryPage(judges).page).get("/try").text
        for judges in ((), ("openai:m",))
    )
    assert {"accord", "vcs", "bleu", "length"} <= offered(without) & offered(
        judged
    )
    assert offered(judged) - offered(without) >= {"clair", "direct_assessment"}
    assert "<dt>clair</dt><dd>clair needs a judge" in without
    for page in (without, judged):
        assert not {"audit", "clipscore", "checklist"} & offered(page)
        assert "<dt>clipscore</dt><dd>clipscore needs images" in page
        assert "<dt>checklist</dt><dd>no criteria: " in page
    assert "<dt>audit</dt><dd>audit needs a judge" in without
    assert "needs images" in judged.split("<dt>audit</dt>")[1].split("<dt>")[0]


def test_a_metric_that_fails_does_not_keep_others_from_a_pasted_text(
    opened: Open,
) -> None:
    client = opened(try_page=TryPage(("openai:m",)).page)
    mark = (
        client.get("/try").text.split('name="csrf" value="')[1].split('"')[0]
    )
    form = {
        "csrf": mark,
        "text": "a red boat",
        "references": "a blue boat",
        "judge": "",
    }
    done = client.post("/try", data={**form, "metric": ["clair", "length"]})
    assert done.status_code == 200
    [problem] = re.findall(r'role="alert">([^<]*)<', done.text)
    assert problem.startswith("clair: clair needs a judge")
    data = json.loads(done.text.split('id="data">')[1].split("</script>")[0])
    assert [metric["name"] for metric in data["metrics"]] == ["length"]
    none = client.post("/try", data={**form, "metric": ["clair"]})
    assert none.status_code == 400
    assert 'id="data"' not in none.text


def test_the_steps_of_a_pasted_text_are_drawn(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = opened(try_page=TryPage(()).page)
    mark = (
        client.get("/try").text.split('name="csrf" value="')[1].split('"')[0]
    )
    form = {
        "csrf": mark,
        "text": "A dog runs. It barks.",
        "references": "A dog barks. It runs.",
    }
    result = client.post("/try", data={**form, "metric": ["bleu", "vcs"]}).text
    steps = re.findall(
        r'<img class="step" alt="([^"]+)" src="data:image/', result
    )
    assert [steps[0], steps[-1]] == ["alignment", "regularizer"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    without = client.post("/try", data={**form, "metric": ["vcs"]}).text
    assert 'class="step"' not in without
    assert "pip install" in without


def test_a_value_that_a_single_text_cannot_have_is_explained(
    opened: Open,
) -> None:
    client = opened(try_page=TryPage(()).page)
    mark = (
        client.get("/try").text.split('name="csrf" value="')[1].split('"')[0]
    )
    form = {"csrf": mark, "text": "A dog runs.", "references": "A dog runs."}
    caution = "<b>cider</b>: 0 over one image: a word is worth something only if other images"
    with pytest.warns(UserWarning, match="cider over one image is 0"):
        result = client.post(
            "/try", data={**form, "metric": ["cider", "bleu"]}
        ).text
    assert caution in result
    assert "<b>bleu</b>:" not in result
    assert (
        "over one image"
        not in client.post("/try", data={**form, "metric": ["bleu"]}).text
    )


def test_pasted_texts_need_the_option(opened: Open, tmp_path: Path) -> None:
    client = opened(lemon_run(tmp_path / "run", 2))
    assert client.get("/try").status_code == 404
    assert "/try" not in client.get("/").text


def test_a_list_has_the_same_items_of_other_runs_as_columns(
    opened: Open, tmp_path: Path
) -> None:
    items = lemons(3)
    later = [
        replace(items[2], candidate="other words"),
        items[0],
    ]  # another order, one item fewer
    client = opened(
        write_run(tmp_path / "a", items, {"vcs": [sentence_score(i, 0.5) for i in items]}),
        write_run(tmp_path / "b", later, {"vcs": [sentence_score(later[0], 0.25), ItemFailure("E", "x")]}),
    )  # fmt: skip
    chosen = {"col": [pair("@1", "value"), pair("@1", "text")]}
    page = client.get("/runs/0/items", params=chosen).text
    assert "b · vcs" in page
    cells = re.findall(
        r'<td class="num">(?:<a href="/runs/1/item/(\d)">([\d.]+)</a>|(–))</td>',
        page,
    )
    assert cells == [("", "", "–"), ("", "", "–"), ("0", "0.250", "")]
    assert page.count("other words") == 1
    way = next(
        link
        for link in links(page)
        if "%401" in link and "selection" not in link
    )
    assert (
        "b · vcs" in client.get(way).text
    )  # the way from every page of the run


def test_several_groups_are_chosen_at_once(
    opened: Open, tmp_path: Path
) -> None:
    places = ["home", "work", "home", "street"]
    items = [
        replace(item, group={"system": "ab"[n // 2], "place": places[n]})
        for n, item in enumerate(lemons(4))
    ]
    client = opened(write_run(tmp_path / "run", items, {"vcs": [sentence_score(i, 0.5) for i in items]}))  # fmt: skip

    def list_ids(*groups: tuple[str, str]) -> list[str]:
        chosen = {"group": [pair(*group) for group in groups] + [""]}
        return listed(client.get("/runs/0/items", params=chosen).text)

    assert list_ids(("system", "a"), ("place", "home")) == ["table-0"]
    assert list_ids(("place", "work"), ("place", "street")) == [
        "table-1",
        "table-3",
    ]
    chosen = {"group": [pair("system", "b"), pair("place", "home")]}
    assert client.get("/runs/0/selection", params=chosen).text.count("\n") == 1
