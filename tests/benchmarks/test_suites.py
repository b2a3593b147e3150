"""The suites of the VCS paper on texts whose scores are counted by hand."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from beholder.backends import (
    BACKENDS,
    Answer,
    Backend,
    Capabilities,
    Request,
    Sample,
)
from beholder.errors import ConfigError
from beholder.kinds.agreement.agree import MetricValue
from beholder.kinds.agreement.suites import authors, comparison
from beholder.kinds.agreement.suites.perturb import PERTURBATIONS
from beholder.kinds.scores.engine import ScoreConfig, run_scores
from beholder.metrics import METRICS, Metric, Tools, ValueInfo
from beholder.records import Item, ItemScore
from beholder.run.session import Quiet
from toy.command import Cli
from toy.metric import WordCount


@dataclass(frozen=True)
class Strange(Metric[int]):
    """Words of the candidate that the reference lacks: fewer is better."""

    registered_name = "strange"
    values = (
        ValueInfo(
            "strange",
            "words not in the reference",
            high=1e9,
            higher_is_better=False,
        ),
    )

    async def gather(self, item: Item, tools: Tools) -> int:
        return len(
            set(item.candidate.split()) - set(item.references[0].split())
        )

    def score_item(self, item: Item, evidence: int) -> ItemScore:
        return ItemScore({"strange": float(evidence)}, (), self.signature())


class Varier(Backend):
    """Says each text with one more word, whatever is asked."""

    def __init__(self, model: str) -> None:
        self.name = f"varier:{model}"

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        return Capabilities("m", 0, "schema", images)

    async def chat(self, request: Request) -> Answer:
        text = (
            request.messages[1].text.split("<text>\n")[1].split("\n</text>")[0]
        )
        return Answer((Sample(f"Indeed {text}", "stop"),), "m")


if "strange" not in METRICS.names():
    METRICS.register("strange")(Strange)
if "varier" not in BACKENDS.names():
    BACKENDS.register("varier")(Varier)


def scored_run(items: list[Item], metric: Metric[int], folder: Path) -> Path:
    run_scores(ScoreConfig("texts", (metric,), folder / "run"), Quiet(), items)
    return folder / "run"


def test_valid_above_invalid_is_the_share_of_pairs_worked_out_by_hand(
    tmp_path: Path,
) -> None:
    first, second = (
        Item(id="1", candidate="first"),
        Item(id="2", candidate="second"),
    )
    versions = [
        comparison.version(first, "told", "valid", "a b c d e"),
        comparison.version(first, "short", "valid", "a b c"),
        comparison.version(first, "wrong", "invalid", "a b c"),
        comparison.version(first, "mixed", "invalid", "a"),
        comparison.version(second, "told", "valid", "a b c d"),
        comparison.version(second, "wrong", "invalid", "a b c d e f"),
        comparison.version(second, "mixed", "invalid", "FAIL"),
    ]
    run = scored_run(versions, WordCount(), tmp_path)
    (result,) = comparison.results(
        run, [MetricValue(WordCount())], n_resamples=50
    )
    # Text 1: 5 > 3, 5 > 1, 3 = 3, 3 > 1: 3.5 of 4, one of them level. Text 2: 4 < 6.
    assert result.accuracy is not None
    assert result.accuracy.mean == pytest.approx((3.5 / 4 + 0) / 2)
    assert result.accuracy.n == 2
    assert result.ties is not None
    assert result.ties.mean == pytest.approx((1 / 4 + 0) / 2)
    assert result.separated is not None
    assert result.separated.mean == 0
    rows = {row.kind: row for row in result.kinds}
    assert [row.validity for row in result.kinds] == [
        "valid",
        "valid",
        "invalid",
        "invalid",
    ]
    expected = {
        "told": (4.5, (1 + 0) / 2, 0),
        "short": (3, 0.75, 0),
        "wrong": (4.5, 0.375, 0),
    }
    expected["mixed"] = (1, 1, 1)
    for kind, (mean, accuracy, n_failed) in expected.items():
        row = rows[kind]
        assert row.score is not None
        assert row.accuracy is not None
        assert (row.score.mean, row.accuracy.mean, row.n_failed) == (
            mean,
            accuracy,
            n_failed,
        )


def test_the_lower_value_wins_where_less_is_better(
    tmp_path: Path,
) -> None:
    text = Item(id="1", candidate="a b c")
    versions = [
        comparison.version(text, "told", "valid", "c b a"),
        comparison.version(text, "wrong", "invalid", "a x"),
    ]
    run = scored_run(versions, Strange(), tmp_path)
    (result,) = comparison.results(
        run, [MetricValue(Strange())], n_resamples=50
    )
    assert result.accuracy is not None
    assert result.separated is not None
    assert (result.accuracy.mean, result.separated.mean) == (1, 1)
    assert [row.score.mean for row in result.kinds if row.score] == [0, 1]


def test_versions_are_of_first_references_and_unchanged_ones_are_left_out() -> (
    None
):
    items = [
        Item(
            id="1",
            candidate="x",
            references=("A red car. It is old.", "y"),
            images=("1.jpg",),
        ),
        Item(
            id="2",
            candidate="z",
            references=("A red car. It is old.",),
            images=("1.jpg",),
        ),
        Item(id="3", candidate="A dog."),
    ]
    texts = comparison.texts_of(items)
    assert [(text.id, text.candidate) for text in texts] == [
        ("1", "A red car. It is old."),
        ("3", "A dog."),
    ]
    versions = comparison.by_rule(texts)
    assert all(
        version.candidate != version.references[0] for version in versions
    )
    assert {version.references for version in versions} == {
        (text.candidate,) for text in texts
    }
    kinds = {
        version.group["kind"]
        for version in versions
        if version.group["text"] == "1"
    }
    assert {"reverse", "swap_colours", "contract", "preface"} <= kinds
    assert (
        "exchange_colours" not in kinds
    )  # one colour has none to change places with
    assert comparison.by_rule(texts) == versions
    (german,) = comparison.texts_of(
        [Item(id="4", candidate="Ein.", group={"language": "de"})]
    )
    assert (
        comparison.version(german, "told", "valid", "Eins.").language == "de"
    )


A = {"a": "cat", "b": "dog", "c": "cow"}
B = {"a": "cat", "b": "cat", "c": "cow"}


def written(by: str, texts: dict[str, str]) -> list[Item]:
    return [
        Item(
            id=f"{by}{video}",
            candidate=text,
            video=f"{video}.mp4",
            group={"system": by},
        )
        for video, text in texts.items()
    ]


def test_same_video_above_other_videos_is_worked_out_by_hand(
    tmp_path: Path,
) -> None:
    items = list(authors.comparisons([*written("A", A), *written("B", B)]))
    assert (
        len(items) == 2 * 3 * 3
    )  # pairs of authors, videos, one same and two others
    assert [item.group["about"] for item in items].count("same") == 6
    run = scored_run(items, Strange(), tmp_path)
    (result,) = authors.results(run, [MetricValue(Strange())], n_resamples=50)
    # Strange is 0 for the same word, 1 for another; 0 is better.
    # Against A: a: 0 against 0 and 1 -> .75; b: 1 against 1 and 1 -> .5; c: 0 against 1, 1 -> 1.
    # Against B: a: 0 against 1, 1 -> 1; b: 1 against 0 and 1 -> .25; c: 0 against 1, 1 -> 1.
    assert result.accuracy is not None
    assert result.accuracy.mean == pytest.approx(4.5 / 6)
    means = {
        name: estimate.mean
        for name, estimate in result.by_reference.items()
        if estimate
    }
    assert means == pytest.approx({"A": 2.25 / 3, "B": 2.25 / 3})
    against_a = next(pair for pair in result.pairs if pair.reference == "A")
    assert (against_a.candidate, against_a.n_failed) == ("B", 0)
    assert against_a.same is not None
    assert against_a.other is not None
    assert against_a.same.mean == pytest.approx(1 / 3)
    assert against_a.other.mean == pytest.approx(5 / 6)
    assert (against_a.same.n, against_a.other.n) == (3, 6)


def test_each_text_is_compared_with_n_other_sources() -> None:
    many = {str(n): f"text {n}" for n in range(8)}
    items = list(
        authors.comparisons(
            [*written("A", many), *written("B", many)], n_others=2
        )
    )
    assert len(items) == 2 * 8 * 3
    assert len({item.id for item in items}) == len(items)
    for item in items:
        is_same_text = item.candidate == item.references[0]
        assert is_same_text == (item.group["about"] == "same")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [Item(id="x", candidate="t", video="v")],
            "does not say who wrote it: group.system",
        ),
        (
            [Item(id="x", candidate="t", group={"system": "A"})],
            "neither image nor video",
        ),
        (
            [*written("A", A), *written("A", A)],
            "'A' has two texts about 'a.mp4'",
        ),
        (
            written("A", A),
            "no two authors with texts about the same two sources; 1 found",
        ),
    ],
)
def test_rows_that_are_no_such_set_are_refused(
    rows: list[Item], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        list(authors.comparisons(rows))


def test_a_judge_writes_further_valid_versions_only_once(
    cli: Cli,
) -> None:
    text = "A red car stands on the left of a house. It is old. Two dogs sleep below a tree."
    Path("d.jsonl").write_text(
        json.dumps({"id": "d/1", "candidate": text}) + "\n"
    )
    command = ("suite", "comparison", "d.jsonl", "-m", "vcs", "-m", "strange")
    done = cli(*command, "--writer", "varier:m", "--json", "-o", "run")
    assert done.code == 0, done.err
    vcs, strange = json.loads(done.out)
    kinds = {row["kind"]: row for row in strange["kinds"]}
    written_kinds = ("paraphrase", "style", "tense", "summary", "expansion")
    assert all(kinds[name]["validity"] == "valid" for name in written_kinds)
    assert [kinds[name]["score"]["mean"] for name in written_kinds] == [
        1.0
    ] * 5  # the word "Indeed"
    assert vcs["metric"] == "vcs"
    assert {row["kind"] for row in vcs["kinds"]} <= {
        *PERTURBATIONS,
        *written_kinds,
    }
    again = cli(*command, "--writer", "varier:m", "-o", "run")
    assert "0 scored now, 0 failed now" in again.err
    assert "valid above invalid" in again.out
    with Path("run/tables/comparison.csv").open(
        newline="", encoding="utf-8"
    ) as file:
        written = {row["metric"]: row for row in csv.DictReader(file)}
    assert (
        float(written["strange.strange"]["accuracy"])
        == strange["accuracy"]["mean"]
    )
    with Path("run/tables/kinds.csv").open(
        newline="", encoding="utf-8"
    ) as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["metric"] == "strange.strange"
        ]
    assert [
        (row["kind"], row["validity"], row["n_failed"]) for row in rows
    ] == [
        (row["kind"], row["validity"], str(row["n_failed"]))
        for row in strange["kinds"]
    ]
    assert [row["mean"] for row in rows if row["kind"] in written_kinds] == [
        "1.0"
    ] * 5
    assert "share of pairs of a valid" in Path(
        "run/tables/comparison.tex"
    ).read_text("utf-8")


def test_authors_are_compared_from_a_file(cli: Cli) -> None:
    rows = [
        {
            "id": item.id,
            "candidate": item.candidate,
            "video": item.video,
            "author": by,
        }
        for by, texts in (("A", A), ("B", B))
        for item in written(by, texts)
    ]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("suite", "authors", "t.jsonl", "-m", "strange")
    done = cli(*command, "--author", "author", "--json")
    assert done.code == 2
    assert "group.author is missing" in done.err
    renamed_rows = [
        {**row, "group": {"author": row["author"]}} for row in rows
    ]
    Path("t.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in renamed_rows)
    )
    done = cli(*command, "--author", "author")
    assert done.code == 0, done.err
    assert "against A" in done.out
    assert "0.75" in done.out
    table_rows = json.loads(
        Path("runs/authors-t/tables/pairs.json").read_text("utf-8")
    )["rows"]
    assert {(row["candidate"], row["reference"]) for row in table_rows} == {
        ("A", "B"),
        ("B", "A"),
    }
    assert sorted(row["n"] for row in table_rows) == [3, 3]
    assert cli(*command, "--others", "0").code == 2
