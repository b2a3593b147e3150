"""Accepted texts in DOCX, PPTX and EPUB: all bytes but those of the changed parts stay.

Archives are taken apart here by the ZIP specification (APPNOTE 6.3, sections 4.3.7 and 4.3.12).
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import ConfigError, DataError
from beholder.kinds.revise.door import revise
from beholder.kinds.revise.export import write_accepted
from toy.alt_texts import RELATIONS, SPACES, inline

WORD = (
    f'<w:document {SPACES}><w:body><!-- descr="Image of a cat" --><w:p>'
    + inline('id="1" name="P" descr="Image of a cat &amp; a &quot;hat&quot;"')
    + inline("id='2' descr='Photo of Tom&apos;s boat'")
    + inline('id="3" descr="A quiet harbour"')
    # a group, whose pictures have ids and texts of their own
    + '<w:drawing><wp:anchor><wp:docPr id="4"/><a:graphic><a:graphicData uri="x/wordprocessingGroup">'
    + '<pic:pic><pic:nvPicPr><pic:cNvPr id="1" descr="Image of a kite"/></pic:nvPicPr></pic:pic>'
    + "</a:graphicData></a:graphic></wp:anchor></w:drawing>"
    + "</w:p></w:body></w:document>"
)
HEADER = (
    f"<w:hdr {SPACES}><w:p>"
    + inline('id="1" descr="Image of a logo"')
    + "</w:p></w:hdr>"
)
BLIP = '<p:blipFill><a:blip r:embed="rId1"/></p:blipFill>'


def slide(*texts: str) -> str:
    pictures = "".join(
        f'<p:pic><p:nv><p:cNvPr id="{n}" descr="{text}"/></p:nv>{BLIP}</p:pic>'
        for n, text in enumerate(texts, 2)
    )
    old = pictures.replace("p:pic", "p:pic")
    both = (
        f"<mc:AlternateContent><mc:Choice>{pictures}</mc:Choice>"
        f"<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    )
    return (
        f"<p:sld {SPACES}><p:cSld><p:spTree>{both}</p:spTree></p:cSld></p:sld>"
    )


PAGE = (
    '\ufeff<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>\r\n<p>é '
    "<img src='a.png' alt='Image of a dog'/> <img src=\"b.png\" alt=\"Photo of a cat\"/></p></body></html>"
)
OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements'
    '/1.1/"><dc:language>en</dc:language></metadata></package>'
)
Parts = dict[str, str]
FORMS: dict[str, tuple[Parts, dict[str, list[tuple[str, str]]], int]] = {
    "a.docx": (
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": WORD,
            "word/header1.xml": HEADER,
            "word/_rels/document.xml.rels": RELATIONS.format(
                image="media/cat.png"
            ),
            "word/media/cat.png": "picture" * 99,
        },
        {
            "word/document.xml": [
                (
                    '"Image of a cat &amp; a &quot;hat&quot;"',
                    '"A cat &amp; a &#34;hat&#34;"',
                ),
                ("'Photo of Tom&apos;s boat'", "'Tom&#39;s boat'"),
                ('"Image of a kite"', '"A kite"'),
            ],
            "word/header1.xml": [('"Image of a logo"', '"A logo"')],
        },
        4,
    ),
    "a.pptx": (
        {
            "ppt/slides/slide1.xml": slide(
                "Image of a dog", "A quiet harbour"
            ),
            "ppt/slides/slide2.xml": slide("Image of a dog"),
            "ppt/media/x.png": "x" * 500,
        },
        {
            "ppt/slides/slide1.xml": [('"Image of a dog"', '"A dog"')],
            "ppt/slides/slide2.xml": [('"Image of a dog"', '"A dog"')],
        },
        2,
    ),
    "a.epub": (
        {
            "mimetype": "application/epub+zip",
            "OPS/b.opf": OPF,
            "OPS/c.xhtml": PAGE,
            "OPS/a.png": "p",
        },
        {
            "OPS/c.xhtml": [
                ("'Image of a dog'", "'A dog'"),
                ('"Photo of a cat"', '"A cat"'),
            ]
        },
        2,
    ),
}


class _Stream(io.RawIOBase):
    """Bytes that cannot be sought, so that sizes follow the data."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += data
        return len(data)


def write_archive(path: Path, parts: Parts, *, streamed: bool) -> None:
    out: Any = _Stream() if streamed else io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.comment = b"kept"
        for n, (name, text) in enumerate(parts.items()):
            part_info = zipfile.ZipInfo(name, (1999, 2 + n, 3, 4, 5, 6))
            part_info.compress_type = (
                zipfile.ZIP_STORED
                if name == "mimetype"
                else zipfile.ZIP_DEFLATED
            )
            part_info.comment, part_info.extra = (
                b"c%d" % n,
                struct.pack("<HH2s", 0xCAFE, 2, b"ab"),
            )
            file.writestr(part_info, text)
    path.write_bytes(bytes(out.data) if streamed else out.getvalue())


