"""A metric that takes texts batch by batch, and has the values of a run at any time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.data.prepare import prepared
from beholder.data.read import items_of
from beholder.errors import ConfigError, DataError
from beholder.judges import Judge
from beholder.metrics import Metric, Tools, metric
from beholder.options import DataOptions, check_list, default_tools
from beholder.records import Item, ItemFailure, ItemScore, MetricResult
from beholder.run.subjects import ITEM
from beholder.run.summary import collect_columns, summarise_columns
from beholder.stats.checks import cluster_codes

_Key = tuple[bool, int, str]
"""Sorts items: those with ids by id, the others by the order in which they came."""


class StreamingMetric:
    """A metric with ``update``, ``compute``, ``reset`` and ``merge``, as torchmetrics has them.

    Texts are scored when they arrive, and the values are those of ``beholder.score`` over all of
    them. Items with ids may come in any order and from any number of workers: the values are the
    same. The object can be pickled, so a worker can send it to another process; tools are left
    out and made again there.

    Args:
        of: A metric, or its text form such as ``"posh"``.
        judge: Judge for a metric that asks one and names none.
        embedder: Embedder for a metric that names none.
        tools: Tools to share with other metrics; new ones are made if None.

    Attributes:
        metric: The metric.

    Raises:
        ConfigError: There is no such metric, or its options are wrong.
    """

    def __init__(
        self,
        of: str | Metric[Any] = "headline",
        *,
        judge: str | Judge | None = None,
        embedder: str | None = None,
        tools: Tools | None = None,
    ) -> None:
        defaults = default_tools(embedder, judge)
        self.metric = metric(of, **defaults) if isinstance(of, str) else of
        self._tools = tools or Tools()
        self._items: dict[_Key, Item] = {}
        self._outcomes: dict[_Key, ItemScore | ItemFailure] = {}

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def __getstate__(self) -> dict[str, Any]:
        # Tools have locks, connections and models; those of another process are made there.
        return {**self.__dict__, "_tools": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update({**state, "_tools": Tools()})

    def update(
        self,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str]] | None = None,
        *,
        ids: Sequence[str | int] | None = None,
        images: Sequence[str | Sequence[str]] | None = None,
    ) -> None:
        """Score a batch of texts.

        An id that came before with the same texts and pictures is not counted again: samplers of
        several workers repeat rows to fill the last batch.

        Args:
            candidates: The texts under evaluation.
            references: For each a trusted text, or several; None for a metric without references.
            ids: For each an id of its own; None numbers the texts in the order in which they come.
            images: For each its picture, or several; texts about one picture are not independent.

        Raises:
            ConfigError: The lists have different lengths, or a list is one text.
            DataError: A row is wrong, or an id came before with other texts. The batch is not
                added.
        """
        columns = {
            "candidate": candidates,
            "references": references,
            "images": images,
            "id": ids,
        }
        batch = _read_batch(columns)
        items = {
            key: item
            for key, item in zip(self._keys_for(batch), batch, strict=True)
            if key not in self._items
        }
        if not self.metric.needs_corpus():
            outcomes = self.metric.score([*items.values()], tools=self._tools)
            self._outcomes |= dict(zip(items, outcomes, strict=True))
        self._items |= items

    def compute(self) -> MetricResult:
        """Return the values of all texts so far, each with its n and interval.

        The result is that of a run: means and values of the whole set with intervals over what is
        described, failures by reason, and the signature. ``values`` is empty if nothing was scored.
        """
        pairs = [*self.outcomes()]
        scores = [
            (position, outcome)
            for position, (_, outcome) in enumerate(pairs)
            if isinstance(outcome, ItemScore)
        ]
        failures = {
            position: outcome.message
            for position, (_, outcome) in enumerate(pairs)
            if isinstance(outcome, ItemFailure)
        }
        has_sums = bool(self.metric.corpus_values)
        columns = collect_columns(
            ((position, score.values) for position, score in scores),
            failures,
            ((position, score.detail) for position, score in scores)
            if has_sums
            else None,
        )
        sources = [ITEM.source_key(item) for item, _ in pairs]
        signatures = sorted({score.signature for _, score in scores})
        return summarise_columns(
            self.metric,
            columns,
            cluster_codes(sources, len(sources)),
            signatures
            or [self.metric.signature(self.metric.identities(self._tools))],
        )

    def outcomes(self) -> Iterator[tuple[Item, ItemScore | ItemFailure]]:
        """Yield each item with its score or failure, by id."""
        keys = sorted(self._items)
        if self.metric.needs_corpus() and len(self._outcomes) < len(keys):
            # Scores depend on the texts of all items, so each new item changes them all.
            items = [self._items[key] for key in keys]
            outcomes = self.metric.score(items, tools=self._tools)
            self._outcomes = dict(zip(keys, outcomes, strict=True))
        for key in keys:
            yield self._items[key], self._outcomes[key]

    def merge(self, *others: StreamingMetric) -> None:
        """Add the items of other workers; nothing is scored again.

        Raises:
            ConfigError: Another one has another metric.
            DataError: An id has other texts there. Nothing of that one is added.
        """
        for other in others:
            if other.metric != self.metric:
                raise ConfigError(
                    f"expected a state of {self.metric.name}, got one of {other.metric.name}:"
                    " workers need the same metric"
                )
            old_keys = sorted(other._items)
            items = [other._items[key] for key in old_keys]
            keys = self._keys_for(items)
            self._items |= dict(zip(keys, items, strict=True))
            self._outcomes |= {
                key: other._outcomes[old_key]
                for key, old_key in zip(keys, old_keys, strict=True)
                if old_key in other._outcomes
            }
            if self.metric.needs_corpus():
                self._outcomes = {}

    def reset(self) -> None:
        """Forget all texts."""
        self._items, self._outcomes = {}, {}

    def _keys_for(self, items: Sequence[Item]) -> list[_Key]:
        """Return a key for each item; items without ids are numbered on.

        Raises:
            DataError: An id came before with other texts or pictures.
        """
        keys: list[_Key] = []
        batch: dict[_Key, Item] = {}
        number = sum(item.id_is_row_number for item in self._items.values())
        for item in items:
            if item.id_is_row_number:
                number += 1
                keys.append((False, number, ""))
                continue
            key = True, 0, item.id
            earlier = self._items.get(key, item)
            if not item == earlier == batch.setdefault(key, item):
                raise DataError(
                    "items",
                    f"{item.id!r} came before with other texts or pictures: each text needs an id"
                    " of its own",
                )
            keys.append(key)
        return keys


def _read_batch(columns: Mapping[str, Sequence[Any] | None]) -> list[Item]:
    """Return the items of a batch, read and prepared as those of a run.

    Raises:
        ConfigError: The columns have different lengths, or one is a text.
        DataError: A row is wrong.
    """
    given = {
        name: column for name, column in columns.items() if column is not None
    }
    for name, column in given.items():
        check_list(name, column)
        if len(column) != len(given["candidate"]):
            raise ConfigError(
                f"{name}: expected {len(given['candidate'])} as there are candidates, got"
                f" {len(column)}"
            )
    rows = [
        dict(zip(given, cells, strict=True))
        for cells in zip(*given.values(), strict=True)
    ]
    items = []
    numbered = enumerate(rows, start=1)
    for item in items_of(numbered, DataOptions(), "items"):
        if isinstance(item, DataError):
            raise item
        items.append(prepared(item, "none"))
    return items
