"""What a user must know about the rows that were read, beside the rows that are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from beholder.records import Item
from beholder.text.languages import language_code

_MARKS_OF_MISSING = frozenset({"nan", "null", "none", "n/a", "<na>"})
"""Texts, in lower case, that tables write where there is no text."""

_OTHER_QUESTIONS = {
    "candidate_b": "a second text: beholder agree compares pairs of texts by people's preference",
    "texts": "several texts: beholder rank orders them",
}
"""Fields that change the question, and the command that asks it."""

_MOST_SHOWN = 5


@dataclass
class RowNotes:
    """Counts rows while they are read; the attributes are counts unless they say otherwise.

    Attributes:
        n_rows: Rows that were read.
        missing: Ids of the references file that no row has.
        n_references: Ids of the references file.
        references: What messages call that file.
    """

    n_rows: int = 0
    missing: list[str] = field(default_factory=list)
    n_references: int = 0
    references: str = ""
    _marks: Counter[str] = field(default_factory=Counter)
    _languages: Counter[str] = field(default_factory=Counter)
    _unread: Counter[str] = field(default_factory=Counter)
    _repeated: list[str] = field(default_factory=list)
    _described: dict[int, int] = field(default_factory=dict)
    _n_split: int = 0

    def add(self, item: Item) -> None:
        """Count an item."""
        self.n_rows += 1
        if item.candidate.strip().lower() in _MARKS_OF_MISSING:
            self._marks[item.candidate.strip()] += 1
        if item.language and language_code(item.language) is None:
            self._languages[item.language] += 1
        for name in _OTHER_QUESTIONS:
            if item.meta.get(name):
                self._unread[name] += 1
        if item.meta.get(REPEATED_FIELD) and item.id.rpartition("#")[0]:
            self._repeated.append(item.id)
        if item.id_is_row_number and item.references and (item.images or item.video):
            # One picture, one text, other references: rows that are one item.
            described = hash((item.images, item.video, item.candidate, tuple(item.group.items())))
            references = hash(item.references)
            self._n_split += self._described.setdefault(described, references) != references

    def lines(self) -> Iterator[str]:
        """A sentence for each thing that was counted."""
        if self.missing:
            shown = _listed(self.missing)
            yield (
                f"{len(self.missing):,} of {self.n_references:,} pictures of {self.references} have"
                f" no text ({shown}): means are over the others; --require-all counts them as"
                " failures"
            )
        if self._repeated:
            yield (
                f"rows with the {REPEATED_FIELD} of an earlier row, which are items of their own:"
                f" {len(self._repeated):,} ({_listed(self._repeated)})"
            )
        if self._n_split:
            yield (
                "rows with picture and text of an earlier row, and other references:"
                f" {self._n_split:,}; --group-references makes them one item"
            )
        for mark, n in self._marks.most_common():
            yield f"texts {mark!r}: {n:,}; a table may have written that where there is no text"
        for language, n in self._languages.most_common(_MOST_SHOWN):
            yield (
                f"rows in the language {language!r}: {n:,}; beholder knows no language by that name"
                " or code, and keeps it as it is written"
            )
        for name, n in self._unread.most_common():
            yield f"rows with {name}, which was not read: {n:,} ({_OTHER_QUESTIONS[name]})"


REPEATED_FIELD = "image_id"


def _listed(names: Collection[str]) -> str:
    shown = list(names)[:_MOST_SHOWN]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")
