"""What puts the texts of one image in order: the contract, and ranking by any metric."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from beholder.errors import ItemError
from beholder.kinds.ranking.scored import Scored
from beholder.metrics.asker import Asker, ValueInfo
from beholder.metrics.base import Metric
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore, Reviews


@dataclass(frozen=True)
class Ranker(Asker[Reviews]):
    """Base of what ranks the texts of one image.

    Its outcome's detail is a ``Scored``; the correlation with people is taken when it is read, as
    their ranks may come later.
    """

    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("correlation", "mean Spearman with the two annotators who agree best", -1.0),
    )

    @abstractmethod
    async def rank(self, reviews: Reviews, tools: Tools) -> Scored:
        """What is found for the texts.

        Raises:
            ItemError: Nothing can be found; the message says why.
        """

    async def evaluate(self, subject: Reviews, tools: Tools) -> ItemScore:
        """Rank one set of texts."""
        self.check(subject)
        found = await self.rank(subject, tools)
        signature = self.signature(self.identities(tools))
        return ItemScore({}, (), signature, found.to_detail(), found.unfinished)


@dataclass(frozen=True)
class ByMetric(Ranker):
    """Ranks texts by a metric's first value.

    Attributes:
        metric: The metric; the ranker has its name and its signature.
    """

    metric: Metric[Any]

    @property
    def name(self) -> str:
        """Canonical name of the metric."""
        return self.metric.name

    def config(self) -> dict[str, Any]:
        """Fields of the metric."""
        return self.metric.config()

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """Signature of the metric."""
        return self.metric.signature(identities)

    def tool_specs(self) -> list[tuple[str, str]]:
        """Tools of the metric."""
        return self.metric.tool_specs()

    @property
    def looks(self) -> bool:
        """Whether the metric does."""
        return self.metric.looks

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """What the metric asks."""
        return self.metric.operations_asked

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the metric's tools."""
        return self.metric.identities(tools)

    def prepare(self, subjects: Iterable[Reviews]) -> Self:
        """The metric, prepared on all texts."""
        texts = (item for reviews in subjects for item in items_of(reviews))
        return replace(self, metric=self.metric.prepare(texts))

    def state(self) -> Mapping[str, Any] | None:
        """What the metric knows of all texts."""
        return self.metric.state()

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """The metric, as it was prepared on all texts."""
        return replace(self, metric=self.metric.with_state(state))

    def check(self, subject: Reviews) -> None:
        """Refuse a set with a text that lacks what the metric needs."""
        for number, item in enumerate(items_of(subject), start=1):
            try:
                self.metric.check_item(item)
            except ItemError as error:
                raise type(error)(f"text {number}: {error}") from error

    def check_tools(self, subject: Reviews, tools: Tools) -> None:
        """Refuse a set in a language that one of the metric's tools does not read."""
        for item in items_of(subject):
            self.metric.check_tools(item, tools)

    async def rank(self, reviews: Reviews, tools: Tools) -> Scored:
        """A set has a ranking when each of its texts has a score."""
        scores = await self.metric.evaluate_together(items_of(reviews), tools)
        values = {
            info.name: tuple(score.values[info.name] for score in scores)
            for info in self.metric.values
        }
        directions = {info.name: info.sign > 0 for info in self.metric.values}
        return Scored(values, directions)


def items_of(reviews: Reviews) -> list[Item]:
    """Every text of a set as an item that a metric can score."""
    named = (("language", reviews.language), ("category", reviews.category))
    return [
        Item(
            id=f"{reviews.id}#{number}",
            candidate=text,
            references=reviews.references,
            images=() if reviews.image is None else (reviews.image,),
            group={name: value for name, value in named if value},
        )
        for number, text in enumerate(reviews.texts, start=1)
    ]
