"""Specs: read, printed, made canonical, refused."""

from __future__ import annotations

import random
import string

import pytest
from benchmarks.hostile_specs import Tried, hostile_spec, try_all
from hypothesis import example, given
from hypothesis import strategies as st

from beholder import judges
from beholder.base.spec import (
    MAX_DEPTH,
    MAX_LENGTH,
    Spec,
    canonical_spec,
    parse_spec,
    parse_with_label,
    parse_with_value,
)
from beholder.errors import ConfigError
from toy.cases import each_case

NAMES = st.from_regex(
    r"[a-z][a-z0-9_]{0,8}(/[a-z][a-z.-]{0,3})?", fullmatch=True
).filter(lambda name: name not in ("True", "False", "None"))
KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=8
)
LITERALS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)


def _specs(values: st.SearchStrategy[object]) -> st.SearchStrategy[Spec]:
    options = st.dictionaries(KEYS, values, max_size=3)
    return st.builds(Spec, NAMES, st.none() | TEXTS, options)


VALUES: st.SearchStrategy[object] = st.recursive(
    LITERALS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(TEXTS | st.integers(), inner, max_size=2)
        | _specs(inner)
    ),
    max_leaves=6,
)


def test_specs_at_random_are_taken_or_refused_in_words() -> None:
    tried = Tried()
    for number in range(120):
        try_all(hostile_spec(random.Random(f"1 {number}")), tried)
    assert not tried.tracebacks
    assert tried.taken > 50
    assert tried.refused > 500


@pytest.mark.parametrize(
    "text",
    ["replay:\0", r"replay('\x00')", "vcs:\ud83d", r"vcs(a=['\ud83d'])"],
)
def test_what_no_file_can_be_named_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="a NUL or half a surrogate pair"):
        parse_spec(text)


@pytest.mark.parametrize("option", ["name='x'", "model=5"])
def test_an_option_that_is_an_argument_already_is_refused(option: str) -> None:
    with pytest.raises(ConfigError, match="replay:file"):
        judges.judge(f"replay('file', {option})")


A, B = Spec("openai", "a"), Spec("hf", "b", {"x": 1})


@each_case(
    ("text", "expected"),
    [
        ("vcs", Spec("vcs")),
        ("vcs()", Spec("vcs")),
        ("vcs(rules='paper', lct=1)", Spec("vcs", options={"rules": "paper", "lct": 1})),
        (" vcs ( lct = 0.5 , ) ", Spec("vcs", options={"lct": 0.5})),
        ("x(a=-1, b=[1, 2], c=None)", Spec("x", options={"a": -1, "b": [1, 2], "c": None})),
        ("x(a=(1, 2), b=(3,), c=(4), d=())", Spec("x", options={"a": (1, 2), "b": (3,), "c": 4, "d": ()})),
        ("x(a={'k': [True], 2: 1e-3})", Spec("x", options={"a": {"k": [True], 2: 0.001}})),
        (r"x(a='it\'s', b=" + '"\\u00e9\\n")', Spec("x", options={"a": "it's", "b": "é\n"})),
        ("openai:gpt-4.1", Spec("openai", "gpt-4.1")),
        ("openai('gpt-4.1')", Spec("openai", "gpt-4.1")),
        ("openai('gpt-4.1', temperature=0.7)", Spec("openai", "gpt-4.1", {"temperature": 0.7})),
        ("openai:gpt-4.1(temperature=0.7)", Spec("openai", "gpt-4.1", {"temperature": 0.7})),
        ("st:some/path with (odd) name", Spec("st", "some/path with (odd) name")),
        ("replay:run (x=1).jsonl", Spec("replay", "run (x=1).jsonl")),
        ("acme/fluency(x=1)", Spec("acme/fluency", options={"x": 1})),
        ("posh(judge=acme-x/judge('m'))", Spec("posh", options={"judge": Spec("acme-x/judge", "m")})),
        ("posh(judge=builtin)", Spec("posh", options={"judge": Spec("builtin")})),
        ("posh(judge='openai:a')", Spec("posh", options={"judge": "openai:a"})),
        ("panel(members=[openai('a'), hf('b', x=1)])", Spec("panel", options={"members": [A, B]})),
        ("panel(openai:a, hf:b(x=1))", Spec("panel", options={"members": [A, B]})),
        ("panel(openai('a'), hf('b', x=1))", Spec("panel", options={"members": [A, B]})),
        ("panel(openai('a,b)'), c)", Spec("panel", options={"members": [Spec("openai", "a,b)"), Spec("c")]})),
        ("metric(posh)", Spec("metric", options={"members": [Spec("posh")]})),
    ],
)  # fmt: skip
def test_each_form_of_a_spec_is_parsed(text: str, expected: Spec) -> None:
    assert parse_spec(text) == expected


@each_case(
    ("spec", "text"),
    [
        (Spec("vcs"), "vcs"),
        (Spec("vcs", options={"rules": "paper", "lct": 1}), "vcs(rules='paper', lct=1)"),
        (Spec("openai", "gpt-4.1"), "openai:gpt-4.1"),
        (Spec("openai", "m", {"temperature": 0.7}), "openai('m', temperature=0.7)"),
        (Spec("openai", "m(x=1)"), "openai('m(x=1)')"),
        (Spec("openai", " m"), "openai(' m')"),
        (Spec("openai", ""), "openai('')"),
        (Spec("posh", options={"judge": A}), "posh(judge=openai('a'))"),
        (Spec("panel", options={"members": [A, B]}), "panel(members=[openai('a'), hf('b', x=1)])"),
        (Spec("x", options={"a": (1,), "b": (A, "c"), "d": {"e": Spec("f")}}), "x(a=(1,), b=(openai('a'), 'c'), d={'e': f})"),
    ],
)  # fmt: skip
def test_specs_print_in_one_way(spec: Spec, text: str) -> None:
    assert str(spec) == text


