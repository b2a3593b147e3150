"""beholder: how good is a description of something seen, and where is it right or wrong?

Names load on use: ``import beholder`` loads no heavy package.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import lazy_loader

from beholder._version import __version__ as __version__

_load, _list_names, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = sorted([*_names, "narrate"])


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "narrate":
        return importlib.import_module("beholder.kinds.narratives.door")
    if name not in __all__:
        return _load_of_installed_feature(name)
    return _load(name)


def _load_of_installed_feature(name: str) -> Any:
    """Return a function that an installed package adds."""
    if not name.startswith("_") and find_spec(f"beholder.{name}") is None:
        from beholder.base.optional import load_object
        from beholder.run.kind import installed_features

        for feature in installed_features():
            if name in feature.functions:
                return load_object(feature.functions[name])
    raise AttributeError(f"module 'beholder' has no attribute {name!r}")
