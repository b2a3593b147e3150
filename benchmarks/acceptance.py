"""How often ``accept`` accepts a collection that breaks the claim, with a look after every text.

    python -m benchmarks.acceptance [--collections N]

Each collection has exactly the smallest number of grave errors that breaks the claim, in random
order. The last figure is of the usual exact limit, looked at after every text.
"""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np

from beholder.stats import acceptance

CLAIMS = ((0.02, 1000), (0.02, 5000), (0.05, 1000))
"""Rate and number of texts."""


def share_with_usual_limit(rate: float, n_texts: int, n_runs: int) -> float:
    """Return the share of collections that the exact limit accepts at some look."""
    n_breaking = acceptance.breaking_count(rate, n_texts)
    rng = np.random.default_rng(1)

    @cache
    def texts_needed(allowed: int) -> int:
        return acceptance.texts_to_read(rate, allowed, n_texts)

    n_accepted = 0
    for _ in range(n_runs):
        places = np.sort(rng.choice(n_texts, n_breaking, replace=False))
        # With c errors so far the limit accepts at the end of the plan that allows c, if the
        # next error comes later.
        n_accepted += any(
            texts_needed(allowed) <= place
            for allowed, place in enumerate(places)
        )
    return n_accepted / n_runs


def main() -> None:
    """Print the shares of each claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", type=int, default=2000)
    n_runs = parser.parse_args().collections
    for rate, n_texts in CLAIMS:
        share = acceptance.breaking_count(rate, n_texts) / n_texts
        stops = acceptance.early_stops(
            rate, share, n_texts, n_runs=n_runs, seed=1
        )
        usual = share_with_usual_limit(rate, n_texts, n_runs)
        print(
            f"at most {rate:.0%} of {n_texts}: {np.isfinite(stops).mean():.4f} accepted,"
            f" usual limit {usual:.3f}"
        )


if __name__ == "__main__":
    main()
