"""The report of a bidirectional study: tables as CSV, figures as SVG, one offline page."""

from beholder.report.bidirectional.page import write_bidirectional

__all__ = ["write_bidirectional"]
