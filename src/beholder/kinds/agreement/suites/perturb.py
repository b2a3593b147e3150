"""Perturbations of long texts: what a metric should see, and what it should let pass.

Each turns a text into another one, either ``breaking`` (it now says less, more, other things or in
another order) or ``preserving`` (it says the same in other words or marks). A metric that compares
the result with the original should score the second kind high and the first kind low.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from beholder.text import RuleSplitter
from beholder.text.word_lists import parse

Kind: TypeAlias = Literal["breaking", "preserving"]


def _both_ways(pairs: dict[str, str]) -> dict[str, str]:
    return pairs | {second: first for first, second in pairs.items()}


_LISTS = parse(
    Path(__file__).with_name("perturb.txt").read_text(encoding="utf-8")
)
NUMBERS, COLOURS = (
    tuple(" ".join(_LISTS.pop(name)).split())
    for name in ("numbers", "colours")
)
_PAIRS = {
    name: _both_ways(dict(line.split(" = ") for line in lines))
    for name, lines in _LISTS.items()
}
DIGITS = _both_ways(
    {word: str(number) for number, word in enumerate(NUMBERS[1:], start=2)}
)
"""Numbers from two on: "one" is often no number."""

_SPLITTER = RuleSplitter()
_NAMED = re.compile(
    r"(?<=\bthe )\w{3,}|(?<=\ba )\w{3,}|(?<=\ban )\w{3,}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A named change of a text.

    Attributes:
        name: Key in ``PERTURBATIONS``.
        kind: Whether it changes what the text says.
        help: One line on what it does.
        apply: From a text, a random generator and another text to the changed text. A text that
            offers nothing to change (one sentence to shuffle, no number to swap) comes back as it
            was.
    """

    name: str
    kind: Kind
    help: str
    apply: Callable[[str, np.random.Generator, str], str]


def sentences(text: str) -> list[str]:
    """The sentences of a text, by the built-in rules."""
    return [segment.of(text) for segment in _SPLITTER.split(text)]


def shuffle(text: str, rng: np.random.Generator, other: str = "") -> str:
    """All sentences in random order, never the given one."""
    found = sentences(text)
    if len(set(found)) < 2:
        return text
    while True:
        shuffled = [found[i] for i in rng.permutation(len(found))]
        if shuffled != found:
            return " ".join(shuffled)


def reverse(text: str, rng: np.random.Generator, other: str = "") -> str:
    """Sentences from the last to the first."""
    return " ".join(sentences(text)[::-1])


def swap_blocks(text: str, rng: np.random.Generator, other: str = "") -> str:
    """The second half of the sentences before the first."""
    found = sentences(text)
    middle = len(found) // 2
    return " ".join(found[middle:] + found[:middle])


