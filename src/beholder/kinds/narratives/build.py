"""What a run over narratives leaves for its report: ``study.json``, theta matrix, thumbnails."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields

import msgspec
import numpy as np

from beholder.base import files
from beholder.data.frames import frame_row
from beholder.errors import ConfigError
from beholder.kinds.narratives import compared, results
from beholder.kinds.narratives.config import NarrateConfig
from beholder.kinds.narratives.hybrid import Hybrid, combine
from beholder.kinds.narratives.inputs import Inputs
from beholder.kinds.narratives.judging import Vote
from beholder.kinds.narratives.measuring import (
    EmbeddedPictures,
    coherence_in,
    nearest_in,
)
from beholder.kinds.narratives.models import between_models, with_and_without
from beholder.kinds.narratives.stages import StageFindings
from beholder.kinds.narratives.storylines.extract import steps_back
from beholder.kinds.narratives.storylines.strength import Coherence
from beholder.kinds.narratives.study import (
    StepRow,
    steps_table,
    tables,
    told_by,
)
from beholder.records import Frame, ItemFailure, Storyline
from beholder.run.thumbs import write_thumbs

THUMB_SIDE = 190
_NAMED = 6
MATRIX_SIDE = 400
"""Pictures in the drawn theta matrix at most."""


def write(found: StageFindings) -> results.NarrativeStudy:
    """Write a run's results into its folder."""
    config = found.config
    if found.pictures is not None:
        rows, _ = _drawn(found.pictures, found.inputs.storylines)
        with (
            files.replacing(config.out / results.MATRIX) as unfinished,
            unfinished.open("wb") as archive,
        ):
            np.savez_compressed(
                archive,
                theta=found.pictures.space.subset(rows)
                .theta()
                .astype(np.float16),
                ids=np.array([found.pictures.frames[row].id for row in rows]),
            )
    pictures = ((f.id, f.image) for f in found.inputs.shown)
    unreadable = write_thumbs(config.out, config.folder, pictures, THUMB_SIDE)
    study = _study(found, unreadable)
    text = json.dumps(
        msgspec.to_builtins(study), ensure_ascii=False, allow_nan=False
    )
    files.write_text(config.out / results.STUDY, text)
    return study


def cost_table(
    config: NarrateConfig,
    inputs: Inputs,
    spent: Mapping[str, results.Stage] | None = None,
) -> results.Cost:
    """Costs by captions and by sight in seconds and tokens, and the break-even.

    Measured if the run has all three kinds of answers, over all judges; otherwise published or
    estimated rates, as ``basis`` says.
    """
    n, n_pictures = len(inputs.storylines), len(inputs.shown)
    conditions = 2 if config.voting.examples else 1
    judges = config.voting.judges * max(1, len(config.models)) * conditions
    length = sum(len(storyline.frames) for storyline in inputs.storylines) / n
    words = (config.captions.min_words + config.captions.max_words) // 2
    known = dict(spent or {})
    kinds: dict[str, list[results.Stage]] = {
        "caption": [known.get("caption", results.Stage())]
    }
    for way in config.ways:
        kinds.setdefault(way.by, []).append(
            known.get(way.name, results.Stage())
        )
    rates = results.measured(
        {kind: results.pooled(found) for kind, found in kinds.items()}
    )
    seconds, tokens = rates or (
        results.PUBLISHED_SECONDS,
        results.estimated_tokens(length, words),
    )
    units = (rates.of(n_pictures, n, judges) for rates in (seconds, tokens))
    return results.Cost(n_pictures, n, judges, known, *units)


def _study(
    found: StageFindings, unreadable: Iterable[str]
) -> results.NarrativeStudy:
    config, storylines = found.config, found.inputs.storylines
    hybrid, hybrid_missing = _hybrid(found)
    narratives = _narratives(found, hybrid)
    captions = found.captions()
    comparison = tables(
        narratives,
        config.human,
        n_repeated=len(narratives) - len({one.frames for one in narratives}),
        notes=_notes(hybrid, storylines),
    )
    return results.NarrativeStudy(
        human=config.human,
        frames=tuple(
            _frame(frame, captions.get(frame.id))
            for frame in found.inputs.shown
        ),
        narratives=narratives,
        tables=comparison,
        examples=_examples(found, comparison)
        if config.voting.examples
        else None,
        models=tuple(_models(config, narratives)),
        steps=_steps_table(narratives, config.human)
        if "transitions" in found.outcomes
        else None,
        cost=cost_table(config, found.inputs, found.spent),
        hybrid=None if hybrid is None else _hybrid_ratings(hybrid, found),
        hybrid_missing=hybrid_missing,
        theta=None
        if found.pictures is None
        else _theta(found.pictures, storylines),
        judges=found.judges,
        voting=config.voting,
        unreadable=tuple(unreadable),
    )


