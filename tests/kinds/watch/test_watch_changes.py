"""The state of made series: worked figures, causes, alarms that stay, small runs, the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter

import beholder
from beholder.kinds.watch.events import ATTRIBUTES, describe, send_events
from beholder.kinds.watch.folder import (
    AnchorSet,
    JudgeBridge,
    RunLine,
    StratumLine,
    WatchSettings,
    write_series,
    write_settings,
)
from beholder.stats.drift import (
    agreement_change,
    mean_sequence,
    runs_to_show,
)
from toy.command import Cli

FALLEN = (
    0.775, 0.769, 0.772, 0.780, 0.766, 0.771, 0.779, 0.768,
    0.729, 0.735, 0.731, 0.733, 0.728, 0.730,
)  # fmt: skip
ERROR = 0.0134
N = 200
TEXTS = [f"t{n}" for n in range(80)]
ANCHOR = dict(zip(TEXTS, np.linspace(0.5, 0.95, 80).tolist(), strict=True))


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT",
                 "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    return cli


def whole(mean: float, n: int = N) -> dict[str, StratumLine]:
    """A run without strata whose standard error is that of the worked example with 200 pictures."""
    return {"": StratumLine(n, mean, ERROR * N**0.5)}


def moved(shift: float, scatter: float = 0.01) -> dict[str, float]:
    """The anchor after a change of the judge, with a scatter that has mean 0."""
    return {
        text: score + shift + scatter * (-1) ** place
        for place, (text, score) in enumerate(ANCHOR.items())
    }


def write_runs(
    means: Sequence[float | Mapping[str, StratumLine]],
    judged: Sequence[Mapping[str, float]] = (),
    *,
    n_failed: Sequence[int] = (),
    judges: Sequence[str] = (),
    sizes: Sequence[int] = (),
    has_anchor: bool = True,
    **settings: Any,
) -> None:
    """Write a series of weekly runs to the folder q."""
    anchor = AnchorSet(file="anchor.jsonl", source="", digest="",
                       scores=ANCHOR, noise=1e-6)  # fmt: skip
    usual = {"mix": {"": 1.0}, "anchors": (anchor,) if has_anchor else ()}
    Path("q").mkdir(exist_ok=True)
    write_settings(
        Path("q"),
        WatchSettings(
            metric="rouge", value="f1", signature="rouge|v", quiet=87,
            **(usual | settings),
        ),
    )  # fmt: skip
    runs = []
    for place, mean in enumerate(means):
        n = sizes[place] if sizes else N
        strata = whole(mean, n) if isinstance(mean, float) else mean
        runs.append(
            RunLine(
                number=place + 1,
                time=f"2026-{1 + place // 4:02}-{1 + 7 * (place % 4):02}",
                data=f"w{place}.jsonl",
                digest=str(place),
                signature="rouge|v",
                raw=0.7,
                n=sum(stratum.n for stratum in strata.values()),
                n_failed=n_failed[place] if n_failed else 0,
                strata=strata,
                anchor=(judged[place] if judged else ANCHOR)
                if has_anchor
                else {},
                judges=(judges[place],) if judges else (),
            )
        )
    write_series(Path("q"), runs)


def states() -> dict[str, tuple[str, str]]:
    """State and verdict of each series."""
    events = beholder.watch("q")["events"]
    return {e["series"]: (e["state"], e["verdict"]) for e in events}


def test_half_widths_of_the_worked_example() -> None:
    # 1, 2, 4 and 8 runs with an error of .0134 at 1/260: an independent program.
    sequence = mean_sequence(
        [0.77] * 8, [ERROR**2] * 8, rate=1 / 260, between=0.0
    )
    halves = [
        sequence[n].interval.high - sequence[n].mean for n in (0, 1, 3, 7)
    ]
    assert halves == pytest.approx(
        [0.058767, 0.038262, 0.026046, 0.018237], abs=5e-7
    )


def test_agreement_by_hand() -> None:
    # Kendall's tau-b of four texts: 6 pairs in order give 1; with the last two exchanged 4/6.
    change = agreement_change([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 4, 3])
    assert change.value == pytest.approx(-1 / 3)
    # Without text 1 or 2: 1/3 - 1; without 3 or 4: 0. Jackknife: sqrt(3/4 * 4 * (1/3)^2).
    assert change.error == pytest.approx(3**0.5 / 3)


def test_a_fall_is_an_alarm_in_the_week_of_the_worked_example(
    cli: Cli,
) -> None:
    # 4b: three series share the rate, and 87 * 3 is 261. No alarm at look 13, one at 14 from 9 on.
    write_runs(FALLEN[:13])
    done = cli("watch", "check", "q")
    assert (done.code, done.out.count("quiet: ")) == (0, 4), done.out
    write_runs(FALLEN)
    done = cli("watch", "check", "q")
    assert done.code == 1
    first = done.out.split("\n")[0]
    assert first.startswith(
        "ALARM: captions got worse. Runs 9 to 14 have 0.731 (0.710 to 0.752), runs 1 to 8 had 0.773"
        " (0.754 to 0.791), by stratum-adjusted mean; no change of the judge is shown on the anchor"
        " (0.000, "
    )
    event = json.loads(cli("watch", "check", "q", "--json").out.split("\n")[0])
    assert (event["change_point"], event["run"], event["n"]) == (9, 14, N)
    assert event["size"] == pytest.approx(-0.0415)
    assert event["size_low"] < event["size"] < event["size_high"] < 0


def test_seven_runs_learn(cli: Cli) -> None:
    write_runs((0.9, 0.9, 0.9, 0.9, 0.2, 0.2, 0.2))
    done = cli("watch", "check", "q")
    assert done.code == 3
    assert done.out.startswith("learning: 7 of 8 runs; stratum-adjusted mean")


def test_an_alarm_is_written_once_and_stays_until_it_is_acknowledged(
    cli: Cli,
) -> None:
    write_runs(FALLEN)
    for _ in range(2):
        assert cli("watch", "check", "q").code == 1
    log = Path("q/events.jsonl").read_text("utf-8").strip().split("\n")
    written = [json.loads(line)["state"] for line in log]
    assert written.count("alarm") == 2  # production and corrected
    # The old level is back, so that no change is shown any more: somebody must look at the alarm.
    write_runs((*FALLEN[:9], *FALLEN[:5]))
    assert cli("watch", "check", "q").code == 1
    done = cli("watch", "acknowledge", "q", "13", "new camera firmware")
    assert done.out == "acknowledged: the test begins after run 13\n"
    done = cli("watch", "check", "q")
    assert done.code == 3
    assert done.out.startswith("learning: 1 of 8 runs")
    assert '"why": "new camera firmware"' in (
        Path("q/events.jsonl").read_text("utf-8")
    )
    assert cli("watch", "acknowledge", "q", "13", " ").code == 2


def test_causes(cli: Cli) -> None:
    same, less = [0.77 + n for n in (0.002, -0.002) * 5], [-0.05] * 10
    fallen = [y + d for y, d in zip(same, less, strict=True)]
    milder = [moved(0.05)] * 10
    stricter = [moved(-0.05)] * 10
    before = [ANCHOR] * 10
    captions, judge = ("alarm", "captions"), ("judge", "judge")
    cases = {
        # The captions fell, and the judge stayed.
        "captions": ([*same, *fallen], [*before, *before], captions, captions, 1),
        # The judge got stricter, and with it all scores.
        "judge": ([*same, *fallen], [*before, *stricter], judge, None, 0),
        # The captions fell and the judge got milder, which hides it.
        "hidden": (
            [*same, *same], [*before, *milder], None, ("alarm", "both"), 1,
        ),
    }  # fmt: skip
    for name, (means, anchors, production, corrected, code) in cases.items():
        write_runs(means, anchors, judges=["a"] * 10 + ["b"] * 10)
        quiet = ("quiet", "")
        assert states()["production"] == (production or quiet), name
        assert states()["corrected"] == (corrected or quiet), name
        done = cli("watch", "check", "q")
        assert done.code == code, name
        Path("q/events.jsonl").unlink()
    assert "ALARM: captions got worse and the judge changed. Runs" in done.out
    assert "the judge moved on the anchor (0.050, 0.048 to 0.052)" in done.out
    assert "JUDGE: the judge changed on the anchor. Runs" in done.out
    write_runs([*same, *fallen], has_anchor=False)
    done = cli("watch", "check", "q")
    assert "scores got worse; captions or judge: unknown. Runs" in done.out
    assert set(states()) == {"production", "failed"}
    assert done.code == 1


def test_a_cause_that_is_not_clear(cli: Cli) -> None:
    # The anchor of two texts moves as the captions do, and says nothing with certainty.
    anchor = {"t0": 0.5, "t1": 0.9}
    few = AnchorSet(file="a", source="", digest="", scores=anchor, noise=0.01)
    means = [0.77] * 9 + [0.7] * 9
    after = {"t0": 0.5, "t1": 0.76}
    write_runs(means, [anchor] * 9 + [after] * 9, anchors=(few,))
    assert states()["production"] == ("alarm", "unclear")
    assert "whether captions or judge changed is not clear" in (
        cli("watch", "check", "q").out
    )


def test_a_judge_that_repeats_itself_exactly(cli: Cli) -> None:
    exact = AnchorSet(file="a", source="", digest="", scores=ANCHOR)
    write_runs(FALLEN, anchors=(exact,))
    assert states()["anchor"] == ("quiet", "")
    # Any change of such a judge is an event, at once.
    write_runs((*FALLEN[:8], 0.792), [ANCHOR] * 8 + [moved(0.02)],
               anchors=(exact,))  # fmt: skip
    assert states()["anchor"] == ("judge", "judge")


def test_an_improvement_is_no_alarm_and_hides_no_later_fall(cli: Cli) -> None:
    better = [0.77] * 9 + [0.85] * 9
    write_runs(better)
    assert cli("watch", "check", "q").code == 0
    done = cli("watch", "check", "q", "--both")
    assert done.code == 1
    assert done.out.startswith("BETTER: captions got better. Runs 10 to 18")
    write_runs([*better, *[0.77] * 9])
    assert states()["production"] == ("alarm", "captions")
    write_runs([1 - y for y in better], higher_is_better=False)
    assert states()["production"] == ("better", "captions")
    # A change below the margin does not count.
    write_runs([0.77] * 30 + [0.74] * 30, margin=0.05)
    assert states()["production"] == ("quiet", "")


def test_failures_are_a_series_of_their_own(cli: Cli) -> None:
    write_runs([0.77] * 16, n_failed=[2] * 8 + [60] * 8)
    assert states()["production"] == ("quiet", "")
    done = cli("watch", "check", "q")
    assert done.code == 1
    assert "ALARM: more texts fail. Runs 9 to 16 have 0.2" in done.out


def test_small_runs_are_tested_with_the_next(cli: Cli) -> None:
    write_runs([0.9, 0.6, 0.7], sizes=[8, 15, 9])
    (event, *_) = beholder.watch("q")["events"]
    # (8 * .9 + 15 * .6) / 23; the third run waits.
    assert event["mean"] == pytest.approx(16.2 / 23)
    assert (event["n"], event["run"], event["n_runs"]) == (23, 2, 1)
    write_runs([0.9], sizes=[8])
    done = cli("watch", "check", "q")
    assert done.code == 3
    assert "run 1 is small and waits for the next" in done.out


def test_equal_scores_of_a_few_pictures_are_not_certainty(cli: Cli) -> None:
    # One week of 20 pictures that all have the same score, in a series that scatters.
    week = {"": StratumLine(20, 0.9, 0.0)}
    write_runs([*[0.77] * 9, week])
    assert states()["production"] == ("quiet", "")


def test_a_mix_and_a_missing_stratum(cli: Cli) -> None:
    # 4a: the same quality with another mix has the same adjusted mean, .772 with error .013398.
    def strata(*n: int) -> dict[str, StratumLine]:
        rows = zip(
            ("day", "dusk", "night"),
            n,
            (0.82, 0.74, 0.58),
            (0.15, 0.18, 0.22),
            strict=True,
        )
        return {
            name: StratumLine(count, mean, deviation)
            for name, count, mean, deviation in rows
        }

    mix = {"day": 0.6, "dusk": 0.3, "night": 0.1}
    lines = [strata(480, 240, 80), strata(60, 80, 60)]
    write_runs(lines, mix=mix, by="camera")
    (event, *_) = beholder.watch("q")["events"]
    assert event["mean"] == pytest.approx(0.772)
    new = {**strata(480, 240, 80), "new": StratumLine(90, 0.1, 0.1)}
    del new["night"]
    write_runs([*lines, new], mix=mix, by="camera")
    done = cli("watch", "check", "q")
    assert done.code == 3
    assert "gap: run 3 has no adjusted mean: no pictures of night" in done.out
    small = {"day": 0.68, "dusk": 0.3, "night": 0.02}
    write_runs([*lines, new], mix=small, by="camera")
    (event, *_) = beholder.watch("q")["events"]
    assert event["n_runs"] == 3
    assert cli("watch", "page", "q", "-o", "q.html").code == 0
    page = Path("q.html").read_text("utf-8")
    assert "new (not in the mean)" in page
    assert "90 pictures of new strata" in page


def test_a_run_of_an_earlier_date_changes_history(cli: Cli) -> None:
    write_runs(FALLEN[:9])
    assert cli("watch", "check", "q").code == 0
    lines = Path("q/series.jsonl").read_text("utf-8").strip().split("\n")
    late = json.loads(lines[-1])
    late |= {"number": 10, "time": "2026-01-02", "digest": "late"}
    with Path("q/series.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(late) + "\n")
    done = cli("watch", "check", "q")
    assert "history changed: runs 10 (2026-01-02) have dates" in done.err
    assert "history changed" not in cli("watch", "check", "q").err
    # The new beginning is in the order of dates: the run of the second day lies before the third.
    cli("watch", "acknowledge", "q", "1", "why")
    (event, *_) = beholder.watch("q")["events"]
    assert event["n_runs"] == 9


def test_degrees_of_freedom_are_pictures_less_strata(cli: Cli) -> None:
    # Two runs of 200 pictures after the change in one stratum: 400 - 1 (Welch's formula by hand).
    write_runs([0.77] * 9 + [0.6] * 2)
    (event, *_) = beholder.watch("q")["events"]
    assert event["verdict"] == "captions"
    half = event["captions"]["high"] - event["captions"]["value"]
    values = np.array([0.77] * 9 + [0.6] * 2)
    tau2 = max(0.0, float((np.diff(values) ** 2 / 2).mean()) - ERROR**2)
    error = ((ERROR**2 + tau2) * (1 / 9 + 1 / 2)) ** 0.5
    # The judge did not move, so the first term alone counts: t with 399.
    assert half == pytest.approx(1.965927 * error, rel=1e-5)


def test_bridges_move_old_runs(cli: Cli) -> None:
    bridge = JudgeBridge(after=9, judge="b", intercept=-0.2, slope=1.1,
                         error=0.004, noise=0.0)  # fmt: skip
    new = {text: -0.2 + 1.1 * score for text, score in ANCHOR.items()}
    means = [0.77] * 9 + [-0.2 + 1.1 * 0.77] * 9
    write_runs(means, [ANCHOR] * 9 + [new] * 9, bridges=(bridge,))
    assert {state for state, _ in states().values()} == {"quiet"}
    # An error that is common to all old runs explains a change of three times its size.
    means = [0.77] * 30 + [-0.2 + 1.1 * 0.77 - 0.03] * 30
    write_runs(means, [ANCHOR] * 30 + [new] * 30,
               bridges=(JudgeBridge(after=30, judge="b", intercept=-0.2,
                                    slope=1.1, error=0.01, noise=0.0),))  # fmt: skip
    assert states()["production"] == ("quiet", "")
    write_runs([0.77] * 30 + [0.74] * 30)
    assert states()["production"] == ("alarm", "captions")


def test_the_page_shows_the_series_and_escapes_names(cli: Cli) -> None:
    hostile = "<script>alert(1)</script>"
    strata = {
        hostile: StratumLine(N, 0.77, 0.19),
        "b": StratumLine(20, 0.5, 0.2),
    }
    write_runs(
        [strata] * 9, by=hostile, mix={hostile: 0.9, "b": 0.1},
        judges=["a"] * 5 + [hostile] * 4,
    )  # fmt: skip
    cli("watch", "acknowledge", "q", "1", hostile)
    done = cli("watch", "page", "q", "-o", "q.html")
    assert done.code == 0, done.err
    page = Path("q.html").read_text("utf-8")
    assert hostile not in page
    assert page.count('<th scope="row">') == 9
    assert page.count('class="mark judge"') == 2  # in both charts
    for words in ("Adjusted mean", "Shift of the anchor", "Mix of", "Marks"):
        assert words in page
    assert "before the present baseline" in page
    write_runs([])
    assert cli("watch", "page", "q", "-o", "q.html").code == 0


def test_opentelemetry_gets_figures_and_no_texts(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_runs(FALLEN)
    events = beholder.watch("q")["events"]
    exporter: Any = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
    assert send_events(events, exporter) == 0
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:9")
    assert send_events(events, exporter) == 4
    records = [entry.log_record for entry in exporter.get_finished_logs()]
    assert {record.event_name for record in records} == {
        "gen_ai.evaluation.result"
    }
    sent = dict(records[0].attributes or {})
    assert sent["gen_ai.evaluation.score.label"] == "alarm"
    assert sent["gen_ai.evaluation.score.value"] == pytest.approx(0.731)
    assert sent["gen_ai.evaluation.explanation"] == describe(events[0])
    assert set(sent) <= set(ATTRIBUTES.values())
    assert not any(text in str(sent) for text in TEXTS)


def test_broken_lines_are_named(cli: Cli) -> None:
    write_runs(FALLEN)
    cli("watch", "check", "q")
    names = ("series", "events")
    wholes = {name: Path(f"q/{name}.jsonl").read_bytes() for name in names}
    alarm = json.loads(wholes["events"].split(b"\n")[0])
    cases: list[tuple[str, Any]] = [
        ("series", {"number": 1}),
        ("series", float("nan")),
        ("events", {}),
        ("events", [1]),
        ("events", {"acknowledged": 3}),
        ("events", {"acknowledged": "3", "why": "w"}),
        ("events", {**alarm, "last_added": "x"}),
        ("events", {**alarm, "before": {"first": 1}}),
        ("events", {**alarm, "mean": float("nan")}),
        ("events", {k: v for k, v in alarm.items() if k != "verdict"}),
    ]
    for name, line in cases:
        Path(f"q/{name}.jsonl").write_text(f"{json.dumps(line)}\n")
        for further in (("check", "q"), ("page", "q", "-o", "q.html")):
            done = cli("watch", *further)
            assert done.code == 2, line
            assert f"{name}.jsonl, line 1 is broken" in done.err
        Path(f"q/{name}.jsonl").write_bytes(wholes[name])
    assert cli("watch", "check", "q").code == 1


def exact_anchor(**further: Any) -> AnchorSet:
    """An anchor of a judge that repeated itself exactly when the series began."""
    return AnchorSet(file="a", source="", digest="", scores=ANCHOR, **further)


def test_each_change_of_an_exact_judge_is_an_event_of_its_own(
    cli: Cli,
) -> None:
    def shifted(shift: float) -> dict[str, float]:
        return {text: score + shift for text, score in ANCHOR.items()}

    anchors = [*[ANCHOR] * 9, *[shifted(0.02)] * 3, *[shifted(-0.01)] * 3]
    for n in (9, 10, 12, 13, 15):
        write_runs([0.77] * n, anchors[:n], anchors=(exact_anchor(),))
        cli("watch", "check", "q")
    (event,) = [
        e for e in beholder.watch("q")["events"] if e["series"] == "anchor"
    ]
    assert (event["change_point"], event["state"]) == (13, "judge")
    assert event["before"]["first"] == 10
    assert event["size"] == pytest.approx(-0.03)
    lines = Path("q/events.jsonl").read_text("utf-8").strip().split("\n")
    changes = [
        event["change_point"]
        for event in map(json.loads, lines)
        if event["series"] == "anchor" and event["state"] == "judge"
    ]
    assert changes == [10, 13]
    # A text that fails in one run is no change of the judge, though the others' mean is another.
    scattered = moved(0.02, 0.015)
    part = {text: scattered[text] for text in TEXTS[1:]}
    write_runs([0.77] * 15, [*[ANCHOR] * 9, *[scattered] * 5, part],
               anchors=(exact_anchor(),))  # fmt: skip
    (event,) = [
        e for e in beholder.watch("q")["events"] if e["series"] == "anchor"
    ]
    assert event["change_point"] == 10


def test_anchor_texts_that_fail_now_and_then_still_say_what_changed(
    cli: Cli,
) -> None:
    # In each run another four texts fail, so that after 20 runs none has a score in all of them.
    runs = [
        {text: score for n, (text, score) in enumerate(ANCHOR.items())
         if n % 20 != run}
        for run in range(20)
    ]  # fmt: skip
    write_runs([0.77] * 10 + [0.7] * 10, runs, anchors=(exact_anchor(),))
    assert states()["production"] == ("alarm", "captions")


def test_a_change_of_judge_is_not_called_both_by_chance(cli: Cli) -> None:
    # The captions' change is the rest, with its own error and the judge's: 95 % of one look are
    # exceeded soon where there is a look at each run. The rest is -.0125 with an error of .0052, 2.4 times.
    before = [ANCHOR] * 12
    cases = {-0.0625: "judge", -0.11: "both"}
    for size, verdict in cases.items():
        # A scatter of .025 and 80 texts: error .0028.
        after = [moved(-0.05, 0.025)] * 40
        write_runs([0.77] * 12 + [0.77 + size] * 40, before + after,
                   margin=0.001)  # fmt: skip
        state = "judge" if verdict == "judge" else "alarm"
        assert states()["production"] == (state, verdict), size


def test_many_small_strata_can_be_missing_together(cli: Cli) -> None:
    mix = {f"c{n}": 0.04 for n in range(25)}
    # Shares of the mix without pictures, and whether the run has an adjusted mean.
    for n_present, has_mean in ((25, True), (13, True), (12, False)):
        strata = {
            f"c{n}": StratumLine(30, 0.77, 0.2) for n in range(n_present)
        }
        write_runs([strata], mix=mix, by="camera")
        done = cli("watch", "check", "q")
        assert ("gap: run 1 has no adjusted mean" in done.out) is not has_mean
    assert "no pictures of c12, c13, " in done.out


def test_a_small_last_run_is_not_passed_over_in_silence(cli: Cli) -> None:
    write_runs([0.9, 0.6, 0.7], sizes=[25, 15, 3])
    done = cli("watch", "check", "q")
    assert "run 3 of 2026-01-15 is not tested yet: 18 pictures are few" in (
        done.err
    )


def test_an_alarm_is_acknowledged_once(cli: Cli) -> None:
    def acknowledged() -> int:
        return Path("q/events.jsonl").read_text("utf-8").count("acknowledged")

    write_runs(FALLEN)
    cli("watch", "check", "q")
    for _ in range(2):
        assert cli("watch", "acknowledge", "q", "14", "why").code == 0
    assert acknowledged() == 1
    assert len(json.loads(Path("q/watch.json").read_text())["baselines"]) == 1
    # Killed between its two files: the same command completes it.
    log = Path("q/events.jsonl").read_text("utf-8")
    Path("q/events.jsonl").write_text(log[: log.index('{"acknowledged"')])
    assert cli("watch", "acknowledge", "q", "14", "why").code == 0
    assert acknowledged() == 1
    assert cli("watch", "check", "q").code == 3


def test_long_lists_of_strata_are_cut_and_said(cli: Cli) -> None:
    merged = tuple(f"v{n}" for n in range(10_000))
    strata = {
        "a": StratumLine(100, 0.7, 0.2),
        "other": StratumLine(100, 0.7, 0.2),
    }
    write_runs([strata] * 2, mix={"a": 0.5, "other": 0.5}, merged=merged)
    assert cli("watch", "page", "q", "-o", "q.html").code == 0
    page = Path("q.html").read_text("utf-8")
    assert "v19 and 9980 more." in page
    assert "v20," not in page


def test_the_page_states_what_it_can_show(cli: Cli) -> None:
    # Half widths by hand at 1/261 and errors of .0134: h(8) is .0182, h(2) .0383 and
    # h(3) .0304, so that h(8) + h(k) is first below 4 * .0134 at k = 3.
    write_runs([0.77] * 8)
    cli("watch", "page", "q", "-o", "q.html")
    page = Path("q.html").read_text("utf-8")
    assert "a change of 0.054 within about 3 runs" in page
    assert runs_to_show(4 * ERROR, ERROR**2, n_before=8, rate=1 / 261) == 3
    assert runs_to_show(0.001, ERROR**2, n_before=8, rate=1 / 261) is None
    judged = {
        text: score + (0.05 if n < 27 else 0.0)
        for n, (text, score) in enumerate(ANCHOR.items())
    }
    write_runs([0.77] * 8, [judged] * 8)
    cli("watch", "page", "q", "-o", "q.html")
    page = Path("q.html").read_text("utf-8")
    assert "low, middle and high scores: +0.050, 0.000, 0.000." in page


def test_the_page_keeps_what_was_before_an_acknowledgement(cli: Cli) -> None:
    write_runs(FALLEN)
    cli("watch", "check", "q")
    cli("watch", "acknowledge", "q", "14", "why")
    done = cli("watch", "check", "q")
    assert done.code == 3
    words = "gap: no run was added since run 14 was acknowledged"
    assert done.out == f"{words}\n"
    # The line of the gap is no acknowledgement.
    log = Path("q/events.jsonl").read_text("utf-8")
    assert log.count('"acknowledged"') == 1
    for further, sequences in (((), 0), ((0.77, 0.76), 2)):
        settings = Path("q/watch.json").read_bytes()
        write_runs((*FALLEN, *further))
        Path("q/watch.json").write_bytes(settings)
        cli("watch", "page", "q", "-o", "q.html")
        page = Path("q.html").read_text("utf-8")
        n_runs = 14 + len(further)
        # A point of each run in both charts, and a row with its adjusted mean.
        assert page.count('class="point"') == 2 * n_runs
        assert page.count(" to 0.") >= n_runs
        assert page.count("before the present baseline") == 14
        assert page.count('class="mark alarm"') == 2
        assert "alarm (production, corrected)" in page
        assert page.count('class="sequence" d="M') == sequences
