"""The report of a run over narratives: tables, eight panels, film strips, where stories break."""

from beholder.report.narrate.page import write_study, write_study_figures

__all__ = ["write_study", "write_study_figures"]
