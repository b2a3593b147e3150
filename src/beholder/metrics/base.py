"""The contract of a metric: gather evidence, then score it; and limits on the size of an item.

A metric is a frozen dataclass. Its fields are its whole configuration, so that two metrics with the
same fields are equal, print the same name and give the same numbers.

Scoring has one BLAS thread, as runs have: sums may depend on the number of threads, and products as
small as those of metrics cost several threads more than they gain.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import ClassVar, Generic, Never, TypeVar

import numpy as np

from beholder.aio import map_bounded, run_sync
from beholder.asking.asker import Asker, ValueInfo, attempt
from beholder.asking.tools import Tools
from beholder.base.threads import one_blas_thread
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.options import check_list
from beholder.records import Item, ItemFailure, ItemScore
from beholder.text import words
from beholder.text.composition import composed

__all__ = ["Bounds", "Metric", "ValueInfo"]

MOST_PAIRS = 50_000_000
"""Pairs of parts compared at once: about 1 GB, in the metrics that need most memory for each."""

PUNCTUATION_COST = 5
"""A character outside words counts as this many: the parser makes a token of each, and a word has
about five characters."""

MOST_PICTURES = 256
"""Pictures of one item."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on one item that a metric scores.

    Attributes:
        characters: Of the candidate and all references together; a text of signs alone may have a
            fifth of them (``SIGN``).
        compares: Parts that are compared each with each, in words; empty if there are none.
    """

    characters: int = 1_000_000
    compares: str = ""

    def __str__(self) -> str:
        pairs = (
            f", {MOST_PAIRS:,} pairs of {self.compares}"
            if self.compares
            else ""
        )
        signs = (
            f"{self.characters // PUNCTUATION_COST:,} of them outside words"
        )
        return f"{self.characters:,} characters in all texts together, {signs}{pairs}"

    def check(self, item: Item, name: str) -> None:
        """Refuse an item that is too large for the metric of that name.

        Raises:
            ItemError: Its texts are too long or have too many signs, or its pictures are too many.
        """
        n, max_characters = (
            len(item.candidate) + sum(map(len, item.references)),
            self.characters,
        )
        if n > self.characters:
            raise ItemError(
                f"the texts of this item have {n:,} characters; {name} takes up to"
                f" {self.characters:,}, so score them in parts"
            )
        # Counting signs is slow, so a short text is let through without it.
        n_signs = (
            sum(map(_n_signs, (item.candidate, *item.references)))
            if n * PUNCTUATION_COST > max_characters
            else 0
        )
        if n_signs * PUNCTUATION_COST > max_characters:
            raise ItemError(
                f"the texts of this item have {n_signs:,} characters outside words; {name} takes up"
                f" to {max_characters // PUNCTUATION_COST:,}"
            )
        if len(item.images) > MOST_PICTURES:
            raise ItemError(
                f"this item has {len(item.images):,} pictures; {name} takes up to {MOST_PICTURES}"
            )

    def check_pairs(
        self, candidate: int, references: Sequence[int], name: str
    ) -> None:
        """Refuse texts with too many parts, before each pair is compared.

        Args:
            candidate: Number of parts of the candidate.
            references: Number of parts of each reference.
            name: The metric.

        Raises:
            ItemError: There are too many pairs.
        """
        n = candidate * sum(references)
        if self.compares and n > MOST_PAIRS:
            raise ItemError(
                f"{name} would compare {n:,} pairs of {self.compares}; it compares up to"
                f" {MOST_PAIRS:,}, so score the texts in parts"
            )

    def check_words(self, texts: Sequence[str], name: str) -> None:
        """Refuse texts with too many words or signs to compare each with each.

        Args:
            texts: Candidate and references.
            name: The metric.

        Raises:
            ItemError: There are too many pairs.
        """
        # Quick: no text has more words and signs than characters.
        if sum(map(len, texts)) ** 2 <= MOST_PAIRS:
            return
        n_tokens = [max(len(words(text)), _n_signs(text)) for text in texts]
        self.check_pairs(max(n_tokens), n_tokens, name)


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 if the two sum to 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return ``(1 + beta^2) P R / (R + beta^2 P)``; 0 when either is 0."""
    if precision == 0 or recall == 0:
        return 0.0
    # Rounding can pass 1, and the F of 1 and 1 must be 1.
    return min(
        1.0,
        (1 + beta**2) * precision * recall / (recall + beta**2 * precision),
    )


