"""The metrics every paper compares with, and the length baseline; by name in ``METRICS``."""

from beholder.metrics.classical.cider import Frequencies as Frequencies
