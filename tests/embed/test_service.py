from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pytest

from beholder.embed.base import Embedder, FloatArray
from beholder.embed.service import EmbeddingService, Recent
from beholder.errors import ItemError, TransientError
from toy.clock import run_in_fake_time, validate_params


class LengthEmbedder(Embedder):
    """Vector (1, length of the text); writes down its calls."""

    batch_size: ClassVar[int] = 4
    identity = "length"

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.gate: asyncio.Event | None = None
        self.failures: list[Exception] = []
        self.refused: set[str] = set()
        self.bad_rows: FloatArray | None = None

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        self.calls.append(list(texts))
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        if self.refused & set(texts):
            raise ItemError("refused")
        if self.bad_rows is not None:
            return self.bad_rows
        return np.array([[1.0, len(text)] for text in texts], dtype=np.float32)


class CheapEmbedder(LengthEmbedder):
    per_process: ClassVar[bool] = True


class DictStore:
    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], FloatArray] = {}

    def get_vectors(
        self,
        identity: str,
        texts: Sequence[str],
    ) -> dict[str, FloatArray]:
        return {
            t: self.rows[identity, t]
            for t in texts
            if (identity, t) in self.rows
        }

    def put_vectors(
        self,
        identity: str,
        vectors: Mapping[str, FloatArray],
    ) -> None:
        self.rows.update(
            {(identity, text): row for text, row in vectors.items()}
        )


def test_rows_follow_the_texts_and_equal_texts_are_asked_once() -> None:
    embedder = LengthEmbedder()
    rows = asyncio.run(EmbeddingService(embedder).embed(["bb", "a", "bb"]))
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 2], [1, 1], [1, 2]]
    assert embedder.calls == [["bb", "a"]]


def test_requests_of_the_same_turn_share_batches() -> None:
    embedder = LengthEmbedder()
    service = EmbeddingService(embedder)

    async def main() -> list[FloatArray]:
        batches = ["a", "bb"], ["bb", "ccc"], ["dddd", "e"]
        return await asyncio.gather(
            *(service.embed(texts) for texts in batches)
        )

    rows = asyncio.run(main())
    assert embedder.calls == [["a", "bb", "ccc", "dddd"], ["e"]]
    assert [row.tolist() for row in rows] == [
        [[1, 1], [1, 2]],
        [[1, 2], [1, 3]],
        [[1, 4], [1, 1]],
    ]


def test_batches_run_at_the_same_time() -> None:
    embedder = LengthEmbedder()

    async def main() -> None:
        embedder.gate = asyncio.Event()
        asking = asyncio.create_task(
            EmbeddingService(embedder).embed(list("abcdefghij"))
        )
        await validate_params()
        assert [len(call) for call in embedder.calls] == [4, 4, 2]
        embedder.gate.set()
        await asking

    run_in_fake_time(main())


def test_a_text_under_way_is_not_asked_again() -> None:
    embedder = LengthEmbedder()
    service = EmbeddingService(embedder)

    async def main() -> None:
        embedder.gate = asyncio.Event()
        first = asyncio.create_task(service.embed(["a"]))
        await validate_params()
        second = asyncio.create_task(service.embed(["a"]))
        await validate_params()
        embedder.gate.set()
        assert (await first).tolist() == (await second).tolist() == [[1, 1]]

    run_in_fake_time(main())
    assert embedder.calls == [["a"]]


def test_vectors_are_kept_between_event_loops() -> None:
    embedder = LengthEmbedder()
    service = EmbeddingService(embedder)
    assert asyncio.run(service.embed(["a"])).tolist() == [[1, 1]]
    assert asyncio.run(service.embed(["a", "bb"])).tolist() == [[1, 1], [1, 2]]
    assert embedder.calls == [["a"], ["bb"]]


def test_a_failure_reaches_everyone_who_waits_and_is_forgotten() -> None:
    embedder = LengthEmbedder()
    service = EmbeddingService(embedder)
    embedder.failures = [TransientError("down")]

    async def main() -> None:
        results = await asyncio.gather(
            service.embed(["a"]),
            service.embed(["a", "bb"]),
            return_exceptions=True,
        )
        assert [str(result) for result in results] == ["down", "down"]
        assert (await service.embed(["a"])).tolist() == [[1, 1]]

    run_in_fake_time(main())


