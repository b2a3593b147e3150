"""``beholder compare``: the paired difference of two runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from beholder.cli.groups import AsJson
from beholder.cli.printing import tell_result


def compare(
    run_a: Path, run_b: Path, /, *, allow_different: bool = False, as_json: AsJson = False
) -> None:
    """Paired difference of two runs per value: second minus first, with interval and test.

    Of two runs over narratives also how their judges agree, how they rank sources, and their cost.

    Example: `beholder compare runs/model-a runs/model-b`

    Args:
        run_a: A run directory.
        run_b: Another, over subjects with the same ids.
        allow_different: Compare although signatures differ.
    """
    from beholder.report.comparison import differences
    from beholder.report.study_tables import TerminalTable
    from beholder.run import manifest
    from beholder.run.compare import compare as compare_runs
    from beholder.run.compare import shared_askers
    from beholder.run.store import Store

    plain: dict[str, Any] = {}
    tables: list[RenderableType] = []
    with Store.read(run_a) as a, Store.read(run_b) as b:
        narratives = {manifest.kind_of(run) for run in (run_a, run_b)} == {"narratives"}
        if not narratives or shared_askers(a, b):  # runs of different judges may share nothing
            comparison = compare_runs(a, b, allow_different=allow_different)
            plain = asdict(comparison)
            tables.append(TerminalTable(differences(comparison, str(run_a), str(run_b))))
    if narratives:
        from beholder.report.narrate import side_by_side_tables
        from beholder.run.narrate.side_by_side import side_by_side

        beside = side_by_side(run_a, run_b)
        plain |= beside
        tables += side_by_side_tables(beside)
    tell_result(plain, tables, as_json)
