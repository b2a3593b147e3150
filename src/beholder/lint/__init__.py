"""Checks of alternative texts without a model: ``beholder lint``.

Sources (``tables``, ``html``, ``markdown``, ``components``, ``iiif`` and others) give one
``Occurrence`` for each place that shows a picture, and a ``LeftOut`` for what is not read. Rules
give findings about occurrences (``texts``, ``file_names``, ``machines``, ``context``, ``dates``)
and about all of them together (``collection``, ``naming``). ``checking`` applies the rules, on all
cores if there are many pictures; ``linting`` makes findings of a profile and compares them with a
baseline, and ``outputs`` writes the report. Nothing is ever fetched: addresses are texts.

Names load on use: the help of the command needs none of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
