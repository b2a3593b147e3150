"""Marks of review in copies of files: what is written, what is withheld, what is never touched."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lxml import etree

from beholder.errors import ConfigError, DataError
from beholder.kinds.accept.marks import MarkWriter, ReviewMark
from beholder.records import Item

COLUMNS = [
    "alt_source",
    "alt_review",
    "alt_reviewed",
    "alt_reviewer",
    "alt_certificate",
]
FORBIDDEN = ("DigitalSourceType", "AISystemUsed", "AIPromptInformation")
"""Properties that state how a picture was made."""


def mark(name: str, text: str, final: str | None, state: Any) -> ReviewMark:
    item = Item(name, text, images=(f"photos/{name}.jpg",))
    reviewed = "" if state == "unreviewed" else "2026-11-29"
    reviewer = "" if state in ("lot", "unreviewed") else "r1"
    values = ("m-1", state, reviewed, reviewer, "ce47")
    fields = dict(zip(COLUMNS, values, strict=True))
    return ReviewMark(item, final, state, fields)


MARKS = {
    entry.item.id: entry
    for entry in (
        mark("a", "A red door.", "A red door.", "lot"),
        mark("b", 'A "cat" & a hat.', 'A "cat" & a hat.', "read"),
        mark("c", "A dog.", "A brown dog <small>.", "edited"),
        mark("d", "Nobody drowns.", None, "read"),
        mark("e", "A tree.", "A tree.", "unreviewed"),
    )
}


def writer(root: Path, **options: bool) -> MarkWriter:
    return MarkWriter(MARKS, root, **options)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_get_columns_and_lose_grave_texts(
    tmp_path: Path, form: str
) -> None:
    rows = [
        {"id": name, "alt": entry.item.candidate, "other": "=1"}
        for name, entry in MARKS.items()
    ]
    rows.append({"id": "z", "alt": "Not in the proof.", "other": "2"})
    source, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), source)
    elif form == "jsonl":
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with source.open("w", newline="") as file:
            table = csv.DictWriter(
                file, list(rows[0]), delimiter="\t" if form == "tsv" else ","
            )
            table.writeheader()
            table.writerows(rows)
    before = source.read_bytes()
    counts = writer(tmp_path).write(source, out)
    assert source.read_bytes() == before
    assert counts == {
        "lot": 1, "read": 1, "edited": 1, "withheld": 1, "unreviewed": 1, "not in the proof": 1,
    }  # fmt: skip
    if form == "parquet":
        written = pq.read_table(out).to_pylist()
    elif form == "jsonl":
        written = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        with out.open(newline="") as file:
            written = list(
                csv.DictReader(file, delimiter="\t" if form == "tsv" else ",")
            )
    by_id = {row["id"]: row for row in written}
    assert list(by_id) == ["a", "b", "c", "e", "z"]
    assert by_id["c"]["alt"] == "A brown dog <small>."
    assert [by_id["c"][name] for name in COLUMNS] == [
        "m-1", "edited", "2026-11-29", "r1", "ce47",
    ]  # fmt: skip
    assert by_id["e"]["alt_review"] == "unreviewed"
    assert all(row["other"] == "=1" for row in written[:4])
    assert not by_id["z"].get("alt_review")


PAGE = """<!doctype html><html lang="en"><!-- <img src="../photos/a.jpg" alt="x"> -->
<script>'<img src="../photos/a.jpg" alt="x">'</script>
<img src="../photos/a.jpg" class='big' width=3>
<IMG alt="old" src='../photos/b.jpg'/>
<img src="/photos/c.jpg" alt="">
<img src="../photos/d.jpg" alt="Nobody drowns.">
<img src="../photos/d.jpg" alt="Our own words.">
<img src="../photos/e.jpg" alt="A tree.">
<img src="../photos/other.jpg" alt="Another &gt; picture">
</html>
"""


def test_pages_of_a_site(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "pages").mkdir(parents=True)
    (site / "photos").mkdir()
    (site / "photos" / "a.jpg").write_bytes(b"\xff\xd8picture")
    (site / "pages" / "index.html").write_text(PAGE)
    counts = writer(site).write(site, tmp_path / "new")
    page = (tmp_path / "new" / "pages" / "index.html").read_text()
    assert (site / "pages" / "index.html").read_text() == PAGE
    lines = page.splitlines()
    assert lines[:2] == PAGE.splitlines()[:2]
    assert lines[2:] == [
        """<img src="../photos/a.jpg" class='big' width=3 alt="A red door.">""",
        """<IMG src='../photos/b.jpg' alt="A &quot;cat&quot; &amp; a hat."/>""",
        """<img src="/photos/c.jpg" alt="A brown dog &lt;small&gt;.">""",
        """<img src="../photos/d.jpg">""",
        """<img src="../photos/d.jpg" alt="Our own words.">""",
        """<img src="../photos/e.jpg" alt="A tree.">""",
        """<img src="../photos/other.jpg" alt="Another &gt; picture">""",
        "</html>",
    ]
    assert counts["withheld"] == 2
    assert (tmp_path / "new/photos/a.jpg").read_bytes() == b"\xff\xd8picture"
    writer(site, in_html=True).write(site, tmp_path / "marked")
    marked = (tmp_path / "marked" / "pages" / "index.html").read_text()
    assert (
        'alt="A brown dog &lt;small&gt;." data-alt-source="m-1"'
        ' data-alt-review="edited" data-alt-reviewed="2026-11-29">'
    ) in marked
    assert marked.count("data-alt-review=") == 3


def test_annotations_name_the_captioner_the_reviewer_and_this_program(
    tmp_path: Path,
) -> None:
    def annotation(target: Any, value: str) -> dict[str, Any]:
        body = {"type": "TextualBody", "value": value}
        return {"type": "Annotation", "body": body, "target": target}

    content = {
        "type": "AnnotationPage",
        "items": [
            annotation("photos/c.jpg", "A dog."),
            annotation({"source": "photos/a.jpg"}, "A red door."),
            annotation("photos/d.jpg", "Nobody drowns."),
            annotation("photos/e.jpg", "A tree."),
            annotation("photos/other.jpg", "Another."),
        ],
    }
    (tmp_path / "in.json").write_text(json.dumps(content))
    writer(tmp_path).write(tmp_path / "in.json", tmp_path / "out.json")
    items = json.loads((tmp_path / "out.json").read_text())["items"]
    assert [entry["body"]["value"] for entry in items] == [
        "A brown dog <small>.",
        "A red door.",
        "A tree.",
        "Another.",
    ]
    edited, lot, *others = items
    assert edited["body"]["creator"] == {"type": "Software", "name": "m-1"}
    assert (edited["creator"], edited["modified"]) == ("r1", "2026-11-29")
    assert edited["generator"]["name"].startswith("beholder ")
    assert lot["creator"] == "organization"
    assert all("creator" not in entry for entry in others)


def test_sidecars_change_their_own_properties_only(tmp_path: Path) -> None:
    photos = tmp_path / "site" / "photos"
    photos.mkdir(parents=True)
    for name in "abc":
        (photos / f"{name}.jpg").write_bytes(b"picture " + name.encode())
    (photos / "a.xmp").write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF'
        ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" rdf:about="" dc:format="image/jpeg"/>'
        "</rdf:RDF></x:xmpmeta>"
    )
    digests = {p: sha256(p.read_bytes()).digest() for p in photos.iterdir()}
    site, new = tmp_path / "site", tmp_path / "new"
    for _ in range(2):  # the same command again
        counts = writer(site, xmp=True).write(site, new)
    assert counts["XMP files"] == 3
    assert digests == {p: sha256(p.read_bytes()).digest() for p in photos.iterdir()}  # fmt: skip
    text = (new / "photos" / "a.xmp").read_text("utf-8")
    assert 'dc:format="image/jpeg"' in text
    root = etree.fromstring(text.encode("utf-8"))
    names = {
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "iptc": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
    }
    path = "//iptc:AltTextAccessibility/rdf:Alt/rdf:li"
    assert [e.text for e in root.xpath(path, namespaces=names)] == ["A red door."]  # fmt: skip
    for name in "abc":
        assert (new / "photos" / f"{name}.jpg").read_bytes() == b"picture " + name.encode()  # fmt: skip
    every = b"".join(p.read_bytes() for p in new.rglob("*") if p.is_file())
    assert not any(name.encode() in every for name in FORBIDDEN)
    with (new / "exiftool.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["SourceFile", "XMP-iptcCore:AltTextAccessibility"]
    assert ["photos/c.jpg", "A brown dog <small>."] in rows
    (photos / "b.xmp").write_text("<x:xmpmeta")
    with pytest.raises(DataError, match="it is not changed"):
        writer(site, xmp=True).write(site, tmp_path / "third")


def test_what_is_refused(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.txt").write_text("x")
    (site / "no-id.csv").write_text("alt\nA tree.\n")
    (site / "other.csv").write_text("id,alt\na,Another text.\n")
    for out in (site, site / "new", tmp_path):
        with pytest.raises(ConfigError, match="would write into the source"):
            writer(site).write(site, out)
    for name, message in (
        ("a.txt", "marks cannot be written into .txt files"),
        ("no-id.csv", "has no column 'id' and 1 rows"),
        ("other.csv", "has not the frozen text 'A red door.'"),
    ):
        with pytest.raises(DataError, match=message):
            writer(site).write(site / name, tmp_path / "out.csv")
