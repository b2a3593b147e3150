"""CLIPScore and RefCLIPScore with a tiny CLIP; expected values by a forward pass written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from beholder.embed.clip import Clip
from beholder.errors import ConfigError
from beholder.metrics import Tools, metric
from beholder.records import Item, ItemFailure, ItemScore
from toy.tiny_encoders import clip_picture, clip_text, make_clip

pytest.importorskip("torch")
pytest.importorskip("transformers")

PREFIX = "A photo depicts "
TEXTS = ["a dog.", "two men sit.", "the tall woman holds."]
LONG = "a small dog that runs along the sunny beach with a red ball and a tall woman"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for name in (
        "a",
        "b",
        "c",
    ):  # of the model's own size, so that nothing is scaled
        Image.fromarray(_pixels(rng)).save(folder / f"{name}.png")
    (folder / "broken.png").write_bytes((folder / "a.png").read_bytes()[:60])
    return folder


def _pixels(rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)


def clip_vector(clip: Path, file: Path) -> Any:
    return clip_picture(clip, np.asarray(Image.open(file)))


def score(name: str, clip: Path, folder: Path, items: list[Item]) -> list[Any]:
    return metric(f"{name}(model='clip:{clip}')").score(
        items, tools=Tools(folder=folder)
    )


def test_clipscore_is_the_scaled_cosine(clip: Path, pictures: Path) -> None:
    items = [
        Item(f"{p}{i}", text, images=(f"{p}.png",))
        for p in "abc"
        for i, text in enumerate(TEXTS)
    ]
    outcomes = score("clipscore", clip, pictures, items)
    expected = [
        2.5
        * max(
            0.0,
            float(
                clip_vector(clip, pictures / f"{p}.png")
                @ clip_text(clip, PREFIX + text)
            ),
        )
        for p in "abc"
        for text in TEXTS
    ]
    assert min(expected) == 0.0, "a case below 0 must be among them"
    assert [f.values["clipscore"] for f in outcomes] == pytest.approx(
        expected, abs=1e-5
    )
    assert {f.values["cut"] for f in outcomes} == {0.0}


def test_several_pictures_count_by_their_mean(
    clip: Path, pictures: Path
) -> None:
    (item_score,) = score(
        "clipscore",
        clip,
        pictures,
        [Item("x", TEXTS[0], images=("a.png", "b.png", "c.png"))],
    )
    text = clip_text(clip, PREFIX + TEXTS[0])
    each = [
        max(0.0, float(clip_vector(clip, pictures / f"{p}.png") @ text))
        for p in "abc"
    ]
    assert item_score.values["clipscore"] == pytest.approx(
        2.5 * sum(each) / 3, abs=1e-5
    )


def test_refclipscore_is_the_harmonic_mean_with_the_nearest_reference(
    clip: Path, pictures: Path
) -> None:
    items = [
        Item(
            f"{p}{i}",
            text,
            tuple(t for t in TEXTS if t != text),
            (f"{p}.png",),
        )
        for p in "abc"
        for i, text in enumerate(TEXTS)
    ]
    outcomes = score("refclipscore", clip, pictures, items)
    for item, outcome in zip(items, outcomes, strict=True):
        text = clip_text(clip, PREFIX + item.candidate)
        near = max(
            float(clip_text(clip, PREFIX + reference) @ text)
            for reference in item.references
        )
        s, r = (
            2.5
            * max(
                0.0, float(clip_vector(clip, pictures / item.images[0]) @ text)
            ),
            max(0.0, near),
        )
        assert outcome.values["clipscore"] == pytest.approx(s, abs=1e-5)
        assert outcome.values["reference_cosine"] == pytest.approx(r, abs=1e-5)
        both = 2 * s * r / (s + r) if s + r else 0.0
        assert outcome.values["refclipscore"] == pytest.approx(both, abs=1e-5)


def test_long_texts_are_cut_counted_and_warned_of_once(
    clip: Path, pictures: Path
) -> None:
    items = [
        Item("long", LONG, (LONG, TEXTS[0]), ("a.png",)),
        Item("short", TEXTS[1], (LONG, TEXTS[0], TEXTS[1]), ("a.png",)),
    ]
    with pytest.warns(UserWarning, match="reads 16 tokens") as warned:
        long, short = score("refclipscore", clip, pictures, items)
    assert len(warned) == 1
    assert (long.values["cut"], long.detail["n_cut_texts"]) == (
        pytest.approx(2 / 3),
        2,
    )
    assert (short.values["cut"], short.detail["n_cut_texts"]) == (0.25, 1)
    text = clip_text(clip, PREFIX + LONG)  # keeps 15 tokens and the end marker
    expected = 2.5 * max(
        0.0, float(clip_vector(clip, pictures / "a.png") @ text)
    )
    assert long.values["clipscore"] == pytest.approx(expected, abs=1e-5)


def test_a_missing_or_broken_picture_fails_its_item_alone(
    clip: Path, pictures: Path
) -> None:
    items = [
        Item("good", TEXTS[0], images=("a.png",)),
        Item("missing", TEXTS[0], images=("none.png",)),
        Item("broken", TEXTS[0], images=("broken.png",)),
        Item("address", TEXTS[0], images=("https://example.org/a.png",)),
        Item("without", TEXTS[0]),
    ]
    good, missing, broken, address, without = score(
        "clipscore", clip, pictures, items
    )
    assert isinstance(good, ItemScore)
    reasons = [
        outcome.message for outcome in (missing, broken, address, without)
    ]
    assert "none.png: there is no such file" in reasons[0]
    assert "broken.png" in reasons[1]
    assert "is not a file" in reasons[2]
    assert reasons[3] == "clipscore needs images, and this item has none"
    assert all(
        isinstance(o, ItemFailure) and not o.transient
        for o in (missing, broken, address)
    )


def test_each_picture_and_text_is_embedded_once(
    clip: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts_embedded: list[object] = []

    def watch(name: str) -> None:
        real = getattr(Clip, name)

        def recorded(self: Clip, inputs: Any) -> Any:
            texts_embedded.extend(inputs)
            return real(self, inputs)

        monkeypatch.setattr(Clip, name, recorded)

    watch("embed_pictures")
    watch("embed_texts")
    items = [
        Item(f"{p}{i}", text, (TEXTS[0],), (f"{p}.png",))
        for p in "ab"
        for i, text in enumerate(TEXTS)
    ]
    score("refclipscore", clip, pictures, items)
    assert len(texts_embedded) == len(set(texts_embedded)) == 2 + 3


def test_empty_reference_is_a_reason(clip: Path, pictures: Path) -> None:
    (item_score,) = score(
        "refclipscore",
        clip,
        pictures,
        [Item("x", "a dog", ("", "b"), ("a.png",))],
    )
    assert isinstance(item_score, ItemFailure)
    assert item_score.message == "reference 1 has no words"


def test_signature_names_the_model_by_its_files(
    clip: Path, pictures: Path
) -> None:
    (item_score,) = score(
        "clipscore", clip, pictures, [Item("x", "a dog", images=("a.png",))]
    )
    assert f"|model:clip:{clip.name}@" in item_score.signature


def test_a_model_of_pictures_only_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", ids=np.array(["a"]), embeddings=np.eye(1))
    with pytest.raises(ConfigError, match="embeds pictures only"):
        metric(f"clipscore(model='npz:{tmp_path / 'v.npz'}')").score(
            [Item("x", "a", images=("a.png",))]
        )
