"""``beholder judge-check``: tests of a judge.

``doctor --judge`` prints its diagnosis from here, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from cyclopts import Parameter, validators
from rich.markup import escape

from beholder.base.rounding import fixed
from beholder.options import JudgeOptions
from beholder.terminal.groups import AsJson
from beholder.terminal.printing import (
    print_json,
    print_line,
    print_note,
    print_tables,
)

if TYPE_CHECKING:
    from beholder.judges import AnswerStore, Judge
    from beholder.judges.diagnostics import CheckFinding, Steadiness
    from beholder.judges.grades import Judging
    from beholder.judges.llm import Tally
    from beholder.judges.probes import Fitness
    from beholder.judges.traps import TrapReport
    from beholder.records import Estimate
    from beholder.stats.alerts import AlertF1
    from beholder.stats.judge_bias import Bias

_REASONS_SHOWN = 3
_NO_PROBABILITIES = "gives no probabilities"
_KINDS: dict[Literal["altered", "swapped", "foreign"], str] = {
    "altered": "against one detail that is another",
    "swapped": "against what is said of another thing",
    "foreign": "against what another text says",
}


@dataclass(frozen=True)
class _JudgeReport:
    """A judge with all measured figures of its check."""

    name: str
    fit: Fitness
    steady: Steadiness
    judging: Judging
    cost: float | None
    decisions: _DecisionReport | None


@dataclass(frozen=True)
class _DecisionReport:
    """Measurements that only judges with probabilities have.

    Attributes:
        traps: What changes their answers.
        step: Smallest step between probabilities of yes; None if it is finer than a millionth.
        n_probabilities: Probabilities of yes that the step was seen in.
        unanswered: Share of questions without a usable answer.
        reasons: Reasons why there was none, with counts.
    """

    traps: TrapReport
    step: float | None
    n_probabilities: int
    unanswered: Bias
    reasons: Mapping[str, int]


def judge_check(
    *judges: str,
    base_url: str | None = None,
    key_env: str | None = None,
    replicates: Annotated[
        int, Parameter(validator=validators.Number(gte=2))
    ] = 3,
    temperature: float = 0.7,
    answers: Path | None = None,
    dry_run: bool = False,
    as_json: AsJson = False,
) -> int:
    """Is a judge fit to judge? 200 questions with known answers, repeats, bias, cost and time.

    Nothing is taken from the cache: what is measured is the judge. Several judges stand side by
    side; `builtin` is a good measure for others. A judge that gives probabilities (decisions:,
    systemone:, decide=True) also gets some 50 calls with traps: order and names of options, texts
    that are cut, joint answers, negation, literal reading, rounding, and how its server counts a
    text; all in all some 200 calls. With --answers judges are compared with these alone: F1 of
    mistakes and omissions, calibration. The exit code is 1 if a judge is unfit.

    Example: `beholder judge-check builtin openai:gpt-4.1-mini`

    Example: `beholder judge-check decisions:gpt-6-luna --dry-run`

    Args:
        judges: Judges, such as openai:MODEL.
        base_url: Address of an OpenAI-compatible server.
        key_env: Environment variable with the key of that server.
        replicates: Repetitions of each of twelve questions.
        temperature: Sampling temperature of the repeats.
        answers: JSONL file of units with human answers about their presence.
        dry_run: Print the number of calls and their price; nothing is asked.
    """
    from beholder.errors import ConfigError

    if not judges:
        raise ConfigError(
            "judge-check needs a judge, such as builtin or openai:MODEL"
        )
    judge_options = JudgeOptions(base_url, key_env)
    if answers is not None and dry_run:
        for judge in judges:
            _print_calls_for_answers(judge, judge_options, answers)
        return 0
    if answers is not None:
        _print_verifications(judges, judge_options, answers, as_json)
        return 0
    if dry_run:
        for judge in judges:
            _print_calls(judge, judge_options, replicates, temperature)
        return 0
    reports = [
        _check(judge, judge_options, replicates, temperature)
        for judge in judges
    ]
    if as_json:
        print_json([_to_plain(report) for report in reports])
    else:
        _print_reports(reports, replicates)
    return int(any(report.fit.verdict == "unfit" for report in reports))


def _print_reports(reports: Sequence[_JudgeReport], replicates: int) -> None:
    """Print judges side by side, with what a reader must know of each."""
    from rich.table import Table

    silent_judges = [
        report for report in reports if report.fit.n_failed == report.fit.n
    ]
    answering = [report for report in reports if report not in silent_judges]
    # A table of judges without a single answer would have no figure.
    if answering:
        table = Table(
            "what", *(escape(report.name) for report in answering), "means"
        )
        for row in _merge_rows(answering, replicates):
            table.add_row(*row)
        print_tables(table)
    for report in reports:
        n_reasons = 1 if report in silent_judges else _REASONS_SHOWN
        for reason, count in list(report.fit.failed.items())[:n_reasons]:
            print_note(
                f"{report.name}: {count} of {report.fit.n} without a grade: {reason}"
            )
        if report in silent_judges:
            print_note(
                f"{report.name}: no answer to the {report.fit.n} questions was usable, so the judge"
                " is unfit and was asked nothing else. To see what it supports, run beholder doctor"
                f" --judge {quote(report.name)}; beholder show presence prints the question"
            )
        if report.judging.in_words:
            print_line(f"{report.name}: {report.judging.in_words}")
        if report.decisions is not None:
            for reason, count in list(report.decisions.reasons.items())[
                :_REASONS_SHOWN
            ]:
                print_note(
                    f"{report.name}: {count} decisions without an answer: {reason}"
                )


def _print_calls(
    judge: str,
    judge_options: JudgeOptions,
    replicates: int,
    temperature: float,
) -> None:
    """Print how many calls the check of a judge needs."""
    from beholder.aio import run_sync
    from beholder.judges import Answers
    from beholder.judges.llm import Tally

    tally = Tally()
    model = build_judge(judge, judge_options, tally=tally)
    run_sync(_ask_all(model, Answers(), replicates, temperature, lambda: None))
    _print_tally(judge, tally)


def _print_calls_for_answers(
    judge: str, judge_options: JudgeOptions, answers: Path
) -> None:
    """Print how many calls a judge needs for answers without a grade."""
    from beholder.judges.llm import Tally
    from beholder.kinds.agreement.annotated import read_answers, verification

    tally = Tally()
    model = build_judge(judge, judge_options, tally=tally)
    verification(model, read_answers(answers))
    _print_tally(judge, tally)


def _print_tally(judge: str, tally: Tally) -> None:
    price = "unknown" if tally.cost is None else f"${tally.cost:,.4f}"
    print_line(
        f"{judge}: about {tally.n_calls:,} calls, {tally.prompt_tokens:,} tokens, price {price}"
    )


def _to_plain(report: _JudgeReport) -> object:
    """Return a report as JSON values; a figure that is not defined is null."""
    import msgspec

    plain = msgspec.json.decode(msgspec.json.encode(report))
    return {"verdict": report.fit.verdict, **plain}


def _print_verifications(
    judges: Sequence[str],
    judge_options: JudgeOptions,
    path: Path,
    as_json: bool,
) -> None:
    """Print how well the answers of judges agree with people's."""
    import msgspec
    from rich.table import Table

    from beholder.kinds.agreement.annotated import read_answers, verification
    from beholder.terminal.log_progress import LogProgress

    answers = read_answers(path)
    verifications = {}
    for judge in judges:
        model = build_judge(judge, judge_options)
        with LogProgress(work=f"asking {judge}"):
            verifications[judge] = verification(model, answers)
    if as_json:
        print_json(msgspec.json.decode(msgspec.json.encode(verifications)))
        return
    # The best F1 is an upper bound: its threshold is chosen on the same
    # answers.
    table = Table(
        "judge",
        "units",
        "n",
        "F1",
        "at",
        "best F1",
        "at",
        "calibration error",
        "Brier score",
    )
    for judge, accuracies in verifications.items():
        for name, accuracy in accuracies.items():
            cells = [
                (_number(alert_f1.f1), _number(alert_f1.threshold))
                for alert_f1 in (accuracy.used, accuracy.best)
            ]
            table.add_row(
                escape(judge),
                name,
                str(accuracy.n),
                *(c for pair in cells for c in pair),
                _estimate(accuracy.calibration_error),
                _estimate(accuracy.brier),
            )
    print_tables(table)


