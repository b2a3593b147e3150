"""Dates known only in part: a year, a month of a year, or a day."""

from __future__ import annotations

import datetime as dt
import re
from calendar import monthrange
from dataclasses import dataclass
from typing import Literal

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_TIME = (
    r"(?:(?:T\d{1,2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?| \d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)"
    r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?"
)
"""A time of the day, in its zone or none."""
_ISO = re.compile(rf"(\d{{4}})(?:-(\d{{1,2}})(?:-(\d{{1,2}}){_TIME})?)?")
_EXIF = re.compile(rf"(\d{{4}}):(\d{{2}}):(\d{{2}}){_TIME}")
_WORD = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date with its month or day perhaps unknown: all the days that it can mean.

    Dates are ordered in part. One is before another only if all its days are: 1928 is neither
    before nor after March 1928.

    Attributes:
        year: 1 to 9999.
        month: 1 to 12, or None.
        day: 1 to 31, or None; needs a month.

    Raises:
        ValueError: There is no such day.
    """

    year: int
    month: int | None = None
    day: int | None = None

    def __post_init__(self) -> None:
        if self.day is not None and self.month is None:
            raise ValueError("a date with a day needs its month")
        if not dt.MINYEAR <= self.year <= dt.MAXYEAR:
            raise ValueError(f"a date has a year from {dt.MINYEAR} to {dt.MAXYEAR}")
        dt.date(self.year, self.month or 1, self.day or 1)

    def __str__(self) -> str:
        text = f"{self.year:04d}"
        if self.month is not None:
            text += f"-{self.month:02d}"
        if self.day is not None:
            text += f"-{self.day:02d}"
        return text

    @property
    def first(self) -> dt.date:
        """The earliest day it can mean."""
        return dt.date(self.year, self.month or 1, self.day or 1)

    @property
    def last(self) -> dt.date:
        """The latest day it can mean."""
        month = self.month or 12
        return dt.date(self.year, month, self.day or monthrange(self.year, month)[1])

    @property
    def middle(self) -> float:
        """Day number in the middle of the days it can mean, where one number must stand for it."""
        return (self.first.toordinal() + self.last.toordinal()) / 2

    @property
    def precision(self) -> Literal["year", "month", "day"]:
        """How far it is known."""
        return "year" if self.month is None else "month" if self.day is None else "day"

    def before(self, other: PartialDate) -> bool:
        """Whether each day it can mean is before each day that the other can mean."""
        return self.last < other.first

    @classmethod
    def parse(cls, text: str, *, year: int | None = None) -> PartialDate:
        """Read ``1928``, ``1928-03``, ``1928-03-07``, ``march 1928``, ``7 March 1928`` or EXIF's.

        Numbers that could be day or month in either order, such as ``3/7/1928``, are refused, and
        so are two dates, such as ``1928 to 1945``, and years of two digits, such as
        ``June 85``. A time may follow a day and is ignored.

        Args:
            text: The date; English month names, whole or their first three letters.
            year: Used when the text names none, as in ``march``.

        Raises:
            ValueError: It cannot be read, or there is no such day.
        """
        cleaned = text.strip().lower()
        for pattern in (_ISO, _EXIF):
            if match := pattern.fullmatch(cleaned.upper()):
                return cls(*(int(part) if part else None for part in match.groups()))  # type: ignore[arg-type]
        return cls._from_words(_WORD.findall(cleaned), text, year)

    @classmethod
    def _from_words(cls, words: list[str], text: str, year: int | None) -> PartialDate:
        months = [month for word in words if (month := _month(word)) is not None]
        numbers = [word for word in words if word.isdigit()]
        years = [int(word) for word in numbers if len(word) > 2]
        days = [int(word) for word in numbers if len(word) <= 2]
        short = any(day > 31 for day in days)  # a year of two digits
        others = [w for w in words if not w.isdigit() and _month(w) is None and w not in _ORDINAL]
        known = years[0] if years else year
        wrong = short or len(years) > 1 or len(days) > 1
        if others or len(months) != 1 or wrong or known is None:
            hint = "" if known else "; a date without a year needs one given for all"
            raise ValueError(
                f"cannot read the date {text!r}: expected 1928, 1928-03, 1928-03-07 or"
                f" 'march 1928'{'; write all digits of the year' if short else hint}"
            )
        return cls(known, months[0], days[0] if days else None)


_ORDINAL = ("st", "nd", "rd", "th", "of")


def _month(word: str) -> int | None:
    for number, name in enumerate(_MONTHS, start=1):
        if word == name or word == name[:3] or (number == 9 and word == "sept"):
            return number
    return None
