"""VCS and VCS-short: does a text cover the content of the reference, in the same order?"""

from __future__ import annotations

from beholder.metrics.vcs.findings import alignment_detail, chunk_verdicts
from beholder.metrics.vcs.metric import VCS
from beholder.metrics.vcs.short import VCSShort

__all__ = ["VCS", "VCSShort", "alignment_detail", "chunk_verdicts"]
