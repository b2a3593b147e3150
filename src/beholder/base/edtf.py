"""The days that a date in EDTF can mean.

The Extended Date/Time Format is ISO 8601-2; levels 0 and 1 are read
(https://www.loc.gov/standards/datetime).
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from functools import lru_cache

ABOUT_YEARS = 1
"""Years that "about" and "?" add at each end, whatever the date is."""
_POINT = re.compile(
    r"(?P<year>\d{4}|\d{3}X|\d\dXX)(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?(?P<about>[~?%])?"
)
_SEASON_MONTHS = {21: 3, 22: 6, 23: 9, 24: 12}
"""First month of each season of EDTF, by the weather of the northern half of the earth."""


@lru_cache(maxsize=1 << 12)
def edtf_bounds(edtf: str) -> tuple[dt.date, dt.date]:
    """Return first and last day of a date in EDTF; an open end is the first or last day there is.

    Raises:
        ValueError: It is no EDTF of levels 0 and 1, has no such day, or ends before it begins.
    """
    start, slash, end = edtf.partition("/")
    if not slash:
        return _point_bounds(start)
    first = dt.date.min if start == ".." else _point_bounds(start)[0]
    last = dt.date.max if end == ".." else _point_bounds(end)[1]
    if start == end == "..":
        raise ValueError(f"{edtf!r} has neither a first nor a last day")
    if last < first:
        raise ValueError(f"{edtf!r} ends before it begins")
    return first, last


def _point_bounds(point: str) -> tuple[dt.date, dt.date]:
    match = _POINT.fullmatch(point)
    if match is None:
        raise ValueError(f"{point!r} is not a date in EDTF")
    first_year = int(match["year"].replace("X", "0"))
    last_year = int(match["year"].replace("X", "9"))
    first_month, last_month = 1, 12
    if match["month"]:
        first_month = last_month = int(match["month"])
    if first_month in _SEASON_MONTHS and not match["day"]:
        first_month = _SEASON_MONTHS[first_month]
        last_month = first_month + 2
        # Winter begins in December and ends in the year behind.
        if last_month > 12:
            last_month -= 12
            last_year += 1
    if match["about"]:
        first_year, last_year = (
            first_year - ABOUT_YEARS,
            last_year + ABOUT_YEARS,
        )
    first = dt.date(max(first_year, dt.MINYEAR), first_month, 1)
    if match["day"]:
        day = int(match["day"])
        # The 29th of February of a year that has none.
        dt.date(int(match["year"]), first_month, day)
        first_day = min(day, _days(first.year, first_month))
        return (
            first.replace(day=first_day),
            dt.date(
                last_year, last_month, min(day, _days(last_year, last_month))
            ),
        )
    last_year = min(last_year, dt.MAXYEAR)
    return first, dt.date(last_year, last_month, _days(last_year, last_month))


def _days(year: int, month: int) -> int:
    if not 1 <= month <= 12:
        raise ValueError("month must be in 1..12")
    return calendar.monthrange(year, month)[1]
