"""Which nouns stand for things, on trees drawn by hand."""

from __future__ import annotations

import pytest

from beholder.language.phrases import find_phrases
from beholder.language.repairs import (
    join_appositions_in_lists,
    reattach_clothes_of_verbs,
    reattach_subjects_read_as_objects,
    retag_verbs_read_as_nouns,
)
from toy.cases import each_case
from toy.graphs import document

PHRASES = {
    "the picture and what it shows": (
        "The/DET/DT/det/2 image/NOUN/NN/nsubj/3 shows/VERB/VBZ/ROOT/0 a/DET/DT/det/5"
        " dog/NOUN/NN/obj/3",
        "image:picture dog:thing",
    ),
    "a picture on a wall": (
        "An/DET/DT/det/2 image/NOUN/NN/ROOT/0 on/ADP/IN/case/5 the/DET/DT/det/5"
        " wall/NOUN/NN/nmod/2",
        "image:thing wall:thing",
    ),
    "a picture of a wall": (
        "An/DET/DT/det/2 image/NOUN/NN/ROOT/0 of/ADP/IN/case/5 a/DET/DT/det/5 wall/NOUN/NN/nmod/2",
        "image:picture wall:thing",
    ),
    "a framed photo": (
        "A/DET/DT/det/3 framed/VERB/VBN/amod/3 photo/NOUN/NN/nsubj/4 hangs/VERB/VBZ/ROOT/0",
        "photo:thing",
    ),
    "several photos": (
        "photos/NOUN/NNS/nsubj/2 hang/VERB/VBP/ROOT/0",
        "photos:thing",
    ),
    "her photo": (
        "Her/PRON/PRP$/nmod:poss/2 photo/NOUN/NN/nsubj/3 hangs/VERB/VBZ/ROOT/0",
        "photo:thing",
    ),
    "a photo in the hand": (
        "A/DET/DT/det/2 man/NOUN/NN/nsubj/3 holds/VERB/VBZ/ROOT/0 a/DET/DT/det/5"
        " photo/NOUN/NN/obj/3",
        "man:thing photo:thing",
    ),
    "a shot that the picture shows": (
        "The/DET/DT/det/2 image/NOUN/NN/nsubj/3 shows/VERB/VBZ/ROOT/0 a/DET/DT/det/5"
        " shot/NOUN/NN/obj/3",
        "image:picture shot:picture",
    ),
    "a dog in the frame": (
        "A/DET/DT/det/2 dog/NOUN/NN/nsubj/3 sits/VERB/VBZ/ROOT/0 in/ADP/IN/case/6"
        " the/DET/DT/det/6 frame/NOUN/NN/obl/3",
        "dog:thing frame:picture",
    ),
    "a mirror in a golden frame": (
        "A/DET/DT/det/2 mirror/NOUN/NN/ROOT/0 in/ADP/IN/case/6 a/DET/DT/det/6"
        " golden/ADJ/JJ/amod/6 frame/NOUN/NN/nmod/2",
        "mirror:thing frame:thing",
    ),
    "a frame that is no place": (
        "The/DET/DT/det/2 frame/NOUN/NN/nsubj/3 breaks/VERB/VBZ/ROOT/0",
        "frame:thing",
    ),
    "who looks at the camera": (
        "He/PRON/PRP/nsubj/2 looks/VERB/VBZ/ROOT/0 at/ADP/IN/case/5 the/DET/DT/det/5"
        " camera/NOUN/NN/obl/2",
        "He:pronoun camera:picture",
    ),
    "we see": (
        "We/PRON/PRP/nsubj/2 see/VERB/VBP/ROOT/0 dogs/NOUN/NNS/obj/2",
        "We:picture dogs:thing",
    ),
    "that which is pointed at": (
        "That/PRON/DT/nsubj/2 moves/VERB/VBZ/ROOT/0",
        "That:pronoun",
    ),
    "that which begins a clause": (
        "dogs/NOUN/NNS/ROOT/0 that/PRON/WDT/nsubj/3 move/VERB/VBP/acl:relcl/1",
        "dogs:thing",
    ),
    "that which is an article": (
        "that/DET/DT/det/2 dog/NOUN/NN/ROOT/0",
        "dog:thing",
    ),
    "which": (
        "dogs/NOUN/NNS/ROOT/0 which/PRON/WDT/nsubj/3 move/VERB/VBP/acl:relcl/1",
        "dogs:thing",
    ),
    "a noun that describes a noun": (
        "a/DET/DT/det/3 coffee/NOUN/NN/compound/3 cup/NOUN/NN/ROOT/0",
        "cup:thing",
    ),
    "a noun that cannot describe a verb": (
        "dogs/NOUN/NNS/compound/2 race/VERB/VBP/ROOT/0",
        "dogs:thing",
    ),
    "a measure": (
        "He/PRON/PRP/nsubj/5 is/AUX/VBZ/cop/5 six/NUM/CD/nummod/4 feet/NOUN/NNS/obl:npmod/5"
        " tall/ADJ/JJ/ROOT/0",
        "He:pronoun",
    ),
    "a colour that is only a colour": (
        "walls/NOUN/NNS/nsubj/2 painted/VERB/VBN/ROOT/0 in/ADP/IN/case/4 black/NOUN/NN/obl/2",
        "walls:thing",
    ),
    "a shade before a colour": (
        "deep/NOUN/NN/nmod/3 blue/ADJ/JJ/amod/3 seas/NOUN/NNS/ROOT/0",
        "seas:thing",
    ),
    "what somebody is": (
        "The/DET/DT/det/2 man/NOUN/NN/nsubj/5 is/AUX/VBZ/cop/5 a/DET/DT/det/5"
        " doctor/NOUN/NN/ROOT/0",
        "man:thing",
    ),
    "a colour as a predicate": (
        "The/DET/DT/det/2 car/NOUN/NN/nsubj/4 is/AUX/VBZ/cop/4 red/NOUN/NN/ROOT/0",
        "car:thing",
    ),
    "a colour as a result": (
        "He/PRON/PRP/nsubj/2 paints/VERB/VBZ/ROOT/0 it/PRON/PRP/obj/2 red/NOUN/NN/xcomp/2",
        "He:pronoun it:pronoun",
    ),
    "a colour by itself": ("red/NOUN/NN/ROOT/0", "red:thing"),
    "signs are no nouns": (
        "dogs/NOUN/NNS/ROOT/0 --/NOUN/NN/appos/1",
        "dogs:thing",
    ),
}


