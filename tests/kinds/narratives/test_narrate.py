"""``beholder narrate`` as a person meets it, with a scripted judge; killed and gone on with."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from beholder.backends import BACKENDS
from beholder.data import read_frames, read_storylines
from beholder.errors import DataError
from beholder.records import Frame, Storyline
from toy.command import Cli, runner
from toy.judge import Storyteller
from toy.photos import make_collection, write_narratives

pytestmark = pytest.mark.usefixtures("few_resamples")

if "story" not in BACKENDS.names():
    BACKENDS.register("story")(Storyteller)


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Cli:
    """Runs a command in a folder with a small collection; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    make_collection(Path("data"))
    return runner(monkeypatch, capsys, "narrate")


def _frames(path: str) -> list[Frame]:
    return [row for row in read_frames(path) if not isinstance(row, DataError)]


def _sequences(path: str) -> list[Storyline]:
    return [
        row for row in read_storylines(path) if not isinstance(row, DataError)
    ]


def test_extract_writes_a_storyline_in_order_of_time(cli: Cli) -> None:
    done = cli(
        "extract",
        "data/index.csv",
        "-k",
        "6",
        "--source",
        "p000",
        "--target",
        "p039",
        "--embedder",
        "npz:data/vectors.npz",
        "-o",
        "s.jsonl",
    )
    assert done.code == 0, done.err
    (story,) = _sequences("s.jsonl")
    assert story.source == "maxmin"
    assert [f.id for f in story.frames][:: len(story.frames) - 1] == [
        "p000",
        "p039",
    ]
    dates = [f.date.first for f in story.frames if f.date]
    assert len(dates) == 6
    assert dates == sorted(dates)
    assert "theta|jsd:divergence|base:2|scale:raw" in done.err
    assert "weakest link" in done.out


def test_extract_like_human_storylines_in_every_way(cli: Cli) -> None:
    write_narratives(Path("human.jsonl"), 0)
    for way in ("maxmin", "maps", "trails", "random"):
        done = cli(
            "extract",
            "data/index.csv",
            "--like",
            "human.jsonl",
            "--method",
            way,
            "--embedder",
            "npz:data/vectors.npz",
            "--replications",
            "2",
            "-o",
            f"{way}.jsonl",
        )
        assert done.code == 0, done.err
        storylines = _sequences(f"{way}.jsonl")
        assert len(storylines) == 12
        assert {s.frames[0].id for s in storylines} == {"p000"}
        assert {s.frames[-1].id for s in storylines} == {"p039"}
    assert (
        "reached its bound"
        in cli(
            "extract",
            "data/index.csv",
            "-k",
            "5",
            "--source",
            "p000",
            "--target",
            "p039",
            "--method",
            "maps",
            "--embedder",
            "npz:data/vectors.npz",
            "-o",
            "m.jsonl",
        ).err
    )


def test_replications_that_find_one_storyline_in_another_order_are_one(
    cli: Cli,
) -> None:
    # Only the two in the middle of one month may stand either way; the one path that is coherent
    # leaves them out: from first to last picture, through the picture half way between.
    vectors = {
        "a": (1, 0, 0),
        "b": (0, 0, 1),
        "c": (0.7, 0.7, 0),
        "d": (0, 0.1, 1),
        "e": (0, 1, 0),
    }
    dates = {
        "a": "1931-01-01",
        "b": "1931",
        "c": "1931",
        "d": "1931",
        "e": "1931-12-31",
    }
    Path("five.csv").write_text(
        "id,image,date\n"
        + "".join(f"{n},{n}.jpg,{dates[n]}\n" for n in vectors),
        "utf-8",
    )
    np.savez(
        "five.npz",
        ids=np.array(list(vectors)),
        embeddings=np.array(list(vectors.values())),
    )
    for name in vectors:
        Path(f"{name}.jpg").write_bytes(
            next(Path("data").rglob("*.jpg")).read_bytes()
        )
    done = cli(
        "extract",
        "five.csv",
        "--source",
        "a",
        "--target",
        "e",
        "-k",
        "3",
        "--method",
        "trails",
        "--replications",
        "10",
        "--embedder",
        "npz:five.npz",
        "-o",
        "five.jsonl",
    )
    assert done.code == 0, done.err
    assert {
        tuple(f.id for f in s.frames) for s in _sequences("five.jsonl")
    } == {("a", "c", "e")}
    assert "10 storylines, 1 of them different" in done.err


