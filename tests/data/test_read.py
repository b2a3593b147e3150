"""Reading data files: every way in which a row or a file can be wrong has its own words."""

from __future__ import annotations

import gzip
import importlib.machinery
import io
import json
import lzma
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.data import from_row, item_from_row, read_items, records, to_row
from beholder.data.lines import MAX_ROW_BYTES
from beholder.data.row import RowError
from beholder.errors import DataError, MissingExtraError
from beholder.records import Item
from toy.cases import each_case

GOOD = {"id": "1", "candidate": "A dog.", "references": ["A cat."]}


def _write(path: Path, *lines: object) -> Path:
    rows = [
        line if isinstance(line, str) else json.dumps(line) for line in lines
    ]
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    return path


def _messages(path: Path) -> list[str]:
    return [str(row) for row in read_items(path) if isinstance(row, DataError)]


def test_a_full_row_becomes_an_item() -> None:
    row = {
        "id": 42,
        "candidate": "A man.",
        "references": ["A", "B"],
        "images": ["img/42.jpg"],
        "video": "v/1.mp4",
        "group": {"system": "a", "year": 1928},
        "judgments": {"overall": 4.0, "ratings": [1, 2]},
        "photographer": "Koch",
    }
    assert from_row(row) == Item(
        id="42",
        candidate="A man.",
        references=("A", "B"),
        images=("img/42.jpg",),
        video="v/1.mp4",
        group={"system": "a", "year": "1928"},
        judgments={"overall": 4.0, "ratings": [1, 2]},
        meta={"photographer": "Koch"},
    )


@pytest.mark.parametrize(
    "alias", ["caption", "generation", "prediction", "hypothesis"]
)
def test_aliases_of_candidate_are_read(alias: str) -> None:
    assert from_row({"id": "1", alias: "A dog."}).candidate == "A dog."


@pytest.mark.parametrize("alias", ["reference", "ref", "ground_truth"])
def test_aliases_of_references_are_read(alias: str) -> None:
    assert from_row(
        {"id": "1", "candidate": "x", alias: "A dog."}
    ).references == ("A dog.",)


def test_an_alias_beside_the_field_itself_stays_in_meta() -> None:
    item = from_row({"id": "1", "candidate": "x", "caption": "y"})
    assert (item.candidate, item.meta) == ("x", {"caption": "y"})


@each_case(
    ("row", "message"),
    [
        ([], "expected an object with fields, got a list []"),
        ({"candidate": "x"}, "id: is missing"),
        ({"id": "1"}, "candidate: is missing (also read: caption, "),
        ({"id": True, "candidate": "x"}, "id: expected a text or a whole number, got a truth value"),
        ({"id": " ", "candidate": "x"}, "id: is empty"),
        ({"id": "1", "candidate": 7}, "candidate: expected a text, got 7"),
        ({"id": "1", "candidate": ["x"]}, "candidate: expected a text, got a list ['x']"),
        ({"id": "1", "candidate": "x", "references": 5}, "references: expected a list of texts, got 5"),
        ({"id": "1", "candidate": "x", "references": ["a", None]}, "references[1]: expected a text, got None"),
        ({"id": "1", "candidate": "x", "references": ["a", " "]}, "references[1]: is empty"),
        ({"id": "1", "candidate": "x", "references": '["a", "b"]'}, "got a list written as text"),
        ({"id": "1", "candidate": "x", "references": "['a', 'b']"}, "got a list written as text"),
        ({"id": "1", "candidate": "x\ud83d"}, "candidate: has half of a surrogate pair at character 1"),
        ({"id": "1", "candidate": "x", "images": "../secret.png"}, "images[0]: '../secret.png' leaves"),
        ({"id": "1", "candidate": "x", "images": "/etc/passwd"}, "images[0]: '/etc/passwd' leaves"),
        ({"id": "1", "candidate": "x", "images": "C:\\a.png"}, "leaves the folder"),
        ({"id": "1", "candidate": "x", "group": "model-a"}, "got a text 'model-a'; map a column to FIELD.NAME"),
        ({"id": "1", "candidate": "x", "group": {"a": [1]}}, "group.a: expected a text, got a list"),
        ({"id": "1", "candidate": "x", "judgments": {"a": float("inf")}}, "judgments.a: cannot be kept"),
        ({"id": "1", "generation": "x", "prediction": "y"}, "both 'generation' and 'prediction'"),
    ],
)  # fmt: skip
def test_a_wrong_row_says_field_and_reason(row: object, message: str) -> None:
    with pytest.raises(RowError) as caught:
        from_row(row)
    assert message in str(caught.value)


