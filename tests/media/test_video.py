"""Pictures of a video by time: the right one, upright, and nothing but an error of a hostile file."""

from __future__ import annotations

import asyncio
import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.asking.tools import for_model
from beholder.backends import Image as Shown
from beholder.backends import Scripted
from beholder.backends.base import FilmPart
from beholder.data.read import good_rows, read_items
from beholder.errors import (
    ConfigError,
    DataError,
    ItemError,
    MissingExtraError,
)
from beholder.judges import LLMJudge
from beholder.kinds.generation.askers import CaptionRow
from beholder.kinds.generation.engine import read_pictured
from beholder.media import check_image, inside, load_image, video
from beholder.metrics import Tools
from beholder.options import DataOptions
from beholder.records import Item
from beholder.report.payload import picture_uri
from beholder.web.pictures import SmallPictures
from toy.without import without

pytest.importorskip("av", reason="needs the extra video")
from toy.cases import each_case
from toy.films import write_film

KINDS = {
    "mp4, reordered, one whole picture": (
        "a.mp4", {"codec": "libx264", "whole_every": 100, "options": {"bf": "3"}}
    ),
    "mov": ("a.mov", {"codec": "mpeg4"}),
    "matroska": ("a.mkv", {"codec": "libx264"}),
    "webm": ("a.webm", {"codec": "libvpx", "whole_every": 100}),
    "avi": ("a.avi", {"codec": "mpeg4"}),
    "begins late": ("a.mkv", {"codec": "libx264", "begins": 70}),
}  # fmt: skip


