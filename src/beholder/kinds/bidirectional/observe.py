"""Reads the pairs of texts of a run: values and units of ``dcscore``, groups, ratings."""

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
    """Read the pairs of texts of a run, with their scores in both directions.

    Args:
        run: The run directory.
        columns: Names of its columns.
        metric_name: The metric to study, as the run names it; None takes the first that scores in
            both directions.

    Raises:
        ConfigError: No metric of the run scores in both directions, or a rating is no number.
        RunError: The folder is not a run.
    """
    manifest.check_kind(run, manifest.SCORES)
    log = manifest.read_log(run)
    values = {
        entry.name: [value.name for value in entry.values]
        for entry in log.metrics
    }
    studied_metric = _choose_metric(values, run, metric_name)
    first_values = {
        name: names[0]
        for name, names in values.items()
        if name != studied_metric
    }
    pairs = []
    with Store.read(run) as store:
        scores = {
            name: dict(store.values(name, log.data.n_items))
            for name in first_values
        }
        for position, item in store.items():
            # A run that was restarted with fewer items keeps the further ones in its store.
            if position >= log.data.n_items:
                break
            pair = _read_pair(
                item, store, studied_metric, position, columns or Columns()
            )
            # Of each other metric only its first value is compared, the one it is known by.
            if pair is not None:
                item_scores = {
                    name: scores[name].get(position, {})
                    for name in first_values
                }
                other_scores = {
                    name: by_value[first_values[name]]
                    for name, by_value in item_scores.items()
                    if first_values[name] in by_value
                }
                pairs.append(
                    replace(
                        pair,
                        other_scores={"har": other_scores}
                        if other_scores
                        else {},
                    )
                )
    return _add_swapped_scores(pairs, first_values)


def _choose_metric(
    values: Mapping[str, Sequence[str]], run: Path, name: str | None
) -> str:
    candidates = [
        metric
        for metric, names in values.items()
        if {"har_f1", "mar_f1"} <= set(names)
    ]
    # A metric that was named and does not fit is an error, not a reason to take another.
    if name is not None and name not in candidates:
        raise ConfigError(
            f"{run} has no metric {name!r} with both directions; there are: {', '.join(candidates)}"
        )
    if not candidates:
        raise ConfigError(
            f'{run} has no scores in both directions; score it with -m "{METRIC}"'
        )
    return name or candidates[0]


def _read_pair(
    item: Item, store: Store, name: str, position: int, columns: Columns
) -> TextPair | None:
    outcome = store.score(name, position)
    if outcome is None:
        return None  # the run was interrupted before this item
    # Texts about one picture must share its key. Items without files are distinguished by their
    # references, as items of one picture repeat them.
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
    if not isinstance(outcome, ItemScore):
        return replace(pair, failure=outcome.message)
    # A text that was verified by pictures alone has one direction, without recall.
    if not item.references:
        return replace(pair, failure="there is no text of people to compare")
    model, human = facts(outcome.units)
    # Values that are means over all references are about each of them: no entry in ``chosen``.
    details = {
        direction: outcome.detail.get("directions", {}).get(direction, {})
        for direction in DIRECTIONS
    }
    reference_by_direction = {
        direction: detail.get("reference", 0)
        for direction, detail in details.items()
        if detail.get("over") != "mean"
    }
    return replace(
        pair,
        values=outcome.values,
        model_facts=model,
        human_facts=human,
        chosen=reference_by_direction,
    )


def facts(units: Iterable[Unit]) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Return the units of a score as facts of the model's text and of people's texts."""
    statements = [unit for unit in units if unit.kind == "statement"]
    # Matches name units of the other side by the index in their text; facts are numbered over all
    # texts of a side, so indices are translated.
    model, human = (
        [unit for unit in statements if unit.side == side]
        for side in ("candidate", "reference")
    )
    model_places = {
        (0, unit.detail["index"]): place for place, unit in enumerate(model)
    }
    human_places = {
        (unit.reference_index or 0, unit.detail["index"]): place
        for place, unit in enumerate(human)
    }

    def build_fact(unit: Unit, places: Mapping[tuple[int, int], int]) -> Fact:
        detail = unit.detail
        # Matches by reference text; those of the reference that the score is about are apart.
        matched = {
            int(voice): ids
            for voice, ids in detail.get("elsewhere", {}).items()
        }
        reference_index = (
            detail.get("against", 0) if unit.side == "candidate" else 0
        )
        matched[reference_index] = detail.get("matched") or ()
        targets = [
            (voice, index)
            for voice, ids in sorted(matched.items())
            for index in _majority_matches(ids)
        ]
        return Fact(
            text=unit.text,
            subject=str(detail.get("subject") or ""),
            relevant=bool(detail.get("relevant", True)),
            verified=detail.get("verified"),
            matches=tuple(
                places[target] for target in targets if target in places
            ),
            voice=unit.reference_index or 0,
        )

    return (
        tuple(build_fact(unit, human_places) for unit in model),
        tuple(build_fact(unit, model_places) for unit in human),
    )


def _majority_matches(samples: Sequence[int | None]) -> list[int]:
    """Return the matches that at least half of the samples report, sorted."""
    indices = [index for index in samples if index is not None]
    return sorted(
        {
            index
            for index in indices
            if 2 * indices.count(index) >= len(samples)
        }
    )


def _ratings(item: Item, label: str) -> tuple[float, ...]:
    value = item.judgments.get(label)
    if value is None:
        return ()
    if isinstance(value, Mapping):
        # In the order in which ``_raters`` lists the names.
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
    """Return the names of raters, from ``judgments`` or from a field of ``annotate export``."""
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


def _add_swapped_scores(
    pairs: list[TextPair], first_values: Mapping[str, str]
) -> list[TextPair]:
    """Return the pairs with other metrics in the direction MAR: people's text against the model's.

    Only for rated texts of people, and only metrics that cost nothing. With several references,
    the text that the values of DCScore are about, or the mean over all.
    """
    rated_pairs = [
        p for p in pairs if p.human_ratings and p.references and p.candidate
    ]
    # Metrics that need a judge or a server would cost money here, without the user's asking.
    swapped = [
        Item(
            p.id,
            p.references[voice],
            (p.candidate,),
            group={"language": p.language},
        )
        for p in rated_pairs
        for voice in p.voices("mar")
    ]
    scores_by_item: dict[str, dict[str, list[float]]] = {}
    for name, value in first_values.items() if rated_pairs else ():
        local_metric = metric(name)
        if not all(
            _is_local(kind, spec) for kind, spec in local_metric.tool_specs()
        ):
            continue
        for item, score in zip(
            swapped, local_metric.score(swapped), strict=True
        ):
            if isinstance(score, ItemScore) and value in score.values:
                scores_by_item.setdefault(item.id, {}).setdefault(
                    name, []
                ).append(score.values[value])
    # Several references give one value each.
    means = {
        key: {name: fmean(v) for name, v in values_by_name.items()}
        for key, values_by_name in scores_by_item.items()
    }
    return [
        replace(
            pair, other_scores={**pair.other_scores, "mar": means[pair.id]}
        )
        if pair.id in means
        else pair
        for pair in pairs
    ]


def _is_local(kind: str, spec: str) -> bool:
    """Return whether a tool needs no judge and no server: an encoder, or a built-in tool."""
    return kind == "encoder" or (
        kind in ("embedder", "splitter") and ":" not in spec
    )