@each_case("name", PHRASES)
def test_phrases_of_a_tree(name: str) -> None:
    tree, expected = PHRASES[name]
    phrases = find_phrases(document(tree)).by_word.values()
    assert [
        f"{phrase.word.text}:{phrase.kind}" for phrase in phrases
    ] == expected.split()


def test_a_doctor_and_a_pair_stand_for_what_they_are() -> None:
    doctor = find_phrases(document(PHRASES["what somebody is"][0]))
    assert doctor.stands_for == {4: 1}
    assert doctor.entity(4) == 1
    pair = find_phrases(
        document(
            "a/DET/DT/det/2 pair/NOUN/NN/ROOT/0 of/ADP/IN/case/5 red/ADJ/JJ/amod/5"
            " shoes/NOUN/NNS/nmod/2"
        )
    )
    assert pair.entity(1) == 4
    assert pair.by_word[4].quantity == "pair"
    assert pair.by_word[4].plural


def repaired(tree: str) -> list[str]:
    return [
        f"{word.pos}/{word.tag}"
        for word in retag_verbs_read_as_nouns(document(tree).words)
    ]


def test_a_plural_with_a_subject_before_it_is_a_verb() -> None:
    tree = "men/NOUN/NNS/nsubj/2 smiles/NOUN/NNS/ROOT/0"
    assert repaired(tree) == ["NOUN/NNS", "VERB/VBZ"]


@pytest.mark.parametrize(
    "tree",
    [
        "man/NOUN/NN/nsubj/2 smile/NOUN/NN/ROOT/0",  # no plural
        "smiles/NOUN/NNS/ROOT/0 men/NOUN/NNS/nsubj/1",  # the subject behind it
        "men/NOUN/NNS/nsubj/3 are/AUX/VBP/cop/3 doctors/NOUN/NNS/ROOT/0",
        "men/NOUN/NNS/nsubj/3 the/DET/DT/det/3 smiles/NOUN/NNS/ROOT/0",
        "men/NOUN/NNS/compound/2 smiles/NOUN/NNS/ROOT/0",  # no subject at all
    ],
)
def test_nouns_stay_nouns(tree: str) -> None:
    assert repaired(tree) == [f"{w.pos}/{w.tag}" for w in document(tree).words]


BAND = (
    "a/DET/DT/det/4 dark/ADJ/JJ/amod/4 band/NOUN/NN/compound/4 circles/NOUN/NNS/ROOT/0"
    " it/PRON/PRP/obj/4"
)
MORE = (
    "men/NOUN/NNS/nsubj/2 sit/VERB/VBP/ROOT/0 and/CCONJ/CC/cc/6 two/NUM/CD/nummod/6"
    " more/ADJ/JJR/amod/6 {noun}/NOUN/NN/conj/2"
)
PIECES = (
    "pieces/NOUN/NNS/ROOT/0 of/ADP/IN/case/4 wood/NOUN/NN/compound/4 lie/NOUN/NN/nmod/1"
    " there/ADV/RB/advmod/4"
)


def test_a_verb_gets_the_words_before_it_as_its_subject() -> None:
    repaired_words = retag_verbs_read_as_nouns(document(BAND).words)
    assert [(w.dep, w.head) for w in repaired_words] == [
        ("det", 2), ("amod", 2), ("nsubj", 3), ("ROOT", 3), ("obj", 3),
    ]  # fmt: skip
    assert (repaired_words[3].pos, repaired_words[3].tag) == ("VERB", "VBZ")


def test_what_is_counted_by_no_plural_is_a_verb() -> None:
    repaired_words = retag_verbs_read_as_nouns(
        document(MORE.format(noun="stoop")).words
    )
    assert (
        repaired_words[5].tag,
        repaired_words[3].dep,
        repaired_words[3].head,
    ) == ("VBP", "nsubj", 5)
    words = document(MORE.format(noun="sheep")).words  # a plural without -s
    assert retag_verbs_read_as_nouns(words) == list(words)


