"""Accepted rows from others: damaged ones end in words, and nothing is written outside the folder."""

from __future__ import annotations

import copy
import json
import random
import zipfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beholder.errors import BeholderError, ConfigError, DataError
from beholder.kinds.revise.door import revise
from beholder.kinds.revise.export import write_accepted
from toy.alt_texts import RELATIONS, SPACES, inline

Rows = list[dict[str, Any]]

TEXTS = {
    "p.html": '<p><img src=a.jpg alt="Image of a dog on a sofa"><img src=b.jpg alt="Photo of a cat">',
    "n.md": "![Image of a cat](a.jpg)\n\n![Photo of a big dog](c.jpg)\n",
    "t.csv": "image,alt\na.jpg,Image of a dog on a sofa\nb.jpg,Photo of a cat",
    "t.jsonl": '{"image": "a.jpg", "alt": "Image of a dog on a sofa"}\n',
    "t.json": '[{"id": "7", "alt": "Image of a dog on a sofa"}]',
}


def write_source(folder: Path, name: str) -> Path:
    path = folder / name
    if name in TEXTS:
        path.write_text(TEXTS[name])
        return path
    picture = (
        "<w:p>" + inline('id="1" descr="Image of a dog on a sofa"') + "</w:p>"
    )
    page = "<html><body>\n<p><img src='a.png' alt='Image of a dog on a sofa'/></p></body></html>"
    parts = {
        "a.docx": {
            "word/document.xml": f"<w:document {SPACES}><w:body>{picture}</w:body></w:document>",
            "word/_rels/document.xml.rels": RELATIONS.format(
                image="media/cat.png"
            ),
        },
        "b.epub": {"one.xhtml": page},
    }
    with zipfile.ZipFile(path, "w") as archive:
        for part, text in parts[name].items():
            archive.writestr(part, text)
    return path


@pytest.fixture(scope="module")
def accepted_rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """Accepted rows of each form."""
    folder = tmp_path_factory.mktemp("sources")
    rows_by_form = {}
    for name in (*TEXTS, "a.docx", "b.epub"):
        proposals = folder / f"{name}.proposals.jsonl"
        revise(write_source(folder, name), proposals)
        lines = proposals.read_text("utf-8").split("\n")
        rows_by_form[name] = [
            json.loads(line) | {"decision": "accept"} for line in lines if line
        ]
    return rows_by_form


def write_rows(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            "",
            " ",
            "\0",
            "\ud800",
            "\u2028",
            "..",
            "/",
            "a" * 5000,
            "https://[",
            "#:",
        ]
    ),
    st.lists(st.integers(0, 2), max_size=2),
    st.dictionaries(
        st.sampled_from(["file", "text", "source"]),
        st.integers(0, 2),
        max_size=2,
    ),
)


def paths_of(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a JSON value, as keys."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [above] * bool(above) + [
        path for key, part in inner for path in paths_of(part, (*above, key))
    ]


def mutate(rows: Rows, rng: random.Random, value: Any, how: str) -> str:
    """Return the lines of rows with one value replaced or deleted, or with the text cut."""
    rows = copy.deepcopy(rows)
    path = rng.choice(paths_of(rows))
    holder: Any = rows
    for key in path[:-1]:
        holder = holder[key]
    if how == "delete":
        del holder[path[-1]]
    elif how == "replace":
        holder[path[-1]] = value
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return text[: rng.randrange(len(text) + 1)] if how == "cut" else text


@pytest.mark.parametrize("form", [*TEXTS, "a.docx", "b.epub"])
@given(
    st.randoms(use_true_random=False),
    VALUES,
    st.sampled_from(["replace", "replace", "delete", "cut"]),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck)
)
def test_damaged_rows_end_in_words(
    accepted_rows: dict[str, Rows],
    tmp_path_factory: pytest.TempPathFactory,
    form: str,
    rng: random.Random,
    value: Any,
    how: str,
) -> None:
    rows = accepted_rows[form]
    source = Path(rows[0]["meta"]["source"]["file"])
    before = source.read_bytes()
    folder = tmp_path_factory.mktemp("mutated")
    accepted = folder / "accepted.jsonl"
    accepted.write_text(mutate(rows, rng, value, how))
    with suppress(BeholderError):
        write_accepted(accepted, folder / f"out{source.suffix}")
    assert source.read_bytes() == before
    assert {path.name for path in folder.iterdir()} <= {
        "accepted.jsonl",
        f"out{source.suffix}",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]\n", "accepted.jsonl:1: Expected `object`, got `array`"),
        (b"\n7\n", "accepted.jsonl:2: Expected `object`, got `int`"),
        (b'{"id": "a"', "accepted.jsonl:1: not JSON"),
        (b'{"id": "\xff"}', "accepted.jsonl:1: is not UTF-8"),
        (
            b'{"id": "a", "candidate": "\\ud800"}',
            "accepted.jsonl:1: not JSON: half of a surrogate",
        ),
        (
            b'{"id": "a", "candidate": "\\udc00"}',
            "accepted.jsonl:1: not JSON: half of a surrogate",
        ),
        (
            b'{"id": "a", "x": ' + b"[" * 200_000,
            "accepted.jsonl:1: not JSON that can be read",
        ),
        (
            b'{"id": "a", "meta": {"source": {"line": 0}}}',
            "Expected `int` >= 1",
        ),
        (
            b'{"id": "a", "meta": {"source": {"file": "\\u0000"}}}',
            "is not a path",
        ),
        (
            b'{"id": "a", "meta": {"source": {"file": "gone.csv"}}}',
            "No such file",
        ),
        (b"{}", "missing required field `id`"),
    ],
)
def test_wrong_rows_are_named(
    tmp_path: Path, content: bytes, message: str
) -> None:
    accepted = tmp_path / "accepted.jsonl"
    accepted.write_bytes(content)
    with pytest.raises(DataError) as error:
        write_accepted(accepted, tmp_path / "out.csv")
    assert message in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["accepted.jsonl"]


