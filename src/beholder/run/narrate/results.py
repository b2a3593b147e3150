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
from beholder.narratives.cost import PUBLISHED_SECONDS, Rates, Stage, estimated_tokens, measured
from beholder.narratives.hybrid import Hybrid, combine
from beholder.narratives.judging import Vote, values
from beholder.narratives.measuring import EmbeddedPictures
from beholder.narratives.steps import steps_table
from beholder.narratives.strength import Coherence
from beholder.narratives.study import JudgedStoryline, tables
from beholder.records import Frame, ItemFailure, Storyline
from beholder.run.narrate.config import NarrateConfig
from beholder.run.narrate.inputs import Inputs
from beholder.run.narrate.stages import StageFindings
from beholder.run.thumbs import write_thumbs

STUDY = "study.json"
MATRIX = "theta.npz"
FORMAT = 1
THUMB_SIDE = 190
MATRIX_SIDE = 400
"""Pictures in the drawn theta matrix at most."""


def build(config: NarrateConfig, found: StageFindings) -> dict[str, Any]:
    """Everything a run found, as JSON values."""
    storylines = found.inputs.storylines
    hybrid, no_hybrid = _hybrid(config, found)
    rows = _StepRows(found, hybrid)
    subjects = [rows.subject(at, storyline) for at, storyline in enumerate(storylines)]
    frames = found.inputs.shown
    index = {frame.id: number for number, frame in enumerate(frames)}
    captions = found.captions()
    return {
        "format": FORMAT,
        "human": config.human,
        "frames": [_frame(frame, captions.get(frame.id)) for frame in frames],
        "narratives": [
            rows.narrative(at, storyline, subjects[at], index)
            for at, storyline in enumerate(storylines)
        ],
        "tables": tables(subjects, config.human, n_repeated=_n_repeated(storylines)),
        "steps": _steps_table(storylines, rows) if rows.steps else None,
        "cost": cost_table(config, found.inputs, found.spent),
        "hybrid": None if hybrid is None else _hybrid_row(hybrid, config, found),
        "hybrid_missing": no_hybrid,
        "theta": None if found.pictures is None else _theta(found.pictures, storylines),
        "judges": found.judges,
        "voting": asdict(config.voting),
    }


def cost_table(
    config: NarrateConfig, inputs: Inputs, spent: Mapping[str, Stage] | None = None
) -> dict[str, Any]:
    """Costs by captions and by sight in seconds and tokens, and the break-even.

    Measured where the run has all three kinds of answers, else published or estimated rates, which
    their ``basis`` says.
    """
    n, judges, n_pictures = len(inputs.storylines), config.voting.judges, len(inputs.shown)
    length = sum(len(storyline.frames) for storyline in inputs.storylines) / n
    words = (config.captions.min_words + config.captions.max_words) // 2
    known = spent or {}
    seconds, tokens = measured(known) or (PUBLISHED_SECONDS, estimated_tokens(length, words))
    return {
        "n_pictures": n_pictures,
        "n_narratives": n,
        "judges": judges,
        "stages": {name: asdict(stage) for name, stage in known.items()},
        "seconds": _rates(seconds, n_pictures, n, judges),
        "tokens": _rates(tokens, n_pictures, n, judges),
    }


def write(config: NarrateConfig, study: dict[str, Any], found: StageFindings) -> None:
    """Write a run's results into its folder.

    Pictures that cannot be read have no thumbnail; ``study["unreadable"]`` gets the reasons.
    """
    if found.pictures is not None:
        rows, _ = _drawn(found.pictures, found.inputs.storylines)
        with files.replacing(config.out / MATRIX) as unfinished, unfinished.open("wb") as archive:
            np.savez_compressed(
                archive,
                theta=found.pictures.space.subset(rows).theta().astype(np.float16),
                ids=np.array([found.pictures.frames[row].id for row in rows]),
            )
    pictures = ((f.id, f.image) for f in found.inputs.shown)
    study["unreadable"] = write_thumbs(config.out, config.folder, pictures, THUMB_SIDE)
    text = json.dumps(study, ensure_ascii=False, allow_nan=False)
    files.write_text(config.out / STUDY, text)


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


