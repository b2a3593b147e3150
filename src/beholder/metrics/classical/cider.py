"""CIDEr and CIDEr-D: n-gram vectors weighted by how rare an n-gram is among the images.

Document frequencies say in how many sources a run of words occurs, in their references.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import add
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from beholder.base.files import write_bytes
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, DataError
from beholder.metrics import Tools, ValueInfo, param
from beholder.metrics.classical.tokens import (
    TokenizedTexts,
    WordMetric,
    Words,
    tokenize,
)
from beholder.records import Item, ItemScore

ORDERS = (1, 2, 3, 4)
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Number of documents in which each run of one to four words occurs.

    A document is one source with all its references; sources with the same references count once.

    Attributes:
        n_documents: Number of documents.
        counts: Documents per run of words, written with single spaces.
        tokenizer: Name of the tokenizer.
    """

    n_documents: int
    counts: dict[str, int]
    tokenizer: str

    @classmethod
    def from_references(
        cls, references: Iterable[tuple[str, ...]], tokenizer: str = "words"
    ) -> Frequencies:
        """Count over the references of a data set.

        Args:
            references: The references of each item; equal ones count once.
            tokenizer: See ``tokenize``.
        """
        digests: set[bytes] = set()
        counts: Counter[str] = Counter()
        for texts in references:
            digest = hashlib.sha256("\0".join(texts).encode("utf-8")).digest()
            if digest in digests or not texts:
                continue
            digests.add(digest)
            counts.update(_grams(texts, tokenizer))
        return cls(len(digests), dict(counts), tokenizer)

    @classmethod
    def load(cls, path: str | Path) -> Frequencies:
        """Read a table that ``save`` wrote.

        Raises:
            DataError: The file is missing or cannot be read.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                table = json.load(file)
            if table["format"] != FORMAT:
                raise DataError(
                    str(path),
                    f"has format {table['format']}, expected {FORMAT}",
                )
            return cls(
                table["n_documents"], table["counts"], table["tokenizer"]
            )
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            # DataError is a ValueError as well.
            if isinstance(error, DataError):
                raise
            raise DataError(
                str(path),
                f"is not a table of document frequencies (see Frequencies.save): {error}",
            ) from error

    def save(self, path: str | Path) -> None:
        """Write the table as gzipped JSON; the same table gives the same bytes."""
        about = {
            "format": FORMAT,
            "n_documents": self.n_documents,
            "tokenizer": self.tokenizer,
        }
        table = about | {"counts": dict(sorted(self.counts.items()))}
        text = json.dumps(table, ensure_ascii=False).encode("utf-8")
        write_bytes(Path(path), gzip.compress(text, mtime=0))

    @property
    def identity(self) -> str:
        """Number of documents and a hash of the counts."""
        rows = [f"{gram}\t{self.counts[gram]}" for gram in sorted(self.counts)]
        table = "\n".join([f"{self.n_documents} {self.tokenizer}", *rows])
        return f"{self.n_documents}docs@{hashlib.sha256(table.encode()).hexdigest()[:8]}"


def _grams(texts: tuple[str, ...], tokenizer: str) -> set[str]:
    lists = [
        grams
        for text in texts
        for grams in gram_lists(tokenize(text, tokenizer))
    ]
    return set().union(*lists)


def gram_lists(words: Words) -> Iterator[Sequence[str]]:
    """Yield all runs of 1, 2, 3 and 4 words, in order, written with single spaces.

    Each run is a shorter one and one word more; the loops are those of C functions.
    """
    following = list(map(" ".__add__, words))
    grams: Sequence[str] = words
    yield grams
    for order in ORDERS[1:]:
        grams = list(map(add, grams, following[order - 1 :]))
        yield grams


SCALE = 10.0
SIGMA = 6.0

_CACHED = 1 << 12
_NOTHING = 1e-6
"""A value below says nothing, on a scale from 0 to 10."""
_MANY = 0.1
"""Share of such values from which they are reported."""
_ONE_IMAGE = (
    "a word is worth something only if other images do not have it; score more images, or name a"
    " saved table (df)"
)
_NEGLIGIBLE_GAP = math.ceil(SIGMA * math.sqrt(2 * math.log(SCALE / _NOTHING)))
"""From this difference in words on, the Gaussian brings any score below that."""


@dataclass(frozen=True)
class CIDEr(WordMetric):
    """CIDEr: cosine of tf-idf vectors of word runs, mean over lengths 1..4 and over references.

    The weight of a run of words is its count times ``log(images / images whose references have
    it)``. Times 10, as usual: range 0..10, higher is better; 10 only when all references equal the
    candidate. Plain words: the published first version stems them.

    A word is worth something only if other images do not have it, so scores depend on the images of
    the run (their hash is in the signature) unless ``df`` names a saved table; one image alone
    scores 0, with a warning.

    Source: Vedantam et al. 2015. ``cider_d`` is what captioning leaderboards call CIDEr.

    Raises:
        ConfigError: A parameter is unknown.
    """

    df: str = param(
        "run",
        "document frequencies: run (its references), or a saved table's path",
        is_file=True,
    )
    table: Frequencies | None = field(default=None, repr=False, compare=False)
    table_identity: str | None = field(default=None, repr=False, compare=False)
    one_text: bool = field(default=False, repr=False, compare=False)

    registered_name = "cider"
    values = (ValueInfo("cider", "CIDEr, 0 to 10", high=SCALE),)
    clips: ClassVar[bool] = False

    def needs_corpus(self) -> bool:
        """True where words are counted in the references at hand."""
        return self.df == "run"

    def prepare(self, items: Iterable[Item]) -> Self:
        """Count the document frequencies of the run, or read the table.

        Raises:
            ConfigError: The table was made with another tokenizer.
            DataError: The table cannot be read.
        """
        one_text = False
        if self.df == "run":
            max_references = 0

            # Items are read once, and may be a generator: both counts are
            # taken on the way.
            def references() -> Iterator[tuple[str, ...]]:
                nonlocal max_references
                for item in items:
                    max_references = max(max_references, len(item.references))
                    yield item.references

            table = Frequencies.from_references(references(), self.tokenizer)
            one_text = max_references == 1
            if table.n_documents == 1:
                name = self.registered_name
                warnings.warn(
                    f"{name} over one image is 0: {_ONE_IMAGE}", stacklevel=3
                )
        else:
            table = Frequencies.load(self.df)
            if table.tokenizer != self.tokenizer:
                raise ConfigError(
                    f"df={self.df!r} was made with tokenizer={table.tokenizer!r}, and"
                    f" {self.registered_name} has tokenizer={self.tokenizer!r}"
                )
        return replace(
            self, table=table, table_identity=table.identity, one_text=one_text
        )

    def state(self) -> Mapping[str, Any] | None:
        """Return the document frequencies of the run; a saved table is read from its file."""
        if self.table is None or self.df != "run":
            return None
        return {
            "n_documents": self.table.n_documents,
            "grams": "\n".join(self.table.counts),
            "counts": list(self.table.counts.values()),
            "identity": self.table_identity,
            "one_text": self.one_text,
        }

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """Return this metric with the document frequencies of the run."""
        grams = state["grams"].split("\n") if state["grams"] else []
        counts = dict(zip(grams, state["counts"], strict=True))
        table = Frequencies(state["n_documents"], counts, self.tokenizer)
        identity, one_text = state["identity"], state["one_text"]
        return replace(
            self, table=table, table_identity=identity, one_text=one_text
        )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the tokenizer and of the table of document frequencies."""
        identities = super().identities(tools)
        if self.table_identity is not None:
            identities["df"] = (
                f"{'run' if self.df == 'run' else 'table'}:{self.table_identity}"
            )
        return identities

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Compare with each reference and take the mean."""
        weigh = self._weigher
        candidate = weigh.runs(evidence.candidate)
        total = 0.0
        for words in evidence.references:
            similar = weigh.similarity(candidate, words, self.clips)
            if self.clips:
                # Differences are counted in pairs of words, as the published code does.
                gap = max(0, len(evidence.candidate) - 1) - max(
                    0, len(words) - 1
                )
                similar *= math.exp(-(gap**2) / (2 * SIGMA**2))
            # The mean over the four lengths of runs, then over references;
            # times 10 as published.
            total += similar / len(ORDERS)
        value = min(SCALE, SCALE * total / len(evidence.references))
        return ItemScore({self.registered_name: value})

    def cautions(self, columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
        """Warn, too, that many values are almost 0, and why."""
        values = columns.get(self.registered_name, np.zeros(0))
        tiny = int((values < _NOTHING).sum())
        cautions = super().cautions(columns)
        if tiny <= _MANY * len(values):
            return cautions
        # The reason, where it is known: one image, one reference each, or lengths.
        if self.table is not None and self.table.n_documents == 1:
            return (*cautions, f"0 over one image: {_ONE_IMAGE}")
        why = (
            ["document frequencies of one text a picture"]
            if self.one_text
            else []
        )
        if self.clips:
            why.append(
                f"texts {_NEGLIGIBLE_GAP} words longer or shorter than their reference count as 0"
            )
        reasons = f": {'; '.join(why)}" if why else ""
        return (
            *cautions,
            f"{tiny:,} of {len(values):,} below {_NOTHING:g}{reasons}",
        )

    @cached_property
    def _weigher(self) -> _Weigher:
        if self.table is None:
            raise ConfigError(
                f"{self.registered_name} has no document frequencies yet: call"
                " prepare(items) first, as score, score_text and runs do"
            )
        return _Weigher(self.table)


@dataclass(frozen=True)
class CIDErD(CIDEr):
    """CIDEr-D, which leaderboards and evaluation code call CIDEr; harder to game.

    As ``cider``, but a run of words counts at most as often as in the reference, and a reference of
    another length counts less: a Gaussian of the difference in length, sigma 6. Range 0..10, higher
    is better.

    Source: Vedantam et al. 2015.

    Raises:
        ConfigError: A parameter is unknown.
    """

    registered_name = "cider_d"
    values = (ValueInfo("cider_d", "CIDEr-D, 0 to 10", high=SCALE),)
    clips = True


_Runs: TypeAlias = Sequence[tuple[Mapping[str, int], float]]
"""Per length of runs, how often each occurs, and the length of the tf-idf vector."""


class _Weigher:
    """Cosines of tf-idf vectors; the runs of references are kept, which candidates share."""

    def __init__(self, table: Frequencies) -> None:
        n = max(1, table.n_documents)
        documents = np.fromiter(
            table.counts.values(), np.float64, len(table.counts)
        )
        squares = np.log(n / np.maximum(1.0, documents)) ** 2
        self._squares: dict[str, float] = dict(
            zip(table.counts, squares.tolist(), strict=True)
        )
        self._of_new = math.log(n) ** 2
        self._references: dict[Words, _Runs] = {}

    def runs(self, words: Words) -> _Runs:
        """Return the counts of a text's runs and the norm of each length's vector."""
        runs = []
        for counts in map(Counter, gram_lists(words)):
            norm = sum(
                n * n * self._square(gram) for gram, n in counts.items()
            )
            runs.append((counts, math.sqrt(norm)))
        return runs

    def similarity(self, candidate: _Runs, words: Words, clips: bool) -> float:
        """Return the sum over lengths of runs of the cosine of a candidate with a reference."""
        reference = self._references.get(words)
        if reference is None:
            # Bounds the memory; the references in use fill it again.
            if len(self._references) >= _CACHED:
                self._references.clear()
            reference = self._references[words] = self.runs(words)
        total = 0.0
        for (candidate_counts, norm), (reference_counts, other_norm) in zip(
            candidate, reference, strict=True
        ):
            dot = 0.0
            for gram, n in reference_counts.items():
                n_candidate = candidate_counts.get(gram, 0)
                if n_candidate:
                    # CIDEr-D clips, so that repeating a word of the reference
                    # gains nothing.
                    counted = min(n_candidate, n) if clips else n_candidate
                    dot += counted * n * self._square(gram)
            if norm and other_norm:
                total += dot / (norm * other_norm)
        return total

    def _square(self, gram: str) -> float:
        """Return the squared weight of a run that occurs once."""
        # A run that no reference has is rarest of all: log(n / 1).
        return self._squares.get(gram, self._of_new)
