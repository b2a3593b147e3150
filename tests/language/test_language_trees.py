"""The rules on trees drawn by hand, as Universal Dependencies prescribe: no parser comes between."""

from __future__ import annotations

from beholder.language import scene_graph
from toy.cases import each_case
from toy.graphs import document, normal, written

CASES = {
    "shared object": (
        "The/DET/DT/det/2 man/NOUN/NN/nsubj/3 holds/VERB/VBZ/ROOT/0 and/CCONJ/CC/cc/5"
        " eats/VERB/VBZ/conj/3 a/DET/DT/det/7 sandwich/NOUN/NN/obj/3",
        "man | sandwich | man > holds > sandwich | man > eats > sandwich",
    ),
    "object before the joined verb": (
        "The/DET/DT/det/2 man/NOUN/NN/nsubj/3 holds/VERB/VBZ/ROOT/0 a/DET/DT/det/5"
        " cup/NOUN/NN/obj/3 and/CCONJ/CC/cc/7 smiles/VERB/VBZ/conj/3",
        "man: smiles | cup | man > holds > cup",
    ),
    "inverted subject": (
        "Behind/ADP/IN/case/3 the/DET/DT/det/3 table/NOUN/NN/obl/4 stands/VERB/VBZ/ROOT/0"
        " a/DET/DT/det/6 man/NOUN/NN/nsubj/4",
        "table | man | man > stands behind > table",
    ),
    "inverted subject read as an object": (
        "Behind/ADP/IN/case/3 the/DET/DT/det/3 table/NOUN/NN/obl/4 stands/VERB/VBZ/ROOT/0"
        " a/DET/DT/det/6 man/NOUN/NN/obj/4",
        "table | man | man > stands behind > table",
    ),
    "verb joined to the first noun": (
        "A/DET/DT/det/2 dog/NOUN/NN/ROOT/0 and/CCONJ/CC/cc/6 a/DET/DT/det/5 cat/NOUN/NN/nsubj/6"
        " lie/VERB/VBP/conj/2",
        "dog: lie | cat: lie",
    ),
    "the sitter reads, not the bench": (
        "A/DET/DT/det/2 woman/NOUN/NN/nsubj/3 sits/VERB/VBZ/ROOT/0 on/ADP/IN/case/6"
        " a/DET/DT/det/6 bench/NOUN/NN/obl/3 reading/VERB/VBG/acl/6",
        "woman: reading | bench | woman > sits on > bench",
    ),
    "what the picture shows": (
        "The/DET/DT/det/2 image/NOUN/NN/nsubj/3 shows/VERB/VBZ/ROOT/0 a/DET/DT/det/5"
        " man/NOUN/NN/obj/3 riding/VERB/VBG/xcomp/3 a/DET/DT/det/8 horse/NOUN/NN/obj/6",
        "man | horse | man > riding > horse",
    ),
    "recipient": (
        "A/DET/DT/det/2 woman/NOUN/NN/nsubj/3 gives/VERB/VBZ/ROOT/0 the/DET/DT/det/5"
        " girl/NOUN/NN/iobj/3 a/DET/DT/det/7 flower/NOUN/NN/obj/3",
        "woman | girl | flower | woman > gives > flower | woman > gives to > girl",
    ),
    "recipient read as an object": (
        "A/DET/DT/det/2 woman/NOUN/NN/nsubj/3 gives/VERB/VBZ/ROOT/0 the/DET/DT/det/5"
        " girl/NOUN/NN/obj/3 a/DET/DT/det/7 flower/NOUN/NN/obj/3",
        "woman | girl | flower | woman > gives > flower | woman > gives to > girl",
    ),
    "left out object": (
        "The/DET/DT/det/2 cup/NOUN/NN/nsubj/7 the/DET/DT/det/4 man/NOUN/NN/nsubj/5"
        " holds/VERB/VBZ/acl:relcl/2 is/AUX/VBZ/cop/7 red/ADJ/JJ/ROOT/0",
        "cup: red | man | man > holds > cup",
    ),
    "relative object": (
        "The/DET/DT/det/2 cup/NOUN/NN/nsubj/8 that/PRON/WDT/obj/6 the/DET/DT/det/5"
        " man/NOUN/NN/nsubj/6 holds/VERB/VBZ/acl:relcl/2 is/AUX/VBZ/cop/8 red/ADJ/JJ/ROOT/0",
        "cup: red | man | man > holds > cup",
    ),
    "relative subject": (
        "A/DET/DT/det/2 man/NOUN/NN/nsubj/7 who/PRON/WP/nsubj/4 wears/VERB/VBZ/acl:relcl/2"
        " a/DET/DT/det/6 hat/NOUN/NN/obj/4 smiles/VERB/VBZ/ROOT/0",
        "man: smiles | hat | man > wears > hat",
    ),
    "preposition left at the end": (
        "The/DET/DT/det/2 chair/NOUN/NN/nsubj/8 the/DET/DT/det/4 man/NOUN/NN/nsubj/5"
        " sits/VERB/VBZ/acl:relcl/2 on/ADP/IN/case/5 is/AUX/VBZ/cop/8 old/ADJ/JJ/ROOT/0",
        "chair: old | man | man > sits on > chair",
    ),
    "preposition before the relative pronoun": (
        "The/DET/DT/det/2 chair/NOUN/NN/nsubj/9 on/ADP/IN/case/4 which/PRON/WDT/obl/7"
        " the/DET/DT/det/6 man/NOUN/NN/nsubj/7 sits/VERB/VBZ/acl:relcl/2 is/AUX/VBZ/cop/9"
        " old/ADJ/JJ/ROOT/0",
        "chair: old | man | man > sits on > chair",
    ),
    "place left at the end": (
        "The/DET/DT/det/2 table/NOUN/NN/nsubj/8 the/DET/DT/det/4 plates/NOUN/NNS/nsubj/6"
        " are/AUX/VBP/cop/6 on/ADP/IN/acl:relcl/2 is/AUX/VBZ/cop/8 old/ADJ/JJ/ROOT/0",
        "table: old | plate | plate > on > table",
    ),
    "where a clause is no object": (
        "The/DET/DT/det/2 bench/NOUN/NN/nsubj/8 where/ADV/WRB/advmod/6 the/DET/DT/det/5"
        " man/NOUN/NN/nsubj/6 sleeps/VERB/VBZ/acl:relcl/2 is/AUX/VBZ/cop/8 old/ADJ/JJ/ROOT/0",
        "bench: old | man: sleeps",
    ),
    "whose": (
        "The/DET/DT/det/2 man/NOUN/NN/nsubj/7 whose/PRON/WP$/nmod:poss/4 hat/NOUN/NN/nsubj/6"
        " is/AUX/VBZ/cop/6 red/ADJ/JJ/acl:relcl/2 smiles/VERB/VBZ/ROOT/0",
        "man: smiles | hat: red | man > has > hat",
    ),
    "adjective of a relative clause": (
        "A/DET/DT/det/2 cat/NOUN/NN/nsubj/6 which/PRON/WDT/nsubj/5 is/AUX/VBZ/cop/5"
        " black/ADJ/JJ/acl:relcl/2 sleeps/VERB/VBZ/ROOT/0",
        "cat: black, sleeps",
    ),
    "denied adjective of a relative clause": (
        "A/DET/DT/det/2 dog/NOUN/NN/nsubj/7 that/PRON/WDT/nsubj/6 is/AUX/VBZ/cop/6"
        " not/PART/RB/advmod/6 brown/ADJ/JJ/acl:relcl/2 sleeps/VERB/VBZ/ROOT/0",
        "dog: !brown, sleeps",
    ),
    "never": (
        "A/DET/DT/det/2 boy/NOUN/NN/nsubj/4 never/ADV/RB/advmod/4 smiles/VERB/VBZ/ROOT/0",
        "boy: !smiles",
    ),
    "passive": (
        "The/DET/DT/det/2 ball/NOUN/NN/nsubj:pass/4 is/AUX/VBZ/aux:pass/4 held/VERB/VBN/ROOT/0"
        " by/ADP/IN/case/7 a/DET/DT/det/7 man/NOUN/NN/obl:agent/4",
        "ball | man | ball > held by > man",
    ),
    "two things there are": (
        "There/PRON/EX/expl/2 is/VERB/VBZ/ROOT/0 a/DET/DT/det/4 dog/NOUN/NN/nsubj/2"
        " on/ADP/IN/case/7 the/DET/DT/det/7 mat/NOUN/NN/nmod/4 and/CCONJ/CC/cc/10"
        " a/DET/DT/det/10 cat/NOUN/NN/conj/4 on/ADP/IN/case/13 the/DET/DT/det/13"
        " sofa/NOUN/NN/nmod/10",
        "dog | mat | cat | sofa | dog > on > mat | cat > on > sofa",
    ),
    "place of what there is": (
        "There/PRON/EX/expl/2 are/VERB/VBP/ROOT/0 dogs/NOUN/NNS/nsubj/2 on/ADP/IN/case/6"
        " the/DET/DT/det/6 mat/NOUN/NN/obl/2",
        "dog | mat | dog > on > mat",
    ),
    "joined nouns share a place": (
        "leaves/NOUN/NNS/ROOT/0 and/CCONJ/CC/cc/3 twigs/NOUN/NNS/conj/1 on/ADP/IN/case/6"
        " the/DET/DT/det/6 grass/NOUN/NN/nmod/1",
        "leaf | twig | grass | leaf > on > grass | twig > on > grass",
    ),
    "joined nouns share a place of the last": (
        "leaves/NOUN/NNS/ROOT/0 and/CCONJ/CC/cc/3 twigs/NOUN/NNS/conj/1 on/ADP/IN/case/6"
        " the/DET/DT/det/6 grass/NOUN/NN/nmod/3",
        "leaf | twig | grass | leaf > on > grass | twig > on > grass",
    ),
    "a noun with an article shares nothing": (
        "leaves/NOUN/NNS/ROOT/0 and/CCONJ/CC/cc/4 a/DET/DT/det/4 twig/NOUN/NN/conj/1"
        " on/ADP/IN/case/7 the/DET/DT/det/7 grass/NOUN/NN/nmod/4",
        "leaf | twig | grass | twig > on > grass",
    ),
    "who is near the tree": (
        "A/DET/DT/det/2 man/NOUN/NN/nsubj/3 stands/VERB/VBZ/ROOT/0 on/ADP/IN/case/6"
        " a/DET/DT/det/6 hill/NOUN/NN/obl/3 near/ADP/IN/case/9 a/DET/DT/det/9 tree/NOUN/NN/nmod/6",
        "man | hill | tree | man > stands on > hill | man > stands near > tree",
    ),
    "superlative and numeral": (
        "The/DET/DT/det/4 two/NUM/CD/nummod/4 largest/ADJ/JJS/amod/4 boats/NOUN/NNS/nsubj/6"
        " are/AUX/VBP/cop/6 white/ADJ/JJ/ROOT/0",
        "boat (two): largest, white",
    ),
    "pairs": (
        "Two/NUM/CD/nummod/2 pairs/NOUN/NNS/nsubj/5 of/ADP/IN/case/4 shoes/NOUN/NNS/nmod/2"
        " lie/VERB/VBP/ROOT/0",
        "shoe (two pairs): lie",
    ),
    "joined adjectives": (
        "The/DET/DT/det/2 door/NOUN/NN/nsubj/4 is/AUX/VBZ/cop/4 old/ADJ/JJ/ROOT/0"
        " and/CCONJ/CC/cc/6 open/ADJ/JJ/conj/4",
        "door: old, open",
    ),
    "negation of a linking verb": (
        "It/PRON/PRP/nsubj/4 does/AUX/VBZ/aux/4 not/PART/RB/advmod/4 look/VERB/VB/ROOT/0"
        " old/ADJ/JJ/xcomp/4",
        "it: !old",
    ),
    "position in the picture": (
        "A/DET/DT/det/2 tree/NOUN/NN/nsubj/6 is/AUX/VBZ/cop/6 in/ADP/IN/case/6"
        " the/DET/DT/det/6 background/NOUN/NN/ROOT/0",
        "tree: in the background",
    ),
    "complement of an adjective": (
        "A/DET/DT/det/2 glass/NOUN/NN/nsubj/4 is/AUX/VBZ/cop/4 full/ADJ/JJ/ROOT/0"
        " of/ADP/IN/case/6 water/NOUN/NN/obl/4",
        "glass | water | glass > full of > water",
    ),
    "verb with a particle": (
        "The/DET/DT/det/2 man/NOUN/NN/nsubj/3 picks/VERB/VBZ/ROOT/0 up/ADP/RP/compound:prt/3"
        " a/DET/DT/det/6 box/NOUN/NN/obj/3",
        "man | box | man > picks up > box",
    ),
    "where the object goes": (
        "A/DET/DT/det/2 man/NOUN/NN/nsubj/3 puts/VERB/VBZ/ROOT/0 a/DET/DT/det/5"
        " plate/NOUN/NN/obj/3 on/ADP/IN/case/8 the/DET/DT/det/8 table/NOUN/NN/obl/3",
        "man | plate | table | man > puts > plate | plate > on > table",
    ),
    "with what the object is held": (
        "A/DET/DT/det/2 man/NOUN/NN/nsubj/3 puts/VERB/VBZ/ROOT/0 a/DET/DT/det/5"
        " plate/NOUN/NN/obj/3 with/ADP/IN/case/8 his/PRON/PRP$/nmod:poss/8 hands/NOUN/NNS/obl/3",
        "man | plate | hand | man > puts > plate | man > puts with > hand | man > has > hand",
    ),
}


