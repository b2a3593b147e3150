"""Reading data sets: rows of JSONL, CSV, TSV and Parquet become items, or say what is wrong."""

from beholder.data.frames import (
    frame_from_row,
    frame_row,
    read_frames,
    read_storylines,
    storyline_from_row,
    storyline_row,
    with_exif_dates,
    write_storylines,
)
from beholder.data.read import read_items, records
from beholder.data.reviews import read_reviews, reviews_from_row, reviews_row
from beholder.data.row import from_row, item_from_row, to_row

__all__ = [
    "frame_from_row",
    "frame_row",
    "from_row",
    "item_from_row",
    "read_frames",
    "read_items",
    "read_reviews",
    "read_storylines",
    "records",
    "reviews_from_row",
    "reviews_row",
    "storyline_from_row",
    "storyline_row",
    "to_row",
    "with_exif_dates",
    "write_storylines",
]