def test_a_text_that_is_refused_fails_alone() -> None:
    embedder = LengthEmbedder()
    embedder.refused = {"too long"}
    service = EmbeddingService(embedder)

    async def main() -> None:
        good, bad = await asyncio.gather(
            service.embed(["a", "bb", "ccc"]),
            service.embed(["too long"]),
            return_exceptions=True,
        )
        assert isinstance(good, np.ndarray)
        assert good.tolist() == [[1, 1], [1, 2], [1, 3]]
        assert isinstance(bad, ItemError)

    run_in_fake_time(main())


def test_one_who_stops_waiting_disturbs_nobody() -> None:
    embedder = LengthEmbedder()
    service = EmbeddingService(embedder)

    async def main() -> None:
        embedder.gate = asyncio.Event()
        leaver = asyncio.create_task(service.embed(["a", "bb"]))
        stayer = asyncio.create_task(service.embed(["a"]))
        await validate_params()
        leaver.cancel()
        await validate_params()
        embedder.gate.set()
        assert (await stayer).tolist() == [[1, 1]]
        assert leaver.cancelled()

    run_in_fake_time(main())


def test_a_loop_that_ends_early_leaves_the_service_usable() -> None:
    embedder = LengthEmbedder()
    service = EmbeddingService(embedder)

    async def stop_early() -> None:
        embedder.gate = asyncio.Event()
        await asyncio.wait_for(service.embed(list("abcdefghij")), 1)

    with pytest.raises(TimeoutError):
        run_in_fake_time(stop_early())
    embedder.gate = None
    assert asyncio.run(service.embed(["a"])).tolist() == [[1, 1]]


def test_memory_is_bounded_and_evicted_vectors_come_back() -> None:
    embedder = LengthEmbedder()
    service = EmbeddingService(embedder, memory=3_000)
    texts = [f"text {i}" for i in range(40)]
    first = asyncio.run(service.embed(texts))
    assert asyncio.run(service.embed(texts)).tolist() == first.tolist()
    embedded_texts = [text for call in embedder.calls for text in call]
    assert (
        40 < len(embedded_texts) <= 80
    )  # the last few stayed, the others were made again


def test_the_vectors_used_last_stay_and_texts_count_as_memory() -> None:
    rows = {
        text: np.zeros(2, dtype=np.float32)
        for text in ("a", "b", "c", "x" * 1000)
    }
    recent = Recent(
        3 * (8 + 4 + 256)
    )  # bytes of three vectors with their texts
    for text in "abc":
        recent.add_row(text, rows[text])
    recent.add_row(
        "x" * 1000, rows["x" * 1000]
    )  # takes 4,264: more than there is
    assert recent.get("x" * 1000) is None
    assert recent.get("a") is rows["a"]
    recent.add_row("d", rows["a"])
    assert recent.get("b") is None
    assert [recent.get(text) is not None for text in "acd"] == [True] * 3


def test_the_store_answers_first_and_keeps_what_is_new() -> None:
    store = DictStore()
    asyncio.run(EmbeddingService(LengthEmbedder(), store).embed(["a", "bb"]))
    again = LengthEmbedder()
    rows = asyncio.run(
        EmbeddingService(again, store).embed(["ccc", "bb", "a"])
    )
    assert rows.tolist() == [[1, 3], [1, 2], [1, 1]]
    assert again.calls == [["ccc"]]


def test_vectors_of_a_cheap_embedder_are_not_stored() -> None:
    store = DictStore()
    asyncio.run(EmbeddingService(CheapEmbedder(), store).embed(["a"]))
    assert not store.rows


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_blank_texts_are_refused_by_place(blank: str) -> None:
    with pytest.raises(ItemError, match="text 1 of 2 is blank"):
        asyncio.run(EmbeddingService(LengthEmbedder()).embed(["a", blank]))


def test_no_texts_give_no_rows() -> None:
    assert asyncio.run(EmbeddingService(LengthEmbedder()).embed([])).shape == (
        0,
        0,
    )


@pytest.mark.parametrize(
    "rows",
    [np.zeros((2, 3)), np.zeros(3), np.array([[np.nan, 1.0]])],
    ids=["count", "1-d", "nan"],
)
def test_an_unusable_answer_of_an_embedder_is_an_item_error(
    rows: FloatArray,
) -> None:
    embedder = LengthEmbedder()
    embedder.bad_rows = rows
    with pytest.raises(ItemError, match="'length' was asked for 1 vectors"):
        asyncio.run(EmbeddingService(embedder).embed(["a"]))
