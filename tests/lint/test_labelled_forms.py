"""The texts of test_labelled.py in manifests, documents and books: a label does not depend on the form.

Rules about texts were labelled on rows of tables. Here the same texts, captions, dates and languages are
where IIIF (Presentation 2 and 3), WordprocessingML, PresentationML and EPUB have them.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest

from beholder.base.threads import one_blas_thread
from beholder.lint import lint
from beholder.lint.context import vocabulary
from beholder.lint.rules import LintSetting
from toy.alt_texts import CASES, RELATIONS, SPACES, inline, is_read, rates


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Thousands of calls share one limit of threads; each would set its own."""
    with one_blas_thread():
        yield


pytestmark = pytest.mark.slow

_CONTROL = re.compile("[\x00-\x1f\ufffe\uffff]")
Rows = Sequence[Mapping[str, str]]
"""Rows of a case, each with its language."""


def manifest(path: Path, rows: Rows) -> None:
    """Presentation 3: annotations that provide alternative text, describe, or metadata, by turns."""
    items = []
    for number, row in enumerate(rows):
        language, text = row["language"], row["alt"]
        image = f"https://x.org/iiif/{row['image']}/full/max/0/default.jpg"
        painting = {
            "type": "Annotation",
            "body": {"id": image, "type": "Image"},
        }
        canvas: dict[str, Any] = {
            "type": "Canvas",
            "id": f"https://x.org/{number}",
            "items": [{"type": "AnnotationPage", "items": [painting]}],
            "metadata": [
                {
                    "label": {"en": [key.capitalize()]},
                    "value": {"none": [row[key]]},
                }
                for key in ("date", "medium")
                if row.get(key)
            ],
        }
        if row.get("caption"):
            canvas["label"] = {language or "none": [row["caption"]]}
        way = len(text or "") % 3
        body = {"type": "TextualBody", "value": text, "format": "text/plain"}
        body |= {"language": language} if language else {}
        if text and way == 2:
            value = {language or "none": [text]}
            canvas["metadata"].append(
                {"label": {"en": ["Alt text"]}, "value": value}
            )
        elif text:
            says = {
                "motivation": "supplementing",
                "provides": ["alternativeText"],
                "body": body,
            }
            if way:
                text_body = body | {"accessibility": "alternativeText"}
                says = {"motivation": "describing", "body": text_body}
            canvas["annotations"] = [
                {"type": "AnnotationPage", "items": [says]}
            ]
        items.append(canvas)
    path.write_text(json.dumps({"type": "Manifest", "items": items}))


def old_manifest(path: Path, rows: Rows) -> None:
    """Presentation 2: a metadata pair."""
    canvases = []
    for row in rows:

        def language_value(
            text: str, language: str = row["language"]
        ) -> object:
            return (
                {"@value": text, "@language": language} if language else text
            )

        image = f"https://x.org/iiif/{row['image']}/full/full/0/default.jpg"
        pairs = (
            [
                {
                    "label": "Alternative text",
                    "value": language_value(row["alt"]),
                }
            ]
            if row["alt"]
            else []
        )
        pairs += [
            {"label": key.capitalize(), "value": row[key]}
            for key in ("date", "medium")
            if row.get(key)
        ]
        resource = {"@id": image, "@type": "dctypes:Image"}
        canvases.append(
            {
                "@type": "sc:Canvas",
                "label": language_value(row.get("caption", "")),
                "images": [{"@type": "oa:Annotation", "resource": resource}],
                "metadata": pairs,
            }
        )
    sequences = [{"@type": "sc:Sequence", "canvases": canvases}]
    path.write_text(
        json.dumps({"@type": "sc:Manifest", "sequences": sequences})
    )


def relations(rows: Rows) -> str:
    relationships = "".join(
        f'<Relationship Id="rId{number}" Type="image" Target={quoteattr(row["image"])}/>'
        for number, row in enumerate(rows, 1)
    )
    return (
        RELATIONS.partition("<Relationship ")[0]
        + relationships
        + "</Relationships>"
    )


