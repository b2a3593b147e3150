"""Wordings that the documentation must not contain: ``python -m tools.words``; a test runs it.

Fenced blocks, inline code, link targets and HTML comments are not checked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from tools.pages import PAGES, name_of

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
}
"""Regular expressions of whole words, and what to write instead."""
EXCEPTIONS = {
    ("docs/index.md", "told"): "a story is told",
    ("docs/language.md", "pass over"): "one pass over the training data",
}
"""(page, wording): reason. An exception that is no longer needed fails the test."""

TO_DO = """README.md CONTRIBUTING.md docs/agreement.md docs/annotate.md docs/architecture.md
docs/data.md docs/judges-guide.md docs/metrics.md docs/papers.md docs/posh.md
docs/reading.md docs/reliability.md docs/signatures.md docs/training.md docs/vcs.md"""
"""Pages that are still to be rewritten."""
CHECKED = [page for page in PAGES if name_of(page) not in {*TO_DO.split(), "docs/style.md"}]
"""All other pages but the one that quotes what it forbids."""

_NOT_PROSE = re.compile(r"^```.*?^```$|`[^`]*`|\]\([^)]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL)
_WORDING = {
    re.compile(rf"\b(?:{wording})\b".replace(" ", r"\s+"), re.IGNORECASE): advice
    for wording, advice in FORBIDDEN.items()
}


class Finding(NamedTuple):
    """A forbidden wording, its 1-based line, and what to write instead."""

    line: int
    wording: str
    advice: str


def findings(text: str) -> Iterator[Finding]:
    """All forbidden wordings in the prose of a page."""
    prose = _NOT_PROSE.sub(lambda part: re.sub(r"[^\n]", "`", part[0]), text)
    for wording, advice in _WORDING.items():
        for found in wording.finditer(prose):
            line = prose.count("\n", 0, found.start()) + 1
            yield Finding(line, " ".join(found[0].lower().split()), advice)


if __name__ == "__main__":
    bad = [
        f"{name_of(page)}:{found.line}: {found.wording!r}: write {found.advice}"
        for page in CHECKED
        for found in findings(page.read_text("utf-8"))
        if (name_of(page), found.wording) not in EXCEPTIONS
    ]
    print("\n".join(bad) or f"{len(CHECKED)} pages checked")
    sys.exit(bool(bad))
