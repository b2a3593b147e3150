"""Askers of rows: a caption of pictures, a category, a translation, a variation."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from beholder.asking.asker import ValueInfo
from beholder.asking.params import param
from beholder.data.sample import NONE, SEVERAL
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.judges import Judge, operations
from beholder.kinds.generation.generators import (
    CHARACTERS,
    WORDS,
    GeneratedText,
    Parts,
    TextGenerator,
)
from beholder.metrics import Tools
from beholder.records import Item
from beholder.text import n_spoken, without_marks
from beholder.text.languages import (
    canonical_language,
    has_blanks,
    language_named,
)

OTHER_LENGTH = "other length"
_CANDIDATE = "candidate"


@dataclass(frozen=True)
class RowColumns:
    """Group columns that rows get.

    Attributes:
        system: Author of the caption.
        language: The language of a caption (where the row names none) or a translation.
        category: The category.
        dataset: Data set of a caption.
        named_dataset: Name of the data set in the captions; empty keeps that of the row.
    """

    system: str = "system"
    language: str = "language"
    category: str = "category"
    dataset: str = "dataset"
    named_dataset: str = ""


@dataclass(frozen=True)
class RowAsker(TextGenerator[Item]):
    """Base of generators that take a row and return a row."""

    foresees_calls: ClassVar[bool] = True

    def row(
        self,
        item: Item,
        parts: Parts,
        system: str,
        judge: str,
        columns: RowColumns,
    ) -> Item:
        """Return the new row; its ``meta`` has the configuration under the generator's name.

        Args:
            item: The row.
            parts: Texts or labels made of the row.
            system: Name of the judge as a system.
            judge: Identity of the judge.
            columns: Names of the group columns.
        """
        new_row = self._row(item, parts, system, columns)
        # The origin travels with the row: files of several runs are often merged.
        origin = {**self.config(), "judge": judge}
        return replace(
            new_row, meta={**new_row.meta, self.registered_name: origin}
        )

    @abstractmethod
    def _row(
        self, item: Item, parts: Parts, system: str, columns: RowColumns
    ) -> Item: ...


@dataclass(frozen=True)
class CaptionRow(RowAsker):
    """A description of an item's pictures becomes the candidate.

    Without ``words`` it may have any length. One that has not the number of words asked for is
    asked for once more; what comes then is kept, counted (``asked_again``, ``other_length``), and
    belongs to a data set of its own, so that no table mixes it with texts of the length asked for.
    Texts in languages without blanks between words are not measured.

    Raises:
        ConfigError: The numbers of words are not a range.
    """

    registered_name: ClassVar[str] = "caption"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        WORDS,
        CHARACTERS,
        ValueInfo(
            "asked_again",
            "1 where the first text was too long or too short, else 0",
            higher_is_better=False,
        ),
        ValueInfo(
            "other_length",
            "1 where the second one was, too, else 0",
            higher_is_better=False,
        ),
    )
    needs = (operations.Caption,)
    operations: ClassVar[tuple[str, ...]] = ("caption", "caption_again")

    language: str = param("English", "language to write in")
    words: tuple[int, int] | None = param(
        None, "fewest and most words; None for any length"
    )
    context: str = param("", "what the collection is, in the user's own words")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.words:
            check_words(self.words)

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Return the operations that are used; a text of any length is asked for once."""
        return self.operations if self.words else ("caption",)

    def check(self, subject: Item) -> None:
        """Refuse an item without pictures."""
        check_pictures(subject)

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return one text, with the first one as its source if it was asked for again."""
        question = operations.Caption(
            await tools.pictures.read(subject.images),
            language=self.language,
            words=self.words,
            context=self.context,
        )
        # The length is asked for once more, not until it fits: a model that misses it twice would
        # miss it often, and the second text says so.
        first = await judge.ask(question)
        if self._fits(first):
            return (GeneratedText(first),)
        again = operations.CaptionAgain(**vars(question), earlier=first)
        second = await judge.ask(again)
        return (
            GeneratedText(
                second, "" if self._fits(second) else OTHER_LENGTH, first
            ),
        )

    def measure(self, parts: Parts) -> dict[str, float]:
        """Return length, 1 if the text was asked for twice, and 1 if its length is wrong."""
        (part,) = parts
        return super().measure(parts) | {
            "asked_again": float(bool(part.source)),
            "other_length": float(part.label == OTHER_LENGTH),
        }

    def cautions(self, columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
        """Return a caution that counts texts of another length than the one asked for."""
        marked = columns.get("other_length", np.zeros(0))
        n, n_others = len(marked), int(marked.sum())
        if not n_others or not self.words:
            return ()
        low, high = self.words
        return (
            f"{n_others:,} of {n:,} texts have not {low} to {high} words, also when asked again",
        )

    def _fits(self, text: str) -> bool:
        if not self.words:
            return True
        low, high = self.words
        # Words of languages without blanks between them cannot be counted.
        language = language_named(self.language)
        return (
            language is not None and not has_blanks(language)
        ) or low <= n_spoken(text) <= high

    def _row(
        self, item: Item, parts: Parts, system: str, columns: RowColumns
    ) -> Item:
        group = (
            {columns.language: canonical_language(self.language)}
            | dict(item.group)
            | {columns.system: system}
        )
        # The row's own language wins, as it may name a dialect; a text of another length gets
        # a data set of its own.
        dataset = [
            columns.named_dataset or group.get(columns.dataset, ""),
            parts[0].label,
        ]
        if any(dataset):
            group[columns.dataset] = ", ".join(filter(None, dataset))
        return replace(
            item,
            id=f"{item.id}/{system}",
            candidate=parts[0].text,
            group=group,
        )


@dataclass(frozen=True)
class ClassifyRow(RowAsker):
    """The category of an item becomes a group column.

    A single category names the group. Two that both clearly apply are ``several``, none is
    ``none``; both with their ratings are in ``meta.categories``.

    Raises:
        ConfigError: There is no category, one has a name that means something else, or ``by`` names
            nothing that can be sorted.
    """

    registered_name: ClassVar[str] = "classify"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("clear", "1 where a category is rated High, else 0"),
        ValueInfo(
            "categories",
            "categories that fit",
            high=2.0,
            higher_is_better=None,
        ),
    )
    needs = (operations.Classify,)

    categories: Mapping[str, str] = param(help="meaning by name")
    by: Literal["picture", "candidate", "reference"] = param(
        "picture", "what is sorted; of the references, the first"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.categories:
            raise ConfigError(
                'there is no category to sort into; give {"name": "what it means"}'
            )
        # These two names are the values of rows with several categories or none.
        for name in (SEVERAL, NONE):
            if name in self.categories:
                raise ConfigError(
                    f"a category may not be called {name!r}: it has a meaning"
                )

    @property
    def looks(self) -> bool:
        """Return whether pictures are sorted."""
        return self.by == "picture"

    def check(self, subject: Item) -> None:
        """Refuse an item without the part that is classified."""
        if self.looks:
            check_pictures(subject)
        elif not self._text(subject).strip():
            raise ItemError(f"there is no {self.by} to sort")

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return a part per category that fits, labelled with its rating."""
        if self.looks:
            images = await tools.pictures.read(subject.images)
            question = operations.Classify(self.categories, images)
        else:
            question = operations.Classify(
                self.categories, text=self._text(subject)
            )
        categories = await judge.ask(question)
        return tuple(
            GeneratedText(category.name, category.rating)
            for category in categories
        )

    def measure(self, parts: Parts) -> dict[str, float]:
        """Return the number of categories that fit, and whether one is rated High."""
        clear = any(part.label == "High" for part in parts)
        return {"clear": float(clear), "categories": float(len(parts))}

    def _row(
        self, item: Item, parts: Parts, system: str, columns: RowColumns
    ) -> Item:
        ratings = [{"name": part.text, "rating": part.label} for part in parts]
        group = {**item.group, columns.category: category_of(parts)}
        return replace(
            item, group=group, meta={**item.meta, "categories": ratings}
        )

    def _text(self, item: Item) -> str:
        if self.by == "reference":
            return item.references[0] if item.references else ""
        return item.candidate


