"""``score_text`` names what is no text, whatever the metric."""

from __future__ import annotations

from typing import Any

import pytest

from beholder import metric
from beholder.errors import ConfigError
from toy.cases import each_case


@each_case(
    ("candidate", "references"),
    [
        (None, "a dog"), (b"a dog", "a dog"), (["a dog"], "a dog"), (5, "a dog"),
        ("a dog", None), ("a dog", b"a dog"), ("a dog", {"a dog": 1}), ("a dog", 5),
        ("a dog", [None]), ("a dog", [1]), ("a dog", [["a dog"]]), ("a dog", ["a dog", b"a cat"]),
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused(candidate: Any, references: Any) -> None:
    with pytest.raises(ConfigError, match=r"(candidate|references): expected"):
        metric("rouge").score_text(candidate, references)


@pytest.mark.parametrize("references", ["a dog", ["a dog"], ("a dog",)])
def test_one_text_is_one_reference(references: Any) -> None:
    assert (
        metric("rouge").score_text("a dog", references).values["rouge_l"] == 1
    )
