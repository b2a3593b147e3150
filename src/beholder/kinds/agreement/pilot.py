"""Figures for the planning of a study from a run of a small sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.errors import ConfigError
from beholder.run.answers import costs, run_judging
from beholder.run.reading import incomplete_runs
from beholder.run.store import Store
from beholder.stats.sizes import scatter


@dataclass(frozen=True)
class TextCost:
    """Mean cost of a text; None if no judge was asked, or a price is not known."""

    calls: float | None = None
    tokens: float | None = None
    dollars: float | None = None


@dataclass(frozen=True)
class Pilot:
    """Spread and cost of the values of a study.

    Attributes:
        sd: Standard deviation of texts.
        icc: Intraclass correlation of texts of one picture.
        per_picture: Texts per picture.
        sd_pictures: Standard deviation of means of pictures, of two runs.
        r: Correlation of two runs over pictures.
        price: Mean cost of a text.
        in_words: All figures in one line.
    """

    sd: float | None = None
    icc: float = 0.0
    per_picture: float = 1.0
    sd_pictures: float | None = None
    r: float | None = None
    price: TextCost = TextCost()
    in_words: str = ""


def read_pilot(run: Path, value: str | None, against: Path | None) -> Pilot:
    """Measure how a value scatters in a run, and what its judges cost.

    Args:
        run: The run.
        value: Name of a value, such as ``accord.f1``; None takes the first.
        against: A run of another system, some of its pictures being the same.

    Raises:
        RunError: A run cannot be read.
        ConfigError: The run has no such value, the values have no spread, or the runs share too
            few pictures.
    """
    name, values, pictures = _values(run, value)
    variation = scatter(values, pictures)
    cautions = incomplete_runs(*filter(None, (run, against)))
    words = (
        f"{name} of {len(values)} texts: sd {variation.sd:.3f}, intraclass correlation"
        f" {variation.icc:.2f}, {variation.per_picture:.2g} texts a picture"
    )
    words += "".join(f"; caution: {caution}" for caution in cautions)
    judging, paid = run_judging(run), [row.cost for row in costs(run)]
    price = TextCost()
    # Without calls to a judge there is nothing to pay.
    if judging.n_answers:
        n = len(values)
        dollars = (
            None
            if None in paid
            else math.fsum(c for c in paid if c is not None) / n
        )
        price = TextCost(
            judging.n_answers / n, judging.prompt_tokens / n, dollars
        )
    if against is None:
        return Pilot(
            variation.sd,
            variation.icc,
            variation.per_picture,
            price=price,
            in_words=words,
        )
    means, other_means = (
        _means(values, pictures),
        _means(*_values(against, name)[1:]),
    )
    # The systems are compared on the same pictures, so the gain of pairing
    # depends on their correlation there.
    common_pictures = sorted(means.keys() & other_means.keys())
    if len(common_pictures) < 3:
        raise ConfigError(
            f"{run} and {against} share {len(common_pictures)} pictures; at least 3 are needed"
        )
    pairs = np.array(
        [(means[key], other_means[key]) for key in common_pictures]
    )
    spread = float(pairs.var(axis=0, ddof=1).mean())
    if spread == 0:
        raise ConfigError(
            f"{name} is the same for all pictures of {run} and {against}"
        )
    # From the variance of the difference, as the plan uses it: var(a - b) = 2
    # var (1 - r).
    r = 1 - float((pairs[:, 0] - pairs[:, 1]).var(ddof=1)) / (2 * spread)
    words += (
        f"; {len(common_pictures)} pictures in both runs, correlation {r:.2f}"
    )
    return Pilot(
        variation.sd,
        variation.icc,
        variation.per_picture,
        math.sqrt(spread),
        r,
        price,
        words,
    )


def _values(
    run: Path, value: str | None
) -> tuple[str, list[float], list[bytes]]:
    """Return the name of a value, its numbers, and the picture of each number."""
    with Store.read(run) as store:
        numbers = {
            asker.name: list(store.values(asker.name))
            for asker in store.askers()
        }
        value_keys = {}
        for name, rows in numbers.items():
            # The first row names the values; others may have fewer of them.
            for key in rows[0][1] if rows else ():
                value_keys[f"{name}.{key}"] = (name, key)
        # A value is named in full, or by its metric, whose first value is
        # taken.
        value_name = next(
            (
                k
                for k in value_keys
                if value in (None, k, k.rpartition(".")[0])
            ),
            None,
        )
        if value_name is None:
            choices = ", ".join(value_keys) or "none"
            raise ConfigError(
                f"the run has no value {value!r}; it has: {choices}"
            )
        name, key = value_keys[value_name]
        numbers_by_place = {
            place: row[key] for place, row in numbers[name] if key in row
        }
        sources = store.sources(max(numbers_by_place) + 1, store.kind_of(name))
    return (
        value_name,
        list(numbers_by_place.values()),
        [sources[place] for place in numbers_by_place],
    )


def _means(values: list[float], pictures: list[bytes]) -> dict[bytes, float]:
    values_by_picture = group_by_key(zip(pictures, values, strict=True))
    return {
        picture: math.fsum(picture_values) / len(picture_values)
        for picture, picture_values in values_by_picture.items()
    }