def test_media_root_allows_absolute_paths_inside_it_only(
    tmp_path: Path,
) -> None:
    inside, outside = str(tmp_path / "a.jpg"), str(tmp_path.parent / "a.jpg")
    row = {"id": "1", "candidate": "x"}
    assert from_row({**row, "images": inside}, media_root=tmp_path).images == (
        inside,
    )
    with pytest.raises(RowError, match="leaves"):
        from_row({**row, "images": outside}, media_root=tmp_path)
    with pytest.raises(RowError, match="leaves"):
        from_row(
            {**row, "images": f"{tmp_path}/../a.jpg"}, media_root=tmp_path
        )


def test_links_below_media_root_must_not_lead_out_of_it(
    tmp_path: Path,
) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (elsewhere / "a.png").write_text("")
    (root / "folder").symlink_to(elsewhere)
    (root / "file.png").symlink_to(elsewhere / "a.png")
    (root / "good.png").symlink_to(root / "b.png")
    (tmp_path / "same").symlink_to(root)
    row = {"id": "1", "candidate": "x"}
    for name in ("folder/a.png", "file.png"):
        with pytest.raises(RowError, match=r"leaves .* after all links"):
            from_row({**row, "images": str(root / name)}, media_root=root)
        assert from_row(
            {**row, "images": str(root / name)}, media_root=tmp_path
        )
    with pytest.raises(RowError, match="is not a path"):
        from_row({**row, "images": str(root / "a\0")}, media_root=root)
    assert from_row({**row, "images": str(root / "good.png")}, media_root=root)
    assert from_row(
        {**row, "images": str(tmp_path / "same" / "b.png")},
        media_root=tmp_path / "same",
    )


@given(
    st.builds(
        Item,
        id=st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip),
        candidate=st.text(st.characters(codec="utf-8")),
        references=st.lists(
            st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
        ).map(tuple),
        meta=st.dictionaries(st.sampled_from(["a", "b"]), st.integers()),
    )
)
def test_rows_round_trip(item: Item) -> None:
    row = json.loads(json.dumps(to_row(item)))
    assert item_from_row(row) == item
    if len(item.references) == 1 and item.references[0].strip().startswith(
        "["
    ):
        return  # a single text that looks like a list is refused on purpose
    assert from_row(row) == item


