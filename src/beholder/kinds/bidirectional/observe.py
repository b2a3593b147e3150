"""Reads the pairs of texts of a run: what ``dcscore(direction='both')`` found, groups, ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from beholder.errors import ConfigError
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Fact,
    TextPair,
)
from beholder.kinds.bidirectional.settings import Columns
from beholder.metrics import metric
from beholder.records import Item, ItemScore, Unit
from beholder.run import manifest
from beholder.run.store import Store

METRIC = "dcscore(direction='both')"


def observe(
    run: Path,
    columns: Columns | None = None,
    *,
    metric_name: str | None = None,
) -> list[TextPair]:
    """Read a run.

    Args:
        run: The run directory.
        columns: Names of its columns.
        metric_name: The metric to study, as the run names it; None takes the first that scores in
            both directions.

    Raises:
        ConfigError: No metric of the run scores in both directions, or a rating is no number.
        RunError: The folder holds no run.
    """
    manifest.check_kind(run, manifest.SCORES)
    log = manifest.read(run)
    values = {
        entry.name: [value.name for value in entry.values]
        for entry in log.metrics
    }
    chosen = _chosen(values, run, metric_name)
    others = {name: own[0] for name, own in values.items() if name != chosen}
    pairs = []
    with Store.read(run) as store:
        scores = {
            name: dict(store.values(name, log.data.n_items)) for name in others
        }
        for position, item in store.items():
            if position >= log.data.n_items:
                break
            pair = _pair(item, store, chosen, position, columns or Columns())
            if pair is not None:
                given = {
                    name: scores[name].get(position, {}) for name in others
                }
                found = {
                    n: own[others[n]]
                    for n, own in given.items()
                    if others[n] in own
                }
                pairs.append(
                    replace(pair, others={"har": found} if found else {})
                )
    return _with_swapped(pairs, others)


def _chosen(
    values: Mapping[str, Sequence[str]], run: Path, name: str | None
) -> str:
    both = [
        metric
        for metric, own in values.items()
        if {"har_f1", "mar_f1"} <= set(own)
    ]
    if name is not None and name not in both:
        raise ConfigError(
            f"{run} has no metric {name!r} with both directions; there are: {', '.join(both)}"
        )
    if not both:
        raise ConfigError(
            f'{run} has no scores in both directions; score it with -m "{METRIC}"'
        )
    return name or both[0]


def _pair(
    item: Item, store: Store, name: str, position: int, columns: Columns
) -> TextPair | None:
    found = store.score(name, position)
    if found is None:
        return None  # the run was interrupted before this item
    group = item.group
    pictures = item.images or ((item.video,) if item.video else ())
    pair = TextPair(
        id=item.id,
        image=" ".join(pictures) or " / ".join(item.references) or item.id,
        system=group.get(columns.system, store.folder.name),
        candidate=item.candidate,
        references=item.references,
        dataset=group.get(columns.dataset, ""),
        language=group.get(columns.language, ""),
        category=group.get(columns.category, ""),
        model_ratings=_ratings(item, columns.rating),
        human_ratings=_ratings(item, columns.human_rating),
        model_raters=_raters(item, columns.rating, "annotators"),
        human_raters=_raters(item, columns.human_rating, "human_annotators"),
    )
    if not isinstance(found, ItemScore):
        return replace(pair, failure=found.message)
    model, human = facts(found.units)
    about = {
        way: found.detail.get("directions", {}).get(way, {})
        for way in DIRECTIONS
    }
    chosen = {
        w: one.get("reference", 0)
        for w, one in about.items()
        if one.get("over") != "mean"
    }
    return replace(
        pair,
        values=found.values,
        model_facts=model,
        human_facts=human,
        chosen=chosen,
    )


def facts(units: Iterable[Unit]) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Units of a score as facts of the model's text and of people's texts."""
    kept = [unit for unit in units if unit.kind == "statement"]
    model, human = (
        [unit for unit in kept if unit.side == side]
        for side in ("candidate", "reference")
    )
    model_places = {
        (0, unit.detail["index"]): place for place, unit in enumerate(model)
    }
    human_places = {
        (unit.reference_index or 0, unit.detail["index"]): place
        for place, unit in enumerate(human)
    }

    def read(unit: Unit, places: Mapping[tuple[int, int], int]) -> Fact:
        detail = unit.detail
        matched = {
            int(other): ids
            for other, ids in detail.get("elsewhere", {}).items()
        }
        against = detail.get("against", 0) if unit.side == "candidate" else 0
        matched[against] = detail.get("matched") or ()
        return Fact(
            text=unit.text,
            subject=str(detail.get("subject") or ""),
            relevant=bool(detail.get("relevant", True)),
            verified=detail.get("verified"),
            matches=tuple(
                places[other, index]
                for other, ids in sorted(matched.items())
                for index in _usual(ids)
                if (other, index) in places
            ),
            voice=unit.reference_index or 0,
        )

    return (
        tuple(read(unit, human_places) for unit in model),
        tuple(read(unit, model_places) for unit in human),
    )


