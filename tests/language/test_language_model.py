from __future__ import annotations

import json
from hashlib import sha256

from beholder.language import model


def test_model_is_small_and_has_its_card_and_metrics() -> None:
    data = model.FILE.read_bytes()
    assert len(data) <= 2_000_000
    metrics = json.loads(model.FILE.with_name("english.metrics.json").read_text(encoding="utf-8"))
    assert metrics["sha256"] == sha256(data).hexdigest()
    card = model.FILE.with_name("english.md").read_text(encoding="utf-8")
    assert model.FILE.name in card
    for source in ("EWT", "GUM", "ImageInWords", "MiniLM", "CC BY-SA 4.0"):
        assert source in card
