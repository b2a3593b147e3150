"""VCS and VCS-short: does a text tell what the reference tells, in the same order?"""

from __future__ import annotations

from beholder.metrics.vcs.findings import alignment_detail, chunk_verdicts
from beholder.metrics.vcs.metric import VCS

__all__ = ["VCS", "alignment_detail", "chunk_verdicts"]
