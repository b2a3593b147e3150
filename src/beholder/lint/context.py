"""Rules that compare a text with its page, caption, record or a vocabulary: ALT201 to ALT301."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beholder.errors import DataError
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit, LintSetting, Term, check, table
from beholder.lint.texts import content_words
from beholder.lint.wording import fold, listed, norm, without_quotes, words
from beholder.text.languages import ENGLISH, language_named, other_language

_MANY_TARGETS = 3
_LEAST_BOILERPLATE, _BOILERPLATE_SHARE, _EDGE = 20, 0.3, 4
_LEAST_PEOPLE, _LEAST_MARKERS, _WHITE_SHARE = 30, 20, 0.05
_PERSON = (
    r"(?:wo)?m[ae]n|persons?|people|boys?|girls?|child(?:ren)?|lad(?:y|ies)|figures?|students?"
    r"|teachers?|workers?|dancers?|mothers?|fathers?|couples?|teenagers?|bab(?:y|ies)|adults?"
)
_PEOPLE = re.compile(rf"\b(?:{_PERSON})\b", re.I)
_RACE = re.compile(
    r"\b(?P<race>black|white|caucasian|asian|african(?:[ -]american)?|indigenous|native american"
    rf"|latin[oax]|hispanic|middle eastern|south asian|arab)(?:[ -]\w+)? (?:{_PERSON})\b",
    re.I,
)


class GroupHit(NamedTuple):
    """A finding about several places.

    Attributes:
        rule: Id of the rule.
        places: Where it is reported.
        hit: What was found.
        n: How many texts or pictures it is about.
    """

    rule: str
    places: Sequence[Occurrence]
    hit: Hit
    n: int


def compare_all(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    """Findings of all rules about a collection, given its pictures with a text."""
    yield from _same_on_many_targets(found)
    yield from _same_on_different(found)
    yield from _different_on_same(found)
    yield from _boilerplate(found)
    yield from _naming(found)


def _same_on_many_targets(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    links = defaultdict(list)
    for one in found:
        if one.image_only and one.link:
            links[one.file, one.page, one.fold].append(one)
    for places in links.values():
        n = len({one.link for one in places})
        if n >= _MANY_TARGETS:
            what = f'"{places[0].text}" names {n} different targets of this page'
            yield GroupHit("ALT203", places, Hit(what), n)


def _same_on_different(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    texts = defaultdict(list)
    for one in found:
        if not one.functional and one.fold:
            texts[one.fold].append(one)
    for places in texts.values():
        pictures = {one.identity or f"{one.file}:{one.line}:{one.locator}" for one in places}
        one_set = places[0].group and len({one.group for one in places}) == 1
        if len(pictures) > 1 and not one_set:
            what = f'{len(pictures)} different pictures have the text "{places[0].text}"'
            yield GroupHit("ALT401", places, Hit(what), len(pictures))


def _different_on_same(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    pictures = defaultdict(list)
    for one in found:
        if one.identity:
            role = "functional" if one.functional else ""
            pictures[one.identity, role, one.language[:2].lower(), one.is_long].append(one)
    for places in pictures.values():
        texts = list(dict.fromkeys(one.fold for one in places))
        if len(texts) > 1:
            what = f'the picture has {len(texts)} texts, such as "{texts[0]}" and "{texts[1]}"'
            yield GroupHit("ALT402", places, Hit(what), len(texts))


def _boilerplate(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    for name, edge in (("first", slice(None, _EDGE)), ("last", slice(-_EDGE, None))):
        edges = defaultdict(list)
        for one in found:
            if len(one.words) > _EDGE:
                edges[tuple(word.casefold() for word in one.words[edge])].append(one)
        for shared, places in edges.items():
            n = len(places)
            if n >= _LEAST_BOILERPLATE and n > _BOILERPLATE_SHARE * len(found):
                what = f'{n} of {len(found)} texts share the {name} words "{" ".join(shared)}"'
                yield GroupHit("ALT404", places[:1], Hit(what), n)


def _naming(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    english = [one for one in found if one.language[:2].lower() in ("", "en")]
    people = [one for one in english if _PEOPLE.search(one.text)]
    markers = Counter(match["race"].lower() for one in people for match in _RACE.finditer(one.text))
    n, white = markers.total(), markers["white"] + markers["caucasian"]
    if len(people) >= _LEAST_PEOPLE and n >= _LEAST_MARKERS and white <= _WHITE_SHARE * n:
        what = f'{n} texts name a race, and {white} of them say "white"'
        yield GroupHit("ALT403", people[:1], Hit(what), n)


if TYPE_CHECKING:
    from beholder.language.statements import GraphUnit

_ORDINALS = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth"
    "|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty-first"
)
_TENS = "twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties"
_YEARS = re.compile(
    r"(?<![\w#.,/-])(?P<year>1\d{3}|20\d\d|2100)"
    r"(?:(?P<decade>['’]?s|er)|[-–](?P<until>\d\d(?:\d\d)?))?(?![\w%/-]|[.,]\d)"
    rf"|\b(?P<century>\d{{1,2}}(?=st|nd|rd|th|\.|e|ème)|{_ORDINALS})(?:st|nd|rd|th|\.|e|ème)?[ -]"
    r"(?:centur(?:y|ies)\b|c\.|Jahrhundert|Jh\.|siècle|eeuw)"
    rf"|(?:\bthe (?:[\w-]+[ -])?|\bmid-|(?<!\w)['’])(?P<tens>[2-9]0s|{_TENS})\b",
    re.I,
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
    """Whether the record has a word that excludes one of the text; an analysis takes far longer."""
    if not record:
        return False
    from beholder.judges.builtin.classes import exclude, word_values

    own, named = (
        [value for _, value in word_values(words(_UNCOUNTED.sub(" ", one.lower())))]
        for one in (text, record)
    )
    new = [theirs for theirs in named if not any(theirs <= ours for ours in own)]
    return any(exclude(ours, theirs) for ours in own for theirs in new)


_UNCOUNTED = re.compile(r"\b(?:1\d{3}|20\d\d)\b|\b\d[\d.,]*(?![\w-]| [a-z])")
"""Years, which are for ALT207, and figures without a thing that they count."""


def _contradictions(text: str, record: str) -> Iterator[tuple[GraphUnit, str]]:
    """Units of a text beside the words that exclude them, where rules and model agree."""
    from beholder.judges.builtin.classes import exclude, values, word_values
    from beholder.judges.builtin.findings import find
    from beholder.judges.builtin.reading import analysed

    titled = sum(word[0].isupper() for word in words(record)) > len(words(record)) / 2
    source, target = analysed(text), analysed(record.lower() if titled else record)
    own = [value for _, value in word_values(words(text.lower()))]
    named = [word for word in words(record.lower()) if values(word)]
    found = []
    for place, (unit, by_rules) in enumerate(zip(source.units, find(source, target), strict=True)):
        told = by_rules.contradiction
        if not told and unit.kind == "entity":  # a man and a woman may both be there, for rules
            told = next((word for word in named if exclude(values(unit.value), values(word))), "")
        excluded = unit.spans and exclude(values(unit.value), values(told))
        if excluded and not any(values(told) <= value for value in own):
            found.append((place, unit, told))
    if not found:
        return
    by_both = find(source, target, entail=True, among={place for place, _, _ in found})
    yield from ((unit, told) for place, unit, told in found if by_both[place].contradiction)


@check("ALT207")
def date(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Years, decades and centuries outside the dates of the record."""
    said = re.finditer(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)", one.date)
    known = [(int(match[0]), int(match[0])) for match in said]
    known += [span for match in _YEARS.finditer(one.date) for span in _ranges(match, ())]
    if not known:
        return None
    first, last = min(start for start, _ in known), max(end for _, end in known)
    first = 0 if re.search(r"\b(?:before|until)\b", one.date, re.I) else first
    last = 9999 if re.search(r"\b(?:after|since)\b", one.date, re.I) else last
    text = without_quotes(one.text)
    for match in _YEARS.finditer(text):
        before = text[: match.start()]
        outside = all(a > last or b < first for a, b in _ranges(match, (first, last)))
        if outside and not (
            _NAMED.search(before)
            or _REMOTE.search(before)
            or (_COUNTED.match(text, match.end()) and not _DATED.search(before))
        ):
            what = f'says "{match[0]}", the record says "{one.date}"'
            return Hit(what, match.span(), evidence={"date": one.date})
    return None


