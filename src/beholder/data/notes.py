"""Notes about the rows that were read, beside the rows that are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from beholder.base.dates import PartialDate
from beholder.data.headings import (
    fold_heading,
    guess_columns,
    map_option,
    unused_columns,
)
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


def describe_languages(languages: Iterable[str]) -> str:
    """Return a sentence on rows of several languages, whose means are one; empty for one language.

    Args:
        languages: The language of each row; empty texts do not count.
    """
    counts = Counter(filter(None, languages))
    if len(counts) < 2:
        return ""
    listed = ", ".join(f"{name} {n:,}" for name, n in counts.most_common())
    return (
        f"rows of {len(counts)} languages are pooled in every mean ({listed}); for figures of one"
        " language, score its rows alone, or see By group on the page of the run"
    )


@dataclass
class RowNotes:
    """Counts rows while they are read; the attributes are counts unless they say otherwise.

    Attributes:
        clean: Cleaning of texts before they are scored; None where texts are not scored.
        n_rows: Rows that were read.
        missing: Ids of the references file that no row has.
        n_references: Ids of the references file.
        references: Name of that file in messages.
        left_out: Parts of the data that are not read, by what they are.
        respelled: Ids of rows with the ids of references that were taken for them.
    """

    clean: Cleaning | None = None
    n_rows: int = 0
    missing: list[str] = field(default_factory=list)
    n_references: int = 0
    references: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    respelled: list[tuple[str, str]] = field(default_factory=list)
    _unused: dict[str, _UnusedColumn] = field(default_factory=dict)
    _read_as: dict[str, str] = field(default_factory=dict)
    _n_dated: int = 0
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
            self._n_dated += row.date is not None
            self._count_texts((row.caption or "",), ())
            self._count_language(row.labels.get("language", ""))

    def count_columns(
        self, row: Mapping[str, Any], kind: str, used: Collection[str] = ()
    ) -> None:
        """Count the columns of a row that nothing reads.

        Args:
            row: The row as it is in the data.
            kind: ``item``, ``frame`` or ``lint``, as which it is read.
            used: Columns that the user named.
        """
        keys = tuple(row)
        for column in unused_columns(keys, kind, used):
            value = row[column]
            is_empty = value is None or (isinstance(value, str) and not value)
            if is_empty or column in _OTHER_QUESTIONS:
                continue
            entry = self._unused.setdefault(column, _UnusedColumn(kind))
            entry.add(value)
        # Only what was guessed from the words of a heading is worth a sentence.
        for column, field_name in guess_columns(keys, kind).items():
            if column not in used:
                self._read_as[column] = field_name

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
        if language:
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
        yield from self._describe_reading()
        yield from self._describe_unused()
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
        pooled = describe_languages(self._languages.elements())
        # Only of scored rows there are means.
        if pooled and self.clean is not None:
            yield pooled
        unknown = (
            (language, n)
            for language, n in self._languages.most_common()
            if language_code(language) is None
        )
        for language, n in islice(unknown, _MOST_SHOWN):
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

    def _describe_reading(self) -> Iterator[str]:
        """Yield sentences on what was not read, and what was read by a guess."""
        if self.left_out:
            parts = (f"{what}: {n:,}" for what, n in self.left_out.items())
            yield f"not read: {'; '.join(parts)}"
        if self.respelled:
            key, reference_id = self.respelled[0]
            yield (
                f"ids that are spelled otherwise in {self.references or 'the references'}, and were"
                f" taken for the same picture: {len(self.respelled):,} ({key!r} is"
                f" {reference_id!r})"
            )
        for column, field_name in self._read_as.items():
            yield (
                f"{column!r} was read as {field_name}, by the words of its heading; --map"
                f" {field_name}=COLUMN names another column"
            )

    def _describe_unused(self) -> Iterator[str]:
        if not self._unused:
            return
        names = list(self._unused)
        more = len(names) - _MOST_COLUMNS
        listed = ", ".join(
            self._unused[name].describe(name) for name in names[:_MOST_COLUMNS]
        )
        purpose = {"frame": " but as labels"}.get(
            self._unused[names[0]].kind, ""
        )
        yield f"Not used{purpose}: {listed}" + (
            f" and {more:,} more" if more > 0 else ""
        )
        for name, column in self._unused.items():
            if 2 * column.n_dates > column.n and not self._n_dated:
                yield (
                    f"{name!r} has dates in {column.n_dates:,} rows and is not read as the date:"
                    f" {map_option('date', name)}"
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


@dataclass
class _UnusedColumn:
    """A column that nothing reads: how many rows have a value, and which values.

    Attributes:
        kind: As what its rows are read.
        n: Rows with a value.
        n_dates: Rows with a date, if they are pictures of a collection.
    """

    kind: str
    n: int = 0
    n_dates: int = 0
    _values: set[str] = field(default_factory=set)

    def add(self, value: object) -> None:
        """Count a value."""
        self.n += 1
        text = str(value)[:_MOST_CHARACTERS]
        # One value more than are shown says that there are more.
        if len(self._values) <= _MOST_GROUPS:
            self._values.add(text)
        if self.kind == "frame" and isinstance(value, str | int):
            try:
                PartialDate.parse(text)
            except ValueError:
                return
            self.n_dates += 1

    def describe(self, name: str) -> str:
        """Return the name; with the number of values where they could divide the results."""
        # A key of JSON may have half of a surrogate pair.
        name = name.encode("utf-8", "backslashreplace").decode()
        n_values = len(self._values)
        # Results over items and findings of lint are broken down by groups.
        is_group = 2 <= n_values <= _MOST_GROUPS and self.n >= 2 * n_values
        if self.kind == "frame" or not is_group:
            return name
        group = "system" if fold_heading(name) in _SYSTEMS else name
        option = map_option(f"group.{group}", name)
        return f"{name} ({n_values} values; {option}?)"


_MOST_GROUPS = 20
"""Values of a column that results could be broken down by."""

_MOST_COLUMNS = 12
"""Columns that a sentence names."""

_MOST_CHARACTERS = 200
"""Beginning of a value by which values are distinguished."""

_SYSTEMS = frozenset(
    {"model", "system", "method", "captioner", "modelname", "modelid"}
)
"""Folded headings of the author of a text."""


REPEATED_FIELD = "image_id"


def _listed(names: Collection[str]) -> str:
    examples = list(names)[:_MOST_SHOWN]
    return ", ".join(examples) + (
        ", ..." if len(names) > len(examples) else ""
    )
