"""Every table and figure that docs/papers.md promises comes out of its command, on planted data.

A promise is a name in parentheses behind a command in the second column. Each section has a study
of small planted data; it gives the names that came out, and its numbers of data are looked at.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import BACKENDS
from toy.annotated_sets import write_sets
from toy.bothways import Reader, make_world
from toy.command import Cli, runner
from toy.judge import Storyteller
from toy.photos import make_collection, write_narratives
from toy.reviewer import Reviewer, write_reviews

pytestmark = pytest.mark.usefixtures("few_resamples")

for backend_name, backend in (
    ("reader", Reader),
    ("reviewer", Reviewer),
    ("story", Storyteller),
):
    if backend_name not in BACKENDS.names():
        BACKENDS.register(backend_name)(backend)

PAGE = Path(__file__).parents[1] / "docs/papers.md"
NAME = re.compile(r"`([a-z][a-z0-9_-]*)`")


def read_promises() -> dict[str, list[tuple[str, str]]]:
    """By section: the title of each row and a name that it promises."""
    promises: dict[str, list[tuple[str, str]]] = {}
    section = ""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        if not line.startswith("| ") or not section:
            continue
        title, commands, *_ = (
            cell.strip() for cell in line.strip("|").split(" | ")
        )
        for group in re.findall(r"\((`[^()]*)\)", commands):
            names = NAME.findall(group.partition(";")[0])
            promises.setdefault(section, []).extend(
                (title, name) for name in names
            )
    return promises


PROMISES = read_promises()


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    run = runner(monkeypatch, capsys)

    def succeed(*arguments: str) -> Any:
        done = run(*arguments)
        assert done.code == 0, (arguments, done.err)
        return done

    return succeed


def rows_of(folder: str, name: str) -> list[dict[str, str]]:
    with Path(folder, f"{name}.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        return list(csv.DictReader(file))


def write_rows(path: str, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    Path(path).write_text(text, encoding="utf-8")


def run_posh(cli: Cli) -> None:
    """Seven judgments of four pictures, one text marked twice, twelve battles of three models."""
    write_sets(Path("sets"))
    plain = ("--resamples", "40", "--no-report", "--no-figures")
    cli(
        "agree",
        "docent_coarse",
        "--data",
        "sets",
        "-m",
        "length",
        *plain,
        "--tables",
        "t/coarse",
    )
    cli(
        "agree",
        "docent_coarse",
        "--data",
        "sets",
        "--judges",
        "--tables",
        "t/judges",
    )
    cli(
        "agree",
        "docent_granular",
        "--data",
        "sets",
        "--judges",
        "--tables",
        "t/marks",
    )
    cli("agree", "docent_granular", "--data", "sets", "-m", "ngram_embed", *plain,
        "--tables", "t/granular")  # fmt: skip
    cli(
        "agree",
        "--suite",
        "sets",
        "-m",
        "token_f1",
        "--resamples",
        "40",
        "--no-report",
    )
    Path("three.json").write_text('["test_00002"]', "utf-8")
    cli("agree", "caparena", "--data", "sets", "-m", "length", "--subset", "three.json", *plain,
        "--tables", "t/subset")  # fmt: skip
    rows = [
        {"id": f"{system}/{i}", "candidate": text, "references": ["a red cup on a table"],
         "images": [f"{i}.jpg"], "group": {"system": system}}
        for system, text in (("good", "a red cup"), ("poor", "a dog"))
        for i in range(5)
    ]  # fmt: skip
    write_rows("systems.jsonl", rows)
    cli(
        "score",
        "systems.jsonl",
        "-m",
        "token_f1",
        "-m",
        "length",
        "-o",
        "s",
        "--no-report",
    )
    cli(
        "leaderboard",
        "s",
        "--tables",
        "t/board",
        "--figure",
        "t/board/systems.svg",
    )
    assert Path("t/board/systems.svg").is_file()
    assert {row["system"] for row in rows_of("t/board", "leaderboard")} == {
        "good",
        "poor",
    }
    (references, *_) = rows_of("t/coarse", "contents")
    assert (references["n"], references["pictures"]) == ("2", "4")
    assert {row["n"] for row in rows_of("t/coarse", "judgments")} >= {"7"}
    assert rows_of("t/judges", "annotators")[0]["n"] == "3"
    assert rows_of("t/judges", "preferences")[0]["n_judgments"] == "7"
    assert rows_of("t/marks", "annotators-marks")[0]["n_judgments"] == "2"
    assert rows_of("t/granular", "granular")[0]["n"] == "2"
    assert set(rows_of("runs/suite-sets/tables", "coarse")[0]) > {
        "docent_coarse_overall_quality_tau",
        "caparena_caption_accuracy",
        "caparena_model_rho_low",
    }


def run_vcs(cli: Cli) -> None:
    """Two videos, each described by two authors."""
    sentences = (
        "A man opens a door. He walks into a room. He sits on a chair. He reads a book.",
        "A dog runs over a field. It jumps over a fence. It swims in a river. It sleeps.",
    )
    videos = [
        {"id": str(i), "candidate": text, "video": f"{i}.mp4"}
        for i, text in enumerate(sentences)
    ]
    texts = [
        {"id": f"{system}/{i}", "candidate": text, "references": [text], "video": f"{i}.mp4",
         "group": {"system": system}}
        for system in ("first", "second")
        for i, text in enumerate(sentences)
    ]  # fmt: skip
    write_rows("videos.jsonl", videos)
    write_rows("texts.jsonl", texts)
    cli(
        "suite",
        "comparison",
        "videos.jsonl",
        "-m",
        "rouge",
        "-o",
        "runs/comparison",
    )
    cli("suite", "authors", "texts.jsonl", "-m", "rouge", "--author", "system",
        "-o", "runs/authors")  # fmt: skip
    assert rows_of("runs/comparison/tables", "comparison")[0]["n"] == "2"
    assert {row["n"] for row in rows_of("runs/authors/tables", "pairs")} == {
        "2"
    }


def run_har_mar(cli: Cli) -> None:
    """24 pictures by four systems in two languages; some of other lengths, some by two people."""
    world = make_world(Path("world"), 24)
    rows = [
        json.loads(line) for line in world.data.read_text("utf-8").splitlines()
    ]
    for row in rows:
        row["group"]["dataset"] = "free"
    shorter = [
        {
            **row,
            "id": f"{row['id']}/short",
            "group": {**row["group"], "dataset": "short"},
        }
        for row in rows
        if row["group"]["language"] == "English"
    ]
    for row in rows[: 6 * 8]:
        row["references"] = [
            *row["references"],
            row["references"][0].rpartition(" ")[0],
        ]
    write_rows("world/all.jsonl", [*rows, *shorter])
    cli("score", "world/all.jsonl", "-m", "dcscore(direction='both')", "-m", "bleu", "-m", "rouge",
        "--judge", "reader:m", "-o", "run", "--no-report")  # fmt: skip
    cli("bidirectional", "run", "--cuts", "0.4,0.8", "--random", "rest")
    tables = "run/bidirectional/tables"
    counts = {
        (row["dataset"], row["language"]): row["n"]
        for row in rows_of(tables, "rates")
    }
    assert counts == dict.fromkeys(
        [("free", "hi"), ("free", "en"), ("short", "en")], "24"
    )
    assert {row["n"] for row in rows_of(tables, "correlations")} == {"22"}


def run_irr(cli: Cli) -> None:
    """Five reviews of each of eight pictures in English, and five in Japanese."""
    write_reviews(Path("r.jsonl"), languages=("en", "ja"))
    cli("rank", "r.jsonl", "-s", "perplexity(judge='reviewer:m')", "--ablate",
        "-s", "response(judge='reviewer:m', orders=2)")  # fmt: skip
    cli("report", "runs/rank-r", "--figures", "figures")
    tables = "runs/rank-r/tables"
    thresholds = rows_of(tables, "threshold-by-language")
    everything = [row for row in thresholds if row["threshold"] == "any"]
    assert [(row["language"], row["images"]) for row in everything] == [
        ("en", "8"),
        ("ja", "8"),
    ]
    pooled = rows_of(tables, "correlation-by-threshold")
    assert pooled[0]["images"] == "16"
    # Table 4 has people's correlation and the scorer's: at the threshold of the study those of
    # table 2.
    at_study = [row for row in thresholds if row["threshold"] == "≥ 0.6"]
    languages = rows_of(tables, "language")
    for row, language in zip(at_study, languages, strict=True):
        shared = row.keys() & language.keys()
        assert shared > {"language", "images", "people"}  # and the scorers
        assert {key: row[key] for key in shared} == {
            key: language[key] for key in shared
        }
    n_judged = sum(int(row["images"]) for row in languages)
    assert (
        sum(int(row["images"]) for row in rows_of(tables, "category"))
        == n_judged
    )
    assert {
        row["images"] for row in pooled if row["threshold"] == "≥ 0.6"
    } == {str(n_judged)}


def run_narratives(cli: Cli) -> None:
    """Twelve sequences from a collection of forty pictures."""
    make_collection(Path("data"))
    write_narratives(Path("s.jsonl"), 3)
    compare = ("narrate", "compare", "s.jsonl", "--pictures", "data/index.csv")
    vectors = ("--embedder", "npz:data/vectors.npz", "--judges", "2")
    ways = (
        "--by",
        "captions",
        "--by",
        "sight",
        "--by",
        "hybrid",
        "--scale",
        "minmax",
    )
    cli(
        *compare, "--judge", "story:steady", *ways, *vectors, "-o", "runs/ways"
    )
    cli(*compare, "--judge", "story:steady", "--judge", "story:other", *vectors,
        "--by", "sight", "-o", "runs/two")  # fmt: skip
    cli(*compare, "--judge", "story:steady", *vectors, "--by", "sight", "-o", "runs/examples",
        "--example", "human-1=8", "--example", "random-0=3")  # fmt: skip
    cli("narrate", "transitions", "s.jsonl", "--pictures", "data/index.csv",
        "--judge", "story:steady", "-o", "runs/steps")  # fmt: skip
    counts = {
        row["source"]: row["n"]
        for row in rows_of("runs/ways/tables", "coherence")
    }
    assert counts == {"human": "6", "maps": "3", "random": "3"}


STUDIES: dict[str, Callable[[Cli], None]] = {
    "PoSh and DOCENT": run_posh,
    "VCS": run_vcs,
    "HAR and MAR": run_har_mar,
    "IRR": run_irr,
    "Coherence of image sequences": run_narratives,
}


WHOLE = (run_har_mar, run_narratives)


def test_each_section_makes_promises() -> None:
    assert PROMISES.keys() == STUDIES.keys()


@pytest.mark.parametrize(
    "section",
    [
        # Whole studies take seconds.
        pytest.param(section, marks=[pytest.mark.slow] * (study in WHOLE))
        for section, study in STUDIES.items()
    ],
)
def test_what_a_row_promises_comes_out(section: str, cli: Cli) -> None:
    STUDIES[section](cli)
    names = {
        path.stem
        for path in Path().rglob("*")
        if path.suffix in (".csv", ".svg")
    }
    missing = [
        (title, name) for title, name in PROMISES[section] if name not in names
    ]
    assert missing == []