_TIMES = (
    r"(?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-z]*"
    r"|Jahre?|Eve|Day|Spring|Summer|Autumn|Fall|Winter|Frühling|Frühjahr|Sommer|Herbst"
)
_NAMED = re.compile(rf"(?<!^)(?<![.!?] )\b(?!(?:{_TIMES}) $)[A-Z][\w'’]* $")
"""A name before a number, as in "Poster of Expo 67"; not a word that only opens a sentence."""
_COUNTED = re.compile(r" (?:\w{3,}[^\Ws]s|people|men|women|children|sheep|fish)\b")
"""What a number counts."""
_DATED = re.compile(r"\b(?:in|from|of|by|about|around|circa|c\.|ca\.|the|an?|its|his|her) $", re.I)


def _ranges(match: re.Match[str], near: Sequence[int]) -> list[tuple[int, int]]:
    """First and last years that words may mean; ``near`` has years whose centuries are meant."""
    if century := match["century"]:
        last = 100 * (int(century) if century.isdigit() else _place(century, _ORDINALS) + 1)
        return [(last - 99, last)]
    if match["tens"]:
        figures = match["tens"][:2]
        tens = int(figures) if figures.isdigit() else 10 * _place(match["tens"], _TENS) + 20
        return [(year // 100 * 100 + tens, year // 100 * 100 + tens + 9) for year in near]
    year = int(match["year"])
    last = year + (99 if year % 100 == 0 else 9) if match["decade"] else year
    until = match["until"] or ""
    return [(year, max(last, int(match["year"][: 4 - len(until)] + until)))]


def _place(word: str, names: str) -> int:
    return names.split("|").index(word.lower())


def vocabulary(names: tuple[str, ...]) -> tuple[Term, ...]:
    """The terms of our vocabulary and of further files; ``none`` drops ours.

    Raises:
        DataError: A file is no table of tab-separated values with forms and suggestions.
    """
    rows = [] if "none" in names else table("vocabulary.v1.tsv")
    for name in (one for one in names if one != "none"):
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
