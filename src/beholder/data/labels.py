"""Labels that people gave: numbers, yes or no, or words; what is missing, and what is wrong.

A label is a column of ``judgments``. Its cells come from JSON, from tables and from spreadsheets,
so one answer may be written as ``4``, ``"4"`` or ``4,0``, and a missing answer in many ways. A
column is what most of its answers are; answers of another kind are wrong and are never converted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard

from beholder.base.files import is_url
from beholder.data.lines import PACKED, lines, opened
from beholder.data.marks import SIDES
from beholder.data.row import shorten
from beholder.data.tables import separator
from beholder.errors import DataError
from beholder.records import Item

Answer: TypeAlias = bool | int | float | str

MISSING = frozenset({"", "na", "n/a", "nan", "null"})
"""Texts that stand for a missing answer, in lower case."""

MISSING_NUMBERS = MISSING | {"-", "none"}
"""The same among numbers; among words, ``none`` may be an answer."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_TRUTH = {"true": True, "false": False}
MOST = 1e50
"""Greatest size of a label: beyond it, sums of its powers are no numbers any more."""

_MOST_COUNTED = 12
"""Different answers up to which each is counted on its own."""


@dataclass(frozen=True)
class LabelColumn:
    """A label over all items.

    Attributes:
        name: Its name in ``judgments``.
        kind: Kind of most answers: numbers, verdicts (true and false, or 1 and 0) or words.
        counts: Number of answers by answer.
        n_texts: Items with an answer.
        n_missing: Missing answers: null, and what ``MISSING`` names.
        wrong: Answers of another kind, with their places; they are left out of the items.
    """

    name: str
    kind: Literal["numbers", "verdicts", "words"]
    counts: Mapping[Answer, int]
    n_texts: int
    n_missing: int
    wrong: tuple[DataError, ...]

    def __str__(self) -> str:
        """Range and counts, so that codes such as 99 or -1 are seen."""
        n = sum(self.counts.values())
        missing_note = (
            f", {self.n_missing:,} missing" if self.n_missing else ""
        )
        wrong = f", {len(self.wrong):,} wrong" if self.wrong else ""
        answers = sorted(
            self.counts, key=lambda answer: (isinstance(answer, str), answer)
        )
        # Numbers before words, in their order.
        answer_counts = [
            f"{show_answer(answer)} ({self.counts[answer]:,})"
            for answer in answers
        ]
        listed = ", ".join(answer_counts)
        if len(answer_counts) > _MOST_COUNTED:
            listed = f"{len(answer_counts):,} values from {answer_counts[0]} to {answer_counts[-1]}"
        return (
            f"label {self.name}: {n:,} answers on {self.n_texts:,} texts{missing_note}{wrong}:"
            f" {listed or 'none'}"
        )


def show_answer(answer: Answer) -> str:
    """Return an answer as messages show it."""
    if isinstance(answer, bool):
        return str(answer).lower()
    return answer if isinstance(answer, str) else f"{answer:g}"


def has_decimal_commas(path: str | Path) -> bool:
    """Return whether a table separates cells by semicolons, as where ``4,5`` is a number.

    Raises:
        DataError: The file cannot be read.
    """
    # Where decimals have commas, spreadsheets separate cells by semicolons,
    # and still call the file CSV.
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in PACKED else None
    if (
        not suffixes
        or suffixes[-1] != ".csv"
        or not (is_url(path) or Path(path).is_file())
    ):
        return False
    with opened(path, str(path), packed) as stream:
        header = next((line for _, line in lines(stream, str(path))), "")
    return isinstance(header, str) and separator(header, ",") == ";"


def read_labels(
    items: Sequence[Item],
    name: str,
    *,
    line_numbers: Mapping[str, int] | None = None,
    decimal_commas: bool = False,
) -> tuple[list[Item], dict[str, LabelColumn]]:
    """Read every label of items in one way.

    Args:
        items: Items with judgments.
        name: Name of the data in messages.
        line_numbers: Row number by id, for messages.
        decimal_commas: Whether ``4,5`` is a number; see ``has_decimal_commas``.

    Returns:
        The items with numbers, truth values, words or lists of these as labels, None where an
        answer is missing or wrong; and the columns by name. Marked spans and objects stay as they
        are and are no columns.
    """
    # For each label: read all answers, decide by the majority what it is, then
    # sort out what is missing and what is wrong.
    names = dict.fromkeys(name for item in items for name in item.judgments)
    columns: dict[str, LabelColumn] = {}
    changed: list[dict[str, Any]] = [dict(item.judgments) for item in items]
    for label in names:
        cells = [
            (place, item.judgments[label])
            for place, item in enumerate(items)
            if label in item.judgments
        ]
        # Marked spans and objects are no answers; their kinds have readers of their own. One
        # object among answers is a wrong answer.
        n_plain = sum(_is_plain(cell) for _, cell in cells)
        if label in dict(SIDES) or 2 * n_plain <= len(cells):
            continue
        answers_by_place = {
            place: [_answer(part, decimal_commas) for part in _parts(cell)]
            for place, cell in cells
        }
        kind = _kind_of(
            answer
            for answers in answers_by_place.values()
            for answer in answers
        )
        counts: Counter[Answer] = Counter()
        # Rows without the label, or with an empty list, are missing answers, too.
        n_missing = len(items) - len(cells)
        n_texts = 0
        wrong = []
        for place, cell in cells:
            n_missing += isinstance(cell, list | tuple) and not cell
            cell_answers: list[Answer | None] = []
            for part, answer in zip(
                _parts(cell), answers_by_place[place], strict=True
            ):
                is_plain = _is_plain_part(part)
                if is_plain and (answer is None or _is_missing(answer, kind)):
                    n_missing += 1
                    cell_answers.append(None)
                elif is_plain and kind == "words":
                    # A number among words is the word that was written.
                    cell_answers.append(part)
                elif is_plain and _fits(answer, kind):
                    cell_answers.append(answer)
                else:
                    item_id = items[place].id
                    number = (line_numbers or {}).get(item_id)
                    of_item = f" of item {item_id!r}" * (number is None)
                    reason = f"expected {_EXPECTED[kind]} as in most rows, got {shorten(part)}"
                    if _is_number(answer) and kind == "numbers":
                        reason = f"expected a number up to {MOST:g}, got {shorten(part)}"
                    field = f"judgments.{label}{of_item}"
                    wrong.append(
                        DataError(name, reason, line=number, field=field)
                    )
                    cell_answers.append(None)
            counts.update(
                answer for answer in cell_answers if answer is not None
            )
            n_texts += any(answer is not None for answer in cell_answers)
            changed[place][label] = (
                cell_answers
                if isinstance(cell, list | tuple)
                else cell_answers[0]
            )
        columns[label] = LabelColumn(
            label, kind, counts, n_texts, n_missing, tuple(wrong)
        )
    read_items = [
        replace(item, judgments=judgments)
        for item, judgments in zip(items, changed, strict=True)
    ]
    return read_items, columns


