"""The report of a ranking run: tables, rank matrix per image, instructions for annotators."""

from beholder.report.rank.instructions import annotation_instructions
from beholder.report.rank.page import write_ranking, write_ranking_figures
from beholder.report.rank.tables import ranking_tables

__all__ = ["annotation_instructions", "ranking_tables", "write_ranking", "write_ranking_figures"]
