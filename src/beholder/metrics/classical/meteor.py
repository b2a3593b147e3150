"""METEOR without Java: an alignment by exact, stem and synonym matches, then its score."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from beholder.asking.params import installed_version
from beholder.base.grouping import group_by_key
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.metrics import Bounds, Tools, ValueInfo, param
from beholder.metrics.classical.tokens import TokenizedTexts, WordMetric, Words
from beholder.records import Item, ItemScore
from beholder.text.languages import ENGLISH, language_named
from beholder.text.synonyms import identity as synonyms_identity
from beholder.text.synonyms import senses

BEAM = 40
NEAR = 8
"""Places tried on each side of the expected one; more help only in very repetitive texts."""


class Match(NamedTuple):
    """A word of the candidate and its word of the reference.

    Attributes:
        candidate: Place in the candidate.
        reference: Place in the reference.
        weight: Of the kind of match.
    """

    candidate: int
    reference: int
    weight: float


@dataclass(frozen=True, slots=True)
class _State:
    """An alignment of the first words of the candidate."""

    used: int  # bits of the reference's places
    last: int  # place matched by the word before, or -2
    covered: int
    exact: int  # of these, matches that count for their own sake
    chunks: int
    distance: int
    match: Match | None = None  # the newest one; the others are its parents'
    parent: _State | None = None


def _rank_cover(state: _State) -> tuple[int, ...]:
    return (-state.covered, state.chunks, state.distance)


def _rank_published(state: _State) -> tuple[int, ...]:
    return (-state.exact, state.chunks, -state.covered, state.distance)


def align(
    options: Sequence[Sequence[tuple[int, float]]], *, cover: bool
) -> list[Match]:
    """Return the best one-to-one alignment.

    A word with one possible match that no other word wants is matched. Among the rest, with
    ``cover``, most words are covered, then chunks are fewest, then the distance is least. Without,
    as the published program does: matches of weight 1 are most, then chunks fewest, then matches of
    any weight most, so that a doubtful stem or synonym is matched only where it costs no chunk.

    A beam of 40 alignments is followed through the candidate, which is exact for all but very
    repetitive texts.

    Args:
        options: Per word of the candidate, its possible matches: place of the reference and weight;
            a place can stand twice, with different weights.
        cover: Cover the most words first; else as published.

    Returns:
        Matches in the candidate's order, no place used twice.
    """
    # Equal words share one list of choices, which is counted once: texts repeat words.
    n_uses: Counter[int] = Counter()
    repeats = Counter(map(id, options))
    for choices in {id(choices): choices for choices in options}.values():
        for place, _ in choices:
            n_uses[place] += repeats[id(choices)]
    sure = [
        len(choices) == 1 and n_uses[choices[0][0]] == 1 for choices in options
    ]
    rank = _rank_cover if cover else _rank_published
    # Beam search over the candidate's words; states with the same future (the
    # places used and the last one) are merged, the better one is kept.
    beam = [_State(0, -2, 0, 0, 0, 0)]
    for position, choices in enumerate(options):
        best: dict[tuple[int, int], _State] = {}
        for state in beam:
            for following in _steps(state, position, choices, sure[position]):
                key = (following.used, following.last)
                best_state = best.get(key)
                if best_state is None or rank(following) < rank(best_state):
                    best[key] = following
        beam = (
            sorted(best.values(), key=rank)[:BEAM]
            if len(best) > 1
            else list(best.values())
        )
    # The matches are read back from the last state to the first.
    matches = []
    newest: _State | None = beam[0]
    while newest is not None:
        if newest.match is not None:
            matches.append(newest.match)
        newest = newest.parent
    return matches[::-1]


def _steps(
    state: _State,
    position: int,
    choices: Sequence[tuple[int, float]],
    sure: bool,
) -> Iterator[_State]:
    # The word stays unmatched; a sure one never does.
    if not sure:
        yield replace(state, last=-2, match=None, parent=state)
    for place, weight in _near_choices(choices, position, state.last + 1):
        # Each place is used once.
        if not state.used >> place & 1:
            yield _State(
                used=state.used | 1 << place,
                last=place,
                covered=state.covered + 1,
                exact=state.exact + (sure or weight >= 1),
                chunks=state.chunks + (place != state.last + 1),
                distance=state.distance + abs(position - place),
                match=Match(position, place, weight),
                parent=state,
            )


def _near_choices(
    choices: Sequence[tuple[int, float]], position: int, following: int
) -> Sequence[tuple[int, float]]:
    """Return all places, or of many those near this position and near the next place."""
    if len(choices) <= 4 * NEAR:
        return choices
    near_choices: set[tuple[int, float]] = set()
    for expected in (position, following):
        middle = bisect_left(choices, (expected, 0.0))
        near_choices.update(choices[max(0, middle - NEAR) : middle + NEAR])
    return sorted(near_choices)


EXACT, STEM, SYNONYM = 1.0, 0.6, 0.8
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75

# Words of closed classes that are more than about one in a thousand of English prose: they say
# little, so content words weigh DELTA and these 1 - DELTA.
_FUNCTION_WORDS = """
a an the this that these some any all no other i you he she it we they him her them my your his its
our their who which what is are was were be been being do have has had will would should can could
may of in on at to from by with about into over for as than out up down off after before through
between and or but so if while when where not there then also more only one
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True)
class METEOR(WordMetric):
    """METEOR: words aligned by form, stem and synonym, less a penalty for scattered matches.

    Each word is matched at most once. ``matching='published'`` aligns as the program METEOR 1.5
    does: most exact matches, then fewest chunks (runs that are adjacent on both sides); a stem or
    synonym with several possible counterparts is matched only where it costs no chunk.
    ``matching='cover'`` covers the most words first, which agrees better with people.

    Matches weigh 1 (same word), 0.6 (same stem) and 0.8 (a shared WordNet sense); content words
    weigh 0.75 and function words 0.25. From the weighted precision P and recall R:
    ``F = P R / (0.85 P + 0.15 R)``, times ``1 - 0.6 (chunks / matches)^0.2``; no penalty for one
    chunk that covers both texts. The best reference counts. These are the weights of METEOR 1.5
    for English; its fourth stage, a table of paraphrases, is left out. Range 0..1, higher is
    better. The corpus value is made from summed counts.

    Other languages: name a Snowball ``stemmer`` (or ``none``) and ``synonyms='none'``. An item
    whose row names a language that the stemmer or the synonyms are not made for is a failure. Where
    rows name none, words of other scripts match by form.

    Source: Denkowski and Lavie 2014.

    Raises:
        ConfigError: A parameter is unknown.
    """

    stemmer: str = param(
        "english", "Snowball algorithm, such as english or hindi, or none"
    )
    synonyms: Literal["wordnet", "none"] = param(
        "wordnet", "synonyms, of English"
    )
    matching: Literal["published", "cover"] = param(
        "published", "doubtful matches: as the published program, or cover"
    )

    registered_name = "meteor"
    bounds = Bounds(compares="words")
    values = (ValueInfo("meteor", "METEOR, best reference"),)
    corpus_values = (ValueInfo("corpus_meteor", "METEOR of summed counts"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            self.stemmer != "none"
            and self.stemmer not in _snowball().algorithms()
        ):
            raise ConfigError(
                f"stemmer={self.stemmer!r}: expected none or one of"
                f" {', '.join(_snowball().algorithms())}"
            )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the tokenizer, the stemmer and the synonyms."""
        identities = super().identities(tools)
        if self.stemmer != "none":
            identities["stemmer"] = (
                f"{self.stemmer}@snowball{installed_version('snowballstemmer')}"
            )
        if self.synonyms != "none":
            identities["synonyms"] = synonyms_identity()
        return identities

    def check_tools(self, subject: Item, tools: Tools) -> None:
        """Refuse an item in a language that the stemmer or the synonyms are not made for.

        Raises:
            ItemError: Names the language of the row, and the parameters to change.
        """
        super().check_tools(subject, tools)
        language = language_named(subject.language)
        if language is None:
            # Rows that name no language are scored: words of other scripts
            # match by form.
            return
        unfit = []
        if self.stemmer != "none" and language != _stemmed_language(
            self.stemmer
        ):
            unfit.append(f"stemmer={self.stemmer!r}")
        if self.synonyms != "none" and language != ENGLISH:
            unfit.append(f"synonyms={self.synonyms!r}")
        if unfit:
            fit = (
                language.lower()
                if language.lower() in _snowball().algorithms()
                else "none"
            )
            raise ItemError(
                f"meteor with {' and '.join(unfit)} does not read {language}, which the row says"
                f" its texts are in; use meteor(stemmer={fit!r}, synonyms='none')"
            )

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Align with each reference and keep the best score."""
        best = max(
            (
                self._statistics(evidence.candidate, reference)
                for reference in evidence.references
            ),
            key=meteor_score,
        )
        return ItemScore(
            {"meteor": meteor_score(best)}, detail={"statistics": best}
        )

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return METEOR of summed counts."""
        return {
            "corpus_meteor": meteor_score(
                [float(count) for count in statistics]
            )
        }

    def _statistics(self, candidate: Words, reference: Words) -> list[float]:
        # Equal words of the candidate share one list of options.
        index = _index(reference, self.stemmer, self.synonyms)
        options = {
            word: self._options(word, index)
            for word in dict.fromkeys(candidate)
        }
        matches = align(
            [options[word] for word in candidate],
            cover=self.matching == "cover",
        )
        return meteor_statistics(candidate, reference, matches)

    def _options(self, word: str, index: _Index) -> list[tuple[int, float]]:
        """Return the places that a word may match, with the weight of each match."""
        exact = set(index.places.get(word, ()))
        options = [(place, EXACT) for place in exact]
        if index.stems:
            alike = index.stems.get(stem(word, self.stemmer), ())
            options += [(place, STEM) for place in alike if place not in exact]
        if index.senses:
            # A place may have a stem and a synonym match; ``align`` chooses.
            shared = {
                place
                for sense in senses(word)
                for place in index.senses.get(sense, ())
            }
            options += [
                (place, SYNONYM) for place in shared if place not in exact
            ]
        return sorted(options)


@dataclass(frozen=True, slots=True)
class _Index:
    """Places of a reference by word, by stem and by sense."""

    places: dict[str, list[int]]
    stems: dict[str, list[int]]
    senses: dict[int, list[int]]


@lru_cache(maxsize=1 << 12)  # a reference is met once per candidate
def _index(reference: Words, stemmer: str, synonyms: str) -> _Index:
    words = list(enumerate(reference))
    stems: dict[str, list[int]] = {}
    if stemmer != "none":
        stems = group_by_key(
            (stem(word, stemmer), place) for place, word in words
        )
    shared: dict[int, list[int]] = {}
    if synonyms != "none":
        shared = group_by_key(
            (sense, place) for place, word in words for sense in senses(word)
        )
    return _Index(
        group_by_key((word, place) for place, word in words), stems, shared
    )


def meteor_statistics(
    candidate: Words, reference: Words, matches: Sequence[Match]
) -> list[float]:
    """Return the counts that METEOR is computed from; they add up over items.

    Returns:
        Of the candidate, then of the reference: content words, function words, weighted matches
        of content words, of function words. Then the matches, the chunks, and the chunks that are
        penalised (all, or none when one chunk covers both texts).
    """
    counts = []
    weights = (
        {match.candidate: match.weight for match in matches},
        {match.reference: match.weight for match in matches},
    )
    for words, matched in zip((candidate, reference), weights, strict=True):
        lengths, sums = [0.0, 0.0], [0.0, 0.0]
        for place, word in enumerate(words):
            kind = int(word in FUNCTION_WORDS)
            lengths[kind] += 1
            sums[kind] += matched.get(place, 0.0)
        counts += [*lengths, *sums]
    # A chunk ends where the next match is not adjacent on both sides.
    chunks = sum(
        index == 0
        or match.candidate != matches[index - 1].candidate + 1
        or match.reference != matches[index - 1].reference + 1
        for index, match in enumerate(matches)
    )
    # Equal texts are one chunk and get no penalty.
    is_one_chunk = chunks == 1 and len(candidate) == len(reference) == len(
        matches
    )
    return [
        *counts,
        float(len(matches)),
        float(chunks),
        0.0 if is_one_chunk else float(chunks),
    ]


def meteor_score(statistics: Sequence[float]) -> float:
    """Return METEOR from the counts of ``meteor_statistics``, of one item or summed."""
    shares = []
    # Weighted precision from the candidate's counts, recall from the
    # reference's.
    for start in (0, 4):
        content, function, content_match, function_match = statistics[
            start : start + 4
        ]
        length = DELTA * content + (1 - DELTA) * function
        shares.append(
            (DELTA * content_match + (1 - DELTA) * function_match) / length
        )
    precision, recall = shares
    matches, _, penalised = statistics[8:]
    if precision == 0 or recall == 0:
        return 0.0
    # F with recall weighted by ALPHA, less the penalty for scattered matches.
    f = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return float(min(1.0, f * (1 - GAMMA * (penalised / matches) ** BETA)))


@lru_cache(maxsize=1 << 15)
def stem(word: str, algorithm: str) -> str:
    """Return the stem of a word by a Snowball algorithm."""
    return str(_stemmer(algorithm).stemWord(word))


@cache
def _stemmer(algorithm: str) -> Any:
    return _snowball().stemmer(algorithm)


def _stemmed_language(algorithm: str) -> str:
    """Return the language that a Snowball algorithm is made for, as ``language_named`` does."""
    return {"porter": ENGLISH, "dutch_porter": "Dutch"}.get(
        algorithm, algorithm.capitalize()
    )


def _snowball() -> Any:
    import snowballstemmer  # not loaded before it is used

    return snowballstemmer
