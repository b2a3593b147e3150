"""How far PoSh agrees with people with its units weighted by information, and with all alike.

    python -m training.studies.posh_weighting [--data shared/data/human_judgments]
        [--sets flickr8k_expert ...] [--share 1.0] [--resamples 200] [--kept VALUES.npz]

Sets and protocols: ``benchmarks/judged.py``; f1 of the built-in judge. Each text is read and judged
once and scored under both weightings. With ``--kept``, values of sets that the file holds are taken
from it and those of the others are added.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from beholder import PoSh
from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.metrics import Tools
from beholder.records import Item
from benchmarks import judged

DATA = Path(__file__).parents[2] / "../shared/data/human_judgments"
SETS = (
    "flickr8k_expert",
    "flickr8k_cf",
    "thumb_mscoco",
    "pascal50s",
    "vatex_eval",
    "sugarcrepe",
)
WEIGHTINGS = {
    "equal": PoSh(weighting="equal"),
    "information": PoSh(weighting="information"),
}


async def scored(items: Sequence[Item]) -> dict[str, FloatArray]:
    """f1 (n,) of the items by weighting; an item that cannot be scored is printed and counts 0."""
    tools = Tools()
    scores_by_name: dict[str, FloatArray] = {
        name: np.zeros(len(items)) for name in WEIGHTINGS
    }
    for place, item in enumerate(items):
        try:
            evidence = await WEIGHTINGS["equal"].gather(item, tools)
            for name, metric in WEIGHTINGS.items():
                values = metric.score_answers(
                    evidence.plan, evidence.grades
                ).values
                scores_by_name[name][place] = values["f1"]
        except ItemError as error:
            print(f"    {item.id} failed, counted as 0: {error}", flush=True)
    return scores_by_name


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the pictures"
    )
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument(
        "--kept", type=Path, help="all values by set, read and added to"
    )
    options = parser.parse_args()
    kept_scores: dict[str, FloatArray] = {}
    if options.kept and options.kept.exists():
        kept_scores = dict(np.load(options.kept))
    for name in options.sets:
        rows = judged.load(options.data, name, options.share)
        key = f"{name} {options.share:g}"
        if f"{key}/equal" not in kept_scores:
            scores_by_name = asyncio.run(scored(judged.items_of(name, rows)))
            kept_scores |= {
                f"{key}/{weighting}": values
                for weighting, values in scores_by_name.items()
            }
            if options.kept:
                np.savez_compressed(options.kept, **kept_scores)  # type: ignore[arg-type]
        for weighting in WEIGHTINGS:
            values = kept_scores[f"{key}/{weighting}"]
            for label, text in judged.SETS[name](
                name, rows, values, options.resamples
            ):
                print(f"{label:34} {weighting:12} {text}", flush=True)


if __name__ == "__main__":
    main()
