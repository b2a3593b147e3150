"""Drawings with matplotlib: numbers in, a figure out. No text of the data is in them.

matplotlib comes with the extra ``plots``; without it, importing this package says so.
"""

from beholder.optional import require

require("matplotlib", extra="plots", purpose="a figure")
