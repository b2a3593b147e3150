"""``beholder rank`` and ``beholder review`` as a person meets them, with a scripted judge."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats as sps

from beholder.backends import BACKENDS
from beholder.data import read_reviews
from beholder.records import Reviews
from toy.command import Cli
from toy.reviewer import Reviewer, write_reviews

pytestmark = pytest.mark.usefixtures("few_resamples")

if "reviewer" not in BACKENDS.names():
    BACKENDS.register("reviewer")(Reviewer)


def _tables(out: str) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(out)
    return tables


def test_rank_prints_tables_and_leaves_csv_and_page(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"))
    done = cli(
        "rank",
        "r.jsonl",
        "-s",
        "perplexity(judge='reviewer:m')",
        "--ablate",
        "-s",
        "response(judge='reviewer:m', orders=2)",
        "-s",
        "metric(length)",
        "--threshold",
        "none",
    )
    assert done.code == 0, done.err
    for words in (
        "people",
        "Kendall's W",
        "≥ 0.6",
        "lengths of texts",
        "gain by the image",
        "position bias",
    ):
        assert words in done.out
    run = Path("runs/rank-r")
    assert (run / "report.html").is_file()
    with (run / "ranks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    # 8 sets of 5 texts: 3 people, 2 x 4 values of perplexity, 1 of response, 3 of length
    assert len(rows) == 8 * 5 * (3 + 8 + 1 + 3)
    with (run / "images.csv").open(newline="") as file:
        images = list(csv.DictReader(file))
    assert len(images) == 8
    # the scripted judge without noise ranks by the very quality that people see with noise
    assert all(row["response(judge='reviewer:m', orders=2)"] for row in images)


def test_names_of_scorers_and_their_numbers_are_whole_at_80_columns(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    write_reviews(Path("r.jsonl"))
    judge = "reviewer('m', bias=0.4, noise=0.3, noise_ja=1.5)"
    response = f'response(judge="{judge}", orders=2)'
    arguments = [
        "rank",
        "r.jsonl",
        "--threshold",
        "none",
        "--ablate",
        "-s",
        response,
        "-s",
        "length",
    ]
    done = cli(*arguments)
    assert done.code == 0, done.err
    tables = _tables(cli(*arguments, "--json").out)
    for row in tables["bias"]:
        lines = done.out.splitlines()
        last = (
            len(lines) - 1 - lines[::-1].index(row["scorer"])
        )  # in the table of position bias
        line = lines[last + 1]
        assert line.split()[0] == f"{row['value']:.3f}"
        assert row["n_failed"] == 0  # a column without failures is not shown
        assert line.split()[-1] == str(row["n_requests"])
    assert max(len(row["scorer"]) for row in tables["bias"]) > 80
    assert "…" not in done.out
    for name in ("scores", "one-more-annotator", "position-bias"):
        for ending in ("csv", "json", "tex"):
            assert Path(f"runs/rank-r/tables/{name}.{ending}").is_file()


def test_a_second_run_asks_nothing_and_gives_the_same_files(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"))
    arguments = (
        "rank",
        "r.jsonl",
        "-s",
        "perplexity(judge=\"reviewer(model='m', log='p')\")",
        "-s",
        "response(judge=\"reviewer(model='m', log='r')\", orders=3)",
        "-s",
        "length",
    )
    assert cli(*arguments).code == 0
    calls = [len(Path(name).read_text().split()) for name in "pr"]
    assert calls == [8 * 5, 8 * 3]
    names = (
        "ranking.json",
        "run.json",
        "report.html",
        "images.csv",
        "ranks.csv",
        "thresholds.csv",
        "tables/scores.csv",
        "tables/scores.json",
        "tables/scores.tex",
    )
    before = [Path("runs/rank-r", name).read_bytes() for name in names]
    assert cli(*arguments).code == 0
    assert [len(Path(name).read_text().split()) for name in "pr"] == calls
    assert [Path("runs/rank-r", name).read_bytes() for name in names] == before
    assert cli("report", "runs/rank-r", "-o", "again.html").code == 0
    assert Path("again.html").read_bytes() == before[2]


def test_a_run_that_stops_on_the_way_goes_on_where_it_was(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reviews(Path("r.jsonl"))
    arguments = (
        "rank",
        "r.jsonl",
        "--concurrency",
        "1",
        "-s",
        "response(judge=\"reviewer(model='m', log='r')\")",
    )
    chat = Reviewer.chat
    n_calls = 0

    async def interrupted(self: Reviewer, request: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 4:
            raise KeyboardInterrupt
        return await chat(self, request)

    with monkeypatch.context() as patch:
        patch.setattr(Reviewer, "chat", interrupted)
        done = cli(*arguments)
    assert done.code == 130
    assert (
        json.loads(Path("runs/rank-r/run.json").read_text())["status"]
        == "interrupted"
    )
    assert cli(*arguments).code == 0
    calls = Path("r").read_text().split()
    assert len(calls) == len(set(calls)) == 8


@pytest.mark.slow  # statistics over many sets
def test_scripted_judge_with_known_bias_is_recovered_within_intervals(
    cli: Cli,
) -> None:
    """120 images in two languages; what to expect is simulated without beholder."""
    write_reviews(Path("r.jsonl"), 120, languages=("en", "ja"))
    judge = "reviewer(model='m', bias=0.4, noise=0.3, noise_ja=1.5)"
    done = cli(
        "rank",
        "r.jsonl",
        "-s",
        f'response(judge="{judge}")',
        "--threshold",
        "none",
        "--resamples",
        "200",
        "--json",
    )
    assert done.code == 0, done.err
    tables = _tables(done.out)
    english, japanese = tables["groups"]["language"]
    expected = {"en": _expected(0.3, 0.4), "ja": _expected(1.5, 0.4)}
    for row in (english, japanese):
        people, model, _ = expected[row["group"]]
        assert row["n"] == 120
        assert (
            row["human"]["interval"][0] < people < row["human"]["interval"][1]
        )
        (scorer,) = row["scorers"]
        assert scorer["interval"][0] < model < scorer["interval"][1]
    (bias,) = tables["bias"]
    both = (expected["en"][2] + expected["ja"][2]) / 2
    assert bias["n_requests"] == 240
    assert bias["interval"][0] < both < bias["interval"][1]
    assert bias["interval"][0] > 0.1  # and it is clearly there


def _ranks(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.argsort(np.argsort(-scores, axis=-1), axis=-1) + 1


def _rho(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Spearman of rows of five ranks without ties."""
    return np.asarray(1 - ((a - b) ** 2).sum(axis=-1) / 20)


