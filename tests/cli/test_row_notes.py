"""Commands that read rows print what is odd about them; ``score --clean`` removes residue."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.backends import BACKENDS
from beholder.data.notes import describe_languages
from beholder.records import Item
from toy.bothways import Reader
from toy.command import Cli, runner
from toy.judge import Storyteller
from toy.photos import make_collection

for _name, _backend in (("story", Storyteller), ("reader", Reader)):
    if _name not in BACKENDS.names():
        BACKENDS.register(_name)(_backend)

CLEAN = (
    "A brown dog runs along the beach.",
    "Two children build a castle.",
    "A cat sleeps.",
)
OTHER_ROWS = (
    "A dog runs on a beach.",
    "Two children play with sand.",
    "A grey cat sleeps on a sofa.",
)
ODD = (
    f"<think>Is it a red car?</think>{CLEAN[0]}",
    json.dumps({"caption": CLEAN[1]}),
    f"{CLEAN[2]}</s>",
)


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Cli:
    """Runs a command in a folder with pictures and files of rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    make_collection(Path("data"), n=3)
    for name, texts in (("odd", ODD), ("clean", CLEAN)):
        rows = [
            {
                "id": str(number),
                "image": f"data/img/00{number}.jpg",
                "candidate": text,
                "references": [OTHER_ROWS[number]],
                "language": "Elvish" if name == "odd" and number == 0 else "",
                "group": {"system": "ab"[number % 2]},
                "judgments": {"overall": [number, number + 1]},
            }
            for number, text in enumerate(texts)
        ]
        write(f"{name}.jsonl", rows)
        write(
            f"{name}-sets.jsonl",
            [{"id": "0", "texts": texts, "references": OTHER_ROWS}],
        )
    Path("categories.json").write_text(
        '{"nature": "plants", "trade": "shops"}'
    )
    return runner(monkeypatch, capsys)


def write(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    Path(name).write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )


READERS: Mapping[str, tuple[str, ...]] = {
    "score": ("score", "{}.jsonl", "-m", "length", "-o", "run"),
    "agree": (
        "agree",
        "{}.jsonl",
        "-m",
        "length",
        "--no-figures",
        "-o",
        "run",
    ),
    "agreement of annotators": (
        "agree",
        "{}.jsonl",
        "--judges",
        "--label",
        "overall",
    ),
    "rank": ("rank", "{}-sets.jsonl", "-s", "length", "-o", "run"),
    "caption": (
        "caption",
        "{}.jsonl",
        "--judge",
        "story:steady",
        "-o",
        "made.jsonl",
    ),
    "classify": (
        *(
            "classify",
            "{}.jsonl",
            "--categories",
            "categories.json",
            "--judge",
            "reader:m",
        ),
        *("-o", "made.jsonl"),
    ),
    "translate": (
        *(
            "translate",
            "{}.jsonl",
            "--from",
            "English",
            "--to",
            "Hindi",
            "--judge",
            "reader:m",
        ),
        *("--allow-failed", "9", "-o", "made.jsonl"),
    ),
    "sample": ("sample", "{}.jsonl", "--n", "2", "-o", "made.jsonl"),
    "annotate": (
        *(
            "annotate",
            "ratings",
            "{}.jsonl",
            "--annotators",
            "a,b",
            "-o",
            "study",
            "--prepare",
        ),
    ),
    "suite": (
        "suite",
        "comparison",
        "{}.jsonl",
        "-m",
        "token_f1",
        "-o",
        "run",
    ),
}
PLANNED = ("score", "agree", "rank", "caption", "classify", "translate")
COMMANDS = [
    *READERS.items(),
    *((f"{n}, plan", (*READERS[n], "--dry-run")) for n in PLANNED),
]


@pytest.mark.parametrize(
    "arguments", [pytest.param(words, id=name) for name, words in COMMANDS]
)
def test_every_command_prints_each_note_once(
    cli: Cli, arguments: tuple[str, ...]
) -> None:
    done = cli(*(word.format("odd") for word in arguments))
    assert done.code == 0, done.err
    printed = " ".join((done.out + done.err).split())
    if arguments[0] == "suite":  # it compares references alone
        assert "rows in the language 'Elvish'" in printed
        return
    assert (
        printed.count(
            "of 3 candidates 1 contain reasoning, 1 contain special tokens"
        )
        == 1
    )
    assert "1 contain JSON" in printed
    if arguments[0] != "rank":
        assert printed.count("rows in the language 'Elvish': 1") == 1


@pytest.mark.parametrize(
    "arguments", [pytest.param(words, id=name) for name, words in COMMANDS]
)
def test_rows_without_oddities_have_no_notes(
    cli: Cli, arguments: tuple[str, ...]
) -> None:
    done = cli(*(word.format("clean") for word in arguments))
    assert done.code == 0, done.err
    assert " contain " not in done.out + done.err
    assert "rows in the language" not in done.out + done.err


