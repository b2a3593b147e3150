"""Writes the results of a run over narratives: ``study.json``, theta matrix, thumbnails."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from beholder.asking.asker import Outcome
from beholder.base import files
from beholder.data.frames import frame_row
from beholder.errors import ConfigError
from beholder.kinds.narratives import compared, results
from beholder.kinds.narratives.between_judges import between_models
from beholder.kinds.narratives.config import NarrateConfig
from beholder.kinds.narratives.hybrid import Hybrid, combine, held_out_check
from beholder.kinds.narratives.inputs import Inputs
from beholder.kinds.narratives.judging import Vote, caption_of, votes_of
from beholder.kinds.narratives.measuring import (
    EmbeddedPictures,
)
from beholder.kinds.narratives.steps import StepRow, agreed_breaks, steps_table
from beholder.kinds.narratives.storylines.extract import steps_back
from beholder.kinds.narratives.study import tables, with_and_without
from beholder.records import Frame, ItemFailure, ItemScore, Storyline
from beholder.run.thumbs import write_thumbs

THUMB_SIDE = 190
_MAX_NAMED = 6
MATRIX_SIDE = 400
"""Pictures in the drawn theta matrix at most."""


@dataclass
class StageFindings:
    """Outcomes of a run over narratives; filled stage by stage.

    Attributes:
        inputs: Input of the study.
        config: The run.
        outcomes: Per stage, the outcome per position of a storyline, or of a picture.
        seen_positions: Positions of storylines that hybrid judging rates by sight.
        spent: Time and tokens of each stage.
        judges: Identity of the judge of each stage.
        pictures: The collection that was measured in; None if nothing was measured.
    """

    inputs: Inputs
    config: NarrateConfig
    outcomes: dict[str, Mapping[int, Outcome]] = field(default_factory=dict)
    seen_positions: list[int] = field(default_factory=list)
    spent: dict[str, results.Stage] = field(default_factory=dict)
    judges: dict[str, str] = field(default_factory=dict)
    pictures: EmbeddedPictures | None = None

    def captions(self) -> dict[str, str | ItemFailure]:
        """Return the caption of each frame, or its failure, by id."""
        frames = self.inputs.shown_frames
        return {
            frames[at].id: caption_of(outcome)
            for at, outcome in self.outcomes_of("caption").items()
        }

    def votes(self) -> dict[str, dict[int, list[Vote]]]:
        """Return the votes per position of a storyline, by way of rating."""
        n = self.config.voting.judges
        return {
            way.name: {
                at: votes_of(outcome, 1, n)[0]
                for at, outcome in self.outcomes[way.name].items()
            }
            for way in self.config.ways
            if way.name in self.outcomes
        }

    def table(self, method: str) -> list[list[float]]:
        """Return the (n, K) votes of a method; NaN where a vote is missing."""
        votes = self.votes()[method]
        no_votes = [Vote(seat) for seat in range(self.config.voting.judges)]
        return [
            [
                math.nan if vote.value is None else float(vote.value)
                for vote in votes.get(at, no_votes)
            ]
            for at in range(len(self.inputs.storylines))
        ]

    def steps(self) -> dict[int, list[list[Vote]]]:
        """Return the votes on each step, per position of a storyline."""
        storylines, n = self.inputs.storylines, self.config.voting.judges
        return {
            at: votes_of(outcome, len(storylines[at].frames) - 1, n)
            for at, outcome in self.outcomes_of("transitions").items()
        }

    def outcomes_of(self, stage: str) -> Mapping[int, Outcome]:
        """Return the outcomes of a stage; empty if the run has no such stage."""
        return self.outcomes.get(stage, {})


def write(findings: StageFindings) -> results.NarrativeStudy:
    """Write the results of a run into its folder and return them."""
    config = findings.config
    if findings.pictures is not None:
        # float16 is enough for colours and keeps the file small.
        rows, _ = choose_matrix_rows(
            findings.pictures, findings.inputs.storylines
        )
        with (
            files.write_atomically(config.out / results.MATRIX) as unfinished,
            unfinished.open("wb") as archive,
        ):
            np.savez_compressed(
                archive,
                theta=findings.pictures.space.subset(rows)
                .theta()
                .astype(np.float16),
                ids=np.array(
                    [findings.pictures.frames[row].id for row in rows]
                ),
            )
    pictures = ((f.id, f.image) for f in findings.inputs.shown_frames)
    unreadable = write_thumbs(config.out, config.folder, pictures, THUMB_SIDE)
    study = _study(findings, unreadable)
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
    """Return costs by captions and by sight in seconds and tokens, and the break-even.

    Measured if the run has all three kinds of answers, over all judges; otherwise published or
    estimated rates, as ``basis`` says.
    """
    # Means of lengths estimate what was not measured; judges, models and conditions multiply.
    n, n_pictures = len(inputs.storylines), len(inputs.shown_frames)
    conditions = 2 if config.voting.examples else 1
    judges = config.voting.judges * max(1, len(config.models)) * conditions
    length = sum(len(storyline.frames) for storyline in inputs.storylines) / n
    words = (config.captions.min_words + config.captions.max_words) // 2
    spent_by_stage = dict(spent or {})
    # Stages are pooled over judges: rates are per call, whoever answered.
    by_kind = {"caption": [spent_by_stage.get("caption", results.Stage())]}
    for way in config.ways:
        stages = by_kind.setdefault(way.by, [])
        stages.append(spent_by_stage.get(way.name, results.Stage()))
    seconds, tokens = results.measure_rates(
        {kind: results.pool_stages(stages) for kind, stages in by_kind.items()}
    ) or (
        results.PUBLISHED_SECONDS,
        results.estimated_tokens(length, words),
    )
    units = (
        rates.cost_for(n_pictures, n, judges) for rates in (seconds, tokens)
    )
    return results.Cost(n_pictures, n, judges, spent_by_stage, *units)


def _study(
    findings: StageFindings, unreadable: Iterable[str]
) -> results.NarrativeStudy:
    config, storylines = findings.config, findings.inputs.storylines
    # Everything is computed from stored outcomes: a second start gives the same study.
    hybrid, hybrid_missing = _hybrid(findings)
    narratives = tuple(_narratives(findings, hybrid))
    captions = findings.captions()
    comparison = tables(
        narratives,
        config.human,
        n_repeated=len(narratives)
        - len({narrative.frames for narrative in narratives}),
        notes=cautions_of(hybrid, storylines),
    )
    return results.NarrativeStudy(
        human=config.human,
        frames=tuple(
            _frame(frame, captions.get(frame.id))
            for frame in findings.inputs.shown_frames
        ),
        narratives=narratives,
        tables=comparison,
        examples=_examples(findings, comparison)
        if config.voting.examples
        else None,
        models=tuple(_models(config, narratives)),
        steps=_steps_table(narratives, config.human)
        if "transitions" in findings.outcomes
        else None,
        cost=cost_table(config, findings.inputs, findings.spent),
        hybrid=None if hybrid is None else _hybrid_ratings(hybrid, findings),
        hybrid_missing=hybrid_missing,
        theta=None
        if findings.pictures is None
        else _theta(findings.pictures, storylines),
        judges=findings.judges,
        voting=config.voting,
        unreadable=tuple(unreadable),
    )


def _models(
    config: NarrateConfig, narratives: Sequence[results.Narrative]
) -> Iterator[compared.ModelAgreement]:
    """Yield how judges agree, by way of seeing; nothing if there is one judge."""
    if len(config.judges) < 2:
        return
    sources = {narrative.id: narrative.source for narrative in narratives}
    ratings: dict[str, dict[str, dict[str, float]]] = {}
    for way in config.ways:
        # Judges are compared within a way of seeing, never a judge by captions with one by sight.
        by = f"{way.by} with examples" if way.examples else way.by
        ratings.setdefault(by, {})[way.judge] = {
            narrative.id: narrative.means[way.name]
            for narrative in narratives
            if way.name in narrative.means
        }
    for by, ratings_by_judge in ratings.items():
        yield between_models(by, ratings_by_judge, sources, config.human)


def _examples(
    findings: StageFindings, study: compared.ComparisonTables
) -> compared.Examples:
    ways = findings.config.ways
    plain_names = {
        (way.by, way.judge): way.name for way in ways if not way.examples
    }
    pairs = [
        (plain_names[way.by, way.judge], way.name)
        for way in ways
        if way.examples
    ]
    examples = (
        compared.RatedNarrative(
            storyline.id, storyline.source, rating, len(storyline.frames)
        )
        for storyline, rating in findings.inputs.examples
    )
    return compared.Examples(
        tuple(examples), tuple(with_and_without(study, pairs))
    )


def _votes(votes: Sequence[Vote]) -> tuple[results.StudyVote, ...]:
    return tuple(
        results.StudyVote(
            vote.judge,
            vote.value,
            vote.reason,
            vote.failure.message if vote.failure else None,
            vote.breaks,
        )
        for vote in votes
    )


def _narratives(
    findings: StageFindings, hybrid: Hybrid | None
) -> Iterator[results.Narrative]:
    storylines = findings.inputs.storylines
    # Pages and files refer to pictures and storylines by place, so ids become indices here.
    places = {storyline.id: at for at, storyline in enumerate(storylines)}
    frames = {
        frame.id: at for at, frame in enumerate(findings.inputs.shown_frames)
    }
    votes, steps = findings.votes(), findings.steps()
    coherence_outcomes = findings.outcomes_of("coherence")
    for at, storyline in enumerate(storylines):
        outcome = coherence_outcomes.get(at)
        coherence = failure = nearest = None
        if isinstance(outcome, ItemScore):
            fields = {**outcome.values, **outcome.detail}
            coherence = msgspec.convert(fields, results.NarrativeCoherence)
        elif outcome is not None:
            failure = outcome.message
        # A storyline of one picture has no coherence, but a distance.
        if outcome is not None and "nearest" in outcome.detail:
            fields = dict(outcome.detail["nearest"])
            fields["narrative"] = places[fields["storyline"]]
            nearest = msgspec.convert(fields, results.NearestNarrative)
        yield results.Narrative(
            id=storyline.id,
            source=storyline.source,
            group=dict(storyline.group),
            frames=tuple(frames[frame.id] for frame in storyline.frames),
            coherence=coherence,
            coherence_failure=failure,
            nearest=nearest,
            votes={
                method: _votes(cast[at])
                for method, cast in votes.items()
                if at in cast
            },
            hybrid=None if hybrid is None else _hybrid_row(hybrid, at),
            steps=tuple(map(_votes, steps.get(at, ()))),
        )


def _hybrid_row(hybrid: Hybrid, at: int) -> tuple[float | None, ...] | None:
    """Return the hybrid ratings of a narrative, or None without any: not trusted and not seen."""
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


def _hybrid(findings: StageFindings) -> tuple[Hybrid | None, str | None]:
    config = findings.config
    if "hybrid" not in config.parts:
        return None, None
    nan = [float("nan")] * config.voting.judges
    looked_at = set(findings.seen_positions)
    sight = findings.table("sight")
    seen_sight = [
        row if at in looked_at else nan for at, row in enumerate(sight)
    ]
    # Where all were rated by sight as well, the rest checks the prediction and enters nothing else.
    withheld = sight if "sight" in config.parts else None
    captions, weight = findings.table("captions"), config.hybrid.weight
    try:
        return combine(
            captions, seen_sight, weight=weight, withheld=withheld
        ), None
    except ConfigError as error:
        # Too few narratives with both: the study says so instead of failing after paid requests.
        return None, str(error)


def cautions_of(
    hybrid: Hybrid | None, storylines: Sequence[Storyline]
) -> list[str]:
    """Return further cautions: hybrid ratings, and narratives that step back in time."""
    n_steps_back = {}
    for storyline in storylines:
        steps = steps_back(storyline.frames)
        if steps:
            n_steps_back[storyline.id] = len(steps)
    notes = [] if hybrid is None else [_hybrid_note(hybrid, len(storylines))]
    if n_steps_back:
        # A long list would hide the other cautions.
        first = ", ".join(
            f"{name} ({n})"
            for name, n in list(n_steps_back.items())[:_MAX_NAMED]
        )
        more = (
            f" and {len(n_steps_back) - _MAX_NAMED} more"
            if len(n_steps_back) > _MAX_NAMED
            else ""
        )
        notes.append(
            f"{len(n_steps_back)} narratives step back in time by the dates of their pictures"
            f" (steps): {first}{more}."
        )
    return notes


def _hybrid_note(hybrid: Hybrid, n: int) -> str:
    """Return the basis of hybrid ratings, as a caution for the tables that show them."""
    held_out = held_out_check(hybrid.checks)
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
    hybrid: Hybrid, findings: StageFindings
) -> results.HybridRatings:
    config = findings.config
    sight = findings.spent.get("sight", results.Stage())
    # Without an answer by sight nothing was spent, so nothing was saved.
    n_calls = sight.calls or 1
    n_unseen = len(findings.inputs.storylines) - hybrid.n_seen
    spared = n_unseen * config.voting.judges
    fields = {
        **msgspec.to_builtins(hybrid),
        "rule": config.hybrid.rule,
        "share": config.hybrid.share,
        "seen": findings.seen_positions,
        "calls_saved": spared,
        "seconds_saved": spared * (sight.seconds / n_calls),
        "tokens_saved": spared * (sight.tokens / n_calls),
    }
    return msgspec.convert(fields, results.HybridRatings)


def _theta(
    pictures: EmbeddedPictures, storylines: Sequence[Storyline]
) -> results.ThetaMatrix:
    rows, order = choose_matrix_rows(pictures, storylines)
    return results.ThetaMatrix(
        signature=pictures.space.signature,
        embedder=pictures.embedder,
        learned=pictures.learned,
        notes=pictures.notes,
        frames=tuple(pictures.frames[row].id for row in rows),
        order=order,
    )


def choose_matrix_rows(
    pictures: EmbeddedPictures, storylines: Sequence[Storyline]
) -> tuple[list[int], str]:
    """Return the rows of the drawn matrix in order, and the name of that order."""
    frames, at = pictures.frames, pictures.rows
    # Pictures of storylines come first, then an even sample of the others up to the size that can
    # be drawn. Without a date for each the order of time is not known.
    ids = {frame.id for storyline in storylines for frame in storyline.frames}
    used = {at[frame_id] for frame_id in ids if frame_id in at}
    unused = [row for row in range(len(frames)) if row not in used]
    room = max(0, MATRIX_SIDE - len(used))
    step = max(1, -(-len(unused) // room)) if room else len(unused) + 1
    rows = sorted(sorted(used)[:MATRIX_SIDE] + unused[::step][:room])
    days = {}
    for row in rows:
        date = frames[row].date
        if date is not None:
            days[row] = date.middle
    if len(days) < len(rows):
        return rows, "in order of the file"
    return sorted(rows, key=lambda row: (days[row], row)), "in order of time"


def _steps_table(
    narratives: Sequence[results.Narrative], human: str
) -> compared.StepTables:
    rows: list[StepRow] = []
    breaks = []
    for narrative in narratives:
        source, coherence = narrative.source, narrative.coherence
        # Steps can be rated in a run that measures no coherence.
        theta = coherence.steps if coherence else None
        rows.append((source, narrative.step_means, theta))
        reports = ([v.breaks for v in votes] for votes in narrative.steps)
        breaks.append((source, list(map(agreed_breaks, reports))))
    return steps_table(rows, human, breaks)