@each_case("name", CASES)
def test_graph_of_a_tree(name: str) -> None:
    tree, expected = CASES[name]
    lines = written(scene_graph(document(tree)))
    assert lines == frozenset(
        normal(entry.strip()) for entry in expected.split("|")
    )


REFERENCE = {
    "a modifier is copied to a noun that has none": (
        "a/DET/DT/det/3 red/ADJ/JJ/amod/3 car/NOUN/NN/ROOT/0 and/CCONJ/CC/cc/6 a/DET/DT/det/6"
        " tree/NOUN/NN/conj/3",
        {"car: red", "tree: red"},
    ),
    "a modifier is not copied to a noun that has one": (
        "a/DET/DT/det/3 red/ADJ/JJ/amod/3 car/NOUN/NN/ROOT/0 and/CCONJ/CC/cc/7 a/DET/DT/det/7"
        " green/ADJ/JJ/amod/7 tree/NOUN/NN/conj/3",
        {"car: red", "tree: green"},
    ),
    "a place is not copied to a noun that has one": (
        "a/DET/DT/det/2 dog/NOUN/NN/ROOT/0 on/ADP/IN/case/5 a/DET/DT/det/5 mat/NOUN/NN/nmod/2"
        " and/CCONJ/CC/cc/8 a/DET/DT/det/8 cat/NOUN/NN/conj/2 under/ADP/IN/case/11"
        " a/DET/DT/det/11 chair/NOUN/NN/nmod/8",
        {
            "dog",
            "mat",
            "cat",
            "chair",
            "dog > on > mat",
            "cat > under > chair",
        },
    ),
    "a verb is not copied to a noun that has one": (
        "a/DET/DT/det/2 man/NOUN/NN/ROOT/0 walking/VERB/VBG/acl/2 and/CCONJ/CC/cc/6"
        " a/DET/DT/det/6 woman/NOUN/NN/conj/2 sitting/VERB/VBG/acl/6",
        {"man: walking", "woman: sitting"},
    ),
    "an object is shared": (
        "a/DET/DT/det/2 man/NOUN/NN/nsubj/3 holds/VERB/VBZ/ROOT/0 a/DET/DT/det/5 cup/NOUN/NN/obj/3"
        " and/CCONJ/CC/cc/8 a/DET/DT/det/8 plate/NOUN/NN/conj/5",
        {"man", "cup", "plate", "man > holds > cup", "man > holds > plate"},
    ),
    "a subject is shared": (
        "a/DET/DT/det/2 man/NOUN/NN/nsubj/6 and/CCONJ/CC/cc/5 a/DET/DT/det/5 boy/NOUN/NN/conj/2"
        " hold/VERB/VBP/ROOT/0 a/DET/DT/det/8 cup/NOUN/NN/obj/6",
        {"man", "boy", "cup", "man > hold > cup", "boy > hold > cup"},
    ),
}


@each_case("name", REFERENCE)
def test_reference_graph_of_a_tree(name: str) -> None:
    tree, expected = REFERENCE[name]
    lines = written(scene_graph(document(tree), rules="reference"))
    assert lines == frozenset(normal(entry) for entry in expected)
