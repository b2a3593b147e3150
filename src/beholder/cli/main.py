"""The entry point: all commands, and what an error looks like to a person.

Exit codes: 0 done; 1 some items failed or a gate was missed; 2 bad input or usage; 130 interrupted.
A command gives its exit code, or None for 0. The module of a command is imported when the command
is named (for the list of commands, all are), and imports what it works with when it is called, so
that help waits for nothing.
"""

from __future__ import annotations

import io
import os
import sys

from cyclopts import App, CycloptsError, Parameter

from beholder._version import __version__
from beholder.cli.printing import say
from beholder.errors import BeholderError
from beholder.files import check_name


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
FUNCTIONS = (
    "demo.demo",
    "score.score",
    "report.report",
    "view.view",
    "steps.steps",
    "compare.compare",
    "agree.agree",
    "leaderboard.leaderboard",
    "rank.rank",
    "review.review",
    "caption.caption",
    "classify.classify",
    "translate.translate",
    "sample.sample",
    "bidirectional.bidirectional",
    "metrics.metrics",
    "metrics.show",
    "doctor.doctor",
    "graph.graph",
    "graph_check.graph_check",
    "judge_check.judge_check",
)
"""The commands, as modules of this package and functions in them, in the order of help."""

GROUPS = ("narrate", "suite", "annotate", "cache")
"""Modules whose ``app`` holds several commands."""

for place, path in enumerate(FUNCTIONS):
    module, _, function = path.partition(".")
    app.command(
        f"beholder.cli.{module}:{function}",
        name=function.replace("_", "-"),
        sort_key=place,
        help_format="markdown",
    )
for group in GROUPS:
    app.command(f"beholder.cli.{group}:app", name=group)
app.register_install_completion_command(help="Complete commands and options in this shell.")


def main() -> None:
    """Run the command line and exit."""
    arguments = sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # no locale and no text is a reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        for argument in arguments:
            check_name(argument)
        if not arguments or arguments[0] in app.help_flags:
            for name in app:  # a command that is not imported is shown without its help
                app[name]
        sys.exit(app(arguments))
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
