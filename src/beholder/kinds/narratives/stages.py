"""The stages of a run over narratives: what each asks, and its outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from beholder.data.frames import frame_row
from beholder.kinds.narratives import judging, measuring
from beholder.kinds.narratives.config import PEOPLE, Method, NarrateConfig
from beholder.kinds.narratives.cost import Stage
from beholder.kinds.narratives.hybrid import choose
from beholder.kinds.narratives.inputs import Inputs
from beholder.kinds.narratives.people import PeopleVotes, What
from beholder.kinds.narratives.results import NearestNarrative
from beholder.kinds.narratives.storylines.strength import Coherence
from beholder.metrics.asker import Asker, Outcome
from beholder.records import ItemFailure


def judged(config: NarrateConfig) -> tuple[str, ...]:
    """Stages that ask a judge, in the order in which they are reported."""
    return ("caption", *(way.name for way in config.ways), "transitions")


def stages(config: NarrateConfig, inputs: Inputs) -> dict[str, Asker[Any]]:
    """What a run asks, by stage.

    ``coherence`` measures storylines, each of ``config.ways`` rates them, ``transitions`` rates
    their steps, ``caption`` describes pictures.

    Raises:
        ConfigError: A setting is out of its range.
    """
    steps = "transitions" in config.parts
    writes = config.models and (config.by_captions or (steps and config.steps_by == "captions"))
    caption = _captioner(config, inputs) if writes else None
    found: dict[str, Asker[Any]] = {}
    if "coherence" in config.parts:
        rows = [frame_row(frame) for frame in inputs.frames]
        found["coherence"] = measuring.MeasureCoherence(
            **asdict(config.coherence), human=config.human, collection=measuring.digest(rows)
        )
    for way in config.ways:
        if way.judge in config.people:
            found[way.name] = _people(way.judge, "ratings", inputs)
            continue
        examples = inputs.examples if way.examples else ()
        found[way.name] = judging.RateStoryline(
            **_rater(config, way.by, way.judge, caption),
            anchors=config.voting.anchors,
            rated=", ".join(f"{one.id}: {rating}" for one, rating in examples),
            examples=examples,
        )
    if steps and config.people:
        found["transitions"] = _people(config.people[0], "steps", inputs)
    elif steps:
        found["transitions"] = judging.RateSteps(
            **_rater(config, config.steps_by, config.judges[0], caption)
        )
    if caption is not None:
        found["caption"] = caption
    return found


def _people(judge: str, what: What, inputs: Inputs) -> PeopleVotes:
    return PeopleVotes.read(judge.removeprefix(PEOPLE), what, inputs.storylines)


def n_seen(config: NarrateConfig, n: int) -> int:
    """How many of n storylines are rated by sight."""
    if "sight" in config.parts:
        return n
    return len(choose(np.zeros((n, 1)), config.hybrid.share, config.hybrid.rule))


def _captioner(config: NarrateConfig, inputs: Inputs) -> judging.CaptionFrame:
    options = asdict(config.captions)
    return judging.CaptionFrame(
        **options | {"judge": config.captions.judge or config.models[0]},
        context=config.voting.context,
        max_side=config.max_side,
        all_given=all(frame.caption for frame in inputs.shown),
    )


def _rater(
    config: NarrateConfig, by: Method, judge: str, caption: judging.CaptionFrame | None
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


@dataclass
class StageFindings:
    """Outcomes of a run over narratives; filled stage by stage.

    Attributes:
        inputs: What it works on.
        ways: Names of the ways of rating.
        n_judges: Judges that vote.
        outcomes: Per stage, the outcome per position of a storyline, or of a picture.
        seen: Positions that hybrid judging looks at.
        spent: What each stage took.
        judges: Identity of the judge of each stage.
        pictures: The collection that was measured in; None if nothing was measured.
    """

    inputs: Inputs
    ways: tuple[str, ...]
    n_judges: int
    outcomes: dict[str, Mapping[int, Outcome]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    spent: dict[str, Stage] = field(default_factory=dict)
    judges: dict[str, str] = field(default_factory=dict)
    pictures: measuring.EmbeddedPictures | None = None

    def captions(self) -> dict[str, str | ItemFailure]:
        """Caption per frame id, or why it has none."""
        shown = self.inputs.shown
        return {shown[at].id: judging.caption_of(one) for at, one in self._of("caption").items()}

    def votes(self) -> dict[str, dict[int, list[judging.Vote]]]:
        """Per way of rating the votes per position of a storyline."""
        return {
            method: {
                at: judging.votes_of(one, 1, self.n_judges)[0]
                for at, one in self._of(method).items()
            }
            for method in self.ways
            if method in self.outcomes
        }

    def table(self, method: str) -> list[list[float]]:
        """(n, K) votes of a method; NaN if there is none."""
        found = self.votes()[method]
        nobody = [float("nan")] * self.n_judges
        return [
            [nobody[0] if vote.value is None else float(vote.value) for vote in found[at]]
            if at in found
            else nobody
            for at in range(len(self.inputs.storylines))
        ]

    def steps(self) -> dict[int, list[list[judging.Vote]]]:
        """Votes per step, per position of a storyline."""
        storylines = self.inputs.storylines
        return {
            at: judging.votes_of(one, len(storylines[at].frames) - 1, self.n_judges)
            for at, one in self._of("transitions").items()
        }

    def coherence(self) -> dict[int, Coherence | ItemFailure]:
        """Coherence per position of a storyline, or why it has none."""
        return {at: measuring.coherence_in(one) for at, one in self._of("coherence").items()}

    def nearest(self) -> dict[int, NearestNarrative]:
        """The nearest human storyline per position, if there is one."""
        place = {storyline.id: at for at, storyline in enumerate(self.inputs.storylines)}
        found = ((at, measuring.nearest_in(one)) for at, one in self._of("coherence").items())
        return {
            at: NearestNarrative(place[near[0]], near[1].cost, near[1].normalised, near[1].path)
            for at, near in found
            if near is not None
        }

    def _of(self, stage: str) -> Mapping[int, Outcome]:
        return self.outcomes.get(stage, {})
