"""Forms in which servers ask for a pause."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.backends.openai_http import retry_after
from toy.cases import each_case


@each_case(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "20"}, 20),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "2, 3"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "soon"}, None),
        ({}, None),
    ],
)
def test_forms_in_which_a_wait_is_asked_for(
    headers: Mapping[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds
