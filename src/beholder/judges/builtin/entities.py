"""Matches of the things of one text with those of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.amounts import amount
from beholder.judges.builtin.analysed import (
    AnalysedText,
    Bools,
    Ints,
    lower_excluded,
    verb_similarity,
)
from beholder.judges.builtin.classes import exclude
from beholder.judges.builtin.lexis import named_apart, tie, tied_by
from beholder.judges.builtin.numbers import number, whole
from beholder.judges.builtin.predicates import (
    Predicate,
    likeness,
    verb_likeness,
)
from beholder.language.graph import Entity

_CONTEXT = number("entities.context")
_IDENTITY = number("entities.identity")
_HEAD_ONLY = number("entities.head_only")
_LEAST = {
    tie_name: number(f"entities.least_{tie_name}")
    for tie_name in ("same", "more", "less")
}
_SAME_HEAD = number("entities.same_head")
_OTHER_FACTOR = number("entities.other")
_YOUTH = number("entities.youth")
_IN_ORDER = number("entities.in_order")
_ALIKE = number("entities.alike")
_INTRODUCTION = whole("entities.introduction")
_NAMESAKE = number("entities.namesake")
_ONE_DENIED = number("entities.one_denied")
_SECOND_BEST = number("entities.second_best")


@dataclass(frozen=True)
class Counterparts:
    """Scores of each entity of a source against each of a target.

    Attributes:
        similarity: (n, m), of names, 0..1.
        plain: (n, m), the same before values that exclude each other are set apart.
        strength: (n, m), how likely an entity of the target is meant, 0..1.
        best: (n,), the counterpart of each, or -1 where the target has no entity.
        alike: (n, m), whether an entity of the target is called what one of the source is called.
        unpaired: (n,), whether others have taken all its counterparts.
    """

    similarity: FloatArray
    plain: FloatArray
    strength: FloatArray
    best: Ints
    alike: Bools
    unpaired: Bools


def counterparts(
    source: AnalysedText, target: AnalysedText, property_agreement: FloatArray
) -> Counterparts:
    """Find the counterpart of each entity by name, then by its properties.

    Args:
        source: The text whose entities are looked for.
        target: The text in which they are looked for.
        property_agreement: (n, m), 0..1, how well what is said of them agrees.
    """
    n, m = len(source.graph.entities), len(target.graph.entities)
    if not n or not m:
        empty, none = np.zeros((n, m)), np.zeros(n, dtype=np.bool_)
        return Counterparts(
            empty, empty, empty, np.full(n, -1, np.intp), empty > 0, none
        )
    heads = _HEAD_ONLY * cosines(source.heads, target.heads)
    plain = np.maximum(cosines(source.names, target.names), heads)
    similarity = plain.copy()
    lower_excluded(similarity, source.head_values, target.head_values)
    _apply_ties(source, target, similarity)
    _apply_youth(source, target, similarity)
    groups = _like_groups(similarity >= _ALIKE)
    agreement = property_agreement + relation_agreement(
        source, target, similarity * (1.0 + property_agreement) / 2.0, groups
    )
    # If a text has one hat and denies another, each means the one the other text has, or denies.
    there, others_there = (
        np.array([entity.polarity for entity in text.graph.entities])
        for text in (source, target)
    )
    both = np.where(there[:, None] == others_there, 1.0, _ONE_DENIED)
    fit = similarity * (1.0 + _CONTEXT * agreement) * both
    best = np.argmax(fit, axis=1)
    unpaired = _resolve(source, target, fit, similarity, best)
    top = np.maximum(fit[np.arange(n), best], 1e-9)[:, None]
    strength = np.minimum(fit / top, 1.0) ** _IDENTITY * np.sqrt(similarity)
    alike = similarity >= _ALIKE
    _assign(groups, fit, alike, best, unpaired)
    return Counterparts(similarity, plain, strength, best, alike, unpaired)


Group: TypeAlias = tuple[Ints, Ints]
"""Several things of the source, and several of the target, that are all called the same."""


def _like_groups(alike: Bools) -> list[Group]:
    groups = []
    patterns: set[bytes] = set()
    for row in alike[alike.sum(axis=1) > 1]:
        # Rows with equal patterns form one group; the bytes of a row are its
        # key.
        if row.tobytes() in patterns:
            continue
        patterns.add(row.tobytes())
        rows = np.flatnonzero((alike == row).all(axis=1))
        if len(rows) > 1:
            groups.append((rows, np.flatnonzero(row)))
    return groups


def _assign(
    groups: Sequence[Group],
    fit: FloatArray,
    alike: Bools,
    best: Ints,
    unpaired: Bools,
) -> None:
    """Assign counterparts to things of one name by their properties and actions; in place.

    Between counterparts that fit as well, the order in which they are named decides. Where both
    texts have as many, each is alike with its counterpart only.
    """
    for rows, columns in groups:
        places = np.subtract.outer(
            np.arange(len(rows)), np.arange(len(columns))
        )
        # Texts tend to name things in the same order, which decides between
        # counterparts that fit as well.
        order = -_IN_ORDER * np.abs(places)
        assigned_rows, chosen = _assignment(fit[np.ix_(rows, columns)] + order)
        for row, column in zip(
            rows[assigned_rows].tolist(), columns[chosen].tolist(), strict=True
        ):
            if not unpaired[row]:
                best[row] = column
        if len(rows) == len(columns) and alike[:, columns].any(
            axis=1
        ).sum() == len(rows):
            alike[np.ix_(rows, columns)] = False
            alike[rows, columns[chosen]] = True


def _assignment(fit: FloatArray) -> tuple[Ints, Ints]:
    """Return rows and their columns, each in one pair, so that they fit best."""
    # Few texts need it, and loading it is slow.
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(fit, maximize=True)  # type: ignore[no-any-return]


def _apply_ties(
    source: AnalysedText, target: AnalysedText, similarity: FloatArray
) -> None:
    """Let known relations between heads override the similarity of vectors, in place."""
    (source_names, rows), (target_names, columns) = (
        _names(source),
        _names(target),
    )
    least = np.zeros((len(source_names), len(target_names)), similarity.dtype)
    ceiling, factor = np.full_like(least, np.inf), np.ones_like(least)
    # Nouns without a mark in common have no tie (see tied_by), so only pairs
    # that share one are looked up instead of all pairs.
    places = group_by_key(
        (mark, column)
        for column, (noun, _) in enumerate(target_names)
        for mark in tied_by(noun)
    )
    for row, (head, name) in enumerate(source_names):
        for column in {
            place for mark in tied_by(head) for place in places.get(mark, ())
        }:
            target_head, full = target_names[column]
            tie_name = tie(head, target_head)
            # Different specifiers outweigh the common head: a street sign is
            # no stop sign.
            if tie_name in ("same", "more") and named_apart(name, full):
                ceiling[row, column] = _SAME_HEAD
            elif tie_name in _LEAST:
                least[row, column] = _LEAST[tie_name]
            elif tie_name == "other":
                factor[row, column] = _OTHER_FACTOR
    pairs = np.array(rows, np.intp)[:, None], columns
    np.clip(similarity, least[pairs], ceiling[pairs], out=similarity)
    similarity *= factor[pairs]


def _apply_youth(
    source: AnalysedText, target: AnalysedText, similarity: FloatArray
) -> None:
    """Raise the similarity of a young man to a boy, and of a teenage girl to a woman, in place."""
    for row, source_classes in source.head_values:
        for column, target_classes in target.head_values:
            young = row in source.youths or column in target.youths
            if (
                young
                and not source_classes.isdisjoint(target_classes)
                and exclude(source_classes, target_classes)
            ):
                similarity[row, column] = max(similarity[row, column], _YOUTH)


def _names(text: AnalysedText) -> tuple[list[tuple[str, str]], list[int]]:
    """The heads, lower case, and names of a text's entities, and for each entity which it has.

    A long text names few things many times.
    """
    numbers: dict[tuple[str, str], int] = {}
    places = [
        numbers.setdefault((entity.head.lower(), entity.name), len(numbers))
        for entity in text.graph.entities
    ]
    return list(numbers), places


def _resolve(
    source: AnalysedText,
    target: AnalysedText,
    fit: FloatArray,
    similarity: FloatArray,
    best: Ints,
) -> Bools:
    """Give like things counterparts of their own; ``best`` is changed in place.

    Returns:
        (n,), which things find all their counterparts taken.
    """
    # Plan: find counterparts that are claimed by more like things than there
    # is room for, keep the best claimants by a global assignment, and give the
    # others their second best or none.
    unpaired = np.zeros(len(best), dtype=np.bool_)
    claims: dict[int, list[int]] = defaultdict(list)
    for entity in source.graph.entities:
        if (
            entity.kind == "thing"
            and entity.polarity
            and entity.member_of is None
        ):
            claims[int(best[entity.index])].append(entity.index)
    crowded = []
    for place, claimants in claims.items():
        room = _room(target.graph.entities[place])
        if (
            len(claimants) > room
            and len(rivals := _namesakes(source, claimants)) > room
        ):
            crowded.append((place, int(room), rivals))
    if not crowded:
        return unpaired
    rows, columns = _assignment(fit)
    assigned = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    for place, room, claimants in crowded:
        # The claimant of the assignment stays, then the best fit; the index
        # makes the order total.
        claimants.sort(
            key=lambda i: (assigned.get(i) != place, -fit[i, place], i)
        )
        for index in claimants[room:]:
            alternative = assigned.get(index)
            if (
                alternative is not None
                and alternative != place
                and similarity[index, alternative]
                >= _SECOND_BEST * similarity[index, place]
            ):
                best[index] = alternative
            else:
                unpaired[index] = True
    return unpaired


def _namesakes(source: AnalysedText, claimants: list[int]) -> list[int]:
    """Those claimants that share their head and are surely not one thing named again.

    Two are distinguished by one sentence that names both ("a man ... another man"), by "there is"
    of each, or by what is said of them ("a red car. A blue car").
    """
    if len(claimants) < 2:
        return claimants
    heads = source.heads[claimants]
    like = cosines(heads, heads) >= _NAMESAKE
    distinct: list[int] = []  # rows
    together = frozenset[
        int
    ]()  # sentences that name all of them, which settles it at once
    for row in np.flatnonzero(like.sum(axis=1) > 1).tolist():
        sentences = source.sentences_of[claimants[row]]
        both = sentences & together
        if both or all(
            _are_distinct(source, claimants[row], claimants[o])
            for o in distinct
            if like[row, o]
        ):
            together = both if distinct else sentences
            distinct.append(row)
    return [claimants[row] for row in distinct]


def _are_distinct(source: AnalysedText, a: int, b: int) -> bool:
    if source.sentences_of[a] & source.sentences_of[b]:
        return True
    if _introduced(source, a) and _introduced(source, b):
        return True
    return any(
        exclude(v, w) for v in source.values_of[a] for w in source.values_of[b]
    )


def _introduced(source: AnalysedText, index: int) -> bool:
    """Return whether a thing is introduced as new, as by "there is a man"."""
    first = source.mentions[index][0][0] if source.mentions[index] else 0
    before = source.words[max(0, first - _INTRODUCTION) : first]
    return (
        "there" in before
        and len(set(source.sentences[first - len(before) : first + 1])) == 1
    )


def _room(entity: Entity) -> float:
    """Return how many things an entity may be the counterpart of; infinite if uncounted."""
    count = amount(entity)
    return float("inf") if count is None else max(count, 1)


_Ends: TypeAlias = dict[int, list[tuple[int, int, bool]]]
"""Per entity its relations: the relation, the other end, and whether it is the subject."""


def relation_agreement(
    source: AnalysedText,
    target: AnalysedText,
    similarity: FloatArray,
    groups: Sequence[Group],
) -> FloatArray:
    """(n, m), 0..1: how well the relations of entities agree, within groups of like ones.

    Args:
        source: The text whose entities are looked for.
        target: The text in which they are looked for.
        similarity: (n, m), 0..1, of the things at the other ends.
        groups: Rows and columns that are called the same; all other pairs get 0.
    """
    agreement = np.zeros_like(similarity)
    if not groups:
        return agreement
    source_ends, target_ends = _ends(source), _ends(target)
    verbs = verb_similarity(source, target)

    def best(relation: int, end: int, first: bool, column: int) -> float:
        _, unit, predicate = source.relations[relation]
        return max(
            (
                _agrees(
                    predicate,
                    target.relations[at][2],
                    verbs.item(relation, at),
                    first == leads,
                )
                * similarity.item(end, far)
                for at, far, leads in target_ends.get(column, ())
                if unit.polarity == target.relations[at][1].polarity
            ),
            default=0.0,
        )

    # Only within groups of like entities: elsewhere names already decide, and
    # all pairs would be slow.
    for rows, columns in groups:
        for row, column in product(rows.tolist(), columns.tolist()):
            total = 0.0
            for relation_end in source_ends.get(row, ()):
                total += best(*relation_end, column)
            agreement[row, column] = total / max(
                len(source_ends.get(row, ())), 1
            )
    return agreement


def _agrees(
    a: Predicate, b: Predicate, similarity: float, straight: bool
) -> float:
    """Score how well two relations agree for an entity that is an end of both."""
    verb = verb_likeness(a, b, similarity)
    return likeness(a, b, verb, float(straight), float(not straight))[0]


def _ends(text: AnalysedText) -> _Ends:
    ends: _Ends = defaultdict(list)
    for column, (first, second) in enumerate(text.relation_ends.T.tolist()):
        ends[first].append((column, second, True))
        ends[second].append((column, first, False))
    return ends
