"""``beholder compare``: the paired difference of two runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.terminal.groups import AsJson, Markdown, TablesGroup
from beholder.terminal.printing import say, tell_summary

if TYPE_CHECKING:
    from beholder.tables import Table


def compare(
    run_a: Path,
    run_b: Path,
    /,
    *,
    allow_different: bool = False,
    html: Path | None = None,
    media_root: Path | None = None,
    markdown: Markdown = None,
    tables: TablesGroup = TablesGroup(),
    as_json: AsJson = False,
) -> None:
    """Paired difference of two runs per value: second minus first, with interval and test.

    Of two runs over narratives also how their judges agree, how they rank sources, and their cost.

    Example: `beholder compare runs/model-a runs/model-b`

    Args:
        run_a: A run directory.
        run_b: Another, over subjects with the same ids.
        allow_different: Compare although signatures differ.
        html: File for a page with the differences and the items that moved most.
        media_root: Folder that image paths are relative to on the page; else that of the data.
    """
    from beholder.errors import ConfigError
    from beholder.optional import load
    from beholder.report.comparison import differences, moved_tables, write_comparison
    from beholder.report.markdown import summed_up
    from beholder.run.compare import compare as compare_runs
    from beholder.run.compare import shared_askers
    from beholder.run.kind import Beside, kind_of
    from beholder.run.store import Store

    plain: dict[str, Any] = {}
    found: list[Table] = []
    fallen: list[Table] = []
    with Store.read(run_a) as a, Store.read(run_b) as b:
        kind = kind_of(run_a)
        beside = kind.beside if kind_of(run_b) == kind else ""
        if not beside or shared_askers(a, b):  # runs of different judges may share nothing
            comparison = compare_runs(a, b, allow_different=allow_different)
            plain = asdict(comparison)
            found.append(differences(comparison, str(run_a), str(run_b)))
            if markdown is not None:
                fallen += moved_tables(a, b, comparison)
            if html is not None:
                write_comparison(a, b, comparison, html, media_root)
        elif html is not None:
            raise ConfigError("--html: the runs share no question, so there is no page to draw")
    if beside:
        more: Beside = load(beside)(run_a, run_b)
        plain |= more.plain
        found += more.tables
        for note in more.notes:
            say(note)
    if markdown is not None and not found:
        raise ConfigError("--markdown: the runs share no question, so there is nothing to sum up")
    title = f"{run_a} and {run_b}"
    tell_summary(plain, found, as_json, markdown, lambda: summed_up(title, [*found, *fallen]))
    tables.write(found)
    if html is not None:
        say(f"page: {html}")
