"""Documents and books: what their archives hold is written here part by part, by the formats' rules."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from beholder.errors import DataError
from beholder.lint import lint, packed
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import LintSetting
from toy.alt_texts import RELATIONS, SPACES, inline

DECORATIVE = (
    '<a:extLst><a:ext uri="{C183D7F6-B498-43B3-948B-1728B52AA6E4}">'
    '<d:decorative xmlns:d="http://schemas.microsoft.com/office/drawing/2017/decorative" val="1"/>'
    "</a:ext></a:extLst>"
)


def archive(path: Path, parts: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def word(path: Path, body: str) -> list[Occurrence]:
    parts = {
        "word/header1.xml": f"<w:hdr {SPACES}><w:p>"
        + inline('id="9" descr="Our logo"')
        + "</w:p></w:hdr>",
        "word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": RELATIONS.format(
            image="media/cat.png"
        ),
        "word/styles.xml": f"<w:styles {SPACES}><w:docDefaults><w:rPrDefault><w:rPr>"
        '<w:lang w:val="de-DE"/></w:rPr></w:rPrDefault></w:docDefaults></w:styles>',
    }
    return list(packed.pictures(archive(path / "a.docx", parts), "a.docx"))


def test_pictures_of_a_word_document_are_read(tmp_path: Path) -> None:
    caption = (
        '<w:p><w:pPr><w:pStyle w:val="Caption"/></w:pPr><w:r><w:t>Figure 1: </w:t></w:r>'
        "<w:r><w:t>Minka</w:t></w:r></w:p>"
    )
    link = '<a:hlinkClick r:id="rId2"/>'
    body = (
        "<w:p>"
        + inline(
            'id="1" name="Picture 1" descr="Eine graue Katze" title="Minka"'
        )
        + f"</w:p>"
        f"{caption}<w:p>" + inline('id="2" name="Picture 2"') + "</w:p>"
        "<w:p>"
        + inline('id="3"', DECORATIVE)
        + "</w:p><w:p>"
        + inline('id="4" descr="Zum Shop"', link)
        + "</w:p>"
    )
    cat, bare, decorative, shop, logo = word(tmp_path, body)
    assert (cat.raw, cat.text_from, cat.title, cat.caption) == (
        *("Eine graue Katze", "descr", "Minka", "Figure 1: Minka"),
    )
    assert (cat.picture, cat.locator, cat.language) == (
        *("word/media/cat.png", "word/document.xml#1", "de-DE"),
    )
    assert (bare.raw, bare.decorative, bare.caption) == (None, False, "")
    assert (decorative.raw, decorative.decorative) == (None, True)
    assert (shop.role, shop.link) == ("functional", "https://example.org/")
    assert (logo.raw, logo.locator, logo.picture) == (
        "Our logo",
        "word/header1.xml#9",
        "",
    )


def test_text_boxes_are_no_pictures_and_what_old_programs_show_counts_once(
    tmp_path: Path,
) -> None:
    shape = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
    chart = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    old = '<w:pict><v:shape id="s" alt="{}"><v:imagedata r:id="rId1"/></v:shape></w:pict>'
    both = (
        "<mc:AlternateContent><mc:Choice>"
        + inline('id="3" descr="new"')
        + f"</mc:Choice>"
        f"<mc:Fallback>{old.format('new')}</mc:Fallback></mc:AlternateContent>"
    )
    body = (
        "<w:p>"
        + inline('id="1"', kind=shape)
        + ""
        + inline('id="2"', kind=chart)
        + f"{both}"
        f"<w:r>{old.format('old')}</w:r></w:p>"
    )
    texts = [
        (occurrence.raw, occurrence.text_from)
        for occurrence in word(tmp_path, body)
    ]
    assert texts == [
        (None, "descr"),
        ("new", "descr"),
        ("old", "alt"),
        ("Our logo", "descr"),
    ]


def test_slides_in_their_order(tmp_path: Path) -> None:
    def shape(kind: str, attributes: str, inner: str) -> str:
        return (
            f"<p:{kind}><p:nv><p:cNvPr {attributes}/></p:nv>{inner}</p:{kind}>"
        )

    def slide(inner: str) -> str:
        return f"<p:sld {SPACES}><p:cSld><p:spTree>{inner}</p:spTree></p:cSld></p:sld>"

    fill = '<p:spPr><a:blipFill><a:blip r:embed="rId1"/></a:blipFill></p:spPr>'
    table = (
        '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"/>'
        "</a:graphic>"
    )
    blip = '<p:blipFill><a:blip r:embed="rId1"/></p:blipFill>'
    pic = shape("pic", 'id="7"', blip)
    group = (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="6" descr="{}"/></p:nvGrpSpPr>'
        + pic
        + "</p:grpSp>"
    )
    first = (
        shape("sp", 'id="2" descr="a title"', "<p:txBody/>")
        + shape("sp", 'id="3"', fill)
        + shape("graphicFrame", 'id="4"', table)
        + shape("pic", 'id="5" descr="A dog"', blip)
    )
    parts = {
        "ppt/slides/slide10.xml": slide(group.format("")),
        "ppt/slides/slide2.xml": slide(group.format("Three cups")),
        "ppt/slides/slide1.xml": slide(first),
        "ppt/slides/_rels/slide1.xml.rels": RELATIONS.format(
            image="../media/dog.jpg"
        ),
        "ppt/slideLayouts/slideLayout1.xml": slide(pic),
    }
    texts = list(
        packed.pictures(archive(tmp_path / "a.pptx", parts), "a.pptx")
    )
    assert [
        (
            occurrence.locator.removeprefix("ppt/slides/"),
            occurrence.raw,
            occurrence.picture,
        )
        for occurrence in texts
    ] == [
        ("slide1.xml#3", None, "ppt/media/dog.jpg"),
        ("slide1.xml#5", "A dog", "ppt/media/dog.jpg"),
        ("slide2.xml#6", "Three cups", ""),
        ("slide10.xml#7", None, ""),
    ]
    report = lint([tmp_path / "a.pptx"], layouts=True)
    assert [occurrence.locator for occurrence in report.occurrences[4:]] == [
        "ppt/slideLayouts/slideLayout1.xml#7"
    ]


def test_pictures_of_an_epub_are_read(tmp_path: Path) -> None:
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>\n{}</body></html>'
    parts = {
        "mimetype": "application/epub+zip",
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:language>fr</dc:language></metadata></package>',
        "OEBPS/one.xhtml": page.format(
            '<p><img src="../img/a.png" alt="Un chat"/></p>'
        ),
        "OEBPS/two.xhtml": page.format('<p lang="en"><img src="b.png"/></p>'),
    }
    cat, bare = packed.pictures(
        archive(tmp_path / "a.epub", parts), "books/a.epub"
    )
    assert (cat.file, cat.locator, cat.page) == (
        *("books/a.epub", "OEBPS/one.xhtml:2", "OEBPS/one.xhtml"),
    )
    assert (cat.raw, cat.language) == ("Un chat", "fr")
    assert (bare.raw, bare.language) == (None, "en")


DOCTYPE = '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("name", "parts", "message"),
    [
        (
            "a.docx",
            {"word/document.xml": f"{DOCTYPE}<w>&x;</w>"},
            "document type",
        ),
        ("a.docx", {"word/document.xml": "<w><x></w>"}, "cannot be read"),
        (
            "a.docx",
            {"../word/document.xml": "<w/>"},
            r"has a part outside it: .*word/document\.xml",
        ),
        (
            "a.docx",
            {"/word/document.xml": "<w/>"},
            r"has a part outside it: .*word/document\.xml",
        ),
        (
            "a.docx",
            {"word/document.xml": " " * (20 * 2**20)},
            "unpacks to 20,971,520 bytes",
        ),
        (
            "a.epub",
            {"a.xhtml": '<!DOCTYPE html [<!ENTITY x "y">]><html/>'},
            "declares entities",
        ),
        (
            "a.pptx",
            {f"{n}.xml": "" for n in range(10_001)},
            "has 10,001 parts",
        ),
    ],
)
def test_hostile_archives_are_refused(
    name: str, parts: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        list(packed.pictures(archive(tmp_path / name, parts), name))


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"\xd0\xcf\x11\xe0 an old Word document")
    with pytest.raises(DataError, match=r"not a readable \.docx file"):
        list(packed.pictures(tmp_path / "a.docx", "a.docx"))


def test_damaged_data_are_refused(tmp_path: Path) -> None:
    file = archive(
        tmp_path / "a.docx",
        {"word/document.xml": "<w>" + "text " * 500 + "</w>"},
    )
    data = bytearray(file.read_bytes())
    start = data.index(b"word/document.xml") + len("word/document.xml")
    data[start : start + 8] = b"\xff" * 8  # no block of deflate begins so
    file.write_bytes(data)
    with pytest.raises(DataError, match=r"not a readable \.docx file"):
        list(packed.pictures(file, "a.docx"))


@pytest.mark.parametrize(
    ("name", "part", "root"),
    [
        ("a.docx", "word/document.xml", "wp:docPr"),
        ("a.pptx", "ppt/slides/slide1.xml", "p:cNvPr"),
    ],
)
def test_a_part_that_is_nothing_but_a_text_is_read(
    name: str, part: str, root: str, tmp_path: Path
) -> None:
    parts = {part: f'<{root} {SPACES} id="1" descr="A dog"/>'}
    (occurrence,) = packed.pictures(archive(tmp_path / name, parts), name)
    assert occurrence.raw == "A dog"


def test_pages_of_a_book_are_decoded_as_they_declare(tmp_path: Path) -> None:
    page = '<?xml version="1.0" encoding="UTF-16"?><html><img src="a.png" alt="\u732b"/></html>'
    with zipfile.ZipFile(tmp_path / "a.epub", "w") as file:
        file.writestr("a.xhtml", page.encode("utf-16"))
    (occurrence,) = packed.pictures(tmp_path / "a.epub", "a.epub")
    assert occurrence.raw == "\u732b"


def test_a_text_of_blanks_is_missing_in_documents(tmp_path: Path) -> None:
    body = "<w:p>" + inline('id="1" descr=" "') + "</w:p>"
    word(tmp_path, body)
    assert lint([tmp_path / "a.docx"]).findings[0].rule == "ALT001"


def test_pictures_of_two_documents_are_equal_if_their_bytes_are(
    tmp_path: Path,
) -> None:
    texts = {
        "a": "A red door in a wall",
        "b": "A boat at sea",
        "c": "A quiet old harbour",
    }
    for name, text in texts.items():
        pic = f'<p:pic><p:nvPicPr><p:cNvPr id="1" descr="{text}"/></p:nvPicPr><a:blip r:embed="rId1"/></p:pic>'
        parts = {
            "ppt/slides/slide1.xml": f"<p:sld {SPACES}>{pic}</p:sld>",
            "ppt/slides/_rels/slide1.xml.rels": RELATIONS.format(
                image="../media/image1.png"
            ),
            "ppt/media/image1.png": "other bytes" if name == "c" else "bytes",
        }
        archive(tmp_path / f"{name}.pptx", parts)
    findings = lint([tmp_path]).findings
    assert [(finding.rule, finding.file) for finding in findings] == [
        ("ALT402", "a.pptx"),
        ("ALT402", "b.pptx"),
    ]


def test_captions_of_other_languages_of_word(tmp_path: Path) -> None:
    # German Word names the style Beschriftung; its w:name is "caption" in every language.
    style = '<w:style w:type="paragraph" w:styleId="Beschriftung"><w:name w:val="caption"/></w:style>'
    caption = '<w:p><w:pPr><w:pStyle w:val="Beschriftung"/></w:pPr><w:r><w:t>Minka</w:t></w:r></w:p>'
    body = "<w:p>" + inline('id="1" descr="Eine Katze"') + f"</w:p>{caption}"
    parts = {
        "word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {SPACES}>{style}</w:styles>",
    }
    (occurrence,) = packed.pictures(
        archive(tmp_path / "a.docx", parts), "a.docx"
    )
    assert occurrence.caption == "Minka"


@pytest.mark.parametrize("inner", ["", DECORATIVE])
def test_a_linked_picture_without_text_is_an_empty_link(
    tmp_path: Path, inner: str
) -> None:
    link = '<a:hlinkClick r:id="rId2"/>'
    word(tmp_path, "<w:p>" + inline('id="1"', link + inner) + "</w:p>")
    findings = lint([tmp_path / "a.docx"], LintSetting("documents")).findings
    assert (findings[0].rule, findings[0].severity) == ("ALT003", "error")
