"""The rule set "reference" repeats the faults that the published metric shows when it is run."""

from __future__ import annotations

from beholder.language import parse, scene_graph
from toy.cases import each_case
from toy.graphs import written

# sentence, entries that must be there, entries that must not
FAULTS = {
    "1 copular place": ("The cat is on the mat.", {"cat", "mat"}, {"cat > on > mat"}),
    "2 pronoun with adjective": ("She is tall.", set(), {"she: tall", "she"}),
    "3 linking verb": ("The house appears large.", {"house: appears"}, {"house: large"}),
    "5 fronted place": ("In the foreground a man stands.", {"foreground", "man: stands"}, set()),
    "6 copied modifier": ("There is a red car and a tree.", {"tree: red", "car: red"}, set()),
    "8 joined prepositions": (
        "A man stands on a hill near a tree.",
        {"man > stands on > hill", "man > stands on near > tree"},
        {"man > stands near > tree"},
    ),
    "9 possessor": ("The old man's hat is blue.", {"hat: blue"}, {"man: old", "man"}),
    "11 reduced relative": ("The cup the man holds is red.", {"cup: holds, red"}, set()),
    "12 nested compound": ("a coffee shop window", {"window: shop"}, {"window: coffee, shop"}),
    "14 negated noun": (
        "No people on the beach.", {"people", "people > on > beach"}, set()
    ),
    "14 negated verb": (
        "The ball is not held by the man.", {"ball > held by > man"}, {"ball > !held by > man"}
    ),
    "17 place after object": (
        "The man holds a cup with two hands.", {"man > holds > cup", "cup > with > hand"}, set()
    ),
    "18 complex preposition": (
        "The dog sits in front of the door.", {"front", "dog > sits in > front"}, set()
    ),
    "compound is an attribute": ("a coffee cup", {"cup: coffee"}, set()),
    "right conjuncts": (
        "A man wears a red hat and blue coat.",
        {"hat: red", "coat: blue", "man > wears > hat", "man > wears > coat"},
        set(),
    ),
    "joined adjectives": ("red, blue and green flags", {"flag: blue, green, red"}, set()),
    "passive": ("The ball is held by a man.", {"ball > held by > man"}, set()),
    "climbing modifier": ("A dark blue dress hangs on the wall.", {"dress: blue, dark"}, set()),
}  # fmt: skip


@each_case("fault", FAULTS)
def test_reference_rules_repeat_the_published_behaviour(fault: str) -> None:
    sentence, there, absent = FAULTS[fault]
    lines = written(scene_graph(parse(sentence), rules="reference"))
    assert there <= lines
    assert not absent & lines


def test_part_of_needs_coreference() -> None:
    alone = written(
        scene_graph(parse("The man's hat is blue."), rules="reference")
    )
    lines = written(
        scene_graph(
            parse("A man sits on a bench. The man's hat is blue."),
            rules="reference",
        )
    )
    assert not any("part of" in entry for entry in alone)
    assert "hat > part of > man" in lines
