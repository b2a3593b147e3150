"""Reviewed texts written into copies of files, with marks of how far a person looked at them.

Marks are about texts. Properties that state how a picture was made, such as ``DigitalSourceType``,
are never written, and neither are picture files.
"""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lxml import etree

from beholder._version import __version__
from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.data.headings import ITEM_FIELDS, find_columns
from beholder.data.lines import parse_json
from beholder.data.reading import RowReading
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError
from beholder.kinds.accept.claim import Frozen
from beholder.kinds.accept.evidence import Readings, all_read
from beholder.lint.attributes import ATTRIBUTE, unquote_value
from beholder.records import Item

State: TypeAlias = Literal["unreviewed", "lot", "read", "edited"]
"""Not read; not read, but the collection passed; read and unchanged; edited by a reader."""

_IPTC = "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_META = "adobe:ns:meta/"
_OWN = "urn:beholder:alt-review:1"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TAG = re.compile(
    r"<!--.*?-->|<(script|style|textarea)\b.*?</\1\s*>|<img\b(?:[^>\"']|\"[^\"]*\"|'[^']*')*>",
    re.I | re.S,
)


@dataclass(frozen=True)
class ReviewMark:
    """A text with the marks of its review.

    Attributes:
        item: The text as it was frozen.
        text: The text to write; None if it has a grave error that no one edited, or could not be
            judged: it is never written.
        state: How far it was reviewed.
        fields: The marks by column name.
    """

    item: Item
    text: str | None
    state: State
    fields: Mapping[str, str]

    @property
    def count(self) -> str:
        """The name under which the text is counted."""
        return "withheld" if self.text is None else self.state


def find_marks(
    frozen: Frozen, readings: Readings, certificate: Mapping[str, Any]
) -> dict[str, ReviewMark]:
    """Return the mark of each text by id."""
    origin = frozen.claim.captioner
    signatures = origin.get("signatures") or [origin.get("model")]
    source = str(signatures[0] or origin.get("system") or "unknown")
    read = all_read(frozen, readings)
    is_accepted = certificate["result"]["verdict"] == "accepted"
    marks = {}
    for item in frozen.items:
        state: State = "lot" if is_accepted else "unreviewed"
        final: str | None = item.candidate
        reviewer = ""
        if (text := read.get(item.id)) is not None:
            is_edited = text.final != item.candidate
            state = "edited" if is_edited else "read"
            reviewer = text.editor
            final = text.final if is_edited or not text.is_error else None
        fields = {
            "alt_source": source,
            "alt_review": state,
            "alt_reviewed": ""
            if state == "unreviewed"
            else certificate["date"],
            "alt_reviewer": reviewer,
            "alt_certificate": certificate["digest"],
        }
        marks[item.id] = ReviewMark(item, final, state, fields)
    return marks


