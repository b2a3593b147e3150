"""ClearNLP trees, written by hand after spaCy's label scheme, as UD trees."""

from __future__ import annotations

from itertools import accumulate

from beholder.language.dialects import Node, _trees, is_clear, to_clear, to_ud
from toy.cases import each_case

# word/pos/relation/head, heads from 1, 0 for the root.
CASES = {
    "preposition of a verb": (
        "The/DET/det/2 cat/NOUN/nsubj/3 sits/VERB/ROOT/0 on/ADP/prep/3 the/DET/det/6 "
        "mat/NOUN/pobj/4",
        "det/2 nsubj/3 ROOT/0 case/6 det/6 obl/3",
    ),
    "preposition of a noun": (
        "a/DET/det/2 man/NOUN/ROOT/0 with/ADP/prep/2 a/DET/det/5 hat/NOUN/pobj/3",
        "det/2 ROOT/0 case/5 det/5 nmod/2",
    ),
    "predicate adjective": (
        "The/DET/det/2 cat/NOUN/nsubj/3 is/AUX/ROOT/0 black/ADJ/acomp/3",
        "det/2 nsubj/4 cop/4 ROOT/0",
    ),
    "copular place": (
        "The/DET/det/2 cat/NOUN/nsubj/3 is/AUX/ROOT/0 on/ADP/prep/3 mats/NOUN/pobj/4",
        "det/2 nsubj/5 cop/5 case/5 ROOT/0",
    ),
    "predicate noun": (
        "He/PRON/nsubj/2 is/AUX/ROOT/0 a/DET/det/4 doctor/NOUN/attr/2",
        "nsubj/4 cop/4 det/4 ROOT/0",
    ),
    "existential": (
        "There/PRON/expl/2 is/VERB/ROOT/0 a/DET/det/4 dog/NOUN/attr/2",
        "expl/2 ROOT/0 det/4 nsubj/2",
    ),
    "passive with agent": (
        "balls/NOUN/nsubjpass/3 are/AUX/auxpass/3 held/VERB/ROOT/0 by/ADP/agent/3 men/NOUN/pobj/4",
        "nsubj:pass/3 aux:pass/3 ROOT/0 case/5 obl:agent/3",
    ),
    "objects, particle, recipient": (
        "She/PRON/nsubj/2 gave/VERB/ROOT/0 him/PRON/dative/2 up/ADP/prt/2 cups/NOUN/dobj/2",
        "nsubj/2 ROOT/0 iobj/2 compound:prt/2 obj/2",
    ),
    "possessor": (
        "the/DET/det/2 man/NOUN/poss/4 's/PART/case/2 hat/NOUN/ROOT/0",
        "det/2 nmod:poss/4 case/2 ROOT/0",
    ),
    "linking verb and negation": (
        "It/PRON/nsubj/4 does/AUX/aux/4 not/PART/neg/4 look/VERB/ROOT/0 old/ADJ/acomp/4",
        "nsubj/4 aux/4 advmod/4 ROOT/0 xcomp/4",
    ),
    "chain of conjuncts": (
        "red/ADJ/amod/6 ,/PUNCT/punct/1 blue/ADJ/conj/1 and/CCONJ/cc/3 green/ADJ/conj/3 "
        "flags/NOUN/ROOT/0",
        "amod/6 punct/1 conj/1 cc/3 conj/1 ROOT/0",
    ),
    "two prepositions": (
        "cats/NOUN/nsubj/2 jump/VERB/ROOT/0 out/ADP/prep/2 of/ADP/prep/3 boxes/NOUN/pobj/4",
        "nsubj/2 ROOT/0 case/5 case/5 obl/2",
    ),
    "preposition with a clause": (
        "He/PRON/nsubj/2 rests/VERB/ROOT/0 after/ADP/prep/2 running/VERB/pcomp/3",
        "nsubj/2 ROOT/0 mark/4 advcl/2",
    ),
    "noun with a clause": (
        "ways/NOUN/ROOT/0 of/ADP/prep/1 cooking/VERB/pcomp/2",
        "ROOT/0 mark/3 acl/1",
    ),
    "preposition as the root": (
        "on/ADP/ROOT/0 the/DET/det/3 table/NOUN/pobj/1",
        "case/3 det/3 ROOT/0",
    ),
    "existential with a place": (
        "There/PRON/expl/2 are/VERB/ROOT/0 dogs/NOUN/attr/2 on/ADP/prep/2 rugs/NOUN/pobj/4",
        "expl/2 ROOT/0 nsubj/2 case/5 obl/2",
    ),
    "copula in a relative clause": (
        "men/NOUN/ROOT/0 who/PRON/nsubj/3 are/AUX/relcl/1 tall/ADJ/acomp/3",
        "ROOT/0 nsubj/4 cop/4 acl:relcl/1",
    ),
    "passive is no copula": (
        "It/PRON/nsubjpass/3 is/AUX/auxpass/3 made/VERB/ROOT/0 of/ADP/prep/3 wood/NOUN/pobj/4",
        "nsubj:pass/3 aux:pass/3 ROOT/0 case/5 obl/3",
    ),
    "relative clause": (
        "men/NOUN/ROOT/0 who/PRON/nsubj/3 smile/VERB/relcl/1",
        "ROOT/0 nsubj/3 acl:relcl/1",
    ),
}


