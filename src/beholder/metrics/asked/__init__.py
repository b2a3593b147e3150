"""Metrics that put the questions or criteria of a row to a judge who reads the candidate alone."""

from beholder.metrics.asked.autodq import AutoDQ
from beholder.metrics.asked.checklist import Checklist
from beholder.metrics.asked.qa import QA

__all__ = ["QA", "AutoDQ", "Checklist"]
