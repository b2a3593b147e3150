"""Sentence pairs made of patterns, in which who does, has, wears or stands where is exchanged.

A pattern says one fact of two things, in many forms that mean the same. The premise and what it
entails are two of these forms; what it excludes is a form with the things, or what is said of
them, exchanged. So the model cannot go by words alone: both share them, and the entailed one
often shares fewer. The patterns and their words were written for this model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

Row = tuple[str, str, str]


class Fact(NamedTuple):
    """What a pattern says: forms that hold, that are excluded, and that it leaves open."""

    true: Sequence[str]
    false: Sequence[str]
    open: Sequence[str] = ()
    partial: Sequence[str] = ()
    """Forms that say only a part, and therefore are no premise."""


def words(text: str) -> tuple[str, ...]:
    """Its words."""
    return tuple(text.split())


PEOPLE = words(
    "man woman boy girl child waiter nurse farmer soldier cyclist singer dancer teacher guard "
    "fisherman painter sailor bride priest vendor toddler skier player runner cook driver doctor "
    "drummer clown tourist student musician worker lady goalkeeper judge mother father"
)
ANIMALS = words(
    "dog cat horse cow goat sheep bear bird duck goose rabbit monkey elephant zebra pony puppy "
    "kitten lion fox deer pig camel parrot terrier swan donkey"
)
THINGS = words(
    "cup plate bottle book lamp vase bowl basket box bag chair table bench bicycle car truck boat "
    "bucket clock candle statue pillow blanket suitcase umbrella barrel sign ladder mirror "
    "camera guitar drum kettle jug spoon knife hammer crate sofa stool shelf tree bush fountain "
    "tower tent house church van bus wagon pot painting poster rug ball toy bell rock"
)
PLURALS = words(
    "cups plates bottles books lamps apples oranges candles chairs boats trees horses dogs "
    "children women men windows flags birds flowers bicycles tents boxes columns signs"
)
COLOURS = words(
    "red blue green yellow white black brown pink orange purple grey beige golden silver"
)
MATERIALS = words(
    "wooden metal plastic glass stone leather paper ceramic brass marble"
)
CLOTHES = words(
    "jacket shirt hat dress coat scarf sweater cap helmet vest apron tie skirt hood"
)
PAIRS = (
    ("tall", "short"),
    ("large", "small"),
    ("old", "new"),
    ("open", "closed"),
    ("full", "empty"),
    ("round", "square"),
    ("striped", "plain"),
    ("wet", "dry"),
    ("thick", "thin"),
    ("long", "short"),
    ("broken", "whole"),
    ("shiny", "dull"),
    ("clean", "dirty"),
    ("wide", "narrow"),
    ("dark", "light"),
    ("empty", "crowded"),
    ("bright", "dim"),
    ("rusty", "polished"),
)
LIVING = (
    ("young", "old"),
    ("tall", "short"),
    ("smiling", "frowning"),
    ("seated", "standing"),
    ("barefoot", "in boots"),
    ("bearded", "clean-shaven"),
    ("asleep", "awake"),
    ("blond", "dark-haired"),
)
PLACES = (
    "on the table", "on the floor", "on the shelf", "under the bench", "beside the door",
    "in the basket", "on the windowsill", "behind the counter", "near the stairs", "in the corner",
    "on the chair", "under the tree", "at the gate", "on the wall", "in front of the house",
    "by the fence", "on the roof", "on the lawn", "on the platform", "in the boat",
)  # fmt: skip
VERBS = (  # -s, -ing, participle
    ("chases", "chasing", "chased"),
    ("pushes", "pushing", "pushed"),
    ("pulls", "pulling", "pulled"),
    ("carries", "carrying", "carried"),
    ("follows", "following", "followed"),
    ("watches", "watching", "watched"),
    ("feeds", "feeding", "fed"),
    ("leads", "leading", "led"),
    ("photographs", "photographing", "photographed"),
    ("lifts", "lifting", "lifted"),
    ("washes", "washing", "washed"),
    ("holds", "holding", "held"),
    ("bites", "biting", "bitten"),
    ("licks", "licking", "licked"),
    ("points at", "pointing at", "pointed at"),
    ("looks at", "looking at", "looked at"),
    ("examines", "examining", "examined"),
    ("paints", "painting", "painted"),
    ("guides", "guiding", "guided"),
    ("splashes", "splashing", "splashed"),
    ("drags", "dragging", "dragged"),
    ("hides", "hiding", "hidden"),
    ("helps", "helping", "helped"),
    ("catches", "catching", "caught"),
    ("attacks", "attacking", "attacked"),
    ("leans on", "leaning on", "leaned on"),
    ("kicks", "kicking", "kicked"),
    ("scolds", "scolding", "scolded"),
    ("pats", "patting", "patted"),
    ("protects", "protecting", "protected"),
    ("teaches", "teaching", "taught"),
    ("interviews", "interviewing", "interviewed"),
    ("applauds", "applauding", "applauded"),
    ("supports", "supporting", "supported"),
    ("blocks", "blocking", "blocked"),
    ("passes", "passing", "passed"),
    ("overtakes", "overtaking", "overtaken"),
    ("shields", "shielding", "shielded"),
    ("throws", "throwing", "thrown"),
    ("touches", "touching", "touched"),
)
TOWARDS = (
    ("gives", "hands", "to", "receives", "from"),
    ("hands", "passes", "to", "takes", "from"),
    ("throws", "tosses", "to", "catches", "from"),
    ("shows", "presents", "to", "is shown", "by"),
    ("sells", "sells", "to", "buys", "from"),
    ("offers", "offers", "to", "is offered", "by"),
)
CONVERSE = (
    ("to the left of", "to the right of"),
    ("above", "below"),
    ("in front of", "behind"),
    ("on top of", "underneath"),
    ("over", "under"),
    ("left of", "right of"),
    ("higher than", "lower than"),
    ("ahead of", "behind"),
    ("north of", "south of"),
    ("closer to the camera than", "farther from the camera than"),
    ("farther left than", "farther right than"),
)
MORE = (
    ("taller", "shorter"),
    ("bigger", "smaller"),
    ("older", "younger"),
    ("darker", "lighter"),
    ("longer", "shorter"),
    ("faster", "slower"),
    ("wider", "narrower"),
    ("heavier", "lighter"),
    ("nearer", "farther away"),
    ("brighter", "dimmer"),
    ("thicker", "thinner"),
)
ACTS = (
    "reading", "sleeping", "singing", "cooking", "dancing", "eating", "writing", "waving",
    "drinking coffee", "playing the violin", "talking on the phone", "looking out of the window",
    "sweeping the floor", "kneeling", "climbing a ladder", "holding an umbrella",
    "riding a bicycle",
    "peeling potatoes", "feeding pigeons", "taking a picture", "lying on the grass", "laughing",
    "jumping", "crying", "carrying a bag", "smoking a pipe", "sitting on a bench", "running",
)  # fmt: skip
EVENTS = (
    "opens the door", "picks up the knife", "sits down", "waves at the crowd", "closes the window",
    "washes her hands", "pours the milk", "cuts the bread", "turns off the light", "stands up",
    "puts on a hat", "drinks the water", "climbs the stairs", "locks the car", "stirs the soup",
    "takes off the coat", "reads the letter", "kicks the ball", "mounts the horse",
    "rings the bell",
)  # fmt: skip
AREAS = words(
    "kitchen garden garage tunnel shop house yard church river forest barn station"
)
NUMBERS = words("two three four five six seven eight nine ten twelve")
SIDES = ("left", "right")


def an(noun: str) -> str:
    """With an indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def up(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def name_thing(noun: str, roll: random.Random) -> str:
    """Return a thing as a text names it."""
    return roll.choice((f"the {noun}", f"the {noun}", an(noun)))


def action(roll: random.Random) -> Fact:
    """Somebody does something to somebody else."""
    a, b = roll.sample([*PEOPLE, *ANIMALS], 2)
    s, ing, done = roll.choice(VERBS)

    def forms(x: str, y: str) -> list[str]:
        p, q = name_thing(x, roll), name_thing(y, roll)
        return [
            f"{p} is {ing} {q}",
            f"{p} {s} {q}",
            f"{q} is being {done} by {p}",
            f"{q} is {done} by {p}",
            f"there is {an(x)} {ing} {q}",
            f"it is {p} that {s} {q}",
            f"{q}, {done} by {p}, is in the middle of the picture",
            f"{p} can be seen {ing} {q}",
            f"the one being {done} is the {y}",
            f"the one {ing} {q} is {p}",
            f"a picture of {an(x)} {ing} {an(y)}",
            f"the {x} who is {ing} {q} is outdoors",
        ]

    says = forms(a, b)
    return Fact(
        [*says[:6], says[7], says[10]],
        forms(b, a)[:6] + forms(b, a)[8:11],
        [
            f"the {a} is {roll.choice(ACTS)}",
            f"the {b} is {roll.choice(LIVING)[0]}",
        ],
        [says[8], says[9], f"{an(b)} is {done}", f"someone is {ing} the {b}"],
    )


def place(roll: random.Random) -> Fact:
    """One thing is somewhere seen from another."""
    a, b = roll.sample(
        THINGS if roll.random() < 0.6 else [*PEOPLE, *THINGS], 2
    )
    direction, opposite = roll.choice(CONVERSE)
    if roll.random() < 0.5:
        direction, opposite = opposite, direction
    verb = roll.choice(("is", "stands", "is placed", "is"))

    def forms(x: str, y: str) -> list[str]:
        sentences = [
            f"the {x} {verb} {direction} the {y}",
            f"the {y} {verb} {opposite} the {x}",
            f"{an(x)} is {direction} {an(y)}",
            f"there is {an(y)} {opposite} {an(x)}",
            f"the {y} is the one {opposite} the {x}",
        ]
        if " than" not in direction:
            sentences += [
                f"{direction} the {y} {verb} {an(x)}",
                f"{opposite} the {x} there is {an(y)}",
                f"{an(x)} with {an(y)} {opposite} it",
            ]
        if direction in ("to the left of", "left of", "farther left than"):
            sentences += [
                f"on the left is {an(x)}, and on the right {an(y)}",
                f"the {y} has {an(x)} to its left",
            ]
        return sentences

    colour = roll.choice(COLOURS)
    return Fact(
        forms(a, b),
        forms(b, a),
        [f"the {a} is {colour}", f"the {b} is {roll.choice(PAIRS)[0]}"],
    )


def qualities(roll: random.Random) -> Fact:
    """Two things differ in a quality."""
    living = roll.random() < 0.25
    a, b = roll.sample(PEOPLE if living else [*THINGS, *ANIMALS], 2)
    kind = roll.random()
    if living:
        x, y = roll.choice(LIVING)
    elif kind < 0.5:
        x, y = roll.sample(COLOURS, 2)
    elif kind < 0.7:
        x, y = roll.sample(MATERIALS, 2)
    else:
        x, y = roll.choice(PAIRS)
    if roll.random() < 0.5:
        x, y = y, x
    joined = roll.choice(("beside", "next to", "near", "and", "across from"))

    def forms(p: str, q: str) -> list[str]:
        sentences = [
            f"the {p} is {x} and the {q} is {y}",
            f"the {q} is {y}, while the {p} is {x}",
            f"of the two, the {p} is {x} and the {q} {y}",
            f"the {p} that is {x} is {joined.replace('and', 'with')} the {q} that is {y}",
        ]
        if " " not in x + y:
            sentences += [
                f"{an(x)} {p} {joined} {an(y)} {q}",
                f"{an(y)} {q} {joined} {an(x)} {p}",
                f"the picture shows {an(y)} {q} as well as {an(x)} {p}",
            ]
        return sentences

    third = roll.choice(THINGS)
    return Fact(
        forms(a, b),
        [
            *forms(b, a),
            f"the {a} is {y}",
            f"the {b} is {x}",
            f"the {x} one is the {b}",
        ],
        [
            f"the {third} is {x}",
            f"there is {an(x)} {third}"
            if " " not in x
            else f"the {third} is heavy",
        ],
        [
            f"the {a} is {x}",
            f"the {b} is {y}",
            f"the {x} one is the {a}",
            f"only the {b} is {y}",
        ],
    )


def clothing(roll: random.Random) -> Fact:
    """Two people wear something each."""
    a, b = roll.sample(PEOPLE, 2)
    x, y = roll.sample(COLOURS, 2)
    first_garment = roll.choice(CLOTHES)
    second_garment = (
        first_garment if roll.random() < 0.5 else roll.choice(CLOTHES)
    )

    def forms(p: str, q: str) -> list[str]:
        return [
            f"{an(p)} in {an(x)} {first_garment} and {an(q)} in {an(y)} {second_garment}",
            f"the {p} wears {an(x)} {first_garment}, the {q} {an(y)} {second_garment}",
            f"the {q} is wearing {an(y)} {second_garment} and the {p} {an(x)} {first_garment}",
            f"the {p}'s {first_garment} is {x}, and the {q}'s {second_garment} is {y}",
            f"{an(p)} with {an(x)} {first_garment} stands beside"
            f" {an(q)} with {an(y)} {second_garment}",
            f"{an(q)} whose {second_garment} is {y} talks to {an(p)} whose {first_garment} is {x}",
        ]

    wrong = [
        f"the {a} wears {an(y)} {first_garment}",
        f"the {b}'s {second_garment} is {x}",
    ]
    if first_garment == second_garment:
        wrong += [
            f"the person in the {x} {first_garment} is the {b}",
            f"the {y} {second_garment} belongs to the {a}",
        ]
    return Fact(
        forms(a, b),
        [*forms(b, a), *wrong],
        [
            f"the {a} is {roll.choice(LIVING)[0]}",
            f"the {b} carries {an(roll.choice(THINGS))}",
        ],
        [
            f"the {a} wears {an(x)} {first_garment}",
            f"the {b}'s {second_garment} is {y}",
            f"the {x} {first_garment} is the {a}'s",
            f"the person in the {y} {second_garment} is the {b}",
            f"the {b} has {an(y)} {second_garment} on",
        ],
    )


def owned(roll: random.Random) -> Fact:
    """Two people or animals have something each, or only one of them has."""
    a, b = roll.sample([*PEOPLE, *ANIMALS], 2)
    x, y = roll.sample(THINGS, 2)
    if roll.random() < 0.35:  # of the other it is not said
        c = roll.choice(CLOTHES)
        return Fact(
            [
                f"the {a} with {an(c)} stands next to the {b}",
                f"{an(a)} wearing {an(c)} and {an(b)}",
            ],
            [f"the {a} has no {c}", f"the {a} wears nothing like {an(c)}"],
            [
                f"the {b} has {an(c)}",
                f"the {b} wears {an(c)}, too",
                f"the {b} is without {an(c)}",
            ],
            [
                f"the {a} wears {an(c)}",
                f"there is {an(b)}",
                f"next to the {b} is the {a}",
            ],
        )
    has = roll.choice(("holds", "has", "carries", "is holding"))

    def forms(p: str, q: str) -> list[str]:
        return [
            f"the {p} {has} {an(x)} and the {q} {an(y)}",
            f"{an(q)} with {an(y)}, and {an(p)} with {an(x)}",
            f"the {x} belongs to the {p}, the {y} to the {q}",
            f"the {q} {has} {an(y)}, and the {p} {has} {an(x)}",
        ]

    return Fact(
        forms(a, b),
        [
            *forms(b, a),
            f"the {y} is the {a}'s",
            f"it is the {b} who {has} the {x}",
        ],
        [
            f"the {x} is {roll.choice(COLOURS)}",
            f"the {b} is looking at the {a}",
        ],
        [
            f"the {a} {has} {an(x)}",
            f"the {y} is the {b}'s",
            f"it is the {a} who {has} the {x}",
        ],
    )


def acts(roll: random.Random) -> Fact:
    """Two people do something each."""
    a, b = roll.sample(PEOPLE, 2)
    x, y = roll.sample(ACTS, 2)
    if roll.random() < 0.3:  # two of a name, told apart by the side
        noun = roll.choice(PEOPLE)
        a, b = (f"{noun} on the {side}" for side in roll.sample(SIDES, 2))

    def forms(p: str, q: str) -> list[str]:
        return [
            f"the {p} is {x} while the {q} is {y}",
            f"the {q} is {y}, and the {p} is {x}",
            f"{an(p)} is {x}, {an(q)} is {y}",
            f"as the {p} is {x}, the {q} is {y}",
        ]

    return Fact(
        forms(a, b),
        [
            *forms(b, a),
            f"the {a} is {y}",
            f"the one {x} is the {b}",
            f"it is the {b} who is {x}",
        ],
        [f"the {a} is {roll.choice(LIVING)[0]}"],
        [
            f"the {a} is {x}",
            f"it is the {b} who is {y}",
            f"the one {x} is the {a}",
            f"the {b} is {y}",
        ],
    )


def counts(roll: random.Random) -> Fact:
    """Two groups differ in number."""
    a, b = roll.sample(PLURALS, 2)
    m, n = roll.sample(NUMBERS, 2)

    def forms(p: str, q: str) -> list[str]:
        return [
            f"{m} {p} and {n} {q}",
            f"there are {n} {q} and {m} {p}",
            f"{m} {p} stand beside {n} {q}",
            f"the picture shows {n} {q} next to {m} {p}",
        ]

    more, less = (a, b) if NUMBERS.index(m) > NUMBERS.index(n) else (b, a)
    return Fact(
        forms(a, b),
        [
            *forms(b, a),
            f"there are {n} {a}",
            f"there are more {less} than {more}",
        ],
        [f"the {a} are {roll.choice(COLOURS)}"],
        [
            f"there are {m} {a}",
            f"there are more {more} than {less}",
            f"there are fewer {less} than {more}",
        ],
    )


def anchors(roll: random.Random) -> Fact:
    """Two things are at different places, or one is in another."""
    a, b = roll.sample(THINGS, 2)
    if roll.random() < 0.3:
        inside = [
            f"the {a} is inside the {b}",
            f"the {b} contains the {a}",
            f"in the {b} there is {an(a)}",
            f"{an(b)} with {an(a)} in it",
        ]
        outside = [
            f"the {b} is inside the {a}",
            f"the {a} contains the {b}",
            f"in the {a} there is {an(b)}",
            f"{an(a)} with {an(b)} in it",
            f"the {a} is outside the {b}",
        ]
        return Fact(
            inside,
            outside,
            [f"the {b} is {roll.choice(COLOURS)}", f"the {a} is heavy"],
        )
    x, y = roll.sample(PLACES, 2)

    def forms(p: str, q: str) -> list[str]:
        return [
            f"the {p} is {x} and the {q} {y}",
            f"{y} is {an(q)}, and {x} {an(p)}",
            f"{an(p)} {x}, {an(q)} {y}",
            f"there is {an(q)} {y} and {an(p)} {x}",
        ]

    return Fact(
        forms(a, b),
        [*forms(b, a), f"the {a} is {y}", f"{x} is the {b}"],
        [f"the {a} is {roll.choice(PAIRS)[0]}"],
        [f"the {a} is {x}", f"{y} is the {b}", f"what is {x} is the {a}"],
    )


def compared(roll: random.Random) -> Fact:
    """One thing is more so than another."""
    a, b = roll.sample(THINGS if roll.random() < 0.6 else PEOPLE, 2)
    more, less = roll.choice(MORE)
    if roll.random() < 0.5:
        more, less = less, more

    def forms(x: str, y: str) -> list[str]:
        return [
            f"the {x} is {more} than the {y}",
            f"the {y} is {less} than the {x}",
            f"the {more} of the two is the {x}",
            f"{an(x)} beside {an(y)}, which is {less}",
        ]

    return Fact(
        forms(a, b),
        [
            *forms(b, a),
            f"the {a} and the {b} are alike in this, neither is {more}",
        ],
        [f"the {a} is {roll.choice(COLOURS)}"],
        (),
    )


def give_thing(roll: random.Random) -> Fact:
    """Something goes from one to another."""
    a, b = roll.sample(PEOPLE, 2)
    x = roll.choice(THINGS)
    gives, hands, to, receives, source = roll.choice(TOWARDS)

    def forms(p: str, q: str) -> list[str]:
        return [
            f"the {p} {gives} the {q} {an(x)}",
            f"the {p} {hands} {an(x)} {to} the {q}",
            f"the {q} {receives} {an(x)} {source} the {p}",
            f"{an(p)} {gives} {an(x)} {to} {an(q)}",
            f"it is the {p} who {gives} the {x} {to} the {q}",
        ]

    return Fact(
        forms(a, b),
        forms(b, a),
        [f"the {x} is {roll.choice(COLOURS)}", f"the {b} thanks the {a}"],
    )


def order(roll: random.Random) -> Fact:
    """Two things happen one after the other, or somebody leaves one place for another."""
    p = roll.choice(PEOPLE)
    if roll.random() < 0.4:
        x, y = roll.sample(AREAS, 2)
        goes = roll.choice(("walks", "runs", "comes", "drives", "hurries"))

        def ways(u: str, v: str) -> list[str]:
            return [
                f"the {p} {goes} from the {u} to the {v}",
                f"{an(p)} {goes} out of the {u} into the {v}",
                f"leaving the {u}, the {p} {goes} into the {v}",
                f"the {p} leaves the {u} and enters the {v}",
                f"the {v} is where the {p} goes after leaving the {u}",
            ]

        return Fact(
            ways(x, y), ways(y, x), [f"the {p} is {roll.choice(LIVING)[0]}"]
        )
    x, y = roll.sample(EVENTS, 2)

    def forms(u: str, v: str) -> list[str]:
        return [
            f"the {p} {u}, then {v}",
            f"the {p} {u} before the {p} {v}",
            f"first the {p} {u}, and then {v}",
            f"after the {p} {u}, the {p} {v}",
            f"the {p} {v} after the {p} {u}",
        ]

    return Fact(
        forms(x, y),
        forms(y, x),
        [f"the {p} {roll.choice(EVENTS)} at the end, smiling"],
        [f"the {p} {x}", f"the {p} {y}"],
    )


def share_of_things(roll: random.Random) -> Fact:
    """Make a fact about the share of some things."""
    a = roll.choice(PLURALS)
    x, y = roll.choice(PAIRS)
    if roll.random() < 0.4:
        x, y = roll.sample(COLOURS, 2)
    sort = roll.randrange(4)
    forms_of_all = [
        f"all of the {a} are {x}",
        f"every one of the {a} is {x}",
        f"the {a} are all {x}",
        f"none of the {a} is anything but {x}",
    ]
    forms_of_none = [
        f"none of the {a} are {x}",
        f"not one of the {a} is {x}",
        f"no {a} are {x}",
    ]
    forms_of_few = [
        f"only one of the {a} is {x}",
        f"all but one of the {a} are not {x}",
        f"a single one of the {a} is {x}",
    ]
    forms_of_most = [
        f"most of the {a} are {x}",
        f"the majority of the {a} are {x}",
        f"more than half of the {a} are {x}",
    ]
    if sort == 0:
        return Fact(
            forms_of_all,
            [*forms_of_none, *forms_of_few, f"some of the {a} are {y}"],
            [f"the {a} are heavy"],
            [f"most of the {a} are {x}"],
        )
    if sort == 1:
        return Fact(
            forms_of_none,
            [*forms_of_all, *forms_of_few, *forms_of_most],
            [f"all of the {a} are {y}"],
            (),
        )
    if sort == 2:
        return Fact(
            forms_of_few,
            [*forms_of_all, *forms_of_none, *forms_of_most],
            [f"the other {a} are {y}"],
            (),
        )
    return Fact(
        forms_of_most,
        [*forms_of_none, *forms_of_few],
        [f"one of the {a} is {y}"],
        [f"several of the {a} are {x}"],
    )


def figures(roll: random.Random) -> Fact:
    """Years, times, numbers and sides."""
    sort = roll.randrange(4)
    a = roll.choice(THINGS)
    if sort == 0:
        x, y = (str(roll.randrange(1700, 2024)) for _ in range(2))
        forms = [
            f"the {a} was made in {{}}",
            f"{an(a)} from {{}}",
            f"the {a} dates from {{}}",
            f"the year {{}} is given for the {a}",
        ]
    elif sort == 1:
        x, y = (
            f"{roll.randrange(1, 13)}:{roll.randrange(10, 60)}"
            for _ in range(2)
        )
        forms = [
            "the clock shows {}",
            "a clock that reads {}",
            "according to the clock it is {}",
            "the time on the clock is {}",
        ]
    elif sort == 2:
        p = roll.choice(PEOPLE)
        x, y = (str(roll.randrange(2, 99)) for _ in range(2))
        forms = [
            f"the {p} wears number {{}}",
            f"{an(p)} with a {{}} on the shirt",
            f"the number on the {p}'s shirt is {{}}",
        ]
    else:
        p = roll.choice([*PEOPLE, *ANIMALS])
        x, y = roll.sample(SIDES, 2)
        forms = [
            f"the {p} is facing {{}}",
            f"{an(p)} that looks to the {{}}",
            f"the {p}'s head is turned to the {{}}",
        ]
    if x == y:
        return figures(roll)
    return Fact(
        [f.format(x) for f in forms],
        [f.format(y) for f in forms],
        [f"the {a} is {roll.choice(PAIRS)[0]}"],
    )


PATTERNS: tuple[Callable[[random.Random], Fact], ...] = (
    action,
    action,
    action,
    place,
    place,
    place,
    qualities,
    qualities,
    clothing,
    clothing,
    owned,
    owned,
    acts,
    acts,
    counts,
    anchors,
    anchors,
    compared,
    give_thing,
    order,
    share_of_things,
    figures,
)


def pairs(
    n: int, roll: random.Random, sentences_beside: Sequence[str]
) -> list[Row]:
    """Pairs of patterns: about two entailed and two excluded of five.

    Args:
        n: How many facts; each gives three or four pairs.
        roll: Draws.
        sentences_beside: Sentences of which one stands beside a third of the premises.
    """
    rows = []
    for _ in range(n):
        fact = roll.choice(PATTERNS)(roll)
        first, *other_forms = roll.sample(list(fact.true), len(fact.true))
        premise = up(first)
        if roll.random() < 0.3:
            both = [premise, roll.choice(sentences_beside)]
            roll.shuffle(both)
            premise = " ".join(both)
        entailed = (
            roll.sample([*other_forms, *fact.partial], 2)
            if len(other_forms) + len(fact.partial) > 1
            else other_forms
        )
        rows += [(premise, up(text), "entailment") for text in entailed]
        rows += [
            (premise, up(t), "contradiction")
            for t in roll.sample(list(fact.false), min(2, len(fact.false)))
        ]
        if fact.open and roll.random() < 0.6:
            rows.append((premise, up(roll.choice(list(fact.open))), "neutral"))
    return rows
