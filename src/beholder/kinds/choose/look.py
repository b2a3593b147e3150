"""The pictures to look at, and what people said of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from scipy.special import ndtri

from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.base.optional import load_object
from beholder.errors import RunError
from beholder.kinds.choose.criteria import Captioner
from beholder.kinds.choose.figures import rate
from beholder.kinds.choose.pictures import PEOPLE, CaptionerChoice
from beholder.records import Item

LOOK, KEY = "look.jsonl", "look_key.json"
"""Sets of unnamed texts, and whose they are."""
N_LOOK = 30
"""Pictures to look at: half by disagreement, half at random."""


def choose_looks(
    choice: CaptionerChoice,
    captioners: Sequence[Captioner],
    texts: Sequence[Item],
) -> list[dict[str, Any]]:
    """Return the pictures to look at, with their texts by captioner.

    Half by the largest disagreement, at most a third of them from one pair of captioners; half at
    random, from the rest. A picture needs two different texts.
    """
    by_picture = group_by_key((t.meta["picture"], t) for t in texts)
    usable = {
        item.id: item
        for item in choice.pictures
        if len({t.candidate for t in by_picture.get(item.id, ())}) > 1
    }
    ranked = sorted(
        _disagreements(captioners, usable), key=lambda row: (-row[1], row[0])
    )
    half = min(N_LOOK // 2, len(usable) // 2)
    by_eye: list[tuple[str, float]] = []
    n_by_pair: Counter[tuple[str, str]] = Counter()
    for picture, disagreement, pair in ranked:
        # With two captioners all pictures are of one pair.
        if len(captioners) > 2 and n_by_pair[pair] >= max(1, half // 3):
            continue
        if len(by_eye) < half:
            n_by_pair[pair] += 1
            by_eye.append((picture, disagreement))
    chosen_names = {picture for picture, _ in by_eye}
    rest = sorted(
        (name for name in usable if name not in chosen_names),
        key=lambda name: _chance(choice.options.seed, name),
    )
    looks = [*by_eye, *((name, None) for name in rest[: N_LOOK - half])]
    return [
        {
            "id": name,
            "half": "disagreement" if value is not None else "random",
            "disagreement": value,
            "image": _name_picture(choice, usable[name]),
            "texts": {
                t.group["system"]: t.candidate for t in by_picture[name]
            },
        }
        for name, value in looks
    ]


def _name_picture(choice: CaptionerChoice, item: Item) -> str:
    """Return the first picture of an item as its data name it; empty if there is none."""
    if not item.images:
        return ""
    path = (choice.folder / item.images[0]).absolute()
    root = Path(choice.setup.root).absolute()
    return Path(os.path.relpath(path, root)).as_posix()


def _disagreements(
    captioners: Sequence[Captioner], usable: Mapping[str, Item]
) -> Iterator[tuple[str, float, tuple[str, str]]]:
    """Yield picture, disagreement beyond the noise of one run, and the pair that disagrees most."""
    sds = [c.figures["sd_of_run"].value for c in captioners]
    known_sds = [sd for sd in sds if sd is not None]
    noise = (
        float(ndtri(0.975))
        * 2**0.5
        * (median(known_sds) if known_sds else 0.0)
    )
    for name in usable:
        values = {
            c.name: c.scores["right"][name]
            for c in captioners
            if name in c.scores.get("right", {})
        }
        if len(values) > 1:
            high = max(values, key=lambda system: values[system])
            low = min(values, key=lambda system: values[system])
            spread = values[high] - values[low] - noise
            yield name, spread, (min(high, low), max(high, low))


def _chance(seed: int, *names: str) -> str:
    return sha256(json.dumps([seed, *names]).encode()).hexdigest()


def write_looks(
    choice: CaptionerChoice, looks: Sequence[Mapping[str, Any]]
) -> None:
    """Write the sets of unnamed texts, and the key to them; a set that is written stays."""
    # People may have begun to rank them, and a person's answer names the place of a text.
    if (choice.folder / KEY).is_file():
        return
    rows, key = [], {}
    for look in looks:
        name, texts = look["id"], look["texts"]
        order = sorted(texts, key=lambda system: _chance(0, name, system))
        row = {"id": name, "texts": [texts[system] for system in order]}
        if look["image"]:
            row["image"] = look["image"]
        rows.append(row)
        key[name] = {"systems": order, "half": look["half"]}
    files.write_jsonl(choice.folder / LOOK, rows)
    content = {"format": 1, "pictures": key}
    files.write_text(choice.folder / KEY, json.dumps(content, indent=2))


def read_people(
    choice: CaptionerChoice, captioners: Sequence[Captioner]
) -> dict[str, Any] | None:
    """Return how people ranked the texts; rates are of the random half only. None without a study.

    Raises:
        RunError: The folder ``people`` is a study of another task.
    """
    study = choice.folder / PEOPLE
    if not study.is_dir():
        return None
    content = files.read_json(
        choice.folder / KEY,
        form=1,
        kind="key of look.jsonl",
        missing_message=f"{choice.folder / KEY} is missing; repeat the first command",
    )
    # Named as text: kinds of work do not import each other.
    readings = load_object(
        "beholder.kinds.annotation.exchange:study_readings"
    )(study)
    if readings["task"] != "ranking":
        raise RunError(
            f"{study} is a study of {readings['task']}; rank the texts with 'beholder annotate"
            " ranking'"
        )
    pictures = content["pictures"]
    firsts: dict[str, list[str]] = {}
    ranks: dict[str, list[int]] = {c.name: [] for c in captioners}
    n_rankings: Counter[str] = Counter()
    codes = {
        name: f"r{n}" for n, name in enumerate(readings["annotators"], start=1)
    }
    for row in readings["rows"]:
        entry = pictures.get(row["unit"])
        order = row["judgment"].get("order")
        if not row["done"] or entry is None or not order:
            continue
        n_rankings[codes[row["annotator"]]] += 1
        if entry["half"] != "random":
            continue
        systems = [entry["systems"][place] for place in order]
        firsts.setdefault(row["unit"], []).append(systems[0])
        for place, system in enumerate(systems, start=1):
            ranks[system].append(place)
    leading = [
        c.name
        for c in sorted(
            captioners, key=lambda c: -(c.figures["right"].value or 0.0)
        )
    ]
    # Of two captioners each is in the leading pair, so the first alone says something.
    leading = leading[: 2 if len(leading) > 2 else 1]
    # A picture counts once, however many people ranked it.
    hits = [
        2 * sum(name in leading for name in names) >= len(names)
        for names in firsts.values()
    ]
    figure = rate(
        sum(hits), len(hits), "no picture of the random half is ranked"
    )
    return {
        "people": dict(sorted(n_rankings.items())),
        "leading": leading,
        "first_in_leading": vars(figure),
        "mean_rank": {
            name: sum(places) / len(places) if places else None
            for name, places in ranks.items()
        },
        "n_pictures": len(firsts),
    }
