"""Valid against invalid versions of long texts: a metric should put the first above the second.

After the comparison test set of the VCS paper: each text is the reference of versions of itself.
``PERTURBATIONS`` makes ten kinds by rule that keep what is said and thirteen that break it; a judge
can write further valid ones (``beholder.kinds.generation.askers.VaryRow``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.kinds.agreement.agree import MetricValue
from beholder.kinds.agreement.suites.perturb import PERTURBATIONS
from beholder.records import Estimate, Item
from beholder.run.store import Store
from beholder.stats.bootstrap import mean_interval
from beholder.stats.checks import Floats

Validity: TypeAlias = Literal["valid", "invalid"]

TEXT, KIND, VALIDITY = "text", "kind", "validity"
"""Group columns of a version: source text, perturbation, validity."""


@dataclass(frozen=True)
class KindRow:
    """One kind of version under one metric.

    Attributes:
        kind: Its name.
        validity: ``valid`` or ``invalid``.
        score: Mean of the metric's value.
        accuracy: Share of versions of the other validity, of the same text, that it is on the right
            side of; ties count half. None without any.
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
        signature: Signature of the scores.
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
    """Return the texts to vary: each row's first reference, or its candidate without one.

    The text becomes the candidate. Rows that share a text and its source give one.
    """
    texts: dict[tuple[object, str], Item] = {}
    for item in items:
        text = item.references[0] if item.references else item.candidate
        plain = Item(
            id=item.id,
            candidate=text,
            images=item.images,
            video=item.video,
            group={"language": item.language} if item.language else {},
        )
        # Labels and other fields of the row are left out: they belong to
        # another candidate.
        texts.setdefault((item.images or item.video, text), plain)
    return list(texts.values())


def by_rule(texts: Sequence[Item], seed: int = 0) -> list[Item]:
    """Make all versions by rule; a rule that changes nothing gives none.

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
            # A generator per text and rule: a further text or rule leaves the
            # others as they are.
            rng = np.random.default_rng([seed, number, place])
            following = texts[(place + 1) % len(texts)].candidate
            changed = change.apply(item.candidate, rng, following)
            if changed != item.candidate:
                versions.append(version(item, name, validity, changed))
    return versions


def version(item: Item, kind: str, validity: Validity, text: str) -> Item:
    """Return a version of a text as an item whose reference is the text."""
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
    """Return the results of a run over versions.

    Args:
        run: The run directory.
        metrics: Metrics of the run, each with the value to compare.
        n_resamples: Bootstrap resamples, over what is described.
    """
    return [
        _result(*head_and_scores)
        for head_and_scores in read_scores(run, metrics, n_resamples)
    ]


@dataclass(frozen=True)
class ItemScores:
    """One value of a metric over the items of a run.

    Attributes:
        items: The items.
        values: By position; items without a score are not in it.
        sign: 1 where higher is better, -1 where lower is.
        n_resamples: Bootstrap resamples of means.
    """

    items: Sequence[Item]
    values: Mapping[int, float]
    sign: float
    n_resamples: int

    def better(self, places: Iterable[int]) -> Floats:
        """Return the values at places with their sign, so that higher is better."""
        return self.sign * np.array([self.values[place] for place in places])

    def mean(
        self, numbers: Mapping[int, float], places: Iterable[int] | None = None
    ) -> Estimate | None:
        """Return the mean of numbers by position, resampled over sources; None without numbers.

        Args:
            numbers: The numbers.
            places: Positions to take; None takes all.
        """
        usable = [
            place
            for place in (numbers if places is None else places)
            if place in numbers
        ]
        if not usable:
            return None
        return mean_interval(
            [numbers[place] for place in usable],
            clusters=[self.items[place].source for place in usable],
            n_resamples=self.n_resamples,
        )

    def count_failed(self, places: Iterable[int]) -> int:
        """Count the positions without a score."""
        return sum(place not in self.values for place in places)


class Head(NamedTuple):
    """The metric that a result is of.

    Attributes:
        metric: Canonical name.
        value: Name of its value.
        signature: Signature of the scores.
    """

    metric: str
    value: str
    signature: str


def read_scores(
    run: Path, metrics: Sequence[MetricValue], n_resamples: int
) -> Iterator[tuple[Head, ItemScores]]:
    """Yield the scores of each metric of a run."""
    with Store.read(run) as store:
        items = [item for _, item in store.items()]
        signatures = {asker.name: asker.signature for asker in store.askers()}
        for metric_value in metrics:
            name, info = metric_value.metric.name, metric_value.info
            values = {
                position: numbers[info.name]
                for position, numbers in store.values(name)
                if info.name in numbers
            }
            head = Head(name, info.name, signatures[name])
            yield head, ItemScores(items, values, info.sign, n_resamples)


def _result(head: Head, scores: ItemScores) -> ComparisonResult:
    items = scores.items
    # By position: of a text, that of its first version; of a version, its own.
    accuracy: dict[int, float] = {}
    ties: dict[int, float] = {}
    separated: dict[int, float] = {}
    right: dict[int, float] = {}
    texts = group_by_key(
        (items[place].group[TEXT], place) for place in scores.values
    )
    for places in texts.values():
        sides = group_by_key(
            (items[place].group[VALIDITY], place) for place in places
        )
        if len(sides) < 2:
            continue
        valid, invalid = sides["valid"], sides["invalid"]
        high = scores.better(valid)[:, None]
        low = scores.better(invalid)[None, :]
        # All pairs of a valid (rows) and an invalid version (columns).
        wins = (high > low) + 0.5 * (high == low)
        # A figure of a text is kept at its first version, whose source is
        # resampled.
        accuracy[places[0]] = float(wins.mean())
        ties[places[0]] = float((high == low).mean())
        separated[places[0]] = float(high.min() > low.max())
        right |= zip(valid, wins.mean(axis=1).tolist(), strict=True)
        right |= zip(invalid, wins.mean(axis=0).tolist(), strict=True)
    kinds = group_by_key(
        ((item.group[VALIDITY], item.group[KIND]), place)
        for place, item in enumerate(items)
    )
    rows = [
        KindRow(
            kind,
            "valid" if validity == "valid" else "invalid",
            scores.mean(scores.values, places),
            scores.mean(right, places),
            scores.count_failed(places),
        )
        for (validity, kind), places in sorted(
            kinds.items(), key=lambda entry: entry[0][0] != "valid"
        )
    ]
    return ComparisonResult(
        *head,
        scores.mean(accuracy),
        scores.mean(ties),
        scores.mean(separated),
        tuple(rows),
    )
