"""``beholder cache``: the answers that all runs share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from cyclopts import App, Parameter

from beholder.cli.printing import tell, tell_tables
from beholder.errors import ConfigError

if TYPE_CHECKING:
    from beholder.judges import AnswerFile

app = App(name="cache", help="The answers of judges that all runs share.", help_format="markdown")
Place: TypeAlias = Annotated[
    str | None,
    Parameter(name="--cache", help="Folder of the cache; BEHOLDER_CACHE if it is not named."),
]


@app.command
def stats(*, place: Place = None) -> None:
    """Count answers, tokens and cost per model and operation.

    Example: `beholder cache stats`
    """
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
    tell_tables(table)
    tell(f"{file.path}: {file.path.stat().st_size / 1e6:.1f} MB")
    file.close()


@app.command
def export(out: Path, /, *, place: Place = None, run: Path | None = None) -> None:
    """Write all answers as JSON lines.

    Example: `beholder cache export answers.jsonl --run runs/first`

    Args:
        out: JSONL file to write; --judge replay:FILE reads it.
        run: Export the answers of this run instead of the cache.
    """
    from beholder.judges import AnswerFile
    from beholder.judges.exchange import export_answers
    from beholder.run.store_file import FILE_NAME

    if run is not None and not (run / FILE_NAME).is_file():
        raise ConfigError(f"{run} is not a run directory: it has no {FILE_NAME}")
    file = _opened(place) if run is None else AnswerFile(run / FILE_NAME)
    tell(f"{export_answers(file, out)} answers written to {out}")
    file.close()


@app.command
def prune(*, days: float, place: Place = None) -> None:
    """Remove old answers.

    Example: `beholder cache prune --days 90`

    Args:
        days: Remove answers that are older than so many days.
    """
    file = _opened(place)
    tell(f"{file.prune(older_than=days * 86400)} answers removed from {file.path}")
    file.close()


def cache_file(place: str | Path | None) -> Path | None:
    """Where the shared cache lies: the option, else ``BEHOLDER_CACHE``, else the platform's folder.

    Args:
        place: A folder, ``off`` for no cache, or None.
    """
    named = str(place or os.environ.get("BEHOLDER_CACHE") or _platform_folder())
    return None if named == "off" else Path(named) / "answers.sqlite"


def _platform_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "beholder"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/beholder"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "beholder"


def _opened(place: str | None) -> AnswerFile:
    from beholder.judges import AnswerFile

    path = cache_file(place)
    if path is None:
        raise ConfigError("the cache is off; name its folder with --cache")
    if not path.is_file():
        raise ConfigError(f"there is no cache at {path}; runs make it")
    return AnswerFile(path)
