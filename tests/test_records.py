"""Rules of the records themselves."""

from __future__ import annotations

import pytest

from beholder.records import Item


@pytest.mark.parametrize(
    ("item", "source"),
    [
        (Item("a", "x", images=("1.png", "2.png"), video="v.mp4", references=("r",)), ("1.png", "2.png")),
        (Item("a", "x", video="v.mp4", references=("r",)), ("v.mp4",)),
        (Item("a", "x", references=("r", "s")), ("r", "s")),
        (Item("a", "x"), ("a",)),
    ],
)  # fmt: skip
def test_an_item_describes_its_images_else_its_video_else_its_references(
    item: Item, source: tuple[str, ...]
) -> None:
    assert item.source == source
