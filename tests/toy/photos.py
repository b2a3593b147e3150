"""A small collection of drawn photographs with dates, places and sequences over them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from PIL import Image

PLACES = ("Arica", "Antofagasta", "Quimsa", "Sacambaya")


def make_collection(folder: Path, n: int = 40) -> Path:
    """Write n pictures, ``index.csv`` and ``vectors.npz``; gives the index."""
    rng = np.random.default_rng(0)
    (folder / "img").mkdir(parents=True)
    index = folder / "index.csv"
    drift = np.cumsum(rng.normal(scale=0.3, size=(n, 8)), axis=0) + 1.0
    with index.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "file", "date", "place", "category"])
        for i in range(n):
            pixels = rng.integers(0, 256, (6, 8, 3), np.uint8)
            picture = Image.fromarray(pixels).resize(
                (64, 48), Image.Resampling.NEAREST
            )
            picture.save(folder / "img" / f"{i:03d}.jpg")
            month = 3 + i * 8 // n
            place = PLACES[i * len(PLACES) // n]
            rows.writerow(
                [
                    f"p{i:03d}",
                    f"img/{i:03d}.jpg",
                    f"1928-{month:02d}",
                    place,
                    "" if i % 5 else f"c{i // 20}",
                ]
            )
    np.savez(
        folder / "vectors.npz",
        ids=np.array([f"p{i:03d}" for i in range(n)]),
        embeddings=drift,
    )
    return index


def write_narratives(path: Path, n_each: int, n: int = 40) -> Path:
    """Write 6 human sequences and ``n_each`` of maps and of random, by id."""
    rng = np.random.default_rng(1)
    rows = []
    for source, count in (("human", 6), ("maps", n_each), ("random", n_each)):
        for number in range(count):
            inner = rng.choice(
                np.arange(1, n - 1), size=3 + number % 4, replace=False
            )
            order = inner if source == "random" else np.sort(inner)
            frames = [f"p{i:03d}" for i in (0, *order, n - 1)]
            rows.append(
                {
                    "id": f"{source}-{number}",
                    "source": source,
                    "frames": frames,
                }
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