def _expected(
    noise: float, bias: float, n: int = 20_000
) -> tuple[float, float, float]:
    """Agreement of the best pair, mean correlation of the judge with it, and position bias."""
    rng = np.random.default_rng(11)
    quality = rng.normal(size=(n, 5))
    people = [
        _ranks(quality + 0.7 * rng.normal(size=(n, 5))) for _ in range(3)
    ]
    pairs = ((0, 1), (0, 2), (1, 2))
    agreement = np.array([_rho(people[a], people[b]) for a, b in pairs]).round(
        6
    )
    place = np.argsort(rng.random((n, 5)), axis=1)
    judge = _ranks(quality + noise * rng.normal(size=(n, 5)) - bias * place)
    with_pair = np.array(
        [
            (_rho(judge, people[a]) + _rho(judge, people[b])) / 2
            for a, b in pairs
        ]
    )
    chosen = with_pair[agreement.argmax(axis=0), np.arange(n)]
    rank_and_place = sps.spearmanr(judge.ravel(), place.ravel()).statistic
    return (
        float(agreement.max(axis=0).mean()),
        float(chosen.mean()),
        float(rank_and_place),
    )


def test_as_many_orders_as_texts_cancel_the_bias(cli: Cli) -> None:
    rows = write_reviews(Path("r.jsonl"), 6)
    judge = "reviewer(model='m', bias=50.0)"  # it ranks by place alone
    done = cli(
        "rank",
        "r.jsonl",
        "-s",
        f'response(judge="{judge}", orders=5)',
        "--threshold",
        "none",
        "--json",
    )
    assert done.code == 0, done.err
    (row,) = _tables(done.out)["scorers"]
    assert (row["n"], row["n_level"]) == (
        0,
        len(rows),
    )  # every text has the mean rank 3
    assert _tables(done.out)["bias"][0]["value"] == pytest.approx(1.0)


