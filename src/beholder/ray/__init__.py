"""Runs on many machines: actors of a Ray cluster score, what they find is kept as Parquet parts.

Needs the extra ``ray`` on every machine. Ray finds the machines, places the actors, hands out
blocks of subjects, and repeats the work of a lost machine.
"""

from __future__ import annotations

from beholder.ray.engine import RayEngine, score

__all__ = ["RayEngine", "score"]
