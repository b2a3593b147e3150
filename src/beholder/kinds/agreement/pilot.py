"""What a run of a small sample shows of the study that is planned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.base.grouping import by_key
from beholder.errors import ConfigError
from beholder.run.answers import costs, run_judging
from beholder.run.reading import incomplete_runs
from beholder.run.store import Store
from beholder.stats.sizes import scatter


@dataclass(frozen=True)
class TextCost:
    """What a text costs, on average; None if no judge was asked, or a price is not known."""

    calls: float | None = None
    tokens: float | None = None
    dollars: float | None = None


@dataclass(frozen=True)
class Pilot:
    """What is known of the values of a study.

    Attributes:
        sd: Standard deviation of texts.
        icc: Intraclass correlation of texts of one picture.
        per_picture: Texts per picture.
        sd_pictures: Standard deviation of means of pictures, of two runs.
        r: Correlation of two runs over pictures.
        price: What a text costs.
        in_words: All of it in a line.
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
        ConfigError: It has no such value, values without spread, or too few common pictures.
    """
    name, values, pictures = _values(run, value)
    found = scatter(values, pictures)
    cautions = incomplete_runs(*filter(None, (run, against)))
    words = (
        f"{name} of {len(values)} texts: sd {found.sd:.3f}, intraclass correlation {found.icc:.2f},"
        f" {found.per_picture:.2g} texts a picture"
    )
    words += "".join(f"; caution: {caution}" for caution in cautions)
    judging, paid = run_judging(run), [row.cost for row in costs(run)]
    price = TextCost()
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
            found.sd, found.icc, found.per_picture, price=price, in_words=words
        )
    own, their = _means(values, pictures), _means(*_values(against, name)[1:])
    both = sorted(own.keys() & their.keys())
    if len(both) < 3:
        raise ConfigError(
            f"{run} and {against} share {len(both)} pictures; at least 3 are needed"
        )
    pairs = np.array([(own[key], their[key]) for key in both])
    spread = float(pairs.var(axis=0, ddof=1).mean())
    if spread == 0:
        raise ConfigError(
            f"{name} is the same for all pictures of {run} and {against}"
        )
    r = 1 - float((pairs[:, 0] - pairs[:, 1]).var(ddof=1)) / (2 * spread)
    words += f"; {len(both)} pictures in both runs, correlation {r:.2f}"
    return Pilot(
        found.sd,
        found.icc,
        found.per_picture,
        math.sqrt(spread),
        r,
        price,
        words,
    )


def _values(
    run: Path, value: str | None
) -> tuple[str, list[float], list[bytes]]:
    """Name of a value, its numbers, and the picture of each."""
    with Store.read(run) as store:
        numbers = {
            asker.name: list(store.values(asker.name))
            for asker in store.askers()
        }
        there = {
            f"{name}.{key}": (name, key)
            for name, rows in numbers.items()
            for _, row in rows[:1]
            for key in row
        }
        wanted = next(
            (k for k in there if value in (None, k, k.rpartition(".")[0])),
            None,
        )
        if wanted is None:
            known = ", ".join(there) or "none"
            raise ConfigError(
                f"the run has no value {value!r}; it has: {known}"
            )
        name, key = there[wanted]
        found = {place: row[key] for place, row in numbers[name] if key in row}
        sources = store.sources(max(found) + 1, store.kind_of(name))
    return wanted, list(found.values()), [sources[place] for place in found]


def _means(values: list[float], pictures: list[bytes]) -> dict[bytes, float]:
    of_picture = by_key(zip(pictures, values, strict=True))
    return {
        picture: math.fsum(some) / len(some)
        for picture, some in of_picture.items()
    }
