"""``beholder view``: look at runs in a browser."""

from __future__ import annotations

from pathlib import Path

from beholder.terminal.groups import ViewerGroup
from beholder.terminal.printing import say


def view(
    runs: list[Path],
    /,
    *,
    media_root: Path | None = None,
    server: ViewerGroup = ViewerGroup(),
) -> None:
    """Look at runs in a browser: every item, filtered and sorted; two runs side by side.

    Example: `beholder view runs/model-a runs/model-b`

    Args:
        runs: Run directories of any kind; they are read and never changed.
        media_root: Folder that image paths are relative to; else that of each run's data.
    """
    from beholder.optional import require

    require("starlette", extra="web", purpose="beholder view")
    from beholder.web import Settings, serve
    from beholder.web.viewer import Viewer, make_viewer

    settings = Settings(host=server.host, port=server.port, token=server.token, names=server.name)
    serve(
        make_viewer(Viewer(runs, media_root), settings),
        settings,
        lambda address: say(f"open {address} (Ctrl-C ends it)"),
    )
