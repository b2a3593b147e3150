"""``beholder judge-check``: how steady a judge is. Also what ``doctor --judge`` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from beholder.cli.printing import tell, tell_tables
from beholder.options import JudgeOptions

if TYPE_CHECKING:
    from beholder.judges import Judge
    from beholder.judges.checkup import CheckFinding


def judge_check(
    judge: str,
    /,
    *,
    base_url: str | None = None,
    replicates: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 3,
    temperature: float = 0.7,
    answers: Path | None = None,
) -> None:
    """Ask a judge a dozen known questions several times: threshold, consistency, biases.

    With answers of your own it is held against these instead: F1 of mistakes and omissions.

    Example: `beholder judge-check openai:gpt-4.1-mini`

    Args:
        judge: A judge, such as openai:MODEL.
        base_url: Endpoint of an OpenAI-compatible server.
        replicates: Repeats of each question, from 2.
        temperature: Temperature of the repeats.
        answers: JSONL file of units with what people say of their presence.
    """
    from rich.table import Table

    from beholder.aio import run_sync
    from beholder.judges.checkup import check_steadiness

    made = build(judge, base_url)
    if answers is not None:
        _print_verification(made, answers)
        return
    found = run_sync(check_steadiness(made, replicates=replicates, temperature=temperature))
    agreement = found.agreement
    table = Table("what", "value", "means")
    for name, at in (("threshold", found.calibration.used), ("best", found.calibration.best)):
        says = "present from this grade on" if name == "threshold" else "lowest of the best ones"
        table.add_row(f"{name} {at.threshold:.2f}", f"F1 {_number(at.f1)}", says)
    table.add_row("ICC(2,1)", _number(agreement.single.value), "one repeat's reliability, 1 best")
    table.add_row("ICC(2,k)", _number(agreement.average.value), f"that of the mean of {replicates}")
    table.add_row("Krippendorff alpha", _number(agreement.alpha.value), "agreement, 1 best")
    table.add_row("position bias", f"{found.position_bias:+.2f}", "ranks; below 0: for the first")
    table.add_row("length bias", f"{found.length_bias:+.2f}", "grades of 1..5; 0 is fair")
    tell_tables(table)
    tell(f"{made.identity}: {found.n_calls} questions")


def _print_verification(made: Judge, path: Path) -> None:
    """Print how well a judge's answers agree with people's."""
    from rich.table import Table

    from beholder.benchmarks.annotated import read_answers, verification

    table = Table("units", "n", "threshold", "macro F1", "best threshold", "macro F1 there")
    for name, (n, found) in verification(made, read_answers(path)).items():
        cells = [(f"{at.threshold:.2f}", _number(at.f1)) for at in (found.used, found.best)]
        table.add_row(name, str(n), *(cell for pair in cells for cell in pair))
    tell_tables(table)
    tell(made.identity)


def build(judge: str, base_url: str | None) -> Judge:
    """The judge of a spec, at an address of its own if one is given."""
    from beholder import judges

    options: dict[str, Any] = JudgeOptions(base_url).keywords()
    return judges.judge(judge, **options)


def print_diagnosis(judge: str, base_url: str | None) -> bool:
    """Print what a judge can do and knows; gives whether nothing was found wrong."""
    from rich.table import Table

    from beholder.aio import run_sync
    from beholder.judges.checkup import diagnose
    from beholder.report.tables import cell

    findings: list[CheckFinding] = run_sync(diagnose(build(judge, base_url)))
    table = Table("check", "", "found")
    for finding in findings:
        mark = {True: "ok", False: "[red]wrong[/red]", None: ""}[finding.good]
        table.add_row(finding.name, mark, cell(finding.said))
    tell_tables(table)
    return all(finding.good is not False for finding in findings)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
