"""Statements against texts and against each other, as the built-in judge sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.analysed import AnalysedText, lower_excluded
from beholder.judges.builtin.attachment import in_order, related
from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.settings import settings
from beholder.judges.builtin.vectors import vectors
from beholder.language import graph_statements
from beholder.language.lexicon import PICTURES
from beholder.language.units import GraphUnit
from beholder.language.words import word_set
from beholder.text import RuleSplitter, frequency
from beholder.text import words as word_spans

PRESENT = 3.0
"""Grade from which a unit counts as there."""
_WORDED = 0.9
"""Share of a claim's words, by what they say, from which one sentence says it in its words."""
_SAYS = 0.25
"""Weight from which a word says something."""
_NAMESAKE = 0.7
"""Similarity of words from which a name means the same thing."""
_SURE = 0.8
"""Value of a relation from which the text relates its ends by more than the order of words."""
_UNTOLD = 2.0
"""Highest grade of a claim whose words are in a text, but not together."""
_ALIKE = 0.6
"""Word alignment, of each with the other, below which one statement is no part of the other."""
_CLOSE = 5
"""Statements that are looked at more closely for each claim."""
_SHOWING = PICTURES | {"shows", "features", "depicts", "displays", "presents"}
_UNSAID = _SHOWING.union(
    *(word_set("lexicon.txt", name) for name in ("focus adverbs", "negations", "quantifiers")),
    ("this", "these", "those", "has", "have", "been", "being", "can", "cannot", "would"),
    ("which", "if", "than", "seen", "shown", "visible", "appear", "appears", "seem", "seems"),
)
"""Words of a claim that need not be in the text beside what the claim says."""
_SPLITTER = RuleSplitter()


@dataclass(frozen=True)
class Source:
    """A text in which claims are looked for.

    Attributes:
        text: The text as read.
        whole: Whether it is taken as one sentence.
    """

    text: AnalysedText
    whole: bool = False

    @cached_property
    def sentences(self) -> list[slice]:
        """The words of each sentence, as places in ``text.words``."""
        text = self.text.graph.text
        starts = [start for start, _ in word_spans(text)]
        if self.whole:
            return [slice(0, len(starts))]
        parts = _SPLITTER.split(text)
        return [slice(*np.searchsorted(starts, (part.start, part.end))) for part in parts]

    @cached_property
    def said(self) -> set[str]:
        """Its own statements, without case and punctuation."""
        return {_plain(statement.text) for statement in graph_statements(self.text.graph)}


def supported(claims: Sequence[AnalysedText], text: AnalysedText) -> list[bool]:
    """Whether a text says all of each claim: as one of its own statements, or in other words."""
    source = Source(text)
    return [
        _plain(claim.graph.text) in source.said or grade(claim, source) >= PRESENT
        for claim in claims
    ]


def matches(claims: Sequence[AnalysedText], references: Sequence[AnalysedText]) -> list[int | None]:
    """For each claim the reference that says it, and not much more, or None.

    The same words go first. Of the others, those whose words are nearest are compared closely, and
    the nearest that says the claim is taken. What denies something must be said by the claim, too:
    "there are cats" does not say that there are no dogs.
    """
    written = {_plain(text.graph.text): i for i, text in reversed(list(enumerate(references)))}
    alike = np.minimum(_alignment(claims, references), _alignment(references, claims).T)
    sources = [Source(text, whole=True) for text in references]
    found: list[int | None] = []
    for claim, row in zip(claims, alike, strict=True):
        same = written.get(_plain(claim.graph.text))
        if same is None:
            own = Source(claim, whole=True)
            affirms = all(unit.polarity for unit in claim.units)
            nearest = np.argsort(-row, kind="stable")[:_CLOSE].tolist()
            same = next(
                (
                    i
                    for i in nearest
                    if row[i] >= _ALIKE
                    and grade(claim, sources[i]) >= PRESENT
                    and (affirms or grade(references[i], own) >= PRESENT)
                ),
                None,
            )
        found.append(same)
    return found


def grade(claim: AnalysedText, source: Source) -> float:
    """The lowest grade of a claim's units in a text, but no less than ``PRESENT`` if it is worded.

    That the words of a relation are in the text is no evidence that it says it of these two things:
    they must stand together (``_attached``), or the claim counts as not said. What the claim says
    beside its units must be in one sentence with them.

    A claim is worded where one sentence has its words, nothing contradicts it, and its colours,
    sides and relations are not said of other things only: what a wrong parse hides, words still
    tell.
    """
    found = find(claim, source.text, settings())
    lowest = min(
        (
            settings().grade(unit.kind, finding.value)
            for unit, finding in zip(claim.units, found, strict=True)
        ),
        default=1.0,
    )
    told = lowest >= PRESENT and _attached(claim, found, source.text)
    if told and not _beyond_units(claim):
        return lowest
    if _worded(claim, source) < _WORDED:
        return min(lowest, _UNTOLD)
    if told:
        return lowest
    denied = any(f.contradiction for f in found) or not all(unit.polarity for unit in claim.units)
    return min(lowest, _UNTOLD) if denied or _of_others(claim, source.text) else PRESENT


