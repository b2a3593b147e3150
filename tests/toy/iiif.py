"""A IIIF image server with one picture of stripes, four pixels wide, red and blue."""

from __future__ import annotations

import io
import math

import numpy as np
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

WIDTH, HEIGHT, SIDE = 3000, 2000, 512
FACTORS = (1, 2, 4, 8)
_CORS = {"access-control-allow-origin": "*"}


def stripes() -> Image.Image:
    """The picture."""
    row = np.zeros((WIDTH, 3), np.uint8)
    red = np.arange(WIDTH) // 4 % 2 == 0
    row[red] = 255, 0, 0
    row[~red] = 0, 0, 255
    return Image.fromarray(np.broadcast_to(row, (HEIGHT, WIDTH, 3)).copy())


def static_addresses(version: int) -> set[str]:
    """Return the sections of canonical addresses that a server of level 0 has: tiles and one copy."""
    sections = set()
    for factor in FACTORS:
        step = SIDE * factor
        for y in range(0, HEIGHT, step):
            for x in range(0, WIDTH, step):
                w, h = min(step, WIDTH - x), min(step, HEIGHT - y)
                region = (
                    "full" if (w, h) == (WIDTH, HEIGHT) else f"{x},{y},{w},{h}"
                )
                size = f"{math.ceil(w / factor)},"
                size += str(math.ceil(h / factor)) if version == 3 else ""
                sections.add(f"{region}/{size}/0/default.jpg")
    return sections | {
        "full/600,400/0/default.jpg"
        if version == 3
        else "full/600,/0/default.jpg"
    }


def iiif_app(version: int, level: int, requests: list[str]) -> Starlette:
    """The server.

    Args:
        version: Of the Image API: 2 or 3.
        level: 0 (what ``info.json`` lists) or 1.
        requests: Gets the part of each address after the picture's.
    """
    picture = stripes()
    fixed = static_addresses(version)

    def info(_: Request) -> Response:
        content = {
            "@context": f"http://iiif.io/api/image/{version}/context.json",
            "width": WIDTH,
            "height": HEIGHT,
            "profile": f"level{level}"
            if version == 3
            else [f"http://iiif.io/api/image/2/level{level}.json"],
            "id": "https://elsewhere.example.org/p",
            "tiles": [{"width": SIDE, "scaleFactors": list(FACTORS)}],
        }
        if level == 0:
            content["sizes"] = [{"width": 600, "height": 400}]
        return JSONResponse(content, headers=_CORS)

    def part(request: Request) -> Response:
        region, size, rest = (
            request.path_params[n] for n in ("region", "size", "rest")
        )
        address = f"{region}/{size}/{rest}"
        requests.append(address)
        if level == 0 and address not in fixed:
            return Response(status_code=404, headers=_CORS)
        x, y, w, h = (
            (0, 0, WIDTH, HEIGHT)
            if region == "full"
            else map(int, region.split(","))
        )
        assert 0 <= x < x + w <= WIDTH
        assert 0 <= y < y + h <= HEIGHT
        wide, _, tall = size.partition(",")
        across = int(wide)
        down = int(tall) if tall else round(h * across / w)
        assert across <= w
        cut = picture.crop((x, y, x + w, y + h))
        if cut.size != (across, down):
            cut = cut.resize((across, down), Image.Resampling.BOX)
        stream = io.BytesIO()
        cut.save(stream, "JPEG", quality=95, subsampling=0)
        return Response(stream.getvalue(), media_type="image/jpeg")

    return Starlette(
        routes=[
            Route("/i/p/info.json", info),
            Route("/i/p/{region}/{size}/{rest:path}", part),
        ]
    )