def test_extract_leaves_out_what_has_no_date(cli: Cli) -> None:
    picture = next(Path("data").rglob("*.jpg")).read_bytes()
    dates = {"a": "1920s", "b": "", "c": "c. 1935", "d": "1940"}
    Path("some.csv").write_text(
        "id,image,date\n"
        + "".join(f"{n},{n}.jpg,{date}\n" for n, date in dates.items()),
        "utf-8",
    )
    for name in dates:
        Path(f"{name}.jpg").write_bytes(picture)
    np.savez("some.npz", ids=np.array(list(dates)), embeddings=np.eye(4))
    arguments = (
        "extract",
        "some.csv",
        "--source",
        "a",
        "--target",
        "d",
        "-k",
        "3",
        "--embedder",
        "npz:some.npz",
        "-o",
        "some.jsonl",
    )
    refused = cli(*arguments)
    assert refused.code == 2
    assert "--skip-undated" in refused.err
    done = cli(*arguments, "--skip-undated")
    assert done.code == 0, done.err
    (story,) = _sequences("some.jsonl")
    assert [f.id for f in story.frames] == ["a", "c", "d"]
    assert "'b' has no date" in done.err
    both = cli(*arguments, "--skip-undated", "--spread-dates")
    assert both.code == 2
    assert "choose one" in both.err
    Path("some.csv").write_text("id,image,date\nb,b.jpg,\n", "utf-8")
    none = cli(*arguments, "--skip-undated")
    assert none.code == 2
    assert "no picture has a date" in none.err


def test_extract_from_a_folder_with_handcrafted_vectors_says_what_they_are(
    cli: Cli,
) -> None:
    pytest.importorskip("skimage")
    Path("data/img/broken.jpg").write_bytes(b"x")
    done = cli("extract", "data/img", "-k", "4", "-o", "s.jsonl")
    assert done.code == 0, done.err
    assert "left out: data/img/broken.jpg: not a picture" in done.err
    assert "represent appearance, not meaning" in done.err
    (story,) = _sequences("s.jsonl")
    assert len(story.frames) == 4


def test_extract_covers_topics_of_spread_labels(cli: Cli) -> None:
    pytest.importorskip("sklearn")
    done = cli(
        "extract",
        "data/index.csv",
        "-k",
        "5",
        "--topics",
        "labels:category",
        "--cover",
        "2",
        "--embedder",
        "npz:data/vectors.npz",
        "-o",
        "s.jsonl",
    )
    assert done.code == 0, done.err
    assert len(_sequences("s.jsonl")) == 1
    assert "topics:2" in done.err


def test_bad_rows_of_the_storylines_to_follow_stop_the_extraction(
    cli: Cli,
) -> None:
    rows = [
        {"id": "a", "source": "human", "frames": ["p000", "p010", "p039"]},
        {"id": "b", "source": "human", "frames": ["p000", "nowhere"]},
        {"id": "c", "source": "human"},
    ]
    Path("human.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    arguments = (
        "extract",
        "data/index.csv",
        "--like",
        "human.jsonl",
        "-o",
        "s.jsonl",
        "--embedder",
        "npz:data/vectors.npz",
    )
    done = cli(*arguments)
    assert done.code == 2
    assert "human.jsonl:2: frames[1]" in done.err
    assert "human.jsonl:3: frames" in done.err
    assert not Path("s.jsonl").exists()
    skipped = cli(*arguments, "--skip-bad-rows")
    assert skipped.code == 0, skipped.err
    assert skipped.err.count("left out: human.jsonl:") == 2
    assert len(_sequences("s.jsonl")) == 1


