"""Propose texts, score them again and compare: ``beholder.revise``, and the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from beholder.asking.params import BUILTIN_JUDGE
from beholder.base.files import write_jsonl
from beholder.data.lines import read_records
from beholder.data.row import item_from_row
from beholder.kinds.generation.engine import Written, run_making
from beholder.kinds.revise.engine import ReviseConfig
from beholder.kinds.scores.engine import ScoreConfig
from beholder.lint.rules import Profile
from beholder.metrics import metric as metric_named
from beholder.options import Options, group_options
from beholder.records import Item
from beholder.run import SCORES, kind, manifest
from beholder.run.compare import Comparison, compare
from beholder.run.session import Progress, Quiet
from beholder.run.store import Store


@dataclass(frozen=True)
class Revised:
    """Proposals, and the changes of scores by them.

    Attributes:
        written: The file of proposals, with failures.
        scores: The run of the proposals; None if the source was no run, or was not scored again.
        comparison: The paired differences, proposals minus former texts.
        n_worse: Proposals with a lower value of precision, recall or the headline.
    """

    written: Written
    scores: Path | None = None
    comparison: Comparison | None = None
    n_worse: int = 0


def revise(
    source: str | Path,
    out: str | Path,
    *,
    judge: str = BUILTIN_JUDGE,
    metric: str | None = None,
    profile: Profile = "web",
    score: bool = True,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Revised:
    """Propose texts in which marked mistakes are corrected and omissions added.

    Args:
        source: A run of scores, marks or facts that ``beholder annotate export`` wrote, or a file
            that ``beholder.lint`` reads.
        out: JSONL file of the proposals.
        judge: Judge that words corrections; ``builtin`` makes those that are certain.
        metric: Whose marks of a run; None takes those of all its metrics.
        profile: Profile of ``beholder.lint``: web, museum, social or documents.
        score: Whether to score the proposals as in the run, for a paired comparison.
        progress: Receives the progress of the run.
        options: Those of every door, without those about rows; see ``beholder.options``.

    Raises:
        ConfigError: Nothing is marked, or an option is wrong.
        DataError: The source cannot be read.
        RunError: The run directory is busy or contains another run.
    """
    _, judging, work = group_options(options)
    config = ReviseConfig(
        Path(source), Path(out), judge, metric, judging, work, profile
    )
    return run_revise(config, progress or Quiet(), score=score)


def run_revise(
    config: ReviseConfig, progress: Progress, *, score: bool = True
) -> Revised:
    """Make the proposals, or resume; errors as ``revise``."""
    written = run_making(config.making(), progress)
    if not score or not manifest.is_run(config.source):
        return Revised(written)
    # The proposals are scored by the same metrics, under the same ids, and
    # compared with the run that they came from.
    rows = list(read_records(config.out, dict[str, Any]))
    names = [
        metric_info.name
        for metric_info in manifest.read_log(config.source).metrics
    ]
    scored = ScoreConfig(
        str(config.out),
        tuple(metric_named(name) for name in names),
        config.out.with_name(f"{config.out.name}.scores"),
        judging=config.judging,
        work=config.work,
    )
    revision_keys = ("marks", "source", "revision", "revise")

    def items() -> Iterator[Item]:
        # What ``revise`` added is no part of the item that is scored.
        for row in rows:
            item = item_from_row(row)
            yield replace(
                item,
                meta={
                    k: v
                    for k, v in item.meta.items()
                    if k not in revision_keys
                },
            )

    kind.run(SCORES, scored, progress, given=items())
    with Store.read(config.source) as before, Store.read(scored.out) as after:
        comparison = compare(before, after)
        values_before = _values(before, names)
        values_after = _values(after, names)
    for row in rows:
        old_values = values_before.get(row["id"], {})
        new_values = values_after.get(row["id"], {})
        row["meta"]["scores"] = {
            name: {
                "before": old_values[name],
                "after": new_values[name],
                "difference": new_values[name] - old_values[name],
            }
            for name in old_values
            if name in new_values
        }
        row["meta"]["not_better"] = _is_worse(row["meta"]["scores"], names)
    write_jsonl(config.out, rows)
    return Revised(
        written,
        scored.out,
        comparison,
        sum(row["meta"]["not_better"] for row in rows),
    )


def _values(store: Store, names: list[str]) -> dict[str, dict[str, float]]:
    """Return scores by id and name of value, such as ``posh.f1``."""
    values_by_id: dict[str, dict[str, float]] = {}
    for name in names:
        for text, values in store.values_by_id(name).items():
            item_values = values_by_id.setdefault(text, {})
            for value, score in values.items():
                item_values[f"{name}.{value}"] = score
    return values_by_id


def _is_worse(
    scores: Mapping[str, Mapping[str, Any]], names: list[str]
) -> bool:
    # The headline is the first value of a metric; a value without direction
    # counts as one where higher is better.
    sign_by_name: dict[str, int] = {}
    for name in names:
        for number, info in enumerate(metric_named(name).values):
            if number == 0 or info.name in ("precision", "recall"):
                sign = -1 if info.higher_is_better is False else 1
                sign_by_name[f"{name}.{info.name}"] = sign
    return any(
        sign * scores[name]["difference"] < -1e-9
        for name, sign in sign_by_name.items()
        if name in scores
    )
