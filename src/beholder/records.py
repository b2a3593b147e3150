"""The frozen records that flow through a run: what is judged, and what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from beholder.base.dates import PartialDate
from beholder.base.optional import load_object
from beholder.options import check_text_lists

Span: TypeAlias = tuple[int, int]
"""Half-open character range in the *original* text."""

Side: TypeAlias = Literal["candidate", "reference"]


ROW_FIELDS = ("context", "criteria", "objects", "questions")
"""Fields of a row, kept in ``Item.meta``, that metrics read."""


@dataclass(frozen=True, slots=True)
class Item:
    """One source with the text under evaluation and its references.

    A text where a field takes several texts raises a ``ConfigError``.

    Attributes:
        id: Unique in a data set.
        candidate: The text under evaluation.
        references: Trusted texts for the same source; may be empty.
        images: Image files of the source, as paths; opened only by a metric that needs them.
        video: Video file of the source, or None.
        group: Columns to break results down by, such as ``{"system": "model-a"}``.
        judgments: Human labels by name.
        meta: Every other field of the row, kept as it was.
        id_is_row_number: Whether the row has no id, so that the number of the row is its id. Two
            data sets have such ids in common without describing the same things.
    """

    id: str
    candidate: str
    references: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    video: str | None = None
    group: Mapping[str, str] = field(default_factory=dict)
    judgments: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    id_is_row_number: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_text_lists(self)

    @property
    def source(self) -> tuple[str, ...]:
        """The thing that the candidate describes: its images, else its video, else its references.

        Items of one source are not independent: intervals resample sources.
        """
        # An item with none of them is a source of its own.
        return (
            self.images
            or ((self.video,) if self.video else self.references)
            or (self.id,)
        )

    @property
    def language(self) -> str:
        """Language of the texts; empty if none is stated.

        Rows that are read have it in ``group``, as a code. An item that is made in Python may have
        it in ``meta``, as a code or name.
        """
        # Python callers may put anything into ``meta``, such as None.
        return self.group.get("language") or str(
            self.meta.get("language") or ""
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a collection or of a storyline.

    Attributes:
        id: Unique in its collection.
        image: Its file as it was written, relative to the collection's folder; None when only its
            caption or vector is known.
        caption: Description of the visible content.
        date: When it was taken, as far as that is known.
        place: Place where it was taken.
        labels: Further facts by name, such as ``{"category": "excavation"}``.
    """

    id: str
    image: str | None = None
    caption: str | None = None
    date: PartialDate | None = None
    place: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Storyline:
    """Pictures in narrative order: a visual narrative.

    Attributes:
        id: Unique in a data set.
        frames: The pictures in order.
        source: Maker: ``human``, ``maxmin``, ``maps``, ``random``, ...
        group: Columns to break results down by.
    """

    id: str
    frames: tuple[Frame, ...]
    source: str = "given"
    group: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_text_lists(self)


@dataclass(frozen=True, slots=True)
class Reviews:
    """Several texts about one image, with the order in which people rank them.

    Attributes:
        id: Unique in a data set, together with the language.
        texts: The texts, two or more.
        ranks: Per annotator the rank of each text, 1 = best; None if none was given.
        image: The image file as it was written; None where only ranks and texts are known.
        language: Language of the texts, such as ``en``; empty if not known.
        category: Kind of image; empty if not known.
        prompt_ranks: The order in which kinds of text were asked for when they were made, or None.
        references: Trusted texts about the image; may be empty.
    """

    id: str
    texts: tuple[str, ...]
    ranks: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    image: str | None = None
    language: str = ""
    category: str = ""
    prompt_ranks: tuple[float | None, ...] | None = None
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_text_lists(self)

    @property
    def full_id(self) -> str:
        """Its id with the language in brackets: unique in a data set."""
        return f"{self.id} ({self.language})" if self.language else self.id

    @property
    def source(self) -> str:
        """The image of the texts: sets in several languages may be about one image."""
        return self.image or self.id


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest part that is scored, tied to its place in the original text.

    Attributes:
        kind: ``chunk``, ``entity``, ``attribute``, ``relation`` or ``statement``.
        text: The part as words.
        side: Text that contains it.
        spans: Character ranges in that text.
        score: Its granular score, or None when it has none.
        verdict: One word for people, such as ``match``, ``contradicted`` or ``omission``.
        reference_index: Index of its reference, for units of the reference side.
        detail: Further results of the metric for it; JSON values only.
    """

    kind: str
    text: str
    side: Side
    spans: tuple[Span, ...]
    score: float | None = None
    verdict: str | None = None
    reference_index: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemScore:
    """A metric's result for one item.

    Attributes:
        values: Scores by name; every value is finite.
        units: The granular findings.
        signature: Signature of the numbers.
        detail: Evidence worth drawing (a similarity matrix, a graph); JSON values and arrays.
        unfinished: Whether a part is missing for now (one vote of several), so that the next
            start of the run asks again.
        item: Scored item, so that a score can be shown; None if it was read from a run.
    """

    values: Mapping[str, float]
    units: tuple[Unit, ...] = ()
    signature: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    unfinished: bool = False
    item: Item | None = field(default=None, compare=False, repr=False)

    def _repr_html_(self) -> str:
        # Drawing lies above the records, so it is loaded by name when a notebook shows a score.
        html: str = load_object("beholder.report:to_html")(self)
        return html


@dataclass(frozen=True, slots=True)
class ItemFailure:
    """Why an item has no score.

    Attributes:
        error: Name of the error class.
        message: The reason, for people.
        transient: Whether the next start of the run should try again.
        detail: Partial results; JSON values.
    """

    error: str
    message: str
    transient: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Attributes:
        low: Lower end.
        high: Upper end.
        level: Confidence level, 0.95 unless asked otherwise.
    """

    low: float
    high: float
    level: float = 0.95


def interval_ends(interval: Interval | None) -> tuple[float, float] | None:
    """Lower and upper end of an interval, as results store them."""
    return None if interval is None else (interval.low, interval.high)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over items with its interval, or a value of the whole set (a corpus score) with one.

    Attributes:
        mean: The mean, or the value.
        interval: Its confidence interval; None when too few sources were scored.
        n: Number of items that it is computed over.
        reason: Why there is no interval; None if there is one.
    """

    mean: float
    interval: Interval | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A metric over a whole data set.

    Attributes:
        metric: Canonical name of the metric.
        values: Mean with interval per value; empty when nothing was scored.
        n_scored: Items with a score.
        n_failed: Items with a reason instead of a score.
        signature: Signature of the numbers; several, joined by `` ; ``, if it changed on the way.
        failures: Count of failures per reason.
        cautions: Problems of the values for the data at hand, a sentence each.
    """

    metric: str
    values: Mapping[str, Estimate]
    n_scored: int
    n_failed: int
    signature: str
    failures: Mapping[str, int] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_text_lists(self)

    def numbers(self, mark: str) -> dict[str, float]:
        """Each mean under the name of its value, its interval behind a mark and low or high."""
        # Flat names, as columns of a table and tags of experiment trackers need them.
        number_by_name: dict[str, float] = {}
        for name, estimate in self.values.items():
            number_by_name[name] = estimate.mean
            if estimate.interval is not None:
                number_by_name[f"{name}{mark}low"] = estimate.interval.low
                number_by_name[f"{name}{mark}high"] = estimate.interval.high
        return number_by_name