@dataclass(frozen=True)
class MarkWriter:
    """Writes marks into copies of files.

    Attributes:
        marks: The marks by id.
        root: Folder of the pictures that the texts name.
        in_html: Whether pages get marks besides texts.
        xmp: Whether pictures get XMP files beside them.
    """

    marks: Mapping[str, ReviewMark]
    root: Path
    in_html: bool = False
    xmp: bool = False

    def write(self, source: Path, out: Path) -> Counter[str]:
        """Write a file or a folder; return how many texts were written, withheld, not matched.

        Raises:
            ConfigError: ``out`` is the source, inside it or around it.
            DataError: A file cannot be read, or has another form.
        """
        a, b = source.resolve(), out.resolve()
        if a == b or a in b.parents or b in a.parents:
            raise ConfigError(
                f"--output {out} would write into the source {source}; name another place"
            )
        if source.is_file():
            form = _FORMS.get(source.suffix.lower())
            if form is None:
                raise DataError(
                    str(source),
                    f"marks cannot be written into {source.suffix} files, only into"
                    f" {', '.join(sorted(_FORMS))} and folders",
                )
            return form(self, source, out, source.parent)
        counts: Counter[str] = Counter()
        for file in sorted(
            path for path in source.rglob("*") if path.is_file()
        ):
            target = out / file.relative_to(source)
            files.make_folder(target.parent)
            if file.suffix.lower() in (".html", ".htm", ".json"):
                counts += _FORMS[file.suffix.lower()](
                    self, file, target, source
                )
            else:
                shutil.copyfile(file, target)
        if self.xmp:
            counts += self._write_sidecars(source, out)
        return counts

    def by_picture(self) -> dict[str, ReviewMark]:
        """Return the marks by the place of their picture; a picture with two texts has none."""
        marks_by_place = group_by_key(
            (_place(mark.item.images[0], self.root), mark)
            for mark in self.marks.values()
            if mark.item.images
        )
        return {
            place: marks[0]
            for place, marks in marks_by_place.items()
            if len(marks) == 1
        }

    def write_table(self, source: Path, out: Path, _: Path) -> Counter[str]:
        """Write a data file: withheld rows are left out, the others get five columns."""
        counts = Counter[str]()
        rows = list(_read_table(source))
        kept = []
        for row, mark in self._match(rows, source):
            if mark is None:
                counts["not in the proof"] += 1
                kept.append(row)
            elif mark.text is None:
                counts["withheld"] += 1
            else:
                counts[mark.state] += 1
                column = _text_column(row, mark.item.candidate, source)
                kept.append({**row, column: mark.text, **mark.fields})
        _write_table(out, kept, source)
        return counts

    def _match(
        self, rows: Sequence[dict[str, Any]], source: Path
    ) -> Iterator[tuple[dict[str, Any], ReviewMark | None]]:
        """Yield rows with their marks: by id, or in order if no row has an id."""
        if any("id" in row for row in rows):
            for row in rows:
                yield row, self.marks.get(str(row.get("id")))
            return
        if len(rows) != len(self.marks):
            raise DataError(
                str(source),
                f"has no column 'id' and {len(rows)} rows, the proof has {len(self.marks)}; write"
                " the file that was frozen",
            )
        yield from zip(rows, self.marks.values(), strict=True)

    def write_page(self, source: Path, out: Path, site: Path) -> Counter[str]:
        """Write an HTML page: alternative texts, with marks if they are asked for."""
        counts: Counter[str] = Counter()
        marks = self.by_picture()

        def splice(tag: re.Match[str]) -> str:
            if tag[0][:4].lower() != "<img":
                return tag[0]
            attributes = {
                match[1].lower(): (match.span(), unquote_value(match[2]))
                for match in ATTRIBUTE.finditer(tag[0])
            }
            address = attributes.get("src", ((0, 0), ""))[1]
            folder = site if address.startswith("/") else source.parent
            mark = marks.get(_place(address.lstrip("/"), folder))
            if mark is None:
                counts["pictures not in the proof"] += 1
                return tag[0]
            text = mark.text
            counts[mark.count] += 1
            former = attributes.get("alt", ((0, 0), None))[1]
            is_kept = text is None and former != mark.item.candidate
            if is_kept or mark.state == "unreviewed":
                return tag[0]
            fields = {} if text is None else {"alt": text}
            if text is not None and self.in_html:
                fields |= {
                    f"data-{name.replace('_', '-')}": mark.fields[name]
                    for name in ("alt_source", "alt_review", "alt_reviewed")
                }
            # A text with a grave error goes without another in its place: an empty one would say
            # that the picture is decorative.
            replaced = {"alt", *fields}
            pieces = [
                tag[0][slice(*attributes[name][0])]
                for name in attributes
                if name not in replaced
            ]
            new = "".join(
                f' {name}="{html.escape(value)}"'
                for name, value in fields.items()
            )
            end = "/>" if tag[0].endswith("/>") else ">"
            return f"{tag[0][:4]}{''.join(pieces)}{new}{end}"

        data = source.read_bytes()
        try:
            page = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(str(source), f"is not UTF-8: {error}") from error
        files.write_bytes(out, _TAG.sub(splice, page).encode("utf-8"))
        return counts

    def write_annotations(
        self, source: Path, out: Path, _: Path
    ) -> Counter[str]:
        """Write IIIF or Web Annotations: texts, their makers and reviewers."""
        counts: Counter[str] = Counter()
        marks = self.by_picture()
        content = parse_json(source.read_bytes(), str(source))

        def visit(value: Any) -> Any:
            if isinstance(value, list):
                visited = [visit(entry) for entry in value]
                return [entry for entry in visited if entry is not None]
            if not isinstance(value, dict):
                return value
            body = value.get("body")
            if value.get("type") == "Annotation" and isinstance(body, dict):
                target = value.get("target")
                if isinstance(target, dict):
                    target = target.get("source", target.get("id"))
                mark = self.marks.get(str(value.get("id"))) or marks.get(
                    _place(str(target), source.parent)
                )
                if mark is not None and body.get("type") == "TextualBody":
                    return self._annotation(value, mark, counts)
            return {key: visit(entry) for key, entry in value.items()}

        text = json.dumps(visit(content), ensure_ascii=False, indent=2)
        if not counts:
            shutil.copyfile(source, out)
            return counts
        files.write_text(out, text + "\n")
        return counts

    def _annotation(
        self,
        annotation: dict[str, Any],
        mark: ReviewMark,
        counts: Counter[str],
    ) -> dict[str, Any] | None:
        """Return an annotation with the text, its maker and reviewer; None if it is withheld."""
        counts[mark.count] += 1
        is_machine = annotation["body"].get("value") == mark.item.candidate
        if mark.text is None:
            return None if is_machine else annotation
        if mark.state == "unreviewed":
            return annotation
        maker = {"type": "Software", "name": mark.fields["alt_source"]}
        body = {
            **annotation["body"],
            "value": mark.text,
            "creator": maker,
        }
        reviewed = mark.fields["alt_reviewed"]
        body.setdefault("created", reviewed)
        return {
            **annotation,
            "body": body,
            "creator": mark.fields["alt_reviewer"] or "organization",
            "modified": reviewed,
            # The program that serialized the annotation, which is not the captioner.
            "generator": {
                "type": "Software",
                "name": f"beholder {__version__}",
            },
        }

    def _write_sidecars(self, source: Path, out: Path) -> Counter[str]:
        """Write an XMP file beside each picture of a folder, and a CSV that ExifTool imports."""
        counts: Counter[str] = Counter()
        rows = [("SourceFile", "XMP-iptcCore:AltTextAccessibility")]
        marks = self.by_picture()
        counts[
            "texts of no picture or of a shared one, without an XMP file"
        ] = len(self.marks) - len(marks)
        for place, mark in marks.items():
            picture = Path(place)
            if not picture.is_relative_to(source.resolve()):
                counts["pictures elsewhere, without an XMP file"] += 1
                continue
            if mark.text is None or mark.state == "unreviewed":
                counts[mark.count] += 1
                continue
            name = picture.relative_to(source.resolve())
            files.write_bytes(
                (out / name).with_suffix(".xmp"),
                _sidecar(source / name.with_suffix(".xmp"), mark),
            )
            rows.append((name.as_posix(), mark.text))
            counts["XMP files"] += 1
        files.write_csv(out / "exiftool.csv", rows)
        return counts


