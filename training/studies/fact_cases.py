"""True and false statements about texts, made by rule: for measuring and for silver data.

False ones are *altered* (one word replaced by another of its kind), *swapped* (what is said of one
thing put on another of the same text), *foreign* (of another text) or *bent* (a relation with
another thing of the text at its end).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["true", "altered", "swapped", "foreign", "bent"]

KINDS: Sequence[Sequence[str]] = (
    (
        "red",
        "blue",
        "green",
        "yellow",
        "black",
        "white",
        "brown",
        "gray",
        "orange",
        "purple",
    ),
    ("two", "three", "four", "five", "six"),
    ("left", "right"),
    ("large", "small"),
    ("wooden", "metal", "plastic", "leather", "brick"),
    ("top", "bottom"),
    ("horizontal", "vertical"),
    ("open", "closed"),
    ("man", "woman"),
)
_TRUE, _FALSE = 16, 6
"""Most statements of a text that are true, and of each false kind."""
_IS = re.compile(r"(The [a-z ]+?) (is|are) (.+)")


@dataclass(frozen=True)
class Statement:
    """A statement about a text.

    Attributes:
        text: The statement.
        kind: ``true``, or how it was made false.
        group: Which text it is about.
    """

    text: str
    kind: Kind
    group: int


def cases(
    texts: Sequence[str], statements: Sequence[Sequence[str]], seed: int
) -> list[list[Statement]]:
    """Statements about each text.

    Args:
        texts: The texts.
        statements: What is true of each.
        seed: Of the choice.
    """
    rng = random.Random(seed)
    cases_of_texts = []
    for place, (text, statements_of_text) in enumerate(
        zip(texts, statements, strict=True)
    ):
        distinct = list(dict.fromkeys(statements_of_text))
        low = {statement.lower() for statement in distinct}
        groups: list[tuple[Kind, list[str], int]] = [
            ("true", distinct, _TRUE),
            (
                "altered",
                [s for s in _altered(distinct, rng) if s.lower() not in low],
                _FALSE,
            ),
            (
                "swapped",
                [s for s in _swapped(distinct) if s.lower() not in low],
                _FALSE,
            ),
            (
                "foreign",
                _foreign(text, statements[(place + 7) % len(texts)]),
                _FALSE,
            ),
        ]
        cases_of_texts.append(
            [
                Statement(statement, kind, place)
                for kind, statements_of_kind, limit in groups
                for statement in rng.sample(
                    statements_of_kind, min(limit, len(statements_of_kind))
                )
            ]
        )
    return cases_of_texts


def _altered(statements: Sequence[str], rng: random.Random) -> list[str]:
    changed = []
    for statement in statements:
        hits = [
            (match, kind)
            for match in re.finditer(r"[A-Za-z]+", statement)
            for kind in KINDS
            if match.group() in kind
        ]
        if hits:
            match, kind = rng.choice(hits)
            word = rng.choice(
                [
                    other_word
                    for other_word in kind
                    if other_word != match.group()
                ]
            )
            changed.append(
                statement[: match.start()] + word + statement[match.end() :]
            )
    return changed


def _swapped(statements: Sequence[str]) -> list[str]:
    parts_of_statements = [
        match.groups() for s in statements if (match := _IS.fullmatch(s))
    ]
    first = {
        (name, quality.split()[0]) for name, _, quality in parts_of_statements
    }
    return [
        f"{name} {verb} {quality}"
        for name, verb, _ in parts_of_statements
        for other_name, other_verb, quality in parts_of_statements
        if name != other_name
        and verb == other_verb
        and (name, quality.split()[0]) not in first
    ]


def _foreign(text: str, statements: Sequence[str]) -> list[str]:
    words_of_text = set(re.findall(r"[a-z]+", text.lower()))
    kept_statements = []
    for statement in statements:
        words = [
            word
            for word in re.findall(r"[a-z]+", statement.lower())
            if len(word) > 3
        ]
        if sum(word in words_of_text for word in words) <= max(
            1, 0.5 * len(words)
        ):
            kept_statements.append(statement)
    return kept_statements
