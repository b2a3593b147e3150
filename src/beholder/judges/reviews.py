"""LLM judge: reviews of a picture of several kinds, for people and models to rank."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial

from beholder.backends import Answer, Image, Sampling
from beholder.errors import ItemError
from beholder.judges.asking import Ask, Asker
from beholder.judges.reading import BadAnswer, get_list, read_object
from beholder.judges.schemas import array, obj, words
from beholder.judges.templates import Template

MOST_UNEQUAL = 1.5
"""The longest review has at most so many times the characters of the shortest."""

_REVIEWS = obj(reviews=array(words()))
_LIST_LINE = re.compile(r"^\s*(?:[-*•・]\s|\d+[.)．]\s|#)", re.MULTILINE)


async def review(
    asker: Asker,
    template: Template,
    images: Sequence[Image],
    kinds: Sequence[str],
    *,
    language: str,
    n_words: int,
    temperature: float,
    replicate: int,
) -> list[str]:
    """One review per kind."""
    if not images:
        raise ItemError("review needs a picture; there is none")
    listed = "\n".join(f"{number}. {kind}" for number, kind in enumerate(kinds, start=1))
    settings = {
        "n": str(len(kinds)),
        "language": language,
        "words": str(n_words),
        "characters": str(2 * n_words),
        "kinds": listed,
    }
    return await asker.ask(
        Ask(
            operation="review",
            template=template,
            messages=template.render({}, settings, images=images),
            sampling=Sampling(temperature, max_tokens=256 + 8 * n_words * len(kinds)),
            parse=partial(_read_reviews, n=len(kinds)),
            typical=json.dumps(
                {"reviews": [f"{number} " + "word " * n_words for number in range(len(kinds))]}
            ),
            schema=_REVIEWS,
            replicate=replicate,
        )
    )


def _read_reviews(answer: Answer, n: int) -> list[str]:
    texts = get_list(read_object(answer.text), "reviews")
    if len(texts) != n or not all(isinstance(text, str) and text.strip() for text in texts):
        raise BadAnswer(f"'reviews' must hold {n} texts, none of them empty")
    reviews = [text.strip() for text in texts]
    if len(set(reviews)) < n:
        raise BadAnswer("two reviews are the same")
    for number, text in enumerate(reviews, start=1):
        if _LIST_LINE.search(text):
            raise BadAnswer(f"review {number} has a list or heading; write running text")
    lengths = [len(text) for text in reviews]
    if max(lengths) > MOST_UNEQUAL * min(lengths):
        raise BadAnswer(
            f"the reviews have {min(lengths)} to {max(lengths)} characters; the longest may have at"
            f" most {MOST_UNEQUAL:g} times the shortest"
        )
    return reviews
