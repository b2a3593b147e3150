"""What a ranker says of the texts of one image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beholder.stats.annotator_pairs import ranks_of


@dataclass(frozen=True, slots=True)
class Scored:
    """What a ranker found for the texts of one image.

    Attributes:
        values: Values by name, one per text; the first is the one that ranks.
        higher_is_better: Direction per value.
        orders: For a judge that ranks: per request the texts in the order shown.
        answers: Per request the rank of each text (in the order of the data), or why there is none.
        unfinished: Whether an answer could not be had now, so that it should be asked for again.
    """

    values: Mapping[str, tuple[float, ...]]
    higher_is_better: Mapping[str, bool]
    orders: tuple[tuple[int, ...], ...] = ()
    answers: tuple[tuple[int, ...] | str, ...] = ()
    unfinished: bool = False

    def ranks(self, value: str | None = None) -> tuple[float, ...]:
        """Ranks of the texts by one value; by the first if None."""
        name = next(iter(self.values)) if value is None else value
        return ranks_of(self.values[name], higher_is_better=self.higher_is_better[name])

    def to_detail(self) -> dict[str, Any]:
        """What an outcome keeps as its detail."""
        return {
            "values": dict(self.values),
            "higher_is_better": dict(self.higher_is_better),
            "orders": self.orders,
            "answers": self.answers,
        }

    @classmethod
    def of(cls, detail: Mapping[str, Any]) -> Scored:
        """The record of ``to_detail``."""
        return cls(
            values={name: tuple(numbers) for name, numbers in detail["values"].items()},
            higher_is_better=dict(detail["higher_is_better"]),
            orders=tuple(tuple(order) for order in detail["orders"]),
            answers=tuple(a if isinstance(a, str) else tuple(a) for a in detail["answers"]),
        )
