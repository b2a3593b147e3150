"""``beholder caption``, ``classify`` and ``translate`` as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.backends import BACKENDS
from beholder.data import read_items
from beholder.errors import ConfigError, DataError
from beholder.kinds.bidirectional.observe import observe
from beholder.kinds.bidirectional.study import study
from beholder.kinds.generation.engine import word_limits
from beholder.records import Item
from beholder.run.inputs import rebase_path
from toy.bothways import Reader, make_world
from toy.command import Cli
from toy.judge import Storyteller
from toy.photos import make_collection

for _name, _backend in (("story", Storyteller), ("reader", Reader)):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in a folder with 12 pictures; gives exit code, stdout and stderr."""
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    make_collection(Path("data"), n=12)
    return cli


def rows(path: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in Path(path).read_text("utf-8").splitlines()
    ]


def items(path: str) -> list[Item]:
    items = list(read_items(path))
    assert all(isinstance(item, Item) for item in items), items
    return [item for item in items if isinstance(item, Item)]


def test_captions_of_a_folder_are_items_per_picture_and_system(
    cli: Cli,
) -> None:
    done = cli(
        "caption", "data/img", "--judge", "story:steady", "--judge", "other=story:steady",
        "--language", "Hindi", "--words", "40", "-o", "captions.jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "captions of 32 to 40 words in Hindi" in done.err
    read_rows = items("captions.jsonl")
    assert len(read_rows) == 24
    assert [item.id for item in read_rows[:3]] == [
        "000/steady",
        "000/other",
        "001/steady",
    ]
    assert read_rows[0].images == ("data/img/000.jpg",)
    assert dict(read_rows[0].group) == {
        "language": "hi",
        "system": "steady",
        "dataset": "other length",  # 166 words, also the second time
    }
    assert read_rows[0].candidate.startswith("A photograph ")
    caption = read_rows[0].meta["caption"]
    assert (caption["words"], caption["language"]) == ([32, 40], "Hindi")
    assert caption["judge"].startswith("story:steady")


def test_captions_keep_references_groups_and_judgments_and_can_be_scored(
    cli: Cli,
) -> None:
    row = {"id": 7, "image": "img/001.jpg", "references": ["A photograph of a word."], "group": {"category": "x"}, "judgments": {"human_rating": 4}}  # fmt: skip
    Path("data/people.jsonl").write_text(json.dumps(row) + "\n")
    done = cli("caption", "data/people.jsonl", "--judge", "story:steady", "--words", "median", "-o", "data/out.jsonl")  # fmt: skip
    assert done.code == 0, done.err
    (item,) = items("data/out.jsonl")
    assert item.references == ("A photograph of a word.",)
    assert dict(item.judgments) == {"human_rating": 4}
    assert item.group["category"] == "x"
    assert item.meta["caption"]["words"] == [
        4,
        5,
    ]  # the reference has five words
    assert (
        cli(
            "score",
            "data/out.jsonl",
            "-m",
            "token_f1",
            "-o",
            "run",
            "--no-report",
        ).code
        == 0
    )


def test_a_second_run_and_another_output_ask_nothing(cli: Cli) -> None:
    judge = "story(model='steady', log='calls.txt')"
    for out in ("a.jsonl", "a.jsonl", "b.jsonl"):
        done = cli(
            "caption",
            "data/img",
            "--judge",
            judge,
            "-o",
            out,
            "--cache",
            "shared",
        )
        assert done.code == 0, done.err
    assert len(Path("calls.txt").read_text("utf-8").split()) == 12
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()


def test_dry_run_counts_calls_and_writes_nothing(cli: Cli) -> None:
    Path("data/img/broken.jpg").write_bytes(b"x")
    done = cli(
        "caption",
        "data/img",
        "--judge",
        "story:steady",
        "-o",
        "c.jsonl",
        "--dry-run",
    )
    assert done.code == 0
    assert "13 items, 0 rows would be left out" in done.out
    assert (
        "caption(judge='story:steady'): 13 to score, 0 done already"
        in done.out
    )
    assert (
        "1 would fail: data/img/broken.jpg: not a picture in a format that can be read"
        in done.out
    )
    assert (
        "exactly 12 judge calls" in done.out
    )  # one for each picture that can be read
    assert not Path("c.jsonl").exists()
    assert not Path("c.jsonl.run").exists()


def test_json_is_the_run_log_and_a_second_start_reuses_all(cli: Cli) -> None:
    arguments = (
        "caption",
        "data/img",
        "--judge",
        "story:steady",
        "-o",
        "c.jsonl",
        "--limit",
        "3",
    )
    log = json.loads(cli(*arguments, "--json").out)
    assert (log["kind"], log["status"], log["data"]["n_items"]) == (
        "rows",
        "complete",
        3,
    )
    assert "0 made now, 0 failed now, 3 reused" in cli(*arguments).err


def test_report_and_compare_read_runs_of_rows_and_tell_other_kinds(
    cli: Cli,
) -> None:
    for name in ("a", "b"):
        assert (
            cli(
                "caption",
                "data/img",
                "--judge",
                "story:steady",
                "-o",
                f"{name}.jsonl",
            ).code
            == 0
        )
    report = cli("report", "a.jsonl.run")
    assert report.out.strip() == "a.jsonl.run/report.html"
    assert "What was made" in Path("a.jsonl.run/report.html").read_text(
        "utf-8"
    )
    compared = json.loads(
        cli("compare", "a.jsonl.run", "b.jsonl.run", "--json").out
    )
    differences = {row["value"]: row for row in compared["differences"]}
    assert set(differences) == {
        "words",
        "characters",
        "asked_again",
        "other_length",
    }
    assert (
        differences["words"]["mean_a"],
        differences["words"]["paired"]["mean"],
    ) == (
        166.0,
        0.0,
    )
    assert (
        cli(
            "score", "a.jsonl", "-m", "length", "-o", "run", "--no-report"
        ).code
        == 0
    )
    comparison = cli("compare", "a.jsonl.run", "run")
    assert comparison.code == 2
    assert "a run of the kind 'scores', not 'rows'" in comparison.err


def test_a_picture_that_cannot_be_read_is_a_failure_with_its_name(
    cli: Cli,
) -> None:
    Path("data/img/broken.jpg").write_bytes(b"x")
    arguments = (
        "caption",
        "data/img",
        "--judge",
        "story:steady",
        "-o",
        "c.jsonl",
    )
    done = cli(*arguments)
    assert done.code == 1
    assert (
        "beholder: broken (steady): data/img/broken.jpg: not a picture"
        in done.err
    )
    assert len(rows("c.jsonl")) == 12
    assert cli(*arguments, "--allow-failed", "1").code == 0


def test_pictures_outside_the_outputs_folder_get_absolute_paths_and_a_word(
    cli: Cli,
) -> None:
    done = cli("caption", "data/img", "--judge", "story:steady", "-o", "out/c.jsonl", "--limit", "1")  # fmt: skip
    assert done.code == 0
    assert "--media-root" in done.err
    (row,) = rows("out/c.jsonl")
    assert row["images"] == [str(Path("data/img/000.jpg").absolute())]


def test_classify_writes_the_one_category_and_all_ratings(cli: Cli) -> None:
    Path("categories.json").write_text(
        '{"nature": "plants and land", "trade": "shops"}'
    )
    done = cli("classify", "data/img", "--categories", "categories.json", "--judge", "reader:m", "-o", "c.jsonl")  # fmt: skip
    assert done.code == 0, done.err
    written_rows = rows("c.jsonl")
    assert len(written_rows) == 12
    for row in written_rows:
        names = [category["name"] for category in row["meta"]["categories"]]
        expected = (
            names[0] if len(names) == 1 else "several" if names else "none"
        )
        assert row["group"]["category"] == expected
    assert {row["group"]["category"] for row in written_rows} == {
        "none",
        "nature",
        "several",
    }
    assert (
        written_rows[0]["meta"]["classify"]["categories"]["trade"] == "shops"
    )


def test_classified_pictures_can_be_captioned(cli: Cli) -> None:
    Path("categories.json").write_text(
        '{"nature": "plants and land", "trade": "shops"}'
    )
    assert cli("classify", "data/img", "--categories", "categories.json", "--judge", "reader:m", "-o", "c.jsonl").code == 0  # fmt: skip
    done = cli(
        "caption", "c.jsonl", "--judge", "story:steady", "-o", "d.jsonl"
    )
    assert done.code == 0, done.err
    assert {item.group["category"] for item in items("d.jsonl")} == {
        "none",
        "nature",
        "several",
    }


def test_translate_goes_clause_by_clause_and_keeps_the_rest(cli: Cli) -> None:
    world = make_world(Path("world"), n_images=1)
    done = cli("translate", str(world.data), "--from", "Hindi", "--to", "English", "--judge", "reader:m", "-o", "world/en.jsonl", "--limit", "1")  # fmt: skip
    assert done.code == 0, done.err
    before, (after,) = rows(str(world.data))[0], rows("world/en.jsonl")
    assert before["candidate"].startswith("यहाँ thing_")
    numbers = [
        word
        for word in before["candidate"].split()
        if word.startswith("thing_")
    ]
    assert after["candidate"] == " ".join(
        f"A {number} is there." for number in numbers
    )
    assert after["id"] == f"{before['id']}/English"
    assert after["group"] == before["group"] | {"language": "en"}
    assert after["images"] == before["images"]


@pytest.mark.slow  # several processes
def test_translations_of_two_runs_study_as_two_languages(cli: Cli) -> None:
    world = make_world(Path("world"), n_images=3)
    hindi = [
        r for r in rows(str(world.data)) if r["group"]["language"] == "Hindi"
    ]
    world.data.write_text("".join(json.dumps(row) + "\n" for row in hindi))
    assert cli("translate", "world/data.jsonl", "--from", "Hindi", "--to", "English", "--judge", "reader:m", "-o", "world/en.jsonl").code == 0  # fmt: skip
    both = Path("world/data.jsonl").read_text("utf-8") + Path(
        "world/en.jsonl"
    ).read_text("utf-8")
    Path("world/both.jsonl").write_text(both)
    beholder.score(
        "world/both.jsonl",
        ["dcscore(direction='both')"],
        judge="reader:m",
        out="run",
    )
    table = study(observe(Path("run"))).table("languages")
    assert table is not None
    assert {(row["n"], row["change"]) for row in table.rows} == {(3, 0.0)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["caption", "data/img"], "no judge was named"),
        (["caption", "data/img", "--judge", "story:x", "--judge", "story:x"], "two judges are called 'x'"),
        (["caption", "data/img", "--judge", "nobody:x"], "no judge is called 'nobody'"),
        (["caption", "data/img", "--judge", "builtin"], "the judge builtin has no operation 'caption'"),
        (["caption", "data/img", "--judge", "story:x", "--words", "few"], "expected none, 40, 30-40, median"),
        (["caption", "data/img", "--judge", "story:x", "--words", "median"], "no reference to measure"),
        (["caption", "-", "--judge", "story:x", "--words", "median"], "reads the data twice"),
        (["caption", "data/img", "--judge", "story:x", "--limit", "0"], "limit=0: expected a whole number from 1"),
        (["caption", "empty", "--judge", "story:x"], "empty: has no row that can be used"),
        (["caption", "none.jsonl", "--judge", "story:x"], "none.jsonl: cannot be read"),
        (["classify", "data/img", "--judge", "reader:m", "--categories", "none.json"], "none.json: cannot be read"),
        (["classify", "data/img", "--judge", "reader:m", "--categories", "list.json"], 'expected {"name"'),
        (["classify", "data/img", "--judge", "reader:m", "--categories", "taken.json"], "may not be called 'none'"),
        (["classify", "data/img", "--judge", "reader:m", "--categories", "good.json", "--by", "smell"], 'Choose from: "picture", "candidate", "reference"'),
    ],
)  # fmt: skip
def test_wrong_usage_exits_2_with_one_line(
    cli: Cli, arguments: list[str], message: str
) -> None:
    Path("empty").mkdir()
    Path("list.json").write_text("[1]")
    Path("taken.json").write_text('{"none": "x"}')
    Path("good.json").write_text('{"a": "x"}')
    done = cli(*arguments, "-o", "out.jsonl")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not Path("out.jsonl").exists()