def tone(image: Image.Image) -> int:
    """The grey of a picture; encoders move it by a few of 255 tones."""
    return int(np.median(np.asarray(image)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("time", "place"),
    [
        ("0", 0),
        ("0.05", 0),
        ("0.1", 1),
        ("0.3", 3),
        ("1.2", 12),
        ("1.299", 12),
        ("2.95", 29),
    ],
)
def test_the_picture_is_the_last_that_began_by_the_time(
    tmp_path: Path, kind: str, time: str, place: int
) -> None:
    name, how = KINDS[kind]
    write_film(tmp_path / name, **how)  # type: ignore[arg-type]
    picture = load_image(tmp_path / f"{name}#t={time}")
    assert (picture.mode, picture.size) == ("RGB", (64, 48))
    assert abs(tone(picture) - 8 * place) < 4


@each_case(
    ("name", "expected"),
    [
        ("a.mp4#t=3.5", ("a.mp4", 3.5)),
        ("films/a b.mkv#t=90", ("films/a b.mkv", 90.0)),
        ("a.mp4#t=1:02.5", ("a.mp4", 62.5)),
        ("a.mp4#t=1:00:02", ("a.mp4", 3602.0)),
        ("a.mp4", None),
        ("a.mp4#t=", None),
        ("a.mp4#t=-1", None),
        ("a.mp4#t=nan", None),
        ("a.mp4#t=1:2:3:4", None),
        ("#t=1", None),
    ],
)
def test_how_a_moment_is_named(
    name: str, expected: tuple[str, float] | None
) -> None:
    moment = video.moment(Path(name))
    assert (moment and (str(moment.file), float(moment.seconds))) == expected


@pytest.mark.parametrize("time", ["3", "3.01", "99999999"])
def test_a_time_behind_the_end_is_refused(tmp_path: Path, time: str) -> None:
    write_film(tmp_path / "a.mp4")
    with pytest.raises(
        ItemError, match=r"a\.mp4: has no picture at .* s; it ends at 3 s"
    ):
        load_image(tmp_path / f"a.mp4#t={time}")


def test_a_video_that_was_held_upright_is_shown_upright(
    tmp_path: Path,
) -> None:
    file = write_film(tmp_path / "a.mp4", 2, left_white=True)
    data = bytearray(file.read_bytes())
    # The matrix of the track header (ISO 14496-12, 8.3.2): x' = -y, y' = x, a quarter clockwise.
    matrix = data.index(b"tkhd") + 4 + 40
    turned = [0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30]
    data[matrix : matrix + 36] = b"".join(
        n.to_bytes(4, "big", signed=True) for n in turned
    )
    file.write_bytes(data)
    pixels = np.asarray(load_image(tmp_path / "a.mp4#t=0"))
    assert pixels.shape == (64, 48, 3)
    assert pixels[:28].min() > 240  # left comes to the top
    assert pixels[36:].max() < 15


def test_a_moment_is_sent_as_a_jpeg_of_the_size_that_is_asked_for(
    tmp_path: Path,
) -> None:
    write_film(tmp_path / "a.mp4")
    header = check_image(tmp_path / "a.mp4#t=1")
    assert (header.width, header.height) == (64, 48)
    sent = for_model(tmp_path / "a.mp4#t=1", 32)
    assert sent.media_type == "image/jpeg"
    with Image.open(io.BytesIO(sent.data)) as image:
        assert image.size == (32, 24)
        assert abs(tone(image) - 80) < 4


def test_a_judge_sees_the_pictures_of_a_video_in_the_order_of_time(
    tmp_path: Path,
) -> None:
    write_film(tmp_path / "a.mp4")
    (tmp_path / "d.jsonl").write_text(
        '{"id": "1", "candidate": "", "video": "a.mp4"}\n'
    )
    options = DataOptions(frames=3)
    [item] = good_rows(
        read_items(tmp_path / "d.jsonl", options), options, [], name="d"
    )
    # Middles of three parts of a video of 3 s.
    assert item.images == ("a.mp4#t=0.5", "a.mp4#t=1.5", "a.mp4#t=2.5")
    backend = Scripted(lambda request: "word " * 40)
    asyncio.run(
        CaptionRow("j").make(item, LLMJudge(backend), Tools(folder=tmp_path))
    )
    (images,) = (request.images for request in backend.requests)
    tones = [tone(Image.open(io.BytesIO(image.data))) for image in images]
    assert np.abs(np.array(tones) - [40, 120, 200]).max() < 4


def test_a_folder_of_films_gives_a_row_each(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    write_film(tmp_path / "b" / "c.webm", codec="libvpx")
    write_film(tmp_path / "a.mp4")
    (tmp_path / "notes.txt").write_text("no film")
    items = read_pictured(str(tmp_path), DataOptions(frames=1))
    assert [
        (item.id, item.images) for item in items if isinstance(item, Item)
    ] == [
        ("a.mp4", ("a.mp4#t=1.5",)),
        ("b/c.webm", ("b/c.webm#t=1.5",)),
    ]
    Image.new("RGB", (8, 8)).save(tmp_path / "d.png")
    mixed = read_pictured(str(tmp_path), DataOptions(frames=1))
    assert [item.id for item in mixed if isinstance(item, Item)] == [
        "a.mp4",
        "b/c.webm",
        "d",
    ]
    alone = read_pictured(str(tmp_path))
    assert [item.id for item in alone if isinstance(item, Item)] == ["d"]


def test_rows_that_have_pictures_or_no_video_stay_as_they_are(
    tmp_path: Path,
) -> None:
    rows = '{"id": "1", "candidate": "a", "video": "a.mp4", "images": ["b.png"]}\n{"id": "2", "candidate": "b"}\n'
    (tmp_path / "d.jsonl").write_text(rows)
    items = read_items(tmp_path / "d.jsonl", DataOptions(frames=2))
    assert [item.images for item in items if isinstance(item, Item)] == [
        ("b.png",),
        (),
    ]


def test_each_cue_of_a_timed_text_has_its_picture(tmp_path: Path) -> None:
    write_film(tmp_path / "film.mkv")
    (tmp_path / "film.en.vtt").write_text(
        "WEBVTT\n\n00:00.200 --> 00:00.600\nDark.\n\n00:02.000 --> 00:03.000\nBright.\n"
    )
    [item] = read_items(tmp_path / "film.en.vtt", DataOptions(frames="cues"))
    assert isinstance(item, Item)
    assert item.video == "film.mkv"
    assert item.images == ("film.mkv#t=0.4", "film.mkv#t=2.5")
    tones = [tone(load_image(inside(tmp_path, name))) for name in item.images]
    assert np.abs(np.array(tones) - [32, 200]).max() < 4


def test_a_row_whose_video_cannot_be_read_is_a_wrong_row(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.mp4").write_text("no video")
    (tmp_path / "d.jsonl").write_text(
        '{"id": "1", "candidate": "c", "video": "a.mp4"}\n{"id": "2", "candidate": "c", "video": "none.mp4"}\n'
    )
    bad = [
        str(item)
        for item in read_items(tmp_path / "d.jsonl", DataOptions(frames=2))
    ]
    assert "d.jsonl:1: video" in bad[0]
    assert "cannot be read as a video" in bad[0]
    assert "there is no such file" in bad[1]
    row, _ = read_items(tmp_path / "d.jsonl", DataOptions(frames="cues"))
    assert isinstance(row, DataError)
    assert "has no cues in meta" in str(row)


@each_case("frames", [0, -1, 1001, True, "all", 2.5])
def test_frames_are_cues_or_a_number_up_to_a_limit(frames: object) -> None:
    with pytest.raises(ConfigError, match="frames="):
        DataOptions(frames=frames)  # type: ignore[arg-type]


# What is no video, and what would do harm if it were taken for one.


def test_a_playlist_opens_nothing(tmp_path: Path) -> None:
    secret = write_film(tmp_path / "secret.mp4")
    folder = tmp_path / "data"
    folder.mkdir()
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:3,\n{secret}\n#EXT-X-ENDLIST\n"
    for name in ("a.m3u8", "a.mp4"):
        (folder / name).write_text(playlist)
        with pytest.raises(
            ItemError, match=rf"{name}: cannot be read as a video"
        ):
            load_image(folder / f"{name}#t=0")


@pytest.mark.parametrize("ending", ["mp4", "mkv", "webm", "avi"])
def test_a_damaged_file_gives_a_picture_or_an_error_with_its_name(
    tmp_path: Path, ending: str
) -> None:
    codec = {"webm": "libvpx", "avi": "mpeg4"}.get(ending, "libx264")
    whole = write_film(tmp_path / f"a.{ending}", codec=codec).read_bytes()
    rng = np.random.default_rng(0)
    damaged = [whole[: len(whole) * part // 10] for part in range(10)]
    for _ in range(40):
        changed = bytearray(whole)
        for place in rng.integers(0, len(changed), 30):
            changed[place] = rng.integers(0, 256)
        damaged.append(bytes(changed))
    refused = []
    for data in damaged:
        (tmp_path / f"b.{ending}").write_bytes(data)
        try:
            load_image(tmp_path / f"b.{ending}#t=2")
        except ItemError as error:
            refused.append(str(error))
    assert len(refused) >= 5
    assert all(f"b.{ending}: " in message for message in refused)


def test_what_is_no_regular_file_is_refused_and_not_waited_for(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "a.mp4")
    with pytest.raises(ItemError, match="not a regular file"):
        load_image(tmp_path / "a.mp4#t=1")
    with pytest.raises(ItemError, match="not a regular file"):
        load_image(Path("/dev/zero#t=1"))
    with pytest.raises(ItemError, match="there is no such file"):
        load_image(tmp_path / "b.mp4#t=1")


def test_too_large_pictures_are_refused_before_they_are_decoded(
    tmp_path: Path,
) -> None:
    write_film(tmp_path / "a.mp4", 2, size=(640, 480))
    assert load_image(tmp_path / "a.mp4#t=0", max_pixels=640 * 480).size == (
        640,
        480,
    )
    with pytest.raises(
        ItemError, match=r"640 x 480 pixels are more than the 307199"
    ):
        load_image(tmp_path / "a.mp4#t=0", max_pixels=640 * 480 - 1)
    with pytest.raises(ItemError, match="640 x 480 pixels"):
        check_image(tmp_path / "a.mp4#t=0", max_pixels=1000)


def test_a_video_that_grows_while_it_runs_keeps_to_the_limit(
    tmp_path: Path,
) -> None:
    small = write_film(tmp_path / "small.ts")
    large = write_film(tmp_path / "large.ts", size=(640, 480), begins=30)
    (tmp_path / "both.ts").write_bytes(small.read_bytes() + large.read_bytes())
    assert load_image(tmp_path / "both.ts#t=5.5").size == (640, 480)
    with pytest.raises(ItemError, match=r"both\.ts: "):
        load_image(tmp_path / "both.ts#t=5.5", max_pixels=64 * 48)


def test_the_work_for_one_picture_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_film(tmp_path / "few.mp4", whole_every=100)
    write_film(tmp_path / "many.mp4", whole_every=5)
    monkeypatch.setattr(video, "MAX_DECODED", 64 * 48 * 10)
    assert abs(tone(load_image(tmp_path / "many.mp4#t=2.5")) - 200) < 4
    with pytest.raises(
        ItemError, match=r"few\.mp4: more than .* encode it again"
    ):
        load_image(tmp_path / "few.mp4#t=2.5")


def test_a_video_without_an_end_is_refused_by_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_film(tmp_path / "a.mp4")
    monkeypatch.setattr(video, "MAX_BYTES", 100)
    with pytest.raises(ItemError, match="bytes are more than the 100 read"):
        load_image(tmp_path / "a.mp4#t=1")


def test_sound_alone_is_no_video(tmp_path: Path) -> None:
    import av

    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(ItemError, match=r"a\.mp4: contains no video"):
        load_image(tmp_path / "a.mp4#t=0")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    write_film(tmp_path / "secret.mp4", 2)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.mp4").symlink_to(tmp_path / "secret.mp4")
    with pytest.raises(ItemError, match="by a link"):
        inside(folder, "a.mp4#t=0")
    with pytest.raises(ItemError, match="lies outside"):
        SmallPictures(folder).jpeg(str(tmp_path / "secret.mp4#t=0"), 240)
    rows = '{"id": "1", "candidate": "a", "images": "%s#t=0"}\n'
    (folder / "d.jsonl").write_text(rows % (folder / "a.mp4"))
    [row] = read_items(folder / "d.jsonl", DataOptions(media_root=folder))
    assert isinstance(row, DataError)
    assert "leaves the folder" in str(row)


def test_a_page_and_a_viewer_show_moments(tmp_path: Path) -> None:
    write_film(tmp_path / "a.mp4")
    uri = picture_uri(Item("1", "", images=("a.mp4#t=0.5",)), tmp_path, 10_000)
    assert uri.startswith("data:image/jpeg")
    pictures = SmallPictures(tmp_path)
    first = pictures.jpeg("a.mp4#t=0.5", 240)
    assert abs(tone(Image.open(io.BytesIO(first))) - 40) < 4
    assert pictures.jpeg("a.mp4#t=2.5", 240) != first


def test_a_video_that_is_named_as_a_picture_says_how_a_moment_is_named(
    tmp_path: Path,
) -> None:
    write_film(tmp_path / "a.mp4")
    with pytest.raises(ItemError, match=r"named by its time: a\.mp4#t=3\.5"):
        load_image(tmp_path / "a.mp4")
    item = Item("1", "", video="a.mp4")
    with pytest.raises(
        ItemError, match="--frames N takes pictures of its video"
    ):
        CaptionRow("j").check(item)


def test_without_pyav_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_film(tmp_path / "a.mp4", 2)
    without(monkeypatch, "av")
    with pytest.raises(
        MissingExtraError, match=r"pip install 'beholder\[video\]'"
    ):
        load_image(tmp_path / "a.mp4#t=0")
    with pytest.raises(
        ItemError, match=r"pip install 'beholder\[video\]'"
    ):  # a page goes on
        SmallPictures(tmp_path).jpeg("a.mp4#t=0", 240)
    assert (
        picture_uri(Item("1", "", images=("a.mp4#t=0",)), tmp_path, 10_000)
        == ""
    )


def test_a_section_is_shown_as_the_film_itself(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4")
    sent = for_model(tmp_path / "film.mp4#t=0:00.5,2&fps=0.5")
    assert sent.data == film.read_bytes()
    assert (sent.media_type, sent.clip) == (
        "video/mp4",
        FilmPart(0.5, 2.0, 0.5),
    )
    whole = for_model(tmp_path / "film.mp4#t=0.5,2")
    assert whole.clip == FilmPart(0.5, 2.0, 1.0)
    assert (
        len({sent.digest, whole.digest, Shown(sent.data, "video/mp4").digest})
        == 3
    )
    # Where a picture is wanted, it is the one at the beginning: tone 8 n at second n/10.
    pixels = np.asarray(load_image(tmp_path / "film.mp4#t=0.5,2"))
    assert abs(float(pixels.mean()) - 40) < 4


@pytest.mark.parametrize(
    "name", ["#t=2,1", "#t=1,1", "#t=0,1&fps=0", "#t=0,1&fps=24.5"]
)
def test_a_section_that_cannot_be_shown_is_refused(
    name: str, tmp_path: Path
) -> None:
    write_film(tmp_path / "film.mp4")
    with pytest.raises(ItemError, match="expected an end after the start"):
        for_model(tmp_path / f"film.mp4{name}")


def test_a_film_too_large_for_a_request_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_film(tmp_path / "film.mp4")
    monkeypatch.setattr("beholder.media.image.MAX_FILM_BYTES", 100)
    with pytest.raises(ItemError, match="bytes are more than the 100 read"):
        for_model(tmp_path / "film.mp4#t=0,1")


def test_frames_film_names_the_whole_film(tmp_path: Path) -> None:
    write_film(tmp_path / "film.mp4")  # 30 pictures, ten a second
    (tmp_path / "d.jsonl").write_text(
        '{"candidate": "A dot.", "video": "film.mp4"}\n'
    )
    [item] = read_items(tmp_path / "d.jsonl", DataOptions(frames="film"))
    assert isinstance(item, Item)
    assert item.images == ("film.mp4#t=0,3.000",)