def test_the_noun_before_a_likely_verb_takes_its_place() -> None:
    words = document(PIECES).words
    assert retag_verbs_read_as_nouns(words) == list(words)
    repaired_words = retag_verbs_read_as_nouns(words, likely={words[3].start})
    assert [(w.dep, w.head) for w in repaired_words] == [
        ("nsubj", 3), ("case", 2), ("nmod", 0), ("ROOT", 3), ("advmod", 3),
    ]  # fmt: skip


SHOWING = (
    "Left/NOUN/NN/nsubj/2 shows/VERB/VBZ/ROOT/0 Eve/PROPN/NNP/obj/2 {cc}/{joint}"
    " right/NOUN/NN/conj/3 shows/VERB/{tag}/conj/2 Adam/PROPN/NNP/obj/6"
)


def test_the_subject_of_a_joined_clause_is_no_object_of_the_first() -> None:
    words = document(
        SHOWING.format(cc="and", joint="CCONJ/CC/cc/5", tag="VBZ")
    ).words
    repaired_words = reattach_subjects_read_as_objects(words)
    assert (repaired_words[4].dep, repaired_words[4].head) == ("nsubj", 5)
    assert (repaired_words[3].dep, repaired_words[3].head) == ("cc", 5)
    assert [w for w in repaired_words if w.index not in (3, 4)] == [
        w for w in words if w.index not in (3, 4)
    ]


@pytest.mark.parametrize(
    "tree",
    [
        SHOWING.format(
            cc="and", joint="CCONJ/CC/cc/5", tag="VBG"
        ),  # "and a woman holding a cup"
        SHOWING.format(
            cc="it", joint="PRON/PRP/nsubj/6", tag="VBZ"
        ),  # it has a subject
        "He/PRON/PRP/nsubj/2 holds/VERB/VBZ/ROOT/0 hats/NOUN/NNS/obj/2 and/CCONJ/CC/cc/5"
        " cups/NOUN/NNS/conj/3 and/CCONJ/CC/cc/7 smiles/VERB/VBZ/conj/2",  # joined to the verb
        "He/PRON/PRP/nsubj/2 sits/VERB/VBZ/ROOT/0 with/ADP/IN/case/4 dogs/NOUN/NNS/obl/2"
        " and/CCONJ/CC/cc/6 cats/NOUN/NNS/conj/4 smiles/VERB/VBZ/conj/2",  # no object
    ],
)
def test_objects_stay_objects(tree: str) -> None:
    words = document(tree).words
    assert reattach_subjects_read_as_objects(words) == list(words)


WORN = (
    "He/PRON/PRP/nsubj/2 waves/VERB/VBZ/ROOT/0 to/ADP/IN/case/4 {person}/NOUN/NN/obl/2"
    " {word}/ADP/IN/case/6 {clothes}/NOUN/NN/obl/2"
)


@pytest.mark.parametrize(
    ("person", "word", "clothes", "owner"),
    [
        ("girls", "in", "hats", 3),
        ("girls", "with", "hats", 1),
        ("girls", "in", "tears", 1),
        ("walls", "in", "hats", 1),
    ],
)
def test_clothes_are_of_the_person_before_them(
    person: str, word: str, clothes: str, owner: int
) -> None:
    words = document(
        WORN.format(person=person, word=word, clothes=clothes)
    ).words
    repaired_words = reattach_clothes_of_verbs(words)
    assert (repaired_words[5].dep, repaired_words[5].head) == (
        ("nmod" if owner == 3 else "obl"),
        owner,
    )
    assert repaired_words[:5] == list(words[:5])


@pytest.mark.parametrize(
    ("tree", "relation"),
    [
        (
            "bed/NOUN/NN/obj/2 ,/PUNCT/,/punct/3 lamp/NOUN/NN/conj/1 ,/PUNCT/,/punct/5"
            " rug/NOUN/NN/appos/1 and/CCONJ/CC/cc/7 chair/NOUN/NN/conj/5",
            "conj",
        ),
        (  # a lamp that is called an heirloom: nothing is joined to the heirloom
            "bed/NOUN/NN/obj/2 and/CCONJ/CC/cc/3 lamp/NOUN/NN/conj/1 ,/PUNCT/,/punct/5"
            " heirlooms/NOUN/NNS/appos/1",
            "appos",
        ),
        (  # a friend who is a doctor and a painter: nothing is joined to the friend
            "friend/NOUN/NN/obj/2 ,/PUNCT/,/punct/4 a/DET/DT/det/4 doctor/NOUN/NN/appos/1"
            " and/CCONJ/CC/cc/6 painter/NOUN/NN/conj/4",
            "appos",
        ),
    ],
)
def test_what_is_listed_is_no_apposition(tree: str, relation: str) -> None:
    repaired_words = join_appositions_in_lists(document(tree).words)
    assert [
        w.dep
        for w in repaired_words
        if w.text in ("rug", "heirlooms", "doctor")
    ] == [relation]
