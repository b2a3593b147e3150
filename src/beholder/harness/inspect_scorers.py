"""All metrics as scorers of inspect_ai: ``beholder/posh`` and the others, by its entry point.

The sample's target holds the references; pictures of the input are shown to metrics that look. The
score's value is the headline value, its metadata hold all values, the units with their places and
the signature, its explanation lists mistakes and omissions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_ai.model import ContentImage
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from beholder.data.row import texts_of
from beholder.errors import ConfigError
from beholder.metrics import METRICS
from beholder.options import group_options
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.report.tones import in_words
from beholder.run.live import LiveScorer
from beholder.run.session import RunContext
from beholder.stats import mean_interval

_OF_UNIT = ("kind", "text", "side", "spans", "score", "verdict")


@metric
def interval(level: float = 0.95) -> Metric:
    """Return the metric: confidence interval of the mean, as ``beholder score`` gives it."""

    def compute(scores: list[SampleScore]) -> Value:
        estimate = mean_interval(
            [sample.score.as_float() for sample in scores], level=level
        )
        # Too few samples for an interval: inspect_ai leaves out keys that are
        # missing.
        if estimate.interval is None:
            return {}
        return {"low": estimate.interval.low, "high": estimate.interval.high}

    return compute


def _scorer_of(name: str) -> Callable[..., Scorer]:
    @scorer(metrics=[mean(), stderr(), interval()], name=name)
    def make(
        value: str | None = None,
        judge: str | None = None,
        options: dict[str, Any] | None = None,
        **parameters: Any,
    ) -> Scorer:
        """Score by a metric of beholder.

        Args:
            value: Name of one of its values; the headline if None.
            judge: Judge where the metric asks one.
            options: Options of ``beholder.score``, such as ``base_url`` and ``max_cost``.
            parameters: Parameters of the metric.
        """
        metric_params = {
            **parameters,
            **({"judge": judge} if judge is not None else {}),
        }
        chosen = METRICS.get(name)(**metric_params)
        headline = chosen.value_named(value).name
        # inspect_ai never hands over all samples at once, so nothing can be
        # counted in them.
        if chosen.needs_corpus():
            raise ConfigError(
                f"{name} counts in the whole data set, and inspect_ai scores sample by sample: name"
                " a saved table of counts, or use beholder score on what was written"
            )
        rows, judging, work = group_options(options or {})  # type: ignore[arg-type]
        # ``prepare`` of metrics that need no data set returns a ready metric.
        live = LiveScorer(
            chosen.prepare(()),
            RunContext(judging, work, rows.media_root or Path()),
        )

        async def score(state: TaskState, target: Target) -> Score:
            item = Item(
                id=str(state.sample_id),
                candidate=state.output.completion,
                references=texts_of(target, "target"),
                images=_images(state),
            )
            # The scorer is called once per sample; LiveScorer shares workers
            # and caches between calls.
            (outcome,) = await live.score([item])
            return _score(item, outcome, headline)

        return score

    return make


def _images(state: TaskState) -> tuple[str, ...]:
    images: list[str] = []
    for message in state.messages:
        # Pictures of the answer are the model's own; a text alone has none.
        if message.role != "user" or isinstance(message.content, str):
            continue
        for part in message.content:
            if isinstance(part, ContentImage):
                images.append(part.image)
    return tuple(images)


def _score(
    item: Item, outcome: ItemScore | ItemFailure | None, headline: str
) -> Score:
    if isinstance(outcome, ItemScore) and headline in outcome.values:
        return Score(
            value=outcome.values[headline],
            answer=item.candidate,
            explanation="\n".join(in_words(outcome.units)) or None,
            metadata={
                "values": dict(outcome.values),
                "units": [_unit(unit) for unit in outcome.units],
                "signature": outcome.signature,
            },
        )
    # Unscored, not 0: a missing target or a failed judge says nothing about
    # the model.
    reason, why = "not_applicable", f"{headline} is not defined for this text"
    if outcome is None:
        why = "the sample is without a field that the metric needs, such as a target"
    elif isinstance(outcome, ItemFailure):
        reason, why = "scorer_error", outcome.message
    return Score.unscored(
        reason=reason, answer=item.candidate, explanation=why
    )


def _unit(unit: Unit) -> dict[str, object]:
    fields = {name: getattr(unit, name) for name in _OF_UNIT}
    return fields | {"spans": [list(span) for span in unit.spans]}


SCORERS = {name: _scorer_of(name) for name in METRICS.names()}
"""A scorer for each metric, those of plug-ins included; called, it gives one for a task."""
