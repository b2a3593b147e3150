"""Events of a series: in sentences, in ``events.jsonl``, and for OpenTelemetry."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder._version import __version__
from beholder.base.optional import require
from beholder.base.rounding import fixed
from beholder.kinds.watch.changes import LEARNING_RUNS, Event
from beholder.kinds.watch.folder import (
    RunLine,
    list_some,
    read_events,
    write_events,
)
from beholder.run.store_file import locked

ENDPOINTS = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Environment variables without which nothing is sent."""
EVENT_NAME = "gen_ai.evaluation.result"
ATTRIBUTES = {
    "metric": "gen_ai.evaluation.name",
    "mean": "gen_ai.evaluation.score.value",
    "state": "gen_ai.evaluation.score.label",
    "sentence": "gen_ai.evaluation.explanation",
    "time": "beholder.time",
    "run": "beholder.run",
    "series": "beholder.series",
    "verdict": "beholder.verdict",
    "change_point": "beholder.change_point",
    "size": "beholder.size",
    "n": "beholder.n",
    "judge_model": "beholder.judge_model",
}
"""Attribute of an event by field. The names ``gen_ai`` are in development: change them here."""

_SUBJECTS = {
    "production": "stratum-adjusted mean",
    "corrected": "stratum-adjusted mean less the judge's shift on the anchor",
    "anchor": "shift of the judge on the anchor",
    "failed": "share of texts without a score",
    "agreement": "the judge's agreement with people on the anchor (tau-b)",
}
_CAUSES = {
    "captions": "captions got {way}",
    "both": "captions got {way} and the judge changed",
    "unclear": "scores got {way}; whether captions or judge changed is not clear",
    "unknown": "scores got {way}; captions or judge: unknown",
}


def describe(event: Event) -> str:
    """Return an event in a sentence."""
    state, subject = event["state"], _SUBJECTS[event["series"]]
    if state == "gap":
        return _describe_gap(event)
    level = f"{subject} {_show(event)}"
    if state == "learning":
        return f"learning: {event['n_runs']} of {LEARNING_RUNS} runs; {level}"
    if event["series"] == "agreement":
        change = f"change since the beginning {_show_size(event)}"
        name = "JUDGE: agreement dropped" if state == "judge" else "quiet"
        return f"{name}: {level}, {change}"
    if state == "quiet":
        return f"quiet: {level}, no change is shown"
    return f"{state.upper()}: {_describe_change(event)}"


def _describe_gap(event: Event) -> str:
    missing = list_some(event["missing"])
    if event["baseline"] is not None:
        return f"gap: no run was added since run {event['baseline']} was acknowledged"
    if not missing:
        return (
            f"gap: run {event['run']} is small and waits for the next; no other run has an"
            " adjusted mean"
        )
    return (
        f"gap: run {event['run']} has no adjusted mean: no pictures of {missing}, which have"
        " much weight"
    )


def _describe_change(event: Event) -> str:
    before, after = event["before"], event["after"]
    fell = event["size"] < 0
    if event["series"] == "failed":
        cause = "fewer texts fail" if fell else "more texts fail"
    elif event["verdict"] in _CAUSES and event["series"] != "anchor":
        way = "better" if event["state"] == "better" else "worse"
        cause = _CAUSES[event["verdict"]].format(way=way)
    else:
        cause = "the judge changed, not the captions"
        if event["series"] == "anchor":
            cause = "the judge changed on the anchor"
    sentence = (
        f"{cause}. {_runs(after).capitalize()} have {_show(after)},"
        f" {_runs(before)} had {_show(before)}, by {_SUBJECTS[event['series']]}"
    )
    judge = event["judge"]
    if judge is None or event["series"] == "anchor":
        return sentence
    value, low, high = (fixed(judge[k], 3) for k in ("value", "low", "high"))
    part = f"{value}, {low} to {high}"
    if event["verdict"] in ("judge", "both"):
        return f"{sentence}; the judge moved on the anchor ({part})"
    return (
        f"{sentence}; no change of the judge is shown on the anchor ({part})"
    )


def _runs(segment: Mapping[str, Any]) -> str:
    first, last = segment["first"], segment["last"]
    return f"runs {first} to {last}" if first != last else f"run {first} alone"


def _show(figure: Mapping[str, Any]) -> str:
    mean, low, high = (fixed(figure[k], 3) for k in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})"


def _show_size(event: Event) -> str:
    names = ("size", "size_low", "size_high")
    size, low, high = (fixed(event[name], 3) for name in names)
    return f"{size} ({low} to {high})"


def find_late_runs(
    runs: Sequence[RunLine], log: Sequence[Mapping[str, Any]]
) -> list[RunLine]:
    """Return the runs that were added after the last check, with an earlier date than its last."""
    checks = [line for line in log if "last_added" in line]
    if not checks:
        return []
    last_added = max(line["last_added"] for line in checks)
    last_time = max(line["time"] for line in checks)
    return [
        run for run in runs if run.number > last_added and run.time < last_time
    ]


def log_events(
    folder: Path, events: Sequence[Event], runs: Sequence[RunLine]
) -> list[Event]:
    """Write the events that are new, and return them; an alarm is written once.

    Raises:
        RunError: The folder is busy, or a line is broken.
    """
    last_added = max((run.number for run in runs), default=0)
    with locked(folder):
        log = read_events(folder)
        fresh = [
            {**event, "last_added": last_added}
            for event in events
            if _is_new(event, log)
        ]
        if fresh:
            write_events(folder, [*log, *fresh])
    return fresh


def _is_new(event: Event, log: Sequence[Mapping[str, Any]]) -> bool:
    begin = max(
        (place for place, line in enumerate(log) if "acknowledged" in line),
        default=-1,
    )
    present = [
        line for line in log[begin + 1 :] if line["series"] == event["series"]
    ]
    if event["state"] == "alarm":
        return all(line["state"] != "alarm" for line in present)
    if event["state"] in ("better", "judge"):
        # These are not acknowledged: a second change is an event of its own.
        return not any(
            _is_same(line, event, ("state", "change_point"))
            for line in present
        )
    names = ("run", "state", "mean", "n_runs")
    return not present or not _is_same(present[-1], event, names)


def _is_same(
    line: Mapping[str, Any], event: Event, names: Sequence[str]
) -> bool:
    return all(line[name] == event[name] for name in names)


def to_attributes(event: Event) -> dict[str, Any]:
    """Return the attributes of an OpenTelemetry event: figures and names, never texts."""
    fields = {**event, "sentence": describe(event)}
    return {
        attribute: fields[name]
        for name, attribute in ATTRIBUTES.items()
        if fields[name] not in (None, "")
    }


def send_events(events: Sequence[Event], exporter: Any = None) -> int:
    """Send events to OpenTelemetry if an endpoint is configured; return how many.

    Args:
        events: The events.
        exporter: Takes the log records; None for OTLP over HTTP.

    Raises:
        MissingExtraError: An endpoint is configured, and the extra ``otel`` is not installed.
    """
    if not events or not any(os.environ.get(name) for name in ENDPOINTS):
        return 0
    require("opentelemetry.sdk", extra="otel", purpose="OpenTelemetry events")
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor

    if exporter is None:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import (
            OTLPLogExporter,
        )

        exporter = OTLPLogExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    logger = provider.get_logger("beholder", __version__)
    for event in events:
        logger.emit(event_name=EVENT_NAME, attributes=to_attributes(event))
    provider.shutdown()
    return len(events)
