"""Specs: read, printed, refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import ConfigError
from beholder.spec import Spec, parse

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vcs", Spec("vcs")),
        ("vcs()", Spec("vcs")),
        ("vcs(rules='paper', lct=1)", Spec("vcs", options={"rules": "paper", "lct": 1})),
        (" vcs ( lct = 0.5 ) ", Spec("vcs", options={"lct": 0.5})),
        ("x(a=-1, b=[1, 2], c=None)", Spec("x", options={"a": -1, "b": [1, 2], "c": None})),
        ("openai:gpt-4.1", Spec("openai", argument="gpt-4.1")),
        ("st:some/path with (odd) name", Spec("st", argument="some/path with (odd) name")),
        ("acme/fluency(x=1)", Spec("acme/fluency", options={"x": 1})),
    ],
)
def test_parse_reads(text: str, expected: Spec) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a name"),
        ("1vcs", "expected a name"),
        ("vcs lct=1", "expected '\\(' or ':'"),
        ("vcs(1)", "must be named"),
        ("vcs(lct=)", "not a spec"),
        ("vcs(lct=1", "not a spec"),
        ("vcs(rules=paper)", "quote text as 'paper'"),
        ("vcs(x=__import__('os'))", "not a literal"),
        ("vcs(**{'a': 1})", "'\\*\\*' cannot"),
        ("vcs(lct=1).x", "expected name"),
        ("vcs(lct=1)(lct=2)", "expected name"),
        ("openai:", "after the colon"),
        ("vcs(a=" + "(" * 5000 + ")", "not a spec"),
    ],
)
def test_parse_refuses_and_says_why(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse(text)


@given(NAMES, st.dictionaries(NAMES.filter(str.isidentifier), LITERALS, max_size=3))
def test_printing_and_parsing_round_trip(name: str, options: dict[str, object]) -> None:
    import keyword

    options = {key: value for key, value in options.items() if not keyword.iskeyword(key)}
    spec = Spec(name, options=options)
    assert parse(str(spec)) == spec
