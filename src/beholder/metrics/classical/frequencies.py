"""Document frequencies: in how many sources a run of words occurs, in their references."""

from __future__ import annotations

import gzip
import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import add
from pathlib import Path
from typing import Any, Self

from beholder.errors import ConfigError, DataError
from beholder.files import write_bytes
from beholder.metrics import Tools, param
from beholder.metrics.classical.tokens import WordMetric, Words, tokenize
from beholder.records import Item

ORDERS = (1, 2, 3, 4)
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Frequencies:
    """In how many documents each run of one to four words occurs.

    A document is one source with all its references; sources with the same references count once.

    Attributes:
        n_documents: Number of documents.
        counts: Documents per run of words, written with single spaces.
        tokenizer: How the words were made.
    """

    n_documents: int
    counts: dict[str, int]
    tokenizer: str

    @classmethod
    def of(cls, references: Iterable[tuple[str, ...]], tokenizer: str = "words") -> Frequencies:
        """Count over the references of a data set.

        Args:
            references: The references of each item; equal ones count once.
            tokenizer: See ``tokenize``.
        """
        seen: set[bytes] = set()
        counts: Counter[str] = Counter()
        for texts in references:
            digest = hashlib.sha256("\0".join(texts).encode("utf-8")).digest()
            if digest in seen or not texts:
                continue
            seen.add(digest)
            counts.update(_grams(texts, tokenizer))
        return cls(len(seen), dict(counts), tokenizer)

    @classmethod
    def load(cls, path: str | Path) -> Frequencies:
        """Read a table that ``save`` wrote.

        Raises:
            DataError: There is none, or it cannot be read.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                table = json.load(file)
            if table["format"] != FORMAT:
                raise DataError(str(path), f"has format {table['format']}, expected {FORMAT}")
            return cls(table["n_documents"], table["counts"], table["tokenizer"])
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                str(path), f"is no table of document frequencies (see Frequencies.save): {error}"
            ) from error

    def save(self, path: str | Path) -> None:
        """Write the table as gzipped JSON; the same table gives the same bytes."""
        table = {
            "format": FORMAT,
            "n_documents": self.n_documents,
            "tokenizer": self.tokenizer,
            "counts": dict(sorted(self.counts.items())),
        }
        text = json.dumps(table, ensure_ascii=False).encode("utf-8")
        write_bytes(Path(path), gzip.compress(text, mtime=0))

    @property
    def identity(self) -> str:
        """Number of documents and a hash of the counts."""
        rows = [f"{gram}\t{self.counts[gram]}" for gram in sorted(self.counts)]
        whole = "\n".join([f"{self.n_documents} {self.tokenizer}", *rows])
        return f"{self.n_documents}docs@{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _grams(texts: tuple[str, ...], tokenizer: str) -> set[str]:
    lists = [grams for text in texts for grams in gram_lists(tokenize(text, tokenizer))]
    return set().union(*lists)


def gram_lists(words: Words) -> Iterator[Sequence[str]]:
    """All runs of 1, 2, 3 and 4 words, in order, written with single spaces.

    Each run is a shorter one and one word more; the loops are those of C functions.
    """
    following = list(map(" ".__add__, words))
    grams: Sequence[str] = words
    yield grams
    for order in ORDERS[1:]:
        grams = list(map(add, grams, following[order - 1 :]))
        yield grams


@dataclass(frozen=True)
class FrequencyMetric(WordMetric):
    """Base of the metrics that weight words by how rare they are."""

    df: str = param("run", "document frequencies: run (its references), or a saved table's path")
    table: Frequencies | None = field(default=None, repr=False, compare=False)
    table_identity: str | None = field(default=None, repr=False, compare=False)
    one_text: bool = field(default=False, repr=False, compare=False)

    def needs_corpus(self) -> bool:
        """Where words are counted in the references at hand."""
        return self.df == "run"

    def prepare(self, items: Iterable[Item]) -> Self:
        """Count the document frequencies of the run, or read the table.

        Raises:
            ConfigError: The table was made with another tokenizer.
            DataError: The table cannot be read.
        """
        one_text = False
        if self.df == "run":
            most = 0

            def references() -> Iterator[tuple[str, ...]]:
                nonlocal most
                for item in items:
                    most = max(most, len(item.references))
                    yield item.references

            table = Frequencies.of(references(), self.tokenizer)
            one_text = most == 1
            if table.n_documents == 1:
                warnings.warn(
                    f"{self.registered_name} over one image is 0: a word is worth something only"
                    " if other images do not have it; score more images, or name a saved table"
                    " (df)",
                    stacklevel=3,
                )
        else:
            table = Frequencies.load(self.df)
            if table.tokenizer != self.tokenizer:
                raise ConfigError(
                    f"df={self.df!r} was made with tokenizer={table.tokenizer!r}, and"
                    f" {self.registered_name} has tokenizer={self.tokenizer!r}"
                )
        return replace(self, table=table, table_identity=table.identity, one_text=one_text)

    def state(self) -> Mapping[str, Any] | None:
        """The document frequencies of the run; a saved table is read where it lies."""
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
        """This metric with the document frequencies of the run."""
        grams = state["grams"].split("\n") if state["grams"] else []
        counts = dict(zip(grams, state["counts"], strict=True))
        return replace(
            self,
            table=Frequencies(state["n_documents"], counts, self.tokenizer),
            table_identity=state["identity"],
            one_text=state["one_text"],
        )

    def identities(self, tools: Tools) -> dict[str, str]:
        """The tokenizer, and the table of document frequencies."""
        found = super().identities(tools)
        if self.table_identity is not None:
            found["df"] = f"{'run' if self.df == 'run' else 'table'}:{self.table_identity}"
        return found

    def known(self) -> Frequencies:
        """The table.

        Raises:
            ConfigError: The metric was not prepared.
        """
        if self.table is None:
            raise ConfigError(
                f"{self.registered_name} has no document frequencies yet: call"
                " prepare(items) first, as score, score_text and runs do"
            )
        return self.table
