"""The configuration of a run over narratives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.options import DataOptions, JudgeOptions, WorkOptions

JSD: TypeAlias = Literal["divergence", "distance"]
Scale: TypeAlias = Literal["raw", "minmax"]
Base: TypeAlias = float | Literal["e"]
Rule: TypeAlias = Literal["uncertain", "top"]
Method: TypeAlias = Literal["captions", "sight"]
ExtractionMethod: TypeAlias = Literal["maxmin", "maps", "trails", "random"]
METHODS: tuple[ExtractionMethod, ...] = get_args(ExtractionMethod)

PEOPLE = "people:"
"""Prefix of judges that are people: ``people:FILE``."""

LEAST_SIDE = 16
"""Pixels of the longer side from which a picture shows anything."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """Options of the extraction of storylines.

    Attributes:
        method: Search method.
        replications: Extractions per task, with new random draws and new orders of pictures with
            equal dates.
        window: Maximum step in positions (maxmin, maps).
        days: Maximum step in days (maxmin).
        cover: Minimum number of topics in a storyline (maxmin); needs ``topics``.
        topics: Topics for coherence: labels:NAME, clusters or clusters:umap.
        jsd: Topic term of coherence: Jensen-Shannon divergence or distance.
        base: Base of the topic term's logarithm, or e.
        scale: Scale of coherence: ``raw``, or ``minmax`` over the collection.
        spread_dates: Give undated pictures the dates of similar pictures.
        seed: Random seed.

    Raises:
        ConfigError: An option is wrong, or the method does not know it.
    """

    method: ExtractionMethod = "maxmin"
    replications: int = 1
    window: int | None = None
    days: int | None = None
    cover: int = 0
    topics: str | None = None
    jsd: JSD = "divergence"
    base: Base = 2.0
    scale: Scale = "raw"
    spread_dates: bool = False
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(
                f"method {self.method!r}: expected one of {', '.join(METHODS)}"
            )
        check_number("replications", self.replications, 1, whole=True)
        # An option that a method ignores would look as if it had been used.
        only_maxmin = {
            "days": self.days is not None,
            "cover": self.cover > 0,
        }
        wrong_options = [
            name for name, is_set in only_maxmin.items() if is_set
        ]
        if self.method != "maxmin" and wrong_options:
            raise ConfigError(
                f"{wrong_options[0]} is an option of maxmin, got method {self.method!r}"
            )
        if self.method in ("trails", "random") and self.window is not None:
            raise ConfigError(
                f"window is an option of maxmin and maps, got method {self.method!r}"
            )


@dataclass(frozen=True, slots=True)
class Voting:
    """Options of rating storylines.

    Attributes:
        judges: Independent ratings per judge, each with its own seed.
        temperature: Sampling temperature; at 0 all ratings of a judge are the same.
        context: Description of the collection, in your own words.
        anchors: Show judges made-up examples of low and high ratings.
        examples: Ratings of storylines of the study, by id, which judges see as examples. They are
            left out of the study, and all others are rated with and without them.

    Raises:
        ConfigError: A number is out of its range.
    """

    judges: int = 3
    temperature: float = 0.7
    context: str = ""
    anchors: bool = False
    examples: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, rating in self.examples.items():
            check_number(f"example {name}", rating, 1, 10, whole=True)
        check_number("judges", self.judges, 1, whole=True)
        # Greedy decoding ignores the seed.
        if self.judges > 1 and self.temperature == 0.0:
            raise ConfigError(
                f"judges={self.judges} at temperature 0 would repeat one answer and look like"
                " agreement; use a temperature above 0, or one judge"
            )


if TYPE_CHECKING:
    from beholder.run.session import RunContext

Part: TypeAlias = Literal[
    "captions", "sight", "hybrid", "transitions", "coherence"
]
PARTS: tuple[Part, ...] = (
    "captions",
    "sight",
    "hybrid",
    "transitions",
    "coherence",
)

CONCURRENCY = 16
"""Default number of storylines judged at once; each holds all its pictures in memory."""


@dataclass(frozen=True)
class RatingCondition:
    """One way of rating whole storylines.

    Attributes:
        by: View of the judge.
        judge: Spec of the judge.
        examples: Whether it is shown rated storylines of the collection.
        name: Name in tables; the judge is named if there are several.
    """

    by: Method
    judge: str
    examples: bool
    name: str


@dataclass(frozen=True)
class CollectionOptions:
    """The pictures that storylines are made of.

    Attributes:
        source: File or folder of the pictures that storylines name by id; None when they are
            written out. Coherence is scaled over all of it.
        columns: Column of each field whose column has another name.
        year: Year of dates without one.
    """

    source: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    year: int | None = None


@dataclass(frozen=True)
class StorylineEnds:
    """Ends and length of the storylines to extract from a collection.

    Attributes:
        k: Pictures of a storyline; leave it out where ``like`` is given.
        source: Id of the first picture.
        target: Id of the last picture.
        like: File of sequences whose first picture, last picture and length to use.
    """

    k: int | None = None
    source: str | None = None
    target: str | None = None
    like: Path | None = None


@dataclass(frozen=True)
class CaptionOptions:
    """Options of captions for pictures without one.

    Attributes:
        judge: Spec of the judge that writes; None takes the one that rates, of several the first.
        min_words: Minimum words per caption.
        max_words: Maximum words per caption.
        language: Language of captions.
        connections: Let captions also name what may connect a picture to others.
    """

    judge: str | None = None
    min_words: int = 150
    max_words: int = 200
    language: str = "English"
    connections: bool = False


@dataclass(frozen=True)
class HybridOptions:
    """Options of combining ratings by captions and by sight.

    Attributes:
        share: Share of the storylines whose pictures judges see, 0 to 1.
        rule: Storylines with pictures: ``uncertain`` (captions give different ratings) or ``top``.
        weight: Weight of ratings by sight, 0 to 1; by default learned.

    Raises:
        ConfigError: A number is out of its range, or there is no such rule.
    """

    share: float = 0.3
    rule: Rule = "uncertain"
    weight: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("share", self.share), ("weight", self.weight)):
            if value is not None:
                check_number(name, value, 0, 1)
        if self.rule not in ("uncertain", "top"):
            raise ConfigError(
                f"rule={self.rule!r}: expected 'uncertain' or 'top'"
            )


@dataclass(frozen=True)
class CoherenceOptions:
    """Options of measuring coherence.

    Attributes:
        embedder: Embedder of pictures, which coherence needs: npz:FILE, clip:NAME or handcrafted.
        jsd: Topic term of coherence: Jensen-Shannon divergence or distance.
        base: Base of the topic term's logarithm, or e.
        scale: Scale of coherence: ``raw``, or ``minmax`` over the collection.
        topics: Topics for coherence: labels:NAME, clusters or clusters:umap.
    """

    embedder: str | None = None
    jsd: JSD = "divergence"
    base: Base = 2.0
    scale: Scale = "raw"
    topics: str | None = None


@dataclass(frozen=True)
class NarrateConfig:
    """Configuration of a run over narratives: storylines, parts, run directory and options.

    Attributes:
        sequences: File of storylines, or a word for storylines given in Python.
        out: The run directory.
        parts: Parts of the study: rate by captions, by sight, by both (hybrid), rate each step,
            measure coherence.
        judge: Spec of the judge that rates, or of several whose ratings are compared;
            ``people:FILE`` for what annotators said.
        steps_by: View of the steps for judges: ``sight`` or ``captions``.
        max_side: Pixels of the longer side of a picture that is shown.
        human: Name of the human source.
        collection: The pictures.
        voting: Number of judges, their temperature, context, anchors, examples.
        captions: Settings of the captioner.
        hybrid: Combination of both ways of judging.
        coherence: Settings of the measured coherence.
        rows: Selection of storylines; a wrong row of the collection stops a run, too.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget.

    Raises:
        ConfigError: Nothing is to be done, or what it needs was not named.
    """

    sequences: str
    out: Path
    parts: tuple[Part, ...]
    judge: str | tuple[str, ...] | None = None
    steps_by: Method = "sight"
    max_side: int = 512
    human: str = "human"
    collection: CollectionOptions = field(default_factory=CollectionOptions)
    voting: Voting = field(default_factory=Voting)
    captions: CaptionOptions = field(default_factory=CaptionOptions)
    hybrid: HybridOptions = field(default_factory=HybridOptions)
    coherence: CoherenceOptions = field(default_factory=CoherenceOptions)
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown:
            raise ConfigError(
                f"parts {self.parts}: expected some of {', '.join(PARTS)}"
            )
        if not self.parts:
            raise ConfigError(
                "nothing was asked for: name an --embedder (coherence), a --judge (ratings) or both"
            )
        # Found out here, and not after pictures were embedded.
        if self.judged and not self.judges:
            raise ConfigError(
                "no judge was named; give one, such as --judge openai:MODEL"
            )
        self._check_several()
        if "coherence" in self.parts and self.coherence.embedder is None:
            raise ConfigError(
                "coherence needs vectors; name an --embedder: npz:FILE, clip:NAME or handcrafted"
            )
        check_number("max_side", self.max_side, LEAST_SIDE, whole=True)

    def _check_several(self) -> None:
        if len(set(self.judges)) < len(self.judges):
            raise ConfigError(
                f"judges {', '.join(self.judges)}: one is named twice; -K asks one model repeatedly"
            )
        if self.people and "hybrid" in self.parts:
            raise ConfigError(
                f"hybrid judging asks a model; {self.people[0]} is people"
            )
        if self.people and not self.models and "captions" in self.parts:
            raise ConfigError(
                f"{self.people[0]} judged by sight; add --by sight"
            )
        # Both have tables of one judge only; several are compared as separate runs.
        single_judge_parts = [
            part for part in self.parts if part in ("hybrid", "transitions")
        ]
        if len(self.judges) > 1 and single_judge_parts:
            raise ConfigError(
                f"{single_judge_parts[0]} takes one judge, got {len(self.judges)}; give each"
                " judge a run of its own and compare the runs by 'beholder compare RUN RUN'"
            )

    @property
    def judges(self) -> tuple[str, ...]:
        """Return the specs of the judges that rate."""
        if self.judge is None:
            return ()
        return (
            (self.judge,) if isinstance(self.judge, str) else tuple(self.judge)
        )

    @property
    def people(self) -> tuple[str, ...]:
        """Return the judges that are people: ``people:FILE``."""
        return tuple(
            judge for judge in self.judges if judge.startswith(PEOPLE)
        )

    @property
    def models(self) -> tuple[str, ...]:
        """Return the judges that are models."""
        return tuple(
            judge for judge in self.judges if judge not in self.people
        )

    @property
    def ways(self) -> tuple[RatingCondition, ...]:
        """Return the ways of rating whole storylines, with and without examples."""
        is_rated_by: dict[Method, bool] = {
            "captions": self.by_captions,
            "sight": self.by_sight,
        }
        # Ratings with examples are compared with ratings of all storylines without them, so hybrid
        # judging, which sees only some, has none.
        conditions = []
        for by in (by for by, is_asked in is_rated_by.items() if is_asked):
            with_examples = self.voting.examples and by in self.parts
            for examples in (False, True) if with_examples else (False,):
                # People rate pictures, without examples.
                models_only = by == "captions" or examples
                for judge in self.models if models_only else self.judges:
                    # The judge is named only if there are several.
                    name = f"{by} with examples" if examples else by
                    name = (
                        f"{name} [{judge}]" if len(self.judges) > 1 else name
                    )
                    conditions.append(
                        RatingCondition(by, judge, examples, name)
                    )
        return tuple(conditions)

    @property
    def judged(self) -> bool:
        """Return whether any part needs a judge."""
        return any(part != "coherence" for part in self.parts)

    @property
    def by_captions(self) -> bool:
        """Return whether storylines are rated by captions."""
        return bool({"captions", "hybrid"} & set(self.parts))

    @property
    def by_sight(self) -> bool:
        """Return whether storylines, or a share of them, are rated by sight."""
        return bool({"sight", "hybrid"} & set(self.parts))

    @property
    def folder(self) -> Path:
        """Return the folder of image paths: ``rows.media_root``, else that of the pictures."""
        # Help reads the options of this module, so it must load fast.
        from beholder.run.inputs import root_of

        return self.rows.media_root or root_of(
            self.collection.source or self.sequences
        )

    @property
    def means(self) -> RunContext:
        """Return the context of the run: how judges are asked, concurrency, folder of pictures."""
        # See ``folder``.
        from beholder.run.session import RunContext

        work = replace(
            self.work, concurrency=self.work.concurrency or CONCURRENCY
        )
        return RunContext(self.judging, work, self.folder)
