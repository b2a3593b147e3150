from __future__ import annotations

import json
from hashlib import sha256

from beholder.language import model, parse
from beholder.language.network import FILES


def test_model_is_small_and_has_its_card_and_metrics() -> None:
    data = b"".join((model.FOLDER / name).read_bytes() for name in FILES)
    assert len(data) <= 3_500_000
    metrics = json.loads(
        (model.FOLDER / "english.metrics.json").read_text(encoding="utf-8")
    )
    assert metrics["sha256"] == sha256(data).hexdigest()
    card = (model.FOLDER / "english.md").read_text(encoding="utf-8")
    assert all(name in card for name in FILES)
    for source in ("EWT", "GUM", "ImageInWords", "MiniLM", "CC BY-SA 4.0"):
        assert source in card


def test_texts_that_are_read_together_are_read_as_each_by_itself() -> None:
    short = "A dog sleeps.\n\nTwo off-white cups stand on a table. A man wears a hat"
    longer = " and ".join(
        ["a red bird sits near an old house"] * 20
    )  # more than one stretch
    texts = [longer, short, "Snow", longer, short, "A cat", longer]
    for text, together in zip(texts, parse(texts), strict=True):
        alone = parse(text)
        assert (together.words, together.sentences) == (
            alone.words,
            alone.sentences,
        )
