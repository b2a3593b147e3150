"""Rules that compare a text with its page, caption or a vocabulary: ALT201 to ALT206, ALT301."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from beholder.errors import DataError
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit, LintSetting, Term, check, table
from beholder.lint.texts import content_words
from beholder.lint.wording import (
    fold,
    is_in_name,
    listed,
    norm,
    without_quotes,
    words,
)
from beholder.text.expected_language import other_language
from beholder.text.languages import (
    ENGLISH,
    LITTLE_WORDS,
    base_language,
    language_named,
    script_named,
)


@check("ALT201")
def repeats_text(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts that repeat the block, link or button, or a neighbouring link."""
    evidence = {"nearby": occurrence.nearby}
    if (
        occurrence.nearby
        and norm(occurrence.nearby).lower() == occurrence.text.lower()
    ):
        return Hit("equals the text beside the picture", evidence=evidence)
    nearby_words = words(occurrence.nearby.casefold())
    text_words = [word.casefold() for word in words(occurrence.judged)]
    # Fewer than four words recur by chance, and over 400 are an article that
    # may well repeat a text.
    if (
        len(text_words) >= 4
        and len(nearby_words) <= 400
        and _within(text_words, nearby_words)
    ):
        return Hit("is word for word beside the picture", evidence=evidence)
    if occurrence.fold and occurrence.fold in map(fold, occurrence.neighbours):
        return Hit(
            "equals the text of a neighbouring link with the same target"
        )
    return None


def _within(part_words: list[str], all_words: list[str]) -> bool:
    n = len(part_words)
    return any(
        all_words[at : at + n] == part_words
        for at in range(len(all_words) - n + 1)
    )


@check("ALT202")
def repeats_caption(
    occurrence: Occurrence, setting: LintSetting
) -> Hit | None:
    """Find texts that repeat the caption, in any order of words."""
    if not occurrence.caption or not occurrence.fold:
        return None
    evidence = {"caption": occurrence.caption}
    if occurrence.fold == fold(occurrence.caption):
        return Hit("equals the caption", evidence=evidence)
    # The words are compared, not their order: the smaller bag must be part of
    # the larger and nearly as large.
    text = Counter(word.casefold() for word in occurrence.words)
    caption = Counter(word.casefold() for word in words(occurrence.caption))
    small, large = sorted((text, caption), key=lambda bag: bag.total())
    if (
        small.total() < 4
        or small - large
        or small.total() < 0.9 * large.total()
    ):
        return None
    # Both name the work. With three more words, the text says more than the
    # title does.
    title = Counter(words(occurrence.work_title.casefold()))
    if (
        title
        and not title - text
        and not title - caption
        and (text - title).total() >= 3
    ):
        return None
    return Hit("has the words of the caption", evidence=evidence)


@check("ALT203")
def target_not_named(
    occurrence: Occurrence, setting: LintSetting
) -> Hit | None:
    """Find link texts such as "click here" on links that contain only the picture."""
    if (
        occurrence.image_only
        and occurrence.fold in listed("link", occurrence.language)
        and content_words(occurrence) is not None
    ):
        return Hit(
            f'"{occurrence.text}" does not name the target',
            evidence={"target": occurrence.link or ""},
        )
    return None


