"""What a run over narratives leaves for its report: ``study.json``, theta matrix, thumbnails."""

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
from beholder.kinds.narratives.config import NarrateConfig
from beholder.kinds.narratives.hybrid import Hybrid, combine, held_out_check
from beholder.kinds.narratives.inputs import Inputs
from beholder.kinds.narratives.judging import Vote, caption_of, votes_of
from beholder.kinds.narratives.measuring import (
    EmbeddedPictures,
)
from beholder.kinds.narratives.storylines.extract import steps_back
from beholder.kinds.narratives.study import (
    StepRow,
    between_models,
    steps_table,
    tables,
    told_by,
    with_and_without,
)
from beholder.records import Frame, ItemFailure, ItemScore, Storyline
from beholder.run.thumbs import write_thumbs

THUMB_SIDE = 190
_NAMED = 6
MATRIX_SIDE = 400
"""Pictures in the drawn theta matrix at most."""


@dataclass
class StageFindings:
    """Outcomes of a run over narratives; filled stage by stage.

    Attributes:
        inputs: What it works on.
        config: The run.
        outcomes: Per stage, the outcome per position of a storyline, or of a picture.
        seen: Positions that hybrid judging looks at.
        spent: What each stage took.
        judges: Identity of the judge of each stage.
        pictures: The collection that was measured in; None if nothing was measured.
    """

    inputs: Inputs
    config: NarrateConfig
    outcomes: dict[str, Mapping[int, Outcome]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    spent: dict[str, results.Stage] = field(default_factory=dict)
    judges: dict[str, str] = field(default_factory=dict)
    pictures: EmbeddedPictures | None = None

    def captions(self) -> dict[str, str | ItemFailure]:
        """Caption per frame id, or why it has none."""
        shown = self.inputs.shown
        return {
            shown[at].id: caption_of(outcome)
            for at, outcome in self.outcomes_of("caption").items()
        }

    def votes(self) -> dict[str, dict[int, list[Vote]]]:
        """Per way of rating the votes per position of a storyline."""
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
        """(n, K) votes of a method; NaN if there is none."""
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
        """Votes per step, per position of a storyline."""
        storylines, n = self.inputs.storylines, self.config.voting.judges
        return {
            at: votes_of(outcome, len(storylines[at].frames) - 1, n)
            for at, outcome in self.outcomes_of("transitions").items()
        }

    def outcomes_of(self, stage: str) -> Mapping[int, Outcome]:
        """Outcomes of a stage; empty if it was not asked."""
        return self.outcomes.get(stage, {})


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
    by_kind = {"caption": [known.get("caption", results.Stage())]}
    for way in config.ways:
        stages = by_kind.setdefault(way.by, [])
        stages.append(known.get(way.name, results.Stage()))
    seconds, tokens = results.measured(
        {kind: results.pooled(stages) for kind, stages in by_kind.items()}
    ) or (
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
    narratives = tuple(_narratives(found, hybrid))
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
    """Yield how judges agree, by way of seeing; nothing if there is one judge."""
    if len(config.judges) < 2:
        return
    sources = {narrative.id: narrative.source for narrative in narratives}
    ratings: dict[str, dict[str, dict[str, float]]] = {}
    for way in config.ways:
        by = f"{way.by} with examples" if way.examples else way.by
        ratings.setdefault(by, {})[way.judge] = {
            narrative.id: narrative.means[way.name]
            for narrative in narratives
            if way.name in narrative.means
        }
    for by, ratings_by_judge in ratings.items():
        yield between_models(by, ratings_by_judge, sources, config.human)


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
            vote.judge,
            vote.value,
            vote.reason,
            vote.failure.message if vote.failure else None,
            vote.breaks,
        )
        for vote in votes
    )


def _narratives(
    found: StageFindings, hybrid: Hybrid | None
) -> Iterator[results.Narrative]:
    storylines = found.inputs.storylines
    places = {storyline.id: at for at, storyline in enumerate(storylines)}
    frames = {frame.id: at for at, frame in enumerate(found.inputs.shown)}
    votes, steps = found.votes(), found.steps()
    measured = found.outcomes_of("coherence")
    for at, storyline in enumerate(storylines):
        outcome = measured.get(at)
        coherence = failure = near = None
        if isinstance(outcome, ItemScore):
            fields = {**outcome.values, **outcome.detail}
            coherence = msgspec.convert(fields, results.NarrativeCoherence)
        elif outcome is not None:
            failure = outcome.message
        # A storyline of one picture has no coherence, but a distance.
        if outcome is not None and "nearest" in outcome.detail:
            fields = dict(outcome.detail["nearest"])
            fields["narrative"] = places[fields["storyline"]]
            near = msgspec.convert(fields, results.NearestNarrative)
        yield results.Narrative(
            id=storyline.id,
            source=storyline.source,
            group=dict(storyline.group),
            frames=tuple(frames[frame.id] for frame in storyline.frames),
            coherence=coherence,
            coherence_failure=failure,
            nearest=near,
            votes={
                method: _votes(cast[at])
                for method, cast in votes.items()
                if at in cast
            },
            hybrid=None if hybrid is None else _hybrid_row(hybrid, at),
            steps=tuple(map(_votes, steps.get(at, ()))),
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
    hybrid: Hybrid, found: StageFindings
) -> results.HybridRatings:
    config = found.config
    sight = found.spent.get("sight", results.Stage())
    n_calls = sight.calls or 1
    n_unseen = len(found.inputs.storylines) - hybrid.n_seen
    spared = n_unseen * config.voting.judges
    fields = {
        **msgspec.to_builtins(hybrid),
        "rule": config.hybrid.rule,
        "share": config.hybrid.share,
        "seen": found.seen,
        "calls_saved": spared,
        "seconds_saved": spared * (sight.seconds / n_calls),
        "tokens_saved": spared * (sight.tokens / n_calls),
    }
    return msgspec.convert(fields, results.HybridRatings)


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
    for narrative in narratives:
        source, coherence = narrative.source, narrative.coherence
        theta = coherence.steps if coherence else None
        rows.append((source, narrative.step_means, theta))
        reports = ([v.breaks for v in votes] for votes in narrative.steps)
        broken.append((source, list(map(told_by, reports))))
    return steps_table(rows, human, broken)
