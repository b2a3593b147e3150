"""Wordings that pages and source must not contain: ``python -m tools.words``; a test runs it.

Of a page, fenced blocks, inline code, link targets and HTML comments are not checked. Of a source
file, comments, docstrings and messages (texts with a blank) are checked, without ``code`` and
without regular expressions (raw texts on one line), since these match what others write.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tools.pages import HAND_WRITTEN, ROOT, name_of

FORBIDDEN = {
    r"mend(s|ed|ing)?": "fix, repair",
    r"tells?|told|telling": "report, show, print, return; given",
    r"(hold|holds|held|holding)( \w+){0,3} against": "compare with",
    r"pass(es|ed)? over": "ignore, skip",
    r"(go|goes|going|gone|went) on": "resume, continue",
    r"stands? (in|beside|by|there|under)": "is in, see",
    r"somebody|nobody": "someone, no one, or name the actor",
    r"one's own": "your own",
    r"where (none|no|nothing|any)": "if no, if any",
    r"by eye": "manually",
    r"(takes?|taken) apart": "decompose",
    r"(judges?|models?) that sees?": "vision model",
    r"anew|as ever|of before": "again, as before",
    r"(do|does|did|done) again": "repeat, retry",
    r"(can|could) (not )?be had": "is available, is missing",
    r"wants? (a|an|the|to be)": "needs, requires",
    r"hangs? on": "depends on",
    r"at its word": "without a check",
    r"lack what": "miss, have no",
}
"""Regular expressions of whole words, and what to write instead."""
FORBIDDEN_IN_SOURCE = FORBIDDEN | {
    r"lacks?": "is missing, has no",
    r"where there (is|are)": "if there is",
}
"""The same for source files."""
EXCEPTIONS = {
    ("docs/index.md", "told"): "a story is told",
    ("docs/posh.md", "stands beside"): "an example sentence",
}
"""(page, wording): reason. An exception that is no longer needed fails the test."""

CHECKED = [page for page in HAND_WRITTEN if name_of(page) != "docs/style.md"]
"""All hand-written pages but the one that quotes what it forbids."""

_NOT_PROSE = re.compile(
    r"^```.*?^```$|`[^`]*`|\]\([^)]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL
)
_REGULAR_EXPRESSION = re.compile(r"""[bf]?r[bf]?('|"(?!""))""", re.IGNORECASE)
_CODE = re.compile(r"``.*?``|(?<!\\)\{[^{}\n]*\}", re.DOTALL)


def _compiled(wordings: dict[str, str]) -> dict[re.Pattern[str], str]:
    return {
        re.compile(
            rf"\b(?:{wording})\b".replace(" ", r"\s+"), re.IGNORECASE
        ): advice
        for wording, advice in wordings.items()
    }


_WORDING = _compiled(FORBIDDEN)
_WORDING_IN_SOURCE = _compiled(FORBIDDEN_IN_SOURCE)


SOURCE = ROOT / "src" / "beholder"
LIMITS = {"judges": 3, "metrics": 1}
"""Findings that other packages still have. A number may only fall."""


class Finding(NamedTuple):
    """A forbidden wording, its 1-based line, and what to write instead."""

    line: int
    wording: str
    advice: str


def findings(text: str) -> Iterator[Finding]:
    """Yield all forbidden wordings in the prose of a page."""
    prose = _NOT_PROSE.sub(lambda part: re.sub(r"[^\n]", "`", part[0]), text)
    yield from _find_wordings(prose, _WORDING)


def source_findings(text: str) -> Iterator[Finding]:
    """Yield all forbidden wordings in the comments, docstrings and messages of a source file."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_text = token.type == tokenize.STRING and " " in token.string
        is_prose = is_text and not _REGULAR_EXPRESSION.match(token.string)
        if is_prose or token.type == tokenize.COMMENT:
            prose = _CODE.sub(
                lambda part: re.sub(r"[^\n]", "`", part[0]), token.string
            )
            for finding in _find_wordings(prose, _WORDING_IN_SOURCE):
                yield finding._replace(line=token.start[0] + finding.line - 1)


def findings_by_package() -> Counter[str]:
    """Count the findings of each checked package of the source, or file at its top."""
    counts: Counter[str] = Counter()
    for file in SOURCE.rglob("*.py"):
        package = file.relative_to(SOURCE).parts[0]
        counts[package] += sum(
            1 for _ in source_findings(file.read_text("utf-8"))
        )
    return +counts


def _find_wordings(
    prose: str, wordings: dict[re.Pattern[str], str]
) -> Iterator[Finding]:
    for wording, advice in wordings.items():
        for match in wording.finditer(prose):
            line = prose.count("\n", 0, match.start()) + 1
            yield Finding(line, " ".join(match[0].lower().split()), advice)


if __name__ == "__main__":
    problems = [
        f"{name_of(page)}:{finding.line}: {finding.wording!r}: write {finding.advice}"
        for page in CHECKED
        for finding in findings(page.read_text("utf-8"))
        if (name_of(page), finding.wording) not in EXCEPTIONS
    ]
    problems += [
        f"{package}: {n} wordings in source, {LIMITS.get(package, 0)} allowed"
        for package, n in findings_by_package().items()
        if n != LIMITS.get(package, 0)
    ]
    if "--source" in sys.argv:
        problems += [
            f"{file.relative_to(ROOT)}:{finding.line}: {finding.wording!r}: write {finding.advice}"
            for file in sorted(SOURCE.rglob("*.py"))
            for finding in source_findings(file.read_text("utf-8"))
        ]
    print(
        "\n".join(problems) or f"{len(CHECKED)} pages and the source checked"
    )
    sys.exit(bool(problems))
