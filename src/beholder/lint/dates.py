"""ALT207: the years, decades and centuries of a text against the date of its record."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beholder.base.archival_dates import (
    OTHER_CALENDAR,
    edtf_of,
    is_undated,
)
from beholder.base.date_words import ORDINALS, ROMAN_NUMERALS
from beholder.base.edtf import edtf_bounds
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit, LintSetting, check
from beholder.lint.wording import listed, names, without_quotes
from beholder.text import kinds

LABELS = listed("labels", "en")
"""Words after which a figure is a label: "lot 1912", "Class 3 children"."""
_CIRCA = 10
"""Years from an approximate date that are not reported."""
_NEAR = 80
"""Characters around a number that say what it is."""
_TENS: list[str] = names("tens")
_NTH = (
    r"(?:\d{1,2}(?=st|nd|rd|th|\.|e|ème)"
    rf"|(?:{'|'.join(ORDINALS)})\b|(?:{'|'.join(ROMAN_NUMERALS)})(?=e|ème|\b))"
)
_ANY_YEAR = r"(?:1\d{3}|20\d\d|2100)"
_YEAR = re.compile(rf"(?<!\d){_ANY_YEAR}(?!\d)")
_DATES = re.compile(
    rf"""
    (?:(?<![\w#.,/-])|(?<=\bmid-)|(?<=\bpre-)|(?<=\bpost-))(?P<year>{_ANY_YEAR})
    (?:(?P<decade>['’]?s|[-–]?er)\b)?
    (?:(?:[-–]|\ (?:to|until|till|through|and|or|bis|und)\ )(?P<until>{_ANY_YEAR}|\d\d(?![\w-]))
    (?P<decades>['’]?s)?)?(?![\w%/-]|[.,:]\d)
    |\b(?:siglo|secolo|século)\ (?P<roman>(?:{"|".join(ROMAN_NUMERALS)})\b)
    |\b(?:(?P<from>{_NTH})(?:st|nd|rd|th|\.|e|ème)?-?(?:\ (?:and|or|to|und)\ (?:the\ )?|[-–/]))?
    (?P<century>{_NTH})(?:st|nd|rd|th|\.|e|ème)?[ -]
    (?:centur(?:y|ies)\b|Jahrhundert|Jh\.|siècle|eeuw|wiek)
    |\b(?P<short>\d{{1,2}})(?:st|nd|rd|th)[ ]c\.
    |(?:\bthe\ (?:[\w-]+[ -])?|\bmid-|(?<!\w)['’])(?P<tens>[2-9]0s|{"|".join(_TENS)})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPEN_START = re.compile(
    r"\b(?:before|until|till|pre|vor)[ -](?:the |about )?$", re.IGNORECASE
)
_OPEN_END = re.compile(
    r"\b(?:after|since|post|seit|nach)[ -](?:the |about )?$", re.IGNORECASE
)
_ABOUT = re.compile(
    r"""
    \b(?:c|ca|circa|about|around|approximately|roughly|early|late|um|vers)\b[. ]*(?:the\ )?$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ROUGH = re.compile(
    r"\b(?:early|late|anfang|ende|début|fin|principios|finales|inizio|fine)\b",
    re.I,
)
_TURN = re.compile(r"\bturn of the $", re.I)
_MEMORY = re.compile(
    r"""
    \b(?:in\ memory|commemorat\w+|anniversary|centenary|memorials?|monuments?|plaques?|cenotaph
    |graves?|gravestones?|tombstones?|headstones?|re-?enact\w*|replicas?|reproductions?
    |costumes?|veterans?|reminiscent|dressed\ as|recall\w*|evok\w+|imitat\w+)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words of a text about a remembered or imitated time."""
_ELSEWHEN = re.compile(
    r"""
    \b(?:built|rebuilt|cast|born|died|won|founded|established|est\.|erected|constructed
    |completed|opened|closed|launched|destroyed|demolished|burn(?:ed|t)|restored|inaugurated
    |invented|introduced|discovered|killed|retired|married|signed|unveiled|consecrated|abandoned
    |wrecked|sunk|marked|stamped|engraved|inscribed|carved|numbered|(?:with|bearing
    |bears)\ the\ date|style|manner|fashion|spirit|tradition|imitation|version|as|like|than|b\.
    |d\.)(?:\ (?:in|on|of|since|by|around|about|the|year))*\ $
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words before the year of another event, or of an inscription."""
_PRODUCTION = re.compile(
    r"""
    \b(?:\w+ing|with|from|at|in|on|by|beside|near|behind|before|under|over|and|that|which)\b.*
    \b(?:printed|published|issued|woven|minted|made|manufactured|produced|designed|painted|drawn
    |written|composed|patented)(?:\ (?:in|on|around|about))*\ $
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words before the year of a thing that the picture shows: "reads a Bible printed in 1850"."""
_STYLE = re.compile(
    r"""
    [ -](?:-?styled?|-?inspired|-?themed?|look|fashion|revival|costumes?)\b|['’]?\ BCE?\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TIMES = r"""
    (?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-z]*
    |Jahre?|Eve|Day|Spring|Summer|Autumn|Fall|Winter|Frühling|Frühjahr|Sommer|Herbst
    |Christmas|Easter|Années"""
_OPENING = rf"{_TIMES}|In|Circa|Around|About|From|Since|Before|After|Dated"
_NAME_BEFORE = re.compile(
    rf"""
    (?:(?<!^)(?<![.!?]\ )\b(?!(?:{_TIMES})\ $)|\b(?!(?:{_OPENING}|The|An?)\ $))[A-Z][\w'’]*\ $
    """,
    re.VERBOSE,
)
"""A name before a number, as in "Poster of Expo 67"."""
_LABEL = re.compile(r"(?:([A-Za-z-]+)\.? |[$£€#№]|\b(?:USD|EUR|GBP) ?|\d )$")
_BEFORE_COUNT = re.compile(
    r"""
    \b(?:over|nearly|almost|than|least|most|up\ to|only|exactly|some|shows?|showing|reads?
    |reading|says?|weighing|weighs|costing|costs|holds|holding|seats|seating|numbers|counts
    |counting|totals?|carrying|carries|has|have|to|(?:box|pack|set|crowd|group|pile|batch|total
    |population|collection|case|crate|stack|army|edition)\ of)\ $
    """,
    re.VERBOSE | re.IGNORECASE,
)
_AFTER_COUNT = re.compile(
    r"""
    [ ]?(?:%|°|[x×*]\ ?\d|by\ \d|\d|(?:kg|g|lbs?|tons?|tonnes?|ft|m|km|mm|cm|hp|rpm|k?[WV]|cc
    |px|dpi|hours|hrs?|o['’]clock|m[²³]|MHz|kHz|USD|EUR|each
    |lire|yen|(?:metre|meter|mile|foot|gram|pound|ton|litre|liter|acre|degree|piece|point
    |seat)s?|feet|inch(?:es)?)\b)
    """,
    re.VERBOSE,
)
_DATING = re.compile(
    rf"""
    \b(?:in|from|since|during|after|before|until|dated|early|late|mid|im|en|years?|{_TIMES})\ $
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBERED_THINGS = (
    "nos nrs address addresses troop troops local locals cabin company extension house license"
    " licence lodge lorry lorries mile milepost pack patent permit phone streetcar taxi telephone"
    " tender tract trolleybus truck trucks wagon wagons"
)
_NUMBERED = frozenset(_NUMBERED_THINGS.split())
"""Further words before the number of a thing or a group."""
_ANOTHER_YEAR = re.compile(
    r"""
    (?<!calendar)(?<!calendars)(?<!almanac)\ for\ (?:the\ (?:year|season)\ )?$
    |\b(?:kings?|queens?|princess|class|council|board|committee|officers?|team|court|cast|staff
    |champions?|winners?|members?|graduates?|seniors|juniors|season|model|maps?|plan|law|treaty
    |act|revolution|war|battle|election|fire|flood|earthquake|wo?man|miss)\b[^.;,]{0,40}
    \ of\ (?:the\ year\ )?$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words before the year of a group, an office or an event: "officers for 1954", "class of 1954"."""
_WEAKLY_DATING = re.compile(
    r"\b(?:circa|ca?\.?|about|around|an?|um|vers) $|[,(] ?$", re.I
)
_DECADE = re.compile(r"\b(?:années|años|anni|anos|lata) $", re.I)
_UNNUMBERED = names("plurals")
_ADDRESS = re.compile(
    r"""
    ,?\ (?:(?:[A-Z][\w'’.]*|\d+(?:st|nd|rd|th))\ )+(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln
    |Drive|Dr|Boulevard|Blvd|Place|Court|Way|Square|Terrace|Crescent|Highway|Row|Hill|Park)\b
    |,?\ (?:rue|avenue|boulevard|via|calle)\b
    |(?:\ (?:north|south|east|west))?\ block\b
    """,
    re.VERBOSE,
)


class _Mention(NamedTuple):
    start: int
    end: int
    first: int
    last: int


@check("ALT207")
def date(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find years, decades and centuries outside the dates of the record.

    A text with one date that fits is about two times, and is not reported.
    """
    spans = list(_spans(occurrence.date))
    if not spans:
        return None
    first, last = (
        min(start for start, _ in spans),
        max(end for _, end in spans),
    )
    text = _plain(without_quotes(occurrence.text))
    if _MEMORY.search(text):
        return None
    mentions = list(_mentions(text, (first, last)))
    # A year that the record names fits it, such as that of a later print.
    if not mentions or any(
        (m.first <= last and m.last >= first)
        or text[m.start : m.end] in occurrence.date
        for m in mentions
    ):
        return None
    span = mentions[0].start, mentions[0].end
    written = occurrence.text[slice(*span)]
    what = f'says "{written}", the record says "{occurrence.date}"'
    return Hit(what, span, evidence={"date": occurrence.date})


_PLAIN = str.maketrans("年년", "  ")
"""Signs behind a year that are no letters of it."""


def _plain(text: str) -> str:
    """Return a text of the same length with plain digits, without years of other calendars."""
    digits = "".join(
        str(unicodedata.decimal(letter)) if letter.isdecimal() else letter
        for letter in text
    )
    without_signs = digits.translate(_PLAIN)
    return OTHER_CALENDAR.sub(lambda match: " " * len(match[0]), without_signs)


def _spans(record: str) -> Iterator[tuple[int, int]]:
    """Yield first and last year of each date of a record.

    A record that is one date is read as all dates are; of another text, its numbers of four digits
    are years. Years before our era are not compared.
    """
    if is_undated(record) or re.search(r"\bB\.?C", record):
        return
    try:
        edtf = edtf_of(record)
    except ValueError:
        yield from _scanned_spans(_plain(record))
        return
    first, last = (day.year for day in edtf_bounds(edtf))
    tolerance = 0
    if re.search("[~?%]", edtf) or _ROUGH.search(record):
        tolerance = _CIRCA
    elif edtf.endswith("XX"):
        # The year 1900 is in the 19th century, too.
        tolerance = 1
    yield first - tolerance, last + tolerance


def _scanned_spans(record: str) -> Iterator[tuple[int, int]]:
    for match in _YEAR.finditer(record):
        year = int(match[0])
        yield _widened(year, year, record[: match.start()])
    for match in _DATES.finditer(record):
        for first, last in _ranges(match, ()):
            yield _widened(first, last, record[: match.start()])


def _widened(first: int, last: int, before: str) -> tuple[int, int]:
    # The turn of a century: 15 years before and after its first year.
    if _TURN.search(before):
        return first - 15, first + 15
    if _DECADE.search(before):
        last = first + 9
    if _ABOUT.search(before):
        first, last = first - _CIRCA, last + _CIRCA
    first = 0 if _OPEN_START.search(before) else first
    return first, 9999 if _OPEN_END.search(before) else last


def _mentions(text: str, record: Sequence[int]) -> Iterator[_Mention]:
    """Yield the dates of the picture in a text, without other numbers and other events."""
    for match in _DATES.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        after = text[match.end() : match.end() + _NEAR]
        # Years of another event, of a thing in the picture, or of a style.
        if (
            _ELSEWHEN.search(before)
            or _ANOTHER_YEAR.search(before)
            or _PRODUCTION.search(before)
            or _STYLE.match(after)
        ):
            continue
        if (
            # A decade or century is a date by itself; a year may be any number
            # of four digits.
            match["year"]
            and not match["decade"]
            and not _is_year(match, before, after)
        ):
            continue
        if (
            match["century"]
            and before
            and match["century"].istitle()
            and "Century" in match[0]
        ):
            continue  # "the ferry Twentieth Century"
        for first, last in _ranges(match, record):
            yield _Mention(*match.span(), *_widened(first, last, before))


def _is_year(match: re.Match[str], before: str, after: str) -> bool:
    """Return whether a number of four digits is a year, by the words around it."""
    # In this order: labels, years of a life, quantities and addresses, names,
    # words that date; a number without any of these is a year.
    label = _LABEL.search(before)
    dating = _DATING.search(before)
    if (
        label
        and label[1]
        and not kinds.bases(label[1].lower()).isdisjoint(LABELS | _NUMBERED)
        and not dating
    ):
        return False
    if match["until"]:
        lived = before.endswith("(") and re.search(
            r"[A-Z][\w'’.-]* \($", before
        )
        return not lived  # "Ada Lovelace (1815-1852)"
    if (
        _BEFORE_COUNT.search(before)
        or _AFTER_COUNT.match(after)
        or _ADDRESS.match(after)
    ):
        return False
    if _NAME_BEFORE.search(before):
        return False
    if dating:
        return True
    if _counts(after) or re.match(r" [A-Z]", after):
        return False
    weak = _WEAKLY_DATING.search(before)
    return bool(
        weak or not label or (label[1] and not _is_labelled(label[1].lower()))
    )


def _is_labelled(word: str) -> bool:
    """Return whether a word names a thing that may have a number, such as a locomotive."""
    above = ("vehicle", "machine", "device", "person", "animal", "garment")
    return any(kinds.is_kind(word, kind) for kind in above)


def _counts(after: str) -> bool:
    """Return whether a plural follows a number: "1500 bottles", "1200 young women"."""
    # Up to three words: adjectives and then a plural noun.
    for word in re.findall(
        r"[^\W\d_]+", (re.match(r"(?: [\w-]+){0,3}", after) or [""])[0]
    ):
        low = word.lower()
        if low in _UNNUMBERED or (low.endswith("s") and _is_noun(low[:-1])):
            return True
        if "a" not in kinds.parts_of_speech(low):
            return False
    return False


def _is_noun(word: str) -> bool:
    return kinds.parts_of_speech(word) != {"v"} and not word.endswith(
        ("s", "u", "i")
    )


def _ranges(
    match: re.Match[str], reference_years: Sequence[int]
) -> list[tuple[int, int]]:
    """Return first and last years that words may mean.

    Args:
        match: A match of ``_DATES``.
        reference_years: Years of the centuries that "the twenties" may be in.
    """
    if match["tens"]:
        figures = match["tens"][:2]
        tens = (
            int(figures)
            if figures.isdigit()
            else 10 * _TENS.index(match["tens"].lower()) + 20
        )
        return [
            (year // 100 * 100 + tens, year // 100 * 100 + tens + 9)
            for year in reference_years
        ]
    written = re.sub(r"-? (?:and|or|to|und) (?:the )?", "-", match[0])
    if match["year"]:
        until = match["until"] or match["year"]
        last_year = match["year"][: 4 - len(until)] + until
        written = match["year"] + "s" * bool(match["decade"])
        if match["until"]:
            written += f"/{last_year}" + "s" * bool(match["decades"])
    try:
        first, last = edtf_bounds(edtf_of(written))
    except ValueError:
        # "1950 to 1925" is no span; its first number is still a year.
        return [(int(match["year"]),) * 2] if match["year"] else []
    # The year 1900 is in the 19th century, too.
    is_century = not match["year"]
    return [(first.year, last.year + is_century)]
