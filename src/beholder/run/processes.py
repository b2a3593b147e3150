"""Worker processes that do not run the caller's script again.

A new process of Python imports the module ``__main__`` of its parent, for what it is sent may be
defined there. A script without ``if __name__ == "__main__":`` then begins anew in every worker,
and they die of it. Workers of built-in metrics need nothing of the script, so it is hidden from
them; it is shown where a metric, or a tool that was registered, comes from it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from beholder.metrics.asker import Asker
from beholder.registry import Registry

_SCRIPT = "__main__"
_AGAIN = "put what the script does under `if __name__ == '__main__':`, since each worker runs it"


def needs_script(askers: Iterable[Asker[Any]]) -> bool:
    """Whether workers must import the caller's script."""
    return bool(Registry.of_script) or any(type(one).__module__ == _SCRIPT for one in askers)


def remedy(askers: Iterable[Asker[Any]], otherwise: str) -> str:
    """What to do about a worker that died."""
    named = getattr(sys.modules[_SCRIPT], "__file__", None) is not None
    return f"{_AGAIN}; {otherwise}" if named and needs_script(askers) else otherwise


@contextmanager
def starting(askers: Iterable[Asker[Any]]) -> Iterator[None]:
    """Hide the script from processes that are started meanwhile, unless they need it."""
    script = sys.modules[_SCRIPT]
    if needs_script(askers):
        yield
        return
    names = ("__file__", "__spec__")
    hidden: dict[str, Any] = {k: vars(script).pop(k) for k in names if k in vars(script)}
    script.__spec__ = None
    try:
        yield
    finally:
        vars(script).update(hidden)
