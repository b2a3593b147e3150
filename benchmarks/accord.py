"""What Accord makes of changed texts: synonyms, one wrong object, words out of order.

    python benchmarks/accord.py [SHARED_DATA] [--texts 150]

Each description of SHARED_DATA/descriptions is compared with versions of itself, and the references
of captions with their own words shuffled and sorted. Synonyms are exchanged wherever the list below
has the word (a text with less than two of them is passed over); the wrong object stands in the
place of one noun of another list. Prints means, and in how many texts the synonyms are above the
wrong object.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import random
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from beholder.metrics import Tools
from beholder.metrics.accord import Accord

DATA = Path(__file__).parents[1] / "../shared/data"
_PAIRS = """couch sofa
child kid
picture photo
image photograph
street road
big large
little small
stone rock
automobile car
bike bicycle
plane airplane
cup mug
shore coast
garbage trash
coat jacket
sidewalk pavement
carpet rug
ship boat
shop store
lady woman
field meadow
shining gleaming
located situated
upper top
lower bottom
edge border
thin slim
round circular
middle center
several multiple
many numerous
huge enormous"""
SYNONYMS = {
    a: b
    for line in _PAIRS.splitlines()
    for a, b in [line.split(), line.split()[::-1]]
}
_OBJECTS = """car dog cat bird tree table chair cup hat horse boat building sign bench flower
bottle window lamp book shirt bicycle bridge road wall fence rock bowl ball plate door"""
OBJECTS = _OBJECTS.split()


def exchanged(text: str, table: Mapping[str, str]) -> tuple[str, int]:
    """Return a text with words exchanged by a table, and how many were."""
    pattern = re.compile(rf"\b({'|'.join(table)})\b")
    return pattern.subn(lambda match: table[match[0]], text)


def wrong_object(text: str, rng: random.Random) -> str | None:
    """Return a text with one of the objects replaced by one that it does not name."""
    matches = list(re.finditer(rf"\b({'|'.join(OBJECTS)})\b", text))
    if not matches:
        return None
    place = rng.choice(matches)
    other_object = rng.choice(
        [word for word in OBJECTS if not re.search(rf"\b{word}", text)]
    )
    return text[: place.start()] + other_object + text[place.end() :]


def shuffled(text: str, rng: random.Random) -> str:
    words = text.split()
    rng.shuffle(words)
    return " ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--texts", type=int, default=150)
    options = parser.parse_args()
    rng = random.Random(1)
    metric, tools = Accord(), Tools()

    def score(text: str, references: str | list[str]) -> dict[str, float]:
        return dict(metric.score_text(text, references, tools=tools).values)

    path = options.data / "descriptions/iiw_descriptions.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    pairs: list[tuple[dict[str, float], dict[str, float], int]] = []
    for text in rng.sample(texts, options.texts):
        reworded, n = exchanged(text, SYNONYMS)
        false = wrong_object(text, rng)
        if n >= 2 and false is not None:
            pairs.append((score(reworded, text), score(false, text), n))
    print(
        f"synonyms, {np.mean([n for *_, n in pairs]):.1f} a text, against one wrong object"
    )
    for value in ("accord", "f1", "words", "sentence"):
        same_scores = np.array([same[value] for same, _, _ in pairs])
        wrong_scores = np.array([wrong[value] for _, wrong, _ in pairs])
        print(
            f"  {value:9} {same_scores.mean():.3f} {wrong_scores.mean():.3f}"
            f"  above in {np.sum(same_scores > wrong_scores)} of {len(pairs)}"
        )

    def jumbled(name: str, groups: list[list[str]]) -> None:
        for title, change in (
            ("shuffled", shuffled),
            ("sorted", lambda t, _: by_name(t)),
        ):
            scores = np.array(
                [
                    score(change(refs[0], rng), refs)["accord"]
                    for refs in groups
                ]
            )
            print(
                f"{name}, {title}: mean {scores.mean():.3f}, below 0.3 in"
                f" {np.mean(scores < 0.3):.2f} of {len(scores)}"
            )

    jumbled(
        "descriptions",
        [[text] for text in rng.sample(texts, min(50, options.texts))],
    )
    for name in ("flickr8k_expert.jsonl", "vatex_eval.jsonl.gz"):
        opened = gzip.open if name.endswith("gz") else open
        with opened(
            options.data / "human_judgments" / name, "rt", encoding="utf-8"
        ) as file:
            rows = [json.loads(line) for line in file]
        sets = {row["image"]: row["references"] for row in rows}
        jumbled(
            name.partition(".")[0],
            rng.sample(list(sets.values()), min(100, options.texts)),
        )


def by_name(text: str) -> str:
    return " ".join(sorted(text.split()))


if __name__ == "__main__":
    main()
