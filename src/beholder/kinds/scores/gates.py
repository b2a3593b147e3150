"""``--fail-under``, ``--worse-than`` and ``--until``: gates of a run, and when it stops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from beholder import metrics
from beholder.base.ranges import check_number
from beholder.base.rounding import fixed
from beholder.base.spec import parse_with_value
from beholder.errors import ConfigError
from beholder.kinds.scores.engine import ScoreConfig, Until, reached
from beholder.kinds.scores.kind import KIND
from beholder.metrics import Metric, ValueInfo
from beholder.records import Item, MetricResult
from beholder.run import manifest
from beholder.run.compare import compare, inferiority_reason
from beholder.run.pairs import pair_subjects
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.stats.bootstrap import describe_few_sources
from beholder.stats.ranks import round_values
from beholder.stats.sequences import GRID
from beholder.tables import Table, heading

GateOn: TypeAlias = Literal["interval", "mean"]


@dataclass(frozen=True)
class Gate:
    """A mean that must not be under a threshold.

    Attributes:
        metric: Canonical name of the metric.
        value: Name of its value.
        threshold: The lowest that passes.
        on: Tested figure: the lower end of the mean's 95 % interval, or the mean alone.
    """

    metric: str
    value: str
    threshold: float
    on: GateOn = "interval"


def parse_gate(
    text: str,
    scored: Sequence[Metric[Any]],
    on: GateOn = "interval",
    **tools: object,
) -> Gate:
    """Read a gate such as ``vcs=0.6`` or ``vcs(lct=1).las=0.5``.

    Args:
        text: The gate; without a value it is on the headline value of the metric.
        scored: The metrics of the run.
        on: See ``Gate``.
        tools: Defaults that these metrics were built with, as for ``metrics.metric``.

    Raises:
        ConfigError: The text is not a gate, names a metric or value that the run will not have or
            of which less is better, or a threshold that every mean reaches or none.
    """
    metric, info, threshold = _parse_target(
        text, "--fail-under", scored, tools
    )
    if info.higher_is_better is False:
        raise ConfigError(
            f"--fail-under {text!r}: lower {metric.name}.{info.name} is better, so a lowest mean is"
            " no gate; choose a value of which higher is better"
        )
    if not info.low <= threshold <= info.high or math.isinf(threshold):
        raise ConfigError(
            f"--fail-under {text!r}: {metric.name}.{info.name} is"
            f" {manifest.describe_scale(info)}, so {threshold:g} tests nothing"
        )
    return Gate(metric.name, info.name, threshold, on)


def parse_until(
    text: str, scored: Sequence[Metric[Any]], **tools: object
) -> Until:
    """Read a goal such as ``accord=0.01``.

    Args:
        text: As for ``parse_gate``; the number is half the width of the interval.
        scored: The metrics of the run.
        tools: As for ``parse_gate``.

    Raises:
        ConfigError: The text is not a goal, names a value that is without limits or of the whole
            data set, or a width that is reached at once or never.
    """
    metric, info, width = _parse_target(text, "--until", scored, tools)
    if not 0 < width < math.inf:
        raise ConfigError(
            f"--until {text!r}: expected a positive width, such as accord=0.01"
        )
    if info.high >= manifest.NO_BOUND or info in metric.corpus_values:
        raise ConfigError(
            f"--until {text!r}: {metric.name}.{info.name} is not a mean of numbers between two"
            " limits; use --limit"
        )
    # Below the grid's step the interval can never be narrow enough; above half the range of the
    # value it is narrow enough from the start.
    span = info.high - info.low
    if not span / (GRID - 1) < width < span / 2:
        raise ConfigError(
            f"--until {text!r}: {metric.name}.{info.name} is from {manifest.describe_scale(info)};"
            f" expected a width between {span / (GRID - 1):g} and {span / 2:g}"
        )
    return Until(metric.name, info.name, width, info.low, info.high)


@dataclass(frozen=True)
class UntilRow:
    """The value whose interval a run waited for, and the interval with which it stopped."""

    value: Annotated[str, heading("value", "text")]
    width: Annotated[float, heading("wanted +/-")]
    low: Annotated[float, heading("from")]
    high: Annotated[float, heading("to")]
    n: Annotated[int, heading("pictures", "count")]
    saved: Annotated[int, heading("not scored", "count")]
    state: Annotated[str, heading("", "text")]


def until_table(run: Path, goal: Until) -> Table:
    """Return the interval with which a run stopped, as a table of one row."""
    with Store.read(run) as store:
        progress = reached(store, goal, store.n_subjects())
    is_narrow = progress.is_narrow(goal.width)
    row = UntilRow(
        value=f"{goal.metric}.{goal.value}",
        width=goal.width,
        low=progress.interval.low,
        high=progress.interval.high,
        n=progress.n_pictures,
        saved=progress.n_all - progress.n_pictures,
        state="narrow enough" if is_narrow else "all scored, still wider",
    )
    note = (
        "this interval holds however often one looks; the one beside the mean is narrower, and does"
        " not hold for a run that stops by it"
    )
    return Table.from_records(
        "until",
        "Scored until the interval was narrow",
        UntilRow,
        [row],
        [note],
    )


def _parse_target(
    text: str,
    option: str,
    scored: Sequence[Metric[Any]],
    tools: Mapping[str, object],
) -> tuple[Metric[Any], ValueInfo, float]:
    """Return metric, value and number of ``METRIC.VALUE=NUMBER``."""
    # From the right, as a metric's parameters may contain "=": vcs(lct=1).las=0.5.
    name, equals, number_text = text.rpartition("=")
    try:
        number = float(number_text)
    except ValueError:
        number = math.nan
    if not equals or not name.strip() or math.isnan(number):
        raise ConfigError(
            f"{option} {text!r}: expected METRIC=NUMBER or METRIC.VALUE=NUMBER"
        )
    try:
        spec, value = parse_with_value(name)
        metric_name = metrics.metric(spec, **tools).name
        metric = next(
            (
                candidate
                for candidate in scored
                if candidate.name == metric_name
            ),
            None,
        )
        if metric is None:
            available = ", ".join(candidate.name for candidate in scored)
            raise ConfigError(
                f"the run has no metric {metric_name!r}; it has: {available}"
            )
        return metric, metric.value_named(value), number
    except ConfigError as error:
        raise ConfigError(f"{option} {text!r}: {error}") from error


@dataclass(frozen=True)
class PassedGate:
    """A gate, and the mean and interval that a run reached.

    Attributes:
        gate: The gate.
        mean: The mean of its value; None if no item has it, which misses every gate.
        low: Lower end of its interval; None if there is none, which misses a gate on it.
        few: Why there is no interval.
    """

    gate: Gate
    mean: float | None
    low: float | None = None
    few: str | None = None

    @property
    def tested(self) -> float | None:
        """The number that is compared with the threshold, or None."""
        return self.low if self.gate.on == "interval" else self.mean

    @property
    def passed(self) -> bool:
        """Return whether the tested number reaches the threshold, after rounding."""
        # Numbers are rounded as results are, so that a gate agrees with the printed mean.
        if self.tested is None:
            return False
        return bool(
            round_values(self.tested) >= round_values(self.gate.threshold)
        )

    @property
    def reason(self) -> str:
        """Return the message of a missed gate."""
        name = f"{self.gate.metric}.{self.gate.value}"
        if self.mean is None:
            return f"{name}: no item has a value, so the gate is missed"
        if self.tested is None:
            return (
                f"{name}: the mean {fixed(self.mean, 4)} has no interval"
                f" ({self.few or 'nothing to resample'}), so the gate is missed; score more"
                " pictures, or test the mean alone: --gate-on mean"
            )
        if self.gate.on == "mean":
            return f"{name} is {fixed(self.mean, 4)}, under the gate of {self.gate.threshold:g}"
        return (
            f"{name} is {fixed(self.mean, 4)}, and its interval begins at {fixed(self.tested, 4)},"
            f" under the gate of {self.gate.threshold:g}"
        )


def check(
    gates: Iterable[Gate], summary: Mapping[str, MetricResult]
) -> list[PassedGate]:
    """Return each gate with the mean and interval that a run reached.

    Args:
        gates: Gates on metrics of the run.
        summary: Its results, by metric.
    """
    results = []
    for gate in gates:
        reached = summary[gate.metric].values.get(gate.value)
        # Without an interval, `reached.reason` says what is missing, such as more pictures.
        low = reached.interval.low if reached and reached.interval else None
        mean, few = (reached.mean, reached.reason) if reached else (None, None)
        results.append(PassedGate(gate, mean, low, few))
    return results


def missed(checked: Iterable[PassedGate]) -> list[str]:
    """Return a line for each gate that a run misses."""
    return [gate.reason for gate in checked if not gate.passed]


@dataclass(frozen=True)
class GateRow:
    """A gate with the mean that was tested."""

    gate: Annotated[str, heading("gate", "text")]
    mean: Annotated[float | None, heading("mean")]
    low: Annotated[float | None, heading("interval from")]
    threshold: Annotated[float, heading("at least")]
    passed: Annotated[str, heading("", "text")]


def gates_table(checked: Iterable[PassedGate]) -> Table:
    """Return the gates of a run, passed and missed."""
    rows = (
        GateRow(
            gate=f"{result.gate.metric}.{result.gate.value}",
            mean=result.mean,
            low=result.low,
            threshold=result.gate.threshold,
            passed="passed" if result.passed else "missed",
        )
        for result in checked
    )
    return Table.from_records("gates", "Gates", GateRow, rows)


def check_other(
    config: ScoreConfig,
    earlier_run: Path | None,
    margin: float,
    items: Iterable[Item],
    option: str = "--worse-than",
) -> str:
    """Refuse, before anything is scored, a run that ``worse_than`` cannot compare with.

    Args:
        config: The new run.
        earlier_run: The run to compare with; None if there is none.
        margin: As for ``worse_than``.
        items: The items of the new run; read only if there is a run to compare with.
        option: The option that names the run, for messages.

    Returns:
        A caution on how texts are paired; empty without.

    Raises:
        RunError: It is not a run of scores.
        ConfigError: It is the new run, shares hardly any id with it, does not have one of the
            metrics, or has made its values in another way; or a margin of nothing.
        DataError: The items cannot be read.
    """
    check_number("--margin", margin, 0)
    if earlier_run is None:
        if margin:
            raise ConfigError(
                f"--margin {margin} belongs to --worse-than RUN or --not-worse-than RUN"
            )
        return ""
    if earlier_run.resolve() == config.out.resolve():
        raise ConfigError(
            f"{option} {earlier_run} is the run itself: name another one"
        )
    # Signatures are compared before anything is scored: with another judge or prompt, a difference
    # of means would not be one of the systems. Values of a corpus metric depend on all its items,
    # so its signature may differ.
    tools = config.means.tools()
    with Store.read(earlier_run) as store:
        manifest.check_kind(earlier_run, KIND.name)
        earlier_signatures = {
            asker.name: store.signatures(asker.name)
            for asker in store.askers()
        }
        earlier_items = list(store.items())
    for metric in config.metrics:
        if metric.name not in earlier_signatures:
            raise ConfigError(
                f"{option} {earlier_run}: the run has no metric {metric.name!r}; it has:"
                f" {', '.join(earlier_signatures) or 'none'}"
            )
        metric_signatures = earlier_signatures[metric.name]
        new_signature = metric.signature(metric.identities(tools))
        if (
            metric_signatures
            and metric_signatures != [new_signature]
            and not metric.needs_corpus()
        ):
            raise ConfigError(
                f"{option} {earlier_run}: {metric.name} was made in another way:"
                f" {' ; '.join(metric_signatures)} there, {new_signature} here; score"
                f" the data of {earlier_run} again"
            )
    new_items = list(items)
    pairing = pair_subjects(
        earlier_items, enumerate(new_items), ITEM, (earlier_run, config.data)
    )
    common = {new_items[place].source for _, place in pairing.common}
    if few := describe_few_sources(len(common)):
        raise ConfigError(
            f"{option} {earlier_run}: of {config.data}, texts of {len(common)} pictures"
            f" belong to that run: {few}; score more pictures, and give a text the same id"
            " under both systems"
        )
    n_alone = pairing.n_b - len(pairing.common)
    n_alone_earlier = pairing.n_a - len(pairing.common)
    notes = [pairing.note] if pairing.note else []
    if n_alone or n_alone_earlier:
        notes.append(
            f"{option} compares the {len(pairing.common):,} items of both runs;"
            f" {n_alone:,} are only in {config.data}, {n_alone_earlier:,} only in {earlier_run}"
        )
    return "; ".join(notes)


def worse_than(
    run: Path, earlier_run: Path, scored: Sequence[Metric[Any]], margin: float
) -> dict[str, str]:
    """Compare a run with an earlier one; return by how much each metric is worse.

    A run is worse if the whole 95 % interval of the paired difference of the metric's first value,
    over the items of both runs, is beyond the margin.

    Args:
        run: The new run.
        earlier_run: The run to compare with.
        scored: The metrics.
        margin: Difference that does not count, from 0.

    Returns:
        For each metric, as ``accord.accord``, how much worse; empty if it is not.
    """
    names = {
        f"{metric.name}.{metric.value_named(None).name}": metric
        for metric in scored
    }
    with Store.read(earlier_run) as first, Store.read(run) as second:
        try:
            differences = {
                (difference.metric, difference.value): difference
                for difference in compare(first, second).differences
            }
        except ConfigError as error:
            # The scores are written already: report a missed gate instead of failing.
            return dict.fromkeys(names, f"--worse-than {earlier_run}: {error}")
    reasons = {}
    for name, metric in names.items():
        info = metric.value_named(None)
        difference = differences.get((metric.name, info.name))
        interval = None if difference is None else difference.paired.interval
        if difference is None or interval is None:
            reason = (
                difference and difference.paired.reason
            ) or "no item has a value in both runs"
            reasons[name] = (
                f"{metric.name}: not compared with {earlier_run}: {reason}"
            )
            continue
        # The end of the interval that is most in favour of the new run: only if even that is beyond
        # the margin is the run worse.
        best_end = (
            -interval.low if info.higher_is_better is False else interval.high
        )
        reasons[name] = ""
        if round_values(best_end) < round_values(-margin):
            reasons[name] = (
                f"{name} is worse than in {earlier_run}: {fixed(difference.mean_a, 4)} to"
                f" {fixed(difference.mean_b, 4)}, difference {fixed(difference.paired.mean, 4)}"
                f" [{fixed(interval.low, 4)}, {fixed(interval.high, 4)}], margin {margin:g}"
            )
    return reasons


def not_worse_than(
    run: Path, earlier_run: Path, scored: Sequence[Metric[Any]], margin: float
) -> dict[str, str]:
    """Return why each metric's first value is not shown to be at most ``margin`` worse.

    Unlike ``worse_than`` it passes only if the data show it.

    Args:
        run: The new run.
        earlier_run: The run to compare with.
        scored: The metrics.
        margin: Difference that would be too much.

    Returns:
        For each metric, as ``accord.accord``, the reason; empty if it is shown.
    """
    names = {
        (metric.name, metric.value_named(None).name): metric
        for metric in scored
    }
    reasons = {
        f"{metric}.{value}": f"{metric}: no item has a value in both runs"
        for metric, value in names
    }
    with Store.read(earlier_run) as first, Store.read(run) as second:
        try:
            differences = compare(first, second).differences
        except ConfigError as error:
            # The scores are written already: report a missed gate instead of failing.
            return dict.fromkeys(
                reasons, f"--not-worse-than {earlier_run}: {error}"
            )
        for difference in differences:
            if (difference.metric, difference.value) in names:
                name = f"{difference.metric}.{difference.value}"
                reasons[name] = inferiority_reason(
                    first, second, difference, margin
                )
    return reasons