def nodes(text: str) -> list[Node]:
    nodes = []
    for place, entry in enumerate(text.split()):
        word, pos, dep, head = entry.split("/")
        nodes.append(
            Node(word, pos, dep, int(head) - 1 if head != "0" else place)
        )
    return nodes


def links(tree: list[Node]) -> str:
    return " ".join(
        f"{n.dep}/{n.head + 1 if n.head != place else 0}"
        for place, n in enumerate(tree)
    )


@each_case("name", CASES)
def test_clear_tree_becomes_ud_tree(name: str) -> None:
    text, expected = CASES[name]
    assert links(to_ud(nodes(text))) == expected


def test_each_tree_of_a_text_is_changed_by_itself() -> None:
    trees = [nodes(text) for text, _ in CASES.values()]
    ends = list(accumulate(map(len, trees), initial=0))
    whole = [
        Node(n.text, n.pos, n.dep, n.head + end)
        for tree, end in zip(trees, ends, strict=False)
        for n in tree
    ]
    changed = to_ud(whole)
    for (_, expected), first, last in zip(
        CASES.values(), ends, ends[1:], strict=False
    ):
        tree = [
            Node(n.text, n.pos, n.dep, n.head - first)
            for n in changed[first:last]
        ]
        assert links(tree) == expected


def test_trees_end_where_no_head_leads_across() -> None:
    heads = [1, 1, 2, 5, 3, 5, 3, 7]  # the fourth word's subtree is torn apart
    assert list(_trees([Node("a", "X", "dep", head) for head in heads])) == [
        (0, 2),
        (2, 3),
        (3, 7),
        (7, 8),
    ]
    assert list(_trees([])) == []


def test_dialect_is_told_by_its_labels() -> None:
    assert is_clear(["nsubj", "ROOT", "dobj"])
    assert not is_clear(["nsubj", "ROOT", "obj", "nmod"])


@each_case(
    "name",
    ["preposition of a verb", "preposition of a noun", "copula in a relative clause",
     "passive is no copula", "predicate adjective", "copular place",
     "predicate noun", "passive with agent", "possessor", "relative clause"],
)  # fmt: skip
def test_way_back_to_clear_restores_the_tree(name: str) -> None:
    text, _ = CASES[name]
    assert links(to_clear(to_ud(nodes(text)))) == links(nodes(text))


def test_fronted_predicate_and_auxiliaries_go_with_their_copula() -> None:
    # "The cat has not been on mats": the copula takes subject, auxiliary and adverb of the noun.
    tree = nodes(
        "cats/NOUN/nsubj/6 have/AUX/aux/6 not/PART/advmod/6 been/AUX/cop/6 on/ADP/case/6 "
        "mats/NOUN/ROOT/0 white/ADJ/amod/6"
    )
    assert (
        links(to_clear(tree))
        == "nsubj/4 aux/4 advmod/6 ROOT/0 prep/4 pobj/5 amod/6"
    )


def test_a_joined_clause_goes_with_the_copula_and_a_joined_adjective_stays() -> (
    None
):
    tree = nodes(
        "He/PRON/nsubj/3 is/AUX/cop/3 tall/ADJ/ROOT/0 thin/ADJ/conj/3 waves/VERB/conj/3"
    )
    assert links(to_clear(tree)) == "nsubj/2 ROOT/0 acomp/2 conj/3 conj/2"
