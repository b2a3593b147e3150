"""The bearers of facts among things of one name; recognises facts that changed their bearers.

A fact such as "The woman pours the water." is true of either of two women. The built-in judge
therefore writes "The woman (in the blue dress) pours the water.". The words in brackets decide
nothing by themselves: the fact without them is looked for as any other, and is then wrong if the
other text distinguishes the women by the same words and says the fact of another one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from beholder.judges.builtin.analysed import AnalysedText, verb_similarity
from beholder.judges.builtin.lexis import said_in, tie
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.predicates import alike_predicates
from beholder.judges.builtin.reading import analysed_claims
from beholder.language.graph import Attribute, Relation, SceneGraph
from beholder.language.statements import Statement, graph_statements
from beholder.records import Span

_SAME = number("decide.same")
_MOST_FEATURES = 3
"""Features in one pair of brackets, so that facts stay short."""
_BRACKETS = re.compile(r"([\w-]+) \(([^()]+)\)")


def borne_statements(graph: SceneGraph) -> tuple[Statement, ...]:
    """Return a graph's statements; things of one name are named with their features."""
    return graph_statements(graph, _Features(graph).words)


class _Features:
    """The features that set the things of a graph apart from others of their name.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: SceneGraph) -> None:
        self._graph = graph
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        for entity in graph.entities:
            if (
                entity.kind == "thing"
                and entity.polarity
                and entity.member_of is None
            ):
                self._named[entity.name].append(entity.index)
        # Per entity its features: a key to compare with namesakes, the words, and the fact.
        self._facts: defaultdict[int, list[tuple[Hashable, str, object]]] = (
            defaultdict(list)
        )
        for attribute in graph.attributes:
            if attribute.polarity and self._is_sure(
                attribute.entity, attribute
            ):
                key = (attribute.kind, attribute.value)
                self._facts[attribute.entity].append(
                    (key, attribute.text, attribute)
                )
        for relation in graph.relations:
            names = {
                graph.entities[end].name
                for end in (relation.subject, relation.object)
            }
            worded = (
                relation.polarity
                and relation.kind != "possessive"
                and relation.text
            )
            if (
                worded
                and len(names) == 2
                and self._is_sure(relation.subject, relation)
            ):
                self._facts[relation.subject].append(self._feature(relation))

    def _is_sure(self, index: int, fact: Attribute | Relation) -> bool:
        """Return whether no namesake is named between a thing and its fact.

        Of two clauses joined by "and", the parse may give the verb of the second to the subject of
        the first.
        """
        if not fact.spans or fact.rule == "modifier":
            return True
        start = fact.spans[0][0]
        namesakes = self._named.get(self._graph.entities[index].name, [])
        # A parser attaches a fact to the wrong one of two namesakes; it is
        # sure only if no namesake is mentioned later before the fact.
        latest = {
            rival: _latest_mention(self._graph, rival, start)
            for rival in {index, *namesakes}
        }
        return latest[index] == max(latest.values())

    def _feature(self, relation: Relation) -> tuple[Hashable, str, Relation]:
        object_ = self._graph.entities[relation.object]
        qualities = [
            a.value
            for a in self._graph.attributes_of(object_.index)
            if a.kind == "quality" and a.polarity
        ]
        words = " ".join([*qualities, object_.name])
        return (
            (relation.predicate, words),
            f"{relation.text} the {words}",
            relation,
        )

    def words(self, index: int, fact: Attribute | Relation) -> str:
        """The features that no namesake has, without the fact itself; empty if it has none."""
        entity = self._graph.entities[index]
        namesakes = [
            namesake
            for namesake in self._named.get(entity.name, ())
            if namesake != index
        ]
        has_namesakes = index in self._named.get(entity.name, ())
        subject = fact.entity if isinstance(fact, Attribute) else fact.subject
        if not (namesakes and has_namesakes and self._is_sure(subject, fact)):
            return ""
        # Only features that no namesake has distinguish; the fact itself must
        # not, as it is what is to be verified. Brackets and commas delimit
        # features and so cannot be in them.
        rival_keys = {
            key
            for namesake in namesakes
            for key, _, _ in self._facts[namesake]
        }
        features = [
            words
            for key, words, borne_fact in self._facts[index]
            if key not in rival_keys
            and borne_fact is not fact
            and not set("(),") & set(words)
        ]
        return ", ".join(dict.fromkeys(features[:_MOST_FEATURES]))


def _latest_mention(graph: SceneGraph, index: int, before: int) -> int:
    """Return the start of a thing's last mention before a character; -1 if there is none."""
    starts = [mention.span[0] for mention in graph.entities[index].mentions]
    return max((start for start in starts if start < before), default=-1)