@dataclass(frozen=True)
class TranslateRow(RowAsker):
    """Candidate and references, clause by clause, in another language; without marks of speech."""

    registered_name: ClassVar[str] = "translate"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        WORDS,
        CHARACTERS,
        ValueInfo(
            "clauses",
            "clauses, all texts together",
            high=1e9,
            higher_is_better=None,
        ),
    )
    needs = (operations.Translate,)

    source: str = param(help="language of the texts")
    target: str = param(help="language to write in")

    looks = False
    """Texts are translated unseen."""

    def check(self, subject: Item) -> None:
        """Refuse an item without a text."""
        if not (subject.candidate.strip() or subject.references):
            raise ItemError("there is no text to translate")

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return a part per clause, labelled with the name of its text."""

        async def clauses(label: str, text: str) -> list[GeneratedText]:
            spoken = without_marks(text).strip()
            if not spoken:
                return []
            translations = await judge.ask(
                operations.Translate(spoken, self.source, self.target)
            )
            return [
                GeneratedText(clause.translation, label, clause.source)
                for clause in translations
            ]

        # Each text is a question of its own: a text that occurs in several rows is paid once.
        texts = {_CANDIDATE: subject.candidate} | {
            _reference(place): text
            for place, text in enumerate(subject.references, start=1)
        }
        clause_lists = await asyncio.gather(
            *(clauses(label, text) for label, text in texts.items())
        )
        return tuple(part for parts in clause_lists for part in parts)

    def measure(self, parts: Parts) -> dict[str, float]:
        """Return the total lengths of all texts of the row."""
        return {
            WORDS.name: float(sum(len(part.text.split()) for part in parts)),
            CHARACTERS.name: float(sum(len(part.text) for part in parts)),
            "clauses": float(len(parts)),
        }

    def _row(
        self, item: Item, parts: Parts, system: str, columns: RowColumns
    ) -> Item:
        # A text without clauses had only marks of speech, and stays as it is.
        def join_clauses(label: str, text: str) -> str:
            return (
                " ".join(part.text for part in parts if part.label == label)
                or text
            )

        return replace(
            item,
            id=f"{item.id}/{self.target}",
            candidate=join_clauses(_CANDIDATE, item.candidate),
            references=tuple(
                join_clauses(_reference(place), text)
                for place, text in enumerate(item.references, 1)
            ),
            group={
                **item.group,
                columns.language: canonical_language(self.target),
            },
        )


@dataclass(frozen=True)
class VaryRow(RowAsker):
    """A rewritten candidate; the row has the original text as its reference."""

    registered_name: ClassVar[str] = "vary"
    needs = (operations.Vary,)

    manner: Literal["paraphrase", "style", "tense", "summary", "expansion"] = (
        param("paraphrase", "what changes, while all that is said stays")
    )

    looks = False
    """Texts are varied unseen."""

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return the rewritten text."""
        return (
            GeneratedText(
                await judge.ask(
                    operations.Vary(subject.candidate, self.manner)
                )
            ),
        )

    def _row(
        self, item: Item, parts: Parts, system: str, columns: RowColumns
    ) -> Item:
        # With the original as its reference, the row shows how a metric takes the change.
        name, text = f"{item.id}/{self.manner}", parts[0].text
        return replace(
            item, id=name, candidate=text, references=(item.candidate,)
        )


def category_of(parts: Parts) -> str:
    """Return the only category, or the value for none or several."""
    if not parts:
        return NONE
    return parts[0].text if len(parts) == 1 else SEVERAL


def check_words(words: Any) -> None:
    """Check a range of words.

    Raises:
        ConfigError: The range is empty or begins below 1.
    """
    low, high = words
    if not 1 <= low <= high:
        raise ConfigError(
            f"words={low}-{high}: expected fewest and most words, from 1"
        )


def _reference(place: int) -> str:
    return f"reference {place}"


def check_pictures(item: Item) -> None:
    """Refuse an item without pictures."""
    if not item.images:
        hint = "; --frames N takes pictures of its video" if item.video else ""
        raise ItemError(f"there is no picture to look at{hint}")
