"""Pages served on this machine: the viewer of runs, annotation in the browser.

``make_app(routes, settings)`` is one guarded application; ``serve`` listens. All that a request
must pass (host, access, forged posts, rate, size) is in ``guard``; what pages share in
``pages``.
"""

from beholder.web.app import make_app, serve
from beholder.web.settings import Settings

__all__ = ["Settings", "make_app", "serve"]
