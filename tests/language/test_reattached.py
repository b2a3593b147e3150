"""Words that are reattached, and units that name nothing, beside neighbours that stay as they are.

The wordings are what a reader takes from each sentence, written by hand.
"""

from __future__ import annotations

from beholder.language import parse, scene_graph
from beholder.language.document import Word, tree_depths
from beholder.language.reattach import reattach_words
from beholder.language.statements import graph_units, wording

READINGS = {
    # "Can" is a noun after what is in it, and before a verb that is no base form.
    "A green trash can stands beside a bench.": (
        {"There is a trash can.", "The trash can is green."},
        {"There is a trash."},
    ),
    "A beer can is crushed.": ({"The beer can is crushed."}, set()),
    "A man can sit here.": ({"There is a man."}, {"There is a man can."}),
    # Set names.
    "A teddy bear sits on a small bed.": (
        {"There is a teddy bear.", "The bed is small."},
        {"The bear is teddy."},
    ),
    # A predicate belongs to its part, an act to the person right before it.
    "The cat sits there with its tail curled around its paws.": (
        set(),
        {"The cat is curled around the paws.", "The cat sits with the tail."},
    ),
    "A close-up of a bee on a purple flower, with its wings blurred.": (
        {"The wings are blurred."},
        set(),
    ),
    "A man talks to a woman wearing a red hat.": (
        {"The woman is wearing the hat."},
        {"The man is wearing the hat."},
    ),
    "A man leaps as a boy in red reaches up.": (
        {"The boy reaches up."},
        {"The man reaches up."},
    ),
    # Hands are of who uses them.
    "She holds the microphone with both hands.": (
        set(),
        {"The microphone is with the hands."},
    ),
    # Lists leave "of" and places.
    "A table holds a vase of tulips, a clock, and a book.": (
        {"The table holds the vase.", "The vase is of the tulips."},
        {"The vase is of the clock.", "The vase is of the book."},
    ),
    "A group of men, a woman, and a child sits there.": (
        set(),
        {"The group is of the woman."},
    ),
    "The poster has a word at the top and a drawing of a lion.": (
        {"The poster has the drawing."},
        {"The poster has at the drawing."},
    ),
    "A man in a dark top and trousers smiles.": (
        {"The man is in the trousers."},
        {"The man is in the dark top."},
    ),
    # Numbers and shares are subjects.
    "The horse on the right grazes, while the other two look up.": (
        {"The horse grazes."},
        {"The horse look up."},
    ),
    "The women wear hats, and both hold paper cups.": (
        {"The women hold the cups."},
        {"The cups are hold."},
    ),
    "A form has two text fields.": ({"There are two text fields."}, set()),
    # Shades before a comma are adjectives.
    "They wear light or grey shirts.": (
        {"The shirts are light.", "The shirts are grey."},
        {"There is a light."},
    ),
    # The half is lower, not the wall; one half is no several.
    "The lower half of the wall is green.": (
        {"There is a wall."},
        {"The wall is lower.", "There are wall."},
    ),
    # A comparison is one statement; its other end must have a name.
    "The tower is much taller than the house.": (
        {"The tower is much taller than the house."},
        {"The tower is much taller."},
    ),
    "The left tower is taller than those behind it.": (
        {"There is a tower."},
        {"The tower is taller than those.", "Those are behind the tower."},
    ),
    "A leaf lies on the car, and another is stuck to the window.": (
        {"The leaf lies on the car."},
        {"The another is to the window."},
    ),
    # Lists, causes and ways are no places.
    "Laundry hangs there, including shirts and towels.": (
        {"There are shirts.", "There are towels."},
        {
            "The laundry hangs including the shirts.",
            "The laundry hangs including the towels.",
        },
    ),
    # Owners of places, members and amounts are worded as people write.
    "She has a bag, and her hiking poles are leaning to her left.": (
        {"The hiking poles are leaning to left of her."},
        {"The hiking poles are leaning to left she."},
    ),
    "Two of the three lights are red.": (
        {"Two of the lights are red."},
        {"Two light is red."},
    ),
    "The mug rests on a stack of books.": (
        {"The mug rests on a stack of books."},
        set(),
    ),
    "A man with both arms raised stands up to leave.": (
        {"There are two arms.", "The arms are raised."},
        {"The man leave."},
    ),
    # Behind the counter is who pours, not the milk.
    "Behind the counter, a man pours milk into a cup.": (
        {"The milk is into the cup."},
        {"The milk is behind the counter."},
    ),
    # What nothing shows is left out, with its verb.
    "A red car commands attention in a street.": (
        {"The car is in the street."},
        {"The car commands in the street."},
    ),
    "The path leads the eye to a town.": (set(), {"There is an eye."}),
    "The ball is a few feet above the ground.": (
        {"There is a ball."},
        {"There are feet.", "There are few feet."},
    ),
}


def test_units_are_those_that_a_reader_finds() -> None:
    for text, (present, absent) in READINGS.items():
        graph = scene_graph(parse(text))
        worded = {wording(u, graph) for u in graph_units(graph) if u.asked}
        assert present <= worded, (text, present - worded)
        assert absent.isdisjoint(worded), (text, absent & worded)


def test_trees_stay_trees() -> None:
    # "Curled" is above "tail" here: to put it below would make a circle.
    rows = (
        ("cat", "NOUN", "NN", "nsubj", 4),
        ("with", "ADP", "IN", "case", 3),
        ("its", "PRON", "PRP$", "nmod:poss", 3),
        ("tail", "NOUN", "NN", "nmod", 0),
        ("curled", "VERB", "VBN", "advcl", 5),
        ("sits", "VERB", "VBZ", "ROOT", 5),
    )
    words = [
        Word(place, text, text, pos, tag, dep, head, 0, 0, 0)
        for place, (text, pos, tag, dep, head) in enumerate(rows)
    ]
    repaired = reattach_words(words)
    # Of a circle, a word would be its own root at depth 0 without being one.
    roots = [w.text for w in repaired if w.head == w.index]
    assert roots == ["sits"]
    assert tree_depths(repaired)[3] > 0
