from __future__ import annotations

import json
from hashlib import sha256
from importlib import resources

from beholder.language import model

FILES = resources.files("beholder.language")


def test_model_is_small_and_has_its_card_and_metrics() -> None:
    data = FILES.joinpath(model.FILE).read_bytes()
    assert len(data) <= 8_000_000
    metrics = json.loads(FILES.joinpath("english.metrics.json").read_text(encoding="utf-8"))
    assert metrics["sha256"] == sha256(data).hexdigest()
    card = FILES.joinpath("english.md").read_text(encoding="utf-8")
    for source in ("EWT", "GUM", "FACTUAL", "ImageInWords", "CC BY-SA 4.0"):
        assert source in card


def test_packing_keeps_every_parse() -> None:
    nlp = model.load()
    again = model.unpack(model.pack(nlp))
    text = "A woman sits on a bench. The lamp that hangs above her projects from the wall."
    one, two = nlp(text), again(text)
    assert [(t.tag_, t.dep_, t.head.i) for t in one] == [(t.tag_, t.dep_, t.head.i) for t in two]
