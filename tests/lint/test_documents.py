"""Groups, filled shapes and text boxes of documents, OpenDocument, and books by their manifest."""

from __future__ import annotations

import zipfile
from pathlib import Path

from beholder.lint import LintReport, lint
from toy.alt_texts import RELATIONS, SPACES
from toy.cases import each_case

SHAPES = (
    ' xmlns:wpg="http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)
OFFICE_2010 = "http://schemas.microsoft.com/office/word/2010/wordprocessing"
BLIP = '<a:blip r:embed="rId1"/>'


def save(path: Path, parts: dict[str, str]) -> LintReport:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return lint([path])


def drawing(content: str, kind: str, text: str | None = None) -> str:
    return (
        f"<w:r><w:drawing><wp:anchor><wp:docPr {name_attributes(1, text)}/><a:graphic>"
        f'<a:graphicData uri="{OFFICE_2010}{kind}">{content}</a:graphicData>'
        "</a:graphic></wp:anchor></w:drawing></w:r>"
    )


def name_attributes(number: int, text: str | None = None) -> str:
    return f'id="{number}"' + ("" if text is None else f' descr="{text}"')


def pic(number: int, text: str | None = None) -> str:
    return (
        f"<pic:pic><pic:nvPicPr><pic:cNvPr {name_attributes(number, text)}/></pic:nvPicPr>"
        f"<pic:blipFill>{BLIP}</pic:blipFill></pic:pic>"
    )


def shape(
    *, text: str | None = None, is_filled: bool = False, inside: str = ""
) -> str:
    fill = f"<a:blipFill>{BLIP}</a:blipFill>" if is_filled else ""
    return (
        f"<wps:wsp><wps:cNvPr {name_attributes(2, text)}/><wps:spPr>{fill}</wps:spPr>"
        f"{inside}</wps:wsp>"
    )


def group(*parts: str) -> str:
    return f"<wpg:wgp>{''.join(parts)}</wpg:wgp>"


PLAIN = (
    '<w:r><w:drawing><wp:inline><wp:docPr id="9" descr="A red door"/><a:graphic>'
    '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">'
    f"{pic(0)}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
)
BOX = f"<wps:txbx><w:txbxContent><w:p>{PLAIN}</w:p></w:txbxContent></wps:txbx>"
GROUP = group(pic(2), pic(3, "A hill"))
INNER = group(
    pic(2),
    '<wpg:grpSp><wpg:cNvPr id="4" descr="Three cups"/>',
    pic(5),
    "</wpg:grpSp>",
)
NAMED_SHAPE = shape(text="IMG_2041", is_filled=True)
OLD = '<w:pict><v:rect id="r" alt="A hill"><v:fill r:id="rId1" type="frame"/></v:rect></w:pict>'


@each_case(
    ("body", "texts"),
    [
        # a group without a text: each picture in it needs one
        (drawing(GROUP, "Group"), [None, "A hill"]),
        (drawing(GROUP, "Canvas"), [None, "A hill"]),
        # a group with a text stands for its parts
        (drawing(GROUP, "Group", "Two cups"), ["Two cups"]),
        (drawing(INNER, "Group"), [None, "Three cups"]),
        # shapes filled with a picture
        (drawing(shape(is_filled=True), "Shape"), [None]),
        (drawing(shape(is_filled=True), "Shape", "A hill"), ["A hill"]),
        (drawing(group(NAMED_SHAPE, shape()), "Group"), ["IMG_2041"]),
        # plain shapes need no text, and may have one
        (drawing(shape(), "Shape"), []),
        (drawing(shape(), "Shape", "An arrow to the door"), ["An arrow to the door"]),
        # text boxes are no pictures; pictures in them are
        (drawing(shape(inside=BOX), "Shape"), ["A red door"]),
        (drawing(shape(inside=BOX), "Shape", "Box"), ["A red door"]),
        (drawing(shape(is_filled=True, inside=BOX), "Shape"), [None, "A red door"]),
        (drawing(group(shape(inside=BOX)), "Group"), ["A red door"]),
        (PLAIN, ["A red door"]),
        # old drawings
        (OLD, ["A hill"]),
        (OLD.replace(' alt="A hill"', ""), [None]),
        ('<w:pict><v:shape id="t"><v:textbox/></v:shape></w:pict>', []),
    ],
)  # fmt: skip
def test_drawings_of_word(
    tmp_path: Path, body: str, texts: list[str | None]
) -> None:
    parts = {
        "word/document.xml": f"<w:document {SPACES}{SHAPES}><w:body><w:p>{body}</w:p></w:body></w:document>",
        "word/_rels/document.xml.rels": RELATIONS.format(
            image="media/cat.png"
        ),
        "word/media/cat.png": "x",
    }
    report = save(tmp_path / "a.docx", parts)
    assert [place.raw for place in report.occurrences] == texts
    n_missing = texts.count(None)
    rules = [finding.rule for finding in report.findings]
    assert rules == ["ALT001"] * n_missing + ["ALT101"] * ("IMG_2041" in texts)
    locators = [place.locator for place in report.occurrences]
    assert len(set(locators)) == len(locators)


ODF = (
    ' xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
    ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
    ' xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def frame(inside: str = "", attributes: str = "", shown: str = "") -> str:
    shown = shown or '<draw:image xlink:href="Pictures/a.png"/>'
    return f"<draw:frame {attributes}>{shown}{inside}</draw:frame>"


def titled(title: str = "", description: str = "") -> str:
    return f"<svg:title>{title}</svg:title>" * bool(
        title
    ) + f"<svg:desc>{description}</svg:desc>" * bool(description)


@each_case("ending", ["odt", "odp"])
@each_case(
    ("content", "expected"),
    [
        (frame(), (None, "", False, None)),
        (frame(titled("A hill")), ("A hill", "", False, None)),
        (frame(titled("", "A hill")), ("A hill", "", False, None)),
        (frame(titled("A hill", "A hill with sheep")), ("A hill", "A hill with sheep", False, None)),
        (frame(attributes='loext:decorative="true"'), (None, "", True, None)),
        (frame(attributes='draw:style-name="fr1"'), (None, "", True, None)),
        (f'<draw:a xlink:href="https://x.example/">{frame()}</draw:a>', (None, "", False, "https://x.example/")),
        (f"<draw:g>{titled('Two cups')}{frame()}{frame()}</draw:g>", ("Two cups", "", False, None)),
        (f"<draw:g>{frame(titled('A cup'))}</draw:g>", ("A cup", "", False, None)),
        (frame(shown='<draw:object xlink:href="./Object 1"/><draw:image/>'), (None, "", False, None)),
        (frame(shown='<draw:object xlink:href="./Object 2"/><draw:image/>'), None),
        (frame(shown="<draw:text-box><text:p>Words</text:p></draw:text-box>"), None),
    ],
)  # fmt: skip
def test_open_documents(
    tmp_path: Path,
    ending: str,
    content: str,
    expected: tuple[str | None, str, bool, str | None] | None,
) -> None:
    style = (
        '<style:style style:name="fr1"><style:graphic-properties loext:decorative="true"/>'
        "</style:style>"
    )
    parts = {
        "content.xml": f"<office:document-content{ODF}>{style}<text:p>{content}</text:p></office:document-content>",
        "styles.xml": f'<office:document-styles{ODF}><style:default-style><style:text-properties fo:language="de"/>'
        "</style:default-style></office:document-styles>",
        "META-INF/manifest.xml": '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<m:file-entry m:full-path="Object 2/" m:media-type="application/vnd.oasis.opendocument.formula"/>'
        "</m:manifest>",
        "Pictures/a.png": "x",
    }
    report = save(tmp_path / f"a.{ending}", parts)
    places = [
        (place.raw, place.long, place.decorative, place.link)
        for place in report.occurrences
    ]
    assert places == ([] if expected is None else [expected])
    assert {place.language for place in report.occurrences} <= {"de"}


def test_a_caption_of_an_open_document(tmp_path: Path) -> None:
    inside = f"<draw:text-box><text:p>{frame(titled('A hill'))}Figure <text:span>1</text:span></text:p></draw:text-box>"
    content = f"<office:document-content{ODF}><text:p>{frame(shown=inside)}</text:p></office:document-content>"
    (place,) = save(tmp_path / "a.odt", {"content.xml": content}).occurrences
    assert (place.text, place.caption) == ("A hill", "Figure 1")


PAGE = '<html xmlns="http://www.w3.org/1999/xhtml"><body><img src="{}.png"/></body></html>'
SHEET = (
    '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
    '<item id="a" href="text/ch%201.xml" media-type="application/xhtml+xml"/>'
    '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="c" href="c.html" media-type="image/png"/>'
    '<item id="d" href="d.svg" media-type="image/svg+xml"/>'
    '<item id="e" href="e.svg" media-type="image/svg+xml"/>'
    '<item id="f" href="f.xml" media-type="application/x-dtbook+xml"/>'
    '</manifest><spine><itemref idref="a"/><itemref idref="d"/><itemref idref="f"/></spine></package>'
)


def test_the_manifest_of_a_book_says_what_is_a_page(tmp_path: Path) -> None:
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img"><path/></svg>'
    )
    parts = {
        "mimetype": "application/epub+zip",
        "OEBPS/book.opf": SHEET,
        "OEBPS/text/ch 1.xml": PAGE.format("one"),
        "OEBPS/b.xhtml": PAGE.format("two"),
        "OEBPS/c.html": PAGE.format("no"),
        "OEBPS/d.svg": drawing,
        "OEBPS/e.svg": drawing,
        "OEBPS/f.xml": "<dtbook/>",
        "OEBPS/old.xhtml": PAGE.format("no"),
    }
    report = save(tmp_path / "a.epub", parts)
    assert [place.page for place in report.occurrences] == [
        "OEBPS/text/ch 1.xml",
        "OEBPS/b.xhtml",
        "OEBPS/d.svg",
    ]
    assert [finding.rule for finding in report.findings] == [
        "ALT001",
        "ALT001",
        "ALT009",
    ]
    assert {entry.kind: entry.n for entry in report.left_out} == {
        "part": 1,
        "page": 1,
    }
