"""Shares of made-up and omitted units, lengths, and how the same pictures fare described twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    CATEGORY,
    COUNTS,
    DIRECTIONS,
    P_VALUES,
    Cells,
    Direction,
    Fact,
    PairGroup,
    TextPair,
    by,
    counted,
    directions,
    each,
    grouped,
    holm,
    mean_cells,
    ordered,
    scores_of,
    sets,
    systems,
)
from beholder.tables import (
    DIRECTION,
    SET_COLUMNS,
    SYSTEM,
    Column,
    Table,
    estimate,
    interval_cells,
)
from beholder.text import n_spoken

_COLUMNS = (
    *COUNTS,
    Column("hallucination", "Hallucination", "percent", interval=True),
    Column("hallucination_pooled", "pooled", "percent", interval=True),
    Column("n_units", "Units", "count"),
    Column("omission", "Omission", "percent", interval=True),
    Column("omission_pooled", "pooled", "percent", interval=True),
    Column("n_reference_units", "Reference units", "count"),
)
_NOTES = (
    "Hallucination: share of the units under test that neither picture nor reference text"
    " supports. Omission: share of the reference units that no unit under test matches, verified or"
    " not; it is not 1 − recall, which also credits what the text adds.",
    "Rates are means over texts; pooled ones count every unit once for each text it"
    " is compared with. Intervals resample pictures.",
)


def rate_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Hallucination and omission per direction, system and data set."""
    return Table(
        "rates",
        "Hallucination and omission",
        (DIRECTION, *SET_COLUMNS, SYSTEM, *_COLUMNS),
        grouped(pairs, (sets, directions, systems), _rates),
        (note, *_NOTES, "In MAR the text under test is the human one."),
    )


def category_rate_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Hallucination and omission per category: each system, and all together."""
    return Table(
        "category_rates",
        "Hallucination and omission by category",
        (DIRECTION, *SET_COLUMNS, CATEGORY, SYSTEM, *_COLUMNS),
        grouped(pairs, (sets, directions, each("category", categories), _and_all), _rates),
        _NOTES,
    )


def _and_all(group: PairGroup) -> Iterator[PairGroup]:
    """The pairs of a category: of all systems, if there are several, and of each."""
    inside = [pair for pair in group.pairs if pair.category == group.place["category"]]
    parts = list(systems(group.part(inside)))
    if len(parts) > 1:
        yield group.part(inside, system="all")
    yield from parts


def _rates(group: PairGroup) -> Iterator[Cells]:
    made_up, left_out = group.scores("hallucination_rate"), group.scores("omission_rate")
    tested: list[tuple[str, float]] = []
    references: list[tuple[str, float]] = []
    for pair in group.pairs if made_up else ():
        for units, targets in _tests(pair, group.direction) if pair.values else ():
            known = [unit for unit in units if unit.verified is not None]
            tested += [(pair.image, float(not unit.verified)) for unit in known]
            covered = {match for unit in units for match in unit.matches}
            references += [(pair.image, float(place not in covered)) for place in targets]
    yield {
        **counted(made_up),
        **mean_cells("hallucination", made_up),
        **mean_cells("hallucination_pooled", tested),
        "n_units": len(tested),
        **mean_cells("omission", left_out),
        **mean_cells("omission_pooled", references),
        "n_reference_units": len(references),
    }


def _tests(pair: TextPair, direction: Direction) -> Iterator[tuple[Sequence[Fact], Sequence[int]]]:
    """For each reference: the units under test, and the indices of those they are compared with.

    Only references that the values of the direction are about.
    """
    for voice in pair.voices(direction):
        human = [place for place, fact in enumerate(pair.human_facts) if fact.voice == voice]
        if direction == "har":
            yield pair.model_facts, human
        else:
            yield [pair.human_facts[place] for place in human], range(len(pair.model_facts))


def length_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Words and units per text, of people and of each system."""
    return Table(
        "lengths",
        "Length of the texts",
        (
            *SET_COLUMNS,
            Column("who", "Text by", "text"),
            Column("n", "Texts", "count"),
            Column("words", "Words", "tenths", interval=True),
            Column("units", "Units", "tenths", interval=True),
        ),
        grouped(pairs, (sets,), _lengths),
        (
            note,
            "Words are counted between blanks, marks of speech (<noise>) left out; texts without"
            " any unit are left out of units.",
        ),
    )


def _lengths(group: PairGroup) -> Iterator[Cells]:
    human: dict[tuple[str, str], int] = {}
    for pair in group.pairs:
        for voice, text in enumerate(pair.references):
            units = sum(fact.voice == voice for fact in pair.human_facts)
            human[pair.image, text] = max(units, human.get((pair.image, text), 0))
    texts = [("people", [(image, text, n) for (image, text), n in human.items()])]
    for part in systems(group):
        own = [(p.image, p.candidate, len(p.model_facts)) for p in part.pairs if p.candidate]
        texts.append((str(part.place["system"]), own))
    for who, own in texts:
        yield {
            "who": who,
            "n": len(own),
            **mean_cells("words", [(image, n_spoken(text)) for image, text, _ in own]),
            **mean_cells("units", [(image, n) for image, _, n in own if n]),
        }