def _check(
    judge: str,
    judge_options: JudgeOptions,
    replicates: int,
    temperature: float,
) -> _JudgeReport:
    from beholder.aio import run_sync
    from beholder.judges import AnswerFile, Answers
    from beholder.terminal.log_progress import LogProgress

    with (
        # A new, empty file of answers: nothing may come from the cache, and
        # its calls are counted.
        TemporaryDirectory() as folder,
        closing(AnswerFile(Path(folder, "answers.sqlite"))) as file,
    ):
        answers = Answers(file)
        model = build_judge(judge, judge_options, answers=answers)
        print_note(f"asking {judge}")

        def measure_cost() -> float | None:
            return file.cost() if file.knows_costs() else None

        with LogProgress(work=f"asking {judge}"):
            fit, cost, steady, decisions = run_sync(
                _ask_all(model, answers, replicates, temperature, measure_cost)
            )
        judging = file.judging()
    return _JudgeReport(
        name=judge,
        fit=fit,
        steady=steady,
        judging=judging,
        cost=cost,
        decisions=decisions,
    )


async def _ask_all(
    model: Judge,
    answers: AnswerStore,
    replicates: int,
    temperature: float,
    measure_cost: Callable[[], float | None],
) -> tuple[Fitness, float | None, Steadiness, _DecisionReport | None]:
    """Ask a judge everything; one that answers nothing is asked the probes alone.

    The cost is that of the probes.
    """
    from beholder.judges.decisions.judge import DecisionJudge
    from beholder.judges.decisions.notes import noted_decisions
    from beholder.judges.diagnostics import Steadiness, check_steadiness
    from beholder.judges.probes import fitness
    from beholder.judges.traps import check_traps

    is_deciding = isinstance(model, DecisionJudge)
    with noted_decisions() as rows:
        fit = await fitness(
            model, threshold=model.presence_threshold, together=is_deciding
        )
        cost = measure_cost()
        # A judge that answers nothing would only be asked, and paid, in vain.
        if fit.n_failed == fit.n:
            return fit, cost, Steadiness(None, None, (), 0, 0), None
        steady = await check_steadiness(
            model, replicates=replicates, temperature=temperature
        )
        if not isinstance(model, DecisionJudge):
            return fit, cost, steady, None
        traps = await check_traps(model, answers)
    return fit, cost, steady, _report_decisions(traps, rows)