@pytest.mark.parametrize("rows", ["", '{"id": "b", "frames": ["nowhere"]}\n'])
def test_storylines_to_follow_without_a_usable_row_are_refused(
    cli: Cli, rows: str
) -> None:
    Path("human.jsonl").write_text(rows)
    done = cli(
        "extract",
        "data/index.csv",
        "--like",
        "human.jsonl",
        "-o",
        "s.jsonl",
        "--skip-bad-rows",
    )
    assert done.code == 2
    assert "human.jsonl: has no row that can be used" in done.err


def test_bad_rows_of_the_collection_and_of_storylines_to_follow_are_reported(
    cli: Cli,
) -> None:
    with Path("data/index.csv").open("a") as file:
        file.write("p000\n")
    done = cli("extract", "data/index.csv", "-k", "4", "-o", "s.jsonl")
    assert done.code == 2
    assert "data/index.csv:42: has 1 cells" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to extract"),
        (["-k", "4", "--source", "zz"], "'zz' is not a usable picture"),
        (
            ["-k", "4", "--method", "magic"],
            'Choose from: "maxmin", "maps", "trails", "random"',
        ),
        (
            ["-k", "4", "--method", "maps"],
            "maps needs the first and the last picture",
        ),
        (
            ["-k", "4", "--method", "random", "--cover", "2"],
            "cover is an option of maxmin",
        ),
        (
            ["-k", "99"],
            "k=99: from the first picture to the last one there are 40 pictures",
        ),
        (
            ["-k", "4", "--topics", "labels:mood"],
            "no picture has that label; there are: category",
        ),
        (
            ["-k", "4", "--embedder", "npz:none.npz"],
            "none.npz: there is no such file",
        ),
        (["-k", "4", "--map", "date"], "expected FIELD=COLUMN"),
        (["-k", "4", "--scale", "big"], 'Choose from: "raw", "minmax"'),
    ],
)
def test_wrong_extraction_exits_2_with_one_line(
    cli: Cli, arguments: list[str], message: str
) -> None:
    embedder = (
        []
        if "--embedder" in arguments
        else ["--embedder", "npz:data/vectors.npz"]
    )
    done = cli(
        "extract", "data/index.csv", *arguments, *embedder, "-o", "s.jsonl"
    )
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_judge_prints_costs_before_and_scores_after(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 4)
    done = cli(
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--judge",
        "story:steady",
    )
    assert done.code == 0, done.err
    assert "captions pay from" in done.err
    assert "published for one hosted model" in done.err
    assert "ICC(2,1)" in done.out
    study = json.loads(Path("runs/s/study.json").read_text("utf-8"))
    assert study["cost"]["seconds"]["basis"].startswith("measured in this run")
    # the toy takes 2 s a caption, 0.5 s and 5 s a rating; 3 judges
    n = study["cost"]["n_pictures"]
    assert study["cost"]["seconds"]["break_even"] == pytest.approx(
        n * 2.0 / (3 * 4.5)
    )
    assert Path("runs/s/report.html").is_file()


def test_repeated_narratives_are_judged_once_and_reported(cli: Cli) -> None:
    rows = [
        {"id": str(i), "source": "maps", "frames": ["p000", "p010", "p020"]}
        for i in range(3)
    ]
    Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli(
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "sight",
        "--judge",
        "story:steady",
    )
    assert done.code == 0, done.err
    study = json.loads(Path("runs/s/study.json").read_text("utf-8"))
    assert study["cost"]["stages"]["sight"]["calls"] == 3
    assert study["tables"]["cautions"][0].startswith(
        "2 of 3 narratives repeat another"
    )


def test_dry_run_asks_nobody_and_writes_nothing(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 1)
    done = cli(
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--judge",
        "story:steady",
        "--dry-run",
    )
    assert done.code == 0
    assert "8 narratives of" in done.err
    assert not Path("runs").exists()


def test_hybrid_looks_at_a_share_and_says_what_it_spared(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 10)
    done = cli(
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "hybrid",
        "--share",
        "0.25",
        "--judge",
        "story(model='steady', log='calls.txt')",
    )
    assert done.code == 0, done.err
    study = json.loads(Path("runs/s/study.json").read_text("utf-8"))
    assert study["hybrid"]["n_seen"] == 7  # a quarter of 26, rounded up
    assert study["hybrid"]["calls_saved"] == 19 * 3
    assert study["cost"]["stages"]["sight"]["calls"] == 7 * 3
    assert study["hybrid"]["seconds_saved"] == pytest.approx(19 * 3 * 5.0)
    assert [
        row["n"]
        for row in study["tables"]["reliability"]
        if row["method"] == "hybrid"
    ] == [26]


