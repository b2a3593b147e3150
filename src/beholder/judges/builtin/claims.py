"""Statements against texts and against each other, as the built-in judge sees them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.analysed import AnalysedText, lower_excluded
from beholder.judges.builtin.attachment import in_order, related
from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.lexis import says
from beholder.judges.builtin.numbers import PRESENT, number, table, whole
from beholder.judges.builtin.reading import analysed, analysed_claims
from beholder.judges.builtin.rivals import ClaimWording, unrivalled
from beholder.judges.builtin.vectors import vectors
from beholder.language import graph_statements
from beholder.language.lexicon import PICTURES
from beholder.language.numerals import number as numeral
from beholder.language.units import GraphUnit
from beholder.language.words import word_set
from beholder.text import RuleSplitter, frequency
from beholder.text import words as word_spans
from beholder.text.kinds import bases, meanings

_SHORTEST = whole("spelling.shortest")
_EXCLUDED = number("evidence.excluded")
_WORDED = number("claims.worded")
_SAYS = number("claims.says")
_NAMESAKE = number("claims.namesake")
_SURE = number("claims.sure")
_UNTOLD = number("claims.untold")
_ALIKE = number("claims.alike")
_CLOSE = whole("claims.close")
_SHOWING = PICTURES | {"shows", "features", "depicts", "displays", "presents"}
_UNSAID = _SHOWING.union(
    *(word_set("lexicon.txt", name) for name in ("focus adverbs", "negations", "quantifiers")),
    ("this", "these", "those", "has", "have", "been", "being", "can", "cannot", "would"),
    ("do", "does", "did"),
    ("which", "if", "than", "seen", "shown", "visible", "appear", "appears", "seem", "seems"),
)
"""Words of a claim that need not be in the text beside what the claim says."""
_SPLITTER = RuleSplitter()
_VERBATIM = number("facts.verbatim")
_TRUE = number("facts.true")
_EXCHANGED = number("facts.exchanged")
_WEIGHTS = {
    name.removeprefix("facts.weight_"): number(name)
    for name in table()
    if name.startswith("facts.weight_")
}


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
    def wordings(self) -> list[npt.NDArray[np.intp]]:
        """The words of each sentence, with the names of the things it mentions ("it")."""
        text = self.text
        named = [(end, first) for end, spans in enumerate(text.mentions) for first, _ in spans]
        for unit in text.units:
            named += [(end, text.at(span)[0]) for span in unit.spans for end in _ends(unit)]
        found = []
        for part in self.sentences:
            told = {end for end, place in named if part.start <= place < part.stop}
            words = {p for end in told for p in range(*next(iter(text.mentions[end]), (0, 0)))}
            found.append(np.array(sorted({*range(part.start, part.stop), *words}), np.intp))
        return found

    @cached_property
    def said(self) -> set[str]:
        """Its own statements, without case and punctuation."""
        return {_plain(statement.text) for statement in graph_statements(self.text.graph)}


@dataclass(frozen=True, slots=True)
class StatementEvidence:
    """What a text says of one statement; the more of each, the likelier the statement is true.

    Attributes:
        grade: See ``grade``, as 0..1.
        attribute: Lowest value of its attributes, 0..1; 1 where it has none.
        attached: 1 if the text gives its relations their own ends.
        together: How near to each other its words are in a sentence, 0..1: two of its words count
            by how many things are named between them.
        worded: How near its words come to those of one sentence, 0..1.
        consistent: 1 unless the text contradicts a unit.
        unowned: 1 unless the text says its colours, sides and relations of other things only.
    """

    grade: float
    attribute: float
    attached: float
    together: float
    worded: float
    consistent: float
    unowned: float
    unrivalled: float


def statement_evidence(claim: AnalysedText, source: Source) -> StatementEvidence:
    """The evidence on one statement."""
    return _evidence(_looked(claim, source))


def _evidence(looked: _Looked) -> StatementEvidence:
    claim, text, found = looked.claim, looked.source.text, looked.found
    attributes = (
        finding.value
        for finding, unit in zip(found, claim.units, strict=True)
        if unit.kind == "attribute"
    )
    wording = ClaimWording(claim, text, _UNSAID)
    return StatementEvidence(
        grade=(looked.grade - 1.0) / 4.0,
        attribute=min(attributes, default=1.0),
        attached=float(looked.attached),
        together=_together(claim, text),
        worded=looked.worded,
        consistent=float(not any(finding.contradiction for finding in found)),
        unowned=float(not looked.of_others),
        unrivalled=unrivalled(wording, _told(looked)),
    )


def probabilities(statements: Sequence[str], text: str) -> list[float]:
    """For each statement the probability that it is true of what the text describes.

    Calibrated on statements of descriptions and on false ones made of them, half and half. Where
    the text has who and whom the other way round, what speaks for a statement is that it has the
    same words: it is no more likely than ``facts.exchanged``.
    """
    source = Source(analysed(text))
    there = source.text.places.keys()
    claims = analysed_claims.of([respelt(statement, there) for statement in statements])
    return [
        _VERBATIM if _plain(claim.graph.text) in source.said else _likely(_looked(claim, source))
        for claim in renumbered(claims, [source.text])
    ]


def _likely(looked: _Looked) -> float:
    made = _probability(_evidence(looked))
    return min(made, _EXCHANGED) if any(finding.exchanged for finding in looked.found) else made


def _probability(evidence: StatementEvidence) -> float:
    total = _WEIGHTS["bias"] + sum(
        _WEIGHTS[field.name] * getattr(evidence, field.name) for field in fields(evidence)
    )
    return 1.0 / (1.0 + math.exp(-total))


def supported(statements: Sequence[str], text: str) -> list[bool]:
    """Whether a text makes each statement more likely true than not."""
    return [value >= _TRUE for value in probabilities(statements, text)]


def matches(
    claims: Sequence[AnalysedText], references: Sequence[AnalysedText], *, nearest: bool = False
) -> list[int | None]:
    """For each claim the reference that says it, and not much more, or None.

    The same words go first. Of the others, those whose words are nearest are compared closely, and
    the nearest that says the claim is taken. What denies something must be said by the claim, too:
    "there are cats" does not say that there are no dogs. With ``nearest`` the nearest is taken,
    whether it says the claim or not, where their words are alike at all.
    """
    claims = renumbered(claims, references)
    sources = [Source(view, whole=True) for view in references]
    found: list[int | None] = []
    for claim, close in zip(claims, close_to(claims, references), strict=True):
        own = Source(claim, whole=True)
        affirms = all(unit.polarity for unit in claim.units)
        found.append(
            next(
                (
                    i
                    for i in close
                    if nearest
                    or _plain(references[i].graph.text) == _plain(claim.graph.text)
                    or (
                        grade(claim, sources[i]) >= PRESENT
                        and (affirms or grade(references[i], own) >= PRESENT)
                    )
                ),
                None,
            )
        )
    return found


def close_to(claims: Sequence[AnalysedText], references: Sequence[AnalysedText]) -> list[list[int]]:
    """For each claim the references whose words are near to its own, the nearest first.

    One in the same words is the only one.
    """
    written = {_plain(view.graph.text): i for i, view in reversed(list(enumerate(references)))}
    alike = np.minimum(_alignment(claims, references), _alignment(references, claims).T)
    found = []
    for claim, row in zip(claims, alike, strict=True):
        same = written.get(_plain(claim.graph.text))
        close = np.argsort(-row, kind="stable")[:_CLOSE].tolist()
        found.append([i for i in close if row[i] >= _ALIKE] if same is None else [same])
    return found


def grade(claim: AnalysedText, source: Source) -> float:
    """The lowest grade of a claim's units in a text, but no less than ``PRESENT`` if it is worded.

    That the words of a relation are in the text is no evidence that it says it of these two things:
    they must stand together (``_attached``), or the claim counts as not said. What the claim says
    beside its units must be in one sentence with them.

    A claim is worded where one sentence has its words, nothing contradicts it, and its colours,
    sides and relations are not said of other things only: words still show what a wrong parse
    hides.
    """
    return _looked(claim, source).grade


@dataclass(frozen=True)
class _Looked:
    """A claim that was looked for in a text; each part is computed on first use."""

    claim: AnalysedText
    source: Source
    found: Sequence[Finding]

    @cached_property
    def grade(self) -> float:
        lowest = min((finding.grade for finding in self.found), default=1.0)
        told = lowest >= PRESENT and self.attached
        if told and not self.beyond:
            return lowest
        if self.worded < _WORDED:
            return min(lowest, _UNTOLD)
        if told:
            return lowest
        denied = any(f.contradiction for f in self.found) or not all(
            unit.polarity for unit in self.claim.units
        )
        return min(lowest, _UNTOLD) if denied or self.of_others else PRESENT

    @cached_property
    def attached(self) -> bool:
        return _attached(self.claim, self.found, self.source.text)

    @cached_property
    def beyond(self) -> bool:
        return _beyond_units(self.claim)

    @cached_property
    def worded(self) -> float:
        return _worded(self.claim, self.source)

    @cached_property
    def of_others(self) -> bool:
        return _of_others(self.claim, self.source.text)


def _looked(claim: AnalysedText, source: Source) -> _Looked:
    return _Looked(claim, source, find(claim, source.text))


def _told(looked: _Looked) -> set[int]:
    """The words of sides that the text gives from the other end: "left of" for "right of"."""
    return {
        place
        for at, unit, predicate in looked.claim.relations
        if predicate.place == "left of" and looked.found[at].value >= _SURE
        for span in unit.spans
        for place in range(*looked.claim.at(span))
    }


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
    similarity = cosines(claim.word_vectors, source.text.word_vectors)
    lower_excluded(similarity, claim.word_values, source.text.word_values, _EXCLUDED)
    # Words that mean the picture itself ("the image shows") need not be there.
    weights = np.array(
        [0.0 if word in _SHOWING else frequency.weight(word) for word in claim.words]
    )
    best = [
        float((similarity[:, part].max(axis=1) * weights).sum())
        for part in source.wordings
        if len(part)
    ]
    return max(best, default=0.0) / max(float(weights.sum()), 1e-9)


def _together(claim: AnalysedText, text: AnalysedText) -> float:
    """How near to each other a text has each two neighbours among a claim's content words."""
    words = [word for word in _telling(claim.words) if word not in _UNSAID]
    places = [
        [p for other, at in text.places.items() if says(word, other) for p in at] for word in words
    ]
    if len(words) < 2:
        return float(all(places))
    things = np.zeros(len(text.words) + 1)
    things[[place + 1 for place in text.named_at]] = 1.0
    before = np.cumsum(things)  # things named before each word
    total = 0.0
    for first, second in pairwise(places):
        best = 0.0
        for a in first:
            for b in second:
                if a != b and text.sentences[a] == text.sentences[b]:
                    low, high = min(a, b), max(a, b)
                    between = before[high] - before[low + 1]
                    best = max(best, 1.0 / (1.0 + between))
        total += best
    return total / (len(words) - 1)