@check("ALT204")
def title_repeats(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find title attributes that are equal to alt."""
    is_repeated = (
        occurrence.text_from == "alt"
        and occurrence.title
        and fold(occurrence.title) == occurrence.fold
    )
    return (
        Hit("equals the title attribute", evidence={"title": occurrence.title})
        if is_repeated
        else None
    )


@check("ALT205")
def language(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find texts in another language than the page."""
    page = language_named(occurrence.language)
    if page is None or occurrence.own_language:
        return None
    text = without_quotes(occurrence.text)
    lowercase_words = [word for word in words(text) if not word[0].isupper()]
    plain_words = [
        word for word in lowercase_words if word not in LITTLE_WORDS
    ]
    if len(plain_words) < 2 and not (plain_words and len(lowercase_words) > 2):
        return None  # a name
    why = other_language(text, page, script_named(occurrence.language))
    return (
        Hit(
            f"{why}; the page is in {page}",
            evidence={"language": occurrence.language},
        )
        if why
        else None
    )


@check("ALT206")
def contradicts(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find a value, such as a colour or number, that caption or title of the work exclude."""
    records = {"caption": occurrence.caption, "title": occurrence.work_title}
    if language_named(occurrence.language) not in (None, ENGLISH) or not any(
        records.values()
    ):
        return None
    from beholder.lint.contradictions import (
        contradictions,
    )  # its analysis takes long to import

    text = without_quotes(occurrence.text)
    for name, record in records.items():
        for span, record_word in contradictions(text, without_quotes(record)):
            # Checked only for a hit, because it takes longer than all the
            # rest.
            if other_language(text, ENGLISH):
                return None
            what = (
                f'says "{text[slice(*span)]}", the {name} says "{record_word}"'
            )
            return Hit(what, span, evidence={name: record})
    return None


def vocabulary(names: tuple[str, ...]) -> tuple[Term, ...]:
    """Return the terms of the built-in vocabulary and of files; ``none`` drops the built-in ones.

    Raises:
        DataError: A file cannot be read, or has neither a column ``term`` nor ``forms``.
    """
    rows = [] if "none" in names else table("vocabulary.v1.tsv")
    for name in (path for path in names if path != "none"):
        try:
            source = Path(name).read_text(encoding="utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(name, f"cannot be read: {error}") from error
        file_rows = list(
            csv.DictReader(
                source, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""
            )
        )
        if not file_rows or not {"term", "forms"} & set(file_rows[0]):
            raise DataError(
                name,
                "has no column 'term' or 'forms'; expected tab-separated id, term, forms, ...",
            )
        rows += file_rows
    terms = [
        Term(form, *(row.get(key) or "" for key in Term._fields[1:]))
        for row in rows
        for form in _forms(row)
    ]
    # Longest first, so that a term is found before its parts.
    return tuple(sorted(terms, key=lambda term: -len(term.form)))


def _forms(row: Mapping[str, str]) -> list[str]:
    """Return the term of a row and its other forms, without repeats."""
    texts = [row.get("term") or "", *(row.get("forms") or "").split("|")]
    forms = [norm(text).lower() for text in texts]
    return list(dict.fromkeys(filter(None, forms)))


@lru_cache(maxsize=8)
def _expressions(
    terms: tuple[Term, ...],
) -> tuple[re.Pattern[str], dict[str, Term]]:
    # Reversed, so that the first of two terms with one form counts.
    by_form = {term.form.casefold(): term for term in reversed(terms)}
    forms = "|".join(re.escape(term.form) for term in terms)
    return re.compile(
        rf"(?<!\w)(?:{forms})(?!\w)" if forms else "(?!)", re.I
    ), by_form


@check("ALT301")
def term(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find terms of the active vocabularies."""
    expression, by_form = _expressions(tuple(setting.terms))
    # Titles and signs are words of others.
    text = without_quotes(occurrence.judged)
    # A title is quoted. Blanks of its length keep all spans valid.
    if occurrence.work_title:
        text = text.replace(
            occurrence.work_title, " " * len(occurrence.work_title)
        )
    for match in expression.finditer(text):
        entry = by_form.get(match[0].casefold())
        if entry is None:
            continue  # an expression takes the dotless letter of "ınsane" for an i
        # An exception is a longer expression around the term that is not meant
        # by it.
        if entry.exceptions and any(
            exception.start() <= match.start() < exception.end()
            for exception in re.finditer(entry.exceptions, text, re.I)
        ):
            continue
        if entry.language and entry.language != (
            base_language(occurrence.language) or entry.language
        ):
            continue
        if occurrence.own_words & {"*", match[0].casefold()}:
            continue
        if is_in_name(text, *match.span()):
            continue
        advice = f'; consider "{entry.suggestion}"' if entry.suggestion else ""
        return Hit(
            f'contains the {entry.kind or "listed"} term "{match[0]}"{advice}',
            match.span(),
        )
    return None