_FORMS: Mapping[
    str, Callable[[MarkWriter, Path, Path, Path], Counter[str]]
] = {
    **dict.fromkeys(
        (".csv", ".tsv", ".jsonl", ".parquet"), MarkWriter.write_table
    ),
    **dict.fromkeys((".html", ".htm"), MarkWriter.write_page),
    ".json": MarkWriter.write_annotations,
}


def _place(image: str, folder: Path) -> str:
    """Return the absolute path of a picture, or its address."""
    return image if "://" in image else str((folder / image).resolve())


def _text_column(row: Mapping[str, Any], text: str, source: Path) -> str:
    """Return the column of a row that has its text.

    Raises:
        DataError: No column has it.
    """
    headings = (find_columns(row, g) for g in ITEM_FIELDS["candidate"])
    names = [*(name for group in headings for name in group), *row]
    for name in names:
        if row.get(name) == text:
            return name
    raise DataError(
        str(source),
        f"row {row.get('id', '')!r} has not the frozen text {text[:60]!r}",
    )


def _read_table(source: Path) -> Iterator[dict[str, Any]]:
    reading = RowReading(as_written=True)
    for _, row in read_rows(source, str(source), reading):
        if isinstance(row, DataError):
            raise row
        yield row


def _write_table(
    out: Path, rows: Sequence[dict[str, Any]], source: Path
) -> None:
    form = source.suffix.lower()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if form == ".jsonl":
        files.write_jsonl(out, rows)
    elif form == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pq.read_schema(source)
        for name in columns:
            if name not in schema.names:
                schema = schema.append(pa.field(name, pa.string()))
        with files.write_atomically(out) as unfinished:
            pq.write_table(pa.Table.from_pylist(rows, schema), unfinished)
    else:
        with (
            files.write_atomically(out) as unfinished,
            unfinished.open("w", encoding="utf-8", newline="") as file,
        ):
            separator = "\t" if form == ".tsv" else ","
            writer = csv.DictWriter(
                file, columns, delimiter=separator, lineterminator="\n"
            )
            writer.writeheader()
            writer.writerows(rows)