def _models(
    config: NarrateConfig, narratives: Sequence[results.Narrative]
) -> Iterator[compared.ModelAgreement]:
    """How judges agree, by way of seeing; nothing if there is one judge."""
    named: dict[str, dict[str, str]] = {}
    for way in config.ways if len(config.judges) > 1 else ():
        by = f"{way.by} with examples" if way.examples else way.by
        named.setdefault(by, {})[way.judge] = way.name
    sources = {one.id: one.source for one in narratives}
    for by, names in named.items():
        ratings = {
            judge: {
                one.id: mean
                for one in narratives
                if (mean := one.means.get(name)) is not None
            }
            for judge, name in names.items()
        }
        yield between_models(by, ratings, sources, config.human)


def _examples(
    found: StageFindings, study: compared.ComparisonTables
) -> compared.Examples:
    ways = found.config.ways
    plain = {(way.by, way.judge): way.name for way in ways if not way.examples}
    pairs = [
        (plain[way.by, way.judge], way.name) for way in ways if way.examples
    ]
    shown = (
        compared.RatedNarrative(one.id, one.source, rating, len(one.frames))
        for one, rating in found.inputs.examples
    )
    return compared.Examples(
        tuple(shown), tuple(with_and_without(study, pairs))
    )


def _votes(votes: Sequence[Vote]) -> tuple[results.StudyVote, ...]:
    return tuple(
        results.StudyVote(
            v.judge,
            v.value,
            v.reason,
            v.failure.message if v.failure else None,
            v.breaks,
        )
        for v in votes
    )


def _narratives(
    found: StageFindings, hybrid: Hybrid | None
) -> tuple[results.Narrative, ...]:
    votes, steps, measured = (
        found.votes(),
        found.steps(),
        found.of("coherence"),
    )
    place = {
        storyline.id: at
        for at, storyline in enumerate(found.inputs.storylines)
    }
    index = {
        frame.id: number for number, frame in enumerate(found.inputs.shown)
    }

    def one(at: int, storyline: Storyline) -> results.Narrative:
        known = coherence_in(measured[at]) if at in measured else None
        near = nearest_in(measured[at]) if at in measured else None
        return results.Narrative(
            id=storyline.id,
            source=storyline.source,
            group=dict(storyline.group),
            frames=tuple(index[frame.id] for frame in storyline.frames),
            coherence=msgspec.convert(
                known, results.NarrativeCoherence, from_attributes=True
            )
            if isinstance(known, Coherence)
            else None,
            coherence_failure=known.message
            if isinstance(known, ItemFailure)
            else None,
            nearest=results.NearestNarrative(place[near[0]], **asdict(near[1]))
            if near
            else None,
            votes={
                method: _votes(cast[at])
                for method, cast in votes.items()
                if at in cast
            },
            hybrid=None if hybrid is None else _hybrid_row(hybrid, at),
            steps=tuple(map(_votes, steps.get(at, ()))),
        )

    return tuple(
        one(at, storyline)
        for at, storyline in enumerate(found.inputs.storylines)
    )


def _hybrid_row(hybrid: Hybrid, at: int) -> tuple[float | None, ...] | None:
    """Hybrid ratings of a narrative; None if it has none: not trusted, not rated by sight."""
    row = tuple(
        None if math.isnan(value) else value for value in hybrid.ratings[at]
    )
    return (
        row
        if hybrid.trusted or any(value is not None for value in row)
        else None
    )


def _frame(
    frame: Frame, caption: str | ItemFailure | None
) -> results.ShownFrame:
    row = frame_row(frame)
    if isinstance(caption, str):
        row["caption"] = caption
    elif isinstance(caption, ItemFailure):
        row["failure"] = caption.message
    return msgspec.convert(row, results.ShownFrame)


def _hybrid(found: StageFindings) -> tuple[Hybrid | None, str | None]:
    config = found.config
    if "hybrid" not in config.parts:
        return None, None
    nan = [float("nan")] * config.voting.judges
    seen, sight = set(found.seen), found.table("sight")
    looks = [row if at in seen else nan for at, row in enumerate(sight)]
    withheld = sight if "sight" in config.parts else None
    captions, weight = found.table("captions"), config.hybrid.weight
    try:
        return combine(captions, looks, weight=weight, withheld=withheld), None
    except ConfigError as error:
        return None, str(error)


