"""Pages of strangers: an odd one never ends the reading of a folder, and none takes quadratic time."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import DataError
from beholder.lint import html, iiif, lint, markdown, packed, sources
from beholder.lint.occurrence import Occurrence, identity, join_address
from toy.alt_texts import SPACES, inline
from toy.cases import each_case
from toy.command import Cli

ADDRESSES = (
    "//[",
    "http://[::1",
    "http://[a]/b.png",
    "http://a]/b",
    "https://\u2100.org/x",
    "http://[?a",
)
"""Addresses that ``urllib`` refuses; the one with U+2100 as it becomes a/c."""

PAGES = {
    "base.html": '<base href="{}"><img src="a.png" alt="Image of a dog">',
    "picture.html": '<img src="{}" alt="Image of a dog">',
    "set.xhtml": '<html><img srcset="{} 2x" src="{}" alt="Image of a dog"/></html>',
    "link.html": '<a href="{}"><img src="a.png" alt="Image of a dog"></a>',
    "logo.html": '<p><img alt="Image of a dog" src="b.png"><a href="{}"><img src="a.png" alt="logo"></a>',
    "host.html": '<p><img alt="Image of a dog"><a href="{}"><img src="c.png" alt="Go to https://a.org"></a>',
    "picture.md": "![Image of a dog]({})\n",
    "inside.md": '<base href="{}">\n<img src="{}" alt="Image of a dog">\n',
    "table.csv": "image,alt\n{},Image of a dog\n",
    "table.jsonl": '{{"image": "{}", "alt": "Image of a dog"}}\n',
}


def write_page(path: Path, address: str) -> None:
    if path.suffix == ".json":
        body = {"items": [{"body": {"id": address, "type": "Image"}}]}
        canvas = {
            "type": "Canvas",
            "id": address,
            "summary": "Image of a dog",
            "items": [body],
        }
        path.write_text(
            json.dumps({"type": "Manifest", "items": [canvas]}),
            encoding="utf-8",
        )
    elif path.suffix == ".epub":
        page = f'<html><base href="{address}"/><img src="{address}" alt="Image of a dog"/></html>'
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("one.xhtml", page)
    else:
        text = (
            PAGES[path.name]
            .replace("{}", address)
            .replace("{{", "{")
            .replace("}}", "}")
        )
        path.write_text(text, encoding="utf-8")


@each_case("address", ADDRESSES)
@each_case("name", [*PAGES, "manifest.json", "book.epub"])
def test_odd_addresses_are_read(
    tmp_path: Path, name: str, address: str
) -> None:
    write_page(tmp_path / name, address)
    report = lint([tmp_path])
    assert report.bad == []
    assert "Image of a dog" in [
        occurrence.text for occurrence in report.occurrences
    ]
    assert "ALT104" in [finding.rule for finding in report.findings]


def test_a_base_that_is_not_valid_has_no_effect() -> None:
    (occurrence,) = html.pictures(
        '<base href="http://["><img src="b.png">', "site/page.html"
    )
    assert occurrence.picture == "site/b.png"


def test_addresses_that_are_not_valid_stay_as_they_are() -> None:
    for address in ADDRESSES:
        assert join_address("https://a.org/", address) is None
        assert identity(address).startswith(address.partition("#")[0][:4])
    assert (
        join_address("https://a.org/x/", "../b.png") == "https://a.org/b.png"
    )


@pytest.mark.parametrize(
    "raised", [ValueError("odd"), RecursionError(), MemoryError(), KeyError(1)]
)
def test_a_file_that_a_reader_fails_on_is_named_and_the_rest_is_read(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    def fail_on_odd(
        source: str, name: str, left_out: object
    ) -> Iterator[Occurrence]:
        if "odd" in source:
            raise raised
        yield from html.pictures(source, name)

    monkeypatch.setitem(sources.READERS, ".html", fail_on_odd)
    Path("f").mkdir()
    for number, text in enumerate(("Image of a dog", "odd", "Photo of a cat")):
        Path(f"f/{number}.html").write_text(
            f'<img src=a{number} alt="{text}">'
        )
    done = cli("lint", "f")
    assert done.code == 2
    assert all(name in done.out for name in ("0.html", "2.html"))
    assert "left out: 1.html: " in done.err
    assert cli("lint", "f", "--skip-bad-files", "--fail-on", "never").code == 0
    with pytest.raises(DataError, match=r"1\.html: "):
        lint(["f/1.html"])


def test_a_picture_that_a_rule_fails_on_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from beholder.lint import rules

    def fail(occurrence: Occurrence, setting: object) -> None:
        if "cat" in occurrence.text:
            raise ValueError("odd")

    monkeypatch.setitem(rules.CHECKS, "ALT109", fail)
    (tmp_path / "a.html").write_text(
        '<img src=a alt="Image of a dog"><img src=b alt="A cat">'
    )
    report = lint([tmp_path])
    assert [occurrence.text for occurrence in report.findings] == [
        "Image of a dog"
    ]
    assert "a.html: cannot be read (ValueError: odd)" in str(report.bad[0])


def count_calls(work: Callable[[], object]) -> int:
    """Count the calls of functions and steps of generators in a piece of work."""
    n_calls = 0

    def count(frame: object, event: str, value: object) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return n_calls


def manifest(n: int) -> Any:
    pair = {"label": {"en": ["a"]}, "value": {"en": ["b"]}}
    body = {"items": [{"body": {"type": "Image", "id": "x"}}]}
    canvas = {"type": "Canvas", "id": "c", "items": [body]}
    return {"type": "Manifest", "metadata": [pair] * n, "items": [canvas] * n}


GROWING: dict[
    str,
    tuple[Callable[[Any, str], Iterator[Occurrence]], Callable[[int], Any]],
] = {
    "link": (
        html.pictures,
        lambda n: (
            "<a href=x>" + "<b></b>" * n + "<img src=a.png>" * n + "</a>"
        ),
    ),
    "areas": (
        html.pictures,
        lambda n: (
            "<img usemap=#m><map name=m>" + "<area href=x>" * n + "</map>"
        ),
    ),
    "figure": (
        html.pictures,
        lambda n: "<figure>" + "<canvas></canvas>" * n + "</figure>",
    ),
    "markdown": (
        markdown.pictures,
        lambda n: (
            "![b][a1]\n" * n
            + "\n"
            + "".join(f"[a{i}]: x.png\n" for i in range(n))
        ),
    ),
    "iiif": (iiif.pictures, manifest),
}


@pytest.mark.parametrize("form", GROWING)
def test_work_grows_with_the_page(form: str) -> None:
    read_pages, make = GROWING[form]

    def count(n: int) -> int:
        page = make(n)
        return count_calls(lambda: list(read_pages(page, "page")))

    count(10)  # fills caches of patterns
    # linear work is 4 times as much, quadratic work about 16 times
    assert count(600) < 5 * count(150)


def test_failed_searches_in_markdown_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n_searched = 0

    class Pattern:
        def search(self, source: str, at: int, end: int) -> None:
            nonlocal n_searched
            n_searched += end - at

    monkeypatch.setattr(markdown, "_pattern", lambda text: Pattern())
    paragraph = "![a](x.png)\n" * 200 + "\n"
    source = paragraph * 5
    assert len(list(markdown.pictures(source, "a.md"))) == 1000
    assert n_searched <= 20 * len(source)


def test_pictures_in_quotes_have_their_lines() -> None:
    source = "> ![a\n> b](x.png) and\n> ![a\n>   b](y.png)\n\n![c](z.png)\n"
    places = [
        (occurrence.line, occurrence.column)
        for occurrence in markdown.pictures(source, "a.md")
    ]
    assert places == [(1, 3), (3, 3), (6, 1)]


@pytest.mark.parametrize("form", ["docx", "pptx"])
def test_a_paragraph_or_group_is_read_once(
    monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    scanned: list[Any] = []
    find_caption, has_text = packed.Archive._find_caption, packed._has_text

    def count_paragraph(archive: packed.Archive, paragraph: Any) -> Any:
        scanned.append(paragraph)
        return find_caption(archive, paragraph)

    def count_group(group: Any) -> bool:
        scanned.append(group)
        return has_text(group)

    monkeypatch.setattr(packed.Archive, "_find_caption", count_paragraph)
    monkeypatch.setattr(packed, "_has_text", count_group)
    pictures = "".join(
        inline(f'id="{number}" descr="A cat"') for number in range(30)
    )
    caption = '<w:p><w:pPr><w:pStyle w:val="Caption"/></w:pPr><w:r><w:t>Minka</w:t></w:r></w:p>'
    pic = (
        '<p:pic><p:nvPicPr><p:cNvPr id="1" descr="A cat"/></p:nvPicPr></p:pic>'
    )
    parts = {
        "docx": (
            "word/document.xml",
            f"<w:document {SPACES}><w:body><w:p>{pictures}</w:p>{caption}</w:body></w:document>",
        ),
        "pptx": (
            "ppt/slides/slide1.xml",
            f"<p:sld {SPACES}><p:grpSp><p:nvGrpSpPr><p:cNvPr id='2'/></p:nvGrpSpPr>{pic * 30}"
            "</p:grpSp></p:sld>",
        ),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(*parts[form])
    occurrences = list(packed.pictures(file, f"a.{form}"))
    assert [occurrence.text for occurrence in occurrences] == ["A cat"] * 30
    assert {occurrence.caption for occurrence in occurrences} == {
        "Minka" if form == "docx" else ""
    }
    assert len(scanned) == 1


@pytest.mark.parametrize(
    "content", ["<w:x/>", "<w:x a='1' b='1' c='1'></w:x>"]
)
def test_a_part_of_too_many_tags_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(packed, "MOST_TAGS", 20)
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        body = content * (30 // content.count("<"))
        archive.writestr(
            "word/document.xml", f"<w:document {SPACES}>{body}</w:document>"
        )
    with pytest.raises(DataError, match="has over 20 tags; divide it"):
        lint([tmp_path / "a.docx"])


def test_an_empty_language_is_an_unknown_one(tmp_path: Path) -> None:
    picture = (
        '<img {} src=a.jpg alt="A red boat lies on the sand near the pier">'
    )
    page = tmp_path / "a.html"
    for attribute, rules in (
        ("", ["ALT205"]),
        ('lang=""', []),
        ("lang=en", []),
    ):
        page.write_text(f"<html lang=de>{picture.format(attribute)}</html>")
        assert [hit.rule for hit in lint([page]).findings] == rules