def test_a_row_without_a_text_cannot_be_translated_or_sorted_by_it(
    cli: Cli,
) -> None:
    Path("good.json").write_text('{"a": "x"}')
    done = cli("classify", "data/img", "--judge", "reader:m", "--categories", "good.json", "--by", "reference", "-o", "o.jsonl")  # fmt: skip
    assert done.code == 1
    assert "there is no reference to sort" in done.err
    done = cli("translate", "data/img", "--from", "A", "--to", "B", "--judge", "reader:m", "-o", "o.jsonl")  # fmt: skip
    assert "there is no text to translate" in done.err


@pytest.mark.parametrize(
    ("text", "limits"),
    [("40", (32, 40)), ("1", (1, 1)), ("30-45", (30, 45)), ("median", (6, 7))],
)
def test_word_limits_allow_a_fifth_below_the_maximum(
    text: str, limits: tuple[int, int]
) -> None:
    # lengths 3, 7 and 11: the median is 7, and a text that stands twice counts once
    texts = [
        "a b c",
        "a b c",
        "a b c",
        "a b c d e f g",
        "a b c d e f g h i j k",
    ]
    revised = [Item(str(i), "", (text,)) for i, text in enumerate(texts)]
    assert word_limits(text, revised) == limits


@pytest.mark.parametrize("text", ["0", "9-3", "x", "-4", "median:none.jsonl"])
def test_wrong_word_limits_are_refused(text: str) -> None:
    with pytest.raises((ConfigError, DataError)):
        word_limits(text, [])


