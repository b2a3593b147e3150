"""Headings in the spellings of real tables: one choice for score, lint and narrate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.data import read_frames, read_items
from beholder.data.headings import fold_heading, has_alt, map_option
from beholder.data.notes import RowNotes
from beholder.errors import ConfigError, DataError
from beholder.lint import lint
from beholder.options import DataOptions
from beholder.records import Frame, Item
from toy.cases import each_case

ALTS = (
    *("alt", "ALT", "alt_text", "alt-text", "Alt-Text", "altText", "alttext"),
    *("Alt text*", "Alt text (required)", "alt text:", "Alt Text [en]"),
    *("img_alt", "Image alt", "Image Alt Text", "image:alt", "Alt Tag"),
    *("Alt Attribute", "alternativeText", "Alternative text"),
    *("Alternate Text", "image_description", "media_description"),
    *("assistivetext", "AltTextAccessibility"),
    *("XMP:AltTextAccessibility", "XMP-iptcCore:AltTextAccessibility"),
    *("_wp_attachment_image_alt", "field_media_image__alt"),
    *("Alternativtext", "Bildbeschreibung", "Texte alternatif"),
    *("Description de l'image", "Texto alternativo"),
    *("Descripción de la imagen", "Testo alternativo"),
    *("Alternatieve tekst", "Descrição da imagem", "Bildbeskrivning"),
    *("Tekst alternatywny", "代替テキスト", "替代文本", "대체 텍스트"),
    *("description", "Description", "Site alt (EN)", "alt_text_en"),
)


@each_case("heading", ALTS)
def test_headings_of_texts(heading: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"Image Src,{heading}\na.jpg,A dog\n", encoding="utf-8")
    (occurrence,) = lint([path]).occurrences
    (item,) = read_items(path)
    assert isinstance(item, Item)
    assert (occurrence.text, item.candidate) == ("A dog", "A dog")
    assert (occurrence.picture, item.images) == ("a.jpg", ("a.jpg",))


@pytest.mark.parametrize(
    "heading",
    [
        *("Image Src", "SourceFile", "source_url", "Datei", "path", "iiifurl"),
        *("File Name", "Fichier", "Imagen", "Bestandsnaam", "zdjęcie"),
    ],
)
def test_headings_of_pictures(heading: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{heading},alt\na.jpg,A dog\n", encoding="utf-8")
    (item,) = read_items(path)
    (frame,) = read_frames(path)
    assert isinstance(item, Item)
    assert isinstance(frame, Frame)
    assert lint([path]).occurrences[0].picture == "a.jpg"
    assert (item.images, frame.image) == (("a.jpg",), "a.jpg")


@pytest.mark.parametrize(
    "heading",
    [
        *("date", "Date", "Year", "year", "created", "date_created"),
        *("creation_date", "Object Date", "DateCreated", "datum", "Año"),
    ],
)
def test_headings_of_dates(heading: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"id,{heading}\na,1910\nb,\n", encoding="utf-8")
    dates = [
        str(row.date) for row in read_frames(path) if isinstance(row, Frame)
    ]
    assert dates == ["1910", "None"]


def test_words_that_only_contain_alt_are_no_heading() -> None:
    for heading in ("Altitude", "default", "Alter", "salt", "alt_status"):
        assert not has_alt(heading), heading
    assert fold_heading("(required)") == "required"


def test_two_columns_of_alts_are_refused_by_score_and_named_by_lint(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("image,alt,alt_text\na.jpg,A dog,B\n")
    (error,) = read_items(path)
    assert "both 'alt' and 'alt_text' could be it" in str(error)
    report = lint([path])
    assert report.occurrences[0].text == "A dog"
    assert "Not used: alt_text" in report.notes[1]


def test_the_candidate_wins_over_a_description_everywhere(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.jsonl"
    rows = [
        {"image": "a.jpg", "description": "B", "candidate": "A"},
        {"image": "b.jpg", "description": "B", "candidate": None},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    # null is a text that a system did not give: the description is not taken for it.
    assert [o.raw for o in lint([path]).occurrences] == ["A", None]
    items = [row for row in read_items(path) if isinstance(row, Item)]
    assert [item.candidate for item in items] == ["A", ""]


def test_a_guessed_heading_and_unused_columns_are_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{n}.jpg,A dog,m{n % 3},1910\n" for n in range(6))
    path.write_text(f"image,Site alt (EN),model,Date\n{rows}")
    notes = RowNotes()
    list(read_items(path, notes=notes))
    assert [*notes.sentences()] == [
        "'Site alt (EN)' was read as candidate, by the words of its heading; --map"
        " candidate=COLUMN names another column",
        "Not used: model (3 values; --map group.system=model?), Date",
    ]
    assert lint([path]).notes == [
        f"{path}: read `Site alt (EN)` as text, `image` as picture",
        f"{path}: Not used: model (3 values; --map group.system=model?)",
    ]


def test_columns_are_mapped_by_options_that_a_shell_reads() -> None:
    assert map_option("date", "Datum") == "--map date=Datum"
    assert map_option("date", "Date made") == "--map 'date=Date made'"
    assert map_option("candidate", "a[].b") == "--map 'candidate=a[].b'"


def test_a_column_of_dates_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,Zeitpunkt,stage\na,1910,x\nb,1890,x\nc,,x\n")
    notes = RowNotes()
    for frame in read_frames(path, notes=notes):
        notes.add(frame)
    assert [*notes.sentences()] == [
        "Not used but as labels: Zeitpunkt, stage",
        "'Zeitpunkt' has dates in 2 rows and is not read as the date: --map date=Zeitpunkt",
    ]
    with pytest.raises(ConfigError, match="expected FIELD=COLUMN with one of"):
        list(read_frames(path, columns={"dat": "Zeitpunkt"}))
    with pytest.raises(DataError, match="no row has the column 'Zeit'"):
        list(read_frames(path, columns={"date": "Zeit"}))


NESTED = {
    "id": 1,
    "doc": {"text": {"en": "A dog"}},
    "parts": [{"t": "A dog."}, {"t": "A hound."}],
    "answers": ["A dog"],
    "resps": [["A dog"]],
    "texts": [{"t": "A dog"}, {"t": "A cat"}],
}


@pytest.mark.parametrize(
    ("path", "references"),
    [
        ("doc.text.en", ("A dog.", "A hound.")),
        ("answers", ("A dog.", "A hound.")),
        ("rows[].doc.text.en", ("A dog.", "A hound.")),
        ("texts[0].t", ("A dog.", "A hound.")),
        ("texts[-2].t", ("A dog.", "A hound.")),
        ("resps", ("A dog.", "A hound.")),
    ],
)
def test_paths_lead_into_nested_rows(
    path: str, references: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"rows": [NESTED], "others": [{"id": 2}]}))
    mapped = {"candidate": path, "references": "parts[].t"}
    if not path.startswith("rows"):
        file.write_text(json.dumps([NESTED]))
    (item,) = read_items(file, DataOptions(map=mapped))
    assert isinstance(item, Item)
    assert (item.candidate, item.references) == ("A dog", references)
    (occurrence,) = lint([file], columns={"text": path}).occurrences
    assert occurrence.text == "A dog"
