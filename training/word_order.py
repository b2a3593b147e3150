"""Counts which classes of words stand side by side; writes the table of ``accord``.

    python -m training.word_order SHARED_DATA

Reads what ``training/word_frequencies.py`` reads: ImageInWords (CC BY 4.0), UD English EWT and the
open genres of GUM. Only ratios of pairs of classes are kept, no text. The judged sets are not read.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

from beholder.text.word_order import ENDINGS, STEP, STOP, ending, marked_words
from training.word_frequencies import sentences

TABLE = Path(__file__).parents[1] / "src/beholder/text/word_order.npz"
LISTED = 600
"""Frequent words that are classes of their own."""
UNSEEN = 2.0
"""Added to counts, seen and expected alike, so that rare pairs tell little."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "data", type=Path, help="folder with descriptions/ and ud_english/"
    )
    texts = [
        marked_words(text) for text in sentences(parser.parse_args().data)
    ]

    counts = Counter(word for text in texts for word in text)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    names = [*ranked[:LISTED], *(f"-{ending_name}" for ending_name in ENDINGS)]
    assert STOP in names
    places = {name: place for place, name in enumerate(names)}
    pairs = np.zeros((len(names), len(names)))
    for text in texts:
        word_places = [places.get(word, places[ending(word)]) for word in text]
        for first, second in pairwise(word_places):
            pairs[first, second] += 1
    expected = np.outer(pairs.sum(axis=1), pairs.sum(axis=0)) / pairs.sum()
    ratios = np.log((pairs + UNSEEN) / (expected + UNSEEN))
    stored = np.clip(np.rint(ratios * STEP), -127, 127).astype(np.int8)
    listed = np.frombuffer("\n".join(names).encode(), dtype=np.uint8)
    np.savez_compressed(TABLE, classes=listed, ratios=stored)
    print(f"{TABLE.name}: {len(texts)} sentences, {len(names)} classes")


if __name__ == "__main__":
    main()
