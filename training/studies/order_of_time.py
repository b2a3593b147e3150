"""Steps back in time of extracted storylines: every method, every replication, undated and dated.

    python training/studies/order_of_time.py INDEX VECTORS SEQUENCES [--replications N]
    python training/studies/order_of_time.py INDEX VECTORS SEQUENCES --column date=month --year 1928

INDEX is a file with a row per picture, VECTORS an npz with ``embeddings`` and ``ids``, SEQUENCES
holds storylines whose ends and lengths are taken. Undated: dates are taken off, and a step is back
if it goes back in the file. Dated: each picture without a date gets that of the most similar dated
one, and a step is back if all days of its second picture lie before those of its first. It also
counts paths whose ends are not the ends that were asked for, and replications that differ. Exits 1
if there is a step back or a wrong end.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from beholder.data import read_frames, read_storylines
from beholder.kinds.narratives.config import METHODS, Extraction
from beholder.kinds.narratives.storylines.extract import (
    ExtractionTask,
    extract,
    steps_back,
)
from beholder.records import Frame, Storyline


def dated_alike(frames: Sequence[Frame], vectors: np.ndarray) -> list[Frame]:
    """Pictures with the date of the dated one that is most like them."""
    dated = [i for i, frame in enumerate(frames) if frame.date is not None]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = (unit @ unit[dated].T).argmax(axis=1)
    return [
        frame
        if frame.date is not None
        else replace(frame, date=frames[dated[int(at)]].date)
        for frame, at in zip(frames, nearest, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("sequences", type=Path)
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument(
        "--methods", nargs="+", default=list(METHODS), choices=METHODS
    )
    parser.add_argument(
        "--column", action="append", default=[], metavar="FIELD=COLUMN"
    )
    parser.add_argument("--year", type=int)
    options = parser.parse_args()
    columns = dict(pair.split("=", 1) for pair in options.column)
    frames_read = read_frames(
        options.index,
        columns=columns,
        year=options.year,
        media_root=options.index.parent,
    )
    frames = [frame for frame in frames_read if isinstance(frame, Frame)]
    archive = np.load(options.vectors)
    rows = {str(name): row for row, name in enumerate(archive["ids"])}
    vectors = archive["embeddings"][[rows[frame.id] for frame in frames]]
    storylines = [
        s
        for s in read_storylines(options.sequences, frames)
        if isinstance(s, Storyline)
    ]
    tasks = [ExtractionTask.like(storyline) for storyline in storylines]
    collections = {"undated": [replace(frame, date=None) for frame in frames]}
    if any(frame.date for frame in frames):
        collections["dated"] = dated_alike(frames, vectors)
    n_bad = 0
    for name, collection in collections.items():
        place = {frame.id: at for at, frame in enumerate(collection)}
        for method in options.methods:
            began = time.process_time()
            extraction = Extraction(
                method=method,
                replications=options.replications,
                scale="minmax",
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                extracted = [
                    each.storyline
                    for each in extract(collection, vectors, tasks, extraction)
                ]
            n_steps = n_back = n_wrong = 0
            repeated_tasks = [
                task for task in tasks for _ in range(options.replications)
            ]
            for storyline, task in zip(extracted, repeated_tasks, strict=True):
                path = storyline.frames
                n_steps += len(path) - 1
                in_file = sum(
                    place[b.id] < place[a.id] for a, b in pairwise(path)
                )
                n_back += (
                    in_file if name == "undated" else len(steps_back(path))
                )
                n_wrong += (path[0].id, path[-1].id) != (
                    task.source,
                    task.target,
                )
            n_different = len(
                {tuple(frame.id for frame in s.frames) for s in extracted}
            )
            n_bad += n_back + n_wrong
            print(
                f"{name:<8} {method:<7} {len(extracted):4} storylines, {n_different:4} different,"
                f" {n_back} of {n_steps} steps back, {n_wrong} wrong ends,"
                f" {time.process_time() - began:.1f} s of processor time",
                flush=True,
            )
    raise SystemExit(1 if n_bad else 0)


if __name__ == "__main__":
    main()
