"""Coreference: resolve the mentions that mean the same thing.

Made for descriptions: mentions are read in text order, and each looks back for what it repeats. A
definite noun repeats one with the same head that it does not contradict; a pronoun repeats the
nearest thing of its number, sex and life, subjects first; "they" may repeat a joined pair; "one"
and "the other" pick members of a group.
"""

from __future__ import annotations

from typing import ClassVar

from beholder.base.registry import versioned_identity
from beholder.language.document import Word
from beholder.language.lexicon import (
    ANIMATE_VERBS,
    BODY,
    COLLECTIVE,
    HYPERNYMS,
    WORN,
)
from beholder.language.links import (
    SPEECH,
    Coref,
    Links,
    MentionSpan,
    find_mentions,
    links_from_spans,
    named_coreference,
)
from beholder.language.phrases import Phrase, Phrases
from beholder.text.kinds import is_kind

_REACH = 3
"""The most sentences back in the search for a pronoun's antecedent."""
_MEMORY = 8
"""The number of last mentions of a thing that are compared."""
_WINDOW = 60
"""The most earlier things compared with one mention; keeps long texts linear."""
_ON_BODY = BODY | WORN
_POSTURES = ANIMATE_VERBS | {
    "bend",
    "crouch",
    "kneel",
    "sit",
    "squat",
    "stoop",
}


class NamedCoreference:
    """A coreference as a tool of metrics.

    Args:
        name: ``builtin``, ``none``, or a registered name.

    Raises:
        ConfigError: No coreference has this name.
    """

    per_process: ClassVar[bool] = True

    def __init__(self, name: str) -> None:
        self._name = name
        self._model = (
            None if name in ("builtin", "none") else named_coreference(name)
        )

    @property
    def identity(self) -> str:
        """Its name with a digest of its code, and what identifies a registered model."""
        if self._model is None:
            return versioned_identity(self, self._name)
        return versioned_identity(
            self._model, f"{self._name}{self._model.version}", type(self)
        )


class _Thing:
    """A thing that has been mentioned: all its mentions so far.

    Attributes:
        mentions: All of them.
        first: The first.
        last: The last.
        remembered: The first and the last few, so that a thing named often costs no more.
        nouns: Those remembered that are nouns.
        heads: The heads of these.
        is_absent: Whether the text says that there is no such thing.
    """

    def __init__(self, first: MentionSpan) -> None:
        self.first = first
        self.is_absent = first.is_absent
        self.mentions: list[MentionSpan] = []
        self.add(first)

    def add(self, mention: MentionSpan) -> None:
        """Note a further mention."""
        self.mentions.append(mention)
        self.last = mention
        recent = self.mentions[max(1, len(self.mentions) - _MEMORY) :]
        self.remembered = [self.first, *recent]
        self.nouns = [m for m in self.remembered if m.pronoun is None]
        self.heads = {m.names[-1] for m in self.nouns}

    @property
    def words(self) -> frozenset[str]:
        """The words by which it was named and described."""
        return frozenset().union(
            *(m.describing | set(m.names) for m in self.nouns)
        )


def resolve(phrases: Phrases, coref: Coref = "builtin") -> Links:
    """The links between the mentions of a document.

    Args:
        phrases: The noun phrases of the document.
        coref: See ``Coref``.

    Raises:
        ConfigError: The name is unknown.
        MissingExtraError: A package that the name needs is not installed.
    """
    if callable(coref):
        return links_from_spans(phrases, coref(phrases.document.text))
    if coref == "builtin":
        return _Resolver(phrases).links
    if coref == "none":
        return Links()
    return links_from_spans(
        phrases,
        named_coreference(coref).clusters(phrases.document.text),
    )