def test_judges_and_examples_are_named_on_the_command_line(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 3)
    done = cli(
        "compare",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "sight",
        "--judges",
        "2",
        "--judge",
        "story:steady",
        "--judge",
        "story(model='other', log='b.txt')",
        "--example",
        "human-1=8",
        "--example",
        "random-0=3",
    )
    assert done.code == 0, done.err
    study = json.loads(Path("runs/s/study.json").read_text("utf-8"))
    assert len(study["narratives"]) == 10
    assert [
        (example["id"], example["rating"])
        for example in study["examples"]["shown"]
    ] == [
        ("human-1", 8),
        ("random-0", 3),
    ]
    assert study["voting"]["examples"] == {"human-1": 8, "random-0": 3}
    assert len(study["tables"]["methods"]) == 4
    assert (
        "8 ratings of each narrative" in done.err
    )  # two of each judge, with and without
    assert len(Path("b.txt").read_text("utf-8").split()) == 2 * 2 * 10
    again = cli(
        "compare",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "sight",
        "--judges",
        "2",
        "--judge",
        "story:steady",
        "--example",
        "human-1=7",
        "-o",
        "runs/s",
    )
    assert again.code == 2  # other examples leave out other sequences
    assert "runs/s holds a run over other data" in again.err
    same = cli(
        "compare",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "sight",
        "-o",
        "same",
        "--judge",
        "story:steady",
        "--judge",
        "story(model='steady', log='b.txt')",
    )
    assert same.code == 2
    assert (
        "story:steady and story(model='steady', log='b.txt') are the same"
        in same.err
    )


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("human-1", "--example 'human-1': expected ID=RATING"),
        ("=8", "expected ID=RATING"),
        ("human-1=8.5", "expected ID=RATING"),
        (
            "human-1=11",
            "example human-1=11: expected a whole number from 1 to 10",
        ),
        ("nobody=4", "example 'nobody': s.jsonl has no sequence of that id"),
    ],
)
def test_an_example_that_cannot_be_shown_exits_2(
    cli: Cli, example: str, message: str
) -> None:
    write_narratives(Path("s.jsonl"), 1)
    done = cli(
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--judge",
        "story:steady",
        "--example",
        example,
    )
    assert done.code == 2
    assert message in done.err
    assert not Path("runs").exists()


def test_captions_can_name_connections_between_pictures(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 0)
    arguments = (
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "captions",
    )
    judge = ("--judge", "story(model='steady', log='calls.txt')")
    assert cli(*arguments, *judge, "-o", "plain").code == 0
    plain = set(Path("calls.txt").read_text("utf-8").split())
    assert cli(*arguments, *judge, "-o", "told", "--connections").code == 0
    both = set(Path("calls.txt").read_text("utf-8").split())
    study = json.loads(Path("told/study.json").read_text("utf-8"))
    # other questions; the toy captions a picture alike either way, so that ratings are asked alike
    assert len(both - plain) == study["cost"]["stages"]["caption"]["calls"]


def test_another_run_takes_shared_answers_from_the_cache(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 1)
    for out in ("first", "second"):
        done = cli(
            "judge",
            "s.jsonl",
            "--pictures",
            "data/index.csv",
            "--by",
            "captions",
            "-o",
            out,
            "--cache",
            "shared",
            "--judge",
            "story(model='steady', log='calls.txt')",
        )
        assert done.code == 0, done.err
        calls = Path("calls.txt").read_text("utf-8").split()
        assert len(calls) == len(set(calls))  # the second run made none
    first, second = (
        Path(out, "study.json").read_bytes() for out in ("first", "second")
    )
    assert first == second


