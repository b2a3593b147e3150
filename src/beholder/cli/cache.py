"""``beholder cache``: the answers that all runs share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from beholder.judges import AnswerFile

cache = typer.Typer(help="The answers of judges that all runs share.", no_args_is_help=True)
_Place = Annotated[
    str | None, typer.Option("--cache", help="Folder of the cache. (default: BEHOLDER_CACHE)")
]


@cache.command()
def stats(place: _Place = None) -> None:
    """Count answers, tokens and cost per model and operation.

    Example: [bold]beholder cache stats[/bold]
    """
    from rich.console import Console
    from rich.table import Table

    from beholder.report.tables import cell

    file = _opened(place)
    table = Table("model", "operation", "answers", "prompt tokens", "answer tokens", "USD")
    for row in file.stats():
        table.add_row(
            cell(row["model"]),
            row["operation"],
            f"{row['n_answers']:,}",
            f"{row['prompt_tokens'] or 0:,}",
            f"{row['completion_tokens'] or 0:,}",
            f"{row['cost']:.4f}",
        )
    Console().print(table)
    typer.echo(f"{file.path}: {file.path.stat().st_size / 1e6:.1f} MB")
    file.close()


@cache.command()
def export(
    out: Annotated[Path, typer.Argument(help="JSONL file to write; --judge replay:FILE reads it.")],
    place: _Place = None,
    run: Annotated[
        Path | None, typer.Option(help="Export the answers of this run instead of the cache.")
    ] = None,
) -> None:
    """Write all answers as JSON lines.

    Example: [bold]beholder cache export answers.jsonl --run runs/first[/bold]
    """
    from beholder.judges import AnswerFile
    from beholder.judges.exchange import export_answers
    from beholder.run.store import FILE_NAME

    if run is not None and not (run / FILE_NAME).is_file():
        raise typer.BadParameter(f"{run} is not a run directory: it has no {FILE_NAME}")
    file = _opened(place) if run is None else AnswerFile(run / FILE_NAME)
    typer.echo(f"{export_answers(file, out)} answers written to {out}")
    file.close()


@cache.command()
def prune(
    days: Annotated[float, typer.Option(help="Remove answers that are older than so many days.")],
    place: _Place = None,
) -> None:
    """Remove old answers.

    Example: [bold]beholder cache prune --days 90[/bold]
    """
    file = _opened(place)
    typer.echo(f"{file.prune(older_than=days * 86400)} answers removed from {file.path}")
    file.close()


def cache_file(place: str | None) -> Path | None:
    """Where the shared cache lies: the option, else ``BEHOLDER_CACHE``, else the platform's folder.

    Args:
        place: A folder, ``off`` for no cache, or None.
    """
    place = place or os.environ.get("BEHOLDER_CACHE")
    if place == "off":
        return None
    return (Path(place) if place else _platform_folder()) / "answers.sqlite"


def _platform_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "beholder"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/beholder"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "beholder"


def _opened(place: str | None) -> AnswerFile:
    from beholder.judges import AnswerFile

    path = cache_file(place)
    if path is None or not path.is_file():
        raise typer.BadParameter(
            f"there is no cache at {path}; runs make it" if path else "the cache is off"
        )
    return AnswerFile(path)
