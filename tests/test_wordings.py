"""The pages and the source that have been rewritten contain no forbidden wording."""

from __future__ import annotations

import pytest
from tools.pages import name_of
from tools.words import (
    CHECKED,
    EXCEPTIONS,
    LIMITS,
    findings,
    findings_by_package,
    source_findings,
)


def test_no_forbidden_wording() -> None:
    offenders = [
        (name_of(page), finding)
        for page in CHECKED
        for finding in findings(page.read_text(encoding="utf-8"))
    ]
    forbidden = [
        (name, finding)
        for name, finding in offenders
        if (name, finding.wording) not in EXCEPTIONS
    ]
    assert forbidden == []
    needless = set(EXCEPTIONS) - {
        (name, finding.wording) for name, finding in offenders
    }
    assert needless == set(), "remove these exceptions"


def test_every_exception_has_a_reason_and_a_checked_page() -> None:
    assert all(EXCEPTIONS.values())
    assert {name for name, _ in EXCEPTIONS} <= {
        name_of(page) for page in CHECKED
    }


@pytest.mark.parametrize(
    ("prose", "wording"),
    [
        ("Mend the rows.", "mend"),
        (
            "`agree` holds each metric against people.",
            "holds each metric against",
        ),
        ("The run goes\non with the rest.", "goes on"),
        ("A dry run asks nobody.", "nobody"),
    ],
)
def test_a_forbidden_wording_is_found_with_its_line(
    prose: str, wording: str
) -> None:
    (finding,) = findings(f"# Title\n\n```sh\ntold\n```\n\n{prose}\n")
    assert (finding.line, finding.wording) == (7, wording)
    assert finding.advice


@pytest.mark.parametrize(
    "text",
    [
        "The amendment toldX held the door.",
        "`mend` and [a page](mend/told.md)",
        "```text\nnobody told us\n```",
        "<!-- told -->",
    ],
)
def test_code_and_links_and_longer_words_are_not_checked(text: str) -> None:
    assert list(findings(text)) == []


def test_the_source_has_no_more_forbidden_wordings_than_before() -> None:
    counts = findings_by_package()
    assert counts == LIMITS, (
        "write it otherwise, or lower the number in tools/words.py"
    )


def test_comments_docstrings_and_messages_are_checked() -> None:
    source = '''"""What a page tells,
and ``tells`` where there is one."""
told = "told"  # nobody
pattern = r"can't (tell|say)"
raise ValueError(f"{told} lacks {tells(told)}, see")
'''
    assert [(each.line, each.wording) for each in source_findings(source)] == [
        (1, "tells"),
        (2, "where there is"),
        (3, "nobody"),
        (5, "lacks"),
    ]
