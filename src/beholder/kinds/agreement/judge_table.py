"""Several judges on the sets of a suite: agreement, calibration, cost and time in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from beholder.aio import run_sync
from beholder.base.files import make_folder
from beholder.base.spec import canonical_spec
from beholder.errors import ConfigError
from beholder.judges import judge as build_judge
from beholder.judges.decisions.judge import DecisionJudge
from beholder.judges.probes import Fitness, fitness
from beholder.kinds.agreement.agree import MetricValue, parse_metric_value
from beholder.kinds.agreement.agreement_suite import AgreementSuiteConfig
from beholder.kinds.agreement.load import SETS, JudgedSet
from beholder.kinds.agreement.published_files import pair
from beholder.kinds.agreement.results import SuiteResult
from beholder.kinds.agreement.suites.command import PAIRS
from beholder.kinds.agreement.suites.files import read_pairs
from beholder.run.answers import answers, run_answers
from beholder.run.store import Store
from beholder.tables import (
    METRIC,
    NOTE,
    Cells,
    Column,
    N,
    Table,
    interval_cells,
)

JUDGE_SETS = ("haldec_bench", "alignbench", "foil", "sugarcrepe", "caparena")
"""Published sets whose labels say which text, or which sentence, is wrong."""

DEFAULT_METRICS = ("posh",)
"""Asks every kind of judge about the same units."""

MINIMAL_PAIRS = "minimal_pairs"

_COLUMNS_AFTER = (
    Column("error", "calibration error", interval=True),
    Column("brier", "Brier score", interval=True),
    N,
    Column("n_texts", "texts", "count"),
    Column("n_calls", "calls", "count"),
    Column("cost", "$ per 1,000 texts"),
    Column("seconds", "s per 1,000 texts"),
    NOTE,
)


@dataclass(frozen=True)
class JudgeMetric:
    """A metric with one of the judges.

    Attributes:
        judge: Spec of the judge.
        metric: The metric as the user wrote it.
        value: The metric with this judge.
    """

    judge: str
    metric: str
    value: MetricValue


class JudgeWork(NamedTuple):
    """Results of a judge for a metric.

    Attributes:
        n_texts: Texts with a score.
        n_calls: Different questions that were answered.
        cost: US dollars; None if the price of some is not known.
    """

    n_texts: int
    n_calls: int
    cost: float | None


@dataclass(frozen=True)
class JudgeFigures:
    """Measurements of a judge beside agreement.

    Attributes:
        fits: Calibration on the probes of ``judge-check``, by judge.
        works: By label of a metric, over all sets.
        seconds: Seconds for the texts that this start scored, and how many; by label.
    """

    fits: Mapping[str, Fitness]
    works: Mapping[str, JudgeWork]
    seconds: Mapping[str, tuple[float, int]]


def expand_judges(
    metrics: Sequence[str], judges: Sequence[str], tools: Mapping[str, str]
) -> list[JudgeMetric]:
    """Return each metric with each judge.

    Raises:
        ConfigError: A metric asks no judge, or names its own, so that no judge is compared.
    """
    expanded = [
        JudgeMetric(
            judge, name, parse_metric_value(name, **{**tools, "judge": judge})
        )
        for judge in judges
        for name in metrics
    ]
    labels = [entry.value.label for entry in expanded]
    for entry in expanded:
        if len(judges) > 1 and labels.count(entry.value.label) > 1:
            raise ConfigError(
                f"-m {entry.metric} is the same with every --judge: it asks no judge, or names"
                " its own; name metrics that leave the judge open, such as -m posh"
            )
    return expanded


def load_minimal_pairs(limit: int | None) -> JudgedSet:
    """Return the minimal pairs of the package: a paraphrase against a text with one wrong fact.

    Args:
        limit: Pairs at most, spread evenly over the kinds of facts; all of them if None.
    """
    pairs = read_pairs(PAIRS)
    n = min(len(pairs), limit or len(pairs))
    chosen = [pairs[place * len(pairs) // n] for place in range(n)]
    items = [
        pair(
            row.id,
            row.paraphrase,
            row.altered,
            [row.reference],
            row.id,
            preferred=1,
            category=row.kind,
        )
        for row in chosen
    ]
    return JudgedSet(MINIMAL_PAIRS, True, tuple(items))


def describe_missing(names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each set for judges that is missing: where it is, and its place."""
    for name in JUDGE_SETS:
        if name not in names:
            human_set = SETS[name]
            yield (
                f"not measured: {name} ({human_set.what}): {human_set.where}; licence:"
                f" {human_set.licence}; put its files into the folder {name} of the suite"
            )


