"""Comparison of statements with texts and with each other, by the built-in judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.analysed import AnalysedText, Ints, lower_excluded
from beholder.judges.builtin.bearers import is_exchanged, without_bearers
from beholder.judges.builtin.entailed import ask, log_odds
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.lexis import tie
from beholder.judges.builtin.numbers import number, table, whole
from beholder.judges.builtin.predicates import Predicate
from beholder.judges.builtin.reading import analysed, analysed_claims
from beholder.language import graph_statements
from beholder.language.lexicon import ANIMALS, PEOPLE, PICTURES
from beholder.language.numerals import number as numeral
from beholder.language.statements import GraphUnit
from beholder.text import RuleSplitter, frequency
from beholder.text import words as word_spans
from beholder.text.kinds import bases, meanings

_SHORTEST = whole("spelling.shortest")
_ALIKE = number("claims.alike")
_CLOSE = whole("claims.close")
_SURE = number("claims.sure")
_LEAST = number("claims.least")
_SHOWING = PICTURES | {"shows", "features", "depicts", "displays", "presents"}
_UNSAID = _SHOWING | {"there", "is", "are"}
"""Words of a claim that need not be in the text."""
_SPLITTER = RuleSplitter()
_VERBATIM = number("facts.verbatim")
_EXCHANGED = number("facts.exchanged")


@dataclass(frozen=True)
class Source:
    """A text in which claims are looked for.

    Attributes:
        text: The text as read.
    """

    text: AnalysedText

    @cached_property
    def wordings(self) -> list[Ints]:
        """The words of each sentence, with the names of the things it mentions ("it")."""
        text = self.text
        starts = [start for start, _ in word_spans(text.plain)]
        sentences = [
            slice(*np.searchsorted(starts, (part.start, part.end)))
            for part in _SPLITTER.split(text.plain)
        ]
        # Plan: find which entities each sentence mentions, by name or by a
        # pronoun, and add the words of their first mention to the words of the
        # sentence: "it is red" then has the name of the thing.
        entity_places = [
            (end, first)
            for end, spans in enumerate(text.mentions)
            for first, _ in spans
        ]
        for unit in text.units:
            entity_places += [
                (end, text.at(span)[0])
                for span in unit.spans
                for end in _ends(unit)
            ]
        wordings = []
        for part in sentences:
            entities = {
                end
                for end, place in entity_places
                if part.start <= place < part.stop
            }
            words = {
                p
                for end in entities
                for p in range(*next(iter(text.mentions[end]), (0, 0)))
            }
            wordings.append(
                np.array(
                    sorted({*range(part.start, part.stop), *words}), np.intp
                )
            )
        return wordings

    @cached_property
    def statements(self) -> set[str]:
        """Its own statements, without case and punctuation."""
        return {
            _plain(statement.text)
            for statement in graph_statements(self.text.graph)
        }


def evidence(
    claims: Sequence[AnalysedText],
    source: Source,
    *,
    entail: bool,
    least: float = 0.0,
) -> tuple[FloatArray, list[bool]]:
    """Return features of statements given a text; the higher, the likelier a statement is true.

    Args:
        claims: The statements.
        source: The text.
        entail: Whether the entailment model is asked, too.
        least: Lowest value of its units below which a claim is not entailed, unasked; nor is one
            that the rules find contradicted.

    Returns:
        (claims, 3 or 4): the lowest value of a claim's units and of its attributes, 1 where it has
        none; how near its words come to those of one sentence; with ``entail`` the log odds that
        the text entails it. And whether the text says each with ends or owners exchanged.
    """
    rows, exchanged, entailed, open_ = [], [], [], []
    for place, claim in enumerate(claims):
        findings = find(claim, source.text)
        values = [finding.value for finding in findings]
        attributes = [
            v
            for v, u in zip(values, claim.units, strict=True)
            if u.kind == "attribute"
        ]
        lowest = min(values, default=0.0)
        rows.append(
            [lowest, min(attributes, default=1.0), _worded(claim, source)]
        )
        exchanged.append(
            any(finding.exchanged for finding in findings)
            or is_said_of_another(claim, source.text)
        )
        is_reworded = lowest >= _SURE and _is_reworded(claim, source.text)
        # The model is slow. It is asked only about statements that the rules
        # neither settle nor contradict.
        entailed.append(float(is_reworded))
        if (
            lowest >= least
            and not is_reworded
            and not any(finding.contradiction for finding in findings)
        ):
            open_.append(place)
    features = np.array(rows).reshape(-1, 3)
    if entail:
        chances = ask(
            [" ".join(claims[place].plain.split()) for place in open_],
            source.text,
        )
        for place, chance in zip(open_, chances, strict=True):
            entailed[place] = chance.entailed
        # What both the rules and the model find need not be there in its own words.
        features[:, 2] = np.maximum(
            features[:, 2], np.minimum(features[:, 0], entailed)
        )
        features = np.c_[features, [log_odds(chance) for chance in entailed]]
    return features, exchanged


def is_said_of_another(claim: AnalysedText, text: AnalysedText) -> bool:
    """Return whether a sentence says a relation of another thing beside the claim's.

    "A girl holds a kite while a boy rides a pony" names both, so that the boy is not the girl, and
    holds no kite.
    """
    return any(
        _is_moved(unit, predicate, claim, text)
        for _, unit, predicate in claim.relations
        if unit.polarity and unit.object is not None
    )


def _is_moved(
    unit: GraphUnit,
    predicate: Predicate,
    claim: AnalysedText,
    text: AnalysedText,
) -> bool:
    # Several things may be at one place, or fill it; what someone does is another matter.
    living = (
        claim.graph.entities[unit.subject].head.lower() in ANIMALS | PEOPLE
    )
    if not (living and predicate.verb) or predicate.place:
        return False
    own = _namesakes(claim, unit.subject, text)
    objects = _namesakes(claim, unit.object, text)
    bearers = {
        other_unit.subject
        for _, other_unit, other in text.relations
        if other_unit.polarity
        and other_unit.object in objects
        and other == predicate
    }
    if len(own) != 1 or not bearers or not own.isdisjoint(bearers):
        return False
    (thing,) = own
    beside = text.sentences_of[thing]
    return all(beside & text.sentences_of[bearer] for bearer in bearers)


def _namesakes(
    claim: AnalysedText, end: int | None, text: AnalysedText
) -> set[int]:
    """The things of a text with the head of a thing of a claim."""
    if end is None:
        return set()
    head = claim.graph.entities[end].head.lower()
    entities = text.graph.entities
    return {e.index for e in entities if tie(head, e.head.lower()) == "same"}


def _is_reworded(claim: AnalysedText, text: AnalysedText) -> bool:
    """Return whether a claim is negated or relates things in words that are not in a text.

    Of what is not there, and of how relations turn ("to the right of" is said by "left of"), the
    rules know more than the words and the model.
    """
    return not all(unit.polarity for unit in claim.units) or any(
        predicate.mutual
        or not set(unit.text.lower().split()) <= set(text.words)
        for _, unit, predicate in claim.relations
    )


def probabilities(
    statements: Sequence[str], text: str, *, entail: bool = True
) -> list[float]:
    """For each statement the probability that it is true of what the text describes.

    Calibrated on statements of descriptions and on false ones made of them, half and half. Where
    the text has who and whom the other way round, what speaks for a statement is that it has the
    same words: it is no more likely than ``facts.exchanged``.
    """
    source = Source(analysed(text))
    there = set(source.text.words)
    bare = [
        respelt(without_bearers(statement), there) for statement in statements
    ]
    claims = analysed_claims.read_texts(bare)
    chances = _likely(renumbered(claims, [source.text]), source, entail)
    return [
        min(chance, _EXCHANGED)
        if is_exchanged(statement, source.text)
        else chance
        for chance, statement in zip(chances, statements, strict=True)
    ]


def _likely(
    claims: Sequence[AnalysedText],
    source: Source,
    entail: bool,
    least: float = 0.0,
) -> list[float]:
    open_ = [
        claim
        for claim in claims
        if _plain(claim.plain) not in source.statements
    ]
    features, exchanged = evidence(open_, source, entail=entail, least=least)
    # Logistic regression over the features, fitted on labelled texts; see the
    # table for the data.
    bias, *weights = table()[_decision(entail)]["value"]
    chances = 1.0 / (1.0 + np.exp(-(features @ np.array(weights) + bias)))
    # Words and model hardly notice exchanged ends, so the rules put a ceiling
    # on the probability.
    chances[exchanged] = np.minimum(chances[exchanged], _EXCHANGED)
    chances_by_claim = dict(zip(map(id, open_), chances.tolist(), strict=True))
    return [chances_by_claim.get(id(claim), _VERBATIM) for claim in claims]


def _decision(entail: bool) -> str:
    return "facts.both" if entail else "facts.rules"


def supported(
    statements: Sequence[str], text: str, *, entail: bool = True
) -> list[bool]:
    """Return for each statement whether it is more likely true than not, given a text."""
    cut = number(f"{_decision(entail)}_true")
    return [
        value >= cut
        for value in probabilities(statements, text, entail=entail)
    ]


def matches(
    claims: Sequence[AnalysedText],
    references: Sequence[AnalysedText],
    *,
    nearest: bool = False,
    entail: bool = True,
    fit: Callable[[int, int], int | None] = lambda claim, reference: 0,
) -> list[int | None]:
    """For each claim the reference that says it, and not much more, or None.

    The same words go first. Of the others, those whose words are nearest are compared closely, and
    the nearest that says the claim is taken. What denies something must be said by the claim, too:
    "there are cats" does not say that there are no dogs. With ``nearest`` the nearest is taken,
    whether it says the claim or not, where their words are alike at all.
    """
    # Plan: take the references nearest in words, those of the same bearer
    # first; a pair matches if the reference makes the claim likely and, for a
    # denial, the claim the reference, too.
    claims = renumbered(claims, references)
    close = [
        _fitting(place, near, fit)
        # Claims are grouped by reference, because each reference is analysed
        # against all its claims at once.
        for place, near in enumerate(close_to(claims, references))
    ]
    if nearest:
        return [next(iter(places), None) for places in close]
    cut = number(f"{_decision(entail)}_true")

    def says(text: AnalysedText, some: Sequence[AnalysedText]) -> list[bool]:
        return [
            chance >= cut
            for chance in _likely(some, Source(text), entail, _LEAST)
        ]

    claims_by_reference: dict[int, list[int]] = {}
    for place, near in enumerate(close):
        for i in near:
            claims_by_reference.setdefault(i, []).append(place)
    supported_pairs = {
        (place, i)
        for i, places in claims_by_reference.items()
        for place, yes in zip(
            places,
            says(references[i], [claims[p] for p in places]),
            strict=True,
        )
        if yes
    }

    def fits(place: int, i: int) -> bool:
        # "No dog" is made likely by any text without dogs; only the test in
        # both directions shows that the reference denies the same.
        denies = not all(unit.polarity for unit in claims[place].units)
        return (place, i) in supported_pairs and not (
            denies and not says(claims[place], [references[i]])[0]
        )

    return [
        next((i for i in near if fits(place, i)), None)
        for place, near in enumerate(close)
    ]


def _fitting(
    claim: int, near: Sequence[int], fit: Callable[[int, int], int | None]
) -> list[int]:
    """The references that are not of another bearer, those with the most of its features first."""
    fits = {reference: fit(claim, reference) for reference in near}
    fitting = [
        (value, reference)
        for reference, value in fits.items()
        if value is not None
    ]
    return [
        reference
        for _, reference in sorted(fitting, key=lambda pair: -pair[0])
    ]


def close_to(
    claims: Sequence[AnalysedText], references: Sequence[AnalysedText]
) -> list[list[int]]:
    """For each claim the references whose words are near to its own, the nearest first.

    Those in the same words are the only ones.
    """
    written = group_by_key(
        (_plain(view.plain), i) for i, view in enumerate(references)
    )
    alike = np.minimum(
        _alignment(claims, references), _alignment(references, claims).T
    )
    close_references = []
    for claim, row in zip(claims, alike, strict=True):
        same = written.get(_plain(claim.plain))
        close = np.argsort(-row, kind="stable")[:_CLOSE].tolist()
        close_references.append(
            [i for i in close if row[i] >= _ALIKE]
            if same is None
            else list(same)
        )
    return close_references


def _worded(claim: AnalysedText, source: Source) -> float:
    """Score 0..1 how well the words of a claim are covered by its best sentence."""
    if not claim.words or not source.text.words:
        return 0.0
    similarity = cosines(claim.word_vectors, source.text.word_vectors)
    lower_excluded(similarity, claim.word_values, source.text.word_values)
    unsaid = [word in _UNSAID for word in claim.words]
    weights = np.where(unsaid, 0.0, claim.word_weights)
    best = [
        float((similarity[:, part].max(axis=1) * weights).sum())
        for part in source.wordings
        if len(part)
    ]
    return max(best, default=0.0) / max(float(weights.sum()), 1e-9)


def _ends(unit: GraphUnit) -> set[int]:
    """The entities that a unit is about."""
    return {end for end in (unit.subject, unit.object) if end is not None}


def _alignment(
    views: Sequence[AnalysedText], other_views: Sequence[AnalysedText]
) -> FloatArray:
    """(views, others): how near the words of the one's units come to any word of the other."""
    rows, columns = _units(views), _units(other_views)
    if not len(rows[0]) or not len(columns[0]):
        return np.zeros((len(views), len(other_views)))
    # Best word of each view, then the weighted mean over the words of the
    # claim; reduceat does this for ragged rows without a loop.
    near = np.maximum.reduceat(
        cosines(rows[0], columns[0]), columns[2], axis=1
    )
    total = np.add.reduceat(near * rows[1][:, None], rows[2], axis=0)
    nearness = np.zeros((len(views), len(other_views)))
    nearness[np.ix_(rows[3], columns[3])] = (
        total / np.add.reduceat(rows[1], rows[2])[:, None]
    )
    return nearness