CHANGING = ("f1", "hallucination_rate", "omission_rate")
_BETWEEN = (SYSTEM, Column("from", "From", "text"), Column("to", "To", "text"))
_CHANGE = (Column("change", "Change", "signed", interval=True), *P_VALUES)


def dataset_table(pairs: Sequence[TextPair]) -> Table:
    """F1 and rates of each system in two data sets of the same pictures.

    For example, captions as models write them and captions as long as people's.
    """

    def between(group: PairGroup) -> Iterator[PairGroup]:
        for first, second in combinations(ordered(pair.dataset for pair in group.pairs), 2):
            yield group.part(group.pairs, **{"from": first, "to": second})

    return Table(
        "datasets",
        "Change between data sets of the same pictures",
        (
            DIRECTION,
            Column("value", "Value", "measure"),
            Column("language", "Language", "text"),
            *_BETWEEN,
            Column("n", "Pictures", "count"),
            Column("before", "Before", interval=True),
            Column("after", "After", interval=True),
            *_CHANGE,
        ),
        grouped(
            pairs,
            (by("language"), between, directions, each("value", CHANGING)),
            _change("dataset"),
            family=(systems,),
            finish=holm("p"),
        ),
        (
            "A picture counts for a system when it has the value in both data sets; several texts"
            " about it are averaged. Change is the mean of the differences, with a sign-flip test;"
            " Holm corrects over the systems of a direction and value.",
        ),
    )


def language_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Mean F1 in the first language and in each other one, over the pictures that have both."""
    first, *others = ordered(pair.language for pair in pairs)

    def between(group: PairGroup) -> Iterator[PairGroup]:
        for other in others:
            yield group.part(group.pairs, **{"from": first, "to": other})

    rows = grouped(
        pairs,
        (by("dataset"), between, directions),
        _change("language"),
        family=(systems,),
        finish=lambda family: holm("p")(_ranked(family)),
    )
    return Table(
        "languages",
        "Change between languages",
        (
            DIRECTION,
            Column("dataset", "Data set", "text"),
            *_BETWEEN,
            Column("n", "Pictures", "count"),
            Column("before", "F1 before", interval=True),
            Column("after", "F1 after", interval=True),
            *_CHANGE,
            Column("rank_before", "Rank before", "count"),
            Column("rank_after", "Rank after", "count"),
        ),
        rows,
        (
            note,
            "A picture counts for a system when it has F1 in both languages; several texts about it"
            " are averaged. Change is the mean of the differences, with a sign-flip test.",
            *_order_notes(rows),
        ),
    )


def _change(key: str) -> Callable[[PairGroup], Iterator[Cells]]:
    """Mean before and after over the pictures that have the value in both, and its change.

    Args:
        key: Field of pairs whose value changes between the places ``from`` and ``to``.
    """

    def means(group: PairGroup, when: str) -> dict[str, float]:
        values: dict[str, list[float]] = {}
        pairs = [pair for pair in group.pairs if getattr(pair, key) == group.place[when]]
        for image, value in scores_of(pairs, group.direction, group.value):
            values.setdefault(image, []).append(value)
        return {image: sum(found) / len(found) for image, found in values.items()}

    def cells(group: PairGroup) -> Iterator[Cells]:
        first, second = means(group, "from"), means(group, "to")
        images = [image for image in first if image in second]
        if images:
            before, after = ([mean[image] for image in images] for mean in (first, second))
            change = stats.paired_difference(after, before)
            yield {
                "n": len(images),
                "p": change.p_value,
                **estimate("before", before),
                **estimate("after", after),
                "change": change.mean,
                **interval_cells("change", change.interval),
            }

    return cells


def _ranked(rows: list[Cells]) -> list[Cells]:
    """Rows with the rank of each system, 1 the best; equal means share a rank."""
    for key in ("before", "after"):
        means = [mean if isinstance(mean := row[key], float) else 0.0 for row in rows]
        for row, own in zip(rows, means, strict=True):
            row[f"rank_{key}"] = 1 + sum(mean > own for mean in means)
    return rows


def _order_notes(rows: Sequence[Cells]) -> Iterator[str]:
    for direction in DIRECTIONS:
        own = [row for row in rows if row["direction"] == direction]
        moved = [str(row["system"]) for row in own if row["rank_before"] != row["rank_after"]]
        if own:
            told = f"changes place for {', '.join(dict.fromkeys(moved))}" if moved else "stays"
            yield f"{direction.upper()}: the order of systems {told}."
