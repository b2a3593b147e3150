from __future__ import annotations

import datetime as dt

import pytest
from edtf import parse_edtf

from beholder.base.archival_dates import is_undated
from beholder.base.dates import PartialDate
from toy.cases import each_case


@each_case(
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
        ("Monday, May 3, 1890", PartialDate(1890, 5, 3)),
        ("7-Mar-1890", PartialDate(1890, 3, 7)),
        ("7.3.1890", PartialDate(1890, 3, 7)),
        ("7. März 1890", PartialDate(1890, 3, 7)),
        ("1er mai 1890", PartialDate(1890, 5, 1)),
        ("7 de marzo de 1890", PartialDate(1890, 3, 7)),
        ("7 marca 1890", PartialDate(1890, 3, 7)),
        ("7 maart 1890", PartialDate(1890, 3, 7)),
        ("12 août 1890", PartialDate(1890, 8, 12)),
        ("gennaio 1890", PartialDate(1890, 1)),
        ("fevereiro de 1890", PartialDate(1890, 2)),
        ("den 7 maj 1890", PartialDate(1890, 5, 7)),
        ("1895年3月7日", PartialDate(1895, 3, 7)),
        ("1895年", PartialDate(1895)),
        ("١٨٩٥", PartialDate(1895)),
        ("13/7/1928", PartialDate(1928, 7, 13)),
        ("7/13/1928", PartialDate(1928, 7, 13)),
        ("1928/03/07", PartialDate(1928, 3, 7)),
        ("18900307", PartialDate(1890, 3, 7)),
        ("3/1928", PartialDate(1928, 3)),
        ("1909-10", PartialDate(1909, 10)),  # a month, as ISO 8601 has it
        ("1890-00-00", PartialDate(1890)),
        ("1890-01-00", PartialDate(1890, 1)),
        ("1890-uu-uu", PartialDate(1890)),
        ("1890-03-XX", PartialDate(1890, 3)),
        ("[1890]", PartialDate(1890)),
        ("(1901)", PartialDate(1901)),
        ("[18]90", PartialDate(1890)),
        ("1890 (printed 1920)", PartialDate(1890)),
        ("1963, printed 1980", PartialDate(1963)),
        ("1963, printed later", PartialDate(1963)),
        ("negative 1890; print 1920", PartialDate(1890)),
        ("published 1893", PartialDate(1893)),
        ("AH 1307 / AD 1890", PartialDate(1890)),
        ("1307 AH (1890)", PartialDate(1890)),
        ("1890 CE", PartialDate(1890)),
        ("March 3d, 1890", PartialDate(1890, 3, 3)),
        ("©1890", PartialDate(1890)),
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


REFUSED = {
    "day or month": ["3/7/1928", "03-07-1928"],
    "no date": ["", "Christmas 1890", "signed 1890", "not before 1890"],
    "several dates": [
        "march april 1928",
        "1928 7",
        "1928-03-07 1945",
        "1928-03-07 8",
        "1928:03:07 1929:03:07",
        "1928 or 1935",
        "1890 & 1891",
    ],
    "no such day": ["1928-13", "31 february 1928", "0000-00-00"],
    "ends first": ["1945 to 1928", "1890-89", "1928-3"],
    "month or end": ["1901/12", "1890/91/92"],
    "undated": ["n.d.", "Unknown"],
    "short year": [
        "June 85",
        "june '85",
        "7 may 99",
        "may 7, 32",
        "1 june 05",
    ],
    "other calendar": [
        "1284 AH",
        "1307 (AH)",
        "A.H. 1307",
        "1307 H",
        "2435 BE",
        "1950 B.S.",
        "1250 AM",
        "1312 SE",
        "明治28",
    ],
    "before our era": ["44 BC", "1200 B.C.", "300 v. Chr."],
    "long": ["c. " * 3000 + "1930", "march " + "9" * 30],
}
"""Texts by the reason why they are no date."""


@each_case("text", [text for texts in REFUSED.values() for text in texts])
def test_what_is_no_date_or_ambiguous_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read the date"):
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


SPANS = """
1930s | 193X | 1930-01-01 | 1939-12-31
the 1930s | 193X | 1930-01-01 | 1939-12-31
1890's | 189X | 1890-01-01 | 1899-12-31
1890er Jahre | 189X | 1890-01-01 | 1899-12-31
années 1890 | 189X | 1890-01-01 | 1899-12-31
1890-talet | 189X | 1890-01-01 | 1899-12-31
1890年代 | 189X | 1890-01-01 | 1899-12-31
189- | 189X | 1890-01-01 | 1899-12-31
[189-?] | 189X? | 1889-01-01 | 1900-12-31
189? | 189X | 1890-01-01 | 1899-12-31
189u | 189X | 1890-01-01 | 1899-12-31
18-- | 18XX | 1800-01-01 | 1899-12-31
1800s | 18XX | 1800-01-01 | 1899-12-31
2000s | 20XX | 2000-01-01 | 2099-12-31
19th century | 18XX | 1800-01-01 | 1899-12-31
nineteenth century | 18XX | 1800-01-01 | 1899-12-31
19th c. | 18XX | 1800-01-01 | 1899-12-31
XIXe siècle | 18XX | 1800-01-01 | 1899-12-31
siglo XIX | 18XX | 1800-01-01 | 1899-12-31
19. Jahrhundert | 18XX | 1800-01-01 | 1899-12-31
19世紀 | 18XX | 1800-01-01 | 1899-12-31
18th-19th century | 17XX/18XX | 1700-01-01 | 1899-12-31
late 19th century | 1866/1899 | 1866-01-01 | 1899-12-31
first half of the 19th century | 1800/1849 | 1800-01-01 | 1849-12-31
2nd quarter of 19th century | 1825/1849 | 1825-01-01 | 1849-12-31
late 19th to early 20th century | 1866/1933 | 1866-01-01 | 1933-12-31
[1890 or 1891] | 1890/1891 | 1890-01-01 | 1891-12-31
1880s-90s | 188X/189X | 1880-01-01 | 1899-12-31
pre-1890 | ../1889 | 0001-01-01 | 1889-12-31
early 1890s | 1890/1893 | 1890-01-01 | 1893-12-31
mid-1890s | 1893/1896 | 1893-01-01 | 1896-12-31
early to mid 1890s | 1890/1896 | 1890-01-01 | 1896-12-31
early 1890 | 1890-01/1890-04 | 1890-01-01 | 1890-04-30
late February 1892 | 1892-02-21/1892-02-29 | 1892-02-21 | 1892-02-29
1930/1935 | 1930/1935 | 1930-01-01 | 1935-12-31
1928 to 1945 | 1928/1945 | 1928-01-01 | 1945-12-31
between 1930 and 1935 | 1930/1935 | 1930-01-01 | 1935-12-31
zwischen 1890 und 1895 | 1890/1895 | 1890-01-01 | 1895-12-31
de 1890 à 1895 | 1890/1895 | 1890-01-01 | 1895-12-31
from 1890 to 1895 | 1890/1895 | 1890-01-01 | 1895-12-31
1890–95 | 1890/1895 | 1890-01-01 | 1895-12-31
1890/91 | 1890/1891 | 1890-01-01 | 1891-12-31
1901/02 | 1901/1902 | 1901-01-01 | 1902-12-31
1896-7 | 1896/1897 | 1896-01-01 | 1897-12-31
1899-00 | 1899/1900 | 1899-01-01 | 1900-12-31
1890s-1900s | 189X/19XX | 1890-01-01 | 1999-12-31
1930-03/1931-02 | 1930-03/1931-02 | 1930-03-01 | 1931-02-28
1928-03 to 1929-05 | 1928-03/1929-05 | 1928-03-01 | 1929-05-31
1928-03-07 to 1928-03-09 | 1928-03-07/1928-03-09 | 1928-03-07 | 1928-03-09
March 27-29, 1956 | 1956-03-27/1956-03-29 | 1956-03-27 | 1956-03-29
27-29 March 1956 | 1956-03-27/1956-03-29 | 1956-03-27 | 1956-03-29
March 27 - April 2, 1956 | 1956-03-27/1956-04-02 | 1956-03-27 | 1956-04-02
May - June 1960 | 1960-05/1960-06 | 1960-05-01 | 1960-06-30
May/June 1960 | 1960-05/1960-06 | 1960-05-01 | 1960-06-30
December 1959 - January 1960 | 1959-12/1960-01 | 1959-12-01 | 1960-01-31
1930-21 | 1930-21 | 1930-03-01 | 1930-05-31
Spring 1890 | 1890-21 | 1890-03-01 | 1890-05-31
été 1890 | 1890-22 | 1890-06-01 | 1890-08-31
Herbst 1890 | 1890-23 | 1890-09-01 | 1890-11-30
winter 1890-91 | 1890-24 | 1890-12-01 | 1891-02-28
c. 1930 | 1930~ | 1929-01-01 | 1931-12-31
Circa 1930 | 1930~ | 1929-01-01 | 1931-12-31
c1890 | 1890~ | 1889-01-01 | 1891-12-31
um 1890 | 1890~ | 1889-01-01 | 1891-12-31
vers 1890 | 1890~ | 1889-01-01 | 1891-12-31
1890, circa | 1890~ | 1889-01-01 | 1891-12-31
probably 1890 | 1890~ | 1889-01-01 | 1891-12-31
1930? | 1930? | 1929-01-01 | 1931-12-31
[1890?] | 1890? | 1889-01-01 | 1891-12-31
1890 [?] | 1890? | 1889-01-01 | 1891-12-31
circa 1890s | 189X~ | 1889-01-01 | 1900-12-31
c. 1890-1895 | 1890~/1895~ | 1889-01-01 | 1896-12-31
ca. May 1890 | 1890-05~ | 1889-05-01 | 1891-05-31
before 1890 | ../1889 | 0001-01-01 | 1889-12-31
vor 1890 | ../1889 | 0001-01-01 | 1889-12-31
before March 1890 | ../1890-02 | 0001-01-01 | 1890-02-28
until 1890 | ../1890 | 0001-01-01 | 1890-12-31
/1890 | ../1890 | 0001-01-01 | 1890-12-31
1890 or earlier | ../1890 | 0001-01-01 | 1890-12-31
before 1890? | ../1889~ | 0001-01-01 | 1890-12-31
after 1890 | 1891/.. | 1891-01-01 | 9999-12-31
après 1890 | 1891/.. | 1891-01-01 | 9999-12-31
since 1890 | 1890/.. | 1890-01-01 | 9999-12-31
1890/ | 1890/.. | 1890-01-01 | 9999-12-31
1928-03-07 or later | 1928-03-07/.. | 1928-03-07 | 9999-12-31
"""
"""Date, its EDTF, and its first and last day, counted by hand by the rules of docs/narratives.md."""


@each_case("row", SPANS.strip().splitlines())
def test_dates_as_archives_write_them(row: str) -> None:
    text, written, first, last = row.split(" | ")
    date = PartialDate.parse(text)
    assert (str(date), str(date.first), str(date.last)) == (
        written,
        first,
        last,
    )
    assert date.precision == "span"
    assert date.is_open == (".." in written)
    assert PartialDate.parse(written) == date


@each_case(
    "edtf",
    [
        "1930",
        "1930-03",
        "1932-02",
        "1930-03-07",
        "193X",
        "19XX",
        "1930-21",
        "1930-22",
        "1930-23",
        "1930/1935",
        "1930-03/1931-02",
        "1930-03-07/1931-02-11",
        "193X/194X",
        "1930~",
        "1930?",
    ],
)
def test_edtf_means_the_days_that_the_package_of_its_name_gives(
    edtf: str,
) -> None:
    """But for winter (it ends in December), and what it widens by more than a year (``193X~``)."""
    their_date = parse_edtf(edtf)
    bounds = their_date.lower_fuzzy(), their_date.upper_fuzzy()
    date = PartialDate.parse(edtf)
    assert [date.first, date.last] == [dt.date(*b[:3]) for b in bounds]


def test_an_open_end_is_drawn_ten_years_from_the_other() -> None:
    before, after = map(PartialDate.parse, ("before 1890", "after 1890"))
    assert before.bounded == (dt.date(1880, 1, 1), dt.date(1889, 12, 31))
    assert after.bounded == (dt.date(1891, 1, 1), dt.date(1900, 12, 31))
    assert not PartialDate(1850).before(before)
    assert before.before(PartialDate(1890))


@each_case(
    "text",
    [
        "n.d.",
        "N.D.",
        "[n.d.]",
        "no date",
        "not dated",
        "undated",
        "Undated.",
        "s.d.",
        "[s. d.]",
        "Unknown",
        "(unknown)",
        "date unknown",
        "o. D.",
        "o.J.",
        "ohne Datum",
        "sans date",
        "sin fecha",
        "s.f.",
        "senza data",
        "zonder datum",
        "sem data",
        "odaterad",
        "u.å.",
        "bez daty",
        "?",
        "-",
        "n/a",
        "0000-00-00",
        "uuuu",
    ],
)
def test_catalogues_say_that_there_is_no_date(text: str) -> None:
    assert is_undated(text)


@each_case("text", ["1890", "may", "1890?", "18--", "d. 1890", "2000"])
def test_a_date_is_not_undated(text: str) -> None:
    assert not is_undated(text)


def test_spans_are_before_another_date_only_with_all_their_days() -> None:
    about, later = PartialDate.parse("c. 1930"), PartialDate.parse("1932")
    assert about.before(later)
    assert not about.before(PartialDate.parse("1931"))
    assert not later.before(about)


@pytest.mark.parametrize(
    "text",
    [
        "../19",
        "../..",
        "/",
        "T",
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
