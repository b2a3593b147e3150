"""The progress of a run: counts, rates and tokens, in a time that tests turn."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from beholder.backends import Usage
from beholder.lint import lint
from beholder.terminal.log_progress import LINE_INTERVAL, LogProgress
from beholder.terminal.progress import RATE_WINDOW, TerminalProgress
from toy.cases import each_case
from toy.clock import Clock


def bar_text(progress: TerminalProgress) -> str:
    """Return the text beside the bar."""
    return str(progress._bar.tasks[0].fields["counts"])


def test_tokens_are_told_by_the_second_and_in_all() -> None:
    clock = Clock()
    progress = TerminalProgress(clock)
    progress.start(total=9, reused=4)
    clock.now += 10.0
    progress.answered(Usage(prompt=3000, cached=1000, completion=20))
    assert (
        bar_text(progress)
        == "0 failed, 4 reused, 0.0/s, tokens: 300/s read, 2/s written"
    )
    clock.now += 10.0
    progress.answered(Usage(prompt=50_000, completion=980))
    progress.advance(1, 1)
    # 53,000 and 1,000 tokens, and two jobs, in 20 seconds
    assert (
        bar_text(progress)
        == "1 failed, 4 reused, 0.1/s, tokens: 2,650/s read, 50/s written"
    )
    clock.now += 80.0
    assert progress.tokens_in_words == (
        "judges read 53,000 tokens (530/s) and wrote 1,000 (10/s)"
    )


def test_the_bar_tells_the_tokens_of_the_last_seconds_alone() -> None:
    clock = Clock()
    progress = TerminalProgress(clock)
    progress.start(total=3, reused=0)
    clock.now += 500.0  # the model is loaded
    progress.answered(Usage(prompt=600, completion=30))
    assert "tokens: 20/s read, 1/s written" in bar_text(progress)
    clock.now += RATE_WINDOW / 2
    progress.answered(Usage(prompt=300))
    assert "tokens: 30/s read, 1/s written" in bar_text(progress)
    clock.now += RATE_WINDOW / 2
    progress.answered(Usage(prompt=3000, completion=60))
    assert "tokens: 110/s read, 2/s written" in bar_text(progress)
    assert len(progress._earlier) == 3, "what is older is not kept"


def test_where_no_judge_answers_nothing_is_said_of_tokens() -> None:
    progress = TerminalProgress(Clock())
    progress.start(total=1, reused=0)
    progress.advance(1, 0)
    assert bar_text(progress) == "0 failed, 0 reused, 0.0/s"
    assert progress.tokens_in_words == ""


# --- lines of a log


# (total, reused), seconds, (scored, failed), answers -> line, computed by hand
LINES = [
    ((40, 0), 30.0, (0, 0), 0, "0 of 40 done, 0 failed, 0 reused, 0.0/s, time left unknown"),
    ((40, 0), 30.0, (0, 0), 7, "0 of 40 done, 0 failed, 0 reused, 0.0/s, time left unknown,"
     " judge answers: 7"),
    # 60 in 30 s; the other 40 take 20 s
    ((100, 0), 30.0, (58, 2), 0, "60 of 100 done, 2 failed, 0 reused, 2.0/s, about 20 s left"),
    # 10 in 60 s, without the reused ones; 80 take 8 minutes
    ((100, 10), 60.0, (10, 0), 0, "20 of 100 done, 0 failed, 10 reused, 10.0/min,"
     " about 8 min left"),
    # 2 in 60 s; 500 take 250 minutes
    ((502, 0), 60.0, (0, 2), 0, "2 of 502 done, 2 failed, 0 reused, 2.0/min,"
     " about 4 h 10 min left"),
    # 1,200 in 30 s; 1,198,800 take 29,970 s, which are 499.5 minutes
    ((1_200_000, 0), 30.0, (1200, 0), 0, "1,200 of 1,200,000 done, 0 failed, 0 reused, 40.0/s,"
     " about 8 h 20 min left"),
    ((5, 5), 30.0, (0, 0), 0, "5 of 5 done, 0 failed, 5 reused, 0.0/s,"
     " all done; the results are being written"),
    ((0, 0), 30.0, (0, 0), 0, "0 of 0 done, 0 failed, 0 reused, 0.0/s,"
     " all done; the results are being written"),
]  # fmt: skip


@each_case(("begin", "seconds", "done", "n_answers", "line"), LINES)
@each_case("kind", [LogProgress, TerminalProgress])
def test_a_line_has_done_failures_rate_and_time_left(
    kind: type[LogProgress],
    begin: tuple[int, int],
    seconds: float,
    done: tuple[int, int],
    n_answers: int,
    line: str,
) -> None:
    clock = Clock()
    progress = kind(clock)
    progress.start(*begin)
    clock.now += seconds
    for _ in range(n_answers):
        progress.answered(Usage(prompt=1))
    progress.advance(*done)
    assert progress.line == f"progress: {line}"


def test_each_run_of_a_suite_has_its_own_counts_and_rate() -> None:
    clock = Clock()
    progress = TerminalProgress(clock)
    progress.start(100, 0)
    clock.now += 10.0
    progress.advance(97, 3)
    progress.start(50, 0)
    clock.now += 10.0
    progress.advance(9, 1)
    # 10 in 10 s; 40 take 40 s
    assert progress.line == (
        "progress: 10 of 50 done, 1 failed, 0 reused, 1.0/s, about 40 s left"
    )


@pytest.mark.parametrize("kind", [LogProgress, TerminalProgress])
def test_lines_come_every_30_seconds_on_stderr_alone(
    kind: type[LogProgress], capsys: pytest.CaptureFixture[str]
) -> None:
    # A shorter command waits for its end, once.
    clock = Clock()
    with kind(clock, clock.waits(0)):
        pass
    assert capsys.readouterr() == ("", "")
    with kind(clock, clock.waits(3)):
        pass
    assert clock.now == 100.0 + 3 * LINE_INTERVAL == 190.0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"progress: reading the input for {seconds} s"
        for seconds in (30, 60, 90)
    ]
    assert all(line.isprintable() for line in err.splitlines())


def test_a_command_without_a_run_says_what_it_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    with LogProgress(clock, clock.waits(2), work="comparing the runs"):
        pass
    assert capsys.readouterr().err.split("\n") == [
        "progress: comparing the runs for 30 s",
        "progress: comparing the runs for 60 s",
        "",
    ]


def test_a_terminal_gets_no_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    clock = Clock()
    with LogProgress(clock, clock.waits(3)):
        pass
    assert capsys.readouterr() == ("", "")
    assert clock.now == 100.0


def test_lint_counts_the_pictures_it_checks(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<img src="a.png" alt="A dog."><img src="b.png">')
    progress = LogProgress(Clock())
    assert len(lint([page], progress=progress).occurrences) == 2
    assert progress.line.startswith("progress: 2 of 2 done, 0 failed")
