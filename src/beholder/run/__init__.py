"""Making, storing, summarising and comparing runs of any kind."""

SCORES = "scores"
"""Kind of runs that score items; also that of runs written before ``run.json`` named a kind."""

ROWS = "rows"
"""Kind of runs that write new rows."""
