"""Closed word lists that the rules share. Lemmas, lower case."""

from __future__ import annotations

COLOURS = frozenset(
    "red orange yellow green blue purple violet pink brown black white gray grey tan beige gold "
    "golden silver cream ivory maroon teal turquoise navy magenta cyan crimson scarlet lavender "
    "lilac khaki bronze copper olive peach coral burgundy mustard charcoal amber mauve indigo "
    "blond blonde brunette auburn multicolored multicoloured colorful colourful off-white".split()
)
SHADES = frozenset(
    "dark light bright pale deep pastel neon dull soft medium vivid faded rich muted royal lime sky "
    "hot warm cool mint".split()
)
MATERIALS = frozenset(
    "wood metal stone brick glass plastic leather steel iron concrete cement marble granite paper "
    "cardboard denim cotton wool silk velvet lace wicker rubber gold silver brass bronze copper "
    "aluminum aluminium chrome ceramic porcelain clay bamboo straw tile asphalt gravel fabric "
    "cloth canvas plaid floral fur vinyl linen jean tin slate sandstone limestone terracotta "
    "stucco plaster grass dirt sand snow ice wire mesh foam felt nylon satin".split()
)
META = frozenset(
    "image photo photograph picture shot scene view close-up closeup snapshot frame camera "
    "description caption composition foreground background illustration".split()
)
"""Words for the picture itself."""
PICTURES = frozenset(
    "image photo photograph picture shot snapshot close-up closeup view scene photography "
    "selfie screenshot".split()
)
PICTURE_FRAMES = PICTURES | {"frame", "composition", "camera", "viewer"}
"""What a position may be relative to without naming a thing: "the left of the frame"."""
SHOW_VERBS = frozenset(
    "show depict feature capture display present portray showcase contain include illustrate "
    "focus see".split()
)
POSITIONS = frozenset(
    "left right front back top bottom middle center centre side rear foreground background "
    "distance forefront midground left-hand right-hand end edge corner base".split()
)
"""Nouns that name a place relative to something and not a thing."""
PART_POSITIONS = frozenset({"end", "edge", "corner", "base", "side", "back", "top"})
"""Positions that are also parts; only a preposition before them makes them a position."""
PARTITIVES = frozenset(
    "pair group number lot variety couple row bunch cluster set collection piece slice series "
    "array bit crowd herd flock stack pile line dozen handful assortment trio host bunch type kind "
    "sort load ton plenty multitude range mix mixture portion section strip patch layer "
    "assembly team swarm pack litter fleet chunk sheet loaf clump smattering majority".split()
)
"""Nouns before "of" that say how much of the thing there is."""
GROUP_NOUNS = frozenset("group crowd couple pair team trio family herd flock".split())
LINKING = frozenset(
    "appear seem look feel become remain stay get turn sound smell taste grow keep".split()
)
PLACING = frozenset(
    "put place lay set hang drop pour throw position lean attach tie mount stack pile hold place "
    "park push pull insert stick fix affix install arrange rest".split()
)
"""Verbs that bring their object to a place: "puts a cup on the table"."""
DEGREES = frozenset(
    "very quite so too rather extremely slightly somewhat fairly really highly mostly partially "
    "partly completely fully totally almost nearly entirely barely heavily lightly brightly dimly "
    "deeply neatly just only more most less least".split()
)
FOCUS_ADVERBS = frozenset("also just only still even then now there here again either".split())
NEGATIONS = frozenset({"not", "n't", "never", "no", "neither", "nor"})
NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "dozen": 12, "both": 2, "pair": 2,
    "couple": 2, "trio": 3, "single": 1,
}  # fmt: skip
QUANTIFIERS = frozenset(
    "several many few some multiple various numerous both all most other another each every any "
    "much more single couple dozen dozens".split()
)
MALE = frozenset(
    "man boy gentleman guy father dad son brother husband king prince waiter actor policeman "
    "fireman grandfather uncle male businessman groom lad cowboy sir mr".split()
)
FEMALE = frozenset(
    "woman girl lady mother mom daughter sister wife queen princess waitress actress female bride "
    "grandmother aunt policewoman businesswoman mrs ms nun".split()
)
PEOPLE = (
    MALE
    | FEMALE
    | frozenset(
        "person people child kid baby toddler infant adult teenager youth student teacher doctor "
        "nurse player skier surfer skateboarder snowboarder rider driver pedestrian passenger "
        "passerby officer soldier worker chef cook farmer artist musician singer dancer athlete "
        "batter catcher pitcher umpire referee fan spectator onlooker customer vendor tourist "
        "human figure crowd audience family couple friend group team driver cyclist biker "
        "hiker swimmer runner jogger performer speaker president leader member author writer "
        "scientist researcher participant speaker citizen".split()
    )
)
ANIMALS = frozenset(
    "dog cat horse cow sheep goat pig bird duck chicken hen rooster elephant giraffe zebra bear "
    "lion tiger monkey rabbit puppy kitten calf foal lamb fish deer fox wolf squirrel mouse rat "
    "seagull gull pigeon parrot owl eagle penguin swan goose butterfly bee animal creature "
    "leopard cheetah kangaroo koala panda turtle frog snake lizard".split()
)
KIN = frozenset(
    "husband wife son daughter mother father brother sister friend dog cat owner partner boyfriend "
    "girlfriend parent child kid baby uncle aunt colleague companion neighbor neighbour".split()
)
"""What one has without it being a part."""
SUBJECT_PRONOUNS = frozenset("he she it they we i you who which that this these those one".split())
RELATIVE_PRONOUNS = frozenset("who which that whom whose".split())
COMPLETED = frozenset(
    "full next close adjacent near devoid similar parallel perpendicular opposite made hung worn "
    "strewn overgrown held clad".split()
)
"""Adjectives that say little without the noun after them; those in -ed are added by rule."""
