"""Dates as archives, libraries and museums write them, rewritten in EDTF.

The Extended Date/Time Format has a form for each of them, so that one evaluation (``edtf_bounds``)
decides which days a date can mean. The package ``edtf`` has a reader of English dates,
``text_to_edtf``, which is not used: it drops words that it does not know ("mars 1890" is the year),
takes 189- for the year 189, and March 27-29, 1956 for a day of 2029.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from beholder.base.date_words import (
    FILLERS,
    MAKING_WORDS,
    MONTHS,
    ORDINALS,
    ROLES,
    ROMAN_NUMERALS,
    SEASONS,
    UNDATED,
)
from beholder.base.edtf import edtf_bounds

MAX_LENGTH = 100
"""Characters of a date."""

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "ß": "ss"})
_DASHES = re.compile("[\u2010-\u2015\u2212\u301c\uff5e]")
_QUOTES = re.compile("[\u2018\u2019\u02bc`´]")
_EAST_ASIAN = (
    (re.compile(r"(\d{4}) ?(?:年代|년대)"), r"\1s"),
    (re.compile(r"(\d{4}) ?[年년]"), r"\1 "),
    (re.compile(r"(\d{1,2}) ?(?:世紀|世纪|세기)"), r"\1th century"),
    (re.compile(r"(\d{4}) (\d{1,2}) ?[月월] ?(?:(\d{1,2}) ?[日일])?"), None),
)

OTHER_CALENDAR = re.compile(
    r"""
    (?<![\w.])\d{3,4}\ ?[(\[]?(?:A\.?\ ?H|B\.?\ ?S|B\.?\ ?E|A\.?\ ?M|S\.?\ ?E|E\.?\ ?C|H|Hijri
    |Hijra|Hegira|Saka|Sake|Samvat|Vikram\ Samvat)(?![\w'’])\.?[)\]]?
    |\b(?:A\.?\ ?H|Anno\ Hegirae|Hijri|Samvat|Saka)\b\.?\ ?\d{3,4}(?!\d)
    |(?:พ\.ศ\.|民國|民国|明治|大正|昭和|平成|令和)\ ?\d{1,4}(?!\d)
    |(?<!\d)\d{3,4}\ ?(?:هـ|ه)(?!\w)
    """,
    re.VERBOSE,
)
"""Years of other calendars: AH (hijri), BS (Vikram Samvat), BE (Buddhist), AM, SE (Saka), eras."""
_BEFORE_OUR_ERA = re.compile(
    r"\b(?:B\.? ?C\.?(?: ?E)?|v\. ?Chr|av\. J|a\. ?C)\b", re.IGNORECASE
)
_OUR_ERA = re.compile(
    r"\b(?:a\.? ?d\.?|c\.? ?e\.?|n\. ?chr\.?)(?=\W|\d|$)(?! ?\d\d?(?!\d))"
)

_TOKEN_BY_ROLE = {
    "about": "A",
    "before": "B",
    "until": "U",
    "after": "F",
    "since": "S",
    "early": "E",
    "mid": "D",
    "late": "L",
    "to": "T",
    "between": "N",
    "and": "&",
    "century": "C",
    "decade": "O",
}
_TOKEN_BY_WORD: dict[str, str] = {
    **{
        word: token
        for role, token in _TOKEN_BY_ROLE.items()
        for word in ROLES[role].split()
    },
    **{
        word: f"Q{n}"
        for n, words in enumerate(SEASONS, 21)
        for word in words.split()
    },
    **{
        word: f"M{n:02d}"
        for n, words in enumerate(MONTHS, 1)
        for word in words.split()
    },
    **dict.fromkeys(FILLERS.split(), ""),
}
"""Each word as a sign in upper case, which no folded text contains."""
_TIME = (
    r"(?:t\d{1,2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?| \d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)"
    r"(?: ?(?:z|utc|gmt|[+-]\d{2}(?::?\d{2})?))?"
)
"""A time of the day, in its zone or none."""
_D4 = r"(?<!\d)(\d{4})"
_NUMERIC = (
    # ISO 8601, EXIF, and databases that write 00 for an unknown month or day.
    rf"{_D4}-(?P<m>\d{{1,2}})-(?P<d>\d{{1,2}})(?![\d-])(?:{_TIME}(?!\S))?",
    rf"{_D4}:(?P<m>\d\d):(?P<d>\d\d)(?!\d)(?:{_TIME}(?!\S))?",
    rf"{_D4}([./])(?P<m>\d{{1,2}})\2(?P<d>\d{{1,2}})(?![\d./])",
    rf"{_D4}(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)",
    rf"{_D4}-(?P<m>0\d|1[0-2])(?![\d-])",
    # The day first: with dots, or because no month is above 12.
    r"(?<!\d)(?P<d>\d{1,2})\. ?(?P<m>\d{1,2})\. ?(\d{4})(?!\d)",
    r"(?<!\d)(?P<d>1[3-9]|2\d|3[01])([/-])(?P<m>\d{1,2})\2(\d{4})(?!\d)",
    r"(?<!\d)(?P<m>\d{1,2})([/-])(?P<d>1[3-9]|2\d|3[01])\2(\d{4})(?!\d)",
    r"(?<![\d./-])(?P<m>0?[1-9]|1[0-2])[./](\d{4})(?!\d)",
)
_NUMERIC_DATES = tuple(map(re.compile, _NUMERIC))


def fold_date(text: str) -> str:
    """Return a text in lower case, with plain digits, dashes and quotes, and without accents."""
    composed = unicodedata.normalize("NFC", text)
    digits = "".join(
        str(unicodedata.decimal(letter)) if letter.isdecimal() else letter
        for letter in composed
    )
    plain = _QUOTES.sub("'", _DASHES.sub("-", digits)).casefold()
    letters = unicodedata.normalize("NFD", plain.translate(_LETTERS))
    # Accents of Latin letters only: marks of other scripts are parts of their letters.
    without_accents = re.sub("(?<=[a-z])[\u0300-\u036f]+", "", letters)
    return " ".join(unicodedata.normalize("NFC", without_accents).split())


def is_undated(text: str) -> bool:
    """Return whether a text of a catalogue says that there is no date: "n.d.", "Unknown", "?"."""
    # Dots are dropped and other signs stay, so that 0000-00-00 is one of them.
    bare = fold_date(text).replace(".", "").replace("/", "")
    bare = bare.strip(" []()<>?!,;:*'\"")
    return bare in _UNDATED or bare.replace(" ", "") in _ABBREVIATED


_UNDATED = frozenset((*UNDATED, "-", "--", "---"))
_ABBREVIATED = frozenset(
    word for word in UNDATED if len(word) == 2 and word.isalpha()
)


@lru_cache(maxsize=1 << 12)
def edtf_of(text: str, year: int | None = None) -> str:
    """Return the EDTF of a date: ``1890``, ``1890-03``, ``189X``, ``1890~``, ``../1889``.

    Args:
        text: The date as an archive writes it, in a language of the word lists, or in EDTF.
        year: Used when the text names none, as in ``march``.

    Raises:
        ValueError: It is not a date that can be read; the message says why if a form was close.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a date has at most {MAX_LENGTH} characters")
    folded = fold_date(_without_other_calendars(text)).strip(
        " '\"\u201c\u201d\u00a9"
    )
    folded = _OR_LATER.sub(r"since \1", _OR_EARLIER.sub(r"until \1", folded))
    _check_ambiguous(folded)
    edtf = _read_date(_canonical(_without_later(folded, year)), year)
    edtf_bounds(edtf)
    return edtf


_OR_LATER = re.compile(
    r"(.*\d\S*?),? (?:(?:or|and) (?:later|after)|onwards?)$"
)
_OR_EARLIER = re.compile(r"(.*\d\S*?),? (?:or|and) (?:earlier|before)$")


def _check_ambiguous(folded: str) -> None:
    """Raise ValueError for a date with two meanings."""
    match = re.search(r"(?<!\d)(\d{1,2})([/-])(\d{1,2})\2\d{4}(?!\d)", folded)
    if match and max(int(match[1]), int(match[3])) <= 12:
        raise ValueError("its day may be its month; write the month as a word")
    match = re.fullmatch(r"\d\d(\d\d)/(0\d|1[0-2])", folded)
    if match and int(match[2]) != int(match[1]) + 1:
        raise ValueError("it may be a month or the end of a span")
    match = re.search(r"(\d{4})\)? ?or (\d+)", folded)
    if match and int(match[2]) != int(match[1]) + 1:
        raise ValueError("two years with 'or' between them are no span")


def _without_other_calendars(text: str) -> str:
    if _BEFORE_OUR_ERA.search(text):
        raise ValueError("years before our era are not read")
    ours = OTHER_CALENDAR.sub(" ", text)
    if ours != text and not re.search(r"\d{4}", ours):
        raise ValueError(
            "its year is of another calendar; add the year of ours"
        )
    # "AH 1307 / AD 1890": the sign between the calendars goes, too.
    return ours.strip(" /=,;()") if ours != text else text


_LATER = re.compile(
    rf"(?P<first>.*\d.*?)\s*[(,;/]+\s*(?P<made>(?:(?:{'|'.join(MAKING_WORDS.split())}|later|and)\W+)+)"
    r"(?P<later>.*?\d.*?)\)?",
)
_PRINTED_LATER = re.compile(
    rf"(.*\d.*?)\s*[(,;/]+\s*(?:{'|'.join(MAKING_WORDS.split())}) later\)?"
)
_MAKING = re.compile(rf"(?:(?:{'|'.join(MAKING_WORDS.split())})\b[:.]? ?)+")


def _without_later(folded: str, year: int | None) -> str:
    """Return the date of a picture without that of its print: "1890 (printed 1920)"."""
    if match := _PRINTED_LATER.fullmatch(folded):
        folded = match[1]
    elif match := _LATER.fullmatch(folded):
        # What is left out must be a date, so that no other text is.
        _read_date(_canonical(match["later"]), year)
        folded = match["first"]
    return (
        _MAKING.sub("", folded, count=1) if _MAKING.match(folded) else folded
    )


def _number(match: re.Match[str]) -> str:
    """Return the signs of a numeric date: its year, month and day."""
    fields = match.groupdict()
    (full_year,) = (g for g in match.groups() if g and len(g) == 4)
    month, day = int(fields["m"]), int(fields.get("d") or 0)
    if not month and not fields.get("d") and full_year.endswith("99"):
        # 1899-00 is the turn of a century, 1890-00 a database without the month.
        return f" {full_year} T {int(full_year) + 1} "
    if not month:
        # Without a month no day is known: databases write 00-00.
        return f" {full_year} " if not day else " ! "
    return f" {full_year} M{month:02d} {day or ''} "


def _canonical(folded: str) -> str:
    """Return a date with each word as a sign, and each number in one form."""
    text = folded
    for pattern, new in _EAST_ASIAN:
        text = pattern.sub(new, text) if new else pattern.sub(_east, text)
    # Brackets of cataloguers: [1890?], 1890 [?], [18]90, <1890>, (1901).
    text = re.sub(r" ?[\[(<]\?[\])>]", "?", text)
    text = re.sub(r"(?<=\d)[\])>](?=\d)", "", re.sub(r"[\[(<]", "", text))
    text = re.sub(r"[\])>]", "", text).strip(" .,;")
    # One of two years in a row is a span; 1880s-90s names its century once.
    text = re.sub(r"(?<!\d)(\d{4}) ?or (?=\d{4}(?!\d))", r"\1 to ", text)
    text = re.sub(r"(?<!\d)(\d\d)(\d0s) ?- ?(?=\d0s)", r"\1\2 to \1", text)
    text = re.sub(r"\bt/m\b", " bis ", _OUR_ERA.sub(" ", text))
    # Seasons of EDTF and unknown digits: 1890-21, 189-, 18--, 189?, 189u, 1890-uu-uu.
    text = re.sub(r"(?<!\d)(\d{4})-(2[1-4])(?![\d-])", r"\1 Q\2", text)
    text = re.sub(r"(?<=\d)((?:-(?:uu|xx))+)(?!\w)", "", text)
    text = re.sub(
        r"(?<!\d)(\d\d)(?:(\d)[-u?x]|--|uu|\?\?|xx)(?=[?~%\s/]|$)",
        lambda m: f"{m[1]}{m[2] or 'X'}X",
        text,
    )
    text = re.sub(r"(\d{1,2})-([a-z]{3,})\.?-(\d{4})", r"\1 \2 \3", text)
    for numeric in _NUMERIC_DATES:
        text = numeric.sub(_number, text)
    # 1890s, 1890's, 1890er, 1890-talet: the century if the tens are 0.
    text = re.sub(
        r"(?<!\d)(\d{3})0(?:'?s|-?er|-?talet|-?tal)\b(?: jahren?)?",
        lambda m: f"{m[1][:2]}XX" if m[1].endswith("0") else f"{m[1]}X",
        text,
    )
    text = re.sub(r"(?<=\d) a (?=\d)", " to ", text)
    text = re.sub(r"\bca?\.? ?(?=\d)", "A ", text)
    text = _FRACTION.sub(_fraction, text)
    text = _centuries(text)
    text = re.sub(
        r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|d|er|e|o|º|ª|:e|\.)(?![a-z\d])",
        r"\1",
        text,
    )
    text = re.sub(
        r"[a-z]+(?:'|\.|(?=\d))?",
        lambda m: f" {_TOKEN_BY_WORD.get(m[0].rstrip(chr(39) + '.'), '!')} ",
        text,
    )
    text = re.sub(
        r"(?<=[\dX])-(?=M)|(?<=M\d\d) -(?= ?\d{4})|(?<=[EDLBF]) ?-(?= ?\d)",
        " ",
        text,
    )
    text = re.sub(r"O +(\d{3})0", r"\1X", text)
    return " ".join(text.replace(",", " ").split())


_FRACTION = re.compile(
    r"\b(?:(?P<n>[1-4])(?:st|nd|rd|th|\.|e|re|er|eme|o|a)?"
    r"|(?P<word>first|second|third|fourth|last))"
    r" (?P<unit>half|quarter|third|halfte|drittel|viertel|moitie|quart|mitad|meta|helft|polowa)\b"
    r"(?: (?:of|du|de|des|del|d'))?(?: the)?"
)
_PARTS = {"quarter": 4, "viertel": 4, "quart": 4, "third": 3, "drittel": 3}


def _fraction(match: re.Match[str]) -> str:
    n_parts = _PARTS.get(match["unit"], 2)
    order = ("first", "second", "third", "fourth")
    if match["n"]:
        n = int(match["n"])
    elif match["word"] == "last":
        n = n_parts
    else:
        n = order.index(match["word"]) + 1
    return f" H{n}{n_parts} " if n <= n_parts else "!"


def _east(match: re.Match[str]) -> str:
    month = f"{match[1]}-{int(match[2]):02d}"
    return f"{month}-{int(match[3]):02d}" if match[3] else month


_NTH = rf"(?:\d{{1,2}}|{'|'.join(ORDINALS)}|(?:{'|'.join(ROMAN_NUMERALS)}))"
_SUFFIX = r"(?:st|nd|rd|th|\.|eme|e|o)?"
_CENTURY_WORD = rf"(?:{'|'.join(ROLES['century'].split())}|c)"
_CENTURY = re.compile(
    rf"""
    \b(?:(?P<from>{_NTH}){_SUFFIX}\ ?(?P<between>-|/|to|and|or|und|et|bis|until)
    \ ?(?:the\ )?(?P<part>early|mid|late)?[\ -]?)?
    (?P<nth>{_NTH}){_SUFFIX}[\ -]?{_CENTURY_WORD}\b\.?
    |\b(?:siglo|secolo|seculo|s\.|sec\.)\ (?P<roman>{"|".join(ROMAN_NUMERALS)})\b
    """,
    re.VERBOSE,
)


def _centuries(text: str) -> str:
    """Return a text with centuries as 18XX, the 19th."""

    def digits(written: str) -> str:
        if written.isdigit():
            n = int(written)
        elif written in ORDINALS:
            n = ORDINALS.index(written) + 1
        else:
            n = ROMAN_NUMERALS.index(written) + 1
        return f"{n - 1:02d}XX" if n > 1 else "!"

    def rewritten(match: re.Match[str]) -> str:
        last = digits(match["nth"] or match["roman"])
        if match["from"]:
            part = match["part"] or ""
            return f" {digits(match['from'])} to {part} {last} "
        return f" {last} "

    return _CENTURY.sub(rewritten, text)


@dataclass(frozen=True)
class _DateSide:
    """A date, or an end of a span, whose larger parts the other end may name."""

    year: str = ""
    month: int | None = None
    day: int | None = None
    season: int | None = None
    part: str = ""
    day_digits: int = 0
    qualifier: str = ""


def _read_date(canonical: str, year: int | None) -> str:
    """Return the EDTF of a date whose words are signs."""
    # "Until" is "to" between two dates.
    text = re.sub("^T ", "U ", canonical)
    # An end that is not known.
    if match := re.fullmatch(r"(?:\.\.)? ?/ ?([^/]+)", text):
        return f"../{_end(_spans(match[1], year))}"
    if match := re.fullmatch(r"([^/]+?) ?/ ?(?:\.\.)?", text):
        return f"{_start(_spans(match[1], year))}/.."
    if match := re.fullmatch(r"([BUFS]) (A )?([^TN&/]+)", text):
        return _open(match[1], bool(match[2]), match[3], year)
    return _spans(text, year)


def _open(sign: str, is_about: bool, text: str, year: int | None) -> str:
    written = _spans(text, year)
    span = re.sub(r"[~?%]", "", written)
    first, last = edtf_bounds(span)
    about = "~" if is_about or span != written else ""
    # "Before 1890" ends with 1889, "until 1890" with 1890; the written precision stays.
    digits = len(_start(span))
    if sign == "B":
        first -= dt.timedelta(days=1)
        return f"../{_cut(first, digits)}{about}"
    if sign == "U":
        return f"../{_end(span)}{about}"
    if sign == "F":
        last += dt.timedelta(days=1)
        return f"{_cut(last, digits)}{about}/.."
    return f"{_start(span)}{about}/.."


def _cut(day: dt.date, n_characters: int) -> str:
    return day.isoformat()[: max(4, n_characters)]


def _start(edtf: str) -> str:
    return edtf.partition("/")[0]


def _end(edtf: str) -> str:
    return edtf.rpartition("/")[2]


_SEPARATOR = re.compile(
    r" ?(?:T| - |(?<=[\dX?~%]) ?[-/] ?(?=[\dAEDLMQH])|(?<=M\d\d) ?[-/] ?) ?"
)


def _spans(text: str, year: int | None) -> str:
    text = text.strip()
    if text.startswith("N "):
        text = text[2:].replace("&", "T")
    text = re.sub(r"(?<=[MQ]\d\d) (?:&|/|-) (?=[MQ])", " T ", text)
    # "From 1890 to 1895": the words before a span say nothing more.
    text = re.sub(r"^S (?=.*T|.*\d ?[-/] ?\d)", "", text)
    is_about = bool(re.match(r"A ", text))
    text = re.sub(r"^A ", "", text)
    # "until" and "by" between two dates are "to".
    sides = _SEPARATOR.split(
        re.sub(r"(?<=[\dX?~%]) U (?=[\dAM])", " T ", text)
    )
    if (
        len(sides) > 2
        or "" in sides
        or any(sign in text for sign in "!NBFSU&")
    ):
        raise ValueError("it has other words or several dates")
    ends = [_side(side) for side in sides]
    if len(ends) == 2:
        return _interval(ends[0], ends[1], is_about, year)
    (side,) = ends
    span = _complete(side, year)
    qualifier = "~" if is_about else side.qualifier
    return "/".join(f"{point}{qualifier}" for point in span.split("/"))


def _interval(
    start: _DateSide, end: _DateSide, is_about: bool, year: int | None
) -> str:
    # "May - June 1960", "March 27-29, 1956", "1890-95": what an end leaves out is the other's.
    if not start.year:
        start = replace(start, year=end.year)
    if not end.year and end.month is None and end.season is None:
        if start.month is None and end.day is not None:
            end = _short_year(start, end)
        elif start.day is not None and end.day is not None:
            end = replace(end, year=start.year, month=start.month)
    if end.day is not None and end.month is None:
        end = replace(end, month=start.month)
    if start.day is not None and start.month is None:
        start = replace(start, month=end.month)
    if not end.year:
        end = replace(end, year=start.year)
    # "Winter 1890-91" is one winter.
    is_winter = start.season == 24 and start.year.isdigit()
    is_year = end.month is None and end.season is None and not end.part
    if is_winter and is_year and end.year == str(int(start.year) + 1):
        return _complete(start, year)
    first, last = _complete(start, year), _complete(end, year)
    about_start = "~" if is_about else start.qualifier
    about_end = "~" if is_about else end.qualifier
    return f"{_start(first)}{about_start}/{_end(last)}{about_end}"


def _short_year(start: _DateSide, end: _DateSide) -> _DateSide:
    """Return an end such as the 95 of 1890-95 and the 7 of 1896-7 as a whole year."""
    digits = f"{end.day:0{end.day_digits}d}"
    full_year = start.year[: 4 - len(digits)] + digits
    if len(start.year) != 4 or not start.year.isdigit():
        raise ValueError("it has other words or several dates")
    if full_year <= start.year:
        raise ValueError(f"{full_year} is not after {start.year}")
    return replace(end, year=full_year, day=None)


_SIGNS = re.compile(r"[MQ]\d\d|\d+X*|[EDL]|H\d\d|[~?%]|\S+")


def _side(text: str) -> _DateSide:
    """Return the parts of a date, by their forms and not by their places."""
    side = _DateSide()
    for sign in _SIGNS.findall(text):
        if sign[0] == "M" and side.month is None:
            side = replace(side, month=int(sign[1:]))
        elif sign[0] == "Q" and side.season is None:
            side = replace(side, season=int(sign[1:]))
        elif (sign in "EDL" or sign[0] == "H") and not side.part:
            side = replace(side, part=sign)
        elif sign == "A" or (sign in "~?%" and not side.qualifier):
            side = replace(side, qualifier="~" if sign == "A" else sign)
        elif re.fullmatch(r"\d{3,4}|\d{3}X|\d\dXX", sign) and not side.year:
            side = replace(side, year=sign.zfill(4))
        elif re.fullmatch(r"\d{1,2}", sign) and side.day is None:
            side = replace(side, day=int(sign), day_digits=len(sign))
        else:
            raise ValueError("it has other words or several dates")
    return side


def _complete(side: _DateSide, year: int | None) -> str:
    """Return the EDTF of a date without what is uncertain."""
    full_year = side.year or (f"{year:04d}" if year else "")
    if side.day is not None and side.day > 31:
        raise ValueError("write all digits of the year")
    if not full_year:
        raise ValueError("a date without a year needs one given for all")
    if side.season is not None:
        is_plain = side.month is None and side.day is None and not side.part
        if not is_plain or not full_year.isdigit():
            raise ValueError("it has other words or several dates")
        return f"{full_year}-{side.season}"
    if side.month is None:
        if side.day is not None:
            raise ValueError("a date with a day needs its month")
        return _part(full_year, side.part) if side.part else full_year
    if not full_year.isdigit():
        raise ValueError("a month needs a whole year")
    point = f"{full_year}-{side.month:02d}"
    if side.day is not None:
        point += f"-{side.day:02d}"
    elif side.part:
        return _part(point, side.part)
    return point


def _part(point: str, part: str) -> str:
    """Return a third of a century, decade, year or month: early, mid or late."""
    if part[0] == "H":
        n, n_parts = int(part[1]), int(part[2])
        if not point.endswith("XX"):
            raise ValueError("only a century has halves and quarters")
        first, last = 100 * (n - 1) // n_parts, 100 * n // n_parts - 1
        return f"{point[:2]}{first:02d}/{point[:2]}{last:02d}"
    third = "EDL".index(part)
    if point.endswith("XX"):
        bounds = ((0, 33), (33, 66), (66, 99))[third]
        return "/".join(f"{point[:2]}{n:02d}" for n in bounds)
    if point.endswith("X"):
        bounds = ((0, 3), (3, 6), (6, 9))[third]
        return "/".join(f"{point[:3]}{n}" for n in bounds)
    if len(point) == 4:
        bounds = ((1, 4), (5, 8), (9, 12))[third]
    else:
        n_days = calendar.monthrange(int(point[:4]), int(point[5:]))[1]
        bounds = ((1, 10), (11, 20), (21, n_days))[third]
    return "/".join(f"{point}-{n:02d}" for n in bounds)
