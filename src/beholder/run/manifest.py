"""``run.json``: what a run was, with what it was made, and what came out.

It holds no time and no path of the machine: the same data, metrics and versions give the same file,
however often the run was interrupted.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from beholder import files
from beholder._version import __version__
from beholder.errors import RunError
from beholder.records import Estimate, Interval, MetricResult
from beholder.run import SCORES as SCORES
from beholder.run.scheduled import ScheduledAsker

FILE_NAME = "run.json"
FORMAT = 1
_FORMS = {
    "kind": str,
    "status": str,
    "data": dict,
    "settings": dict,
    "metrics": list,
    "summary": list,
}
_ENTRIES = {
    "metrics": {"name", "signature", "values"},
    "summary": {"metric", "signature", "n_scored", "n_failed", "failures", "values"},
}
_PACKAGES = ("numpy", "scipy", "tokenizers")


@dataclass(frozen=True)
class Log:
    """What a run log says of its data and settings.

    Attributes:
        source: The data as the user named them.
        digest: Hash over all subjects.
        n_items: Subjects of the run.
        n_bad_rows: Rows left out.
        settings: What else fixes the results, by name; JSON values.
    """

    source: str
    digest: str
    n_items: int
    n_bad_rows: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


def build(kind: str, log: Log, asked: Sequence[ScheduledAsker]) -> dict[str, Any]:
    """The content of ``run.json`` at the start of a run; its status and summary come later."""
    return {
        "format": FORMAT,
        "kind": kind,
        "status": "running",
        "versions": versions(),
        "data": {
            "source": log.source,
            "sha256": log.digest,
            "n_items": log.n_items,
            "n_bad_rows": log.n_bad_rows,
        },
        "settings": dict(log.settings),
        "metrics": [_asked(one) for one in asked],
        "judging": "",
        "summary": [],
    }


def summary_rows(summary: Mapping[str, MetricResult]) -> list[dict[str, Any]]:
    """The summary as ``run.json`` holds it."""
    return [_result(result) for result in summary.values()]


def kind_of(folder: Path) -> str:
    """The kind of a run; runs of before kinds were told hold scores.

    Raises:
        RunError: There is no run log, or it is damaged.
    """
    return str(read(folder).get("kind", SCORES))


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    return (folder / FILE_NAME).is_file()


def data_folder(folder: Path) -> Path | None:
    """The folder of a run's data file, from where the run was made; None elsewhere.

    Raises:
        RunError: There is no run log, or it is damaged.
    """
    source = Path(str(read(folder)["data"]["source"]))
    return source.parent if source.is_file() else None


def check_kind(folder: Path, *kinds: str) -> None:
    """Refuse a run of another kind; a folder without a run log is any kind's.

    Raises:
        RunError: Says which kind the folder holds, and which were expected.
    """
    if not is_run(folder):
        return
    found = kind_of(folder)
    if found not in kinds:
        raise RunError(
            f"{folder} holds a run of the kind {found!r}, not {' or '.join(map(repr, kinds))};"
            " choose another run directory"
        )


def versions() -> dict[str, str]:
    """Versions of what can change a number."""
    return {
        "beholder": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def write(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write ``run.json`` whole or not at all."""
    text = json.dumps(manifest, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    files.write_text(folder / FILE_NAME, text)


def read(folder: Path) -> dict[str, Any]:
    """The content of a run's ``run.json``.

    Raises:
        RunError: There is none, or it is damaged.
    """
    missing = f"{folder} is not a run directory: it has no {FILE_NAME}"
    log = files.read_json(folder / FILE_NAME, form=FORMAT, kind="run log", missing=missing)
    wrong = _wrong(log)
    if wrong is not None:
        raise RunError(
            f"{folder / FILE_NAME} is damaged: {wrong} is not what a run writes; delete it and run"
            " the same command again, which uses all that was kept beside it"
        )
    return log


def _wrong(log: Mapping[str, Any]) -> str | None:
    """The first field of a run log that has not its form, or None."""
    for name, form in _FORMS.items():
        if name in log and not isinstance(log[name], form):
            return name
    if not isinstance(log.get("data", {}).get("n_items", 0), int):
        return "data.n_items"
    for name in ("metrics", "summary"):
        for place, entry in enumerate(log.get(name, [])):
            if not isinstance(entry, dict) or not _ENTRIES[name] <= set(entry):
                return f"{name}[{place}]"
    return None


def is_closed(folder: Path, log: Mapping[str, Any]) -> bool:
    """Whether a run was closed with this log, what came of it aside."""
    if not (folder / FILE_NAME).is_file():
        return False
    found: dict[str, Any] = {"judging": "", "summary": []}
    written: dict[str, Any] = json.loads(json.dumps({**log, **found}))
    return {**read(folder), **found} == written


def results(manifest: Mapping[str, Any]) -> dict[str, MetricResult]:
    """The summary of a run log as records, by metric name."""
    return {entry["metric"]: _from_result(entry) for entry in manifest["summary"]}


def _asked(asked: ScheduledAsker) -> dict[str, Any]:
    return {
        "name": asked.name,
        "subject": asked.kind.name,
        "n": asked.n,
        "config": asked.asker.config(),
        "signature": asked.signature,
        "values": [asdict(value) for value in asked.asker.values],
        "corpus_values": [asdict(value) for value in asked.asker.corpus_values],
    }


def _result(result: MetricResult) -> dict[str, Any]:
    return {
        "metric": result.metric,
        "signature": result.signature,
        "n_scored": result.n_scored,
        "n_failed": result.n_failed,
        "failures": dict(result.failures),
        "cautions": list(result.cautions),
        "values": {name: _estimate(value) for name, value in result.values.items()},
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    interval = estimate.interval
    return {
        "mean": estimate.mean,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "n": estimate.n,
    }


def _from_result(entry: Mapping[str, Any]) -> MetricResult:
    values = {}
    for name, found in entry["values"].items():
        known = found["low"] is not None
        interval = Interval(found["low"], found["high"], found["level"]) if known else None
        values[name] = Estimate(found["mean"], interval, found["n"])
    return MetricResult(
        metric=entry["metric"],
        values=values,
        n_scored=entry["n_scored"],
        n_failed=entry["n_failed"],
        signature=entry["signature"],
        failures=entry["failures"],
        cautions=tuple(entry.get("cautions", ())),
    )
