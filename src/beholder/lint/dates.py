"""ALT207: the years, decades and centuries of a text against the date of its record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit, LintSetting, check
from beholder.lint.wording import alternatives, expression, listed, without_quotes
from beholder.text import kinds

LABELS = listed("labels", "en")
"""Words after which a figure is a label: "lot 1912", "Class 3 children"."""
_CIRCA = 10
"""Years that "about" may mean before or after a year."""
_NEAR = 80
"""Characters around a number that say what it is."""
_ORDINALS = alternatives("ordinals")
_ROMAN = alternatives("roman")
_TENS = alternatives("tens")
_YEAR = expression("record_year")
_DATES = expression("dates")
_OPEN_START = expression("open_start")
_OPEN_END = expression("open_end")
_ABOUT = expression("about")
_TURN = re.compile(r"\bturn of the $", re.I)
_MEMORY = expression("memory")
"""Words of a text about a remembered or imitated time."""
_ELSEWHEN = expression("elsewhen")
"""Words before the year of another event, or of an inscription."""
_MADE = expression("made")
"""Words before the year of a thing that the picture shows: "reads a Bible printed in 1850"."""
_STYLE = expression("style")
_NAMED = expression("named")
"""A name before a number, as in "Poster of Expo 67"."""
_LABEL = re.compile(r"(?:([A-Za-z-]+)\.? |[$£€#№]|\b(?:USD|EUR|GBP) ?|\d )$")
_BEFORE_COUNT = expression("before_count")
_AFTER_COUNT = expression("after_count")
_DATING = expression("dating")
_WEAKLY_DATING = re.compile(r"\b(?:circa|ca?\.?|about|around|an?|um|vers) $|[,(] ?$", re.I)
_DECADE = re.compile(r"\b(?:années|años|anni|anos|lata) $", re.I)
_UNNUMBERED = ("people", "men", "women", "children", "sheep", "fish", "cattle", "deer", "alumni")
_ADDRESS = expression("street")


class _Mention(NamedTuple):
    start: int
    end: int
    first: int
    last: int


@check("ALT207")
def date(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Years, decades and centuries outside the dates of the record.

    A text of which one date fits is about two times, and is not reported.
    """
    known = list(_spans(one.date))
    if not known or re.search(r"\bB\.?C", one.date):
        return None
    first, last = min(start for start, _ in known), max(end for _, end in known)
    text = without_quotes(one.text)
    if _MEMORY.search(text):
        return None
    mentions = list(_mentions(text, (first, last)))
    if not mentions or any(m.first <= last and m.last >= first for m in mentions):
        return None
    span = mentions[0].start, mentions[0].end
    what = f'says "{text[slice(*span)]}", the record says "{one.date}"'
    return Hit(what, span, evidence={"date": one.date})


def _spans(record: str) -> Iterator[tuple[int, int]]:
    """First and last years of each date of a record; all its figures of four digits are years."""
    for match in _YEAR.finditer(record):
        year = int(match[0])
        yield _widened(year, year, record[: match.start()])
    for match in re.finditer(r"(?<![\w])(?:1\d|20)(?:\dX|XX|\d-|--)(?![\w])", record):  # of EDTF
        digits = match[0].replace("-", "X")
        yield int(digits.replace("X", "0")), int(digits.replace("X", "9"))
    for match in _DATES.finditer(record):
        for first, last in _ranges(match, ()):
            yield _widened(first, last, record[: match.start()])


def _widened(first: int, last: int, before: str) -> tuple[int, int]:
    if _TURN.search(before):
        return first - 15, first + 15
    if _DECADE.search(before):
        last = first + 9
    if _ABOUT.search(before):
        first, last = first - _CIRCA, last + _CIRCA
    first = 0 if _OPEN_START.search(before) else first
    return first, 9999 if _OPEN_END.search(before) else last


def _mentions(text: str, record: Sequence[int]) -> Iterator[_Mention]:
    """The dates of a text; what is no date of the picture is left out."""
    for match in _DATES.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        after = text[match.end() : match.end() + _NEAR]
        if _ELSEWHEN.search(before) or _MADE.search(before) or _STYLE.match(after):
            continue
        if match["year"] and not match["decade"] and not _is_year(match, before, after):
            continue
        if match["century"] and before and match["century"].istitle() and "Century" in match[0]:
            continue  # "the ferry Twentieth Century"
        for first, last in _ranges(match, record):
            yield _Mention(*match.span(), *_widened(first, last, before))


def _is_year(match: re.Match[str], before: str, after: str) -> bool:
    """Whether a number of four digits is a year: by the words around it."""
    label = _LABEL.search(before)
    dating = _DATING.search(before)
    if label and label[1] and not kinds.bases(label[1].lower()).isdisjoint(LABELS) and not dating:
        return False
    if match["until"]:
        lived = before.endswith("(") and re.search(r"[A-Z][\w'’.-]* \($", before)
        return not lived  # "Ada Lovelace (1815-1852)"
    if _BEFORE_COUNT.search(before) or _AFTER_COUNT.match(after) or _ADDRESS.match(after):
        return False
    if _NAMED.search(before):
        return False
    if dating:
        return True
    if _counts(after) or re.match(r" [A-Z]", after):
        return False
    weak = _WEAKLY_DATING.search(before)
    return bool(weak or not label or (label[1] and not _is_labelled(label[1].lower())))


def _is_labelled(word: str) -> bool:
    """Whether a word names a thing that may bear a number, as a locomotive or a runner does."""
    above = ("vehicle", "machine", "device", "person", "animal", "garment")
    return any(kinds.is_kind(word, one) for one in above)


def _counts(after: str) -> bool:
    """Whether the words behind a number are things: "1500 bottles", "1200 young women"."""
    for word in re.findall(r"[^\W\d_]+", (re.match(r"(?: [\w-]+){0,3}", after) or [""])[0]):
        low = word.lower()
        if low in _UNNUMBERED or (low.endswith("s") and _is_noun(low[:-1])):
            return True
        if "a" not in kinds.parts_of_speech(low):
            return False
    return False


def _is_noun(word: str) -> bool:
    return kinds.parts_of_speech(word) != {"v"} and not word.endswith(("s", "u", "i"))


def _ranges(match: re.Match[str], near: Sequence[int]) -> list[tuple[int, int]]:
    """First and last years that words may mean; ``near`` has years whose centuries are meant."""
    if century := match["century"] or match["roman"]:
        last = 100 * _nth(century)
        return [(100 * _nth(match["from"] or century) - 100, last)]
    if match["tens"]:
        figures = match["tens"][:2]
        tens = int(figures) if figures.isdigit() else 10 * _TENS.index(match["tens"].lower()) + 20
        return [(year // 100 * 100 + tens, year // 100 * 100 + tens + 9) for year in near]
    year, until = int(match["year"]), match["until"] or ""
    last = int(match["year"][: 4 - len(until)] + until)
    if match["decade"] or match["decades"]:
        last += 99 if last % 100 == 0 else 9
    return [(year, max(year, last))]


def _nth(word: str) -> int:
    if word.isdigit():
        return int(word)
    low = word.lower()
    return 1 + (_ORDINALS.index(low) if low in _ORDINALS else _ROMAN.index(word.upper()))
