"""Statistics: arrays in, named results with intervals out. Knows nothing of items or judges.

Names load on use, so that importing this package loads neither numpy nor scipy. A statistic that
the data leave undefined has the value None and a reason; bad input raises ``ConfigError``.
"""

from beholder.base.optional import offered

__getattr__, __dir__, __all__ = offered(__name__)
