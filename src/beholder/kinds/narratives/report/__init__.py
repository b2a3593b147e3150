"""The report of a run over narratives: tables, eight panels, film strips, where stories break."""

from beholder.kinds.narratives.report.page import write_study, write_study_figures
from beholder.kinds.narratives.report.tables import (
    extraction_table,
    side_by_side_tables,
    study_tables,
    terminal_tables,
)

__all__ = [
    "extraction_table",
    "side_by_side_tables",
    "study_tables",
    "terminal_tables",
    "write_study",
    "write_study_figures",
]