def _usual(matched: Sequence[int | None]) -> list[int]:
    """The matches that at least half of the samples name."""
    named = [index for index in matched if index is not None]
    return sorted(
        {index for index in named if 2 * named.count(index) >= len(matched)}
    )


def _ratings(item: Item, label: str) -> tuple[float, ...]:
    value = item.judgments.get(label)
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = [value[rater] for rater in sorted(value)]
    values = value if isinstance(value, list | tuple) else [value]
    if not all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in values
    ):
        raise ConfigError(
            f"judgments.{label} of item {item.id!r} is {value!r}: expected a number, a list of"
            " numbers, or numbers by rater"
        )
    return tuple(float(v) for v in values)


def _raters(item: Item, label: str, field: str) -> tuple[str, ...]:
    """Names of the raters, from ``judgments`` or from a field of ``annotate export``."""
    value = item.judgments.get(label)
    if isinstance(value, Mapping):
        return tuple(sorted(value))
    names = item.meta.get(field)
    if (
        isinstance(names, list)
        and isinstance(value, list)
        and len(names) == len(value)
    ):
        return tuple(map(str, names))
    return ()


def _with_swapped(
    pairs: list[TextPair], others: Mapping[str, str]
) -> list[TextPair]:
    """Pairs with other metrics in the direction MAR: people's text against the model's.

    Only for rated texts of people, and only metrics that cost nothing. With several references,
    the text that the values of DCScore are about, or the mean over all.
    """
    rated = [
        p for p in pairs if p.human_ratings and p.references and p.candidate
    ]
    swapped = [
        Item(
            p.id,
            p.references[voice],
            (p.candidate,),
            group={"language": p.language},
        )
        for p in rated
        for voice in p.voices("mar")
    ]
    found: dict[str, dict[str, list[float]]] = {}
    for name, value in others.items() if rated else ():
        made = metric(name)
        if not all(_is_local(kind, spec) for kind, spec in made.tool_specs()):
            continue
        for item, score in zip(swapped, made.score(swapped), strict=True):
            if isinstance(score, ItemScore) and value in score.values:
                found.setdefault(item.id, {}).setdefault(name, []).append(
                    score.values[value]
                )
    means = {
        key: {name: fmean(v) for name, v in by.items()}
        for key, by in found.items()
    }
    return [
        replace(pair, others={**pair.others, "mar": means[pair.id]})
        if pair.id in means
        else pair
        for pair in pairs
    ]


def _is_local(kind: str, spec: str) -> bool:
    """Whether a tool asks no judge and no server: an encoder, or a built-in tool (``static``)."""
    return kind == "encoder" or (
        kind in ("embedder", "splitter") and ":" not in spec
    )
