"""Shares of made-up and omitted units, lengths, and how the same pictures fare described twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from beholder import stats
from beholder.grouping import by_key
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    TABLES,
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
from beholder.stats.ranks import round_values
from beholder.tables import Table, estimate, interval_cells
from beholder.text import n_spoken


def rate_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Hallucination and omission per direction, system and data set."""
    rows = grouped(pairs, (sets, directions, systems), _rates)
    return TABLES["rates"].of(rows, note=note)


def category_rate_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Hallucination and omission per category: each system, and all together."""
    axes = (sets, directions, each("category", categories), _and_all)
    return TABLES["category_rates"].of(grouped(pairs, axes, _rates))


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
    return TABLES["lengths"].of(grouped(pairs, (sets,), _lengths), note=note)


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


def dataset_table(pairs: Sequence[TextPair]) -> Table:
    """F1 and rates of each system in two data sets of the same pictures.

    For example, captions as models write them and captions as long as people's.
    """

    def between(group: PairGroup) -> Iterator[PairGroup]:
        for first, second in combinations(ordered(pair.dataset for pair in group.pairs), 2):
            yield group.part(group.pairs, **{"from": first, "to": second})

    rows = grouped(
        pairs,
        (by("language"), between, directions, each("value", CHANGING)),
        _change("dataset"),
        family=(systems,),
        finish=holm("p"),
    )
    return TABLES["datasets"].of(rows)


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
    return TABLES["languages"].of(rows, _order_notes(rows), note=note)


def _change(key: str) -> Callable[[PairGroup], Iterator[Cells]]:
    """Mean before and after over the pictures that have the value in both, and its change.

    Args:
        key: Field of pairs whose value changes between the places ``from`` and ``to``.
    """

    def means(group: PairGroup, when: str) -> dict[str, float]:
        pairs = [pair for pair in group.pairs if getattr(pair, key) == group.place[when]]
        values = by_key(scores_of(pairs, group.direction, group.value))
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
        values = [mean if isinstance(mean := row[key], float) else 0.0 for row in rows]
        means = round_values(values).tolist()
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
