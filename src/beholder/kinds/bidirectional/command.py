"""``beholder bidirectional``: people against models, from a run that scored both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from beholder.errors import ConfigError
from beholder.kinds.bidirectional.settings import Columns, StudySettings
from beholder.terminal.groups import AsJson, Out
from beholder.terminal.printing import say, tell_result


def _pair(kind: Any, tokens: Sequence[Token]) -> tuple[float, float]:
    """Two numbers of one word, such as ``0.5,0.8``."""
    text = tokens[0].value
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"--cuts {text!r}: expected two numbers, such as 0.5,0.8") from None
    return low, high


@Parameter(name="*")
@dataclass(frozen=True)
class StudyGroup(StudySettings):
    """How the study is made."""

    cuts: Annotated[
        tuple[float, float] | None,
        Parameter(converter=_pair, n_tokens=1, help="Hard below, easy from: 0.5,0.8, or tertiles."),
    ] = None


def bidirectional(
    run: Path,
    /,
    *,
    out: Out = None,
    metric: Annotated[str | None, Parameter(alias="-m")] = None,
    settings: StudyGroup = StudyGroup(),
    columns: Annotated[Columns, Parameter(name="*")] = Columns(),
    as_json: AsJson = False,
) -> None:
    """Compare people's and models' texts in both directions: tables, figures, one page.

    Example: `beholder bidirectional runs/both`

    Args:
        run: A run with dcscore(direction='both').
        out: Folder to write; RUN/bidirectional if none is named.
        metric: The metric, where a run has several.
    """
    from beholder.kinds.bidirectional.observe import observe
    from beholder.kinds.bidirectional.page import write_bidirectional
    from beholder.kinds.bidirectional.study import study
    from beholder.kinds.bidirectional.terminal import terminal_tables

    found = study(observe(run, columns, metric_name=metric), settings)
    folder = out or run / "bidirectional"
    page = write_bidirectional(found, run, folder)
    plain: dict[str, Any] = {table.name: [*map(dict, table.rows)] for table in found.tables}
    plain["omitted"] = [asdict(part) for part in found.omitted]
    tell_result(plain, terminal_tables(found), as_json)
    for part in found.omitted:
        say(f"left out: {part.title}: {part.reason}")
    say(f"tables: {folder / 'tables'}\nreport: {page}")