def _of_others(claim: AnalysedText, text: AnalysedText) -> bool:
    """Whether the text says a colour, side or relation of the claim only of other things."""
    for place, _ in claim.word_values:
        if place in claim.named_at:  # "man" names the thing itself
            continue
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
    return bool(names) and bool(cosines(vectors(among), vectors(names)).max() >= _NAMESAKE)


def _telling(words: Sequence[str]) -> list[str]:
    return [word for word in words if frequency.weight(word) > _SAYS]


def _alignment(views: Sequence[AnalysedText], others: Sequence[AnalysedText]) -> FloatArray:
    """(views, others): how near the words of the one's units come to any word of the other."""
    rows, columns = _units(views), _units(others)
    if not len(rows[0]) or not len(columns[0]):
        return np.zeros((len(views), len(others)))
    near = np.maximum.reduceat(cosines(rows[0], columns[0]), columns[2], axis=1)
    total = np.add.reduceat(near * rows[1][:, None], rows[2], axis=0)
    found = np.zeros((len(views), len(others)))
    found[np.ix_(rows[3], columns[3])] = total / np.add.reduceat(rows[1], rows[2])[:, None]
    return found


def _units(views: Sequence[AnalysedText]) -> tuple[FloatArray, FloatArray, list[int], list[int]]:
    """Vectors and weights of all words; where each view's begin, and which views have any."""
    filled = [i for i, view in enumerate(views) if view.words]
    if not filled:
        return np.zeros((0, 0)), np.zeros(0), [], []
    starts = [0, *np.cumsum([len(views[i].words) for i in filled])[:-1].tolist()]
    found = np.concatenate([views[i].word_vectors for i in filled])
    weights = [frequency.weight(word) + 1e-9 for i in filled for word in views[i].words]
    return found, np.array(weights), starts, filled


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def renumbered(
    claims: Sequence[AnalysedText], texts: Iterable[AnalysedText]
) -> Sequence[AnalysedText]:
    """Claims whose amounts are worded as the texts word the same numbers.

    Statements are compared with texts by their words, too, and a number has many.

    Args:
        claims: The statements as read.
        texts: What they are compared with.
    """
    written = {
        entity.quantity.lower(): value
        for text in texts
        for entity in text.graph.entities
        if entity.quantity is not None and (value := numeral(entity.quantity)) is not None
    }
    if not written:
        return claims
    return [_worded_as(claim, written) for claim in claims]


