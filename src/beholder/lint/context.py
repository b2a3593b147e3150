"""Rules that compare a text with its page, caption, record or a vocabulary: ALT201 to ALT301."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import DataError
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit, LintSetting, Term, check, table
from beholder.lint.texts import content_words
from beholder.lint.wording import fold, listed, norm, without_quotes, words
from beholder.text.languages import ENGLISH, language_named, other_language

if TYPE_CHECKING:
    from beholder.language.statements import GraphUnit

_YEARS = re.compile(
    r"(?<![\w#.,/-])(?P<year>1\d{3}|20\d\d|2100)(?P<decade>['’]?s)?(?![\w%/-]|[.,]\d)"
    r"|\b(?P<century>\d{1,2})(?:st|nd|rd|th)[ -]century"
)
_ANOTHER_TIME = re.compile(
    r"\b(?:before|after|until|former|formerly|once|now|later|originally)\b", re.I
)
"""Words of a record that speaks of another time than the picture, too."""
_REMOTE = re.compile(r"(?:in memory of|since|commemorating|anniversary of)[\w ]{0,20}$", re.I)


@check("ALT201")
def repeats_text(one: Occurrence, setting: LintSetting) -> Hit | None:
    """The text of the block, link or button, or of a neighbouring link, again."""
    shown = {"nearby": one.nearby}
    if one.nearby and norm(one.nearby).lower() == one.text.lower():
        return Hit("equals the text beside the picture", evidence=shown)
    near = words(one.nearby.casefold())
    judged = [word.casefold() for word in words(one.judged)]
    if len(judged) >= 4 and len(near) <= 400 and _within(judged, near):
        return Hit("is word for word beside the picture", evidence=shown)
    if one.fold and one.fold in map(fold, one.neighbours):
        return Hit("equals the text of a neighbouring link with the same target")
    return None


def _within(part: list[str], whole: list[str]) -> bool:
    n = len(part)
    return any(whole[at : at + n] == part for at in range(len(whole) - n + 1))


@check("ALT202")
def repeats_caption(one: Occurrence, setting: LintSetting) -> Hit | None:
    """The caption again, in any order of words."""
    if not one.caption or not one.fold:
        return None
    evidence = {"caption": one.caption}
    if one.fold == fold(one.caption):
        return Hit("equals the caption", evidence=evidence)
    text = Counter(word.casefold() for word in one.words)
    caption = Counter(word.casefold() for word in words(one.caption))
    small, large = sorted((text, caption), key=lambda bag: bag.total())
    if small.total() < 4 or small - large or small.total() < 0.9 * large.total():
        return None
    title = Counter(words(one.work_title.casefold()))
    if title and not title - text and not title - caption and (text - title).total() >= 3:
        return None
    return Hit("has the words of the caption", evidence=evidence)


@check("ALT203")
def target_not_named(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Link texts such as "click here" on a link that contains only the picture."""
    if (
        one.image_only
        and one.fold in listed("link", one.language)
        and content_words(one) is not None
    ):
        return Hit(f'"{one.text}" does not name the target', evidence={"target": one.link or ""})
    return None


@check("ALT204")
def title_repeats(one: Occurrence, setting: LintSetting) -> Hit | None:
    """A title attribute that is equal to alt."""
    same = one.text_from == "alt" and one.title and fold(one.title) == one.fold
    return Hit("equals the title attribute", evidence={"title": one.title}) if same else None


@check("ALT205")
def language(one: Occurrence, setting: LintSetting) -> Hit | None:
    """A text in another language than the page."""
    page = language_named(one.language)
    if page is None or one.own_language:
        return None
    text = without_quotes(one.text)
    found = words(text)
    if 2 * sum(word[0].isupper() for word in found) >= len(found):
        return None
    why = other_language(text, page)
    return (
        Hit(f"{why}; the page is in {page}", evidence={"language": one.language}) if why else None
    )


@check("ALT206")
def contradicts(one: Occurrence, setting: LintSetting) -> Hit | None:
    """A colour, number, side, sex or age that the caption or the title of the work excludes."""
    records = {"caption": one.caption, "title": one.work_title}
    if language_named(one.language) not in (None, ENGLISH) or other_language(one.text, ENGLISH):
        return None
    for name, record in records.items():
        if _ANOTHER_TIME.search(record) or not _may_exclude(one.judged, record):
            continue
        for unit, found in _contradictions(one.judged, record):
            what = f'says "{unit.text}", the {name} says "{found}"'
            return Hit(what, unit.spans[0], evidence={name: record})
    return None


def _may_exclude(text: str, record: str) -> bool:
    """Whether words of both are in one class, without an analysis, which takes far longer."""
    if not record:
        return False
    from beholder.judges.builtin.classes import exclude, word_values

    pairs = product(*(word_values(words(one.lower())) for one in (text, record)))
    return any(exclude(ours, theirs) for (_, ours), (_, theirs) in pairs)


