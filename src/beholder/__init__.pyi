from beholder import stats as stats
from beholder._version import __version__ as __version__
from beholder.api import Run as Run
from beholder.api import judge as judge
from beholder.errors import BadRowError as BadRowError
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
from beholder.kinds.audit.door import audit as audit
from beholder.kinds.bidirectional.door import bidirectional as bidirectional
from beholder.kinds.narratives import door
from beholder.kinds.narratives.door import NarrativesRun as NarrativesRun
from beholder.kinds.ranking.door import RankingRun as RankingRun
from beholder.kinds.ranking.door import rank as rank
from beholder.kinds.revise.door import revise as revise
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

narrate = door
__all__: list[str]
