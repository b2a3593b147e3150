"""Image embedders: ids not positions, honest names, one broken picture costs only itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.embed.images import ImageEmbedder, image_embedder, usable_frames
from beholder.errors import ConfigError, ItemError, UnknownNameError
from beholder.records import Frame


def _npz(path: Path, ids: list[str], rows: list[list[float]]) -> str:
    np.savez(path, ids=np.array(ids), embeddings=np.array(rows))
    return f"npz:{path}"


def test_npz_rows_are_found_by_id_and_scaled_to_length_one(
    tmp_path: Path,
) -> None:
    embedder = image_embedder(
        _npz(tmp_path / "v.npz", ["b", "a"], [[0.0, 2.0], [3.0, 4.0]])
    )
    rows = embedder.embed([Frame("a"), Frame("b")], tmp_path)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 1.0]], rtol=1e-6)
    assert embedder.identity.startswith("npz:v.npz@")


def test_npz_names_the_frame_without_a_vector(tmp_path: Path) -> None:
    embedder = image_embedder(_npz(tmp_path / "v.npz", ["a"], [[1.0]]))
    with pytest.raises(ItemError, match="frame 'zz' has no vector in"):
        embedder.embed([Frame("zz")], tmp_path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"ids": ["a"]}, "has no array"),
        ({"ids": ["a"], "embeddings": np.zeros((2, 3))}, r"shape \(1, D\)"),
        (
            {"ids": ["a", "a"], "embeddings": np.ones((2, 3))},
            "two rows have the same id",
        ),
        ({"ids": ["a"], "embeddings": np.full((1, 3), np.nan)}, "not finite"),
    ],
)
def test_an_unfit_archive_is_refused(
    tmp_path: Path,
    arrays: dict[str, object],
    message: str,
) -> None:
    np.savez(tmp_path / "v.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=message):
        image_embedder(f"npz:{tmp_path / 'v.npz'}")


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "v.npz").write_text("x")
    with pytest.raises(ConfigError, match="cannot be read as a NumPy archive"):
        image_embedder(f"npz:{tmp_path / 'v.npz'}")


def test_a_missing_file_is_named_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"v\.npz: there is no such file; check"
    ):
        image_embedder(f"npz:{tmp_path / 'v.npz'}")


def test_an_unknown_image_embedder_lists_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match="handcrafted, npz, clip"):
        image_embedder("klip:x")


def _handcrafted() -> ImageEmbedder:
    pytest.importorskip("skimage")
    return image_embedder("handcrafted")


def _pictures(folder: Path) -> list[Frame]:
    stripes = np.zeros((64, 96, 3), np.uint8)
    stripes[:, ::8] = 200
    Image.fromarray(stripes).save(folder / "stripes.png")
    Image.fromarray(stripes + 4).save(folder / "brighter.png")
    noise = np.random.default_rng(0).integers(0, 256, (64, 96, 3), np.uint8)
    Image.fromarray(noise).save(folder / "noise.png")
    Image.new("RGB", (50, 50), "white").save(folder / "blank.png")
    return [
        Frame(n, f"{n}.png") for n in ("stripes", "brighter", "noise", "blank")
    ]


def test_handcrafted_says_that_it_is_not_learned() -> None:
    embedder = _handcrafted()
    assert not embedder.learned
    assert embedder.identity.startswith("handcrafted")


def test_handcrafted_rows_have_length_one_and_alike_pictures_are_near(
    tmp_path: Path,
) -> None:
    rows = _handcrafted().embed(_pictures(tmp_path), tmp_path)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)
    stripes, brighter, noise, _ = rows
    assert stripes @ brighter > 0.7 > stripes @ noise


def test_a_handcrafted_row_depends_on_its_picture_alone(
    tmp_path: Path,
) -> None:
    frames = _pictures(tmp_path)
    together = _handcrafted().embed(frames, tmp_path)
    alone = _handcrafted().embed(frames[2:3], tmp_path)
    np.testing.assert_array_equal(together[2], alone[0])


def test_broken_pictures_are_left_out_with_their_reason(
    tmp_path: Path,
) -> None:
    frames = _pictures(tmp_path)
    (tmp_path / "noise.png").write_bytes(b"x")
    embedded, rows, reasons = usable_frames(
        _handcrafted(),
        [*frames, Frame("no image")],
        tmp_path,
    )
    assert [frame.id for frame in embedded] == ["stripes", "brighter", "blank"]
    assert rows.shape[0] == 3
    assert "noise.png: not a picture" in reasons[0]
    assert "frame 'no image' has no image" in reasons[1]


def test_a_collection_without_one_good_picture_is_an_error(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        ConfigError, match="no picture of the collection can be embedded"
    ):
        usable_frames(_handcrafted(), [Frame("a", "a.jpg")], tmp_path)


def test_clip_projects_and_normalises_like_the_model_itself(
    tmp_path: Path,
) -> None:
    """A CLIP of random weights, small enough for a test; the model's own method is the source."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    sizes = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    config = transformers.CLIPConfig(
        vision_config={**sizes, "image_size": 32, "patch_size": 16},
        text_config={**sizes, "vocab_size": 64},
        projection_dim=8,
    )
    torch.manual_seed(0)
    model = transformers.CLIPModel(config).eval()
    processor = transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size=32
    )
    model.save_pretrained(tmp_path / "clip")
    processor.save_pretrained(tmp_path / "clip")
    frames = _pictures(tmp_path)
    rows = image_embedder(f"clip:{tmp_path / 'clip'}", device="cpu").embed(
        frames, tmp_path
    )
    images = [Image.open(tmp_path / f"{frame.id}.png") for frame in frames]
    with torch.inference_mode():
        output = model.get_image_features(
            **processor(images=images, return_tensors="pt")
        )
    features = getattr(output, "pooler_output", output).numpy()
    expected = features / np.linalg.norm(features, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected, atol=1e-5)