@dataclass(frozen=True, slots=True)
class Bearer:
    """The thing of a fact, named with its features.

    Attributes:
        head: Its noun, lower case.
        features: Its properties and actions: values, or things with their qualities.
    """

    head: str
    features: tuple[str, ...]


def without_bearers(fact: str) -> str:
    """A fact without the words in brackets."""
    return _BRACKETS.sub(r"\1", fact)


@lru_cache(maxsize=1 << 12)
def bearers(fact: str) -> tuple[Bearer, ...]:
    """The things that a fact names with words in brackets."""
    return tuple(
        # Of "in the blue dress" the thing counts: others write "wearing a blue dress".
        Bearer(
            head.lower(),
            tuple(
                part.rpartition(" the ")[2] for part in features.split(", ")
            ),
        )
        for head, features in _BRACKETS.findall(fact)
    )


def is_exchanged(fact: str, text: AnalysedText) -> bool:
    """Return whether a text states a fact of another thing than its bearer in brackets."""
    borne = _by_head(fact)
    if not borne:
        return False
    (claim,) = analysed_claims.read_texts([without_bearers(fact)])
    # Plan: for each unit of the fact, find the things of the text that have
    # it, and the thing that the brackets mean. The fact is exchanged if a
    # namesake has it and the meant thing does not.
    for unit in claim.units:
        if unit.kind == "entity" or not unit.polarity:
            continue
        if unit.object is None:
            pairs = _having(claim, unit.value, unit.subject, text)
        else:
            pairs = _related(claim, unit.text, text)
        for end in (0, 1):
            index = (unit.subject, unit.object)[end]
            bearer = None if index is None else borne.get(_head(claim, index))
            meant = None if bearer is None else _meant(bearer, text)
            if meant is None or not pairs:
                continue
            owners = {
                pair[end]
                for pair in pairs
                if _is_named(text, pair[end], bearer)
            }
            if owners and not _has(
                meant, end, pairs, claim, unit.object, borne, text
            ):
                return True
    return False


def _by_head(fact: str) -> dict[str, Bearer]:
    """The bearers of a fact by noun, without two of one noun: it is not clear which is which."""
    counts = Counter(bearer.head for bearer in bearers(fact))
    return {
        bearer.head: bearer
        for bearer in bearers(fact)
        if counts[bearer.head] == 1
    }


def _head(claim: AnalysedText, index: int) -> str:
    mention = claim.graph.entities[index].mentions[0].text
    return mention.lower().split()[-1]


def _is_named(
    text: AnalysedText, index: int | None, bearer: Bearer | None
) -> bool:
    if index is None or bearer is None:
        return False
    entity = text.graph.entities[index]
    return entity.polarity and tie(bearer.head, entity.head.lower()) == "same"


def _meant(bearer: Bearer, text: AnalysedText) -> int | None:
    """Find the thing of a bearer's name that shares most of its features.

    Returns:
        The thing; None on a tie, without shared features, or if only one thing has the name.
    """
    namesakes = [
        e.index
        for e in text.graph.entities
        if _is_named(text, e.index, bearer)
    ]
    if len(namesakes) < 2:
        return None
    scores = {index: _n_held(bearer, index, text) for index in namesakes}
    best = max(scores.values())
    leaders = [index for index, score in scores.items() if score == best]
    return leaders[0] if best and len(leaders) == 1 else None


def _n_held(bearer: Bearer, index: int, text: AnalysedText) -> int:
    """Count the features of a bearer that a thing of a text has."""
    profiles = [
        property_.value
        for property_ in text.properties
        if property_.entity == index and property_.polarity
    ]
    for _, unit, _ in text.relations:
        ends = (unit.subject, unit.object)
        sure = unit.polarity and _is_nearest(unit.subject, unit.spans, text)
        if index in ends and unit.object is not None and sure:
            far_end = unit.object if unit.subject == index else unit.subject
            profiles.append(_profile(far_end, text))
    likeness = said_in(list(bearer.features), profiles) if profiles else None
    return (
        0 if likeness is None else int((likeness.max(axis=1) >= _SAME).sum())
    )