def test_transitions_list_the_weakest_links_with_their_theta(
    cli: Cli,
) -> None:
    write_narratives(Path("s.jsonl"), 2)
    done = cli(
        "transitions",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--judge",
        "story:steady",
        "--embedder",
        "npz:data/vectors.npz",
        "--judges",
        "2",
    )
    assert done.code == 0, done.err
    assert "weakest links" in done.out
    study = json.loads(Path("runs/s/study.json").read_text("utf-8"))
    for narrative in study["narratives"]:
        assert len(narrative["steps"]) == len(narrative["frames"]) - 1
        assert len(narrative["coherence"]["steps"]) == len(narrative["steps"])
    page = Path("runs/s/report.html").read_text("utf-8")
    assert "lowest by judges" in page
    assert "weakest by coherence" in page


def test_two_runs_of_different_judges_are_compared_and_their_tables_written(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_narratives(Path("s.jsonl"), 3)
    arguments = (
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "captions",
        "-K",
        "2",
    )
    for model in ("steady", "mild"):
        assert (
            cli(*arguments, "--judge", f"story:{model}", "-o", model).code == 0
        )
    compare = runner(monkeypatch, capsys, "compare")
    done = compare("steady", "mild", "--tables", "tables")
    assert done.code == 0, done.err
    for words in (
        "judges side by side, captions",
        "two judges, captions",
        "what judging costs",
    ):
        assert words in done.out
    assert "share no way" not in done.err
    comparison = json.loads(compare("steady", "mild", "--json").out)
    with Path("tables/judge-pairs-captions.csv").open(
        newline="", encoding="utf-8"
    ) as file:
        (pair,) = csv.DictReader(file)
    (expected,) = comparison["models"][0]["pairs"]
    assert (pair["a"], pair["b"]) == ("steady", "mild")
    assert [
        float(pair[end]) for end in ("difference_low", "difference_high")
    ] == (expected["difference_interval"])
    with Path("tables/costs.csv").open(newline="", encoding="utf-8") as file:
        costs = list(csv.DictReader(file))
    assert [(row["run"], int(row["calls"])) for row in costs] == [
        (row["run"], row["calls"]) for row in comparison["cost"]
    ]
    sight = (
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--by",
        "sight",
        "-K",
        "2",
    )
    assert cli(*sight, "--judge", "story:mild", "-o", "sight").code == 0
    done = compare("steady", "sight")
    assert done.code == 0, done.err
    assert "the runs share no way of rating" in done.err
    assert "what judging costs" in done.out


def test_compare_without_a_judge_measures_coherence_and_distance(
    cli: Cli,
) -> None:
    write_narratives(Path("s.jsonl"), 3)
    done = cli(
        "compare",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--embedder",
        "npz:data/vectors.npz",
        "--scale",
        "minmax",
        "--json",
    )
    assert done.code == 0, done.err
    tables = json.loads(done.out)["tables"]
    coherence = {row["source"]: row for row in tables["coherence"]}
    assert coherence["human"]["minimum"]["n"] == 6
    assert coherence["human"]["dtw"]["n"] == 0
    assert coherence["maps"]["dtw"]["n"] == 3
    # random ones jump about, the others follow the drift of the vectors
    assert (
        coherence["random"]["mean"]["mean"] < coherence["maps"]["mean"]["mean"]
    )


def test_one_unreadable_picture_is_a_counted_failure_that_names_frame_and_file(
    cli: Cli,
) -> None:
    write_narratives(Path("s.jsonl"), 1)
    Path("data/img/000.jpg").write_bytes(
        b"x"
    )  # the first picture of every narrative
    arguments = (
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--judge",
        "story:steady",
        "--by",
        "sight",
    )
    done = cli(*arguments)
    assert done.code == 1
    assert "frame 'p000': data/img/000.jpg: not a picture" in done.err
    assert "8 failed (3 more than shown)" in done.err
    assert cli(*arguments, "--allow-failed", "8").code == 0


def test_a_wrong_picture_folder_is_reported_even_if_no_score_needs_pictures(
    cli: Cli,
) -> None:
    write_narratives(Path("s.jsonl"), 3)
    Path("elsewhere").mkdir()
    done = cli(
        "compare",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--embedder",
        "npz:data/vectors.npz",
        "--media-root",
        "elsewhere",
    )
    assert done.code == 0, done.err
    assert (
        "pictures could not be read (is --media-root right?); the first: p0"
        in done.err
    )


def test_unusable_answers_are_failures_with_the_judges_words(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 1)
    done = cli(
        "judge",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--judge",
        "story:broken",
        "--by",
        "sight",
        "-o",
        "r",
    )
    assert done.code == 1
    study = json.loads(Path("r/study.json").read_text("utf-8"))
    (human, *_) = study["tables"]["scores"]
    assert human["n"] == 0
    assert human["n_votes_failed"] == 18
    reasons = {
        v["failure"] for n in study["narratives"] for v in n["votes"]["sight"]
    }
    assert any("a lovely story" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judge", "s.jsonl"], "no judge was named"),
        (
            ["judge", "none.jsonl", "--judge", "story:x"],
            "none.jsonl: cannot be read",
        ),
        (
            ["judge", "s.jsonl", "--judge", "story:x", "--by", "smell"],
            'Choose from: "captions", "sight", "hybrid"',
        ),
        (
            ["judge", "s.jsonl", "--judge", "nobody:x"],
            "no judge is called 'nobody'",
        ),
        (
            ["judge", "s.jsonl", "--judge", "story:x", "--temperature", "0"],
            "look like agreement",
        ),
        (
            ["compare", "s.jsonl"],
            "name an --embedder (coherence), a --judge (ratings)",
        ),
        (
            ["judge", "bad.jsonl", "--judge", "story:x"],
            "bad.jsonl:1: frames[0]: no frame",
        ),
    ],
)
def test_wrong_usage_exits_2_with_one_line(
    cli: Cli, arguments: list[str], message: str
) -> None:
    write_narratives(Path("s.jsonl"), 1)
    Path("bad.jsonl").write_text('{"id": "x", "frames": ["zz"]}\n')
    done = cli(*arguments, "--pictures", "data/index.csv")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_run_directory_of_other_sequences_is_refused(cli: Cli) -> None:
    write_narratives(Path("s.jsonl"), 1)
    command = (
        "compare",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--embedder",
        "npz:data/vectors.npz",
    )
    assert cli(*command).code == 0
    write_narratives(Path("s.jsonl"), 2)
    done = cli(*command)
    assert done.code == 2
    assert "runs/s holds a run over other data" in done.err


