"""What ``caption``, ``classify``, ``translate`` and ``review`` share: options, the run, the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import ConfigError
from beholder.terminal.printing import (
    close,
    say,
    say_left_out,
    tell_json,
    tell_plan,
    too_many,
)

if TYPE_CHECKING:
    from beholder.run.rows.engine import Written
    from beholder.run.rows.rows import RowsConfig
    from beholder.terminal.groups import FinishGroup
    from beholder.terminal.progress import TerminalProgress


def make_rows(config: RowsConfig, finish: FinishGroup) -> int:
    """Make rows as a command says, and tell what came out; gives the exit code."""
    from beholder.kinds.generation.kind import ROWS
    from beholder.run import kind
    from beholder.terminal.progress import TerminalProgress

    if finish.dry_run:
        return tell_plan(kind.plan(ROWS, config), config.run)
    with TerminalProgress() as progress:
        written = kind.run(ROWS, config, progress)
    say(f"{written.n_written} rows written to {config.out}")
    if written.outside:
        say(
            f"some pictures lie outside {config.out.parent}, so their paths are absolute: score"
            " them with --media-root FOLDER"
        )
    return close_made(written, config.run, progress, finish)


def close_made(written: Written, run: Path, progress: TerminalProgress, finish: FinishGroup) -> int:
    """Say what was left out and what failed; gives the exit code."""
    from beholder.run import manifest

    say_left_out(written.bad_rows)
    log = manifest.read(run)
    if finish.as_json:
        tell_json(manifest.content(run))
    for name, result in manifest.results(log).items():
        for caution in result.cautions:
            say(f"{name}: {caution}")
    failures = [f"{name} ({system}): {why.message}" for name, system, why in written.failures]
    return close(run, progress, problems=too_many(failures, finish.allow_failed), did="made")


def by_system(judges: Sequence[str]) -> dict[str, str]:
    """Spec per name: ``NAME=SPEC`` gives the name, otherwise it is the model's.

    Raises:
        ConfigError: Two judges have one name.
    """
    from beholder.spec import tool, with_label

    found: dict[str, str] = {}
    for text in judges:
        label, parsed = with_label(text)
        judge = tool(parsed)
        name, made = label or judge.argument or judge.name, str(judge)
        if name in found:
            raise ConfigError(
                f"two judges are called {name!r}; name them, such as --judge first={made}"
            )
        found[name] = made
    return found