def _contradictions(text: str, record: str) -> Iterator[tuple[GraphUnit, str]]:
    """Units of a text beside the words that exclude them, where rules and model agree."""
    from beholder.judges.builtin.classes import exclude, values, word_values
    from beholder.judges.builtin.findings import find
    from beholder.judges.builtin.reading import analysed

    titled = sum(word[0].isupper() for word in words(record)) > len(words(record)) / 2
    source, target = analysed(text), analysed(record.lower() if titled else record)
    own = [value for _, value in word_values(words(text.lower()))]
    named = [word for word in words(record.lower()) if values(word)]
    found = zip(source.units, find(source, target), find(source, target, entail=True), strict=True)
    for unit, by_rules, by_both in found:
        told = by_rules.contradiction
        if not told and unit.kind == "entity":  # a man and a woman may both be there, for rules
            told = next((word for word in named if exclude(values(unit.value), values(word))), "")
        agreed = by_both.contradiction and exclude(values(unit.value), values(told))
        if unit.spans and agreed and not any(values(told) <= value for value in own):
            yield unit, told


@check("ALT207")
def date(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Years, decades and centuries outside the dates of the record."""
    known = [_range(match) for match in _YEARS.finditer(one.date)]
    known += [
        (year, year) for year in map(int, re.findall(r"(?<!\d)1\d{3}(?!\d)|20\d\d(?!\d)", one.date))
    ]
    if not known:
        return None
    first, last = min(start for start, _ in known), max(end for _, end in known)
    text = without_quotes(one.text)
    for match in _YEARS.finditer(text):
        start, end = _range(match)
        before = text[: match.start()]
        if (start > last or end < first) and not (
            _NAMED.search(before)
            or _REMOTE.search(before)
            or (_COUNTED.match(text, match.end()) and not _DATED.search(before))
        ):
            what = f'says "{match[0]}", the record says "{one.date}"'
            return Hit(what, match.span(), evidence={"date": one.date})
    return None


_NAMED = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'’]* $")
"""A name before a number, as in "Poster of Expo 67"; not a word that only opens a sentence."""
_COUNTED = re.compile(r" (?:\w{3,}[^\Ws]s|people|men|women|children|sheep|fish)\b")
"""What a number counts."""
_DATED = re.compile(r"\b(?:in|from|of|by|about|around|circa|c\.|ca\.|the|an?|its|his|her) $", re.I)


def _range(match: re.Match[str]) -> tuple[int, int]:
    if match["century"]:
        last = 100 * int(match["century"])
        return last - 99, last
    year = int(match["year"])
    if not match["decade"]:
        return year, year
    return year, year + (99 if year % 100 == 0 else 9)


def vocabulary(names: tuple[str, ...]) -> tuple[Term, ...]:
    """The terms of our vocabulary and of further files; ``none`` drops ours.

    Raises:
        DataError: A file is no table of tab-separated values with forms and suggestions.
    """
    rows = [] if "none" in names else table("vocabulary.v1.tsv")
    for name in names:
        if name == "none":
            continue
        try:
            source = Path(name).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(name, f"cannot be read: {error}") from error
        more = list(csv.DictReader(source, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))
        if not more or "forms" not in more[0]:
            raise DataError(name, "has no column 'forms'; expected tab-separated id, forms, ...")
        rows += more
    terms = [
        Term(form.casefold(), *(row.get(key) or "" for key in Term._fields[1:]))
        for row in rows
        for form in row["forms"].split("|")
        if form.strip()
    ]
    return tuple(sorted(terms, key=lambda term: -len(term.form)))


@lru_cache(maxsize=8)
def _expressions(terms: tuple[Term, ...]) -> tuple[re.Pattern[str], dict[str, Term]]:
    by_form = {term.form: term for term in reversed(terms)}
    forms = "|".join(re.escape(term.form) for term in terms)
    return re.compile(rf"(?<!\w)(?:{forms})(?!\w)" if forms else "(?!)", re.I), by_form


@check("ALT301")
def term(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Terms of the active vocabularies."""
    expression, by_form = _expressions(tuple(setting.terms))
    text = one.judged
    if one.work_title:
        text = text.replace(one.work_title, " " * len(one.work_title))
    for found in expression.finditer(text):
        entry = by_form[found[0].casefold()]
        if entry.exceptions and any(
            other.start() <= found.start() < other.end()
            for other in re.finditer(entry.exceptions, text, re.I)
        ):
            continue
        if entry.language and entry.language != (one.language[:2].lower() or entry.language):
            continue
        if one.own_words & {"*", found[0].casefold()}:
            continue
        advice = f'; consider "{entry.suggestion}"' if entry.suggestion else ""
        return Hit(f'contains the {entry.kind or "listed"} term "{found[0]}"{advice}', found.span())
    return None
