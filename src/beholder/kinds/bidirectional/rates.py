"""How much is made up and how much is left out; how long the texts are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    TextPair,
    by_system,
    having,
    strata,
)
from beholder.tables import (
    DIRECTION,
    SET_COLUMNS,
    SYSTEM,
    Column,
    Table,
    estimate,
)
from beholder.text import n_spoken

RATE_COLUMNS = (
    Column("n", "Texts", "count"),
    Column("n_images", "Pictures", "count"),
    Column("hallucination", "Hallucination", "percent", interval=True),
    Column("hallucination_pooled", "pooled", "percent", interval=True),
    Column("n_units", "Units", "count"),
    Column("omission", "Omission", "percent", interval=True),
    Column("omission_pooled", "pooled", "percent", interval=True),
    Column("n_reference_units", "Reference units", "count"),
)
RATE_NOTES = (
    "Hallucination: share of the units under test that neither picture nor reference text"
    " supports. Omission: share of the reference units that no unit under test matches, verified or"
    " not; it is not 1 − recall, which also credits what the text adds.",
    "Rates are means over texts; pooled ones count every unit once for each text it"
    " is held against. Intervals resample pictures.",
)


def rate_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Hallucination and omission per direction, system and data set."""
    rows = [
        {"direction": direction, **place, "system": system, **rate_cells(own, direction)}
        for place, some in strata(pairs)
        for direction in DIRECTIONS
        for system, own in by_system(some).items()
    ]
    return Table(
        "rates",
        "Hallucination and omission",
        (DIRECTION, *SET_COLUMNS, SYSTEM, *RATE_COLUMNS),
        tuple(rows),
        (note, *RATE_NOTES, "In MAR the text under test is the human one."),
    )


def rate_cells(pairs: Sequence[TextPair], direction: Direction) -> dict[str, Any]:
    """Both rates of one group of pairs."""
    made_up = having(pairs, direction, "hallucination_rate")
    left_out = having(pairs, direction, "omission_rate")
    tested: list[tuple[str, bool]] = []
    references: list[tuple[str, bool]] = []
    for pair in pairs if made_up else ():
        if not pair.values:
            continue
        for units, targets in pair.told(direction):
            known = [unit for unit in units if unit.verified is not None]
            tested += [(pair.image, not unit.verified) for unit in known]
            covered = {match for unit in units for match in unit.matches}
            references += [(pair.image, place not in covered) for place in targets]
    return {
        "n": len(made_up),
        "n_images": len({pair.image for pair, _ in made_up}),
        **estimate("hallucination", [v for _, v in made_up], [p.image for p, _ in made_up]),
        **_pooled("hallucination_pooled", tested),
        "n_units": len(tested),
        **estimate("omission", [v for _, v in left_out], [p.image for p, _ in left_out]),
        **_pooled("omission_pooled", references),
        "n_reference_units": len(references),
    }


def _pooled(key: str, flags: Sequence[tuple[str, bool]]) -> dict[str, float | None]:
    return estimate(key, [float(flag) for _, flag in flags], [image for image, _ in flags])


def length_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Words and units per text, of people and of each system."""
    rows = []
    for place, some in strata(pairs):
        human: dict[tuple[str, str], int] = {}
        for pair in some:
            for voice, text in enumerate(pair.references):
                units = sum(fact.voice == voice for fact in pair.human_facts)
                human[pair.image, text] = max(units, human.get((pair.image, text), 0))
        rows.append(
            {**place, "who": "people"}
            | _lengths([(image, text, n) for (image, text), n in human.items()])
        )
        for system, own in by_system(some).items():
            texts = [(p.image, p.candidate, len(p.model_facts)) for p in own if p.candidate]
            rows.append({**place, "who": system, **_lengths(texts)})
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
        tuple(rows),
        (
            note,
            "Words are counted between blanks, marks of speech (<noise>) left out; texts without"
            " any unit are left out of units.",
        ),
    )


def _lengths(texts: Sequence[tuple[str, str, int]]) -> dict[str, Any]:
    taken_apart = [(image, n) for image, _, n in texts if n]
    return {
        "n": len(texts),
        **estimate("words", [n_spoken(t) for _, t, _ in texts], [i for i, _, _ in texts]),
        **estimate("units", [n for _, n in taken_apart], [i for i, _ in taken_apart]),
    }
