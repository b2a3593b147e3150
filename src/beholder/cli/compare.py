"""``beholder compare``: the paired difference of two runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from beholder.cli.groups import AsJson
from beholder.cli.printing import tell_result


def compare(
    run_a: Path, run_b: Path, /, *, allow_different: bool = False, as_json: AsJson = False
) -> None:
    """Paired difference of two runs per value: second minus first, with interval and test.

    Example: `beholder compare runs/model-a runs/model-b`

    Args:
        run_a: A run directory.
        run_b: Another, over subjects with the same ids.
        allow_different: Compare although signatures differ.
    """
    from beholder.report import comparison_table
    from beholder.run.compare import compare as compare_runs
    from beholder.run.store import Store

    with Store.read(run_a) as a, Store.read(run_b) as b:
        comparison = compare_runs(a, b, allow_different=allow_different)
    table = comparison_table(comparison, str(run_a), str(run_b))
    tell_result(asdict(comparison), [table], as_json)
