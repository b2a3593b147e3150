"""Shared parts of pages: template environment, embedded figures, hashes, files, plain pages."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from beholder.base.optional import missing_message
from beholder.base.rounding import fixed
from beholder.base.visible import make_visible
from beholder.report.numbers import (
    show_interval,
    show_number,
    show_signed,
    two,
    whole,
)
from beholder.report.tones import label
from beholder.run.kind import features
from beholder.run.thumbs import thumb

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from beholder.report.charts import Histogram

_HERE = Path(__file__).parent / "templates"
_FILTERS: dict[str, Callable[..., object]] = {
    "visible": make_visible,
    "fixed": fixed,
    "number": show_number,
    "interval": show_interval,
    "signed": show_signed,
    "two": two,
    "whole": whole,
    "label": label,
}


def template_folders() -> list[Path]:
    """Return the folders of templates and style sheets: the report's, then each kind's."""
    packages = dict.fromkeys(
        feature.templates for feature in features() if feature.templates
    )
    return [
        _HERE,
        *(Path(str(files(package))) / "templates" for package in packages),
    ]


def styles(*names: str) -> str:
    """Return style sheets by name, joined.

    Raises:
        FileNotFoundError: No folder of templates has a file of that name.
    """
    folders = template_folders()
    return "".join(
        _find_file(name, folders).read_text(encoding="utf-8") for name in names
    )


def _find_file(name: str, folders: Sequence[Path]) -> Path:
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"no folder of templates has {name!r}")


def _source(folders: Sequence[Path], name: str) -> str:
    return _find_file(name, [*folders, *template_folders()]).read_text(
        encoding="utf-8"
    )


@cache
def environment(
    *folders: Path, **filters: Callable[..., object]
) -> Environment:
    """Return the environment of templates, which escape every text; cached by its arguments.

    Args:
        folders: Of templates besides the report's own; they are searched first.
        filters: By name, besides those that all pages have.
    """
    templates = Environment(
        loader=FunctionLoader(partial(_source, folders)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update({**_FILTERS, **filters})
    return templates


def content_hash(text: str) -> str:
    """Return the hash with which a content security policy allows a style sheet or script."""
    # The form of a source in a content security policy (CSP level 2).
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def no_figures() -> str | None:
    """Return the reason why figures cannot be drawn; None if they can."""
    return missing_message(
        "matplotlib", extra="plots", purpose="drawing figures"
    )


def data_uri(figure: Figure) -> str:
    """Return a figure as an SVG in a ``data:`` address; equal figures give equal addresses."""
    from matplotlib import rc_context

    # The salt and the missing date make equal figures equal bytes; letters as
    # shapes look the same without their font.
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "beholder", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return svg_uri(buffer.getvalue())


def svg_uri(data: bytes) -> str:
    """Return an SVG file as a ``data:`` address; shown as a picture it runs no script."""
    return (
        f"data:image/svg+xml;base64,{base64.b64encode(data).decode('ascii')}"
    )


def jpeg_uri(data: bytes) -> str:
    """Return a JPEG file as a ``data:`` address."""
    return f"data:image/jpeg;base64,{base64.b64encode(data).decode('ascii')}"


def histogram_svg(chart: Histogram, name: str) -> str:
    """Return a histogram of the page as an SVG file."""
    macros = environment().get_template("charts.html.j2").module
    draw_histogram: Callable[..., str] = macros.histogram  # type: ignore[attr-defined]
    return draw_histogram(chart, make_visible(name), styles("page.css"))


def thumb_styles(run_folder: Path, positions: Iterable[int]) -> str:
    """Return styles of the classes ``i1``, ``i2``, ..., with thumbnails of a run by position."""
    thumbs = {position: thumb(run_folder, position) for position in positions}
    return "".join(
        f'.i{position} {{ background-image: url("{jpeg_uri(file.read_bytes())}"); }}\n'
        for position, file in thumbs.items()
    )


def render_page(
    template: str, style_sheets: Sequence[str], extra: str = "", **values: Any
) -> str:
    """Render a page without a script: styles are allowed by hash, all texts are escaped.

    Args:
        template: Its template, which receives ``style`` and ``style_hash`` besides ``values``.
        style_sheets: Files of the folder of templates.
        extra: Further styles.
        values: Values of the template.
    """
    style = styles(*style_sheets) + extra
    page = environment().get_template(template)
    return page.render(style=style, style_hash=content_hash(style), **values)
