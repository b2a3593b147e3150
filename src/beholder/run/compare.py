"""Two runs over the same items: the paired difference of every value they share."""

from __future__ import annotations

from dataclasses import dataclass

from beholder import stats
from beholder.errors import ConfigError
from beholder.run.store import Store
from beholder.run.summary import SEED
from beholder.stats import PairedDifference


@dataclass(frozen=True)
class Difference:
    """One value in two runs.

    Attributes:
        metric: Canonical name of the metric.
        value: Name of the value.
        mean_a: Mean in the first run, over the items that both scored.
        mean_b: Mean in the second.
        paired: Mean of second minus first with interval and test.
    """

    metric: str
    value: str
    mean_a: float
    mean_b: float
    paired: PairedDifference


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        differences: Per metric and value, in the order of the first run.
        n_common: Items that both runs have, by id.
        n_only_a: Items of the first run alone.
        n_only_b: Items of the second run alone.
    """

    differences: tuple[Difference, ...]
    n_common: int
    n_only_a: int
    n_only_b: int


def compare(a: Store, b: Store, *, allow_different: bool = False) -> Comparison:
    """Compare two runs item by item.

    Args:
        a: The first run.
        b: The second run.
        allow_different: Compare values although they were made in different ways.

    Raises:
        ConfigError: The runs share no metric or no item, or a metric's signatures differ.
    """
    ids_a, ids_b = ({item.id: place for place, item in store.items()} for store in (a, b))
    common = [item_id for item_id in ids_a if item_id in ids_b]
    if not common:
        raise ConfigError(
            f"{a.folder} and {b.folder} share no item id; compare pairs items by id, so that a"
            " picture needs the same id under both systems"
        )
    names_a, names_b = ([metric.name for metric in store.metrics()] for store in (a, b))
    shared = [name for name in names_a if name in names_b]
    if not shared:
        raise ConfigError(
            f"the runs share no metric: {', '.join(names_a) or 'none'} against"
            f" {', '.join(names_b) or 'none'}"
        )
    sources = a.sources(a.n_items())
    differences = []
    for name in shared:
        _check_signatures(a, b, name, allow_different)
        values_a, values_b = dict(a.values(name)), dict(b.values(name))
        pairs = [
            (ids_a[item_id], ids_b[item_id])
            for item_id in common
            if ids_a[item_id] in values_a and ids_b[item_id] in values_b
        ]
        for value in dict.fromkeys(value for place, _ in pairs for value in values_a[place]):
            both = [(i, j) for i, j in pairs if value in values_a[i] and value in values_b[j]]
            if not both:
                continue
            clusters = [sources[place] for place, _ in both]
            first = [values_a[place][value] for place, _ in both]
            second = [values_b[place][value] for _, place in both]
            paired = stats.paired_difference(second, first, clusters=clusters, seed=SEED)
            mean_a, mean_b = sum(first) / len(first), sum(second) / len(second)
            differences.append(Difference(name, value, mean_a, mean_b, paired))
    return Comparison(
        differences=tuple(differences),
        n_common=len(common),
        n_only_a=len(ids_a) - len(common),
        n_only_b=len(ids_b) - len(common),
    )


def _check_signatures(a: Store, b: Store, name: str, allow_different: bool) -> None:
    made_a, made_b = a.signatures(name), b.signatures(name)
    if made_a and made_b and made_a != made_b and not allow_different:
        raise ConfigError(
            f"{name} was made in different ways: {' ; '.join(made_a)} in {a.folder},"
            f" {' ; '.join(made_b)} in {b.folder}; compare anyway with --allow-different"
        )