def _attached(claim: AnalysedText, found: Sequence[Finding], text: AnalysedText) -> bool:
    """Whether the text gives each relation of a claim its own ends."""
    return all(
        in_order(claim, unit, predicate, text)
        or (found[place].value >= _SURE and related(claim, unit, text))
        for place, unit, predicate in claim.relations
        if unit.polarity
    )


def _beyond_units(claim: AnalysedText) -> bool:
    """Whether a claim has words that say something and belong to none of its units."""
    known: set[int] = set()
    for unit in claim.units:
        spans = [claim.at(span) for span in unit.spans]
        for entity in _ends(unit):
            spans += claim.mentions[entity]
        known.update(place for span in spans for place in range(*span))
    rest = [word for place, word in enumerate(claim.words) if place not in known]
    return any(word not in _UNSAID for word in _telling(rest))


def _worded(claim: AnalysedText, source: Source) -> float:
    """How near the words of a claim come to those of one sentence, 0..1."""
    if not claim.words or not source.text.words:
        return 0.0
    similarity = np.clip(claim.word_vectors @ source.text.word_vectors.T, 0.0, 1.0)
    lower_excluded(similarity, claim.word_values, source.text.word_values, settings().excluded)
    # Words that mean the picture itself ("the image shows") need not be there.
    weights = np.array(
        [0.0 if word in _SHOWING else frequency.weight(word) for word in claim.words]
    )
    best = [
        float(similarity[:, part].max(axis=1) @ weights)
        for part in source.sentences
        if part.start < part.stop
    ]
    return max(best, default=0.0) / max(float(weights.sum()), 1e-9)


def _of_others(claim: AnalysedText, text: AnalysedText) -> bool:
    """Whether the text says a colour, side or relation of the claim only of other things."""
    for place, _ in claim.word_values:
        word = claim.words[place]
        owners = {p.entity for p in text.properties if word in _words(f"{p.value} {p.text}")}
        for unit in _related(text, [word]):
            owners |= _ends(unit)
        others = _telling(claim.words[:place] + claim.words[place + 1 :])
        if owners and others and not any(_named(owner, others, text) for owner in owners):
            return True
    for _, relation, _ in claim.relations:
        said = _words(relation.text)
        told = _related(text, said) if said else []
        ends = _telling(claim.words)
        if told and not any(
            all(_named(entity, ends, text) for entity in _ends(unit)) for unit in told
        ):
            return True
    return False


def _related(text: AnalysedText, wanted: Sequence[str]) -> list[GraphUnit]:
    """The relations of a text that have these words."""
    return [unit for _, unit, _ in text.relations if set(wanted) <= set(_words(unit.text))]


def _ends(unit: GraphUnit) -> set[int]:
    """The entities that a unit is about."""
    return {unit.subject} if unit.object is None else {unit.subject, unit.object}


def _named(entity: int, among: Sequence[str], text: AnalysedText) -> bool:
    """Whether words name an entity of the text."""
    mentions = text.graph.entities[entity].mentions
    names = [name for mention in mentions for name in _words(mention.text)]
    return bool(names) and float((vectors(among) @ vectors(names).T).max()) >= _NAMESAKE


def _telling(words: Sequence[str]) -> list[str]:
    return [word for word in words if frequency.weight(word) > _SAYS]


def _alignment(texts: Sequence[AnalysedText], others: Sequence[AnalysedText]) -> FloatArray:
    """(texts, others): how near the words of the one's units come to any word of the other."""
    rows, columns = _units(texts), _units(others)
    if not len(rows[0]) or not len(columns[0]):
        return np.zeros((len(texts), len(others)))
    near = np.maximum.reduceat(rows[0] @ columns[0].T, columns[2], axis=1)
    total = np.add.reduceat(np.clip(near, 0.0, 1.0) * rows[1][:, None], rows[2], axis=0)
    found = np.zeros((len(texts), len(others)))
    found[np.ix_(rows[3], columns[3])] = total / np.add.reduceat(rows[1], rows[2])[:, None]
    return found


def _units(texts: Sequence[AnalysedText]) -> tuple[FloatArray, FloatArray, list[int], list[int]]:
    """Vectors and weights of all words; where each text's begin, and which texts have any."""
    filled = [i for i, text in enumerate(texts) if text.words]
    if not filled:
        return np.zeros((0, 0)), np.zeros(0), [], []
    starts = [0, *np.cumsum([len(texts[i].words) for i in filled])[:-1].tolist()]
    found = np.concatenate([texts[i].word_vectors for i in filled])
    weights = [frequency.weight(word) + 1e-9 for i in filled for word in texts[i].words]
    return found, np.array(weights), starts, filled


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()
