"""What is written in a spec stands in every result, so no secret may be written in one."""

from __future__ import annotations

from typing import Any

import pytest

from beholder import embed, judges
from beholder.base.spec import Spec, canonical_spec
from beholder.errors import ConfigError
from beholder.metrics import metric
from toy.cases import each_case

PLANTED = "Pl4nted-0123456789"

SPECS = [
    f"openai(model='m', base_url='http://user:{PLANTED}@host/v1')",
    f"openai(model='m', base_url='https://{PLANTED}@host/v1')",
    f"openai(model='m', base_url='http://host/v1?api-key={PLANTED}')",
    f"openai('m', extra={{'api_key': '{PLANTED}'}})",
    f"openai('m', extra={{'headers': {{'Authorization': 'Bearer {PLANTED}'}}}})",
    f"openai('m', api_key='{PLANTED}')",
    f"openai('m', password='{PLANTED}')",
    f"openai('m', key_env='{PLANTED}')",
    f"openai('m', key_env=['MY_KEY', '{PLANTED}'])",
    "openai('m', key_env=7)",
    f"panel(members=[openai('a', key_env='{PLANTED}'), hf('b')])",
]


@each_case("spec", SPECS)
def test_a_secret_in_a_spec_is_refused_without_showing_it(spec: str) -> None:
    ways: list[Any] = [
        lambda: canonical_spec(spec),
        lambda: judges.judge(spec),
        lambda: embed.embedder(spec),
        lambda: metric(f"posh(judge={spec})"),
        lambda: metric(Spec("posh", options={"judge": spec})),
    ]
    for way in ways:
        with pytest.raises(ConfigError) as caught:
            way()
        assert PLANTED not in str(caught.value)
        assert caught.value.__cause__ is None or PLANTED not in str(
            caught.value.__cause__
        )


@pytest.mark.parametrize(
    "spec",
    [
        "openai('m', key_env='MY_KEY', base_url='http://host:8000/v1')",
        "openai('m', extra={'chat_template_kwargs': {'enable_thinking': False}})",
        "openai('m', tokens_per_minute=1000, extra={'max_tokens': 5, 'top_k': 1})",
        "scripted:mail@host.jsonl",
        "openai:org/model@main",
    ],
)
def test_what_is_no_secret_is_taken(spec: str) -> None:
    assert canonical_spec(str(canonical_spec(spec))) == canonical_spec(spec)


def test_an_address_given_beside_the_spec_stands_in_no_name() -> None:
    judge = judges.judge(
        "openai:m", base_url=f"http://user:{PLANTED}@127.0.0.1:9/v1"
    )
    assert isinstance(judge, judges.LLMJudge)
    assert PLANTED not in judge.backend.name + judge.backend.variant + repr(
        judge
    )
    with pytest.raises(
        ConfigError, match=r"http://127\.0\.0\.1:9/v1"
    ) as caught:
        _ = judge.identity  # nobody listens there
    assert PLANTED not in str(caught.value)