def write(path: Path, parts: Mapping[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)


def word(path: Path, rows: Rows) -> None:
    style = '<w:pPr><w:pStyle w:val="Caption"/></w:pPr>'
    body = ""
    for number, row in enumerate(rows, 1):
        attributes = f'id="{number}" descr={quoteattr(row["alt"] or "")}'
        body += (
            f"<w:p>{inline(attributes).replace('rId1', f'rId{number}')}</w:p>"
        )
        caption = f"<w:r><w:t>{escape(row.get('caption', ''))}</w:t></w:r>"
        body += (
            f"<w:p>{style}{caption}</w:p>" if row.get("caption") else "<w:p/>"
        )
    language = (
        f'<w:lang w:val="{rows[0]["language"]}"/>'
        if rows[0]["language"]
        else ""
    )
    parts = {
        "word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(rows),
        "word/styles.xml": f"<w:styles {SPACES}><w:docDefaults>{language}</w:docDefaults></w:styles>",
    }
    write(path, parts)


def slides(path: Path, rows: Rows) -> None:
    parts = {}
    for number, row in enumerate(rows, 1):
        properties = f"<p:cNvPr id='2' name='Picture' descr={quoteattr(row['alt'] or '')}/>"
        pic = f"<p:pic><p:nvPicPr>{properties}</p:nvPicPr><p:blipFill><a:blip r:embed='rId1'/></p:blipFill></p:pic>"
        parts[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {SPACES}>{pic}</p:sld>"
        )
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations([row])
    write(path, parts)


def book(path: Path, rows: Rows) -> None:
    figures = "".join(
        f"<figure><img src={quoteattr(row['image'])} alt={quoteattr(row['alt'])}/>"
        f"<figcaption>{escape(row.get('caption', ''))}</figcaption></figure>"
        if row.get("caption") and row["alt"]
        else f"<img src={quoteattr(row['image'])}"
        + (f" alt={quoteattr(row['alt'])}/>" if row["alt"] else "/>")
        for row in rows
    )
    language = (
        f"<dc:language>{rows[0]['language']}</dc:language>"
        if rows[0]["language"]
        else ""
    )
    parts = {
        "mimetype": "application/epub+zip",
        "OEBPS/content.opf": f"<package xmlns:dc='http://purl.org/dc/elements/1.1/'>{language}</package>",
        "OEBPS/page.xhtml": f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{figures}</body></html>",
    }
    write(path, parts)


FORMS: dict[str, tuple[str, Callable[[Path, Rows], None], frozenset[str]]] = {
    "iiif3": ("m.json", manifest, frozenset(("caption", "date", "medium"))),
    "iiif2": (
        "m.json",
        old_manifest,
        frozenset(("caption", "date", "medium")),
    ),
    "docx": ("a.docx", word, frozenset(("caption",))),
    "pptx": ("a.pptx", slides, frozenset()),
    "epub": ("a.epub", book, frozenset(("caption",))),
}
"""Name of the file, what writes it, and the fields that it can have besides language."""


def cases_of(form: str) -> Sequence[tuple[Mapping[str, Any], Rows]]:
    """Cases whose fields the form can have; slides have no language here."""
    cases = []
    for case in map(json.loads, CASES):
        if not case.get("rows"):
            continue
        rows = [
            row | {"language": row.get("language") or ""}
            for row in case["rows"]
        ]
        fields = {key for row in rows for key, value in row.items() if value}
        languages = {row["language"] for row in rows}
        if not fields <= FORMS[form][2] | {"image", "alt", "language"}:
            continue
        if form == "pptx" and languages != {""}:
            continue
        if form in ("docx", "pptx") and any(
            _CONTROL.search(str(row["alt"])) for row in rows
        ):
            continue  # no XML
        if form.startswith("iiif") or len(languages) == 1:
            cases.append((case, rows))
    return cases


@pytest.mark.parametrize(
    ("form", "n"),
    [
        ("iiif3", 388),
        ("iiif2", 388),
        ("docx", 366),
        ("pptx", 285),
        ("epub", 367),
    ],
)
def test_a_labelled_case_has_the_same_finding_in_each_form(
    tmp_path: Path, form: str, n: int
) -> None:
    name, make, _ = FORMS[form]
    terms = vocabulary(())
    counts = {True: Counter[str](), False: Counter[str]()}
    cases = cases_of(form)
    for case, rows in cases:
        make(tmp_path / name, rows)
        report = lint(
            [tmp_path / name],
            LintSetting(case["profile"] or "web", terms=terms),
        )
        hit = case["rule"] in {finding.rule for finding in report.findings}
        kind = (
            ("hit" if hit else "miss")
            if case["expected"]
            else ("false" if hit else "pass")
        )
        counts[is_read(case)][kind] += 1
    assert len(cases) == n
    for half in counts.values():
        precision, recall = rates([half])
        assert precision >= 0.98
        assert recall >= 0.95


def test_a_page_in_a_book_has_the_findings_of_the_page(tmp_path: Path) -> None:
    counts = {True: Counter[str](), False: Counter[str]()}
    for case in map(json.loads, CASES):
        if not case.get("html"):
            continue
        write(
            tmp_path / "a.epub",
            {"mimetype": "application/epub+zip", "page.xhtml": case["html"]},
        )
        setting = LintSetting(case["profile"] or "web", terms=vocabulary(()))
        hit = case["rule"] in {
            finding.rule
            for finding in lint([tmp_path / "a.epub"], setting).findings
        }
        kind = (
            ("hit" if hit else "miss")
            if case["expected"]
            else ("false" if hit else "pass")
        )
        counts[is_read(case)][kind] += 1
    assert sum(half.total() for half in counts.values()) == 299
    for half in counts.values():
        precision, recall = rates([half])
        assert precision >= 0.98
        assert recall >= 0.95