def _units(
    views: Sequence[AnalysedText],
) -> tuple[FloatArray, FloatArray, list[int], list[int]]:
    """Return vectors and weights of all words, and starts and numbers of views with words."""
    filled = [i for i, view in enumerate(views) if view.words]
    if not filled:
        return np.zeros((0, 0)), np.zeros(0), [], []
    starts = [
        0,
        *np.cumsum([len(views[i].words) for i in filled])[:-1].tolist(),
    ]
    word_vectors = np.concatenate([views[i].word_vectors for i in filled])
    weights = np.concatenate([views[i].word_weights for i in filled])
    return word_vectors, weights + 1e-9, starts, filled


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def renumbered(
    claims: Sequence[AnalysedText], texts: Iterable[AnalysedText]
) -> Sequence[AnalysedText]:
    """Claims whose amounts are worded as the texts word the same numbers.

    Statements are compared with texts by their words, too, and a number has many.

    Args:
        claims: The statements as read.
        texts: Texts that the claims are compared with.
    """
    written = {
        entity.quantity.lower(): value
        for text in texts
        for entity in text.graph.entities
        if entity.quantity is not None
        and (value := numeral(entity.quantity)) is not None
    }
    if not written:
        return claims
    return [_worded_as(claim, written) for claim in claims]


