"""What the Python functions of the package share: ``Run``, printed results, ``judge``."""

from beholder.api.judging import judge
from beholder.api.run import Run

__all__ = ["Run", "judge"]
