"""The field ``context`` of a row: what is known of the page that shows a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from beholder.errors import ItemError
from beholder.records import Item
from beholder.text import words
from beholder.text.languages import ENGLISH, language_named

Role = Literal["functional", "decorative", "figure", "complex", "text", "informative"]
Names = Literal["used", "left_out", "other", "none_known"]

MOST_WORDS = 4_000
"""Words of a page that a judge is shown at most; nothing is cut."""

_NAME = re.compile(r"\b[A-Z]\w*(?:['’-]\w+)*(?: (?:de|van|von|der|of)(?= [A-Z])| [A-Z][\w'’-]*)*")


class PictureContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of the page that shows a picture; all fields may be absent.

    Attributes:
        page_text: Text of the page near the picture.
        caption: Caption of the picture.
        role: What the picture is on the page, as ``beholder lint`` names it.
        link_target: Address or title that the picture links to.
        language: Language of the page, a name or a code.
        names: Names of who or what is shown, from people who know.
        date: When the picture was made.
        long: A longer description beside the alternative text.
    """

    page_text: str | None = None
    caption: str | None = None
    role: Role | None = None
    link_target: str | None = None
    language: str | None = None
    names: tuple[str, ...] = ()
    date: str | None = None
    long: str | None = None

    def parts(self, *, names: bool = True) -> dict[str, str]:
        """The parts that are known, under the names that judges use."""
        known = {
            "page": self.page_text,
            "caption": self.caption,
            "link": self.link_target,
            "role": self.role,
            "names": ", ".join(self.names) if names else "",
            "date": self.date,
            "long description": self.long,
        }
        return {name: text for name, text in known.items() if text and text.strip()}


def context_of(item: Item) -> PictureContext:
    """The context of a row; an empty one if it has none.

    Raises:
        ItemError: It has another form, or its page is too long; names the field.
    """
    given = item.meta.get("context") or {}
    try:
        found = msgspec.convert(
            json.loads(given) if isinstance(given, str) else given, PictureContext
        )
    except (ValueError, msgspec.ValidationError) as error:
        raise ItemError(
            f"context: {error}; expected an object with page_text, caption, ..."
        ) from None
    if (n := len(words(found.page_text or ""))) > MOST_WORDS:
        raise ItemError(
            f"context.page_text has {n:,} words, and a judge is shown at most {MOST_WORDS:,}; give"
            " the text near the picture"
        )
    return found


def names_used(text: str, context: PictureContext) -> tuple[Names, list[str]]:
    """Whether a text names who is shown, and the names in it that nothing known supports.

    Known are the context's ``names`` and, in English, capitalised names of the caption. A name is
    used where its last word is in the text.
    """
    english = language_named(context.language or "") in (None, ENGLISH)
    known = [*context.names, *(_names(context.caption or "") if english else ())]
    said = set(folded(text))
    supported = {word for part in context.parts().values() for word in folded(part)}
    strange = [
        name for name in (_names(text) if english else ()) if not supported & set(folded(name))
    ]
    if any(folded(name)[-1] in said for name in known if folded(name)):
        return "used", strange
    return ("other" if strange else "left_out" if known else "none_known"), strange


def folded(text: str) -> list[str]:
    """The words of a text without case."""
    return [text[start:end].casefold() for start, end in words(text)]


def _names(text: str) -> Iterator[str]:
    """Capitalised names; a single word that begins a sentence is none."""
    for found in _NAME.finditer(text):
        begins = re.search(r"(?:^|[.!?:]['\"”’]?)\s*$", text[: found.start()]) is not None
        if not begins:
            yield found[0]
        elif " " in found[0]:
            first, rest = found[0].split(" ", 1)
            yield rest if first.lower() in _ARTICLES else found[0]


_ARTICLES = frozenset(("a", "an", "the", "in", "on", "at", "her", "his", "its", "this", "two"))
