"""Links between mentions, and links made from the clusters of an outside coreference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from typing import Literal, NamedTuple, TypeAlias

from beholder.base.optional import require
from beholder.base.registry import Registry
from beholder.errors import ConfigError
from beholder.language.document import Word
from beholder.language.lexicon import (
    ANIMALS,
    COLOURS,
    FEMALE,
    MALE,
    PEOPLE,
    pairs,
    sections,
    word_set,
)
from beholder.language.phrases import Phrase, Phrases
from beholder.records import Span

Sex: TypeAlias = Literal["male", "female"]

PRONOUNS = pairs("lexicon.txt", "third person")
"""Third-person pronouns and the form that they are resolved as."""
SPEECH = pairs("lexicon.txt", "first and second person")
"""First and second person: always the same speaker within a text."""
_DEFINITE = word_set("lexicon.txt", "definite")
_MEANING_ANOTHER = word_set("lexicon.txt", "meaning another")
_RESTRICTING = frozenset(["with", "in", "wearing"])
_CONTRASTS = (
    COLOURS,
    *map(frozenset, map(str.split, sections("lexicon.txt")["contrasts"])),
)
_SIDES = next(words for words in _CONTRASTS if "left" in words)
_SIDED = frozenset(["corner", "edge", "end", "half", "part", "side"])
"""Nouns that are on a side: "on the left side"."""
_AT_SIDE = frozenset(["on", "at", "in", "to"])


class MentionSpan(NamedTuple):
    """A noun or pronoun that means something.

    Attributes:
        word: Its head word.
        phrase: Its noun phrase; None for a possessive pronoun.
        pronoun: The pronoun it is resolved as, or None.
        names: Words of the name in base form, head last.
        describing: Adjectives and numbers before the head.
        restricting: Words after the head that distinguish it from its like: "with a red hat",
            "in the blue".
        sides: The side right after the head: "on the left", "in the top right corner".
        definite: Whether it points at something known: "the", "this", a possessor, a name.
        is_another: Whether the text says that it is another one: "another", "the other".
        plural: Whether it means several.
    """

    word: Word
    phrase: Phrase | None
    pronoun: str | None
    names: tuple[str, ...]
    describing: frozenset[str]
    restricting: frozenset[str]
    sides: frozenset[str]
    definite: bool
    is_another: bool
    plural: bool

    @property
    def head(self) -> str:
        """The head in base form."""
        return self.names[-1]

    @property
    def is_absent(self) -> bool:
        """Return whether the text says that there is no such thing."""
        return self.phrase is not None and not self.phrase.polarity

    @property
    def is_name(self) -> bool:
        """Return whether it is a proper name."""
        return self.word.pos == "PROPN"

    @property
    def sex(self) -> Sex | None:
        """Sex, if the noun or pronoun shows it."""
        if self.pronoun in ("he", "she"):
            return "male" if self.pronoun == "he" else "female"
        if self.head in MALE or "mr." in self.names:
            return "male"
        return (
            "female" if self.head in FEMALE or "mrs." in self.names else None
        )

    @property
    def is_person(self) -> bool:
        """Return whether it is a person by its noun or pronoun."""
        return self.head in PEOPLE or self.pronoun in (
            "he",
            "she",
            "i",
            "we",
            "you",
        )

    @property
    def is_alive(self) -> bool:
        """Return whether it is a person or animal by its noun or pronoun."""
        return self.is_person or self.head in ANIMALS

    def set_apart_from(self, mention: MentionSpan) -> bool:
        """Return whether each is distinguished from its like: "the man in the cap", "... hat"."""
        mine = self.restricting
        yours = mention.restricting
        return bool(mine - yours) and bool(yours - mine)

    def contradicts(self, mention: MentionSpan) -> bool:
        """Return whether two descriptions exclude each other: "the green house", "the blue one"."""
        mine_said = self.describing | self.sides
        yours_said = mention.describing | mention.sides
        value_pairs = (
            (mine_said & values, yours_said & values) for values in _CONTRASTS
        )
        return any(
            mine and yours and mine.isdisjoint(yours)
            for mine, yours in value_pairs
        )


def find_mentions(phrases: Phrases) -> list[MentionSpan]:
    """All mentions in text order."""
    mentions = []
    for word in phrases.document:
        phrase = phrases.by_word.get(word.index)
        pronoun = None
        if word.pos in ("PRON", "DET"):
            pronoun = PRONOUNS.get(word.lower) or SPEECH.get(word.lower)
        if phrase is not None or pronoun is not None:
            mentions.append(_mention(word, phrase, pronoun))
    return mentions


def _mention(
    word: Word, phrase: Phrase | None, pronoun: str | None
) -> MentionSpan:
    # All that later decides whether two mentions mean the same thing: name,
    # adjectives, words that restrict it, and whether it is known or plural.
    names = (
        tuple([w.lemma for w in phrase.name])
        if phrase is not None
        else (word.lemma,)
    )
    determiners = word.lower_children("det", "nmod:poss")
    describing = {c.lower for c in word.before("amod", "nummod", "compound")}
    for adjective in word.children("amod"):
        describing.update(adjective.lower_children("conj", "amod"))
    definite = not _DEFINITE.isdisjoint(determiners) or word.pos == "PROPN"
    definite = definite or "nmod:poss" in word.relations
    plural = phrase.plural if phrase is not None else word.is_plural
    is_another = (
        not describing.isdisjoint(_MEANING_ANOTHER) or "another" in determiners
    )
    plural = plural or pronoun in ("they", "we")
    return MentionSpan(
        word=word,
        phrase=phrase,
        pronoun=pronoun,
        names=names,
        describing=frozenset(describing),
        restricting=_restricting(word),
        sides=_sides(word),
        definite=definite,
        is_another=is_another,
        plural=plural,
    )


def _restricting(word: Word) -> frozenset[str]:
    """Return the words that restrict a noun right after it: "with", "in" or "wearing" something."""
    after = word.next
    if after is None or after.lower not in _RESTRICTING:
        return frozenset()
    below = word.children("nmod")
    ends = [end for end in below if after in end.children("case")]
    # "Wearing" governs its object itself; "with" and "in" depend on their noun.
    if after.head == word.index:
        ends += after.children("obj")
    return frozenset(
        part.lemma
        for end in ends
        for part in (end, *end.children("amod", "compound"))
    )


def _sides(word: Word) -> frozenset[str]:
    """Return the words of the side on which a noun is, if they follow it at once.

    "To the left of the door" says where it is beside another thing, and is no side of its own.
    """
    after = word.next
    if after is None or after.lower not in _AT_SIDE:
        return frozenset()
    for end in word.children("nmod"):
        if after in end.children("case") and not end.children("nmod"):
            words = {end.lower, *end.lower_children("amod", "compound")}
            if end.lower in _SIDES or end.lower in _SIDED:
                return frozenset(words & _SIDES)
    return frozenset()


SpanClusters: TypeAlias = Sequence[Sequence[Span]]
Coref: TypeAlias = "str | Callable[[str], SpanClusters]"
"""``"builtin"``, ``"none"``, a name of ``COREFERENCES``, or a function from a text to clusters."""


class Coreference(ABC):
    """A coreference model that is known by a name; it is made once, without arguments."""

    version: str = ""
    """``@`` and the version or revision of what it loads from elsewhere, for signatures."""

    @abstractmethod
    def clusters(self, text: str) -> SpanClusters:
        """For each thing, the ranges of characters that mean it."""


class FastCoref(Coreference):
    """The package fastcoref.

    Raises:
        MissingExtraError: The package is not installed.
    """

    def __init__(self) -> None:
        module = require(
            "fastcoref", extra="coref", purpose="coref='fastcoref'"
        )
        self._model = module.FCoref(enable_progress_bar=False)
        self.version = f"@fastcoref{version('fastcoref')}"

    def clusters(self, text: str) -> SpanClusters:
        """See ``Coreference.clusters``."""
        return self._model.predict([text])[0].get_clusters(  # type: ignore[no-any-return]
            as_strings=False
        )


COREFERENCES: Registry[Coreference] = Registry(
    kind="coreference",
    base=Coreference,  # type: ignore[type-abstract]
    builtin={"fastcoref": "beholder.language.links:FastCoref"},
    group="beholder.coreferences",
)
"""Coreference models by name; those of outside packages are called ``package/name``."""


@lru_cache(maxsize=4)
def named_coreference(name: str) -> Coreference:
    """The model of a name.

    Raises:
        ConfigError: There is none of that name.
        MissingExtraError: A package is missing.
    """
    _check_name(name)
    return COREFERENCES.build(name)


def _check_name(name: str) -> None:
    if name not in COREFERENCES.names():
        names = ", ".join(
            map(repr, ("builtin", "none", *COREFERENCES.names()))
        )
        raise ConfigError(
            f"there is no coreference {name!r}; use one of {names}, or a function from a text to"
            " clusters of character ranges"
        )


@dataclass(slots=True)
class Links:
    """Meaning of mentions, by word index.

    Attributes:
        same: A mention and the earlier mention or mentions that it repeats; several for a group
            ("a man and a woman ... they").
        member_of: A mention and the earlier one of which it is a part ("two women ... one").
    """

    same: dict[int, tuple[int, ...]] = field(default_factory=dict)
    member_of: dict[int, int] = field(default_factory=dict)


def links_from_spans(phrases: Phrases, clusters: SpanClusters) -> Links:
    """Links from clusters of character ranges: each range means its topmost mention."""
    links = Links()
    mentions = find_mentions(phrases)
    # A range may have several nouns ("the man in the hat"): the one whose head is outside it is
    # meant.
    for cluster in clusters:
        meant = []
        for start, end in sorted(cluster):
            inside = [
                m
                for m in mentions
                if m.word.start >= start and m.word.end <= end
            ]
            tops = [
                m for m in inside if not start <= m.word.head_word.start < end
            ]
            meant += (tops or inside)[:1]
        for mention in meant[1:]:
            if mention.word.index != meant[0].word.index:
                links.same[mention.word.index] = (meant[0].word.index,)
    return links