@each_case(
    ("text", "message"),
    [
        ("", "expected a name"),
        ("1vcs", "expected a name"),
        ("vcs lct=1", "expected '\\(' or ':'"),
        ("vcs(1)", "must be named"),
        ("openai('a', 'b')", "must be named"),
        ("openai(x=1, 'b')", "must be named"),
        ("vcs(lct=)", "expected a value"),
        ("vcs(lct=1", "expected ',' or '\\)', at its end"),
        ("vcs(lct=1, lct=2)", "lct stands twice"),
        ("panel(a, members=[b])", "members stands twice"),
        ("vcs(x=__import__('os'))", "not a literal"),
        ("vcs(x=1+1)", "expected ','"),
        ("vcs(x=[i for i in y])", "expected ','"),
        ("vcs(x='\\d')", "not a literal"),
        ("vcs(x=0123)", "0123 is not a literal"),
        ("vcs(x={a: 1})", "keys must be"),
        ("vcs(x={[]: 1})", "keys must be"),
        ("vcs(**{'a': 1})", "not a literal"),
        ("vcs(lct=1).x", "expected the end, at '.x'"),
        ("vcs(lct=1)(lct=2)", "expected the end"),
        ("openai:", "after the colon"),
        ("panel(openai:, b)", "after the colon"),
        ("openai:m(temperature=)", "expected a value"),
        ("vcs(a=" + "(" * 5000 + ")", "more than 20 brackets"),
        ("x(" * (MAX_DEPTH + 1), "more than 20 brackets"),
        ("vcs(a=" + "1" * 5000 + ")", "is not a literal"),
        ("x" * (MAX_LENGTH + 1), "20001 characters"),
    ],
)
def test_parse_refuses_and_says_why(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        parse_spec(text)
    assert len(str(error.value)) < 400 + len(message) + min(len(text), 200)


@given(_specs(VALUES))
@example(Spec("a", "b", {"c": Spec("d", "'\"")}))
def test_what_is_printed_is_read_as_it_was(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec


@given(
    st.text(alphabet=string.printable, max_size=40)
    | st.text("ab=:(),'\"[]{}.1\\ ", max_size=40)
)
@example("panel( openai:a , hf:b(x=1) )")
@example("x(a=1e999)")
@example("x(a=(1))")
def test_any_text_is_refused_in_words_or_prints_canonically(text: str) -> None:
    try:
        canonical = str(parse_spec(text))
    except ConfigError:
        return
    assert str(parse_spec(canonical)) == canonical


@pytest.mark.parametrize(
    ("texts", "canonical"),
    [
        (("builtin", "builtin()", " builtin ( ) "), "builtin"),
        (
            ("openai:m", "openai('m')", "openai(model='m')", 'openai( "m" )'),
            "openai:m",
        ),
        (
            (
                "openai('m', b=2, a=1)",
                "openai:m(a=1, b=2)",
                "openai(b=2, model='m', a=1)",
            ),
            "openai('m', a=1, b=2)",
        ),
        (
            (
                "panel(openai:a, hf:b)",
                "panel(openai('a'), hf(model='b'))",
                "panel(members=['openai:a', hf('b')])",
                "panel(members=('openai:a', 'hf:b'))",
            ),
            "panel(members=[openai('a'), hf('b')])",
        ),
    ],
)
def test_equal_tools_have_equal_texts(
    texts: tuple[str, ...], canonical: str
) -> None:
    assert [str(canonical_spec(text)) for text in texts] == [canonical] * len(
        texts
    )
    assert str(canonical_spec(canonical)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("openai('a', model='b')", "names two models"),
        ("panel(members=[1])", "members are specs"),
        ("panel(members=['('])", "expected a name"),
    ],
)
def test_tools_that_make_no_sense_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        canonical_spec(text)


def test_a_text_without_quotes_is_no_literal() -> None:
    assert parse_spec("x(a=1, b=['c'])").literals() == {"a": 1, "b": ["c"]}
    with pytest.raises(
        ConfigError,
        match="rules=paper is not a literal; quote text as 'paper'",
    ):
        parse_spec("vcs(rules=paper)").literals()
    with pytest.raises(ConfigError, match="quote text as 'paper'"):
        parse_spec("vcs(rules=[{'a': paper}])").literals()
    message = r"openai\(gpt-4.1\): text in brackets needs quotes; write openai:gpt-4.1 or openai\('gpt-4.1'\)"
    with pytest.raises(ConfigError, match=message):
        parse_spec("openai(gpt-4.1)").literals()


def test_metrics_with_a_value_and_specs_with_a_label() -> None:
    assert parse_with_value("cider") == (Spec("cider"), None)
    assert parse_with_value("vcs(lct=1).las") == (
        Spec("vcs", options={"lct": 1}),
        "las",
    )
    assert parse_with_value("posh(judge='openai:gpt-4.1')")[1] is None
    assert parse_with_label("openai:m=x") == (None, Spec("openai", "m=x"))
    assert parse_with_label("gpt-4.1=openai:m") == (
        "gpt-4.1",
        Spec("openai", "m"),
    )
    assert parse_with_label("vcs(lct=1)") == (
        None,
        Spec("vcs", options={"lct": 1}),
    )
