"""What looks like a picture or a text and is not read: counted, named, and seen by gates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import DataError
from beholder.lint import lint
from toy.command import Cli

GOOD = '<img src="a.jpg" alt="A red door in a wall">'


@pytest.fixture
def cli(cli: Cli) -> Cli:
    Path("site").mkdir()
    for name in (
        "a.pdf",
        "b.PDF",
        "c.doc",
        "d.css",
        "e.png",
        "f.js",
        "page",
        "u.csv.gz",
        "v.tar.gz",
    ):
        Path("site", name).write_text("<html>" if name == "page" else "x")
    Path("site/LICENSE").write_text("Copyright")
    Path("site/index.html").write_text(GOOD + "<template><img></template>")
    Path("site/t.csv").write_text("n\n1\n")
    return cli


LINE = (
    "left out: 5 files of other forms (.pdf 2, .doc 1, .gz 1, no ending 1);"
    " 1 picture in a template (index.html); 1 file without texts in rows (t.csv)"
)


def test_one_line_names_what_is_left_out(cli: Cli) -> None:
    done = cli("lint", "site")
    assert (done.code, LINE in done.out) == (0, True), done.out
    assert "1 picture in 1 file: 0 errors" in done.out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--strict"], 1),
        (["--strict", "--fail-on", "never"], 1),
        (["--require-pictures"], 0),
        (["--strict", "--exclude", "*.pdf"], 1),
        (
            [
                "--strict",
                *("--exclude", "*.pdf", "--exclude", "*.PDF"),
                *("--exclude", "*.doc", "--exclude", "page"),
                *("--exclude", "*.gz"),
                *("--exclude", "t.csv", "--exclude", "index.html"),
            ],
            2,
        ),
    ],
)
def test_gates(cli: Cli, options: list[str], code: int) -> None:
    assert cli("lint", "site", *options).code == code


def test_nothing_left_out_passes(cli: Cli) -> None:
    Path("b.html").write_text(GOOD)
    done = cli("lint", "b.html", "--strict", "--require-pictures")
    assert (done.code, "left out" in done.out + done.err) == (0, False)


def test_reports_say_what_is_left_out(cli: Cli) -> None:
    forms = ("json", "sarif", "markdown", "html", "text")
    options = [part for form in forms for part in ("--format", form)]
    done = cli("lint", "site", *options, "-o", "out")
    assert LINE in done.err
    content = json.loads(Path("out/lint.json").read_text())["left_out"]
    assert {"kind": "table", "file": "t.csv", "n": 1, "form": ""} in content
    assert sum(entry["n"] for entry in content) == 7
    (run,) = json.loads(Path("out/lint.sarif").read_text())["runs"]
    assert run["properties"]["leftOut"] == content
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == LINE
    for name in ("lint.md", "lint.html", "lint.txt"):
        page = Path("out", name).read_text().replace("\\", "")
        assert "5 files of other forms" in page, name


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "has no file of these forms: .html"),
        ({"a.pdf": "x"}, "left out: 1 file of another form (.pdf 1)"),
        ({"t.csv": "n\n1\n"}, "1 file without texts in rows (t.csv)"),
        ({"a.css": "x"}, "has no file of these forms"),
        (
            {"c.json": '{"type": "Manifest", "items": []}'},
            "1 manifest without canvases (c.json)",
        ),
    ],
)
def test_a_folder_of_which_nothing_is_read_is_refused(
    cli: Cli, files: dict[str, str], message: str
) -> None:
    Path("empty").mkdir()
    for name, text in files.items():
        Path("empty", name).write_text(text)
    done = cli("lint", "empty")
    assert (done.code, message in done.err) == (2, True), done.err


def test_a_rule_option_switches_off_empty_texts_of_markdown(cli: Cli) -> None:
    Path("a.md").write_text("![](a.png)\n")
    assert cli("lint", "a.md", "--fail-on", "note").code == 1
    options = ("--fail-on", "note", "--rule")
    assert cli("lint", "a.md", *options, "ALT001.empty=off").code == 0
    Path("b.html").write_text("<img src=a.png>")
    assert cli("lint", "b.html", "--rule", "ALT001.empty=off").code == 1
    wrong = cli("lint", "a.md", "--rule", "ALT001.emtpy=off")
    assert (wrong.code, "ALT001" in wrong.err) == (2, True)


CONTEXT = "http://iiif.io/api/presentation/3/context.json"


def painting(body: Any) -> dict[str, Any]:
    note = {"type": "Annotation", "motivation": "painting", "body": body}
    return {"type": "AnnotationPage", "items": [note]}


def image(name: str) -> dict[str, Any]:
    return {"type": "Image", "id": f"https://x.example/{name}.jpg"}


def canvas(*bodies: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "Canvas",
        "id": "https://x.example/c1",
        "width": 1000,
        "height": 800,
        "items": [painting(body) for body in bodies],
        **more,
    }


def manifest(*canvases: Any, **more: Any) -> dict[str, Any]:
    return {
        "@context": CONTEXT,
        "type": "Manifest",
        "items": list(canvases),
        **more,
    }


def read_both(
    folder: Path, value: Any
) -> tuple[list[str], list[str], list[str], dict[str, int]]:
    """Return the pictures that lint and score find, the rules, and what lint left out."""
    from beholder.data.sources import read_rows

    path = folder / "m.json"
    path.write_text(json.dumps(value))
    report = lint([path])
    rows = [row for _, row in read_rows(path, "m") if isinstance(row, dict)]
    names = [name for row in rows for name in row["images"]]
    return (
        [Path(place.picture).stem for place in report.occurrences],
        [Path(name).stem for name in names],
        [finding.rule for finding in report.findings],
        {entry.kind: entry.n for entry in report.left_out},
    )


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (image("a"), ["a"]),
        ({"type": "SpecificResource", "source": image("a"), "selector": {"type": "ImageApiSelector"}}, ["a"]),
        ({"type": "SpecificResource", "source": "https://x.example/a.jpg"}, ["a"]),
        ({"type": "SpecificResource", "source": {"type": "Video", "id": "a.mp4"}}, []),
        ({"type": "Choice", "items": [image("a"), image("b")]}, ["a"]),
        ([image("a"), image("b")], ["a", "b"]),
        ({"id": "https://x.example/a.png", "format": "image/png"}, ["a"]),
        ({"type": "TextualBody", "value": "a"}, []),
    ],
)  # fmt: skip
def test_bodies_of_a_canvas(
    tmp_path: Path, body: Any, names: list[str]
) -> None:
    value = manifest(
        canvas(body), canvas(image("z"), id="https://x.example/c2")
    )
    linted, scored, rules, _ = read_both(tmp_path, value)
    assert linted == scored == [*names, "z"]
    # the canvas needs one text for all its pictures
    assert rules == ["ALT001"] * (1 + bool(names))


@pytest.mark.parametrize(
    "resource",
    [
        {"@id": "https://x.example/a.jpg", "@type": "dctypes:Image"},
        {"@id": "https://x.example/a.jpg"},
        {
            "@type": "oa:SpecificResource",
            "@id": "https://x.example/s",
            "full": {
                "@id": "https://x.example/a.jpg",
                "@type": "dctypes:Image",
            },
        },
        {
            "@type": "oa:Choice",
            "default": {
                "@id": "https://x.example/a.jpg",
                "@type": "dctypes:Image",
            },
            "item": [
                {"@id": "https://x.example/b.jpg", "@type": "dctypes:Image"}
            ],
        },
    ],
)
def test_resources_of_version_2(tmp_path: Path, resource: Any) -> None:
    page = {
        "@type": "sc:Canvas",
        "@id": "https://x.example/c",
        "images": [{"resource": resource}],
    }
    value = {
        "@context": "http://iiif.io/api/presentation/2/context.json",
        "@type": "sc:Manifest",
        "sequences": [{"canvases": [page]}],
    }
    assert read_both(tmp_path, value)[:2] == (["a"], ["a"])


def test_canvases_of_canvases_are_read(tmp_path: Path) -> None:
    poster = canvas(image("p"), id="https://x.example/p")
    cover = canvas(image("q"), id="https://x.example/q")
    film = canvas(
        {"type": "Video", "id": "a.mp4"},
        placeholderCanvas=poster,
        accompanyingCanvas=cover,
    )
    linted, scored, _, _ = read_both(tmp_path, manifest(film))
    assert linted == scored == ["p", "q"]


TEXT = "A stamp lies in the corner"
WHOLE = "https://x.example/c1"


@pytest.mark.parametrize(
    ("target", "rules", "left_out"),
    [
        (None, [], {}),
        (WHOLE, [], {}),
        ([WHOLE], [], {}),
        ({"id": WHOLE, "type": "Canvas"}, [], {}),
        ({"type": "SpecificResource", "source": WHOLE}, [], {}),
        (f"{WHOLE}#xywh=0,0,1000,800", [], {}),
        (f"{WHOLE}#xywh=pct:0,0,100,100", [], {}),
        ("https://x.example/a.jpg", [], {}),
        (f"{WHOLE}#xywh=516,635,148,17", ["ALT001"], {"details": 1}),
        ({"type": "SpecificResource", "source": WHOLE, "selector": {"type": "PointSelector"}}, ["ALT001"], {"details": 1}),
        ("https://x.example/c2", ["ALT001"], {"details": 1}),
    ],
)  # fmt: skip
def test_only_texts_about_the_whole_canvas_count(
    tmp_path: Path, target: Any, rules: list[str], left_out: dict[str, int]
) -> None:
    note = {
        "motivation": "describing",
        "body": {"value": TEXT, "accessibility": "alternativeText"},
    }
    if target is not None:
        note["target"] = target
    page = {"type": "AnnotationPage", "items": [note]}
    for value in (
        manifest(canvas(image("a"), annotations=[page])),
        # a manifest may have the annotations of its canvases
        manifest(canvas(image("a")), annotations=[page]),
    ):
        if target is None and "annotations" in value:
            continue
        _, _, found, counts = read_both(tmp_path, value)
        assert (found, counts) == (rules, left_out)


def test_a_canvas_of_a_film_is_counted(tmp_path: Path) -> None:
    film = {"id": "https://x.example/v.mp4", "type": "Video"}
    _, _, found, counts = read_both(tmp_path, manifest(canvas(film)))
    assert (found, counts) == ([], {"canvas": 1})


def test_a_text_about_another_canvas_is_a_text_of_that_one(
    tmp_path: Path,
) -> None:
    note = {
        "body": {"value": TEXT, "accessibility": "alternativeText"},
        "target": "https://x.example/c2",
    }
    page = {"type": "AnnotationPage", "items": [note]}
    value = manifest(
        canvas(image("a"), annotations=[page]),
        canvas(image("b"), id="https://x.example/c2"),
    )
    (tmp_path / "m.json").write_text(json.dumps(value))
    report = lint([tmp_path / "m.json"])
    assert [place.text for place in report.occurrences] == ["", TEXT]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"type": "AnnotationPage", "items": []}, "is an AnnotationPage: give the manifest"),
        ({"@type": "sc:AnnotationList", "resources": []}, "is an AnnotationList: give the manifest"),
        (
            {"@context": CONTEXT, "type": "Collection", "items": [{"type": "Manifest", "id": "1"}, {"type": "Manifest", "id": "2"}]},
            "names 2 manifests, which are not in this file",
        ),
        (
            {"@type": "sc:Collection", "manifests": [{"@type": "sc:Manifest", "@id": "1"}]},
            "names 1 manifest, which is not in this file",
        ),
        (manifest(), "has no canvas"),
    ],
)  # fmt: skip
def test_files_without_canvases_are_refused_by_lint_and_score(
    tmp_path: Path, value: Any, message: str
) -> None:
    from beholder.data.sources import read_rows

    path = tmp_path / "m.json"
    path.write_text(json.dumps(value))
    with pytest.raises(DataError, match=message):
        lint([path])
    with pytest.raises(DataError, match=message):
        list(read_rows(path, "m.json"))


def test_linked_manifests_beside_others_are_counted(tmp_path: Path) -> None:
    from beholder.data.sources import read_rows

    link = {"type": "Manifest", "id": "https://x.example/m2"}
    value = {
        "@context": CONTEXT,
        "type": "Collection",
        "items": [manifest(canvas(image("a"))), link],
    }
    assert read_both(tmp_path, value)[3] == {"links": 1}
    rows = [row for _, row in read_rows(tmp_path / "m.json", "m.json")]
    assert "names 1 manifest, which is not" in str(rows[-1])


def test_other_collections_are_tables(tmp_path: Path) -> None:
    value = {"type": "collection", "items": [{"image": "a", "alt": "IMG_20"}]}
    (tmp_path / "t.json").write_text(json.dumps(value))
    assert [f.rule for f in lint([tmp_path / "t.json"]).findings] == ["ALT101"]


@pytest.mark.parametrize(
    "label",
    [
        *("Alt text:", "alt_text", "ALT-TEXT", "Alternativtext", "alttext"),
        *("Bildbeschreibung", "Alternatieve tekst", "Texte alternatif :"),
        *("Texto alternativo", "Testo alternativo", "代替テキスト"),
    ],
)
def test_labels_of_texts_are_folded(tmp_path: Path, label: str) -> None:
    pair = {"label": {"none": [label]}, "value": {"none": [TEXT]}}
    value = manifest(canvas(image("a"), metadata=[pair]))
    assert read_both(tmp_path, value)[2] == []


@pytest.mark.parametrize("label", ["Datum", "Date :", "Fecha", "Date_Created"])
def test_labels_of_dates_are_folded(tmp_path: Path, label: str) -> None:
    pair = {"label": {"none": [label]}, "value": {"none": ["1890"]}}
    value = manifest(
        canvas(image("a"), metadata=[pair], summary="A street in 1890"),
        navDate="1955-01-01T00:00:00Z",
    )
    (tmp_path / "m.json").write_text(json.dumps(value))
    (place,) = lint([tmp_path / "m.json"]).occurrences
    assert place.date == "1890"


@pytest.mark.parametrize(
    "summary",
    [
        {"en": ["Two men sit at a table", "A cat sleeps below it"]},
        {"@value": ["Two men sit at a table", "A cat sleeps below it"]},
        ["Two men sit at a table", "A cat sleeps below it"],
    ],
)
def test_two_values_of_one_language_are_one_text(
    tmp_path: Path, summary: Any
) -> None:
    from beholder.data.sources import read_rows

    text = "Two men sit at a table A cat sleeps below it"
    (tmp_path / "m.json").write_text(
        json.dumps(manifest(canvas(image("a"), summary=summary)))
    )
    (place,) = lint([tmp_path / "m.json"]).occurrences
    ((_, row),) = read_rows(tmp_path / "m.json", "m.json")
    assert isinstance(row, dict)
    assert place.text == row["candidate"] == text