def row_of(
    file: Path | str,
    digest: str,
    old: str = "Image of a dog",
    new: str = "A dog",
) -> Any:
    source = {
        "file": str(file),
        "digest": digest,
        "line": 2,
        "text_from": "alt",
    }
    source["locator"] = "row 2"
    meta = {"source": source, "revision": {"text": old}}
    return {"id": "1", "candidate": new, "decision": "accept", "meta": meta}


def test_no_file_is_written_outside_the_folder(tmp_path: Path) -> None:
    table = b"image,alt\na.jpg,Image of a dog\n"
    digest = sha256(table).hexdigest()
    for folder in ("s/one", "victim"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "s/one/a.csv").write_bytes(table)
    (tmp_path / "victim/v.csv").write_bytes(table)
    files = [
        str(tmp_path / "s/one/a.csv"),
        f"{tmp_path}/s/one/../../victim/v.csv",
    ]
    accepted = write_rows(
        tmp_path / "rows.jsonl", [row_of(file, digest) for file in files]
    )
    out = tmp_path / "out/deep/er"
    assert write_accepted(accepted, out) == 2
    written = {
        path for path in tmp_path.rglob("*.csv") if path.read_bytes() != table
    }
    assert written == {out / "s/one/a.csv", out / "victim/v.csv"}
    # a link below the folder leads out of it
    out = tmp_path / "other"
    out.mkdir()
    (out / "victim").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(DataError, match="leads out of"):
        write_accepted(accepted, out)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    # the folder of the sources themselves
    with pytest.raises(ConfigError, match="would write over the source"):
        write_accepted(accepted, tmp_path)


def test_every_row_of_a_file_must_have_its_digest(tmp_path: Path) -> None:
    table = b"image,alt\na.jpg,Image of a dog\n"
    (tmp_path / "a.csv").write_bytes(table)
    digests = (sha256(table).hexdigest(), sha256(b"other").hexdigest())
    rows = [row_of(tmp_path / "a.csv", digest) for digest in digests]
    accepted = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(DataError, match="changed since its texts were read"):
        write_accepted(accepted, tmp_path / "out.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda row: row["meta"].pop("revision"),
            "row 1 has no meta.revision",
        ),
        (
            lambda row: row["meta"]["source"].update(locator="row 9", line=9),
            "occurs 0 times",
        ),
    ],
)
def test_rows_without_a_place_are_refused(
    tmp_path: Path, change: Callable[[Any], object], message: str
) -> None:
    table = b"image,alt\na.jpg,Image of a dog\n"
    (tmp_path / "a.csv").write_bytes(table)
    row = row_of(tmp_path / "a.csv", sha256(table).hexdigest())
    change(row)
    with pytest.raises(DataError, match=message):
        write_accepted(
            write_rows(tmp_path / "rows.jsonl", [row]), tmp_path / "out.csv"
        )


def test_two_rows_with_one_place_are_refused(tmp_path: Path) -> None:
    table = b"image,alt\na.jpg,Image of a dog\n"
    (tmp_path / "a.csv").write_bytes(table)
    digest = sha256(table).hexdigest()
    rows = [
        row_of(tmp_path / "a.csv", digest, new=text)
        for text in ("A dog", "One dog")
    ]
    with pytest.raises(DataError, match="two rows have the same place"):
        write_accepted(
            write_rows(tmp_path / "rows.jsonl", rows), tmp_path / "out.csv"
        )


def test_a_damaged_line_beside_a_revised_one_stays(tmp_path: Path) -> None:
    lines = (
        b'{"image": "b.jpg"\n{"image": "a.jpg", "alt": "Image of a dog"}\n}]\n'
    )
    (tmp_path / "a.jsonl").write_bytes(lines)
    row = row_of(tmp_path / "a.jsonl", sha256(lines).hexdigest())
    accepted = write_rows(tmp_path / "rows.jsonl", [row])
    assert write_accepted(accepted, tmp_path / "out.jsonl") == 1
    assert (tmp_path / "out.jsonl").read_bytes() == lines.replace(
        b"Image of a dog", b"A dog"
    )


@pytest.mark.parametrize("end", ["\u2028", "\u0085", "\x0c", "\x1d"])
@pytest.mark.usefixtures("few_resamples")
def test_only_a_line_feed_ends_a_row(tmp_path: Path, end: str) -> None:
    source, proposals = tmp_path / "t.jsonl", tmp_path / "p.jsonl"
    # U+2028 and others as they are: JSON allows all but control characters inside texts
    is_control = end < " "
    row = json.dumps(
        {"image": "a.jpg", "alt": f"Image of{end} a dog"},
        ensure_ascii=is_control,
    )
    source.write_text(row + "\n", encoding="utf-8")
    revise(source, proposals)
    (line, rest) = proposals.read_text("utf-8").split("\n")
    assert rest == ""
    accepted = tmp_path / "rows.jsonl"
    accepted.write_text(
        line[:-1] + ', "decision": "accept"}\n', encoding="utf-8"
    )
    assert write_accepted(accepted, tmp_path / "out.jsonl") == 1
    assert (
        json.loads((tmp_path / "out.jsonl").read_text("utf-8"))["alt"]
        == "A dog"
    )
