"""The entry point: all commands, and what an error looks like to a person.

Exit codes: 0 done; 1 some items failed or a gate was missed; 2 bad input or usage; 130 interrupted.
"""

from __future__ import annotations

import os
import sys

import typer

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
    judge_check,
    leaderboard,
    metrics,
    narrate,
    rank,
    report,
    review,
    score,
    translate,
)
from beholder.errors import BeholderError

app = typer.Typer(
    name="beholder",
    help="How good is a description of something seen, and where is it right or wrong?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo.demo,
    score.score,
    report.report,
    compare.compare,
    agree.agree,
    leaderboard.leaderboard,
    rank.rank,
    review.review,
    caption.caption,
    classify.classify,
    translate.translate,
    bidirectional.bidirectional,
    metrics.metrics,
    metrics.show,
    doctor.doctor,
    graph.graph,
):
    app.command()(command)
app.command("judge-check")(judge_check.judge_check)
app.add_typer(cache.cache, name="cache")
app.add_typer(narrate.app, name="narrate")


@app.callback(invoke_without_command=True)
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        typer.echo(f"beholder {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except BeholderError as error:
        typer.echo(f"beholder: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("beholder: interrupted; run the same command again to go on", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
