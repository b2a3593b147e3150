"""Dates known only in part: a year, a month of a year, a day, or as archives write them."""

from __future__ import annotations

import datetime as dt
import re
from calendar import monthrange
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from io import StringIO
from time import struct_time
from typing import Any, Literal

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTHS = {
    word: n
    for n, name in enumerate(_MONTH_NAMES, 1)
    for word in (name, name[:3])
} | {"sept": 9}
_ORDINAL = ("st", "nd", "rd", "th", "of")
_TIME = (
    r"(?:(?:T\d{1,2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?| \d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)"
    r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?"
)
"""A time of the day, in its zone or none."""
_ISO = re.compile(rf"(\d{{4}})(?:-(\d{{1,2}})(?:-(\d{{1,2}}){_TIME})?)?")
_EXIF = re.compile(rf"(\d{{4}}):(\d{{2}}):(\d{{2}}){_TIME}")
_WORD = re.compile(r"[a-z]+|\d+")
_ABOUT = re.compile(r"(?:c|ca|circa|about|approx|approximately)\b[.]? *(.+)")
_SEASON = re.compile(r"\d{4}-2[1-4][~?%]?")
_MAX_LENGTH = 60
"""Characters of a date that archives write."""
_DECADE = re.compile(r"(?:the )?(\d{3})0s")
_SPAN = re.compile(r"(?:between )?(\d{4}) *(?:to|and|until|-|\u2013) *(\d{4})")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date with its month or day perhaps unknown: all the days that it can mean.

    Dates are ordered in part. One is before another only if all its days are: 1928 is neither
    before nor after March 1928.

    Attributes:
        year: 1 to 9999.
        month: 1 to 12, or None.
        day: 1 to 31, or None; needs a month.
        edtf: The date in the Extended Date/Time Format, if it is more than these say:
            ``1930~``, ``193X``, ``1930/1935``. Years are then those of its first day.

    Raises:
        ValueError: There is no such day.
    """

    year: int
    month: int | None = None
    day: int | None = None
    edtf: str | None = None

    def __post_init__(self) -> None:
        if self.day is not None and self.month is None:
            raise ValueError("a date with a day needs its month")
        if not dt.MINYEAR <= self.year <= dt.MAXYEAR:
            raise ValueError(
                f"a date has a year from {dt.MINYEAR} to {dt.MAXYEAR}"
            )
        dt.date(self.year, self.month or 1, self.day or 1)

    def __str__(self) -> str:
        if self.edtf is not None:
            return self.edtf
        parts = (part for part in (self.month, self.day) if part is not None)
        return "-".join(
            [f"{self.year:04d}", *(f"{part:02d}" for part in parts)]
        )

    @property
    def first(self) -> dt.date:
        """The earliest day it can mean."""
        if self.edtf is not None:
            return _bounds(self.edtf)[0]
        return dt.date(self.year, self.month or 1, self.day or 1)

    @property
    def last(self) -> dt.date:
        """The latest day it can mean."""
        if self.edtf is not None:
            return _bounds(self.edtf)[1]
        month = self.month or 12
        return dt.date(
            self.year, month, self.day or monthrange(self.year, month)[1]
        )

    @property
    def middle(self) -> float:
        """Day number in the middle of the days it can mean, where one number must stand for it."""
        return (self.first.toordinal() + self.last.toordinal()) / 2

    @property
    def precision(self) -> Literal["year", "month", "day", "span"]:
        """Return the smallest part that is known.

        A span is an approximate year, a season, a decade or several years.
        """
        if self.edtf is not None:
            return "span"
        if self.month is None:
            return "year"
        return "month" if self.day is None else "day"

    def before(self, other: PartialDate) -> bool:
        """Return whether each day it can mean precedes each day that the other can mean."""
        return self.last < other.first

    @classmethod
    def parse(cls, text: str, *, year: int | None = None) -> PartialDate:
        """Read ``1928``, ``1928-03``, ``1928-03-07``, ``march 1928``, ``7 March 1928`` or EXIF's.

        Numbers that could be day or month in either order, such as ``3/7/1928``, are refused, and
        so are years of two digits, such as ``June 85``. A time may follow a day and is ignored.

        With the extra ``narratives`` also EDTF, levels 0 and 1 (``1930~``, ``193X``,
        ``1930/1935``, ``1930-21`` for spring; intervals need both ends), and ``c. 1930``,
        ``1930s``, ``1930-1935`` and ``between 1930 and 1935``. About a year means from the year
        before to the year after, as the package ``edtf`` has it.

        Args:
            text: The date; English month names, whole or their first three letters.
            year: Used when the text names none, as in ``march``.

        Raises:
            ValueError: It cannot be read, or there is no such day.
        """
        # The plan: seasons first (1930-21 would match as a year with a month), then the numeric
        # forms, then words, and last the forms of archives, which need an extra.
        cleaned = text.strip().lower()
        if _SEASON.fullmatch(cleaned) and (
            partial_date := _parse_archival(cleaned)
        ):
            return partial_date
        for pattern in (_ISO, _EXIF):
            if match := pattern.fullmatch(cleaned.upper()):
                year_text, month, day = match.groups()
                return cls(
                    int(year_text),
                    int(month) if month else None,
                    int(day) if day else None,
                )
        try:
            return cls._from_words(_WORD.findall(cleaned), text, year)
        except ValueError:
            if (partial_date := _parse_archival(cleaned)) is None:
                raise
            return partial_date

    @classmethod
    def _from_words(
        cls, words: list[str], text: str, year: int | None
    ) -> PartialDate:
        # Words are sorted by their form, not by their place: "7 March 1928" and "March 7, 1928" are
        # both read. A number of three digits and more is a year, so "June 85" stays ambiguous.
        months = [_MONTHS[word] for word in words if word in _MONTHS]
        numbers = [word for word in words if word.isdigit()]
        years = [int(word) for word in numbers if len(word) > 2]
        days = [int(word) for word in numbers if len(word) <= 2]
        # No day is above 31: such a number was meant as a year of two digits.
        has_short_year = any(day > 31 for day in days)
        other_words = [
            word
            for word in words
            if not word.isdigit()
            and word not in _MONTHS
            and word not in _ORDINAL
        ]
        full_year = years[0] if years else year
        is_ambiguous = has_short_year or len(years) > 1 or len(days) > 1
        if (
            other_words
            or len(months) != 1
            or is_ambiguous
            or full_year is None
        ):
            hint = ""
            if has_short_year:
                hint = "; write all digits of the year"
            elif not full_year:
                hint = "; a date without a year needs one given for all"
            # The message names the forms of EDTF only where they can be read.
            edtf_examples = extra_hint = ""
            if find_spec("edtf"):
                edtf_examples = "1928~, 192X "
            else:
                extra_hint = (
                    "; beholder[narratives] reads EDTF such as 1928~, too"
                )
            raise ValueError(
                f"cannot read the date {text!r}: expected 1928, 1928-03, 1928-03-07,"
                f" {edtf_examples}or 'march 1928'{hint}{extra_hint}"
            )
        return cls(full_year, months[0], days[0] if days else None)


def _parse_archival(text: str) -> PartialDate | None:
    """Parse a date as archives write it; None if it is no date, or ``edtf`` is missing."""
    # Each English form is rewritten in EDTF, so that one parser decides which days it means.
    if len(text) > _MAX_LENGTH or not find_spec("edtf"):
        return None
    if match := _ABOUT.fullmatch(text):
        inner = _parse_archival(match[1])
        edtf = (str(inner) if inner else match[1]) + "~"
    elif match := _DECADE.fullmatch(text):
        edtf = f"{match[1]}X"
    elif match := _SPAN.fullmatch(text):
        edtf = f"{match[1]}/{match[2]}"
    else:
        edtf = text.upper()
    try:
        first, _ = _bounds(edtf)
    except ValueError:
        return None
    return PartialDate(first.year, edtf=edtf)


@lru_cache(maxsize=1 << 12)
def _bounds(edtf: str) -> tuple[dt.date, dt.date]:
    """Return first and last day of a date in EDTF; ValueError if it is not one."""
    from edtf import parse_edtf
    from edtf.parser.edtf_exceptions import EDTFParseException

    # The package fails with any of these for texts that are not dates.
    other_errors = (
        ValueError,
        TypeError,
        AttributeError,
        ArithmeticError,
    )
    try:
        # The package prints what it cannot make a date of: that would spoil a command's output.
        with redirect_stdout(StringIO()):
            edtf_date: Any = parse_edtf(edtf)
            bounds = edtf_date.lower_fuzzy(), edtf_date.upper_fuzzy()
        if not all(isinstance(bound, struct_time) for bound in bounds):
            raise ValueError("no first or no last day")
        first, last = (dt.date(*bound[:3]) for bound in bounds)
    except (EDTFParseException, *other_errors) as error:
        raise ValueError(
            f"{edtf!r} is not a date in EDTF with a first and a last day"
        ) from error
    if last < first:
        raise ValueError(f"{edtf!r} ends before it begins")
    return first, last
