"""RowReading data sets: rows of JSONL, CSV, TSV and Parquet become items, or say what is wrong.

Names load on use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
