"""``beholder cache``: the answers that all runs share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from cyclopts import App, Parameter

from beholder.errors import ConfigError
from beholder.terminal.groups import find_cache
from beholder.terminal.printing import print_line, print_tables

if TYPE_CHECKING:
    from beholder.judges.answers import AnswerCache

app = App(
    name="cache",
    help="The answers of judges that all runs share.",
    help_format="markdown",
)
Place: TypeAlias = Annotated[
    str | None,
    Parameter(
        name="--cache",
        help="Folder of the cache, or postgresql://USER@HOST/NAME; by default BEHOLDER_CACHE.",
    ),
]


@app.command
def stats(*, place: Place = None) -> None:
    """Count answers, tokens and cost per model and operation.

    Example: `beholder cache stats`
    """
    from rich.table import Table

    from beholder.report.tables import cell

    table = Table(
        "model",
        "operation",
        "answers",
        "prompt tokens",
        "answer tokens",
        "USD",
    )
    with _open_cache_file(place) as file:
        for row in file.stats():
            counts = (
                row.n_answers,
                row.prompt_tokens or 0,
                row.completion_tokens or 0,
            )
            cells = (f"{n:,}" for n in counts)
            table.add_row(
                cell(row.model), row.operation, *cells, f"{row.cost:.4f}"
            )
        print_tables(table)
        print_line(f"{file.name}: {file.size() / 1e6:.1f} MB")


@app.command
def export(
    out: Path, /, *, place: Place = None, run: Path | None = None
) -> None:
    """Write all answers as JSON lines.

    Example: `beholder cache export answers.jsonl --run runs/first`

    Args:
        out: JSONL file to write; --judge replay:FILE reads it.
        run: Export the answers of this run instead of the cache.
    """
    from beholder.judges import AnswerFile
    from beholder.judges.answers import export_answers
    from beholder.run.store_file import FILE_NAME, NO_RUN

    if run is not None and not (run / FILE_NAME).is_file():
        raise ConfigError(NO_RUN.format(run))
    with (
        _open_cache_file(place)
        if run is None
        else closing(AnswerFile(run / FILE_NAME)) as file
    ):
        print_line(f"{export_answers(file, out)} answers written to {out}")


@app.command
def prune(*, days: float, place: Place = None) -> None:
    """Remove old answers.

    Example: `beholder cache prune --days 90`

    Args:
        days: Remove answers older than this many days.
    """
    with _open_cache_file(place) as file:
        print_line(
            f"{file.prune(older_than=days * 86400)} answers removed from {file.name}"
        )


@app.command
def verify(*, place: Place = None) -> None:
    """Read every answer; those that cannot be read are removed, and will be asked for again.

    Example: `beholder cache verify`
    """
    with _open_cache_file(place) as file:
        # Records that cannot be read are removed while they are read.
        n_before = sum(row.n_answers for row in file.stats())
        n_read = sum(1 for _ in file.records())
        print_line(
            f"{n_read} answers of {file.name} can be read, {n_before - n_read} were removed"
        )


@contextmanager
def _open_cache_file(place: str | None) -> Iterator[AnswerCache]:
    from beholder.run.answers import open_cache

    location = find_cache(place)
    if location is None:
        raise ConfigError("the cache is off; name its folder with --cache")
    # Opened, a file that is missing would be made, and a mistyped folder would seem empty.
    if isinstance(location, Path) and not location.is_file():
        raise ConfigError(
            f"there is no cache at {location}; a run with this --cache makes it"
        )
    with closing(open_cache(location)) as file:
        yield file
