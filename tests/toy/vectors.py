"""The parity vectors of ``tests/vectors``: what outside implementations gave."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "vectors"


def load_vectors(name: str) -> dict[str, Any]:
    """The recorded cases of one file; a missing file is an error, as it would prove nothing."""
    packed = (FOLDER / f"{name}.json.gz").read_bytes()
    vectors: dict[str, Any] = json.loads(gzip.decompress(packed))
    return vectors
