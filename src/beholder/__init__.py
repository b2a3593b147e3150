"""beholder: how good is a description of something seen, and where is it right or wrong?

Names load on use: ``import beholder`` loads no heavy package.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from beholder._version import __version__

if TYPE_CHECKING:
    from beholder import stats as stats
    from beholder.api import Run as Run
    from beholder.api import judge as judge
    from beholder.errors import BeholderError as BeholderError
    from beholder.errors import BudgetError as BudgetError
    from beholder.errors import ConfigError as ConfigError
    from beholder.errors import DataError as DataError
    from beholder.errors import ItemError as ItemError
    from beholder.errors import MissingExtraError as MissingExtraError
    from beholder.errors import ModelChangedError as ModelChangedError
    from beholder.errors import RunError as RunError
    from beholder.errors import TransientError as TransientError
    from beholder.errors import UnknownNameError as UnknownNameError
    from beholder.kinds.agreement.door import agree as agree
    from beholder.kinds.bidirectional.door import bidirectional as bidirectional
    from beholder.kinds.narratives import door as narrate
    from beholder.kinds.narratives.door import NarrativesRun as NarrativesRun
    from beholder.kinds.ranking.door import RankingRun as RankingRun
    from beholder.kinds.ranking.door import rank as rank
    from beholder.kinds.scores.door import score as score
    from beholder.metrics import Metric as Metric
    from beholder.metrics import Tools as Tools
    from beholder.metrics import metric as metric
    from beholder.metrics.dcscore import DCScore as DCScore
    from beholder.metrics.posh import PoSh as PoSh
    from beholder.metrics.vcs import VCS as VCS
    from beholder.metrics.vcs import VCSShort as VCSShort
    from beholder.records import Frame as Frame
    from beholder.records import Item as Item
    from beholder.records import ItemFailure as ItemFailure
    from beholder.records import ItemScore as ItemScore
    from beholder.records import MetricResult as MetricResult
    from beholder.records import Reviews as Reviews
    from beholder.records import Storyline as Storyline
    from beholder.records import Unit as Unit
    from beholder.report import show as show

# The imports above give types; names load from this table (`tests/test_import.py` compares both).
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


__all__ = ["__version__", "narrate", "stats", *_MODULE_OF]


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
