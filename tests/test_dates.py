from __future__ import annotations

import datetime as dt

import pytest

from beholder.base.dates import PartialDate


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("1928", PartialDate(1928)),
        ("1928-03", PartialDate(1928, 3)),
        ("1928-3-7", PartialDate(1928, 3, 7)),
        ("1928-03-07T10:11:12", PartialDate(1928, 3, 7)),
        ("1928-03-07 10:11", PartialDate(1928, 3, 7)),
        ("1928-03-07T10:11:12.345678+01:00", PartialDate(1928, 3, 7)),
        ("1928-03-07T101112Z", PartialDate(1928, 3, 7)),
        ("1928-03-07 00:00:00 UTC", PartialDate(1928, 3, 7)),
        ("1928:03:07 10:11:12", PartialDate(1928, 3, 7)),  # EXIF
        ("1928 March", PartialDate(1928, 3)),
        ("1928 March 7", PartialDate(1928, 3, 7)),
        ("march 1928", PartialDate(1928, 3)),
        ("Sept. 1928", PartialDate(1928, 9)),
        ("7 March 1928", PartialDate(1928, 3, 7)),
        ("March 7th, 1928", PartialDate(1928, 3, 7)),
    ],
)
def test_a_date_is_read_as_far_as_it_is_known(
    text: str, parsed: PartialDate
) -> None:
    assert PartialDate.parse(text) == parsed


def test_a_month_alone_takes_the_given_year() -> None:
    assert PartialDate.parse("may", year=1928) == PartialDate(1928, 5)
    with pytest.raises(ValueError, match="needs one given"):
        PartialDate.parse("may")


@pytest.mark.parametrize(
    "text",
    [
        "3/7/1928",
        "",
        "spring 1928",
        "march april 1928",
        "1928-13",
        "1945 to 1928",
        "c. " * 3000 + "1930",
        "../1930",
        "1930/..",
        "n.d.",
        "1928 or 1935",
        "1928 7",
        "1928-03 to 1929-05",
        "1928-03-07 to 1928-03-09",
        "1928-03-07 or later",
        "1928-03-07 1945",
        "1928-03-07 8",
        "1928:03:07 1929:03:07",
        "31 february 1928",
        "march " + "9" * 30,
        "June 85",
        "june '85",
        "7 may 99",
        "99 may 7",
        "may 7, 32",
        "1 june 05",
    ],
)
def test_what_is_no_date_or_ambiguous_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"date|month|day"):
        PartialDate.parse(text)


def test_a_year_of_two_digits_is_refused_beside_a_given_year() -> None:
    with pytest.raises(ValueError, match="write all digits of the year"):
        PartialDate.parse("June 85", year=1928)
    assert PartialDate.parse("June 985") == PartialDate(985, 6)


def test_first_and_last_day_span_what_is_unknown() -> None:
    assert PartialDate(1928, 2).last == dt.date(1928, 2, 29)  # a leap year
    assert PartialDate(1928).first == dt.date(1928, 1, 1)
    assert PartialDate(1928).last == dt.date(1928, 12, 31)
    assert str(PartialDate(1928, 2)) == "1928-02"


@pytest.mark.parametrize(
    ("text", "written", "first", "last"),
    [  # meanings: Extended Date/Time Format, Library of Congress, levels 0 and 1
        ("193X", "193X", "1930-01-01", "1939-12-31"),
        ("1930s", "193X", "1930-01-01", "1939-12-31"),
        ("the 1930s", "193X", "1930-01-01", "1939-12-31"),
        ("1930/1935", "1930/1935", "1930-01-01", "1935-12-31"),
        ("1928 to 1945", "1928/1945", "1928-01-01", "1945-12-31"),
        ("between 1930 and 1935", "1930/1935", "1930-01-01", "1935-12-31"),
        ("1930-03/1931-02", "1930-03/1931-02", "1930-03-01", "1931-02-28"),
        ("1930-21", "1930-21", "1930-03-01", "1930-05-31"),
        ("c. 1930", "1930~", "1929-01-01", "1931-12-31"),
        ("Circa 1930", "1930~", "1929-01-01", "1931-12-31"),
        ("1930?", "1930?", "1929-01-01", "1931-12-31"),
    ],
)
def test_dates_as_archives_write_them(
    text: str, written: str, first: str, last: str
) -> None:
    date = PartialDate.parse(text)
    assert (str(date), str(date.first), str(date.last)) == (
        written,
        first,
        last,
    )
    assert date.precision == "span"
    assert PartialDate.parse(written) == date


def test_spans_are_before_another_date_only_with_all_their_days() -> None:
    about, later = PartialDate.parse("c. 1930"), PartialDate.parse("1932")
    assert about.before(later)
    assert not about.before(PartialDate.parse("1931"))
    assert not later.before(about)


@pytest.mark.parametrize(
    "text",
    [
        "../19",
        "1930s1930",
        "1930s19",
        "c. /1930-21",
        "y17000000000000",
        "%1930s19",
    ],
)
def test_odd_texts_are_no_dates_and_print_nothing(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="cannot read the date"):
        PartialDate.parse(text)
    assert capsys.readouterr().out == ""