def _profile(index: int, text: AnalysedText) -> str:
    """Describe a thing by its name and its affirmed properties."""
    qualities = [
        property_.value
        for property_ in text.properties
        if property_.entity == index and property_.polarity
    ]
    return " ".join([text.graph.entities[index].name, *qualities])


_Pairs: TypeAlias = list[tuple[int, int | None]]


def _is_nearest(index: int, spans: Sequence[Span], text: AnalysedText) -> bool:
    """Return whether no other thing of its noun is named between a thing and its fact."""
    entities, start = text.graph.entities, spans[0][0] if spans else 0
    latest_mention = _latest_mention(text.graph, index, start)
    rivals = (
        e.index
        for e in entities
        if e.index != index and e.head == entities[index].head
    )
    return latest_mention < 0 or all(
        _latest_mention(text.graph, rival, start) < latest_mention
        for rival in rivals
    )


def _having(
    claim: AnalysedText, value: str, subject: int, text: AnalysedText
) -> _Pairs:
    """The things of a text, called as the subject, that have a value."""
    properties = [
        property_ for property_ in text.properties if property_.polarity
    ]
    if not properties:
        return []
    (row,) = said_in([value], [property_.value for property_ in properties])
    head = _head(claim, subject)
    return [
        (property_.entity, None)
        for property_, alike in zip(properties, row.tolist(), strict=True)
        if alike >= _SAME
        and tie(head, text.graph.entities[property_.entity].head.lower())
        == "same"
        and _is_nearest(property_.entity, property_.spans, text)
    ]


def _related(claim: AnalysedText, words: str, text: AnalysedText) -> _Pairs:
    """The ends of the relations of a text that say a relation of the claim, in its direction."""
    verbs = verb_similarity(claim, text)
    pairs: _Pairs = []
    for row, (_, unit, predicate) in enumerate(claim.relations):
        if unit.text != words or unit.object is None:
            continue
        heads = (_head(claim, unit.subject), _head(claim, unit.object))
        for column, (_, relation, other_predicate) in enumerate(
            text.relations
        ):
            if relation.object is None or not relation.polarity:
                continue
            if not _is_nearest(relation.subject, relation.spans, text):
                continue
            straight, crossed = alike_predicates(
                predicate, other_predicate, verbs.item(row, column)
            )
            # "A left of B" is said by "B right of A" as well, with its ends
            # exchanged.
            for holds, ends in (
                (straight, (relation.subject, relation.object)),
                (crossed, (relation.object, relation.subject)),
            ):
                names = [text.graph.entities[end].head.lower() for end in ends]
                if holds and all(
                    tie(a, b) == "same"
                    for a, b in zip(heads, names, strict=True)
                ):
                    pairs.append(ends)
    return pairs


def _has(
    meant: int,
    end: int,
    pairs: _Pairs,
    claim: AnalysedText,
    object_: int | None,
    borne: dict[str, Bearer],
    text: AnalysedText,
) -> bool:
    """Return whether the thing that is meant has the fact, as far as both ends are identified."""
    mates = {pair[1 - end] for pair in pairs if pair[end] == meant}
    if not mates:
        return False
    if object_ is None:
        return True
    mate_bearer = borne.get(_head(claim, object_)) if end == 0 else None
    mate = None if mate_bearer is None else _meant(mate_bearer, text)
    return mate is None or mate in mates


def compatibility(
    fact: str, reference: str, references: Sequence[str]
) -> int | None:
    """Count the features that two facts share in brackets; None if another reference shares more.

    Args:
        fact: A fact.
        reference: A fact of the other text that says the same without the brackets.
        references: All facts of the other text.
    """
    if fact == reference:
        return len(
            fact
        )  # more than any features: a text has all its own facts
    reference_bearers = _by_head(reference)
    total = 0
    for bearer in _by_head(fact).values():
        reference_bearer = reference_bearers.get(bearer.head)
        if reference_bearer is None:
            continue
        shared = _n_shared(bearer, reference_bearer)
        # If another reference fits this bearer better, the fact belongs to
        # that one.
        for rival in references:
            for rival_bearer in bearers(rival):
                if (
                    rival_bearer.head == bearer.head
                    and _n_shared(bearer, rival_bearer) > shared
                ):
                    return None
        total += shared
    return total


def _n_shared(a: Bearer, b: Bearer) -> int:
    return int(
        (
            said_in(list(a.features), list(b.features)).max(axis=1) >= _SAME
        ).sum()
    )
