"""Subjects and objects of predicates, and the things that a clause denies.

Also those that are not written beside it: relative clauses, participles, shared subjects, inverted
sentences. However absence is said ("no hat", "without a hat", "is not wearing a hat"), the graph is
the same: the thing is denied, and so is what relates it.
"""

from __future__ import annotations

from beholder.language import lexicon as lex
from beholder.language.document import Word

_DEPTH = 12
"""The most clauses upwards in the search for a subject."""
_LIVING = lex.ANIMALS | lex.PEOPLE
AFFIRMED = {"without": "with"}
"""Prepositions that deny the noun after them, and what they deny."""
_DENYING_WORDS = (
    lex.NEGATIONS | lex.UNTRUTHS | lex.DENIALS | {"none", *AFFIRMED}
)
"""A sentence without any of them denies nothing."""
_PLACING = frozenset(("where", "when", "why"))
_SHARES = ("conj", "xcomp", "advcl", "parataxis", "dep", "ccomp")


def is_verb(word: Word) -> bool:
    """Return whether a word is a verb that can have a subject of its own, so not "the lit room"."""
    return word.pos == "VERB" and word.dep not in (
        "amod",
        "case",
        "compound",
        "mark",
        "det",
        "cc",
    )


def conjuncts(word: Word) -> list[Word]:
    """A noun and the nouns joined to it: "a cup and a plate"."""
    joined = [c for c in word.children("conj") if _is_nominal(c)]
    return [
        word,
        *[c for c in joined if not c.child("nsubj", "cop")],
    ]


def is_denied(word: Word) -> bool:
    """Return whether a predicate is negated: "is not held", "it is false that he smiles"."""
    has_denial = word.sentence in word.document.having(_DENYING_WORDS)
    return has_denial and _is_negated(word) != _is_refuted(word)


def _is_negated(word: Word) -> bool:
    """Return whether a word is negated: "is not held", "never smiles", "without holding"."""
    if is_verb(word) and "without" in word.lower_children("mark"):
        return True
    subject_words = word.children("nsubj")
    counted = [
        c
        for subject in subject_words
        for c in (subject, *subject.children("det"))
    ]
    # "None of the men smiles" denies the verb by its subject.
    if any(c.lower in ("none", "neither") for c in counted):
        return True
    # As in "there isn't a dog".
    last = word.index + (word.lemma == "be")
    modifiers = (
        c
        for c in word.children("advmod", "neg", "det", "cc")
        if c.index <= last
    )
    denying = (
        c for c in modifiers if c.lower in lex.NEGATIONS or c.lemma == "not"
    )
    return not all(is_limited(c) for c in denying)


def _is_refuted(word: Word) -> bool:
    """Return whether the text calls the clause of a word false: "it is not true that ..."."""
    refuted = False
    for _ in range(_DEPTH):
        frame = word.governor
        if frame is None:
            break
        if word.role in ("csubj", "ccomp", "acl"):
            judged = frame if frame.dep != "nsubj" else frame.head_word
            if judged.lemma in lex.TRUTHS | lex.UNTRUTHS and judged.child(
                "cop"
            ):
                # Each frame turns the truth around: "it is not false that ..." refutes twice.
                refuted ^= (judged.lemma in lex.UNTRUTHS) != _is_negated(
                    judged
                )
            refuted ^= judged.lemma in lex.DENIALS and judged.pos == "VERB"
        word = frame
    return refuted


def is_limited(denying: Word) -> bool:
    """Return whether a negation only says that there is more: "not only a dog"."""
    following = denying.next
    return following is not None and following.lower in lex.LIMITING_ADVERBS


def is_passive(verb: Word) -> bool:
    """Return whether the subject undergoes the verb: "is held by", "covered in snow"."""
    if verb.child("aux:pass", "nsubj:pass"):
        return True
    head = verb.governor
    if verb.tag not in ("VBN", "VBD") or verb.child("aux"):
        return False
    if verb.child("nsubj"):
        return False
    if head is None or verb.dep not in ("conj", "xcomp"):
        return verb.dep in ("acl", "amod", "advcl")
    return is_verb(head) and is_passive(head)


def subjects(predicate: Word, depth: int = 0) -> list[Word]:
    """Return the nouns that are subjects of a predicate, conjuncts included."""
    # Plan: written subjects first; then the inverted one; then the noun that a clause describes;
    # then the subjects of the clause above, which share it.
    if own_subjects := written_subjects(predicate):
        nouns = [
            n for c in own_subjects for n in conjuncts(_referent(c, predicate))
        ]
        return [*_joined_before(predicate, own_subjects[0]), *nouns]
    if inverted := inverted_subject(predicate):
        return conjuncts(inverted)
    head = predicate.governor
    if head is None or depth > _DEPTH:
        return []
    if predicate.role in ("acl", "amod") and _is_nominal(head):
        return _doer(predicate, head) or [head]
    if predicate.dep in _SHARES:
        return _shared(predicate, head, depth)
    return []


