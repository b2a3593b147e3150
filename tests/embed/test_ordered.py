"""The static tokens with their order: two parts, each worked out here number by number."""

from __future__ import annotations

import asyncio
import math
import re

import numpy as np
import pytest

from beholder.embed import FloatArray, embedder
from beholder.embed.static import token_vectors
from beholder.metrics import Tools

TEXTS = [
    "A man in a red coat.",
    "a dog",
    "don't stop at 3.5 metres!",
    "word " * 300,
]


def embed(*texts: str, spec: str = "ordered") -> FloatArray:
    return asyncio.run(embedder(spec).embed(texts))


def test_rows_have_length_one_and_the_same_bits_in_any_batch() -> None:
    rows = embed(*TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert embed(*TEXTS[::-1])[::-1].tobytes() == rows.tobytes()
    assert embed(TEXTS[0])[0].tobytes() == rows[0].tobytes()


def test_a_vector_is_the_words_and_the_products_of_near_ones() -> None:
    text = "the small dog chases a cat"
    tokens = token_vectors(text).astype(float).tolist()
    assert len(tokens) == 6
    pairs = [0.0] * 192
    for first in range(6):
        for distance, weight in ((1, 1.0), (2, 0.5)):
            if first + distance < 6:
                for k in range(192):
                    after = tokens[first + distance][(k - 96) % 192]
                    pairs[k] += weight * tokens[first][k] * after
    length = math.sqrt(sum(number**2 for number in pairs))
    (row,), (words,) = embed(text), embed(text, spec="static")
    np.testing.assert_allclose(row[:192], math.sqrt(0.97) * words, atol=1e-7)
    expected = [math.sqrt(0.03) * number / length for number in pairs]
    np.testing.assert_allclose(row[192:], expected, atol=1e-7)


def test_who_does_what_to_whom_counts() -> None:
    there, back = "The dog chases the cat.", "The cat chases the dog."
    level = embed(there, back, spec="static")
    assert level[0] @ level[1] == pytest.approx(1, abs=1e-6)
    rows = embed(
        there,
        back,
        "The puppy follows the kitten.",
        "The kitten follows the puppy.",
    )
    assert rows[0] @ rows[1] < 0.995
    # Other words in the same order stay nearer than other words in the other order.
    assert rows[0] @ rows[2] > rows[0] @ rows[3]


def test_a_text_of_one_token_has_no_order_and_an_unknown_one_is_zero() -> None:
    single_token, unknown = embed("skateboard", "▮▮▮")
    (words,) = embed("skateboard", spec="static")
    assert single_token[:192].tobytes() == words.tobytes()
    assert not single_token[192:].any()
    assert not unknown.any()


def test_the_identity_tells_the_method_and_the_files() -> None:
    # Both are computed by the same code with the same files.
    files = Tools().identity("embedder", "static").removeprefix("static@")
    assert re.match(r"[0-9a-f]{12}\b", files)
    assert Tools().identity("embedder", "ordered") == f"ordered@{files}"