def _worded_as(claim: AnalysedText, written: dict[str, float]) -> AnalysedText:
    text = claim.graph.text
    spans = {
        span for unit in claim.units if unit.quantity for span in unit.spans
    }
    # From the last to the first, so that earlier positions stay valid while
    # the text changes.
    for start, end in sorted(spans, reverse=True):
        numeral_text = text[start:end].lower()
        if numeral_text in written:
            continue
        value = numeral(numeral_text)
        spelling = next(
            (
                words
                for words, number_value in written.items()
                if number_value == value
            ),
            None,
        )
        if spelling is not None:
            text = f"{text[:start]}{spelling}{text[end:]}"
    return (
        claim
        if text == claim.graph.text
        else analysed_claims.read_texts([text])[0]
    )


def respelt(statement: str, words: Collection[str]) -> str:
    """A statement with each unknown word replaced by the word of a text that is one edit away.

    Args:
        statement: The statement.
        words: The words of the text, lower case.
    """

    def mended(match: re.Match[str]) -> str:
        word = match.group().lower()
        if len(word) < _SHORTEST or word in words or _is_known(word):
            return match.group()
        near = [candidate for candidate in words if _one_edit(word, candidate)]
        return near[0] if len(near) == 1 else match.group()

    return re.sub(r"[A-Za-z]+", mended, statement)


def _is_known(word: str) -> bool:
    return frequency.weight(word) < 1.0 or any(
        meanings(base) for base in (word, *bases(word))
    )


def _one_edit(a: str, b: str) -> bool:
    """Return whether two words are one insertion, deletion, substitution or swap apart."""
    if abs(len(a) - len(b)) > 1 or a == b or a[0] != b[0]:
        return False
    # Skip the common prefix; the rests then differ at their first letter, and
    # one edit must make them equal.
    start = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y),
        min(len(a), len(b)),
    )
    a_rest, b_rest = a[start:], b[start:]
    return (
        a_rest[1:] == b_rest[1:]
        or a_rest[1:] == b_rest
        or a_rest == b_rest[1:]
        or (a_rest[:2] == b_rest[1::-1] and a_rest[2:] == b_rest[2:])
    )
