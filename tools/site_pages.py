"""What the site has beside ``docs/``: a hook of mkdocs (see ``mkdocs.yml``).

Pages of the repository's root, the sources that pages link to, and the reports of the gallery,
which are made by the commands that the gallery shows.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from tools.pages import ROOT, blocks, commands

METRICS_PAGE = "metrics.md"
ROOT_PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
GALLERY = "gallery.md"

_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)(#[^)]*)?\)")
_MARKDOWN = re.compile(r'href="([^":]+)\.md(#[^"]*)?"')
_REPORT = re.compile(r"<!-- report: (\S+) -->")


def on_config(config: Any) -> Any:
    """Add the generated page of each metric to the navigation, below the table of metrics."""
    names = sorted(path.stem for path in (ROOT / "docs/metrics").glob("*.md"))
    metric_pages = [{name: f"metrics/{name}.md"} for name in names]
    for section in config.nav:
        for pages in section.values():
            for page in pages:
                if isinstance(page, dict) and METRICS_PAGE in page.values():
                    (title,) = page
                    page[title] = [{"Table": METRICS_PAGE}, *metric_pages]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Add what lies outside ``docs/``."""
    for name in ROOT_PAGES:
        files.append(
            File.generated(
                config, name, content=(ROOT / name).read_text("utf-8")
            )
        )
    for source in sorted(set(_outside(files))):
        text = source.read_text(encoding="utf-8")
        files.append(File.generated(config, _as_text(source), content=text))
    for name, page in _reports():
        files.append(
            File.generated(config, f"gallery/{name}.html", content=page)
        )
    return files


def on_page_markdown(
    markdown: str, *, page: Any, config: Any, files: Files
) -> str:
    """Lead links out of ``docs/`` to what was added, and the gallery to its reports."""
    page_folder = (
        ROOT if page.file.src_uri in ROOT_PAGES else _source(page.file).parent
    )
    up = "../" * page.file.src_uri.count("/")

    def led(link: re.Match[str]) -> str:
        target = (page_folder / link[1]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            place = target.relative_to(ROOT / "docs").as_posix()
        elif target.name in ROOT_PAGES and target.parent == ROOT:
            place = target.name
        else:
            place = _as_text(target)
        return f"]({up}{place}{link[2] or ''})"

    markdown = _LINK.sub(led, markdown)
    if page.file.src_uri == GALLERY:
        markdown = _REPORT.sub(
            lambda report: (
                f"[Open this report]({_name(report[1])}){{ .md-button target=_blank }}"
            ),
            markdown,
        )
    return markdown


def on_page_content(html: str, *, page: Any, config: Any, files: Files) -> str:
    """Lead links of notebooks to pages: mkdocs does so in Markdown alone."""
    if page.file.src_uri.endswith(".ipynb"):
        html = _MARKDOWN.sub(r'href="\1.html\2"', html)
    return html


def _source(file: File) -> Path:
    return Path(str(file.abs_src_path))


def _outside(files: Files) -> Iterator[Path]:
    """Files of the repository that pages of ``docs/`` link to and that are no pages of the site."""
    for file in files.documentation_pages():
        if file.src_uri in ROOT_PAGES or not file.src_uri.endswith(".md"):
            continue
        for link in _LINK.finditer(_source(file).read_text(encoding="utf-8")):
            target = (_source(file).parent / link[1]).resolve()
            inside = (
                target.is_relative_to(ROOT / "docs")
                or target.name in ROOT_PAGES
            )
            if not inside and target.is_file():
                yield target


def _as_text(source: Path) -> str:
    """Return the path of a source in the site: browsers show ``.txt`` and download ``.py``."""
    return f"source/{source.relative_to(ROOT).as_posix()}.txt"


def _name(report: str) -> str:
    return f"gallery/{report.removeprefix('runs/').removesuffix('.html').replace('/', '-')}.html"


def _reports() -> Iterator[tuple[str, str]]:
    """Yield the reports that the gallery names, made by its own blocks in a folder of their own."""
    from beholder.cli.main import app

    page = ROOT / "docs" / GALLERY
    names: dict[str, object] = {"__name__": "gallery"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in blocks(page):
                if block.language == "python":
                    exec(
                        compile(
                            block.code, str(page), "exec", dont_inherit=True
                        ),
                        names,
                    )
                elif block.language == "sh":
                    for words in commands(block.code):
                        app([*words[1:]])
            for report in _REPORT.findall(page.read_text(encoding="utf-8")):
                place = (
                    _name(report)
                    .removeprefix("gallery/")
                    .removesuffix(".html")
                )
                yield place, Path(report).read_text(encoding="utf-8")
        finally:
            os.chdir(before)
