"""Repairs of known mistakes of the parser: verbs, subjects, numbers, lists and clothes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from beholder.language.document import Word
from beholder.language.lexicon import (
    ANIMALS,
    BODY,
    NUMBER_WORDS,
    RELATIVE_PRONOUNS,
    WORN,
    word_set,
)
from beholder.language.reattach import reattach_words
from beholder.text.kinds import is_kind, parts_of_speech

_FINITE = frozenset({"VBZ", "VBP", "VBD"})
_DEPTH = 12
"""The most words upwards in the search for a joined noun."""
_OF_NOUNS = frozenset(
    {"cop", "det", "case", "amod", "nmod:poss", "nummod", "compound", "flat"}
)
_ENDS = frozenset({"nsubj", "obj", "obl"})
_REACH = 4
"""Distance before a noun, in words, within which its article is looked for."""
_SINGULAR_DETERMINERS = frozenset(
    {"a", "an", "another", "each", "every", "one"}
)
"""Words before one thing, so never before a noun in -s."""
_ONE_MORE = frozenset({"another", "one", "second", "third", "fourth"})
_SEVERAL = frozenset(
    {"few", "many", "more", "most", "others", "several", "some"}
)
_WEARING = frozenset({"wear", "wears", "wearing", "wore", "worn"})
_UNCHANGED = ANIMALS | word_set("unseen.txt", "measures")
"""Nouns that are no verbs after a number though they have no -s: "two fish", "six foot"."""


def repair_words(
    words: Sequence[Word], likely: Collection[int] = ()
) -> list[Word]:
    """Return the words of one text with known mistakes of the parser repaired.

    Args:
        words: All words of the text.
        likely: First characters of the nouns that the parser nearly took for verbs.
    """
    # The order matters: subjects are looked for among verbs, and clothes among the repaired lists.
    words = retag_adjectives_read_as_nouns(
        retag_verbs_read_as_nouns(words, likely)
    )
    words = reattach_subjects_read_as_objects(words)
    words = join_appositions_in_lists(reattach_numbers_of_clauses(words))
    words = join_lists_of_clothes(reattach_clothes_of_verbs(words))
    return reattach_words(words)


def retag_verbs_read_as_nouns(
    words: Sequence[Word], likely: Collection[int] = ()
) -> list[Word]:
    """Retag verbs of the present that were tagged as nouns: "A dark band circles it".

    A noun is one if it has a subject; if it is joined to such a verb, or begins a relative clause;
    and if the word before it can be its subject, by number, and the phrase can be none ("a band
    circles", "three more stand", "ground slopes up"), or the parser nearly took it for a verb.
    What stands before it in the phrase then belongs to its subject.
    """
    # The children are looked up in the repaired words: an earlier repair may have moved them.
    repaired_words = list(words)
    nouns = (w for w in words if w.tag in ("NN", "NNS") and w.pos == "NOUN")
    below: dict[int, list[int]] = {
        w.index: [] for w in nouns if w.dep not in _OF_NOUNS
    }
    for word in words:
        if word.head in below and word.head != word.index:
            below[word.head].append(word.index)
    for index, places in below.items():
        children = [repaired_words[place] for place in places]
        if "cop" not in [c.dep for c in children]:
            _retag_as_verb(
                repaired_words,
                repaired_words[index],
                children,
                repaired_words[index].start in likely,
            )
    return repaired_words


def _retag_as_verb(
    words: list[Word], word: Word, children: list[Word], likely: bool
) -> None:
    before = [c for c in children if c.index < word.index]
    if not before:
        return
    tag = "VBZ" if word.tag == "NNS" else "VBP"
    joined = word.dep == "conj" and words[word.head].tag == tag
    if joined and {"cc"} <= {c.dep for c in before} <= {
        "cc",
        "advmod",
        "punct",
    }:
        # With the subject of the first.
        words[word.index] = word._replace(pos="VERB", tag=tag)
        return
    subject = _subject(words, word, children, before, likely)
    if subject is None or not _attach_verb(
        words, word._replace(pos="VERB", tag=tag), subject, before
    ):
        return
    for child in before:
        if (
            child.index < subject.index
            and child.dep in _OF_NOUNS
            and subject.pos == "NOUN"
        ):
            words[child.index] = child._replace(head=subject.index)
    for child in children:
        if child.index > word.index and child.dep == "nmod":
            words[child.index] = child._replace(dep="obl")


def _subject(
    words: Sequence[Word],
    word: Word,
    children: list[Word],
    before: list[Word],
    likely: bool,
) -> Word | None:
    """Return the subject of a noun that may be a verb; None if it is a noun after all."""
    # Plan: a subject that the parser saw; the pronoun of a relative clause; else the word right
    # before, if number and phrase allow it.
    singular = word.tag == "NNS"
    head = words[word.head]
    subjects = [c for c in before if c.dep.startswith("nsubj")]
    if subjects:
        has_own_words = any(
            c.dep in _OF_NOUNS and c.index > subjects[-1].index for c in before
        )
        return (
            subjects[-1]
            if not has_own_words
            and (singular or likely or _is_several(subjects[-1]))
            else None
        )
    if word.dep.startswith("acl"):
        relative = [c for c in before if c.lower in RELATIVE_PRONOUNS]
        if relative:
            return relative[-1]
    subject = before[-1]
    if subject.index < word.index - 1 or subject.pos in ("CCONJ", "PUNCT"):
        # As in "cups and forks on a shelf".
        return None
    if subject.lower == "more" and len(before) > 1 and _counts(before[-2]):
        # As in "three more stand".
        subject = before[-2]
    fits = (
        subject.tag == "NN" or subject.lower in _ONE_MORE
        if singular
        else _is_several(subject)
    )
    # As in "a dog and a cat sleep".
    joined = word.dep == "conj" and head.is_noun
    # As in "pieces of wood lie".
    joined = likely and (joined or any(c.dep == "case" for c in before))
    sure = (fits or joined) and (
        likely or _is_no_phrase(words, word, children)
    )
    return subject if sure else None


def _is_several(word: Word) -> bool:
    return (
        word.tag in ("NNS", "NNPS") or word.lower in _SEVERAL or _counts(word)
    )


def _counts(word: Word) -> bool:
    return NUMBER_WORDS.get(word.lower, 1) != 1


def _is_no_phrase(
    words: Sequence[Word], word: Word, children: Sequence[Word]
) -> bool:
    """Return whether the words before a noun cannot be its phrase, or a particle follows it."""
    if any(c.dep == "compound:prt" and c.index > word.index for c in children):
        return True
    last = words[word.index - 1]
    phrase = [last.lower]
    for before in reversed(words[max(0, last.index - _REACH) : last.index]):
        if (
            before.head not in (word.index, last.index)
            or before.pos == "PUNCT"
        ):
            break
        phrase.append(before.lower)
    # "A band circles": a singular article before a noun in -s shows that it is a verb.
    if word.tag == "NNS":
        return "few" not in phrase and not _SINGULAR_DETERMINERS.isdisjoint(
            phrase
        )
    if word.dep == "ROOT" and _has_verb(
        [w for w in words if w.sentence == word.sentence]
    ):
        return False
    only_noun = {"n"} == parts_of_speech(
        word.lower
    ) or word.lower in _UNCHANGED
    return any(NUMBER_WORDS.get(w, 1) != 1 for w in phrase) and not only_noun


def _has_verb(words: Sequence[Word]) -> bool:
    return any(w.tag in _FINITE or w.tag == "MD" for w in words)


def _attach_verb(
    words: list[Word], verb: Word, subject: Word, before: Sequence[Word]
) -> bool:
    """Attach a retagged verb and its subject to the tree; return False if there is no place."""
    head = words[verb.head]
    kind = verb.role
    cased = any(c.dep == "case" for c in before)
    clause = [w for w in words if w.sentence == verb.sentence]
    has_finite_verb = _has_verb(clause)
    owner = subject._replace(dep="nsubj", head=verb.index)
    # As in "a peak soars, its top lit".
    lit = kind == "nsubj" and head.tag in (
        "VBN",
        "VBG",
    )
    if lit and not cased and not has_finite_verb:
        top = verb.index if head.head == head.index else head.head
        words[head.index] = head._replace(dep="advcl", head=verb.index)
        verb = verb._replace(dep=head.dep, head=top)
    elif kind == "conj" and head.is_noun and not cased:
        # Climbs a list of nouns to the verb that governs it, which then governs this verb too.
        above = head
        while above.pos != "VERB" and above.head != above.index:
            above = words[above.head]
        if above.pos == "VERB":
            verb = verb._replace(head=above.index)
        elif verb.tag == "VBP" and above is head:
            # As in "Bushes and a tree rise".
            words[head.index] = head._replace(dep="nsubj", head=verb.index)
            verb = verb._replace(dep="ROOT", head=verb.index)
    elif cased or kind in ("obj", "obl", "nmod", "nsubj", "appos"):
        root = next(w for w in clause if w.head == w.index)
        agrees = root.is_noun and (verb.tag == "VBP") == _is_several(root)
        if has_finite_verb or not agrees or root.index > verb.index:
            return False
        # As in "wood" of "pieces of wood lie".
        owner = owner._replace(dep=verb.dep, head=verb.head)
        words[root.index] = root._replace(dep="nsubj", head=verb.index)
        verb = verb._replace(dep="ROOT", head=verb.index)
    words[verb.index], words[subject.index] = verb, owner
    return True


def retag_adjectives_read_as_nouns(words: Sequence[Word]) -> list[Word]:
    """Retag adjectives before a comma that were tagged as nouns: "a light, upright panel"."""
    # The noun that the adjective describes is its conjunct, or a word with the same head and role.
    repaired_words = list(words)
    for article, word, comma in zip(words, words[1:], words[2:], strict=False):
        if (
            comma.text != ","
            or word.tag != "NN"
            or article.lower not in ("a", "an")
        ):
            continue
        joined = (
            w
            for w in words
            if w.head == word.index and w.dep in ("conj", "appos")
        )
        second = (
            w
            for w in words
            if w.head == word.head and w.dep == word.dep and w > comma
        )
        noun = next(joined, None) or next(second, word)
        between = {w.head for w in words[comma.index + 1 : noun.index]}
        led = article.head in (word.index, noun.index) and between == {
            noun.index
        }
        if (
            not led
            or noun.tag != "NN"
            or "a" not in parts_of_speech(word.lower)
        ):
            continue
        for child in words:
            if child.head == word.index and child.index not in (
                word.index,
                noun.index,
            ):
                repaired_words[child.index] = child._replace(head=noun.index)
        top = noun.index if word.head == word.index else word.head
        repaired_words[noun.index] = noun._replace(dep=word.dep, head=top)
        repaired_words[word.index] = word._replace(
            pos="ADJ", tag="JJ", dep="amod", head=noun.index
        )
    return repaired_words


def reattach_subjects_read_as_objects(words: Sequence[Word]) -> list[Word]:
    """Reattach the subject of a second clause that was joined to the object of the first.

    In "The left panel shows Eve and the right panel shows Adam" the right panel is not shown: a
    verb that follows it at once, with nothing that joins it to the first verb, is its own.
    """
    repaired_words = list(words)
    verbs = [
        word for word in words if word.dep == "conj" and word.tag in _FINITE
    ]
    led = (
        {w.head for w in words if w.role in ("nsubj", "cc", "mark")}
        if verbs
        else ()
    )
    for verb in verbs:
        noun = None if verb.index in led else _joined_noun_before(words, verb)
        object_ = words[noun.head] if noun else verb
        if noun and object_.dep == "obj" and object_.head == verb.head:
            repaired_words[noun.index] = noun._replace(
                dep="nsubj", head=verb.index
            )
            for joint in words[object_.index : noun.index]:
                if joint.dep == "cc" and joint.head == noun.index:
                    repaired_words[joint.index] = joint._replace(
                        head=verb.index
                    )
    return repaired_words


def _joined_noun_before(words: Sequence[Word], verb: Word) -> Word | None:
    """The noun joined to another whose last word stands before a verb, or None."""
    word = words[max(verb.index - 1, 0)]
    for _ in range(_DEPTH):
        if word.dep == "conj" or word.pos == "PUNCT":
            break
        word = words[word.head]
    return (
        word
        if word.dep == "conj" and word.is_noun and word.index < verb.index
        else None
    )


def reattach_numbers_of_clauses(words: Sequence[Word]) -> list[Word]:
    """Reattach numbers of a clause to the noun after them: "2,000 people march".

    What has a subject or an object is not counted; what stands right after a number is.
    """
    repaired_words = list(words)
    for word, noun in pairwise(words):
        counts = (
            word.dep == "nummod" and noun.is_noun and noun.head == word.head
        )
        if counts and noun.role in _ENDS:
            repaired_words[word.index] = word._replace(head=noun.index)
    return repaired_words


def join_appositions_in_lists(words: Sequence[Word]) -> list[Word]:
    """Join a noun to the list that it is in: "a bed, a lamp, a rug and a chair".

    The rug is no other name of the bed if the lamp is joined to the bed and the chair to the rug.
    """
    repaired_words = list(words)
    listed = {
        word.head for word in words if word.dep == "conj" and word.is_noun
    }
    joined: set[int] = set()
    for word in words:
        if word.dep == "conj":
            joined.add(word.head)
        elif (
            word.dep == "appos"
            and word.index in listed
            and word.head in joined
        ):
            repaired_words[word.index] = word._replace(dep="conj")
    return repaired_words


def reattach_clothes_of_verbs(words: Sequence[Word]) -> list[Word]:
    """Reattach clothes of a verb to the person before them: "talks to a girl in a hat"."""
    repaired_words = list(words)
    for before, word in pairwise(words):
        worn = words[word.head]
        dressed = (
            word.dep == "case"
            and word.lower == "in"
            and worn.dep.startswith("obl")
        )
        near = (
            dressed
            and before.is_noun
            and before.head == worn.head != before.index
        )
        if (
            near
            and is_kind(worn.lower, "clothing")
            and is_kind(before.lower, "person")
        ):
            repaired_words[worn.index] = worn._replace(
                dep="nmod", head=before.index
            )
    return repaired_words


def join_lists_of_clothes(words: Sequence[Word]) -> list[Word]:
    """Join clothes to the clothes before them: "a boy in a hat and boots and a girl in a coat".

    In "A man in a hat, a shirt and boots sits down" neither shirt nor boots sit: what follows
    something worn, with a comma or "and" between, is worn, too. A person is joined to a person.
    """
    repaired_words = list(words)
    for word in words:
        joined = word.is_noun and (
            word.dep in ("conj", "appos") or word.dep.startswith("nsubj")
        )
        before = _listed_before(repaired_words, word) if joined else None
        if before is not None and _is_clothing(before) and _is_clothing(word):
            first = _first_worn(repaired_words, before)
            if first is not None:
                repaired_words[word.index] = word._replace(
                    dep="conj", head=first.index
                )
        elif (
            word.dep == "conj"
            and repaired_words[word.head].is_noun
            and is_kind(word.lower, "person")
        ):
            listed = repaired_words[word.head]
            first = (
                _first_worn(repaired_words, listed)
                if _is_clothing(listed) and not _is_clothing(word)
                else None
            )
            wearer = None if first is None else repaired_words[first.head]
            # As in "a boy wearing a hat and".
            if wearer is not None and wearer.dep.startswith("acl"):
                wearer = repaired_words[wearer.head]
            if wearer is not None and wearer.is_noun:
                repaired_words[word.index] = word._replace(head=wearer.index)
    return repaired_words


def _is_clothing(word: Word) -> bool:
    forms = {word.lower, word.lower.removesuffix("s")}
    return word.is_noun and (
        is_kind(word.lower, "clothing") or not WORN.isdisjoint(forms)
    )


def _is_on_body(word: Word) -> bool:
    """Return whether a list of clothes may begin with a noun: "with dark hair and a coat"."""
    return _is_clothing(word) or (word.is_noun and word.lower in BODY)


def _listed_before(words: Sequence[Word], word: Word) -> Word | None:
    """The word that stands before a noun in a list, or None."""
    place = word.index
    joints = ("CCONJ", "PUNCT")
    while place > 0 and (
        words[place - 1].head == word.index or words[place - 1].pos in joints
    ):
        place -= 1
        if words[place].dep == "case":
            return None
    last = words[max(place - 1, 0)]
    listed = any(
        w.lower in (",", "and", "or") for w in words[place : word.index]
    )
    return last if listed and last.sentence == word.sentence else None


def _first_worn(words: Sequence[Word], word: Word) -> Word | None:
    """The first of a list if someone has it on: "in a hat", "with boots", "wearing a coat"."""
    for _ in range(_DEPTH):
        if word.dep != "conj" or not _is_on_body(word):
            break
        word = words[word.head]
    if not _is_on_body(word):
        return None
    start = max(0, word.index - _REACH)
    cases = [
        w.lower
        for w in words[start : word.index]
        if w.dep == "case" and w.head == word.index
    ]
    is_worn = word.dep == "obj" and words[word.head].lower in _WEARING
    return word if is_worn or cases in (["in"], ["with"]) else None
