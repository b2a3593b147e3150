"""A series from its beginning to its bridge, by the commands, with a judge that can change."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.errors import ConfigError
from toy.command import Cli, Done
from toy.drifting import GRADED_TEXTS

pytestmark = pytest.mark.usefixtures("few_resamples")

METRIC = "direct_assessment"
N_ANCHORS = 40


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    GRADED_TEXTS.clear()
    set_judge()
    return cli


def set_judge(name: str = "judge.json", **state: Any) -> None:
    Path(name).write_text(json.dumps(state), encoding="utf-8")


def write_texts(name: str, n: int, **further: Any) -> None:
    """Texts of grades 2 to 5 in turn; one in three has another length."""
    rows = [
        {
            "id": f"{name}-{place}",
            "candidate": f"Grade {2 + place % 4}: {name} {place} {'x' * (place % 3)}",
            "references": [f"Reference {name} {place}."],
            "group": {"camera": "day" if place % 3 else "dusk"},
            **further,
        }
        for place in range(n)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    Path(f"{name}.jsonl").write_text(lines, encoding="utf-8")


def begin(cli: Cli, *further: str) -> Done:
    write_texts("anchor", N_ANCHORS)
    return cli(
        "watch", "init", "q", "-m", METRIC, "--judge", "drifting:judge.json",
        "--anchor", "anchor.jsonl", *further,
    )  # fmt: skip


def add(cli: Cli, week: int, *further: str, n: int = 24) -> Done:
    if not Path(f"w{week}.jsonl").exists():
        write_texts(f"w{week}", n)
    return cli(
        "watch", "add", "q", f"w{week}.jsonl", "--at", f"2026-11-{week:02}",
        *further,
    )  # fmt: skip


def test_a_series_asks_the_anchor_at_each_run_and_texts_once(cli: Cli) -> None:
    done = begin(cli, "--by", "camera")
    assert done.code == 0, done.err
    assert "anchor: 40 texts, judged twice" in done.out
    assert "mix of camera: day 0.65, dusk 0.35" in done.out
    assert "caution: 40 anchor texts show large changes" in done.err
    assert len(GRADED_TEXTS) == 2 * N_ANCHORS
    assert begin(cli, "--by", "camera").code == 0
    planned = add(cli, 1, "--dry-run")
    assert planned.code == 0, planned.err
    assert len(GRADED_TEXTS) == 2 * N_ANCHORS
    # A cache that has all answers does not answer for the anchor.
    for week in (1, 2):
        done = add(cli, week, "--cache", "cache")
        assert done.code == 0, done.err
        assert len(GRADED_TEXTS) == (2 + week) * N_ANCHORS + week * 24
    assert done.out.startswith("run 2 of 2026-11-02: 24 pictures, 0 texts")
    assert "w2.jsonl is in the series already" in add(cli, 2).err
    assert len(GRADED_TEXTS) == 4 * N_ANCHORS + 48
    state = cli("watch", "check", "q", "--json")
    assert state.code == 3
    events = [json.loads(line) for line in state.out.strip().split("\n")]
    names = ["production", "anchor", "corrected", "failed"]
    assert [event["series"] for event in events] == names
    assert {event["state"] for event in events} == {"learning"}
    assert "below 50 the sequence, which is asymptotic" in state.err
    assert beholder.watch("q")["events"] == events
    again = Path("q/events.jsonl").read_bytes()
    text = cli("watch", "check", "q")
    assert text.out.startswith("learning: 2 of 8 runs; stratum-adjusted mean")
    assert Path("q/events.jsonl").read_bytes() == again


def test_a_killed_run_goes_on_and_pays_nothing_twice(cli: Cli) -> None:
    # Killed twice while the anchor is judged, then in the texts, then in the anchor of the run.
    commands: list[Callable[[], Done]] = [
        lambda: begin(cli), lambda: begin(cli),
        lambda: add(cli, 1), lambda: add(cli, 1),
    ]  # fmt: skip
    for stop, command in zip((30, 60, 90, 120), commands, strict=True):
        set_judge(stops_after=stop)
        assert command().code == 130
        assert not Path("q/series.jsonl").exists()
        set_judge()
        if stop in (60, 120):
            assert command().code == 0
    assert len(GRADED_TEXTS) == 3 * N_ANCHORS + 24


def test_an_anchor_that_came_from_a_cache_is_refused(cli: Cli) -> None:
    assert begin(cli).code == 0
    score = ("score", "q/anchor.jsonl", "-m", METRIC, "--judge",
             "drifting:judge.json", "--cache", "cache")  # fmt: skip
    assert cli(*score, "-o", "elsewhere").code == 0
    set_judge(stops_after=len(GRADED_TEXTS) + 30)
    assert add(cli, 1).code == 130
    set_judge()
    (folder,) = Path("q/runs").glob("*/anchor")
    shutil.rmtree(folder)
    assert cli(*score, "-o", str(folder)).code == 0
    done = add(cli, 1)
    assert done.code == 2
    assert "answers came from a cache, and so say nothing of the judge" in (
        done.err
    )
    shutil.rmtree(folder)
    assert add(cli, 1).code == 0


def test_another_release_is_added_and_another_prompt_refused(cli: Cli) -> None:
    assert begin(cli).code == 0
    assert add(cli, 1).code == 0
    set_judge(model="judge-2", fingerprint="fp-2")
    done = add(cli, 2)
    assert done.code == 0, done.err
    assert "another judge answered: judge-2 (fp-2), before judge-1" in done.err
    done = add(cli, 3, "--temperature", "0.5")
    assert done.code == 2
    assert "`beholder watch bridge` leads the series to another judge" in (
        done.err
    )
    # The refused command does not stand in the way of the right one.
    assert add(cli, 3).code == 0


def test_what_is_refused(cli: Cli) -> None:
    write_texts("w1", 24)
    cases = [
        (("add", "q", "w1.jsonl", "--at", "2026-11-01"), "has no watch.json"),
        (("check", "nowhere"), "has no watch.json"),
        (
            ("init", "q", "-m", "rouge", "--quiet", "1"),
            "--quiet 1 --margin 0.01: expected 2 looks or more",
        ),
        (
            (
                "init",
                "q",
                "-m",
                "rouge",
                "--anchor",
                "w1.jsonl",
                "--by",
                "size",
            ),
            "has no column group.size; columns: camera",
        ),
        (
            (
                "init",
                "q",
                "-m",
                "rouge",
                "--anchor",
                "w1.jsonl",
                "--label",
                "a",
            ),
            "--label a: w1.jsonl has no such judgment",
        ),
    ]
    for arguments, message in cases:
        done = cli("watch", *arguments)
        assert done.code == 2, arguments
        assert message in done.err
    assert not Path("q").exists()
    done = cli("watch", "init", "q", "-m", "rouge", "--by", "size")
    assert "there is no anchor, so alarms cannot say" in done.err
    cases = [
        (("init", "q", "-m", "rouge"), "q contains another series"),
        (
            ("add", "q", "w1.jsonl", "--at", "last Monday"),
            "--at last Monday: expected a date",
        ),
        (
            ("add", "q", "w1.jsonl", "--at", "2026-11-01"),
            "has no column group.size",
        ),
        (("acknowledge", "q", "3", "why"), "expected the number of a run"),
        (("bridge", "q"), "a bridge needs an anchor (0) and a run"),
        (("anchor", "q", "--replace", "w1.jsonl"), "has no anchor to replace"),
        (("page", "q", "-o", "."), "it is a folder; name a file"),
    ]
    for arguments, message in cases:
        done = cli("watch", *arguments)
        assert done.code == 2, arguments
        assert message in done.err
    assert cli("watch", "check", "q").code == 3
    with pytest.raises(ConfigError, match="expected a date"):
        beholder.watch("q", "w1.jsonl")


def test_a_dry_run_checks_all_that_the_run_checks(cli: Cli) -> None:
    assert begin(cli).code == 0
    dates = ("2026-13-01", "01.02.2026", "2026-1-1", "nan", "", "2026-11-31")
    write_texts("w1", 24)
    for day in dates:
        for further in ((), ("--dry-run",)):
            done = cli("watch", "add", "q", "w1.jsonl", "--at", day, *further)
            assert done.code == 2, day
            assert f"--at {day}: expected a date" in done.err
    assert add(cli, 1).code == 0
    n_asked = len(GRADED_TEXTS)
    for further in ((), ("--dry-run",)):
        done = add(cli, 1, *further)
        assert (done.code, done.out) == (0, "")
        assert "already, as run 1 of 2026-11-01: nothing is added" in done.err
    assert len(GRADED_TEXTS) == n_asked


def test_an_unknown_metric_is_refused_at_the_beginning(cli: Cli) -> None:
    write_texts("anchor", N_ANCHORS)
    for further in ((), ("--anchor", "anchor.jsonl")):
        done = cli("watch", "init", "q", "-m", "nonsense", *further)
        assert done.code == 2
        assert "no metric is called 'nonsense'" in done.err
        assert not Path("q").exists()


def test_pictures_whose_change_cannot_be_seen_are_counted(cli: Cli) -> None:
    Path("a.jpg").write_bytes(b"a picture")
    cases = {"a.jpg": 0, "gone.jpg": 1, "https://localhost/a.jpg": 1}
    for place, (picture, n) in enumerate(cases.items()):
        write_texts("anchor", N_ANCHORS, image=picture)
        done = cli("watch", "init", f"q{place}", "-m", "length", "--anchor",
                   "anchor.jsonl")  # fmt: skip
        assert done.code == 0, done.err
        words = "caution: 1 pictures of the anchor are addresses or cannot be"
        assert (words in done.err) is bool(n), picture


def test_strata_of_many_values_are_listed_in_part(cli: Cli) -> None:
    write_texts("anchor", 60)
    rows = Path("anchor.jsonl").read_text("utf-8").strip().split("\n")
    # 30 values with two pictures each are in other; 10 with six have a weight of their own.
    for each, words in (
        (2, "in other: v0, v1, v10,"),
        (6, "mix of camera: v0 0.10,"),
    ):
        lines = [
            {**json.loads(row), "group": {"camera": f"v{place // each}"}}
            for place, row in enumerate(rows)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        Path("anchor.jsonl").write_text(text, encoding="utf-8")
        done = cli("watch", "init", f"q{each}", "-m", "length", "--anchor",
                   "anchor.jsonl", "--by", "camera")  # fmt: skip
        assert words in done.out + done.err
        assert ("and 10 more" in done.err) is (each == 2)
    write_texts("w", 24, group={"camera": "v3"})
    done = cli("watch", "add", "q6", "w.jsonl", "--at", "2026-11-01")
    assert (
        "no pictures of 9 strata with 90 % of the weight together (v0, v1, v2, v4"
        in done.err
    )
    assert "no adjusted mean: too few pictures of v0, v1" in done.out


def test_a_column_must_not_use_the_name_of_later_values(cli: Cli) -> None:
    write_texts("anchor", 12, group={"camera": "new"})
    done = cli("watch", "init", "q", "-m", "length", "--anchor", "anchor.jsonl",
               "--by", "camera")  # fmt: skip
    assert done.code == 2
    assert "group.camera has the value 'new'" in done.err


def test_later_values_are_shown_apart(cli: Cli) -> None:
    assert begin(cli, "--by", "camera").code == 0
    write_texts("w1", 24)
    lines = Path("w1.jsonl").read_text("utf-8").replace('"dusk"', '"moon"', 2)
    Path("w1.jsonl").write_text(lines, encoding="utf-8")
    done = add(cli, 1)
    assert (
        "2 pictures (8 %) have a value of camera that the series" in done.err
    )
    assert add(cli, 2, n=12).err.count("12 pictures are few (below 20)") == 1
    line = json.loads(Path("q/series.jsonl").read_text().split("\n")[0])
    assert {k: v["n"] for k, v in line["strata"].items()} == {
        "day": 16, "dusk": 6, "new": 2,
    }  # fmt: skip


def test_failures_and_bad_rows_are_counted(cli: Cli) -> None:
    assert begin(cli).code == 0
    write_texts("w1", 24)
    with Path("w1.jsonl").open("a", encoding="utf-8") as file:
        file.write("no JSON\n")
    set_judge(fails="w1 7 ")
    done = add(cli, 1, "--skip-bad-rows")
    assert done.code == 0, done.err
    assert "23 pictures, 1 texts without a score" in done.out
    assert "1 rows were left out, as they are wrong" in done.err
    set_judge(fails="w2")
    done = add(cli, 2)
    assert done.code == 2
    assert "no text has a score (24 failed)" in done.err
    set_judge(fails="anchor 7 ")
    done = add(cli, 3)
    assert done.code == 0, done.err
    assert "1 anchor texts have no score and are left out" in done.err
    set_judge(fails="anchor 1")
    done = add(cli, 4)
    assert done.code == 2
    assert "11 of 40 anchor texts have no score; see why" in done.err


def test_an_anchor_is_frozen_and_can_be_replaced(cli: Cli) -> None:
    Path("photos").mkdir()
    Path("photos/a.jpg").write_bytes(b"a picture")
    write_texts("anchor", N_ANCHORS, image="photos/a.jpg")
    assert begin(cli).code == 0
    write_texts("anchor", N_ANCHORS, image="photos/a.jpg")
    shutil.rmtree("q")
    cli("watch", "init", "q", "-m", METRIC, "--judge", "drifting:judge.json",
        "--anchor", "anchor.jsonl")  # fmt: skip
    set_judge(shift=1)
    assert add(cli, 1).code == 0
    Path("photos/a.jpg").write_bytes(b"another")
    done = add(cli, 2)
    assert done.code == 2
    assert "photos/a.jpg is gone or was changed" in done.err
    assert "beholder watch anchor q --replace DATA" in done.err
    write_texts("next", 30)
    done = cli("watch", "anchor", "q", "--replace", "next.jsonl")
    assert done.code == 0, done.err
    assert "captions or judge will be unknown" in done.err
    assert add(cli, 2).code == 0
    events = beholder.watch("q")["events"]
    settings = json.loads(Path("q/watch.json").read_text("utf-8"))
    # One grade of the scale lower, which the new anchor carries on.
    first, second = settings["anchors"]
    assert second["carried"] < 0
    assert second["after"] == 1
    assert first["carried"] == 0
    (anchor,) = [event for event in events if event["series"] == "anchor"]
    assert anchor["mean"] == pytest.approx(second["carried"])
    Path("q/anchor-2.jsonl").unlink()
    assert "anchor-2.jsonl is gone or was changed" in add(cli, 3).err


def test_a_bridge_leads_to_another_judge(cli: Cli) -> None:
    assert begin(cli).code == 0
    assert (
        "and a run with an adjusted mean (0)"
        in cli("watch", "bridge", "q").err
    )
    assert add(cli, 1).code == 0
    before = beholder.watch("q")["events"][0]["mean"]
    set_judge("next.json", shift=1, model="next-1")
    done = cli("watch", "bridge", "q", "--judge", "drifting:next.json")
    assert done.code == 0, done.err
    assert "old (40 texts, r 1.000)" in done.out
    slope = float(done.out.split(" + ")[1].split(" old")[0])
    start = float(done.out.split("new = ")[1].split(" + ")[0])
    assert slope == pytest.approx(1)
    # The same command, killed at its very end and repeated, asks nothing and adds no bridge.
    n_asked = len(GRADED_TEXTS)
    done = cli("watch", "bridge", "q", "--judge", "drifting:next.json")
    assert (done.code, done.out) == (0, "")
    assert "on the scale of drifting:next.json already" in done.err
    assert len(GRADED_TEXTS) == n_asked
    # The old run is on the scale of the new judge, and the anchor did not move.
    events = beholder.watch("q")["events"]
    assert events[0]["mean"] == pytest.approx(before + start, abs=1e-3)
    assert events[1]["mean"] == pytest.approx(0)
    assert add(cli, 2).code == 0
    events = beholder.watch("q")["events"]
    assert events[0]["mean"] == pytest.approx(before + start, abs=1e-3)
    assert events[1]["mean"] == pytest.approx(0)
    assert cli("watch", "page", "q", "-o", "q.html").code == 0
    assert "bridge to drifting:next.json" in Path("q.html").read_text("utf-8")


def test_a_bridge_that_does_not_carry_is_refused(cli: Cli) -> None:
    write_texts("anchor", 29)
    cli("watch", "init", "q", "-m", METRIC, "--judge", "drifting:judge.json",
        "--anchor", "anchor.jsonl")  # fmt: skip
    assert add(cli, 1).code == 0
    set_judge("next.json", shift=3, odd=True)
    done = cli("watch", "bridge", "q", "--judge", "drifting:next.json")
    assert done.code == 2
    assert (
        "29 anchor texts, at least 30 are needed; correlation 0." in done.err
    )
    assert "Start a new series" in done.err
    assert json.loads(Path("q/watch.json").read_text())["bridges"] == []


def test_labels_of_the_anchor_show_a_judge_that_agrees_less(cli: Cli) -> None:
    write_texts("anchor", N_ANCHORS)
    rows = Path("anchor.jsonl").read_text("utf-8").strip().split("\n")
    labelled = [
        {**json.loads(row), "judgments": {"grade": 2 + place % 4}}
        for place, row in enumerate(rows)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in labelled)
    Path("anchor.jsonl").write_text(lines, encoding="utf-8")
    done = cli("watch", "init", "q", "-m", METRIC, "--judge",
               "drifting:judge.json", "--anchor", "anchor.jsonl")  # fmt: skip
    assert "40 of them have a human label" in done.err
    assert add(cli, 1).code == 0
    event = beholder.watch("q")["events"][-1]
    assert (event["series"], event["mean"], event["state"]) == (
        "agreement", 1.0, "quiet",
    )  # fmt: skip
    set_judge(shift=4, odd=True)
    assert add(cli, 2).code == 0
    done = cli("watch", "check", "q")
    assert "JUDGE: agreement dropped: the judge's agreement with" in done.out
    assert done.code == 3