def notes_on(
    items: Sequence[Item],
    columns: Mapping[str, LabelColumn],
    chosen: Collection[str] = (),
) -> list[str]:
    """Return range and counts of labels, and how many cells of others are no answers.

    Args:
        items: Items with judgments, as ``read_labels`` returns them.
        columns: The columns that it returns.
        chosen: Labels that are used; all if empty.
    """
    notes = [
        str(column)
        for column in columns.values()
        if column.name in (chosen or columns)
    ]
    # Marked spans are labels, too: the share of marked words.
    n_objects = Counter(
        label
        for item in items
        for label in item.judgments
        if label not in columns and label not in dict(SIDES)
    )
    return notes + [
        f"label {label}: not used: {count:,} texts have an object or a list of lists, which is"
        " no answer"
        for label, count in n_objects.items()
        if label in (chosen or n_objects)
    ]


def wrong_answers(
    columns: Mapping[str, LabelColumn], names: Collection[str] | None
) -> list[DataError]:
    """Return the wrong answers of named labels, or of all with numbers or verdicts."""
    chosen = [
        column
        for column in columns.values()
        if (column.name in names if names else column.kind != "words")
    ]
    return [error for column in chosen for error in column.wrong]


_EXPECTED = {
    "numbers": "a number",
    "verdicts": "true or false",
    "words": "a word",
}


def _parts(cell: Any) -> Sequence[Any]:
    return cell if isinstance(cell, list | tuple) else (cell,)


def _is_plain(cell: Any) -> bool:
    return all(_is_plain_part(part) for part in _parts(cell))


def _is_plain_part(part: Any) -> bool:
    return part is None or isinstance(part, bool | int | float | str)


def _answer(part: Any, decimal_commas: bool) -> Answer | None:
    """Parse a part of a cell as a number, truth value or word; None if it is missing or none.

    Words that may be missing stay, because that depends on the other answers.
    """
    if isinstance(part, float) and math.isnan(part):
        return None
    if isinstance(part, bool | int | float):
        return part
    if not isinstance(part, str):
        return None
    text = part.strip()
    if text.lower() in MISSING:
        return None
    # Truth values as texts, as tables have them.
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if decimal_commas and _DECIMAL_COMMA.fullmatch(text):
        return float(text.replace(",", "."))
    if _NUMBER.fullmatch(text):
        number = float(text)
        return (
            int(number)
            if number.is_integer() and "e" not in text.lower()
            else number
        )
    return text


def _kind_of(
    answers: Iterable[Answer | None],
) -> Literal["numbers", "verdicts", "words"]:
    """Return the kind of most answers; numbers win a tie, so that a wrong word is reported."""
    # Texts that may stand for a missing answer decide nothing.
    n_words = n_truths = 0
    plain_answers = []
    for answer in answers:
        if isinstance(answer, str):
            n_words += answer.lower() not in MISSING_NUMBERS
        elif answer is not None:
            plain_answers.append(answer)
            n_truths += isinstance(answer, bool)
    if n_words > len(plain_answers) or not plain_answers:
        return "words"
    # 0 and 1 among truth values are truth values.
    is_binary = bool(n_truths) and set(plain_answers) <= {0, 1}
    return (
        "verdicts"
        if is_binary or 2 * n_truths > len(plain_answers)
        else "numbers"
    )


def _is_missing(answer: Answer, kind: str) -> bool:
    return (
        kind != "words"
        and isinstance(answer, str)
        and answer.lower() in MISSING_NUMBERS
    )


def _fits(answer: Answer | None, kind: str) -> bool:
    if kind == "verdicts":
        return not isinstance(answer, str) and answer in (0, 1)
    return _is_number(answer) and -MOST <= answer <= MOST


def _is_number(answer: Answer | None) -> TypeGuard[float]:
    return isinstance(answer, int | float) and not isinstance(answer, bool)
