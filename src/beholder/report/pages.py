"""What pages without a script share: the template environment, embedded figures, hashes, files."""

from __future__ import annotations

import base64
import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from beholder.optional import missing
from beholder.rounding import fixed
from beholder.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPLATES = Path(__file__).parent / "templates"


def environment(*folders: Path) -> Environment:
    """Templates that escape every text, with the filters ``visible`` and ``fixed``.

    Args:
        folders: Of templates besides the report's own; they are looked into first.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(visible=visible, fixed=fixed)
    return made


def content_hash(text: str) -> str:
    """The hash by which a content security policy allows a style sheet or script in the page."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def no_figures() -> str | None:
    """Why figures are left out of pages and folders here, to be told; None where they are drawn."""
    return missing("matplotlib", extra="plots", purpose="drawing figures")


def data_uri(figure: Figure) -> str:
    """A figure as an SVG in an address, letters drawn as shapes; equal figures give equal ones."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "beholder", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return svg_uri(buffer.getvalue())


def svg_uri(data: bytes) -> str:
    """An SVG file as an address; shown as a picture it runs nothing."""
    return f"data:image/svg+xml;base64,{base64.b64encode(data).decode('ascii')}"


def jpeg_uri(data: bytes) -> str:
    """A JPEG file as an address."""
    return f"data:image/jpeg;base64,{base64.b64encode(data).decode('ascii')}"
