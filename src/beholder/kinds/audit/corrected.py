"""Scores with and without doubtful facts, and how often people confirm the judge's doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from beholder.base.grouping import by_key
from beholder.data.marks import JudgedFact, exported_rows
from beholder.errors import ConfigError
from beholder.records import Item, ItemScore
from beholder.run.store import Store
from beholder.stats.ranks import round_values
from beholder.tables import SYSTEM, Column, Table, estimate

_Key = tuple[tuple[str, ...], tuple[str, ...], str]
"""A fact: names of the pictures, references, words. Rows of several systems share it."""


class _Facts(msgspec.Struct, frozen=True):
    facts: tuple[JudgedFact, ...]


def _key(item: Item, fact: str) -> _Key:
    return (
        tuple(Path(image).name for image in item.images),
        item.references,
        fact,
    )


@dataclass(frozen=True)
class _AuditedFact:
    """A fact of a reference: what the judge and what people say of it, and whether it is stated."""

    item: Item
    text: str
    judge: str
    people: str | None
    stated: bool

    @property
    def corrected(self) -> str:
        """People's answer, or else the judge's."""
        named = {
            "true": "supported",
            "false": "doubtful",
            "unsure": "uncertain",
        }
        return self.judge if self.people is None else named[self.people]


def read_verdicts(labels: Path) -> Mapping[_Key, str]:
    """The verdicts that more than half of the annotators of a fact gave; without it ``unsure``.

    Raises:
        DataError: A row is wrong, or has no judged facts.
    """
    return {
        _key(item, fact.text): fact.agreed
        for item, said in exported_rows(labels, _Facts, textless=True)
        for fact in said.facts
    }


def tables(run: Path, metric: str, labels: Path | None) -> list[Table]:
    """Recall by system with and without doubtful facts; with labels, the judge's hit rate.

    Args:
        run: A run of the metric ``audit``.
        metric: Its canonical name.
        labels: Verdicts that ``beholder annotate export`` wrote of ``doubtful.jsonl``.

    Raises:
        ConfigError: No label is of a fact of the run, or the run is of an earlier release.
        DataError: The labels cannot be read.
    """
    verdicts = read_verdicts(labels) if labels else {}
    with Store.read(run) as store:
        facts = [
            own
            for position, item in store.items()
            if isinstance(score := store.score(metric, position), ItemScore)
            and (own := list(_facts(item, score, verdicts)))
        ]
    if labels and not any(fact.people for own in facts for fact in own):
        raise ConfigError(
            f"{labels} judges no fact of {run}; export the study of its doubtful.jsonl"
        )
    made = [_systems(facts, with_people=labels is not None)]
    return [*made, _hits(facts)] if labels else made


def _facts(
    item: Item, score: ItemScore, verdicts: Mapping[_Key, str]
) -> Iterator[_AuditedFact]:
    for unit in score.units:
        if unit.side == "reference":
            if "stated" not in unit.detail:
                raise ConfigError(
                    "the run is of an earlier release; audit in a new folder"
                )
            people = verdicts.get(_key(item, unit.text))
            yield _AuditedFact(
                item,
                unit.text,
                unit.verdict or "",
                people,
                bool(unit.detail["stated"]),
            )


_COLUMNS = (
    SYSTEM,
    Column("n", "items", "count"),
    Column("recall", "recall", interval=True),
    Column("place", "place", "count"),
    Column("sure", "without doubtful", interval=True),
    Column("sure_place", "place", "count"),
    Column("difference", "difference", "signed", interval=True),
    Column("undefined", "all doubtful", "count"),
)


def _systems(facts: list[list[_AuditedFact]], *, with_people: bool) -> Table:
    by_system = by_key(
        (own[0].item.group.get("system", ""), own) for own in facts
    )
    rows: list[dict[str, Any]] = []
    for system, items in by_system.items():
        pairs = []
        for own in items:
            sure = [
                fact.stated for fact in own if fact.corrected != "doubtful"
            ]
            if sure:
                pairs.append(
                    (
                        fmean(f.stated for f in own),
                        fmean(sure),
                        str(own[0].item.source),
                    )
                )
        sources = [str(own[0].item.source) for own in items]
        rows.append(
            {
                "system": system or "all",
                "n": len(items),
                **estimate(
                    "recall",
                    [fmean(f.stated for f in own) for own in items],
                    sources,
                ),
                **estimate(
                    "sure",
                    [sure for _, sure, _ in pairs],
                    [s for *_, s in pairs],
                ),
                **estimate(
                    "difference",
                    [b - a for a, b, _ in pairs],
                    [s for *_, s in pairs],
                ),
                "undefined": len(items) - len(pairs),
            }
        )
    for key, place in (("recall", "place"), ("sure", "sure_place")):
        known = round_values(
            [row[key] for row in rows if row[key] is not None]
        ).tolist()
        for row in rows:
            mean = None if row[key] is None else float(round_values(row[key]))
            row[place] = (
                None if mean is None else 1 + sum(v > mean for v in known)
            )
    moved = [
        str(row["system"]) for row in rows if row["place"] != row["sure_place"]
    ]
    who = (
        "as people and else the judge say"
        if with_people
        else "as the judge says"
    )
    notes = [f"doubtful {who}"]
    if len(rows) > 1:
        notes.append(
            f"other place without doubtful facts: {', '.join(moved) or 'no system'}"
        )
    return Table(
        "systems",
        "Recall with and without doubtful facts",
        _COLUMNS,
        tuple(rows),
        tuple(notes),
    )


def _hits(facts: list[list[_AuditedFact]]) -> Table:
    """How often people call a fact false, by what the judge says of it; each fact once."""
    each = {
        _key(fact.item, fact.text): fact for own in facts for fact in own
    }.values()
    rows = []
    for state in ("doubtful", "supported", "uncertain"):
        own = [
            fact
            for fact in each
            if fact.judge == state and fact.people is not None
        ]
        false = [float(fact.people == "false") for fact in own]
        sources = [str(fact.item.source) for fact in own]
        if own:
            rows.append(
                {
                    "judge": state,
                    "n": len(own),
                    **estimate("false", false, sources),
                }
            )
    columns = (Column("judge", "judge", "text"), Column("n", "facts", "count"),
               Column("false", "false, people say", "percent", interval=True))  # fmt: skip
    notes = ("the share of doubtful facts is the judge's hit rate",)
    return Table(
        "confirmed",
        "Do people confirm the judge?",
        columns,
        tuple(rows),
        notes,
    )
