"""Shares of made-up and omitted units, lengths, and changes between data sets and languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated

from msgspec import Struct

from beholder import stats
from beholder.base.grouping import group_by_key
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    Fact,
    HolmP,
    Mean,
    PairedP,
    PairGroup,
    Pairs,
    Pictures,
    TextPair,
    Texts,
    as_float,
    count_pictures,
    directions,
    holm,
    interval_heading,
    mean_of,
    mean_over_pictures,
    ordered,
    pair_table,
    repeat_for,
    scores_of,
    sets,
    split_by,
    systems,
)
from beholder.stats.bootstrap import PairedDifference
from beholder.stats.ranks import round_values
from beholder.tables import Cells, Table, heading
from beholder.text import n_spoken


class RateRow(Struct, frozen=True):
    """Shares of units that are made up, and that are left out."""

    n: Texts
    n_images: Pictures
    hallucination: Annotated[
        Mean,
        interval_heading("Hallucination", "percent", (0.0, 1.0)),
    ]
    hallucination_pooled: Annotated[
        Mean, interval_heading("pooled", "percent")
    ]
    n_units: Annotated[int, heading("Units", "count")]
    omission: Annotated[
        Mean,
        interval_heading("Omission", "percent", (0.0, 1.0)),
    ]
    omission_pooled: Annotated[Mean, interval_heading("pooled", "percent")]
    n_reference_units: Annotated[int, heading("Reference units", "count")]


_RATE_NOTES = (
    "Hallucination: share of the units under test that neither picture nor reference text supports."
    " Omission: share of the reference units that no unit under test matches, verified or not; it"
    " is not 1 − recall, which also credits what the text adds.",
    "Rates are means over texts; pooled ones count every unit once for each text it is compared"
    " with. Intervals resample pictures.",
)


def rate_table(pairs: Pairs, note: str) -> Table:
    """Return hallucination and omission per direction, system and data set."""
    return pair_table(
        "rates",
        "Hallucination and omission",
        RateRow,
        pairs,
        (sets, directions, systems),
        _rates,
        [note, *_RATE_NOTES, "In MAR the text under test is the human one."],
    )


def category_rate_table(pairs: Pairs, categories: Sequence[str]) -> Table:
    """Return hallucination and omission per category: each system, and all together."""
    axes = (
        sets,
        directions,
        repeat_for("category", categories),
        _all_and_each_system,
    )
    return pair_table(
        "category_rates",
        "Hallucination and omission by category",
        RateRow,
        pairs,
        axes,
        _rates,
        _RATE_NOTES,
    )


def _all_and_each_system(group: PairGroup) -> Iterator[PairGroup]:
    """Yield the pairs of a category: of all systems, if there are several, then of each."""
    in_category = [
        pair
        for pair in group.pairs
        if pair.category == group.place["category"]
    ]
    parts = list(systems(group.part(in_category)))
    # With one system "all" would repeat its row.
    if len(parts) > 1:
        yield group.part(in_category, system="all")
    yield from parts


def _rates(group: PairGroup) -> Iterator[RateRow]:
    made_up, left_out = (
        group.scores("hallucination_rate"),
        group.scores("omission_rate"),
    )
    tested: list[tuple[str, float]] = []
    references: list[tuple[str, float]] = []
    # Pooled rates count every unit once for each text it is compared with.
    for pair in group.pairs if made_up else ():
        for units, targets in (
            _units_under_test(pair, group.direction) if pair.values else ()
        ):
            checked = [unit for unit in units if unit.verified is not None]
            tested += [
                (pair.image, float(not unit.verified)) for unit in checked
            ]
            # A reference unit that any unit under test matches is mentioned, verified or not.
            covered = {match for unit in units for match in unit.matches}
            references += [
                (pair.image, float(place not in covered)) for place in targets
            ]
    yield RateRow(
        n=len(made_up),
        n_images=count_pictures(made_up),
        hallucination=mean_of(made_up),
        hallucination_pooled=mean_of(tested),
        n_units=len(tested),
        omission=mean_of(left_out),
        omission_pooled=mean_of(references),
        n_reference_units=len(references),
    )


def _units_under_test(
    pair: TextPair, direction: Direction
) -> Iterator[tuple[Sequence[Fact], Sequence[int]]]:
    """Yield, per reference, the units under test and the indices of those they are compared with.

    Only references that the values of the direction are about.
    """
    for voice in pair.voices(direction):
        human = [
            place
            for place, fact in enumerate(pair.human_facts)
            if fact.voice == voice
        ]
        if direction == "har":
            yield pair.model_facts, human
        else:
            yield (
                [pair.human_facts[place] for place in human],
                range(len(pair.model_facts)),
            )


class LengthRow(Struct, frozen=True):
    """Words and units of the texts of one author."""

    who: Annotated[str, heading("Text by", "text")]
    n: Texts
    words: Annotated[Mean, interval_heading("Words", "tenths")]
    units: Annotated[Mean, interval_heading("Units", "tenths")]


def length_table(pairs: Pairs, note: str) -> Table:
    """Return words and units per text, of people and of each system."""
    words = (
        "Words are counted between blanks, marks of speech (<noise>) left out; texts without any"
        " unit are left out of units."
    )
    return pair_table(
        "lengths",
        "Length of the texts",
        LengthRow,
        pairs,
        (sets,),
        _lengths,
        [note, words],
    )


def _lengths(group: PairGroup) -> Iterator[LengthRow]:
    human: dict[tuple[str, str], int] = {}
    for pair in group.pairs:
        for voice, text in enumerate(pair.references):
            units = sum(fact.voice == voice for fact in pair.human_facts)
            # The same text can be in the items of several systems: the units of one are enough.
            human[pair.image, text] = max(
                units, human.get((pair.image, text), 0)
            )
    texts = [
        ("people", [(image, text, n) for (image, text), n in human.items()])
    ]
    for part in systems(group):
        system_texts = [
            (p.image, p.candidate, len(p.model_facts))
            for p in part.pairs
            if p.candidate
        ]
        texts.append((str(part.place["system"]), system_texts))
    for author, author_texts in texts:
        yield LengthRow(
            who=author,
            n=len(author_texts),
            words=mean_of(
                [(image, n_spoken(text)) for image, text, _ in author_texts]
            ),
            units=mean_of([(image, n) for image, _, n in author_texts if n]),
        )


CHANGING = ("f1", "hallucination_rate", "omission_rate")


class ChangeRow(Struct, frozen=True, kw_only=True):
    """A mean over the pictures that are described twice, before and after."""

    n: Pictures
    before: Annotated[Mean, interval_heading("Before")]
    after: Annotated[Mean, interval_heading("After")]
    change: Annotated[PairedDifference, interval_heading("Change", "signed")]
    p: PairedP
    p_holm: HolmP = None


class LanguageChangeRow(ChangeRow, frozen=True, kw_only=True):
    """Mean F1 before and after, with the rank of the system in both languages."""

    before: Annotated[Mean, interval_heading("F1 before")]
    after: Annotated[Mean, interval_heading("F1 after")]
    rank_before: Annotated[int, heading("Rank before", "count")]
    rank_after: Annotated[int, heading("Rank after", "count")]


def dataset_table(pairs: Pairs) -> Table:
    """Return F1 and rates of each system in two data sets of the same pictures.

    For example, captions as models write them and captions as long as people's.
    """

    def between(group: PairGroup) -> Iterator[PairGroup]:
        for first, second in combinations(
            ordered(pair.dataset for pair in group.pairs), 2
        ):
            yield group.part(group.pairs, **{"from": first, "to": second})

    note = (
        "A picture counts for a system when it has the value in both data sets; several texts about"
        " it are averaged. Change is the mean of the differences, with a sign-flip test; Holm"
        " corrects over the systems of a direction and value."
    )
    return pair_table(
        "datasets",
        "Change between data sets of the same pictures",
        ChangeRow,
        pairs,
        (
            split_by("language"),
            between,
            directions,
            repeat_for("value", CHANGING),
        ),
        _change("dataset"),
        [note],
        family=(systems,),
        finish=holm("p"),
    )


def language_table(pairs: Pairs, note: str) -> Table:
    """Return mean F1 in the first language and in each other one, over pictures with both."""
    # The first language of the data is the one that all others are compared with.
    first, *other_languages = ordered(pair.language for pair in pairs)

    def between(group: PairGroup) -> Iterator[PairGroup]:
        for language in other_languages:
            yield group.part(group.pairs, **{"from": first, "to": language})

    averaged = (
        "A picture counts for a system when it has F1 in both languages; several texts about it are"
        " averaged. Change is the mean of the differences, with a sign-flip test."
    )
    table = pair_table(
        "languages",
        "Change between languages",
        LanguageChangeRow,
        pairs,
        (split_by("dataset"), between, directions),
        _change("language"),
        [note, averaged],
        family=(systems,),
        finish=lambda family: holm("p")(_add_ranks(family)),
    )
    return table.with_rows(table.rows, _order_notes(table.rows))


def _change(key: str) -> Callable[[PairGroup], Iterator[ChangeRow]]:
    """Return a function that yields means before and after, and the change, over common pictures.

    Args:
        key: Field of pairs whose value changes between the places ``from`` and ``to``.
    """

    def means(group: PairGroup, when: str) -> dict[str, float]:
        pairs = [
            pair
            for pair in group.pairs
            if getattr(pair, key) == group.place[when]
        ]
        # Several texts about a picture count once, as their mean.
        values = group_by_key(scores_of(pairs, group.direction, group.value))
        return {
            image: sum(numbers) / len(numbers)
            for image, numbers in values.items()
        }

    def changes(group: PairGroup) -> Iterator[ChangeRow]:
        first, second = means(group, "from"), means(group, "to")
        images = [image for image in first if image in second]
        # A system without a common picture has no row.
        if images:
            before, after = (
                [mean[image] for image in images] for mean in (first, second)
            )
            change = stats.paired_difference(after, before)
            yield ChangeRow(
                n=len(images),
                before=mean_over_pictures(before),
                after=mean_over_pictures(after),
                change=change,
                p=change.p_value,
            )

    return changes


def _add_ranks(rows: list[Cells]) -> list[Cells]:
    """Add the rank of each system to its row, 1 the best; equal means share a rank."""
    for key in ("before", "after"):
        # Sums of floats differ in the last digits with the order of items: rounded values tie.
        values = [as_float(row[key]) or 0.0 for row in rows]
        means = round_values(values).tolist()
        for row, own_mean in zip(rows, means, strict=True):
            row[f"rank_{key}"] = 1 + sum(mean > own_mean for mean in means)
    return rows


def _order_notes(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    # A note in words: readers look for a change of ranks first.
    for direction in DIRECTIONS:
        direction_rows = [row for row in rows if row["direction"] == direction]
        moved = [
            str(row["system"])
            for row in direction_rows
            if row["rank_before"] != row["rank_after"]
        ]
        if direction_rows:
            order = "stays"
            if moved:
                order = f"changes place for {', '.join(dict.fromkeys(moved))}"
            yield f"{direction.upper()}: the order of systems {order}."
