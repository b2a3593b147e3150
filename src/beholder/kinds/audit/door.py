"""``beholder.audit``: score with the metric ``audit``, and list the doubtful facts for people."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Unpack

from beholder.api import Run
from beholder.base.files import write_jsonl
from beholder.base.grouping import group_by_key
from beholder.data.row import to_row
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import metric
from beholder.options import Options, group_options
from beholder.records import ItemScore
from beholder.run import SCORES, kind
from beholder.run.inputs import rebase_path
from beholder.run.session import Progress, Quiet
from beholder.run.store import Store

DOUBTFUL = "doubtful.jsonl"


def audit(
    data: str | Path,
    *,
    judge: str,
    out: str | Path,
    answers: int = 3,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Run:
    """Check the references of a data file by its pictures, or resume.

    Args:
        data: A data file of rows with images and references.
        judge: Vision model, such as ``openai:MODEL``.
        out: Run directory; its ``doubtful.jsonl`` is for ``beholder annotate facts``.
        answers: Answers of the judge per fact.
        progress: Receives the progress of the run.
        options: Those of every door; see ``beholder.options``.

    Raises:
        ConfigError: The judge cannot see, or an option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or the file cannot be read.
        RunError: The run directory is busy or contains another run.
    """
    metrics = (metric("audit", judge=judge, answers=answers),)
    config = ScoreConfig(
        str(data), metrics, Path(out), *group_options(options)
    )
    run_audit(config, progress or Quiet())
    return Run(config.out)


def run_audit(config: ScoreConfig, progress: Progress) -> int:
    """Score the rows, write the doubtful facts, and return the number of rows that have any."""
    kind.run(SCORES, config, progress)
    rows = _list_doubtful(config)
    write_jsonl(config.out / DOUBTFUL, rows)
    return len(rows)


def _list_doubtful(config: ScoreConfig) -> list[dict[str, Any]]:
    """Return rows with the doubtful facts and as many supported ones, most doubtful rows first.

    References that several rows share, such as those of several systems, are listed once.
    """
    rows: dict[object, tuple[float, dict[str, Any]]] = {}
    with Store.read(config.out) as store:
        for position, item in store.items():
            score = store.score(config.metrics[0].name, position)
            units = score.units if isinstance(score, ItemScore) else ()
            facts = group_by_key(
                (unit.verdict, unit)
                for unit in units
                if unit.side == "reference"
            )
            doubtful = facts.get("doubtful", [])
            key = item.source, item.references
            if not doubtful or key in rows:
                continue
            supported = facts.get("supported", [])
            # Supported facts are mixed in, so that annotators cannot guess the
            # judge's verdict.
            rng = random.Random(position)  # noqa: S311
            n = min(len(doubtful), len(supported))
            sampled = [*doubtful, *rng.sample(supported, n)]
            rng.shuffle(sampled)
            row = {
                **to_row(item),
                "images": [
                    rebase_path(image, config.folder, config.out)
                    for image in item.images
                ],
                "facts": [unit.text for unit in sampled],
                "audit": [
                    {
                        "text": unit.text,
                        "state": unit.verdict,
                        "share": unit.score,
                    }
                    for unit in sampled
                ],
            }
            rows[key] = (min(unit.score or 0.0 for unit in doubtful), row)
    ordered = sorted(rows.values(), key=lambda entry: entry[0])
    return [row for _, row in ordered]