def _report_decisions(
    traps: TrapReport, rows: Sequence[Mapping[str, object]]
) -> _DecisionReport:
    """Return what all noted questions of a check show about probabilities."""
    from beholder.judges.traps import find_step
    from beholder.stats.judge_bias import share_bias

    reasons = [str(row["reason"]) for row in rows if "reason" in row]
    # Choices and scores were divided by their sum, which hides the step.
    probabilities = [
        value
        for row in rows
        if "options" not in row and "levels" not in row
        for value in cast("Sequence[float]", row["probabilities"])
    ]
    return _DecisionReport(
        traps=traps,
        step=find_step(probabilities) if probabilities else None,
        n_probabilities=len(probabilities),
        unanswered=share_bias(
            "refusals",
            "share of questions without a usable answer",
            ["reason" in row for row in rows],
            "questions",
            least=1,
        ),
        reasons=dict(Counter(reasons).most_common()),
    )


def _merge_rows(
    reports: Sequence[_JudgeReport], replicates: int
) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table: name, a value per judge, and the meaning."""
    for lines in zip(
        *(_describe_judge(report, replicates) for report in reports),
        strict=True,
    ):
        name, _, means = lines[0]
        yield name, *(value for _, value, _ in lines), means
    # Rows that judges with probabilities alone have.
    rows_by_judge = [
        {}
        if report.decisions is None
        else dict(_describe_decisions(report.decisions))
        for report in reports
    ]
    meanings = {
        name: means
        for rows in rows_by_judge
        for name, (_, means) in rows.items()
    }
    for name, means in meanings.items():
        values = [
            rows.get(name, (_NO_PROBABILITIES, ""))[0]
            for rows in rows_by_judge
        ]
        yield name, *values, means


def _describe_judge(
    report: _JudgeReport, replicates: int
) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of one judge: name, value and meaning."""
    from beholder.judges.probes import FIT, QUESTIONS_PER_ITEM, WEAK

    # Verdict first, then how well the judge separates, how steady it is, and
    # its cost.
    fit, steady = report.fit, report.steady
    colour = {"fit": "green", "weak": "yellow", "unfit": "red"}[fit.verdict]
    right = _number(
        fit.right, lambda right: f"{right:.0%} at {fit.threshold:g}"
    )
    position = _number(fit.position_bias, "{:+.2f}".format)
    cost = _cost(report, QUESTIONS_PER_ITEM)
    yield (
        "verdict",
        f"[{colour}]{fit.verdict}[/]",
        f"fit from an AUC of {FIT:g}, unfit below {WEAK:g}",
    )
    yield "AUC", _number(fit.auc), "stated above unstated units; 0.5 is chance"
    for kind, means in _KINDS.items():
        yield f"AUC, {kind}", _number(fit.auc_by_kind[kind]), means
    yield "right", right, "of the answers"
    yield (
        "F1",
        _f1(fit.calibration.used),
        "mean of both sides, at the threshold",
    )
    yield "best F1", _f1(fit.calibration.best), "there is, with its threshold"
    yield (
        "calibration error",
        _estimate(fit.calibration_error),
        "probability and share of stated, 0 best",
    )
    yield (
        "Brier score",
        _estimate(fit.brier),
        "0 is best, 0.25 is always one half",
    )
    yield "no answer", f"{fit.n_failed} of {fit.n}", "probes without a grade"
    yield (
        "ICC(2,1)",
        _number(steady.single),
        "one repeat's reliability, 1 best",
    )
    yield (
        "ICC(2,k)",
        _number(steady.average),
        f"that of the mean of {replicates}",
    )
    yield "position bias", position, "ranks; below 0: for the first"
    for bias in steady.biases:
        yield f"bias: {bias.name}", _bias(bias), bias.unit
    yield "questions a second", f"{fit.n / fit.seconds:.1f}", "here and now"
    yield (
        "cost of 1,000 items",
        cost,
        f"PoSh, {QUESTIONS_PER_ITEM} questions each",
    )


