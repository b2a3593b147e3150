"""A model's text and people's texts about one picture, and how pairs are grouped into rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeAlias, cast

from beholder import stats
from beholder.base.grouping import group_by_key
from beholder.records import Estimate
from beholder.tables import (
    Cells,
    Column,
    Kind,
    Table,
    heading,
    record_cells,
    record_columns,
)

Direction: TypeAlias = Literal["har", "mar"]
"""``har``: the model's text against people's; ``mar``: people's text against the model's."""

DIRECTIONS: tuple[Direction, ...] = ("har", "mar")

Scores: TypeAlias = Sequence[tuple[str, float]]
"""Numbers, each with the picture it is about."""

_COLUMNS = {
    "direction": Column("direction", "Direction", "direction"),
    "value": Column("value", "Value", "measure"),
    "by": Column("by", "By", "text"),
    "measure": Column("measure", "Measure", "text"),
    "dataset": Column("dataset", "Data set", "text"),
    "language": Column("language", "Language", "text"),
    "category": Column("category", "Category", "text"),
    "system": Column("system", "System", "text"),
    "from": Column("from", "From", "text"),
    "to": Column("to", "To", "text"),
    "best": Column("best", "Best", "text"),
}
"""The columns that name a group, in their order."""


def interval_heading(
    text: str, kind: Kind = "number", scale: tuple[float, float] | None = None
) -> Column:
    """Return the column of a value with its interval; see ``heading``."""
    return heading(text, kind, interval=True, scale=scale)


Mean: TypeAlias = Estimate | None
Category: TypeAlias = Annotated[str, heading("Category", "text")]
Texts: TypeAlias = Annotated[int, heading("Texts", "count")]
Pictures: TypeAlias = Annotated[int, heading("Pictures", "count")]
PairedP: TypeAlias = Annotated[float | None, heading("p, paired", "p")]
HolmP: TypeAlias = Annotated[float | None, heading("p (Holm)", "p")]
"""Filled in by ``holm`` when all tests of the family are made."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A unit of a text.

    Attributes:
        text: The unit in words.
        subject: Identifier of what it is about (``dog_0``), or an empty text.
        relevant: Whether it states something visible.
        verified: Whether picture or other text supports it; None if the judge was not asked.
        matches: Indices of the units of the other side that say the same, judged from this side.
        voice: For people's units, the index of their text in ``TextPair.references``.
    """

    text: str
    subject: str = ""
    relevant: bool = True
    verified: bool | None = None
    matches: tuple[int, ...] = ()
    voice: int = 0


@dataclass(frozen=True, slots=True)
class TextPair:
    """One item of a run.

    Attributes:
        id: Its id.
        image: Key of the picture.
        system: Author of the candidate.
        candidate: The model's text.
        references: The people's texts.
        dataset: Its data set; empty if the run names none.
        language: Its language, likewise.
        category: Category of the picture, likewise.
        values: Scores such as ``har_f1``; empty if the item failed.
        model_facts: Units of the candidate.
        human_facts: Units of the references.
        model_ratings: People's ratings of the candidate.
        human_ratings: People's ratings of the reference.
        model_raters: Names of the raters of the candidate, in the same order; empty if unknown.
        human_raters: Names of the raters of the reference, likewise.
        other_scores: Scores of other metrics per direction, by name.
        chosen: Per direction, the index of the reference that its values are about; without an
            entry they are about each reference.
        failure: Why there are no values.
        set_aside: Scores that are not compared, since a text of another system about this picture
            could not be scored.
    """

    id: str
    image: str
    system: str
    candidate: str = ""
    references: tuple[str, ...] = ()
    dataset: str = ""
    language: str = ""
    category: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    model_facts: tuple[Fact, ...] = ()
    human_facts: tuple[Fact, ...] = ()
    model_ratings: tuple[float, ...] = ()
    human_ratings: tuple[float, ...] = ()
    model_raters: tuple[str, ...] = ()
    human_raters: tuple[str, ...] = ()
    other_scores: Mapping[Direction, Mapping[str, float]] = field(
        default_factory=dict
    )
    chosen: Mapping[Direction, int] = field(default_factory=dict)
    failure: str | None = None
    set_aside: Mapping[str, float] = field(default_factory=dict)

    def value(self, direction: Direction, name: str) -> float | None:
        """Return a score such as ``f1`` in one direction, or None."""
        return self.values.get(f"{direction}_{name}")

    def voices(self, direction: Direction) -> tuple[int, ...]:
        """Return the indices of the references that the values of a direction are about."""
        voice = self.chosen.get(direction)
        if voice is not None:
            return (voice,)
        # An item without a reference text still has the units of one reference.
        return tuple(range(max(1, len(self.references))))


Pairs: TypeAlias = Sequence[TextPair]


@dataclass(frozen=True, slots=True)
class PairGroup:
    """Pairs that a row of a table is about.

    Attributes:
        pairs: The pairs.
        place: The cells that name the group: data set, direction, system...
        parent: The group that this one is a part of.
    """

    pairs: Pairs
    place: Cells = field(default_factory=dict)
    parent: PairGroup | None = None

    def part(self, pairs: Pairs, **place: object) -> PairGroup:
        """Return a part of the group, with the further cells that name it."""
        return PairGroup(pairs, {**self.place, **place}, self)

    @property
    def direction(self) -> Direction:
        """Return the direction of the group."""
        return cast("Direction", self.place["direction"])

    @property
    def value(self) -> str:
        """Return the name of the score that the group is about; F1 unless it names another."""
        return str(self.place.get("value", "f1"))

    def scores(self, name: str) -> Scores:
        """Return a score of each pair that has it, in the direction of the group."""
        return scores_of(self.pairs, self.direction, name)


Axis: TypeAlias = Callable[[PairGroup], Iterable[PairGroup]]
"""A function that splits a group into parts."""


def split_by(key: str) -> Axis:
    """Return an axis that splits pairs by one of their fields, in order of appearance."""

    def parts(group: PairGroup) -> Iterator[PairGroup]:
        for name, pairs in group_by_key(
            (getattr(pair, key), pair) for pair in group.pairs
        ).items():
            yield group.part(pairs, **{key: name})

    return parts


systems = split_by("system")


def sets(group: PairGroup) -> Iterator[PairGroup]:
    """Split pairs by data set and language, which are never mixed."""
    for dataset in ordered(pair.dataset for pair in group.pairs):
        for language in ordered(pair.language for pair in group.pairs):
            members = [
                p
                for p in group.pairs
                if (p.dataset, p.language) == (dataset, language)
            ]
            if members:
                yield group.part(members, dataset=dataset, language=language)


def common_images(pairs: Pairs) -> set[str]:
    """Return the pictures of which every system among the pairs has a text, scored or failed."""
    images = [
        {pair.image for pair in part.pairs}
        for part in systems(PairGroup(pairs))
    ]
    return set.intersection(*images) if images else set()


def scored_images(pairs: Pairs) -> set[str]:
    """Return the pictures for which every system with any score has a score."""
    images = [
        {pair.image for pair in part.pairs if pair.values}
        for part in systems(PairGroup(pairs))
    ]
    # A system whose texts all failed would leave no picture to compare the others on.
    return set.intersection(*filter(None, images)) if any(images) else set()


def restrict_to_common(
    pairs: Pairs,
) -> tuple[list[TextPair], tuple[str, ...]]:
    """Keep the pairs whose pictures all systems of their data set and language describe.

    Captions that failed, or that another step moved or dropped, would else leave systems to be
    compared on different pictures; so would texts whose scoring failed, and the scores of other
    systems for their pictures are set aside. A set without a common picture stays as it is.

    Returns:
        The pairs, in their order, and a note for each set that is restricted or not comparable.
    """
    # Two steps per data set and language: pairs of pictures that not all systems describe are
    # dropped; scores of pictures that not all systems have scores for are set aside, while the
    # texts stay, so that failures and lengths are still counted.
    restricted: dict[int, TextPair | None] = {}
    notes = []
    for group in sets(PairGroup(pairs)):
        set_name = " ".join(
            filter(
                None,
                (str(group.place[key]) for key in ("dataset", "language")),
            )
        )
        prefix = f"{set_name}: " if set_name else ""
        # Nothing in common: systems are shown, none is called the best, and the notes say why.
        common = common_images(group.pairs)
        other_pairs = [
            pair for pair in group.pairs if pair.image not in common
        ]
        n_images = len({pair.image for pair in group.pairs})
        if not common:
            notes.append(
                f"{prefix}no picture is described by all systems: their means are of different"
                " pictures, none is marked as the best, and none is tested."
            )
            continue
        if other_pairs:
            restricted |= {id(pair): None for pair in other_pairs}
            notes.append(
                f"{prefix}only the {len(common):,} of {n_images:,} pictures that all systems"
                f" describe; texts left out: {_counts_by_system(other_pairs)}."
            )
        described = [pair for pair in group.pairs if pair.image in common]
        scored = scored_images(described)
        unequal = [
            pair
            for pair in described
            if pair.values and pair.image not in scored
        ]
        if unequal and not scored:
            notes.append(
                f"{prefix}no picture has scores of all systems: their means are of different"
                " pictures, none is marked as the best, and none is tested."
            )
        elif unequal:
            restricted |= {id(pair): _without_scores(pair) for pair in unequal}
            failed = [pair for pair in described if pair.failure is not None]
            notes.append(
                f"{prefix}only the {len(scored):,} of {len(common):,} pictures that have scores of"
                f" all systems; texts that failed: {_counts_by_system(failed)}; scores set aside"
                f" because another system's text failed: {_counts_by_system(unequal)}."
            )
    # Pairs that no step touched stay as they are.
    compared = (restricted.get(id(pair), pair) for pair in pairs)
    return [pair for pair in compared if pair is not None], tuple(notes)


def _counts_by_system(pairs: Pairs) -> str:
    counts = Counter(pair.system for pair in pairs)
    return ", ".join(f"{system} {n:,}" for system, n in sorted(counts.items()))


def _without_scores(pair: TextPair) -> TextPair:
    return replace(
        pair,
        values={},
        model_facts=(),
        human_facts=(),
        chosen={},
        set_aside=pair.values,
    )


def repeat_for(key: str, names: Iterable[str]) -> Axis:
    """Return an axis that repeats the same pairs for each of the names of a value."""
    return lambda group: [
        group.part(group.pairs, **{key: name}) for name in names
    ]


directions = repeat_for("direction", DIRECTIONS)


def pair_table(
    name: str,
    title: str,
    record_type: type,
    pairs: Pairs,
    axes: Sequence[Axis],
    records: Callable[[PairGroup], Iterable[object]],
    notes: Iterable[str] = (),
    *,
    family: Sequence[Axis] = (),
    finish: Callable[[list[Cells]], list[Cells]] = list,
) -> Table:
    """Return a table of pairs that are split into groups; its first columns name the groups.

    Args:
        name: Name of its file.
        title: Its heading.
        record_type: The type of its records.
        pairs: All pairs.
        axes: Splits into groups, the outermost split first.
        records: The rows of a group, without the cells that name it; any number of them.
        notes: Sentences that one must know to read it.
        family: Split of each group into the parts whose rows are one family of tests.
        finish: Function that completes the rows of a family, such as ``holm("p")``.
    """
    # Families are completed one by one: Holm's correction must not reach across them.
    rows: list[Cells] = []
    for group in split(PairGroup(pairs), axes):
        parts = split(group, family)
        rows += finish(
            [
                {**part.place, **record_cells(record)}
                for part in parts
                for record in records(part)
            ]
        )
    # A record type that has a column of a group itself decides on its place and heading.
    own_keys = {column.key for column in record_columns(record_type)}
    group_columns = [
        column
        for key, column in _COLUMNS.items()
        if rows and key in rows[0] and key not in own_keys
    ]
    return Table.from_records(
        name, title, record_type, rows, notes, before=group_columns
    )


def split(group: PairGroup, axes: Sequence[Axis]) -> list[PairGroup]:
    """Return the parts of a group, split along several axes, the outermost first."""
    groups = [group]
    for axis in axes:
        groups = [part for parent in groups for part in axis(parent)]
    return groups


def holm(*keys: str) -> Callable[[list[Cells]], list[Cells]]:
    """Return a function that adds ``KEY_holm`` to a family of tests for each p value ``KEY``."""

    def correct(rows: list[Cells]) -> list[Cells]:
        for key in keys:
            # A test that could not be made has None, which does not count in the family.
            p_values = [as_float(row[key]) for row in rows]
            for row, p in zip(rows, stats.holm(p_values), strict=True):
                row[f"{key}_holm"] = p
        return rows

    return correct


def as_float(cell: object) -> float | None:
    """Return the number in a cell of a table, or None if it has none."""
    return cell if isinstance(cell, float) else None


def count_pictures(scores: Scores) -> int:
    """Return the number of different pictures."""
    return len({image for image, _ in scores})


def mean_of(scores: Scores) -> Estimate | None:
    """Return the mean with an interval that resamples pictures; None without scores."""
    if not scores:
        return None
    images = [image for image, _ in scores]
    return stats.mean_interval([value for _, value in scores], clusters=images)


def mean_over_pictures(values: Sequence[float]) -> Estimate | None:
    """Return the mean of a value per picture with its interval; None without values."""
    return stats.mean_interval(values) if values else None


def scores_of(pairs: Pairs, direction: Direction, name: str) -> Scores:
    """Return a score of each pair that has it, with its picture."""
    scores = []
    for pair in pairs:
        value = pair.value(direction, name)
        if value is not None:
            scores.append((pair.image, value))
    return scores


def ordered(values: Iterable[str]) -> list[str]:
    """Return the different values in order of appearance."""
    return list(dict.fromkeys(values))