def written_subjects(predicate: Word) -> list[Word]:
    """Return the subjects of a predicate without fronted places that the parser took for one."""
    nominals = (c for c in predicate.children("nsubj") if c.lower != "there")
    return [c for c in nominals if not c.child("case")]


def fronted_place(predicate: Word) -> Word | None:
    """The place that was read as a subject in "On the table is a vase"."""
    nominals = predicate.before("nsubj")
    return next((c for c in nominals if c.child("case")), None)


def _joined_before(predicate: Word, subject: Word) -> list[Word]:
    """The dog in "A dog and a cat lie", if the parser joined the verb to the first noun."""
    head = predicate.governor
    if (
        predicate.dep != "conj"
        or head is None
        or not _is_nominal(head)
        or head.dep != "ROOT"
    ):
        return []
    joins = [c for c in predicate.children("cc") if c.index < subject.index]
    alone = not head.children("cop", "acl", "nsubj", "punct")
    return (
        [head] if joins and (alone or joins[0].index == head.index + 1) else []
    )


def _shared(predicate: Word, head: Word, depth: int) -> list[Word]:
    if predicate.dep == "ccomp" and predicate.tag not in ("VBG", "VBN"):
        return []
    if predicate.dep == "xcomp" and head.pos == "VERB":
        objects = head.children("obj")
        # As in "shows a man riding", "keeps the door open".
        if objects:
            return [n for c in objects for n in conjuncts(c)]
    if _is_nominal(head) and not head.child("cop", "nsubj"):
        return conjuncts(head) if predicate.dep != "conj" else [head]
    return subjects(head, depth + 1)


def _doer(predicate: Word, noun: Word) -> list[Word]:
    """Return the living subject of a participle after another noun, or an empty list.

    In "A woman sits on a bench reading" it is the woman: benches do not read.
    """
    if (
        predicate.tag != "VBG"
        or predicate.lemma not in lex.ANIMATE_VERBS
        or noun.lemma in _LIVING
    ):
        return []
    clause = noun.governor
    while clause is not None and clause.is_noun:
        if clause.lemma in _LIVING:
            return [clause]
        clause = clause.governor
    if clause is None or clause.pos != "VERB" or noun.dep.startswith("nsubj"):
        return []
    return [
        s for s in subjects(clause, 1) if s.lemma in _LIVING or s.pos == "PRON"
    ]


def _is_nominal(word: Word) -> bool:
    return word.pos in ("NOUN", "PROPN", "PRON", "NUM")


def _referent(word: Word, predicate: Word) -> Word:
    """For "who" and "which", the noun that the clause describes; any other word means itself."""
    if word.lower in lex.RELATIVE_PRONOUNS and word.pos in (
        "PRON",
        "DET",
        "SCONJ",
    ):
        return described_noun(predicate) or word
    return word


def described_noun(predicate: Word) -> Word | None:
    """The noun that a relative or participial clause describes."""
    for _ in range(_DEPTH):
        if predicate.dep == "conj":
            predicate = predicate.head_word
    head = predicate.governor
    if head is not None and predicate.role == "acl" and _is_nominal(head):
        return head
    return None


def inverted_subject(verb: Word) -> Word | None:
    """The noun after the verb in "Behind the table stands a man"."""
    if (
        not is_verb(verb)
        or verb.lemma not in lex.INTRANSITIVE
        or written_subjects(verb)
    ):
        return None
    fronted = verb.before("obl", "advmod", "nsubj")
    after = verb.after("obj")
    return (
        after[0]
        if fronted and after and verb.tag in ("VBZ", "VBP", "VBD", "VBG")
        else None
    )


def objects(verb: Word) -> list[Word]:
    """The direct objects of a verb, conjuncts included."""
    # Plan: written objects; else the noun of a relative clause; else the objects after a joined
    # verb.
    direct = verb.children("obj")
    direct = [
        c
        for c in direct
        if c.lower not in lex.RELATIVE_PRONOUNS or c.pos != "PRON"
    ]
    excluded = (inverted_subject(verb), *recipients(verb)) if direct else ()
    direct = [c for c in direct if c not in excluded]
    if nouns := [n for c in direct for n in conjuncts(c)]:
        return nouns
    gap = gap_noun(verb)
    if gap is not None and not _stranded(verb):
        return [gap]
    head = verb.governor
    if verb.dep == "conj" and head is not None and head.pos == "VERB":
        later = [c for c in head.children("obj") if c.index > verb.index]
        # As in "holds and eats a sandwich".
        return [n for c in later for n in conjuncts(c)]
    return []


