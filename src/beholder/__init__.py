"""beholder: how good is a description of something seen, and where is it right or wrong?

Names load on use: ``import beholder`` loads no heavy package.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from beholder._version import __version__ as __version__
from beholder.base.optional import offered

if TYPE_CHECKING:
    from beholder.records import ItemScore

_MODULES = {
    "narrate": "beholder.kinds.narratives.door",
    "stats": "beholder.stats",
}
_offered, __dir__, __all__ = offered(__name__, "narrate")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in __all__:
        return _outside(name)
    value = _offered(name)
    importlib.import_module(
        "beholder.records"
    ).ItemScore.notebook_view = _notebook_view
    return value


def _outside(name: str) -> Any:
    """A function of a kind of work that an installed package brings."""
    if not name.startswith("_") and find_spec(f"beholder.{name}") is None:
        from beholder.base.optional import load
        from beholder.run.kind import kinds

        for kind in kinds():
            if name in kind.functions:
                return load(kind.functions[name])
    raise AttributeError(f"module 'beholder' has no attribute {name!r}")


def _notebook_view(score: ItemScore) -> str:
    from beholder.report import to_html

    return to_html(score)
