"""A filter of small training sets: what is dropped, why, and what is written back."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beholder
from beholder.errors import ConfigError, DataError, RunError
from beholder.kinds.filtering.result import RESULT, VERDICTS, read_result
from beholder.kinds.filtering.rows import fold_text, similarity
from beholder.kinds.filtering.writing import write_rows
from toy.cases import each_case
from toy.command import Cli

SENTENCES = (
    "A brown dog runs along the beach with a red ball in its mouth at noon.",
    "Two women in coats wait at a tram stop while snow falls on the street.",
    "A bowl of soup stands on a wooden table beside a spoon and some bread.",
)
GERMAN = (
    "Ein kleiner Hund läuft mit einem Ball über die grüne Wiese und bellt."
)
REFUSAL = "I'm sorry, but I can't assist with that request."


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


TarFormat = Literal[0, 1, 2]
USTAR: TarFormat = 0
GNU: TarFormat = 1
PAX: TarFormat = 2
Rows = Sequence[tuple[str, str]]
ROWS: Rows = (
    ("a.jpg", SENTENCES[0]),
    ("b.jpg", REFUSAL),
    ("c.jpg", ""),
    ("d.jpg", SENTENCES[1]),
    ("a.jpg", SENTENCES[0].upper()),
    ("e.jpg", GERMAN),
    ("f.jpg", "IMG_1234.jpg"),
    ("g.jpg", SENTENCES[2]),
    ("h.jpg", SENTENCES[2]),
)
"""Pictures and texts: kept are the rows 0, 3, 7 and, with a note, 8."""
KEPT = [0, 3, 7, 8]
REASONS = {
    1: "ALT115", 2: "missing", 4: "duplicate", 5: "language", 6: "ALT101",
}  # fmt: skip


def picture(name: str) -> bytes:
    return b"\x89PNG" + name.encode() * 40


def as_jsonl() -> tuple[Path, list[bytes]]:
    lines = [
        json.dumps({"image": image, "caption": text}).encode() + b"\r\n"
        for image, text in ROWS
    ]
    lines[-1] = lines[-1].rstrip()
    Path("set.jsonl").write_bytes(b"".join(lines))
    return Path("set.jsonl"), [b"", *lines]


def as_csv() -> tuple[Path, list[bytes]]:
    records = []
    for row in (("image", "caption"), *ROWS):
        buffer = io.StringIO()
        csv.writer(buffer).writerow(row)
        records.append(buffer.getvalue().encode())
    # A cell over two lines, and a mark of the order of bytes.
    records[1] = b'a.jpg,"%s\nMore."\r\n' % SENTENCES[0].encode()
    records[5] = b'a.jpg,"%s\r\nmore"\r\n' % SENTENCES[0].encode()
    records[0] = b"\xef\xbb\xbf" + records[0]
    Path("set.csv").write_bytes(b"".join(records))
    return Path("set.csv"), records


def tar_bytes(name: str, data: bytes, form: TarFormat) -> bytes:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    return member.tobuf(form) + data + bytes(-len(data) % 512)


def as_tar(form: TarFormat) -> tuple[Path, list[bytes]]:
    samples = []
    for number, (image, text) in enumerate(ROWS):
        # A name of more than 100 characters has headers of its own.
        folder = "long" * 20 + "/" + "n" * 60 if number % 3 == 0 else "short"
        members = ((".png", picture(image)), (".txt", text.encode()))
        samples.append(
            b"".join(
                tar_bytes(f"{folder}/{number}{ending}", data, form)
                for ending, data in members
            )
        )
    end = bytes(1024)
    Path("set.tar").write_bytes(b"".join(samples) + end)
    return Path("set.tar"), [b"", *samples, end]


FORMS: Mapping[str, Callable[[], tuple[Path, list[bytes]]]] = {
    "jsonl": as_jsonl,
    "csv": as_csv,
    "pax": lambda: as_tar(PAX),
    "gnu": lambda: as_tar(GNU),
    "ustar": lambda: as_tar(USTAR),
}


def verdicts(job: str = "clean") -> list[dict[str, Any]]:
    parts = sorted(Path(job, VERDICTS).glob("part-*.parquet"))
    return [row for part in parts for row in pq.read_table(part).to_pylist()]


def filter_rows(*data: str | Path, **options: Any) -> list[dict[str, Any]]:
    beholder.filter(*data, **{"out": "clean", "workers": 1, **options})
    return verdicts()


def write_jsonl(rows: Sequence[Any], name: str = "set.jsonl") -> Path:
    lines = (json.dumps(row) + "\n" for row in rows)
    Path(name).write_text("".join(lines), encoding="utf-8")
    return Path(name)


def write_texts(*texts: str) -> Path:
    return write_jsonl(
        [{"image": f"{n}.jpg", "caption": t} for n, t in enumerate(texts)]
    )


@pytest.mark.parametrize("form", FORMS)
def test_kept_rows_are_written_back_byte_for_byte(form: str) -> None:
    path, pieces = FORMS[form]()
    before = path.read_bytes()
    rows = filter_rows(path, language="en")
    dropped = {r["row"]: r["reason"] for r in rows if r["decision"] == "drop"}
    assert dropped == REASONS
    assert rows[8]["reasons"] == ["same_text"]
    list(write_rows(Path("clean"), Path("out")))
    kept = [pieces[number + 1] for number in KEPT]
    expected = b"".join([pieces[0], *kept, *pieces[len(ROWS) + 1 :]])
    assert (Path("out") / path.name).read_bytes() == expected
    # All decisions together are the source again.
    assert path.read_bytes() == before


@pytest.mark.parametrize("form", FORMS)
def test_a_source_without_dropped_rows_is_copied_whole(form: str) -> None:
    path, _ = FORMS[form]()
    reasons = (*REASONS.values(), "duplicate")
    filter_rows(path, keep=reasons, language="en")
    list(write_rows(Path("clean"), Path("out")))
    assert (Path("out") / path.name).read_bytes() == path.read_bytes()


def test_parquet_keeps_schema_metadata_codec_and_row_groups() -> None:
    table = pa.table(
        {
            "image": pa.array(
                [image for image, _ in ROWS]
            ).dictionary_encode(),
            "caption": pa.array([text for _, text in ROWS], pa.large_string()),
            "bytes": [b"x"] * len(ROWS),
        }
    ).replace_schema_metadata({"origin": "made"})
    pq.write_table(table, "set.parquet", row_group_size=3, compression="gzip")
    filter_rows("set.parquet", language="en")
    list(write_rows(Path("clean"), Path("out")))
    with pq.ParquetFile("out/set.parquet") as file:
        metadata = file.metadata
        groups = range(metadata.num_row_groups)
        assert [metadata.row_group(g).num_rows for g in groups] == [1, 1, 2]
        codec = metadata.row_group(0).column(0).compression
        assert codec == "GZIP"
        assert file.schema_arrow.equals(table.schema, check_metadata=True)
        assert file.read() == table.take(KEPT)


def test_coco_keeps_the_order_of_keys_and_compares_captions_of_a_picture() -> (
    None
):
    images = sorted({image for image, _ in ROWS})
    annotations = [
        {"id": n, "caption": text, "image_id": images.index(image)}
        for n, (image, text) in enumerate(ROWS)
    ]
    content = {
        "info": {"z": 1, "a": 2},
        "annotations": annotations,
        "images": [{"id": n, "file_name": f} for n, f in enumerate(images)],
    }
    Path("set.json").write_text(json.dumps(content), encoding="utf-8")
    filter_rows("set.json", language="en")
    list(write_rows(Path("clean"), Path("out")))
    expected = {**content, "annotations": [annotations[n] for n in KEPT]}
    assert Path("out/set.json").read_text("utf-8") == json.dumps(expected)


def test_a_folder_lists_or_links_what_is_kept() -> None:
    for number, (image, text) in enumerate(ROWS):
        place = Path("photos", f"{number}.png")
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(picture(image))
        if number != 2:
            place.with_suffix(".caption").write_text(text, encoding="utf-8")
    Path("photos/alone.caption").write_text("A lonely text.", encoding="utf-8")
    rows = filter_rows("photos", language="en", text_ending=".caption")
    by_id = {row["id"]: row["reason"] for row in rows}
    assert by_id["2.png"] == "missing"
    assert by_id["alone.caption"] == "no_picture"
    ((kept_file, n),) = write_rows(Path("clean"), None)
    kept = [f"{number}.png" for number in KEPT]
    assert (kept_file, n) == ("clean/kept.txt", 4)
    assert Path(kept_file).read_text("utf-8").split("\n")[:-1] == kept
    list(write_rows(Path("clean"), Path("out")))
    written = sorted(p.name for p in Path("out/photos").iterdir())
    assert written == sorted([*kept, *(f"{n}.caption" for n in KEPT)])


def test_members_of_a_key_that_are_apart_are_set_aside() -> None:
    form = USTAR
    text = SENTENCES[0].encode()
    members = [
        tar_bytes("1.png", picture("1"), form), tar_bytes("1.txt", text, form),
        tar_bytes("2.png", picture("2"), form), tar_bytes("2.txt", text, form),
        tar_bytes("1.cls", b"7", form),
    ]  # fmt: skip
    Path("set.tar").write_bytes(b"".join(members) + bytes(1024))
    rows = filter_rows("set.tar")
    assert [(row["id"], row["decision"], row["reason"]) for row in rows] == [
        ("1", "quarantine", "broken_sample"),
        ("2", "keep", ""),
        ("1", "quarantine", "broken_sample"),
    ]
    list(write_rows(Path("clean"), Path("out")))
    assert Path("out/set.tar").read_bytes() == b"".join(
        [*members[2:4], bytes(1024)]
    )


def test_a_column_of_json_in_a_shard_is_the_text() -> None:
    form = USTAR
    content = json.dumps({"caption": REFUSAL}).encode()
    data = tar_bytes("1.jpg", b"1", form) + tar_bytes("1.json", content, form)
    Path("set.tar").write_bytes(data + bytes(1024))
    (row,) = filter_rows("set.tar", map={"candidate": "json.caption"})
    assert row["reason"] == "ALT115"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1024], "no end mark"),
        (lambda data: data[:700], "damaged"),
        (lambda data: data[:1024] + b"x" * 512 + data[1536:], "damaged"),
        (lambda data: b"\x1f\x8b" + data[2:], "damaged"),
    ],
)
def test_a_damaged_shard_is_left_out_whole(
    damage: Callable[[bytes], bytes], message: str, cli: Cli
) -> None:
    path, _ = as_tar(USTAR)
    path.write_bytes(damage(path.read_bytes()))
    write_texts(*SENTENCES)
    command = (
        "filter",
        "set.tar",
        "set.jsonl",
        "-o",
        "clean",
        "--workers",
        "1",
    )
    done = cli(*command)
    assert (done.code, message in done.err) == (2, True)
    assert "--skip-bad-files" in done.err
    done = cli(*command, "--skip-bad-files")
    assert (done.code, "set.tar is left out" in done.err) == (0, True)
    assert [row["file"] for row in verdicts()] == ["set.jsonl"] * 3


def test_texts_that_cannot_be_read_are_counted_and_never_guessed() -> None:
    lines = [b'{"caption": "caf\xe9"}', b"[1]", b'{"image": "a.jpg"}', b"{"]
    Path("set.jsonl").write_bytes(b"\n".join(lines))
    reasons = [row["reason"] for row in filter_rows("set.jsonl")]
    assert reasons == ["unreadable", "unreadable", "missing", "unreadable"]


def test_a_few_words_have_no_language() -> None:
    path = write_texts("Ein Hund im Garten", GERMAN)
    rows = filter_rows(path, language="en")
    assert [row["decision"] for row in rows] == ["keep", "drop"]
    assert [row["language"] for row in rows] == ["", "German"]


def test_tags_have_rules_of_their_own_and_a_caution_names_them(
    cli: Cli,
) -> None:
    write_texts(
        "1girl, solo, smile", "dog, park, dog, park, dog, park", "2boys, hat, sea"
    )  # fmt: skip
    done = cli("filter", "set.jsonl", "-o", "clean")
    assert "3 of 3 texts read as tags; --rules tags" in done.err
    assert {row["reason"] for row in verdicts()} != {""}
    cli("filter", "set.jsonl", "-o", "clean", "--rules", "tags")
    assert {row["decision"] for row in verdicts()} == {"keep"}


def test_a_rule_that_drops_much_is_shown_before_anything_is_written(
    cli: Cli,
) -> None:
    write_texts(SENTENCES[0], REFUSAL, REFUSAL + " Sorry.")
    done = cli("filter", "set.jsonl", "-o", "clean", "--dry-run")
    assert "ALT115 alone drops 2 of 3 rows (66.7 %)" in done.err
    assert REFUSAL in done.err
    assert not Path("clean").exists()
    cli("filter", "set.jsonl", "-o", "clean")
    assert "alone drops" in cli("filter", "write", "clean", "--to", "out").err


def test_similarity_is_that_of_the_worked_examples() -> None:
    # 40 words with one changed: 35 of 41 triples; 12 words: 7 of 13.
    words = [f"w{n:02}" for n in range(40)]
    changed = [*words[:20], "other", *words[21:]]
    pair = " ".join(words), " ".join(changed)
    assert similarity(*pair) == pytest.approx(0.853659, abs=1e-6)
    pair = " ".join(words[:12]), " ".join([*words[:5], "x", *words[6:12]])
    assert similarity(*pair) == pytest.approx(0.538462, abs=1e-6)
    # 67 runs of five characters, of which five changed characters change nine: 58 of 76.
    text = "".join(chr(0x4E00 + n) for n in range(71))
    other = text[:30] + "".join(chr(0x5E00 + n) for n in range(5)) + text[35:]
    assert similarity(text, other) == pytest.approx(0.763158, abs=1e-6)


NEAR = "A brown dog runs along the sunny beach with a red ball in its mouth at noon while three children watch from a low wall beside the empty road"


def test_near_duplicates_of_a_picture_go_and_of_others_are_noted() -> None:
    near = NEAR.replace("noon", "dawn")
    assert similarity(fold_text(NEAR), fold_text(near)) > 0.75
    write_jsonl(
        [
            {"image": "a.jpg", "caption": NEAR},
            {"image": "b.jpg", "caption": near},
            {"image": "a.jpg", "caption": near},
            {"image": "c.jpg", "caption": SENTENCES[0]},
        ]
    )
    rows = filter_rows("set.jsonl", near_duplicates=0.75)
    assert [row["reasons"] for row in rows] == [
        [], ["same_text"], ["near_duplicate"], [],
    ]  # fmt: skip
    assert [row["duplicate_of"] for row in rows] == [None, 0, 0, None]
    rows = filter_rows("set.jsonl", near_duplicates=0.99)
    assert [row["reasons"] for row in rows] == [[], [], ["same_text"], []]
    rows = filter_rows("set.jsonl", near_duplicates=0.75, drop="same_text")
    assert [row["decision"] for row in rows] == [
        "keep",
        "drop",
        "drop",
        "keep",
    ]


def test_the_order_of_files_decides_which_duplicate_is_first() -> None:
    row = {"image": "a.jpg", "caption": SENTENCES[0]}
    write_jsonl([row], "one.jsonl")
    write_jsonl([row], "two.jsonl")
    digests = []
    for order in (("one.jsonl", "two.jsonl"), ("two.jsonl", "one.jsonl")):
        rows = filter_rows(*order)
        kept = [row["file"] for row in rows if row["decision"] == "keep"]
        assert kept == [order[0]]
        digests.append(read_result(Path("clean")).digest)
    assert digests[0] != digests[1]


def test_a_duplicate_of_a_dropped_row_stays() -> None:
    text = SENTENCES[0]
    write_jsonl([{"caption": text}, {"caption": text.replace("A ", "A  ")}])
    assert [row["decision"] for row in filter_rows("set.jsonl")] == [
        "keep", "drop",
    ]  # fmt: skip
    write_jsonl([{"caption": f"{text} </s>"}, {"caption": f"{text} S"}])
    rows = filter_rows("set.jsonl")
    assert [(row["decision"], row["reason"]) for row in rows] == [
        ("drop", "ALT116"), ("keep", ""),
    ]  # fmt: skip


def test_scores_drop_and_quarantine_and_the_best_duplicate_stays() -> None:
    near = NEAR + " today"
    write_jsonl(
        [
            {"image": "a.jpg", "caption": NEAR},
            {"image": "a.jpg", "caption": near},
            {"image": "b.jpg", "caption": SENTENCES[0]},
            {"image": "c.jpg", "caption": "A dog runs on the beach."},
            {"image": "d.jpg", "caption": REFUSAL},
        ]
    )
    options: dict[str, Any] = {"metrics": ("length",), "near_duplicates": 0.8}
    rows = filter_rows(
        "set.jsonl", drop="length<7", quarantine="length<20", **options
    )
    assert [(row["decision"], row["reason"]) for row in rows] == [
        ("drop", "near_duplicate"),
        ("keep", ""),
        ("quarantine", "length<20"),
        ("drop", "length<7"),
        ("drop", "ALT115"),
    ]
    assert rows[3]["length"] == 6.0
    assert rows[4]["length"] is None or rows[4]["length"] != rows[4]["length"]
    stamps = {
        p: p.stat().st_mtime_ns for p in Path("clean/scores").rglob("*.json")
    }
    work = {p: p.stat().st_mtime_ns for p in Path("clean/work").rglob("*")}
    rows = filter_rows("set.jsonl", drop="length<3", **options)
    assert rows[3]["decision"] == "keep"
    # Another threshold repeats only the decision.
    assert len(list(Path("clean/scores").iterdir())) == len(
        {path.parent for path in stamps}
    )
    assert work == {
        p: p.stat().st_mtime_ns for p in Path("clean/work").rglob("*")
    }


@each_case(
    ("options", "message"),
    [
        ({"drop": "clipscore<0.4"}, "there is no score 'clipscore'"),
        ({"drop": "nonsense"}, "expected a threshold such as 'words<3'"),
        ({"keep": "ALT401"}, "a rule of lint from ALT101 to ALT117"),
        ({"near_duplicates": 0.2}, "from 0.5 to 1"),
        ({"language": "Klingonish"}, "no such language"),
        ({"text_ending": "txt"}, "such as .caption"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], message: str
) -> None:
    write_texts(*SENTENCES)
    with pytest.raises(ConfigError, match=message):
        filter_rows("set.jsonl", **options)
    assert not Path("clean", RESULT).exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("set.jsonl.gz", "unpack .gz and .xz first"),
        ("set.tar.gz", "unpack .gz and .xz first"),
        ("none.jsonl", "cannot be read"),
        ("set.json", "is not a file of COCO captions"),
        ("empty.jsonl", "has no row to filter"),
    ],
)
def test_unusable_files_are_refused(name: str, message: str) -> None:
    Path("set.json").write_text("[]", encoding="utf-8")
    Path("empty.jsonl").write_text("\n", encoding="utf-8")
    for packed in ("set.jsonl.gz", "set.tar.gz"):
        Path(packed).write_bytes(b"\x1f\x8b")
    with pytest.raises(DataError, match=message):
        filter_rows(name)


def test_sources_are_never_changed_and_a_changed_one_is_refused() -> None:
    path = write_texts(*SENTENCES, REFUSAL)
    filter_rows(path)
    with pytest.raises(ConfigError, match="never changed"):
        list(write_rows(Path("clean"), Path()))
    write_texts(*SENTENCES)
    with pytest.raises(RunError, match="changed since it was filtered"):
        list(write_rows(Path("clean"), Path("out")))


def test_the_page_escapes_texts_and_shows_reasons() -> None:
    path = write_texts(*SENTENCES, "<script>alert(1)</script> a dog")
    filter_rows(path)
    page = Path("clean/report.html").read_text("utf-8")
    assert "<script>" not in page
    assert "ALT112 markup" in page


def job_bytes(job: str) -> dict[str, bytes]:
    names = ("verdicts/*", "*.json", "*.html", "work/*/*")
    return {
        str(path.relative_to(job)): path.read_bytes()
        for name in names
        for path in Path(job).glob(name)
    }


def made_rows(n: int) -> Iterator[dict[str, str]]:
    for number in range(n):
        image, text = ROWS[number % len(ROWS)]
        yield {
            "image": f"{number // 2}-{image}",
            "caption": f"{text} {number // 3}",
        }


def write_sources() -> list[str]:
    names = []
    for number in range(4):
        write_jsonl(list(made_rows(400)), f"{number}.jsonl")
        names.append(f"{number}.jsonl")
    return names


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_bytes() -> None:
    names = write_sources()
    for workers in (1, 2):
        beholder.filter(
            *names, out=f"job{workers}", workers=workers,
            near_duplicates=0.8, language="en",
        )  # fmt: skip
    first, second = job_bytes("job1"), job_bytes("job2")
    assert first == second
    assert len(first) > 8


KILLED = """
import os, signal, sys
from pathlib import Path
from beholder.kinds.filtering.config import FilterConfig, FilterOptions
from beholder.kinds.filtering.door import FilterMeans, run_filter
from beholder.options import WorkOptions
from beholder.run.session import Quiet