def recipients(verb: Word) -> list[Word]:
    """Return the receivers of the object: the woman in "gives the woman a flower"."""
    receivers = verb.children("iobj")
    direct = verb.children("obj")
    if (
        not receivers
        and len(direct) == 2
        and direct[1].child("det", "nummod", "amod")
    ):
        return direct[:1]
    return receivers


def gap_noun(verb: Word) -> Word | None:
    """The noun that a relative clause leaves out as object: "the cup (that) the man holds"."""
    if verb.dep not in ("acl", "acl:relcl"):
        return None
    own_subjects = [
        c
        for c in verb.children("nsubj")
        if c.lower not in lex.RELATIVE_PRONOUNS
    ]
    asks = verb.lower_children("advmod", "mark")
    placed = not _PLACING.isdisjoint(asks)
    relative = not lex.RELATIVE_PRONOUNS.isdisjoint(verb.lower_children("obj"))
    full = verb.child("cop", "obj") and not relative
    return None if placed or full or not own_subjects else verb.governor


def stranded_preposition(verb: Word) -> Word | None:
    """The preposition at the end of "the chair (that) the man sits on"."""
    return _stranded(verb) if gap_noun(verb) is not None else None


def _stranded(verb: Word) -> Word | None:
    for child in verb.after("obl", "advmod", "case", "compound:prt"):
        if child.pos == "ADP" and not child.children():
            return child
    relative = verb.children("obl", "obj")
    cases = [
        c.child("case") for c in relative if c.lower in lex.RELATIVE_PRONOUNS
    ]
    return next(filter(None, cases), None)


# Base forms; "neither dog" says that there are two.
_DENYING = ("no", "not")
_INDEFINITE = ("a", "an", "any", "either")
_COUNTING = lex.QUANTIFIERS - {"any", "other", "single"}


def is_absent(noun: Word) -> bool:
    """Return whether a text says that there is no such thing as a noun names.

    A denied verb denies only what is new in it: who "is not wearing the hat" may have it at hand,
    and if there are "not many people" there are some. In a clause that is called false, all things
    are denied.
    """
    has_denial = noun.sentence in noun.document.having(_DENYING_WORDS)
    return has_denial and _is_lacking(noun) != _is_refuted(noun)


def _is_lacking(noun: Word) -> bool:
    if _is_denied_itself(noun):
        return True
    # A negation before the first of a list may deny all of it: "no dog or cat".
    first = noun.head_word if noun.dep == "conj" else noun
    group = conjuncts(first)
    if noun not in group:
        return False
    joined_by = {c.lower for each in group for c in each.children("cc")}
    if "nor" in joined_by:
        return True
    if noun is not first:
        if "but" in noun.lower_children("cc"):
            return False
        # "a dog without a collar and a cat" has a cat.
        if _is_denied_itself(first):
            bare = not noun.child("case", "det")
            return joined_by == {"or"} or (bare and _is_lacked(first))
    return _is_new(noun) and _is_in_denied_clause(first)


def _is_denied_itself(noun: Word) -> bool:
    """Return whether a noun itself is denied: "no hat", "not a single hat", "without a hat"."""
    if _is_lacked(noun):
        return True
    denying = (
        c for c in noun.children("det", "advmod", "cc") if c.lemma in _DENYING
    )
    denials = [word.lemma for word in denying if not is_limited(word)]
    if denials == ["not"]:
        return _is_new(noun) and _is_no_place(noun)
    return bool(denials)


def _is_lacked(noun: Word) -> bool:
    return "without" in noun.lower_children("case")


def _is_new(noun: Word) -> bool:
    """Return whether a noun stands for any of its kind: not for a known one, nor for a number."""
    modifiers = noun.children("det", "amod", "nummod")
    if noun.pos != "NOUN" or noun.child("nmod:poss", "nummod"):
        return False
    indefinite = all(
        d.lower in _INDEFINITE for d in modifiers if d.dep == "det"
    )
    return indefinite and _COUNTING.isdisjoint(
        word.lower for word in modifiers
    )


def _is_in_denied_clause(noun: Word) -> bool:
    """Return whether a noun is what a denied verb acts on, or what it says there is or is with."""
    verb = noun.governor
    if verb is None or not _is_negated(verb):
        return False
    kind = noun.role
    if kind == "nsubj":
        return verb.child("expl") is not None
    return kind in ("obj", "obl") and _is_no_place(noun)


def _is_no_place(noun: Word) -> bool:
    """Return whether all prepositions of a noun are "with": "not in the park" denies no park."""
    return all(case.lower == "with" for case in noun.children("case"))
