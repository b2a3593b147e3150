"""The entry point: all commands, and what an error looks like to a person.

Exit codes: 0 done; 1 some items failed or a gate was missed; 2 bad input or usage; 130 interrupted.
A command gives its exit code, or None for 0. Modules of commands import what they work with when
they are called, so that ``--help`` waits for nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from cyclopts import App, CycloptsError, Parameter

from beholder._version import __version__
from beholder.cli import (
    agree,
    bidirectional,
    cache,
    caption,
    classify,
    compare,
    demo,
    doctor,
    graph,
    graph_check,
    judge_check,
    leaderboard,
    metrics,
    rank,
    report,
    review,
    sample,
    score,
    steps,
    suite,
    translate,
    view,
)
from beholder.cli.printing import say
from beholder.errors import BeholderError


def _default(value: object) -> str | None:
    """A default as help shows it; None for what stands for "not said"."""
    if value is None or value is False or value in ((), ""):
        return None
    return ", ".join(value) if isinstance(value, tuple) else str(value)


app = App(
    name="beholder",
    help="How good is a description of something seen, and where is it right or wrong?",
    help_flags=("--help", "-h"),
    help_format="plaintext",  # drawn faster; the pages of commands are markdown
    version=f"beholder {__version__}",
    default_parameter=Parameter(negative=(), show_default=_default),
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
)
COMMANDS: tuple[Callable[..., int | None], ...] = (
    demo.demo,
    score.score,
    report.report,
    view.view,
    steps.steps,
    compare.compare,
    agree.agree,
    leaderboard.leaderboard,
    rank.rank,
    review.review,
    caption.caption,
    classify.classify,
    translate.translate,
    sample.sample,
    bidirectional.bidirectional,
    metrics.metrics,
    metrics.show,
    doctor.doctor,
    graph.graph,
    graph_check.graph_check,
    judge_check.judge_check,
)
for place, command in enumerate(COMMANDS):
    app.command(command, sort_key=place, help_format="markdown")
app.command(suite.app)
app.command(cache.app)
app.command(
    "beholder.cli.narrate:app",
    name="narrate",
    help="Sequences of pictures: extract storylines, judge them, find breaks, compare sources.",
)
app.command(
    "beholder.cli.annotate:app",
    name="annotate",
    help="People judge in the browser: marks, pairs, ratings, rankings, facts; agreement, export.",
)
app.register_install_completion_command(help="Complete commands and options in this shell.")


def main() -> None:
    """Run the command line and exit."""
    try:
        sys.exit(app(sys.argv[1:]))
    except (BeholderError, CycloptsError) as error:
        say(f"beholder: {error}")
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # the disk, or rights: no bug, and nobody needs the place in our code
        say(f"beholder: {error.filename or 'a file'}: {error.strerror or error}")
        sys.exit(2)
    except KeyboardInterrupt:
        say("beholder: interrupted; run the same command again to go on")
        sys.exit(130)
