"""Closed word lists that the rules share, as names; the words are in ``lexicon.txt``."""

from __future__ import annotations

import functools
from functools import partial
from importlib import resources

from beholder.text.word_lists import parse


@functools.cache
def sections(file: str) -> dict[str, list[str]]:
    """The lines of each section of a word list of this package."""
    return parse(
        resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    )


def word_set(file: str, section: str) -> frozenset[str]:
    """The words of a section."""
    return frozenset(" ".join(sections(file)[section]).split())


def pairs(file: str, section: str) -> dict[str, str]:
    """A section of ``key=value`` words."""
    entries = (
        word.split("=", 1)
        for word in " ".join(sections(file)[section]).split()
    )
    return {entry[0]: entry[1] for entry in entries}


_words = partial(word_set, "lexicon.txt")

COLOURS = _words("colours")
SHADES = _words("shades")
MATERIALS = _words("materials")
QUALITIES = COLOURS | MATERIALS
"""Nouns that before a noun are attributes of it."""
PICTURES = _words("pictures")
"""Words for the picture itself."""
PICTURE_FRAMES = PICTURES | {"frame", "composition", "camera", "viewer"}
"""Nouns that a position refers to without naming a thing: "the left of the frame"."""
SHOW_VERBS = _words("show verbs")
"""Verbs for a picture's relation to its content."""
POSITIONS = _words("positions")
"""Nouns that name a place relative to something and not a thing."""
PARTITIVES = _words("partitives")
"""Nouns before "of" that say how much of the thing there is."""
GROUP_NOUNS = _words("group nouns")
LINKING = _words("linking")
"""Verbs that join an adjective to their subject."""
INCOMPLETE = _words("incomplete")
WORN = _words("worn")
BODY = _words("body")
SET_NAMES = _words("set names")
"""Names of one thing that begin with an adjective: "teddy_bear"."""
CANS = _words("cans")
"""Nouns before the noun "can"."""
SHARED_OUT = _words("shares of people")
"""Words that alone stand for some of the people or things of a text: "most wear hats"."""
PLACING = _words("placing")
"""Verbs that bring their object to a place: "puts a cup on the table"."""
DIRECTING = _words("directing")
"""Verbs with a direction: who "looks left" is not on the left for that."""
DATING = _words("dating")
"""Prepositions of years."""
ANIMATE_VERBS = _words("animate verbs")
"""Actions of people and animals only: "sits on a bench reading" is about the sitter."""
INSTRUMENTS = _words("instruments")
"""Prepositions that never place the object of a verb."""
INTRANSITIVE = _words("intransitive")
"""Verbs whose noun after a fronted place is the subject: "Behind it stands a man"."""
COMPLETED = _words("completed")
"""Adjectives that say little without the noun after them; those in -ed are added by rule."""
DEGREES = _words("degrees")
"""Adverbs of degree, which are written in an attribute but are no part of its value."""
FOCUS_ADVERBS = _words("focus adverbs")
NEGATIONS = _words("negations")
TRUTHS = _words("truths")
"""Words that affirm a clause: "it is true that ..."."""
UNTRUTHS = _words("untruths")
DENIALS = _words("denials")
"""Verbs whose clause does not hold: "they deny that ..."."""
LIMITING_ADVERBS = _words("limiting adverbs")
"""After "not" they deny nothing: "not only a dog"."""
QUANTIFIERS = _words("quantifiers")
SELECTORS = _words("selectors")
"""Words that stand for members of a thing named elsewhere: "one", "the other"."""
PERSONAL = _words("personal")
"""Pronouns that stand for something."""
RELATIVE_PRONOUNS = _words("relative pronouns")
ROVING = _words("roving")
"""Prepositions that say where someone is or goes, also after another place."""
NAMELESS = SELECTORS | _words("nameless")
"""Pronouns that name no thing if the text does not say which they mean."""
UNPLACED = _words("unplaced")
"""Prepositions that state no place of the noun before them; a verb may have them."""
LISTING = frozenset(sections("lexicon.txt")["listing"]) - {""}
"""Prepositions of lists and causes, which say no place at all."""
LEADS = _words("leads")
"""Adverbs that form one preposition with the word after them: "next to"."""
SKIPPED = _words("skipped")
"""Adverbs before a preposition that are no part of it: "directly behind"."""
TIMES = _words("times")
WEATHER = _words("weather")
COLLECTIVE = _words("collective")
MALE = _words("male")
FEMALE = _words("female")
PEOPLE = MALE | FEMALE | _words("other people")
ANIMALS = _words("animals")
NUMBER_WORDS = {
    word: int(value) for word, value in pairs("lexicon.txt", "numbers").items()
}
MULTIPLIERS = {
    word: int(value)
    for word, value in pairs("lexicon.txt", "multipliers").items()
}
"""Words that make a number of the number before them, or of one: "two dozen", "a hundred"."""
PEOPLE_BY_NUMBER = pairs("lexicon.txt", "people by number")
"""Nouns that alone stand for so many people: trio."""
REGIONAL = pairs("lexicon.txt", "regional")
"""American nouns by British ones of the same meaning: lorry, truck."""
INDEFINITE = _words("indefinite")
"""Words that leave open how many: "several dozen"."""
HYPERNYMS = {
    line.split(":")[0]: frozenset(line.split(":")[1].split())
    for line in sections("lexicon.txt")["hypernyms"]
}
"""Nouns that a wider noun can repeat: "the animal" for a dog."""
