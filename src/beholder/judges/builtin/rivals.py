"""Whether a text says what a claim says, or another value, or says it of another thing.

Words alone are looked at, and which words stand together, so that it holds where a parse is wrong.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.classes import exclude
from beholder.judges.builtin.lexis import saying
from beholder.judges.builtin.numbers import number
from beholder.text import frequency

_SAYS = number("claims.says")
_ARTICLES = frozenset(("a", "an"))
_NONE_OR_ONE = _ARTICLES | {"no"}


@dataclass(frozen=True)
class ClaimWording:
    """The content words of a claim and where a text has them.

    Attributes:
        claim: The claim.
        text: The text.
        unsaid: Words that need not be in the text.
    """

    claim: AnalysedText
    text: AnalysedText
    unsaid: Collection[str]

    @cached_property
    def valued(self) -> list[int]:
        """The claim's words that are in a class, by place; an article is no number."""
        words = self.claim.words
        return [place for place, _ in self.claim.word_values if words[place] not in _ARTICLES]

    @cached_property
    def telling(self) -> list[int]:
        """The claim's words that say something, by place."""
        valued = set(self.valued)
        return [
            place
            for place, word in enumerate(self.claim.words)
            if (frequency.weight(word) > _SAYS or place in valued) and word not in self.unsaid
        ]

    @cached_property
    def places(self) -> dict[int, list[int]]:
        """Where the text has each content word, by its place in the claim."""
        words, places = self.claim.words, self.text.places
        return {
            own: [place for word in saying(words[own], places) for place in places[word]]
            for own in self.telling
        }

    def near(self, place: int, to: int) -> float:
        """How near a word of the text is to a content word of the claim, 0..1.

        By the things named between the two in one sentence; 0 if the sentence does not have it.
        """
        sentences, before = self.text.sentences, self._named_before
        best = 0.0
        for other in self.places[to]:
            if other != place and sentences[other] == sentences[place]:
                low, high = min(place, other), max(place, other)
                best = max(best, 1.0 / (1.0 + before[high] - before[low + 1]))
        return best

    @cached_property
    def _named_before(self) -> npt.NDArray[np.intp]:
        """How many things are named before each word of the text."""
        things = np.zeros(len(self.text.words) + 1, np.intp)
        things[[place + 1 for place in self.text.named_at]] = 1
        return np.cumsum(things)


def unrivalled(wording: ClaimWording, told: Collection[int] = ()) -> float:
    """How far a text says the values of a claim, 0..1, rather than others that exclude them.

    For each word of a class: how near it comes to the claim's other words, less how near a word
    comes that excludes it; 1 if none is nearer.

    Args:
        wording: The claim's words and the text's.
        told: Words of the claim, by place, that the text says by others and that have no rivals.
    """
    lowest = 1.0
    values = dict(wording.claim.word_values)
    for own in wording.valued:
        if own in told:
            continue
        others = [place for place in wording.telling if place != own]
        if not others:
            continue
        weights = np.array([frequency.weight(wording.claim.words[place]) for place in others])
        said = rival = 0.0
        for place, value in wording.text.word_values:
            if {wording.claim.words[own], wording.text.words[place]} <= _NONE_OR_ONE:
                continue  # "no cloud" is said by "not a cloud"
            same = not value.isdisjoint(values[own])
            if not same and not exclude(value, values[own]):
                continue
            fit = float((weights * [wording.near(place, other) for other in others]).sum())
            if same:
                said = max(said, fit)
            else:
                rival = max(rival, fit)
        lowest = min(lowest, 1.0 - max(0.0, rival - said) / float(weights.sum()))
    return lowest
