"""Runs over narratives: captions, ratings by captions and by sight, of steps, and coherence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from beholder.asking.asker import Asker
from beholder.data.frames import frame_row
from beholder.errors import ConfigError, DataError
from beholder.kinds.narratives import build, results
from beholder.kinds.narratives.build import StageFindings
from beholder.kinds.narratives.config import PEOPLE, Method, NarrateConfig
from beholder.kinds.narratives.hybrid import choose
from beholder.kinds.narratives.inputs import Inputs, read_inputs
from beholder.kinds.narratives.judging import (
    CaptionFrame,
    JudgeAsker,
    Rater,
    RateSteps,
    RateStoryline,
)
from beholder.kinds.narratives.kind import KIND
from beholder.kinds.narratives.measuring import MeasureCoherence, digest
from beholder.kinds.narratives.people import PeopleVotes, What
from beholder.kinds.narratives.results import spent_on
from beholder.records import Frame
from beholder.run import manifest
from beholder.run.plan import PlannedAsker, RunPlan, plan
from beholder.run.session import Progress, Session
from beholder.run.subjects import FRAME, STORYLINE, ScheduledAsker


def run_narratives(
    config: NarrateConfig, progress: Progress, given: Inputs | None = None
) -> tuple[results.NarrativeStudy, list[DataError]]:
    """Judge and measure whatever is missing from a run, and write the study.

    Args:
        config: The run.
        progress: Receives the progress, picture by picture and storyline by storyline.
        given: Input of the run, if it has been read already.

    Returns:
        The study, and the rows that were left out.

    Raises:
        ConfigError: An option is wrong, or a judge does not support an operation.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The folder is busy or contains another run, or the run fails.
        KeyboardInterrupt: Passed on, after the store has all that was finished.
    """
    inputs = given or read_inputs(config)
    askers = stages(config, inputs)
    with Session.open(
        config.out,
        KIND.name,
        means=config.means,
        askers=askers.values(),
        progress=progress,
    ) as session:
        _check_distinct_judges(session, config.models)
        n, digest = session.take(STORYLINE, inputs.storylines)
        scheduled = {
            name: _add(session, name, asker, config, inputs)
            for name, asker in askers.items()
        }
        source, n_bad = Path(config.sequences).name, len(inputs.bad_rows)
        log = manifest.Log(
            source, digest, n, n_bad, inputs.notes, _settings(config)
        )
        # A finished run is read, not made again: a second start changes no file.
        if (
            session.begin(log, _shared(scheduled.values(), inputs))
            or not (config.out / results.STUDY).is_file()
        ):
            findings = _ask(session, scheduled, config, inputs)
            study = build.write(findings)
            session.close()
        else:
            study = results.read_study(config.out)
    return study, list(inputs.bad_rows)


@dataclass(frozen=True)
class NarrativesPlan(RunPlan):
    """Plan of a run over narratives.

    Attributes:
        n_items: Good storylines.
        cost: Costs by captions and by sight, and from how many storylines captions pay.
    """

    cost: results.Cost = field(kw_only=True)


def plan_narratives(
    config: NarrateConfig, given: Inputs | None = None
) -> NarrativesPlan:
    """Read all input and report what the run would ask, without asking, measuring or writing.

    Captions that do not exist yet count with the longest length allowed.

    Args:
        config: The run.
        given: Input of the run, if it has been read already.

    Raises:
        ConfigError: An option is wrong, or a judge does not support an operation.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The directory contains a run of another kind.
    """
    inputs = given or read_inputs(config)
    manifest.check_kind(config.out, KIND.name)
    askers = stages(config, inputs)
    config.means.check(askers.values())
    planned: list[PlannedAsker] = []
    caption = askers.pop("caption", None)
    if isinstance(caption, CaptionFrame):
        # texts must differ: equal questions would count once
        texts = {
            f.id: f.caption or f"{caption.typical}{f.id}"
            for f in inputs.shown_frames
        }
        askers = {
            name: replace(asker, captions=texts)
            if isinstance(asker, Rater)
            else asker
            for name, asker in askers.items()
        }
        planned += plan(
            [caption], FRAME, inputs.shown_frames, config.out, config.means
        ).askers
    n = len(inputs.storylines)
    # Hybrid judging chooses its storylines from caption ratings, which do not exist yet: only
    # their number is known.
    limits = (
        {askers["sight"].name: n_seen(config, n)} if "sight" in askers else {}
    )
    by_storyline = list(askers.values())
    planned += plan(
        by_storyline,
        STORYLINE,
        inputs.storylines,
        config.out,
        config.means,
        at_most=limits,
    ).askers
    cost = build.cost_table(config, inputs)
    return NarrativesPlan(
        n, inputs.bad_rows, tuple(planned), inputs.notes, cost=cost
    )


def stages(config: NarrateConfig, inputs: Inputs) -> dict[str, Asker[Any]]:
    """Return the askers of a run, by stage.

    ``coherence`` measures storylines, each of ``config.ways`` rates them, ``transitions`` rates
    their steps, ``caption`` describes pictures.

    Raises:
        ConfigError: A setting is out of its range.
    """
    steps = "transitions" in config.parts
    writes = config.models and (
        config.by_captions or (steps and config.steps_by == "captions")
    )
    # People see pictures; only models need captions.
    caption = _captioner(config, inputs) if writes else None
    askers: dict[str, Asker[Any]] = {}
    if "coherence" in config.parts:
        rows = [frame_row(frame) for frame in inputs.frames]
        askers["coherence"] = MeasureCoherence(
            **asdict(config.coherence),
            human=config.human,
            collection=digest(rows),
        )
    for way in config.ways:
        if way.judge in config.people:
            askers[way.name] = _people(way.judge, "ratings", inputs)
            continue
        examples = inputs.examples if way.examples else ()
        askers[way.name] = RateStoryline(
            **_rater(config, way.by, way.judge, caption),
            anchors=config.voting.anchors,
            rated=", ".join(
                f"{storyline.id}: {rating}" for storyline, rating in examples
            ),
            examples=examples,
        )
    if steps and config.people:
        askers["transitions"] = _people(config.people[0], "steps", inputs)
    elif steps:
        askers["transitions"] = RateSteps(
            **_rater(config, config.steps_by, config.judges[0], caption)
        )
    if caption is not None:
        askers["caption"] = caption
    return askers


def _people(judge: str, what: What, inputs: Inputs) -> PeopleVotes:
    return PeopleVotes.from_file(
        judge.removeprefix(PEOPLE), what, inputs.storylines
    )


def n_seen(config: NarrateConfig, n: int) -> int:
    """Return the number of n storylines that are rated by sight."""
    if "sight" in config.parts:
        return n
    return len(
        choose(np.zeros((n, 1)), config.hybrid.share, config.hybrid.rule)
    )


def _captioner(config: NarrateConfig, inputs: Inputs) -> CaptionFrame:
    options = asdict(config.captions)
    return CaptionFrame(
        **options | {"judge": config.captions.judge or config.models[0]},
        context=config.voting.context,
        max_side=config.max_side,
        all_given=all(frame.caption for frame in inputs.shown_frames),
    )


def _rater(
    config: NarrateConfig,
    by: Method,
    judge: str,
    caption: CaptionFrame | None,
) -> dict[str, Any]:
    return {
        "judge": judge,
        "context": config.voting.context,
        "max_side": config.max_side,
        "by": by,
        "judges": config.voting.judges,
        "temperature": config.voting.temperature,
        "captioner": caption if by == "captions" else None,
    }


def _check_distinct_judges(session: Session, judges: Sequence[str]) -> None:
    """Raise an error for two specs of one judge: they would share answers and agree fully."""
    judge_by_identity: dict[str, str] = {}
    for judge in judges if len(judges) > 1 else ():
        identity = session.tools.identity("judge", judge)
        if identity in judge_by_identity:
            raise ConfigError(
                f"judges {judge_by_identity[identity]} and {judge} are the same: {identity}"
            )
        judge_by_identity[identity] = judge


def _add(
    session: Session,
    name: str,
    asker: Asker[Any],
    config: NarrateConfig,
    inputs: Inputs,
) -> ScheduledAsker:
    """Schedule a stage: its asker, and the pictures or storylines it works on."""
    if name == "caption":
        return session.add(
            asker, FRAME, session.take(FRAME, inputs.shown_frames)[0]
        )
    n = len(inputs.storylines)
    jobs = n_seen(config, n) if name == "sight" else n
    # what is measured costs nothing, so another embedder or a longer file is no other run
    return session.add(
        asker, STORYLINE, n, jobs=jobs, renew=name == "coherence"
    )


def _shared(
    scheduled: Iterable[ScheduledAsker], inputs: Inputs
) -> dict[str, list[str]]:
    """Return, per stage, the pictures that all its outcomes depend on: collection or examples."""
    images = {}
    for stage in scheduled:
        frames: Sequence[Frame] = ()
        if isinstance(stage.asker, MeasureCoherence):
            frames = inputs.frames
        elif isinstance(stage.asker, RateStoryline):
            frames = [
                frame
                for example, _ in stage.asker.examples
                for frame in example.frames
            ]
        images[stage.name] = [
            frame.image for frame in frames if frame.image is not None
        ]
    return images


def _ask(
    session: Session,
    scheduled: Mapping[str, ScheduledAsker],
    config: NarrateConfig,
    inputs: Inputs,
) -> StageFindings:
    """Ask stage by stage; each stage gets the results of the earlier ones."""
    findings = StageFindings(inputs, config)

    def ask(
        name: str, positions: Sequence[int] | None = None, **state: Any
    ) -> None:
        if name in scheduled:
            session.map(
                scheduled[name].with_state(**state), positions=positions
            )
            findings.outcomes[name] = session.outcomes(scheduled[name])

    # Coherence comes first: an error in vectors shows before any request is paid.
    if "coherence" in scheduled:
        measure = scheduled["coherence"].asker
        assert isinstance(measure, MeasureCoherence)
        embedder = session.tools.image_embedder(measure.embedder)
        findings.pictures = measure.embed(
            embedder, inputs.frames, config.folder
        )
        ask("coherence", pictures=findings.pictures)
    ask("caption")
    captions = findings.captions()
    for way in (way for way in config.ways if way.by == "captions"):
        ask(way.name, captions=captions)
    if "hybrid" in config.parts:
        findings.seen_positions = choose(
            findings.table("captions"), config.hybrid.share, config.hybrid.rule
        )
    for way in (way for way in config.ways if way.by == "sight"):
        ask(
            way.name,
            positions=None
            if "sight" in config.parts
            else findings.seen_positions,
        )
    step_state: dict[str, Any] = (
        {} if config.people else {"captions": captions}
    )
    ask("transitions", **step_state)
    # In the order in which costs are reported, not in that of asking.
    for name in (
        "caption",
        *(way.name for way in config.ways),
        "transitions",
    ):
        asker = scheduled[name].asker if name in scheduled else None
        if isinstance(asker, JudgeAsker) and session.answers is not None:
            findings.judges[name] = asker.identities(session.tools)["judge"]
            findings.spent[name] = spent_on(
                findings.outcomes[name].values(), session.answers
            )
    return findings


def _settings(config: NarrateConfig) -> dict[str, object]:
    """Settings that determine the study and belong to no asker."""
    return {
        "parts": list(config.parts),
        "human": config.human,
        "hybrid": asdict(config.hybrid),
        "voting": asdict(config.voting),
        "max_side": config.max_side,
        "caption_words": [
            config.captions.min_words,
            config.captions.max_words,
        ],
        "limit": config.rows.limit,
        "skip_bad_rows": config.rows.skip_bad_rows,
    }
