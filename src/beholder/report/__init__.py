"""Views of a run: one HTML page, figures, tables, and one score in a terminal.

Everything is drawn from a run's folder, or from the records given; no metric or judge is called.
Names load on use: a command that prints a table loads neither pages nor the store.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
