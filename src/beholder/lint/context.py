"""Rules that compare a text with its page, caption or a vocabulary: ALT201 to ALT206, ALT301."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from beholder.base.grouping import by_key
from beholder.errors import DataError
from beholder.lint.naming import compare_naming
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import GroupHit, Hit, LintSetting, Term, check, table
from beholder.lint.texts import content_words
from beholder.lint.wording import fold, listed, norm, without_quotes, words
from beholder.text.expected_language import other_language
from beholder.text.languages import (
    ENGLISH,
    LITTLE_WORDS,
    base_language,
    language_named,
)

_MANY_TARGETS = 3
_LEAST_BOILERPLATE, _BOILERPLATE_SHARE, _EDGE = 20, 0.3, 4


def compare_all(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    """Findings of all rules about a collection, given its pictures with a text."""
    yield from _same_on_many_targets(found)
    yield from _same_on_different(found)
    yield from _different_on_same(found)
    yield from _boilerplate(found)
    yield from compare_naming(found)


def _same_on_many_targets(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    links = (one for one in found if one.image_only and one.link)
    for places in by_key(
        ((one.file, one.page, one.fold), one) for one in links
    ).values():
        n = len({one.link for one in places})
        if n >= _MANY_TARGETS:
            what = (
                f'"{places[0].text}" names {n} different targets of this page'
            )
            yield GroupHit("ALT203", places, Hit(what), n)


def _same_on_different(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    texts = by_key(
        (one.fold, one) for one in found if not one.functional and one.fold
    )
    for places in texts.values():
        pictures = {
            one.identity or f"{one.file}:{one.line}:{one.locator}"
            for one in places
        }
        one_set = places[0].group and len({one.group for one in places}) == 1
        if len(pictures) > 1 and not one_set:
            what = f'{len(pictures)} different pictures have the text "{places[0].text}"'
            yield GroupHit("ALT401", places, Hit(what), len(pictures))


def _different_on_same(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    pictures = defaultdict(list)
    for one in found:
        if one.identity:
            role = "functional" if one.functional else ""
            pictures[one.identity, role, one.language, one.is_long].append(one)
    for places in pictures.values():
        texts = list(dict.fromkeys(one.fold for one in places))
        if len(texts) > 1:
            what = f'the picture has {len(texts)} texts, such as "{texts[0]}" and "{texts[1]}"'
            yield GroupHit("ALT402", places, Hit(what), len(texts))


def _boilerplate(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    for name, edge in (
        ("first", slice(None, _EDGE)),
        ("last", slice(-_EDGE, None)),
    ):
        edges = by_key(
            (tuple(word.casefold() for word in one.words[edge]), one)
            for one in found
            if len(one.words) > _EDGE
        )
        for shared, places in edges.items():
            n = len(places)
            if n >= _LEAST_BOILERPLATE and n > _BOILERPLATE_SHARE * len(found):
                what = f'{n} of {len(found)} texts share the {name} words "{" ".join(shared)}"'
                yield GroupHit("ALT404", places[:1], Hit(what), n)


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
        return Hit(
            "equals the text of a neighbouring link with the same target"
        )
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
    if (
        small.total() < 4
        or small - large
        or small.total() < 0.9 * large.total()
    ):
        return None
    title = Counter(words(one.work_title.casefold()))
    if (
        title
        and not title - text
        and not title - caption
        and (text - title).total() >= 3
    ):
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
        return Hit(
            f'"{one.text}" does not name the target',
            evidence={"target": one.link or ""},
        )
    return None


@check("ALT204")
def title_repeats(one: Occurrence, setting: LintSetting) -> Hit | None:
    """A title attribute that is equal to alt."""
    same = one.text_from == "alt" and one.title and fold(one.title) == one.fold
    return (
        Hit("equals the title attribute", evidence={"title": one.title})
        if same
        else None
    )


@check("ALT205")
def language(one: Occurrence, setting: LintSetting) -> Hit | None:
    """A text in another language than the page."""
    page = language_named(one.language)
    if page is None or one.own_language:
        return None
    text = without_quotes(one.text)
    small = [one for one in words(text) if not one[0].isupper()]
    plain = [one for one in small if one not in LITTLE_WORDS]
    if len(plain) < 2 and not (plain and len(small) > 2):
        return None  # a name
    why = other_language(text, page)
    return (
        Hit(
            f"{why}; the page is in {page}",
            evidence={"language": one.language},
        )
        if why
        else None
    )


@check("ALT206")
def contradicts(one: Occurrence, setting: LintSetting) -> Hit | None:
    """A value, such as a colour or number, that the caption or the title of the work excludes."""
    records = {"caption": one.caption, "title": one.work_title}
    if language_named(one.language) not in (None, ENGLISH) or not any(
        records.values()
    ):
        return None
    from beholder.lint.contradictions import (
        contradictions,
    )  # its analysis takes long to import

    text = without_quotes(one.text)
    for name, record in records.items():
        for span, theirs in contradictions(text, without_quotes(record)):
            if other_language(text, ENGLISH):
                return None
            what = f'says "{text[slice(*span)]}", the {name} says "{theirs}"'
            return Hit(what, span, evidence={name: record})
    return None


def vocabulary(names: tuple[str, ...]) -> tuple[Term, ...]:
    """The terms of our vocabulary and of further files; ``none`` drops ours.

    Raises:
        DataError: A file is no table of tab-separated values with terms or forms.
    """
    rows = [] if "none" in names else table("vocabulary.v1.tsv")
    for name in (one for one in names if one != "none"):
        try:
            source = Path(name).read_text(encoding="utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(name, f"cannot be read: {error}") from error
        more = list(
            csv.DictReader(
                source, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""
            )
        )
        if not more or not {"term", "forms"} & set(more[0]):
            raise DataError(
                name,
                "has no column 'term' or 'forms'; expected tab-separated id, term, forms, ...",
            )
        rows += more
    terms = [
        Term(form, *(row.get(key) or "" for key in Term._fields[1:]))
        for row in rows
        for form in _forms(row)
    ]
    return tuple(sorted(terms, key=lambda term: -len(term.form)))


def _forms(row: Mapping[str, str]) -> list[str]:
    """The term of a row and its other forms, each once."""
    forms = [row.get("term") or "", *(row.get("forms") or "").split("|")]
    return list(
        dict.fromkeys(form.lower() for text in forms if (form := norm(text)))
    )


@lru_cache(maxsize=8)
def _expressions(
    terms: tuple[Term, ...],
) -> tuple[re.Pattern[str], dict[str, Term]]:
    by_form = {term.form.casefold(): term for term in reversed(terms)}
    forms = "|".join(re.escape(term.form) for term in terms)
    return re.compile(
        rf"(?<!\w)(?:{forms})(?!\w)" if forms else "(?!)", re.I
    ), by_form


@check("ALT301")
def term(one: Occurrence, setting: LintSetting) -> Hit | None:
    """Terms of the active vocabularies."""
    expression, by_form = _expressions(tuple(setting.terms))
    text = one.judged
    if one.work_title:
        text = text.replace(one.work_title, " " * len(one.work_title))
    for found in expression.finditer(text):
        entry = by_form.get(found[0].casefold())
        if entry is None:
            continue  # an expression takes the dotless letter of "ınsane" for an i
        if entry.exceptions and any(
            other.start() <= found.start() < other.end()
            for other in re.finditer(entry.exceptions, text, re.I)
        ):
            continue
        if entry.language and entry.language != (
            base_language(one.language) or entry.language
        ):
            continue
        if one.own_words & {"*", found[0].casefold()}:
            continue
        advice = f'; consider "{entry.suggestion}"' if entry.suggestion else ""
        return Hit(
            f'contains the {entry.kind or "listed"} term "{found[0]}"{advice}',
            found.span(),
        )
    return None
