from __future__ import annotations

import asyncio
import importlib.machinery
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from beholder.embed import FloatArray, embedder
from beholder.errors import ConfigError, MissingExtraError


class StubModel:
    loaded: list[tuple[str, str | None]] = []

    def __init__(
        self, name: str, device: str | None = None, **further: object
    ) -> None:
        self.loaded.append((name, device))

    def __getitem__(self, index: int) -> object:
        config = SimpleNamespace(_commit_hash="abc123")
        return SimpleNamespace(auto_model=SimpleNamespace(config=config))

    def encode(self, texts: list[str], **options: Any) -> FloatArray:
        assert options["normalize_embeddings"] is True
        return np.array(
            [[1.0, 0.0] if "a" in text else [0.0, 1.0] for text in texts]
        )


@pytest.fixture
def _stub(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sentence_transformers")
    module.__spec__ = importlib.machinery.ModuleSpec(
        "sentence_transformers", loader=None
    )
    module.SentenceTransformer = StubModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(StubModel, "loaded", [])


@pytest.mark.usefixtures("_stub")
def test_the_model_is_loaded_once_and_on_first_use() -> None:
    hub_embedder = embedder("st:org/model", device="cpu")
    assert StubModel.loaded == []
    rows = asyncio.run(hub_embedder.embed(["a", "b"]))
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 0], [0, 1]]
    assert hub_embedder.identity == "st:org/model@abc123"
    assert StubModel.loaded == [("org/model", "cpu")]


@pytest.mark.usefixtures("_stub")
def test_identity_of_a_folder_changes_with_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.bin").write_bytes(b"1")
    first = embedder(f"st:{folder}").identity
    (folder / "model.bin").write_bytes(b"2")
    second = embedder(f"st:{folder}").identity
    assert first.startswith("st:mine@")
    assert second.startswith("st:mine@")
    assert first != second


def test_a_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"pip install 'beholder\[hf\]'"
    ):
        embedder("st:all-MiniLM-L6-v2")


@pytest.mark.usefixtures("_stub")
def test_an_option_of_another_embedder_is_refused() -> None:
    with pytest.raises(ConfigError, match="dimensions"):
        embedder("st:org/model", dimensions=3)


def test_a_real_model_gives_vectors_of_length_one(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "cup"])
    )
    config = transformers.BertConfig(
        vocab_size=7,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    transformers.BertTokenizer(str(vocabulary)).save_pretrained(
        tmp_path / "bert"
    )
    # A folder with a bare transformer: the library takes the mean over its tokens.
    hub_embedder = embedder(f"st:{tmp_path / 'bert'}", device="cpu")
    rows = asyncio.run(hub_embedder.embed(["red", "red cup"]))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1], rtol=1e-5)
