"""Nouns that name nothing a picture shows: moods and effects, the camera, colours, bare places.

Applied under the rules ``fixed`` only; the words are in ``unseen.txt``.
"""

from __future__ import annotations

from functools import partial

from beholder.language import lexicon as lex
from beholder.language.document import Word
from beholder.language.graph import EntityKind
from beholder.language.phrases import Phrase, Phrases, plain_phrase
from beholder.text.kinds import parts_of_speech

_words = partial(lex.word_set, "unseen.txt")

MOOD = _words("mood")
OPINIONS = _words("opinion")
PROPERTIES = _words("properties")
"""Nouns for what something looks like: "hue"."""
EFFECT_VERBS = _words("effect verbs")
EMPTY_QUALITIES = _words("empty qualities")
_NOTHING = MOOD | _words("effect") | _words("taking")
_PHRASES = _words("phrases")
_ANOTHER = _words("meaning another")
_ALONE_NOTHING = _words("alone nothing")
_TRACES = _words("traces")
_BARE_PLACES = _words("bare places")
_MEASURES = _words("measures")
_LIKENESS = _words("likeness")
_LEADING = ("attract", "catch", "direct", "draw", "guide", "invite", "lead")
_BEARING_SIGNS = _words("bearing signs")
_SUPERLATIVES = (
    "closest",
    "farthest",
    "furthest",
    "largest",
    "nearest",
    "smallest",
    "tallest",
)
_SHOTS = frozenset(("close-up", "closeup", "scene", "shot", "view"))
_LOOKS = _NOTHING | PROPERTIES
_SEEN_WHOLE = _NOTHING | _SHOTS | lex.PICTURES
_NO_PREDICATES = (
    _NOTHING | _TRACES | PROPERTIES | lex.PICTURES | _SHOTS | {"point"}
)
VAGUE = _words("vague")
"""Nouns that may stand for whatever else is named at their place."""
GENERIC = _words("generic")
"""Nouns that stand for a thing named elsewhere."""


def mark_unseen_phrases(phrases: Phrases) -> None:
    """Mark the phrases that name nothing visible, and resolve words for a look, in place.

    "The fish's orange hue" means the fish, "a backdrop of trees" the trees; "a touch of elegance"
    and "the foreground" mean no thing.
    """
    for index, phrase in list(phrases.by_word.items()):
        if phrase.kind != "thing" or phrase.rule == "selector":
            continue
        # A word for a look stands for the thing that has it; any other phrase gets its kind.
        meant = _meant(phrases, phrase.word)
        if meant is not None:
            phrases.stands_for[index] = meant.index
            del phrases.by_word[index]
        else:
            phrase.kind = _kind(phrase)
    _free_predicates(phrases)


def _free_predicates(phrases: Phrases) -> None:
    """Restore the dog of "The focal point is a dog": it describes no other thing."""
    for index, target in list(phrases.stands_for.items()):
        target_phrase = phrases.by_word.get(target)
        predicate = phrases.word(target).dep.startswith("nsubj")
        if (
            target_phrase is not None
            and target_phrase.kind == "unseen"
            and predicate
        ):
            phrase = plain_phrase(phrases.word(index))
            phrase.kind = _kind(phrase)
            del phrases.stands_for[index]
            phrases.by_word[index] = phrase
    phrases.by_word = dict(sorted(phrases.by_word.items()))


def names_nothing(word: Word) -> bool:
    """Return whether a noun of a predicate says nothing visible: "is a contrast", "a canvas"."""
    return word.lemma in _NO_PREDICATES


def colours_of(noun: Word) -> list[Word]:
    """The colours that a noun for a look names: "a shade of blue", "a vibrant green hue"."""
    if is_colour(noun):
        return [noun]
    if noun.lemma not in PROPERTIES and noun.lemma not in _TRACES:
        return []
    colours = [
        w for w in noun.children("amod", "compound") if w.lower in lex.COLOURS
    ]
    for below in noun.children("nmod"):
        colours += [
            w
            for w in (below, *below.children("conj"))
            if w.lower in lex.COLOURS
        ]
    return colours


def is_colour(word: Word) -> bool:
    """Return whether a colour stands for itself: "a pristine white", not "an orange"."""
    if word.lower not in lex.COLOURS or word.is_plural:
        return False
    determiner = word.child("det")
    described = word.children("amod", "compound", "advmod")
    return determiner is None or (
        determiner.lower in ("a", "an") and bool(described)
    )


def _meant(phrases: Phrases, word: Word) -> Word | None:
    """The noun or pronoun that a word stands for, or None."""
    if word.lemma not in PROPERTIES and word.lemma not in _ANOTHER:
        return None
    for below in word.children("nmod", "nmod:poss"):
        of = "of" in below.lower_children("case")
        is_entity = (
            of
            and word.lemma != "shade"
            and phrases.entity(below.index) is not None
        )
        if is_entity or below.dep == "nmod:poss":
            return below
    return None


def _kind(phrase: Phrase) -> EntityKind:
    lemma = phrase.word.lemma.lower()
    if lemma in _SHOTS:
        return "picture"
    if lemma in lex.SELECTORS:
        return "pronoun"
    if _names_nothing(phrase, lemma):
        return "unseen"
    # "With a rounded end", "a glass top": a part to be seen.
    described = {"with"} & set(phrase.word.lower_children("case")) and (
        phrase.word.child("amod", "compound") is not None
    )
    bare = len(phrase.name) == 1 and (
        lemma in lex.POSITIONS or lemma in _BARE_PLACES
    )
    return "place" if bare and not described else "thing"


