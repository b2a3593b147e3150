"""Where the shared cache of answers lies."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.postgres import Address


def cache_at(place: str | None) -> Path | Address | None:
    """Where the shared cache lies: the option, else ``BEHOLDER_CACHE``, else the platform's folder.

    Args:
        place: A folder, the address of a database, ``off`` for no cache, or None.
    """
    from beholder.options import cache_place

    named = place or os.environ.get("BEHOLDER_CACHE") or str(_platform_folder())
    if named == "off":
        return None
    found = cache_place(named)
    return found / "answers.sqlite" if isinstance(found, Path) else found


def _platform_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "beholder"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/beholder"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "beholder"
