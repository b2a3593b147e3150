import beholder.kinds.narratives.door as _narrate

from . import stats as stats
from ._version import __version__ as __version__
from .api import Run as Run
from .api import judge as judge
from .errors import BadRowError as BadRowError
from .errors import BeholderError as BeholderError
from .errors import BudgetError as BudgetError
from .errors import ConfigError as ConfigError
from .errors import DataError as DataError
from .errors import ItemError as ItemError
from .errors import MissingExtraError as MissingExtraError
from .errors import ModelChangedError as ModelChangedError
from .errors import OutputError as OutputError
from .errors import RunError as RunError
from .errors import TransientError as TransientError
from .errors import UnknownNameError as UnknownNameError
from .kinds.accept.door import accept as accept
from .kinds.agreement.door import agree as agree
from .kinds.audit.door import audit as audit
from .kinds.bidirectional.door import bidirectional as bidirectional
from .kinds.choose.door import choose as choose
from .kinds.filtering.door import filter as filter
from .kinds.narratives.door import NarrativesRun as NarrativesRun
from .kinds.ranking.door import RankingRun as RankingRun
from .kinds.ranking.door import rank as rank
from .kinds.revise.door import revise as revise
from .kinds.scores.door import score as score
from .kinds.scores.streaming import StreamingMetric as StreamingMetric
from .kinds.watch.door import watch as watch
from .metrics import Metric as Metric
from .metrics import Tools as Tools
from .metrics import metric as metric
from .metrics.dcscore import DCScore as DCScore
from .metrics.posh import PoSh as PoSh
from .metrics.vcs import VCS as VCS
from .metrics.vcs import VCSShort as VCSShort
from .records import Frame as Frame
from .records import Item as Item
from .records import ItemFailure as ItemFailure
from .records import ItemScore as ItemScore
from .records import MetricResult as MetricResult
from .records import Reviews as Reviews
from .records import Storyline as Storyline
from .records import Unit as Unit
from .report import show as show

narrate = _narrate
__all__: list[str]
