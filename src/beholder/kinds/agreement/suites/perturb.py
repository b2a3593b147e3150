"""Perturbations of long texts: what a metric should see, and what it should let pass.

Each turns a text into another one, either ``breaking`` (it now says less, more, other things or in
another order) or ``preserving`` (it says the same in other words or marks). A metric that compares
the result with the original should score the second kind high and the first kind low.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
# Numbers from two on: "one" is often a pronoun.
_PAIRS["digits"] = _both_ways(
    {word: str(number) for number, word in enumerate(NUMBERS[1:], start=2)}
)

_SPLITTER = RuleSplitter()
_NOUN_AFTER_ARTICLE = re.compile(
    r"(?<=\bthe )\w{3,}|(?<=\ba )\w{3,}|(?<=\ban )\w{3,}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A text to change.

    Attributes:
        text: The text.
        rng: Source of what is drawn at random.
        other_text: Another text, for sentences that the first does not have.
    """

    text: str
    rng: np.random.Generator
    other_text: str

    def sentences(self) -> list[str]:
        """Return the sentences of the text."""
        return sentences(self.text)


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A change of a text.

    Attributes:
        kind: Whether it changes what the text says.
        change: From a draft to the changed text. A text that offers nothing to change (one
            sentence to shuffle, no number to swap) is returned as it was.
    """

    kind: Kind
    change: Callable[[Draft], str]

    def apply(
        self, text: str, rng: np.random.Generator, other_text: str = ""
    ) -> str:
        """Return the changed text."""
        return self.change(Draft(text, rng, other_text))


PERTURBATIONS: dict[str, Perturbation] = {}
"""All perturbations by name, breaking ones first; random draws depend on the order."""


def _breaking(change: Callable[[Draft], str]) -> None:
    PERTURBATIONS[change.__name__] = Perturbation("breaking", change)


def _preserving(change: Callable[[Draft], str]) -> None:
    PERTURBATIONS[change.__name__] = Perturbation("preserving", change)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, by the built-in rules."""
    return [segment.text_in(text) for segment in _SPLITTER.split(text)]


@_breaking
def shuffle(draft: Draft) -> str:
    """Put all sentences in random order, never the given one."""
    original = draft.sentences()
    # Equal sentences have a single order, and the loop below would not end.
    if len(set(original)) < 2:
        return draft.text
    while True:
        shuffled = _permute(original, draft.rng)
        if shuffled != original:
            return " ".join(shuffled)


@_breaking
def reverse(draft: Draft) -> str:
    """Put the sentences from the last to the first."""
    return " ".join(draft.sentences()[::-1])


@_breaking
def swap_blocks(draft: Draft) -> str:
    """Put the second half of the sentences before the first."""
    parts = draft.sentences()
    middle = len(parts) // 2
    return " ".join(parts[middle:] + parts[:middle])


