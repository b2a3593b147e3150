"""Parts that pages share: templates, style sheets and scripts, errors as pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from beholder.errors import BeholderError
from beholder.report.comparison import differences_html
from beholder.report.pages import environment, styles
from beholder.report.study_tables import html
from beholder.report.tones import strength, tone
from beholder.run.kind import kinds
from beholder.web.lists import pair, write_query

_HERE = Path(__file__).parent
_STATUS = {403: "Not allowed", 404: "Not found", 500: "A bug"}
TEMPLATE = environment(_HERE / "templates")
TEMPLATE.globals.update(
    address=write_query,
    as_json=json.dumps,
    differences_html=differences_html,
    pair=pair,
    strength=strength,
    tables={"html": html},
    tone=tone,
)


def page(
    request: Request,
    template: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
    templates: Environment = TEMPLATE,
) -> HTMLResponse:
    """Return a page of a template, which also receives ``request``, ``csrf`` and ``path``."""
    shared = {
        "request": request,
        "csrf": request.state.csrf,
        "path": request.url.path,
    }
    return HTMLResponse(
        templates.get_template(template).render(shared | dict(context)), status
    )


def error_page(request: Request, error: Exception) -> Response:
    """Return the page of an error; the traceback of a bug goes to the terminal alone."""
    if isinstance(error, HTTPException):
        status, words = error.status_code, error.detail
    elif isinstance(error, BeholderError):
        status, words = 400, str(error)
    else:
        status = 500
        words = (
            "This is a bug; the terminal in which beholder runs shows where."
        )
    title = _STATUS.get(status, "This did not work")
    context = {"title": title, "words": words}
    return page(request, "error.html.j2", context, status=status)


ERRORS = dict.fromkeys((HTTPException, BeholderError, Exception), error_page)


def download(name: str, rows: Iterable[object]) -> Response:
    """Return rows as a JSONL file that a browser saves under a name."""
    # RFC 6266 with UTF-8 (RFC 8187): names of runs may have letters of any script.
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    header = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"
    }
    return Response(
        "".join(lines), media_type="application/json", headers=header
    )


def static_text(text: str, media_type: str) -> Response:
    """Return a style sheet or script, which browsers cache for ten minutes."""
    return Response(
        text, media_type=media_type, headers={"cache-control": "max-age=600"}
    )


async def _css(request: Request) -> Response:
    """Send the style sheet of all pages, or the style sheets that kinds of runs add."""
    sheets = ["page.css"]
    if request.url.path.endswith("report.css"):
        sheets = list(
            dict.fromkeys(sheet for kind in kinds() for sheet in kind.styles)
        )
    return static_text(styles(*sheets), "text/css")


def static_routes() -> list[Route | Mount]:
    """Return the routes of style sheets and scripts."""
    # `static` contains only files that anybody may read; templates are elsewhere.
    return [
        Route("/static/page.css", _css),
        Route("/static/report.css", _css),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
    ]