class Killing(Quiet):
    n = 0

    def advance(self, *counts):
        self.n += 1
        if self.n == 2:
            os.kill(os.getpid(), signal.SIGKILL)

config = FilterConfig(tuple(sys.argv[1:]), Path("killed"), FilterOptions(near_duplicates=0.8))
run_filter(config, FilterMeans(work=WorkOptions(workers=2), progress=Killing()))
"""
"""A filter that is killed when its second part is written."""


@pytest.mark.slow
def test_a_killed_filter_continues_to_the_same_bytes() -> None:
    names = write_sources()
    command = [
        sys.executable, "-m", "beholder", "filter", *names, "--near-duplicates", "0.8",
        "--workers", "2", "-o",
    ]  # fmt: skip
    subprocess.run([*command, "whole"], check=True, capture_output=True)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *names], capture_output=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list(Path("killed").glob("work/*/part-*"))) >= 2
    subprocess.run([*command, "killed"], check=True, capture_output=True)
    assert job_bytes("killed") == job_bytes("whole")


def test_of_repeats_on_other_pictures_the_best_score_stays() -> None:
    """A repeat that no metric was asked about could not replace a first row that is dropped."""
    n_words = len(NEAR.split())
    captions = {"a.jpg": NEAR, "b.jpg": f"{NEAR} today", "c.jpg": NEAR}
    write_jsonl([{"image": i, "caption": c} for i, c in captions.items()])
    rows = filter_rows(
        "set.jsonl",
        metrics=("length",),
        near_duplicates=0.8,
        drop=("same_text", f"length<{n_words + 1}"),
    )
    assert [row["length"] for row in rows] == [n_words, n_words + 1, n_words]
    assert [row["decision"] for row in rows] == ["drop", "keep", "drop"]
    assert "no_score" not in {
        reason for row in rows for reason in row["reasons"]
    }
