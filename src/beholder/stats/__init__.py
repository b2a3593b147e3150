"""Statistics: arrays in, named results with intervals out. Knows nothing of items or judges.

Names load on use, so that importing this package loads neither numpy nor scipy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beholder.stats.bootstrap import mean_interval
    from beholder.stats.paired import PairedDifference, paired_difference

__all__ = ["PairedDifference", "mean_interval", "paired_difference"]

_HOME = {
    "bootstrap": ("mean_interval",),
    "paired": ("PairedDifference", "paired_difference"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'beholder.stats' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"beholder.stats.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