@_breaking
def delete(draft: Draft) -> str:
    """Leave out a third of the sentences, at random places."""
    parts = draft.sentences()
    n = len(parts)
    if n > 1:
        places = draft.rng.choice(n, max(1, n // 3), replace=False)
        parts = np.delete(parts, places).tolist()
    return " ".join(parts)


@_breaking
def repeat(draft: Draft) -> str:
    """Repeat the first third of the sentences at the end."""
    parts = draft.sentences()
    return " ".join(parts + parts[: max(1, len(parts) // 3)])


@_breaking
def truncate(draft: Draft) -> str:
    """Keep only the first half of the sentences."""
    parts = draft.sentences()
    return " ".join(parts[: max(1, len(parts) // 2)])


@_breaking
def insert(draft: Draft) -> str:
    """Put sentences of the other text, a third as many as there are, at random places."""
    parts = draft.sentences()
    for sentence in sentences(draft.other_text)[: max(1, len(parts) // 3)]:
        parts.insert(int(draft.rng.integers(len(parts) + 1)), sentence)
    return " ".join(parts)


@_breaking
def swap_numbers(draft: Draft) -> str:
    """Replace each number, in digits or as a word up to twelve, by another one."""

    def change(match: re.Match[str]) -> str:
        word = match.group()
        if not word.isdigit():
            return _another(word, NUMBERS, draft.rng)
        low, high = 10 ** (len(word) - 1), 10 ** len(word)
        # One number of the range is left out and the ones above it move down,
        # so every other number of the same length is as likely.
        number = int(draft.rng.integers(low, high - 1))
        return str(number + (number >= int(word)))

    return re.sub(
        rf"\b(?:\d{{1,9}}|{'|'.join(NUMBERS)})\b",
        change,
        draft.text,
        flags=re.I,
    )


@_breaking
def swap_colours(draft: Draft) -> str:
    """Make each colour word another one."""
    return _word_pattern(COLOURS).sub(
        lambda match: _another(match.group(), COLOURS, draft.rng), draft.text
    )


@_breaking
def swap_directions(draft: Draft) -> str:
    """Make left right, above below, and so on."""
    return _replace(draft.text, "opposites")


@_breaking
def exchange_colours(draft: Draft) -> str:
    """Let two neighbouring colours change places."""
    colours = _word_pattern(COLOURS).finditer(draft.text)
    return _exchange(draft, pairwise(colours))


@_breaking
def exchange_things(draft: Draft) -> str:
    """Swap the words after the first two articles of a sentence: their roles change."""
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    for segment in _SPLITTER.split(draft.text):
        names = _NOUN_AFTER_ARTICLE.finditer(
            draft.text, segment.start, segment.end
        )
        pairs += islice(pairwise(names), 1)
    return _exchange(draft, pairs)


@_breaking
def scramble(draft: Draft) -> str:
    """Put the words of each sentence in random order."""
    mixed = []
    for sentence in draft.sentences():
        body = sentence.rstrip(".!?")
        words = _permute(body.split(), draft.rng)
        mixed.append(" ".join(words) + sentence[len(body) :])
    return " ".join(mixed)


@_preserving
def split_sentences(draft: Draft) -> str:
    """Cut sentences in two at a semicolon, or at a comma with and, but or while."""
    return re.sub(
        r"(?:; | ?, (?:and|but|while) )(\w)",
        lambda match: ". " + match.group(1).upper(),
        draft.text,
    )


@_preserving
def merge_sentences(draft: Draft) -> str:
    """Join each two neighbouring sentences by a semicolon."""
    parts = draft.sentences()
    merged = []
    for first, second in zip(parts[::2], parts[1::2], strict=False):
        merged.append(
            first.rstrip(".") + "; " + second[:1].lower() + second[1:]
        )
    return " ".join(merged + parts[len(merged) * 2 :])


@_preserving
def reorder_mildly(draft: Draft) -> str:
    """Let one of each four neighbouring sentences change places with the next."""
    parts = draft.sentences()
    for start in range(0, len(parts) - 1, 4):
        # The last group may be short; its change must stay within the text.
        at = min(start + int(draft.rng.integers(3)), len(parts) - 2)
        parts[at], parts[at + 1] = parts[at + 1], parts[at]
    return " ".join(parts)


@_preserving
def contract(draft: Draft) -> str:
    """Make "it is" "it's" and the other way round."""
    return _replace(draft.text, "contractions")


@_preserving
def lower_case(draft: Draft) -> str:
    """Make all letters small."""
    return draft.text.lower()


@_preserving
def strip_punctuation(draft: Draft) -> str:
    """Leave out commas, quotation marks, brackets and colons; make hyphens spaces."""
    plain = re.sub(r"[,\"“”()\[\]:]", "", draft.text)
    return re.sub(r"(?<=\w)-(?=\w)", " ", plain)


@_preserving
def same_words(draft: Draft) -> str:
    """Make some words others that mean the same."""
    return _replace(draft.text, "same")


@_preserving
def spelling(draft: Draft) -> str:
    """Make American spellings British and the other way round."""
    return _replace(draft.text, "spellings")


@_preserving
def digits(draft: Draft) -> str:
    """Make "two" "2" and the other way round, up to twelve."""
    return _replace(draft.text, "digits")


@_preserving
def preface(draft: Draft) -> str:
    """Put a sentence that says nothing before all others."""
    return f"Here is what can be seen. {draft.text}"


def _permute(parts: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [parts[i] for i in rng.permutation(len(parts))]


def _exchange(
    draft: Draft, pairs: Iterable[tuple[re.Match[str], re.Match[str]]]
) -> str:
    """Let a pair of different words, drawn at random, change places, if there is one."""
    text = draft.text
    different = [(a, b) for a, b in pairs if a[0].lower() != b[0].lower()]
    if not different:
        return text
    first, second = different[int(draft.rng.integers(len(different)))]
    between = text[first.end() : second.start()]
    return (
        text[: first.start()]
        + _in_case_of(first[0], second[0])
        + between
        + _in_case_of(second[0], first[0].lower())
        + text[second.end() :]
    )


def _word_pattern(words: Iterable[str]) -> re.Pattern[str]:
    # An alternative that is the beginning of another one would win if it came
    # first.
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(
        rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE
    )


def _another(word: str, words: Sequence[str], rng: np.random.Generator) -> str:
    choices = [choice for choice in words if choice != word.lower()]
    return _in_case_of(word, choices[int(rng.integers(len(choices)))])


def _replace(text: str, name: str) -> str:
    """Return the text with each word of a list exchanged for its counterpart."""
    table = _PAIRS[name]
    return _word_pattern(table).sub(
        lambda match: _in_case_of(match.group(), table[match.group().lower()]),
        text,
    )


def _in_case_of(pattern: str, word: str) -> str:
    return word[:1].upper() + word[1:] if pattern[:1].isupper() else word
