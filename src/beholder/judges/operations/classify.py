"""Operation that sorts a picture or a text into categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import ModelOperation, Respondent
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import array, obj, one_of, only

Clarity: TypeAlias = Literal["High", "Medium", "Low"]


@dataclass(frozen=True, slots=True)
class Category:
    """A category with how clearly it applies."""

    name: str
    rating: Clarity


@dataclass(frozen=True)
class Classify(ModelOperation[list[Category]], name="classify"):
    """The one or two categories that fit, at most one of them rated High; or none.

    Attributes:
        categories: Description of each category, by name.
        images: The pictures, if it is pictures that are sorted.
        text: The text, if it is a text.

    Raises:
        ItemError: There is no category, or there are not either pictures or a text.
    """

    categories: Mapping[str, str]
    images: Sequence[Image] = ()
    text: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.categories:
            raise ItemError("classify needs at least one category")
        if bool(self.images) == (self.text is not None):
            raise ItemError("classify needs pictures or a text, and not both")

    async def ask_model(self, model: Respondent) -> list[Category]:
        """Ask for at most two categories with their clarity."""
        names = list(self.categories)
        listed = "\n".join(
            f"- {name}: {meaning}" for name, meaning in self.categories.items()
        )
        # Names and ratings are enumerations in the schema: a category that is
        # not listed cannot be returned by a server that keeps to it.
        category = obj(
            self._category,
            name=one_of(names),
            rating=one_of(get_args(Clarity)),
        )
        return await model.json(
            model.render(
                {"text": self.text or ""},
                {"categories": listed},
                parts={"material_note": "picture" if self.images else "text"},
                images=self.images,
            ),
            only("categories", array(category, _few, at_most=2)),
            max_tokens=256,
            typical={"categories": [{"name": names[0], "rating": "High"}]},
        )

    def _category(self, name: str, rating: str) -> Category:
        if name not in self.categories:
            there = ", ".join(self.categories)
            raise BadAnswer(
                f"there is no category {name!r}; there are: {there}"
            )
        if rating not in get_args(Clarity):
            raise BadAnswer(
                f"'rating' must be High, Medium or Low, got {rating!r}"
            )
        return Category(name, cast(Clarity, rating))


def _few(entries: Iterator[Category]) -> list[Category]:
    categories = list(entries)
    if len(categories) > 2 or len(
        {category.name for category in categories}
    ) < len(categories):
        raise BadAnswer("give at most two categories, and each only once")
    if [category.rating for category in categories].count("High") > 1:
        raise BadAnswer("at most one category may be rated High")
    return categories