def _names_nothing(phrase: Phrase, lemma: str) -> bool:
    word = phrase.word
    described = word.lower_children("amod", "compound")
    full_name = "_".join([*[w.lower for w in phrase.name[:-1]], lemma])
    if not _PHRASES.isdisjoint(
        [full_name, *(f"{each}_{lemma}" for each in described)]
    ):
        return True
    if lemma in _NOTHING and (
        lex.WEATHER.isdisjoint(described) or not word.child("cop")
    ):
        # But "it is a sunny day" says the weather.
        return True
    nearby_words = [
        w.lower
        for w in word.document.words[max(0, word.index - 2) : word.index + 3]
    ]
    if nearby_words.count(word.lower) > 1 and not {
        "by",
        "in",
        "to",
    }.isdisjoint(nearby_words):
        # As in "shoulder to shoulder", "side by side".
        return True
    if word.tag == "JJS" or word.lower in _SUPERLATIVES or _is_quality(lemma):
        return True
    if is_colour(word) or _is_effect(word) or _is_compared(word):
        return True
    if ("overall" in described and _is_whole(word)) or _is_trait(word):
        return True
    if lemma in _ALONE_NOTHING:
        # "a yellow backdrop" is to be seen.
        return lex.QUALITIES.isdisjoint(described)
    # As in "six feet", "a few feet above the ground".
    counted = word.child("nummod") or not lex.INDEFINITE.isdisjoint(described)
    if lemma in _MEASURES and counted:
        return True
    if lemma in _TRACES:
        after = word.next
        return _of_nothing(word) or (after is not None and after.lower == "at")
    # "many shapes" say what things are like, "a pink shape" is one.
    if lemma == "shape":
        return lex.QUALITIES.isdisjoint(described) and not word.child("nummod")
    if lemma in PROPERTIES:
        return lemma != "shade" or bool(colours_of(word))
    return _is_shade(word) or (len(phrase.name) == 1 and _is_no_noun(word))


def _is_effect(word: Word) -> bool:
    """Return whether a noun is an effect on the picture: "adding texture to the scene"."""
    first = word.head_word if word.dep == "conj" else word
    verb = first.governor if first.dep == "obj" else None
    if verb is None:
        return False
    # As in "leads the eye towards the town", "stands guard".
    led = word.lemma in ("eye", "gaze") and not word.is_plural
    if led and verb.lemma in _LEADING:
        return True
    if verb.lemma == "stand" and not word.child("det"):
        return True
    if verb.lemma not in EFFECT_VERBS:
        return False
    below = (n for noun in (verb, first) for n in noun.children("obl", "nmod"))
    to = (n for n in below if "to" in n.lower_children("case"))
    return any(n.lemma in _SEEN_WHOLE or _is_whole(n) for n in to)


def _is_whole(word: Word) -> bool:
    """Return whether a noun sums up the whole picture: "the overall design"."""
    return "overall" in word.lower_children("amod")


def _is_compared(word: Word) -> bool:
    """Return whether a thing is only like a noun: "reminiscent of an elephant's trunk"."""
    while word.role in ("nmod", "conj", "compound"):
        above = word.governor
        if above is None or above.lemma in _LIKENESS:
            return above is not None
        word = above
    head = word.governor if word.dep in ("obl", "obj") else None
    return head is not None and head.lemma in _LIKENESS


def _is_trait(word: Word) -> bool:
    """Return whether "signs" are traces of age or use: "exhibits signs of weathering"."""
    verb = (
        word.governor if word.lemma == "sign" and word.dep == "obj" else None
    )
    if verb is None or verb.lemma not in _BEARING_SIGNS:
        return False
    below = word.children("nmod")
    return any("of" in noun.lower_children("case") for noun in below)


def _is_quality(lemma: str) -> bool:
    """Return whether a noun is made of an adjective: "freshness", not "harness"."""
    if not lemma.endswith("ness"):
        return False
    stem = lemma.removesuffix("ness")
    return "a" in parts_of_speech(stem) or "a" in parts_of_speech(
        f"{stem[:-1]}y"
    )


def _is_no_noun(word: Word) -> bool:
    """Return whether a word was misread as a noun: "mid-flight", or a word known only as a verb."""
    if len(word.text) == 1:
        return word.text.isalpha()
    if word.lower.startswith(
        ("mid-", "to-")
    ) or "-to-" in word.lower.removesuffix("-to-be"):
        # As in "mid-flight", "to-go", "left-to-right".
        return True
    parts = parts_of_speech(word.lower) or parts_of_speech(word.lemma)
    return word.pos == "NOUN" and bool(parts) and "n" not in parts


def _is_shade(word: Word) -> bool:
    """Read "light" in "shades of light and dark blue"."""
    if word.lower not in lex.SHADES or word.child("det", "amod"):
        return False
    joined = word.lower_children("conj")
    return not (
        lex.COLOURS.isdisjoint(joined) and lex.SHADES.isdisjoint(joined)
    )


def _of_nothing(word: Word) -> bool:
    """Return whether a noun is "of" a colour, a look or an effect."""
    below = word.children("nmod")
    return any(
        n.lower in lex.COLOURS or n.lemma in _LOOKS or _is_quality(n.lemma)
        for n in below
    )
