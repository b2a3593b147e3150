"""Valid against invalid versions of long texts: does a metric put the first above the second?

After the comparison test set of the VCS paper: each text is the reference of versions of itself.
``PERTURBATIONS`` makes ten kinds by rule that keep what is said and thirteen that break it; a judge
can write further valid ones (``beholder.kinds.generation.askers.VaryRow``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from beholder.base.grouping import by_key
from beholder.kinds.agreement.agree import MetricValue
from beholder.kinds.agreement.suites.perturb import PERTURBATIONS
from beholder.records import Estimate, Item
from beholder.run.store import Store
from beholder.stats.bootstrap import mean_interval

Validity: TypeAlias = Literal["valid", "invalid"]

TEXT, KIND, VALIDITY = "text", "kind", "validity"
"""Group columns of a version: the text it is of, what was done to it, and what that makes it."""


@dataclass(frozen=True)
class KindRow:
    """One kind of version under one metric.

    Attributes:
        kind: Its name.
        validity: ``valid`` or ``invalid``.
        score: Mean of the metric's value.
        accuracy: Share of versions of the other validity, of the same text, that stand on the right
            side of it; ties count half. None without any.
        n_failed: Versions without a score.
    """

    kind: str
    validity: Validity
    score: Estimate | None
    accuracy: Estimate | None
    n_failed: int


@dataclass(frozen=True)
class ComparisonResult:
    """A metric on the suite.

    Attributes:
        metric: Canonical name.
        value: Name of its value.
        signature: How the scores were made.
        accuracy: Valid above invalid: per text the share of pairs of a valid and an invalid version
            in which the valid one is better, ties half; mean over texts.
        ties: The share of pairs that are level; mean over texts.
        separated: Share of texts whose worst valid version is better than their best invalid one.
        kinds: Per kind, valid ones first.
    """

    metric: str
    value: str
    signature: str
    accuracy: Estimate | None
    ties: Estimate | None
    separated: Estimate | None
    kinds: tuple[KindRow, ...]


def texts_of(items: Iterable[Item]) -> list[Item]:
    """Each row as the text that is varied: its first reference, or its candidate without one.

    The text becomes the candidate. Rows that share a text and its source give one.
    """
    found: dict[tuple[object, str], Item] = {}
    for item in items:
        text = item.references[0] if item.references else item.candidate
        group = {"language": item.language} if item.language else {}
        one = Item(
            id=item.id,
            candidate=text,
            images=item.images,
            video=item.video,
            group=group,
        )
        found.setdefault((item.images or item.video, text), one)
    return list(found.values())


def by_rule(texts: Sequence[Item], seed: int = 0) -> list[Item]:
    """All versions that rules make; those that a rule leaves as they were are left out.

    Args:
        texts: The texts, as candidates.
        seed: Of what is drawn at random, text by text.
    """
    versions = []
    for number, (name, change) in enumerate(PERTURBATIONS.items()):
        validity: Validity = (
            "valid" if change.kind == "preserving" else "invalid"
        )
        for place, item in enumerate(texts):
            rng = np.random.default_rng([seed, number, place])
            following = texts[(place + 1) % len(texts)].candidate
            changed = change.apply(item.candidate, rng, following)
            if changed != item.candidate:
                versions.append(version(item, name, validity, changed))
    return versions


def version(item: Item, kind: str, validity: Validity, text: str) -> Item:
    """A version of a text, with the text for its reference."""
    return Item(
        id=f"{item.id}/{kind}",
        candidate=text,
        references=(item.candidate,),
        images=item.images,
        video=item.video,
        group={**item.group, TEXT: item.id, KIND: kind, VALIDITY: validity},
    )


def results(
    run: Path, metrics: Sequence[MetricValue], n_resamples: int = 1000
) -> list[ComparisonResult]:
    """The tables of a run over versions.

    Args:
        run: The run directory.
        metrics: Metrics of the run, each with the value to compare.
        n_resamples: Bootstrap resamples, over what is described.
    """
    with Store.read(run) as store:
        items = [item for _, item in store.items()]
        return [
            _result(items, scored(store, one), one, n_resamples)
            for one in metrics
        ]


@dataclass(frozen=True)
class SignedScores:
    """One value of a metric over the items of a run.

    Attributes:
        values: By position; items without a score are not in it.
        sign: 1 where higher is better, -1 where lower is.
        signature: How they were made.
    """

    values: Mapping[int, float]
    sign: float
    signature: str

    def better(self, place: int) -> float:
        """The value of an item, turned so that higher is better."""
        return self.sign * self.values[place]


def scored(store: Store, asked: MetricValue) -> SignedScores:
    """What a run holds of a metric's value."""
    info = asked.info
    signature = next(
        a.signature for a in store.askers() if a.name == asked.metric.name
    )
    values = {
        position: numbers[info.name]
        for position, numbers in store.values(asked.metric.name)
        if info.name in numbers
    }
    return SignedScores(values, info.sign, signature)


def mean_over_sources(
    found: Sequence[tuple[float, tuple[str, ...]]], n_resamples: int
) -> Estimate | None:
    """Mean of numbers, each with what it describes, which is what is resampled; None of none."""
    if not found:
        return None
    numbers, sources = zip(*found, strict=True)
    return mean_interval(numbers, clusters=sources, n_resamples=n_resamples)


def _result(
    items: Sequence[Item],
    scores: SignedScores,
    asked: MetricValue,
    n_resamples: int,
) -> ComparisonResult:
    texts = by_key(
        (items[place].group[TEXT], place) for place in scores.values
    )
    accuracy, ties, separated = [], [], []
    right: dict[int, float] = {}
    for places in texts.values():
        valid = [
            place
            for place in places
            if items[place].group[VALIDITY] == "valid"
        ]
        invalid = [
            place
            for place in places
            if items[place].group[VALIDITY] == "invalid"
        ]
        if not valid or not invalid:
            continue
        high = np.array([scores.better(place) for place in valid])[:, None]
        low = np.array([scores.better(place) for place in invalid])[None, :]
        won = (high > low) + 0.5 * (high == low)
        source = items[places[0]].source
        accuracy.append((float(won.mean()), source))
        ties.append((float((high == low).mean()), source))
        separated.append((float(high.min() > low.max()), source))
        right |= dict(zip(valid, won.mean(axis=1).tolist(), strict=True))
        right |= dict(zip(invalid, won.mean(axis=0).tolist(), strict=True))
    kinds: dict[tuple[Validity, str], list[int]] = {}
    for place, item in enumerate(items):
        validity: Validity = (
            "valid" if item.group[VALIDITY] == "valid" else "invalid"
        )
        kinds.setdefault((validity, item.group[KIND]), []).append(place)

    def mean_of(
        values: Mapping[int, float], places: Sequence[int]
    ) -> Estimate | None:
        found = [
            (values[place], items[place].source)
            for place in places
            if place in values
        ]
        return mean_over_sources(found, n_resamples)

    rows = [
        KindRow(
            kind,
            validity,
            mean_of(scores.values, places),
            mean_of(right, places),
            sum(place not in scores.values for place in places),
        )
        for (validity, kind), places in sorted(
            kinds.items(), key=lambda one: one[0][0] != "valid"
        )
    ]
    return ComparisonResult(
        asked.metric.name,
        asked.info.name,
        scores.signature,
        mean_over_sources(accuracy, n_resamples),
        mean_over_sources(ties, n_resamples),
        mean_over_sources(separated, n_resamples),
        tuple(rows),
    )
