"""Notes about the rows that were read, beside the rows that are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beholder.data.prepare import Cleaning
from beholder.data.row import RowError
from beholder.data.subtitles import cues_in_meta
from beholder.records import Frame, Item, Reviews
from beholder.text.composition import is_composed
from beholder.text.languages import language_code
from beholder.text.residue import KINDS, find_residue

_MARKS_OF_MISSING = frozenset({"nan", "null", "none", "n/a", "<na>"})
"""Texts, in lower case, that tables write in place of a missing text."""

_OTHER_QUESTIONS = {
    "candidate_b": "a second text: beholder agree compares pairs of texts by people's preference",
    "texts": "several texts: beholder rank orders them",
}
"""Fields that change the question, and the command that asks it."""

_TEXTS, _DECOMPOSED = "", "decomposed characters or ligatures"
"""Keys of the counts of a side: all its texts, and those that are not composed."""

_SENTENCE_ENDS: Mapping[Cleaning | None, str] = {
    None: "left around these texts by the machine that wrote them",
    "none": (
        "scored as written; beholder score --clean residue removes what a machine left around its"
        " text"
    ),
    "residue": "removed before scoring (--clean residue)",
    "speech": (
        "scored as written but for marks of transcripts (--clean speech); beholder score --clean"
        " residue removes what a machine left around its text instead"
    ),
}
"""The end of the sentence on residue, by what is removed."""

_MOST_SHOWN = 5


@dataclass
class RowNotes:
    """Counts rows while they are read; the attributes are counts unless they say otherwise.

    Attributes:
        clean: Cleaning of texts before they are scored; None where texts are not scored.
        n_rows: Rows that were read.
        missing: Ids of the references file that no row has.
        n_references: Ids of the references file.
        references: Name of that file in messages.
    """

    clean: Cleaning | None = None
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
    _n_cues: int = 0
    _n_repeating_cues: int = 0
    _candidates: Counter[str] = field(default_factory=Counter)
    _references: Counter[str] = field(default_factory=Counter)

    def add(self, row: object) -> None:
        """Count a row; one of another type than item, picture or texts to rank has no notes."""
        self.n_rows += 1
        if isinstance(row, Item):
            self._count_item(row)
        elif isinstance(row, Reviews):
            self._count_texts(row.texts, row.references)
            self._count_language(row.language)
        elif isinstance(row, Frame):
            self._count_texts((row.caption or "",), ())
            self._count_language(row.labels.get("language", ""))

    def _count_item(self, item: Item) -> None:
        self._count_texts((item.candidate,), item.references)
        self._count_language(item.language)
        self._count_cues(item.meta)
        for name in _OTHER_QUESTIONS:
            if item.meta.get(name):
                self._unread[name] += 1
        if item.meta.get(REPEATED_FIELD) and item.id.rpartition("#")[0]:
            self._repeated.append(item.id)
        if (
            item.id_is_row_number
            and item.references
            and (item.images or item.video)
        ):
            # One picture, one text, other references: rows that are one item.
            described = hash(
                (
                    item.images,
                    item.video,
                    item.candidate,
                    tuple(item.group.items()),
                )
            )
            references = hash(item.references)
            self._n_split += (
                self._described.setdefault(described, references) != references
            )

    def _count_texts(
        self, candidates: Sequence[str], references: Sequence[str]
    ) -> None:
        # A candidate "nan" was most likely no text in the table that it comes
        # from.
        for text in candidates:
            if text.strip().lower() in _MARKS_OF_MISSING:
                self._marks[text.strip()] += 1
        for counts, texts in (
            (self._candidates, candidates),
            (self._references, references),
        ):
            for text in filter(None, texts):
                counts[_TEXTS] += 1
                counts.update({residue.kind for residue in find_residue(text)})
                if not is_composed(text):
                    counts[_DECOMPOSED] += 1

    def _count_cues(self, meta: Mapping[str, Any]) -> None:
        try:
            n_cues = len(cues_in_meta(meta))
        except RowError:
            return  # a field of that name that did not come from subtitles
        n_repeating = meta.get("repeated_cues")
        if n_cues and isinstance(n_repeating, int):
            self._n_cues += n_cues
            self._n_repeating_cues += n_repeating

    def _count_language(self, language: str) -> None:
        if language and language_code(language) is None:
            self._languages[language] += 1

    def sentences(self) -> Iterator[str]:
        """Yield a sentence for each problem that was counted."""
        # From the most to the least serious: rows that are missing, rows that
        # may be one item, then odd texts.
        if self.missing:
            examples = _listed(self.missing)
            yield (
                f"{len(self.missing):,} of {self.n_references:,} pictures of {self.references} have"
                f" no text ({examples}): means are over the others; --require-all counts them as"
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
        if self._n_repeating_cues:
            yield (
                "cues that begin with the last words of the cue before:"
                f" {self._n_repeating_cues:,} of {self._n_cues:,}; subtitles that roll show each"
                " line twice, and its repeat is left out of the text"
            )
        for mark, n in self._marks.most_common():
            yield f"texts {mark!r}: {n:,}; a table may have written that in place of a missing text"
        for language, n in self._languages.most_common(_MOST_SHOWN):
            yield (
                f"rows in the language {language!r}: {n:,}; beholder knows no language by that name"
                " or code, and keeps it as it is written"
            )
        for name, n in self._unread.most_common():
            yield f"rows with {name}, which was not read: {n:,} ({_OTHER_QUESTIONS[name]})"
        if residue := self._describe_texts(KINDS):
            yield f"{residue}: {_SENTENCE_ENDS[self.clean]}"
        # Only scores depend on it.
        if self.clean is not None and (
            decomposed := self._describe_texts((_DECOMPOSED,))
        ):
            yield (
                f"{decomposed}: composed (Unicode NFC, no ligatures) before scoring, so that they"
                " count as the letters that they look like; this matters only beside figures of"
                " tools that compare code points, such as sacrebleu for bleu, chrf and ter"
            )

    def _describe_texts(self, names: Iterable[str]) -> str:
        parts = []
        sides = {
            "candidates": self._candidates,
            "references": self._references,
        }
        for side, counts in sides.items():
            kinds = [
                f"{counts[name]:,} contain {name}"
                for name in names
                if counts[name]
            ]
            if kinds:
                parts.append(
                    f"of {counts[_TEXTS]:,} {side} {', '.join(kinds)}"
                )
        return "; ".join(parts)


REPEATED_FIELD = "image_id"


def _listed(names: Collection[str]) -> str:
    examples = list(names)[:_MOST_SHOWN]
    return ", ".join(examples) + (
        ", ..." if len(names) > len(examples) else ""
    )
