"""Runs on many machines: actors of a Ray cluster score, what they find is kept as Parquet parts.

Needs the extra ``ray`` on every machine. Ray finds the machines, places the actors, hands out
blocks of subjects, and does again what a lost machine had in hand; nothing of that is ours.
"""

from __future__ import annotations

from beholder.ray.engine import RayEngine
from beholder.ray.scoring import score

__all__ = ["RayEngine", "score"]
