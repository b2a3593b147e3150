"""The command: exit codes, formats, baselines and choices of rules."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from PIL import Image

from toy.command import Cli

ROWS = """image,alt,caption
a.jpg,,
b.jpg,IMG_2041,
c.jpg,Image of a dog on a sofa,
d.jpg,A man in a boat on the river,
"""


@pytest.fixture
def cli(cli: Cli) -> Cli:
    Path("alts.csv").write_text(ROWS)
    return cli


def test_a_table_without_any_option(cli: Cli) -> None:
    done = cli("lint", "alts.csv")
    assert done.code == 1
    assert "alts.csv: read `alt` as text, `image` as picture" in done.out
    assert "2  error    ALT001" in done.out
    assert done.out.rstrip().endswith(
        "4 pictures in 1 file: 2 errors, 1 warning, 0 notes"
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--select", "ALT104"], 0),
        (["--select", "ALT104", "--fail-on", "warning"], 1),
        (["--fail-on", "never"], 0),
        (["--ignore", "ALT001", "--rule", "ALT101=note"], 0),
        (["--rule", "ALT104=error", "--select", "ALT104"], 1),
    ],
)
def test_exit_codes_follow_the_severity_of_findings(
    cli: Cli, options: list[str], code: int
) -> None:
    assert cli("lint", "alts.csv", *options).code == code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a file or folder"),
        (["none.csv"], "none.csv: is not a file or folder"),
        (
            ["alts.csv", "--select", "ALT999"],
            "there is no rule 'ALT999'; did you mean ALT",
        ),
        (
            ["alts.csv", "--rule", "ALT105=bad"],
            "expected off, note, warning or error",
        ),
        (
            ["alts.csv", "--format", "json", "--format", "html"],
            "add -o FOLDER",
        ),
        (
            ["alts.csv", "--baseline", "alts.csv"],
            "alts.csv: is not a baseline",
        ),
        (
            ["alts.csv", "--map", "text=nothing"],
            "there are: image, alt, caption",
        ),
        (
            ["alts.csv", "--map", "text=captoin"],
            "no column 'captoin', did you mean 'caption'?",
        ),
        (
            ["alts.csv", "--map", "pagetxt=alt"],
            "no field 'pagetxt', did you mean 'page_text'?",
        ),
        (
            ["alts.csv", "--map", "colour=alt"],
            "expected one of text, picture, page, page_text",
        ),
        (
            ["alts.csv", "--map", "text=alt", "--map", "alt=image"],
            "text has the column 'alt'",
        ),
    ],
)
def test_wrong_use_exits_with_2_and_a_message(
    cli: Cli, arguments: list[str], message: str
) -> None:
    done = cli("lint", *arguments)
    assert (done.code, message in done.err) == (2, True), done.err


@pytest.mark.parametrize("field", ["text", "alt", "alt_text", "candidate"])
def test_a_text_is_mapped_by_the_names_of_its_usual_columns(
    cli: Cli, field: str
) -> None:
    Path("own.csv").write_text("a,b\nphoto.jpg,A red door in a wall\n")
    done = cli("lint", "own.csv", "--map", f"{field}=b", "--map", "image=a")
    assert "own.csv: read `b` as text, `a` as picture" in done.out


def test_a_bad_row_is_reported(cli: Cli) -> None:
    Path("bad.csv").write_text(
        "image,alt\na.jpg,A red door in a wall\nb.jpg\n"
    )
    done = cli("lint", "bad.csv")
    assert done.code == 2
    assert "bad.csv:3: has 1 cells, the header has 2" in done.err
    assert cli("lint", "bad.csv", "--skip-bad-files").code == 0


def test_a_baseline_makes_findings_known_though_lines_move(cli: Cli) -> None:
    assert cli("lint", "alts.csv", "--write-baseline", "known.json").code == 0
    head, *rows = ROWS.splitlines()
    Path("alts.csv").write_text(
        "\n".join([head, "x.jpg,A cat on a wall,", *rows[1:]]) + "\n"
    )
    done = cli("lint", "alts.csv", "--baseline", "known.json")
    assert done.code == 0
    assert (
        "0 errors, 0 warnings, 0 notes; 2 known, 1 of the baseline fixed"
        in done.out
    )
    Path("alts.csv").write_text(ROWS + "e.jpg,DSC00012,\n")
    done = cli("lint", "alts.csv", "--baseline", "known.json")
    assert (done.code, done.out.count("  ALT101  ")) == (1, 1)


def test_json_is_equal_for_equal_input(cli: Cli) -> None:
    first = cli("lint", "alts.csv", "--format", "json")
    assert first.out == cli("lint", "alts.csv", "--format", "json").out
    value = json.loads(first.out)
    assert value["counts"] == {"error": 2, "warning": 1, "note": 0}
    (image_of,) = [
        finding for finding in value["findings"] if finding["rule"] == "ALT104"
    ]
    assert (image_of["line"], image_of["span"]) == (4, [0, 8])


def test_a_report_in_a_file_ends_with_a_line_on_stderr(cli: Cli) -> None:
    done = cli("lint", "alts.csv", "--format", "json", "-o", "found.json")
    summary = "4 pictures in 1 file: 2 errors, 1 warning, 0 notes; written to found.json\n"
    assert (done.code, done.out, done.err) == (1, "", summary)


def test_all_formats_into_a_folder(cli: Cli) -> None:
    formats = ("json", "sarif", "junit", "markdown", "html", "text")
    done = cli(
        "lint",
        "alts.csv",
        *(part for form in formats for part in ("--format", form)),
        "-o",
        "out",
    )
    summary = (
        "4 pictures in 1 file: 2 errors, 1 warning, 0 notes; written to out\n"
    )
    assert (done.code, done.out, done.err) == (1, "", summary)
    names = {
        "lint.json",
        "lint.sarif",
        "lint.junit.xml",
        "lint.md",
        "lint.html",
        "lint.txt",
    }
    assert {path.name for path in Path("out").iterdir()} == names
    log = json.loads(Path("out/lint.sarif").read_text())
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert [result["ruleId"] for result in run["results"]] == [
        "ALT001",
        "ALT101",
        "ALT104",
    ]
    place = run["results"][2]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "alts.csv"
    assert place["region"] == {
        "startLine": 4,
        "startColumn": 1,
        "endLine": 4,
        "endColumn": 2,
    }
    rule_ids = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} <= rule_ids
    (suite,) = ElementTree.fromstring(Path("out/lint.junit.xml").read_text())
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")
    assert "| ALT101 | file-name | 1 |" in Path("out/lint.md").read_text()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.n_scripts = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.n_scripts += tag == "script"


@pytest.mark.parametrize(
    "form", ["html", "markdown", "junit", "sarif", "text"]
)
def test_texts_of_others_are_escaped_in_all_reports(
    cli: Cli, form: str
) -> None:
    Path("alts.csv").write_text(
        'image,alt\na.jpg,"<script>x()</script> \x1b[31m \u202e"\n',
        encoding="utf-8",
    )
    done = cli("lint", "alts.csv", "--format", form)
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    if form in ("html", "markdown"):
        tags = Tags()
        tags.feed(done.out)
        assert tags.n_scripts == (form == "html")
    if form == "junit":
        ElementTree.fromstring(done.out)


# What GitHub makes a mention, a link, a reference, an emoji or markup of.
LIVE = (
    "@octocat",
    "www.evil.example/x",
    "http://evil.example",
    "#12",
    ":smile:",
    "*b*",
    "`c`",
)


@pytest.mark.parametrize("live", LIVE)
def test_names_and_texts_stay_plain_text_in_markdown(
    cli: Cli, live: str
) -> None:
    name = live.replace("/", "_")
    Path("site").mkdir()
    page = f'<html lang=en><img src=a.jpg alt="{live}.jpg"><img src=b.jpg alt="IMG_1 {live}.jpg">'
    Path("site", f"{name}.html").write_text(page)
    done = cli("lint", "site", "--format", "markdown")
    (findings,) = re.findall(r"(?ms)^- .*", done.out)
    assert not re.search(r"@\w|www\.|://|(?<!&)#\d|:smile:|`|\*b", findings)
    rendered = MarkdownIt("commonmark").render(findings)
    assert set(re.findall(r"<(\w+)", rendered)) == {"ul", "li", "strong"}
    assert f"{name}.html:1" in html.unescape(rendered).replace(
        "\N{WORD JOINER}", ""
    )


def test_the_list_of_rules(cli: Cli) -> None:
    done = cli("lint", "--rules")
    assert done.code == 0
    assert "same-on-different" in done.out


@pytest.mark.slow
def test_a_thousand_pictures_of_a_page(cli: Cli) -> None:
    rows = "".join(
        f'<li><img src="{k}.jpg" alt="A red door number {k} in a wall"></li>'
        for k in range(1000)
    )
    Path("page.html").write_text(f"<html lang=en><ul>{rows}</ul></html>")
    done = cli("lint", "page.html")
    assert "1,000 pictures in 1 file" in done.out


def test_the_page_allows_its_own_style_and_script(cli: Cli) -> None:
    # A browser drops what has another hash than the one that the page's policy names.
    Path("alts.csv").write_text(
        'image,alt\na.jpg,"A ""cat"" & a dog"\nb.jpg,\n', "utf-8"
    )
    done = cli("lint", "alts.csv", "--format", "html", "-o", "page.html")
    assert done.code == 1
    text = Path("page.html").read_text("utf-8")
    for tag in ("style", "script"):
        content = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(
            hashlib.sha256(content.encode("utf-8")).digest()
        ).decode()
        assert f"{tag}-src 'sha256-{digest}'" in text


def test_the_page_shows_pictures_of_its_folder_and_no_others(cli: Cli) -> None:
    Path("site/img").mkdir(parents=True)
    for path in ("site/img/a b.png", "outside.png"):
        Image.new("RGB", (8, 8), "red").save(path)
    sources = (
        "img/a%20b.png?v=2",
        "../outside.png",
        "/img/a b.png",
        "https://x.org/a.png",
        "no.png",
    )
    page = "".join(f'<img src="{source}">' for source in sources)
    Path("site/page.html").write_text(page)
    assert cli("lint", "site", "--format", "html", "-o", "page.html").code == 1
    text = Path("page.html").read_text("utf-8")
    assert text.count("<tr data-") == len(sources)
    assert text.count('<img src="data:image/jpeg;base64,') == 1
    assert text.count("<img") == 1


def test_rates_have_intervals_over_pages(cli: Cli) -> None:
    # 8 pages with 5 pictures, all 10 findings on two pages: 0.25, from 0 to 0.625 by pages.
    Path("site").mkdir()
    things = ("", "", "door", "boat", "horse", "tower", "garden", "river")
    for k, thing in enumerate(things):
        texts = [
            f'alt="A {thing} of stone, number {k}{n}"' if thing else ""
            for n in range(5)
        ]
        rows = "".join(
            f'<img src="{k}-{n}.jpg" {text}>' for n, text in enumerate(texts)
        )
        Path(f"site/{k}.html").write_text(rows)
    value = json.loads(cli("lint", "site", "--format", "json").out)
    rates = {
        (rate["rule"], rate["by"], rate["value"]): rate
        for rate in value["rates"]
    }
    whole = rates["ALT001", "all", ""]
    assert (whole["n"], whole["found"], whole["rate"]) == (40, 10, 0.25)
    assert (whole["low"], whole["high"]) == (0.0, 0.625)
    assert rates["ALT001", "file", "1.html"]["rate"] == 1.0
    assert rates["ALT001", "file", "1.html"]["low"] is None  # one page
    assert ("ALT001", "file", "2.html") not in rates
    assert rates["", "file", "2.html"]["rate"] == 0.0


def test_score_without_references_names_the_command_that_serves(
    cli: Cli,
) -> None:
    Path("alts.csv").write_text("image,alt\na.jpg,A red door\n", "utf-8")
    assert "beholder lint checks" in cli("score", "alts.csv").err
    done = cli("score", "alts.csv", "-m", "rouge", "-o", "run", "--no-report")
    assert "beholder lint checks texts alone" in " ".join(
        (done.out + done.err).split()
    )
    Path("alts.csv").write_text("File,Alt Text\na.jpg,A red door\n", "utf-8")
    assert "beholder lint checks" in cli("score", "alts.csv").err


def test_a_repeated_text_is_one_finding_and_rules_are_counted(
    cli: Cli,
) -> None:
    rows = "".join(f"{n}.jpg,A dog on sand\n" for n in range(12))
    Path("alts.csv").write_text(f"image,alt\n{rows}x.jpg,IMG_2041\n")
    done = cli("lint", "alts.csv")
    assert done.out.count("  ALT401  ") == 1
    assert "at alts.csv:2, alts.csv:3" in done.out
    assert "and 2 more" in done.out
    by_rule, counts = done.out.splitlines()[-2:]
    assert by_rule == "by rule: ALT101 file-name 1, ALT401 same-on-different 1"
    assert counts == "13 pictures in 1 file: 1 error, 1 warning, 0 notes"


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("x.html", "<!doctype html>"),
        ("x.json", "{"),
        ("x.md", "# "),
        ("x", ""),
    ],
)
def test_the_ending_of_the_report_decides_its_format(
    cli: Cli, name: str, beginning: str
) -> None:
    Path("alts.csv").write_text("image,alt\na.jpg,IMG_2041\n")
    cli("lint", "alts.csv", "-o", name)
    assert Path(name).read_text().startswith(beginning)


def test_the_page_has_one_row_for_a_repeated_text(cli: Cli) -> None:
    rows = "".join(f"{n}.jpg,A dog on sand\n" for n in range(12))
    Path("alts.csv").write_text(f"image,alt\n{rows}x.jpg,A red door\n")
    cli("lint", "alts.csv", "-o", "page.html")
    page = Path("page.html").read_text("utf-8")
    assert page.count('data-rule="ALT401"') == 1
    assert "alts.csv:2 and 11 more places" in page
    # One finding, counted alike in its row and above it; the advice is there only once.
    assert "warning, 1 finding in 12 places</summary>" in page
    assert page.count("Say what makes each picture different.") == 1


def test_the_page_shows_the_page_of_a_row(cli: Cli) -> None:
    Path("pages.csv").write_text(
        "Page URL,Image,Alt text\n/prints/7?<b>,a.jpg,\n"
    )
    cli("lint", "pages.csv", "-o", "lint.html")
    assert (
        "pages.csv:2<br>/prints/7?&lt;b&gt;" in Path("lint.html").read_text()
    )
