"""beholder: how good is a description of something seen, and where is it right or wrong?

Names load on use: ``import beholder`` loads no heavy package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from beholder._version import __version__

if TYPE_CHECKING:
    from beholder.metrics import metric
    from beholder.metrics.vcs import VCS, VCSShort

__all__ = ["VCS", "VCSShort", "__version__", "metric"]

_HOME = {
    "VCS": "beholder.metrics.vcs",
    "VCSShort": "beholder.metrics.vcs",
    "metric": "beholder.metrics",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'beholder' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
