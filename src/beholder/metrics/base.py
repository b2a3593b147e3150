"""The contract of a metric: gather evidence, then score it.

A metric is a frozen dataclass. Its fields are its whole configuration, so that two metrics with the
same fields are equal, print the same name and give the same numbers.
"""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from beholder.aio import bounded, run_sync
from beholder.embed.base import FloatArray
from beholder.errors import (
    BeholderError,
    ConfigError,
    ItemError,
    MissingExtraError,
    RunError,
    TransientError,
)
from beholder.metrics.params import params, stated, text_form
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemFailure, ItemScore

E = TypeVar("E")


@dataclass(frozen=True)
class ValueInfo:
    """What one of a metric's values means.

    Attributes:
        name: Key in ``ItemScore.values``.
        help: One line on what it measures.
        low: Worst or lowest possible value.
        high: Best or highest possible value.
        higher_is_better: Direction.
    """

    name: str
    help: str
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True


@dataclass(frozen=True)
class Metric(ABC, Generic[E]):
    """Base of all metrics; ``E`` is the evidence that ``gather`` hands to ``score_item``.

    Class attributes every metric states:
        registered_name: Name in the registry.
        values: Its values; the first is the headline, shown first.
        corpus_values: Values of the whole data set that are no mean over items; usually none.
        needs: Fields of an item it cannot do without.
        operations: What it asks of a judge by prompts that ``beholder show`` displays.
    """

    registered_name: ClassVar[str]
    values: ClassVar[tuple[ValueInfo, ...]]
    corpus_values: ClassVar[tuple[ValueInfo, ...]] = ()
    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    operations: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    async def gather(self, item: Item, tools: Tools) -> E:
        """Collect all that scoring needs: parse, embed, ask judges. The only costly step."""

    @abstractmethod
    def score_item(self, item: Item, evidence: E) -> ItemScore:
        """Turn evidence into a score. Pure: no judge, no file, no clock, no randomness."""

    def prepare(self, items: Iterable[Item]) -> Self:
        """This metric, knowing what it must of the whole data set before the first item is scored.

        Most metrics need nothing and read none of the items. One that does (document frequencies)
        gives a copy of itself that holds it, and states it in ``identities``, so that a score is
        never mixed with scores made on other data.
        """
        return self

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """The ``corpus_values``, from the sum of ``detail["statistics"]`` over items, shape (k,).

        Counts add up and ratios do not, so the whole set is scored from summed counts; the run
        resamples them for the interval.
        """
        raise ConfigError(f"{self.registered_name} has no values of the whole data set")

    @property
    def name(self) -> str:
        """Canonical text form; fields at their default are left out."""
        return text_form(self.registered_name, self)

    def config(self) -> dict[str, Any]:
        """All fields with their resolved values, for the run log."""
        return {p.name: getattr(self, p.name) for p in params(self)}

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """What fixes the numbers, to print beside them: every field that affects the score.

        Args:
            identities: Identity per tool field, such as ``{"embedder": "static@1f3a"}``; a tool
                field that is not named shows its spec.
        """
        return stated(self.registered_name, self, identities)

    def tool_specs(self) -> list[tuple[str, str]]:
        """Kind and spec of each tool this metric's fields name."""
        return [(p.metadata["tool"], getattr(self, p.name)) for p in self._tool_params()]

    def asks_judge(self) -> bool:
        """Whether a field of this metric names a judge."""
        return any(kind == "judge" for kind, _ in self.tool_specs())

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identity of each tool this metric's fields name, by field."""
        return {
            p.name: tools.identity(p.metadata["tool"], getattr(self, p.name))
            for p in self._tool_params()
        }

    def _tool_params(self) -> list[Field[Any]]:
        return [p for p in params(self) if p.metadata["tool"]]

    def check_item(self, item: Item) -> None:
        """Refuse an item that lacks what the metric needs.

        Raises:
            ItemError: Names the field that is missing or empty.
        """
        for field in sorted(self.needs):
            if not getattr(item, field):
                raise ItemError(f"{self.registered_name} needs {field}, and this item has none")
        if not item.candidate.strip():
            raise ItemError("the candidate is empty")

    def score_text(
        self,
        candidate: str,
        references: str | Sequence[str],
        images: Sequence[str] | None = None,
        *,
        tools: Tools | None = None,
    ) -> ItemScore:
        """Score one text; works in scripts and notebooks.

        Args:
            candidate: The text under evaluation.
            references: One trusted text, or several.
            images: Image files, for metrics that look.
            tools: Tools to share between calls; new ones are made if None.

        Raises:
            ItemError: The text cannot be scored; the message says why.
        """
        texts = (references,) if isinstance(references, str) else tuple(references)
        item = Item(id="text", candidate=candidate, references=texts, images=tuple(images or ()))
        return replace(run_sync(self.prepare([item]).evaluate(item, tools or Tools())), item=item)

    def score(
        self, items: Sequence[Item], *, tools: Tools | None = None
    ) -> list[ItemScore | ItemFailure]:
        """Score items in order; an item that cannot be scored gives its reason.

        ``beholder.score`` does the same with a store, workers and a report.
        """
        shared = tools or Tools()
        prepared = self.prepare(items)

        async def each() -> list[ItemScore | ItemFailure]:
            found: dict[int, ItemScore | ItemFailure] = {}
            attempts = bounded(lambda i: attempt(prepared, items[i], shared), range(len(items)), 64)
            async for index, outcome in attempts:
                if isinstance(outcome, ItemScore):
                    outcome = replace(outcome, item=items[index])
                found[index] = outcome
            return [found[index] for index in range(len(items))]

        return run_sync(each())

    async def evaluate(self, item: Item, tools: Tools) -> ItemScore:
        """Check, gather and score one item."""
        self.check_item(item)
        return self.score_item(item, await self.gather(item, tools))


async def attempt(metric: Metric[Any], item: Item, tools: Tools) -> ItemScore | ItemFailure:
    """Score one item, or say why it has no score.

    One broken item does not end a run: whatever goes wrong with it becomes its failure, with the
    place in the code when it is a bug.

    Raises:
        ConfigError: A parameter or tool is wrong for all items alike.
        MissingExtraError: Likewise, a package is missing.
        RunError: The run cannot go on, for instance because its budget is spent.
    """
    try:
        return await metric.evaluate(item, tools)
    except (ConfigError, MissingExtraError, RunError):
        raise
    except BeholderError as error:
        return ItemFailure(type(error).__name__, str(error), isinstance(error, TransientError))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return ItemFailure(type(error).__name__, f"{error} (a bug in {metric.name}, at {where})")