def delete(text: str, rng: np.random.Generator, other: str = "") -> str:
    """A third of the sentences left out, at random places."""
    found = sentences(text)
    if len(found) > 1:
        gone = set(
            rng.choice(
                len(found), max(1, len(found) // 3), replace=False
            ).tolist()
        )
        found = [sentence for i, sentence in enumerate(found) if i not in gone]
    return " ".join(found)


def repeat(text: str, rng: np.random.Generator, other: str = "") -> str:
    """The first third of the sentences repeated at the end."""
    found = sentences(text)
    return " ".join(found + found[: max(1, len(found) // 3)])


def truncate(text: str, rng: np.random.Generator, other: str = "") -> str:
    """Only the first half of the sentences."""
    found = sentences(text)
    return " ".join(found[: max(1, len(found) // 2)])


def insert(text: str, rng: np.random.Generator, other: str = "") -> str:
    """Sentences of the other text, a third as many as there are, put in at random places."""
    found, foreign = sentences(text), sentences(other)
    for sentence in foreign[: max(1, len(found) // 3)]:
        found.insert(int(rng.integers(len(found) + 1)), sentence)
    return " ".join(found)


def swap_numbers(text: str, rng: np.random.Generator, other: str = "") -> str:
    """Each number, in digits or as a word up to twelve, becomes another one."""

    def change(match: re.Match[str]) -> str:
        word = match.group()
        if not word.isdigit():
            return _another(word, NUMBERS, rng)
        low, high = 10 ** (len(word) - 1), 10 ** len(word)
        drawn = int(rng.integers(low, high - 1))
        return str(drawn + (drawn >= int(word)))

    return re.sub(
        rf"\b(?:\d{{1,9}}|{'|'.join(NUMBERS)})\b", change, text, flags=re.I
    )


def swap_colours(text: str, rng: np.random.Generator, other: str = "") -> str:
    """Each colour word becomes another one."""
    return _word_pattern(COLOURS).sub(
        lambda match: _another(match.group(), COLOURS, rng), text
    )


def swap_directions(
    text: str, rng: np.random.Generator, other: str = ""
) -> str:
    """Left becomes right, above becomes below, and so on."""
    return _replace(text, _PAIRS["opposites"])


def exchange_colours(
    text: str, rng: np.random.Generator, other: str = ""
) -> str:
    """Two neighbouring colours change places."""
    return _exchange(
        text, pairwise(_word_pattern(COLOURS).finditer(text)), rng
    )


def exchange_things(
    text: str, rng: np.random.Generator, other: str = ""
) -> str:
    """Of one sentence, the words after its first two articles change places: who does what."""
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    for segment in _SPLITTER.split(text):
        pairs += islice(
            pairwise(_NAMED.finditer(text, segment.start, segment.end)), 1
        )
    return _exchange(text, pairs, rng)


def scramble(text: str, rng: np.random.Generator, other: str = "") -> str:
    """The words of each sentence in random order."""
    mixed = []
    for sentence in sentences(text):
        words, end = (
            sentence.rstrip(".!?").split(),
            sentence[len(sentence.rstrip(".!?")) :],
        )
        mixed.append(
            " ".join(words[i] for i in rng.permutation(len(words))) + end
        )
    return " ".join(mixed)


def split_sentences(
    text: str, rng: np.random.Generator, other: str = ""
) -> str:
    """Sentences cut in two at a semicolon, or at a comma with and, but or while."""
    return re.sub(
        r"(?:; | ?, (?:and|but|while) )(\w)",
        lambda match: ". " + match.group(1).upper(),
        text,
    )


def merge_sentences(
    text: str, rng: np.random.Generator, other: str = ""
) -> str:
    """Each two neighbouring sentences joined by a semicolon."""
    found = sentences(text)
    merged = []
    for first, second in zip(found[::2], found[1::2], strict=False):
        merged.append(
            first.rstrip(".") + "; " + second[:1].lower() + second[1:]
        )
    return " ".join(merged + found[len(merged) * 2 :])


def reorder_mildly(
    text: str, rng: np.random.Generator, other: str = ""
) -> str:
    """One of each four neighbouring sentences changes places with the next."""
    found = sentences(text)
    for start in range(0, len(found) - 1, 4):
        at = min(start + int(rng.integers(3)), len(found) - 2)
        found[at], found[at + 1] = found[at + 1], found[at]
    return " ".join(found)


def contract(text: str, rng: np.random.Generator, other: str = "") -> str:
    """It is becomes it's and the other way round."""
    return _replace(text, _PAIRS["contractions"])


def lower_case(text: str, rng: np.random.Generator, other: str = "") -> str:
    """All letters small."""
    return text.lower()


def strip_punctuation(
    text: str, rng: np.random.Generator, other: str = ""
) -> str:
    """Commas, quotation marks, brackets and colons left out; hyphens become spaces."""
    return re.sub(r"(?<=\w)-(?=\w)", " ", re.sub(r"[,\"“”()\[\]:]", "", text))


def same_words(text: str, rng: np.random.Generator, other: str = "") -> str:
    """Some words become others that mean the same."""
    return _replace(text, _PAIRS["same"])


def spelling(text: str, rng: np.random.Generator, other: str = "") -> str:
    """American spellings become British and the other way round."""
    return _replace(text, _PAIRS["spellings"])


def digits(text: str, rng: np.random.Generator, other: str = "") -> str:
    """Two becomes 2 and the other way round, up to twelve."""
    return _replace(text, DIGITS)


def preface(text: str, rng: np.random.Generator, other: str = "") -> str:
    """A sentence before all others that says nothing."""
    return f"Here is what can be seen. {text}"


def _exchange(
    text: str,
    pairs: Iterable[tuple[re.Match[str], re.Match[str]]],
    rng: np.random.Generator,
) -> str:
    """A pair of different words, drawn at random, has changed places; without any, the text."""
    different = [(a, b) for a, b in pairs if a[0].lower() != b[0].lower()]
    if not different:
        return text
    first, second = different[int(rng.integers(len(different)))]
    between = text[first.end() : second.start()]
    return (
        text[: first.start()]
        + _in_case_of(first[0], second[0])
        + between
        + _in_case_of(second[0], first[0].lower())
        + text[second.end() :]
    )


def _word_pattern(words: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(
        rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE
    )


def _another(word: str, words: Sequence[str], rng: np.random.Generator) -> str:
    others = [each for each in words if each != word.lower()]
    return _in_case_of(word, others[int(rng.integers(len(others)))])


def _replace(text: str, table: Mapping[str, str]) -> str:
    return _word_pattern(list(table)).sub(
        lambda match: _in_case_of(match.group(), table[match.group().lower()]),
        text,
    )


def _in_case_of(pattern: str, word: str) -> str:
    return word[:1].upper() + word[1:] if pattern[:1].isupper() else word


def _table(
    kind: Kind, *functions: Callable[..., str]
) -> dict[str, Perturbation]:
    return {
        function.__name__: Perturbation(
            function.__name__, kind, str(function.__doc__).strip(), function
        )
        for function in functions
    }


PERTURBATIONS: dict[str, Perturbation] = _table(
    "breaking",
    shuffle,
    reverse,
    swap_blocks,
    delete,
    repeat,
    truncate,
    insert,
    swap_numbers,
    swap_colours,
    swap_directions,
    exchange_colours,
    exchange_things,
    scramble,
) | _table(
    "preserving",
    split_sentences,
    merge_sentences,
    reorder_mildly,
    contract,
    lower_case,
    strip_punctuation,
    same_words,
    spelling,
    digits,
    preface,
)
"""All perturbations by name, breaking ones first."""
