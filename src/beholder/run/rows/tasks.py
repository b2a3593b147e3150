"""What may be asked of each row: a caption of its pictures, its category, its translation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias

from beholder.backends import Image
from beholder.backends.images import Pictures
from beholder.errors import ItemError
from beholder.judges import Judge, operations
from beholder.records import Item

Basis: TypeAlias = Literal["picture", "candidate", "reference"]


class Task(Protocol):
    """Makes one row of another."""

    @property
    def operation(self) -> str:
        """The judge's operation."""

    def settings(self) -> dict[str, Any]:
        """What is told to the judge, for the record beside each row."""

    async def make(self, item: Item, judge: Judge, system: str) -> Item:
        """The new row.

        Raises:
            ItemError: The row lacks what is asked about, or the answer cannot be used.
        """


@dataclass(frozen=True)
class Caption:
    """A description of an item's pictures becomes the candidate.

    Attributes:
        pictures: The pictures.
        language: Language to write in.
        words: Fewest and most words.
        context: What the collection is, in the user's own words.
        system_column: Group column that names who wrote it.
        language_column: Group column that names the language, where the row has none.
    """

    pictures: Pictures
    language: str = "English"
    words: tuple[int, int] = (20, 200)
    context: str = ""
    system_column: str = "system"
    language_column: str = "language"
    operation = "caption"

    def settings(self) -> dict[str, Any]:
        """See ``Task.settings``."""
        return {"language": self.language, "words": list(self.words), "context": self.context}

    async def make(self, item: Item, judge: Judge, system: str) -> Item:
        """See ``Task.make``."""
        question = operations.Caption(
            await _shown(item, self.pictures),
            language=self.language,
            min_words=self.words[0],
            max_words=self.words[1],
            context=self.context,
        )
        text = await judge.ask(question)
        known = {self.language_column: self.language} | dict(item.group)
        group = known | {self.system_column: system}
        return replace(item, id=f"{item.id}/{system}", candidate=text, group=group)


@dataclass(frozen=True)
class Classify:
    """The category of an item becomes a group column.

    A single category names the group. Two that both clearly apply are ``several``, none is
    ``none``; both with their ratings stand in ``meta.categories``.

    Attributes:
        pictures: The pictures.
        categories: Meaning by name.
        by: What is sorted: the picture, the candidate, or the first reference.
        column: The group column.
    """

    pictures: Pictures
    categories: Mapping[str, str]
    by: Basis = "picture"
    column: str = "category"
    operation = "classify"

    def settings(self) -> dict[str, Any]:
        """See ``Task.settings``."""
        return {"categories": dict(self.categories), "by": self.by}

    async def make(self, item: Item, judge: Judge, system: str) -> Item:
        """See ``Task.make``."""
        if self.by == "picture":
            images = await _shown(item, self.pictures)
            question = operations.Classify(self.categories, images)
        else:
            question = operations.Classify(self.categories, text=self._text(item))
        found = await judge.ask(question)
        name = found[0].name if len(found) == 1 else "several" if found else "none"
        ratings = [{"name": category.name, "rating": category.rating} for category in found]
        return replace(
            item,
            group={**item.group, self.column: name},
            meta={**item.meta, "categories": ratings},
        )

    def _text(self, item: Item) -> str:
        texts = item.references[:1] if self.by == "reference" else (item.candidate,)
        if not texts or not texts[0].strip():
            raise ItemError(f"there is no {self.by} to sort")
        return texts[0]


@dataclass(frozen=True)
class Translate:
    """Candidate and references, clause by clause, in another language.

    Attributes:
        source: Language of the texts.
        target: Language to write in.
        column: Group column that names the language.
    """

    source: str
    target: str
    column: str = "language"
    operation = "translate"

    def settings(self) -> dict[str, Any]:
        """See ``Task.settings``."""
        return {"source": self.source, "target": self.target}

    async def make(self, item: Item, judge: Judge, system: str) -> Item:
        """See ``Task.make``."""
        if not (item.candidate.strip() or item.references):
            raise ItemError("there is no text to translate")

        async def whole(text: str) -> str:
            if not text.strip():
                return text
            clauses = await judge.ask(operations.Translate(text, self.source, self.target))
            return " ".join(clause.translation for clause in clauses)

        candidate, *references = await asyncio.gather(
            *(whole(text) for text in (item.candidate, *item.references))
        )
        return replace(
            item,
            id=f"{item.id}/{self.target}",
            candidate=candidate,
            references=tuple(references),
            group={**item.group, self.column: self.target},
        )


async def _shown(item: Item, pictures: Pictures) -> list[Image]:
    if not item.images:
        raise ItemError("there is no picture to look at")
    return await pictures.read(item.images)