def split_archive(data: bytes) -> tuple[list[tuple[str, bytes, bytes]], bytes]:
    """Name, local entry, and central record without the place, of each part; and what ends it."""
    end = data.rindex(b"PK\x05\x06")
    n, _, at = struct.unpack("<HLL", data[end + 10 : end + 20])
    headers, places = [], []
    first = at
    for _ in range(n):
        name, extra, comment = struct.unpack("<HHH", data[at + 28 : at + 34])
        size = 46 + name + extra + comment
        (place,) = struct.unpack("<L", data[at + 42 : at + 46])
        record = data[at : at + 42] + data[at + 46 : at + size]
        headers.append((data[at + 46 : at + 46 + name].decode(), record))
        places.append(place)
        at += size
    assert places == sorted(places)
    ends = [*places[1:], first]
    entries = [
        (name, data[a:b], record)
        for (name, record), a, b in zip(headers, places, ends, strict=True)
    ]
    return entries, data[end + 20 :]


def write_decisions(path: Path, decision: str) -> tuple[Path, int]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    out = path.with_name("d.jsonl")
    out.write_text(
        "".join(
            json.dumps({**row, "decision": decision}) + "\n" for row in rows
        )
    )
    return out, len(rows)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_only_the_texts_change_and_other_parts_stay_byte_for_byte(
    name: str, streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parts, changes, n = FORMS[name]
    write_archive(Path(name), parts, streamed=streamed)
    source, out = Path(name).read_bytes(), Path(f"new-{name}")
    revise(name, "p.jsonl")
    refused, n_rows = write_decisions(Path("p.jsonl"), "refuse")
    assert (n_rows, write_accepted(refused, out)) == (n, 0)
    assert out.read_bytes() == source
    accepted, _ = write_decisions(Path("p.jsonl"), "accept")
    assert write_accepted(accepted, out) == n
    (before, end), (after, new_end) = (
        split_archive(source),
        split_archive(out.read_bytes()),
    )
    assert new_end == end
    assert (
        [entry[0] for entry in after]
        == [entry[0] for entry in before]
        == list(parts)
    )
    for old, new in zip(before, after, strict=True):
        if new[0] not in changes:
            assert new == old
    with zipfile.ZipFile(out) as file, zipfile.ZipFile(name) as first:
        assert file.testzip() is None
        for part, texts in changes.items():
            expected = parts[part]
            for old_text, new_text in texts:
                assert old_text in expected
                expected = expected.replace(old_text, new_text, 1)
            assert file.read(part) == expected.encode()
            for field in (
                "compress_type",
                "date_time",
                "external_attr",
                "extra",
                "comment",
            ):
                assert getattr(file.getinfo(part), field) == getattr(
                    first.getinfo(part), field
                )
    assert Path(name).read_bytes() == source
    with pytest.raises(ConfigError, match="has no mark to correct"):
        revise(out, "again.jsonl")
    with pytest.raises(ConfigError, match="would write over the source"):
        write_accepted(accepted, Path(name))


def test_two_equal_places_are_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    twice = inline('id="1" descr="Image of a cat"') * 2
    body = f"<w:document {SPACES}><w:p>{twice}</w:p></w:document>"
    write_archive(Path("a.docx"), {"word/document.xml": body}, streamed=False)
    revise("a.docx", "p.jsonl")
    accepted, _ = write_decisions(Path("p.jsonl"), "accept")
    with pytest.raises(DataError, match="occurs 2 times, expected once"):
        write_accepted(accepted, Path("b.docx"))
    assert not Path("b.docx").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w>&x;</w>',
            "document type",
        ),
        (" " * (20 * 2**20), "unpacks to 20,971,520 bytes"),
    ],
)
def test_hostile_documents_are_refused_when_texts_are_written(
    text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = FORMS["a.docx"][0]
    write_archive(Path("a.docx"), parts, streamed=False)
    revise("a.docx", "p.jsonl")
    write_archive(
        Path("a.docx"), {**parts, "word/footer1.xml": text}, streamed=False
    )
    from beholder.kinds.revise.engine import digest

    rows = (
        Path("p.jsonl")
        .read_text("utf-8")
        .replace(
            json.loads(Path("p.jsonl").read_text("utf-8").splitlines()[0])[
                "meta"
            ]["source"]["digest"],
            digest(Path("a.docx")),
        )
    )  # as if the document had been so when it was read
    Path("p.jsonl").write_text(rows, "utf-8")
    accepted, _ = write_decisions(Path("p.jsonl"), "accept")
    with pytest.raises(DataError, match=why):
        write_accepted(accepted, Path("b.docx"))
    assert not Path("b.docx").exists()
