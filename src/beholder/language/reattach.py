"""Reattachment of words that the parser gave to another clause, noun or list."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.language import lemmas
from beholder.language.document import Word
from beholder.language.lexicon import (
    ANIMALS,
    BODY,
    CANS,
    COLOURS,
    INTRANSITIVE,
    NUMBER_WORDS,
    PEOPLE,
    PICTURES,
    POSITIONS,
    SHADES,
    SHARED_OUT,
    WORN,
)
from beholder.text.kinds import is_kind, is_mostly, parts_of_speech

_FINITE = frozenset({"VBZ", "VBP", "VBD"})
_CLAUSE_WORDS = frozenset({"as", "while", "when", "because", "since", "until"})
_PREDICATES = frozenset({"VBN", "VBD", "VBG", "JJ", "RB"})
_HOLDING = frozenset({"carry", "hold", "wear"})
_POSTURES = INTRANSITIVE | _HOLDING | {"crouch", "kneel", "squat", "swim"}
_SEVERAL = SHARED_OUT - {"all", "both", "each"}
_INDEFINITE = ("a", "an")


def reattach_words(words: Sequence[Word]) -> list[Word]:
    """Return the words of one text with known mistakes of attachment repaired."""
    tree = _Tree(words)
    # Verbs and nouns first: what follows reads their tags.
    for word in words:
        tree.name_cans(word)
        tree.name_backs(word)
        tree.act_by_shares(word)
        tree.stand_by_numbers(word)
        tree.describe_by_shades(word)
    for word in words:
        tree.begin_clauses(word)
        tree.begin_by_numbers(word)
        tree.describe_nearest(word)
        tree.describe_parts(word)
        tree.use_hands(word)
    for word in words:
        tree.leave_lists(word)
    return tree.words


class _Tree:
    """Words that are repaired in place; children are looked up as they are now."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = list(words)
        self._below: dict[int, set[int]] = {}
        for word in words:
            if word.head != word.index:
                self._below.setdefault(word.head, set()).add(word.index)
        self._part = -1

    def _attach(
        self, index: int, head: int, dep: str, pos: str = "", tag: str = ""
    ) -> None:
        """Give a word another head and relation, and another tag if there is one.

        A head that is below the word itself stays where it is: trees have no circles.
        """
        word = self.words[index]
        if head != index and self._is_below(self.words[head], word):
            return
        self._below.get(word.head, set()).discard(index)
        if head != index:
            self._below.setdefault(head, set()).add(index)
        self.words[index] = word._replace(
            head=head, dep=dep, pos=pos or word.pos, tag=tag or word.tag
        )

    def _children(self, index: int, *roles: str) -> list[Word]:
        words = (self.words[i] for i in sorted(self._below.get(index, ())))
        return [
            w for w in words if not roles or w.role in roles or w.dep in roles
        ]

    def _is_below(self, word: Word, top: Word) -> bool:
        """Return whether a word is another, or below it."""
        while word.index != top.index:
            above = self.words[word.head]
            if above.index == word.index:
                return False
            word = above
        return True

    def _child_words(self, index: int, *roles: str) -> list[str]:
        return [child.lower for child in self._children(index, *roles)]

    def _next(self, index: int) -> Word | None:
        return self.words[index + 1] if index + 1 < len(self.words) else None

    def _take_place(self, old: int, new: int) -> None:
        """Put one word where another was in the tree; the parts of its phrase go with it."""
        head = self.words[old].head
        dep = self.words[old].dep
        for child in self._children(old):
            if child.index != new:
                self._attach(child.index, new, child.dep)
        self._attach(new, new if head == old else head, dep)

    def name_cans(self, word: Word) -> None:
        """Read "can" as a noun: "a trash can", "the bin and a soda can lie there"."""
        before = self.words[word.index - 1] if word.index else None
        if word.lower != "can" or word.tag != "MD" or before is None:
            return
        verb = self.words[word.head]
        auxiliaries = self._children(verb.index, "aux:pass", "cop")
        # After the auxiliary there would be a base form: "a man can sit".
        finite = [verb.tag, *(w.tag for w in auxiliaries if w > word)]
        if before.tag not in ("NN", "VBG") or (
            before.lower not in CANS and _FINITE.isdisjoint(finite)
        ):
            return
        self._take_place(before.index, word.index)
        self._attach(before.index, word.index, "compound", "NOUN", "NN")
        can = self.words[word.index]
        self._attach(can.index, can.head, can.dep, "NOUN", "NN")

    def name_backs(self, word: Word) -> None:
        """Read "back" as a noun: "stands with her back to the camera"."""
        if (
            word.lower == "back"
            and word.tag == "RB"
            and word.index
            and self.words[word.index - 1].tag == "PRP$"
        ):
            self._attach(word.index, word.head, "obl", "NOUN", "NN")

    def act_by_shares(self, word: Word) -> None:
        """Read "wear" as the verb of "most wear hats", where it was taken for part of a name."""
        share = self.words[word.index - 1] if word.index else None
        noun = self.words[word.head]
        # Not "two text fields", "some cook books": words that no noun begins with.
        acts = word.lower in _HOLDING or word.lower in INTRANSITIVE
        if (
            share is None
            or not acts
            or word.dep not in ("compound", "amod")
            or word.tag not in ("NN", "VB", "VBP", "JJ")
            or share.head not in (word.index, noun.index)
            or not (share.lower in SHARED_OUT or share.lower in NUMBER_WORDS)
            or noun < word
        ):
            return
        above = self.words[noun.head]
        while above.is_noun and above.head != above.index:
            above = self.words[above.head]
        self._attach(word.index, word.index, "ROOT", "VERB", "VBP")
        if noun.head != noun.index:
            self._attach(word.index, above.index, "conj")
        self._attach(noun.index, word.index, "obj")
        for child in self._children(noun.index):
            if child < word:
                self._attach(child.index, word.index, child.dep)
        self._attach(share.index, word.index, "nsubj")

    def stand_by_numbers(self, word: Word) -> None:
        """Read "stand" as the verb of "two more stand behind": as a noun it had a plural."""
        share = self.words[word.index - 1] if word.index else None
        if share is not None and share.lower == "more" and share.index:
            share = self.words[share.index - 1]
        if (
            share is None
            or word.tag != "NN"
            or word.lower not in _POSTURES
            or share.head not in (word.index, word.head)
            or share.dep not in ("nummod", "det", "amod")
            or not (
                share.lower in _SEVERAL or NUMBER_WORDS.get(share.lower, 1) > 1
            )
        ):
            return
        above = self.words[word.head]
        self._attach(word.index, word.head, word.dep, "VERB", "VBP")
        if above > word:
            # "Two stand close together" was read with "close" as its top.
            self._take_place(above.index, word.index)
            self._attach(above.index, word.index, "advcl")
        elif above.is_noun and word.dep in ("conj", "obj", "appos"):
            while above.is_noun and above.head != above.index:
                above = self.words[above.head]
            self._attach(word.index, above.index, "conj")
        for child in self._children(word.index, "nmod"):
            self._attach(child.index, word.index, "obl")
        self._attach(share.index, word.index, "nsubj")

    def describe_by_shades(self, word: Word) -> None:
        """Read "light" as an adjective: "light, wide hats", "light or grey shirts"."""
        joint = self._next(word.index)
        if (
            word.lower not in SHADES
            or word.tag != "NN"
            or "a" not in parts_of_speech(word.lower)
            or joint is None
            or joint.text not in (",", "or", "and")
            or "the" in self._child_words(word.index, "det")
        ):
            return
        phrase = self.words[joint.index + 1 : joint.index + 5]
        noun = next(
            (w for w in phrase if w.is_noun and w.dep != "compound"), None
        )
        between = [w for w in phrase if noun is not None and w < noun]
        adjectival = all(
            w.pos in ("ADJ", "VERB", "NOUN", "CCONJ") or w.text == ","
            for w in between
        )
        if (
            noun is None
            or noun.lower in COLOURS
            or not between
            or between[0].pos not in ("ADJ", "VERB")
            or not adjectival
            or self._children(word.index, "nmod", "acl")
        ):
            return
        apart = not self._is_below(word, noun)
        if noun.head == word.index or (apart and noun.role != word.role):
            self._take_place(word.index, noun.index)
        self._attach(word.index, noun.index, "amod", "ADJ", "JJ")

    def begin_by_numbers(self, word: Word) -> None:
        """Read a number before a verb as its subject: "the other two look up"."""
        verb = self.words[word.head]
        if (
            word.dep == "nummod"
            and verb.index == word.index + 1
            and verb.tag in _FINITE
            and not self._children(verb.index, "nsubj", "expl")
        ):
            self._attach(word.index, verb.index, "nsubj")
            for child in self._children(verb.index, "det", "amod"):
                if child < word:
                    self._attach(child.index, word.index, child.dep)

    def begin_clauses(self, word: Word) -> None:
        """Give a clause its subject: "feeds birds as a man stands up"."""
        if word.role != "obl":
            return
        verbs = (
            verb
            for verb in self._children(word.head, "advcl")
            if verb > word and verb.tag in _FINITE
        )
        verb = next(verbs, None)
        if verb is None or self._children(verb.index, "nsubj", "expl"):
            return
        marks = [
            w
            for head in (word.index, verb.index)
            for w in self._children(head, "case", "mark")
            if w < word and w.lower in _CLAUSE_WORDS
        ]
        between = self.words[word.index + 1 : verb.index]
        if marks and all(self._is_below(w, word) for w in between):
            self._attach(word.index, verb.index, "nsubj")
            self._attach(marks[0].index, verb.index, "mark")

    def describe_nearest(self, word: Word) -> None:
        """Give an act to the person right before it: "talks to a woman wearing a hat"."""
        noun = self.words[word.index]
        act = self._next(noun.index)
        if (
            act is not None
            and act.tag == "VBG"
            and act.dep == "advcl"
            and act.head == noun.head
            and noun.role in ("nmod", "obl", "obj")
            and noun.is_noun
            and _is_person(noun)
        ):
            self._attach(act.index, noun.index, "acl")

    def describe_parts(self, word: Word) -> None:
        """Give a part its predicate: "sits with its tail curled up", "with the doors open"."""
        noun = self.words[word.index]
        predicate = self._next(noun.index)
        after = None if predicate is None else self._next(predicate.index)
        # An adverb may stand between: "its head slightly turned".
        if (
            predicate is not None
            and after is not None
            and predicate.tag == "RB"
            and after.tag in ("VBN", "VBG")
        ):
            predicate = after
        if (
            predicate is None
            or predicate.tag not in _PREDICATES
            or predicate.role not in ("acl", "advcl", "conj", "amod")
            or self._children(predicate.index, "aux", "cop")
            or not self._is_part(noun)
        ):
            return
        marks = [
            mark
            for head in (noun.index, predicate.index)
            for mark in self._children(head, "case", "mark")
            if mark < noun
        ]
        led = any(mark.lower == "with" for mark in marks)
        is_subject = noun.head == predicate.index and noun.role in (
            "nsubj",
            "obl",
        )
        if is_subject and led:
            above = self.words[predicate.head]
            dep = "nmod" if above.is_noun else "obl"
            self._attach(noun.index, above.index, dep)
            for mark in marks:
                self._attach(mark.index, noun.index, "case")
        elif is_subject and self._follows_part(noun):
            self._attach(noun.index, self._part, "conj")
        elif (
            not led
            or noun.role not in ("nmod", "obl")
            or predicate.head == noun.index
            or predicate.tag not in ("VBN", "VBD", "VBG")
        ):
            return
        self._attach(predicate.index, noun.index, "acl")
        self._part = noun.index

    def _is_part(self, noun: Word) -> bool:
        """Return whether a noun is a known part, which "with" may say something of."""
        known = {"the", "both", "one"}
        led = self._child_words(noun.index, "det", "nummod", "cc:preconj")
        owned = bool(self._children(noun.index, "nmod:poss"))
        return noun.is_noun and (owned or not known.isdisjoint(led))

    def _follows_part(self, noun: Word) -> bool:
        """Return whether "and" joins a part to the one before: "... and its arms raised"."""
        joined = self.words[max(0, noun.index - 2)].lower == "and"
        earlier = self.words[self._part] if self._part >= 0 else noun
        return joined and self._part >= 0 and earlier.sentence == noun.sentence

    def use_hands(self, word: Word) -> None:
        """Attach a part of a body to who uses it: "holds a cup with both hands"."""
        noun = self.words[word.index]
        above = self.words[noun.head]
        if (
            noun.dep != "nmod"
            or lemmas.noun(noun.lower) not in BODY
            or self._child_words(noun.index, "case") != ["with"]
            or not self._children(
                noun.index, "nmod:poss", "nummod", "cc:preconj", "det"
            )
            or _is_alive(above)
        ):
            return
        worn = _is_worn(above) and "in" in self._child_words(
            above.index, "case"
        )
        if worn or above.role == "obj":
            owner = self.words[above.head]
            self._attach(
                noun.index, owner.index, "nmod" if owner.is_noun else "obl"
            )

    def leave_lists(self, word: Word) -> None:
        """Take what is no such thing out of a list: "holds a vase of tulips, a cup and a book".

        Nor is a drawing a place, in "has words at the top and a drawing".
        """
        noun = self.words[word.index]
        first = self.words[noun.head]
        if (
            noun.dep not in ("conj", "appos")
            or not noun.is_noun
            or not first.is_noun
            or self._children(noun.index, "case", "nsubj", "cop")
        ):
            return
        above = self.words[first.head]
        cases = self._child_words(first.index, "case")
        # "In a dark top and trousers" is no place.
        placed = cases and not {"the", "its"}.isdisjoint(
            self._child_words(first.index, "det", "nmod:poss")
        )
        if first.lower in POSITIONS and placed and noun.lower not in POSITIONS:
            objects = self._children(above.index, "obj")
            targets = [above] if above.is_noun else objects
            if targets and targets[-1] < first:
                self._attach(noun.index, targets[-1].index, "conj")
            return
        bare = not self._children(first.index, "det", "nmod:poss", "nummod")
        described = self._child_words(noun.index, "det")
        after_list = self._next(self._last(first))
        if (
            cases == ["of"]
            and bare
            and first.dep == "nmod"
            and above.is_noun
            and above.lower not in PICTURES
            and not _is_alive(first)
            and not set(described).isdisjoint(_INDEFINITE)
            and after_list is not None
            and after_list.text == ","
        ):
            self._attach(noun.index, above.index, "conj")

    def _last(self, noun: Word) -> int:
        """The place of a noun's last word right after it."""
        last = noun.index
        after = self._next(last)
        while (
            after is not None
            and after.head == noun.index
            and after.role in ("compound", "flat")
        ):
            last = after.index
            after = self._next(last)
        return last


def _is_alive(noun: Word) -> bool:
    base = lemmas.noun(noun.lower)
    return (
        _is_person(noun)
        or noun.pos in ("PRON", "PROPN")
        or base in ANIMALS
        or is_mostly(base, "animal")
    )


def _is_person(noun: Word) -> bool:
    base = lemmas.noun(noun.lower)
    return base in PEOPLE or is_mostly(base, "person")


def _is_worn(noun: Word) -> bool:
    base = lemmas.noun(noun.lower)
    return base in WORN or is_kind(base, "clothing")
