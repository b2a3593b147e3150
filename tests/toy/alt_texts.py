"""Labelled cases of alternative texts, and pictures as WordprocessingML and PresentationML have them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CASES = (
    (Path(__file__).parents[1] / "lint/labelled.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
)
SPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
    ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="image" Target="{image}"/>'
    '<Relationship Id="rId2" Type="hyperlink" Target="https://example.org/" TargetMode="External"/>'
    "</Relationships>"
)
PICTURE = "http://schemas.openxmlformats.org/drawingml/2006/picture"


def is_read(case: Mapping[str, Any]) -> bool:
    """Return whether its finding may be used when a rule is corrected."""
    text = json.dumps(case, sort_keys=True)
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2 == 0


def rates(counts: Sequence[Counter[str]]) -> tuple[float, float]:
    whole = sum(counts, Counter[str]())
    return whole["hit"] / (whole["hit"] + whole["false"]), whole["hit"] / (
        whole["hit"] + whole["miss"]
    )


def inline(attributes: str, inner: str = "", kind: str = PICTURE) -> str:
    return (
        f"<w:r><w:drawing><wp:inline><wp:docPr {attributes}>{inner}</wp:docPr><a:graphic>"
        f'<a:graphicData uri="{kind}"><pic:pic><pic:blipFill><a:blip r:embed="rId1"/></pic:blipFill>'
        "</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )
