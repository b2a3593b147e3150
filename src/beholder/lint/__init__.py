"""Checks of alternative texts without a model: ``beholder lint``.

Sources (``tables``, ``html``, ``markdown``, ``components``, ``iiif`` and others) give one
``Occurrence`` for each place that shows a picture, and a ``LeftOut`` for what is not read. Rules
give findings about occurrences (``texts``, ``context``) and about all of them together
(``context``). ``linting`` applies the rules of a profile and a baseline, and ``outputs`` writes the
report. Nothing is ever fetched: addresses are texts.

Names load on use: the help of the command needs none of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
