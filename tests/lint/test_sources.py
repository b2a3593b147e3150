"""Forms of input: tables, pages, Markdown and manifests, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.errors import DataError
from beholder.lint import Occurrence, lint


def read_occurrences(path: Path, **options: object) -> list[Occurrence]:
    return lint([path], **options).occurrences  # type: ignore[arg-type]


def write(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.write_text(
        value if isinstance(value, str) else json.dumps(value),
        encoding="utf-8",
    )
    return path


def test_columns_are_found_by_their_names(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "a.csv",
        'File;Alt Text;Caption\na.jpg;"A dog; asleep\non a bed";Rex\n',
    )
    (occurrence,) = read_occurrences(path)
    assert (occurrence.text, occurrence.picture, occurrence.caption) == (
        "A dog; asleep on a bed",
        "a.jpg",
        "Rex",
    )
    assert occurrence.line == 2
    assert lint([path]).notes == [
        f"{path}: read `Alt Text` as text, `File` as picture"
    ]


def test_a_row_after_a_cell_of_two_lines_has_its_own_line(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path, "a.csv", 'image,alt\na.jpg,"A dog\non a bed"\nb.jpg,\n'
    )
    assert [occurrence.line for occurrence in read_occurrences(path)] == [2, 4]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("a.csv", '"a;b;c",alt,image\n1,A dog,a.jpg\n'),
        ("a.csv", '"a\tb\tc",alt,image\n1,A dog,a.jpg\n'),
        ("a.csv", '"a;b";alt;image\n1;A dog;a.jpg\n'),
        ("a.csv", '"a,b,c";alt;image\n1;A dog;a.jpg\n'),
        ("a.csv", 'image,alt,"two\nlines; x; y; z"\na.jpg,A dog,1\n'),
        ("a.csv", 'image,alt,"say ""a;b;c;d"" twice"\na.jpg,A dog,1\n'),
        ("a.csv", "image\talt\na.jpg\tA dog\n"),
        ("a.tsv", '"a,b;c,d"\talt\timage\n1\tA dog\ta.jpg\n'),
        ("a.tsv", "image,alt\na.jpg,A dog\n"),
        ("a.csv", "\ufeffimage;alt\r\na.jpg;A dog\r\n"),
    ],
)
def test_separators_in_quoted_names_separate_nothing(
    tmp_path: Path, name: str, table: str
) -> None:
    (tmp_path / name).write_bytes(table.encode())
    (occurrence,) = read_occurrences(tmp_path / name)
    assert (occurrence.text, occurrence.picture) == ("A dog", "a.jpg")
    assert occurrence.line == table.count(
        "\n"
    )  # the only row is the last line


def test_rows_that_are_not_valid_are_named_by_their_first_line(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path,
        "a.csv",
        'image,alt\na.jpg,"A\ndog",x\n\nb.jpg\nc.jpg,A cat\n',
    )
    report = lint([path])
    assert [error.line for error in report.bad] == [2, 5]
    assert [occurrence.line for occurrence in report.occurrences] == [6]


def test_a_json_value_over_several_lines_is_not_jsonl(tmp_path: Path) -> None:
    path = write(
        tmp_path, "a.jsonl", '[\n {"image": "a.jpg", "alt": "A dog"}\n]\n'
    )
    with pytest.raises(DataError, match=r"not a row a line: call it \.json"):
        lint([path])


def test_a_table_without_texts_names_its_columns(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=r"there are: n, words; name its column with --map text=COLUMN",
    ):
        lint([write(tmp_path, "a.csv", "n,words\n1,A dog\n")])
    (occurrence,) = read_occurrences(
        tmp_path / "a.csv", columns={"text": "words"}
    )
    assert occurrence.text == "A dog"
    for empty in ("n,words\n", "alt\n"):
        with pytest.raises(DataError, match="has no rows"):
            lint([write(tmp_path, "a.csv", empty)])


def test_documented_names_can_be_mapped(tmp_path: Path) -> None:
    names = (
        *(
            "caption",
            "page",
            "page_text",
            "link",
            "role",
            "language",
            "date",
            "title",
        ),
        *("medium", "long_description", "self_described", "lint_ignore"),
    )
    page = Path(__file__).parents[2] / "docs/lint.md"
    documented = page.read_text(encoding="utf-8").partition(
        "`caption`, `page`"
    )[2]
    listed = documented.partition(" give context")[0]
    assert all(f"`{name}`" in listed for name in names[2:])
    cells = (
        *("Rex", "p1", "near", "to", "text", "en", "1928", "Dogs"),
        "oil",
        "long",
        "Deaf",
        "ALT104",
    )
    columns = {name: f"c{at}" for at, name in enumerate(names)}
    table = f"alt,{','.join(columns.values())}\nA dog,{','.join(cells)}\n"
    (occurrence,) = read_occurrences(
        write(tmp_path, "a.csv", table), columns=columns
    )
    assert (
        occurrence.caption,
        occurrence.page,
        occurrence.nearby,
        occurrence.link,
        occurrence.role,
    ) == cells[:5]
    assert (
        occurrence.language,
        occurrence.date,
        occurrence.work_title,
        occurrence.medium,
    ) == (
        "en",
        "1928",
        "Dogs",
        True,
    )
    assert (occurrence.long, occurrence.own_words, occurrence.ignore) == (
        "long",
        frozenset({"deaf"}),
        frozenset({"ALT104"}),
    )


def test_rows_of_jsonl_with_context(tmp_path: Path) -> None:
    rows = [
        {
            "image": "a.jpg",
            "alt": "A dog",
            "context": {"caption": "Rex", "language": "en"},
        },
        {"image": "b.jpg", "alt": 7},
        {"image": "c.jpg", "alt": ["A cat"]},
        {"image": "d.jpg", "alt": "", "role": "decorative"},
    ]
    report = lint(
        [write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))]
    )
    assert [occurrence.text for occurrence in report.occurrences] == [
        "A dog",
        "A cat",
        "",
    ]
    assert report.occurrences[0].caption == "Rex"
    assert [str(error).partition(":2: ")[2] for error in report.bad] == [
        "alt: expected a text, got 7"
    ]
    assert "ALT001" not in {finding.rule for finding in report.findings}


def test_places_of_pictures_in_markdown(tmp_path: Path) -> None:
    source = (
        "---\na: 1\n---\n`![a](x)` \\![a](y) ![a](1.png)\n![a](2.png) <img src=3.png alt=b>\n\n"
        "<div>\n  <img src=4.png alt=c>\n</div>\n\n> - ![Tom &amp; *Ann*](5.png)\n"
    )
    occurrences = read_occurrences(write(tmp_path, "a.md", source))
    assert [
        (
            Path(occurrence.picture).name,
            occurrence.line,
            occurrence.column,
            occurrence.text,
        )
        for occurrence in occurrences
    ] == [
        ("1.png", 4, 20, "a"),
        ("2.png", 5, 1, "a"),
        ("3.png", 5, 13, "b"),
        ("4.png", 8, 3, "c"),
        ("5.png", 11, 5, "Tom & Ann"),
    ]


def test_coco_captions_are_read(tmp_path: Path) -> None:
    value = {
        "images": [{"id": 3, "file_name": "x.jpg"}],
        "annotations": [{"image_id": 3, "caption": "A dog on a bed"}],
    }
    (occurrence,) = read_occurrences(write(tmp_path, "coco.json", value))
    assert (occurrence.picture, occurrence.text) == ("x.jpg", "A dog on a bed")


def test_pictures_in_html_have_line_and_column(tmp_path: Path) -> None:
    source = "<html>\n<!-- <img> -->\n<p>Hi\n  <img\n src='a.jpg'>\n<script>'<img>'</script><img src=b alt>\n"
    occurrences = read_occurrences(write(tmp_path, "a.html", source))
    assert [
        (occurrence.line, occurrence.column, Path(occurrence.picture).name)
        for occurrence in occurrences
    ] == [
        (4, 3, "a.jpg"),
        (6, 25, "b"),
    ]


def test_lazy_pictures_pixels_and_templates(tmp_path: Path) -> None:
    source = (
        '<img src="dot.gif" data-src="real-300x200.jpg" alt="A red door">'
        '<noscript><img src="real-300x200.jpg" alt="A red door"></noscript>'
        '<img width=1 height=1 src="count.gif"><template><img src="t.jpg"></template>'
    )
    (occurrence,) = read_occurrences(write(tmp_path, "a.html", source))
    assert occurrence.identity == str(tmp_path / "real.jpg")


def test_a_suppressed_line_has_no_finding(tmp_path: Path) -> None:
    source = '<!-- beholder-lint-disable-next-line ALT104 -->\n<img src=a alt="Image of a dog on a bed">'
    assert lint([write(tmp_path, "a.html", source)]).findings == []


@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 100_000,
        "<!--" * 200_000,
        "<a " + "x=y " * 200_000,
        "<" * 1_000_000,
        "<img alt='" * 100_000,
        "<p><b>" * 50_000,
        "<svg>" * 50_000,
        "<table><tr><td><img>" * 2_000,
        "<meta charset=idna><img src=a>" + "a.b" * 100_000,
    ],
)
def test_hostile_pages_are_read_or_refused(
    tmp_path: Path, source: str
) -> None:
    path = write(tmp_path, "a.html", source)
    try:
        lint([path])
    except DataError as error:
        assert "too deeply" in str(error) or "10,000 words" in str(error)  # noqa: PT017


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    secret = write(tmp_path, "secret.txt", "hidden words")
    source = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><html><img src=a alt="&e;">'
    (occurrence,) = read_occurrences(write(tmp_path, "a.html", source))
    assert "hidden" not in occurrence.text


def test_a_tag_of_very_many_attributes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a tag of over 10,000 words"):
        lint([write(tmp_path, "a.html", "<img " + "a=b  " * 10_001 + ">")])
    assert read_occurrences(
        write(tmp_path, "b.html", "<img " + "a=b  " * 9_000 + ">")
    )


def test_pictures_in_markdown_are_read(tmp_path: Path) -> None:
    source = '---\nalt: "A red door"\n---\n\nText ![](x.jpg)\n![A dog][d]\n\n<img src="y.jpg">\n\n[d]: d.jpg\n'
    occurrences = read_occurrences(write(tmp_path, "a.md", source))
    assert [
        (occurrence.line, occurrence.text, Path(occurrence.picture).name)
        for occurrence in occurrences
    ] == [
        (2, "A red door", ""),
        (5, "", "x.jpg"),
        (6, "A dog", "d.jpg"),
        (8, "", "y.jpg"),
    ]
    assert occurrences[1].decorative


def canvas(**more: object) -> dict[str, object]:
    body = {"id": "http://x.org/i/full/max/0/default.jpg", "type": "Image"}
    note = {"type": "Annotation", "motivation": "painting", "body": body}
    page = {"type": "AnnotationPage", "items": [note]}
    return {
        "type": "Canvas",
        "id": "c1",
        "label": {"en": ["Front"]},
        "items": [page],
        **more,
    }


@pytest.mark.parametrize(
    ("more", "texts", "source"),
    [
        ({}, [""], "alt"),
        (
            {"summary": {"en": ["A red vase"], "de": ["Eine rote Vase"]}},
            ["A red vase", "Eine rote Vase"],
            "summary",
        ),
        (
            {
                "metadata": [
                    {
                        "label": {"en": ["Alt text"]},
                        "value": {"en": ["A vase"]},
                    }
                ]
            },
            ["A vase"],
            "metadata",
        ),
        (
            {
                "annotations": [
                    {
                        "type": "AnnotationPage",
                        "items": [
                            {
                                "provides": ["alternativeText"],
                                "body": {
                                    "value": "<p>A <b>red</b> vase</p>",
                                    "format": "text/html",
                                },
                            }
                        ],
                    }
                ]
            },
            ["A red vase"],
            "annotation",
        ),
    ],
)
def test_pictures_of_manifests_are_read(
    tmp_path: Path, more: dict[str, object], texts: list[str], source: str
) -> None:
    manifest = {
        "type": "Manifest",
        "label": {"en": ["Vases"]},
        "items": [canvas(**more)],
    }
    occurrences = read_occurrences(write(tmp_path, "m.json", manifest))
    assert [occurrence.text for occurrence in occurrences] == texts
    assert {occurrence.text_from for occurrence in occurrences} == {source}
    assert occurrences[0].identity == "x.org/i"
    assert occurrences[0].caption == "Front"


def test_a_manifest_of_version_2(tmp_path: Path) -> None:
    image_annotation = {
        "@type": "oa:Annotation",
        "resource": {"@id": "a.jpg", "@type": "dctypes:Image"},
    }
    page = {
        "@type": "sc:Canvas",
        "label": "f. 1",
        "images": [image_annotation],
        "description": "A page with a letter",
    }
    manifest = {
        "@type": "sc:Manifest",
        "sequences": [{"canvases": [page, {**page, "description": None}]}],
    }
    occurrences = read_occurrences(write(tmp_path, "m.json", manifest))
    assert [
        (occurrence.text, occurrence.locator) for occurrence in occurrences
    ] == [
        ("A page with a letter", "/sequences/0/canvases/0"),
        ("", "/sequences/0/canvases/1"),
    ]


def test_a_folder_is_read_without_hidden_files_and_links(
    tmp_path: Path,
) -> None:
    for name in ("b/a.html", "node_modules/n.html", ".git/g.html", "a.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path, name, "<img src=x.jpg>\n")
    (tmp_path / "link.html").symlink_to(tmp_path / "b" / "a.html")
    write(tmp_path, "other.csv", "n\n1\n")
    report = lint([tmp_path, tmp_path / "a.md"])
    assert report.files == ["a.md", "b/a.html"]
    assert [(entry.kind, entry.file) for entry in report.left_out] == [
        ("link", "link.html"),
        ("table", "other.csv"),
    ]


def test_paths_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a file or folder"):
        lint([tmp_path / "missing.csv"])
    with pytest.raises(DataError, match="has no file of these forms"):
        lint([tmp_path])
    with pytest.raises(DataError, match="has an unknown form"):
        lint([write(tmp_path, "a.pdf", "x")])


def test_the_file_of_a_iiif_picture_is_its_identifier(tmp_path: Path) -> None:
    body = {
        "id": "https://x.org/iiif/altstadt_03.jpg/full/max/0/default.jpg",
        "type": "Image",
    }
    page = {
        "type": "AnnotationPage",
        "items": [{"type": "Annotation", "body": body}],
    }
    metadata = {
        "label": {"en": ["Alt text"]},
        "value": {"de": ["altstadt_03"]},
    }
    manifest = {
        "type": "Manifest",
        "items": [canvas(items=[page], metadata=[metadata])],
    }
    report = lint([write(tmp_path, "m.json", manifest)])
    assert [finding.rule for finding in report.findings] == ["ALT101"]


def test_annotations_that_are_only_an_address_are_named(
    tmp_path: Path,
) -> None:
    notes = [{"type": "AnnotationPage", "id": "https://x.org/notes.json"}]
    manifest = {"type": "Manifest", "items": [canvas(annotations=notes)]}
    (finding,) = lint([write(tmp_path, "m.json", manifest)]).findings
    assert (
        finding.rule,
        "annotations elsewhere are not read" in finding.message,
    ) == (
        "ALT001",
        True,
    )


def test_other_json_of_a_folder_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "a.html", '<img src=a alt="A red door">')
    write(tmp_path, "package.json", {"name": "site", "files": ["dist"]})
    write(
        tmp_path,
        "notes.json",
        {"type": "AnnotationPage", "items": [{"type": "Annotation"}]},
    )
    report = lint([tmp_path])
    assert (report.bad, len(report.occurrences)) == ([], 1)
    assert [(entry.kind, entry.file) for entry in report.left_out] == [
        ("annotations", "notes.json"),
        ("table", "package.json"),
    ]
    with pytest.raises(DataError, match="has no list of rows"):
        lint([tmp_path / "package.json"])


def test_rows_before_a_line_that_is_no_csv_are_checked(
    tmp_path: Path,
) -> None:
    table = tmp_path / "a.csv"
    table.write_text(
        'image,alt\na.jpg,Image of a boat\nb.jpg,"A cat"x on a mat\nc.jpg,-\n'
    )
    report = lint([table])
    assert [picture.line for picture in report.occurrences] == [2]
    assert [error.line for error in report.bad] == [3]
