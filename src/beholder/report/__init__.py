"""What people see of a run: one HTML page, figures, tables, and one score in a terminal.

Everything is drawn from a run's folder, or from the records given; no metric or judge is called.
Names load on use: a command that prints a table loads neither pages nor the store.
"""

from beholder.base.optional import offered

__getattr__, __dir__, __all__ = offered(__name__)
