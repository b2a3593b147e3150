"""beholder: how good is a description of something seen, and where is it right or wrong?

Names load on use: ``import beholder`` loads no heavy package.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from beholder._version import __version__

if TYPE_CHECKING:
    from beholder import stats
    from beholder.api import Run, judge
    from beholder.errors import (
        BeholderError,
        BudgetError,
        ConfigError,
        DataError,
        ItemError,
        MissingExtraError,
        ModelChangedError,
        RunError,
        TransientError,
        UnknownNameError,
    )
    from beholder.kinds.agreement.door import agree
    from beholder.kinds.bidirectional.door import bidirectional
    from beholder.kinds.narratives import door as narrate
    from beholder.kinds.narratives.door import NarrativesRun
    from beholder.kinds.ranking.door import RankingRun, rank
    from beholder.kinds.scores.door import score
    from beholder.metrics import Metric, Tools, metric
    from beholder.metrics.dcscore import DCScore
    from beholder.metrics.posh import PoSh
    from beholder.metrics.vcs import VCS, VCSShort
    from beholder.records import (
        Frame,
        Item,
        ItemFailure,
        ItemScore,
        MetricResult,
        Reviews,
        Storyline,
        Unit,
    )
    from beholder.report import show

_HOME = {
    "beholder.api": "Run judge",
    "beholder.kinds.agreement.door": "agree",
    "beholder.kinds.bidirectional.door": "bidirectional",
    "beholder.kinds.narratives.door": "NarrativesRun",
    "beholder.kinds.ranking.door": "RankingRun rank",
    "beholder.kinds.scores.door": "score",
    "beholder.errors": (
        "BeholderError BudgetError ConfigError DataError ItemError"
        " MissingExtraError ModelChangedError RunError TransientError UnknownNameError"
    ),
    "beholder.metrics": "Metric Tools metric",
    "beholder.metrics.dcscore": "DCScore",
    "beholder.metrics.posh": "PoSh",
    "beholder.metrics.vcs": "VCS VCSShort",
    "beholder.records": "Frame Item ItemFailure ItemScore MetricResult Reviews Storyline Unit",
    "beholder.report": "show",
}
_MODULES = {"narrate": "beholder.kinds.narratives.door", "stats": "beholder.stats"}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


__all__ = [
    "VCS",
    "BeholderError",
    "BudgetError",
    "ConfigError",
    "DCScore",
    "DataError",
    "Frame",
    "Item",
    "ItemError",
    "ItemFailure",
    "ItemScore",
    "Metric",
    "MetricResult",
    "MissingExtraError",
    "ModelChangedError",
    "NarrativesRun",
    "PoSh",
    "RankingRun",
    "Reviews",
    "Run",
    "RunError",
    "Storyline",
    "Tools",
    "TransientError",
    "Unit",
    "UnknownNameError",
    "VCSShort",
    "__version__",
    "agree",
    "bidirectional",
    "judge",
    "metric",
    "narrate",
    "rank",
    "score",
    "show",
    "stats",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _MODULE_OF:
        return _outside(name)
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    importlib.import_module("beholder.records").ItemScore.notebook_view = _notebook_view
    return value


def _outside(name: str) -> Any:
    """A function of a kind of work that an installed package brings."""
    if not name.startswith("_") and find_spec(f"beholder.{name}") is None:
        from beholder.optional import load
        from beholder.run.kind import kinds

        for kind in kinds():
            if name in kind.functions:
                return load(kind.functions[name])
    raise AttributeError(f"module 'beholder' has no attribute {name!r}")


def _notebook_view(score: ItemScore) -> str:
    from beholder.report import to_html

    return to_html(score)


def __dir__() -> list[str]:
    return sorted(__all__)