def _sidecar(existing: Path, mark: ReviewMark) -> bytes:
    """Return the XMP of a picture: its alternative text and four marks; all else is kept.

    Raises:
        DataError: An existing file cannot be parsed.
    """
    names = {"x": _META, "rdf": _RDF, "Iptc4xmpCore": _IPTC, "alt": _OWN}
    if existing.is_file():
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        try:
            root = etree.parse(existing, parser).getroot()
        except (etree.XMLSyntaxError, OSError) as error:
            raise DataError(
                str(existing),
                f"is not XMP that can be parsed: {error}; it is not changed",
            ) from error
    else:
        root = etree.Element(f"{{{_META}}}xmpmeta", nsmap=names)
        etree.SubElement(root, f"{{{_RDF}}}RDF")
    rdf = root if root.tag == f"{{{_RDF}}}RDF" else root.find(f"{{{_RDF}}}RDF")
    if rdf is None:
        raise DataError(str(existing), "is not XMP: rdf:RDF is missing")
    values = {
        name: mark.fields[name]
        for name in (
            "alt_source",
            "alt_review",
            "alt_reviewed",
            "alt_reviewer",
        )
    }
    text_tag = f"{{{_IPTC}}}AltTextAccessibility"
    ours = [text_tag, *(f"{{{_OWN}}}{name}" for name in values)]
    for description in rdf.findall(f"{{{_RDF}}}Description"):
        for tag in ours:
            description.attrib.pop(tag, None)
            for old in description.findall(tag):
                description.remove(old)
    description = etree.SubElement(rdf, f"{{{_RDF}}}Description", nsmap=names)
    description.set(f"{{{_RDF}}}about", "")
    texts = etree.SubElement(
        etree.SubElement(description, text_tag), f"{{{_RDF}}}Alt"
    )
    languages = dict.fromkeys(("x-default", mark.item.language or "x-default"))
    for language in languages:
        entry = etree.SubElement(texts, f"{{{_RDF}}}li")
        entry.set(_LANGUAGE, language)
        entry.text = mark.text
    for name, value in values.items():
        etree.SubElement(description, f"{{{_OWN}}}{name}").text = value
    return bytes(etree.tostring(root, encoding="utf-8", xml_declaration=True))