def _notes(
    hybrid: Hybrid | None, storylines: Sequence[Storyline]
) -> list[str]:
    """Further cautions for the tables."""
    back = {
        one.id: len(steps)
        for one in storylines
        if (steps := steps_back(one.frames))
    }
    notes = [] if hybrid is None else [_hybrid_note(hybrid, len(storylines))]
    if back:
        first = ", ".join(
            f"{name} ({n})" for name, n in list(back.items())[:_NAMED]
        )
        more = f" and {len(back) - _NAMED} more" if len(back) > _NAMED else ""
        notes.append(
            f"{len(back)} narratives step back in time by the dates of their pictures (steps):"
            f" {first}{more}."
        )
    return notes


def _hybrid_note(hybrid: Hybrid, n: int) -> str:
    """The basis of hybrid ratings, as a caution for the tables that show them."""
    held_out = next(
        check for check in hybrid.checks if check.narratives == "held out"
    )
    unseen = n - hybrid.n_seen
    errors = (
        f"on {held_out.n} held-out narratives their error against sight is {held_out.error:.2f}"
        f" points, that of giving each the mean {held_out.error_of_mean or 0.0:.2f}"
    )
    if hybrid.trusted:
        return (
            f"hybrid: ratings of the {unseen} narratives that were not looked at are predicted from"
            f" captions and pulled towards the mean; {errors}. Judges agree on shrunk ratings, too:"
            " ICC, alpha, d and g of hybrid are too large. Go by its error against sight."
        )
    return (
        f"hybrid: captions are not shown to predict sight ({errors}). The {unseen} narratives"
        " that were not looked at have no hybrid rating; look at more, or at all."
    )


def _hybrid_ratings(
    hybrid: Hybrid, found: StageFindings
) -> results.HybridRatings:
    config = found.config
    sight = found.spent.get("sight", results.Stage())
    calls = sight.calls or 1
    spared = (
        len(found.inputs.storylines) - hybrid.n_seen
    ) * config.voting.judges
    facts = {
        one.name: getattr(hybrid, one.name)
        for one in fields(hybrid)
        if one.name != "ratings"
    }
    return results.HybridRatings(
        rule=config.hybrid.rule,
        share=config.hybrid.share,
        seen=tuple(found.seen),
        calls_saved=spared,
        seconds_saved=spared * (sight.seconds / calls),
        tokens_saved=spared * (sight.tokens / calls),
        **facts,
    )


def _theta(
    pictures: EmbeddedPictures, storylines: Sequence[Storyline]
) -> results.ThetaMatrix:
    rows, order = _drawn(pictures, storylines)
    return results.ThetaMatrix(
        signature=pictures.space.signature,
        embedder=pictures.embedder,
        learned=pictures.learned,
        notes=pictures.notes,
        frames=tuple(pictures.frames[row].id for row in rows),
        order=order,
    )


def _drawn(
    pictures: EmbeddedPictures, storylines: Sequence[Storyline]
) -> tuple[list[int], str]:
    """Pictures of the matrix, those of storylines and an even sample of the rest; their order."""
    frames, at = pictures.frames, pictures.rows
    used = {
        at[f.id]
        for storyline in storylines
        for f in storyline.frames
        if f.id in at
    }
    rest = [row for row in range(len(frames)) if row not in used]
    room = max(0, MATRIX_SIDE - len(used))
    step = max(1, -(-len(rest) // room)) if room else len(rest) + 1
    rows = sorted(sorted(used)[:MATRIX_SIDE] + rest[::step][:room])
    days = {
        row: date.middle
        for row in rows
        if (date := frames[row].date) is not None
    }
    if len(days) < len(rows):
        return rows, "in order of the file"
    return sorted(rows, key=lambda row: (days[row], row)), "in order of time"


def _steps_table(
    narratives: Sequence[results.Narrative], human: str
) -> compared.StepTables:
    rows: list[StepRow] = []
    broken = []
    for one in narratives:
        theta = one.coherence.steps if one.coherence else None
        rows.append((one.source, one.step_means, theta))
        broken.append(
            (
                one.source,
                [told_by([vote.breaks for vote in s]) for s in one.steps],
            )
        )
    return steps_table(rows, human, broken)