def check_probes(
    judges: Sequence[str], config: AgreementSuiteConfig
) -> dict[str, Fitness]:
    """Ask each judge the probes of ``judge-check``; answers are kept beside the runs."""
    folder = config.out / "probes"
    make_folder(folder)
    work = config.work
    fits = {}
    with run_answers(folder, work.cache, work.max_cost) as (store, budget):
        for spec in judges:
            options: dict[str, Any] = config.judging.keywords()
            judge = build_judge(spec, answers=store, budget=budget, **options)
            fits[spec] = run_sync(
                fitness(
                    judge,
                    threshold=judge.presence_threshold,
                    together=isinstance(judge, DecisionJudge),
                )
            )
    return fits


def measure_work(folders: Sequence[Path], metric: str) -> JudgeWork:
    """Return what the judge of a metric did in the runs of all sets."""
    n_texts = n_calls = 0
    costs: list[float | None] = []
    for folder in folders:
        keys: set[str] = set()
        with Store.read(folder) as store:
            for _, detail in store.details(metric):
                n_texts += 1
                keys |= {row["key"] for row in detail.get("questions", ())}
        given = answers(folder, sorted(keys)).values()
        n_calls += len(given)
        costs += [answer.cost for answer in given]
    priced = [cost for cost in costs if cost is not None]
    cost = sum(priced) if len(priced) == len(costs) else None
    return JudgeWork(n_texts, n_calls, cost)


def judges_table(
    report: SuiteResult, entries: Sequence[JudgeMetric], figures: JudgeFigures
) -> Table:
    """Return the table of judges: a row for each metric with each judge."""
    headlines = report.headlines
    rows: list[Cells] = []
    for entry in entries:
        label = entry.value.label
        place = report.metrics.index(label)
        cells: Cells = {"judge": entry.judge, "metric": entry.metric}
        cells |= _agreement_cells(report, place)
        cells |= _figure_cells(entry, figures)
        reasons = {
            f"{measure.name}: {measure.metrics[place].reason}"
            for measure in headlines
            if measure.metrics[place].reason
        }
        rows.append(cells | {"reason": "; ".join(sorted(reasons))})
    rows.append(
        {"judge": "none", "metric": report.metrics[-1]}
        | _agreement_cells(report, len(report.metrics) - 1)
    )
    is_tested = report.n_resamples > 0
    columns = [
        Column("judge", "judge", "text"),
        METRIC,
        *(
            column
            for measure in headlines
            for column in (
                Column(
                    measure.name, measure.name, interval=True, best=is_tested
                ),
                Column(f"{measure.name}_n", "n", "count"),
            )
        ),
        *_COLUMNS_AFTER,
    ]
    notes = [
        *(
            f"{measure.name}: {measure.measure}; {measure.n_items:,} judged."
            for measure in headlines
        ),
        "Calibration: the 200 probes of beholder judge-check, grades as probabilities; n is how"
        " many were answered.",
        "Last row: the number of words, which a judge must exceed.",
        "Time: of the texts that this start scored, on this machine; empty if none was.",
    ]
    return Table("judges", "Judges", tuple(columns), tuple(rows), tuple(notes))


def _agreement_cells(report: SuiteResult, place: int) -> Cells:
    """Return the agreement of a metric with each set, by the place of the metric."""
    cells: Cells = {}
    for measure in report.headlines:
        row = measure.metrics[place]
        cells |= {
            measure.name: row.agreement,
            f"{measure.name}_low": row.low,
            f"{measure.name}_high": row.high,
            f"{measure.name}_best": row.cluster == 1,
            f"{measure.name}_n": row.n,
        }
    return cells


def _figure_cells(entry: JudgeMetric, figures: JudgeFigures) -> Cells:
    label = entry.value.label
    fit, work = figures.fits[entry.judge], figures.works[label]
    seconds, n_now = figures.seconds.get(label, (0.0, 0))
    cells: Cells = {
        "n": fit.n - fit.n_failed,
        "n_texts": work.n_texts,
        "n_calls": work.n_calls,
        "cost": None,
        "seconds": 1000 * seconds / n_now if n_now else None,
    }
    if work.cost is not None and work.n_texts:
        cells["cost"] = 1000 * work.cost / work.n_texts
    for name, estimate in (
        ("error", fit.calibration_error),
        ("brier", fit.brier),
    ):
        if estimate is not None:
            cells[name] = estimate.mean
            cells |= interval_cells(name, estimate.interval)
    return cells


def check_distinct(judges: Sequence[str]) -> None:
    """Raise ConfigError if a judge is named twice."""
    specs = [str(canonical_spec(judge)) for judge in judges]
    for spec in specs:
        if specs.count(spec) > 1:
            raise ConfigError(f"--judge {spec} is given twice; leave one out")
