"""``beholder bidirectional``: people against models, from a run that scored both directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, Token

from beholder.errors import ConfigError
from beholder.kinds.bidirectional.settings import Columns, StudySettings
from beholder.terminal.groups import AsJson, Out
from beholder.terminal.printing import print_note, print_result

if TYPE_CHECKING:
    from beholder.kinds.bidirectional.study import Study
    from beholder.tables import Table

_HEADINGS = {
    "direction": "",
    "n": "n",
    "hallucination": "made up",
    "omission": "left out",
    "people_alone": "people alone",
    "models_alone": "models alone",
}
_TERMINAL_COLUMNS = {
    "scores": (
        "direction",
        "dataset",
        "language",
        "system",
        "best",
        "n",
        "n_failed",
        "mean",
    ),
    "rates": (
        "direction",
        "dataset",
        "language",
        "system",
        "n",
        "hallucination",
        "omission",
    ),
    "selectivity": (
        "dataset",
        "language",
        "category",
        "n",
        "people_alone",
        "models_alone",
    ),
}
"""Tables and columns that the command prints."""


def _cuts(kind: object, tokens: Sequence[Token]) -> tuple[float, float]:
    text = tokens[0].value
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise ConfigError(
            f"--cuts {text!r}: expected two numbers, such as 0.5,0.8"
        ) from None
    return low, high


@Parameter(name="*")
@dataclass(frozen=True)
class StudyGroup(StudySettings):
    """Settings of the study."""

    cuts: Annotated[
        tuple[float, float] | None,
        Parameter(
            converter=_cuts,
            n_tokens=1,
            help="Limits of hard and easy texts, such as 0.5,0.8; by default tertiles.",
        ),
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
        out: Output folder; by default RUN/bidirectional.
        metric: Metric, if the run has several.
    """
    from beholder.kinds.bidirectional.observe import observe
    from beholder.kinds.bidirectional.page import write_bidirectional
    from beholder.kinds.bidirectional.study import study
    from beholder.run.reading import incomplete_runs

    comparison = study(observe(run, columns, metric_name=metric), settings)
    folder = out or run / "bidirectional"
    page = write_bidirectional(comparison, run, folder)
    json_content: dict[str, object] = {
        table.name: [*map(dict, table.rows)] for table in comparison.tables
    }
    json_content["omitted"] = [asdict(part) for part in comparison.omitted]
    json_content["cautions"] = cautions = incomplete_runs(run)
    print_result(json_content, [*_main_tables(comparison)], as_json)
    for caution in cautions:
        print_note(f"caution: {caution}")
    for part in comparison.omitted:
        print_note(f"left out: {part.title}: {part.reason}")
    print_note(f"tables: {folder / 'tables'}\nreport: {page}")


def _main_tables(study: Study) -> Iterator[Table]:
    """Yield the tables that a terminal has room for: F1, rates and selectivity."""
    for name, keys in _TERMINAL_COLUMNS.items():
        table = study.table(name)
        if table is not None:
            yield replace(
                table,
                columns=tuple(
                    replace(
                        column,
                        heading=_HEADINGS.get(column.key, column.heading),
                    )
                    for column in table.columns
                    if column.key in keys
                ),
                rows=tuple(
                    row for row in table.rows if row.get("value", "f1") == "f1"
                ),
            )
