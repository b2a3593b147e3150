"""What a filter does with odd sources: nothing of them is lost, misread or changed."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beholder
from beholder.errors import ConfigError, DataError, RunError
from beholder.kinds.filtering.config import FilterOptions
from beholder.kinds.filtering.deciding import RowDecider, RowEvidence
from beholder.kinds.filtering.duplicates import find_duplicates
from beholder.kinds.filtering.pictures import PictureFolder
from beholder.kinds.filtering.result import VERDICTS, read_result
from beholder.kinds.filtering.writing import write_rows
from toy.command import Cli, runner

GOOD = (
    "A brown dog runs along the beach with a red ball in its mouth at noon.",
    "Two women in coats wait at a tram stop while snow falls on the street.",
    "A bowl of soup stands on a wooden table beside a spoon and some bread.",
)
REFUSAL = "I'm sorry, but I can't assist with that request."
TEXTS = (GOOD[0], REFUSAL, GOOD[1], REFUSAL, GOOD[2])


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    return runner(monkeypatch, capsys)


def member(name: str, data: bytes = b"", **fields: Any) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512)


def sample(key: str, text: str = GOOD[0], picture: bytes = b"p") -> bytes:
    return member(f"{key}.png", picture) + member(f"{key}.txt", text.encode())


def write_shard(*members: bytes, name: str = "set.tar") -> Path:
    Path(name).write_bytes(b"".join(members) + bytes(1024))
    return Path(name)


def write_table(texts: Sequence[str], name: str = "set.jsonl") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (json.dumps({"image": "1.png", "caption": text}) for text in texts)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def write_folder(name: str) -> Path:
    for number, text in enumerate(TEXTS[:3]):
        place = Path(name, "sub", f"{number}.png")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(f"{name} {number}".encode())
        place.with_suffix(".txt").write_text(text, encoding="utf-8")
    return Path(name)


def filter_rows(*data: str | Path, **options: Any) -> list[dict[str, Any]]:
    beholder.filter(*data, **{"out": "clean", "workers": 1, **options})
    parts = sorted(Path("clean", VERDICTS).glob("*"))
    return [row for part in parts for row in pq.read_table(part).to_pylist()]


def write(target: str | None = "out") -> list[tuple[str, int]]:
    place = None if target is None else Path(target)
    return list(write_rows(Path("clean"), place))


def test_members_that_loaders_do_not_read_set_their_sample_aside() -> None:
    text = GOOD[0].encode()
    odd = {
        "hard": member("hard.png", type=tarfile.LNKTYPE, linkname="a.png"),
        "soft": member("soft.png", type=tarfile.SYMTYPE, linkname="a.png"),
        "sparse": member("sparse.png", type=tarfile.GNUTYPE_SPARSE),
        "twice": member("twice.png", b"1") + member("twice.PNG", b"2"),
    }
    for key, members in odd.items():
        members += member(f"{key}.txt", text)
        write_shard(member("d/", type=tarfile.DIRTYPE), members, sample("a"))
        rows = filter_rows("set.tar")
        assert [(row["id"], row["reason"]) for row in rows] == [
            (key, "broken_sample"), ("a", ""),
        ]  # fmt: skip
        write()
        # No link is left to what is gone; folders stay.
        with tarfile.open("out/set.tar") as shard:
            assert shard.getnames() == ["d", "a.png", "a.txt"]


def test_a_header_of_the_whole_shard_stays_when_the_row_before_it_goes() -> (
    None
):
    buffer = io.BytesIO()
    with tarfile.open(
        fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT,
        pax_headers={"comment": "from here on"},
    ):  # fmt: skip
        header = buffer.getvalue()[:1024]
    write_shard(sample("a", REFUSAL), header, sample("b"))
    filter_rows("set.tar")
    write()
    expected = header + sample("b") + bytes(1024)
    assert Path("out/set.tar").read_bytes() == expected


def test_sizes_that_lie_are_damage() -> None:
    def with_size(size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
        header = bytearray(member("x.png", type=kind))
        header[124:136] = b"\xff" + (size % 256**11).to_bytes(11, "big")
        if size > 0:
            header[124] = 0x80
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        return bytes(header)

    # A negative size leads back to the member before, for ever.
    for size in (-512, -1024, 10 * 2**30, 2**62):
        for kind in (tarfile.REGTYPE, tarfile.XHDTYPE, b"L"):
            write_shard(sample("a"), with_size(size, kind))
            with pytest.raises(DataError, match="is damaged"):
                filter_rows("set.tar")


def test_no_name_of_a_member_leads_out_of_the_folder_of_pictures(
    cli: Cli,
) -> None:
    write_shard(
        sample("../../x", GOOD[0], b"1"), sample("/abs/y", GOOD[1], b"2")
    )
    before = {*Path().rglob("*"), *Path("..").glob("*")}
    filter_rows("set.tar")
    cli("filter", "sample", "clean", "-o", "clean/check.jsonl")
    new = {*Path().rglob("*"), *Path("..").glob("*")} - before
    assert {path.parts[0] for path in new} == {"clean"}
    names = sorted(
        path.name for path in Path("clean/check-pictures").glob("*")
    )
    assert names == ["row-0.png", "row-1.png"]


def test_readers_see_the_picture_of_each_row(cli: Cli) -> None:
    sources = [
        write_shard(sample("1", GOOD[0], b"A"), name="one.tar"),
        write_shard(sample("1", GOOD[1], b"B"), name="two.tar"),
        write_folder("photos"),
        write_table(GOOD[2:], "table/set.jsonl"),
    ]
    Path("table/1.png").write_bytes(b"C")
    filter_rows(*sources, rules="none")
    done = cli("filter", "sample", "clean", "-o", "clean/check.jsonl")
    assert done.code == 0, done.err
    lines = Path("clean/check.jsonl").read_text("utf-8").split("\n")[:-1]
    items = {row["id"]: row for row in map(json.loads, lines)}
    expected = (b"A", b"B", b"photos 0", b"photos 1", b"photos 2", b"C")
    for number, content in enumerate(expected):
        (name,) = items[f"row-{number}"]["images"]
        assert Path("clean", name).read_bytes() == content


def test_metrics_see_the_picture_beside_its_own_source() -> None:
    folders = (PictureFolder(Path("a")), PictureFolder(Path("b/c")))
    evidence = RowEvidence([], [0, 2], [], find_duplicates([], None), folders)
    names = [evidence.locate_picture(row, "1.png") for row in range(4)]
    assert names == ["a/1.png", "a/1.png", "b/c/1.png", "b/c/1.png"]
    assert evidence.locate_picture(3, "https://x/1.png") == "https://x/1.png"
    assert evidence.picture_root == Path().resolve()
    alone = RowEvidence([], [0], [], evidence.duplicates, folders[:1])
    assert alone.locate_picture(0, "../1.png") == "../1.png"


def test_write_never_changes_a_source() -> None:
    write_table(TEXTS, "d/a.jsonl")
    other = write_table(TEXTS[1:], "d/e/a.jsonl")
    before = other.read_bytes()
    filter_rows("d/a.jsonl", "d/e/a.jsonl")
    # The first would be written over the second.
    with pytest.raises(ConfigError, match=r"leads to d/e/a\.jsonl itself"):
        write("d/e")
    assert other.read_bytes() == before
    write_folder("photos")
    filter_rows("photos", "d/a.jsonl")
    content = {p: p.read_bytes() for p in Path("photos").rglob("*.*")}
    Path("link").symlink_to(Path("photos").resolve())
    Path("out/photos").mkdir(parents=True)
    Path("out/photos/sub").symlink_to(Path("photos/sub").resolve())
    for target in (".", "photos", "photos/sub", "link", "out"):
        with pytest.raises(ConfigError, match="never changed"):
            write(target)
    after = {p: p.read_bytes() for p in Path("photos").rglob("*.*")}
    assert after == content
    with pytest.raises(ConfigError, match="is in the source photos"):
        filter_rows("photos", out="photos/clean")
    Path("same.jsonl").symlink_to("d/a.jsonl")
    with pytest.raises(ConfigError, match="named twice"):
        filter_rows("d/a.jsonl", "same.jsonl")


def test_what_an_earlier_write_left_is_not_mixed_in() -> None:
    write_folder("photos")
    filter_rows("photos")
    write()
    write()
    filter_rows("photos", drop="words>14")
    with pytest.raises(ConfigError, match="no row that is written"):
        write()


def test_a_folder_that_changed_is_read_again_and_not_written() -> None:
    folder = write_folder("photos")
    assert len(filter_rows(folder)) == 3
    for ending in (".png", ".txt"):
        file = folder / "sub" / f"0{ending}"
        file.rename(file.with_stem("9"))
    with pytest.raises(RunError, match="changed since it was filtered"):
        write()
    (folder / "new.png").write_bytes(b"new")
    assert [row["id"] for row in filter_rows(folder)] == [
        "new.png", "sub/1.png", "sub/2.png", "sub/9.png",
    ]  # fmt: skip


def test_parquet_keeps_how_columns_are_stored() -> None:
    n = len(TEXTS)
    nested = [{"a": [k], "b": {"c": str(k)}} if k else None for k in range(n)]
    table = pa.table(
        {
            "caption": TEXTS,
            "nested": nested,
            "pairs": pa.array([[("k", 1)]] * n, pa.map_("string", "int32")),
            "time": pa.array(range(n), pa.timestamp("ns")),
        }
    )
    codecs = {"caption": "zstd", "nested.b.c": "gzip", "time": "none"}
    variants: tuple[dict[str, Any], ...] = (
        {"compression": "zstd"},
        {"compression": codecs},
        {"use_dictionary": False},
        {"use_dictionary": ["caption"], "write_statistics": False},
        {"use_deprecated_int96_timestamps": True},
        {"store_schema": False},
    )
    for variant in variants:
        pq.write_table(table, "set.parquet", row_group_size=2, **variant)
        filter_rows("set.parquet")
        write()
        pair = [pq.ParquetFile(f"{at}set.parquet") for at in ("", "out/")]
        before, after = (file.metadata for file in pair)
        assert after.schema.equals(before.schema), variant
        assert set(after.metadata or ()) == set(before.metadata or ())
        expected = pair[0].read().to_pylist()[::2]
        assert pair[1].read().to_pylist() == expected
        for at in range(before.num_columns):
            old, new = (m.row_group(0).column(at) for m in (before, after))
            for field in (
                "compression", "encodings", "has_dictionary_page", "is_stats_set",
            ):  # fmt: skip
                assert getattr(new, field) == getattr(old, field), variant


def test_rows_of_a_source_that_is_left_out_are_not_shown_to_readers(
    cli: Cli,
) -> None:
    bad = {"caption": ["x"] * 2 + ["y" * 9] * 2}
    pq.write_table(
        pa.table(bad), "bad.parquet", row_group_size=2, use_dictionary=False,
        compression="none",
    )  # fmt: skip
    data = bytearray(Path("bad.parquet").read_bytes())
    start = pq.read_metadata("bad.parquet").row_group(1).column(0)
    place = start.data_page_offset
    data[place : place + 20] = b"\xff" * 20
    Path("bad.parquet").write_bytes(data)
    write_table(GOOD)
    rows = filter_rows("bad.parquet", "set.jsonl", skip_bad_files=True)
    assert len(rows) == 3
    cli("filter", "sample", "clean", "-o", "check.jsonl")
    lines = Path("check.jsonl").read_text("utf-8").split("\n")[:-1]
    texts = {row["id"]: row["candidate"] for row in map(json.loads, lines)}
    assert texts == {f"row-{n}": text for n, text in enumerate(GOOD)}


def test_a_result_does_not_outlive_the_rows_that_it_is_about() -> None:
    write_table(GOOD)
    filter_rows("set.jsonl")
    assert read_result(Path("clean")).n_rows == 3
    Path("set.tar").write_bytes(b"damaged")
    with pytest.raises(DataError):
        filter_rows("set.jsonl", "set.tar")
    with pytest.raises(RunError, match="no finished filter"):
        read_result(Path("clean"))


def test_a_row_without_a_score_is_set_aside_and_not_dropped() -> None:
    write_table(TEXTS)
    filter_rows("set.jsonl")
    (part,) = Path("clean/work").glob("rows-*/*")
    evidence = RowEvidence([part], [0], ["set.jsonl"], find_duplicates([part], None))  # fmt: skip
    scores = {"x": np.array([0.9, np.nan, np.nan, np.nan, 0.1])}
    evidence = RowEvidence(
        evidence.parts, [0], ["set.jsonl"], evidence.duplicates, scores=scores
    )
    options = FilterOptions(drop=("x<0.5",))
    decided = [
        (row.decision, row.reason)
        for row in RowDecider(evidence, options).decide()
    ]
    assert decided == [
        ("keep", ""),
        ("drop", "ALT115"),
        ("quarantine", "no_score"),
        ("drop", "ALT115"),
        ("drop", "x<0.5"),
    ]


def test_wrong_commands_say_what_to_do(cli: Cli) -> None:
    write_table(GOOD)
    filters = (
        (("--keep", "words<3"), "a threshold cannot keep rows"),
        (("--drop", "same_text", "--keep", "same_text"), "has 2 decisions"),
        (("--drop", "words<1e999"), "is not a number"),
        (("--drop", "words<1.2.3"), "is not a number"),
        (("-m", "length", "--drop", "length.x<3"), "no score 'length.x'"),
        (("--drop", "words==3"), "expected a threshold such as"),
        (("--drop", "words<3 or words>4"), "expected a threshold such as"),
        (("--drop", "__import__('os')"), "expected a threshold such as"),
    )
    for options, message in filters:
        done = cli("filter", "set.jsonl", "-o", "clean", *options)
        assert (done.code, message in done.err) == (2, True), done.err
    assert "name the files or folders" in cli("filter", "-o", "clean").err
    Path("empty.jsonl").touch()
    done = cli(
        "filter", "set.jsonl", "empty.jsonl", "-o", "clean", "--drop",
        "words<3.0000001", "--quarantine", "words<3",
    )  # fmt: skip
    assert "empty.jsonl has no row" in done.err
    done = cli("filter", "sample", "clean", "-o", "check.jsonl", "--n", "0")
    assert (done.code, "expected 1 or more" in done.err) == (2, True)


def test_texts_reach_neither_terminal_nor_page_as_commands(cli: Cli) -> None:
    text = "\x1b[31m\x1b]0;t\x07\u202e<script>alert(1)</script><img src=x>"
    write_table([f"{text} {number}" for number in range(11)])
    done = cli("filter", "set.jsonl", "-o", "clean")
    assert done.err.count("\n  set.jsonl#") == 10
    page = Path("clean/report.html").read_text("utf-8")
    # The page isolates what turns the direction of writing.
    for output in (done.out, done.err, page.replace("\u202e", "")):
        assert not {"\x1b", "\x07", "\u202e"} & set(output)
    assert "<script" not in page
    assert "<img" not in page


def write_forms() -> dict[str, str]:
    """Write a source of each form, and return its name by form."""
    write_table(GOOD)
    for name, separator in (("set.csv", ","), ("set.tsv", "\t")):
        lines = [
            ("image", "caption"),
            *((f"{n}.png", t) for n, t in enumerate(GOOD)),
        ]
        Path(name).write_text("\n".join(map(separator.join, lines)) + "\n")
    columns = {"image": ["1.png"], "caption": [GOOD[0]]}
    pq.write_table(pa.table(columns), "set.parquet")
    picture, caption = (
        {"id": 1, "file_name": "a.jpg"},
        {"id": 1, "image_id": 1},
    )
    content = {
        "images": [picture],
        "annotations": [{**caption, "caption": GOOD[0]}],
    }
    Path("set.json").write_text(json.dumps(content))
    write_shard(sample("a"))
    write_folder("folder")
    return {
        "jsonl": "set.jsonl", "csv": "set.csv", "tsv": "set.tsv",
        "parquet": "set.parquet", "coco": "set.json", "tar": "set.tar",
        "folder": "folder",
    }  # fmt: skip


TABLES = frozenset({"jsonl", "csv", "tsv", "parquet"})
USED_BY: tuple[tuple[str, dict[str, Any], frozenset[str]], ...] = (
    ("--map candidate", {"map": {"candidate": "caption"}}, TABLES | {"tar"}),
    ("--map images", {"map": {"images": "image"}}, TABLES),
    ("--map id", {"map": {"id": "image"}}, TABLES),
    ("--map references", {"map": {"references": "caption"}}, frozenset()),
    ("--map language", {"map": {"language": "caption"}}, frozenset()),
    (
        "--text-ending",
        {"text_ending": ".caption"},
        frozenset({"tar", "folder"}),
    ),
    ("--media-root", {"media_root": Path("folder")}, TABLES | {"coco"}),
)
"""An option, and the forms whose rows it concerns."""


def test_options_are_used_or_refused_for_each_form() -> None:
    for form, source in write_forms().items():
        for option, given, forms in USED_BY:
            refused = ""
            try:
                beholder.filter(source, out="clean", workers=1, **given)
            except ConfigError as error:
                refused = str(error)
            expected = f"{option} is not used for {source}; "
            assert refused.startswith(expected) == (form not in forms), refused
            assert not refused or form not in forms


def test_an_option_that_one_of_two_sources_uses_brings_a_caution() -> None:
    write_forms()
    columns = {"candidate": "caption"}
    beholder.filter("set.csv", "set.json", out="clean", workers=1, map=columns)
    cautions = read_result(Path("clean")).cautions
    assert "--map candidate is not used for set.json" in cautions
