"""ALT208, with a reader that knows each picture by its width."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from PIL import Image

from beholder.errors import ConfigError, ItemError
from beholder.lint import lint
from beholder.lint.leftovers import describe_left_out
from beholder.lint.linting import Choice, LintReport
from beholder.lint.outputs import as_json, text
from beholder.media.reading import TextLine
from toy.command import runner
from toy.without import without

LINES = {
    20: [TextLine("GRAND OPENING", 0.98), TextLine("1 May 2025", 0.95)],
    21: [],  # a photograph without text
    22: [TextLine("leaves", 0.5)],
    23: [TextLine(" ".join(f"word{n:02}" for n in range(11)), 0.99)],
}
PAGE = """<!doctype html><html lang="en"><body>
<img src="20.png" alt="Poster of the grand opening">
<img src="20.png" alt="Poster: Grand opening, 1 May 2025">
<figure><img src="20.png" alt="A poster for the grand opening on a wall">
<figcaption>1 May 2025</figcaption></figure>
<img src="20.png" alt="">
<img src="20.png">
<img src="21.png" alt="A hill with sheep">
<img src="22.png" alt="A tree">
<img src="23.png" alt="A page of a book">
<img src="24.png" alt="A picture at which the reader fails">
<img src="missing.png" alt="A picture that is missing">
<img src="https://example.org/20.png" alt="A picture on the web">
<img src="../outside.png" alt="A picture outside the folder, as addresses are read">
</body></html>"""


class FakeReader:
    """Lines by the width of the picture; counts the pictures."""

    identity = "fake@1"
    per_process: ClassVar[bool] = False

    def __init__(self) -> None:
        self.n_read = 0

    def lines(self, picture: Image.Image) -> Sequence[TextLine]:
        self.n_read += 1
        if picture.width not in LINES:
            raise ItemError("cannot read it")
        return LINES[picture.width]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    for width in (*LINES, 24):
        Image.new("RGB", (width, 20)).save(folder / f"{width}.png")
    Image.new("RGB", (20, 20)).save(tmp_path / "outside.png")
    (folder / "page.html").write_text(PAGE)
    return folder


def check(site: Path, reader: FakeReader | None) -> LintReport:
    return lint([site], reader=reader)


def test_words_that_neither_text_nor_page_has_are_noted(site: Path) -> None:
    reader = FakeReader()
    report = check(site, reader)
    findings = [f for f in report.findings if f.rule == "ALT208"]
    first_eight = ", ".join(f'"word{n:02}"' for n in range(8))
    assert [(f.line, f.severity, f.message) for f in findings] == [
        (
            2,
            "note",
            'The text leaves out words of the picture: "May", "2025". Add those that matter here,'
            " or put them beside the picture.",
        ),
        (
            10,
            "note",
            f"The text leaves out words of the picture: {first_eight} and 3 more. Add those that matter"
            " here, or put them beside the picture.",
        ),
    ]
    assert findings[0].evidence == {"picture": "May 2025"}
    # A file is read once; one that fails is tried at each of its places.
    assert reader.n_read == 5


def test_what_was_not_read_is_counted(site: Path) -> None:
    report = check(site, FakeReader())
    # 12 places less one that is decorative and one without a text.
    note = "read the words of 6 of 10 pictures with a text by fake@1"
    assert note in report.notes
    assert note in text(report)
    assert note in json.loads(as_json(report))["cautions"]
    assert describe_left_out(report.left_out) == (
        "left out: 3 pictures whose words were not read: missing, damaged or too large"
        " (page.html 3); 1 picture whose words were not read: no file beside the text (page.html)"
    )


def test_without_a_reader_no_picture_is_opened_and_nothing_is_said(
    site: Path,
) -> None:
    report = check(site, None)
    assert not [f for f in report.findings if f.rule == "ALT208"]
    assert (report.left_out, report.notes) == ([], [])
    for choice in (
        Choice(select=frozenset({"ALT208"})),
        Choice(severity={"ALT208": "error"}),
    ):
        with pytest.raises(ConfigError, match="--read-pictures"):
            lint([site], choice=choice)
    reader = FakeReader()
    for excluding in (
        Choice(ignore=frozenset({"ALT208"})),
        Choice(select=frozenset({"ALT101"})),
        Choice(severity={"ALT208": "off"}),
    ):
        with pytest.raises(ConfigError, match="drop --read-pictures"):
            lint([site], choice=excluding, reader=reader)
    assert reader.n_read == 0


def test_the_command_says_how_to_install_the_reader(
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cli = runner(monkeypatch, capsys)
    assert "ocr" not in cli("lint", str(site)).err
    without(monkeypatch, "rapidocr")
    monkeypatch.setattr(
        "beholder.base.optional.missing_message",
        lambda module, *, extra, purpose: f"{purpose}: beholder[{extra}]",
    )
    done = cli("lint", str(site), "--read-pictures")
    assert (done.code, done.out) == (2, "")
    assert "reading words in pictures: beholder[ocr]" in done.err
