"""Words of candidate and references, as the classical metrics compare them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from beholder.errors import ItemError
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore
from beholder.text.tokenize import folded_words, identity

Words: TypeAlias = tuple[str, ...]


@lru_cache(
    maxsize=1 << 15
)  # a reference is met once per candidate, from every metric
def tokenize(text: str, tokenizer: str = "words") -> Words:
    """Return the words of a text.

    Args:
        text: Any text.
        tokenizer: ``words``: runs of letters and digits of any script, case folded, punctuation
            left out, each Han character one word. ``space``: as the text is split by white space,
            for texts that were tokenized before.
    """
    if tokenizer == "space":
        return tuple(text.split())
    return folded_words(text)


def tokenizer_identity(tokenizer: str) -> str:
    """Return the name of a tokenizer with the version of its rules, for signatures."""
    return identity() if tokenizer == "words" else tokenizer


def item_words(item: Item, tokenizer: str) -> TokenizedTexts:
    """Return both sides of an item as words.

    Raises:
        ItemError: A text has no words, or no spaces between them.
    """
    sides = tuple(
        tokenize(text, tokenizer)
        for text in (item.candidate, *item.references)
    )
    # Places are numbered from 1, since the candidate is 0.
    for place, words in enumerate(sides):
        name = f"reference {place}" if place else "the candidate"
        if not words:
            raise ItemError(f"{name} has no words")
        script = unspaced_script(words) if tokenizer == "words" else None
        if script is not None:
            raise ItemError(
                f"{name} has no spaces between words, as usual in {script} script, so that whole"
                " phrases would count as words; put spaces between its words and use"
                " tokenizer='space', or use chrf, which compares characters"
            )
    return TokenizedTexts(sides[0], sides[1:])


_UNSPACED = {
    "Thai": re.compile("[\u0e00-\u0e7f]"),
    "Lao": re.compile("[\u0e80-\u0eff]"),
    "Burmese": re.compile("[\u1000-\u109f]"),
    "Khmer": re.compile("[\u1780-\u17ff]"),
}
"""Scripts without spaces between words, and their letters. Han and kana are cut by ``words``."""
_LONG = 12
"""Mean length, in characters, that words of these scripts do not reach: it is 4 to 6."""
_LONG_ALONE = 6
"""Longest text of a single run, in characters, that may be a word."""


def unspaced_script(words: Words) -> str | None:
    """Return the script of a text that has phrases in place of words; None if it has words.

    Args:
        words: The text between white space and punctuation.
    """
    # The quick and common case: all of these scripts are outside ASCII.
    if all(map(str.isascii, words)):
        return None
    for script, letter in _UNSPACED.items():
        lengths = [len(word) for word in words if letter.match(word)]
        # A single run equals the other text or shares no word with it: a 0 without a cause.
        limit = _LONG_ALONE if len(words) == 1 else _LONG
        if lengths and sum(lengths) / len(lengths) > limit:
            return script
    return None


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """Words of an item.

    Attributes:
        candidate: Of the text under evaluation, at least one.
        references: Of each reference, in order, each at least one.
    """

    candidate: Words
    references: tuple[Words, ...]


@dataclass(frozen=True)
class WordMetric(Metric[TokenizedTexts]):
    """Base of the metrics that compare words and need no tool."""

    tokenizer: Literal["words", "space"] = param(
        "words",
        "words of any script, case folded, or ready tokens between spaces",
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identity of the tokenizer, with the version of its rules."""
        return super().identities(tools) | {
            "tokenizer": tokenizer_identity(self.tokenizer)
        }

    async def gather(self, item: Item, tools: Tools) -> TokenizedTexts:
        """Split all texts of an item into words."""
        texts = item_words(item, self.tokenizer)
        n_words = [len(words) for words in texts.references]
        self.bounds.check_pairs(
            len(texts.candidate), n_words, self.registered_name
        )
        return texts


def ngrams(words: Sequence[str], order: int) -> list[tuple[str, ...]]:
    """Return all runs of ``order`` words, in order; none when there are fewer words."""
    return list(zip(*(words[start:] for start in range(order)), strict=False))


def clipped_matches(
    candidate: Words, references: Sequence[Words], order: int
) -> int:
    """Count the runs of words that the candidate shares with its references.

    A run counts at most as often as in the reference that has it most often.
    """
    counts = Counter(ngrams(candidate, order))
    limits: Counter[tuple[str, ...]] = Counter()
    # The union of counters keeps the largest count of each run.
    for reference in references:
        limits |= Counter(ngrams(reference, order))
    return (counts & limits).total()


@dataclass(frozen=True)
class Length(WordMetric):
    """Words and characters of the candidate: the baseline for agreement with people.

    People often prefer the longer text, and many metrics follow; what a metric says beyond length
    is what counts. Needs no references. Neither end is better; ``agree`` and ``rank`` take a longer
    text as the better one, so that other metrics can be compared with it.

    Raises:
        ConfigError: A parameter is unknown.
    """

    registered_name = "length"
    values = (
        ValueInfo(
            "words", "words of the candidate", high=1e9, higher_is_better=None
        ),
        ValueInfo(
            "characters",
            "characters of the candidate",
            high=1e9,
            higher_is_better=None,
        ),
    )
    required_fields = frozenset()

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Count the words and the characters."""
        n_words, n_characters = len(evidence.candidate), len(item.candidate)
        return ItemScore(
            {"words": float(n_words), "characters": float(n_characters)}
        )
