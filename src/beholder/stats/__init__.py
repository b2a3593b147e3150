"""Statistics: arrays in, named results with intervals out. Knows nothing of items or judges.

Names load on use, so that importing this package loads neither numpy nor scipy. A statistic that
the data leave undefined has the value None and a reason; bad input raises ``ConfigError``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
