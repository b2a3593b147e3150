"""Scores with and without doubtful facts, and how often people confirm the judge's doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from beholder.base.grouping import group_by_key
from beholder.data.marks import JudgedFact, exported_rows
from beholder.errors import ConfigError
from beholder.records import Item, ItemScore
from beholder.run.store import Store
from beholder.stats.ranks import round_values
from beholder.tables import SYSTEM, Column, Table, mean_cells

_Key = tuple[tuple[str, ...], tuple[str, ...], str]
"""Key of a fact: names of the pictures, references, words. Rows of several systems share it."""


class _Facts(msgspec.Struct, frozen=True):
    facts: tuple[JudgedFact, ...]


def _key(item: Item, fact: str) -> _Key:
    return (
        # The study moves pictures, so paths differ and names do not.
        tuple(Path(image).name for image in item.images),
        item.references,
        fact,
    )


_STATES = {"true": "supported", "false": "doubtful", "unsure": "uncertain"}
"""The judge's state for each answer of people."""


@dataclass(frozen=True)
class _AuditedFact:
    """A fact of a reference with the states by judge and people, and whether it is stated."""

    item: Item
    text: str
    judge: str
    people: str | None
    stated: bool

    @property
    def corrected(self) -> str:
        """People's answer, or else the judge's."""
        return self.judge if self.people is None else _STATES[self.people]

    @property
    def source(self) -> str:
        """Source of the item; sources are resampled."""
        return str(self.item.source)


def read_verdicts(labels: Path) -> Mapping[_Key, str]:
    """Read the majority verdict of each fact; ``unsure`` without a majority.

    Raises:
        DataError: A row is wrong, or has no judged facts.
    """
    return {
        _key(item, fact.text): fact.agreed
        for item, row in exported_rows(labels, _Facts, textless=True)
        for fact in row.facts
    }


def tables(run: Path, metric: str, labels: Path | None) -> list[Table]:
    """Build tables: recall by system with and without doubtful facts; with labels, hit rates.

    Args:
        run: A run of the metric ``audit``.
        metric: Its canonical name.
        labels: Verdicts that ``beholder annotate export`` wrote of ``doubtful.jsonl``.

    Raises:
        ConfigError: No label belongs to a fact of the run, or an earlier release made the run.
        DataError: The labels cannot be read.
    """
    verdicts = read_verdicts(labels) if labels else {}
    with Store.read(run) as store:
        facts_by_item = []
        for position, item in store.items():
            score = store.score(metric, position)
            if isinstance(score, ItemScore):
                facts_by_item.append(list(_facts(item, score, verdicts)))
    # An item without facts has no recall.
    facts_by_item = [facts for facts in facts_by_item if facts]
    if not labels:
        return [_compare_systems(facts_by_item, "as the judge says")]
    all_facts = [fact for facts in facts_by_item for fact in facts]
    if not any(fact.people for fact in all_facts):
        raise ConfigError(
            f"{labels} judges no fact of {run}; export the study of its doubtful.jsonl"
        )
    return [
        _compare_systems(facts_by_item, "as people and else the judge say"),
        _count_hits(all_facts),
    ]


def _facts(
    item: Item, score: ItemScore, verdicts: Mapping[_Key, str]
) -> Iterator[_AuditedFact]:
    for unit in score.units:
        if unit.side != "reference":
            continue
        # Earlier releases did not store it, and it cannot be had without the
        # judge.
        if "stated" not in unit.detail:
            raise ConfigError(
                "the run is of an earlier release; audit in a new folder"
            )
        yield _AuditedFact(
            item,
            unit.text,
            unit.verdict or "",
            verdicts.get(_key(item, unit.text)),
            bool(unit.detail["stated"]),
        )


SYSTEMS = Table(
    "systems",
    "Recall with and without doubtful facts",
    (
        SYSTEM,
        Column("n", "items", "count"),
        Column("recall", "recall", interval=True),
        Column("place", "place", "count"),
        Column("sure", "without doubtful", interval=True),
        Column("sure_place", "place", "count"),
        Column("difference", "difference", "signed", interval=True),
        Column("undefined", "all doubtful", "count"),
    ),
)
HITS = Table(
    "confirmed",
    "Do people confirm the judge?",
    (
        Column("judge", "judge", "text"),
        Column("n", "facts", "count"),
        Column("false", "false, people say", "percent", interval=True),
    ),
    notes=("the share of doubtful facts is the judge's hit rate",),
)


def _compare_systems(
    facts_by_item: list[list[_AuditedFact]], doubt: str
) -> Table:
    by_system = group_by_key(
        (facts[0].item.group.get("system", ""), facts)
        for facts in facts_by_item
    )
    rows: list[dict[str, Any]] = []
    for system, items in by_system.items():
        recalls = [fmean(fact.stated for fact in facts) for facts in items]
        sources = [facts[0].source for facts in items]
        sure, differences, sure_sources = [], [], []
        for facts, recall, source in zip(items, recalls, sources, strict=True):
            stated = [
                fact.stated for fact in facts if fact.corrected != "doubtful"
            ]
            # Recall is undefined for an item whose facts are all doubtful; it
            # is counted.
            if stated:
                sure.append(fmean(stated))
                differences.append(sure[-1] - recall)
                sure_sources.append(source)
        rows.append(
            {
                "system": system or "all",
                "n": len(items),
                **mean_cells("recall", recalls, sources),
                **mean_cells("sure", sure, sure_sources),
                **mean_cells("difference", differences, sure_sources),
                "undefined": len(items) - len(sure),
            }
        )
    for key, place in (("recall", "place"), ("sure", "sure_place")):
        # Means that differ by rounding alone share a place.
        means = round_values(
            [nan if row[key] is None else row[key] for row in rows]
        )
        for row, mean in zip(rows, means, strict=True):
            row[place] = None if isnan(mean) else 1 + int((means > mean).sum())
    notes = [f"doubtful {doubt}"]
    if len(rows) > 1:
        moved = [
            str(row["system"])
            for row in rows
            if row["place"] != row["sure_place"]
        ]
        notes.append(
            f"other place without doubtful facts: {', '.join(moved) or 'no system'}"
        )
    return SYSTEMS.with_rows(rows, notes)


def _count_hits(facts: list[_AuditedFact]) -> Table:
    """Count the facts that people call false, by the judge's state; each fact once."""
    unique = {_key(fact.item, fact.text): fact for fact in facts}
    judged = group_by_key(
        (fact.judge, fact)
        for fact in unique.values()
        if fact.people is not None
    )
    rows = [
        {
            "judge": state,
            "n": len(judged[state]),
            **mean_cells(
                "false",
                [float(fact.people == "false") for fact in judged[state]],
                [fact.source for fact in judged[state]],
            ),
        }
        for state in ("doubtful", "supported", "uncertain")
        if state in judged
    ]
    return HITS.with_rows(rows)
