"""LLM judge: what it says of pictures, sequences of them, and texts about them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, cast

from beholder.backends import Answer, Image, Sampling
from beholder.errors import ItemError
from beholder.judges.asking import Ask, Asker
from beholder.judges.base import Category, Clause, Rating, Shot
from beholder.judges.fences import neutral
from beholder.judges.reading import (
    BadAnswer,
    get_integer,
    get_list,
    get_text,
    read_object,
    read_text,
)
from beholder.judges.schemas import array, integer, obj, one_of, words
from beholder.judges.templates import Template

_RATING = obj(reason=words(), score=integer(range(1, 11)))
_CLAUSES = obj(clauses=array(obj(source=words(), translation=words())))
_RATINGS = ("High", "Medium", "Low")
_WORD = re.compile(r"[^\W_]+")
_MAY_BE_LEFT_OUT = 0.2
"""Share of words that clauses may lack: judges repeat noise marks and slips loosely."""


async def caption(
    asker: Asker,
    template: Template,
    images: Sequence[Image],
    *,
    language: str,
    min_words: int,
    max_words: int,
    context: str,
    note: str,
    temperature: float,
    replicate: int,
) -> str:
    """A description of pictures."""
    if not images:
        raise ItemError("caption needs a picture; there is none")
    settings = {
        "language": language,
        "min_words": str(min_words),
        "max_words": str(max_words),
        "context": context,
    }
    parts = {
        "context_note": "context" if context else None,
        "known_note": "known" if note else None,
    }
    return await asker.ask(
        Ask(
            operation="caption",
            template=template,
            messages=template.render({"note": note}, settings, parts=parts, images=images),
            sampling=Sampling(temperature, max_tokens=256 + 8 * max_words),
            parse=lambda answer: read_text(answer.text),
            typical="word " * ((min_words + max_words) // 2),
            replicate=replicate,
        )
    )


async def rate(
    asker: Asker,
    operation: Literal["rate_sequence", "rate_transition"],
    template: Template,
    shots: Sequence[Shot],
    *,
    context: str,
    anchors: bool,
    temperature: float,
    replicate: int,
) -> Rating:
    """A rating from 1 to 10 of a sequence, or of one step of it."""
    images = [shot.image for shot in shots if shot.image is not None]
    if images and len(images) < len(shots):
        raise ItemError(f"{operation}: {len(shots) - len(images)} of {len(shots)} pictures missing")
    if not images and not all(shot.caption for shot in shots):
        raise ItemError(f"{operation}: a sequence needs a picture or a caption for each frame")
    lines = [" ".join(filter(None, (shot.note, shot.caption))) or "(no words)" for shot in shots]
    parts = {
        "shots_note": "pictures" if images else "captions",
        "context_note": "context" if context else None,
        "anchors_note": "anchors" if anchors else None,
    }
    return await asker.ask(
        Ask(
            operation=operation,
            template=template,
            messages=template.render(
                {"shot": lines}, {"context": context}, parts=parts, images=images
            ),
            sampling=Sampling(temperature, max_tokens=512),
            parse=_read_rating,
            typical=json.dumps({"reason": "word " * 40, "score": 5}),
            schema=_RATING,
            replicate=replicate,
        )
    )


def _read_rating(answer: Answer) -> Rating:
    row = read_object(answer.text)
    return Rating(get_integer(row, "score", 1, 10), str(row.get("reason", "")).strip())


async def rank(
    asker: Asker,
    template: Template,
    texts: Sequence[str],
    *,
    images: Sequence[Image],
    language: str | None,
    temperature: float,
    replicate: int,
) -> list[int]:
    """Ranks of texts, 1 = best."""
    if len(texts) < 2:
        raise ItemError(f"rank needs at least two texts, got {len(texts)}")
    settings = {"n": str(len(texts)), "language": language or ""}
    parts = {
        "seen_note": "seen" if images else "unseen",
        "language_note": "language" if language else None,
    }
    return await asker.ask(
        Ask(
            operation="rank",
            template=template,
            messages=template.render({"review": texts}, settings, parts=parts, images=images),
            sampling=Sampling(temperature, max_tokens=64 + 8 * len(texts)),
            parse=partial(_read_ranks, n=len(texts)),
            typical=json.dumps({"ranks": list(range(1, len(texts) + 1))}),
            schema=obj(ranks=array(integer(range(1, len(texts) + 1)))),
            replicate=replicate,
        )
    )


def _read_ranks(answer: Answer, n: int) -> list[int]:
    ranks = get_list(read_object(answer.text), "ranks")
    whole = [get_integer({"rank": rank}, "rank", 1, n) for rank in ranks]
    if sorted(whole) != list(range(1, n + 1)):
        raise BadAnswer(f"'ranks' must hold each of 1 to {n} exactly once, got {whole}")
    return whole


async def classify(
    asker: Asker,
    template: Template,
    categories: Mapping[str, str],
    *,
    images: Sequence[Image],
    text: str | None,
    temperature: float,
    replicate: int,
) -> list[Category]:
    """At most two categories, at most one of them High."""
    if not categories:
        raise ItemError("classify needs at least one category")
    if bool(images) == (text is not None):
        raise ItemError("classify needs pictures or a text, and not both")
    listed = "\n".join(f"- {name}: {meaning}" for name, meaning in categories.items())
    return await asker.ask(
        Ask(
            operation="classify",
            template=template,
            messages=template.render(
                {"text": text or ""},
                {"categories": listed},
                parts={"material_note": "picture" if images else "text"},
                images=images,
            ),
            sampling=Sampling(temperature, max_tokens=256),
            parse=partial(_read_categories, names=tuple(categories)),
            typical=json.dumps(
                {"categories": [{"name": next(iter(categories)), "rating": "High"}]}
            ),
            schema=obj(
                categories=array(obj(name=one_of(list(categories)), rating=one_of(_RATINGS)))
            ),
            replicate=replicate,
        )
    )


def _read_categories(answer: Answer, names: tuple[str, ...]) -> list[Category]:
    found = []
    for row in get_list(read_object(answer.text), "categories"):
        name, rating = get_text(row, "name"), get_text(row, "rating")
        if name not in names:
            raise BadAnswer(f"there is no category {name!r}; there are: {', '.join(names)}")
        if rating not in _RATINGS:
            raise BadAnswer(f"'rating' must be High, Medium or Low, got {rating!r}")
        found.append(Category(name, cast(Literal["High", "Medium", "Low"], rating)))
    if len(found) > 2 or len({c.name for c in found}) < len(found):
        raise BadAnswer("give at most two categories, and each only once")
    if [c.rating for c in found].count("High") > 1:
        raise BadAnswer("at most one category may be rated High")
    return found


async def translate(
    asker: Asker,
    template: Template,
    text: str,
    *,
    source: str,
    target: str,
    temperature: float,
    replicate: int,
) -> list[Clause]:
    """A text clause by clause in another language."""
    settings = {"source_language": source, "target_language": target}
    return await asker.ask(
        Ask(
            operation="translate",
            template=template,
            messages=template.render({"text": text}, settings),
            sampling=Sampling(temperature, max_tokens=512 + 3 * len(text.encode("utf-8"))),
            parse=partial(_read_clauses, text=text),
            typical=json.dumps({"clauses": [{"source": text or "-", "translation": text or "-"}]}),
            schema=_CLAUSES,
            replicate=replicate,
        )
    )


def _read_clauses(answer: Answer, text: str) -> list[Clause]:
    rows = get_list(read_object(answer.text), "clauses")
    if not rows:
        raise BadAnswer("'clauses' is empty; the text has at least one clause")
    clauses = [Clause(get_text(row, "source"), get_text(row, "translation")) for row in rows]
    words = Counter(_WORD.findall(neutral(text)))  # as the judge was shown it
    left_out = words - Counter(_WORD.findall(" ".join(clause.source for clause in clauses)))
    if left_out.total() > _MAY_BE_LEFT_OUT * words.total():
        raise BadAnswer(
            f"the clauses leave out {left_out.total()} of {words.total()} words of the text, the"
            f" first is {next(iter(left_out))!r}; go through the whole text"
        )
    return clauses