def _worded_as(claim: AnalysedText, written: dict[str, float]) -> AnalysedText:
    text = claim.graph.text
    spans = {span for unit in claim.units if unit.quantity for span in unit.spans}
    for start, end in sorted(spans, reverse=True):
        said = text[start:end].lower()
        if said in written:
            continue
        value = numeral(said)
        other = next((words for words, known in written.items() if known == value), None)
        if other is not None:
            text = f"{text[:start]}{other}{text[end:]}"
    return claim if text == claim.graph.text else analysed_claims.of([text])[0]


def respelt(statement: str, words: Collection[str]) -> str:
    """A statement with each unknown word replaced by the word of a text that is one edit away.

    Args:
        statement: The statement.
        words: The words of the text, lower case.
    """

    def mended(found: re.Match[str]) -> str:
        word = found.group().lower()
        if len(word) < _SHORTEST or word in words or _is_known(word):
            return found.group()
        near = [other for other in words if _one_edit(word, other)]
        return near[0] if len(near) == 1 else found.group()

    return re.sub(r"[A-Za-z]+", mended, statement)


def _is_known(word: str) -> bool:
    return frequency.weight(word) < 1.0 or any(meanings(base) for base in (word, *bases(word)))


def _one_edit(a: str, b: str) -> bool:
    """Whether one letter more, less or other, or two exchanged, make one word of the other."""
    if abs(len(a) - len(b)) > 1 or a == b or a[0] != b[0]:
        return False
    start = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    rest, other = a[start:], b[start:]
    return (
        rest[1:] == other[1:]
        or rest[1:] == other
        or rest == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )
