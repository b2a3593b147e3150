"""Reading data sets: rows of JSONL, CSV, TSV and Parquet become items, or say what is wrong."""

from beholder.data.frames import frame_from_row as frame_from_row
from beholder.data.frames import frame_row as frame_row
from beholder.data.frames import read_frames as read_frames
from beholder.data.frames import read_storylines as read_storylines
from beholder.data.frames import storyline_from_row as storyline_from_row
from beholder.data.frames import storyline_row as storyline_row
from beholder.data.frames import with_exif_dates as with_exif_dates
from beholder.data.frames import write_storylines as write_storylines
from beholder.data.read import read_items as read_items
from beholder.data.read import records as records
from beholder.data.reviews import read_reviews as read_reviews
from beholder.data.reviews import reviews_from_row as reviews_from_row
from beholder.data.reviews import reviews_row as reviews_row
from beholder.data.row import from_row as from_row
from beholder.data.row import item_from_row as item_from_row
from beholder.data.row import to_row as to_row