def _n_signs(text: str) -> int:
    """Count the characters that are neither white space nor part of a word."""
    return sum(map(len, text.split())) - sum(
        end - start for start, end in words(text)
    )


E = TypeVar("E")

_MIN_VALUES = 3
"""A caution about equal values needs this many."""


@dataclass(frozen=True)
class Metric(Asker[Item], Generic[E]):
    """Base of all metrics; ``E`` is the evidence that ``gather`` hands to ``score_item``.

    Class attributes beyond those of ``Asker``:
        required_fields: Fields of an item it cannot do without.
        bounds: Limits on the size of an item.
    """

    required_fields: ClassVar[frozenset[str]] = frozenset({"references"})
    bounds: ClassVar[Bounds] = Bounds()

    @abstractmethod
    async def gather(self, item: Item, tools: Tools) -> E:
        """Collect all that scoring needs: parse, embed, ask judges. The only costly step."""

    @abstractmethod
    def score_item(self, item: Item, evidence: E) -> ItemScore:
        """Turn evidence into a score. Pure: no judge, no file, no clock, no randomness.

        ``evaluate`` signs a score without a signature, by the tools in use.
        """

    @property
    def needed_fields(self) -> frozenset[str]:
        """Fields of the item that it needs as it is configured; none may be empty."""
        return self.required_fields

    def check_item(self, item: Item) -> None:
        """Refuse an item without what the metric needs, or with a text without words.

        Raises:
            ItemError: Names the field that is missing or empty, or the text without words.
        """
        for field in sorted(self.needed_fields):
            if not getattr(item, field):
                # A column of nearly the same name was most likely not mapped.
                close = get_close_matches(field, item.meta, n=1, cutoff=0.8)
                hint = ""
                if close:
                    hint = f"; it has {close[0]!r}: did you mean {field}?"
                elif field == "references":
                    hint = "; beholder lint checks texts alone"
                raise ItemError(
                    f"{self.registered_name} needs {field}, and this item has none{hint}"
                )
        check_words_in(item, "references" in self.needed_fields)

    def check_row(self, item: Item) -> None:
        """Refuse a row whose own fields are malformed, which a run does before all work.

        Raises:
            BadRowError: Names the field, and the part of it that is wrong.
        """

    def score_text(
        self,
        candidate: str,
        references: str | Sequence[str],
        *more: Never,
        images: Sequence[str] | None = None,
        tools: Tools | None = None,
    ) -> ItemScore:
        """Score one text; works in scripts and in notebooks, which run an event loop.

        Args:
            candidate: The text under evaluation.
            references: One trusted text, or a list of them.
            more: Nothing: a second reference belongs into the list of references.
            images: Image files, for metrics that look.
            tools: Tools to share between calls; new ones are made if None.

        Raises:
            ConfigError: References are written one after another, or ``images`` is one text.
            ItemError: The text cannot be scored; the message says why.
        """
        # Two references written one after the other would be taken for
        # something else.
        if more:
            raise ConfigError(
                f"score_text takes a text and its references, got {len(more)} values more: write"
                " several references as a list, ['...', '...'], and pictures as images=['...']"
            )
        check_list("images", images)
        if not isinstance(candidate, str):
            raise ConfigError(f"candidate: expected a text, got {candidate!r}")
        if isinstance(references, Mapping | bytes) or not isinstance(
            references, Iterable
        ):
            raise ConfigError(
                f"references: expected a text or a list of texts, got {references!r}"
            )
        texts = (
            (references,) if isinstance(references, str) else tuple(references)
        )
        for text in texts:
            if not isinstance(text, str):
                raise ConfigError(f"references: expected texts, got {text!r}")
        item = Item(
            id="text",
            candidate=candidate,
            references=texts,
            images=tuple(images or ()),
        )
        # The same letter can be one code point or two; metrics compare code
        # points.
        item = composed(item)
        with one_blas_thread():
            score = run_sync(
                self.prepare([item]).evaluate(item, tools or Tools())
            )
        return replace(score, item=item)

    def score(
        self, items: Sequence[Item], *, tools: Tools | None = None
    ) -> list[ItemScore | ItemFailure]:
        """Score items in order; return the reason for an item that cannot be scored.

        ``beholder.score`` does the same with a store, workers and a report.
        """
        shared = tools or Tools()
        items = list(map(composed, items))
        prepared = self.prepare(items)

        # Items finish in any order, and the scores are returned in that of the
        # items.
        async def each() -> list[ItemScore | ItemFailure]:
            outcomes: dict[int, ItemScore | ItemFailure] = {}
            attempts = map_bounded(
                lambda i: attempt(prepared, items[i], shared),
                range(len(items)),
                64,
            )
            async for index, outcome in attempts:
                if isinstance(outcome, ItemScore):
                    outcome = replace(outcome, item=items[index])
                outcomes[index] = outcome
            return [outcomes[index] for index in range(len(items))]

        with one_blas_thread():
            return run_sync(each())

    def value_named(self, name: str | None) -> ValueInfo:
        """Return the description of a value; None names the headline.

        Raises:
            ConfigError: There is no such value; names those there are.
        """
        for info in (*self.values, *self.corpus_values):
            if name in (None, info.name):
                return info
        names = ", ".join(
            info.name for info in (*self.values, *self.corpus_values)
        )
        raise ConfigError(
            f"{self.registered_name} has no value {name!r}; it has: {names}"
        )

    def needs_corpus(self) -> bool:
        """Return whether a score depends on the texts of all items, which ``prepare`` reads."""
        return False

    def check(self, subject: Item) -> None:
        """Refuse an item that is too large, not Unicode, or incomplete (see ``check_item``).

        Raises:
            ItemError: Names the limit, or the field that is wrong or missing.
        """
        self.bounds.check(subject, self.registered_name)
        _check_unicode(subject)
        self.check_item(subject)

    def check_tools(self, subject: Item, tools: Tools) -> None:
        """Refuse an item in a language that one of this metric's tools does not read.

        Raises:
            ItemError: Names the tool, and another that can.
        """
        tools.check_language(self.tool_specs(), subject)

    def cautions(self, columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
        """Warn if all texts have the same headline value."""
        headline = self.values[0].name
        column = columns.get(headline, np.zeros(0))
        # Two texts may be equal by chance.
        if len(column) < _MIN_VALUES or column.min() < column.max():
            return ()
        return (
            f"all {len(column):,} values of {headline} are {column[0]:.6g}: it separates no texts",
        )

    async def evaluate_together(
        self, items: Sequence[Item], tools: Tools
    ) -> list[ItemScore]:
        """Score several texts about one picture; metrics that can share work override this.

        Raises:
            ItemError: A text cannot be scored; names its place.
        """

        async def evaluate_one(number: int, item: Item) -> ItemScore:
            try:
                return await self.evaluate(item, tools)
            except ItemError as error:
                raise type(error)(f"text {number}: {error}") from error

        return list(
            await asyncio.gather(
                *(
                    evaluate_one(n, item)
                    for n, item in enumerate(items, start=1)
                )
            )
        )

    async def evaluate(self, subject: Item, tools: Tools) -> ItemScore:
        """Check, gather, score and sign one item, its texts composed (``text.composition``)."""
        subject = composed(subject)
        self.check(subject)
        self.check_tools(subject, tools)
        # Before any request: a judge that cannot do it is refused here.
        identities = self.identities(tools)
        score = self.score_item(subject, await self.gather(subject, tools))
        return (
            score
            if score.signature
            else replace(score, signature=self.signature(identities))
        )


def check_words_in(item: Item, has_references: bool) -> None:
    """Refuse an item with a text of punctuation, symbols or emoji alone.

    Such a text describes nothing; scored as 0 it would count as a wrong description.

    Args:
        item: The item.
        has_references: Whether the metric compares with references, so that they are checked, too.

    Raises:
        ItemError: Names the text.
    """
    if not item.candidate.strip():
        raise ItemError("the candidate is empty")
    texts = (item.candidate, *(item.references if has_references else ()))
    for place, text in enumerate(texts):
        # Joiners and marks of an emoji are no word by themselves, though ``words`` keeps them.
        if not any(map(str.isalnum, text)):
            raise ItemError(
                f"{f'reference {place}' if place else 'the candidate'} has no words"
            )


def _check_unicode(item: Item) -> None:
    texts = {"candidate": item.candidate}
    texts |= {
        f"reference {n}": text
        for n, text in enumerate(item.references, start=1)
    }
    for name, text in texts.items():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ItemError(
                f"the {name} is not Unicode text: it has half of a surrogate pair at character"
                f" {error.start}"
            ) from None