@pytest.mark.slow  # a study of 46 storylines
def test_a_study_of_both_methods_distinguishes_sources(cli: Cli) -> None:
    """46 storylines, three votes each."""
    write_narratives(Path("s.jsonl"), 20)
    done = cli(
        "compare",
        "s.jsonl",
        "--pictures",
        "data/index.csv",
        "--embedder",
        "npz:data/vectors.npz",
        "--by",
        "captions",
        "--by",
        "sight",
        "--by",
        "hybrid",
        "--by",
        "transitions",
        "--judge",
        "story:steady",
        "-o",
        "study",
    )
    assert done.code == 0, done.err
    tables = json.loads(Path("study/study.json").read_text("utf-8"))["tables"]
    scores = {(row["method"], row["source"]): row for row in tables["scores"]}
    assert (
        scores["captions", "maps"]["n"] == scores["sight", "random"]["n"] == 20
    )
    assert scores["sight", "human"]["n_votes"] == 18
    # the toy judge takes changes of place for breaks, and random sequences have more of them
    assert scores["sight", "maps"]["mean"] > scores["sight", "random"]["mean"]
    reliability = {
        row["method"]: row["icc_single"]["value"]
        for row in tables["reliability"]
    }
    assert reliability["sight"] > reliability["captions"]


@pytest.mark.parametrize(
    "command", ["extract", "judge", "transitions", "compare"]
)
def test_help_of_each_command_shows_an_example(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.code == 0
    assert f"beholder narrate {command}" in done.out


def test_the_toy_collection_has_the_properties_that_tests_assume(
    cli: Cli,
) -> None:
    frames = _frames("data/index.csv")
    assert len(frames) == 40
    assert np.load("data/vectors.npz")["ids"][3] == frames[3].id
