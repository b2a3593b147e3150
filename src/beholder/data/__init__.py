"""Reading data sets: rows of JSONL, CSV, TSV and Parquet become items, or say what is wrong."""

from beholder.data.frames import (
    read_frames,
    read_sequences,
    sequence_row,
    with_exif_dates,
    write_sequences,
)
from beholder.data.read import read_items
from beholder.data.reviews import read_reviews, reviews_row
from beholder.data.row import from_row, to_row

__all__ = [
    "from_row",
    "read_frames",
    "read_items",
    "read_reviews",
    "read_sequences",
    "reviews_row",
    "sequence_row",
    "to_row",
    "with_exif_dates",
    "write_sequences",
]