@pytest.mark.parametrize("name", ["score", "rank", "caption"])
def test_notes_are_in_the_run_its_page_and_a_second_start(
    cli: Cli, name: str
) -> None:
    arguments = [word.format("odd") for word in READERS[name]]
    run = Path("run" if "run" in arguments else "made.jsonl.run")
    cli(*arguments)
    notes = beholder.Run(run).notes
    assert any("1 contain reasoning" in note for note in notes)
    again = cli(*arguments)  # the file is not read again
    assert "1 contain reasoning" in " ".join((again.out + again.err).split())
    assert beholder.Run(run).notes == notes
    assert json.loads((run / "run.json").read_text("utf-8"))["data"][
        "notes"
    ] == list(notes)
    assert cli("report", str(run)).code == 0
    (page,) = run.glob("*.html")
    assert "1 contain reasoning" in page.read_text("utf-8")


def test_items_of_python_have_notes_on_their_texts_and_on_coverage(
    tmp_path: Path,
) -> None:
    references = tmp_path / "references.jsonl"
    write(
        str(references),
        [
            {"id": str(n), "references": [text]}
            for n, text in enumerate(OTHER_ROWS)
        ],
    )
    items = [Item(str(n), text) for n, text in enumerate(ODD[:2])]
    for options in (
        items,
        iter(items),
        [{"id": i.id, "candidate": i.candidate} for i in items],
    ):
        run = beholder.score(
            options,
            ["rouge"],
            references_from=references,
            out=tmp_path / type(options).__name__,
        )
        missing, residue = run.notes
        assert missing.startswith(
            "1 of 3 pictures of references.jsonl have no text (2)"
        )
        assert residue.startswith(
            "of 2 candidates 1 contain reasoning, 1 contain JSON: scored as"
        )
        assert "1 of 3 pictures" in str(run)


def test_clean_texts_score_as_texts_that_never_had_residue(cli: Cli) -> None:
    metrics = ("-m", "rouge", "-m", "chrf", "-m", "vcs", "-m", "length")
    assert cli("score", "clean.jsonl", *metrics, "-o", "expected").code == 0
    assert cli("score", "odd.jsonl", *metrics, "-o", "raw").code == 0
    done = cli(
        "score",
        "odd.jsonl",
        *metrics,
        "--clean",
        "residue",
        "-o",
        "run",
        "--json",
    )
    assert done.code == 0, done.err
    summary = {
        result["metric"]: result for result in json.loads(done.out)["summary"]
    }
    expected, raw = (
        beholder.Run(Path("expected")).summary,
        beholder.Run(Path("raw")).summary,
    )
    for name in ("rouge", "chrf", "vcs", "length"):
        assert "|texts:residue@" in summary[name]["signature"]
        assert "texts:" not in raw[name].signature
        for value, estimate in expected[name].values.items():
            assert summary[name]["values"][value]["mean"] == pytest.approx(
                estimate.mean
            )
        headline = next(iter(expected[name].values))
        assert raw[name].values[headline].mean != pytest.approx(
            expected[name].values[headline].mean
        )
    (_, note) = json.loads(done.out)["data"]["notes"]
    assert "1 contain JSON: removed before scoring (--clean residue)" in note


@pytest.mark.parametrize(
    ("first", "second"), [("residue", "none"), ("none", "residue")]
)
def test_a_run_is_not_resumed_with_other_cleaning(
    cli: Cli, first: str, second: str
) -> None:
    arguments = ("score", "odd.jsonl", "-m", "rouge", "-o", "run", "--clean")
    assert cli(*arguments, first).code == 0
    before = Path("run/run.json").read_bytes()
    refused = cli(*arguments, second)
    assert refused.code == 2
    assert "run" in refused.err
    assert Path("run/run.json").read_bytes() == before
    assert cli(*arguments, first).code == 0


def test_pooled_languages_are_named_with_their_numbers(cli: Cli) -> None:
    rows = [
        {
            "id": str(number),
            "candidate": "ab " * number,
            "language": "de" if number in (2, 5) else "en",
        }
        for number in range(1, 7)
    ]
    write("both.jsonl", rows)
    pooled = "rows of 2 languages are pooled in every mean (en 4, de 2)"
    assert pooled in cli("score", "both.jsonl", "-m", "length", "-o", "a").out
    assert pooled in Path("a/run.json").read_text("utf-8")
    assert pooled in Path("a/report.html").read_text("utf-8")
    shutil.copytree("a", "b")
    for command in (("leaderboard", "a", "--json"), ("compare", "a", "b")):
        assert pooled in cli(*command).out, command
    for languages in ((), ("en", "en"), ("en", "", "")):
        assert describe_languages(languages) == ""
