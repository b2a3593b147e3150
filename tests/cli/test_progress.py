"""The progress of a run: counts, rates and tokens, in a time that tests turn."""

from __future__ import annotations

from beholder.backends import Usage
from beholder.terminal.progress import RATE_WINDOW, TerminalProgress


class Clock:
    """Says what it was set to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


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