def _n_repeated(storylines: Sequence[Storyline]) -> int:
    """Storylines that show the same pictures in the same order as one before them."""
    return len(storylines) - len(
        {tuple(f.id for f in storyline.frames) for storyline in storylines}
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


class _StepRows:
    """Rows of single storylines, from what was found of each."""

    def __init__(self, found: StageFindings, hybrid: Hybrid | None) -> None:
        self.votes = found.votes()
        self.steps = found.steps()
        self.coherence = found.coherence()
        self._nearest = found.nearest()
        self._hybrid = hybrid

    def subject(self, at: int, storyline: Storyline) -> JudgedStoryline:
        """A storyline as the tables see it."""
        coherence, nearest = self.coherence.get(at), self._nearest.get(at)
        votes: dict[str, list[float | None]] = {
            method: [None if vote.value is None else float(vote.value) for vote in found[at]]
            for method, found in self.votes.items()
            if at in found
        }
        if self._hybrid is not None:
            row = self._hybrid.ratings[at]
            votes["hybrid"] = [None if np.isnan(value) else value for value in row]
        known = coherence if isinstance(coherence, Coherence) else None
        return JudgedStoryline(
            id=storyline.id,
            source=storyline.source,
            minimum=None if known is None else known.minimum,
            mean=None if known is None else known.mean,
            dtw=None if nearest is None else nearest[1].normalised,
            votes=votes,
        )

    def narrative(
        self, at: int, storyline: Storyline, subject: JudgedStoryline, index: Mapping[str, int]
    ) -> dict[str, Any]:
        """A storyline as the page draws it."""
        coherence, nearest = self.coherence.get(at), self._nearest.get(at)
        row: dict[str, Any] = {
            "id": storyline.id,
            "source": storyline.source,
            "group": dict(storyline.group),
            "frames": [index[frame.id] for frame in storyline.frames],
            "coherence": None,
            "coherence_failure": None,
            "nearest": None,
            "votes": {m: _votes(found[at]) for m, found in self.votes.items() if at in found},
            "hybrid": subject.votes.get("hybrid"),
            "steps": [_votes(votes) for votes in self.steps.get(at, [])],
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


def _frame(frame: Frame, caption: str | ItemFailure | None) -> dict[str, Any]:
    row = frame_row(frame)
    if isinstance(caption, str):
        row["caption"] = caption
    elif isinstance(caption, ItemFailure):
        row["failure"] = caption.message
    return row


def _hybrid(config: NarrateConfig, found: StageFindings) -> tuple[Hybrid | None, str | None]:
    if "hybrid" not in config.parts:
        return None, None
    nan = [float("nan")] * config.voting.judges
    seen = set(found.seen)
    looks = [row if at in seen else nan for at, row in enumerate(found.table("sight"))]
    try:
        return combine(found.table("captions"), looks, weight=config.hybrid.weight), None
    except ConfigError as error:
        return None, str(error)


def _hybrid_row(hybrid: Hybrid, config: NarrateConfig, found: StageFindings) -> dict[str, Any]:
    sight = found.spent.get("sight")
    per_call = (0.0, 0.0)
    if sight is not None and sight.calls:
        per_call = (sight.seconds / sight.calls, sight.tokens / sight.calls)
    spared = (len(found.inputs.storylines) - hybrid.n_seen) * config.voting.judges
    return {
        "rule": config.hybrid.rule,
        "share": config.hybrid.share,
        "n_seen": hybrid.n_seen,
        "seen": found.seen,
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


def _theta(pictures: EmbeddedPictures, storylines: Sequence[Storyline]) -> dict[str, Any]:
    rows, order = _drawn(pictures, storylines)
    return {
        "signature": pictures.space.signature,
        "embedder": pictures.embedder,
        "learned": pictures.learned,
        "notes": pictures.notes,
        "frames": [pictures.frames[row].id for row in rows],
        "order": order,
    }


def _drawn(pictures: EmbeddedPictures, storylines: Sequence[Storyline]) -> tuple[list[int], str]:
    """Pictures of the matrix, those of storylines and an even sample of the rest; their order."""
    frames, at = pictures.frames, pictures.rows
    used = {at[f.id] for storyline in storylines for f in storyline.frames if f.id in at}
    rest = [row for row in range(len(frames)) if row not in used]
    room = max(0, MATRIX_SIDE - len(used))
    step = max(1, -(-len(rest) // room)) if room else len(rest) + 1
    rows = sorted(sorted(used)[:MATRIX_SIDE] + rest[::step][:room])
    if any(frames[row].date is None for row in rows):
        return rows, "in order of the file"
    return sorted(rows, key=lambda row: (_first_day(frames[row]), row)), "in order of time"


def _first_day(frame: Frame) -> int:
    return 0 if frame.date is None else frame.date.first.toordinal()


def _steps_table(storylines: Sequence[Storyline], found: _StepRows) -> dict[str, Any]:
    rows = []
    for at, votes in found.steps.items():
        coherence = found.coherence.get(at)
        theta = coherence.steps if isinstance(coherence, Coherence) else None
        rows.append((storylines[at].source, [_step_mean(step) for step in votes], theta))
    return steps_table(rows)


def _step_mean(votes: Sequence[Vote]) -> float | None:
    known = values(votes)
    return sum(known) / len(known) if known else None
