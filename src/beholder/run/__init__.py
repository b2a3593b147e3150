"""How a run is made, stored, summarised and compared, whatever its kind."""

SCORES = "scores"
"""Kind of runs that score items; also that of runs written before ``run.json`` named a kind."""

ROWS = "rows"
"""Kind of runs that write new rows."""
