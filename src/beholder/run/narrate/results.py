"""What a run over narratives leaves for its report: ``study.json``, theta matrix, thumbnails."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from beholder import files
from beholder.data.frames import frame_row
from beholder.errors import ConfigError
from beholder.narratives.cost import PUBLISHED_SECONDS, Rates, estimated_tokens, measured
from beholder.narratives.hybrid import Hybrid, combine
from beholder.narratives.judging import Vote
from beholder.narratives.steps import steps_table
from beholder.narratives.strength import Coherence
from beholder.narratives.study import Subject, tables
from beholder.records import Frame, ItemFailure
from beholder.records import Sequence as Narrative
from beholder.run.narrate.config import NarrateConfig
from beholder.run.narrate.judge import Judged
from beholder.run.narrate.measure import Measures
from beholder.run.thumbs import write_thumbs

STUDY = "study.json"
MATRIX = "theta.npz"
FORMAT = 1
THUMB_SIDE = 190


def build(
    config: NarrateConfig,
    narratives: Sequence[Narrative],
    judged: Judged,
    measures: Measures | None,
) -> dict[str, Any]:
    """Everything a run found, as JSON values."""
    hybrid, no_hybrid = _hybrid(config, judged, len(narratives))
    subjects = [
        _subject(position, narrative, judged, measures, hybrid)
        for position, narrative in enumerate(narratives)
    ]
    frames = list({f.id: f for narrative in narratives for f in narrative.frames}.values())
    index = {frame.id: number for number, frame in enumerate(frames)}
    return {
        "format": FORMAT,
        "human": config.human,
        "frames": [_frame(frame, judged) for frame in frames],
        "narratives": [
            _narrative(position, narrative, subjects[position], judged, measures, index)
            for position, narrative in enumerate(narratives)
        ],
        "tables": tables(subjects, config.human, n_repeated=_n_repeated(narratives)),
        "steps": _steps_table(narratives, judged, measures) if judged.steps else None,
        "cost": cost_table(config, narratives, judged),
        "hybrid": None if hybrid is None else _hybrid_row(hybrid, config, judged, len(narratives)),
        "hybrid_missing": no_hybrid,
        "theta": None if measures is None else _theta(measures),
        "judges": judged.identities,
        "voting": asdict(config.voting),
    }


def cost_table(
    config: NarrateConfig, narratives: Sequence[Narrative], judged: Judged | None = None
) -> dict[str, Any]:
    """Costs by captions and by sight in seconds and tokens, and the break-even.

    Measured where the run has all three kinds of answers, else published or estimated rates, which
    their ``basis`` says.
    """
    n_pictures = len({f.id for narrative in narratives for f in narrative.frames})
    n, judges = len(narratives), config.voting.judges
    length = sum(len(narrative.frames) for narrative in narratives) / n
    found = None if judged is None else measured(judged.stages)
    seconds, tokens = found or (PUBLISHED_SECONDS, estimated_tokens(length, sum(config.words) // 2))
    stages = {} if judged is None else judged.stages
    return {
        "n_pictures": n_pictures,
        "n_narratives": n,
        "judges": judges,
        "stages": {name: asdict(stage) for name, stage in stages.items()},
        "seconds": _rates(seconds, n_pictures, n, judges),
        "tokens": _rates(tokens, n_pictures, n, judges),
    }


def write(
    folder: Path,
    study: dict[str, Any],
    measures: Measures | None,
    narratives: Sequence[Narrative],
    root: Path,
) -> None:
    """Write a run's results into its folder.

    Pictures that cannot be read have no thumbnail; ``study["unreadable"]`` gets the reasons.
    """
    if measures is not None:
        np.savez_compressed(
            folder / MATRIX,
            theta=measures.matrix.astype(np.float16),
            ids=np.array(measures.matrix_frames),
        )
    frames = {f.id: f for narrative in narratives for f in narrative.frames}
    pictures = ((f.id, f.image) for f in frames.values())
    study["unreadable"] = write_thumbs(folder, root, pictures, THUMB_SIDE)
    text = json.dumps(study, ensure_ascii=False, allow_nan=False)
    files.write_text(folder / STUDY, text)


def read(folder: Path) -> dict[str, Any]:
    """The ``study.json`` of a run.

    Raises:
        RunError: There is none, or it is damaged.
    """
    missing = (
        f"{folder} is no finished run over narratives: it has no {STUDY}; run the same command"
        " again to finish it"
    )
    return files.read_json(folder / STUDY, form=FORMAT, kind="study", missing=missing)


def _n_repeated(narratives: Sequence[Narrative]) -> int:
    """Narratives that show the same pictures in the same order as one before them."""
    return len(narratives) - len(
        {tuple(f.id for f in narrative.frames) for narrative in narratives}
    )


def _votes(votes: Sequence[Vote]) -> list[dict[str, Any]]:
    return [
        {
            "judge": vote.judge,
            "value": vote.value,
            "reason": vote.reason,
            "failure": None if vote.failure is None else vote.failure.message,
        }
        for vote in votes
    ]


def _subject(
    position: int,
    narrative: Narrative,
    judged: Judged,
    measures: Measures | None,
    hybrid: Hybrid | None,
) -> Subject:
    coherence = None if measures is None else measures.coherence[position]
    nearest = None if measures is None else measures.nearest.get(position)
    votes: dict[str, list[float | None]] = {
        method: [None if vote.value is None else float(vote.value) for vote in found[position]]
        for method, found in judged.votes.items()
        if position in found
    }
    if hybrid is not None:
        row = hybrid.ratings[position]
        votes["hybrid"] = [None if np.isnan(value) else value for value in row]
    measured_ = coherence if isinstance(coherence, Coherence) else None
    return Subject(
        id=narrative.id,
        source=narrative.source,
        minimum=None if measured_ is None else measured_.minimum,
        mean=None if measured_ is None else measured_.mean,
        dtw=None if nearest is None else nearest[1].normalised,
        votes=votes,
    )


def _narrative(
    position: int,
    narrative: Narrative,
    subject: Subject,
    judged: Judged,
    measures: Measures | None,
    index: Mapping[str, int],
) -> dict[str, Any]:
    coherence = None if measures is None else measures.coherence[position]
    nearest = None if measures is None else measures.nearest.get(position)
    row: dict[str, Any] = {
        "id": narrative.id,
        "source": narrative.source,
        "group": dict(narrative.group),
        "frames": [index[frame.id] for frame in narrative.frames],
        "coherence": None,
        "coherence_failure": None,
        "nearest": None,
        "votes": {m: _votes(v[position]) for m, v in judged.votes.items() if position in v},
        "hybrid": subject.votes.get("hybrid"),
        "steps": [_votes(votes) for votes in judged.steps.get(position, [])],
    }
    if isinstance(coherence, ItemFailure):
        row["coherence_failure"] = coherence.message
    elif coherence is not None:
        row["coherence"] = {
            "steps": coherence.steps,
            "minimum": coherence.minimum,
            "mean": coherence.mean,
            "geometric_mean": coherence.geometric_mean,
            "weakest": coherence.weakest,
        }
    if nearest is not None:
        other, alignment = nearest
        row["nearest"] = {
            "narrative": other,
            "cost": alignment.cost,
            "normalised": alignment.normalised,
            "path": alignment.path,
        }
    return row


def _frame(frame: Frame, judged: Judged) -> dict[str, Any]:
    written = judged.captions.get(frame.id)
    row = frame_row(frame)
    if isinstance(written, str):
        row["caption"] = written
    elif isinstance(written, ItemFailure):
        row["failure"] = written.message
    return row


def _hybrid(config: NarrateConfig, judged: Judged, n: int) -> tuple[Hybrid | None, str | None]:
    if "hybrid" not in config.parts:
        return None, None
    nan = [float("nan")] * config.voting.judges

    def table(method: str, positions: Sequence[int]) -> list[list[float]]:
        found = judged.votes[method]
        return [
            [nan[0] if v.value is None else float(v.value) for v in found[position]]
            if position in positions
            else nan
            for position in range(n)
        ]

    try:
        words, looks = table("captions", range(n)), table("sight", judged.seen)
        return combine(words, looks, weight=config.weight), None
    except ConfigError as error:
        return None, str(error)


def _hybrid_row(hybrid: Hybrid, config: NarrateConfig, judged: Judged, n: int) -> dict[str, Any]:
    sight = judged.stages.get("sight")
    per_call = (0.0, 0.0)
    if sight is not None and sight.calls:
        per_call = (sight.seconds / sight.calls, sight.tokens / sight.calls)
    spared = (n - hybrid.n_seen) * config.voting.judges
    return {
        "rule": config.rule,
        "share": config.share,
        "n_seen": hybrid.n_seen,
        "seen": judged.seen,
        "weight": hybrid.weight,
        "learned": hybrid.learned,
        "slope": hybrid.slope,
        "intercept": hybrid.intercept,
        "calls_saved": spared,
        "seconds_saved": spared * per_call[0],
        "tokens_saved": spared * per_call[1],
    }


def _rates(rates: Rates, n_pictures: int, n: int, judges: int) -> dict[str, Any]:
    return {
        **asdict(rates),
        "captions_total": rates.captions_total(n_pictures, n, judges),
        "captions_again": n * judges * rates.by_captions,
        "sight_total": rates.sight_total(n, judges),
        "break_even": rates.break_even(n_pictures, judges),
    }


def _theta(measures: Measures) -> dict[str, Any]:
    return {
        "signature": measures.signature,
        "embedder": measures.embedder,
        "learned": measures.learned,
        "notes": measures.notes,
        "frames": measures.matrix_frames,
        "order": measures.matrix_order,
    }


def _steps_table(
    narratives: Sequence[Narrative], judged: Judged, measures: Measures | None
) -> dict[str, Any]:
    coherence = {} if measures is None else measures.coherence
    rows = []
    for position, votes in judged.steps.items():
        found = coherence.get(position)
        theta = found.steps if isinstance(found, Coherence) else None
        rows.append((narratives[position].source, [_step_mean(step) for step in votes], theta))
    return steps_table(rows)


def _step_mean(votes: Sequence[Vote]) -> float | None:
    known = [vote.value for vote in votes if vote.value is not None]
    return sum(known) / len(known) if known else None