def test_paths_are_told_from_the_outputs_folder(tmp_path: Path) -> None:
    assert rebase_path("a.jpg", tmp_path / "x", tmp_path) == "x/a.jpg"
    assert rebase_path("a.jpg", tmp_path / "x", tmp_path / "x") == "a.jpg"
    assert rebase_path("a.jpg", tmp_path / "x", tmp_path / "y") == str(
        tmp_path / "x" / "a.jpg"
    )
    assert (
        rebase_path("https://e.org/a.jpg", tmp_path, tmp_path)
        == "https://e.org/a.jpg"
    )


def test_captions_of_another_length_are_told_and_stand_on_the_page(
    cli: Cli,
) -> None:
    done = cli(
        "caption", "data/img", "--judge", "story:steady", "--words", "40", "--dataset", "short",
        "-o", "c.jsonl",
    )  # fmt: skip
    message = "12 of 12 texts have not 32 to 40 words, also when asked again"
    assert message in done.err
    assert {item.group["dataset"] for item in items("c.jsonl")} == {
        "short, other length"
    }
    assert cli("report", "c.jsonl.run").code == 0
    assert message in Path("c.jsonl.run/report.html").read_text("utf-8")
    fits = cli("caption", "data/img", "--judge", "story:steady", "--words", "160-170", "--dataset", "long", "-o", "d.jsonl")  # fmt: skip
    assert "other" not in fits.err
    assert {item.group["dataset"] for item in items("d.jsonl")} == {"long"}
