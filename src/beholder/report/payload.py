"""The items of a page as JSON that is safe inside HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from beholder.base.visible import make_visible
from beholder.errors import ItemError, MissingExtraError
from beholder.media import encode_jpeg, inside, load_image
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.report.load import RunData
from beholder.report.marking import Piece, marked_texts
from beholder.report.pages import jpeg_uri
from beholder.report.tones import (
    count_verdicts,
    is_sure,
    label,
    strength,
    tone,
)
from beholder.report.views import view_of
from beholder.run.manifest import ValueLog
from beholder.run.store import Store

MAX_ITEMS = 200
MAX_BYTES = 6_000_000
"""Beyond these the page shows a choice of the items and says so."""

MAX_PICTURE_BYTES = 6_000_000
"""Of all pictures in the page; the items chosen first have theirs."""

_SIDE = 320

_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class ItemData:
    """The embedded items.

    Attributes:
        json: The page's data, safe inside a script element.
        positions: Positions of the items in it, ascending.
    """

    json: str
    positions: Sequence[int]


def item_data(
    store: Store,
    run: RunData,
    *,
    max_items: int,
    max_bytes: int,
    media_root: Path | None = None,
    first: Sequence[int] = (),
) -> ItemData:
    """Choose items and encode them, the most informative first, until the page is full.

    Args:
        store: The run's store.
        run: Data of the run.
        max_items: Items at most.
        max_bytes: Size of the items at most, pictures aside; one is always taken.
        media_root: Folder that paths of pictures are relative to; None shows none.
        first: Positions that the page links to.
    """
    # Items that the page links to, the worst and best of each metric, and
    # failures take turns until the page is full.
    lists: list[Sequence[int]] = [first]
    for metric in run.metrics:
        ranking = metric.ranking()
        ends = (ranking[:max_items], ranking[::-1][:max_items])
        lists += [
            *(end.tolist() for end in ends),
            sorted(metric.failures)[:max_items],
        ]
    encoded: dict[int, str] = {}
    names = [metric.name for metric in run.metrics]
    size = picture_size = 0
    for position in choose(run.n_items, lists, max_items):
        _, item = next(iter(store.items([position])))
        room = MAX_PICTURE_BYTES - picture_size
        address = (
            "" if media_root is None else picture_uri(item, media_root, room)
        )
        pictures = [address] if address else []
        text = encode_item(store, names, position, pictures)
        picture_size += sum(map(len, pictures))
        size += len(text.encode("utf-8")) - sum(map(len, pictures))
        # At least one item is shown, however long it is.
        if encoded and size > max_bytes:
            break
        encoded[position] = text
    positions = sorted(encoded)
    metrics = [(metric.name, metric.values) for metric in run.metrics]
    return ItemData(
        page_json(metrics, [encoded[at] for at in positions]), positions
    )


def picture_uri(item: Item, root: Path, room: int) -> str:
    """Return the first picture of an item, small, as an address; empty if it cannot be shown.

    Args:
        item: The item.
        root: Folder that its paths are relative to.
        room: Characters that the address may take.
    """
    try:
        address = jpeg_uri(
            encode_jpeg(
                load_image(inside(root, item.images[0]), max_side=_SIDE)
            )
        )
    except (IndexError, ItemError, MissingExtraError):
        return ""  # the page states how many pictures the item has
    return address if len(address) <= room else ""


def page_json(
    metrics: Iterable[tuple[str, Sequence[ValueLog]]], encoded: Iterable[str]
) -> str:
    """Return the data of a page: names and values of metrics, and items of ``encode_item``."""
    metric_rows = [
        {"name": name, "values": [_value(value) for value in values]}
        for name, values in metrics
    ]
    head = _dumps({"metrics": metric_rows})
    items = ",\n".join(encoded)
    return f'{head[:-1]},"items":[{items}]}}'


def encode_item(
    store: Store,
    metrics: Sequence[str],
    position: int,
    pictures: Sequence[str] = (),
) -> str:
    """Return the data of one item, as JSON that is safe inside a script element.

    Args:
        store: The run's store.
        metrics: Names of the metrics whose outcomes are drawn.
        position: The item's place.
        pictures: Addresses of its pictures.
    """
    return _dumps(
        {**_item(store, metrics, position), "pictures": list(pictures)}
    )


def _dumps(value: object) -> str:
    """Return JSON that is safe inside a script element: no ``</script>``, no line separators."""
    text = json.dumps(
        _plain(value),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    # Escapes of JSON strings: a parser gives the same value, and no browser
    # sees the end of a script.
    return text.translate(_ESCAPES)


def _value(v: ValueLog) -> Mapping[str, object]:
    return {
        "name": v.name,
        "help": v.help,
        "low": v.low,
        "high": v.high,
        "up": v.higher_is_better,
    }


def _item(
    store: Store, metrics: Sequence[str], position: int
) -> Mapping[str, object]:
    _, item = next(iter(store.items([position])))
    return {
        "position": position,
        "id": make_visible(item.id),
        "group": {
            make_visible(k): make_visible(v) for k, v in item.group.items()
        },
        "outcomes": [
            _outcome(item, store.score(name, position)) for name in metrics
        ],
        "candidate": make_visible(item.candidate),
        "references": [make_visible(text) for text in item.references],
        "n_images": len(item.images),
    }


def _outcome(
    item: Item, outcome: ItemScore | ItemFailure | None
) -> Mapping[str, object] | None:
    if outcome is None:
        return None
    if isinstance(outcome, ItemFailure):
        return {
            "failure": make_visible(outcome.message),
            "error": outcome.error,
        }
    # The page cuts its own copy of the texts, so only lengths and keys of
    # units are sent.
    units = outcome.units
    candidate, *references = marked_texts(item, units)
    height = dict(
        chain.from_iterable(
            cut_text.heights.items() for cut_text in (candidate, *references)
        )
    )
    return {
        "values": dict(outcome.values),
        "candidate": _pieces(candidate.pieces),
        "references": [_pieces(reference.pieces) for reference in references],
        "units": [
            _unit(unit, item, height.get(key, 0))
            for key, unit in enumerate(units)
        ],
        "verdicts": _verdicts(units),
        "view": view_of(outcome),
    }


def _pieces(pieces: Sequence[Piece]) -> list[list[Any]]:
    """Return the length of each piece and the keys of its units."""
    return [[_utf16(piece.text), *piece.units] for piece in pieces]


def _utf16(text: str) -> int:
    """Return the length of a text as a browser counts it."""
    # Strings of JavaScript are UTF-16: other planes take two units.
    return len(text) + sum(ord(c) > 0xFFFF for c in text)


def _unit(unit: Unit, item: Item, height: int) -> Mapping[str, object]:
    fields: dict[str, object] = {
        "kind": unit.kind,
        "side": "candidate"
        if unit.side == "candidate"
        else (unit.reference_index or 0),
        "verdict": label(unit.verdict),
        "score": unit.score,
        "strength": round(strength(unit), 2),
        "height": height or None,
        "detail": {
            make_visible(key): value for key, value in unit.detail.items()
        },
    }
    text = item.candidate
    if unit.side == "reference":
        index = unit.reference_index or 0
        text = item.references[index] if index < len(item.references) else ""
    # A unit with one mark that shows all of its text needs no copy of it.
    alone = len(unit.spans) == 1 and text[slice(*unit.spans[0])] == unit.text
    if not (alone and is_sure(unit)):
        fields["text"] = make_visible(
            unit.text
        )  # else the page takes it from its mark
    return fields


def _verdicts(units: Sequence[Unit]) -> list[Mapping[str, object]]:
    """Return the verdicts of an item, notable ones first, with their numbers of units."""
    return [
        {
            "name": label(verdict),
            "tone": tone(verdict).name,
            "symbol": tone(verdict).symbol,
            "notable": tone(verdict).notable,
            "count": n_sure,
            "unsure": n_unsure,
        }
        for verdict, (n_sure, n_unsure) in count_verdicts(units).items()
    ]


def _plain(value: Any) -> Any:
    """Return JSON values with floats rounded: a page needs no more digits than people read."""
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {
            key: _plain(inner)
            for key, inner in value.items()
            if inner is not None
        }
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    return value


def choose(
    n_items: int, lists: Sequence[Iterable[int]], limit: int
) -> list[int]:
    """Choose positions to show, the most informative first.

    The lists (worst, best, failed, ...) take turns, together with an even sample over all items,
    so each has about the same share; a short list leaves its share to the others.

    Args:
        n_items: Items of the run.
        lists: Positions of interest, each list in order of interest.
        limit: Number of positions.
    """
    # ``dict`` keeps the order in which positions are chosen, without repeats.
    turns = chain.from_iterable(zip_longest(*lists, spread(n_items, limit)))
    chosen: dict[int, None] = {}
    for position in turns:
        if len(chosen) == limit:
            break
        if position is not None:
            chosen[int(position)] = None
    return list(chosen)


def spread(n_items: int, count: int) -> list[int]:
    """Return up to ``count`` positions at even distance over ``0..n_items-1``."""
    count = min(count, n_items)
    return [i * n_items // count for i in range(count)]