def test_malformed_answers_get_one_repair_and_are_then_counted(
    cli: Cli,
) -> None:
    write_reviews(Path("r.jsonl"), 30)
    done = cli(
        "rank",
        "r.jsonl",
        "-s",
        "response(judge=\"reviewer(model='malformed', log='c')\")",
        "--json",
    )
    assert done.code == 1
    assert len(Path("c").read_text().split()) == 60  # each asked again once
    assert "no usable answer to rank" in done.err
    assert "30 failed (25 more than shown)" in done.err
    (row,) = _tables(done.out)["scorers"]
    assert (row["mean"], row["n_failed"]) == (None, 30)
    mended = cli(
        "rank",
        "r.jsonl",
        "-s",
        "response(judge='reviewer:mended')",
        "-o",
        "m",
        "--json",
    )
    assert mended.code == 0, mended.err
    assert _tables(mended.out)["scorers"][0]["n_failed"] == 0


def test_without_a_scorer_references_are_used_if_there_are_any(
    cli: Cli,
) -> None:
    rows = write_reviews(Path("r.jsonl"), 3)
    done = cli("rank", "r.jsonl")
    assert done.code == 2
    assert "name a scorer" in done.err
    assert "perplexity(judge='hf:NAME')" in done.err
    with_references = [
        {
            **row,
            "texts": [
                "A cat sleeps.",
                "A dog barks loudly.",
                "A cat sleeps on a mat.",
            ],
            "ranks": {"a": [2, 3, 1], "b": [2, 3, 1]},
            "prompt_ranks": None,
            "references": ["A cat sleeps on a red mat."],
        }
        for row in rows
    ]
    Path("s.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in with_references)
    )
    done = cli("rank", "s.jsonl", "--json")
    assert done.code == 0, done.err
    (row,) = _tables(done.out)["scorers"]
    assert row["scorer"] == "vcs"
    assert row["mean"] == pytest.approx(1.0)


