"""Reading data sets: rows of JSONL, CSV, TSV and Parquet become items, or say what is wrong."""

from beholder.data.read import read_items
from beholder.data.row import from_row, to_row

__all__ = ["from_row", "read_items", "to_row"]