def _describe_decisions(
    report: _DecisionReport,
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the lines of a judge that gives probabilities: name, value and meaning."""
    traps = report.traps
    n_right, n_choices = traps.right_choices
    yield "choices", (f"{n_right} of {n_choices}", "right answers")
    for bias in (*traps.biases, report.unanswered):
        yield bias.name, (_bias(bias), bias.unit)
    ends = ", ".join(
        f"{end.n_tokens:,}: {end.reason if end.n_seen is None else end.n_seen}"
        for end in traps.ends
    )
    yield (
        "last sentence",
        (ends, "tokens of a text: things of 5 seen at its end"),
    )
    step = "finer" if report.step is None else f"{report.step:g}"
    yield (
        "smallest step",
        (f"{step}, n {report.n_probabilities}", "between probabilities"),
    )
    yield "the state counts once", _describe_state_count(traps)


def _describe_state_count(traps: TrapReport) -> tuple[str, str]:
    count = traps.state_count
    means = "tokens of a call with 1 question, and with many"
    if count is None:
        return "each question is a request of its own", means
    if count.tokens_of_one is None or count.tokens_of_all is None:
        return "unknown: the server reports no tokens", means
    answer = "yes" if count.is_once else "no"
    tokens = f"{count.tokens_of_one:,}; {count.tokens_of_all:,} with {count.n_questions}"
    return f"{answer}: {tokens}", means


def _bias(bias: Bias) -> str:
    if bias.value is None or bias.interval is None:
        return f"not enough data: {bias.reason}"
    ends = f"{bias.interval.low:+.2f} to {bias.interval.high:+.2f}"
    return f"{bias.value:+.2f} [{ends}], n {bias.n}"


def _estimate(estimate: Estimate | None) -> str:
    if estimate is None:
        return "undefined"
    value = f"{fixed(estimate.mean, 3)}"
    if estimate.interval is not None:
        low, high = estimate.interval.low, estimate.interval.high
        value += f" [{fixed(low, 3)} to {fixed(high, 3)}]"
    return f"{value}, n {estimate.n}"


def _f1(alert_f1: AlertF1) -> str:
    threshold = (
        ""
        if alert_f1.f1 is None or alert_f1.threshold is None
        else f" at {fixed(alert_f1.threshold, 2)}"
    )
    return f"{_number(alert_f1.f1)}{threshold}"


def _cost(report: _JudgeReport, per_item: int) -> str:
    # The price of a question is the mean of the probes.
    if not report.judging.n_answers:
        return "nothing"
    return (
        "unknown"
        if report.cost is None
        else f"${1000 * per_item * report.cost / report.fit.n:,.2f}"
    )


def build_judge(
    judge: str,
    judge_options: JudgeOptions,
    answers: AnswerStore | None = None,
    tally: Tally | None = None,
) -> Judge:
    """Build the judge of a spec, with the address and key of the options."""
    from beholder import judges

    options: dict[str, Any] = judge_options.keywords()
    return judges.judge(judge, answers=answers, tally=tally, **options)


def print_diagnosis(judge: str, judge_options: JudgeOptions) -> bool:
    """Print the abilities of a judge; return False if a check failed."""
    from rich.table import Table

    from beholder.aio import run_sync
    from beholder.judges.diagnostics import diagnose
    from beholder.report.tables import cell

    findings: list[CheckFinding] = run_sync(
        diagnose(build_judge(judge, judge_options))
    )
    table = Table("check", "", "found")
    for finding in findings:
        mark = {True: "ok", False: "[red]wrong[/red]", None: ""}[finding.good]
        table.add_row(finding.name, mark, cell(finding.said))
    print_tables(table)
    return all(finding.good is not False for finding in findings)


def _number(
    value: float | None,
    show: Callable[[float], str] = lambda value: fixed(value, 2),
) -> str:
    return "undefined" if value is None or math.isnan(value) else show(value)
