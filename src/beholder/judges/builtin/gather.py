"""Collects the evidence on the units of a source, once; ``decide`` makes values of it.

The same evidence serves units of texts (PoSh) and units of statements (DCScore).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from functools import cached_property
from itertools import combinations, compress

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.agreement import (
    agreement_by_entity,
    property_agreement,
)
from beholder.judges.builtin.amounts import (
    amount,
    amounts_value,
    both_counted,
    counted,
    describe_amount,
    roughly,
    shares_exclude,
)
from beholder.judges.builtin.analysed import (
    PARTS,
    AnalysedText,
    lower_excluded,
)
from beholder.judges.builtin.classes import (
    exclude,
    near,
    values,
    word_values,
)
from beholder.judges.builtin.decide import value
from beholder.judges.builtin.entities import counterparts
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.exchanges import exchanged
from beholder.judges.builtin.lexis import (
    named_further,
    part_numbers,
)
from beholder.judges.builtin.numbers import Numbers, number
from beholder.judges.builtin.relations import related
from beholder.judges.builtin.vectors import vectors
from beholder.language.statements import GraphUnit
from beholder.language.unseen import VAGUE
from beholder.text.kinds import is_abstract

_MANY_COLOURED = frozenset(("cloud", "light", "sea", "sky", "water"))
_NEARLY = number("entail.repeated")
_NAMED_SO = number("entities.named_so")
_CLOSER = number("evidence.closer")


def gather(
    source: AnalysedText, target: AnalysedText, numbers: Numbers
) -> tuple[Evidence, ...]:
    """The evidence on each unit of the source, in order.

    Args:
        source: The text, or statement, whose units are looked for.
        target: The text in which they are looked for.
        numbers: Says which things are wrong, so that what is said of them is no further mistake.
    """
    return _Gathering(source, target, numbers).all()


class _Gathering:
    """Processes the units: entities first, since statements about them depend on them."""

    def __init__(
        self, source: AnalysedText, target: AnalysedText, numbers: Numbers
    ) -> None:
        self._source, self._target, self._numbers = source, target, numbers
        self._own, self._others = source.graph.entities, target.graph.entities
        self._coverage: list[float] = _coverage(source, target).tolist()
        self._agreement = property_agreement(source, target)
        agreed = agreement_by_entity(source, target, self._agreement.best)
        self._pairs = counterparts(source, target, agreed)
        self._best: list[int] = self._pairs.best.tolist()
        # Which things of the target are surely called as one of the source is, and how many each.
        self._called_so = self._pairs.similarity >= numbers.same
        self._n_called_so: list[list[int]] = [
            self._called_so.sum(axis).tolist() for axis in (1, 0)
        ]
        # Whether both texts are one sentence; longer ones single out one of several things.
        self._brief = not any((*source.sentences[-1:], *target.sentences[-1:]))

    def all(self) -> tuple[Evidence, ...]:
        """The evidence on each unit."""
        units = self._source.units
        # Plan: evidence by kind of unit first, each with its own tables; then
        # exchanges, which need all of them; then the figures that all units
        # share.
        evidence_by_place: dict[int, Evidence] = {}
        for place, unit in enumerate(units):
            if unit.kind == "entity":
                evidence_by_place[place] = self._entity(place, unit)
            elif unit.quantity:
                evidence_by_place[place] = self._amount(unit)
        for row, place in enumerate(self._agreement.places):
            evidence_by_place[place] = self._attribute(
                row, units[place], place
            )
        for place, relation_evidence in related(
            self._source, self._target, self._pairs
        ).items():
            evidence_by_place[place] = self._relation(
                units[place], place, relation_evidence
            )
        repeated = _repeated(self._source, self._target)
        places, likeness = self._agreement.places, self._agreement.similarity
        moves = exchanged(
            self._source, self._target, self._pairs, places, likeness
        )
        for place, owner in moves.items():
            if repeated[place] < _NEARLY:
                continue  # in other words, what is said of a whole moves to its part
            twin = self._others[owner].mentions[0]
            evidence_by_place[place] = replace(
                evidence_by_place[place],
                exchanged=True,
                instead=twin.text,
                where=(twin.span,),
            )
        things = [
            value(evidence, self._numbers)
            for evidence in evidence_by_place.values()
            if evidence.kind == "entity"
        ]
        shared = sum(things) / max(len(things), 1)
        for place, evidence in evidence_by_place.items():
            evidence.repeated, evidence.shared = repeated[place], shared
        return tuple(evidence_by_place[place] for place in range(len(units)))

    def _entity(self, place: int, unit: GraphUnit) -> Evidence:
        index, pairs = unit.subject, self._pairs
        counterpart = self._best[index]
        head = self._own[index].head.lower()
        evidence = Evidence(
            "entity",
            unit.polarity,
            counterpart=counterpart >= 0,
            coverage=self._coverage[place],
            vague=head in VAGUE or is_abstract(head),
        )
        if counterpart < 0:
            return evidence
        name_likeness, twin = (
            self._name_likeness(index),
            self._others[counterpart],
        )
        same = self._numbers.same
        target_words, where = twin.mentions[0].text, (twin.mentions[0].span,)
        closest = self._closest[index]
        # The nearest thing by plain vectors is of the same class but lowered
        # by a tie: the target names another kind in its place.
        excluded = bool(
            name_likeness < same
            and all(name != "number" for name, _ in values(head))
            and pairs.plain[index, closest]
            > _CLOSER * pairs.similarity[index, closest]
        )
        if excluded and unit.polarity:
            target_words = self._others[closest].mentions[0].text
        elif not twin.polarity:
            target_words = f"no {target_words}"
        is_located = name_likeness >= (
            self._numbers.known if unit.polarity else same
        )
        return replace(
            evidence,
            name_likeness=name_likeness,
            stated=name_likeness,
            narrower=name_likeness >= same
            and named_further(self._own[index].name, twin.name),
            crowded=bool(pairs.unpaired[index]),
            denied=not twin.polarity,
            excluded=excluded,
            lone=self._lone(index, closest if excluded else counterpart),
            instead=target_words,
            where=where if is_located else (),
        )

    def _amount(self, unit: GraphUnit) -> Evidence:
        index, pairs = unit.subject, self._pairs
        counterpart = self._best[index]
        if counterpart < 0:
            return Evidence("amount", counterpart=False)
        source_entities, target_entities, twin = (
            self._own,
            self._others,
            self._others[counterpart],
        )
        # Plan: compare the amount with those of all target things of the name,
        # not only the counterpart: "two dogs" may be "a dog ... another dog".
        called_so = np.flatnonzero(self._called_so[index]).tolist()
        alike = sorted(
            {
                counterpart,
                *(
                    i
                    for i in called_so
                    if amount(target_entities[i]) is not None
                ),
            }
        )
        same_named = np.flatnonzero(
            pairs.similarity[:, counterpart] >= self._numbers.known
        ).tolist()
        fit, excluded = amounts_value(
            source_entities[index],
            [target_entities[place] for place in alike],
            [source_entities[place] for place in same_named if place != index],
            settled=int(pairs.alike[index].sum()) <= 1
            and not self._is_part(index, counterpart),
        )
        is_single = 1 in (amount(source_entities[index]), amount(twin))
        # Long descriptions often mention one thing of several, and "about ten"
        # excludes no near number; neither is a contradiction.
        excluded = excluded and not (
            (is_single and not self._brief)
            or roughly(source_entities[index], self._source.graph.text)
            or any(
                roughly(target_entities[place], self._target.graph.text)
                for place in alike
            )
        )
        return Evidence(
            "amount",
            name_likeness=self._name_likeness(index),
            stated=fit,
            excluded=excluded,
            lone=self._lone(index, counterpart)
            or (
                both_counted(source_entities[index], twin)
                and counted(source_entities, same_named)
                == counted(target_entities, alike)
                == 1
            ),
            instead=describe_amount(twin) if excluded else "",
            where=(twin.mentions[0].span,),
        )

    def _is_part(self, index: int, counterpart: int) -> bool:
        """Return whether an entity may be part of its counterpart: two boys of four children."""
        source_amount, target_amount = (
            amount(self._own[index]),
            amount(self._others[counterpart]),
        )
        wider = self._name_likeness(index) < self._numbers.same
        return (
            wider
            and source_amount is not None
            and target_amount is not None
            and target_amount > source_amount
        )

    def _attribute(self, row: int, unit: GraphUnit, place: int) -> Evidence:
        agreement, target, n = self._agreement, self._target, self._numbers
        index, counterpart = unit.subject, self._best[unit.subject]
        evidence = Evidence(
            "attribute",
            unit.polarity,
            counterpart=counterpart >= 0,
            coverage=self._coverage[place],
            vague=self._source.says_little(unit),
        )
        if counterpart < 0:
            return evidence
        owners = target.property_owners
        stated, best, on_own, on_alike = self._likenesses[row]
        # A value of the counterpart excludes this one only if the thing has
        # one value of that kind, at one place, and it is not its material.
        against = [
            j
            for j in agreement.excluded.get(row, ())
            if owners[j] == counterpart
            and not self._is_own_material(index, j)
            and self._is_of_one_value(index, j)
            and self._in_one_place(index, row, j)
        ]
        target_words, where = (
            "",
            target.properties[best].spans if on_own >= n.known else (),
        )
        property_ = target.properties[best]
        denied = on_own >= n.same and property_.polarity != unit.polarity
        twin = self._others[counterpart]
        share = (
            on_own >= n.same
            and unit.share
            and shares_exclude(self._own[index], twin)
        )
        # The words to show, in order of strength: a denial, another share,
        # another value of the class.
        if denied:
            target_words = (
                property_.text
                if property_.polarity
                else f"not {property_.text}"
            )
        elif share:
            target_words = describe_amount(twin)
        elif on_own < n.same and against:
            target_words, where = (
                target.properties[against[0]].text,
                target.properties[against[0]].spans,
            )
        return replace(
            evidence,
            name_likeness=self._name_likeness(index),
            stated=stated,
            on_counterpart=on_own,
            on_alike=on_alike,
            denied=denied or share,
            excluded=bool(against),
            lone=self._lone(index, counterpart),
            instead=target_words,
            where=where,
        )

    @cached_property
    def _likenesses(self) -> list[tuple[float, int, float, float]]:
        """Return, per attribute, its likeness times the probability that the thing is meant.

        Then the property of the counterpart that is likest, its likeness, and the best likeness of
        what is said of any thing of the name.
        """
        pairs, agreement = self._pairs, self._agreement
        owners = self._target.property_owners
        subjects = [
            self._source.units[place].subject for place in agreement.places
        ]
        things = np.array(subjects, np.intp)
        # Where the target has a car, "a red van" says nothing of the car.
        nearest = pairs.similarity.max(axis=1, keepdims=True)
        is_named = pairs.similarity >= np.where(
            nearest >= _NAMED_SO, _NAMED_SO, 0.0
        )
        strength = pairs.strength * is_named
        is_alike = pairs.alike & is_named
        stated = (strength[things] * agreement.best).max(axis=1)
        # Its name, at least, is said of a thing.
        own_likeness = np.where(
            owners == pairs.best[things, None], agreement.similarity, -1.0
        )
        alike = np.where(
            is_alike[things[:, None], owners], agreement.similarity, 0.0
        )
        columns = (
            stated,
            own_likeness.argmax(axis=1),
            own_likeness.max(axis=1),
            alike.max(axis=1),
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return list(rows)

    def _is_own_material(self, index: int, place: int) -> bool:
        """Return whether the source gives a thing the material that a property of the target names.

        The colour of a material excludes none that is said beside it: "white gold" is gold.
        """
        values = self._target.values_at.get(place, frozenset())
        shared = {
            value
            for classes in self._source.values_of[index]
            for value in values & classes
        }
        return any(name == "material" for name, _ in shared)

    def _in_one_place(self, index: int, row: int, place: int) -> bool:
        """Return whether a thing can have only one such value; spread-out things may have several.

        Clouds are on the left and on the right, a sky is gray here and blue there, and gray is said
        of what is nearly white or black. One of several things may differ from the others.
        """
        source_classes, target_classes = (
            self._agreement.values[row],
            self._target.values_at.get(place, frozenset()),
        )
        plurals = {
            self._own[index].plural,
            self._others[self._target.properties[place].entity].plural,
        }
        if len(plurals) > 1 and not self._brief:
            return False
        classes = {name for name, _ in source_classes} & {
            name for name, _ in target_classes
        }
        if "colour" in classes:
            return self._own[
                index
            ].head.lower() not in _MANY_COLOURED and not near(
                source_classes, target_classes
            )
        return not (self._own[index].plural and classes & PARTS)

    def _is_of_one_value(self, index: int, place: int) -> bool:
        """Return whether both texts give a thing at most one value in the classes of a property.

        What is red, white and blue is not red all over, and "white" excludes none of it. What a
        thing is made of is beside its colour: "white gold".
        """
        target = self._target
        classes = {name for name, _ in target.values_at.get(place, ())}
        for side in (
            self._source.values_of[index],
            target.values_of[target.properties[place].entity],
        ):
            side_values = [
                frozenset(value for value in values if value[0] in classes)
                for values in side
                if "material" in classes
                or not any(name == "material" for name, _ in values)
            ]
            if any(exclude(a, b) for a, b in combinations(side_values, 2)):
                return False
        return True

    @cached_property
    def _closest(self) -> list[int]:
        """(n,), the thing of the target whose name is nearest by itself."""
        return self._pairs.plain.argmax(axis=1).tolist()  # type: ignore[no-any-return]

    def _lone(self, index: int, counterpart: int) -> bool:
        """Return whether no other thing in either text shares the name of these two."""
        of_source, of_target = self._n_called_so
        return of_source[index] <= 1 and of_target[counterpart] <= 1

    def _name_likeness(self, index: int) -> float:
        """Return the name similarity of an entity and its counterpart; 0 without a counterpart."""
        counterpart = self._best[index]
        return (
            0.0
            if counterpart < 0
            else float(self._pairs.similarity[index, counterpart])
        )

    def _relation(
        self, unit: GraphUnit, place: int, evidence: Evidence
    ) -> Evidence:
        counterpart = self._best[unit.subject]
        ends = [i for i in (unit.subject, unit.object) if i is not None]
        is_related = counterpart >= 0 and evidence.stated >= self._numbers.ends
        subject = self._own[unit.subject]
        share = (
            is_related
            and unit.share
            and shares_exclude(subject, self._others[counterpart])
        )
        evidence.affirmed, evidence.counterpart = (
            unit.polarity,
            counterpart >= 0,
        )
        evidence.coverage, evidence.name_likeness = (
            self._coverage[place],
            self._name_likeness(unit.subject),
        )
        evidence.ends = min(self._name_likeness(i) for i in ends)
        if share:
            evidence.denied, evidence.instead = (
                True,
                describe_amount(self._others[counterpart]),
            )
        return evidence


def _coverage(source: AnalysedText, target: AnalysedText) -> FloatArray:
    """(units,), how near the words of each unit come to any words of the target, 0..1."""
    words, owner = source.unit_words
    if not words or not target.words:
        return np.zeros(len(source.units))
    similarity = cosines(vectors(words), target.word_vectors)
    part_numbers(similarity, words, target.words)
    lower_excluded(similarity, word_values(words), target.word_values)
    weights = source.unit_word_weights
    n = len(source.units)
    total = np.bincount(owner, similarity.max(axis=1) * weights, n)
    return total / np.maximum(np.bincount(owner, weights, n), 1e-9)


def _repeated(source: AnalysedText, target: AnalysedText) -> list[float]:
    """(units,), share of the words of each one's sentence that the target has.

    Of a unit that is not written, the first sentence counts.
    """
    there, sentences = set(target.words), source.sentences
    n_repeated = Counter(
        compress(sentences, [word in there for word in source.words])
    )
    shares = {
        sentence: n_repeated[sentence] / n
        for sentence, n in Counter(sentences).items()
    }
    _, ends = source.places
    firsts = (
        bisect_right(ends, u.spans[0][0]) if u.spans else 0
        for u in source.units
    )
    return [
        shares[sentences[min(first, len(sentences) - 1)]] for first in firsts
    ]
