"""Dates known only in part: a year, a month of a year, a day, or as archives write them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal

from beholder.base.archival_dates import edtf_of
from beholder.base.edtf import edtf_bounds

_PLAIN = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_OPEN_YEARS = 10
"""Years of an open end that are drawn: "before 1890" is placed in the ten years before."""


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
        """The earliest day it can mean; the first day there is for "before 1890"."""
        return edtf_bounds(str(self))[0]

    @property
    def last(self) -> dt.date:
        """The latest day it can mean; the last day there is for "after 1890"."""
        return edtf_bounds(str(self))[1]

    @property
    def is_open(self) -> bool:
        """True if it has only one end: "before 1890", "after 1890"."""
        return self.edtf is not None and ".." in self.edtf

    @property
    def bounded(self) -> tuple[dt.date, dt.date]:
        """First and last day; an open end is ten years from the other."""
        first, last = self.first, self.last
        # Days of these years exist in every calendar year but the 29th of
        # February, so both ends take the first of their month.
        if first == dt.date.min:
            year = max(dt.MINYEAR, last.year - _OPEN_YEARS + 1)
            first = dt.date(year, 1, 1)
        elif last == dt.date.max:
            year = min(dt.MAXYEAR, first.year + _OPEN_YEARS - 1)
            last = dt.date(year, 12, 31)
        return first, last

    @property
    def middle(self) -> float:
        """Day number in the middle of the days it can mean, where one number must stand for it."""
        first, last = self.bounded
        return (first.toordinal() + last.toordinal()) / 2

    @property
    def precision(self) -> Literal["year", "month", "day", "span"]:
        """Return the smallest part that is known.

        A span is an approximate year, a season, a decade, a century, or has two ends or an open
        one.
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
        """Read a date as catalogues, cameras and databases write it.

        ``1928``, ``1928-03``, ``7 March 1928``, ``7.3.1928``, ``c. 1930``, ``[1930?]``,
        ``1930s``, ``193-``, ``1930-35``, ``March 27-29, 1956``, ``before 1890``,
        ``19th century``, EDTF of levels 0 and 1, and EXIF's. Names of months, and words such as
        "before", are read in the languages of ``date_words``. About a year means from the year
        before to the year after. docs/narratives.md has the rules.

        Numbers that could be day or month in either order, such as ``3/7/1928``, are refused, and
        so are years of two digits, such as ``June 85``. A time may follow a day and is ignored.

        Args:
            text: The date.
            year: Used when the text names none, as in ``march``.

        Raises:
            ValueError: It cannot be read, or there is no such day.
        """
        try:
            edtf = edtf_of(text, year)
        except ValueError as error:
            raise ValueError(
                f"cannot read the date {text!r}: {error}; expected 1928, 1928-03, 1928-03-07,"
                " 7 March 1928, c. 1928, 1920s, 1928-1930 or before 1928"
            ) from None
        return cls.from_edtf(edtf)

    @classmethod
    def from_edtf(cls, edtf: str) -> PartialDate:
        """Return the date of a text in EDTF, as ``edtf_of`` writes it."""
        if match := _PLAIN.fullmatch(edtf):
            year = int(match[1])
            month, day = (
                int(part) if part else None for part in match.groups()[1:]
            )
            # Months above 20 are seasons of EDTF.
            if month is None or month <= 12:
                return cls(year, month, day)
        return cls(edtf_bounds(edtf)[0].year, edtf=edtf)
