"""beholder: how good is a description of something seen, and where is it right or wrong?

Names load on use: ``import beholder`` loads no heavy package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from beholder._version import __version__

if TYPE_CHECKING:
    from beholder import stats
    from beholder.api import Run, score
    from beholder.errors import BeholderError
    from beholder.metrics import Metric, Tools, metric
    from beholder.metrics.dcscore import DCScore
    from beholder.metrics.posh import PoSh
    from beholder.metrics.vcs import VCS, VCSShort
    from beholder.records import Item, ItemFailure, ItemScore, MetricResult, Unit
    from beholder.report import show

__all__ = [
    "VCS",
    "BeholderError",
    "DCScore",
    "Item",
    "ItemFailure",
    "ItemScore",
    "Metric",
    "MetricResult",
    "PoSh",
    "Run",
    "Tools",
    "Unit",
    "VCSShort",
    "__version__",
    "metric",
    "score",
    "show",
    "stats",
]

_HOME = {
    "beholder.api": ("Run", "score"),
    "beholder.errors": ("BeholderError",),
    "beholder.metrics": ("Metric", "Tools", "metric"),
    "beholder.metrics.dcscore": ("DCScore",),
    "beholder.metrics.posh": ("PoSh",),
    "beholder.metrics.vcs": ("VCS", "VCSShort"),
    "beholder.records": ("Item", "ItemFailure", "ItemScore", "MetricResult", "Unit"),
    "beholder.report": ("show",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "stats":
        return importlib.import_module("beholder.stats")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'beholder' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    importlib.import_module("beholder.records").ItemScore.notebook_view = _notebook_view
    return value


def _notebook_view(score: ItemScore) -> str:
    from beholder.report import to_html

    return to_html(score)


def __dir__() -> list[str]:
    return sorted(__all__)
