"""Shares of made-up and omitted units, in all and by category, and the length of the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from beholder.kinds.bidirectional.pairs import (
    Cells,
    Direction,
    Fact,
    PairGroup,
    TextPair,
    counted,
    directions,
    each,
    grouped,
    mean_cells,
    sets,
    systems,
)
from beholder.tables import DIRECTION, SET_COLUMNS, SYSTEM, Column, Table
from beholder.text import n_spoken

_COLUMNS = (
    Column("n", "Texts", "count"),
    Column("n_images", "Pictures", "count"),
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
        (DIRECTION, *SET_COLUMNS, Column("category", "Category", "text"), SYSTEM, *_COLUMNS),
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