def test_jsonl_reports_each_bad_row_with_its_place(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "d.jsonl",
        GOOD,
        "{broken",
        "",
        {"id": "2"},
        {**GOOD, "id": "3", "references": 1},
        GOOD,
    )
    assert _messages(path) == [
        f"{path}:2: is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        f"{path}:4: candidate: is missing (also read: caption, generation, prediction, hypothesis,"
        " alt text, description); there are: id; name its column with --map candidate=COLUMN",
        f"{path}:5: references: expected a list of texts, got 1",
        f"{path}:6: id: '1' is taken by row 1; ids must differ",
    ]


def test_a_missing_id_is_the_row_number(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.jsonl", {"candidate": "x"}, {"candidate": "y"})
    assert [
        item.id for item in read_items(path) if isinstance(item, Item)
    ] == ["1", "2"]


def test_bom_and_crlf_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n")
    assert [
        item.id for item in read_items(path) if isinstance(item, Item)
    ] == ["1"]


def test_bad_utf8_names_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"id": "\xff"}\n')
    (message,) = _messages(path)
    assert message.startswith(f"{path}:2: is not UTF-8 at byte 9; save it as")
    assert '"CSV UTF-8"' in message


def test_utf16_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(json.dumps(GOOD).encode("utf-16"))
    with pytest.raises(DataError, match="is UTF-16; save it as UTF-8"):
        list(read_items(path))


def test_an_overlong_line_is_refused_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(
        b'{"id": "9", "candidate": "'
        + b"x" * (MAX_ROW_BYTES + 2**21)
        + b'"}\n'
    )
    with path.open("a") as file:
        file.write(json.dumps(GOOD) + "\n")
    first, second = read_items(path)
    assert str(first) == f"{path}:1: is longer than 16 MiB"
    assert isinstance(second, Item)


def test_nan_and_deep_nesting_are_refused(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "d.jsonl",
        '{"id": "1", "candidate": "x", "y": NaN}',
        "[" * 100_000,
    )
    first, second = _messages(path)
    assert "NaN is not a JSON number" in first
    assert ":2: is not JSON" in second


@pytest.mark.parametrize(("ending", "module"), [(".gz", gzip), (".xz", lzma)])
def test_packed_files_are_read(
    tmp_path: Path, ending: str, module: object
) -> None:
    path = tmp_path / f"d.jsonl{ending}"
    path.write_bytes(module.compress(json.dumps(GOOD).encode()))  # type: ignore[attr-defined]
    (item,) = read_items(path)
    assert isinstance(item, Item)


@pytest.mark.parametrize("name", ["d.jsonl.gz", "d.jsonl.xz"])
def test_damaged_packed_files_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"not packed at all")
    with pytest.raises(DataError, match="is damaged or not a"):
        list(read_items(tmp_path / name))


def test_a_cut_off_gz_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl.gz"
    path.write_bytes(
        gzip.compress(b"\n".join([json.dumps(GOOD).encode()] * 5000))[:-40]
    )
    with pytest.raises(DataError, match="is damaged"):
        list(read_items(path))


@pytest.mark.parametrize("name", ["d.jso", "d", "d.parquet.gz"])
def test_an_unknown_ending_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(
        DataError,
        match=r"expected \.jsonl, \.json, \.csv, \.tsv, \.vtt, \.srt or \.txt",
    ):
        list(read_items(tmp_path / name))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        list(read_items(tmp_path / "none.jsonl"))


def test_csv_cells_become_lists_groups_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(
        "id,candidate,references,group.system,judgments.overall,note\n"
        '1,"A dog, asleep","[""A dog."", ""A hound.""]",model-a,4.5,ok\n'
        "2,A cat,One reference.,model-b,,\n"
        "3,,A.,model-b,,\n",
        encoding="utf-8-sig",
    )
    first, second, third = (
        item for item in read_items(path) if isinstance(item, Item)
    )
    assert first == Item(
        "1", "A dog, asleep", ("A dog.", "A hound."), group={"system": "model-a"},
        judgments={"overall": 4.5}, meta={"note": "ok"},
    )  # fmt: skip
    assert (second.references, second.judgments) == (("One reference.",), {})
    assert third.candidate == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,candidate\n1,a,b\n", ":2: has 3 cells, the header has 2"),
        ("id,id\n1,2\n", ":1: two columns are called 'id'"),
        ('id,candidate\n1,"a\n', "is not CSV"),
    ],
)
def test_wrong_csv_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text)
    try:
        messages = _messages(path)
    except DataError as error:
        messages = [str(error)]
    assert message in messages[0]