def test_ablation_prints_the_gain_from_the_image(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"), 60)
    done = cli(
        "rank",
        "r.jsonl",
        "-s",
        "perplexity(judge='reviewer:m')",
        "--ablate",
        "--threshold",
        "none",
        "--json",
    )
    assert done.code == 0, done.err
    tables = _tables(done.out)
    seeing, blind = tables["scorers"]
    assert blind["scorer"] == "perplexity(judge='reviewer:m', image=False)"
    (gain,) = tables["differences"]
    assert gain["image_gain"]
    assert gain["difference"] == pytest.approx(seeing["mean"] - blind["mean"])
    assert (
        gain["interval"][0] > 0
    )  # without the picture the scripted judge sees through noise
    assert [value["value"] for value in seeing["values"]] == [
        "bits_per_character",
        "nll",
        "tokens",
    ]


def test_a_missing_picture_costs_its_image_and_is_named(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"), 4)
    Path("img/002.png").unlink()
    arguments = ("rank", "r.jsonl", "-s", "perplexity(judge='reviewer:m')")
    done = cli(*arguments)
    assert done.code == 1
    assert (
        "p2, perplexity(judge='reviewer:m'): img/002.png: there is no such file"
        in done.err
    )
    assert cli(*arguments, "--allow-failed", "1").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-s", "magic"], "no metric is called 'magic'"),
        (["-s", "response(order=2)"], "did you mean 'orders'?"),
        (
            ["-s", "response(judge=builtin, orders=0)"],
            "orders=0: expected a whole number from 1",
        ),
        (
            ["-s", "perplexity(judge=builtin)"],
            "no operation 'perplexity'; a model has",
        ),
        (
            ["-s", "length", "-s", "length"],
            "the scorer length was asked for twice",
        ),
        (
            ["-s", "length", "--threshold", "high"],
            'unable to convert "high" into float',
        ),
        (
            ["-s", "length", "--threshold", "2"],
            "expected a number from -1 to 1",
        ),
        (
            ["-s", "length", "--ablate"],
            "--ablate needs a scorer that can rank without",
        ),
        (
            ["-s", "length", "--resamples", "0"],
            "resamples=0: expected a whole number from 1",
        ),
    ],
)
def test_wrong_usage_exits_2_with_one_line(
    cli: Cli, arguments: list[str], message: str
) -> None:
    write_reviews(Path("r.jsonl"), 1)
    done = cli("rank", "r.jsonl", *arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_dry_run_counts_what_would_be_asked_and_asks_nobody(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"), 4)
    Path("img/002.png").unlink()
    done = cli(
        "rank",
        "r.jsonl",
        "-s",
        "response(judge=\"reviewer(model='m', log='c')\", orders=3)",
        "-s",
        "length",
        "--dry-run",
    )
    assert done.code == 0, done.err
    assert (
        "9 judge calls" in done.out
    )  # three sets with their picture, three orders
    assert "1 would fail: img/002.png: there is no such file" in done.out
    assert "length: 4 to score" in done.out
    assert not Path("c").exists()
    assert not Path("runs").exists()


def test_other_texts_in_the_same_folder_are_refused_and_new_ranks_are_not(
    cli: Cli,
) -> None:
    rows = write_reviews(Path("r.jsonl"), 2)
    arguments = (
        "rank",
        "r.jsonl",
        "--threshold",
        "none",
        "--json",
        "-s",
        "response(judge=\"reviewer(model='m', log='c')\")",
    )
    assert cli(*arguments).code == 0
    rows[0]["ranks"] = {
        "anna": [1, 2, 3, 4, 5]
    }  # the others have not come yet
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli(*arguments)
    assert done.code == 0, done.err
    assert _tables(done.out)["n_judged"] == 1
    assert (
        len(Path("c").read_text().split()) == 2
    )  # asked in the first run alone
    rows[0]["texts"] = [f"Another text {n}." for n in range(5)]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli(*arguments)
    assert done.code == 2
    assert "holds a run over other data" in done.err
    other_folder = cli("rank", "r.jsonl", "-s", "length", "-o", "runs/score")
    assert other_folder.code == 0
    Path("runs/score/run.json").write_text(
        '{"format": 1, "kind": "narratives"}'
    )
    assert (
        "holds a run of the kind 'narratives', not 'ranking'"
        in cli("rank", "r.jsonl", "-s", "length", "-o", "runs/score").err
    )


def test_bad_rows_stop_the_run_or_are_left_out_and_counted(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"), 2)
    with Path("r.jsonl").open("a") as file:
        file.write('{"texts": ["one"]}\n')
    done = cli("rank", "r.jsonl", "-s", "length")
    assert done.code == 2
    assert "r.jsonl:3: texts: expected two texts or more" in done.err
    done = cli("rank", "r.jsonl", "-s", "length", "--skip-bad-rows")
    assert done.code == 0
    assert "left out: r.jsonl:3" in done.err


def test_review_writes_sets_that_rank_reads(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"), 3)
    judge = "reviewer(model='m', log='calls')"
    arguments = (
        "review",
        "img",
        "--judge",
        judge,
        "--language",
        "en",
        "--language",
        "ja",
    )
    done = cli(*arguments)
    assert done.code == 0, done.err
    assert "6 sets of 5 reviews" in done.out
    run = Path("runs/review-img")
    rows = [
        row
        for row in read_reviews(run / "reviews.jsonl")
        if isinstance(row, Reviews)
    ]
    assert [(row.id, row.language) for row in rows] == [
        (picture, language)
        for picture in ("000", "001", "002")
        for language in ("en", "ja")
    ]
    for row in rows:
        assert row.prompt_ranks is not None
        # the scripted writer numbers its reviews by kind, from 0
        kinds = [int(text.split()[1]) + 1 for text in row.texts]
        assert list(row.prompt_ranks) == kinds
    assert (
        len({row.prompt_ranks for row in rows}) > 1
    )  # the stored order is shuffled
    assert "並び順は無作為" in (run / "instructions-ja.html").read_text(
        "utf-8"
    )
    n_calls = len(Path("calls").read_text().split())
    before = (run / "reviews.jsonl").read_bytes()
    assert cli(*arguments).code == 0
    assert len(Path("calls").read_text().split()) == n_calls == 6
    assert (run / "reviews.jsonl").read_bytes() == before
    ranked = cli(
        "rank",
        str(run / "reviews.jsonl"),
        "--media-root",
        "img",
        "-s",
        "response(judge='reviewer:m')",
        "--json",
    )
    assert ranked.code == 0, ranked.err
    tables = _tables(ranked.out)
    assert (tables["n_images"], tables["n_judged"]) == (6, 0)
    assert tables["reasons"] == {"0 of 0 annotators ranked every text": 6}


def test_review_counts_pictures_that_cannot_be_reviewed(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"), 2)
    Path("img/001.png").write_bytes(b"x")
    done = cli("review", "img", "--judge", "reviewer:m")
    assert done.code == 1
    assert "beholder: 001 (en): img/001.png: not a picture" in done.err
    assert "1 sets of 5 reviews" in done.out


def test_the_published_table_is_ranked_as_it_is(cli: Cli) -> None:
    rows = write_reviews(Path("r.jsonl"), 4)
    table = [
        {
            "id": row["id"],
            "genre": row["category"],
            "image": {
                "bytes": Path(str(row["image"])).read_bytes(),
                "path": "x.png",
            },
            **{
                f"sentence_{n}": text
                for n, text in enumerate(cast(list[str], row["texts"]), 1)
            },
            **{
                f"annotator_{n}": ranks
                for n, ranks in enumerate(
                    cast(dict[str, Any], row["ranks"]).values(), 1
                )
            },
        }
        for row in rows
    ]
    Path("hub").mkdir()
    pq.write_table(pa.Table.from_pylist(table), "hub/train.parquet")
    scorer = "response(judge='reviewer:m')"
    arguments = ("--threshold", "none", "--json", "-s", scorer)
    done = cli("rank", "hub", "--language", "en", "-o", "a", *arguments)
    assert done.code == 0, done.err
    assert len(list(Path("a/pictures").iterdir())) == 4
    local_run = cli("rank", "r.jsonl", "-o", "b", *arguments)
    assert _tables(done.out)["scorers"] == _tables(local_run.out)["scorers"]
    assert _tables(done.out)["scorers"][0]["n"] == 4


@pytest.mark.parametrize("command", ["rank", "review"])
def test_help_shows_an_example(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.code == 0
    assert f"beholder {command}" in done.out


def test_review_counts_beforehand_takes_the_first_and_prints_its_log(
    cli: Cli,
) -> None:
    write_reviews(Path("r.jsonl"), 3)
    arguments = ("review", "img", "--judge", "reviewer:m", "--limit", "2")
    planned = cli(*arguments, "--dry-run")
    assert planned.code == 0, planned.err
    assert (
        "review(judge='reviewer:m'): 2 to score, 0 done already" in planned.out
    )
    assert "about 2 judge calls" in planned.out
    assert not Path("runs").exists()
    done = cli(*arguments, "--json")
    log = json.loads(done.out)
    assert (log["kind"], log["status"], log["data"]["n_items"]) == (
        "reviews",
        "complete",
        2,
    )
    again = cli(*arguments)
    assert "0 made now, 0 failed now, 2 reused" in again.err


def test_texts_that_the_embedder_cannot_read_fail_with_their_language(
    cli: Cli,
) -> None:
    texts = ["塔は左に立っている。", "塔は右にある。", "橋は赤い。"]
    row: dict[str, Any] = {
        "id": "p",
        "language": "ja",
        "texts": texts,
        "references": ["塔は左に立つ。"],
    }
    row["ranks"] = {"a": [1, 2, 3], "b": [1, 2, 3]}
    Path("r.jsonl").write_text(json.dumps(row) + "\n")
    done = cli("rank", "r.jsonl", "--allow-failed", "1")
    assert done.code == 0, done.err
    ranking = json.loads(Path("runs/rank-r/ranking.json").read_text("utf-8"))
    (scorer,) = ranking["tables"]["scorers"]
    assert (scorer["n_failed"], scorer["n_level"]) == (1, 0)
    (reason,) = ranking["images"][0]["failures"].values()
    assert "embedder ordered reads English, but" in reason
    assert "Japanese" in reason
    assert cli("rank", "r.jsonl").code == 1


def test_requests_of_a_judge_that_never_ranks_are_counted(cli: Cli) -> None:
    write_reviews(Path("r.jsonl"), 3)
    judge = "response(judge='reviewer:malformed', orders=2)"
    done = cli("rank", "r.jsonl", "-s", judge, "--allow-failed", "3")
    assert done.code == 0, done.err
    (bias,) = json.loads(Path("runs/rank-r/ranking.json").read_text("utf-8"))[
        "tables"
    ]["bias"]
    assert (bias["n_requests"], bias["n_failed"], bias["value"]) == (
        6,
        6,
        None,
    )
