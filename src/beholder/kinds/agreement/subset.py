"""A part of a set by a file of names, such as the pictures that show three or more people."""

from __future__ import annotations

import json
from pathlib import Path

from beholder.errors import ConfigError, DataError
from beholder.records import Item


def read_names(path: Path) -> list[str]:
    """Read the names in a file: a JSON list of strings, or a name per line.

    Raises:
        DataError: The file cannot be read, or contains no name.
    """
    try:
        text = path.read_text(encoding="utf-8")
        # A list in JSON may contain names with line breaks; other files have a
        # name per line.
        names = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else text.split("\n")
        )
    except (OSError, ValueError) as error:
        raise DataError(
            str(path),
            f"expected a JSON list of names or a name a line: {error}",
        ) from None
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise DataError(
            str(path), f"expected names that are texts, got {wrong[0]!r}"
        )
    stripped = [name.strip() for name in names]
    if not any(stripped):
        raise DataError(str(path), "expected names of pictures, got none")
    return [name for name in dict.fromkeys(stripped) if name]


def take_subset(
    items: tuple[Item, ...], path: Path
) -> tuple[tuple[Item, ...], str]:
    """Return the items of the named pictures, and a sentence that counts them.

    A name is that of a picture or video, with or without its folder and ending, or an item's id.

    Raises:
        ConfigError: No item has a named picture.
        DataError: The file cannot be read.
    """
    names = read_names(path)
    wanted_names = frozenset(names)
    keys_by_item = [(item, _keys(item) & wanted_names) for item in items]
    chosen_items = tuple(item for item, keys in keys_by_item if keys)
    # Names that match nothing are reported: they may be mistyped.
    matched = frozenset[str]().union(*(keys for _, keys in keys_by_item))
    unmatched = [name for name in names if name not in matched]
    if not chosen_items:
        raise ConfigError(
            f"--subset {path}: none of its {len(names):,} names, such as {names[0]!r}, is a picture"
            f" of the data, such as {_example(items)!r}"
        )
    sentence = (
        f"subset {path}: {len(chosen_items):,} of {len(items):,} judged,"
        f" {len({item.source for item in chosen_items}):,} pictures"
    )
    if unmatched:
        examples = ", ".join(unmatched[:3]) + ", ..." * (len(unmatched) > 3)
        sentence += f"; names of the file without a judgment: {len(unmatched):,} ({examples})"
    return chosen_items, sentence


def _keys(item: Item) -> frozenset[str]:
    pictures = [*item.images, *([item.video] if item.video else [])]
    paths = [Path(picture) for picture in pictures]
    return frozenset(
        [
            item.id,
            *pictures,
            *(path.name for path in paths),
            *(path.stem for path in paths),
        ]
    )


def _example(items: tuple[Item, ...]) -> str:
    item = items[0]
    return next(iter(item.images), item.video or item.id)
