"""The version of a release is written in three files, or refused with the next step."""

from __future__ import annotations

import pytest
from tools.cut_release import (
    CHANGELOG,
    CITATION,
    VERSION_FILE,
    begin_next,
    cut,
)

TEXTS = {
    VERSION_FILE: '"""The version."""\n\n__version__ = "0.3.0.dev0"\n',
    CITATION: "title: beholder\nversion: 0.3.0.dev0\nlicense: Apache-2.0\n",
    CHANGELOG: "# Changelog\n\nWords.\n\n## Unreleased (0.3.0)\n\n- One.\n- Two.\n\n## 0.2.0 (2026-11-01)\n\n- Old.\n",
}


def test_a_release_and_the_development_after_it() -> None:
    released = cut(TEXTS, "0.3.0", "2026-12-01")
    assert released == {
        VERSION_FILE: '"""The version."""\n\n__version__ = "0.3.0"\n',
        CITATION: "title: beholder\nversion: 0.3.0\ndate-released: 2026-12-01\nlicense: Apache-2.0\n",
        CHANGELOG: TEXTS[CHANGELOG].replace(
            "Unreleased (0.3.0)", "0.3.0 (2026-12-01)"
        ),
    }
    following = begin_next(released, "0.4.0")
    assert following == {
        VERSION_FILE: '"""The version."""\n\n__version__ = "0.4.0.dev0"\n',
        CITATION: "title: beholder\nversion: 0.4.0.dev0\nlicense: Apache-2.0\n",
        CHANGELOG: released[CHANGELOG].replace(
            "## 0.3.0", "## Unreleased (0.4.0)\n\n## 0.3.0"
        ),
    }


def test_what_is_refused() -> None:
    long = TEXTS[CHANGELOG].replace("- Two.", "- Two.\n" * 40)
    for texts, version, message in (
        (TEXTS, "0.3", "not three numbers"),
        (TEXTS, "0.4.0", r"has 0\.3\.0\.dev0, not 0\.4\.0\.dev0"),
        (TEXTS | {CHANGELOG: "# Changelog\n"}, "0.3.0", "no heading"),
        (TEXTS | {CHANGELOG: long}, "0.3.0", "41 lines; shorten it"),
        (TEXTS | {VERSION_FILE: ""}, "0.3.0", "no __version__"),
    ):
        with pytest.raises(ValueError, match=message):
            cut(texts, version, "2026-12-01")
    with pytest.raises(ValueError, match="which is not released"):
        begin_next(TEXTS, "0.4.0")
