"""How storylines are extracted and rated: the options of runs and commands, without the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from beholder.errors import ConfigError

JSD: TypeAlias = Literal["divergence", "distance"]
Scale: TypeAlias = Literal["raw", "minmax"]
Base: TypeAlias = float | Literal["e"]
Rule: TypeAlias = Literal["uncertain", "top"]
Method: TypeAlias = Literal["captions", "sight"]
ExtractionMethod: TypeAlias = Literal["maxmin", "maps", "trails", "random"]
METHODS: tuple[ExtractionMethod, ...] = get_args(ExtractionMethod)

PEOPLE = "people:"
"""What a judge is called that is people: ``people:FILE``."""

LEAST_SIDE = 16
"""Pixels of the longer side from which a picture shows anything."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """How storylines are extracted.

    Attributes:
        method: How a path is found.
        replications: Extractions per task; each but the first takes another order of the pictures
            whose dates leave it open, and random ones draw again.
        alternatives: Storylines that differ from each other (maxmin).
        min_difference: Share of inner pictures in which alternatives must differ.
        window: Longest step in positions (maxmin, maps).
        days: Longest step in days (maxmin).
        cover: Topics to visit at least (maxmin); needs ``topics``.
        near_duplicate: Cosine from which two pictures are near duplicates, and a step between them
            is penalised (maxmin).
        topics: Topics that enter theta: labels:NAME, clusters or clusters:umap.
        jsd: Topic term of theta.
        base: Base of its logarithm, or e.
        scale: Scale of theta: ``minmax`` is over the collection.
        spread_dates: Give undated pictures a date from similar dated ones.
        seed: Of orders that dates leave open, and of draws.

    Raises:
        ConfigError: An option is wrong, or the method does not know it.
    """

    method: ExtractionMethod = "maxmin"
    replications: int = 1
    alternatives: int = 1
    min_difference: float = 0.5
    window: int | None = None
    days: int | None = None
    cover: int = 0
    near_duplicate: float | None = None
    topics: str | None = None
    jsd: JSD = "divergence"
    base: Base = 2.0
    scale: Scale = "raw"
    spread_dates: bool = False
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(f"method {self.method!r}: expected one of {', '.join(METHODS)}")
        if self.replications < 1:
            raise ConfigError(f"replications={self.replications}: expected at least 1")
        only_maxmin = {
            "alternatives": self.alternatives > 1,
            "days": self.days is not None,
            "cover": self.cover > 0,
            "near_duplicate": self.near_duplicate is not None,
        }
        wrong = [name for name, given in only_maxmin.items() if given]
        if self.method != "maxmin" and wrong:
            raise ConfigError(f"{wrong[0]} is an option of maxmin; {self.method} does not know it")
        if self.method in ("trails", "random") and self.window is not None:
            raise ConfigError(f"window is an option of maxmin and maps; {self.method} has none")


@dataclass(frozen=True, slots=True)
class Voting:
    """How storylines are rated.

    Attributes:
        judges: Independent judges (replicates of one model, each with its own seed).
        temperature: Sampling temperature; at 0 all judges of one model say the same.
        context: What the collection is, in the user's own words.
        anchors: Whether judges see worked examples of low and high ratings, made up for all.
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
            if rating not in range(1, 11):
                raise ConfigError(f"example {name}={rating}: expected a whole number from 1 to 10")
        if self.judges < 1:
            raise ConfigError(f"judges={self.judges}: expected at least 1")
        if self.judges > 1 and self.temperature == 0.0:
            raise ConfigError(
                f"judges={self.judges} at temperature 0 would repeat one answer and look like"
                " agreement; use a temperature above 0, or one judge"
            )