class _Resolver:
    """One run through the mentions of a document."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases
        self.links = Links()
        self.things: list[_Thing] = []
        self.groups: list[tuple[MentionSpan, ...]] = []
        self._by_word: dict[int, MentionSpan] = {}
        for mention in find_mentions(phrases):
            self._by_word[mention.word.index] = mention
            self._read_mention(mention)

    def _read_mention(self, mention: MentionSpan) -> None:
        self._note_group(mention)
        if mention.phrase is not None and mention.phrase.rule == "selector":
            self._read_selector(mention, mention.phrase)
        elif mention.pronoun is not None:
            self._read_pronoun(mention)
        else:
            self._link(mention, self._repeated(mention))

    def _link(self, mention: MentionSpan, thing: _Thing | None) -> None:
        """Add a mention to a thing, or make a new thing of it if that is None."""
        if thing is None:
            self.things.append(_Thing(mention))
        else:
            self.links.same[mention.word.index] = (thing.first.word.index,)
            thing.add(mention)

    def _present_things(self) -> list[_Thing]:
        """Return the things named last, without those that the text says are absent."""
        return [
            thing for thing in self.things[-_WINDOW:] if not thing.is_absent
        ]

    def _recent(self) -> list[_Thing]:
        """The last things named, those spoken of last first."""
        return sorted(
            self._present_things(), key=lambda thing: -thing.last.word.index
        )

    def _note_group(self, mention: MentionSpan) -> None:
        """Remember "a man and a woman" when its last member is read."""
        word = mention.word
        if word.dep != "conj" or mention.phrase is None:
            return
        first = word.head_word
        joined = [first, *first.children("conj")]
        members = [
            self._by_word[w.index] for w in joined if w.index in self._by_word
        ]
        if len(members) >= 2:
            self.groups = [g for g in self.groups if g[0] is not members[0]]
            self.groups.append(tuple(members))

    # Nouns

    def _repeated(self, mention: MentionSpan) -> _Thing | None:
        if mention.word.dep == "appos" and self._is_apposition(mention):
            first = self._by_word[mention.word.head]
            return next(
                (t for t in reversed(self.things) if first in t.mentions), None
            )
        if mention.phrase is not None and mention.phrase.kind == "picture":
            return next(
                (t for t in self._recent() if _is_picture(t.first)), None
            )
        # Bare plurals repeat only what was said in the very same words.
        bare = mention.plural and not mention.word.children("det", "nummod")
        if (
            mention.is_another
            or mention.is_absent
            or not (mention.definite or bare)
        ):
            return None
        # Names are compared as a whole, other nouns by their head.
        if mention.is_name:
            namesakes = [
                t
                for t in self._present_things()
                if any(_same_name(mention, m) for m in t.nouns)
            ]
        else:
            namesakes = [
                t
                for t in self._present_things()
                if mention.names[-1] in t.heads
            ]
        matches = [
            thing for thing in namesakes if self._same_noun(mention, thing)
        ]
        if matches:
            return max(
                matches,
                key=lambda t: (self._likeness(mention, t), t.last.word.index),
            )
        # Without an equal noun a wider one may repeat a thing: "the animal" for the dog.
        wider = mention.head in HYPERNYMS and not mention.is_name
        if wider and mention.definite and not mention.describing:
            return next(
                (t for t in self._recent() if self._wider_noun(mention, t)),
                None,
            )
        return None

    def _is_apposition(self, mention: MentionSpan) -> bool:
        """Return whether a noun after a comma is another name of the thing before it.

        Names do, as do a kind ("a building, a church") and what stands within the clause ("the
        woman, a nurse in white, smiles"); "a red door, a blue window" are two.
        """
        word = mention.word
        first = self._by_word.get(word.head)
        if first is None or first.word.children("conj") or mention.is_absent:
            return False
        if mention.is_name:
            return mention.plural or not first.plural
        if not word.children("det") or first.plural != mention.plural:
            return False
        if first.head == mention.head or {first.sex, mention.sex} == {
            "male",
            "female",
        }:
            return False
        # Animals and things are persons in some sense: a dog is a fellow, a chair a chairman.
        of_one_kind = mention.is_person == first.is_person and (
            is_kind(mention.head, first.head)
            or is_kind(first.head, mention.head)
        )
        return first.is_name or of_one_kind or _within_clause(word)

    def _same_noun(self, mention: MentionSpan, thing: _Thing) -> bool:
        """Return whether a mention means the thing that has its name or its noun."""
        in_sentence = thing.first.word.sentence == mention.word.sentence
        if in_sentence and self._joined(mention, thing):
            return False
        if mention.is_name:
            return True
        if thing.first.plural != mention.plural:
            return False
        if any(
            mention.contradicts(m) or mention.set_apart_from(m)
            for m in thing.nouns
        ):
            return False
        first = thing.nouns[0]
        if not mention.definite or mention.word.child("nmod:poss"):
            described = mention.describing == first.describing
            return described and self._owner(mention) == self._owner(first)
        thing_words = thing.words
        new = mention.describing - thing_words - {"same"}
        told_apart = (
            new and first.describing and not mention.describing & thing_words
        )
        return not told_apart or self._is_only(mention, thing)

    def _is_only(self, mention: MentionSpan, thing: _Thing) -> bool:
        """Return whether no other thing has the noun: "a large sedan ... the blue sedan"."""
        rivals = [
            t
            for t in self._present_things()
            if t is not thing and mention.head in t.first.names
        ]
        elsewhere = mention.word.sentence != thing.first.word.sentence
        return _is_near(mention, thing) and not rivals and elsewhere

    def _owner(self, mention: MentionSpan) -> int | None:
        """The thing that has the mentioned one: "his hat" and "the man's hat" share it."""
        owner = mention.word.child("nmod:poss")
        return owner and self.links.same.get(owner.index, (owner.index,))[0]

    def _joined(self, mention: MentionSpan, thing: _Thing) -> bool:
        """Return whether a mention is in one list with the thing: "a dog and the dog beside it"."""
        group = (
            {mention.word.index, mention.word.head}
            if mention.word.dep == "conj"
            else set()
        )
        return any(m.word.index in group for m in thing.remembered)

    def _likeness(self, mention: MentionSpan, thing: _Thing) -> int:
        """Words shared with the thing, less those that the mention leaves open."""
        thing_words = thing.words
        words = mention.describing | set(mention.names)
        return 2 * len(words & thing_words) - len(words - thing_words)

    def _wider_noun(self, mention: MentionSpan, thing: _Thing) -> bool:
        """Return whether "the animal" can mean the dog, "the structure" the house."""
        first = thing.first
        has_other_head = thing.last.word.head != mention.word.head
        wider = first.pronoun is None and first.head in HYPERNYMS.get(
            mention.head, ()
        )
        return (
            wider
            and has_other_head
            and first.plural == mention.plural
            and _is_near(mention, thing)
        )

    # Pronouns

    def _read_pronoun(self, mention: MentionSpan) -> None:
        if mention.pronoun == "they" and self._read_group(mention):
            return
        if mention.word.lower in SPEECH:
            spoken = (
                t for t in self.things if t.first.pronoun == mention.pronoun
            )
            self._link(mention, next(spoken, None))
        else:
            self._link(mention, self._best(mention))

    def _read_group(self, mention: MentionSpan) -> bool:
        """Link "they" to a joined pair if no plural was named since; return True if it did."""
        word = mention.word
        recent_groups = [
            g for g in self.groups if word.sentence - g[-1].word.sentence <= 1
        ]
        recent_groups = [
            g
            for g in recent_groups
            if not any(word in member.word.subtree() for member in g)
        ]
        if not recent_groups:
            return False
        # Living members and subjects win: "they" in a caption mostly means people who act.
        group = max(recent_groups, key=_weight)
        alive, subject = _weight(group)
        rival = self._best(mention)
        has_plural_rival = (
            rival
            and rival.first.plural
            and rival.last.word.index > group[-1].word.index
        )
        if (has_plural_rival and not subject) or (
            rival and rival.first.plural and not alive
        ):
            return False
        self.links.same[mention.word.index] = tuple(
            m.word.index for m in group
        )
        return True

    def _best(self, mention: MentionSpan) -> _Thing | None:
        """The likeliest of the things that a pronoun can mean; of two alike the more recent one."""
        return max(
            (t for t in self._present_things() if self._fits(mention, t)),
            key=lambda t: (self._salience(mention, t), t.last.word.index),
            default=None,
        )

    def _fits(self, mention: MentionSpan, thing: _Thing) -> bool:
        if not _is_near(mention, thing) or _is_picture(thing.first):
            return False
        if (
            self._is_coargument(mention, thing.last)
            or thing.last.word.dep == "expl"
        ):
            return False
        # A thing known only by a pronoun is repeated by the same pronoun alone.
        if thing.first.pronoun is not None:
            return thing.first.pronoun == mention.pronoun
        if thing.first.plural or (
            mention.pronoun == "they" and thing.first.head in COLLECTIVE
        ):
            return mention.pronoun not in ("he", "she", "it")
        # One mention that shows the sex is enough: "a doctor ... she".
        sexes = {m.sex for m in thing.remembered} - {None}
        person = any(m.is_person for m in thing.remembered)
        if mention.pronoun in ("he", "she"):
            sex_fits = not sexes or sexes == {mention.sex}
            return sex_fits and (
                person
                or any(m.is_alive or m.is_name for m in thing.remembered)
            )
        return not sexes and (
            not person if mention.pronoun == "it" else person
        )

    def _salience(self, mention: MentionSpan, thing: _Thing) -> float:
        """Score a thing as the meaning of a pronoun: near, subject, often named, of its own kind.

        The weights are set by hand; scores are only compared with each other.
        """
        last = thing.last
        score = -3.0 * (mention.word.sentence - last.word.sentence)
        score -= 0.02 * (mention.word.index - last.word.index)
        score += 2.0 * _is_subject(last.word) + 0.3 * min(
            len(thing.mentions), 4
        )
        score += 1.0 * (_is_subject(last.word) and _is_subject(mention.word))
        if mention.pronoun in ("he", "she"):
            score += 1.5 * (mention.sex in {m.sex for m in thing.remembered})
            score -= 3.0 * (
                not any(m.is_person or m.is_name for m in thing.remembered)
            )
        elif mention.pronoun == "it":
            score -= 1.0 * (last.word.dep.startswith("nmod"))
            score -= 1.5 * thing.first.is_name
        else:
            score += 3.0 * thing.first.plural - 3.0 * _is_on_body(thing.first)
        return score

    def _is_coargument(
        self, mention: MentionSpan, antecedent: MentionSpan
    ) -> bool:
        """Subject and object of one verb differ, and a thing is not its own owner."""
        word, earlier = mention.word, antecedent.word
        if word.dep == "nmod:poss":
            same = word.head == earlier.index
        else:
            same = word.head == earlier.head and "conj" not in (
                earlier.dep,
                word.dep,
            )
        return same and not word.lower.endswith(("self", "selves"))

    # Members

    def _read_selector(self, mention: MentionSpan, phrase: Phrase) -> None:
        """Link "one", "the other" or "both" to a member of a group, or to all of it."""
        index = mention.word.index
        thing = None
        if phrase.selects is not None:
            chosen = self.phrases.entity(phrase.selects)
            self.links.member_of[index] = (
                phrase.selects if chosen is None else chosen
            )
        else:
            plural = [
                t
                for t in self._recent()
                if t.first.plural and not _is_picture(t.first)
            ]
            near_things = [
                t
                for t in plural
                if _is_near(mention, t) and not _is_on_body(t.first)
            ]
            if _acts_alive(mention.word):
                living = [t for t in near_things if t.first.is_alive]
                near_things = living or near_things
            group = max(
                near_things,
                key=lambda t: self._salience(mention, t),
                default=None,
            )
            if mention.word.lower in ("both", "all", "each"):
                thing = group
            elif group is not None:
                self.links.member_of[index] = group.first.word.index
        self._link(mention, thing)


def _acts_alive(word: Word) -> bool:
    """Return whether a selector does, or wears, what only people and animals do."""
    verb = word.governor
    worn = (n for n in word.children("nmod") if is_kind(n.lower, "clothing"))
    acts = verb is not None and _is_subject(word) and verb.lemma in _POSTURES
    return acts or next(worn, None) is not None


def _is_near(mention: MentionSpan, thing: _Thing) -> bool:
    return mention.word.sentence - thing.last.word.sentence <= _REACH


def _weight(group: tuple[MentionSpan, ...]) -> tuple[bool, bool]:
    """Return whether all members of a group live, and whether it is a subject."""
    return all(m.is_alive for m in group), _is_subject(group[0].word)


def _is_on_body(mention: MentionSpan) -> bool:
    """Return whether it is a part of someone or worn: "others" are no other knees."""
    return mention.word.lemma in _ON_BODY or is_kind(
        mention.word.lower, "clothing"
    )


def _is_picture(mention: MentionSpan) -> bool:
    return (
        mention.phrase is not None
        and mention.phrase.kind == "picture"
        and not mention.pronoun
    )


def _is_subject(word: Word) -> bool:
    return word.dep.startswith("nsubj") or word.dep == "ROOT"


def _within_clause(word: Word) -> bool:
    """Return whether an apposition to a subject ends before its verb, without a further "and"."""
    subject = word.head_word
    end = word.subtree()[-1].index + 1
    following = word.document.words[end : end + 2]
    ends = (
        len(following) == 2
        and following[0].text == ","
        and following[1].dep != "cc"
    )
    return ends and subject.dep.startswith("nsubj") and subject.head >= end


def _same_name(mention: MentionSpan, antecedent: MentionSpan) -> bool:
    part = len(mention.names) == 1 and mention.head in (
        antecedent.names[0],
        antecedent.head,
    )
    return mention.names == antecedent.names or (antecedent.is_name and part)
