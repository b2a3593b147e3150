"""The report of a run over narratives: tables, eight panels, film strips, where stories break."""

from beholder.report.narrate.page import write_study, write_study_figures
from beholder.report.narrate.tables import extraction_table, study_tables

__all__ = ["extraction_table", "study_tables", "write_study", "write_study_figures"]
