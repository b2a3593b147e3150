"""Words of candidate and references, as the classical metrics compare them."""

from __future__ import annotations

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


@lru_cache(maxsize=1 << 15)  # a reference is met once per candidate, from every metric
def tokenize(text: str, tokenizer: str = "words") -> Words:
    """Words of a text.

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
    """What the signature says of a tokenizer: its name with the version of its rules."""
    return identity() if tokenizer == "words" else tokenizer


def item_words(item: Item, tokenizer: str) -> TokenizedTexts:
    """Both sides of an item as words.

    Raises:
        ItemError: A text has no word (only punctuation or emoji, say).
    """
    sides = tuple(tokenize(text, tokenizer) for text in (item.candidate, *item.references))
    for place, words in enumerate(sides):
        if not words:
            raise ItemError(f"{f'reference {place}' if place else 'the candidate'} has no words")
    return TokenizedTexts(sides[0], sides[1:])


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
        "words", "words of any script, case folded, or ready tokens between spaces"
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """The tokenizer with the version of its rules."""
        return {"tokenizer": tokenizer_identity(self.tokenizer)}

    async def gather(self, item: Item, tools: Tools) -> TokenizedTexts:
        """Split all texts of an item into words."""
        texts = item_words(item, self.tokenizer)
        n_words = [len(words) for words in texts.references]
        self.bounds.check_pairs(len(texts.candidate), n_words, self.registered_name)
        return texts


def ngrams(words: Sequence[str], order: int) -> list[tuple[str, ...]]:
    """All runs of ``order`` words, in order; none when there are fewer words."""
    return list(zip(*(words[start:] for start in range(order)), strict=False))


def clipped_matches(candidate: Words, references: Sequence[Words], order: int) -> int:
    """Runs of words that the candidate shares with its references.

    A run counts at most as often as in the reference that has it most often.
    """
    grams = ngrams(candidate, order)
    distinct = set(grams)
    others = [ngrams(reference, order) for reference in references]
    shared = set().union(*(distinct.intersection(other) for other in others))
    if len(distinct) == len(grams):  # nearly every caption: each run occurs once, so no counting
        return len(shared)
    counts = Counter(grams)
    return sum(
        1 if counts[gram] == 1 else min(counts[gram], max(other.count(gram) for other in others))
        for gram in shared
    )


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
        ValueInfo("words", "words of the candidate", high=1e9, higher_is_better=None),
        ValueInfo("characters", "characters of the candidate", high=1e9, higher_is_better=None),
    )
    required_fields = frozenset()

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Count."""
        n_words, n_characters = len(evidence.candidate), len(item.candidate)
        return ItemScore({"words": float(n_words), "characters": float(n_characters)})
