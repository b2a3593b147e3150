"""What a ranker finds for the texts of one image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from beholder.stats.annotator_pairs import ranks_of


@dataclass(frozen=True, slots=True)
class Scored:
    """What a ranker found for the texts of one image.

    Attributes:
        values: Values by name, one per text; the first is the one that ranks.
        higher_is_better: Direction of each value.
        orders: For a judge that ranks: per request, the texts in the order shown.
        answers: Per request, the rank of each text (in the order of the data), or why there is
            none.
        unfinished: Whether a request failed for now and should be repeated.
    """

    values: Mapping[str, tuple[int | float, ...]]
    higher_is_better: Mapping[str, bool]
    orders: tuple[tuple[int, ...], ...] = ()
    answers: tuple[tuple[int, ...] | str, ...] = ()
    unfinished: bool = False

    def ranks(self, value: str | None = None) -> tuple[float, ...]:
        """Ranks of the texts by one value; by the first if None."""
        name = next(iter(self.values)) if value is None else value
        return ranks_of(self.values[name], higher_is_better=self.higher_is_better[name])

    def to_detail(self) -> dict[str, object]:
        """The detail of an outcome."""
        return {
            "values": dict(self.values),
            "higher_is_better": dict(self.higher_is_better),
            "orders": self.orders,
            "answers": self.answers,
        }

    @classmethod
    def of(cls, detail: Mapping[str, object]) -> Scored:
        """The record of ``to_detail``.

        Raises:
            msgspec.ValidationError: The detail has another shape; the message names the field.
        """
        return msgspec.convert(detail, cls)
