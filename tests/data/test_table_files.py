"""Tables as spreadsheets, programs and people write them, read alike by score and lint."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from beholder.data import read_items
from beholder.data.notes import RowNotes
from beholder.errors import DataError
from beholder.lint import lint
from beholder.records import Item
from toy.cases import each_case

TABLES = {
    "sep.csv": "sep=;\nimage;alt\na.jpg;A dog\nb.jpg;A cat\n",
    "sep_tab.csv": "sep=\t\nimage\talt\na.jpg\tA dog\nb.jpg\tA cat\n",
    "semicolons.csv": (
        'image;"alt, short, or none (required)"\na.jpg;A dog\nb.jpg;A cat\n'
    ),
    "returns.csv": "image,alt\ra.jpg,A dog\rb.jpg,A cat\r",
    "bars.csv": "image| alt\na.jpg|A dog\nb.jpg|A cat\n",
    "title.csv": "Alt texts of the museum\n\nimage,alt\na.jpg,A dog\nb.jpg,A cat\n",
    "title_cells.csv": "Alt texts,,\n,,\nimage,alt,\na.jpg,A dog,\nb.jpg,A cat,\n",
    "title.tsv": "Our list\nimage\talt\na.jpg\tA dog\nb.jpg\tA cat\n",
    "empty_headings.csv": "image,alt,,\na.jpg,A dog,,\nb.jpg,A cat,,\n",
    "index.csv": ",image,alt\n0,a.jpg,A dog\n1,b.jpg,A cat\n",
    "mark.csv": "\ufeffimage,alt\r\na.jpg,A dog\r\nb.jpg,A cat\r\n",
    "quoted.tsv": 'image\talt\na.jpg\t"A dog"\nb.jpg\tA cat\n',
    "rows.jsonlines": (
        '{"image": "a.jpg", "alt": "A dog"}\n{"image": "b.jpg", "alt": "A cat"}\n'
    ),
    "lines.json": (
        '{"image": "a.jpg", "alt": "A dog"}\n{"image": "b.jpg", "alt": "A cat"}\n'
    ),
    "wrapped.json": (
        '{"results": [{"image": "a.jpg", "alt": "A dog"}, {"image": "b.jpg", "alt": "A cat"}]}'
    ),
}


@each_case("name", TABLES)
def test_tables_have_two_texts(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(TABLES[name].encode())
    occurrences = lint([tmp_path / name]).occurrences
    items = [
        row for row in read_items(tmp_path / name) if isinstance(row, Item)
    ]
    expected = [("a.jpg", "A dog"), ("b.jpg", "A cat")]
    assert [(o.picture, o.text) for o in occurrences] == expected
    assert [(i.images[0], i.candidate) for i in items] == expected


def test_lines_above_the_headings_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLES["title.csv"])
    notes = RowNotes()
    list(read_items(path, notes=notes))
    assert (
        "lines above the headings ('Alt texts of the museum'): 2"
        in "".join(notes.sentences())
    )
    assert lint([path]).occurrences[0].line == 4


def test_a_list_of_one_column_has_no_title(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("words\nA dog, asleep\n")
    (error,) = read_items(path)
    assert "has 2 cells, the header has 1" in str(error)


def test_a_quotation_mark_opens_no_cell_of_a_tsv(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(
        'id\tcaption\treference\n1\t"Welcome\ta sign\n2\ta cat\ta cat\n3\tHome"\ta sign\n'
        '4\t"say ""b"""\tb\n'
    )
    items = [row for row in read_items(path) if isinstance(row, Item)]
    assert [item.candidate for item in items] == [
        *('"Welcome', "a cat", 'Home"', 'say "b"'),
    ]


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("latin-1", "is not UTF-8 at byte"),
        ("utf-16", "is UTF-16"),
        ("utf-16-le", "is UTF-16"),
        ("utf-16-be", "is UTF-16"),
    ],
)
def test_other_encodings_name_what_to_choose(
    encoding: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("image,alt\na.jpg,Une fête\n".encode(encoding))
    with pytest.raises(DataError, match=f'{message}.*"CSV UTF-8"'):
        lint([path])


_SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    "<sheetData>{rows}</sheetData></worksheet>"
)
_BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>{sheets}'
    "</sheets></workbook>"
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    "{relations}</Relationships>"
)


def write_xlsx(path: Path, sheets: dict[str, list[list[str | int]]]) -> None:
    """Write a spreadsheet with these sheets."""
    with zipfile.ZipFile(path, "w") as archive:
        names = list(sheets)
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        )
        archive.writestr(
            "_rels/.rels",
            _RELATIONS.format(
                relations=f'<Relationship Id="a" Type="{kind}/officeDocument"'
                ' Target="xl/workbook.xml"/>'
            ),
        )
        archive.writestr(
            "xl/workbook.xml",
            _BOOK.format(
                sheets="".join(
                    f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>'
                    for n, name in enumerate(names, start=1)
                )
            ),
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            _RELATIONS.format(
                relations="".join(
                    f'<Relationship Id="r{n}" Type="{kind}/worksheet"'
                    f' Target="worksheets/sheet{n}.xml"/>'
                    for n in range(1, len(names) + 1)
                )
            ),
        )
        for n, rows in enumerate(sheets.values(), start=1):
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml",
                _SHEET.format(rows="".join(map(_row, rows))),
            )


def _row(cells: list[str | int]) -> str:
    parts = [
        f"<c><v>{cell}</v></c>"
        if isinstance(cell, int)
        else f'<c t="inlineStr"><is><t>{cell}</t></is></c>'
        for cell in cells
    ]
    return f"<row>{''.join(parts)}</row>"


def test_spreadsheets(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    rows: list[list[str | int]] = [
        ["Our list", "", ""],
        ["No.", "File", "Alt text"],
        [7, "a.jpg", "A dog"],
        [8, "b.jpg", ""],
    ]
    write_xlsx(path, {"Texts": rows, "Notes": [["x"], ["y"]]})
    occurrences = lint([path]).occurrences
    assert [(o.picture, o.text, o.line) for o in occurrences] == [
        ("a.jpg", "A dog", 3),
        ("b.jpg", "", 4),
    ]
    notes = RowNotes()
    items = [
        row for row in read_items(path, notes=notes) if isinstance(row, Item)
    ]
    assert [item.candidate for item in items] == ["A dog", ""]
    assert items[0].meta == {"No.": "7"}
    assert "sheets ('Notes'): 1" in "".join(notes.sentences())
    write_xlsx(path, {"A": rows[1:], "B": rows[1:]})
    with pytest.raises(DataError, match="several sheets with texts: A, B"):
        lint([path])


def test_a_text_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A dog\n\nA cat\n\n")
    (tmp_path / "b.txt").write_text("A dog.\nA bird.\nA cat.\n")
    (tmp_path / "c.txt").write_text("a.jpg#0\tA dog\n")
    from beholder.options import DataOptions

    options = DataOptions(references_from=tmp_path / "b.txt")
    items = [
        row
        for row in read_items(tmp_path / "a.txt", options)
        if isinstance(row, Item)
    ]
    assert [(i.id, i.candidate, i.references) for i in items] == [
        ("1", "A dog", ("A dog.",)),
        ("2", "", ("A bird.",)),
        ("3", "A cat", ("A cat.",)),
    ]
    with pytest.raises(DataError, match=r"call it \.tsv"):
        list(read_items(tmp_path / "c.txt"))