def test_parquet_is_read_with_row_numbers(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    table = pa.table(
        {
            "id": ["1", "2"],
            "candidate": ["a", None],
            "references": [["r", "s"], ["t"]],
        }
    )
    pq.write_table(table, path)
    first, second = read_items(path)
    assert first == Item("1", "a", ("r", "s"))
    assert second == Item(
        "2", "", ("t",)
    )  # null: a counted failure, as an empty cell of CSV


def test_damaged_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "d.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        list(read_items(tmp_path / "d.parquet"))


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(GOOD).encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    (item,) = read_items("-")
    assert isinstance(item, Item)


class Image:
    """A feature of the hub's library that is no text."""


class HubRows:
    def __init__(
        self, rows: list[dict[str, object]], features: dict[str, object]
    ) -> None:
        self.rows, self.features = rows, features

    def remove_columns(self, names: list[str]) -> list[dict[str, object]]:
        return [
            {k: v for k, v in row.items() if k not in names}
            for row in self.rows
        ]


def _hub(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """A stand-in for the package datasets; gives what it was asked for."""
    requests = []

    def load_dataset(name: str, *, split: str, streaming: bool) -> HubRows:
        assert streaming
        requests.append((name, split))
        if split == "none":
            raise ValueError("Bad split: none. Available splits: ['test']")
        rows: list[dict[str, object]] = [
            {
                "caption": "a",
                "references": ["r"],
                "image": b"picture",
                "extra": None,
            },
            {
                "caption": "",
                "references": [""],
                "image": b"picture",
                "extra": 1,
            },
        ]
        return HubRows(rows, {"caption": "", "image": Image()})

    module = ModuleType("datasets")
    module.__spec__ = importlib.machinery.ModuleSpec("datasets", loader=None)
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)
    return requests


def test_a_set_of_the_hub_is_read_by_the_same_names_without_its_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests = _hub(monkeypatch)
    good, bad = read_items("hf:org/name")
    assert good == Item("1", "a", ("r",), meta={"extra": None})
    assert str(bad).startswith("hf:org/name:2: references")
    list(read_items("hf:org/name@train"))
    assert requests == [("org/name", "test"), ("org/name", "train")]


def test_a_set_that_the_hub_has_not_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _hub(monkeypatch)
    with pytest.raises(
        DataError, match=r"hf:org/name@none: .*Available splits: \['test'\]"
    ):
        list(read_items("hf:org/name@none"))
    monkeypatch.delitem(sys.modules, "datasets")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"beholder\[datasets\]"):
        list(read_items("hf:org/name"))


@given(st.binary(max_size=300))
def test_no_bytes_make_a_traceback(data: bytes) -> None:
    import tempfile

    for ending in (".jsonl", ".csv", ".jsonl.gz", ".parquet"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"d{ending}"
            path.write_bytes(data)
            try:
                for row in read_items(path):
                    assert isinstance(row, Item | DataError)
            except DataError:
                pass


def test_records_of_several_files_share_what_is_taken() -> None:
    row_numbers: dict[str, int] = {}

    def build(row: object, number: str) -> str:
        return f"{row}-{number}"

    def letter(record: str) -> str:
        return record[0]

    def read_records(name: str, *rows: object) -> list[object]:
        rows_read = records(
            enumerate(rows, 7),
            build,
            name=name,
            key=letter,
            row_numbers=row_numbers,
        )
        return list(rows_read)

    wrong = DataError("a", "is no JSON", line=8)
    assert read_records("a", "x", wrong, "y") == ["x-7", wrong, "y-9"]
    again, new = read_records("b", "y", "z")
    assert isinstance(again, DataError)
    assert str(again) == "b:7: id: 'y' is taken by row 9; ids must differ"
    assert new == "z-8"


def test_a_row_without_text_is_an_item_where_texts_are_to_be_made(
    tmp_path: Path,
) -> None:
    path = _write(
        tmp_path / "d.jsonl",
        {"image": "p.png"},
        {"caption": "x"},
        {"candidate": None},
    )
    items = [
        item
        for item in read_items(path, textless=True)
        if isinstance(item, Item)
    ]
    assert [(item.id, item.candidate, item.images) for item in items] == [
        ("1", "", ("p.png",)), ("2", "x", ()), ("3", "", ()),
    ]  # fmt: skip
    # Where texts are expected, no such field is a wrong row, and null is a text that is empty.
    missing, filled, null = read_items(path)
    assert isinstance(missing, DataError)
    assert filled == items[1]
    assert null == items[2]
